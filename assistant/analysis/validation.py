"""verl's validation statistics as one table per data source and variable, and what error they allow.

Source: verl/trainer/ppo/metric_utils.py#process_validation_metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

_KEY = re.compile(
    r"val-(?:core|aux)/(?P<source>[^@]+)/(?P<var>[^/@]+)/(?P<kind>mean|std|best|worst|maj)@(?P<n>\d+)"
    r"(?:/(?P<stat>mean|std))?"
)


@dataclass(frozen=True)
class ValidationSet:
    """All statistics of one variable on one data source.

    Attributes:
        source: data source, such as ``aime_2025``.
        variable: ``acc``, ``reward``, ``score`` …
        samples: N, responses per prompt.
        keys: ``(kind, n, stat)`` → metric key, e.g. ``("best", 30, "mean")``; ``stat`` is ``mean`` for
            ``mean@N`` and ``std`` for ``std@N``.
    """

    source: str
    variable: str
    samples: int
    keys: Mapping[tuple[str, int, str], str] = field(default_factory=dict)

    def key(self, kind: str, n: int | None = None, stat: str = "mean") -> str | None:
        """The metric key of a statistic; ``n`` defaults to N."""
        return self.keys.get((kind, n or self.samples, stat))

    def sizes(self, kind: str) -> list[int]:
        """The n of ``kind@n`` present, ascending."""
        return sorted({n for k, n, s in self.keys if k == kind and s == "mean"})


def validation_steps(run: Run) -> list[int]:
    """Steps that hold at least one validation metric, ascending."""
    found: set[int] = set()
    for metric in run.metrics:
        if metric.startswith(("val-core/", "val-aux/", "val/")):
            found.update(cell.step for cell in run.cells(metric))
    return sorted(found)


def validation_sets(run: Run, step: int) -> list[ValidationSet]:
    """The validation tables of one step, accuracy first within each data source."""
    grouped: dict[tuple[str, str], dict[tuple[str, int, str], str]] = {}
    for metric in run.at(step):
        match = _KEY.fullmatch(metric)
        if match is None:
            continue
        kind = match["kind"]
        stat = match["stat"] or ("std" if kind == "std" else "mean")
        grouped.setdefault((match["source"], match["var"]), {})[kind, int(match["n"]), stat] = metric
    result = []
    for (source, variable), keys in grouped.items():
        means = [n for kind, n, _ in keys if kind == "mean"] or [n for _, n, _ in keys]
        result.append(ValidationSet(source, variable, max(means), keys))
    first = {"acc": 0, "reward": 1, "score": 2}
    return sorted(result, key=lambda s: (s.source, first.get(s.variable, 3), s.variable))


def sampling_error(
    ledger: Ledger, table: ValidationSet, step: int, problems: int | None, run: Run | None = None
) -> Fact | None:
    """Standard error of ``mean@N`` from re-sampling answers to the same problems.

    The variance of one sample around its problem's accuracy is w = (best@2 − worst@2)/2 for a binary
    variable, and SE = √(w·N/(N−1) / (P·N)).

    Args:
        ledger: where the fact is entered.
        table: the statistics; only ``acc`` is known to be binary.
        step: step of the validation.
        problems: P, from the benchmark's size or the printed number of samples.
        run: the run, the ledger's first by default.

    Returns:
        A ``derived`` fact, or ``None`` where P, best@2 or worst@2 are not there.
    """
    best, worst = table.key("best", 2), table.key("worst", 2)
    if table.variable != "acc" or not problems or best is None or worst is None or table.samples < 2:
        return None
    facts = [ledger.value(best, step, run), ledger.value(worst, step, run)]
    high, low = (float(f.value) if f and isinstance(f.value, (int, float)) else math.nan for f in facts)
    if not math.isfinite(high - low):
        return None
    within = max(0.0, (high - low) / 2)
    n = table.samples
    error = math.sqrt(within * n / (n - 1) / (problems * n))
    return ledger.derived(
        f"se_mean@{n}/{table.source}/{table.variable}", error, step=step, run=run,
        formula=f"√((best@2 − worst@2)/2 · N/(N−1) / (P·N)), N = {n}, P = {problems}", inputs=facts,
    )  # fmt: skip


def population_error(
    ledger: Ledger, table: ValidationSet, step: int, problems: int | None, run: Run | None = None
) -> Fact | None:
    """Standard error of ``mean@N`` as an estimate for *new* problems of the same kind: √(b/(P−1)).

    b = worst@2 − mean@N² is the variance between problems (sampling of answers included); for a binary variable.
    """
    mean, worst = table.key("mean"), table.key("worst", 2)
    if table.variable != "acc" or not problems or problems < 3 or mean is None or worst is None:
        return None
    facts = [ledger.value(mean, step, run), ledger.value(worst, step, run)]
    centre, low = (float(f.value) if f and isinstance(f.value, (int, float)) else math.nan for f in facts)
    between = low - centre**2
    if not math.isfinite(between) or between <= 0:
        return None
    return ledger.derived(
        f"se_new_problems/{table.source}/{table.variable}", math.sqrt(between / (problems - 1)), step=step, run=run,
        formula=f"√((worst@2 − mean@N²) / (P − 1)), P = {problems}", inputs=facts,
    )  # fmt: skip


def never_solved_bound(
    ledger: Ledger, table: ValidationSet, step: int, problems: int | None, run: Run | None = None
) -> Fact | None:
    """At most so many problems were never solved in N tries: P·(1 − best@N), since an unsolved one adds 1 to it."""
    best = table.key("best")
    fact = ledger.value(best, step, run) if best else None
    if table.variable != "acc" or not problems or fact is None or not isinstance(fact.value, (int, float)):
        return None
    if not 0 <= fact.value <= 1:
        return None
    return ledger.derived(
        f"never_solved_at_most/{table.source}", math.floor(problems * (1 - fact.value)), step=step, run=run,
        formula=f"⌊P · (1 − best@N)⌋, P = {problems}", inputs=[fact],
    )  # fmt: skip


def problem_count(run: Run, table: ValidationSet, step: int, sizes: Mapping[str, int]) -> int | None:
    """P, the number of problems: printed samples ÷ N, else the size of a benchmark known by name.

    A size is used only if it agrees with the log: mean@N · P · N must be an integer for an accuracy.
    """
    printed = run.extras.get("validation_samples")
    candidates = []
    if printed is not None and printed[0] % table.samples == 0:
        candidates.append(int(printed[0]) // table.samples)
    name = table.source.lower().replace("-", "_").rsplit("/", 1)[-1]
    if name in sizes:
        candidates.append(sizes[name])
    mean = table.key("mean")
    value = run.value(mean, step) if mean else None
    for problems in candidates:
        if value is None or table.variable != "acc":
            return problems
        total = float(value) * problems * table.samples
        if abs(total - round(total)) < 1e-4 * max(1.0, total):
            return problems
    return None
