"""A Chroma server of one's own, in a process that can be stopped and started again on the same port."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from evals.kill.server import PATIENCE, free_port


class Chroma:
    """``chroma run`` from the chromadb package.

    Args:
        folder: where it keeps its data, and its output.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it answers.

        Raises:
            RuntimeError: it does not.
        """
        program = Path(sys.executable).parent / "chroma"
        data, output = self.folder / "data", self.folder / "chroma.log"
        command = [str(program), "run", "--path", str(data), "--host", "127.0.0.1", "--port", str(self.port)]
        with output.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=2).close()
                return
            time.sleep(0.1)
        raise RuntimeError(f"Chroma did not start: {output.read_text(errors='replace')[-2000:]}")

    def stop(self) -> None:
        """Kills it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)
            self.process = None
