"""Just enough HTTP/1.1 to fail as real servers do: a framework would not let a reply stop in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024


class Gone(Exception):
    """The client closed the connection, or sent no HTTP."""


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    """Method, path, headers (names in lower case) and body of one request.

    Raises:
        Gone: there is none.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                body += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readuntil(b"\r\n")
        else:
            length = int(headers.get("content-length") or 0)
            if length > MAX_BODY:
                raise Gone
            body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, OSError) as error:
        raise Gone from error
    return method, path.partition("?")[0], headers, body


def head(status: int, content_type: str, more: Mapping[str, str], length: int | None) -> bytes:
    """Status line and headers; without a length the body is chunked."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Status"
    framing = {"transfer-encoding": "chunked"} if length is None else {"content-length": str(length)}
    headers = {"content-type": content_type, "connection": "close", **framing, **more}
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"
EVENT_STREAM = "text/event-stream; charset=utf-8"
JSON = "application/json"
