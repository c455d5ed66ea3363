"""``trainer_state.json``: the Hugging Face Trainer's own record, with the step of every event.

``log_history`` is a list of flat objects (huggingface/transformers, ``trainer_callback.py``, ``TrainerState``);
``json.dumps`` writes bare ``NaN`` and ``Infinity`` there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from assistant.parsing.dictscan import scan_dict
from assistant.parsing.eventdict import Placed
from assistant.parsing.quickdict import quick_dict
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading
from assistant.parsing.trainerevents import Event, flavour, make_event, name_steps, quick_event
from assistant.parsing.trainerruns import build_runs
from assistant.parsing.uncollected import uncollected

_MARK: Final = '"log_history"'
_FEWEST: Final = 2
"""Events that a part of the list has to hold to be taken for one."""

_OPEN: Final = re.compile(r'"log_history"\s{0,80}+:\s{0,80}+\[')
_NEXT: Final = re.compile(r"[\s,]{0,2000}+(?:(\{)|(\]))")


class TrainerStateJson:
    """Reads the ``log_history`` of a ``trainer_state.json``."""

    name: Final = "trainer-state"
    strength: Final = 64

    def read(self, document: Document) -> Reading:
        """One run; no runs if the text holds no such list."""
        with uncollected():
            return _read(document)


def _read(document: Document) -> Reading:
    lines = document.lines
    first = next((entry for entry, line in enumerate(lines) if _MARK in line or _is_part(line)), None)
    if first is None:
        return Reading()
    own = lines[first:]
    starts = list(accumulate(map(len, own), initial=0))[:-1]
    text = "".join(own)
    opened = _OPEN.search(text)
    begin = opened.end() if opened is not None else text.find("{")
    events: list[Event] = []
    bad: list[int] = []
    while True:  # the files of several trainings may follow each other
        found, odd, end = _events(document, first, text, starts, begin)
        events += found
        bad += odd
        further = _OPEN.search(text, max(end, begin)) if opened is not None else None
        if further is None:
            break
        begin = further.end()
    if sum("step" in event.values for event in events) < (1 if opened is not None else _FEWEST):
        return Reading(not_understood=tuple(bad) if opened is not None else ())
    name_steps(events, "step")
    keys = {key for event in events for key in event.values}
    built = build_runs(events, name=document.name, axis="step", style=("trainer-state", flavour(keys)[1]))
    return Reading(tuple(built.runs), frozenset(built.taken), tuple(sorted({*bad, *built.undated} - built.taken)))


def _is_part(line: str) -> bool:
    """Whether a line holds some of the list's objects, pasted without what stands around them."""
    return '}, {"' in line and '"step": ' in line and '"epoch": ' in line


def _events(
    document: Document, first: int, text: str, starts: list[int], at: int
) -> tuple[list[Event], list[int], int]:
    numbers = document.numbers[first:]
    lines = document.lines
    events: list[Event] = []
    bad: list[int] = []
    while (found := _NEXT.match(text, at)) is not None and found[1] is not None:
        start = found.start(1)
        entry = bisect_right(starts, start) - 1
        quick = quick_dict(text, start)
        if quick is not None and "step" in quick.cells:
            at = quick.end
            last = bisect_right(starts, at - 1, entry) - 1
            where = _own_lines(quick.keys, lines[first + entry : first + last], numbers[entry:last])
            if where is not None:
                if len(quick.keys) > 1 + ("epoch" in quick.keys):
                    event = quick_event(quick, numbers[entry], entry, start - starts[entry])
                    event.last_line = numbers[last]
                    event.span = (event.span[0], (last, at - starts[last]))
                    if last != entry:
                        event.lines = {key: where[key] for key in quick.cells}
                        event.bad = [(key, value, where[key]) for key, value, _ in event.bad]
                    events.append(event)
                continue
        flat = scan_dict(text, start)
        at = max(flat.end, found.end())
        last = bisect_right(starts, max(flat.start, flat.end - 1)) - 1
        keys = {item.key for item in flat.items}
        if flat.state == "nested" or (flat.state == "closed" and "step" not in keys):
            bad.append(numbers[entry])
            if flat.state == "nested":
                break
            continue
        if len(keys - {"step", "epoch"}) >= 1:
            whole = numbers[: last + 1] if flat.state == "open" else numbers
            stop = flat.end - starts[last]
            raw = text[start : flat.end]
            events.append(make_event(Placed(flat, entry, start - starts[entry], last, stop, starts, whole, raw, "")))
        if flat.state != "closed":
            break
    return events, bad, at


def _own_lines(keys: tuple[str, ...], lines: Sequence[str], numbers: Sequence[int]) -> dict[str, int] | None:
    """The line of each key, if all stand on one line or each on a line of its own.

    Args:
        keys: of an object, in order.
        lines: the object's lines but the last.
        numbers: their original numbers.
    """
    if not lines:
        return {}
    if len(lines) != len(keys) + 1:
        return None
    if [line.split('"', 2)[1:2] for line in lines[1:]] != [[key] for key in keys]:
        return None
    return dict(zip(keys, numbers[1:], strict=True))
