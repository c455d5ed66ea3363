"""What the log shows of complaints about the time, the memory, values that are no numbers, and the run as a whole."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.causes import keys_for
from assistant.ask.complaint_course import Course, course_of, ends, times
from assistant.ask.complaints import Complaint
from assistant.ask.context import Context, is_validation
from assistant.ask.parts import number, timed, unnamed_share
from assistant.ask.stages import all_stages, mean_of, totals
from assistant.model import Fact

#: A step's time that grew by this factor is told as growing; how far apart two factors are to differ.
GROWN: Final = 1.3
APART: Final = 1.3
#: Share of a step under no name from which that is told first.
UNNAMED: Final = 0.3
#: A value this many times the highest before it announces what follows.
WARNED: Final = 1.5
#: A move this many times the usual counts as a jump of the run.
JUMP: Final = 1.5
MOST: Final = 4
_MEMORY: Final = re.compile(r"(?i)memory|(?:^|[/_. ])(?:gpu_?)?mem(?:[/_. ]|$)|peak mem|vram|显存|内存")
_RESERVED, _ALLOCATED = re.compile(r"(?i)reserved"), re.compile(r"(?i)allocated")
_RATES: Final = re.compile(
    r"(?i)throughput|tokens?[_/ ]?(?:per|/)[_/ ]?s|tokens_per|tflop|samples[_/ ]per[_/ ]s|(?:^|/)mfu"
)
_VITAL: Final = (
    "policy_entropy", "ref_kl", "old_kl", "grad_norm", "score_mean", "reward_mean", "plain_reward",
    "response_length_mean", "val_accuracy", "training_loss", "value_loss",
)  # fmt: skip


# -- the time ----------------------------------------------------------------------------------------------------------
def time(context: Context, complaint: Complaint) -> str | None:
    """How long a step takes, whether that grew, and the largest part of it; ``None`` for a log without times."""
    say = context.say
    if len(complaint.metrics) > 1 and (text := _stages(context, complaint.metrics)) is not None:
        return text
    if complaint.metrics and (text := _stage(context, complaint.metrics[0])) is not None:
        return text
    if complaint.metrics and complaint.metrics[0] in context.run.columns:
        course = course_of(context, complaint.metrics[0])
        if course is not None and _RATES.search(course.metric):
            return _rate(context, course)
    found = totals(context)
    if found is None or not found.totals:
        return None
    steps = sorted(found.totals)
    first, last = found.totals[steps[0]], found.totals[steps[-1]]
    grown = len(steps) > 1 and number(first) > 0 and number(last) / number(first) >= GROWN
    context.metrics.extend([found.whole] if found.whole else [])
    if grown:
        text = say("complaint.step_time_grows", a=first, b=last, times=times(context, first, last))
    elif len(steps) == 1:
        text = say("complaint.step_time_one", a=first)
    else:
        mean = mean_of(context, found.whole or "step time", [found.totals[step] for step in steps], "s")
        shown = context.doc.show(mean, None, "seconds")
        text = say("complaint.step_time", mean=shown, n=context.ledger.count("steps", len(steps)))
    text += _largest(context, steps[-1])
    blank = "" if context.language == "zh" else " "
    if complaint.state == "standstill":
        text = say("complaint.standstill", b=last) + blank + text
    return text + (blank + with_lengths if grown and (with_lengths := _with_lengths(context, first, last)) else "")


def _largest(context: Context, step: int) -> str:
    """The largest part of a step, and the next; first what belongs to no part, where that is much."""
    say = context.say
    shares, rest = _shares(context, step)
    if not shares:
        return say("complaint.stop")
    if rest is not None and number(rest) >= UNNAMED:
        blank = "" if context.language == "zh" else " "
        told = say("complaint.unnamed", share=rest, metric=str(shares[0].name), part=shares[0])
        return say("complaint.stop") + blank + told
    more = say("complaint.second", metric=str(shares[1].name), share=shares[1]) if len(shares) > 1 else ""
    return say("complaint.largest", metric=str(shares[0].name), share=shares[0], more=more)


def _shares(context: Context, step: int) -> tuple[list[Fact], Fact | None]:
    """The shares of a step's parts, largest first, and of what belongs to none of them.

    Where the parts of a framework's step are not known, those are taken that are timed under the same heading.
    """
    found = timed(context, step, back=False)
    if found is not None and found.shares:
        return sorted(found.shares, key=number, reverse=True), unnamed_share(context, found)
    whole = totals(context)
    total = None if whole is None else whole.totals.get(step)
    if whole is None or total is None or number(total) <= 0:
        return [], None
    if whole.whole is None:
        parts = list(all_stages(context))
    else:
        heading = whole.whole.rpartition("/")[0]
        parts = [key for key in context.run.metrics if key != whole.whole and key.rpartition("/")[0] == heading]
    cells = [cell for key in parts if context.kind_of(key) == "seconds" and (cell := context.value(key, step))]
    within = [cell for cell in cells if 0 < number(cell) < number(total)]
    shares = [
        context.ledger.share(
            str(cell.metric), whole.whole or "sum of stages", step, number(cell) / number(total), inputs=[cell, total]
        )
        for cell in within
    ]
    return sorted(shares, key=number, reverse=True), None


def _with_lengths(context: Context, first: Fact, last: Fact) -> str:
    """How the responses' length moved while the time grew."""
    held = keys_for(context.run, "length")[:1]
    course = course_of(context, held[0]) if held else None
    if course is None or len(course.facts) < 2 or number(course.facts[0]) <= 0:
        return ""
    say = context.say
    a, b = course.facts[0], course.facts[-1]
    text = say("complaint.length_with", metric=course.metric, ends=ends(context, course), times=times(context, a, b))
    slower, longer = number(last) / number(first), number(b) / number(a)
    blank = "" if context.language == "zh" else " "
    if slower / longer >= APART:
        return text + blank + say("complaint.length_more")
    return text + blank + say("complaint.length_same") if longer >= GROWN else text


def _stage(context: Context, metric: str) -> str | None:
    """A stage's share of the last step that holds it, and whether it is the largest; its course where it grew."""
    say = context.say
    steps = [step for step in context.run.series(metric)[0] if context.value(metric, step) is not None]
    whole = totals(context)
    total = whole.totals.get(steps[-1]) if whole is not None and steps else None
    shares = _shares(context, steps[-1])[0] if total is not None else []
    own = next((share for share in shares if share.name == metric), None)
    if total is None or own is None:
        return None
    cell = context.value(metric, steps[-1])
    text = say(
        "complaint.stage", metric=metric, share=own, step=steps[-1],
        a=context.doc.show(cell, None, "seconds") if cell is not None else "",
        b=context.doc.show(total, None, "seconds"),
    )  # fmt: skip
    others = [share for share in shares if share is not own]
    if own is shares[0]:
        more = say("complaint.second", metric=str(others[0].name), share=others[0]) if others else ""
        text += say("complaint.stage_largest", more=more)
    else:
        text += say("complaint.stage_not_largest", metric=str(shares[0].name), share=shares[0])
    course = course_of(context, metric)
    context.metrics.append(metric)
    if course is not None and len(course.facts) > 1 and number(course.facts[0]) > 0:
        a, b = course.facts[0], course.facts[-1]
        if number(b) / number(a) >= GROWN:
            blank = "" if context.language == "zh" else " "
            text += blank + say("complaint.rising", so="", metric=metric, ends=ends(context, course),
                                times=times(context, a, b))  # fmt: skip
    return text


def _stages(context: Context, metrics: Sequence[str]) -> str | None:
    """The shares of several stages at the last step."""
    steps = context.train_steps
    found = timed(context, steps[-1], back=False) if steps else None
    held = {str(share.name): share for share in (found.shares if found is not None else ())}
    named = [held[name] for name in metrics if name in held]
    if found is None or len(named) < 2:
        return None
    listed = context.join(f"`{share.name}` {context.doc.show(share)}" for share in named)
    context.metrics.extend(str(share.name) for share in named)
    return context.say("complaint.stages", step=found.step, listed=listed)


def _rate(context: Context, course: Course) -> str:
    """How fast it is, by a rate that the log prints."""
    context.metrics.append(course.metric)
    count = context.ledger.count("values", len(course.facts), metric=course.metric)
    return context.say(
        "complaint.rate", metric=course.metric, ends=ends(context, course), n=count, low=course.low, high=course.high
    )


# -- the memory --------------------------------------------------------------------------------------------------------
def memory(context: Context) -> str:
    """What the log has of memory, from where to where; else what it has of the load."""
    say = context.say
    found = [course for key in context.run.metrics if _MEMORY.search(key) and (course := course_of(context, key))]
    found.sort(key=_growth, reverse=True)
    if not found:
        load = [
            course for what in ("length",) for key in keys_for(context.run, what) if (course := course_of(context, key))
        ]
        listed = context.join(say("complaint.run_end", metric=c.metric, ends=ends(context, c)) for c in load)
        return say("complaint.no_memory", listed=listed) if load else say("complaint.no_memory_bare")
    items = [
        say("complaint.memory_item", metric=c.metric, a=c.facts[0], b=c.facts[-1])
        if len(c.facts) > 1
        else say("complaint.memory_one", metric=c.metric, a=c.facts[0])
        for c in found[:MOST]
    ]
    context.metrics.extend(course.metric for course in found[:MOST])
    text = say("complaint.memory", listed=context.join(items))
    kept, used = (next((c for c in found if one.search(c.metric)), None) for one in (_RESERVED, _ALLOCATED))
    if kept is not None and used is not None and len(kept.facts) > 1:
        gained = [number(c.facts[-1]) - number(c.facts[0]) for c in (kept, used)]
        if gained[0] > 0 and gained[0] > 2 * max(gained[1], 0.0):
            text += ("" if context.language == "zh" else " ") + say("complaint.memory_cache")
    return text


def _growth(course: Course) -> float:
    first, last = number(course.facts[0]), number(course.facts[-1])
    return last / first if first > 0 else 0.0


# -- values that are no numbers ----------------------------------------------------------------------------------------
def not_finite(context: Context, named: Sequence[str]) -> str | None:
    """Which values are no finite numbers first, what stood a step before, and what came of it."""
    say, run = context.say, context.run
    found: dict[str, int] = {}
    for metric in run.metrics:
        bad = [cell.step for cell in run.cells(metric) if not math.isfinite(cell.value)]
        if bad:
            found[metric] = bad[0]
    # a training that breaks is told by its own metrics; evaluations where nothing else is broken
    firsts = {metric: step for metric, step in found.items() if not is_validation(metric)} or found
    if not firsts:
        return say("complaint.nan_none", n=context.ledger.count("metrics", len(run.metrics)))
    at = min(firsts.values())
    broken = sorted((key for key, step in firsts.items() if step == at), key=lambda key: key not in named)[:MOST]
    fact = context.value(broken[0], at)
    assert fact is not None
    context.metrics.extend(broken)
    listed = context.join(f"`{key}`" for key in broken)
    blank = "" if context.language == "zh" else " "
    again = next((cell for cell in run.cells(broken[0]) if cell.step > at and math.isfinite(cell.value)), None)
    back = None if again is None else context.value(broken[0], again.step)
    if at == run.distinct_steps[0] and back is not None:  # it was so at the beginning, and is no more
        return say("complaint.nan", metrics=listed, a=fact) + blank + say("complaint.nan_back", b=back)
    if at == run.distinct_steps[0]:
        count = context.ledger.count("metrics broken", len(broken))
        text = say("complaint.nan_all", metrics=listed, a=fact, k=count)
        rest = context.ledger.count("other metrics", len(run.metrics) - len(firsts))
        return text + blank + say("complaint.nan_others", n=rest) if len(run.metrics) > len(firsts) else text
    text = say("complaint.nan", metrics=listed, a=fact)
    before = [step for step in run.distinct_steps if step < at]
    cells = [cell for key in broken if (cell := context.value(key, before[-1])) is not None]
    if cells:
        shown = context.join(f"`{cell.metric}` {context.doc.show(cell)}" for cell in cells)
        text += blank + say("complaint.nan_before", b=cells[0], values=shown)
    for what in ("grad_norm", "ref_kl"):
        warned = _warned(context, what, before)
        if warned:
            text += blank + warned
            break
    reward = keys_for(run, "reward")[:1]
    course = course_of(context, reward[0]) if reward else None
    if course is not None:
        zero = [cell for cell in course.facts if (cell.step or 0) >= at and not number(cell)]
        earlier = [cell for cell in course.facts if (cell.step or 0) < at and number(cell)]
        if zero and earlier:
            text += blank + say("complaint.nan_zero", metric=reward[0], z=zero[0])
    return text


def _warned(context: Context, what: str, before: Sequence[int]) -> str:
    """A metric that had jumped a step before; empty for none."""
    for key in keys_for(context.run, what)[:1]:
        cells = [cell for step in before if (cell := context.value(key, step)) is not None]
        finite = [cell for cell in cells if isinstance(cell.value, (int, float)) and math.isfinite(cell.value)]
        if len(finite) < 2 or finite[-1].step != before[-1]:
            continue
        high = max(finite[:-1], key=number)
        if number(high) > 0 and number(finite[-1]) >= WARNED * number(high):
            return context.say("complaint.nan_warned", metric=key, b=finite[-1], high=high)
    return ""


# -- the run as a whole ------------------------------------------------------------------------------------------------
def before_zero(context: Context, metric: str, *, scored: bool) -> str:
    """What moved most up to the step from which a metric is zero, a score or another; empty for nothing."""
    at = next((step for step, value in zip(*context.run.series(metric), strict=True) if not value), None)
    courses = [course for course in _vital(context) if course.metric != metric]
    moves = {step: found for step, found in _moves(courses).items() if at is not None and step <= at}
    if not moves:
        return ""
    found = _largest_moves(moves)
    listed = context.join(context.say("complaint.run_item", metric=str(b.metric), a=a, b=b) for _, a, b in found)
    phrase = "complaint.before_zero" if scored else "complaint.beside_zero"
    return context.say(phrase, after=found[0][2], listed=listed)


def whole(context: Context, *, garbled: bool) -> str | None:
    """The step at which the key metrics moved most, and how they did."""
    say = context.say
    courses = _vital(context)
    if not courses:
        return None
    moves = _moves(courses)
    blank = "" if context.language == "zh" else " "
    tail = blank + say("complaint.no_text") if garbled else ""
    if not moves:
        listed = context.join(say("complaint.run_end", metric=c.metric, ends=ends(context, c)) for c in courses[:MOST])
        return say("complaint.run_still", listed=listed) + tail
    found_moves = _largest_moves(moves)
    context.metrics.extend(str(b.metric) for _, _, b in found_moves)
    listed = context.join(say("complaint.run_item", metric=str(b.metric), a=a, b=b) for _, a, b in found_moves)
    return say("complaint.run_moved", after=found_moves[0][2], listed=listed) + tail


def _vital(context: Context) -> list[Course]:
    """The key metrics' courses."""
    courses: list[Course] = []
    for name in _VITAL:
        found = role(context.run, name)
        course = course_of(context, found.metrics[0]) if found is not None and found.spelling.plain else None
        if course is not None and len(course.facts) > 1 and course.metric not in {one.metric for one in courses}:
            courses.append(course)
    return courses


def _moves(courses: Sequence[Course]) -> dict[int, list[tuple[float, Fact, Fact]]]:
    """The jumps of metrics by the step at which they end: by which factor, from and to."""
    moves: dict[int, list[tuple[float, Fact, Fact]]] = {}
    for course in courses:
        for a, b in pairwise(course.facts):
            size = _moved(number(a), number(b))
            if size >= JUMP:
                moves.setdefault(b.step or 0, []).append((size, a, b))
    return moves


def _largest_moves(moves: dict[int, list[tuple[float, Fact, Fact]]]) -> list[tuple[float, Fact, Fact]]:
    """The jumps of the step at which most moved, largest first."""
    at = max(moves, key=lambda step: math.fsum(math.log(size) for size, _, _ in moves[step]))
    return sorted(moves[at], key=lambda one: one[0], reverse=True)[:MOST]


def _moved(before: float, after: float) -> float:
    """By which factor a value moved, up or down; at most 1,000."""
    low, high = sorted((abs(before), abs(after)))
    return 1000.0 if low == 0 and high > 0 else 1.0 if high == 0 else min(high / low, 1000.0)


__all__ = ["before_zero", "memory", "not_finite", "time", "whole"]
