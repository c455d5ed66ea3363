"""What idle streams of /explain cost the server: `python -m tools.bench_idle [--streams 200] [--log FILE]`.

Two kinds: streams that wait for a model which says nothing, and streams that wait for their turn behind others.
Counted is the private memory of the server with its workers, over that with ten such streams open.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from assistant.devmodel import DevModel, builtin
from evals.service.hosting import PATIENCE, ROOT, Hosted, hosted

LOG = ROOT / "examples" / "verl-retool-steps-0-3.log"
STREAMS = 200
#: Streams that are open before anything is counted: what the first ones load belongs to no stream.
FIRST = 10
#: Kinds of idle streams → answers with a model that may be under way at once.
KINDS = {"that wait for a silent model": 1000, "that wait for their turn": 1}


async def idle_streams(log: str, kind: str, streams: int = STREAMS) -> str:
    """A sentence: the memory of so many streams of a kind."""
    with DevModel(builtin("hang")) as model:
        environment = {
            "ASSISTANT_LLM_MODEL": "dev", "ASSISTANT_LLM_BASE_URL": model.base_url, "ASSISTANT_LLM_TIMEOUT": "600",
            "ASSISTANT_LLM_CONCURRENCY": str(KINDS[kind]), "ASSISTANT_QUEUE": "1000",
        }  # fmt: skip
        with hosted(environment) as server:
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(base_url=server.url, timeout=300, limits=limits) as client:
                listeners = [asyncio.create_task(_listen(client, log)) for _ in range(FIRST)]
                await _open(client, FIRST)
                base = await _settled(server)
                listeners += [asyncio.create_task(_listen(client, log)) for _ in range(streams)]
                await _open(client, FIRST + streams)
                grown = await _settled(server) - base
                for listener in listeners:
                    listener.cancel()
                await asyncio.gather(*listeners, return_exceptions=True)
    return f"{streams} idle streams {kind}: {grown / 1e6:.0f} MB, {grown / streams / 1000:.0f} kB each."


async def _listen(client: httpx.AsyncClient, log: str) -> None:
    body = {"text": log, "question": "Is the run healthy?"}
    async with client.stream("POST", "/explain", json=body, headers={"accept": "text/event-stream"}) as reply:
        reply.raise_for_status()
        async for _ in reply.aiter_raw():
            pass


async def _open(client: httpx.AsyncClient, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while f"metric_assistant_streams_open {count}.0" not in (await client.get("/metrics")).text:
        if time.monotonic() > end:
            sys.exit("the streams did not open")
        await asyncio.sleep(0.2)


async def _settled(server: Hosted) -> int:
    """The server's memory, once it does not change any more: every stream has come to where it waits."""
    end = time.monotonic() + PATIENCE
    last = [server.memory()]
    while time.monotonic() < end:
        await asyncio.sleep(0.5)
        last = [*last[-5:], server.memory()]
        if len(last) == 6 and max(last) - min(last) < 1 << 20:
            return last[-1]
    sys.exit("the server's memory did not settle")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each kind; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--log", type=Path, default=LOG)
    options = parser.parse_args(argv)
    log = options.log.read_text(encoding="utf-8")
    for kind in KINDS:
        print(asyncio.run(idle_streams(log, kind, options.streams)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
