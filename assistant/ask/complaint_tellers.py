"""What the log shows of a metric that somebody says to rise, fall, jump, stand still, be zero, negative or high."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.ask.complaint_course import MAIN, STILL, TIMES, Course, course_of, ends, times
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.telling import trend_sentence
from assistant.model import Fact

#: How often larger than the usual move a jump is, and how near to the level before it counts as back.
JUMP: Final = 3.0
#: Fewest values of which a level about an extreme is told from that of the end.
_FOR_LEVELS: Final = 12
BACK: Final = 0.1
#: Share of a metric's range that one move must make up to be told as the move.
ONE_MOVE: Final = 0.6


def _values(context: Context, course: Course) -> dict[str, object]:
    count = context.ledger.count("values", len(course.facts), metric=course.metric)
    first, last = course.facts[0], course.facts[-1]
    return {
        "metric": course.metric, "n": count, "low": course.low, "high": course.high, "a": first, "b": last,
        "ends": ends(context, course), "times": times(context, first, last),
    }  # fmt: skip


def _say(context: Context, phrase: str, course: Course, so: str, **more: object) -> str:
    return context.say(f"complaint.{phrase}", **{**_values(context, course), "so": so, **more})


def _not_rising(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if course.way == "up" and number(course.facts[-1]) - number(course.facts[0]) > _little(course):
        return _say(context, "not_rising_denied", course, so)
    return _say(
        context, "not_rising_falls" if course.way == "down" and not _is_still(course) else "not_rising", course, so
    )


def _not_falling(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if course.way == "down":
        first, last = number(course.facts[0]), number(course.facts[-1])
        if first > 0:
            share = context.ledger.derived(
                f"fall of {course.metric}", (first - last) / first, inputs=[course.facts[0], course.facts[-1]],
                unit="fraction", formula="(first − last) / first",
            )  # fmt: skip
            return _say(context, "not_falling_denied", course, so, share=context.doc.show(share, None, "fraction"))
    return _say(
        context, "not_falling_rises" if course.way == "up" and not _is_still(course) else "not_falling", course, so
    )


def _little(course: Course) -> float:
    return STILL * max(abs(number(course.low)), abs(number(course.high)))


def _is_still(course: Course) -> bool:
    return course.range <= _little(course)


def _still(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if _is_still(course):
        return _say(context, "still", course, so)
    return _say(context, {"up": "not_rising_denied", "down": "falling"}.get(course.way, "back_and_forth"), course, so)


def _move(course: Course) -> tuple[Fact, Fact] | None:
    """The one move that makes up most of what a metric moved, the values before and after it; ``None`` for none."""
    sizes = [abs(number(b) - number(a)) for a, b in pairwise(course.facts)]
    if len(sizes) < 3 or not course.range:
        return None
    place = max(range(len(sizes)), key=lambda at: sizes[at])
    others = sorted(sizes[:place] + sizes[place + 1 :])
    if sizes[place] < ONE_MOVE * course.range or sizes[place] < JUMP * others[len(others) // 2]:
        return None
    before, after = course.facts[place], course.facts[place + 1]
    steps = [fact.step for fact in (course.facts[0], before, after, course.facts[-1])]
    if None not in steps and steps[2] - steps[1] > MAIN * (steps[3] - steps[0]):  # type: ignore[operator]
        return None  # lines are left out between them
    return before, after


def _with_move(context: Context, course: Course, text: str) -> str:
    """A sentence on where a metric goes, and between which steps it went most of the way."""
    move = _move(course)
    if move is None:
        return text
    blank = "" if context.language == "zh" else " "
    return text + blank + context.say("complaint.most_of_it", before=move[0], after=move[1])


def _rising(context: Context, course: Course, so: str) -> str:
    if course.way == "up":
        return _with_move(context, course, _say(context, "rising", course, so))
    risen = number(course.facts[-1]) - number(course.low)
    if course.way == "mixed" and not _is_still(course) and risen >= MAIN * course.range and _left(course, course.low):
        text = _say(context, "rising_from", course, so, times=times(context, course.low, course.facts[-1]))
        return _with_move(context, course, text)
    if course.way == "mixed" and not _is_still(course):
        trend = context.ledger.trend(course.metric)
        if trend is not None and trend.direction == "rising":  # up to some step, or with a way back: its own course
            return context.say("complaint.in_part", told=trend_sentence(context, course.metric, trend))
    if course.way == "mixed" and not _is_still(course) and _peaks(course):
        move = _move(course)
        return _say(context, "turning", course, so) if move is None else _spike(context, course, so)
    first, last = number(course.facts[0]), number(course.facts[-1])
    if course.way == "down" and first < 0 and last < TIMES * first:  # "explodes": ever further below zero
        return _say(context, "further_below", course, so)
    return _say(context, "rising_denied", course, so)


def _left(course: Course, extreme: Fact) -> bool:
    """Whether a metric left the level about an extreme by its end, rather than an odd value in its scatter."""
    values = [number(fact) for fact in course.facts]
    end = median(values[-max(3, len(values) // 6) :])
    return len(values) < _FOR_LEVELS or abs(_about(course, extreme) - end) >= MAIN / 2 * course.range


def _about(course: Course, fact: Fact) -> float:
    """The median of the values about one."""
    place = course.facts.index(fact)
    return median(number(one) for one in course.facts[max(0, place - 2) : place + 3])


def _peaks(course: Course) -> bool:
    """Whether a metric rose to a height from which it came back."""
    inside = course.high not in {course.facts[0], course.facts[-1]}
    return inside and number(course.high) - number(course.facts[0]) >= MAIN * course.range


def _falling(context: Context, course: Course, so: str) -> str:
    if course.way == "down":
        return _with_move(context, course, _say(context, "falling", course, so, times=""))
    fallen = number(course.high) - number(course.facts[-1])
    if course.way != "same" and not _is_still(course) and fallen >= MAIN * course.range and _left(course, course.high):
        return _say(context, "falling_from", course, so, times="")
    if course.way == "mixed" and not _is_still(course) and (top := _before_low(course)) is not None:
        return _say(context, "fell_back", course, so, top=top)
    return _say(context, "falling_denied", course, so)


def _before_low(course: Course) -> Fact | None:
    """The highest value before the lowest, where a metric fell from it to come back; ``None`` where it did not."""
    place = course.facts.index(course.low)
    if not 0 < place < len(course.facts) - 1:
        return None
    top = max(course.facts[:place], key=number)
    if len(course.facts) >= _FOR_LEVELS and _about(course, top) - _about(course, course.low) < MAIN / 2 * course.range:
        return None  # odd values in the scatter
    return top if number(top) - number(course.low) >= MAIN * course.range else None


def _turning(context: Context, course: Course, so: str) -> str:
    first, last = course.facts[0], course.facts[-1]
    fallen, risen = number(course.high) - number(last), number(last) - number(course.low)
    if course.high not in {first, last} and fallen >= MAIN / 2 * course.range:
        return _say(context, "turning", course, so)
    if course.low not in {first, last} and risen >= MAIN / 2 * course.range:
        return _say(context, "turning_up", course, so)
    return _rising(context, course, so) if course.way == "up" else _falling(context, course, so)


def _spike(context: Context, course: Course, so: str) -> str:
    facts = course.facts
    moves = [(abs(number(b) - number(a)), place) for place, (a, b) in enumerate(pairwise(facts))]
    largest, place = max(moves)
    others = sorted(size for size, at in moves if at != place)
    usual = others[len(others) // 2] if others else 0.0
    if largest <= _little(course) or (len(facts) > 2 and largest < JUMP * usual):
        return _say(context, "spike_none", course, so)
    before, after = facts[place], facts[place + 1]
    if after is facts[-1]:
        return _say(context, "spike_last", course, so, before=before, after=after)
    left = abs(number(facts[-1]) - number(before)) / largest
    back = "back_there" if left <= BACK else "back_part" if left < 1 - BACK else "back_not"
    return _say(context, "spike", course, so, before=before, after=after, back=context.say(f"complaint.{back}"))


def _unstable(context: Context, course: Course, so: str) -> str:
    if course.way in {"up", "down"} and not _is_still(course):
        return (_rising if course.way == "up" else _falling)(context, course, "")
    return _say(context, "still" if _is_still(course) else "back_and_forth", course, so)


def _level(context: Context, course: Course, so: str) -> str:
    if course.way in {"up", "down"} and not _is_still(course):
        text = _say(context, "level_rises" if course.way == "up" else "level_falls", course, so)
    else:
        text = _say(context, "level", course, so)
    return text


def _high(context: Context, course: Course, so: str) -> str:
    blank = "" if context.language == "zh" else " "
    return _level(context, course, so) + blank + context.say("complaint.from_start", a=course.facts[0])


def _negative(context: Context, course: Course, so: str) -> str:
    below = sum(number(fact) < 0 for fact in course.facts)
    count = context.ledger.count("values below zero", below, metric=course.metric)
    return _say(context, "negative" if below else "negative_none", course, so, k=count)


def _zero(context: Context, course: Course, so: str) -> str:
    nought = [place for place, fact in enumerate(course.facts) if not number(fact)]
    if not nought:
        return _say(context, "zero_not", course, so)
    if len(nought) == len(course.facts):
        return _say(context, "same", course, so)
    first = nought[0]
    lasting = nought == list(range(first, len(course.facts)))
    if first and lasting:
        return _say(context, "zero_from", course, so, z=course.facts[first], before=course.facts[first - 1])
    return _say(context, "level", course, so)


TELLERS: Final[dict[str, Callable[[Context, Course, str], str]]] = {
    "not_rising": _not_rising, "not_falling": _not_falling, "turning": _turning, "zero": _zero, "spike": _spike,
    "falling": _falling, "rising": _rising, "still": _still, "unstable": _unstable, "low": _level, "high": _high,
    "garbled": _level, "negative": _negative,
}  # fmt: skip


def since(context: Context, whole: Course, state: str, step: int, so: str) -> str | None:
    """What a metric does from a step on, and what it did before; ``None`` where it does not do what is said."""
    steps = [fact.step for fact in whole.facts if fact.step is not None]
    after = course_of(context, whole.metric, [one for one in steps if one >= step])
    before = course_of(context, whole.metric, [one for one in steps if one < step])
    if after is None or before is None or len(after.facts) < 2:
        return None
    moves = after.way in {"up", "down"} and not _is_still(after)
    if state in {"not_rising", "still"}:
        phrase = None if after.way == "up" and not _is_still(after) else "since"
    else:
        phrase = {"rising": "since_rises", "falling": "since_falls"}.get(state) if moves else None
        phrase = phrase if after.way == {"rising": "up", "falling": "down"}.get(state) else None
    if phrase is None:
        return None
    return _say(context, phrase, after, so, before=before.facts[0], until=before.facts[-1])


__all__ = ["TELLERS", "since"]
