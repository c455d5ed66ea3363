"""How much the server bears on this machine: `make bench`, its last table.

/explain with the offline engine on the example log against a bare FastAPI route that echoes the same body, both under
uvicorn with one client process: requests a second at saturation, latencies at half of it, errors; a small question
beside another client's large log; the memory of idle streams.

python tools/bench_service.py [--seconds 10] [--log FILE] [--question TEXT] [--megabytes 60] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from evals.service.hosting import ROOT, Hosted, hosted, put
from tools.bench_client import Load
from tools.bench_idle import KINDS, idle_streams

LOG = ROOT / "examples" / "verl-retool-steps-0-3.log"
QUESTION = "跟 step 0 相比，模型有改进吗"
PAGE = ROOT / "docs" / "service-results.md"
CONNECTIONS = 8
ECHO = """
from fastapi import Body, FastAPI
app = FastAPI()
@app.post("/explain")
async def echo(body: dict = Body()): return body
"""


@contextmanager
def echoing(folder: Path) -> Iterator[str]:
    """The bare FastAPI route, in a server of its own."""
    (folder / "echo_app.py").write_text(ECHO, encoding="utf-8")
    command = [sys.executable, "-m", "uvicorn", "echo_app:app", "--port", "0", "--no-access-log"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://\S+", line):
                yield found[0]
                break
        else:
            raise RuntimeError("the echo server did not start")
    finally:
        process.terminate()
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


def load(url: str, body: Path, seconds: float, rate: float = 0.0) -> Load:
    """What a client process of its own measures; a rate of 0 is as fast as it goes."""
    command = [sys.executable, "-m", "tools.bench_client", url, str(body), str(seconds), str(rate), str(CONNECTIONS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the client failed:\n{done.stderr}")
    return Load(**json.loads(done.stdout))


def row(name: str, url: str, body: Path, seconds: float) -> tuple[str, Load, Load]:
    """A row of the table: saturation, then half of it."""
    load(url, body, min(3.0, seconds))  # warm
    full = load(url, body, seconds)
    half = load(url, body, seconds, full.rate / 2)
    text = (
        f"| {name} | {full.rate:.0f} | {half.rate:.0f} | {half.p50 * 1000:.0f} ms | {half.p99 * 1000:.0f} ms "
        f"| {full.errors + half.errors} |"
    )
    return text, full, half


async def beside(server: Hosted, body: bytes, megabytes: int, log: bytes) -> str:
    """A small question alone, then while another client's large log is worked on."""
    noise = b"(WorkerDict pid=7) the quick brown fox jumps over the lazy dog and so on\n"
    lines = log.splitlines(keepends=True)
    count = max(1, megabytes * 1_000_000 // (sum(map(len, lines)) + 200 * len(noise)))
    large = b"".join(lines + [noise] * 200) * count
    headers = {"content-type": "application/json"}

    async def small(client: httpx.AsyncClient) -> float:
        began = time.perf_counter()
        (await client.post("/explain", content=body, headers=headers)).raise_for_status()
        return time.perf_counter() - began

    async def heavy() -> float:
        async with httpx.AsyncClient(base_url=server.url, timeout=300) as client:
            began = time.perf_counter()
            reply = await client.post("/explain", files={"f": ("large.log", large)}, data={"question": "entropy?"})
            reply.raise_for_status()
            return time.perf_counter() - began

    async with httpx.AsyncClient(base_url=server.url, timeout=300) as client:
        for _ in range(5):
            await small(client)
        alone = [await small(client) for _ in range(60)]
        other = asyncio.create_task(heavy())
        times = []
        while not other.done():
            times.append(await small(client))
    first, second = statistics.median(alone), statistics.median(times)
    return (
        f"A small question alone: median {first * 1000:.0f} ms. While {len(large) / 1e6:.0f} MB of another client were "
        f"worked on ({await other:.1f} s): median {second * 1000:.0f} ms, {second / first:.2f} times as long "
        f"({len(times)} asked)."
    )


class _Told(list[str]):
    """Lines that are printed as they come."""

    def __iadd__(self, lines: Iterable[str]) -> _Told:  # type: ignore[override, misc]
        for line in lines:
            print(line, flush=True)
            self.append(line)
        return self


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--log", type=Path, default=LOG)
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--megabytes", type=int, default=60, help="of the large log")
    parser.add_argument("--write", action="store_true", help="put the table into docs/service-results.md")
    options = parser.parse_args(argv)
    log = options.log.read_text(encoding="utf-8")
    body = json.dumps({"text": log, "question": options.question, "engine": "offline"}).encode()
    lines = _Told()
    lines += [
        f"One client process, {CONNECTIONS} connections, a body of {len(body) / 1000:.1f} kB, "
        f"{options.seconds:g} s each; latencies at half of the saturation.",
        "", "| server | requests/s | half | p50 | p99 | errors |", "|---|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "body.json"
        path.write_bytes(body)
        with echoing(Path(folder)) as url:
            lines += [row("a bare FastAPI route that echoes", f"{url}/explain", path, options.seconds)[0]]
        with hosted({"ASSISTANT_LOG_LEVEL": "warning"}) as server:
            lines += [row("`/explain`, offline engine", f"{server.url}/explain", path, options.seconds)[0]]
            lines += ["", asyncio.run(beside(server, body, options.megabytes, log.encode()))]
    lines += ["", *(asyncio.run(idle_streams(log, kind)) for kind in KINDS)]
    text = "\n".join(lines)
    if options.write:
        put(PAGE, "load", text, "How the service holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
