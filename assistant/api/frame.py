"""What holds for every request, mounted applications included: who may come in, limits, headers, the access log."""

from __future__ import annotations

import logging
import time
from typing import Any

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.access import SAFE_METHODS, Gatekeeper, caller
from assistant.api.limits import Buckets
from assistant.api.logs import access, request_id
from assistant.api.measures import Measures
from assistant.api.problems import fault, request_id_of, told
from assistant.api.uploads import forget_files, too_large
from assistant.model import AssistantError

log = logging.getLogger("assistant.api")

SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY.items()]


class Frame:
    """The outermost middleware.

    Args:
        app: what it frames.
        gate: who may come in.
        buckets: how often.
        measures: what is counted.
        max_body_bytes: largest body.
    """

    def __init__(
        self, app: ASGIApp, *, gate: Gatekeeper, buckets: Buckets, measures: Measures, max_body_bytes: int
    ) -> None:
        self.app, self.gate, self.buckets = app, gate, buckets
        self.measures, self.max_body_bytes = measures, max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":  # there is none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await _Exchange(self, scope, receive, send).run()


class _Exchange:
    """One request and its reply."""

    def __init__(self, frame: Frame, scope: Scope, receive: Receive, send: Send) -> None:
        self.frame, self.scope, self._receive, self._send = frame, scope, receive, send
        self.request = Request(scope, receive)
        self.status = 0
        self.received = 0
        self.sent = 0
        self.began = time.perf_counter()

    async def run(self) -> None:
        token = request_id.set(request_id_of(self.request))
        self.frame.measures.in_progress.inc()
        try:
            self._admit()
            await self.frame.app(self.scope, self._take, self._give)
        except AssistantError as error:
            await self._answer(told(self.request, error))
        except Exception:
            log.exception("a request failed")
            await self._answer(fault(self.request))
        finally:
            forget_files(self.scope)
            self.frame.measures.in_progress.dec()
            self._note()
            request_id.reset(token)

    def _admit(self) -> None:
        frame, request = self.frame, self.request
        found = frame.gate.admit(request)
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > frame.max_body_bytes:
            raise too_large(frame.max_body_bytes)
        if request.method not in SAFE_METHODS:
            client = request.client.host if request.client else ""
            frame.buckets.take(found.name if frame.gate.keys else client)

    async def _answer(self, response: Any) -> None:
        if not self.status:
            await response(self.scope, self._receive, self._give)

    async def _take(self) -> Message:
        message = await self._receive()
        self.received += len(message.get("body", b""))
        return message

    async def _give(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            if b"x-request-id" not in present:
                headers.append((b"x-request-id", request_id_of(self.request).encode()))
            headers += [(name, value) for name, value in _HEADERS if name not in present]
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self._send(message)

    def _note(self) -> None:
        """The access log's line, and the route's latency."""
        seconds = time.perf_counter() - self.began
        route = self.scope.get("route")
        name = getattr(route, "path", "") or self.scope.get("root_path", "") or "unmatched"
        status, method = self.status or 499, self.request.method
        method = method if method in _METHODS else "OTHER"
        state = self.scope.get("state", {})
        self.frame.measures.requests.labels(method, name, str(status)).observe(seconds)
        if status in {401, 403, 413, 421, 429}:
            self.frame.measures.rejected.labels(state.get("problem", "other")).inc()
        if not access.isEnabledFor(logging.INFO):
            return
        client = self.request.client.host if self.request.client else None
        access.info(
            "request",
            extra={
                "event": "request", "method": method, "route": name, "status": status,
                "ms": round(seconds * 1000, 1), "bytes_in": self.received, "bytes_out": self.sent,
                "caller": caller(self.request).name, "client": client,
                "code": state.get("problem"), "request_id": state.get("request_id"),
            },
        )  # fmt: skip
