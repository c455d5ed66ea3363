"""Health, readiness, metrics, logs; and that nothing secret is in any of them."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assistant.api import routes_answers
from assistant.api.access import new_key
from assistant.api.app import create_app
from assistant.api.logs import Formatter, redacted
from assistant.devmodel import DevModel, load_script
from tests.api.client import LOG, Client

COLLAPSE = "\n".join(
    f"step:{step} - actor/ppo_kl:0.5 - actor/grad_norm:{'nan' if step > 3 else 0.3} - actor/entropy:0.1"
    for step in range(1, 12)
)


@pytest.fixture
def client() -> Client:
    return Client(create_app())


def samples(client: Client) -> dict[tuple[str, ...], float]:
    text = client.get("/metrics").text
    return {
        (sample.name.removeprefix("metric_assistant_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def lines(client: Client) -> Iterator[list[dict[str, Any]]]:
    """The log of what the test does, as it would be written."""
    found: list[dict[str, Any]] = []
    formatter = Formatter(as_json=True)

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(formatter.format(record)))

    logger, handler = logging.getLogger("assistant"), Collect()
    former = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(former)


# --- metrics ---------------------------------------------------------------------------------------------


def test_metrics_requests_stages_and_findings_are_counted(client: Client) -> None:
    assert client.post("/check", json={"text": COLLAPSE}).status_code == 200
    assert client.post("/explain", json={"text": LOG}).status_code == 200
    assert client.post("/explain", json={"text": ""}).status_code == 422
    assert client.request("BREW", "/explain").status_code == 405
    assert client.get("/nobody/knows/this").status_code == 404
    found = samples(client)
    assert found["request_seconds_count", "POST", "/check", "200"] == 1
    assert found["request_seconds_count", "POST", "/explain", "422"] == 1
    assert found["request_seconds_count", "GET", "unmatched", "404"] == 1
    assert any(key[:2] == ("request_seconds_count", "OTHER") for key in found)
    assert found["stage_seconds_count", "parse"] == 2
    assert found["stage_seconds_count", "analyse"] == 1
    assert found["answers_total", "offline"] == 1
    assert sum(value for key, value in found.items() if key[0] == "findings_total") > 0
    assert found["requests_in_progress",] == 1  # this one
    assert found["queue_depth",] == 0


def test_metrics_refused_requests_are_counted_by_reason(client: Client) -> None:
    client.post("/explain", json={"text": LOG}, headers={"origin": "https://evil.example"})
    client.get("/healthz", headers={"host": "evil.example"})
    found = samples(client)
    assert found["rejected_total", "cross_site"] == found["rejected_total", "host_not_allowed"] == 1


def test_metrics_of_two_applications_are_apart(client: Client) -> None:
    client.get("/healthz")
    assert ("request_seconds_count", "GET", "/healthz", "200") not in samples(Client(create_app()))


def test_metrics_answer_with_a_model_counts_tokens_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "At step 2 `actor/entropy` is 0.1557, after 0.1564 at step 1. `actor/grad_norm` at step 3 is 0.124."
    with DevModel(load_script(json.dumps({"rules": [{"then": {"text": text}}]}))) as server:
        monkeypatch.setenv("ASSISTANT_LLM_MODEL", "dev")
        monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", server.base_url)
        client = Client(create_app())
        body = {"text": LOG, "question": "Is the run healthy?"}
        answer = client.post("/explain", json=body).json()
        streamed = client.post("/explain", json=body, headers={"accept": "text/event-stream"}).text
    assert answer["engine"] == "llm"
    assert answer["answer"].startswith(text)
    assert '"engine":"llm"' in streamed
    found = samples(client)
    assert found["answers_total", "llm"] == 2
    assert found["model_calls_total", "dev"] == 1
    assert found["tokens_total", "prompt", "dev"] >= answer["usage"]["prompt_tokens"] > 0
    assert found["model_cache_total", "hit"] == found["model_cache_total", "miss"] == 1
    assert found["stage_seconds_count", "model"] == 2


# --- readiness -------------------------------------------------------------------------------------------


def test_readyz_tells_each_part_and_its_reason(client: Client) -> None:
    reply = client.get("/readyz")
    document = reply.json()
    assert reply.status_code == 200
    assert document["cards"] > 100
    assert {"cards", "search_index", "chroma", "model"} <= set(document["parts"])
    assert document["parts"]["cards"] == {"status": "ok", "reason": ""}
    assert document["parts"]["model"]["status"] == "missing"
    assert "offline engine" in document["parts"]["model"]["reason"]


def test_readyz_unreachable_servers_are_told_by_host_and_port_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else answers there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("ASSISTANT_CHROMA_URL", f"http://user:sesame@127.0.0.1:{port}/path")
        monkeypatch.setenv("ASSISTANT_LLM_MODEL", "m")
        monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", f"http://127.0.0.1:{port}/v1")
        document = Client(create_app()).get("/readyz").json()
    assert document["parts"]["chroma"]["status"] == "missing"
    assert f"127.0.0.1:{port}" in document["parts"]["chroma"]["reason"]
    assert document["parts"]["model"]["status"] == "degraded"
    assert "sesame" not in json.dumps(document)


@pytest.mark.parametrize(("state", "status", "http"), [("stopping", "stopping", 503), ("vital", "not_ready", 503)])
def test_readyz_stopping_or_without_something_vital_is_503(client: Client, state: str, status: str, http: int) -> None:
    if state == "stopping":
        client.app.state.stopping = True
    else:
        client.app.state.checks["cards"] = lambda: {"status": "missing", "reason": "gone"}
    reply = client.get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (http, status)


def test_readyz_check_that_fails_is_missing_and_not_an_error(client: Client) -> None:
    def fail() -> dict[str, str]:
        raise ConnectionError("postgres://user:sesame@host")

    client.app.state.checks["database"] = fail
    reply = client.get("/readyz")
    assert reply.json()["parts"]["database"] == {"status": "missing", "reason": "ConnectionError"}


# --- logs ------------------------------------------------------------------------------------------------


def test_log_line_has_the_request_id_route_status_and_time(client: Client, lines: list[dict[str, Any]]) -> None:
    reply = client.post("/explain?note=private", json={"text": LOG, "question": "entropy?"})
    (line,) = lines
    assert line["request_id"] == reply.headers["x-request-id"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/explain", 200)
    assert line["caller"] == "local"
    assert line["ms"] > 0
    assert line["bytes_in"] > len(LOG)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert "private" not in json.dumps(lines)
    assert "entropy" not in json.dumps(lines)


def test_log_line_of_a_problem_has_its_code(client: Client, lines: list[dict[str, Any]]) -> None:
    client.post("/explain", json={"text": ""})
    assert (lines[0]["status"], lines[0]["code"]) == (422, "empty_input")


def test_log_of_a_mistake_tells_where_and_not_what(
    client: Client, lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("what the caller sent")

    monkeypatch.setattr(routes_answers.jobs, "parse", lambda *_, **__: fail())
    reply = client.post("/parse", json={"text": LOG})
    assert reply.json()["code"] == "internal_error"
    mistake, access = lines
    assert mistake["level"] == "error"
    assert re.search(r"ValueError at .*test_operations\.py:\d+ fail", mistake["error"])
    assert mistake["request_id"] == access["request_id"] == reply.headers["x-request-id"]
    assert "caller sent" not in json.dumps(lines)


def test_secrets_are_in_no_reply_log_or_metric(
    lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # where the database of that name is made
    key, entry = new_key("somebody", ["ask", "read"])
    secrets = {
        "ASSISTANT_API_KEYS": entry, "OPENAI_API_KEY": "sk-3141592653589793",
        "ASSISTANT_LLM_API_KEY": "sesame-open-1", "ASSISTANT_EMBEDDINGS_API_KEY": "sesame-open-2",
        "ASSISTANT_DATABASE_URL": "sqlite:///sesame-open-3.db",
    }  # fmt: skip
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    client = Client(create_app())
    shown = {"x-api-key": key}

    def fail(*_: Any, **__: Any) -> None:
        logging.getLogger("assistant.test").error("could not connect with %s and %s", secrets["OPENAI_API_KEY"], key)
        raise ConnectionError(" ".join(secrets.values()) + key)

    monkeypatch.setattr(routes_answers.jobs, "parse", lambda *_, **__: fail())
    replies = [
        client.get("/readyz", headers=shown), client.get("/metrics", headers=shown), client.get("/openapi.json"),
        client.post("/parse", json={"text": LOG}, headers=shown), client.post("/parse", json={"text": LOG}),
        client.post("/parse", json={"text": LOG}, headers={**shown, "accept": "text/event-stream"}),
        client.post(f"/parse?key={key}", content=b"{" + key.encode(), headers={**shown, "content-type": "text/json"}),
        client.get(f"/{key}", headers=shown), client.get("/metrics-docs", headers=shown),
        client.post("/explain", json={"text": 3, "api_key": key}, headers=shown),
        client.post("/parse", json={}, headers={"authorization": f"Bearer {key}x"}),
    ]  # fmt: skip
    told = json.dumps(lines) + "".join(f"{reply.headers}{reply.text}" for reply in replies if key not in str(reply.url))
    assert {reply.status_code for reply in replies} >= {200, 401, 422, 500}
    assert any("could not connect" in line["message"] for line in lines)
    for secret in (key, entry.rpartition(":")[2], *list(secrets.values())[1:]):
        assert secret not in told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def", "Authorization: Bearer [hidden]"),
        ("X-API-Key: abcdef", "X-API-Key: [hidden]"),
        ("postgresql://user:word@host/db", "postgresql://[hidden]@host/db"),
        ("key sk-0123456789abc", "key [hidden]"),
        ("password='p q'", "password='[hidden] q'"),
        ("step:1 - actor/ppo_kl:0.1", "step:1 - actor/ppo_kl:0.1"),
    ],
)
def test_redacted_what_looks_like_a_key_is_masked(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_redacted_secret_of_the_environment_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_WEBHOOK_SECRET", "open sesame")
    assert redacted("it was open sesame!") == "it was [hidden]!"
