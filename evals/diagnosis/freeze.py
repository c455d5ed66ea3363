"""Writes ``suite.yaml``: every mode, strength and framework twice (one open, one held), and 300 healthy runs.

Run once, before rules are tuned; a suite written again with another seed is another suite.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from evals.diagnosis.cases import SUITE, able_frameworks
from evals.diagnosis.healthy import HEALTHY
from evals.diagnosis.modes import MODES, STRENGTHS

HEALTHY_CASES = 300
HEAD = """\
# Frozen suite of simulated runs (evals.diagnosis.cases.suite): what a diagnosis is measured on.
# A line: label (mode, or kind of healthy run), strength, framework, seed, held.
# Held cases are kept back: no rule may be tuned on them. Do not edit; seeds make the cases.
fields: [label, strength, framework, seed, held]
cases:
"""


def lines(seed: int) -> list[str]:
    """The suite's cases, one a line."""
    rng = np.random.default_rng(seed)
    found: list[str] = []
    for label in sorted(MODES):
        for strength in STRENGTHS:
            for framework in MODES[label].frameworks:
                for held in ("false", "true"):
                    found.append(f"  - [{label}, {strength}, {framework}, {int(rng.integers(1, 2**31))}, {held}]")
    kinds = list(HEALTHY)
    for index in range(HEALTHY_CASES):
        turn, place = divmod(index, 2 * len(kinds))
        label = kinds[place // 2]
        able = able_frameworks(label)
        framework = able[(turn + place // 2) % len(able)]
        held = "true" if place % 2 else "false"
        found.append(f"  - [{label}, null, {framework}, {int(rng.integers(1, 2**31))}, {held}]")
    return found


def main() -> int:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--to", type=Path, default=SUITE)
    given = parser.parse_args()
    given.to.write_text(HEAD + "\n".join(lines(given.seed)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
