"""``/explain``, ``/parse``, ``/check``, ``/verify``: work on a text, as JSON or as a stream of events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from assistant.api import jobs
from assistant.api.access import caller, needs
from assistant.api.answering import by_job, by_model, respond, resumed, stream_gone, with_model
from assistant.api.schemas import (
    WORK,
    Answer,
    Audited,
    Checked,
    CheckRequest,
    ExplainRequest,
    Parsed,
    ParseRequest,
    VerifyRequest,
    body_of,
    problems,
)
from assistant.api.streaming import event_content, event_response
from assistant.api.uploads import read_request
from assistant.model import EmptyInput
from assistant.service import Source

router = APIRouter(tags=["answers"], dependencies=[Depends(needs("ask"))])

_EVENTS = (
    "id: 4f1c0a9be2d37765-1\nevent: fact\ndata: {\"id\": \"E1\", \"kind\": \"value\", \"value\": 0.156}\n\n"
    "id: 4f1c0a9be2d37765-2\nevent: delta\ndata: {\"text\": \"The entropy is 0.156.\"}\n\n"
    "id: 4f1c0a9be2d37765-3\nevent: answer\ndata: {\"schema\": \"metric-assistant/answer/1\"}\n\n"
)  # fmt: skip
_HEADERS = [
    {
        "name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200},
        "description": "A repeat with the same key gets the same reply, and the work is done once.",
    },
    {
        "name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 300},
        "description": "With `Accept: text/event-stream`: the events after this one, if the stream is still kept.",
    },
]  # fmt: skip


def _replies(model: Any, example: dict[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {"application/json": {"example": example} if example else {}}
    stream = event_content(_EVENTS)
    ok = {
        "model": model, "content": {**content, "text/event-stream": stream},
        "description": "The reply; as events `fact`, `delta`, `answer`, `error` where they are asked for.",
    }  # fmt: skip
    return {200: ok, **problems(410, *WORK)}


def _route(model: Any) -> dict[str, Any]:
    return {**body_of(model), "parameters": _HEADERS}


@router.post(
    "/explain", summary="Answer a question about a log", response_model=None,
    responses=_replies(Answer), openapi_extra=_route(ExplainRequest),
)  # fmt: skip
async def explain(request: Request) -> Response:
    """The log as text or as files, and a question; the answer's every number is traced to the log."""
    if (rest := resumed(request)) is not None:
        return rest
    body, sources = await read_request(request, ExplainRequest)
    _require(sources)
    if with_model(body.engine):
        live = by_model(request, sources, body.question, body.lang, body.engine)
    else:
        live = by_job(request, sources, jobs.explain, body.question, body.lang, body.engine)
    return await respond(request, body, sources, live)


@router.post(
    "/parse", summary="The log as an exact table", response_model=None,
    responses=_replies(Parsed), openapi_extra=_route(ParseRequest),
)  # fmt: skip
async def parse(request: Request) -> Response:
    """Every value of every run, with the line it stands on."""
    if (rest := resumed(request)) is not None:
        return rest
    body, sources = await read_request(request, ParseRequest)
    _require(sources)
    return await respond(request, body, sources, by_job(request, sources, jobs.parse, body.lang))


@router.post(
    "/check", summary="Every rule and threshold over a log", response_model=None,
    responses=_replies(Checked), openapi_extra=_route(CheckRequest),
)  # fmt: skip
async def check(request: Request) -> Response:
    """Diagnoses, broken identities and thresholds, gravest first."""
    if (rest := resumed(request)) is not None:
        return rest
    body, sources = await read_request(request, CheckRequest)
    _require(sources)
    return await respond(request, body, sources, by_job(request, sources, jobs.check, body.thresholds, body.lang))


@router.post(
    "/verify", summary="Audit a text about a log, sentence by sentence", response_model=None,
    responses=_replies(Audited), openapi_extra=_route(VerifyRequest),
)  # fmt: skip
async def verify(request: Request) -> Response:
    """Which sentences the log supports, contradicts, or does not speak of."""
    if (rest := resumed(request)) is not None:
        return rest
    body, sources = await read_request(request, VerifyRequest, field="log")
    _require(sources)
    return await respond(request, body, sources, by_job(request, sources, jobs.verify, body.text, body.lang))


@router.get(
    "/streams/{name}", summary="The rest of a stream", response_model=None,
    responses={
        200: {"content": {"text/event-stream": event_content(_EVENTS)}},
        **problems(410, 422),
    },
)  # fmt: skip
async def stream(name: str, request: Request, after: Annotated[int, "number of the last event seen"] = 0) -> Response:
    """Replays a stream of the last minutes by its `X-Stream-Id` or its `Idempotency-Key`, and follows it to its end.

    `Last-Event-ID` (which a browser's `EventSource` sends by itself) or `after` tell what is known already.
    """
    entry = request.app.state.kept.find(name, caller(request).name)
    if entry is None:
        raise stream_gone()
    last, _, number = request.headers.get("last-event-id", "").rpartition("-")
    seen = int(number) if last == entry.name and number.isdecimal() and len(number) < 10 else max(0, after)
    return event_response(request, entry.follow(seen), headers={"x-stream-id": entry.name})


def _require(sources: list[Source]) -> None:
    if not sources or all(isinstance(one.content, bytes) and not one.content.strip() for one in sources):
        raise EmptyInput(
            zh="没有日志：请在 text 里放入日志，或上传文件。", en="There is no log: put it in text, or send files."
        )
