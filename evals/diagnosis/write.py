"""A simulated run in a framework's log format, as text and as the table of cells that the text holds."""

from __future__ import annotations

from typing import Final

import numpy as np

from evals.diagnosis import roll_log, trl_log, verl_log
from evals.diagnosis.simulate import Trace
from evals.diagnosis.verl_log import Row

__all__ = ["FRAMEWORKS", "Row", "write"]

FRAMEWORKS: Final = ("verl", "TRL", "ROLL")
EARLY_FORM_SHOWS: Final = {"FM-01", "FM-02", "FM-08", "FM-15", "FM-20", "FM-23", "FM-24"}
"""Modes still visible with three decimals and the early keys."""
WHOLE_LINES: Final = {"FM-05", "FM-22", "FM-38", "FM-40", "few_steps"}
"""Labels for which a cut line at a validation would take away what there is to see."""


def write(trace: Trace, framework: str, *, label: str = "") -> tuple[str, tuple[Row, ...]]:
    """Text and cells; the framework's variant (early form, wrappers, cuts, windows) follows from the seed.

    Raises:
        ValueError: for a framework that has no writer.
    """
    luck = np.random.default_rng((trace.seed, 4096))
    if framework == "verl":
        return verl_log.write_verl(trace, _verl_style(luck, label))
    if framework == "TRL":
        every = 5 if trace.setup.steps >= 60 and trace.setup.validation.every % 5 == 0 and luck.random() < 0.35 else 1
        if trace.setup.steps // every < 8:
            every = 1
        return trl_log.write_trl(trace, trl_log.Style(every, bool(luck.random() < 0.25)))
    if framework == "ROLL":
        return roll_log.write_roll(trace)
    raise ValueError(f"no writer for {framework!r}; there are {', '.join(FRAMEWORKS)}")


def _verl_style(luck: np.random.Generator, label: str) -> verl_log.Style:
    draw = luck.random(4)
    prefix = ""
    if draw[1] < 0.3:
        prefix = f"(TaskRunner pid={int(luck.integers(1000, 90000))}) "
        if draw[2] < 0.5:
            prefix = f"\x1b[36m{prefix[:-1]}\x1b[0m "
    if draw[0] < 0.15 and (not label.startswith("FM-") or label in EARLY_FORM_SHOWS):
        return verl_log.Style(numpy=False, early=True, prefix=prefix)
    if draw[0] < 0.35 and label not in WHOLE_LINES:
        return verl_log.Style(cut=True)
    return verl_log.Style(numpy=bool(draw[3] < 0.6), prefix=prefix)
