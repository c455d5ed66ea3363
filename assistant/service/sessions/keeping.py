"""Sessions in the tables: made, listed, renamed, deleted, and forgotten when they are old."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from assistant.service.sessions.database import Database
from assistant.service.sessions.errors import KeyReused, SessionNotFound
from assistant.service.sessions.records import Session, from_iso, storable
from assistant.service.sessions.tables import clock, keys, messages, runs, sessions

#: Days for which an idempotency key is known.
KEY_DAYS: Final = 7
DAY: Final = 86_400_000_000
LONGEST_TITLE: Final = 200
#: Rows deleted in one transaction.
BATCH: Final = 200
_ID: Final = re.compile(r"[0-9a-f]{20}")


def new_id() -> str:
    """An id that nobody can guess: 20 hexadecimal digits."""
    return secrets.token_hex(10)


def is_id(text: str) -> bool:
    """Whether a text can be an id; anything else need not be looked for (and some of it could not be)."""
    return _ID.fullmatch(text) is not None


def now(connection: sa.Connection) -> int:
    """The database's clock."""
    return int(connection.execute(sa.select(clock())).scalar_one())


def hold(connection: sa.Connection, owner: str, session: str, **changed: Any) -> sa.Row[Any]:
    """The session's row, locked for this transaction and marked as used.

    Raises:
        SessionNotFound: there is none, or it is another's.
    """
    if not is_id(session):
        raise SessionNotFound
    row = connection.execute(
        sa.update(sessions)
        .where(sessions.c.id == session, sessions.c.owner == owner)
        .values(updated=clock(), **changed)
        .returning(*sessions.c)
    ).one_or_none()
    if row is None:
        raise SessionNotFound
    return row


def look(connection: sa.Connection, owner: str, session: str) -> sa.Row[Any]:
    """The session's row.

    Raises:
        SessionNotFound: there is none, or it is another's.
    """
    if not is_id(session):
        raise SessionNotFound
    row = connection.execute(
        sa.select(sessions).where(sessions.c.id == session, sessions.c.owner == owner)
    ).one_or_none()
    if row is None:
        raise SessionNotFound
    return row


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be carried out once, by the key that its sender gave (none: every time).

    Attributes:
        scope: what keys of this kind are told apart by.
        fingerprint: of the request, to tell a repeat from another request with the same key.
    """

    owner: str
    scope: str
    key: str | None
    fingerprint: str

    def made(self, connection: sa.Connection) -> dict[str, Any] | None:
        """What it made when it came before.

        Raises:
            KeyReused: the key came with another request.
        """
        if not self.key:
            return None
        row = connection.execute(
            sa.select(keys.c.fingerprint, keys.c.result).where(
                keys.c.owner == self.owner, keys.c.scope == self.scope, keys.c.key == self.key
            )
        ).one_or_none()
        if row is None:
            return None
        if row.fingerprint != self.fingerprint:
            raise KeyReused
        result: dict[str, Any] = json.loads(row.result)
        return result

    def keep(self, connection: sa.Connection, session: str, result: Mapping[str, Any]) -> None:
        """Remembers what it made; that another one did so meanwhile breaks a constraint, and all is undone."""
        if self.key:
            connection.execute(
                sa.insert(keys).values(
                    owner=self.owner, scope=self.scope, key=self.key, session_id=session,
                    fingerprint=self.fingerprint, result=json.dumps(dict(result)), created=clock(),
                )
            )  # fmt: skip


class Sessions:
    """The sessions of a database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create(
        self, owner: str, title: str = "", lang: str = "auto", *, key: str | None = None, fingerprint: str = ""
    ) -> Session:
        """A new session; the same one again for the same idempotency key."""
        title = storable(title)[:LONGEST_TITLE]
        once = Once(owner, "sessions", key, fingerprint)

        def work(connection: sa.Connection) -> str:
            before = once.made(connection)
            if before is not None:
                return str(before["session"])
            made, when = new_id(), now(connection)
            connection.execute(
                sa.insert(sessions).values(
                    id=made, owner=owner, title=title, lang=lang, created=when, updated=when, next_seq=0, next_run=0
                )
            )
            once.keep(connection, made, {"session": made})
            return made

        return self.get(owner, self.database.write(work))

    def get(self, owner: str, session: str) -> Session:
        """One session.

        Raises:
            SessionNotFound: there is none, or it is another's.
        """

        def work(connection: sa.Connection) -> Session:
            look(connection, owner, session)
            row = connection.execute(_listed().where(sessions.c.id == session, sessions.c.owner == owner)).one_or_none()
            if row is None:
                raise SessionNotFound
            return _record(row)

        return self.database.read(work)

    def list(self, owner: str, *, text: str = "", limit: int = 50, before: str = "") -> list[Session]:
        """Sessions, last used first.

        Args:
            owner: whose.
            text: stands in the title or in a question.
            limit: at most so many.
            before: the ``id`` of the last session of the page before, or a time (``updated``).
        """

        def work(connection: sa.Connection) -> list[Session]:
            query = _listed().where(sessions.c.owner == owner)
            if text:
                said = sa.exists().where(
                    messages.c.session_id == sessions.c.id, messages.c.role == "user", ~messages.c.superseded,
                    messages.c.content.icontains(text, autoescape=True),
                )  # fmt: skip
                query = query.where(sessions.c.title.icontains(text, autoescape=True) | said)
            if before:
                moment = from_iso(before)
                if moment is None:
                    row = look(connection, owner, before)
                    query = query.where(
                        (sessions.c.updated < row.updated)
                        | ((sessions.c.updated == row.updated) & (sessions.c.id < row.id))
                    )
                else:
                    query = query.where(sessions.c.updated < moment)
            query = query.order_by(sessions.c.updated.desc(), sessions.c.id.desc()).limit(limit)
            return [_record(row) for row in connection.execute(query)]

        text = storable(text)
        return self.database.read(work)

    def change(self, owner: str, session: str, *, title: str | None = None, lang: str | None = None) -> Session:
        """Renames a session, or sets its language.

        Raises:
            SessionNotFound: there is none, or it is another's.
        """
        changed = {"title": None if title is None else storable(title)[:LONGEST_TITLE], "lang": lang}
        self.database.write(
            lambda connection: hold(connection, owner, session, **{k: v for k, v in changed.items() if v is not None})
        )
        return self.get(owner, session)

    def delete(self, owner: str, session: str) -> None:
        """Deletes a session and all that is in it.

        Raises:
            SessionNotFound: there is none, or it is another's.
        """

        def work(connection: sa.Connection) -> None:
            look(connection, owner, session)
            connection.execute(sa.delete(sessions).where(sessions.c.id == session, sessions.c.owner == owner))

        self.database.write(work)
        self.database.shrink()

    def forget(self, days: float) -> int:
        """Deletes sessions not used for so many days (0: none), and old idempotency keys; how many sessions."""
        count = 0
        while days > 0:
            found = self.database.write(lambda connection: _forget_some(connection, int(days * DAY)))
            count += found
            if found < BATCH:
                break
        self.database.write(
            lambda connection: connection.execute(sa.delete(keys).where(keys.c.created < clock() - KEY_DAYS * DAY))
        )
        if count:
            self.database.shrink()
        return count


def _forget_some(connection: sa.Connection, age: int) -> int:
    pending = sa.exists().where(messages.c.session_id == sessions.c.id, messages.c.status == "pending")
    old = sa.select(sessions.c.id).where(sessions.c.updated < clock() - age, ~pending).limit(BATCH)
    names = list(connection.execute(old).scalars())
    if names:
        connection.execute(sa.delete(sessions).where(sessions.c.id.in_(names)))
    return len(names)


def _listed() -> sa.Select[Any]:
    count = sa.select(sa.func.count())
    asked = count.select_from(messages).where(messages.c.session_id == sessions.c.id, ~messages.c.superseded)
    held = count.select_from(runs).where(runs.c.session_id == sessions.c.id)
    first = sa.select(runs.c.name).where(runs.c.session_id == sessions.c.id).order_by(runs.c.number).limit(1)
    return sa.select(
        sessions,
        asked.scalar_subquery().label("n_messages"),
        held.scalar_subquery().label("n_runs"),
        first.scalar_subquery().label("first_run"),
    )


def _record(row: sa.Row[Any]) -> Session:
    return Session(
        row.id, row.title or row.first_run or "", row.lang, row.created, row.updated, row.n_messages, row.n_runs
    )
