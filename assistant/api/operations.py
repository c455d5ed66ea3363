"""``/healthz``, ``/readyz``, ``/metrics``: whether it lives, what is missing, what it counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from assistant import __version__
from assistant.api.access import caller, needs
from assistant.api.measures import CONTENT_TYPE, Measures
from assistant.api.running import runner_of
from assistant.api.schemas import Alive, Ready, problems
from assistant.service import readiness

router = APIRouter(tags=["operations"])

#: Seconds that a dependency has to show itself.
PATIENCE = 5.0
#: Parts without which nothing can be answered.
VITAL = ("cards",)

_READY = {
    "status": "ready", "cards": 310,
    "parts": {"cards": {"status": "ok", "reason": ""}, "model": {"status": "missing", "reason": "none is configured"}},
}  # fmt: skip
Check = Callable[[], dict[str, str]]


@router.get("/healthz", summary="Is the process alive", responses={200: {"model": Alive}}, response_model=None)
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop runs."""
    return {"status": "ok", "version": __version__}


@router.get(
    "/readyz", summary="Can it answer, and what is missing", response_model=None,
    responses={
        200: {"model": Ready, "content": {"application/json": {"example": _READY}}},
        503: {"model": Ready, "description": "Not ready, or stopping.", "content": {"application/json": {}}},
        **{status: reply for status, reply in problems().items() if status != 503},
    },
)  # fmt: skip
async def readyz(request: Request) -> JSONResponse:
    """Cards, search index, database, Chroma, model: each `ok`, `degraded` or `missing`, with the reason.

    Only what is vital makes it 503: without an index the cards are still found by name, without a model the offline
    engine answers.
    """
    state = request.app.state
    checks: dict[str, Check] = {**readiness.CHECKS, **getattr(state, "checks", {})}
    found = await asyncio.gather(*(_seen(check) for check in checks.values()))
    parts = dict(zip(checks, found, strict=True))
    runner = runner_of(request)
    if runner.serving.workers and not (runner.small is not None and runner.small.ready):
        parts["workers"] = {"status": "degraded", "reason": "the worker processes are starting; threads answer"}
    vital = [name for name in (*VITAL, *getattr(state, "vital", ())) if parts[name]["status"] == "missing"]
    wanting = [name for name, part in parts.items() if part["status"] == "degraded"]
    stopping = bool(getattr(state, "stopping", False))
    status = "stopping" if stopping else "not_ready" if vital else "degraded" if wanting else "ready"
    if "read" not in caller(request).scopes:  # names of hosts are nobody's business
        parts = {name: {"status": part["status"], "reason": ""} for name, part in parts.items()}
    document = {"status": status, "cards": readiness.count_cards(), "parts": parts}
    return JSONResponse(document, 503 if stopping or vital else 200)


async def _seen(check: Check) -> dict[str, str]:
    try:
        return await asyncio.wait_for(asyncio.to_thread(check), PATIENCE)
    except TimeoutError:
        return {"status": "degraded", "reason": f"no reply within {PATIENCE:g} s"}
    except Exception as error:
        return {"status": "missing", "reason": type(error).__name__}


@router.get(
    "/metrics", summary="Counts and latencies, for Prometheus", response_model=None,
    dependencies=[Depends(needs("read"))],
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems()},
)  # fmt: skip
async def metrics(request: Request) -> Response:
    """The text exposition of Prometheus."""
    measures: Measures = request.app.state.measures
    measures.queue.set(runner_of(request).depth)
    return Response(measures.text(), media_type=CONTENT_TYPE)
