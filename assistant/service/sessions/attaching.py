"""Logs and runs in the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from assistant.model import Run
from assistant.service.sessions.database import Database
from assistant.service.sessions.errors import RunNotFound, SessionFull, TextNotKept
from assistant.service.sessions.keeping import Once, hold, look
from assistant.service.sessions.packing import unpack_run
from assistant.service.sessions.reading import Remarks, remarks_of, text_of
from assistant.service.sessions.records import PackedSource, StoredRun, storable, unpacked
from assistant.service.sessions.tables import chunks, clock, runs, sessions, sources

#: Runs that one session may hold.
MOST_RUNS: Final = 200
LONGEST_NAME: Final = 255
_RID: Final = re.compile(r"r[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Attached:
    """Runs that a request attached, and the question that stood beside them."""

    runs: tuple[StoredRun, ...]
    question: str


def attach(connection: sa.Connection, row: sa.Row[Any], found: Sequence[PackedSource]) -> tuple[StoredRun, ...]:
    """Stores texts and their runs in a session whose row is locked.

    Args:
        connection: in a transaction.
        row: the session's.
        found: what was read.

    Raises:
        SessionFull: it would hold too many.
    """
    number: int = row.next_run
    count = connection.execute(
        sa.select(sa.func.count()).select_from(runs).where(runs.c.session_id == row.id)
    ).scalar_one()
    if count + sum(len(source.runs) for source in found) > MOST_RUNS:
        raise SessionFull(MOST_RUNS)
    place = connection.execute(
        sa.select(sa.func.coalesce(sa.func.max(sources.c.place), -1)).where(sources.c.session_id == row.id)
    ).scalar_one()
    added = []
    for source in found:
        place += 1
        connection.execute(
            sa.insert(sources).values(
                session_id=row.id, place=place, name=source.name, size=source.size, n_lines=source.n_lines,
                kept=source.kept, remarks=source.remarks, created=clock(),
            )
        )  # fmt: skip
        if source.chunks:
            connection.execute(
                sa.insert(chunks),
                [{"session_id": row.id, "place": place, "first_line": n, "data": data} for n, data in source.chunks],
            )
        for run in source.runs:
            rid = f"r{number}"
            connection.execute(
                sa.insert(runs).values(
                    session_id=row.id, rid=rid, number=number, source=place, name=run.name, summary=run.summary,
                    packed=run.packed, created=clock(),
                )
            )  # fmt: skip
            added.append(StoredRun(rid, run.name, place, json.loads(unpacked(run.summary))))
            number += 1
    connection.execute(sa.update(sessions).where(sessions.c.id == row.id).values(next_run=number))
    return tuple(added)


def listed(connection: sa.Connection, session: str) -> tuple[StoredRun, ...]:
    """The runs of a session, in their order."""
    query = sa.select(runs.c.rid, runs.c.name, runs.c.source, runs.c.summary).where(runs.c.session_id == session)
    return tuple(
        StoredRun(row.rid, row.name, row.source, json.loads(unpacked(row.summary)))
        for row in connection.execute(query.order_by(runs.c.number))
    )


class Runs:
    """The runs of a database's sessions."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def known(self, owner: str, session: str, key: str | None, fingerprint: str) -> Attached | None:
        """What a request to attach with this key has attached already, so that its texts need not be read again.

        Raises:
            SessionNotFound: there is no such session.
            KeyReused: it was another request.
        """

        def work(connection: sa.Connection) -> Attached | None:
            look(connection, owner, session)
            before = Once(owner, f"runs {session}", key, fingerprint).made(connection)
            return None if before is None else _before(connection, session, before)

        return self.database.read(work)

    def add(
        self, owner: str, session: str, found: Sequence[PackedSource], question: str = "", *,
        key: str | None = None, fingerprint: str = "",
    ) -> Attached:  # fmt: skip
        """Attaches what was read; the same again for the same idempotency key.

        Raises:
            SessionNotFound: there is none, or it is another's.
            SessionFull: it would hold too many.
        """
        once = Once(owner, f"runs {session}", key, fingerprint)

        def work(connection: sa.Connection) -> Attached:
            row = hold(connection, owner, session)
            before = once.made(connection)
            if before is not None:
                return _before(connection, session, before)
            added = attach(connection, row, found)
            made = {"runs": [run.rid for run in added], "question": question}
            once.keep(connection, session, made)
            return Attached(added, question)

        return self.database.write(work)

    def all(self, owner: str, session: str) -> tuple[StoredRun, ...]:
        """The runs of a session.

        Raises:
            SessionNotFound: there is none, or it is another's.
        """

        def work(connection: sa.Connection) -> tuple[StoredRun, ...]:
            look(connection, owner, session)
            return listed(connection, session)

        return self.database.read(work)

    def get(self, owner: str, session: str, rid: str) -> StoredRun:
        """One run of a session.

        Raises:
            SessionNotFound: there is no such session.
            RunNotFound: it has no such run.
        """
        for stored in self.all(owner, session):
            if stored.rid == rid:
                return stored
        raise RunNotFound(storable(rid))

    def rename(self, owner: str, session: str, rid: str, name: str) -> StoredRun:
        """Gives a run another name.

        Raises:
            SessionNotFound: there is no such session.
            RunNotFound: it has no such run.
        """
        name = storable(name)[:LONGEST_NAME]
        check_rid(rid)

        def work(connection: sa.Connection) -> StoredRun:
            hold(connection, owner, session)
            done = connection.execute(
                sa.update(runs).where(runs.c.session_id == session, runs.c.rid == rid).values(name=name)
            )
            if not done.rowcount:
                raise RunNotFound(rid)
            return _named(connection, session, [rid])[0]

        return self.database.write(work)

    def delete(self, owner: str, session: str, rid: str) -> None:
        """Deletes a run, and its text where no other run is of it.

        Raises:
            SessionNotFound: there is no such session.
            RunNotFound: it has no such run.
        """

        check_rid(rid)

        def work(connection: sa.Connection) -> None:
            hold(connection, owner, session)
            place = connection.execute(
                sa.delete(runs).where(runs.c.session_id == session, runs.c.rid == rid).returning(runs.c.source)
            ).scalar_one_or_none()
            if place is None:
                raise RunNotFound(rid)
            others = sa.exists().where(runs.c.session_id == session, runs.c.source == place)
            connection.execute(
                sa.delete(sources).where(sources.c.session_id == session, sources.c.place == place, ~others)
            )

        self.database.write(work)

    def table(self, session: str, rid: str) -> Run:
        """A run's table, under its id and name in the session.

        Raises:
            RunNotFound: it has no such run.
        """

        def work(connection: sa.Connection) -> Any:
            row = connection.execute(
                sa.select(runs.c.packed, runs.c.name).where(runs.c.session_id == session, runs.c.rid == rid)
            ).one_or_none()
            if row is None:
                raise RunNotFound(rid)
            return row

        row = self.database.read(work)
        return unpack_run(row.packed).renamed(id=rid, name=row.name)

    def remarks(self, session: str, places: Sequence[int]) -> list[Remarks]:
        """What was noted of texts as a whole."""
        query = sa.select(sources.c.remarks).where(sources.c.session_id == session, sources.c.place.in_(places))
        rows = self.database.read(lambda connection: connection.execute(query.order_by(sources.c.place)).all())
        return [remarks_of(row.remarks) for row in rows]

    def lines(self, owner: str, session: str, rid: str, around: int, context: int) -> list[tuple[int, str]]:
        """Lines of a run's text with their numbers: ``context`` on either side of one.

        Raises:
            SessionNotFound: there is no such session.
            RunNotFound: it has no such run.
            TextNotKept: its text is not there.
        """
        check_rid(rid)
        first, last = max(1, around - context), around + context

        def work(connection: sa.Connection) -> list[sa.Row[Any]]:
            look(connection, owner, session)
            row = connection.execute(
                sa.select(sources.c.place, sources.c.kept)
                .join(runs, (runs.c.session_id == sources.c.session_id) & (runs.c.source == sources.c.place))
                .where(runs.c.session_id == session, runs.c.rid == rid)
            ).one_or_none()
            if row is None:
                raise RunNotFound(rid)
            if not row.kept:
                raise TextNotKept
            here = (chunks.c.session_id == session) & (chunks.c.place == row.place)
            begin = sa.select(sa.func.max(chunks.c.first_line)).where(here, chunks.c.first_line <= first)
            query = sa.select(chunks.c.first_line, chunks.c.data).where(
                here, chunks.c.first_line >= sa.func.coalesce(begin.scalar_subquery(), 1), chunks.c.first_line <= last
            )
            return list(connection.execute(query.order_by(chunks.c.first_line)))

        found: list[tuple[int, str]] = []
        for row in self.database.read(work):
            held = text_of(row.data).removesuffix("\n").split("\n")
            low = max(first, row.first_line)
            for number in range(low, min(last, row.first_line + len(held) - 1) + 1):
                found.append((number, held[number - row.first_line]))
        return found

    def text(self, session: str, place: int) -> str | None:
        """The whole text of a source, if it is kept."""
        query = sa.select(chunks.c.data).where(chunks.c.session_id == session, chunks.c.place == place)
        rows = self.database.read(lambda connection: connection.execute(query.order_by(chunks.c.first_line)).all())
        return "".join(text_of(row.data) for row in rows) if rows else None


def _before(connection: sa.Connection, session: str, made: dict[str, Any]) -> Attached:
    return Attached(_named(connection, session, made["runs"]), made["question"])


def check_rid(rid: str) -> None:
    """Refuses what cannot be a run's id.

    Raises:
        RunNotFound: it cannot.
    """
    if not _RID.fullmatch(rid):
        raise RunNotFound(storable(rid))


def _named(connection: sa.Connection, session: str, rids: Sequence[str]) -> tuple[StoredRun, ...]:
    return tuple(run for run in listed(connection, session) if run.rid in rids)
