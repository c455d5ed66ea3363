"""The REST API in-process: routes, errors as problem documents, limits, headers."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from fastapi import FastAPI

import assistant
from assistant.api import routes_definitions
from assistant.api.app import create_app
from assistant.api.routes_definitions import LONGEST_QUERY

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")
SCHEMA = json.loads((Path(assistant.__file__).parent / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
PROBLEM = {"type", "title", "status", "code", "detail", "instance", "request_id"}


class Client:
    """Speaks to an application in this process; no socket, and no exception of the application comes through."""

    def __init__(self, app: FastAPI) -> None:
        self.transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            async with httpx.AsyncClient(transport=self.transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app())


# --- answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("question", "language"), [("step 3 怎么样", "zh"), ("What about step 3?", "en"), ("", "en")])
def test_explain_log_and_question_gives_a_valid_answer(client: Client, question: str, language: str) -> None:
    reply = client.post("/explain", json={"text": LOG, "question": question})
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    answer = reply.json()
    jsonschema.validate(answer, SCHEMA)
    assert answer["language"] == language
    assert answer["grounding"]["numbers"] == answer["grounding"]["supported"] > 0


def test_explain_language_wish_is_followed(client: Client) -> None:
    answer = client.post("/explain", json={"text": LOG, "question": "step 3 怎么样", "lang": "en"}).json()
    assert answer["language"] == "en"


def test_explain_question_in_the_text_is_answered(client: Client) -> None:
    answer = client.post("/explain", json={"text": LOG + "\n\n用了多少张卡？\n"}).json()
    assert (answer["intent"], answer["question"]) == ("derive", "用了多少张卡？")


def test_explain_text_without_metrics_says_so_and_makes_nothing_up(client: Client) -> None:
    reply = client.post("/explain", json={"text": "hello there", "question": "how is the entropy?"})
    assert reply.status_code == 200
    answer = reply.json()
    assert answer["verdict"]["code"] in {"no_metrics", "answered"}
    assert [f for f in answer["facts"] if f["kind"] == "value"] == []


def test_explain_lone_surrogate_is_no_server_error(client: Client) -> None:
    body = json.dumps({"text": "step:1 - a/b:0.5 \ud800"}).encode()
    reply = client.post("/explain", content=body, headers={"content-type": "application/json"})
    assert reply.status_code in {200, 422}


def test_parse_log_gives_the_table(client: Client) -> None:
    (run,) = client.post("/parse", json={"text": LOG}).json()["runs"]
    assert (run["format"], run["framework"], [row["step"] for row in run["rows"]]) == ("verl", "verl", [0, 1, 2, 3])
    assert run["rows"][1]["values"]["actor/entropy"] == 0.15639255940914154


def test_parse_values_not_finite_are_strings(client: Client) -> None:
    text = "step:1 - actor/pg_loss:nan - actor/grad_norm:inf - actor/entropy:0.5\n"
    values = client.post("/parse", json={"text": text}).json()["runs"][0]["rows"][0]["values"]
    assert values["actor/pg_loss"] == "NaN"
    assert values["actor/grad_norm"] == "Infinity"


# --- definitions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("query", "card"), [("actor/ppo_kl", "verl/actor/ppo_kl"), ("策略熵", "verl/actor/entropy")])
def test_metrics_docs_wording_gives_the_card_first(client: Client, query: str, card: str) -> None:
    results = client.get("/metrics-docs", params={"q": query}).json()["results"]
    assert results[0]["card"] == card
    assert set(results[0]) >= {"card", "title", "framework", "keys", "score", "how"}


def test_metrics_docs_nonsense_gives_no_result(client: Client) -> None:
    reply = client.get("/metrics-docs", params={"q": "xyzzy plugh"})
    assert (reply.status_code, reply.json()) == (200, {"results": []})


def test_metrics_docs_language_is_that_of_the_titles(client: Client) -> None:
    titles = {
        lang: client.get("/metrics-docs", params={"q": "actor/entropy", "lang": lang}).json()["results"][0]["title"]
        for lang in ("zh", "en")
    }
    assert re.search(r"[\u3400-\u9fff]", titles["zh"])
    assert not re.search(r"[\u3400-\u9fff]", titles["en"])


@pytest.mark.parametrize("name", ["actor/ppo_kl", "verl/actor/ppo_kl", "ppo_kl"])
def test_metric_doc_card_or_name_gives_both_languages(client: Client, name: str) -> None:
    document = client.get(f"/metrics-docs/{name}").json()
    assert document["card"] == "verl/actor/ppo_kl"
    assert set(document["text"]) == {"zh", "en"}


# --- operations and pages --------------------------------------------------------------------------------


def test_healthz_and_readyz_say_that_it_runs(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "version": assistant.__version__}
    ready = client.get("/readyz").json()
    assert ready["status"] in {"ready", "degraded"}
    assert ready["cards"] > 100


def test_openapi_lists_the_routes(client: Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/explain", "/parse", "/metrics-docs", "/metrics-docs/{name}", "/healthz", "/readyz"} <= set(paths)


# --- headers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/docs-not", "/no-such-route", "/metrics-docs/xyzzy"])
def test_security_headers_are_on_every_reply(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_request_id_is_another_for_every_request(client: Client) -> None:
    ids = [client.get("/healthz").headers["x-request-id"] for _ in range(5)]
    assert len(set(ids)) == 5
    assert all(re.fullmatch(r"[0-9a-f]{16}", i) for i in ids)


# --- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/no-such-route", None, (404, "not_found")),
        ("GET", "/explain", None, (405, "method_not_allowed")),
        ("POST", "/explain", {}, (422, "empty_input")),
        ("POST", "/explain", {"text": ""}, (422, "empty_input")),
        ("POST", "/explain", {"text": LOG, "lang": "fr"}, (422, "invalid_request")),
        ("POST", "/explain", {"text": LOG, "engine": "magic"}, (422, "invalid_request")),
        ("POST", "/explain", {"text": 5}, (422, "invalid_request")),
        ("POST", "/explain", {"text": " \n "}, (422, "empty_input")),
        ("POST", "/parse", {"text": "nothing here"}, (422, "bad_input")),
        ("GET", "/metrics-docs", None, (422, "invalid_request")),
        ("GET", "/metrics-docs?q=kl&k=0", None, (422, "invalid_request")),
        ("GET", "/metrics-docs?q=kl&k=51", None, (422, "invalid_request")),
        ("GET", f"/metrics-docs?q={'a' * (LONGEST_QUERY + 1)}", None, (422, "invalid_request")),
        ("GET", "/metrics-docs/xyzzy_plugh", None, (422, "unknown_metric")),
    ],
)
def test_error_is_a_problem_document(
    client: Client, method: str, path: str, body: object, expected: tuple[int, str]
) -> None:
    status, code = expected
    reply = client.request(method, path, **({} if body is None else {"json": body}))
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert set(problem) >= PROBLEM
    assert (problem["status"], problem["code"], problem["instance"]) == (status, code, path.partition("?")[0])
    assert problem["request_id"] == reply.headers["x-request-id"]
    assert problem["detail"]


def test_error_body_that_is_no_json_is_a_problem_document(client: Client) -> None:
    reply = client.post("/explain", content=b"{", headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(("accepts", "chinese"), [("zh-CN,zh;q=0.9", True), ("en-US", False)])
def test_error_is_in_the_language_that_is_accepted(client: Client, accepts: str, chinese: bool) -> None:
    reply = client.get("/metrics-docs/xyzzy_plugh", headers={"accept-language": accepts})
    assert bool(re.search(r"[\u3400-\u9fff]", reply.json()["detail"])) is chinese


def test_error_of_ours_is_said_without_its_trace(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("secret detail of the machine")

    monkeypatch.setattr(routes_definitions, "service", fail)
    reply = client.get("/metrics-docs", params={"q": "kl"})
    assert (reply.status_code, reply.json()["code"]) == (500, "internal_error")
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A client of an application that takes one megabyte."""
    monkeypatch.setenv("ASSISTANT_MAX_BODY_MB", "1")
    return Client(create_app())


def test_body_over_the_limit_is_refused(small: Client) -> None:
    reply = small.post("/explain", json={"text": "x" * (1024 * 1024 + 1)})
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")
    assert "1 MB" in reply.json()["detail"]
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_body_under_the_limit_is_taken(small: Client) -> None:
    assert small.post("/parse", json={"text": LOG + "\n" * 100_000}).status_code == 200


def test_metrics_docs_framework_in_any_case_is_known(client: Client) -> None:
    found = client.get("/metrics-docs", params={"q": "kl", "framework": "trl"}).json()["results"]
    assert found[0]["card"] == "trl/kl"
    assert client.get("/metrics-docs/entropy", params={"framework": "ROLL"}).json()["framework"] == "ROLL"


def test_metrics_docs_unknown_framework_or_endless_question_is_refused(client: Client) -> None:
    refused = client.get("/metrics-docs", params={"q": "kl", "framework": "nobody"})
    assert refused.status_code in {400, 422}
    assert "verl" in refused.text
    assert client.get("/metrics-docs", params={"q": "x" * 5000}).status_code in {400, 422}


def test_check_returns_the_contracts_object_with_the_thresholds_broken(client):
    body = {"text": "step:1 - actor/ppo_kl:0.12 - actor/grad_norm:0.3", "thresholds": ["ppo_kl < 0.05"], "lang": "zh"}
    found = client.post("/check", json=body).json()
    assert {"verdict", "findings", "facts", "runs"} <= set(found)
    assert any(finding["rule"] == "threshold" and finding["steps"] == [1] for finding in found["findings"])


def test_check_with_an_unreadable_threshold_is_a_problem(client):
    response = client.post("/check", json={"text": "step:1 - actor/ppo_kl:0.12", "thresholds": ["ppo_kl <"]})
    assert response.status_code == 422
    assert response.headers["content-type"].startswith("application/problem+json")
