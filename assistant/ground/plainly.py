"""Plain statements, held to their word: whose values numbers are, and in which order the steps hold them.

``A went from x at step 3 to y at step 9``, ``at steps 1, 2 and 3 A was x, y and z``, ``step 3's A (x) is below step 1's
(y)``: where one metric is named before numbers and nothing but verbs stands between, they are its values and no other
metric's; where as many steps are named in one place as there are numbers, each step holds the number at its place. Readers
that look for any reading that holds may miss that; what is said so and does not hold is not supported.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.binding import _FILLER, Frame
from assistant.ground.cues import change_cue, cue, told_as_change
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.subjects import variants

#: Keys that a name may mean and still be one metric.
_MOST_MEANT: Final = 3
#: Units of numbers that are values of a metric.
_VALUED: Final = frozenset({"", "s", "ms", "tokens", "gib", "rate", "%"})
#: Words of numbers that may be of stretches of steps, of a part of something else, or computed.
_COMPUTED: Final = re.compile(
    r"(?i)\bmedian|\baverag|\bmean\b|\blevels?\b|\btypical|\bmost(?:ly)?\b|\bshare|\bratio|\btotal|\bsum|\bper\b|\beach\b|\bpeak|\bmax|\bmin(?!ut)|\bhigh(?!er)|\blow(?!er)|"
    r"\bbest|\bworst|\btrough|\bbottom|\btop|\brang|\bdifference|\bgap\b|\bboth\b|\ball\b|\btogether\b|\bcombined\b|\bformer\b|\blatter\b|\bgpus?\b|\bworkers?\b|\bhalf\b|"
    r"\bthird\b|\bquarter\b|\btimes\b|\bfactor\b|\bpart\b|\bof (?:the|its|a|that|this)\b|\bseconds? of\b|\bfour|\bspread|\bband\b|\bplus\b|\bminus\b|[=×÷/*+]|\bevery\b|\bwith\b|\bwhich\b|\bwhere\b|\bwhen\b"
)
_AVERAGED: Final = re.compile(
    r"(?i)\bmedian|\baverag|\bmean\b|\btypical|\bshare|\bper\b|\beach\b|\btogether\b|\bcombined\b|\brange|\bof (?:the|its|that) (?:step|time|total)"
)
#: Right before a name: which of its statistics is meant.
_STATISTIC_BEFORE: Final = re.compile(
    r"(?i)(?:\b(?:mean|average|avg|maximum|max|minimum|min|longest|shortest|peak|total|overall)\s*)+$"
)
_OWN_FILLER: Final = re.compile(
    r"(?i)\b(?:steps?|run|training|value|look|see|we|log|times?|lengths?|norms?|memory|usage|rates?|had|took|takes?|needed|initially|came|come)\b"
)
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_BESIDE_POSSESSIVE: Final = re.compile(r"(?:'s|’s)\s+[\x00 ]*\(\s*$|(?:'s|’s)\s*\(\s*$")
_OVER: Final = re.compile(
    r"(?i)[\s`*]*(?:over|divided by|to|/|÷)[\s`*]*(?:the |its )?(?:(?:mean|average|maximum) )?[`*]*"
)
#: "Grad norm zigzags: 1.4, 1.5, 1.2".
_LISTED_BEHIND: Final = re.compile(r"[\s`*\x00]*(?:\w+\s?){0,2}:\s*[`*]*")
_DIVIDED: Final = re.compile(r"\s*[/÷]\s*")


def plainly(frame: Frame, judge: Judge, idle: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The numbers that are told plainly and are not what the log holds there, as ``(start, end)``.

    Args:
        frame: a sentence that is borne out.
        judge: holds the run.
        idle: which of its clauses state nothing.
    """
    if _CHINESE.search(frame.text) or any(n.derived or n.absent for n in frame.names):
        return
    blank = _blanked(frame)
    for group in frame.groups:
        numbers = [judge.spoken_of(frame, at, None) for at in group.members]
        first, last = min(numbers, key=lambda q: q.start), max(numbers, key=lambda q: q.end)
        if group.form not in {"chain", "list"} or idle[frame.clause(first.start)]:
            continue
        if any(q.unit not in _VALUED or q.bound or q.sign == "+" for q in numbers):
            continue
        if (
            change_cue(frame, first)
            or any(told_as_change(frame, q) for q in numbers)
            or re.search(r"[/÷×*+=−]", blank[first.end : last.start])
        ):
            continue  # "by 0.2, to 0.5", "76 / 140"
        owner = _owner(frame, first)
        if owner is None or (
            not _LISTED_BEHIND.fullmatch(blank[owner.end : first.start]) and not _joins(blank[owner.end : first.start])
        ):
            continue
        keys = _keys(frame, judge, owner, first)
        if numbers[0].unit == "%" and not any(judge.table.readings(numbers[0], key) for key in keys):
            continue  # a share of its time
        if _COMPUTED.search(blank[frame.clause_span(first.start)[0] : owner.start]) or _AVERAGED.search(
            blank[last.end :]
        ):
            continue
        if (
            not _all_steps(frame, judge, keys, numbers)
            or not all(_anywhere(judge, keys, q) for q in numbers)
            or not _in_place(frame, judge, keys, numbers)
        ):
            yield first.start, last.end
    yield from _alone(frame, judge, idle, blank)
    yield from _beside(frame, judge, blank)
    yield from _divided(frame, judge)


def _blanked(frame: Frame) -> str:
    """The sentence with names (and the statistic before one), numbers and steps blanked."""
    text = list(frame.text)
    spans = [(part.start, part.end) for parts in (frame.names, frame.numbers, frame.places) for part in parts]
    for start, end in spans:
        for at in range(start, end):
            text[at] = "\x00"
    for name in frame.names:
        if match := _STATISTIC_BEFORE.search(frame.text[max(0, name.start - 24) : name.start]):
            for at in range(name.start - len(match.group()), name.start):
                text[at] = "\x00"
    return "".join(text)


def _joins(between: str) -> bool:
    """Whether nothing but verbs, prepositions and the like stands between a name and a number."""
    if _COMPUTED.search(between):
        return False
    told = between
    for sense in ("up", "down", "worsen"):
        told = cue(sense).sub(" ", told)
    rest = _OWN_FILLER.sub(" ", _FILLER.sub(" ", told))
    return not re.findall(r"[A-Za-z][A-Za-z_@/-]{2,}", rest)


def _owner(frame: Frame, first: Quantity) -> Named | None:
    """The one metric that is named before a number in its clause, or in the one before it."""
    start, _ = frame.clause_span(first.start)
    named = [n for n in frame.names if start <= n.start and n.end <= first.start]
    if not named and start:
        start = frame.clause_span(max(0, start - 2))[0]  # "fell by 3%, from 0.2 to 0.1": of what fell
        named = [n for n in frame.names if start <= n.start and n.end <= first.start]
    if len({n.keys[0] for n in named if n.keys}) != 1 or any(n.statistic == "whole" for n in named):
        return None
    if len(named[-1].keys) > _MOST_MEANT:
        return None  # "validation": whichever of its results
    before = [n for n in frame.names if n.end <= named[0].start and not set(n.keys) & set(named[0].keys)]
    if before and _BESIDE.fullmatch(frame.text[before[-1].end : named[0].start]):
        return None  # "A and B are 1 and 2"
    return named[-1]


#: Between two names that are told together.
_BESIDE: Final = re.compile(r"(?i)[\s\w`*'’]{0,12}(?:,|\band\b|/|&|\bor\b)[\s\w`*'’]{0,24}")


def _keys(frame: Frame, judge: Judge, owner: Named, q: Quantity) -> list[str]:
    before = _STATISTIC_BEFORE.search(frame.text[max(0, owner.start - 24) : owner.start])
    averaged = before is not None and re.search(r"(?i)mean|average|avg|overall|peak", before.group() + owner.text)
    if owner.statistic in {"max", "min"} and owner.keys[0].endswith(f"/{owner.statistic}") and not averaged:
        return [owner.keys[0]]  # "the maximum response length fell from …": that of each step
    if owner.exact or owner.statistic == "mean":
        return list(owner.keys)
    return list(dict.fromkeys((*owner.keys, *variants(owner, frame.text, q, judge.table))))


def _anywhere(judge: Judge, keys: Sequence[str], q: Quantity) -> bool:
    return any(_cell(judge, q, key, step) for key in keys for step in judge.table.held(key)[:4000])


def _cell(judge: Judge, q: Quantity, key: str, step: int) -> bool:
    return judge.cell(q, key, step).status == "supported"


def _in_place(frame: Frame, judge: Judge, keys: Sequence[str], numbers: Sequence[Quantity]) -> bool:
    """Whether steps that are named in one place hold the numbers in that order; ``True`` where none are named so."""
    steps = _steps_together(frame)
    if len(steps) != len(numbers) or len(set(steps)) != len(steps):
        return True
    for key in keys:
        if any(judge.table.value(key, step) is None for step in steps):
            return True
        if all(_cell(judge, q, key, step) for q, step in zip(numbers, steps, strict=True)):
            return True
    return False


def _all_steps(frame: Frame, judge: Judge, keys: Sequence[str], numbers: Sequence[Quantity]) -> bool:
    """``0.21, 0.25, 0.30 over the three steps``: as many numbers as a stretch has steps are those of each step, in order."""
    spans = [p for p in frame.places if p.kind == "range"]
    if len(numbers) < 3 or len(frame.places) != len(spans) or len(spans) > 1:
        return True
    for key in keys:
        rows = judge.table.within(key, spans[0].steps if spans else None)
        if len(rows) != len(numbers) or all(
            _cell(judge, q, key, step) for q, (step, _) in zip(numbers, rows, strict=True)
        ):
            return True
    return False


#: "from step one to step three", "(step 1 → step 3)": two steps as one place.
_TO_STEP: Final = re.compile(r"(?i)\s*(?:to|→|->|through|and|till|until|[-–—])\s*")


def _steps_together(frame: Frame) -> tuple[int, ...]:
    """The steps that a sentence names in one place, in the order in which it names them."""
    told: list[Place] = list(frame.places)
    if (
        len(told) == 2
        and all(len(p.steps) == 1 for p in told)
        and _TO_STEP.fullmatch(frame.text[told[0].end : told[1].start])
    ):
        return (told[0].steps[0], told[1].steps[0])
    if len(told) != 1 or len(told[0].steps) < 2 or cue("versus").search(frame.text[told[0].start : told[0].end]):
        return ()
    spot = told[0]
    if not re.search(r"\d.*\d", frame.text[spot.start : spot.end]):
        return ()  # "the first ten steps": a stretch
    return spot.steps if spot.kind != "range" else (spot.steps[0], spot.steps[-1])


def _alone(frame: Frame, judge: Judge, idle: Sequence[bool], blank: str) -> Iterator[tuple[int, int]]:
    """A number that is said to be a metric's at a step and is none of its values."""
    grouped = {at for group in frame.groups for at in group.members}
    for at, q in enumerate(frame.numbers):
        if at in grouped or q.unit not in _VALUED or q.bound or q.sign or q.approx or idle[frame.clause(q.start)]:
            continue
        before = [n for n in frame.names if n.end <= q.start]
        if not before or len({n.keys[0] for n in before if n.keys}) != 1 or not frame.places:
            continue
        owner = before[-1]
        if change_cue(frame, q) or told_as_change(frame, q) or not _joins(blank[owner.end : q.start]):
            continue
        if re.match(r"\s*(?:of|for)\b", frame.text[q.end :]) or any(p.kind == "range" for p in frame.places):
            continue  # "25 s of it in generation"
        if _COMPUTED.search(blank[q.end :]) or _COMPUTED.search(blank[: owner.start]):
            continue
        keys = _keys(frame, judge, owner, q)
        if q.unit == "%" and not any(judge.table.readings(q, key) for key in keys):
            continue
        if not _anywhere(judge, keys, q) or _off_its_step(frame, judge, keys, q):
            yield q.start, q.end


_AT_STEP: Final = re.compile(r"(?i)\s*(?:(?:at|in|on|by)\s)?\s*(?:the\s)?")


_AT_STEPS: Final = re.compile(r"(?i)\s*,?\s*(?:both )?(?:at|in|on)\s")


def _off_its_step(frame: Frame, judge: Judge, keys: Sequence[str], q: Quantity) -> bool:
    """Whether the step right behind a number holds another one."""
    after = [p for p in frame.places if p.start >= q.end]
    if (
        after
        and after[0].kind == "steps"
        and len(after[0].steps) > 1
        and _AT_STEPS.fullmatch(frame.text[q.end : after[0].start])
    ):
        known = [(key, step) for key in keys for step in after[0].steps if judge.table.value(key, step) is not None]
        return bool(known) and not any(
            all(_cell(judge, q, key, step) for one, step in known if one == key) for key, _ in known
        )
    if not after or len(after[0].steps) != 1 or not _AT_STEP.fullmatch(frame.text[q.end : after[0].start]):
        return False
    steps = [(key, judge._placed(frame, after[0], key).steps[0]) for key in keys]
    known = [(key, step) for key, step in steps if judge.table.value(key, step) is not None]
    return bool(known) and not any(_cell(judge, q, key, step) for key, step in known)


def _beside(frame: Frame, judge: Judge, blank: str) -> Iterator[tuple[int, int]]:
    """``step 3's entropy (0.71) is below step 1's (0.90)``: in brackets behind the step that a value is of."""
    keys = {n.keys[0] for n in frame.names if n.keys}
    if len(keys) != 1:
        return
    (key,) = keys
    for q in frame.numbers:
        before = [p for p in frame.places if p.end <= q.start]
        if not before or len(before[-1].steps) != 1 or q.unit not in _VALUED or q.bound or q.sign:
            continue
        if _BESIDE_POSSESSIVE.fullmatch(re.sub(r"\x00+", "\x00", blank[before[-1].end : q.start])):
            step = before[-1].steps[0]
            if (
                judge.table.readings(q, key)
                and judge.table.value(key, step) is not None
                and not _cell(judge, q, key, step)
            ):
                yield q.start, q.end


def _divided(frame: Frame, judge: Judge) -> Iterator[tuple[int, int]]:
    """``38 min / 46 s = 50 (the step over old_log_prob)``: what is divided is the first's, what by the second's."""
    named = [n for n in frame.names if n.keys]
    if len(named) != 2 or not _OVER.fullmatch(frame.text[named[0].end : named[1].start]):
        return
    for x, y in zip(frame.numbers, frame.numbers[1:], strict=False):
        if not _DIVIDED.fullmatch(frame.text[x.end : y.start]) or x.unit not in _VALUED or y.unit not in _VALUED:
            continue
        steps = [s for p in frame.places for s in p.steps] or list(frame.carried.steps)
        for q, name in ((x, named[0]), (y, named[1])):
            held = [key for key in name.keys if judge.table.readings(q, key)]
            if not any(_cell(judge, q, key, step) for key in held for step in steps or judge.table.held(key)[:4000]):
                yield q.start, q.end
