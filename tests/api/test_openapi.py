"""The OpenAPI document: complete, true, and nothing in it that makes the server stumble."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assistant.api.app import create_app
from evals.service.bodies import hostile
from evals.service.fuzz import by_bodies, by_schema, operations
from evals.service.hosting import hosted
from tests.api.client import Client

OURS = ("/explain", "/parse", "/check", "/verify", "/streams/{name}", "/metrics-docs", "/metrics-docs/{name}",
        "/healthz", "/readyz", "/metrics")  # fmt: skip
WORK = OURS[:4]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = Client(create_app()).get("/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app())


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "components": document["components"]}


def test_openapi_every_operation_says_what_it_is_and_what_may_go_wrong(document: dict[str, Any]) -> None:
    for method, path in operations(document):
        operation = document["paths"][path][method]
        assert operation["summary"], path
        assert operation["tags"], path
        if path == "/healthz":
            continue
        errors = {status: reply for status, reply in operation["responses"].items() if status >= "400"}
        assert {"401", "403"} <= errors.keys(), path
        if path == "/readyz":
            continue
        for status, reply in errors.items():
            assert list(reply["content"]) == ["application/problem+json"], (path, status)
            assert reply["description"], (path, status)


def test_openapi_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    names = {part.partition('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert {"Problem", "ExplainRequest", "Answer"} <= names
    assert names <= document["components"]["schemas"].keys()


@pytest.mark.parametrize("path", WORK)
def test_openapi_example_of_a_body_is_valid_and_answered_as_described(
    document: dict[str, Any], client: Client, path: str
) -> None:
    operation = document["paths"][path]["post"]
    content = operation["requestBody"]["content"]
    assert set(content) == {"application/json", "multipart/form-data"}
    example = content["application/json"]["example"]
    jsonschema.validate(example, resolved(document, content["application/json"]["schema"]))
    reply = client.post(path, json=example)
    assert reply.status_code == 200
    told = operation["responses"]["200"]["content"]
    assert set(told) == {"application/json", "text/event-stream"}
    jsonschema.validate(reply.json(), resolved(document, told["application/json"]["schema"]))


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [("/explain", {}, "422"), ("/explain", {"text": 3}, "422"), ("/parse", {"text": "nothing"}, "422")],
)
def test_openapi_problem_is_as_described(
    document: dict[str, Any], client: Client, path: str, body: dict[str, Any], status: str
) -> None:
    reply = client.post(path, json=body)
    told = document["paths"][path]["post"]["responses"][status]["content"]["application/problem+json"]
    assert str(reply.status_code) == status
    jsonschema.validate(reply.json(), resolved(document, told["schema"]))
    jsonschema.validate(told["example"], resolved(document, told["schema"]))


def test_openapi_keys_are_described(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"].keys() == {"bearer", "header"}
    assert {} in document["security"]


def test_docs_page_holds_every_route_and_loads_nothing_from_elsewhere(document: dict[str, Any], client: Client) -> None:
    reply = client.get("/docs")
    assert reply.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    for method, path in operations(document):
        assert f"<b>{method.upper()}</b> <code>{path}</code>" in reply.text
    assert re.findall(r'(?:src|href)="([^"]*)"', reply.text) == ["/docs/style.css", "/openapi.json"]
    assert "<script" not in reply.text
    assert client.get("/docs/style.css").headers["content-type"].startswith("text/css")


def test_docs_page_text_of_the_document_is_escaped() -> None:
    from assistant.api.docs_page import page

    evil = "<img src=x onerror=alert(1)>"
    parameter = {"name": evil, "in": "query", "description": evil, "schema": {"type": "string", "default": evil}}
    operation = {
        "summary": evil, "description": f"`{evil}`", "tags": [evil], "parameters": [parameter],
        "responses": {"200": {"description": evil, "content": {"text/html": {"example": evil}}}},
    }  # fmt: skip
    document = {"info": {"title": evil, "version": evil, "description": evil}, "paths": {evil: {"get": operation}}}
    assert "<img" not in page(document)


def test_server_cases_made_from_the_document_give_no_server_error() -> None:
    with hosted({"ASSISTANT_WORKERS": "1", "ASSISTANT_LOG_LEVEL": "error"}, ready=False) as server:
        outcome = by_schema(server, 200, seed=3)
        assert server.log.read_text(encoding="utf-8") == ""
    assert outcome.failures == []
    assert outcome.count >= 200


def test_server_hostile_bodies_give_no_server_error_and_stay_within_limits() -> None:
    with hosted({"ASSISTANT_WORKERS": "1", "ASSISTANT_LOG_LEVEL": "error"}) as server:
        outcome = asyncio.run(by_bodies(server, itertools.islice(hostile(150, seed=4), 150)))
        assert server.log.read_text(encoding="utf-8") == ""
    assert outcome.failures == []
    assert outcome.count == 150
    assert len(outcome.statuses) >= 3


def test_settings_page_of_the_server_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools import settings_table

    monkeypatch.setattr("sys.argv", ["settings_table", "--check"])
    assert settings_table.main() == 0, "run python tools/settings_table.py"


def test_settings_each_field_is_described_with_its_variable() -> None:
    from dataclasses import fields

    from assistant.settings import Serving, Settings, Storing
    from tools.settings_table import attributes, table

    for cls in (Serving, Storing, Settings):
        assert list(attributes(cls)) == [one.name for one in fields(cls)]
    source = (Path(__file__).resolve().parents[2] / "assistant" / "settings.py").read_text(encoding="utf-8")
    read = {part.partition('"')[0] for part in source.split('"ASSISTANT_')[1:]}
    missing = {name for name in read if f"ASSISTANT_{name}" not in table() and "`…_" not in name}
    assert {name for name in missing if "{" not in name} - {"LLM", "EMBEDDINGS"} == set()


def test_settings_defaults_are_those_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.settings import Serving, settings
    from tools.settings_table import attributes

    monkeypatch.setattr("os.cpu_count", lambda: 4)
    told = attributes(Serving)
    units = {"large_bytes": 1 << 10, "job_bytes": 1 << 20, "kept_bytes": 1 << 20}
    serving = settings().serving
    for name in ("large_workers", "threads", "model_calls", "queue", "large_bytes", "job_seconds", "job_bytes", "burst",
                 "resume_seconds", "kept_seconds", "kept_bytes", "heartbeat_seconds", "shutdown_seconds"):  # fmt: skip
        value = getattr(serving, name) / units.get(name, 1)
        assert f"{value:g}" in told[name], name
    assert serving.workers == 4
    assert serving.rate == 0
    monkeypatch.setenv("ASSISTANT_API_KEYS", "x")
    assert f"{settings().serving.rate:g} with keys" in told["rate"]
