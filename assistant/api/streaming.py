"""Server-sent events: heartbeats while nothing happens, and an end to the work when nobody listens any more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from assistant.api.problems import fault, request_id_of, told
from assistant.model import AssistantError
from assistant.model.jsontext import json_bytes
from assistant.settings import settings

log = logging.getLogger("assistant.api.streaming")

#: An event: its name (empty: none is sent), its data (a mapping, or text that is sent as it is), and its id.
Item = tuple[str, Mapping[str, Any] | str, str | None]
PING = b": ping\n\n"


def event_content(events: str) -> dict[str, Any]:
    """How the OpenAPI document describes a stream: by one event, as programs that read the document take it.

    Args:
        events: some of it, as it is sent.
    """
    first = dict(line.split(": ", 1) for line in events.partition("\n\n")[0].splitlines())
    schema = {
        "type": "object", "description": f"One event of the stream. Some as they are sent:\n\n```\n{events}```",
        "properties": {
            "id": {"type": "string", "description": "For `Last-Event-ID`."},
            "event": {"type": "string"},
            "data": {"type": "string", "description": "JSON."},
        },
        "required": ["event", "data"],
    }  # fmt: skip
    return {"schema": schema, "example": first}


def wants_events(request: Request) -> bool:
    """Whether the caller asked for a stream."""
    return "text/event-stream" in request.headers.get("accept", "").lower()


def encode(item: Item) -> bytes:
    """An event as it goes over the wire; no line of its data or id can begin another field."""
    name, data, event_id = item
    text = data if isinstance(data, str) else json_bytes(data).decode()
    head = f"event: {_line(name)}\n" if name else ""
    if event_id is not None:
        head = f"id: {_line(event_id)}\n{head}"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode("utf-8", "replace")


def _line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ").replace("\x00", "")


def event_response(
    request: Request, events: AsyncIterator[Item], *, headers: Mapping[str, str] | None = None
) -> Response:
    """A reply that sends events as they come.

    The iterator is closed (its ``aclose``, so that its ``finally`` runs) when it ends, when the client goes away, and
    when the server stops. An error in it becomes a last event ``error`` that holds the problem document.

    Args:
        request: what is answered.
        events: name, data and id of each event.
        headers: further headers of the reply.
    """
    return EventStream(request, events, headers)


class EventStream(Response):
    """A response of server-sent events."""

    def __init__(self, request: Request, events: AsyncIterator[Item], headers: Mapping[str, str] | None) -> None:
        super().__init__(
            None, 200, {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no", **(headers or {})},
            "text/event-stream",
        )  # fmt: skip
        del self.headers["content-length"]
        self.request = request
        self.events = events
        self.heartbeat = settings().serving.heartbeat_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends until the events end or the client is gone."""
        gone = asyncio.create_task(disconnected(receive))
        measures = getattr(self.request.app.state, "measures", None)
        if measures is not None:
            measures.streams.inc()
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._pump(send, gone)
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:  # the connection broke while something was sent
            pass
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            close = getattr(self.events, "aclose", None)
            if close is not None:
                with contextlib.suppress(RuntimeError):
                    await close()
            if measures is not None:
                measures.streams.dec()
        if self.background is not None:
            await self.background()

    async def _pump(self, send: Send, gone: asyncio.Task[None]) -> None:
        waiting: asyncio.Task[Item] | None = None
        try:
            while not gone.done():
                waiting = waiting or asyncio.ensure_future(anext(self.events))
                await asyncio.wait({waiting, gone}, timeout=self.heartbeat, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    return
                if not waiting.done():
                    await send({"type": "http.response.body", "body": PING, "more_body": True})
                    continue
                done, waiting = waiting, None
                try:
                    item = done.result()
                except StopAsyncIteration:
                    return
                except Exception as error:
                    item = error_item(self.request, error)
                    await send({"type": "http.response.body", "body": encode(item), "more_body": True})
                    return
                await send({"type": "http.response.body", "body": encode(item), "more_body": True})
        finally:
            if waiting is not None:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)


def error_item(request: Request, error: Exception) -> Item:
    """The event of an error: its problem document; a mistake of ours is logged, and nothing of it told."""
    if isinstance(error, AssistantError):
        document = told(request, error)
    else:
        log.error("a stream failed", exc_info=error, extra={"request_id": request_id_of(request)})
        document = fault(request)
    return "error", bytes(document.body).decode(), None


async def disconnected(receive: Receive) -> None:
    """Returns when the client has gone; only for requests whose body was read (what is left of it is dropped)."""
    while (await receive())["type"] != "http.disconnect":
        pass
