"""The server: an event loop in a thread of its own, one reply a connection."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from assistant.devmodel import replies, wire
from assistant.devmodel.script import Script, Step, builtin

MODELS = ("dev", "dev-small")


@dataclass
class Received:
    """A request as it came.

    Attributes:
        method, path, headers, body: of the request; a key in the headers is masked, ``body`` is parsed if it is JSON.
        started: seconds of :func:`time.monotonic` at which it was complete.
        seconds: until the reply ended, ``None`` while it lasts.
        cancelled: whether the client closed the connection before that.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    started: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    cancelled: bool = False


class DevModel:
    """A scripted model on loopback; a context manager.

    Args:
        script: what it replies; the name of a shipped one, or a script of one's own. ``echo`` by default.
        port: 0 takes a free one.
        models: names that ``GET /v1/models`` lists.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, script: Script | str = "echo", *, port: int = 0, models: Iterable[str] = MODELS) -> None:
        self.script = builtin(script) if isinstance(script, str) else script
        self.models = tuple(models)
        self.received: list[Received] = []
        self._wish = port
        self._ready = threading.Event()
        self._failed: OSError | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self.port = 0
        self.most_at_once = 0
        self._open = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """What a client is configured with, such as ``http://127.0.0.1:40123/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="dev-model", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            self._thread.join()
            raise self._failed
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()

    def join(self) -> None:
        """Serves until the process is interrupted."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.2)

    # -- in the thread --------------------------------------------------------------------------
    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            server = await asyncio.start_server(self._accept, "127.0.0.1", self._wish, limit=wire.MAX_HEAD)
        except OSError as error:
            self._failed = error
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self._writers:  # a task that was cancelled on its way out has not closed its own
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Notes the connection before any task of it can be cancelled."""
        self._writers = {known for known in self._writers if not known.is_closing()} | {writer}
        task = asyncio.ensure_future(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            method, path, headers, raw = await wire.read_request(reader)
        except wire.Gone:
            writer.close()
            return
        try:
            body: Any = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        shown = {k: ("***" if k in {"authorization", "api-key", "x-api-key"} else v) for k, v in headers.items()}
        request = Received(method, path, shown, body)
        self.received.append(request)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        replying = asyncio.ensure_future(self._reply(request, writer))
        leaving = asyncio.ensure_future(reader.read(1))  # a client sends nothing more: it only ever closes
        try:
            await asyncio.wait({replying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not replying.done():
                request.cancelled = True
        finally:
            self._open -= 1
            request.seconds = time.monotonic() - request.started  # before any wait: the server may stop meanwhile
            for task in (replying, leaving):
                task.cancel()
            outcome, _ = await asyncio.gather(replying, leaving, return_exceptions=True)
            if isinstance(outcome, ConnectionError):
                request.cancelled = True
            writer.transport.abort() if request.cancelled else writer.close()

    async def _reply(self, request: Received, writer: asyncio.StreamWriter) -> None:
        path = request.path.removeprefix("/v1")
        if request.method == "GET" and path == "/models":
            data = [
                {"id": name, "object": "model", "created": replies.CREATED, "owned_by": "dev"} for name in self.models
            ]
            await _send(writer, {"object": "list", "data": data})
            return
        asked = request.body if isinstance(request.body, dict) else None
        if request.method != "POST" or path not in {"/chat/completions", "/responses", "/embeddings"} or asked is None:
            status = 400 if asked is None and request.method == "POST" else 404
            error = {"message": f"no such route, or no JSON: {request.method} {request.path}", "type": "not_found"}
            await _send(writer, {"error": error}, status=status)
            return
        if path == "/embeddings":
            await _send(writer, replies.embeddings(asked))
            return
        step = self.script.reply(asked)
        if step is None:
            await _send(writer, {"error": {"message": "no rule of the script matches", "type": "script"}}, status=500)
            return
        await _play(step, asked, path, writer)


async def _play(step: Step, asked: Mapping[str, Any], path: str, writer: asyncio.StreamWriter) -> None:
    """Replies as the step says."""
    await asyncio.sleep(step.delay)
    if step.hang:
        await asyncio.Event().wait()
    if step.reset:
        writer.transport.abort()
        return
    if step.garbage:
        writer.write(b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(range(64)))
        await writer.drain()
        return
    if step.error is not None or step.body is not None:
        body = step.body.encode() if step.body is not None else json.dumps({"error": step.error}).encode()
        if asked.get("stream") and step.status == 200 and (step.content_type or wire.JSON) == wire.JSON:
            body = b"data: " + body + b"\n\n"  # a chunk that is no JSON
            kind = wire.EVENT_STREAM
        else:
            kind = step.content_type or wire.JSON
        writer.write(wire.head(step.status, kind, step.headers, len(body)) + body)
        await writer.drain()
        return
    reply = replies.said(step, asked)
    model = str(asked.get("model", "dev"))
    responses = step.shape == "responses" or (step.shape is None and path == "/responses")
    if not asked.get("stream"):
        whole = replies.responses_object(reply, model) if responses else replies.whole(reply, model)
        await _send_whole(writer, step, json.dumps(whole, ensure_ascii=False).encode())
        return
    if responses:
        events = [_event(e, str(e["type"])) for e in replies.responses_events(reply, model, step.chunk)]
    else:
        wanted = bool((asked.get("stream_options") or {}).get("include_usage"))
        events = [_event(e) for e in replies.pieces(reply, model, step.chunk, with_usage=wanted)]
        events.append(b"data: [DONE]\n\n")
    await _stream(writer, step, events)


async def _send_whole(writer: asyncio.StreamWriter, step: Step, body: bytes) -> None:
    """A body at once, or as far as the step lets it."""
    if step.stall_after is not None:
        await asyncio.Event().wait()
    if step.rate is not None:
        await asyncio.sleep(len(body) / step.chunk / step.rate)
    writer.write(wire.head(step.status, step.content_type or wire.JSON, step.headers, len(body)))
    writer.write(body if step.cut_after is None else body[: step.cut_after * step.chunk])
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, step: Step, events: list[bytes]) -> None:
    """Server-sent events in a chunked body, as far as the step lets them."""
    writer.write(wire.head(step.status, step.content_type or wire.EVENT_STREAM, step.headers, None))
    await writer.drain()
    for place, event in enumerate(events):
        if step.cut_after is not None and place >= step.cut_after:
            return  # without the last chunk: the client sees that the body is not whole
        if step.stall_after is not None and place >= step.stall_after:
            await asyncio.Event().wait()
        if step.rate is not None and place:
            await asyncio.sleep(1 / step.rate)
        for part in [event[i : i + 3] for i in range(0, len(event), 3)] if step.split_bytes else [event]:
            writer.write(wire.chunk(part))
        await writer.drain()
    writer.write(wire.LAST_CHUNK)
    await writer.drain()


async def _send(writer: asyncio.StreamWriter, body: Mapping[str, Any], *, status: int = 200) -> None:
    data = json.dumps(body).encode()
    writer.write(wire.head(status, wire.JSON, {}, len(data)) + data)
    await writer.drain()


def _event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    first = f"event: {name}\n" if name else ""
    return f"{first}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
