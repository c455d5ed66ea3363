"""``doctor``: what it says of what works and what does not, and that it never fails itself."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from assistant.cli.main import main
from assistant.cli.verify import columns


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _one_cache(cache, monkeypatch):
    """The search index is built once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def parts(capsys):
    return {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}


def test_doctor_with_nothing_configured_is_well(capsys):
    assert main(["doctor", "--format", "json"]) == 0
    found = parts(capsys)
    assert {name: found[name]["state"] for name in ("python", "cards", "cache", "search", "model", "webhooks")} == {
        "python": "ok", "cards": "ok", "cache": "ok", "search": "ok", "model": "note", "webhooks": "note",
    }  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
def test_doctor_lines_fit_eighty_columns(language, capsys):
    assert main(["doctor", "--lang", language]) == 0
    lines = capsys.readouterr().out.splitlines()
    words = [line for line in lines if " /" not in line and "：/" not in line]  # a folder's path is not broken
    assert max(map(columns, words)) <= 80
    assert ("可以使用" if language == "zh" else "Ready to use") in lines[-1]


def test_doctor_names_what_does_not_answer_and_exits_three(monkeypatch, capsys):
    monkeypatch.setenv("ASSISTANT_CHROMA_URL", "http://user:hunter2@127.0.0.1:1")
    monkeypatch.setenv("ASSISTANT_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/db")
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "m")
    monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    assert main(["doctor", "--format", "json"]) == 3
    found = parts(capsys)
    for name, variable in (("chroma", "CHROMA_URL"), ("database", "DATABASE_URL"), ("model", "LLM_BASE_URL")):
        assert found[name]["state"] == "missing"
        assert f"ASSISTANT_{variable}" in found[name]["text"]
    assert "hunter2" not in json.dumps(found)


def test_doctor_a_cache_that_cannot_be_written_says_what_to_set(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "file" / "below"))
    assert main(["doctor", "--format", "json"]) == 3
    assert "ASSISTANT_DATA_DIR" in parts(capsys)["data"]["text"]


@pytest.fixture
def models(monkeypatch):
    """A model's server that lists one model, or answers as told."""
    answer = {"status": 200, "text": '{"data": [{"id": "qwen"}]}'}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(answer["status"])
            self.send_header("Content-Length", str(len(answer["text"])))
            self.end_headers()
            self.wfile.write(answer["text"].encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "qwen")
    yield answer
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("model", "answer", "told"),
    [
        ("qwen", {}, ("ok", "is served")),
        ("other", {}, ("missing", "it has qwen")),
        ("qwen", {"status": 401}, ("missing", "ASSISTANT_LLM_API_KEY")),
        ("qwen", {"status": 404, "text": "no"}, ("note", "could not be confirmed")),
    ],
)
def test_doctor_asks_the_models_server_for_its_list(models, monkeypatch, model, answer, told, capsys):  # noqa: PLR0917
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", model)
    models.update(answer)
    main(["doctor", "--format", "json"])
    found = parts(capsys)["model"]
    assert found["state"] == told[0]
    assert told[1] in found["text"]
