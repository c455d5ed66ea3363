"""Counts of steps in a log that prints every nth: "the last 500 steps" of one with 93 rows go by their numbers."""

from __future__ import annotations

from collections.abc import Sequence


def since_last(steps: Sequence[int], count: int) -> int | None:
    """Where "the last 500 steps" begin in a log that holds fewer rows; ``None`` where so many rows are there.

    Args:
        steps: ascending.
        count: how many steps are named.
    """
    if len(steps) < 2 or not len(steps) < count <= steps[-1] - steps[0]:
        return None
    return steps[-1] - count + 1
