"""Two replicas over one PostgreSQL and one Chroma server, both of which go away under load and come back.

python -m evals.kill.replicas            also --write: the table into docs/service-results.md
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.kill.chroma import Chroma
from evals.kill.load import PATIENCE, Book, Client
from evals.kill.postgres import Postgres
from evals.kill.reckoning import Reckoning, reckon
from evals.kill.results import write
from evals.kill.server import ROOT, Server

LOG = ROOT / "examples" / "verl-retool-steps-0-3.log"
#: Seconds that a dependency is away, and within which everything must work again.
AWAY, RECOVERY = 3.0, 120.0
#: What a caller may be told while a dependency is away: clear errors, and answers.
CLEAR = {0: "no reply", 200: "answered", 429: "busy", 503: "unavailable", 504: "time limit"}
SEARCHES = ("policy entropy", "奖励的均值", "how long are the answers", "梯度范数")


@dataclass
class Phase:
    """What callers saw while something was away.

    Attributes:
        name: what was away.
        sessions: how often each status was seen by those who ask in sessions.
        searches: by those who look up definitions.
        explains: by those who send a log with a question.
        recovered: seconds until questions and searches at both replicas worked again; ``None`` if they never did.
    """

    name: str
    sessions: Counter[int] = field(default_factory=Counter)
    searches: Counter[int] = field(default_factory=Counter)
    explains: Counter[int] = field(default_factory=Counter)
    recovered: float | None = None

    @property
    def bad(self) -> bool:
        """Whether something was unclear, or stayed away."""
        unclear = {*self.sessions, *self.searches, *self.explains} - CLEAR.keys()
        return bool(unclear) or self.recovered is None or set(self.explains) - {200, 429} != set()

    def row(self) -> str:
        """A row of the table."""
        parts = [_told(counts) for counts in (self.sessions, self.searches, self.explains)]
        back = "never" if self.recovered is None else f"{self.recovered:.1f} s"
        return f"| {self.name} | {' | '.join(parts)} | {back} |"


HEAD = (
    "| away | questions in sessions | definitions | `/explain` | all well again after |\n"
    "| --- | --- | --- | --- | --- |"
)


@dataclass(frozen=True)
class Outcome:
    """The phases, whether follow-ups work at either replica, and what is in the database in the end."""

    phases: tuple[Phase, ...]
    follow_ups: int
    understood: int
    reckoning: Reckoning

    @property
    def bad(self) -> bool:
        """Whether anything is wrong."""
        return self.reckoning.bad or self.understood < self.follow_ups or any(phase.bad for phase in self.phases)

    def table(self) -> str:
        """The results as Markdown."""
        found = self.reckoning
        lines = [HEAD, *(phase.row() for phase in self.phases), ""]
        lines.append(
            f"Follow-ups asked at the replica that had not answered the question before: {self.understood} of "
            f"{self.follow_ups} understood. Of {found.questions:,} questions {found.acknowledged:,} were acknowledged: "
            f"{len(found.lost)} lost, {len(found.doubled)} doubled, {len(found.unanswered)} not answered once."
        )
        return "\n".join(lines)


def run() -> Outcome:
    """Starts everything, takes things away, and reckons."""
    folder = Path(tempfile.mkdtemp(prefix="replicas-"))
    postgres, chroma, replicas = Postgres(durable=True), Chroma(folder), []
    try:
        postgres.start()
        chroma.start()
        address = postgres.create("sessions")
        settings = {
            "ASSISTANT_WORKERS": "1", "ASSISTANT_DATABASE_URL": address, "ASSISTANT_CHROMA_URL": chroma.url,
        }  # fmt: skip
        for name in ("one", "two"):
            replicas.append(Server(folder / name, folder / f"{name}.log", **settings))
        for replica in replicas:
            replica.launch()
        for replica in replicas:
            replica.wait_ready()
        return _run(replicas, postgres, chroma, address.replace("postgresql://", "postgresql+psycopg://"))
    finally:
        for replica in replicas:
            replica.stop()
        chroma.stop()
        postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


def _run(replicas: Sequence[Server], postgres: Postgres, chroma: Chroma, address: str) -> Outcome:
    text = LOG.read_text(encoding="utf-8")
    sessions = [replicas[0].post("/sessions", {})["id"] for _ in range(4)]
    for session in sessions:
        replicas[1].post(f"/sessions/{session}/runs", {"text": text, "name": f"first of {session}"})
    asked, understood = _follow_ups(replicas, text)
    for replica in replicas:  # the index is there before anything goes away
        deadline = time.monotonic() + PATIENCE
        while _get(replica, f"/metrics-docs?{urllib.parse.urlencode({'q': SEARCHES[0]})}", timeout=180) != 200:
            if time.monotonic() > deadline:
                raise RuntimeError("no definition is found: the search index was not made")
    book, stop = Book(), threading.Event()
    clients = [
        Client(f"c{n}", [replica.port for replica in replicas], sessions, book, stop=stop, log=text) for n in range(3)
    ]
    probes = [_Probe(replica, text, stop) for replica in replicas]
    for thread in (*clients, *probes):
        thread.start()
    phases = []
    try:
        time.sleep(2)
        for name, part in (("PostgreSQL", postgres), ("Chroma", chroma)):
            phase = Phase(name)
            before = Counter(book.statuses)
            for probe in probes:
                probe.phase = phase
            part.stop()
            time.sleep(AWAY)
            part.start()
            began = time.monotonic()
            phase.recovered = _recovery(replicas, sessions[0], began)
            for probe in probes:
                probe.phase = None
            phase.sessions = Counter(book.statuses) - before
            phase.sessions[200] += phase.sessions.pop(201, 0)
            phases.append(phase)
            time.sleep(2)
    finally:
        stop.set()
        for thread in (*clients, *probes):
            thread.join(PATIENCE + 60)
    return Outcome(tuple(phases), asked, understood, reckon(replicas[1], sessions, book, address))


def _follow_ups(replicas: Sequence[Server], text: str) -> tuple[int, int]:
    """Questions by turns at either replica; how many follow-ups there were, and how many were understood."""
    session = replicas[0].post("/sessions", {})["id"]
    replicas[0].post(f"/sessions/{session}/runs", {"text": text, "name": "a.log"})
    path, understood, asked = f"/sessions/{session}/messages", 0, 0
    replicas[0].post(path, {"content": "entropy at step 3?"})
    for step in (2, 1, 3, 2):
        asked += 1
        slots = replicas[asked % 2].post(path, {"content": f"and step {step}?"})["slots"]
        understood += slots["metrics"] == ["actor/entropy"] and slots["steps"]["values"] == [step]
    return asked, understood


class _Probe(threading.Thread):
    """Looks up definitions and explains a log at one replica, and counts what it is told."""

    def __init__(self, replica: Server, log: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.replica = replica
        self.log = log
        self.stopping = stop
        self.phase: Phase | None = None

    def run(self) -> None:
        """Until told to stop."""
        number = 0
        while not self.stopping.is_set():
            number += 1
            query = urllib.parse.urlencode({"q": SEARCHES[number % len(SEARCHES)]})
            searched = _get(self.replica, f"/metrics-docs?{query}")
            explained = _get(self.replica, "/explain", {"text": self.log, "question": "entropy at step 3?"})
            phase = self.phase
            if phase is not None:
                phase.searches[searched] += 1
                phase.explains[explained] += 1
            self.stopping.wait(0.2)


def _recovery(replicas: Sequence[Server], session: str, began: float) -> float | None:
    """Seconds until both replicas answer everything again, with nobody restarting them."""
    search = f"/metrics-docs?{urllib.parse.urlencode({'q': SEARCHES[0]})}"
    while time.monotonic() - began < RECOVERY:
        asked = [(f"/sessions/{session}", None), (search, None), ("/readyz", None)]
        if all(_get(replica, path, body) == 200 for replica in replicas for path, body in asked):
            return time.monotonic() - began
        time.sleep(0.1)
    return None


def _get(replica: Server, path: str, body: Any = None, timeout: float = 30.0) -> int:
    """The status of a reply; 0 for none."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(replica.url + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            reply.read()
            return int(reply.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)
    except OSError:
        return 0


def _told(counts: Counter[int]) -> str:
    return ", ".join(f"{CLEAR.get(status, status)}: {count}" for status, count in sorted(counts.items()))


def main(arguments: list[str]) -> int:
    """1 if anything was unclear, lost, doubled, or stayed away."""
    parser = argparse.ArgumentParser(prog="python -m evals.kill.replicas", description=__doc__)
    parser.add_argument("--write", action="store_true", help="the table into docs/service-results.md")
    chosen = parser.parse_args(arguments)
    outcome = run()
    print(outcome.table(), flush=True)
    for complaint in outcome.reckoning.complaints():
        print(complaint, flush=True)
    if chosen.write:
        write("replicas", outcome.table())
    return int(outcome.bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
