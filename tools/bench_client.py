"""A client that takes little of the machine: keep-alive connections, requests made once, replies hardly looked at.

python -m tools.bench_client URL BODY SECONDS RATE CONNECTIONS
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Load:
    """What was measured: requests a second, seconds at the median and the 99th percentile, how many failed."""

    rate: float
    p50: float
    p99: float
    errors: int


async def measure(url: str, body: bytes, seconds: float, rate: float, connections: int) -> Load:
    """Sends a body again and again.

    Args:
        url: where to.
        body: JSON.
        seconds: for how long.
        rate: requests a second, at even times; a reply's time counts from when its request was due, so that a server
            that falls behind does not look fast. 0: each connection sends as soon as it has its reply.
        connections: at once.
    """
    parts = urlsplit(url)
    head = f"POST {parts.path} HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    times: list[float] = []
    errors = 0
    began = time.perf_counter()
    place = 0

    async def connection() -> None:
        nonlocal errors, place
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 22)
        try:
            while (now := time.perf_counter()) - began < seconds:
                due = now
                if rate:
                    due = began + place / rate
                    place += 1
                    if due - began >= seconds:
                        return
                    await asyncio.sleep(max(0.0, due - now))
                writer.write(request)
                await writer.drain()
                errors += not await _ok(reader)
                times.append(time.perf_counter() - due)
        finally:
            writer.close()
            await writer.wait_closed()

    # Enough of them that an even rate is not held back by those that wait for a reply.
    await asyncio.gather(*(connection() for _ in range(connections * (4 if rate else 1))))
    whole = time.perf_counter() - began
    times.sort()
    return Load(len(times) / whole, times[len(times) // 2], times[min(len(times) - 1, int(len(times) * 0.99))], errors)


async def _ok(reader: asyncio.StreamReader) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return head.startswith(b"HTTP/1.1 200")


def main() -> int:
    """Prints what was measured as JSON."""
    url, path, seconds, rate, connections = sys.argv[1:]
    body = Path(path).read_bytes()
    print(json.dumps(asdict(asyncio.run(measure(url, body, float(seconds), float(rate), int(connections))))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
