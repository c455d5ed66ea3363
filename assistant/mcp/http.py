"""The server over HTTP, at ``/mcp`` of the application: through its middleware, with its keys and its limits.

Without sessions, so that any replica answers any request. The protocol's package is loaded with the first request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

PATH = "/mcp"
#: No session is kept, so that there is nothing to listen to (GET) or to end (DELETE): 405, as the protocol has it.
METHODS = ("POST",)


def mount(app: Any, roots: Sequence[Path] = ()) -> None:
    """Adds ``/mcp`` to a FastAPI application.

    Args:
        app: the application; its lifespan is wrapped.
        roots: folders from which files may be read, beside those of ``ASSISTANT_ALLOWED_ROOTS``.
    """
    endpoint = Endpoint(roots)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: Any) -> AsyncIterator[Any]:
        async with inner(application) as state, endpoint.running():
            yield state

    app.router.lifespan_context = lifespan
    app.router.add_route(PATH, endpoint, methods=list(METHODS), include_in_schema=False)


class Endpoint:
    """An ASGI application that hands requests to the protocol's session manager, made when the first one comes."""

    path = PATH

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._manager: Any = None
        self._wanted: Any = None
        self._ready: Any = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the application runs: the manager's tasks are begun and ended here, in one task."""
        import anyio

        self._wanted, self._ready = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve)
            try:
                yield
            finally:
                group.cancel_scope.cancel()
                self._manager = self._wanted = self._ready = None

    async def _serve(self) -> None:
        import anyio
        import anyio.to_thread

        wanted, ready = self._wanted, self._ready
        await wanted.wait()
        manager = await anyio.to_thread.run_sync(self._made)
        async with manager.run():
            self._manager = manager
            ready.set()
            await anyio.sleep_forever()

    def _made(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from assistant.mcp.server import Desk, build
        from assistant.settings import settings

        # The application has looked at Host, Origin and keys before a request comes here.
        unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        return StreamableHTTPSessionManager(
            app=build(Desk("http", self._roots)), stateless=True, security_settings=unguarded,
            max_request_body_size=settings().max_body_bytes,
        )  # fmt: skip

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request; 503 outside the application's lifespan."""
        scope.setdefault("route", self)  # the application's log and measures name requests by it
        if self._wanted is None:
            await send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        self._wanted.set()
        await self._ready.wait()
        await self._manager.handle_request(scope, receive, send)
