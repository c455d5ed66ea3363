"""Streams of events: their form, repeats, resuming, heartbeats, and the end of the work when nobody listens."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from hypothesis import given
from hypothesis import strategies as st

from assistant.api import jobs, routes_answers
from assistant.api.access import new_key
from assistant.api.app import create_app
from assistant.api.kept import Entry, Kept, Reply, place_of
from assistant.api.problems import ApiError
from assistant.api.streaming import Item, encode, event_response
from tests.api.client import LOG, Client, Server, events_of, run, serving, until

EVENTS = {"accept": "text/event-stream"}
BODY = {"text": LOG, "question": "entropy?"}


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app())


# --- the form --------------------------------------------------------------------------------------------


@given(st.text(), st.text(), st.text())
def test_encode_event_reads_back_and_nothing_of_it_is_another_field(name: str, data: str, event_id: str) -> None:
    wire = encode((name, {"text": data}, event_id)).decode()
    assert wire.endswith("\n\n")
    (block,) = wire[:-2].split("\n\n")
    fields = [line.partition(":")[0] for line in block.split("\n")]
    assert fields in (["id", "event", "data"], ["id", "data"])
    if max(data, default="") < "\ud800":
        assert json.loads(block.partition("data: ")[2]) == {"text": data}


def test_encode_text_of_several_lines_is_several_data_lines() -> None:
    assert encode(("", "a\r\nb\rc", None)) == b"data: a\ndata: b\ndata: c\n\n"


# --- the routes ------------------------------------------------------------------------------------------


def test_explain_stream_has_facts_deltas_and_the_answer(client: Client) -> None:
    reply = client.post("/explain", json=BODY, headers=EVENTS)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache, no-transform"
    events = events_of(reply.text)
    kinds = [event["event"] for event in events]
    assert kinds == sorted(kinds, key=["fact", "delta", "answer"].index)
    answer = json.loads(events[-1]["data"])
    assert [json.loads(event["data"]) for event in events if event["event"] == "fact"] == answer["facts"]
    text = "".join(json.loads(event["data"])["text"] for event in events if event["event"] == "delta")
    assert text == answer["answer"]
    name = reply.headers["x-stream-id"]
    assert [event["id"] for event in events] == [f"{name}-{place}" for place in range(1, len(events) + 1)]


def test_explain_answer_as_json_and_as_events_is_the_same(client: Client) -> None:
    whole = client.post("/explain", json=BODY).json()
    last = json.loads(events_of(client.post("/explain", json=BODY, headers=EVENTS).text)[-1]["data"])
    assert {**whole, "usage": None} == {**last, "usage": None}


@pytest.mark.parametrize(
    ("path", "body"),
    [("/parse", {"text": LOG}), ("/check", {"text": LOG}),
     ("/verify", {"log": LOG, "text": "Entropy is 9 at step 1."})],
)  # fmt: skip
def test_other_routes_stream_too(client: Client, path: str, body: dict[str, str]) -> None:
    events = events_of(client.post(path, json=body, headers=EVENTS).text)
    assert events[-1]["event"] == "answer"
    assert json.loads(events[-1]["data"]) == client.post(path, json=body).json()


def test_stream_error_of_ours_is_an_event_with_the_problem(client: Client) -> None:
    (event,) = events_of(client.post("/parse", json={"text": "nothing here"}, headers=EVENTS).text)
    assert (event["event"], json.loads(event["data"])["code"]) == ("error", "bad_input")


def test_stream_mistake_of_ours_is_an_event_that_tells_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret detail of the machine")

    monkeypatch.setattr(routes_answers.jobs, "explain", lambda *_, **__: fail())
    (event,) = events_of(client.post("/explain", json=BODY, headers=EVENTS).text)
    assert json.loads(event["data"])["code"] == "internal_error"
    assert "secret" not in event["data"]
    assert [record.message for record in caplog.records] == ["a stream failed"]


# --- repeats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, EVENTS])
def test_idempotency_key_repeat_gets_the_same_reply_and_work_is_done_once(
    client: Client, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    done: list[int] = []
    honest = jobs.explain

    def counted(*arguments: Any, **keywords: Any) -> Any:
        done.append(1)
        return honest(*arguments, **keywords)

    monkeypatch.setattr(routes_answers.jobs, "explain", counted)

    async def work() -> list[httpx.Response]:
        async with client.open() as speaker:
            sent = {**headers, "idempotency-key": f"once {headers}"}
            together = await asyncio.gather(*(speaker.post("/explain", json=BODY, headers=sent) for _ in range(3)))
            return [*together, await speaker.post("/explain", json=BODY, headers=sent)]

    replies = run(work())
    assert len({reply.text for reply in replies}) == 1
    assert len(done) == 1
    assert len({reply.headers["x-stream-id"] for reply in replies}) == 1
    assert len({reply.headers["x-request-id"] for reply in replies}) == 4


def test_idempotency_key_for_another_request_is_refused(client: Client) -> None:
    headers = {"idempotency-key": "two"}
    assert client.post("/explain", json=BODY, headers=headers).status_code == 200
    reply = client.post("/explain", json={**BODY, "question": "step 3?"}, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (422, "idempotency_mismatch")
    assert client.post("/parse", json={"text": LOG}, headers=headers).status_code == 200  # another route


def test_idempotency_key_for_another_request_is_refused_in_any_form(client: Client) -> None:
    headers = {"idempotency-key": "any form"}
    assert client.post("/explain", json=BODY, headers=headers).status_code == 200
    reply = client.post("/explain", json={**BODY, "question": "another?"}, headers={**headers, **EVENTS})
    assert (reply.status_code, reply.json()["code"]) == (422, "idempotency_mismatch")
    assert client.post("/explain", json=BODY, headers={**headers, **EVENTS}).status_code == 200
    assert client.post("/explain", json=BODY, headers=headers).headers["idempotent-replayed"] == "true"


def test_idempotency_key_after_an_error_is_free_again(client: Client) -> None:
    headers = {"idempotency-key": "three"}
    assert client.post("/parse", json={"text": "nothing"}, headers=headers).status_code == 422
    assert client.post("/parse", json={"text": "nothing"}, headers=headers).status_code == 422
    assert client.post("/parse", json={"text": LOG}, headers=headers).status_code == 200


@pytest.mark.parametrize("key", ["x" * 201])
def test_idempotency_key_that_cannot_be_one_is_refused(client: Client, key: str) -> None:
    reply = client.post("/explain", json=BODY, headers={"idempotency-key": key})
    assert (reply.status_code, reply.json()["code"]) == (422, "bad_idempotency_key")


# --- resuming --------------------------------------------------------------------------------------------


def test_stream_is_resumed_after_the_last_event_seen(client: Client) -> None:
    async def work() -> tuple[httpx.Response, list[httpx.Response]]:
        async with client.open() as speaker:
            first = await speaker.post("/explain", json=BODY, headers={**EVENTS, "idempotency-key": "four"})
            name = first.headers["x-stream-id"]
            seen = {**EVENTS, "last-event-id": f"{name}-3"}
            return first, [
                await speaker.post("/explain", headers=seen),
                await speaker.post("/explain", json=BODY, headers={**seen, "idempotency-key": "four"}),
                await speaker.get(f"/streams/{name}", headers=seen),
                await speaker.get(f"/streams/{name}?after=3"),
                await speaker.get("/streams/four?after=3"),
            ]

    first, rests = run(work())
    for rest in rests:
        assert events_of(rest.text) == events_of(first.text)[3:]


@pytest.mark.parametrize("path", ["/streams/unknown", "/streams/0123456789abcdef"])
def test_stream_that_is_not_kept_is_gone(client: Client, path: str) -> None:
    reply = client.get(path)
    assert (reply.status_code, reply.json()["code"]) == (410, "stream_gone")
    reply = client.post("/explain", headers={**EVENTS, "last-event-id": "0123456789abcdef-4"})
    assert (reply.status_code, reply.json()["code"]) == (410, "stream_gone")


def test_stream_that_is_not_kept_begins_anew_where_the_question_is_there(client: Client) -> None:
    reply = client.post("/explain", json=BODY, headers={**EVENTS, "last-event-id": "0123456789abcdef-4"})
    assert events_of(reply.text)[0]["id"].endswith("-1")


def test_stream_of_another_key_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [new_key(name, ["ask"]) for name in ("one", "other")]
    monkeypatch.setenv("ASSISTANT_API_KEYS", ",".join(entry for _, entry in keys))
    client = Client(create_app())

    async def work() -> tuple[int, int]:
        async with client.open() as speaker:
            shown = [{"x-api-key": key} for key, _ in keys]
            first = await speaker.post("/explain", json=BODY, headers={**EVENTS, **shown[0]})
            path = f"/streams/{first.headers['x-stream-id']}"
            statuses = [(await speaker.get(path, headers=one)).status_code for one in shown]
            return statuses[0], statuses[1]

    assert run(work()) == (200, 410)


@pytest.mark.parametrize(
    ("text", "place"), [("ab-3", ("ab", 3)), ("a-b-12", ("a-b", 12)), ("ab", ("", 0)), ("", ("", 0)), ("ab-x", ("", 0)),
                        ("-3", ("", 0)), ("ab-99999999999", ("", 0)), ("ab-²", ("", 0))],
)  # fmt: skip
def test_place_of_event_id_is_its_stream_and_number(text: str, place: tuple[str, int]) -> None:
    assert place_of(text) == place


# --- the store -------------------------------------------------------------------------------------------


def test_kept_work_goes_on_while_somebody_may_come_back_and_not_longer() -> None:
    async def work() -> None:
        kept = Kept(1 << 20, 600)
        for linger, ends in ((0.0, True), (600.0, False)):
            started = asyncio.Event()

            async def endless(_: Entry, started: asyncio.Event = started) -> Reply:
                started.set()
                await asyncio.sleep(600)
                raise AssertionError

            entry = kept.begin(f"place{linger}", Entry("name", "me", b"", linger), endless)
            waiting = asyncio.create_task(entry.result())
            await started.wait()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            if ends:
                await until(lambda entry=entry: entry.done)
                assert isinstance(entry.error, ApiError)
            else:
                await asyncio.sleep(0)
                assert not entry.done
                again = asyncio.create_task(entry.result())
                await asyncio.sleep(0)
                assert entry.listeners == 1
                again.cancel()
                await asyncio.gather(again, return_exceptions=True)
        await kept.close()

    run(work())


def test_kept_lets_go_of_the_oldest_over_its_bytes() -> None:
    async def work() -> list[bool]:
        kept = Kept(1000, 600)

        async def large(_: Entry) -> Reply:
            return Reply(200, b"x" * 400, "text/plain")

        for place in range(4):
            await kept.begin(str(place), Entry(f"n{place}", "me", b"", 0), large).result()
        return [kept.find(f"n{place}", "me") is not None for place in range(4)]

    assert run(work()) == [False, False, True, True]


# --- a real connection -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    environment = {"ASSISTANT_WORKERS": "1", "ASSISTANT_HEARTBEAT_SECONDS": "0.05"}
    with serving(tmp_path_factory.mktemp("server"), environment) as running:
        yield running


def test_server_stream_comes_over_a_socket_with_signs_of_life(server: Server) -> None:
    large = LOG + "nothing to see here\n" * 200_000
    with httpx.stream(
        "POST", f"{server.url}/explain", json={**BODY, "text": large}, headers=EVENTS, timeout=100
    ) as got:
        text = "".join(got.iter_text())
    assert text.startswith(": ping\n\n")
    assert events_of(text.replace(": ping\n\n", ""))[-1]["event"] == "answer"


def test_event_response_client_that_leaves_ends_the_work() -> None:
    ended = threading.Event()
    app = FastAPI()

    async def endless() -> AsyncIterator[Item]:
        try:
            while True:
                yield "tick", {}, None
                await asyncio.sleep(0)
        finally:
            ended.set()

    @app.get("/endless")
    async def route(request: Request) -> Any:
        return event_response(request, endless())

    async def work() -> None:
        sent: list[Any] = []
        gone = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)
            if len(sent) == 5:
                gone.set()

        scope = {"type": "http", "method": "GET", "path": "/endless", "query_string": b"", "headers": [], "state": {}}
        await app(scope, receive, send)
        assert ended.is_set()
        assert sent[0]["type"] == "http.response.start"

    run(work())


def test_event_response_error_in_the_middle_is_the_last_event() -> None:
    app = FastAPI()

    async def failing() -> AsyncIterator[Item]:
        yield "tick", {}, "1"
        raise ApiError(503, "away", "没有了", "It is gone")

    @app.get("/failing")
    async def route(request: Request) -> Any:
        return event_response(request, failing())

    events = events_of(Client(app).get("/failing", headers={"accept-language": "zh"}).text)
    assert [event["event"] for event in events] == ["tick", "error"]
    assert json.loads(events[1]["data"])["detail"] == "没有了"
