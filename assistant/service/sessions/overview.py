"""What is shown of a run beside the conversation: what was recognised, findings, every metric with a small curve."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from assistant.analysis import Ledger
from assistant.analysis.identities import derive
from assistant.analysis.thresholds import RANK
from assistant.knowledge import Resolver
from assistant.model import Fact, Finding, InputError, Run
from assistant.model.run import Number, json_number
from assistant.service.checking import check_runs

#: Points of a small curve.
SPARK: Final = 48
#: Metrics that one request may fetch whole.
MOST_SERIES: Final = 20
#: Steps at which a quantity is looked for before it is given up.
TRIED: Final = 3

_DERIVED: Final = {
    "n_gpus": ("GPU 数", "GPUs", "GPU"),
    "trajectories_per_step": ("每步轨迹数", "Trajectories per step", ""),
    "prompts_per_step": ("每步 prompt 数", "Prompts per step", "prompt"),
    "group_size": ("组大小", "Group size", ""),
}


def overview(run: Run, resolver: Resolver, language: str) -> dict[str, Any]:
    """The run panel's content.

    Args:
        run: the run.
        resolver: for the metrics' cards.
        language: ``zh`` or ``en``.

    Returns:
        ``run`` (as in an answer), ``facts``, ``warnings``, ``verdict`` and ``findings`` (as in ``check``; each with a
        ``title`` of a few words, ``None`` where no failure mode has described it), ``metrics``.
    """
    report = check_runs([run], resolver, language=language)
    findings = [{**finding.to_json(), "title": _title(finding, resolver, language)} for finding in report.findings]
    severity: dict[str, str] = {}
    for finding in report.findings:
        if finding.severity == "ok":
            continue
        for metric in finding.metrics:
            if RANK[finding.severity] > RANK.get(severity.get(metric, "ok"), -1):  # type: ignore[call-overload]
                severity[metric] = finding.severity
    return {
        "run": run.summary_json(language),
        "facts": _recognised(run, language),
        "warnings": [note.text(language) for note in run.warnings],
        "verdict": {
            "code": report.verdict.code, "summary": report.verdict.summary, "confidence": report.verdict.confidence,
        },
        "findings": findings,
        "evidence": [fact.to_json() for fact in report.facts],
        "metrics": [_metric(run, key, resolver, language, severity.get(key)) for key in run.metrics],
    }  # fmt: skip


def series(run: Run, wanted: Sequence[str]) -> dict[str, Any]:
    """Whole courses of metrics over the steps that any of them holds.

    Args:
        run: the run.
        wanted: keys, as the log spells them.

    Returns:
        ``steps`` and ``lines`` (of each step's row), and per key its values: ``null`` where there is none, NaN and
        infinities as strings.

    Raises:
        InputError: the run has no such metric, or too many are asked for.
    """
    keys = list(dict.fromkeys(wanted))
    if not keys or len(keys) > MOST_SERIES:
        raise InputError(
            zh=f"请给出 1 到 {MOST_SERIES} 个 metric 参数。", en=f"Name between 1 and {MOST_SERIES} metrics (metric=…)."
        )
    absent = [key for key in keys if key not in run.columns]
    if absent:
        raise InputError(zh=f"日志里没有指标 {absent[0][:80]}。", en=f"The log has no metric {absent[0][:80]}.")
    held = {key: dict(zip(*run.series(key), strict=True)) for key in keys}
    steps = sorted(set().union(*held.values()))
    row_of = {step: row for row, step in enumerate(run.steps)}
    return {
        "steps": steps,
        "lines": [run.row_lines[row_of[step]] for step in steps],
        "series": {
            key: [None if (value := values.get(step)) is None else json_number(value) for step in steps]
            for key, values in held.items()
        },
    }


def _title(finding: Finding, resolver: Resolver, language: str) -> str | None:
    """What the failure mode is called that a finding is consistent with; what stands in brackets is left out."""
    card = resolver.library.get(finding.card) if finding.card else None
    return None if card is None else re.sub(r"\s*[(（][^()（）]*[)）]\s*$", "", card.title(language))


def _recognised(run: Run, language: str) -> list[dict[str, Any]]:
    """Framework, steps and what follows from the numbers; each only where the log tells it."""
    chinese = language == "zh"
    found: list[dict[str, Any]] = []

    def add(name: str, zh: str, en: str, value: Any, unit: str = "", **more: Any) -> None:
        found.append({"name": name, "label": zh if chinese else en, "value": value, "unit": unit, **more})

    if run.framework:
        add("framework", "框架", "Framework", run.framework)
    add("format", "日志格式", "Log format", run.format)
    steps = run.distinct_steps
    if steps:
        add("steps", "步数", "Steps", len(steps), first=steps[0], last=steps[-1])
    add("metrics", "指标数", "Metrics", len(run.metrics))
    ledger = Ledger([run])
    for name, (zh, en, unit) in _DERIVED.items():
        fact = _derived(ledger, name, steps)
        if fact is not None:
            add(name, zh, en, json_number(fact.value), unit, formula=fact.formula, step=fact.step)  # type: ignore[arg-type]
    return found


def _derived(ledger: Ledger, name: str, steps: Sequence[int]) -> Fact | None:
    """A quantity at the last step that tells it, of a few."""
    for step in list(reversed(steps))[:TRIED]:
        fact = derive(ledger, name, step)
        if fact is not None and isinstance(fact.value, (int, float)):
            return fact
    return None


def _metric(run: Run, key: str, resolver: Resolver, language: str, severity: str | None) -> dict[str, Any]:
    found = resolver.key(key, run.framework)
    card = None if found is None else found.card
    steps, values = run.series(key)
    finite = [value for value in values if math.isfinite(value)]
    return {
        "key": key,
        "title": card.title(language) if card else "",
        "unit": card.unit if card else "",
        "category": card.category if card else "",
        "card": card.id if card else None,
        "n": len(values),
        "first": json_number(values[0]) if values else None,
        "last": json_number(values[-1]) if values else None,
        "min": min(finite) if finite else None,
        "max": max(finite) if finite else None,
        "first_step": steps[0] if steps else None,
        "last_step": steps[-1] if steps else None,
        "spark": spark(values),
        "severity": severity,
    }


def spark(values: Sequence[Number]) -> list[float | None]:
    """At most :data:`SPARK` points of a course, the smallest and the largest value of each stretch, in their order.

    Thinning keeps a single leap visible; what is not finite is a gap.
    """
    if len(values) <= SPARK:
        return [float(value) if math.isfinite(value) else None for value in values]
    points: list[float | None] = []
    stretches = SPARK // 2
    for at in range(stretches):
        part = values[at * len(values) // stretches : (at + 1) * len(values) // stretches]
        finite = [value for value in part if math.isfinite(value)]
        if not finite:
            points += [None, None]
            continue
        low, high = min(finite), max(finite)
        first, last = (low, high) if part.index(low) <= part.index(high) else (high, low)
        points += [float(first), float(last)]
    return points
