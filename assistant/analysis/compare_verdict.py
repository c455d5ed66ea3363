"""The verdict of a comparison from its rows, and everything that qualifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.analysis.compare_judge import TREND_POINTS
from assistant.analysis.compare_model import Code, Comparison, Reason, Row
from assistant.analysis.compare_rows import Workshop
from assistant.analysis.compare_rules import DECIDING, MetricClass
from assistant.analysis.identities import derive
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run
from assistant.model.answer import Confidence

ClassOf = Callable[[str], MetricClass]
#: Most facts that a verdict names.
MOST_DECISIVE = 3
#: Quantities whose difference makes equal steps unequal amounts of training.
SETUP = ("prompts_per_step", "trajectories_per_step", "group_size", "n_gpus")


def decide(
    ledger: Ledger, bench: Workshop, draft: Comparison, *, held_a: set[str], held_b: set[str], class_of: ClassOf
) -> Comparison:
    """The comparison with verdict, confidence, decisive rows and reasons.

    The highest class with a row that has a better and a worse decides: validation, then reward, then stability;
    where nothing else is there, speed. Only what passes the correction counts; rows of one class that go both ways
    make it ``mixed``; ``unchanged`` needs every row of the class within its band.
    """
    directed = [row for row in draft.rows if row.directed]
    group = next((g for g in (*DECIDING, "speed") if any(row.group == g for row in directed)), None)
    rows = [row for row in directed if row.group == group]
    code = verdict_of(rows)
    apart = _apart(draft, held_a, held_b, class_of)
    if apart is not None and group not in {"validation", "reward"}:
        code, rows = "not_comparable", []
    elif not draft.rows:
        code = "not_comparable"
    elif not rows and all(row.code == "unchanged" for row in draft.rows):
        code, rows = "unchanged", list(draft.rows)
    elif group is None:
        rows = list(draft.rows)  # nothing can be better or worse, but what changed is said
    decisive = sorted(rows, key=lambda row: _weight(row, code))[:MOST_DECISIVE]
    reasons = [] if apart is None else [apart]
    if code != "not_comparable":
        reasons += [_said(row) for row in decisive]
        reasons += _against(draft.rows, group, code)
        reasons += _between(ledger, draft, decisive)
    elif apart is None:
        reasons.append(Reason("nothing_shared"))
    if draft.rows:
        reasons += _limits(ledger, bench, draft, group, decisive)
    sure = _confidence(code, group, decisive)
    return replace(
        draft, verdict=code, confidence=sure, decisive=tuple(decisive), reasons=tuple(_once(reasons)),
    )  # fmt: skip


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


def _weight(row: Row, code: Code) -> tuple[bool, float]:
    matching = row.code == code or (code == "mixed" and row.code in {"improved", "regressed"})
    if not row.directed:
        matching = row.code == "changed"
    p = row.p_corrected.value if row.p_corrected is not None else 1.0
    return not matching, float(p) if isinstance(p, (int, float)) else 1.0


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
        return Reason("setting", values)
    if row.half is None or row.p_corrected is None:
        return Reason("row_equal" if row.code == "unchanged" else "row_unknown", values)
    values |= {"half": row.half, "p": row.p_corrected}
    if row.code == "unchanged":
        return Reason("row_unchanged", values | {"band": row.band}) if row.band is not None else Reason(
            "row_equal", values
        )  # fmt: skip
    if row.code == "inconclusive" and row.change.significant:
        return Reason("row_after_correction", values)
    if row.code == "inconclusive":
        return Reason("row_inconclusive", values)
    return Reason(f"row_{row.code}", values)


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
    elif group == "reward" and decisive:
        reasons.append(Reason("reward_is_training"))
    elif not any(row.directed for row in draft.rows):
        reasons.append(Reason("no_direction"))
    tested = [row for row in draft.rows if row.p is not None]
    if len(tested) > 1:
        count = ledger.count("metrics_tested", len(tested), metric=tested[0].metric)
        reasons.append(Reason("corrected", {"n": count}))
    for basis in ("autocorrelated", "residual", "resampling", "share_bound", "bound", "fraction_bound"):
        if any(row.basis == basis for row in draft.rows):
            reasons.append(Reason(f"basis_{basis}"))
    if any(row.basis is None and row.code == "inconclusive" for row in draft.rows):
        reasons.append(Reason("noise_unknown"))
    if draft.kind == "runs":
        reasons.append(Reason("one_run_each"))
        constant = [row for row in draft.rows if row.code == "changed" and row.basis is None]
        reasons += [Reason("setting", {"metric": row.metric, "c": row.change}) for row in constant]
        reasons += _setup(ledger, draft.a.run, draft.b.run)
        if draft.a.run.framework != draft.b.run.framework:
            names = [side.run.framework or side.run.format for side in (draft.a, draft.b)]
            reasons.append(Reason("frameworks", {"a": names[0], "b": names[1]}))
    return reasons


def _looks(ledger: Ledger, draft: Comparison, row: Row) -> list[Reason]:
    """That a validation is one of several, and what that does to its p-value."""
    metric, run = row.other, draft.b.run
    count = len(run.columns[metric].values) if metric in run.columns else 0
    if count < 3:
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


def _setup(ledger: Ledger, a: Run, b: Run) -> list[Reason]:
    """Sizes that the two logs imply and that differ: a step is not the same amount of training then."""
    reasons = []
    for name in SETUP:
        found = [_first(ledger, name, run) for run in (a, b)]
        if found[0] is not None and found[1] is not None and found[0].value != found[1].value:
            reasons.append(Reason(f"differs_{name}", {"a": found[0], "b": found[1]}))
    return reasons


def _first(ledger: Ledger, name: str, run: Run) -> Fact | None:
    facts = (derive(ledger, name, step, run) for step in run.distinct_steps[:20])
    return next((fact for fact in facts if fact is not None), None)


def _confidence(code: Code, group: MetricClass | None, decisive: Sequence[Row]) -> Confidence:
    """High for what cannot be otherwise or was measured on the same problems; low where the noise is not known."""
    if code == "not_comparable":
        return "high"
    if not decisive or any(row.basis is None and row.code == "inconclusive" for row in decisive):
        return "low"
    exact = all(row.code == "unchanged" for row in decisive)
    return "high" if exact or (group == "validation" and code != "inconclusive") else "medium"
