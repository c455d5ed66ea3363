"""Metrics whose change two windows do not settle, and the course of the whole run does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.analysis.compare_model import Row
from assistant.ask.context import Context

LEVEL: Final = 0.05


def settled(context: Context, rows: Sequence[Row]) -> dict[str, int]:
    """The sign of each metric's change that a trend or a jump of the whole run bears out, by key.

    A trend's p-value is corrected after Bonferroni for the rows tried; a jump has passed a bound of its own.

    Args:
        context: of the answer.
        rows: those that the windows leave open.
    """
    found = {}
    for row in rows:
        trend = context.ledger.trend(row.metric)
        sign = {"rising": 1, "falling": -1}.get(trend.direction or "") if trend is not None else None
        if trend is None or sign is None or sign * (row.change.delta or 0) <= 0:
            continue
        if trend.form == "shift" or (trend.p_value or 1) * len(rows) < LEVEL:
            found[row.metric] = sign
    return found


__all__ = ["settled"]
