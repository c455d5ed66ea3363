"""SIGKILL at random moments under load, and what is left.

python -m evals.kill                                    20 kills on SQLite
python -m evals.kill --times 200 --database postgres
python -m evals.kill --times 200 --write                and the table into docs/service-results.md
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from evals.kill.load import PATIENCE, Book, Client
from evals.kill.postgres import Postgres
from evals.kill.reckoning import Reckoning, reckon
from evals.kill.results import write
from evals.kill.server import ROOT, Server

LOG = ROOT / "examples" / "verl-retool-steps-0-3.log"
SESSIONS = 4
CLIENTS = 5
#: Seconds within which a killed server has to be back.
MOST_SECONDS = 5.0
MOST_WAIT = 60.0


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Attributes:
        ready: seconds of each start until ``/readyz`` said yes.
        orphans: kills after which a worker process was still there 30 s later.
        statuses: how often each HTTP status was seen; 0 is a broken connection.
    """

    database: str
    kills: int
    ready: tuple[float, ...]
    orphans: int
    statuses: dict[int, int]
    reckoning: Reckoning

    @property
    def bad(self) -> bool:
        """Whether anything is lost, doubled, wrong, or slow."""
        return self.reckoning.bad or bool(self.orphans)

    def row(self) -> str:
        """A row of the table."""
        found = self.reckoning
        return (
            f"| {self.database} | {self.kills} | {found.questions:,} | {found.acknowledged:,} | {len(found.lost)} | "
            f"{len(found.doubled)} | {len(found.unanswered)} | {len(found.changed)} | {median(self.ready):.1f} | "
            f"{max(self.ready):.1f} | {'sound' if not found.unsound else 'UNSOUND'} | "
            f"{'opens' if found.index else 'BROKEN'} |"
        )


HEAD = (
    "| database | kills | questions | acknowledged | lost | doubled | not answered once | answered otherwise | "
    "ready after, median s | worst s | database | search index |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def run(times: int, database: str, *, seed: int = 0, say: Callable[[str], None] = lambda _: None) -> Outcome:
    """Kills a server ``times`` times.

    Args:
        times: how often.
        database: ``sqlite`` or ``postgres``.
        seed: of the moments, the questions and who gives up.
        say: is told how it goes.
    """
    folder = Path(tempfile.mkdtemp(prefix="kill-"))
    postgres = Postgres(durable=True) if database == "postgres" else None
    try:
        settings = {"ASSISTANT_WORKERS": "1"}
        address = f"sqlite:///{folder / 'sessions.db'}"
        if postgres is not None:
            postgres.start()
            settings["ASSISTANT_DATABASE_URL"] = postgres.create("sessions")
            address = settings["ASSISTANT_DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://")
        server = Server(folder, folder / "log", **settings)
        return _run(times, database, server, address=address, chance=random.Random(seed), say=say)
    finally:
        if postgres is not None:
            postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    times: int, database: str, server: Server, *, address: str, chance: random.Random, say: Callable[[str], None]
) -> Outcome:
    text = LOG.read_text(encoding="utf-8")
    book, stop = Book(), threading.Event()
    ready, orphans, killed = [server.start()], 0, 0
    clients: list[Client] = []
    try:
        sessions = [server.post("/sessions", {})["id"] for _ in range(SESSIONS)]
        for session in sessions:
            server.post(f"/sessions/{session}/runs", {"text": text, "name": f"first of {session}"})
        clients = [
            Client(f"c{n}", [server.port], sessions, book, stop=stop, log=text, seed=chance.randrange(10**9))
            for n in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        while killed < times:
            if chance.random() < 0.1:  # in the middle of a start
                time.sleep(chance.uniform(0.0, 1.0))
                server.kill()
                orphans += server.left()
                killed += 1
                server.launch()
                time.sleep(chance.uniform(0.2, 2.0))
            else:
                _wait(book, chance.choice([0, 1, 2, 5, 10, 20]))
                time.sleep(chance.uniform(0.0, 0.2))
            server.kill()
            killed += 1
            orphans += server.left()
            ready.append(server.start())
            if killed % 10 == 0:
                say(f"{killed} kills, {len(book.acknowledged)} acknowledged, ready in {ready[-1]:.1f} s")
        stop.set()
        for client in clients:
            client.join(PATIENCE + 60)
        found = reckon(server, sessions, book, address)
        return Outcome(database, killed, tuple(ready), orphans, dict(sorted(book.statuses.items())), found)
    finally:
        stop.set()
        server.stop()


def _wait(book: Book, replies: int) -> None:
    """Until so many further replies have come, or some seconds have passed: a moment that is not the clock's."""
    deadline = time.monotonic() + MOST_WAIT
    before = sum(count for status, count in book.statuses.items() if status)
    while time.monotonic() < deadline:
        if sum(count for status, count in list(book.statuses.items()) if status) >= before + replies:
            return
        time.sleep(0.01)


def main(arguments: list[str]) -> int:
    """1 if anything was lost, doubled, left without an answer, or unsound."""
    parser = argparse.ArgumentParser(prog="python -m evals.kill", description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="sqlite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="the table into docs/service-results.md")
    chosen = parser.parse_args(arguments)
    names = ["sqlite", "postgres"] if chosen.database == "both" else [chosen.database]
    outcomes = []
    for name in names:
        outcomes.append(run(chosen.times, name, seed=chosen.seed, say=lambda text: print(text, flush=True)))
        outcome = outcomes[-1]
        print(f"{HEAD}\n{outcome.row()}\nstatuses: {outcome.statuses}, orphans: {outcome.orphans}", flush=True)
        for complaint in outcome.reckoning.complaints():
            print(complaint, flush=True)
    if chosen.write:
        write("kill", f"{HEAD}\n" + "\n".join(outcome.row() for outcome in outcomes))
    slow = any(max(outcome.ready) > MOST_SECONDS for outcome in outcomes)
    return int(slow or any(outcome.bad for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
