"""Where a growing log comes from: a file that is appended to, rotated or written anew, or a pipe.

:class:`LiveLog` puts together what :class:`~assistant.service.following.GrowingLog` reads of one file after the other.
"""

from __future__ import annotations

import os
import queue
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from assistant.model import Column, Note, Run
from assistant.service.following import LARGE, WHOLE, GrowingLog

#: Most bytes taken at once.
CHUNK: Final = 16 << 20
#: Bytes before the end that must still stand there when a file has grown; else it was written anew.
TAIL: Final = 256


@dataclass(frozen=True, slots=True)
class Change:
    """What a look at the source brought.

    Attributes:
        grew: rows came or changed.
        began_anew: it holds another log than before (the runs so far are gone).
        waiting: there is no file yet, or not at the moment.
        ended: nothing will follow.
        more: there is more to read at once.
    """

    grew: bool = False
    began_anew: bool = False
    waiting: bool = False
    ended: bool = False
    more: bool = False


class LiveLog(Protocol):
    """A log that is looked at again and again."""

    name: str

    @property
    def runs(self) -> tuple[Run, ...]:
        """What was read so far."""
        ...

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the text."""
        ...

    def poll(self) -> Change:
        """Reads what is new."""
        ...

    def finish(self) -> bool:
        """Reads what is left, an unfinished last line too; whether it brought rows."""
        ...

    def close(self) -> None:
        """Lets go of files."""
        ...


class LiveFile:
    """A log file.

    A file that was renamed is read to its end before the new one is begun. The new one's runs go on from the old one's,
    unless it begins at or before their first step: then it stands for itself.

    Args:
        path: it need not be there yet.
        whole: bytes up to which the log is read anew each time.
    """

    def __init__(self, path: Path, *, whole: int = WHOLE) -> None:
        self.path = path
        self.name = path.name
        self._whole = whole
        self._log = self._new_log()
        self._earlier: tuple[Run, ...] = ()
        self._handle: BinaryIO | None = None
        self._seen: tuple[int, int] | None = None
        self._tail = b""
        self._parsed = 0

    @property
    def runs(self) -> tuple[Run, ...]:
        """Of all files so far."""
        return gone_on(self._earlier, self._log.runs) if self._earlier else self._log.runs

    @property
    def notes(self) -> tuple[Note, ...]:
        """Of the file at hand."""
        return self._log.notes

    @property
    def parsed(self) -> int:
        """Bytes that were parsed, over all readings."""
        return self._parsed + self._log.readings

    def poll(self) -> Change:
        """Reads what was appended, or the file that stands in its place now.

        Raises:
            InputError: it holds no text.
            OSError: it cannot be read.
        """
        try:
            now = self.path.stat()
        except FileNotFoundError:
            return Change(grew=self._read()[0], waiting=True)
        if self._handle is None:
            return self._begin()
        if (now.st_dev, now.st_ino) != self._seen:
            self._read(final=True)
            return self._anew()
        if now.st_size < self._log.size or not self._same():
            return self._anew()
        grew, more = self._read()
        return Change(grew=grew, more=more)

    def finish(self) -> bool:
        """Reads what is left."""
        return self._read(final=True)[0]

    def close(self) -> None:
        """Closes the file."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def _new_log(self) -> GrowingLog:
        return GrowingLog(self.name, reread=lambda: self.path, whole=self._whole)

    def _begin(self) -> Change:
        self._handle = self.path.open("rb")
        found = os.fstat(self._handle.fileno())
        self._seen = (found.st_dev, found.st_ino)
        if found.st_size > LARGE:
            self._log.start(self.path)
            self._remember()
            return Change(grew=bool(self._log.runs), more=True)
        grew, more = self._read()
        return Change(grew=grew, more=more)

    def _anew(self) -> Change:
        """Another file, or another text in the same one."""
        before = self.runs
        self.close()
        self._earlier, self._parsed = before, self.parsed
        self._log, self._tail = self._new_log(), b""
        change = self._begin()
        while change.more:
            change = replace(change, more=self._read()[1])
        if not self._log.runs:
            return change
        begins = begins_anew(before, self._log.runs)
        if begins:
            self._earlier = ()
        written_again = begins and last_step(self._log.runs) >= last_step(before)
        return replace(change, grew=True, began_anew=begins and not written_again)

    def _same(self) -> bool:
        """Whether what was read last still stands where it was."""
        if self._handle is None or not self._tail:
            return True
        self._handle.seek(self._log.size - len(self._tail))
        return self._handle.read(len(self._tail)) == self._tail

    def _read(self, *, final: bool = False) -> tuple[bool, bool]:
        """Reads on: whether rows came, and whether there is more."""
        if self._handle is None:
            return False, False
        grew = False
        while True:
            self._handle.seek(self._log.size)
            data = self._handle.read(CHUNK)
            last = len(data) < CHUNK
            if data or final:
                grew = self._log.take(data, final=final and last) or grew
                self._remember()
            if last or not final:
                return grew, not last

    def _remember(self) -> None:
        assert self._handle is not None
        begin = max(0, self._log.size - TAIL)
        self._handle.seek(begin)
        self._tail = self._handle.read(self._log.size - begin)


class LivePipe:
    """A log that comes through a pipe; kept in a temporary file, for formats that must be read from their beginning.

    Args:
        stream: where it comes from.
        name: for display.
        whole: bytes up to which the log is read anew each time.
    """

    def __init__(self, stream: BinaryIO, *, name: str = "stdin", whole: int = WHOLE) -> None:
        self.name = name
        self._spool = tempfile.NamedTemporaryFile(prefix="metric-assistant-")  # noqa: SIM115 - closed in close()
        self._log = GrowingLog(name, reread=self._kept, whole=whole)
        self._parts: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._ended = False
        threading.Thread(target=_pump, args=(stream, self._parts.put), daemon=True).start()

    @property
    def runs(self) -> tuple[Run, ...]:
        """What was read so far."""
        return self._log.runs

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the text."""
        return self._log.notes

    def poll(self) -> Change:
        """Reads what has come."""
        grew = self._read(block=0.0)
        return Change(grew=grew, ended=self._ended)

    def finish(self) -> bool:
        """Takes what has come by now as all."""
        return self._log.take(b"", final=True)

    def read_all(self) -> None:
        """Waits for the end of the pipe."""
        while not self._ended:
            self._read(block=60.0)

    def close(self) -> None:
        """Removes the temporary file."""
        self._spool.close()

    def _kept(self) -> Path:
        self._spool.flush()
        return Path(self._spool.name)

    def _read(self, *, block: float) -> bool:
        parts: list[bytes] = []
        size = 0
        try:
            while size < CHUNK:
                part = self._parts.get(timeout=block) if block and not parts else self._parts.get_nowait()
                if not part:
                    self._ended = True
                    break
                parts.append(part)
                size += len(part)
        except queue.Empty:
            pass
        if not parts:
            return False
        data = b"".join(parts)
        self._spool.write(data)
        return self._log.take(data)


def _pump(stream: BinaryIO, put: Callable[[bytes], None]) -> None:
    """Reads a pipe as it fills; an empty part is its end."""
    read = getattr(stream, "read1", stream.read)
    try:
        while part := read(1 << 20):
            put(part)
    except (OSError, ValueError):  # closed under our feet
        pass
    put(b"")


# -- one file after the other -----------------------------------------------------------------------------------------
def begins_anew(before: tuple[Run, ...], now: tuple[Run, ...]) -> bool:
    """Whether a file that stands in another's place holds a log of its own, not what follows."""
    if not before or not now:
        return True
    one, other = before[-1], now[0]
    if one.format != other.format or one.step_axis != other.step_axis:
        return True
    if one.step_axis == "index":
        return False
    return min(other.steps) <= min(one.steps)


def last_step(runs: tuple[Run, ...]) -> int:
    """The last step of the last run."""
    return runs[-1].steps[-1] if runs and runs[-1].steps else -1


def gone_on(before: tuple[Run, ...], now: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs of two files, of which the second one's first goes on from the first one's last."""
    if not now:
        return before
    if begins_anew(before, now):
        return now
    one, other = before[-1], now[0]
    rows = len(one.steps)
    move = one.steps[-1] + 1 - other.steps[0] if one.step_axis == "index" else 0
    empty = Column((), (), ())
    columns = {}
    for metric in dict.fromkeys((*one.columns, *other.columns)):
        a, b = one.columns.get(metric, empty), other.columns.get(metric, empty)
        columns[metric] = Column(
            [*a.rows, *(row + rows for row in b.rows)], [*a.values, *b.values], [*a.lines, *b.lines]
        )
    joined = replace(
        one, steps=(*one.steps, *(step + move for step in other.steps)),
        row_lines=(*one.row_lines, *other.row_lines), columns=columns,
        missing=(*one.missing, *other.missing), extras={**one.extras, **other.extras},
    )  # fmt: skip
    return tuple(replace(run, id=f"r{at}") for at, run in enumerate((*before[:-1], joined, *now[1:])))
