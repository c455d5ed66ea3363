"""The server gives the same answer, says what is wrong with a request, and sends nobody elsewhere."""

import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from .figures import ROOT, example_text
from .questions import QUESTIONS
from .support import Product, read_answer, value_cells

START_S = 60.0
POLL_S = 0.1
LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
NAMESPACES = {"www.w3.org"}  # names of XML vocabularies, never fetched

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    url: str

    def request(self, path: str, data: bytes | None = None, **headers: str) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, data=data, headers=sent)
        try:
            with _OPENER.open(request, timeout=30) as reply:
                return _reply(reply.status, reply.headers, reply.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return _reply(refused.code, refused.headers, refused.read())

    def post_json(self, path: str, thing: Any) -> Reply:
        return self.request(path, json.dumps(thing).encode(), Content_Type="application/json")


def _reply(status: int, headers: Any, body: bytes) -> Reply:
    return Reply(status, {name.lower(): value for name, value in headers.items()}, body.decode("utf-8"))


def _is_up(server: Server) -> bool:
    try:
        return server.request("/healthz").status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def server(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    output = tmp_path_factory.mktemp("server") / "output.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            product.command("serve", "--port", str(port)),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=product.env,
        )
        try:
            started = Server(f"http://127.0.0.1:{port}")
            deadline = time.monotonic() + START_S
            while not _is_up(started):
                if process.poll() is not None or time.monotonic() > deadline:
                    said = output.read_text(encoding="utf-8", errors="replace")
                    pytest.fail(f"the server did not start (status {process.poll()}):\n{said[-3000:]}")
                time.sleep(POLL_S)
            yield started
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.parametrize("name", ["improved-zh", "ppo-kl", "gpus", "step-3"])
def test_post_explain_same_answer_as_the_command(server: Server, product: Product, name: str) -> None:
    question = QUESTIONS[name]
    reply = server.post_json(
        "/explain", {"text": example_text(), "question": question.text, "lang": "auto", "engine": "auto"}
    )
    assert reply.status == 200, reply.body
    got = reply.json
    wanted = read_answer(product.run("explain", "-", "-q", question.text, "--format", "json", input=example_text()))
    assert got.keys() == wanted.keys()
    same = ("schema", "question", "language", "engine", "intent", "slots", "verdict", "answer", "grounding")
    assert {field: got[field] for field in same} == {field: wanted[field] for field in same}
    assert value_cells(got) == value_cells(wanted)


def test_post_parse_same_cells_as_the_command(server: Server, product: Product) -> None:
    reply = server.post_json("/parse", {"text": example_text()})
    assert reply.status == 200, reply.body
    printed = json.loads(product.run("parse", "-", "--to", "json", input=example_text()).stdout)
    assert [run["rows"] for run in reply.json["runs"]] == [run["rows"] for run in printed["runs"]]


@pytest.mark.parametrize(
    "body",
    [b'{"text": "step:1 - a/b:', b"[1, 2]", b'{"text": 5, "question": []}', b'{"text": "", "question": "?"}'],
    ids=["cut-json", "no-object", "wrong-types", "empty-text"],
)
def test_post_explain_bad_request_problem_with_code_and_request_id(server: Server, body: bytes) -> None:
    reply = server.request("/explain", body, Content_Type="application/json")
    assert 400 <= reply.status < 500
    assert reply.headers["content-type"].startswith("application/problem+json")
    problem = reply.json
    assert isinstance(problem["code"], str)
    assert problem["code"]
    message = problem.get("detail") or problem.get("message") or problem.get("title")
    assert isinstance(message, str)
    assert len(message) > 10
    ids = [value for name, value in problem.items() if re.fullmatch(r"request_?id", name, re.IGNORECASE)]
    assert ids or reply.headers.get("x-request-id")
    assert "Traceback" not in reply.body


def test_get_unknown_route_problem(server: Server) -> None:
    reply = server.request("/no-such-route")
    assert reply.status == 404
    assert reply.headers["content-type"].startswith("application/problem+json")
    assert reply.json["code"]


def test_get_page_references_no_other_host(server: Server) -> None:
    page = server.request("/", Accept="text/html")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "<html" in page.body.lower()
    pages = [page.body]
    for path in re.findall(r"""(?:src|href)=["'](/?[\w./-]+\.(?:css|js|html))["']""", page.body):
        asset = server.request("/" + path.lstrip("/"))
        assert asset.status == 200, path
        pages.append(asset.body)
    referenced = re.compile(
        r"""(?:src|href|action|url\(|@import|from|fetch\(|import\()\s*=?\s*["'(]*\s*(?:https?:|wss?:)?//([^/"'\s):]+)"""
    )
    hosts = {host for text in pages for host in referenced.findall(text)}
    assert hosts <= LOOPBACK | NAMESPACES


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_get_operations_route_answers(server: Server, path: str) -> None:
    assert server.request(path).status == 200


def test_get_metrics_docs_exact_key_first(server: Server) -> None:
    reply = server.request("/metrics-docs?q=actor%2Fppo_kl&lang=en&framework=verl&k=3")
    assert reply.status == 200
    first = reply.json["results"][0]
    assert first["card"] == "verl/actor/ppo_kl"
    assert first["how"] == "exact"
    assert "actor/ppo_kl" in first["keys"]
