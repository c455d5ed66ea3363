"""A real server in a process of its own, and the memory that it and its workers take."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300.0


@dataclass(frozen=True)
class Hosted:
    """A server: its address, its process, its log."""

    url: str
    pid: int
    log: Path

    def memory(self) -> int:
        """Bytes of private memory that the server and all its workers take now."""
        return sum(memory_of(pid) for pid in [self.pid, *children(self.pid)])


@contextmanager
def hosted(environment: Mapping[str, str] | None = None, *, ready: bool = True) -> Iterator[Hosted]:
    """Starts a server on a free port; its data are in a folder that goes with it.

    Args:
        environment: settings beside those of this process.
        ready: wait until its workers are there.
    """
    with tempfile.TemporaryDirectory(prefix="metric-assistant-eval-") as folder:
        log = Path(folder) / "server.log"
        own = {"ASSISTANT_DATA_DIR": folder, "ASSISTANT_LOG_FORMAT": "json", **(environment or {})}
        command = [sys.executable, "-m", "assistant.cli.main", "serve", "--port", "0"]
        with log.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise RuntimeError(f"the server did not start:\n{log.read_text(encoding='utf-8')}")
            server = Hosted(found[0], process.pid, log)
            _wait(server, process, ready)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _wait(server: Hosted, process: subprocess.Popen[str], ready: bool) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended:\n{server.log.read_text(encoding='utf-8')}")
        try:
            parts = httpx.get(f"{server.url}/readyz", timeout=30).json()["parts"]
            if not ready or "workers" not in parts:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the server is not ready")


def children(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                new = [int(word) for word in path.read_text(encoding="ascii").split()]
            except OSError:
                continue
            found += new
            waiting += new
    return found


def memory_of(pid: int) -> int:
    """Bytes that only this process holds; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"RssAnon:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def put(path: Path, part: str, text: str, title: str) -> None:
    """Writes a part of a page between its markers; the page and the markers are made where they are not there."""
    begin, end = f"<!-- {part}:begin -->", f"<!-- {part}:end -->"
    page = path.read_text(encoding="utf-8") if path.exists() else f"# {title}\n"
    if begin not in page:
        page = f"{page.rstrip()}\n\n{begin}\n{end}\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
