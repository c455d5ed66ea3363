"""Messages in the tables: posted once, answered once, whoever answers.

A question and its pending answer are stored in one transaction, under the lock of their session's row, which also
hands out their numbers; whoever posts at the same time waits for it. The pending answer belongs to one process by a
lease; only the holder of the lease can store the answer, and only while it is pending.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from assistant.service.sessions.attaching import attach, listed
from assistant.service.sessions.errors import MessageNotFound, RunNotFound
from assistant.service.sessions.keeping import Once, hold, is_id, look, new_id
from assistant.service.sessions.pending import LEASE, Pending, ended
from assistant.service.sessions.records import (
    Asked,
    Message,
    Outcome,
    PackedSource,
    Posted,
    storable,
)
from assistant.service.sessions.tables import clock, messages, sessions

TITLE_LENGTH: Final = 80
_COLUMNS: Final = (
    messages.c.id, messages.c.session_id, messages.c.seq, messages.c.role, messages.c.status, messages.c.content,
    messages.c.created, messages.c.reply_to, messages.c.asked, messages.c.answer, messages.c.error,
    messages.c.superseded,
)  # fmt: skip


class Messages(Pending):
    """The messages of a database's sessions."""

    # -- asking ----------------------------------------------------------------------------------------------------
    def known(self, owner: str, session: str, key: str | None, fingerprint: str) -> Posted | None:
        """What a request with this key has posted already.

        Raises:
            SessionNotFound: there is no such session.
            KeyReused: it was another request.
        """

        def work(connection: sa.Connection) -> Posted | None:
            look(connection, owner, session)
            before = Once(owner, f"messages {session}", key, fingerprint).made(connection)
            return None if before is None else _posted(connection, before)

        return self.database.read(work)

    def post(
        self, owner: str, session: str, content: str, asked: Asked, *, replace: str | None = None,
        found: Sequence[PackedSource] = (), key: str | None = None, fingerprint: str = "",
    ) -> Posted:  # fmt: skip
        """Stores a question and its pending answer, both or neither; when this returns they are on the disk.

        Args:
            owner: whose session it is.
            session: its id.
            content: the message as typed.
            asked: how it is asked.
            replace: a message that this one takes the place of; it and all after it are superseded.
            found: logs that were pasted with it.
            key: idempotency key; the same key gives the same message.
            fingerprint: of the request, to tell a repeat from another request with the same key.

        Raises:
            SessionNotFound: there is no such session.
            MessageNotFound: ``replace`` names none of its messages.
            RunNotFound: ``asked.runs`` names none of its runs.
            KeyReused: the key came with another request.
        """
        once, content = Once(owner, f"messages {session}", key, fingerprint), storable(content)

        def work(connection: sa.Connection) -> Posted:
            row = hold(connection, owner, session)
            before = once.made(connection)
            if before is not None:
                return _posted(connection, before)
            if asked.runs:
                held = {run.rid for run in listed(connection, session)}
                for rid in asked.runs:
                    if rid not in held:
                        raise RunNotFound(rid)
            if replace is not None:
                _supersede(connection, session, replace)
            added = attach(connection, row, found) if found else ()
            told = asked.question or (found[0].name if found else content)
            title = row.title or storable(told).strip().split("\n")[0][:TITLE_LENGTH]
            connection.execute(
                sa.update(sessions).where(sessions.c.id == session).values(next_seq=row.next_seq + 2, title=title)
            )
            user, reply = new_id(), new_id()
            common = {"session_id": session, "superseded": False, "attempts": 0, "created": clock(), "updated": clock()}
            connection.execute(
                sa.insert(messages).values(
                    id=user, seq=row.next_seq, role="user", status="done", content=content, asked=asked.dump(), **common
                )
            )
            connection.execute(
                sa.insert(messages).values(
                    id=reply, seq=row.next_seq + 1, role="assistant", status="pending", content="", reply_to=user,
                    lease_owner=self.me, lease_until=clock() + LEASE, **{**common, "attempts": 1},
                )
            )  # fmt: skip
            once.keep(connection, session, {"user": user, "reply": reply})
            found_pair = _posted(connection, {"user": user, "reply": reply})
            return Posted(found_pair.user, found_pair.reply, True, added)

        return self.database.write(work)

    # -- reading ---------------------------------------------------------------------------------------------------
    def list(self, owner: str, session: str, *, limit: int | None = None, before: str | None = None) -> list[Message]:
        """The messages that stand, in their order; the last ``limit`` of them, before a message.

        Raises:
            SessionNotFound: there is none, or it is another's.
            MessageNotFound: ``before`` is none of its messages.
        """

        def work(connection: sa.Connection) -> list[Message]:
            look(connection, owner, session)
            query = sa.select(*_COLUMNS).where(messages.c.session_id == session, ~messages.c.superseded)
            if before is not None:
                query = query.where(messages.c.seq < _get(connection, session, before).seq)
            rows = connection.execute(query.order_by(messages.c.seq.desc()).limit(limit)).all()
            return [_record(row) for row in reversed(rows)]

        return self.database.read(work)

    def get(self, owner: str, session: str, message: str) -> Message:
        """One message, superseded or not.

        Raises:
            SessionNotFound: there is no such session.
            MessageNotFound: it has no such message.
        """

        def work(connection: sa.Connection) -> Message:
            look(connection, owner, session)
            return _get(connection, session, message)

        return self.database.read(work)

    def reply(self, owner: str, session: str, message: str) -> Message:
        """An answer, by its own id or by that of its question.

        Raises:
            SessionNotFound: there is no such session.
            MessageNotFound: it has no such message.
        """

        def work(connection: sa.Connection) -> Message:
            look(connection, owner, session)
            found = _get(connection, session, message)
            if found.role == "assistant":
                return found
            row = connection.execute(sa.select(*_COLUMNS).where(messages.c.reply_to == found.id)).one_or_none()
            if row is None:
                raise MessageNotFound
            return _record(row)

        return self.database.read(work)

    def state(self, message: str) -> dict[str, Any] | None:
        """What the conversation carries after an answer."""
        query = sa.select(messages.c.state).where(messages.c.id == message)
        text = self.database.read(lambda connection: connection.execute(query).scalar_one_or_none())
        return json.loads(text) if text else None


def _supersede(connection: sa.Connection, session: str, message: str) -> None:
    """Takes a question (or that of an answer) and everything after it out of the conversation."""
    found = _get(connection, session, message)
    if found.superseded:
        raise MessageNotFound
    begin = found.seq if found.role == "user" else found.seq - 1
    here = (messages.c.session_id == session) & (messages.c.seq >= begin)
    connection.execute(
        sa.update(messages).where(here, messages.c.status == "pending").values(**ended(Outcome("stopped")))
    )
    connection.execute(sa.update(messages).where(here).values(superseded=True))


def _get(connection: sa.Connection, session: str, message: str) -> Message:
    if not is_id(message):
        raise MessageNotFound
    row = connection.execute(
        sa.select(*_COLUMNS).where(messages.c.id == message, messages.c.session_id == session)
    ).one_or_none()
    if row is None:
        raise MessageNotFound
    return _record(row)


def _posted(connection: sa.Connection, names: dict[str, Any]) -> Posted:
    user, reply = (
        _record(connection.execute(sa.select(*_COLUMNS).where(messages.c.id == names[role])).one())
        for role in ("user", "reply")
    )
    return Posted(user, reply, False)


def _record(row: Any) -> Message:
    return Message(
        row.id, row.session_id, row.seq, row.role, row.status, row.content, row.created, row.reply_to, row.asked,
        row.answer, row.error, bool(row.superseded),
    )  # fmt: skip
