"""Whether a missed cause shows at all: each missed case beside its twin, the same run without the cause.

``python -m evals.diagnosis.score_oracle [--strength mild]`` simulates, for every case of the open half that is missed,
the same scenario with the same seed and no cause, writes it in the same format, and compares all metrics that both logs
hold: levels over the second half of what follows the onset, in standard errors of the two medians. The twin shares all
luck up to the onset and the draws after it as far as they are drawn alike, so this is the best that any rule could see;
a rule has no twin. A cause without a metric beyond ``SHOWS`` errors is statistically invisible in its log.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from assistant.analysis.diagnosis.statistics import errors_between
from assistant.analysis.series import series
from assistant.model import Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import build
from evals.diagnosis.modes import STRENGTHS, Strength
from evals.diagnosis.score import judge
from evals.diagnosis.score_cases import Labelled, cases
from evals.diagnosis.simulate import simulate
from evals.diagnosis.write import write

SHOWS: Final = 4.0
"""Standard errors beyond which a difference to the twin counts as visible: the largest of some hundred is read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric's late level with the cause and without it, and how many standard errors they differ by."""

    metric: str
    ill: float
    twin: float
    errors: float


def twin(case: Labelled) -> Run:
    """The same run without its cause, in the same format, as parsed."""
    strength: Strength = next(name for name in STRENGTHS if name == case.strength)
    scenario, _ = build(case.label, case.seed, strength, cause=False)
    if case.framework == "TRL" and scenario.setup.kl == "reward":
        scenario.setup = replace(scenario.setup, kl="loss")
    text, _ = write(simulate(scenario, case.seed), case.framework, label=case.label)
    return parse_text(text).runs[0]


def differences(ill: Run, other: Run, onset: int) -> list[Difference]:
    """Metrics of both runs, the most different first."""
    found = []
    for metric in ill.metrics:
        if metric not in other.columns:
            continue
        sides = []
        for run in (ill, other):
            read = series(run, metric)
            after = read.values[read.steps >= onset]
            sides.append(after[len(after) // 2 :])
        if min(map(len, sides)) >= 3:
            levels = [float(np.median(side)) for side in sides]
            found.append(Difference(metric, levels[0], levels[1], errors_between(sides[0], sides[1])))
    return sorted(found, key=lambda one: -one.errors)


def missed(strength: str | None = None) -> Iterator[tuple[Labelled, list[Difference]]]:
    """Missed cases of the open half, each with the differences to its twin."""
    for case in cases(held=False):
        if case.healthy or (strength and case.strength != strength) or case.onset is None:
            continue
        if not judge(case).found:
            yield case, differences(case.runs[0], twin(case), case.onset)


def main(argv: list[str] | None = None) -> int:
    """Prints a line for each missed case."""
    parser = argparse.ArgumentParser(prog="python -m evals.diagnosis.score_oracle", description=__doc__)
    parser.add_argument("--strength", choices=list(STRENGTHS), help="only these")
    given = parser.parse_args(argv)
    for case, found in missed(given.strength):
        shows = [one for one in found if one.errors >= SHOWS]
        what = f"{case.label} {case.strength} {case.framework}"
        print(f"{what}: {len(shows)} of {len(found)} metrics differ from the twin")
        for one in found[:5]:
            print(f"    {one.metric}: {one.ill:.4g} with, {one.twin:.4g} without ({one.errors:.1f} errors)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
