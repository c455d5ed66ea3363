"""How the records of a log end: whether all that are as long as the longest were cut there.

A record's text is needed to judge its last cell. Of records that are read quickly it is kept only for the last one
and for the longest, as far as these may matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.parsing.kept import KeptRow, loosen
from assistant.parsing.segments import SEPARATOR, read_tail
from assistant.parsing.verl import SHORTEST_LIMIT, learn_limit
from assistant.parsing.verlscan import Scan

_MOST_TIES: Final = 500
"""Longest records whose text is kept until it is known that the log is not cut at their length."""


class NeedsCare(Exception):
    """The text has a peculiarity that only the careful way, over all of it, can judge."""


class Ends:
    """Keeps the text of the records whose ends may have to be judged.

    Args:
        scan: where the rows are, and where their ends go.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._longest = 0
        self._ties: list[tuple[int, bytes]] = []
        self._cut = False
        self._last: tuple[int, bytes] = (-1, b"")

    def are_cut_at(self, size: int) -> bool:
        """Whether records of this length, the greatest so far, were cut."""
        return self._cut and size == self._longest

    def add(self, size: int, index: int, line: bytes) -> None:
        """Takes a record that was read quickly.

        Args:
            size: its length from ``step:`` on.
            index: of its row.
            line: its text from ``step:`` on.
        """
        self._last = (index, line)
        if size < self._longest:
            return
        self._begin(size)
        if size >= SHORTEST_LIMIT and len(self._ties) <= _MOST_TIES:
            self._ties.append(self._last)

    def add_all(self, sizes: Sequence[int], first: int, lines: Sequence[bytes]) -> None:
        """Takes records that were read quickly; see :meth:`add`.

        Args:
            sizes: their lengths.
            first: index of the first one's row; the others follow.
            lines: their texts.
        """
        if not sizes:
            return
        if max(sizes) < self._longest:
            self._last = (first + len(sizes) - 1, lines[-1])
            return
        for index, (size, line) in enumerate(zip(sizes, lines, strict=True), first):
            self.add(size, index, line)

    def add_careful(self, index: int) -> None:
        """Takes a record whose end is known; if it was cut, the others of its length, the greatest, are kept too.

        Raises:
            NeedsCare: there are too many of them.
        """
        size = self._scan.sizes[0][index]
        if size < self._longest:
            return
        self._begin(size)
        if size < SHORTEST_LIMIT or self._scan.ends[index][0].state in {"complete", "not_a_number"}:
            return
        self._cut = True
        if len(self._ties) > _MOST_TIES:
            raise NeedsCare
        for known in self._ties:
            self._keep(*known)
        self._ties = []

    def settle(self) -> None:
        """Brings what is known of the ends into the scan.

        Raises:
            NeedsCare: a record was cut together with its prefix, and its text is not at hand.
        """
        scan = self._scan
        rows = scan.rows
        if rows and isinstance(rows[-1], KeptRow):
            self._keep(*self._last)
        limit = learn_limit(scan)
        if limit is not None and any(
            full == limit and isinstance(row, KeptRow) for row, full in zip(rows, scan.sizes[1], strict=True)
        ):
            raise NeedsCare

    def _begin(self, size: int) -> None:
        if size > self._longest:
            self._longest, self._ties, self._cut = size, [], False

    def _keep(self, index: int, line: bytes) -> None:
        loosen(self._scan.rows, index)
        text = line.decode()
        cut = text.rfind(SEPARATOR) + len(SEPARATOR)
        self._scan.ends[index] = (read_tail(text[cut:], cut), text)
