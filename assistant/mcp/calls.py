"""What a tool call may reach besides its arguments: the logs read so far, the folders, the client's ear.

Handles let a client ask again about a log without sending or reading it again. They are kept per caller, in a bounded
store of this process: one that is gone, or of another replica, is an error that says to send the log again.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.service import Material

#: Cells of the logs that are kept for follow-ups, and logs. A cell takes about 30 bytes.
MOST_CELLS = 8_000_000
MOST_LOGS = 32


class Stopped(Exception):
    """The client cancelled the call; nobody waits for its result."""


@dataclass(frozen=True)
class Held:
    """A log that was read: its handle, what it goes by, and what it holds."""

    handle: str
    name: str
    material: Material

    @property
    def cells(self) -> int:
        """How many values it holds."""
        return sum(len(column.values) for run in self.material.runs for column in run.columns.values())


class Store:
    """Logs by handle, those of each caller apart; the ones used longest ago go first.

    Args:
        most_cells: values of all logs together; one log is kept however large it is.
        most_logs: logs.
    """

    def __init__(self, most_cells: int = MOST_CELLS, most_logs: int = MOST_LOGS) -> None:
        self._most = (most_cells, most_logs)
        self._secret = secrets.token_bytes(16)
        self._held: OrderedDict[tuple[str, str], Held] = OrderedDict()
        self._sizes: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def handle(self, owner: str, *identity: bytes | str | int) -> str:
        """The handle of a log: the same for the same caller and content, and not to be guessed."""
        digest = hashlib.blake2b(key=self._secret, digest_size=9)
        for part in (owner, *identity):
            data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return "log-" + digest.hexdigest()

    def get(self, owner: str, handle: str) -> Held | None:
        """A caller's log, ``None`` if it is not (or no longer) held."""
        with self._lock:
            held = self._held.get((owner, handle))
            if held is not None:
                self._held.move_to_end((owner, handle))
            return held

    def put(self, owner: str, held: Held) -> None:
        """Keeps a log; others may have to go."""
        with self._lock:
            key = (owner, held.handle)
            self._held[key] = held
            self._held.move_to_end(key)
            self._sizes[key] = held.cells
            while len(self._held) > 1 and (
                sum(self._sizes.values()) > self._most[0] or len(self._held) > self._most[1]
            ):
                gone, _ = self._held.popitem(last=False)
                del self._sizes[gone]

    def of(self, owner: str) -> list[Held]:
        """A caller's logs, the last used first."""
        with self._lock:
            return [held for (who, _), held in reversed(self._held.items()) if who == owner]


@dataclass
class Call:
    """One call of a tool.

    Attributes:
        store: the logs read so far.
        owner: who calls: handles of others are unknown to them.
        roots: folders from which files may be read.
        hint: what to add to an error about a path, zh and en.
        tell: told how far the work is: done, of how much (``None``: unknown), and what is done now; any thread.
        stopped: set when the client no longer wants the result.
    """

    store: Store
    owner: str = ""
    roots: Sequence[Path] = ()
    hint: tuple[str, str] = ("", "")
    tell: Callable[[float, float | None, str], None] = lambda done, total, message: None
    stopped: threading.Event = field(default_factory=threading.Event)

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tells the client, and ends the work if it has gone.

        Raises:
            Stopped: the call was cancelled.
        """
        if self.stopped.is_set():
            raise Stopped
        self.tell(done, total, message)
