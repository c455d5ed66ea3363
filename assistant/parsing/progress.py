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
from typing import Final

from assistant.parsing.repair import Document

_BAR: Final = re.compile(r"[0-9]{1,3}%\|[^|\n]{0,300}+\| ?([0-9]{1,12})/([0-9]{1,12}) \[")
_NAMED: Final = re.compile(r"(?i)(?:train(?:ing)?|steps?)?:?\s*$")
_MOST_TOTALS: Final = 8

Place = tuple[int, int]
"""Index of an entry of the document, and an offset on it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One drawing of a bar: where, and ``done`` of ``total``."""

    place: Place
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Dating:
    """Steps of events, taken from the bars with one total.

    Attributes:
        steps: one for each event.
        total: the bars' total.
        places: where those bars stand.
        done: what they show.
        single: whether they can be one bar: an evaluation as long as the training draws a second one.
    """

    steps: tuple[int, ...]
    total: int
    places: tuple[Place, ...]
    done: tuple[int, ...]
    single: bool

    def at(self, place: Place) -> int:
        """What the latest bar before a place shows, or else the first one after it."""
        index = bisect_left(self.places, place)
        return self.done[index - 1 if index else 0]


def find_bars(document: Document) -> list[Bar]:
    """All bars without a name, or named after training: ``33%|███▎ | 618/1875 [``."""
    bars: list[Bar] = []
    for entry, line in enumerate(document.lines):
        if "%|" not in line:
            continue
        for found in _BAR.finditer(line):
            front = line[max(0, found.start() - 24) : found.start()].rstrip(" ")
            cut = max(front.rfind(end) for end in "]})")
            if _NAMED.fullmatch(front[cut + 1 :].strip()):
                bars.append(Bar((entry, found.start()), int(found[1]), int(found[2])))
    return bars


def date_events(
    bars: Sequence[Bar], spans: Sequence[tuple[Place, Place]], epochs: Sequence[float | None]
) -> Dating | None:
    """The step of each training event, if the bars tell it without contradiction.

    Bars with one total must date every event, with steps that rise from event to event and are in proportion to
    the epochs; output that was buffered (several dictionaries behind one bar) fails that.

    Args:
        bars: in order of appearance.
        spans: where each event begins and ends, in order.
        epochs: the epoch each event prints.
    """
    if not bars or not spans:
        return None
    found: list[Dating] = []
    for total, _ in Counter(bar.total for bar in bars).most_common(_MOST_TOTALS):
        own = [bar for bar in bars if bar.total == total]
        places = [bar.place for bar in own]
        steps = _steps(own, places, total, spans)
        if steps is not None and _in_proportion(steps, epochs):
            done = tuple(bar.done for bar in own)
            found.append(Dating(steps, total, tuple(places), done, all(one <= other for one, other in pairwise(done))))
    if not found or (len(spans) == 1 and len(found) > 1):
        return None
    return found[0]


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
    plain, redrawn = _rising(before, total), _rising(after, total)
    if plain is None or redrawn is None:
        return plain or redrawn
    return redrawn if _is_regular(redrawn) and not _is_regular(plain) else plain


def _rising(steps: Sequence[int | None], total: int) -> tuple[int, ...] | None:
    known = tuple(step for step in steps if step is not None and 1 <= step <= total)
    if len(known) != len(steps) or any(one >= other for one, other in pairwise(known)):
        return None
    return known


def _is_regular(steps: Sequence[int]) -> bool:
    gaps = {other - one for one, other in pairwise(steps)}
    return len(gaps) == 1 and steps[0] % gaps.pop() == 0


def _in_proportion(steps: Sequence[int], epochs: Sequence[float | None]) -> bool:
    """Whether epoch / step is one number, within the rounding of the printed epoch (two decimals)."""
    known = [(step, epoch) for step, epoch in zip(steps, epochs, strict=True) if epoch is not None]
    if len(known) < 3:
        return True
    last_step, last_epoch = known[-1]
    rate = last_epoch / last_step
    return all(abs(epoch - step * rate) <= 0.011 + 0.02 * abs(last_epoch) for step, epoch in known)
