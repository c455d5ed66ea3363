"""``/sessions/{id}/messages``: questions and their answers, as JSON or as events, resumable at any replica."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import orjson
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from assistant.api.access import needs
from assistant.api.problems import ApiError
from assistant.api.running import Busy, run_job
from assistant.api.schemas import WORK, Answer, problems
from assistant.api.sessions import Held, Kept, fingerprint_of, key_of, reply
from assistant.api.sessions_schemas import MESSAGE, MESSAGES, PostMessage, json_body
from assistant.api.streaming import Item, event_content, event_response, wants_events
from assistant.api.uploads import read_request, weight_of
from assistant.model import InputError
from assistant.model.jsontext import json_bytes
from assistant.service import Source
from assistant.settings import settings

if TYPE_CHECKING:
    from assistant.service.sessions.reading import Read
    from assistant.service.sessions.records import Message, PackedSource, Posted

router = APIRouter(tags=["sessions"])

LONGEST_QUESTION = 20_000
#: Characters of a message with a log in it that are kept as typed; beyond, its beginning and the question are.
LONGEST_KEPT = 64_000
_BEGINNING = 2_000
_LAST = "end"
_EVENTS = (
    "id: 0.1\nevent: message\ndata: {\"id\": \"0f6d1c2b3a4958677685\", \"role\": \"user\"}\n\n"
    "id: 0.2\nevent: message\ndata: {\"id\": \"9e8d7c6b5a4938271605\", \"role\": \"assistant\"}\n\n"
    "id: 1.1\nevent: delta\ndata: {\"text\": \"The entropy is 0.156.\"}\n\n"
    "id: end\nevent: answer\ndata: {\"message_id\": \"9e8d7c6b5a4938271605\"}\n\n"
)  # fmt: skip
_STREAM = event_content(_EVENTS)
_HEADERS = [
    {
        "name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200},
        "description": "A repeat with the same key gives the same message and its answer, never a second one.",
    },
]  # fmt: skip


@router.post(
    "/sessions/{session}/messages", summary="Ask in a session", response_model=None,
    dependencies=[Depends(needs("ask"))],
    responses={
        200: {
            "model": Answer, "content": {"application/json": {}, "text/event-stream": _STREAM},
            "description": "The answer; as events `message` (twice), `fact`, `delta`, `answer`, `error`, `stopped`.",
            "headers": {"X-Message-Id": {"description": "The answer's message.", "schema": {"type": "string"}}},
        },
        **problems(404, 503, *WORK),
    },
    openapi_extra={**json_body(PostMessage, files=True), "parameters": _HEADERS},
)  # fmt: skip
async def ask(session: str, request: Request, held: Held) -> Response:
    """A question about the session's logs, follow-ups understood.

    A log in `content` (or a file of a form) is attached first. The question and its pending answer are durable before
    the first byte of the reply; the answer goes on when the caller goes away, and survives the server's death.
    """
    found = await held.call(held.service.sessions.get, held.owner, session)
    body, sources = await read_request(request, PostMessage, field="content")
    key, print_ = key_of(request), await fingerprint_of(body, sources)
    posted = await held.call(held.service.messages.known, held.owner, session, key, print_) if key else None
    if posted is None:
        posted = await _post(request, held, session, body, sources, key=key, print_=print_, lang=found.lang)
    message = posted.reply.id
    if posted.fresh:
        held.service.answering.start(message)
    headers = {"x-message-id": message}
    if wants_events(request):
        return event_response(request, _events(held, session, message, posted, ""), headers=headers)
    return await _answered(held, session, message)


async def _post(
    request: Request, held: Kept, session: str, body: PostMessage, sources: list[Source], *, key: str | None,
    print_: str, lang: str,
) -> Posted:  # fmt: skip
    """Stores the message; logs in it are read first."""
    from assistant.service.sessions.reading import may_hold_log
    from assistant.service.sessions.records import Asked

    service = held.service
    if len(service.answering.jobs) >= settings().serving.queue:
        raise Busy(2)
    typed, files = _apart(request, body, sources)
    content, question = body.content, body.content.strip()
    packed: list[PackedSource] = []
    if typed is not None and (not content or may_hold_log(content)):
        read = await _read(request, held, [typed], pasted=True)
        if read.sources:
            packed += read.sources
            question = read.question
            content = _shortened(typed, question)
        elif not content:
            raise _too_long()
    if files:
        read = await _read(request, held, files, pasted=False)
        packed += read.sources
        question = question or read.question
    if len(question) > LONGEST_QUESTION:
        raise _too_long()
    if not content.strip() and not packed:
        raise InputError(zh="消息是空的：请写一个问题。", en="The message is empty: ask a question.")
    chosen = body.lang if body.lang != "auto" else lang
    asked = Asked(question, chosen, body.engine, tuple(body.runs), held.language)
    return await held.call(
        service.messages.post, held.owner, session, content, asked, replace=body.replace, found=packed, key=key,
        fingerprint=print_,
    )  # fmt: skip


def _apart(request: Request, body: PostMessage, sources: list[Source]) -> tuple[Source | None, list[Source]]:
    """What was typed (in a file, where it is large), and the files sent with it."""
    form = request.headers.get("content-type", "").lower().startswith("multipart/")
    if sources and (body.content or not form):
        typed = sources[0]
        return Source("pasted", typed.content), sources[1:]
    return None, sources


async def _read(request: Request, held: Kept, sources: list[Source], *, pasted: bool) -> Read:
    from assistant.service.sessions.reading import read_sources

    keep = held.service.storing.keep_text
    read = await run_job(request, read_sources, sources, keep_text=keep, weight=max(1, weight_of(sources)))
    if not read.sources and not pasted:
        from assistant.service.sessions.errors import NoMetrics

        raise NoMetrics(", ".join(source.name for source in sources[:3])[:200])
    return read


def _shortened(typed: Source, question: str) -> str:
    """A message as it is kept: a long log in it is attached, and need not be kept twice."""
    content = typed.content
    if isinstance(content, str):
        data = content.encode("utf-8", "replace")
    elif isinstance(content, bytes):
        data = content
    else:
        with content.open("rb") as handle:
            data = handle.read(LONGEST_KEPT + 1)
    text = data.decode("utf-8", "replace")
    if len(text) <= LONGEST_KEPT:
        return text
    return "\n\n".join(filter(None, [text[:_BEGINNING] + " …", question]))


def _too_long() -> InputError:
    return InputError(
        zh=f"问题最长 {LONGEST_QUESTION} 个字符，而且其中没有找到指标。日志请作为文件上传。",
        en=f"A question has at most {LONGEST_QUESTION} characters, and no metric was found in it. "
        "Upload a log as a file.",
    )


async def _answered(held: Kept, session: str, message: str) -> Response:
    """The answer once it is stored.

    Raises:
        ApiError: 500 it could not be made, 504 it takes too long (it goes on).
    """
    from assistant.service.sessions.errors import SessionError

    seconds = settings().serving.job_seconds
    answering = held.service.answering
    try:
        async with asyncio.timeout(seconds):
            while True:
                async for _ in answering.events(message):
                    pass
                found = await answering.call(held.service.messages.get, held.owner, session, message)
                if found.status != "pending":
                    break
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise ApiError(
            504, "job_timeout",
            f"{seconds:g} 秒内没有答完；回答仍在进行，可用 GET /sessions/{session}/messages/{message} 取得。",
            f"It was not answered within {seconds:g} s. The answer goes on: "
            f"GET /sessions/{session}/messages/{message}.",
            headers={"x-message-id": message}, message_id=message,
        ) from None  # fmt: skip
    except SessionError as error:
        raise ApiError(
            error.status, error.code, error.zh, error.en, headers={"x-message-id": message}, message_id=message,
            **error.extra,
        ) from error  # fmt: skip
    return _result(held, found)


def _result(held: Kept, found: Message) -> Response:
    from assistant.service.sessions.records import unpacked

    headers = {"x-message-id": found.id}
    if found.answer is not None:
        return Response(unpacked(found.answer), headers=headers, media_type="application/json")
    if found.status == "failed":
        error = json.loads(found.error or "{}")
        status = 504 if error.get("code") == "time_limit" else 500
        raise ApiError(
            status, error.get("code", "answer_failed"), error.get("zh", ""), error.get("en", ""), headers=headers,
            message_id=found.id,
        )  # fmt: skip
    raise ApiError(409, "stopped", "回答已被停止。", "The answer was stopped.", headers=headers, message_id=found.id)


# --- events ----------------------------------------------------------------------------------------------


async def _events(held: Kept, session: str, message: str, posted: Posted | None, last: str) -> AsyncIterator[Item]:
    """The events of an answer after the one with the id ``last``; with the messages first, if none is named."""
    if last == _LAST:
        return
    after = _place(last)
    if posted is not None:
        for place, one in enumerate((posted.user, posted.reply), 1):
            yield "message", json_bytes(one.to_json()).decode(), f"0.{place}"
    answering = held.service.answering
    told = bool(after[0])
    while True:
        async for name, kind, data in answering.events(message, after):
            attempt, _, number = name.partition(".")
            after, told = (int(attempt), int(number)), True
            yield kind, data, name
        found = await answering.call(held.service.messages.get, held.owner, session, message)
        if found.status != "pending":
            break
        await asyncio.sleep(0.1)
    async for item in _end(found, held, told=told):
        yield item


async def _end(found: Message, held: Kept, *, told: bool) -> AsyncIterator[Item]:
    """The last event, which holds all that the others told; before it the others, where they were not told."""
    from assistant.service.sessions.records import unpacked

    if found.answer is not None:
        data = unpacked(found.answer)
        if not told:
            for number, fact in enumerate(orjson.loads(data)["facts"], 1):
                yield "fact", fact, f"1.{number}"
            yield "delta", {"text": found.content}, "1.999999"
        yield "answer", f'{{"message_id":"{found.id}",{data[1:].decode()}', _LAST
    elif found.status == "stopped":
        yield "stopped", {"message_id": found.id, "content": found.content}, _LAST
    else:
        error = json.loads(found.error or "{}")
        detail = error.get(held.language, "")
        yield "error", {"code": error.get("code"), "detail": detail, "message_id": found.id}, _LAST


def _place(last: str) -> tuple[int, int]:
    """Attempt and number of an event's id; zeros for none that counts."""
    attempt, _, number = last.partition(".")
    if attempt.isdecimal() and number.isdecimal() and len(last) < 20:
        return int(attempt), int(number)
    return 0, 0


@router.get(
    "/sessions/{session}/messages/{message}/events", summary="The events of an answer", response_model=None,
    dependencies=[Depends(needs("read"))],
    responses={200: {"content": {"text/event-stream": _STREAM}}, **problems(404, 429, 503)},
)  # fmt: skip
async def events(session: str, message: str, request: Request, held: Held) -> Response:
    """Replays an answer's events, or goes on after `Last-Event-ID`; works at any replica, and after a restart.

    An answer that is finished ends with its `answer` event, which replaces everything shown before.
    """
    from assistant.service.sessions.records import Posted

    reply_ = await held.call(held.service.messages.reply, held.owner, session, message)
    last = request.headers.get("last-event-id", "").strip()
    posted = None
    if not last:
        user = await held.call(held.service.messages.get, held.owner, session, reply_.reply_to)
        posted = Posted(user, reply_, False)
    stream = _events(held, session, reply_.id, posted, last)
    return event_response(request, stream, headers={"x-message-id": reply_.id})


# --- reading, stopping, retrying -------------------------------------------------------------------------


@router.get(
    "/sessions/{session}/messages", summary="The messages of a session", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: MESSAGES, **problems(404, 422, 429, 503)},
)  # fmt: skip
async def messages(
    session: str,
    held: Held,
    limit: Annotated[int, Query(ge=1, le=1000, description="The last so many.")] = 200,
    before: Annotated[str | None, Query(max_length=64, description="Id of a message; those before it.")] = None,
    answers: Annotated[bool, Query(description="`false`: without `answer`, which holds tables.")] = True,
) -> Response:
    """In their order; those that an edit has superseded are left out."""
    found = await held.call(held.service.messages.list, held.owner, session, limit=limit, before=before)
    return reply({"messages": [message.to_json(answers=answers) for message in found]})


@router.get(
    "/sessions/{session}/messages/{message}", summary="One message", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: MESSAGE, **problems(404, 429, 503)},
)  # fmt: skip
async def message(session: str, message: str, held: Held) -> Response:
    """Also one that was superseded."""
    found = await held.call(held.service.messages.get, held.owner, session, message)
    return reply(found.to_json())


@router.post(
    "/sessions/{session}/messages/{message}/stop", summary="Stop an answer", response_model=None,
    dependencies=[Depends(needs("ask"))], responses={200: MESSAGE, **problems(404, 429, 503)},
)  # fmt: skip
async def stop(session: str, message: str, held: Held) -> Response:
    """What was shown is kept; an answer that is finished stays as it is."""
    found = await held.call(held.service.messages.reply, held.owner, session, message)
    if found.status == "pending":
        await held.service.answering.stop(found.id)
        found = await held.call(held.service.messages.get, held.owner, session, found.id)
    return reply(found.to_json())


@router.post(
    "/sessions/{session}/messages/{message}/retry", summary="Answer once more", response_model=None,
    dependencies=[Depends(needs("ask"))],
    responses={
        200: {"model": Answer, "content": {"application/json": {}, "text/event-stream": _STREAM}},
        **problems(404, 429, 503, 504),
    },
)  # fmt: skip
async def retry(session: str, message: str, request: Request, held: Held) -> Response:
    """For an answer that failed or was stopped; one that is finished or under way is given as it is."""
    found = await held.call(held.service.messages.reply, held.owner, session, message)
    if await held.call(held.service.messages.again, found.id):
        held.service.answering.start(found.id)
    if wants_events(request):
        stream = _events(held, session, found.id, None, "")
        return event_response(request, stream, headers={"x-message-id": found.id})
    return await _answered(held, session, found.id)
