"""What the database holds in the end, against what clients were told."""

from __future__ import annotations

import time
import urllib.parse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from evals.kill.load import Book
from evals.kill.server import Server

#: Seconds that answers left behind have to be made.
PATIENCE = 120.0


@dataclass(frozen=True)
class Reckoning:
    """What was found; everything but the first counts must be nought.

    Attributes:
        questions: that were sent.
        acknowledged: of them.
        lost: acknowledged messages and runs that are not there, or not under the id that was told.
        doubled: messages and runs that are there more than once.
        changed: answers that are not what a client was shown.
        unanswered: questions without exactly one finished answer.
        disordered: sessions whose numbers are not in order or whose answers do not follow their questions.
        unsound: complaints of the database's own check.
        surprises: replies that no client should see.
        index: whether the search index opens and finds.
    """

    questions: int
    acknowledged: int
    runs: int
    lost: tuple[str, ...]
    doubled: tuple[str, ...]
    changed: tuple[str, ...]
    unanswered: tuple[str, ...]
    disordered: tuple[str, ...]
    unsound: tuple[str, ...]
    surprises: tuple[str, ...]
    index: bool

    @property
    def bad(self) -> bool:
        """Whether anything is wrong."""
        return not self.index or any(
            (self.lost, self.doubled, self.changed, self.unanswered, self.disordered, self.unsound, self.surprises)
        )

    def complaints(self) -> list[str]:
        """What is wrong, a few examples of each."""
        told = []
        for name in ("lost", "doubled", "changed", "unanswered", "disordered", "unsound", "surprises"):
            found = getattr(self, name)
            if found:
                told.append(f"{name}: {len(found)}, such as {'; '.join(map(str, found[:3]))}")
        return told if self.index else [*told, "the search index does not open"]


def reckon(server: Server, sessions: Sequence[str], book: Book, database: str) -> Reckoning:
    """Asks the server for everything and the database for its health.

    Args:
        server: running.
        sessions: ids.
        book: what clients were told.
        database: address, as SQLAlchemy takes it.
    """
    held = {session: _settled(server, session) for session in sessions}
    lost, doubled, changed, unanswered, disordered = [], [], [], [], []
    tags: Counter[str] = Counter()
    reply_of: dict[str, str] = {}
    texts: dict[str, str] = {}
    for session, messages in held.items():
        replies = Counter(m["reply_to"] for m in messages if m["role"] == "assistant")
        for place, message in enumerate(messages):
            if message["role"] == "user":
                tag = message["content"].rsplit(" ", 1)[1]
                tags[tag] += 1
                if book.posted.get(tag) != session:
                    disordered.append(f"{tag} stands in {session}")
                if replies[message["id"]] != 1:
                    unanswered.append(f"{tag} has {replies[message['id']]} answers")
            else:
                before = messages[place - 1]
                if before["id"] != message["reply_to"]:
                    disordered.append(f"{message['id']} does not follow its question")
                reply_of[before["content"].rsplit(" ", 1)[1]] = message["id"]
                texts[message["id"]] = message["content"]
                if message["status"] != "done":
                    unanswered.append(f"{message['id']} is {message['status']}: {message.get('error')}")
    for tag, message in book.acknowledged.items():
        if reply_of.get(tag) != message:
            lost.append(f"{tag} → {message}")
    doubled += [tag for tag, count in tags.items() if count > 1]
    changed += [message for message, text in book.answers.items() if texts.get(message, text) != text]
    names = Counter(run["name"] for session in sessions for run in server.get(f"/sessions/{session}/runs")["runs"])
    lost += [tag for tag in book.runs if not names[f"log {tag}"]]
    doubled += [name for name, count in names.items() if count > 1]
    query = urllib.parse.urlencode({"q": "policy entropy", "k": 3})
    found = server.get(f"/metrics-docs?{query}", timeout=PATIENCE)  # made anew where no index is there yet
    return Reckoning(
        questions=len(book.posted), acknowledged=len(book.acknowledged), runs=len(book.runs), lost=tuple(lost),
        doubled=tuple(doubled), changed=tuple(changed), unanswered=tuple(unanswered), disordered=tuple(disordered),
        unsound=tuple(_unsound(database)), surprises=tuple(book.surprises), index=bool(found["results"]),
    )  # fmt: skip


def _settled(server: Server, session: str) -> list[dict[str, Any]]:
    """The messages of a session once none is pending any more."""
    deadline = time.monotonic() + PATIENCE
    while True:
        messages: list[dict[str, Any]] = []
        before = ""
        while True:
            query = urllib.parse.urlencode(
                {"limit": 1000, "answers": "false", **({"before": before} if before else {})}
            )
            page = server.get(f"/sessions/{session}/messages?{query}")["messages"]
            messages = page + messages
            if len(page) < 1000:
                break
            before = page[0]["id"]
        if not any(m["status"] == "pending" for m in messages) or time.monotonic() > deadline:
            return messages
        time.sleep(0.2)


def _unsound(database: str) -> list[str]:
    """What the database itself finds wrong."""
    engine = sa.create_engine(database)
    try:
        with engine.connect() as connection:
            complaints: list[str] = []
            if engine.dialect.name == "sqlite":
                told = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                complaints += [str(line) for line in told if line != "ok"]
                complaints += [
                    f"foreign key {tuple(row)}" for row in connection.exec_driver_sql("PRAGMA foreign_key_check")
                ]
            twice = sa.text("SELECT session_id, seq FROM messages GROUP BY session_id, seq HAVING COUNT(*) > 1")
            complaints += [f"two messages {tuple(row)}" for row in connection.execute(twice)]
            left = sa.text(
                "SELECT message_id FROM stream_events JOIN messages ON id = message_id WHERE status <> 'pending'"
            )
            complaints += [f"events of {row[0]} are left" for row in connection.execute(left)]
            return complaints
    finally:
        engine.dispose()


def size_of(folder: Path) -> int:
    """Bytes of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
