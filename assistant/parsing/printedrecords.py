"""Dictionaries of metrics that Python prints on one line or many: `metrics = {` and a key a line, `pprint`.

A weak format: it runs only where no log format found anything. A dictionary counts as a whole, and only where it names
well-known results and is no settings and no sample (:func:`assistant.parsing.jsonlog.is_record`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from assistant.parsing.dictscan import ScannedDict, scan_dict
from assistant.parsing.jsonlog import is_record, records_run
from assistant.parsing.jsonscan import Event, Value, is_other, is_sample, quoted_number
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading

_FRONT: Final = re.compile(r"(?:[\w .\[\]():>*#`/,\"'~-]{0,60}[=:>\]\s(])?\s*$")
_SETTINGS: Final = re.compile(r"(?i)config|args|argument|param|setting|option|hyper|request|kwargs|schema")
_OPENING: Final = re.compile(r"\{\s*(?:$|['\"])")
_KEY_LINE: Final = re.compile(r"\s*['\"]")
_MOST_LINES: Final = 600
_MOST_TEXT: Final = 40_000
_MOST_RECORDS: Final = 2000
_MOST_TRIES: Final = 50
_MOST_ENDS: Final = 6
"""Closing braces within one dictionary (of nested ones) at which its end is looked for."""


class PrintedRecords:
    """Reads printed dictionaries of metrics."""

    name: Final = "python-dict"
    strength: Final = 41

    def read(self, document: Document) -> Reading:
        """One run, a row a dictionary; no run where a dictionary does not tell of metrics by itself."""
        events: list[Event] = []
        tries = entry = 0
        while entry < len(document.lines) and len(events) < _MOST_RECORDS and tries < _MOST_TRIES + len(events):
            at = _opening(document.lines, entry)
            if at is None:
                entry += 1
                continue
            tries += 1
            event, entry = _read(document, entry, at)
            if event is not None and not event.texts and is_record(event):
                events.append(event)
        run = records_run(document, events, self.name) if events else None
        if run is None:
            return Reading()
        return Reading((run,), frozenset(line for event in events for line in range(event.line, event.last + 1)))


def _opening(lines: Sequence[str], entry: int) -> int | None:
    """Offset of the brace that opens a dictionary on a line, behind no more than its name."""
    line = lines[entry]
    at = line.find("{", 0, 200)
    if at < 0 or _OPENING.match(line, at) is None:
        return None
    front = strip_ray(line[:at])[1] if "pid=" in line[:120] else line[:at]
    if _FRONT.fullmatch(front) is None or _SETTINGS.search(front):
        return None
    ends = line[at + 1 :].strip() == ""
    return at if not ends or (entry + 1 < len(lines) and _KEY_LINE.match(lines[entry + 1])) else None


def _read(document: Document, entry: int, at: int) -> tuple[Event | None, int]:
    """The dictionary that opens on a line, and the index of the line behind it."""
    pieces, starts, size = [document.lines[entry]], [0], len(document.lines[entry])
    text, scanned = pieces[0], scan_dict(pieces[0], at, deep=True)
    further, ends = entry + 1, 0
    most = min(len(document.lines), entry + _MOST_LINES)
    while scanned.state == "open" and further < most and size < _MOST_TEXT and ends < _MOST_ENDS:
        ends += 1
        while further < most and size < _MOST_TEXT:
            piece = "\n" + document.lines[further]
            starts.append(size)
            pieces.append(piece)
            size += len(piece)
            further += 1
            if "}" in piece:
                break
        text = "".join(pieces)
        scanned = scan_dict(text, at, deep=True)
    if scanned.state != "closed" or not scanned.items:
        return None, entry + 1
    numbers = document.numbers[entry : entry + len(pieces)]
    event = _event(scanned, [numbers[bisect_right(starts, item.at) - 1] for item in scanned.items])
    last = bisect_right(starts, scanned.end - 1) - 1
    event.line, event.last = numbers[0], numbers[last]
    return event, entry + last + 1


def _event(scanned: ScannedDict, lines: Sequence[int]) -> Event:
    event = Event(lines[0])
    for item, line in zip(scanned.items, lines, strict=True):
        number = read_number(item.text) if item.kind == "number" else None
        if item.kind == "text":
            number = quoted_number(item.key, item.text)
        if number is not None or item.kind in {"number", "none"}:
            event.cells.setdefault(item.key, Value(number, line))
        else:
            event.texts = event.texts or is_sample(item.key, item.text)
            event.others += is_other(item.key)
    return event
