"""Progress bars as ``tqdm`` draws them, and the steps they give to log events that name none.

The Hugging Face Trainer prints a dictionary through ``tqdm.write``, which redraws the bar after it
(huggingface/transformers, ``trainer_callback.py``, ``ProgressCallback``): the bar before tells the step, and where
steps are faster than the bar is drawn, the bar right after does.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from assistant.parsing.repair import Document

_BAR: Final = re.compile(r"[0-9]{1,3}%\|[^|\n]{0,300}+\| ?([0-9]{1,12})/([0-9]{1,12}) \[")
_PLAIN: Final = re.compile(r" {0,3}([0-9]{1,3}%\|[^|\n]{0,300}+\| ?([0-9]{1,12})/([0-9]{1,12}) \[)")
_NAMED: Final = re.compile(r"(?i)(?:train(?:ing)?|steps?)?:?\s*$")
_MOST_TOTALS: Final = 8
_ROUNDING: Final = 0.011
"""How far an epoch printed with two decimals may be off."""
_CLEAR: Final = 0.25
"""Share of a step that an epoch must be able to tell."""

Place = tuple[int, int]
"""Index of an entry of the document, and an offset on it."""


class Bar(NamedTuple):
    """One drawing of a bar: where, ``done`` of ``total``, and whether it was then wiped out with blanks."""

    place: Place
    done: int
    total: int
    wiped: bool


@dataclass(frozen=True, slots=True)
class Dating:
    """Steps of events, taken from the bars with one total.

    Attributes:
        steps: one for each event.
        total: the bars' total.
        places: where those bars stand.
        done: what they show.
        single: whether they can be one bar: an evaluation as long as the training draws a second one.
        buffered: whether the events came in bursts, so that the steps are those at which a bar was drawn twice.
        rate: epochs a step, where the events print epochs.
    """

    steps: tuple[int, ...]
    total: int
    places: tuple[Place, ...]
    done: tuple[int, ...]
    single: bool
    buffered: bool = False
    rate: float | None = None

    def at(self, place: Place, epoch: float | None = None) -> int:
        """What the latest bar before a place shows, or else the first one after it.

        Where steps are faster than the bar is drawn, the first one after it may be nearer to the epoch printed there;
        it counts if a step is long enough for an epoch of two decimals to tell.
        """
        index = bisect_left(self.places, place)
        before = self.done[index - 1 if index else 0]
        if epoch is None or self.rate is None or self.rate * _CLEAR < _ROUNDING or not 0 < index < len(self.done):
            return before
        after, wanted = self.done[index], epoch / self.rate
        return after if abs(after - wanted) < abs(before - wanted) else before


def find_bars(document: Document) -> list[Bar]:
    """All bars without a name, or named after training: ``33%|███▎ | 618/1875 [``."""
    bars: list[Bar] = []
    lines = document.lines
    last = len(lines) - 1
    for entry, line in enumerate(lines):
        if "%|" not in line:
            continue
        wiped = entry < last and lines[entry + 1].isspace()
        plain = _PLAIN.match(line)
        if plain is not None:
            bars.append(Bar((entry, plain.start(1)), int(plain[2]), int(plain[3]), wiped))
            if line.find("%|", plain.end()) < 0:
                continue
        for found in _BAR.finditer(line, 0 if plain is None else plain.end()):
            front = line[max(0, found.start() - 24) : found.start()].rstrip(" ")
            cut = max(front.rfind("]"), front.rfind("}"), front.rfind(")"))
            if _NAMED.fullmatch(front[cut + 1 :].strip()):
                bars.append(Bar((entry, found.start()), int(found[1]), int(found[2]), wiped))
    return bars


def date_events(
    bars: Sequence[Bar], spans: Sequence[tuple[Place, Place]], epochs: Sequence[float | None]
) -> Dating | None:
    """The step of each training event, if the bars tell it without contradiction.

    Bars with one total must date every event, with steps that rise from event to event and are in proportion to
    the epochs. Where output was buffered, several dictionaries stand behind one bar; but the bar was drawn twice
    where each of them was logged, so those steps are theirs in order, if they are in proportion to the epochs.
    Where the epoch goes back the training was taken up again, and so may the steps go back; where no total dates all
    events, another training may have begun there, with a total of its own.

    Args:
        bars: in order of appearance.
        spans: where each event begins and ends, in order.
        epochs: the epoch each event prints.
    """
    whole = _of_one_total(bars, spans, epochs)
    if whole is not None or not bars:
        return whole
    at = [
        n for n, (one, other) in enumerate(pairwise(epochs), 1) if one is not None and other is not None and other < one
    ]
    places = [bar.place for bar in bars]
    parts: list[Dating] = []
    for begin, end in pairwise([0, *at, len(spans)]):
        first = bisect_left(places, spans[begin - 1][1]) if begin else 0
        behind = bisect_left(places, spans[end][0]) if end < len(spans) else None
        part = _of_one_total(bars[first:behind], spans[begin:end], epochs[begin:end]) if at else None
        if part is None:
            return None
        parts.append(part)
    return _joined(parts)


def _joined(parts: Sequence[Dating]) -> Dating:
    """The datings of trainings that follow each other as one."""
    first = parts[0]
    return Dating(
        tuple(step for part in parts for step in part.steps),
        first.total,
        tuple(place for part in parts for place in part.places),
        tuple(done for part in parts for done in part.done),
        False,
        any(part.buffered for part in parts),
        None,
    )


def _of_one_total(
    bars: Sequence[Bar], spans: Sequence[tuple[Place, Place]], epochs: Sequence[float | None]
) -> Dating | None:
    """As :func:`date_events`, where all events are dated by the bars with one total."""
    if not bars or not spans:
        return None
    found: list[Dating] = []
    for total, _ in Counter(bar.total for bar in bars).most_common(_MOST_TOTALS):
        own = [bar for bar in bars if bar.total == total]
        places = [bar.place for bar in own]
        steps = _stretches(own, places, total, spans, epochs)
        buffered = steps is None
        if buffered and sum(epoch is not None for epoch in epochs) > 2:
            steps = _redrawn(own, places, spans)
        if steps is not None and _in_proportion(steps, epochs, 0.0 if buffered else 0.02):
            done = tuple(bar.done for bar in own)
            single = all(one <= other for one, other in pairwise(done))
            rates = [epoch / step for step, epoch in zip(steps, epochs, strict=True) if epoch]
            rate = rates[-1] if rates else None
            found.append(Dating(steps, total, tuple(places), done, single, buffered, rate))
    if not found or (len(spans) == 1 and len(found) > 1):
        return None
    return found[0]


def _stretches(
    own: Sequence[Bar],
    places: Sequence[Place],
    total: int,
    spans: Sequence[tuple[Place, Place]],
    epochs: Sequence[float | None],
) -> tuple[int, ...] | None:
    """The steps of each stretch between restarts; ``None`` if one of them has none."""
    steps: list[int] = []
    begin = 0
    for at, (one, other) in enumerate(pairwise([*epochs, -1.0]), start=1):
        if at == len(epochs) or (one is not None and other is not None and other < one):
            part = _steps(own, places, total, spans[begin:at])
            if part is None:
                return None
            steps.extend(part)
            begin = at
    return tuple(steps)


def _steps(
    own: Sequence[Bar], places: Sequence[Place], total: int, spans: Sequence[tuple[Place, Place]]
) -> tuple[int, ...] | None:
    before: list[int | None] = []
    after: list[int | None] = []
    for index, (start, end) in enumerate(spans):
        at = bisect_left(places, start)
        before.append(own[at - 1].done if at else None)
        at = bisect_left(places, end)
        follows = spans[index + 1][0] if index + 1 < len(spans) else None
        near = at < len(own) and own[at].place[0] - end[0] <= 3 and (follows is None or places[at] < follows)
        after.append(own[at].done if near else None)
    known = [(one, other) for one, other in zip(before[1:], after[1:], strict=True) if other is not None]
    if before and before[0] is None and known and all(one == other for one, other in known):
        before[0] = after[0]
    plain, redrawn = _rising(before, total), _rising(after, total)
    if plain is None or redrawn is None:
        return plain or redrawn
    return redrawn if _is_regular(redrawn) and not _is_regular(plain) else plain


def _redrawn(
    own: Sequence[Bar], places: Sequence[Place], spans: Sequence[tuple[Place, Place]]
) -> tuple[int, ...] | None:
    """The steps at which a bar was wiped out and drawn again, each with its dictionary not before it."""
    twice = [other for one, other in pairwise(own) if one.done == other.done and one.wiped]
    steps: list[int] = []
    for bar in twice:
        if not steps or bar.done > steps[-1]:
            steps.append(bar.done)
    steps = steps[: len(spans)]
    if len(steps) < len(spans) or not _is_regular(steps[1:] if steps[0] == 1 else steps):
        return None
    for step, (start, _) in zip(steps, spans, strict=True):
        at = bisect_left(places, start)
        if at == 0 or own[at - 1].done < step:
            return None
    return tuple(steps)


def _rising(steps: Sequence[int | None], total: int) -> tuple[int, ...] | None:
    known = tuple(step for step in steps if step is not None and 1 <= step <= total)
    if len(known) != len(steps) or any(one >= other for one, other in pairwise(known)):
        return None
    return known


def _is_regular(steps: Sequence[int]) -> bool:
    gaps = {other - one for one, other in pairwise(steps)}
    return len(gaps) == 1 and steps[0] % gaps.pop() == 0


def _in_proportion(steps: Sequence[int], epochs: Sequence[float | None], slack: float) -> bool:
    """Whether epoch / step is one number, within the rounding of the printed epoch (two decimals) and some slack."""
    known = [(step, epoch) for step, epoch in zip(steps, epochs, strict=True) if epoch is not None]
    if len(known) < 3:
        return True
    last_step, last_epoch = known[-1]
    rate = last_epoch / last_step
    return all(abs(epoch - step * rate) <= _ROUNDING + slack * abs(last_epoch) for step, epoch in known)
