"""Requests of every kind against a real server, and what it makes of them.

    python -m evals.service.fuzz --cases 20000          made by schemathesis from the OpenAPI document
    python -m evals.service.fuzz --bodies 100000        hostile bodies, with time and memory watched
    … --write                                           puts the figures into docs/service-results.md

Exit status 1 where anything was a server error or over a limit.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from evals.service.bodies import Hostile, hostile
from evals.service.hosting import ROOT, Hosted, hosted, put

PAGE = ROOT / "docs" / "service-results.md"
#: A body of the hostile ones has at most some 100 kB: no answer should take longer than this, on a busy machine.
MOST_SECONDS = 30.0
#: Growth of the server with all its workers that is no leak yet.
MOST_GROWTH = 400 << 20
#: Hostile bodies under way at once: enough for every worker to have one, with others on their way in and out.
TOGETHER = 8
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass
class Outcome:
    """What came of many requests.

    Attributes:
        statuses: how often each.
        failures: what should not have been, the first ones.
        failed: how many.
        slowest: seconds.
        memory: most bytes over those at the beginning, of the server with its workers.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    failed: int = 0
    slowest: float = 0.0
    memory: int = 0

    def fail(self, text: str) -> None:
        """Notes something that should not have been."""
        self.failed += 1
        if len(self.failures) < 20:
            self.failures.append(text[:2000])

    @property
    def count(self) -> int:
        """Requests made."""
        return sum(self.statuses.values())

    def row(self, name: str) -> str:
        """A row of the table."""
        errors = sum(count for status, count in self.statuses.items() if status >= 500)
        kinds = " · ".join(f"{count:,} × {status}" for status, count in sorted(self.statuses.items()))
        memory = f"{self.memory / 2**20:.0f} MB" if self.memory else "–"
        return f"| {name} | {self.count:,} | {errors} | {self.failed} | {self.slowest:.2f} s | {memory} | {kinds} |"


def operations(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Method and path of every operation."""
    return [(m, path) for path, item in document["paths"].items() for m in METHODS if m in item]


def by_schema(server: Hosted, cases: int, seed: int) -> Outcome:
    """Cases that schemathesis makes from the server's own document, the same number for every operation that has so
    many; what one without parameters leaves over goes to the others.
    """
    import requests
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from schemathesis.core.failures import FailureGroup
    from schemathesis.specs.openapi import checks

    document = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    schema = schemathesis.openapi.from_dict(document)
    every = operations(document)
    outcome, base = Outcome(), server.memory()
    wanted = [checks.response_schema_conformance, checks.content_type_conformance]

    def ask_all(method: str, path: str, share: int, number: int) -> int:
        """Makes a share of cases of an operation; returns how many there were."""
        former = outcome.count

        @seeded(number)
        @settings(
            max_examples=share, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=schema[path][method.upper()].as_strategy())
        def ask(case: Any) -> None:
            began = time.perf_counter()
            try:
                response = case.call(base_url=server.url, session=session, timeout=120)
            except requests.exceptions.InvalidHeader:  # that cannot be sent, so there was no request
                return
            except requests.RequestException as error:
                outcome.fail(f"{case.as_curl_command()}: {type(error).__name__}")
                return
            outcome.slowest = max(outcome.slowest, time.perf_counter() - began)
            outcome.statuses[response.status_code] += 1
            if response.status_code >= 500:
                outcome.fail(f"{response.status_code} {case.as_curl_command()}: {response.text[:300]}")
                return
            try:
                case.validate_response(response, checks=wanted)
            except FailureGroup as group:
                outcome.fail(f"{case.as_curl_command()}: {'; '.join(str(one)[:500] for one in group.exceptions)}")

        ask()
        return outcome.count - former

    with requests.Session() as session:
        while every and outcome.count < cases:
            share = max(1, (cases - outcome.count) // len(every))
            seed += 1
            made = {(method, path): ask_all(method, path, share, seed) for method, path in every}
            outcome.memory = max(outcome.memory, server.memory() - base)
            every = [one for one in every if made[one] >= share // 2 and share > 1]
    return outcome


async def by_bodies(server: Hosted, bodies: Iterator[Hostile]) -> Outcome:
    """Hostile bodies, a few at once; the server's memory is looked at all the while."""
    outcome = Outcome()
    shared = iter(bodies)
    base = server.memory()
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            outcome.memory = max(outcome.memory, await asyncio.to_thread(server.memory) - base)
            await asyncio.sleep(0.2)

    async def ask(client: httpx.AsyncClient) -> None:
        for body in shared:
            began = time.perf_counter()
            try:
                reply = await client.post(body.path, content=body.content, headers=body.headers)
            except httpx.TransportError as error:
                outcome.fail(f"{body.path} {body.headers} {body.content[:200]!r}: {error!r}")
                continue
            seconds = time.perf_counter() - began
            outcome.slowest = max(outcome.slowest, seconds)
            outcome.statuses[reply.status_code] += 1
            code = reply.json().get("code", "") if reply.status_code >= 400 else ""
            if (
                reply.status_code >= 500
                or code == "memory_limit"
                or seconds > MOST_SECONDS
                or "internal_error" in reply.text[-400:]
            ):
                outcome.fail(
                    f"{reply.status_code} {code} {seconds:.1f} s {body.path} {body.headers} {body.content[:300]!r}"
                )

    watching = asyncio.create_task(watch())
    async with httpx.AsyncClient(base_url=server.url, timeout=200) as client:
        await asyncio.gather(*(ask(client) for _ in range(TOGETHER)))
    done.set()
    await watching
    if outcome.memory > MOST_GROWTH:
        outcome.fail(f"the server and its workers grew by {outcome.memory / 2**20:.0f} MB")
    return outcome


def main(argv: list[str] | None = None) -> int:
    """Runs what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, default=0, help="cases made from the OpenAPI document")
    parser.add_argument("--bodies", type=int, default=0, help="hostile bodies")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/service-results.md")
    options = parser.parse_args(argv)
    rows, failed = [], 0
    for name, count in (("OpenAPI", options.cases), ("hostile bodies", options.bodies)):
        if not count:
            continue
        with hosted({"ASSISTANT_LOG_LEVEL": "error"}) as server:
            if name == "OpenAPI":
                outcome = by_schema(server, count, options.seed)
            else:
                outcome = asyncio.run(by_bodies(server, itertools.islice(hostile(count, options.seed), count)))
            errors = [line for line in server.log.read_text(encoding="utf-8").splitlines() if line]
        rows.append(outcome.row(name))
        failed += outcome.failed
        print(*outcome.failures, *errors[:20], sep="\n")
    head = "| requests | made | server errors | failures | slowest | growth of memory | replies |"
    table = "\n".join([head, "|---|--:|--:|--:|--:|--:|---|", *rows])
    print(table)
    if options.write and rows:
        put(PAGE, "fuzz", table, "How the service holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
