"""The FastAPI application: answers, checks, definitions, sessions, operations; each in a module of its own."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from assistant import __version__
from assistant.api import docs_page, operations, problems, routes_answers, routes_definitions, running
from assistant.api.access import Gatekeeper
from assistant.api.frame import Frame
from assistant.api.kept import Kept
from assistant.api.limits import Buckets
from assistant.api.measures import Measures
from assistant.api.openapi import describe
from assistant.service import service
from assistant.settings import settings

#: Seconds after the start at which this process loads what its workers have loaded: it is ready without.
LOAD_AFTER = 1.0
#: Modules that bring routes of their own through ``install(app)``.
INSTALLED = ("assistant.api.sessions", "assistant.api.openai_api")

DESCRIPTION = """Paste a training log, ask in Chinese or English, get an answer whose every number is traced to the log.

Errors are `application/problem+json` with a stable `code`. Without access keys only this machine may connect; with
them, send `Authorization: Bearer KEY` or `X-API-Key: KEY`."""


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    await asyncio.to_thread(_prepare)  # cards are read before the first request, not during it
    async with _entered(app.state.lifespans):
        app.state.runner.start()
        loading = threading.Thread(target=_load, name="load", daemon=True)
        later = asyncio.get_running_loop().call_later(LOAD_AFTER, loading.start)
        try:
            yield
        finally:
            later.cancel()
            app.state.stopping = True
            await app.state.kept.close()
            await asyncio.to_thread(app.state.runner.close)


@asynccontextmanager
async def _entered(makers: list[Callable[[], Any]]) -> AsyncGenerator[None]:
    """What other parts of the application need while it runs, the first one innermost."""
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        for make in makers:
            await stack.enter_async_context(make())
        yield


def _prepare() -> None:
    assert service().resolver


def _load() -> None:
    """Loads what answers questions; a question that comes before that waits for it."""
    assert service().answerer


def create_app() -> FastAPI:
    """The application; what it keeps between requests is a cache of the last minutes, so that several may run side by
    side.

    Others hook in through its state: ``lifespans`` (a list of callables that give an asynchronous context manager),
    ``checks`` (name → function for ``/readyz``), ``gate.open`` (paths that need no key; ``/…/*`` is a prefix).

    Raises:
        InputError: ``ASSISTANT_API_KEYS`` cannot be read.
    """
    chosen = settings()
    serving = chosen.serving
    app = FastAPI(
        title="metric-assistant", version=__version__, description=DESCRIPTION, lifespan=_lifespan,
        docs_url=None, redoc_url=None,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )  # fmt: skip
    state = app.state
    state.settings, state.max_body_bytes = chosen, chosen.max_body_bytes
    state.gate, state.measures = Gatekeeper(serving), Measures()
    state.kept = Kept(serving.kept_bytes, serving.kept_seconds)
    state.lifespans, state.checks, state.stopping = [], {}, False
    running.install(app, serving)
    problems.install(app)
    docs_page.install(app)
    for module in (routes_answers, routes_definitions, operations):
        app.include_router(module.router)
    for name in INSTALLED:
        _install(app, name)
    buckets = Buckets(serving.rate, serving.burst)
    app.add_middleware(
        Frame, gate=state.gate, buckets=buckets, measures=state.measures, max_body_bytes=chosen.max_body_bytes
    )
    if serving.cors_origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(serving.cors_origins), allow_methods=["*"],
            allow_headers=["authorization", "content-type", "idempotency-key", "last-event-id", "x-api-key"],
            expose_headers=["x-request-id", "x-stream-id", "x-message-id", "retry-after"],
        )  # fmt: skip
    describe(app)
    return app


def _install(app: FastAPI, name: str) -> None:
    """Routes of a module that may not be there."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return
    module.install(app)
