"""Replies and streams of the last minutes, for a client that asks again: a retry, or a stream taken up where it broke.

In memory, bounded by bytes and age: a replica knows only its own. Conversations, whose messages must survive more than
that, keep theirs in the database.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from assistant.api.problems import ApiError
from assistant.api.streaming import Item

LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished reply."""

    status: int
    body: bytes
    media_type: str


class Entry:
    """One reply or stream in the making, or finished; the work runs as a task of its own.

    Args:
        name: its id.
        owner: the caller's name: nobody else sees it.
        fingerprint: of what was asked.
        linger: seconds for which the work goes on when nobody waits for it.
    """

    def __init__(self, name: str, owner: str, fingerprint: bytes, linger: float) -> None:
        self.name, self.owner, self.fingerprint, self.linger = name, owner, fingerprint, linger
        self.shared = ""
        self.items: list[Item] = []
        self.reply: Reply | None = None
        self.error: BaseException | None = None
        self.done = False
        self.size = 0
        self.touched = time.monotonic()
        self.listeners = 0
        self.task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, item: Item) -> None:
        """Another event."""
        name, data, _ = item
        self.items.append((name, data, f"{self.name}-{len(self.items) + 1}"))
        self.size += len(data) + 64
        self._wake()

    def finish(self, reply: Reply | None = None, error: BaseException | None = None) -> None:
        """The end of the work."""
        self.reply, self.error, self.done = reply, error, True
        self.size += len(reply.body) if reply else 0
        self.touched = time.monotonic()
        self._wake()

    def ended(self, _: object) -> None:
        """The task is over; one that was cancelled before its first step has said nothing."""
        if not self.done:
            self.finish(error=_cancelled())

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def join(self) -> None:
        """Somebody waits."""
        self.listeners += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def leave(self) -> None:
        """Somebody does not wait any more; when it was the last one, the work ends soon."""
        self.listeners -= 1
        if self.listeners == 0 and not self.done:
            if self.linger > 0:
                self._timer = asyncio.get_running_loop().call_later(self.linger, self.cancel)
            else:
                self.cancel()

    def cancel(self) -> None:
        """Ends the work."""
        if self.task is not None and not self.done:
            self.task.cancel()

    async def follow(self, after: int = 0) -> AsyncGenerator[Item]:
        """The events from a place on, as they come; raises what the work raised."""
        self.join()
        try:
            place = after
            while True:
                changed = self._changed
                while place < len(self.items):
                    yield self.items[place]
                    place += 1
                if self.done:
                    break
                await changed.wait()
        finally:
            self.leave()
        if self.error is not None:
            raise self.error

    async def result(self) -> Reply:
        """The reply when it is there; raises what the work raised."""
        self.join()
        try:
            while not self.done:
                await self._changed.wait()
        finally:
            self.leave()
        if self.error is not None:
            raise self.error
        assert self.reply is not None
        return self.reply


class Kept:
    """The replies and streams of one application.

    Args:
        most_bytes: memory for those that are finished.
        seconds: how long they are kept.
    """

    def __init__(self, most_bytes: int, seconds: float) -> None:
        self.most_bytes, self.seconds = most_bytes, seconds
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._names: dict[str, str] = {}
        self._asked: dict[str, dict[str, Entry]] = {}  # owner, route and key → place → entry

    def find(self, name: str, owner: str) -> Entry | None:
        """A stream by its id or ``Idempotency-Key``, if it is the caller's."""
        self._tidy()
        for entry in reversed(self._entries.values()):
            if entry.owner == owner and name in {entry.name, self._names.get(entry.name)}:
                return entry
        return None

    def begin(
        self, place: str, entry: Entry, work: Callable[[Entry], Coroutine[Any, Any, Reply | None]], *, key: str = "",
        shared: str = "",
    ) -> Entry:  # fmt: skip
        """The entry that a place has; the given one, and its work begun, where it has none.

        Args:
            place: what a repeat of this request would have too.
            entry: for the reply.
            work: makes it.
            key: the caller's name for it.
            shared: what places have in common that may only be taken by one request, in whatever form it is answered.

        Raises:
            ApiError: 422, another request was made under the same place or with what it shares.
        """
        self._tidy()
        found = self._entries.get(place)
        beside = self._asked.get(shared, {}) if shared else {}
        for other in (*([found] if found is not None else []), *beside.values()):
            if other.fingerprint != entry.fingerprint:
                raise ApiError(
                    422, "idempotency_mismatch",
                    "这个 Idempotency-Key 已用于另一个请求：请换一个。",
                    "This Idempotency-Key was used for another request: take a new one.",
                )  # fmt: skip
        if found is not None:
            if not (found.done and found.error is not None):
                return found
            self._drop(place)
        self._entries[place] = entry
        if key:
            self._names[entry.name] = key
        if shared:
            entry.shared = shared
            self._asked.setdefault(shared, {})[place] = entry
        entry.task = asyncio.get_running_loop().create_task(self._run(place, entry, work))
        entry.task.add_done_callback(entry.ended)
        return entry

    async def _run(self, place: str, entry: Entry, work: Callable[[Entry], Coroutine[Any, Any, Reply | None]]) -> None:
        try:
            entry.finish(await work(entry))
        except asyncio.CancelledError:
            entry.finish(error=_cancelled())
        except Exception as error:
            entry.finish(error=error)
        if entry.error is not None and not entry.items and self._entries.get(place) is entry:
            self._drop(place)  # what failed before it began may be tried again

    def _drop(self, place: str) -> None:
        entry = self._entries.pop(place, None)
        if entry is None:
            return
        self._names.pop(entry.name, None)
        beside = self._asked.get(entry.shared, {})
        beside.pop(place, None)
        if not beside:
            self._asked.pop(entry.shared, None)

    def _tidy(self) -> None:
        """Lets go what is too old or too much; never what is under way."""
        now = time.monotonic()
        finished = [(place, entry) for place, entry in self._entries.items() if entry.done]
        held = sum(entry.size for _, entry in finished)
        for place, entry in finished:
            if now - entry.touched > self.seconds or held > self.most_bytes:
                held -= entry.size
                self._drop(place)

    async def close(self) -> None:
        """Ends all work."""
        tasks = [entry.task for entry in self._entries.values() if entry.task is not None and not entry.done]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _cancelled() -> ApiError:
    return ApiError(499, "cancelled", "回答已中止：没有人在接收。", "The answer was stopped: nobody was listening.")


def place_of(event_id: str) -> tuple[str, int]:
    """Stream and number of a ``Last-Event-ID``; an empty name where it is none of ours."""
    name, _, number = event_id.strip().rpartition("-")
    return (name, int(number)) if name and number.isdecimal() and len(number) < 10 else ("", 0)
