"""What re-sampling the answers can do to a validation score: from verl's moments, or from the number of problems."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from assistant.analysis.ledger import Ledger
from assistant.analysis.validation import ValidationSet, problem_count, sampling_error, validation_sets
from assistant.model import Fact, Run

_MEAN = re.compile(r"val-(?:core|aux)/(?P<source>[^@]+)/(?P<var>[^/@]+)/mean@(?P<n>\d+)")
#: A share of problems solved: its mean over problems cannot vary by more than p(1 − p).
_SHARE = re.compile(r"(^|[/_])(acc|accuracy|pass@?\d*|correct|score|test_score|solve_rate)([/_@]|$)", re.IGNORECASE)


def validation_error(
    ledger: Ledger, run: Run, metric: str, step: int, sizes: Mapping[str, int]
) -> tuple[Fact, str] | None:
    """Standard error of one validation score from re-sampling answers to the same problems.

    Args:
        ledger: where the fact is entered.
        run: the run.
        metric: key of a mean over problems.
        step: step of the validation.
        sizes: number of problems of benchmarks by name.

    Returns:
        The error and its basis: ``resampling`` from best@2 and worst@2 (w = (best@2 − worst@2)/2, see
        :func:`assistant.analysis.validation.sampling_error`), else ``share_bound``: √(p(1 − p)/(P·N)) for a share
        p of P problems with N answers each, which no re-sampling error exceeds. ``None`` where P is not known.
    """
    match = _MEAN.fullmatch(metric)
    if match is not None:
        table = _table(run, step, match["source"], match["var"])
        if table is None or table.variable != "acc":
            return None
        problems = problem_count(run, table, step, sizes)
        error = sampling_error(ledger, table, step, problems, run)
        if error is not None:
            return error, "resampling"
        return _share_bound(ledger, (run, metric, step), problems, int(match["n"]))
    if not _SHARE.search(metric):
        return None
    printed = run.extras.get("validation_samples")
    problems = benchmark_size(metric, sizes) or (int(printed[0]) if printed is not None else None)
    return _share_bound(ledger, (run, metric, step), problems, 1)


def benchmark_size(metric: str, sizes: Mapping[str, int]) -> int | None:
    """Number of problems of the benchmark that a key names between separators, the longest name first."""
    text = metric.lower().replace("-", "_")
    for name in sorted(sizes, key=len, reverse=True):
        if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text):
            return sizes[name]
    return None


def _table(run: Run, step: int, source: str, variable: str) -> ValidationSet | None:
    found = (t for t in validation_sets(run, step) if (t.source, t.variable) == (source, variable))
    return next(found, None)


def _share_bound(
    ledger: Ledger, cell: tuple[Run, str, int], problems: int | None, samples: int
) -> tuple[Fact, str] | None:
    run, metric, step = cell
    fact = ledger.value(metric, step, run)
    if not problems or fact is None or not isinstance(fact.value, (int, float)) or not 0 <= fact.value <= 1:
        return None
    # Where none or all were solved, the share of one more problem keeps the error from being zero (rule of three).
    share = min(max(float(fact.value), 1 / (problems * samples + 2)), 1 - 1 / (problems * samples + 2))
    error = math.sqrt(share * (1 - share) / (problems * samples))
    found = ledger.derived(
        f"se_bound/{metric}", error, step=step, run=run, inputs=[fact],
        formula=f"√(p(1 − p)/(P·N)), P = {problems}, N = {samples}",
    )  # fmt: skip
    return found, "share_bound"
