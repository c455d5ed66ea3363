"""Compare steps, windows and runs: change, noise, correction for many looks, and a verdict with its reasons.

What decides, in this order: validation (the same problems measured twice), then training reward, then the other
metrics that have a better and a worse. A metric is compared with itself alone: same key, same meaning, same framework
and definition. A change counts when it passes the noise that the log allows to tell, corrected for the number of
metrics looked at; "unchanged" needs the whole interval within a stated band.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from assistant.analysis.compare_axes import align as aligned
from assistant.analysis.compare_findings import doubted, lone_findings, weighed
from assistant.analysis.compare_judge import MOST_TRENDS, corrected, fewer, row_of, with_trend
from assistant.analysis.compare_model import Better, CategoryOf, Comparison, DirectionOf, Kind, Reason, Side
from assistant.analysis.compare_rows import Workshop
from assistant.analysis.compare_rules import Axis, rules
from assistant.analysis.compare_settings import kl_apart
from assistant.analysis.compare_verdict import decide
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import series
from assistant.model import Run

#: ``counterpart(metric)``: the key that means the same in the second run, or the reason why none does.
Counterpart = Callable[[str], "str | Reason"]


def compare_steps(
    ledger: Ledger, a: int, b: int, *, direction: DirectionOf, run: Run | None = None,
    category: CategoryOf | None = None, sizes: Mapping[str, int] | None = None, metrics: Sequence[str] | None = None,
) -> Comparison:  # fmt: skip
    """Two steps of one run, ``a`` before and ``b`` after.

    Args:
        ledger: where facts are entered.
        a: step; it must be in the run.
        b: another step.
        direction: which way is better, by the metric's card.
        run: the ledger's first by default.
        category: category of a metric's card.
        sizes: number of problems of benchmarks by name.
        metrics: keys to compare; by default those worth a row (``compare_rules.yaml``).

    Raises:
        ValueError: a step is not in the run, or both are the same.
    """
    chosen = _run(ledger, run)
    sides = Side(chosen, a, a), Side(chosen, b, b)
    return compare_sides(ledger, *sides, direction=direction, category=category, sizes=sizes, metrics=metrics)


def compare_windows(
    ledger: Ledger, a: tuple[int, int], b: tuple[int, int], *, direction: DirectionOf, run: Run | None = None,
    category: CategoryOf | None = None, sizes: Mapping[str, int] | None = None, metrics: Sequence[str] | None = None,
) -> Comparison:  # fmt: skip
    """Means over two windows of steps ``(first, last)`` of one run; arguments as in :func:`compare_steps`.

    Raises:
        ValueError: a window holds no step of the run, or they overlap.
    """
    chosen = _run(ledger, run)
    sides = Side(chosen, *a), Side(chosen, *b)
    return compare_sides(ledger, *sides, direction=direction, category=category, sizes=sizes, metrics=metrics)


def compare_runs(
    ledger: Ledger, a: Run, b: Run, *, direction: DirectionOf, align: Axis = "step",
    category: CategoryOf | None = None, sizes: Mapping[str, int] | None = None, metrics: Sequence[str] | None = None,
    counterpart: Counterpart | None = None,
) -> Comparison:  # fmt: skip
    """Two runs, over the last quarter of the range that they share on an axis (steps, tokens seen, time).

    Further arguments as in :func:`compare_steps`; ``counterpart`` as in :func:`compare_sides`.
    """
    found = aligned(ledger, a, b, align)
    if isinstance(found, str):
        sides = [Side(run, run.steps[0] if run.steps else 0, run.steps[-1] if run.steps else 0) for run in (a, b)]
        reason = Reason(found, {"axis": align, "first": a.name, "second": b.name})
        return Comparison(
            "runs", sides[0], sides[1], align, "not_comparable", "high", (), (), (reason,), (reason,)
        )  # fmt: skip
    result = compare_sides(
        ledger, found.a, found.b, direction=direction, category=category, sizes=sizes, metrics=metrics,
        counterpart=counterpart, reach_back=True,
    )  # fmt: skip
    reasons: list[Reason] = []
    if found.ends is not None:
        values = {"axis": align, "first": found.ends[0], "second": found.ends[1], "key": str(found.keys[0])}
        reasons.append(Reason(f"aligned_{align}", values))
    if found.cut is not None and result.rows:
        reasons.append(Reason("beyond_shared", {"name": found.cut[0].name, "last": found.cut[1]}))
    return replace(result, align=align, reasons=(*result.reasons, *reasons))


def compare_sides(
    ledger: Ledger, a: Side, b: Side, *, direction: DirectionOf, category: CategoryOf | None = None,
    sizes: Mapping[str, int] | None = None, metrics: Sequence[str] | None = None,
    counterpart: Counterpart | None = None, reach_back: bool = False,
) -> Comparison:  # fmt: skip
    """Any two sides: steps or windows, of one run or two.

    Args:
        ledger: where facts are entered.
        a: before.
        b: after.
        direction: which way is better, by the card of the metric in ``a``'s run.
        category: category of that card.
        sizes: number of problems of benchmarks by name.
        metrics: keys to compare, as ``a``'s run spells them.
        counterpart: the key that means the same in ``b``'s run, or why none does; by default the same key, where
            both logs are of one framework.
        reach_back: the last validation before a side's end stands for it, wherever the side begins.

    Raises:
        ValueError: a side holds no step of its run, or they overlap.
    """
    _refuse(a, b)
    same_run = a.run is b.run
    counterpart = counterpart or (lambda metric: metric if same_run else _same_key(metric, a.run, b.run))
    categories = category or (lambda metric: None)
    bench = Workshop(ledger, sizes or {}, reach_back=reach_back)
    held_a, held_b = _held(a), _held(b)
    asked = list(dict.fromkeys(metrics)) if metrics else None
    unlike, scales = bench.unlike_work((a, b)), kl_apart(bench, a, b)
    pairs, left_out = [], []
    for metric in asked or a.run.metrics:
        other = counterpart(metric)
        if isinstance(other, Reason):
            # A key that the other log does not even hold is no news.
            left_out += [other] if other.code != "other_framework" or metric in b.run.columns else []
            continue
        group = rules().class_of(metric, categories(metric))
        apart = (unlike and rules().is_timed(metric)) or (scales and rules().contains_kl(metric))
        way = "context" if apart else _better(direction(metric))
        pair = bench.pair((metric, other), (a, b), group, way)
        if isinstance(pair, Reason):
            left_out.append(pair)
        else:
            pairs.append(pair)
    keys = set(asked or rules().select([pair.metric for pair in pairs]))
    rows = [row_of(bench, pair) for pair in pairs if pair.metric in keys]
    rows = fewer(rows) if asked is None else rows
    rows = corrected(ledger, rows)
    if sum(row.directed and row.group in {"validation", "reward"} for row in rows) <= MOST_TRENDS:
        rows = [with_trend(ledger, row, (a, b)) for row in rows]
    kind: Kind = "runs" if not same_run else "steps" if a.single and b.single else "windows"
    if not asked:
        wanted = set(rules().select([str(reason.values["metric"]) for reason in left_out]))
        left_out = [
            reason
            for reason in left_out
            if reason.values["metric"] in wanted and reason.code not in {"not_in_a", "not_in_b"}
        ]
    result = decide(ledger, bench, Comparison(
        kind, a, b, "step", "inconclusive", "medium", (), tuple(rows), (), tuple(left_out)
    ), held_a=held_a, held_b=held_b, class_of=lambda metric: rules().class_of(metric, categories(metric)))  # fmt: skip
    if result.verdict == "not_comparable":
        return result
    lone = lone_findings(ledger, a, b)
    result = doubted(result, lone, asked=bool(asked))
    # What was asked about alone keeps its own verdict; what stands beside it is told all the same.
    code = result.verdict if asked else weighed(result.verdict, lone)
    sure = result.confidence if code == result.verdict else "medium"
    return replace(result, lone=lone, verdict=code, confidence=sure)


def _run(ledger: Ledger, run: Run | None) -> Run:
    chosen = run or ledger.run
    if chosen is None:
        raise ValueError("the ledger has no run")
    return chosen


def _refuse(a: Side, b: Side) -> None:
    for side in (a, b):
        if not any(side.first <= step <= side.last for step in side.run.distinct_steps):
            raise ValueError(f"{side.run.name} has no step from {side.first} to {side.last}")
    if a.run is b.run and a.first <= b.last and b.first <= a.last:
        raise ValueError(f"steps {a.first}–{a.last} and {b.first}–{b.last} overlap")


def _same_key(metric: str, a: Run, b: Run) -> str | Reason:
    """The same key means the same only in one framework, known or alike."""
    if a.framework != b.framework:
        return Reason("other_framework", {"metric": metric, "a": _framework(a), "b": _framework(b)})
    return metric


def _framework(run: Run) -> str:
    return run.framework or run.format


def _held(side: Side) -> set[str]:
    return {metric for metric in side.run.metrics if len(series(side.run, metric).between(side.first, side.last))}


def _better(text: str) -> Better:
    return cast(Better, text) if text in {"higher_better", "lower_better", "neutral"} else "context"
