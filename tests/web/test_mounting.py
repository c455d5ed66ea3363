"""The page's files as they are served: their headers, their types, and that the page names all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import assistant.web
from assistant.web import mount
from assistant.web.mounting import VENDORED

STATIC = Path(assistant.web.__file__).parent / "static"


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    mount(app)
    return TestClient(app)


def test_mount_index_is_the_page_under_a_strict_policy(client: TestClient) -> None:
    reply = client.get("/")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert reply.headers["cache-control"] == "no-cache"
    assert client.head("/").status_code == 200


def test_mount_modules_have_a_script_type_and_are_asked_for_again(client: TestClient) -> None:
    for path in STATIC.rglob("*"):
        if path.is_file():
            reply = client.get(f"/static/{path.relative_to(STATIC).as_posix()}")
            assert reply.status_code == 200
            assert reply.headers["x-content-type-options"] == "nosniff"
            if path.suffix == ".js":
                assert reply.headers["content-type"].startswith("text/javascript")
    again = client.get(
        "/static/js/main.js", headers={"if-none-match": client.get("/static/js/main.js").headers["etag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["/static/../mounting.py", "/static/%2e%2e/mounting.py", "/static/vendor/page.js"])
def test_mount_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_mount_vendored_library_comes_with_its_licence(client: TestClient) -> None:
    for name in VENDORED:
        assert client.get(f"/static/vendor/{name}").status_code == 200
    assert "MIT" in client.get("/static/vendor/uPlot.LICENSE").text


def test_static_every_import_and_reference_exists() -> None:
    for path in (STATIC / "js").glob("*.js"):
        for name in re.findall(r'(?:from|import\()\s*"(\./[\w-]+\.js)"', path.read_text(encoding="utf-8")):
            assert (path.parent / name).is_file(), f"{path.name} imports {name}"
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="/static/([^"]+)"', html):
        assert (STATIC / name).is_file(), name


def test_static_every_module_is_asked_for_at_once() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:modulepreload" href|src)="/static/js/([^"]+)"', html))
    assert named == {path.name for path in (STATIC / "js").glob("*.js")}


def test_static_modules_are_small() -> None:
    for path in (STATIC / "js").glob("*.js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 500, path.name


def test_config_names_the_model_where_there_is_one(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/page/config").json()["model"] is None
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "qwen")
    monkeypatch.setenv("ASSISTANT_LLM_API_KEY", "secret")
    config = client.get("/page/config")
    assert config.json()["model"] == "qwen"
    assert "secret" not in config.text


def test_render_refuses_a_body_that_is_no_piece(client: TestClient) -> None:
    assert client.post("/page/render", json={"pieces": [{"text": 3}]}).status_code == 422
    assert client.post("/page/render", json={"pieces": [{"text": "**a**"}]}).json() == {
        "html": ["<p><strong>a</strong></p>\n"]
    }
