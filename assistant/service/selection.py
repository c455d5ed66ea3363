"""What a user names as one side of a comparison: ``train.log#2@last10`` → a run, and steps of it.

``@3`` is a step, ``@1:10`` a range, ``@first10`` and ``@last10`` so many steps from an end, ``@best`` the best
validation; ``#2`` or ``#name`` is one of several runs of a file. A file whose own name holds these characters is
found first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.analysis.compare_model import Side
from assistant.analysis.compare_rules import rules
from assistant.model import InputError, Run

_STEPS = re.compile(
    r"(?P<one>-?\d+)|(?P<low>\d+)(?::|-|–|\.\.)(?P<high>\d+)|(?P<end>first|last)(?P<n>\d*)|(?P<best>best)"
)
#: Steps that an error names before it leaves the rest out.
SHOWN_STEPS = 12


@dataclass(frozen=True, slots=True)
class Wish:
    """A side as named: source, run within it, steps within that (as typed)."""

    source: str
    run: str | None
    steps: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Selected:
    """A run, and the steps of it that were named."""

    run: Run
    side: Side | None


def read_wish(text: str, previous: str | None = None) -> Wish:
    """Takes a side apart; one that begins with ``@`` or ``#`` is of the ``previous`` source.

    Raises:
        InputError: what stands after the last @ is no step.
    """
    if text == "-" or Path(text).exists():
        return Wish(text, None, None, text)
    rest, steps, run = text, None, None
    before, at, after = rest.rpartition("@")
    if at and _STEPS.fullmatch(after):
        rest, steps = before, after
    elif at and (not before or before == "-" or Path(before.partition("#")[0]).exists()):
        raise InputError(
            zh=f"看不懂“@{after}”。可以写 @3、@1:10、@first10、@last10 或 @best。",
            en=f"Cannot read “@{after}”. Write @3, @1:10, @first10, @last10 or @best.",
        )
    if not (rest == "-" or Path(rest).exists()):
        before, hash_, after = rest.rpartition("#")
        if hash_ and after:
            rest, run = before, after
    if not rest and previous is not None:
        rest = previous
    return Wish(rest, run, steps, text)


def choose(wish: Wish, runs: Sequence[Run], best: Callable[[Run], tuple[int, int] | None]) -> Selected:
    """The run and the steps that a wish names.

    Args:
        wish: the side.
        runs: runs of its source.
        best: step of the best validation of a run, and the number of validations.

    Raises:
        InputError: no such run, no such step, no validation.
    """
    run = _run(wish, runs)
    if wish.steps is None:
        return Selected(run, None)
    held = list(run.distinct_steps)
    match = _STEPS.fullmatch(wish.steps)
    assert match is not None  # read_wish has matched it
    if match["best"]:
        found = best(run)
        if found is None:
            raise InputError(
                zh=f"{run.name} 里没有可以挑选的验证指标，不能用 @best。",
                en=f"{run.name} holds no validation to pick the best of: @best does not work here.",
            )
        return Selected(run, Side(run, found[0], found[0], best_of=found[1]))
    if match["end"]:
        count = int(match["n"] or 1)
        part = held[:count] if match["end"] == "first" else held[len(held) - min(count, len(held)) :]
        if count < 1 or not part:
            raise _absent(run, wish.steps, held)
        return Selected(run, Side(run, part[0], part[-1]))
    low, high = (int(match["one"]),) * 2 if match["one"] else (int(match["low"]), int(match["high"]))
    inside = [step for step in held if low <= step <= high]
    if not inside:
        raise _absent(run, wish.steps, held)
    return Selected(run, Side(run, low if match["one"] else inside[0], high if match["one"] else inside[-1]))


def best_validation(
    direction: Callable[[Run, str], str], metrics: Sequence[str]
) -> Callable[[Run], tuple[int, int] | None]:
    """A function that finds the step of a run's best validation, by the first validation metric with a better and a
    worse (of ``metrics``, if any are named), and their number."""

    def find(run: Run) -> tuple[int, int] | None:
        keys = [m for m in metrics if m in run.columns] or rules().select(run.metrics)
        count = {m: sum(map(math.isfinite, run.columns[m].values)) for m in keys}
        # The best of one validation is no choice: a metric that was validated more than once comes first.
        for metric in sorted(keys, key=lambda m: (count[m] < 2, "/acc" not in m)):
            way = direction(run, metric)
            if rules().class_of(metric, None) != "validation" or way not in {"higher_better", "lower_better"}:
                continue
            steps, values = run.series(metric)
            pairs = [(v, s) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
            if pairs:
                value = (max if way == "higher_better" else min)(v for v, _ in pairs)
                return next(s for v, s in pairs if v == value), len(pairs)
        return None

    return find


def _run(wish: Wish, runs: Sequence[Run]) -> Run:
    if not runs:
        raise InputError(
            zh=f"{wish.source} 里没有任何指标。请确认这是训练日志。",
            en=f"{wish.source} holds no metric. Check that it is a training log.",
        )
    if wish.run is None and len(runs) == 1:
        return runs[0]
    listed = "; ".join(f"#{place} {run.name}" for place, run in enumerate(runs, 1))
    if wish.run is None:
        raise InputError(
            zh=f"{wish.source} 里有 {len(runs)} 个 run，请用 # 指明一个：{listed}",
            en=f"{wish.source} holds {len(runs)} runs; name one with #: {listed}",
        )
    if wish.run.isdigit() and 1 <= int(wish.run) <= len(runs):
        return runs[int(wish.run) - 1]
    named = [run for run in runs if run.name == wish.run] or [run for run in runs if wish.run in run.name]
    if len(named) != 1:
        raise InputError(
            zh=f"{wish.source} 里没有名为“{wish.run}”的 run。有：{listed}",
            en=f"{wish.source} holds no run “{wish.run}”. There are: {listed}",
        )
    return named[0]


def _absent(run: Run, wanted: str, held: Sequence[int]) -> InputError:
    if len(held) <= SHOWN_STEPS:
        steps = ", ".join(map(str, held))
    elif held[-1] - held[0] + 1 == len(held):
        steps = f"{held[0]}–{held[-1]}"
    else:
        steps = ", ".join(map(str, held[: SHOWN_STEPS - 2])) + f" … {held[-1]}"
    return InputError(
        zh=f"{run.name} 里没有 step {wanted}。有的 step：{steps}。",
        en=f"{run.name} has no step {wanted}. Its steps: {steps}.",
    )
