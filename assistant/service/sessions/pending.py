"""Pending answers in the tables: each belongs to one process by a lease, is stored once, and outlives its process."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

import orjson
import sqlalchemy as sa

from assistant.model.jsontext import json_bytes
from assistant.service.sessions.database import Database
from assistant.service.sessions.errors import MessageNotFound
from assistant.service.sessions.records import Asked, Outcome, Work, packed, storable, unpacked
from assistant.service.sessions.tables import clock, events, messages

#: Microseconds for which a pending answer belongs to a process that does not renew it.
LEASE: Final = 12_000_000
#: An answer that took down its process this often is not tried again by itself.
MOST_ATTEMPTS: Final = 4


class Pending:
    """The pending answers of a database.

    Args:
        database: where they are.
        me: name of this process in leases.
    """

    def __init__(self, database: Database, me: str) -> None:
        self.database = database
        self.me = me

    def work(self, message: str) -> Work | None:
        """What a pending answer of this process is made from; ``None`` where it is not, or not any more, to be made."""

        def work(connection: sa.Connection) -> Work | None:
            row = connection.execute(
                sa.select(messages).where(
                    messages.c.id == message, messages.c.status == "pending", messages.c.lease_owner == self.me
                )
            ).one_or_none()
            if row is None:
                return None
            asked = connection.execute(sa.select(messages.c.asked).where(messages.c.id == row.reply_to)).scalar_one()
            earlier = (messages.c.session_id == row.session_id) & (messages.c.seq < row.seq) & ~messages.c.superseded
            waits = connection.execute(sa.select(sa.exists().where(earlier, messages.c.status == "pending"))).scalar()
            state = connection.execute(
                sa.select(messages.c.state)
                .where(earlier, messages.c.status == "done", messages.c.state.is_not(None))
                .order_by(messages.c.seq.desc())
                .limit(1)
            ).scalar_one_or_none()
            return Work(message, row.session_id, Asked.load(asked), state, bool(waits), row.attempts)

        return self.database.read(work)

    def begin(self, message: str) -> int:
        """Counts an attempt at a pending answer that was taken over; how many there were, 0 where it is not ours."""
        query = (
            sa.update(messages)
            .where(messages.c.id == message, messages.c.status == "pending", messages.c.lease_owner == self.me)
            .values(attempts=messages.c.attempts + 1)
            .returning(messages.c.attempts)
        )
        return self.database.write(lambda connection: connection.execute(query).scalar_one_or_none()) or 0

    def renew(self, mine: Collection[str]) -> set[str]:
        """Renews the leases of this process; those that it still holds."""
        if not mine:
            return set()
        query = (
            sa.update(messages)
            .where(messages.c.id.in_(list(mine)), messages.c.status == "pending", messages.c.lease_owner == self.me)
            .values(lease_until=clock() + LEASE)
            .returning(messages.c.id)
        )
        return set(self.database.write(lambda connection: connection.execute(query).scalars().all()))

    def finish(self, message: str, outcome: Outcome) -> bool:
        """Stores the answer in the place of the pending one; ``False`` where it is not this process's to store."""

        def work(connection: sa.Connection) -> bool:
            done = connection.execute(
                sa.update(messages)
                .where(messages.c.id == message, messages.c.status == "pending", messages.c.lease_owner == self.me)
                .values(**ended(outcome))
            )
            if done.rowcount:
                connection.execute(sa.delete(events).where(events.c.message_id == message))
            return bool(done.rowcount)

        return self.database.write(work)

    def stop(self, message: str, shown: str | None = None) -> bool:
        """Ends a pending answer, whoever makes it: what was shown of it is kept.

        Args:
            message: its id.
            shown: the text; by default what its stored events show.
        """

        def work(connection: sa.Connection) -> bool:
            text = shown
            if text is None:
                told = [data for _, kind, data in _events(connection, message, 0) if kind == "delta"]
                text = "".join(one["text"] for one in told)
            done = connection.execute(
                sa.update(messages)
                .where(messages.c.id == message, messages.c.status == "pending")
                .values(**ended(Outcome("stopped", storable(text))))
            )
            connection.execute(sa.delete(events).where(events.c.message_id == message))
            return bool(done.rowcount)

        return self.database.write(work)

    def again(self, message: str) -> bool:
        """Makes a failed or stopped answer pending once more, for this process to make."""
        query = (
            sa.update(messages)
            .where(messages.c.id == message, messages.c.status.in_(["failed", "stopped"]), ~messages.c.superseded)
            .values(
                status="pending", content="", error=None, attempts=1, lease_owner=self.me, lease_until=clock() + LEASE,
                updated=clock(),
            )
        )  # fmt: skip
        return bool(self.database.write(lambda connection: connection.execute(query).rowcount))

    # -- when a process died ---------------------------------------------------------------------------------------
    def orphans(self, limit: int) -> list[tuple[str, str, bool]]:
        """Pending answers, oldest lease first: id, holder of the lease, whether the lease has ended."""
        query = (
            sa.select(messages.c.id, messages.c.lease_owner, (messages.c.lease_until < clock()).label("ended"))
            .where(messages.c.status == "pending")
            .order_by(messages.c.lease_until, messages.c.seq)
            .limit(limit)
        )
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return [(row.id, row.lease_owner, bool(row.ended)) for row in rows]

    def claim(self, message: str, holder: str, *, dead: bool = False) -> bool:
        """Takes over a pending answer whose holder's lease has ended, or who is known to be dead.

        One that was tried too often becomes a failed one instead, which its asker may try again.
        """

        def work(connection: sa.Connection) -> bool:
            free = [messages.c.id == message, messages.c.status == "pending", messages.c.lease_owner == holder]
            if not dead:
                free.append(messages.c.lease_until < clock())
            attempts = connection.execute(sa.select(messages.c.attempts).where(*free)).scalar_one_or_none()
            if attempts is None:
                return False
            if attempts >= MOST_ATTEMPTS:
                error = {
                    "code": "interrupted",
                    "zh": "生成回答时服务多次中断，已停止自动重试。可以点击重试。",
                    "en": "The server was interrupted several times while answering; it does not try again by itself. "
                    "Retry it if you like.",
                }
                connection.execute(sa.update(messages).where(*free).values(**ended(Outcome("failed", error=error))))
                return False
            taken = connection.execute(
                sa.update(messages).where(*free).values(lease_owner=self.me, lease_until=clock() + LEASE)
            )
            if taken.rowcount:
                connection.execute(sa.delete(events).where(events.c.message_id == message))
            return bool(taken.rowcount)

        return self.database.write(work)

    def hand_back(self, mine: Collection[str]) -> None:
        """Gives up leases, so that another process may answer at once; a polite end is no failed attempt."""
        if mine:
            query = (
                sa.update(messages)
                .where(messages.c.id.in_(list(mine)), messages.c.status == "pending", messages.c.lease_owner == self.me)
                .values(
                    lease_owner="",
                    lease_until=0,
                    attempts=sa.case((messages.c.attempts > 0, messages.c.attempts - 1), else_=0),
                )
            )
            self.database.write(lambda connection: connection.execute(query))

    # -- what was shown --------------------------------------------------------------------------------------------
    def show(self, message: str, batch: Sequence[tuple[int, str, Any]]) -> None:
        """Keeps events (number, kind, data) of a pending answer for readers at other processes."""
        data = packed(json_bytes([list(one) for one in batch]))

        def work(connection: sa.Connection) -> None:
            held = sa.select(messages.c.id).where(
                messages.c.id == message, messages.c.status == "pending", messages.c.lease_owner == self.me
            )
            # Locked, so that the answer is not stored (and its events dropped) between this look and the insert.
            if connection.execute(held.with_for_update()).scalar_one_or_none() is not None:
                connection.execute(sa.insert(events).values(message_id=message, number=batch[-1][0], data=data))

        self.database.write(work)

    def shown(self, message: str, after: int) -> tuple[str, int, list[tuple[int, str, Any]]]:
        """Status and attempt of an answer, and its events after a number."""

        def work(connection: sa.Connection) -> tuple[str, int, list[tuple[int, str, Any]]]:
            row = connection.execute(
                sa.select(messages.c.status, messages.c.attempts).where(messages.c.id == message)
            ).one_or_none()
            if row is None:
                raise MessageNotFound
            return row.status, row.attempts, _events(connection, message, after)

        return self.database.read(work)


def _events(connection: sa.Connection, message: str, after: int) -> list[tuple[int, str, Any]]:
    query = sa.select(events.c.data).where(events.c.message_id == message, events.c.number > after)
    found: list[tuple[int, str, Any]] = []
    for data in connection.execute(query.order_by(events.c.number)).scalars():
        found += [(number, kind, told) for number, kind, told in orjson.loads(unpacked(data)) if number > after]
    return found


def ended(outcome: Outcome) -> dict[str, Any]:
    """The columns of an answer that is not pending any more."""
    return {
        "status": outcome.status, "content": storable(outcome.content), "answer": outcome.answer,
        "state": outcome.state, "error": json.dumps(dict(outcome.error)) if outcome.error else None,
        "lease_owner": None, "lease_until": None, "updated": clock(),
    }  # fmt: skip
