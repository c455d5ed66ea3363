"""``/sessions``: conversations that are kept, with their logs; the page's backend."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from assistant.api import jobs
from assistant.api.access import caller, needs
from assistant.api.problems import ApiError, language_of_request
from assistant.api.running import Busy, Runner
from assistant.api.schemas import problems
from assistant.api.sessions_schemas import CREATED, SESSION, SESSIONS, ChangeSession, CreateSession, json_body
from assistant.api.uploads import read_request
from assistant.model import AssistantError
from assistant.model.jsontext import json_bytes
from assistant.service import Explained, Material, Source
from assistant.service.sessions.packing import size_of
from assistant.settings import settings

if TYPE_CHECKING:
    from assistant.service import State
    from assistant.service.sessions.runtime import SessionService

log = logging.getLogger("assistant.sessions")
T = TypeVar("T")
LONGEST_KEY = 200
_making = threading.Lock()
router = APIRouter(tags=["sessions"])


def install(app: FastAPI) -> None:
    """Adds the routes, opens the database with the server, and closes it with it."""
    from assistant.api import sessions_messages, sessions_runs

    app.include_router(router)
    app.include_router(sessions_runs.router)
    app.include_router(sessions_messages.router)
    app.state.checks["database"] = lambda: _database_state(app)

    @asynccontextmanager
    async def open_() -> AsyncIterator[None]:
        from assistant.service.sessions.errors import DatabaseMisconfigured

        try:
            (await sessions_of_app(app)).start()
        except DatabaseMisconfigured as error:  # the rest works, and requests for sessions are told what to mend
            log.error("no sessions: %s", error.en)  # noqa: TRY400 - the settings are at fault, not the code
        try:
            yield
        finally:
            await close(app)

    app.state.lifespans.append(open_)


async def close(app: FastAPI) -> None:
    """Finishes the answers under way within the settings' time, hands back the rest, closes the database."""
    service: SessionService | None = getattr(app.state, "sessions", None)
    if service is not None:
        app.state.sessions = None
        await service.close(settings().serving.shutdown_seconds)


async def sessions_of_app(app: FastAPI) -> SessionService:
    """The sessions of an application, made when they are first used."""
    found: SessionService | None = getattr(app.state, "sessions", None)
    return found if found is not None else await asyncio.to_thread(_made, app)


def _made(app: FastAPI) -> SessionService:
    from assistant.service.sessions.runtime import SessionService

    with _making:
        found: SessionService | None = getattr(app.state, "sessions", None)
        if found is None:
            found = app.state.sessions = SessionService(settings(), partial(analysed, app))
        return found


async def analysed(
    app: FastAPI, material: Material, question: str, *, language: str, default_language: str = "",
    state: State | None,
) -> Explained:  # fmt: skip
    """The offline engine's answer, from the application's pool: over large runs from a process with its limits.

    The question is stored already, so that it waits where others would be refused.

    Raises:
        ApiError: 504 over the time limit, 413 over the memory limit, 507 the worker was ended.
    """
    runner: Runner = app.state.runner
    size = sum(map(size_of, material.runs))
    weight = size if size >= runner.serving.large_bytes else 0
    while True:
        try:
            return await runner.run(
                jobs.analyse, material, question, language=language, default_language=default_language, state=state,
                own_question=False, weight=weight,
            )  # fmt: skip
        except Busy as busy:
            await asyncio.sleep(busy.extra["retry_after"])


def _database_state(app: FastAPI) -> dict[str, str]:
    service: SessionService | None = getattr(app.state, "sessions", None)
    if service is None:
        try:
            service = _made(app)
        except AssistantError as error:
            return {"status": "missing", "reason": error.en}
    status, reason = service.state()
    return {"status": status, "reason": reason}


class Kept:
    """The sessions, as one request sees them."""

    def __init__(self, request: Request, service: SessionService) -> None:
        self.request = request
        self.service = service
        self.owner = caller(request).name
        self.language: Literal["zh", "en"] = "zh" if language_of_request(request) == "zh" else "en"

    async def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Something of the database, off the event loop."""
        return await self.service.answering.asked(function, *arguments, **named)


async def kept_of(request: Request) -> Kept:
    """A dependency: the sessions."""
    return Kept(request, await sessions_of_app(request.app))


Held = Annotated[Kept, Depends(kept_of)]


def reply(content: Any, status: int = 200, **headers: str) -> Response:
    """A JSON reply; stored JSON goes through as it is."""
    return Response(json_bytes(content), status, headers, "application/json")


def key_of(request: Request) -> str | None:
    """The idempotency key, if one is given.

    Raises:
        ApiError: it is too long.
    """
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise ApiError(
            422, "bad_idempotency_key",
            f"Idempotency-Key 最长 {LONGEST_KEY} 个可打印字符。",
            f"An Idempotency-Key has at most {LONGEST_KEY} printable characters.",
        )  # fmt: skip
    return key or None


async def fingerprint_of(body: BaseModel, sources: Sequence[Source] = ()) -> str:
    """What tells a repeat of a request from another one."""
    return await asyncio.to_thread(_fingerprint, body, sources)


def _fingerprint(body: BaseModel, sources: Sequence[Source]) -> str:
    digest = hashlib.sha256(body.model_dump_json().encode())
    for source in sources:
        digest.update(b"\0" + source.name.encode("utf-8", "replace") + b"\0")
        content = source.content
        if isinstance(content, Path):
            with content.open("rb") as handle:
                while chunk := handle.read(1 << 20):
                    digest.update(chunk)
        else:
            digest.update(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    return digest.hexdigest()


def is_empty(request: Request) -> bool:
    """Whether a request has no body, where none is needed."""
    return request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers


# --- routes ----------------------------------------------------------------------------------------------


@router.post(
    "/sessions", status_code=201, summary="Open a session", response_model=None,
    dependencies=[Depends(needs("write"))],
    responses={201: CREATED, **problems(400, 413, 415, 422, 429, 503)}, openapi_extra=json_body(CreateSession),
)  # fmt: skip
async def create(request: Request, held: Held) -> Response:
    """A session holds logs, and questions about them that understand each other; `Idempotency-Key` is honoured."""
    body = CreateSession() if is_empty(request) else (await read_request(request, CreateSession, field=""))[0]
    made = await held.call(
        held.service.sessions.create, held.owner, body.title, body.lang,
        key=key_of(request), fingerprint=await fingerprint_of(body),
    )  # fmt: skip
    return reply({**made.to_json(), "runs": [], "messages": []}, 201, location=f"/sessions/{made.id}")


@router.get(
    "/sessions", summary="Sessions, last used first", response_model=None, dependencies=[Depends(needs("read"))],
    responses={200: SESSIONS, **problems(404, 422, 429, 503)},
)  # fmt: skip
async def sessions(
    held: Held,
    q: Annotated[str, Query(max_length=200, description="Stands in the title or in a question.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str, Query(max_length=64, description="`next` of the page before, or a time.")] = "",
) -> Response:
    """One page of them; `next` asks for the following one."""
    found = await held.call(held.service.sessions.list, held.owner, text=q, limit=limit + 1, before=before)
    more = found[limit - 1].id if len(found) > limit else None
    return reply({"sessions": [one.to_json() for one in found[:limit]], "next": more})


@router.get(
    "/sessions/{session}", summary="A session with its runs and messages", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: SESSION, **problems(404, 422, 429, 503)},
)  # fmt: skip
async def session(
    session: str,
    held: Held,
    limit: Annotated[int, Query(ge=1, le=1000, description="The last so many messages.")] = 200,
    answers: Annotated[bool, Query(description="`false`: messages without `answer`, which holds tables.")] = True,
) -> Response:
    """The messages that stand; those that an edit has superseded are left out."""
    body = await held.call(_session, held, session, limit, answers)
    return Response(body, media_type="application/json")


def _session(held: Kept, session: str, limit: int, answers: bool) -> bytes:
    service = held.service
    found = service.sessions.get(held.owner, session)
    runs = service.runs.all(held.owner, session)
    messages = service.messages.list(held.owner, session, limit=limit)
    return json_bytes(
        {
            **found.to_json(),
            "runs": [run.to_json(held.language) for run in runs],
            "messages": [message.to_json(answers=answers) for message in messages],
        }
    )


@router.patch(
    "/sessions/{session}", summary="Rename a session", response_model=None, dependencies=[Depends(needs("write"))],
    responses={200: CREATED, **problems(400, 404, 413, 415, 422, 429, 503)}, openapi_extra=json_body(ChangeSession),
)  # fmt: skip
async def change(session: str, request: Request, held: Held) -> Response:
    """Its title, or the language in which it is answered."""
    body = (await read_request(request, ChangeSession, field=""))[0]
    changed = await held.call(held.service.sessions.change, held.owner, session, title=body.title, lang=body.lang)
    return reply(changed.to_json())


@router.delete(
    "/sessions/{session}", status_code=204, summary="Delete a session and all that is in it", response_model=None,
    dependencies=[Depends(needs("write"))], responses=problems(404, 429, 503),
)  # fmt: skip
async def delete(session: str, held: Held) -> Response:
    """Logs, messages and answers are gone for good; an answer under way is dropped."""
    await held.call(held.service.sessions.delete, held.owner, session)
    held.service.library.forget(session)
    return Response(status_code=204)


@router.get(
    "/sessions/{session}/export", summary="A session as one document", response_model=None,
    dependencies=[Depends(needs("read"))],
    responses={
        200: {
            "description": "JSON with everything, Markdown of the conversation, or an HTML page that stands alone.",
            "content": {"application/json": {}, "text/markdown": {}, "text/html": {}},
        },
        **problems(404, 422, 429, 503),
    },
)  # fmt: skip
async def export(
    session: str,
    held: Held,
    format: Literal["json", "md", "html"] = "json",
    texts: Annotated[bool, Query(description="JSON with the logs' texts, where they are kept.")] = True,
) -> Response:
    """What a person keeps, or another program reads."""
    from assistant.service.sessions import exporting

    if format == "json":
        data: bytes | str = await held.call(exporting.export_json, held.service, held.owner, session, texts=texts)
        kind = "application/json"
    elif format == "md":
        data = await held.call(exporting.export_markdown, held.service, held.owner, session, held.language)
        kind = "text/markdown; charset=utf-8"
    else:
        data = await held.call(exporting.export_html, held.service, held.owner, session)
        kind = "text/html; charset=utf-8"
    name = f"session-{session}.{format}"
    return Response(data, headers={"content-disposition": f'attachment; filename="{name}"'}, media_type=kind)
