"""Sessions over HTTP: a real server on loopback, as the page and programs use it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

import assistant
from assistant.api.app import create_app
from assistant.api.sessions import close
from assistant.api.sessions_messages import LONGEST_QUESTION
from assistant.service.sessions.runtime import SessionService
from assistant.settings import settings
from tests.api.test_app import Client

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")
SCHEMA = json.loads((Path(assistant.__file__).parent / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
SMALL = "step:1 - actor/entropy:0.5 - actor/grad_norm:nan\nstep:2 - actor/entropy:0.25 - actor/grad_norm:0.125"
PATIENCE = 120.0


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with sessions in a file of its own; no worker processes."""
    import uvicorn

    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSISTANT_WORKERS", "0")
        app = create_app()
    app.state.sessions = SessionService(replace(settings(), data_dir=folder))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(PATIENCE)


@pytest.fixture
def http(base: str) -> Generator[httpx.Client]:
    with httpx.Client(base_url=base, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def session(http: httpx.Client) -> str:
    found: str = http.post("/sessions", json={"lang": "en"}).json()["id"]
    return found


@pytest.fixture
def loaded(http: httpx.Client, session: str) -> str:
    assert http.post(f"/sessions/{session}/runs", json={"text": LOG, "name": "a.log"}).status_code == 201
    return session


def ask(http: httpx.Client, session: str, content: str, **more: Any) -> httpx.Response:
    headers = more.pop("headers", {})
    return http.post(f"/sessions/{session}/messages", json={"content": content, **more}, headers=headers)


@pytest.mark.parametrize(
    ("question", "accepted", "language"),
    [
        ("熵是多少？", "en", "zh"), ("How large is the entropy?", "zh-CN", "en"), ("actor/entropy", "zh-CN", "zh"),
        ("actor/entropy", "en", "en"),
    ],
)  # fmt: skip
def test_question_is_answered_in_its_own_language_else_in_the_askers(
    http: httpx.Client, question: str, accepted: str, language: str
) -> None:
    session = http.post("/sessions", json={}).json()["id"]
    http.post(f"/sessions/{session}/runs", json={"text": SMALL})
    found = ask(http, session, question, headers={"accept-language": accepted}).json()
    assert found["language"] == language


def events_of(lines: Iterator[str]) -> Iterator[tuple[str, str, Any]]:
    name = kind = ""
    for line in lines:
        if line.startswith("id: "):
            name = line[4:]
        elif line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield name, kind, json.loads(line[6:])


def stream(http: httpx.Client, method: str, path: str, **options: Any) -> list[tuple[str, str, Any]]:
    headers = {"accept": "text/event-stream", **options.pop("headers", {})}
    with http.stream(method, path, headers=headers, **options) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        return list(events_of(reply.iter_lines()))


def problem(reply: httpx.Response) -> tuple[int, str]:
    assert reply.headers["content-type"] == "application/problem+json"
    return reply.status_code, reply.json()["code"]


# --- sessions --------------------------------------------------------------------------------------------


def test_session_from_its_making_to_its_end(http: httpx.Client) -> None:
    made = http.post("/sessions", json={"title": "GRPO 熵塌缩", "lang": "zh"})
    assert made.status_code == 201
    held = made.json()
    assert made.headers["location"] == f"/sessions/{held['id']}"
    assert (held["title"], held["runs"], held["messages"]) == ("GRPO 熵塌缩", [], [])
    assert http.patch(f"/sessions/{held['id']}", json={"title": "renamed"}).json()["title"] == "renamed"
    listed = http.get("/sessions", params={"q": "renamed"}).json()["sessions"]
    assert [one["id"] for one in listed] == [held["id"]]
    assert http.delete(f"/sessions/{held['id']}").status_code == 204
    assert problem(http.get(f"/sessions/{held['id']}")) == (404, "session_not_found")
    assert problem(http.delete(f"/sessions/{held['id']}")) == (404, "session_not_found")


def test_session_without_a_body_is_made(http: httpx.Client) -> None:
    assert http.post("/sessions").json()["title"] == ""


def test_sessions_pages_are_followed_by_next(http: httpx.Client) -> None:
    made = {http.post("/sessions", json={"title": "paged"}).json()["id"] for _ in range(5)}
    found: list[str] = []
    before = ""
    while True:
        page = http.get("/sessions", params={"q": "paged", "limit": 2, "before": before}).json()
        found += [one["id"] for one in page["sessions"]]
        if page["next"] is None:
            break
        before = page["next"]
    assert sorted(found) == sorted(made)


def test_session_takes_the_first_question_as_its_title(http: httpx.Client, loaded: str) -> None:
    assert http.get(f"/sessions/{loaded}").json()["title"] == "a.log"
    ask(http, loaded, "entropy at step 3?")
    assert http.get(f"/sessions/{loaded}").json()["title"] == "entropy at step 3?"


# --- runs ------------------------------------------------------------------------------------------------


def test_runs_several_files_and_one_that_is_none(http: httpx.Client, session: str) -> None:
    files = [
        ("files", ("folder/a.log", LOG.encode())), ("files", ("notes.md", b"# nothing here")),
        ("files", ("b.log", gzip.compress(SMALL.encode()))), ("files", ("empty.log", b"")),
    ]  # fmt: skip
    reply = http.post(f"/sessions/{session}/runs", files=files)
    assert reply.status_code == 201
    told = reply.json()
    assert [run["id"] for run in told["runs"]] == ["r0", "r1"]
    assert told["run"] == told["runs"][0]
    assert {one["name"]: one["code"] for one in told["skipped"]} == {
        "notes.md": "no_metrics", "empty.log": "empty_input",
    }  # fmt: skip
    assert http.get(f"/sessions/{session}/runs").json()["runs"] == told["runs"]


def test_runs_question_beside_the_log_is_told(http: httpx.Client, session: str) -> None:
    reply = http.post(f"/sessions/{session}/runs", json={"text": f"{LOG}\n\n跟 step 0 相比，模型有改进吗？"})
    assert reply.json()["question"] == "跟 step 0 相比，模型有改进吗？"


def test_runs_text_without_metrics_is_refused(http: httpx.Client, session: str) -> None:
    assert problem(http.post(f"/sessions/{session}/runs", json={"text": "hello"})) == (422, "no_metrics")
    assert problem(http.post(f"/sessions/{session}/runs", json={})) == (422, "empty_input")
    assert problem(http.post("/sessions/nope/runs", json={"text": LOG})) == (404, "session_not_found")


def test_runs_same_key_attaches_once(http: httpx.Client, session: str) -> None:
    replies = [
        http.post(f"/sessions/{session}/runs", json={"text": SMALL}, headers={"idempotency-key": "k"}).json()["runs"]
        for _ in range(2)
    ]
    assert replies[0] == replies[1]
    other = http.post(f"/sessions/{session}/runs", json={"text": LOG}, headers={"idempotency-key": "k"})
    assert problem(other) == (422, "idempotency_key_reused")
    assert len(http.get(f"/sessions/{session}/runs").json()["runs"]) == 1


def test_runs_renamed_and_deleted(http: httpx.Client, loaded: str) -> None:
    assert http.patch(f"/sessions/{loaded}/runs/r0", json={"name": "基线"}).json()["run"]["name"] == "基线"
    assert ask(http, loaded, "entropy at step 3?").json()["runs"][0]["name"] == "基线"
    assert http.delete(f"/sessions/{loaded}/runs/r0").status_code == 204
    assert problem(http.get(f"/sessions/{loaded}/runs/r0/overview")) == (404, "run_not_found")
    assert ask(http, loaded, "how is training going?").json()["verdict"]["code"] == "no_metrics"


def test_overview_tells_what_was_recognised(http: httpx.Client, loaded: str) -> None:
    for language, title in (("zh", "GPU 数"), ("en", "GPUs")):
        told = http.get(f"/sessions/{loaded}/runs/r0/overview", params={"lang": language}).json()
        facts = {fact["name"]: fact for fact in told["facts"]}
        assert (facts["n_gpus"]["label"], facts["n_gpus"]["value"]) == (title, 8)
        assert (facts["group_size"]["value"], facts["prompts_per_step"]["value"]) == (16, 512)
    entropy = next(one for one in told["metrics"] if one["key"] == "actor/entropy")
    assert (entropy["n"], entropy["card"], len(entropy["spark"])) == (3, "verl/actor/entropy", 3)
    assert entropy["first"] == entropy["spark"][0]
    assert told["run"]["id"] == "r0"
    assert len(told["metrics"]) == told["run"]["n_metrics"]


def test_series_hold_gaps_and_what_is_no_number(http: httpx.Client, session: str) -> None:
    text = SMALL + "\nstep:3 - actor/entropy:inf - actor/lr:0.001"
    http.post(f"/sessions/{session}/runs", json={"text": text})
    path = f"/sessions/{session}/runs/r0/series"
    told = http.get(path, params={"metric": ["actor/entropy", "actor/grad_norm"]}).json()
    assert told == {
        "steps": [1, 2, 3], "lines": [1, 2, 3],
        "series": {"actor/entropy": [0.5, 0.25, "Infinity"], "actor/grad_norm": ["NaN", 0.125, None]},
    }  # fmt: skip
    assert problem(http.get(path, params={"metric": "no/such"})) == (422, "bad_input")
    assert problem(http.get(path)) == (422, "invalid_request")


def test_lines_around_a_fact(http: httpx.Client, loaded: str) -> None:
    fact = ask(http, loaded, "entropy at step 3?").json()["facts"][0]
    told = http.get(f"/sessions/{loaded}/runs/r0/lines", params={"around": fact["line"], "context": 1}).json()["lines"]
    assert [line["n"] for line in told] == [3, 4]
    assert "step:3 - " in told[1]["text"]
    assert repr(fact["value"]) in told[1]["text"]


# --- messages --------------------------------------------------------------------------------------------


def test_ask_answers_and_understands_a_follow_up(http: httpx.Client, loaded: str) -> None:
    first = ask(http, loaded, "entropy at step 3?")
    assert first.status_code == 200
    jsonschema.validate(first.json(), SCHEMA)
    second = ask(http, loaded, "and step 2?")
    assert second.json()["slots"] == {
        "metrics": ["actor/entropy"], "steps": {"kind": "single", "values": [2]}, "op": None,
    }  # fmt: skip
    messages = http.get(f"/sessions/{loaded}/messages").json()["messages"]
    assert [(m["role"], m["status"]) for m in messages] == [("user", "done"), ("assistant", "done")] * 2
    assert messages[1]["id"] == first.headers["x-message-id"]
    assert messages[1]["answer"] == first.json()
    assert messages[3]["content"] == second.json()["answer"]
    bare = http.get(f"/sessions/{loaded}/messages", params={"answers": "false", "limit": 1}).json()["messages"]
    assert [(m["id"], m["answer"]) for m in bare] == [(messages[3]["id"], None)]


def test_ask_same_key_is_one_message(http: httpx.Client, loaded: str) -> None:
    replies = [ask(http, loaded, "entropy at step 3?", headers={"idempotency-key": "one"}) for _ in range(3)]
    assert len({reply.headers["x-message-id"] for reply in replies}) == 1
    assert replies[0].content == replies[1].content
    assert len(http.get(f"/sessions/{loaded}/messages").json()["messages"]) == 2
    other = ask(http, loaded, "another?", headers={"idempotency-key": "one"})
    assert problem(other) == (422, "idempotency_key_reused")
    assert problem(ask(http, loaded, "q?", headers={"idempotency-key": "x" * 300})) == (422, "bad_idempotency_key")


def test_ask_with_a_log_pasted_attaches_it_and_understands_the_question(http: httpx.Client, session: str) -> None:
    answer = ask(http, session, f"{LOG}\n\nWhat is the entropy at step 2?").json()
    assert (answer["question"], answer["verdict"]["code"]) == ("What is the entropy at step 2?", "answered")
    assert [run["id"] for run in http.get(f"/sessions/{session}/runs").json()["runs"]] == ["r0"]
    assert ask(http, session, "actor/entropy at step 1 is 0.2?").status_code == 200  # a question, not a log
    assert len(http.get(f"/sessions/{session}/runs").json()["runs"]) == 1


def test_ask_with_files_in_a_form(http: httpx.Client, session: str) -> None:
    reply = http.post(
        f"/sessions/{session}/messages", data={"content": "entropy at step 2?", "lang": "zh"},
        files=[("files", ("b.log", SMALL.encode()))],
    )  # fmt: skip
    assert (reply.json()["language"], reply.json()["facts"][0]["value"]) == ("zh", 0.25)
    messages = http.get(f"/sessions/{session}/messages").json()["messages"]
    assert messages[0]["content"] == "entropy at step 2?"


def test_ask_with_a_large_log_pasted_keeps_its_beginning(http: httpx.Client, session: str) -> None:
    text = "\n".join(f"step:{n} - actor/entropy:{0.5 + n % 7} - actor/grad_norm:0.125" for n in range(1, 3_000))
    reply = ask(http, session, f"{text}\n\nentropy at step 2999?")
    assert reply.json()["facts"][0]["line"] == 2_999
    content = http.get(f"/sessions/{session}/messages").json()["messages"][0]["content"]
    assert len(content) < 5_000
    assert content.startswith("step:1 - ")
    assert content.endswith("entropy at step 2999?")


def test_ask_nothing_or_too_much_is_refused(http: httpx.Client, session: str) -> None:
    assert problem(ask(http, session, " ")) == (422, "bad_input")
    assert problem(ask(http, session, "why " * LONGEST_QUESTION)) == (422, "bad_input")
    assert problem(ask(http, session, "q", runs=["r5"])) == (404, "run_not_found")
    assert problem(ask(http, session, "q", replace="0" * 20)) == (404, "message_not_found")
    assert problem(ask(http, "0" * 20, "q")) == (404, "session_not_found")
    assert http.get(f"/sessions/{session}/messages").json()["messages"] == []


def test_ask_replace_edits_and_goes_on_from_there(http: httpx.Client, loaded: str) -> None:
    ask(http, loaded, "entropy at step 3?")
    ask(http, loaded, "what about the gradient norm?")
    messages = http.get(f"/sessions/{loaded}/messages").json()["messages"]
    edited = ask(http, loaded, "and step 1?", replace=messages[2]["id"])
    assert edited.json()["slots"]["metrics"] == ["actor/entropy"]
    left = http.get(f"/sessions/{loaded}/messages").json()["messages"]
    assert [m["content"] for m in left if m["role"] == "user"] == ["entropy at step 3?", "and step 1?"]


# --- events ----------------------------------------------------------------------------------------------


def test_stream_tells_messages_then_facts_then_text_then_the_answer(http: httpx.Client, loaded: str) -> None:
    told = stream(http, "POST", f"/sessions/{loaded}/messages", json={"content": "entropy at step 3?"})
    kinds = [kind for _, kind, _ in told]
    assert kinds[:2] == ["message", "message"]
    assert [one["role"] for _, kind, one in told if kind == "message"] == ["user", "assistant"]
    assert told[1][2]["status"] == "pending"
    assert {"fact", "delta"} <= set(kinds[2:-1])
    name, kind, answer = told[-1]
    assert (name, kind) == ("end", "answer")
    stored = http.get(f"/sessions/{loaded}/messages/{answer.pop('message_id')}").json()
    assert stored["answer"] == answer
    assert "".join(one["text"] for _, kind, one in told if kind == "delta").strip() == answer["answer"].strip()


def test_stream_is_replayed_and_resumed(http: httpx.Client, loaded: str) -> None:
    told = stream(http, "POST", f"/sessions/{loaded}/messages", json={"content": "entropy at step 3?"})
    message = told[1][2]["id"]
    path = f"/sessions/{loaded}/messages/{message}/events"
    again = stream(http, "GET", path)
    assert [kind for _, kind, _ in again] == [kind for _, kind, _ in told]
    assert again[-1] == told[-1]
    assert stream(http, "GET", path, headers={"last-event-id": told[2][0]}) == [told[-1]]
    assert stream(http, "GET", path, headers={"last-event-id": "end"}) == []
    by_question = stream(http, "GET", f"/sessions/{loaded}/messages/{told[0][2]['id']}/events")
    assert by_question == again
    assert problem(http.get(f"/sessions/{loaded}/messages/{'0' * 20}/events")) == (404, "message_not_found")


def test_stream_left_by_its_listener_goes_on(http: httpx.Client, loaded: str) -> None:
    with http.stream(
        "POST", f"/sessions/{loaded}/messages", json={"content": "entropy at step 3?"},
        headers={"accept": "text/event-stream"},
    ) as reply:  # fmt: skip
        message = reply.headers["x-message-id"]
    told = stream(http, "GET", f"/sessions/{loaded}/messages/{message}/events")
    assert told[-1][1] == "answer"
    assert http.get(f"/sessions/{loaded}/messages/{message}").json()["status"] == "done"


def test_stop_and_retry_of_a_finished_answer_change_nothing(http: httpx.Client, loaded: str) -> None:
    reply = ask(http, loaded, "entropy at step 3?")
    path = f"/sessions/{loaded}/messages/{reply.headers['x-message-id']}"
    assert http.post(f"{path}/stop").json()["status"] == "done"
    assert http.post(f"{path}/retry").json() == reply.json()
    assert problem(http.post(f"/sessions/{loaded}/messages/{'0' * 20}/stop")) == (404, "message_not_found")


# --- export ----------------------------------------------------------------------------------------------


def test_export_holds_everything(http: httpx.Client, loaded: str) -> None:
    answer = ask(http, loaded, "entropy at step 3? <script>alert(1)</script>").json()
    whole = http.get(f"/sessions/{loaded}/export").json()
    assert whole["schema"] == "metric-assistant/session/1"
    assert whole["sources"][0]["text"] == LOG
    assert whole["runs"][0]["table"]["rows"][3]["values"]["actor/entropy"] == answer["facts"][0]["value"]
    assert [m["answer"] for m in whole["messages"]] == [None, answer]
    assert http.get(f"/sessions/{loaded}/export", params={"texts": "false"}).json()["sources"][0]["text"] is None


def test_export_to_read(http: httpx.Client, loaded: str) -> None:
    answer = ask(http, loaded, "entropy at step 3? <script>alert(1)</script>").json()
    text = http.get(f"/sessions/{loaded}/export", params={"format": "md"})
    assert "attachment" in text.headers["content-disposition"]
    assert answer["answer"].strip() in text.text
    assert "> entropy at step 3?" in text.text
    page = http.get(f"/sessions/{loaded}/export", params={"format": "html"}).text
    assert page.lower().startswith("<!doctype html>")
    assert "<script>alert(1)" not in page
    assert problem(http.get(f"/sessions/{loaded}/export", params={"format": "pdf"})) == (422, "invalid_request")


# --- whose, and what else may come -----------------------------------------------------------------------


def test_keys_see_their_own_sessions_within_their_scopes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from assistant.api.access import new_key

    made = {name: new_key(name, scopes) for name, scopes in
            {"ann": ["ask", "read", "write"], "bob": ["ask", "read", "write"], "eve": ["read"]}.items()}  # fmt: skip
    monkeypatch.setenv("ASSISTANT_API_KEYS", ",".join(entry for _, entry in made.values()))
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ASSISTANT_WORKERS", "0")
    app = create_app()
    client = Client(app)
    ann, bob, eve = ({"authorization": f"Bearer {made[name][0]}"} for name in ("ann", "bob", "eve"))
    session = client.post("/sessions", json={"title": "ann's"}, headers=ann).json()["id"]
    assert client.get(f"/sessions/{session}", headers=ann).status_code == 200
    assert problem(client.get(f"/sessions/{session}", headers=bob)) == (404, "session_not_found")
    assert problem(client.post(f"/sessions/{session}/messages", json={"content": "q"}, headers=bob))[0] == 404
    assert client.get("/sessions", headers=bob).json()["sessions"] == []
    assert problem(client.post("/sessions", json={}, headers=eve)) == (403, "scope_missing")
    assert problem(client.get("/sessions"))[0] == 401
    asyncio.run(close(app))


def test_database_that_is_away_is_503_and_readiness_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setenv("ASSISTANT_DATABASE_URL", f"postgresql://u:secret@/d?host={tmp_path}/nowhere")
    monkeypatch.setenv("ASSISTANT_WORKERS", "0")
    app = create_app()
    client = Client(app)
    reply = client.post("/sessions", json={})
    assert problem(reply) == (503, "database_unavailable")
    assert reply.headers["retry-after"] == "2"
    assert "secret" not in reply.text
    assert "nowhere" not in reply.text
    assert client.get("/readyz").json()["parts"]["database"]["status"] == "missing"
    assert client.post("/explain", json={"text": SMALL, "question": "entropy?"}).status_code == 200
    asyncio.run(close(app))


def test_database_that_the_settings_name_wrongly_is_told_and_the_rest_works(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import asyncio

    monkeypatch.setenv("ASSISTANT_DATABASE_URL", "mysql://u:secret@h/d")
    monkeypatch.setenv("ASSISTANT_WORKERS", "0")
    app = create_app()

    async def started() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            assert (await client.get("/healthz")).status_code == 200
            return await client.post("/sessions", json={})

    reply = asyncio.run(started())
    assert problem(reply) == (503, "database_misconfigured")
    assert "ASSISTANT_DATABASE_URL" in reply.json()["detail"]
    assert "ASSISTANT_DATABASE_URL" in caplog.text
    assert "secret" not in caplog.text + reply.text


@pytest.mark.parametrize("method", ["get", "patch"])
@pytest.mark.parametrize("name", ["%00", "a%ff", "é", "x" * 3000])
def test_strange_ids_are_not_found(http: httpx.Client, method: str, name: str) -> None:
    options = {"json": {"title": "t"}} if method == "patch" else {}
    reply = http.request(method, f"/sessions/{name}", **options)
    assert reply.status_code in {404, 405}
    assert reply.headers["content-type"] == "application/problem+json"


def test_routes_are_described_with_examples_and_problems(http: httpx.Client) -> None:
    paths = {path: item for path, item in http.get("/openapi.json").json()["paths"].items() if "session" in path}
    assert len(paths) == 13
    for item in paths.values():
        for operation in item.values():
            assert operation["summary"]
            assert "application/problem+json" in operation["responses"]["503"]["content"]
    body = paths["/sessions/{session}/messages"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "multipart/form-data"}
    assert body["application/json"]["example"]["content"]
