"""Clients of the official package, a server on a free port, and what a reply must satisfy.

This folder is no package: it would be called ``mcp`` and hide the one that is tested.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import anyio
import jsonschema

from assistant.mcp.calls import Call, Store
from assistant.mcp.catalogue import by_name
from assistant.service.brevity import tokens

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
EXAMPLE = "verl-retool-steps-0-3.log"
LOG = (EXAMPLES / EXAMPLE).read_text(encoding="utf-8")
#: The revisions of the protocol: with a handshake, and stateless.
MODES = ("legacy", "2026-07-28")
#: Seconds that anything may take on a slow machine before a test gives up.
PATIENCE = 120.0


def call(*roots: Path) -> Call:
    """A call that may read the examples."""
    return Call(Store(), roots=roots or (EXAMPLES,))


def conforms(name: str, reply: dict[str, Any], *, most: int | None = None) -> None:
    """Holds a reply against the tool's output schema, and against a number of tokens."""
    errors = list(jsonschema.Draft202012Validator(by_name()[name]["outputSchema"]).iter_errors(reply))
    assert not errors, [f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors[:3]]
    json.dumps(reply, allow_nan=False)
    if most is not None:
        assert tokens(reply) < most


def run(function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a test's coroutine, not for ever."""

    async def bounded() -> None:
        with anyio.fail_after(PATIENCE):
            await function()

    anyio.run(bounded)


def stdio(*arguments: str, cwd: Path | str = "/", env: dict[str, str] | None = None) -> Any:
    """How the official client starts the server."""
    import os

    from mcp import StdioServerParameters

    kept = {name: os.environ[name] for name in os.environ if name.startswith("XDG_") or name == "HOME"}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "assistant.cli.main", "mcp", *arguments],
        cwd=cwd,
        env={"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **kept, **(env or {})},
    )


def roots_of(*folders: Path) -> Any:
    """What a client answers that is asked for its folders."""
    import mcp_types as types

    async def answer(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri()) for folder in folders])  # type: ignore[arg-type]

    return answer


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that runs in a thread."""
    import uvicorn

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=5))
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
        thread.start()
        try:
            until(lambda: server.started or not thread.is_alive())
            assert server.started
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def until(condition: Callable[[], bool]) -> None:
    """Waits for something, for a long time if need be."""
    import time

    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextlib.asynccontextmanager
async def http_client(url: str, mode: str, **headers: str) -> AsyncIterator[Any]:
    """The official client over HTTP, with headers of one's own."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,  # type: ignore[arg-type]
    ):
        yield client
