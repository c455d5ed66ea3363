"""What re-sampling the answers can do to a validation score: from verl's moments, or from the number of problems."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from assistant.analysis.ledger import Ledger
from assistant.analysis.validation import ValidationSet, problem_count, sampling_error, validation_sets
from assistant.model import Fact, Run

_MEAN = re.compile(r"val-(?:core|aux)/(?P<source>[^@]+)/(?P<var>[^/@]+)/mean@(?P<n>\d+)")
#: Place of the last digit to which the Hugging Face trainer rounds durations and rates.
ROUNDED = 1e-3
#: A share of problems solved: its mean over problems cannot vary by more than p(1 − p).
_SHARE = re.compile(r"(^|[/_])(acc|accuracy|pass@?\d*|correct|score|test_score|solve_rate)([/_@]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ValidationError:
    """Standard error of a validation score.

    Attributes:
        fact: the error, in the score's unit.
        value: the same as a number.
        basis: ``resampling`` or ``share_bound``.
        freedom: degrees of freedom; infinite for the bound.
    """

    fact: Fact
    value: float
    basis: str
    freedom: float = math.inf


def validation_error(
    ledger: Ledger, run: Run, metric: str, step: int, sizes: Mapping[str, int]
) -> ValidationError | None:
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
        p of P problems with N answers each, which no re-sampling error exceeds, also where the answers to every
        problem agreed, so that they tell no error. ``None`` where P is not known.
    """
    match = _MEAN.fullmatch(metric)
    if match is not None:
        table = _table(run, step, match["source"], match["var"])
        if table is None or table.variable != "acc":
            return None
        problems = problem_count(run, table, step, sizes)
        error = sampling_error(ledger, table, step, problems, run)
        if error is not None and isinstance(error.value, float) and error.value > 0 and problems is not None:
            return ValidationError(error, error.value, "resampling", agreement(error.value, problems, table.samples))
        samples = int(match["n"])
        if problems is None and (answers := least_answers(run, metric)):
            return _share_bound(ledger, (run, metric, step), -(-answers // samples), samples, least=True)
        return _share_bound(ledger, (run, metric, step), problems, samples)
    if not _SHARE.search(metric):
        return None
    printed = run.extras.get("validation_samples")
    problems = benchmark_size(metric, sizes) or (int(printed[0]) if printed is not None else evaluated(run))
    return _share_bound(ledger, (run, metric, step), problems, 1)


def agreement(error: float, problems: int, samples: int) -> float:
    """Degrees of freedom of a re-sampling error: few problems whose answers differ tell it badly.

    With two answers a problem's variance is 0 or ½, so that the sum over P problems of mean variance w varies by
    P(w/2 − w²) and has 4Pw/(1 − 2w) degrees of freedom (Satterthwaite 1946, problems taken as equally hard); each
    further answer adds as many. With them the interval of a difference holds 93 to 97 %, and more where a fifth of all
    pairs or more agree in every answer (``python -m evals.compare_widths --only validations``).

    Args:
        error: standard error of the mean, √(w/((N − 1)·P)).
        problems: P.
        samples: N, at least two.
    """
    within = error**2 * (samples - 1) * problems
    return 4 * problems * (samples - 1) * within / max(1 - 2 * within, 1e-3)


def evaluated(run: Run) -> int | None:
    """Number of samples of each evaluation of the Hugging Face trainer: its duration × its samples per second.

    ``None`` where the log does not hold both, or the evaluations do not agree on one whole number to their digits.
    """
    times, rates = (run.columns.get(f"eval_{name}") for name in ("runtime", "samples_per_second"))
    if times is None or rates is None:
        return None
    pairs = [(float(t), float(r)) for t, r in zip(times.values, rates.values, strict=False)]
    pairs = [(t, r) for t, r in pairs if math.isfinite(t * r) and t > 0 and r > 0]
    if not pairs:
        return None
    count = round(sorted(t * r for t, r in pairs)[len(pairs) // 2])
    close = all(abs(t * r - count) <= 0.5 * ROUNDED * (t + r) + 0.5 * ROUNDED**2 for t, r in pairs)
    return count if count > 0 and close else None


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


#: Fewest answers that a share's values must tell of, and the most that are looked for.
LEAST_ANSWERS, MOST_ANSWERS = 20, 20_000
#: Beyond so many, digits are those of a 32-bit number.
EXACT_DIGITS = 7
#: Values that are no whole numbers over a common one may look so by chance at most so often.
CHANCE = 0.01


def least_answers(run: Run, metric: str) -> int | None:
    """So many answers a share is of at least, as its values tell: 0.4375 and 0.625 are of 16 or more.

    Answers are right or wrong, and all validations are of the same problems: each value is a whole number over one
    number of answers, which is no smaller than the smallest that fits them all to their printed digits. Where a number
    would as likely as not be found for any values (partial credit, few digits), nothing is told.

    Args:
        run: the run.
        metric: key of a share of right answers.

    Returns:
        The number; ``None`` below :data:`LEAST_ANSWERS`, of which an error tells little, and where none fits.
    """
    values = sorted({float(value) for value in run.series(metric)[1] if 0 <= value <= 1})
    found = _common(tuple(values)) if values else 0
    return found if found >= LEAST_ANSWERS else None


@lru_cache(maxsize=256)
def _common(values: tuple[float, ...]) -> int:
    """The smallest number of which all values are multiples of one part, to their digits; 0 where chance would do."""
    digits = max(len(repr(value).partition(".")[2]) for value in values)
    reach = 0.5 / 10 ** min(digits, EXACT_DIGITS)
    held = np.array(values)
    numbers = np.arange(1, MOST_ANSWERS)
    fits = np.ones(len(numbers), dtype=bool)
    for value in held:
        product = value * numbers
        fits &= np.abs(product - np.round(product)) <= numbers * reach
    if not fits.any():
        return 0
    found = int(numbers[fits.argmax()])
    inner = int(((held > 0) & (held < 1)).sum())
    return found if found * min(1.0, 2 * found * reach) ** inner < CHANCE else 0


def _share_bound(
    ledger: Ledger, cell: tuple[Run, str, int], problems: int | None, samples: int, *, least: bool = False
) -> ValidationError | None:
    run, metric, step = cell
    fact = ledger.value(metric, step, run)
    if not problems or fact is None or not isinstance(fact.value, (int, float)) or not 0 <= fact.value <= 1:
        return None
    # Where none or all were solved, the share of one more problem keeps the error from being zero (rule of three).
    share = min(max(float(fact.value), 1 / (problems * samples + 2)), 1 - 1 / (problems * samples + 2))
    error = math.sqrt(share * (1 - share) / (problems * samples))
    found = ledger.derived(
        f"se_bound/{metric}", error, step=step, run=run, inputs=[fact],
        formula=f"√(p(1 − p)/(P·N)), P {'≥' if least else '='} {problems}, N = {samples}",
    )  # fmt: skip
    return ValidationError(found, error, "share_bound")
