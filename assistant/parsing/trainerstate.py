"""``trainer_state.json``: the Hugging Face Trainer's own record, with the step of every event.

``log_history`` is a list of flat objects (huggingface/transformers, ``trainer_callback.py``, ``TrainerState``);
``json.dumps`` writes bare ``NaN`` and ``Infinity`` there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from assistant.parsing.eventdict import Placed, scan_dict
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading
from assistant.parsing.trainerevents import Event, flavour, make_event
from assistant.parsing.trainerruns import build_runs

_MARK: Final = '"log_history"'
_OPEN: Final = re.compile(r'"log_history"\s{0,80}+:\s{0,80}+\[')
_NEXT: Final = re.compile(r"[\s,]{0,2000}+(?:(\{)|(\]))")


class TrainerStateJson:
    """Reads the ``log_history`` of a ``trainer_state.json``."""

    name: Final = "trainer-state"
    strength: Final = 64

    def read(self, document: Document) -> Reading:
        """One run; no runs if the text holds no such list."""
        lines = document.lines
        first = next((entry for entry, line in enumerate(lines) if _MARK in line), None)
        if first is None:
            return Reading()
        starts, size = [], 0
        for line in lines[first:]:
            starts.append(size)
            size += len(line)
        text = "".join(lines[first:])
        opened = _OPEN.search(text)
        if opened is None:
            return Reading()
        events, bad = _events(document, first, text, starts, opened.end())
        if not events:
            return Reading(not_understood=tuple(bad))
        keys = {key for event in events for key in event.values}
        built = build_runs(events, name=document.name, axis="step", style=("trainer-state", flavour(keys)[1]))
        return Reading(tuple(built.runs), frozenset(built.taken), tuple(sorted({*bad, *built.undated} - built.taken)))


def _events(document: Document, first: int, text: str, starts: list[int], at: int) -> tuple[list[Event], list[int]]:
    numbers = document.numbers[first:]
    events: list[Event] = []
    bad: list[int] = []
    while (found := _NEXT.match(text, at)) is not None and found[1] is not None:
        flat = scan_dict(text, found.start(1))
        at = max(flat.end, found.end())
        entry = bisect_right(starts, flat.start) - 1
        last = bisect_right(starts, max(flat.start, flat.end - 1)) - 1
        keys = {item.key for item in flat.items}
        if flat.state == "nested" or (flat.state == "closed" and "step" not in keys):
            bad.append(numbers[entry])
            if flat.state == "nested":
                break
            continue
        if len(keys - {"step", "epoch"}) >= 1:
            whole = numbers[: last + 1] if flat.state == "open" else numbers
            placed = Placed(flat, entry, flat.start - starts[entry], last, flat.end - starts[last], starts, whole, "")
            events.append(make_event(placed, axis="step"))
        if flat.state != "closed":
            break
    if not any(event.step is not None for event in events):
        return [], bad
    return events, bad
