"""One pass over a document's lines that collects verl's records, dicts and side facts."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import ge
from typing import Any, Final

from assistant.model.run import Missing, Number
from assistant.parsing.kept import Rows
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.segments import (
    HEAD_ENDS,
    SEPARATOR,
    Header,
    Tail,
    find_header,
    find_split_front,
    find_split_header,
    find_spoken,
    read_cells,
    read_segment,
    read_tail,
    split_records,
)
from assistant.parsing.table import Row
from assistant.parsing.verldict import MARK, ValidationDict, read_validation_dict
from assistant.parsing.verlfront import SAMPLE_MARKS, without_colours
from assistant.parsing.wrap import Joined, join_record

_EXTRA: Final = re.compile(r"len reward_extra_infos_dict\['(\w+)'\]:\s*([0-9]{1,12})\s*$")
EXTRA_MARK: Final = "reward_extra_infos_dict["
_LONGEST_SAMPLE: Final = 4000
_REPEATED: Final = re.compile(r"\s*\[repeated [0-9]+x across cluster\].*$")


class Seen:
    """Tells exact copies of earlier records; while steps only rise there is none, and little is kept."""

    def __init__(self, marks: MutableSequence[Any]) -> None:
        self._marks = marks
        self._known: set[str | int] | None = None
        self._highest = -1

    def is_new(self, step: int, mark: str | int) -> bool:
        """Whether no record with this mark came before; from now on one has.

        Args:
            step: the record's step, which its text holds.
            mark: the record's text, or a number that stands for it.
        """
        if self._known is None:
            if step > self._highest:
                self._highest = step
                self._marks.append(mark)
                return True
            self._known = set(self._marks)
        if mark in self._known:
            return False
        self._known.add(mark)
        return True

    def take_rising(self, steps: Sequence[int], marks: Iterable[Any]) -> bool:
        """Takes records whose steps rise, above all that came before; otherwise none of them.

        Args:
            steps: of the records.
            marks: as :meth:`is_new` takes them; looked at only if the records are taken.
        """
        if self._known is not None or steps[0] <= self._highest or any(map(ge, steps, islice(steps, 1, None))):
            return False
        self._highest = steps[-1]
        self._marks.extend(marks)
        return True


@dataclass(slots=True)
class Scan:
    """What one pass over the lines collects.

    Attributes:
        rows: one a record, in order; exact copies of earlier records are in ``duplicates``.
        sizes: of each row: the lengths of its text from ``step:`` on, without and with the launcher's prefix.
        ends: last segment and text of rows, by index; whole rows that are not the last may lack them.
        rest: the lines after the last row's (the first few hundred of them).
        dicts: validation dicts, with the number of rows before them.
        samples: ``reward_extra_infos_dict`` key → (number of validation samples, line) of each validation.
        taken: original line numbers used.
        bad: lines that start a record and hold no cell.
        seen: tells records that repeat an earlier one.
    """

    rows: Rows = field(default_factory=Rows)
    sizes: tuple[array[int], array[int]] = field(default_factory=lambda: (array("l"), array("l")))
    ends: dict[int, tuple[Tail, str]] = field(default_factory=dict)
    rest: Sequence[str] = ()
    dicts: list[tuple[int, ValidationDict]] = field(default_factory=list)
    samples: dict[str, list[tuple[Number, int]]] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    bad: list[int] = field(default_factory=list)
    duplicates: Rows = field(default_factory=Rows)
    seen: Seen = field(default_factory=lambda: Seen([]))


def find_marks(lines: Sequence[str]) -> tuple[dict[int, Header], list[int]]:
    """The lines that start a record, and the indexes of those that may hold a side fact."""
    starts: dict[int, Header] = {}
    others: list[int] = []
    for index, line in enumerate(lines):
        if "step:" in line:
            header = find_header(line) or _broken_header(lines, index)
            if header is not None:
                starts[index] = header
        elif MARK in line or EXTRA_MARK in line:
            others.append(index)
        elif index and line.startswith(HEAD_ENDS):
            header = find_split_header(lines[index - 1], line)
            if header is not None:
                starts[index - 1] = header
    return starts, others


def _broken_header(lines: Sequence[str], index: int) -> Header | None:
    """A record start that a terminal broke at ``step:`` or before it."""
    if index + 1 < len(lines):
        header = find_split_header(lines[index], lines[index + 1])
        if header is not None:
            return header
    return find_split_front(lines[index - 1], lines[index]) if index else None


def _in_samples(lines: Sequence[str], starts: Mapping[int, Header]) -> list[int]:
    """Records inside a model's answer: between ``[prompt]`` or ``[response]`` and ``[ground_truth]`` of one process."""
    if not starts:
        return []
    opened: dict[str | None, int] = {}
    inside: list[int] = []
    order = sorted(starts)
    for index, line in enumerate(lines):
        if "[" not in line or not any(mark in line for mark in SAMPLE_MARKS):
            continue
        tag, body = strip_ray(line)
        if body.startswith(SAMPLE_MARKS[:2]):
            opened.setdefault(tag, index)
        elif body.startswith(SAMPLE_MARKS[2]) and tag in opened:
            first = opened.pop(tag)
            if index - first <= _LONGEST_SAMPLE:
                between = order[bisect_right(order, first) : bisect_right(order, index)]
                inside.extend(at for at in between if starts[at].tag == tag)
    return inside


def scan_document(document: Document) -> Scan:
    """Collects all records of a document; what their last segments are worth is decided later."""
    lines = document.lines
    scan = Scan()
    starts, others = find_marks(lines)
    for index in _in_samples(lines, starts):
        del starts[index]
    widest = max((len(lines[index]) for index in starts), default=0)
    end = last = 0
    for index in sorted([*starts, *others]):
        if index < end:
            continue
        if index in starts:
            known = len(scan.rows)
            end = take_record(scan, document, starts[index], join_record(lines, index, starts, widest))
            last = end if len(scan.rows) > known else last
        else:
            end = take_other(scan, document, index)
    scan.rest = lines[last:]
    return scan


def take_record(scan: Scan, document: Document, header: Header, joined: Joined, *, hashed: bool = False) -> int:
    """Adds one record to a scan, or several that stand on one line; returns the index after it.

    Args:
        scan: what was collected so far.
        document: the lines.
        header: the record's start.
        joined: the record's text.
        hashed: remember a number for the text instead of the text.
    """
    parts = split_records(joined.text)
    if len(parts) == 1:
        _take_one(scan, document, header, joined, hashed=hashed)
    else:
        for begin, stop, tag in parts:
            part = joined.part(begin, stop)
            step = int(part.text[len("step:") : part.text.find(SEPARATOR)])
            _take_one(scan, document, Header(step, tag or header.tag, "", 0), part, hashed=hashed)
    return joined.entries[-1] + 1


def _take_one(scan: Scan, document: Document, header: Header, joined: Joined, *, hashed: bool) -> None:
    numbers = document.numbers
    read = _read_row(document, header, joined)
    if read is None:
        scan.bad.append(numbers[joined.entries[0]])
        return
    row, tail, body = read
    scan.taken.update(numbers[entry] for entry in joined.entries)
    mark = hash(body.encode("utf-8", "surrogatepass")) if hashed else body
    if not scan.seen.is_new(row.step, mark):
        scan.duplicates.append(row)
        return
    scan.ends[len(scan.rows)] = (tail, body)
    scan.rows.append(row)
    scan.sizes[0].append(len(body))
    scan.sizes[1].append(joined.full)


def take_other(scan: Scan, document: Document, index: int) -> int:
    """A validation dict or the count of validation samples; returns the index after it."""
    line = document.lines[index]
    if EXTRA_MARK in line:
        found = _EXTRA.search(line)
        if found is not None:
            number = document.numbers[index]
            scan.samples.setdefault(found[1], []).append((int(found[2]), number))
            scan.taken.add(number)
        return index + 1
    printed = read_validation_dict(document.lines, document.numbers, index)
    if printed is None or not printed.cells:
        return index + 1
    scan.dicts.append((len(scan.rows), printed))
    scan.taken.update(document.numbers[at] for at in range(index, printed.end))
    return printed.end


def _read_row(document: Document, header: Header, joined: Joined) -> tuple[Row, Tail, str] | None:
    """One record; its last segment is kept aside until it is known whether the line was cut there."""
    numbers = document.numbers
    body = without_colours(joined.text.rstrip())
    if "[repeated " in body:
        body = _REPEATED.sub("", body)
    if SEPARATOR not in body:
        return None
    line = numbers[joined.entries[0]]
    row = Row(header.step, line, last_line=numbers[joined.entries[-1]], tag=header.tag)
    cells = read_cells(body) if len(joined.entries) == 1 else None
    cut = body.rfind(SEPARATOR)
    tail = read_tail(body[cut + 3 :], cut + 3)
    values = row.values
    if cells is not None and tail.state == "complete":
        cells.pop()
        try:
            for key, text in cells:
                if text.isdigit() or (text[0] in "+-" and text[1:].isdigit()):
                    values[key] = int(text)
                else:
                    values[key] = float(text)
        except ValueError:
            values.clear()
            cells = None
        if len(values) != len(cells or ()):
            values.clear()
            cells = None
    if cells is None or tail.state != "complete":
        spoken, tail = _read_spoken(body, joined, tail)
        _read_slowly(row, body[: cut + 3], joined, document, spoken)
    if not values and (tail.key is None or tail.key == "step" or tail.state == "not_a_number"):
        return None
    if tail.state == "complete" and tail.key is not None and tail.value is not None:
        where = numbers[joined.entry(tail.offset)]
        if tail.key not in values:
            values[tail.key] = tail.value
            if where != line:
                row.lines[tail.key] = where
    elif tail.state == "not_a_number":
        row.bad.append(Missing(tail.key, row.step, row.last_line, "not_a_number", tail.text[:80]))
    return row, tail, body


def _read_spoken(body: str, joined: Joined, tail: Tail) -> tuple[Mapping[int, tuple[str, str, int]], Tail]:
    """The cells of a line whose keys are words, by their place, and the last segment, which may be one of them."""
    if len(joined.entries) > 1 or " " not in body.replace(SEPARATOR, ""):
        return {}, tail
    segments = body.split(SEPARATOR)[1:]
    last = len(segments) - 1
    spoken = find_spoken(segments) or find_spoken(segments[:last])
    if last not in spoken or tail.state != "not_a_number":
        return spoken, tail
    key, number, at = spoken[last]
    return spoken, Tail("complete", key, read_number(number), True, number, body.rfind(SEPARATOR) + 3 + at)


def _read_slowly(
    row: Row, body: str, joined: Joined, document: Document, spoken: Mapping[int, tuple[str, str, int]]
) -> None:
    """All segments but the last, one by one, with the line on which each value begins."""
    offset = body.find(SEPARATOR) + len(SEPARATOR)
    kept = ""
    segments = body[offset:-3].split(SEPARATOR) if len(body) > offset else []
    for index, segment in enumerate(segments):
        cell = read_segment(segment) or spoken.get(index)
        begin = offset
        if cell is None and kept:
            cell = read_segment(kept + SEPARATOR + segment)
            begin = offset - len(kept) - 3
            if cell is not None and "/" not in cell[0]:
                cell = None
        kept = ""
        if cell is not None:
            key, text, at = cell
            value = read_number(text)
            where = document.numbers[joined.entry(begin + at)]
            if value is not None and key not in row.values and key != "step":
                row.values[key] = value
                if where != row.line:
                    row.lines[key] = where
        elif ":" in segment:
            key, _, text = segment.partition(":")
            if "/" in key and " " not in key and len(row.bad) < 200:
                where = document.numbers[joined.entry(offset)]
                row.bad.append(Missing(key, row.step, where, "not_a_number", text[:80]))
        elif len(segment) < 200:
            kept = segment
        offset += len(segment) + 3
