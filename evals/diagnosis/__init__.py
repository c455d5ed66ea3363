"""A simulator of RL post-training logs with known causes, to measure what a diagnosis finds and what it imagines.

Written from the description of the failure modes and from public logs alone, before any rule was tuned on it;
``suite.yaml`` freezes the cases. ``python -m evals.diagnosis.simulate --show FM-01`` prints one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Loads on first use, so that ``-m evals.diagnosis.simulate`` runs a module that is not yet imported."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    homes = ("cases", "healthy", "modes", "simulate")
    modules = [import_module(f"{__name__}.{home}") for home in homes]
    return next(getattr(module, name) for module in modules if hasattr(module, name))
