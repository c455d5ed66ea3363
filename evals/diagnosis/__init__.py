"""A simulator of RL post-training logs with known causes, to measure what a diagnosis finds and what it imagines.

Written from the description of the failure modes and from public logs alone, before any rule was tuned on it;
``suite.yaml`` freezes the cases. ``python -m evals.diagnosis.simulate --show FM-01`` prints one.
"""

from __future__ import annotations

from evals.diagnosis.cases import Case, build, entries, make, runs, suite
from evals.diagnosis.healthy import HEALTHY
from evals.diagnosis.modes import MODES, NOT_SHOWN, inject
from evals.diagnosis.simulate import Scenario, Trace, simulate

__all__ = [
    "HEALTHY",
    "MODES",
    "NOT_SHOWN",
    "Case",
    "Scenario",
    "Trace",
    "build",
    "entries",
    "inject",
    "make",
    "runs",
    "simulate",
    "suite",
]
