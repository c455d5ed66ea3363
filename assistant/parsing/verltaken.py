"""Whole verl records that stand on one line each, as they are taken from the bytes of a log."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from assistant.parsing import cuts
from assistant.parsing.kept import Shape
from assistant.parsing.verlblocks import Group
from assistant.parsing.verlends import Ends
from assistant.parsing.verlline import LONGEST_TAIL, Cells
from assistant.parsing.verlscan import Scan


class Taken:
    """Brings records into a scan.

    Args:
        scan: where their rows go.

    Attributes:
        lines: numbers of their lines.
        shapes: where their values are, by keys.
        ends: how they end.
    """

    def __init__(self, scan: Scan) -> None:
        self.lines = array("q")
        self.shapes: dict[tuple[str, ...], Shape] = {}
        self.ends = Ends(scan)
        self._scan = scan

    def are_whole(self, lines: Sequence[bytes], width: int) -> bool:
        """Whether no line may be cut, by its length.

        Args:
            lines: from ``step:`` on.
            width: visible length of what stands before.
        """
        for line in lines:
            size = len(line)
            if self.ends.are_cut_at(size):
                return False
            if size == cuts.KNOWN_LIMIT or size + width == cuts.KNOWN_LIMIT:
                return False
            if size - line.rfind(b" - ") > LONGEST_TAIL:
                return False
        return True

    def add_line(self, step: int, cells: Cells, text: bytes, number: int, *, tag: str | None, full: int) -> bool:
        """Takes a record.

        Args:
            step: its step.
            cells: its metrics and their values.
            text: from ``step:`` on.
            number: of its line.
            tag: the process that printed it.
            full: visible length of the line.

        Returns:
            Whether it repeats an earlier one.
        """
        keys, values, types = cells
        scan = self._scan
        self.lines.append(number)
        shape = self._shape(keys, types)
        if not scan.seen.is_new(step, hash(text)):
            scan.duplicates.add(step, number, tag, shape, -1)
            return True
        index = len(scan.rows)
        scan.rows.add(step, number, tag, shape, shape.add(values, types))
        scan.sizes[0].append(len(text))
        scan.sizes[1].append(full)
        self.ends.add(len(text), index, text)
        return False

    def add_block(
        self, groups: Sequence[Group], lines: Sequence[bytes], number: int, tag: str | None, width: int
    ) -> bool:
        """Takes the records of consecutive lines.

        Args:
            groups: their cells.
            lines: from ``step:`` on.
            number: of the first line.
            tag: the process that printed them.
            width: visible length of what stands before them.

        Returns:
            Whether the last one repeats an earlier one.
        """
        scan, at = self._scan, 0
        rows, taken = scan.rows, list[bytes]()
        copied = False
        self.lines.extend(range(number, number + len(lines)))
        for group in groups:
            shape = self._shape(group.keys, group.types)
            steps: Sequence[int] = group.steps
            numbers: Sequence[int] = range(number + at, number + at + len(steps))
            members = lines[at : at + len(steps)]
            at += len(steps)
            packed = group.packed
            gone = self._repeated(steps, members)
            copied = len(steps) - 1 in gone
            if gone:
                for i in sorted(gone):
                    scan.duplicates.add(steps[i], numbers[i], tag, shape, -1)
                packed = group.without(gone)
                kept = [index for index in range(len(steps)) if index not in gone]
                steps, numbers = [steps[i] for i in kept], [numbers[i] for i in kept]
                members = [members[i] for i in kept]
            place = shape.extend(packed, group.types)
            rows.add_all(steps, numbers, tag, shape, place)
            taken += members
        sizes = array("l", map(len, taken))
        scan.sizes[0].extend(sizes)
        scan.sizes[1].extend(array("l", [size + width for size in sizes]) if width else sizes)
        self.ends.add_all(sizes, len(rows) - len(taken), taken)
        return copied

    def _shape(self, keys: tuple[str, ...], types: tuple[type, ...]) -> Shape:
        shape = self.shapes.get(keys)
        if shape is None:
            shape = self.shapes[keys] = Shape(keys, types)
        return shape

    def _repeated(self, steps: Sequence[int], lines: Sequence[bytes]) -> set[int]:
        """Which of some records repeat one that came before, by index."""
        seen = self._scan.seen
        if seen.take_rising(steps, map(hash, lines)):
            return set()
        marked = enumerate(zip(steps, map(hash, lines), strict=True))
        return {index for index, (step, mark) in marked if not seen.is_new(step, mark)}
