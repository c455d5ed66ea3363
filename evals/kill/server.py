"""A real server as a process of its own, which can be killed and started again on the same port."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which a start or an end counts as hung.
PATIENCE = 300.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """One replica.

    Args:
        data: its data folder.
        log: where its output goes.
        settings: further environment variables.
    """

    def __init__(self, data: Path, log: Path, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSISTANT_", "OPENAI_"))}
        self.environment = {**kept, "ASSISTANT_DATA_DIR": str(data), "PYTHONPATH": str(ROOT), **settings}
        self.process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Starts the process and returns at once."""
        command = [sys.executable, "-m", "assistant.cli.main", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=ROOT, env=self.environment, start_new_session=True
            )

    def start(self) -> float:
        """Starts it; seconds until it said that it is ready."""
        began = time.monotonic()
        self.launch()
        self.wait_ready()
        return time.monotonic() - began

    def wait_ready(self) -> None:
        """Until ``/readyz`` says yes.

        Raises:
            RuntimeError: it ended, or took too long.
        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                break
            with contextlib.suppress(OSError, urllib.error.URLError, TimeoutError):
                urllib.request.urlopen(f"{self.url}/readyz", timeout=5).close()
                return
            time.sleep(0.02)
        raise RuntimeError(f"the server did not start: {self.log.read_text(errors='replace')[-3000:]}")

    def kill(self) -> None:
        """SIGKILL, without a word of warning; its workers must end by themselves."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)

    def left(self, seconds: float = 30.0) -> int:
        """1 where processes of a killed server are still there after some seconds (they are ended then), else 0."""
        if self.process is None:
            return 0
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                os.killpg(self.process.pid, 0)
            except OSError:
                return 0
            time.sleep(0.05)
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return 1

    def stop(self) -> int | None:
        """Asks it to end, and waits; its exit status."""
        if self.process is None:
            return None
        self.process.terminate()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            status = None
        self.left()
        self.process = None
        return status

    def get(self, path: str, timeout: float = 30.0) -> Any:
        """A JSON reply."""
        with urllib.request.urlopen(self.url + path, timeout=timeout) as reply:
            return json.load(reply)

    def post(self, path: str, body: Any, *, timeout: float = 30.0, **headers: str) -> Any:
        """A JSON reply to a JSON body."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json", **headers}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return json.load(reply)
