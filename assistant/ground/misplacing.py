"""Whether two values told belong to each other's steps, stretches or metrics: told the other way round."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ground.bearing import _ENDS, _NO_VALUE, _keys_of, _Told, _told
from assistant.ground.binding import Frame
from assistant.ground.judging import Judge
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees

_AFTER: Final = re.compile(r"\s*(?:之|以)后")
_BEFORE: Final = re.compile(r"(?i)\b(?:before|earlier|until|first|previous)\b|之前|此前|以前|[前首]")
_SINCE: Final = re.compile(r"(?i)\b(?:after|since)\s*$")
_EARLIER: Final = re.compile(
    r"(?i)[`*\s]*(?:tokens?\s)?(?:before(?:hand)?|at first|at the former|initially|originally|之前|以前|原先|起初)"
)
_LATER: Final = re.compile(
    r"(?i)[`*\s]*(?:tokens?\s)?(?:after(?:wards?)?|later|now|in the end|at the latter|之后|以后|后来|现在|最后)"
)
_OF_THE_OTHER: Final = re.compile(
    r"(?i)\b(?:from|against|versus|vs|than|compared|relative|was|were)\b|[比对从由]|原来|此前"
)


def misplaced(frame: Frame, judge: Judge) -> bool:
    """Whether two values told belong to two steps, stretches or metrics the other way round than these are named."""
    values = [q for q in frame.numbers if q.unit not in _NO_VALUE]
    steps = judge.table.steps
    spans = [place.steps for place in frame.places if place.kind == "range"]
    singles = [place for place in frame.places if len(place.steps) == 1]
    if (
        not spans
        and len(singles) == 1
        and (_AFTER.match(frame.text[singles[0].end :]) or _SINCE.search(frame.text[: singles[0].start]))
    ):
        spans = [tuple(step for step in steps if step > singles[0].steps[0])]
    if len(values) == 2 and (labelled := _by_label(frame, _told(frame, judge))) is not None:
        return labelled
    if any(spans) and len(values) == 2:
        rest = _rest(steps, spans[0])
        both = bool(rest) and _BEFORE.search(frame.text) is not None
        near = [_nearest(frame, q) for q in values] if len(spans) > 1 else [spans[0], rest] if both else []
        if any(group.form == "chain" for group in frame.groups):
            near.sort(key=lambda part: part[0])
        keys = [key for name in frame.names for key in name.keys[:3]]
        keys = keys or [key for q in values for key in _keys_of(judge, q, None)]
        if len(near) != 2 or any(_means(judge, key, values, near) for key in keys):
            return False
        return any(_means(judge, key, values, near[::-1]) for key in keys)
    told = _told(frame, judge)
    if len(told) != 2:
        return False
    one, two = told
    if one.key != two.key:
        names = [n for n in frame.names if one.key in n.keys or two.key in n.keys]
        named = [min(names, key=lambda n: max(n.start - t.q.end, t.q.start - n.end)) for t in told] if names else []
        return bool(named) and named[0] is not named[1] and one.key in named[1].keys and two.key in named[0].keys
    if any(group.form == "chain" for group in frame.groups):
        return False  # "0.05 → 0.29" goes forward, whichever step is named first
    if len(singles) == 2:
        return [place.steps[0] for place in singles] == [two.step, one.step] != [one.step, two.step]
    held = judge.table.held(one.key)
    ends = [held[0] if match["first"] else held[-1] for match in _ENDS.finditer(frame.text)]
    return ends == [two.step, one.step] != [one.step, two.step]


def _by_label(frame: Frame, told: Sequence[_Told]) -> bool | None:
    """``between steps 22 and 38 (0.397 before, 0.357 after)``: by the words behind two values, or the order of the pair.

    ``None`` where the sentence names no two steps together whose values these are.
    """
    if len(told) != 2 or told[0].key != told[1].key:
        return None
    one, two = told
    together = [p for p in frame.places if len(p.steps) == 2 and set(p.steps) == {one.step, two.step}]
    if not together:
        return None
    labels = [
        -1 if _EARLIER.match(frame.text, t.q.end) else 1 if _LATER.match(frame.text, t.q.end) else 0 for t in told
    ]
    if labels[0] != labels[1]:
        return (labels[0] < labels[1]) != (one.step < two.step)
    between = frame.text[one.q.end : two.q.start]
    if _OF_THE_OTHER.search(between) or any(group.form in {"chain", "versus"} for group in frame.groups):
        return None
    return (one.step, two.step) != together[0].steps


def _nearest(frame: Frame, q: Quantity) -> Sequence[int]:
    spans = [place for place in frame.places if place.kind == "range"]
    return min(spans, key=lambda place: max(place.start - q.end, q.start - place.end)).steps


def _rest(steps: Sequence[int], part: Sequence[int]) -> tuple[int, ...]:
    """The steps before a stretch that reaches the end, or after one from the start; of another there are none."""
    if not steps or part[-1] >= steps[-1]:
        return tuple(step for step in steps if step < part[0])
    return tuple(step for step in steps if step > part[-1]) if part[0] <= steps[0] else ()


def _means(judge: Judge, key: str, values: Sequence[Quantity], ranges: Sequence[Sequence[int]]) -> bool:
    for q, steps in zip(values, ranges, strict=True):
        held = [value for _, value in judge.table.within(key, steps)]
        mean = sum(held) / len(held) if held else None
        if mean is None or not any(agrees(a, b, mean) for a, b in judge.table.readings(q, key, mean)):
            return False
    return True
