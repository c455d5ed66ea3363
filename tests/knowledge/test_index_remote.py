"""Embeddings from a real HTTP server on loopback that speaks the OpenAI protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from assistant.knowledge.index import open_index
from assistant.knowledge.index_remote import remote_embedding
from tests.knowledge.test_index import ENTRIES, Hashed


class Server(ThreadingHTTPServer):
    """Remembers what it was asked."""

    asked: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert isinstance(self.server, Server)
        self.server.asked.append({"path": self.path, "key": self.headers["Authorization"], **body})
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        vectors = Hashed().embed_documents(texts)
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.asked = []
    thread = Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_remote_embedding_builds_an_index_and_finds(server: Server, tmp_path: Path) -> None:
    embedding = remote_embedding("bge-m3", f"http://127.0.0.1:{server.server_port}/v1", "secret")
    index = open_index(ENTRIES, tmp_path, embedding=embedding, embedding_name="bge-m3")
    assert next(iter(index.by_vectors("梯度范数"))) == "a"
    assert {request["model"] for request in server.asked} == {"bge-m3"}
    assert {request["key"] for request in server.asked} == {"Bearer secret"}
    assert {request["path"] for request in server.asked} == {"/v1/embeddings"}
    texts = [text for request in server.asked[:-1] for text in request["input"]]
    assert texts == [part for entry in ENTRIES for part in entry.parts], "as they are, no tokens"
    assert server.asked[-1]["input"] in ("梯度范数", ["梯度范数"])
