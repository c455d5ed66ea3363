"""Whether a sentence that is borne out was read whole: what it names must matter to the verdict.

A reader that takes no notice of a step would bear the sentence out whatever step stood there. So each is exchanged in
turn for some that the log cannot hold and some that it does, and the sentence is judged again: where it is always borne
out, the step was not accounted for, and what the sentence says of it is not supported by the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import cue, idle_clauses
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity

#: Steps and names of a sentence beyond which it is no prose.
_MOST: Final = 6
_MOST_NUMBERS: Final = 16
#: "Step 0 is validation only": a kind of step, no metric.
_PASS: Final = re.compile(
    r"(?i)validations?|evaluations?|eval|验证|评测|评估|epochs?|轮次|training|训练|rollouts?|生成"
)
#: Other steps that a step is exchanged for.
_TRIES: Final = 5
_NO_VALUE: Final = frozenset({"steps", "points", "validations", "gpus", "samples", "prompts", "factor", "ratio", "pp"})
#: A step number that no log reaches.
_NOWHERE: Final = 10_000_000


def unaccounted(
    frame: Frame, steps: Sequence[int], holds: Callable[[Frame], bool]
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """The steps that a sentence names and that its verdict does not rest on, each as ``(start, end)``.

    Args:
        frame: a sentence that is borne out; one of several clauses is left alone, as readers share steps among them.
        steps: the run's.
        holds: judges a sentence: whether all that was borne out still is.
    """
    told = [place for place in frame.places if re.search(r"\d", frame.text[place.start : place.end])]
    if frame.breaks or len(told) > _MOST or len(frame.names) > _MOST or len(frame.numbers) > _MOST_NUMBERS:
        return
    for place in told:
        if any(all(holds(_with(frame, place, other)) for other in others) for others in _elsewhere(place, steps)):
            yield place.start, place.end


def exchanged(frame: Frame, holds: Callable[[Frame], bool]) -> tuple[int, int] | None:
    """Where a sentence tells two values and would be borne out with the one in the other's place: the second of them.

    Args:
        frame: a sentence that is borne out.
        holds: judges a sentence: whether all that was borne out still is.
    """
    told = [at for at, q in enumerate(frame.numbers) if q.unit not in _NO_VALUE]
    if len(told) != 2 or any(group.form == "range" for group in frame.groups):
        return None
    one, two = (frame.numbers[at] for at in told)
    if one.number == two.number or one.unit != two.unit or one.factor != two.factor or one.bound or two.bound:
        return None
    numbers = [*frame.numbers]
    numbers[told[0]], numbers[told[1]] = _as(one, two), _as(two, one)
    return (two.start, two.end) if holds(replace(frame, numbers=numbers)) else None


def _as(here: Quantity, other: Quantity) -> Quantity:
    return replace(other, start=here.start, end=here.end)


def _with(frame: Frame, place: Place, other: Place) -> Frame:
    return replace(frame, places=[other if p is place else p for p in frame.places], numbers=[*frame.numbers])


def _elsewhere(place: Place, steps: Sequence[int]) -> Iterator[list[Place]]:
    """The same naming of other steps, for each step that must matter: some that no log holds, some that it does."""
    if place.kind == "steps" and len(place.steps) > 1:
        for turn, step in enumerate(place.steps):
            able = [_NOWHERE, *(s for s in _spread(steps, 1, _TRIES) if s not in place.steps)]
            yield [replace(place, steps=(*place.steps[:turn], s, *place.steps[turn + 1 :])) for s in able if s != step]
        return
    found = [replace(place, steps=tuple(_NOWHERE + step for step in place.steps))]
    count = len(place.steps)
    own = [at for at, step in enumerate(steps) if step in place.steps]
    for part in range(_TRIES):
        at = [(2 * part + 1) * len(steps) // (2 * _TRIES) + turn for turn in range(count)]
        if count == 2 and len(own) == 2:
            at[1] = min(at[0] + abs(own[1] - own[0]), len(steps) - 1)
        if at[-1] < len(steps) and not set(at) & set(own):
            others = tuple(steps[n] for n in at)
            found.append(replace(place, steps=others if place.steps[0] <= place.steps[-1] else others[::-1]))
    if count == 1 or len(found) > 1:
        yield found


def _spread(steps: Sequence[int], first: int, count: int) -> list[int]:
    return [steps[(2 * part + first) * len(steps) // (2 * count)] for part in range(count)] if steps else []


def unspoken(frame: Frame) -> Iterator[tuple[int, int]]:
    """Of a sentence in which no claim was found: the metric that it tells something of at a step that it names.

    Or the step of which it says that something is there or is not.
    """
    idle = idle_clauses(frame)
    told = [
        p for p in frame.places if re.search(r"\d", frame.text[p.start : p.end]) and not idle[frame.clause(p.start)]
    ]
    named = [
        n
        for n in frame.names
        if (n.keys or n.absent) and not _PASS.fullmatch(n.text) and not idle[frame.clause(n.start)]
    ]
    if told and named:
        yield named[0].start, named[0].end
    elif told and any(cue(word).search(frame.text) for word in ("missing", "present")):
        yield told[0].start, told[0].end
