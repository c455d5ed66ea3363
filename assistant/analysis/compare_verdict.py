"""The verdict of a comparison from its rows, and everything that qualifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.analysis.compare_judge import TREND_POINTS
from assistant.analysis.compare_model import Code, Comparison, Reason, Row
from assistant.analysis.compare_rows import Workshop
from assistant.analysis.compare_rules import DECIDING, MetricClass, rules
from assistant.analysis.compare_settings import differing, kl_apart
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import series
from assistant.model import Fact
from assistant.model.answer import Confidence

ClassOf = Callable[[str], MetricClass]
#: Most facts that a verdict names.
MOST_DECISIVE = 3
#: Bases of a validation's noise that are measured or bounded, rather than taken from a few validations nearby.
MEASURED = frozenset({"resampling", "share_bound"})
#: Reasons that name the correlation allowed for, whether their rows' intervals hold more than 95 %, and its formula.
CORRELATIONS = (
    ("basis_averaged", False, "mean over what the log leaves plausible, the largest of the rows"),
    ("basis_autocorrelated", True, "upper end of what the log leaves plausible, at most 0.9"),
)
#: A change of a metric without better or worse is told from this factor on, at most so many.
LARGE, MOST_LARGE = 1.5, 3


def decide(
    ledger: Ledger, bench: Workshop, draft: Comparison, *, held_a: set[str], held_b: set[str], class_of: ClassOf
) -> Comparison:
    """The comparison with verdict, confidence, decisive rows and reasons.

    The highest class with a row that has a better and a worse decides: validation, then reward, then stability;
    where nothing else is there, speed. Only what passes the correction counts; rows of one class that go both ways
    make it ``mixed``; ``unchanged`` needs every row of the class within its band.
    """
    early = [row for row in draft.rows if row.group == "validation" and _before_training(ledger, draft, row, class_of)]
    directed = [row for row in draft.rows if row.directed and row not in early]
    group = next((g for g in (*DECIDING, "speed") if any(row.group == g for row in directed)), None)
    rows = [row for row in directed if row.group == group]
    code = verdict_of(rows)
    passed_over: list[Row] = []
    if group == "validation" and code == "inconclusive" and not any(row.basis in MEASURED for row in rows):
        # A handful of validations of unknown noise settles nothing; a reward that is settled then does.
        rewards = [row for row in directed if row.group == "reward"]
        if verdict_of(rewards) not in {"inconclusive", "unchanged"}:
            passed_over, group, rows, code = rows, "reward", rewards, verdict_of(rewards)
    apart = _apart(draft, held_a, held_b, class_of)
    if apart is not None and group not in {"validation", "reward"}:
        code, rows = "not_comparable", []
    elif not draft.rows:
        code = "not_comparable"
    elif early and group is None:
        rows = []
    elif not rows and all(row.code == "unchanged" for row in draft.rows):
        code, rows = "unchanged", list(draft.rows)
    elif group is None:
        rows = list(draft.rows)  # nothing can be better or worse, but what changed is said
    decisive = sorted(rows, key=lambda row: _weight(row, code))[:MOST_DECISIVE]
    reasons = [] if apart is None else [apart]
    if code != "not_comparable":
        reasons += [Reason("validation_at_start", {"metric": row.metric, "c": row.change}) for row in early[:1]]
        reasons += [_said(row) for row in decisive]
        scales = kl_apart(bench, draft.a, draft.b)
        reasons = [_on_scales(reason, scales) for reason in reasons]
        reasons += [Reason("validation_open", {"metric": row.metric, "c": row.change}) for row in passed_over[:1]]
        reasons += _against(draft.rows, group, code)
        reasons += _large(draft.rows, decisive)
        reasons += _per_token(ledger, bench, draft)
        reasons += _between(ledger, draft, decisive)
    elif apart is None:
        reasons.append(_not_finite_side(draft) or Reason("nothing_shared"))
    if draft.rows:
        reasons += _limits(ledger, bench, draft, group, decisive)
    sure = _confidence(code, group, decisive)
    return replace(
        draft, verdict=code, confidence=sure, decisive=tuple(decisive), reasons=tuple(_once(reasons)),
    )  # fmt: skip


def _before_training(ledger: Ledger, draft: Comparison, row: Row, class_of: ClassOf) -> bool:
    """Whether a validation of two runs was made before training on either side: it measures where they began."""
    if draft.kind != "runs":
        return False
    cells = [fact for name in row.change.inputs or () if (fact := ledger.get(name)) is not None]
    for side, metric in ((draft.a, row.metric), (draft.b, row.other)):
        mine = [f for f in cells if f.kind == "value" and f.metric == metric and f.run == side.run.id]
        trained = [m for m in side.run.metrics if class_of(m) in {"reward", "stability"}]
        first = min((int(s.steps[0]) for m in trained if len(s := series(side.run, m))), default=None)
        begins = side.run.distinct_steps[0]
        if first is not None and any(f.step == begins < first for f in mine):
            return True
    return False


def _not_finite_side(draft: Comparison) -> Reason | None:
    """A metric that both sides print, but of which one holds nothing that is a finite number."""
    for metric in rules().select(draft.a.run.metrics) or draft.a.run.metrics:
        for side in (draft.a, draft.b):
            column = side.run.columns.get(metric)
            if column is None:
                break
            inside = [side.first <= side.run.steps[row] <= side.last for row in column.rows]
            if any(inside) and not len(series(side.run, metric).between(side.first, side.last)):
                return Reason("not_finite_side", {"metric": metric, "first": side.first, "last": side.last})
    return None


def _once(reasons: Sequence[Reason]) -> list[Reason]:
    """Each sentence once."""
    kept: list[Reason] = []
    for reason in reasons:
        if reason not in kept:
            kept.append(reason)
    return kept


def verdict_of(rows: Sequence[Row]) -> Code:
    """The code of a class of rows."""
    codes = {row.code for row in rows}
    if {"improved", "regressed"} <= codes:
        return "mixed"
    if "improved" in codes:
        return "improved"
    if "regressed" in codes:
        return "regressed"
    return "unchanged" if codes == {"unchanged"} else "inconclusive"


def _weight(row: Row, code: Code) -> tuple[int, float]:
    """Rows that say what the verdict says come first, those that do not differ at all last, surest first."""
    matching = row.code == code or (code == "mixed" and row.code in {"improved", "regressed"})
    if not row.directed:
        matching = row.code == "changed"
    rank = 0 if matching else 3 if row.code == "unchanged" else 2 if row.p_corrected is None else 1
    p = row.p_corrected.value if row.p_corrected is not None else 1.0
    return rank, float(p) if isinstance(p, (int, float)) else 1.0


def _apart(draft: Comparison, held_a: set[str], held_b: set[str], class_of: ClassOf) -> Reason | None:
    """One side has only been validated, the other only trained: no measure of quality on both."""
    kinds = [{class_of(metric) == "validation" for metric in held} for held in (held_a, held_b)]
    trained = [any(class_of(m) in {"reward", "stability"} for m in held) for held in (held_a, held_b)]
    validated = [True in kind for kind in kinds]
    shared = {metric for metric in held_a & held_b if class_of(metric) in {"validation", "reward"}}
    if shared or draft.a.run is not draft.b.run or validated[0] == validated[1] or trained[0] == trained[1]:
        return None
    val, train = (draft.a, draft.b) if validated[0] else (draft.b, draft.a)
    return Reason("validation_against_training", {"val": val.last, "train": train.last})


def _said(row: Row) -> Reason:
    """A decisive row as a sentence."""
    values: dict[str, Fact | str | int] = {"metric": row.metric, "c": row.change}
    if row.trend is not None:
        return Reason("row_trend", values | {"t": row.trend})
    if row.code == "changed" and row.basis is None:
        return Reason("setting" if rules().setting(row.metric) else "row_constant", values)
    if row.wide and row.code == "inconclusive":
        return Reason("row_wide", values)
    if row.half is None or row.p_corrected is None or (row.wide and row.band is None and row.code == "unchanged"):
        return Reason("row_equal" if row.code == "unchanged" else "row_unknown", values)
    values |= {"half": row.half, "p": row.p_corrected}
    if row.code == "unchanged":
        # Two equal values with a wide interval are equal by chance.
        return Reason("row_unchanged", values | {"band": row.band}) if row.band is not None else Reason(
            "row_equal_wide", values
        )  # fmt: skip
    if row.code == "inconclusive" and row.change.significant:
        return Reason("row_after_correction", values)
    if row.code == "inconclusive":
        return Reason("row_inconclusive", values)
    return Reason(f"row_{row.code}", values)


def _on_scales(reason: Reason, scales: Reason | None) -> Reason:
    """The sentence of a reward from which a KL penalty was taken, where its coefficient differs."""
    if scales is None or reason.code != "row_changed" or not rules().contains_kl(str(reason.values["metric"])):
        return reason
    coefficient = {"coefficient": scales.values["metric"], "ka": scales.values["a"], "kb": scales.values["b"]}
    return Reason("row_other_scale", {**reason.values, **coefficient})


def _against(rows: Sequence[Row], group: MetricClass | None, code: Code) -> list[Reason]:
    """Changes beyond noise in classes that do not decide, at most two, and one that goes against the verdict first."""
    kinds = {"improved", "regressed"}
    found = [row for row in rows if row.group not in {group, "speed"} and row.code in kinds and row.trend is None]
    found.sort(key=lambda row: row.code == code)
    return [
        Reason(f"also_{row.code}", {"metric": row.metric, "c": row.change, "p": row.p_corrected})
        for row in found[:2]
        if row.p_corrected is not None
    ]


def _large(rows: Sequence[Row], decisive: Sequence[Row]) -> list[Reason]:
    """Large changes beyond noise of metrics that have no better or worse, the clearest first."""
    found = []
    for row in rows:
        old, new = abs(row.change.from_value or 0), abs(row.change.to_value or 0)
        if row.code != "changed" or row in decisive or row.p_corrected is None or not old or not new:
            continue
        if row.group == "speed" or row.half is None or max(old / new, new / old) < LARGE:
            continue
        # By how far beyond noise: a factor alone would favour whatever lies near zero.
        found.append((-abs(float(row.change.delta or 0)) / float(row.half.value or 1), row))
    found.sort(key=lambda pair: pair[0])
    return [
        Reason("also_changed", {"metric": row.metric, "c": row.change, "p": row.p_corrected})
        for _, row in found[:MOST_LARGE]
        if row.p_corrected is not None
    ]


def _per_token(ledger: Ledger, bench: Workshop, draft: Comparison) -> list[Reason]:
    """That times are not compared where the tokens of a step differ, and the time a token takes."""
    found = bench.unlike_work((draft.a, draft.b))
    timed = [row for row in draft.rows if rules().is_timed(row.metric)]
    if found is None or not timed:
        return []
    metric, *work = found
    reasons = [Reason("tokens_differ", {"metric": metric, "a": work[0].fact, "b": work[1].fact})]
    step = next((row for row in timed if row.metric.endswith(("/step", "time_per_step", "step_time"))), None)
    if step is None or ("total" not in metric and "global" not in metric):
        return reasons  # the mean length of an answer is no count of tokens
    shares = []
    for side, value, part in zip((draft.a, draft.b), (step.change.from_value, step.change.to_value), work, strict=True):
        shares.append(
            ledger.derived(
                f"ms_per_token/{step.metric}", 1000 * float(value or 0) / part.value, run=side.run, step=side.last,
                inputs=[step.change, part.fact], formula=f"1000 × {step.metric} / {metric}, means over the side",
            )
        )  # fmt: skip
    return [*reasons, Reason("time_per_token", {"metric": step.metric, "a": shares[0], "b": shares[1]})]


def _between(ledger: Ledger, draft: Comparison, decisive: Sequence[Row]) -> list[Reason]:
    """The trend from one side of a run to the other, where the sides themselves settle nothing."""
    run, low, high = draft.a.run, draft.a.first, draft.b.last
    if not decisive or decisive[0].code != "inconclusive" or run is not draft.b.run or low > high:
        return []
    metric = decisive[0].metric
    steps = [step for step in run.series(metric)[0] if low <= step <= high]
    trend = ledger.trend(metric, steps, run) if len(steps) >= TREND_POINTS else None
    if trend is None or trend.direction not in {"rising", "falling"} or trend.p_value is None:
        return []
    return [Reason("trend_between", {"metric": metric, "t": trend})]


def _limits(
    ledger: Ledger, bench: Workshop, draft: Comparison, group: MetricClass | None, decisive: Sequence[Row]
) -> list[Reason]:
    """What the noise rests on, and what the comparison cannot tell."""
    reasons: list[Reason] = []
    bases = {row.basis for row in decisive}
    if group == "validation" and decisive:
        if bases & {"resampling", "share_bound"}:
            reasons.append(Reason("same_problems"))
        reasons += _looks(ledger, draft, decisive[0])
        reasons += _where(ledger, draft, decisive[0])
    elif group == "reward" and decisive and not any(row.group == "validation" for row in draft.rows):
        reasons.append(Reason("reward_is_training"))
    elif not any(row.directed or rules().is_timed(row.metric) for row in draft.rows):
        reasons.append(Reason("no_direction"))
    tested = [row for row in draft.rows if row.p is not None]
    if len(tested) > 1:
        count = ledger.count("metrics_tested", len(tested), metric=tested[0].metric)
        reasons.append(Reason("corrected", {"n": count}))
    for code, conservative, formula in CORRELATIONS:
        rhos = [row.rho for row in draft.rows if row.rho is not None and row.conservative == conservative]
        if rhos:
            allowed = ledger.derived(f"correlation_allowed/{code}", max(rhos), inputs=[], formula=formula)
            reasons.append(Reason(code, {"rho": allowed}))
    for basis in ("residual", "resampling", "share_bound", "bound", "fraction_bound"):
        if any(row.basis == basis for row in draft.rows):
            reasons.append(Reason(f"basis_{basis}"))
    if any(row.basis is None and row.code == "inconclusive" for row in draft.rows):
        reasons.append(Reason("noise_unknown"))
    if any(row.wide for row in draft.rows):
        reasons.append(Reason("basis_too_wide"))
    if draft.kind == "runs":
        reasons.append(Reason("one_run_each"))
        settings = differing(ledger, bench, draft.a, draft.b)
        told = {reason.values.get("metric") for reason in settings}
        constant = [row for row in draft.rows if row.code == "changed" and row.basis is None and row.metric not in told]
        reasons += [Reason("setting", {"metric": row.metric, "c": row.change}) for row in constant]
        reasons += settings
        if draft.a.run.framework != draft.b.run.framework:
            names = [side.run.framework or side.run.format for side in (draft.a, draft.b)]
            reasons.append(Reason("frameworks", {"a": names[0], "b": names[1]}))
    return reasons


def _looks(ledger: Ledger, draft: Comparison, row: Row) -> list[Reason]:
    """That a validation is one of several, and what that does to its p-value."""
    metric, run = row.other, draft.b.run
    count = len(run.columns[metric].values) if metric in run.columns else 0
    if count < 3 or row.p is None:
        return []
    number = ledger.count("validations", count, metric=metric)
    chosen = draft.a.best_of or draft.b.best_of
    return [Reason("best_of_many" if chosen else "one_of_many", {"n": number, "metric": metric})]


def _where(ledger: Ledger, draft: Comparison, row: Row) -> list[Reason]:
    """At which steps the validations of two runs stand."""
    cells = [fact for name in row.change.inputs or () if (fact := ledger.get(name)) is not None]
    steps = [fact.step for fact in cells if fact.kind == "value" and fact.metric in {row.metric, row.other}]
    if draft.kind != "runs" or len(steps) != 2 or steps[0] is None or steps[1] is None:
        return []
    return [Reason("validated_at", {"metric": row.metric, "a": steps[0], "b": steps[1]})]


def _confidence(code: Code, group: MetricClass | None, decisive: Sequence[Row]) -> Confidence:
    """High for what cannot be otherwise or was measured on the same problems; low where the noise is not known."""
    if code == "not_comparable":
        return "high"
    if not decisive or any(row.basis is None and row.code == "inconclusive" for row in decisive):
        return "low"
    exact = all(row.code == "unchanged" for row in decisive)
    return "high" if exact or (group == "validation" and code != "inconclusive") else "medium"
