"""Tags of a question as a plan: which values are to be told and set against each other, or which steps meet limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assistant.ask.conditions import Condition
from assistant.ask.context import is_validation
from assistant.ask.plan.tags import Tag
from assistant.ask.query import State
from assistant.ask.steps import training_steps
from assistant.model import Run

WINDOWS: Final = frozenset(
    {"range", "first_n", "last_n", "previous_n", "after", "since", "before", "until", "first_half", "last_half",
     "whole", "point", "at_last", "at_first"}
)  # fmt: skip
_POINTS: Final = frozenset({"point", "at_last", "at_first"})
_POINTING: Final = frozenset({"there", "back", "before_it", "after_it", "around"})
_TOLD: Final = frozenset({"count", "share", "list"})
#: Tags that only follow-ups and limits know.
_READ_ELSEWHERE: Final = frozenset({"rank", "moved", "percent", "except", "these"})
MOST_OUTPUTS: Final = 8


@dataclass(frozen=True, slots=True)
class Limit:
    """A condition on a metric."""

    metric: str
    condition: Condition


@dataclass(frozen=True, slots=True)
class Output:
    """One value to be told: a statistic of a metric from one step to another (or of the steps ``among`` them, which may
    be those that meet ``limits``), or its value at one step."""

    metric: str
    stat: str
    first: int
    last: int
    whole: bool = False
    among: tuple[int, ...] = ()
    limits: tuple[Limit, ...] = ()

    @property
    def point(self) -> bool:
        """Whether it is the value of one step."""
        return self.stat == "value"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a question asks for.

    Attributes:
        outputs: values to be told, in order.
        difference: whether the first two are to be subtracted.
        ratio: whether they are to be divided, the first by the second.
        factor: whether it is the second by the first.
        which: whether the largest (``max``) or the smallest of them is asked for; empty for neither.
        limits: that steps must meet at once; their count, share and list is told where ``steps`` is set.
        steps: first and last step among which they are looked for.
        apart: whether each limit is counted for itself.
        event: the step that the parts lie before and after, and the limit first met there.
        listed: whether the steps themselves are asked for.
        noise: whether it is asked if their difference is beyond noise.
        moved: whether it is asked if the second is higher (``up``) or lower than the first; empty for neither.
        percent: whether the difference is asked for as a share of the first.
        first_met: whether the values are those at the step of the event.
    """

    outputs: tuple[Output, ...] = ()
    difference: bool = False
    ratio: bool = False
    factor: bool = False
    which: str = ""
    limits: tuple[Limit, ...] = ()
    steps: tuple[int, int] | None = None
    apart: bool = False
    event: tuple[int, Limit] | None = None
    listed: bool = False
    noise: bool = False
    moved: str = ""
    percent: bool = False
    first_met: bool = False


def plan_of(tags: Sequence[Tag], run: Run, state: State | None) -> Plan | None:
    """The plan that the tags make; ``None`` where they make none, or one that single questions make as well."""
    kinds = {tag.kind for tag in tags}
    metrics = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "metric"))
    if not metrics and state is not None and state.cells:
        last = state.cells[-1]
        if last.alone and last.statistic == "value" and kinds <= {"stat", "and"}:
            return _members_there(tags, last.metric, int(last.first or 0), run)
        metrics = [last.metric]
    if not metrics or any(metric not in run.columns for metric in metrics) or kinds & _READ_ELSEWHERE:
        return None
    counts = [int(tag.value[0]) for tag in tags if tag.kind == "all_n"]
    if any(count != len(run.series(metrics[0])[0]) for count in counts):
        return None
    limits = limits_of(tags, metrics, run)
    if limits is None:
        return None
    if limits and kinds & _TOLD and not kinds & _POINTING:
        return _counted(tags, kinds, limits, metrics, run)
    if len(limits) == 1 and kinds & _POINTING:
        return _around_event(tags, kinds, limits[0], metrics, run)
    if limits or kinds & {"first_time", "list", "share"}:
        return None
    if kinds & {"there", "around", "back"} and (found := _at_extreme(tags, metrics, run)) is not None:
        return found
    if kinds & _POINTING or "count" in kinds:
        return None
    return _outputs(tags, kinds, metrics, run, state)


def _members_there(tags: Sequence[Tag], metric: str, step: int, run: Run) -> Plan | None:
    """ "And the max and the min?" of a mean told at one step: the members of its family at that step."""
    family = metric.rsplit("/", 1)[0]
    keys = [f"{family}/{tag.value[0]}" for tag in tags if tag.kind == "stat"]
    if len(keys) < 2 or "/" not in metric or any(run.value(key, step) is None for key in keys):
        return None
    return Plan(tuple(Output(key, "value", step, step) for key in dict.fromkeys(keys)))


# -- limits ------------------------------------------------------------------------------------------------------------
def limits_of(tags: Sequence[Tag], metrics: Sequence[str], run: Run) -> list[Limit] | None:
    """Each limit with the metric named last before it, or else next after it."""
    found = []
    for place, tag in enumerate(tags):
        if tag.kind != "limit":
            continue
        named = [str(one.value[0]) for one in tags[:place] if one.kind == "metric"]
        later = [str(one.value[0]) for one in tags[place:] if one.kind == "metric"]
        metric = named[-1] if named else later[0] if later else metrics[-1]
        if metric not in run.columns:
            return None
        kind, value, percent = str(tag.value[0]), float(tag.value[1]), tag.value[2] == "%"
        largest = max((abs(v) for v in run.series(metric)[1] if math.isfinite(v)), default=0.0)
        high = float(tag.value[3]) if kind == "between" else value
        condition = Condition(kind, value, high, percent)  # type: ignore[arg-type]
        found.append(Limit(metric, condition.scaled(largest)))
    return found


def _counted(
    tags: Sequence[Tag], kinds: set[str], limits: Sequence[Limit], metrics: Sequence[str], run: Run
) -> Plan | None:
    """Steps that meet limits: several at once, or counted, shared out and listed in one question."""
    windows = [tag for tag in tags if tag.kind in WINDOWS]
    if len(windows) > 1 or any(tag.kind in _POINTS for tag in windows):
        return None
    sides = {(one.metric, one.condition.kind) for one in limits}
    apart = len(sides) < len(limits)
    if apart and (len(sides) > 1 or len(limits) > 2):
        return None
    told = kinds & _TOLD
    if len({one.metric for one in limits}) > 1 or not (apart or len(told) > 1 or ("share" in told and windows)):
        return None
    steps = window_of(windows[0], limits[0].metric, run) if windows else ends_of(run, [one.metric for one in limits])
    stats = [str(tag.value[0]) for tag in tags if tag.kind == "stat"]
    outputs = tuple(Output(metrics[0], stat, *steps, not windows) for stat in stats) if steps else ()
    if steps is None or kinds & {"difference", "ratio"} - ({"difference"} if apart else set()):
        return None
    return Plan(outputs, limits=tuple(limits), steps=steps, apart=apart, listed="list" in told)


def _around_event(tags: Sequence[Tag], kinds: set[str], limit: Limit, metrics: Sequence[str], run: Run) -> Plan | None:
    """Statistics before and after the first step that meets a limit."""
    sides = [tag.kind for tag in tags if tag.kind in {"before_it", "after_it"}]
    if len(set(sides)) != 2 or kinds & (WINDOWS | {"there", "back", "around", "share", "list", "count"}):
        return None
    steps, values = run.series(limit.metric)
    at = next((s for s, v in zip(steps, values, strict=True) if math.isfinite(v) and limit.condition.holds(v)), None)
    stats = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "stat")) or ["mean"]
    others = [metric for metric in metrics if metric != limit.metric] or [limit.metric]
    if at is None or len(stats) > 1 or len(others) > 2:
        return None
    outputs = []
    for metric in others:
        held = run.series(metric)[0]
        for side in dict.fromkeys(sides):
            part = [s for s in held if (s < at if side == "before_it" else s >= at)]
            if not part:
                return None
            outputs.append(Output(metric, stats[0], part[0], part[-1]))
    return Plan(tuple(outputs), "difference" in kinds or len(others) == 1, factor="ratio" in kinds, event=(at, limit))


def _at_extreme(tags: Sequence[Tag], metrics: Sequence[str], run: Run) -> Plan | None:
    """The value of one metric, or of the same around, where another (or itself) is largest or smallest."""
    if any(tag.kind in WINDOWS | {"before_it", "after_it", "share", "list", "count"} for tag in tags):
        return None
    extremes = [place for place, tag in enumerate(tags) if tag.kind == "stat" and tag.value[0] in {"max", "min"}]
    pointing = [place for place, tag in enumerate(tags) if tag.kind in {"there", "back", "around"}]
    if len(extremes) != 1 or extremes[0] > pointing[0] or len(metrics) > 3:
        return None
    named = [str(tag.value[0]) for tag in tags[: pointing[0]] if tag.kind == "metric"]
    if len(set(named)) != 1:
        return None
    steps, values = run.series(named[0])
    finite = [(v, s) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    if len(finite) < 2:
        return None
    high = tags[extremes[0]].value[0] == "max"
    best = max(v for v, _ in finite) if high else min(v for v, _ in finite)
    where = [s for v, s in finite if v == best]
    if len(where) > 1:
        return None
    outputs = [Output(named[0], "max" if high else "min", finite[0][1], finite[-1][1], True)]
    others = [metric for metric in metrics if metric != named[0]] or [named[0]]
    shift = next((int(tags[place].value[0]) for place in pointing if tags[place].kind == "back"), 0)
    if pointing[0] == extremes[0] + 1 and tags[pointing[0]].kind == "there":
        return None  # "where the KL is highest": one clause
    around = next((int(tags[place].value[0]) for place in pointing if tags[place].kind == "around"), 0)
    stats = [str(tag.value[0]) for tag in tags if tag.kind == "stat" and tag.value[0] not in {"max", "min"}]
    for metric in others:
        held = list(run.series(metric)[0])
        if around:
            before, after = [s for s in held if s < where[0]][-around:], [s for s in held if s > where[0]][:around]
            if not before or not after:
                return None
            stat = stats[0] if stats else "mean"
            outputs += [Output(metric, stat, before[0], before[-1]), Output(metric, stat, after[0], after[-1])]
            continue
        if stats:
            return None
        beside = [s for s in held if s > where[0]] if shift > 0 else [s for s in held if s < where[0]][::-1]
        at = where[0] if not shift else beside[abs(shift) - 1] if len(beside) >= abs(shift) else None
        if at is None or at not in held:
            return None
        outputs.append(Output(metric, "value", at, at))
    return Plan(tuple(outputs)) if len(outputs) > 1 and (shift or around or len(others) > 0) else None


# -- values ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Clause:
    metrics: tuple[str, ...] = ()
    windows: tuple[Tag, ...] = ()
    stats: tuple[str, ...] = ()


def _outputs(
    tags: Sequence[Tag], kinds: set[str], metrics: Sequence[str], run: Run, state: State | None
) -> Plan | None:
    """Statistics of several metrics, or over several parts of the run, or several of one."""
    clauses = _clauses(tags)
    if not clauses:
        return None
    filled = _filled(clauses, metrics)
    outputs: list[Output] = []
    for clause in filled:
        for metric in clause.metrics:
            for window in clause.windows or (None,):
                ends = ends_of(run, [metric]) if window is None else window_of(window, metric, run, state)
                if ends is None:
                    return None
                point = window is not None and (window.kind in _POINTS or (ends[0] == ends[1] and not clause.stats))
                if point and clause.stats:
                    return None
                stats = ("value",) if point else clause.stats or (("mean",) if window is not None else ())
                if not stats:
                    return None
                outputs += [Output(metric, stat, *ends, window is None) for stat in stats]
    outputs = list(dict.fromkeys(outputs))
    if len({one.metric for one in outputs}) > 1 and any(one.stat in {"max", "min"} and one.whole for one in outputs):
        return None  # where one of them is largest, or each
    combined = kinds & {"difference", "ratio", "which"}
    if not (1 if "percentile" in kinds else 2) <= len(outputs) <= MOST_OUTPUTS:
        return None
    scattered = len(clauses) > 1 and any(one.metrics and not one.windows for one in clauses)
    alone = len({one.metric for one in outputs}) == 1
    if all(one.point for one in outputs) and not (combined - {"difference"} if alone else combined or scattered):
        return None  # a look-up of one step, or the change between two
    if (combined - {"which"} and len(outputs) != 2) or (combined and not alone):
        return None
    which = next((str(tag.value[0]) for tag in tags if tag.kind == "which"), "")
    against = alone and len(outputs) == 2 and any(tag.kind == "and" and tag.value for tag in tags)
    ways = {str(tag.value[0]) for tag in tags if tag.kind == "ratio"}
    same = len({(one.metric, one.stat) for one in outputs}) == 1
    return Plan(
        tuple(outputs),
        "difference" in kinds or against,
        "of" in ways or ("by" in ways and not same),
        "by" in ways and same,
        which,
    )


def _clauses(tags: Sequence[Tag]) -> list[_Clause]:
    """What stands between the words that join, without those that name no metric, part or statistic."""
    clauses, here = [], _Clause()
    for place, tag in enumerate((*tags, Tag("and", (), 0, 0))):
        if tag.kind == "and":
            if here != _Clause():
                clauses.append(here)
            here = _Clause()
        elif tag.kind == "metric":
            here = replace(here, metrics=(*here.metrics, str(tag.value[0])))
        elif tag.kind in WINDOWS:
            here = replace(here, windows=(*here.windows, tag))
        elif tag.kind == "stat" and not (place and tags[place - 1].kind == "stat"):  # "the longest average answer"
            here = replace(here, stats=(*here.stats, str(tag.value[0])))
        elif tag.kind == "percentile":
            here = replace(here, stats=(*here.stats, f"p{tag.value[0]}"))
    return clauses


def _filled(clauses: Sequence[_Clause], metrics: Sequence[str]) -> list[_Clause]:
    """Each clause with what it leaves out: of the one before it, or else of the next that has it."""
    filled = []
    for place, own in enumerate(clauses):
        missing: dict[str, tuple[Any, ...]] = {}
        for name in ("metrics", "windows", "stats"):
            if getattr(own, name):
                continue
            before = next((got for one in reversed(clauses[:place]) if (got := getattr(one, name))), ())
            after = next((got for one in clauses[place + 1 :] if (got := getattr(one, name))), ())
            missing[name] = before or after or (tuple(metrics[-1:]) if name == "metrics" else ())
        filled.append(replace(own, **missing))
    return filled


def ends_of(run: Run, metrics: Sequence[str]) -> tuple[int, int] | None:
    """First and last step at which any of some metrics has a value."""
    held = [run.series(metric)[0] for metric in metrics]
    if any(len(steps) == 0 for steps in held):
        return None
    return int(min(steps[0] for steps in held)), int(max(steps[-1] for steps in held))


def window_of(tag: Tag, metric: str, run: Run, state: State | None = None) -> tuple[int, int] | None:
    """First and last step of a part, where the metric has values there."""
    own = [int(step) for step in run.series(metric)[0]]
    training = [int(step) for step in training_steps(run)]
    counted = own if is_validation(metric) or not training else training
    if not own:
        return None
    number = int(tag.value[0]) if tag.value and not isinstance(tag.value[0], str) else 0
    kind = tag.kind
    if kind == "previous_n":
        held = next((one for one in reversed(state.cells) if one.first is not None), None) if state else None
        before = [] if held is None else [s for s in counted if s < (held.first or 0)][-number:]
        return (before[0], before[-1]) if len(before) == number and number else None
    picked = {
        "range": lambda: [s for s in own if tag.value[0] <= s <= tag.value[1]],  # type: ignore[operator]
        "first_n": lambda: _counted_off(counted, number, own),
        "last_n": lambda: _counted_off(counted, -number, own),
        "after": lambda: [s for s in own if s > number],
        "since": lambda: [s for s in own if s >= number],
        "before": lambda: [s for s in own if s < number],
        "until": lambda: [s for s in own if s <= number],
        "first_half": lambda: own[: len(own) // max(1, number)],
        "last_half": lambda: own[-(len(own) - len(own) // 2 if number == 2 else len(own) // max(1, number)) :],
        "whole": lambda: own,
        "point": lambda: [s for s in own if s == number],
        "at_last": lambda: own[-1:],
        "at_first": lambda: own[:1],
    }[kind]()
    return (picked[0], picked[-1]) if picked else None


def _counted_off(counted: Sequence[int], number: int, own: Sequence[int]) -> list[int]:
    """The values of a metric within the first or last so many steps that the log has."""
    if not 0 < abs(number) <= len(counted):
        return []
    part = counted[:number] if number > 0 else counted[number:]
    return [s for s in own if part[0] <= s <= part[-1]]
