"""From what a request carries to its reply: as JSON or as events, repeatable by key, resumable by event id."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import orjson
from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

from assistant.api import jobs
from assistant.api.access import caller
from assistant.api.jobs import Done
from assistant.api.kept import LONGEST_KEY, Entry, Kept, Reply, place_of
from assistant.api.measures import Measures
from assistant.api.problems import ApiError, request_id_of
from assistant.api.running import Busy, Runner, runner_of, until_gone
from assistant.api.streaming import event_response, wants_events
from assistant.api.uploads import weight_of
from assistant.model.jsontext import json_bytes
from assistant.service import Material, Source, service
from assistant.settings import settings

JSON = "application/json"
#: Gives the events of an answer to an entry as they come, and what was done at the end.
Live = Callable[[Callable[[str, str], None]], Awaitable[Done]]


async def respond(request: Request, body: BaseModel, sources: Sequence[Source], live: Live) -> Response:
    """The reply of a route that works on texts.

    Args:
        request: with its headers ``Accept``, ``Idempotency-Key`` and ``Last-Event-ID``.
        body: as read.
        sources: as read.
        live: the work.
    """
    key, events = _key_of(request), wants_events(request)
    measures: Measures = request.app.state.measures
    if not key and not events:
        done = await until_gone(request, asyncio.ensure_future(live(_nobody)))
        measures.job(done)
        return Response(done.body, media_type=JSON)
    name, who = request_id_of(request), caller(request).name
    mode = "events" if events else "reply"
    place = "\0".join([who, request.url.path, mode, key or name])
    fingerprint = await asyncio.to_thread(_fingerprint, body, tuple(sources)) if key else b""
    linger = request.app.state.settings.serving.resume_seconds if key else 0.0
    kept: Kept = request.app.state.kept
    asked = Entry(name, who, fingerprint, linger)
    shared = "\0".join([who, request.url.path, key]) if key else ""
    entry = kept.begin(place, asked, _work(live, measures, _folder(request)), key=key, shared=shared)
    if entry is asked:
        request.scope["state"].pop("folder", None)  # the work removes it, it may go on longer than the request
    headers = {"x-stream-id": entry.name}
    if events:
        last, number = place_of(request.headers.get("last-event-id", ""))
        return event_response(request, entry.follow(number if last == entry.name else 0), headers=headers)
    reply = await until_gone(request, asyncio.ensure_future(entry.result()))
    repeated = {"idempotent-replayed": "true"} if entry is not asked else {}
    return Response(reply.body, reply.status, {**headers, **repeated}, reply.media_type)


def resumed(request: Request) -> Response | None:
    """The rest of a stream that the caller names with ``Last-Event-ID``; ``None`` if it is not kept any more."""
    name, number = place_of(request.headers.get("last-event-id", ""))
    entry = request.app.state.kept.find(name, caller(request).name) if name and wants_events(request) else None
    if entry is not None:
        return event_response(request, entry.follow(number), headers={"x-stream-id": entry.name})
    if name and request.headers.get("content-length", "") in {"", "0"} and "transfer-encoding" not in request.headers:
        raise stream_gone()
    return None


def stream_gone() -> ApiError:
    """The error of a stream that is not kept here."""
    return ApiError(
        410, "stream_gone",
        "这个事件流已不再保留，或不属于这个密钥。请重新提问。",
        "This stream is not kept any more, or is not this key's. Ask again.",
    )  # fmt: skip


def _nobody(_: str, __: str) -> None:
    """Takes the events that nobody wants."""


def _work(live: Live, measures: Measures, folder: Path | None) -> Callable[[Entry], Coroutine[Any, Any, Reply]]:
    async def work(entry: Entry) -> Reply:
        try:
            done = await live(lambda name, data: entry.add((name, data, None)))
            measures.job(done)
            return Reply(200, done.body, JSON)
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    return work


def _folder(request: Request) -> Path | None:
    found: Path | None = request.scope.get("state", {}).get("folder")
    return found


def _key_of(request: Request) -> str:
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise ApiError(
            422, "bad_idempotency_key",
            f"Idempotency-Key 最长 {LONGEST_KEY} 个可打印字符。",
            f"An Idempotency-Key has at most {LONGEST_KEY} printable characters.",
        )  # fmt: skip
    return key


def _fingerprint(body: BaseModel, sources: tuple[Source, ...]) -> bytes:
    digest = hashlib.blake2b(orjson.dumps(body.model_dump(mode="json")), digest_size=16)
    for source in sources:
        digest.update(b"\0" + source.name.encode("utf-8", "replace") + b"\0")
        if isinstance(source.content, Path):
            with source.content.open("rb") as handle:
                while chunk := handle.read(1 << 20):
                    digest.update(chunk)
        else:
            digest.update(source.content if isinstance(source.content, bytes) else source.content.encode())
    return digest.digest()


def by_job(request: Request, sources: Sequence[Source], function: Callable[..., Done], *args: Any) -> Live:
    """Work that a worker does whole; its events come at the end."""
    runner, weight = runner_of(request), max(1, weight_of(list(sources)))

    async def live(send: Callable[[str, str], None]) -> Done:
        done = await runner.run(function, list(sources), *args, weight=weight, events=send is not _nobody)
        for name, data in done.events:
            send(name, data)
        return done

    return live


def by_model(request: Request, sources: Sequence[Source], question: str, lang: str, engine: str) -> Live:
    """An answer that a model tells; ending the work ends its call."""
    runner, texts = runner_of(request), list(sources)
    room = _room(request, runner)
    del sources

    async def live(send: Callable[[str, str], None]) -> Done:
        prepared = await runner.run(jobs.prepare, texts, question, lang, weight=max(1, weight_of(texts)))
        texts.clear()  # the wait for a model may be long
        async with room:
            stages = prepared.stages
            material, explained = await asyncio.to_thread(prepared.unpacked)
            options: dict[str, Any] = {"language": lang, "engine": engine, "explained": explained}
            del prepared
            with jobs.timed(stages, "model"):
                if send is _nobody:
                    answer = (await service().answer(material, question, **options)).answer
                else:
                    answer = await _told(material, question, send, options)
        document = answer.to_json()
        done = await asyncio.to_thread(jobs.of_answer, document, stages)
        send("answer", done.body.decode())
        return done

    return live


async def _told(material: Material, question: str, send: Callable[[str, str], None], options: dict[str, Any]) -> Any:
    events = service().stream(material, question, **options)
    try:
        async for event in events:
            if event.kind == "answer":
                return event.data.answer
            data = {"text": event.data} if isinstance(event.data, str) else event.data
            send(event.kind, json_bytes(data).decode())
    finally:
        await events.aclose()
    raise RuntimeError("the stream of an answer ended without it")


class Room:
    """Answers with a model that may be under way at once, and how many may wait."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.inside = 0
        self._places = asyncio.Semaphore(runner.serving.model_calls)

    async def __aenter__(self) -> None:
        if self.inside >= self.runner.serving.model_calls + self.runner.serving.queue:
            self.runner.refused += 1
            raise Busy(self.runner.retry_after())
        self.inside += 1
        try:
            await self._places.acquire()
        except BaseException:
            self.inside -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self.inside -= 1
        self._places.release()


def _room(request: Request, runner: Runner) -> Room:
    state = request.app.state
    if not hasattr(state, "model_room"):
        state.model_room = Room(runner)
    found: Room = state.model_room
    return found


def with_model(engine: str) -> bool:
    """Whether a model would be asked."""
    return engine != "offline" and bool(settings().models)
