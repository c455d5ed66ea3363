"""``/sessions/{id}/runs``: logs attached to a session, and what is shown of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from assistant.api.access import needs
from assistant.api.running import run_job
from assistant.api.schemas import WORK, problems
from assistant.api.sessions import Held, Kept, fingerprint_of, key_of, reply
from assistant.api.sessions_schemas import (
    ATTACHED,
    LINES,
    OVERVIEW,
    RUNS,
    SERIES,
    AttachRun,
    RenameRun,
    json_body,
)
from assistant.api.uploads import read_request, weight_of
from assistant.model import EmptyInput
from assistant.model.jsontext import json_bytes

router = APIRouter(tags=["sessions"])


@router.post(
    "/sessions/{session}/runs", status_code=201, summary="Attach logs", response_model=None,
    dependencies=[Depends(needs("write"))], responses={201: ATTACHED, **problems(404, 503, *WORK)},
    openapi_extra=json_body(AttachRun, files=True),
)  # fmt: skip
async def attach(session: str, request: Request, held: Held) -> Response:
    """Text, or a form with one or more files, whole folders of them; each run gets an id of its own.

    Files without a metric are told and left out; where none holds one, nothing is attached. `Idempotency-Key` is
    honoured.
    """
    from assistant.service.sessions.errors import NoMetrics
    from assistant.service.sessions.reading import nothing_read, read_sources

    await held.call(held.service.sessions.get, held.owner, session)
    body, sources = await read_request(request, AttachRun)
    if not sources:
        raise EmptyInput(
            zh="没有日志：请在 text 里放入日志，或上传文件。", en="There is no log: put it in text, or send files."
        )
    key, print_ = key_of(request), await fingerprint_of(body, sources)
    skipped: list[dict[str, Any]] = []
    attached = await held.call(held.service.runs.known, held.owner, session, key, print_) if key else None
    if attached is None:
        read = await run_job(
            request, read_sources, sources, keep_text=held.service.storing.keep_text, weight=max(1, weight_of(sources))
        )
        skipped = [
            {"name": name, "code": code, "detail": zh if held.language == "zh" else en}
            for name, code, zh, en in read.skipped
        ]
        if not read.sources:
            raise nothing_read(read.skipped) or NoMetrics(", ".join(source.name for source in sources[:3])[:200])
        attached = await held.call(
            held.service.runs.add, held.owner, session, read.sources, read.question, key=key, fingerprint=print_
        )
    told = [run.to_json(held.language) for run in attached.runs]
    first = told[0] if told else {}
    return reply({"run": first, "runs": told, "question": attached.question, "skipped": skipped}, 201)


@router.get(
    "/sessions/{session}/runs", summary="The logs of a session", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: RUNS, **problems(404, 429, 503)},
)  # fmt: skip
async def runs(session: str, held: Held) -> Response:
    """As in `runs` of an answer."""
    found = await held.call(held.service.runs.all, held.owner, session)
    return reply({"runs": [run.to_json(held.language) for run in found]})


@router.patch(
    "/sessions/{session}/runs/{rid}", summary="Rename a log", response_model=None,
    dependencies=[Depends(needs("write"))], responses={200: RUNS, **problems(400, 404, 413, 415, 422, 429, 503)},
    openapi_extra=json_body(RenameRun),
)  # fmt: skip
async def rename(session: str, rid: str, request: Request, held: Held) -> Response:
    """Answers from now on call it so."""
    body = (await read_request(request, RenameRun, field=""))[0]
    run = await held.call(held.service.runs.rename, held.owner, session, rid, body.name)
    return reply({"run": run.to_json(held.language), "runs": [run.to_json(held.language)]})


@router.delete(
    "/sessions/{session}/runs/{rid}", status_code=204, summary="Detach a log", response_model=None,
    dependencies=[Depends(needs("write"))], responses=problems(404, 429, 503),
)  # fmt: skip
async def delete(session: str, rid: str, held: Held) -> Response:
    """Its table and text are gone for good; answers about it stay."""
    await held.call(held.service.runs.delete, held.owner, session, rid)
    held.service.library.forget(session, rid)
    return Response(status_code=204)


@router.get(
    "/sessions/{session}/runs/{rid}/overview", summary="A log at a glance", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: OVERVIEW, **problems(404, 422, 429, 503, 504)},
)  # fmt: skip
async def overview(
    session: str, rid: str, request: Request, held: Held, lang: Literal["auto", "zh", "en"] = "auto"
) -> Response:
    """What was recognised, findings, and every metric with its title, unit and a small curve."""
    language = held.language if lang == "auto" else lang
    stored = await held.call(held.service.runs.get, held.owner, session, rid)
    body = await run_job(request, _overview, held, session, stored, language)
    return Response(body, media_type="application/json")


def _overview(held: Kept, session: str, stored: Any, language: str) -> bytes:
    from assistant.service import service
    from assistant.service.sessions.overview import overview as made

    resolver = service().resolver
    return held.service.library.derived(
        session, stored, ("overview", language), lambda run: json_bytes(made(run, resolver, language))
    )


@router.get(
    "/sessions/{session}/runs/{rid}/series", summary="Whole courses of metrics", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: SERIES, **problems(404, 422, 429, 503, 504)},
)  # fmt: skip
async def series(
    session: str,
    rid: str,
    request: Request,
    held: Held,
    metric: Annotated[list[str], Query(description="Key, as the log spells it; several times for several.")],
) -> Response:
    """Every step that any of them holds."""
    stored = await held.call(held.service.runs.get, held.owner, session, rid)
    return Response(await run_job(request, _series, held, session, stored, metric), media_type="application/json")


def _series(held: Kept, session: str, stored: Any, metrics: list[str]) -> bytes:
    from assistant.service.sessions.overview import series as made

    return json_bytes(made(held.service.library.run(session, stored), metrics))


@router.get(
    "/sessions/{session}/runs/{rid}/lines", summary="Lines of a log", response_model=None,
    dependencies=[Depends(needs("read"))], responses={200: LINES, **problems(404, 422, 429, 503)},
)  # fmt: skip
async def lines(
    session: str,
    rid: str,
    held: Held,
    around: Annotated[int, Query(ge=1, le=10**12, description="Number of the line in the middle, from 1.")],
    context: Annotated[int, Query(ge=0, le=500)] = 5,
) -> Response:
    """The text that a fact's `line` points at; 404 `text_not_kept` where texts are not kept."""
    found = await held.call(held.service.runs.lines, held.owner, session, rid, around, context)
    return reply({"lines": [{"n": number, "text": text.encode("utf-8", "replace").decode()} for number, text in found]})
