"""Clients of an application for tests: in this process, and a server of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")
#: Generous: the machine that runs the tests may be slow and busy.
PATIENCE = 300.0
T = TypeVar("T")


class Client:
    """Speaks to an application in this process; no socket, and no exception of the application comes through."""

    def __init__(self, app: FastAPI, address: str = "127.0.0.1", base: str = "http://127.0.0.1") -> None:
        self.app, self.base = app, base
        self.transport = httpx.ASGITransport(app=app, raise_app_exceptions=False, client=(address, 50000))

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            async with self.open() as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def open(self) -> httpx.AsyncClient:
        """For several requests in one event loop."""
        return httpx.AsyncClient(transport=self.transport, base_url=self.base)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)


def events_of(text: str) -> list[dict[str, str]]:
    """The events of a stream: their fields; comments are left out."""
    found = []
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if name:
                fields[name] = f"{fields[name]}\n{value}" if name in fields else value
        if fields:
            found.append(fields)
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine, within the patience of the tests."""
    return asyncio.run(asyncio.wait_for(work, PATIENCE))


async def until(condition: Any) -> None:
    """Waits until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        await asyncio.sleep(0.01)


class Server:
    """A real server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process, self.url, self.log = process, url, log

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and waits for the end; the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder: Path, environment: Mapping[str, str] | None = None, *arguments: str) -> Iterator[Server]:
    """A server on a free port, ready to answer."""
    log = folder / "server.log"
    command = [sys.executable, "-m", "assistant.cli.main", "serve", "--port", "0", *arguments]
    own = {**os.environ, "ASSISTANT_DATA_DIR": str(folder / "data"), "ASSISTANT_LOG_FORMAT": "json"}
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**own, **(environment or {})}, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"{line!r}\n{log.read_text(encoding='utf-8')}"
        _wait(found[0], process)
        yield Server(process, found[0], log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def _wait(url: str, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(f"{url}/healthz", timeout=10).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")
