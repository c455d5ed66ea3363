"""So many values in a row that meet a condition: "第一次连续 20 步低于 0.06", "below 0.06 for 20 steps in a row"."""

from __future__ import annotations

import re
from typing import Final

_UNIT: Final = r"(?:步|个|次|条|轮|值|点|steps?|values?|evals?|evaluations?|iterations?|rows?)"
_ROW: Final = re.compile(
    rf"(?i)(?:连续|接连|一连|连着)(?:有|出现)?\s*(\d{{1,5}})\s*(?:个|次)?\s*{_UNIT}(?!\s*(?:窗|的?(?:滑动|移动)?(?:平均|均值)))"
    rf"|\b(\d{{1,5}}) (?:or more )?(?:consecutive|successive|straight) {_UNIT}"
    rf"|\b(\d{{1,5}}) (?:or more )?{_UNIT} (?:in a row|running|in succession|on end|straight|consecutively)\b"
)


def row_in(text: str) -> tuple[int, tuple[int, int]] | None:
    """How many values in a row a text speaks of, at least two, and where it says so."""
    match = _ROW.search(text)
    if match is None:
        return None
    number = int(next(group for group in match.groups() if group))
    return (number, match.span()) if number > 1 else None


def rows(held: list[bool], broken: set[int], least: int) -> list[tuple[int, int]]:
    """First and last place of each row of ``True`` with so many places or more.

    Args:
        held: shape (n,).
        broken: places that cannot be joined to the one before.
        least: fewest places.
    """
    found, start = [], 0
    for place in range(1, len(held) + 1):
        if place == len(held) or held[place] != held[start] or place in broken:
            if held[start] and place - start >= least:
                found.append((start, place - 1))
            start = place
    return found


__all__ = ["row_in", "rows"]
