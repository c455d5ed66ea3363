"""How soon an editor has the list of tools: the process is started and spoken to as an editor does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "stopwatch", "version": "1"},
}


@dataclass(frozen=True)
class Start:
    """Seconds on the clock and of processor time until the list of tools was there, and how many it held."""

    wall: float
    processor: float
    tools: int


def first_list() -> Start:
    """Starts the server over stdio, asks for the tools, ends it."""
    command = [sys.executable, "-m", "assistant.cli.main", "mcp"]
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
        process.stdin.flush()
        process.stdout.readline()
        reply = json.loads(process.stdout.readline())
        wall, used = time.perf_counter() - began, _used(process.pid)
        process.stdin.close()
        process.wait()
    return Start(wall, used, len(reply["result"]["tools"]))


def _used(pid: int) -> float:
    """Processor time of a process so far, where the system tells it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
