"""Processes that take turns in one log: rows of one step with different values, of which only one counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import isnan
from typing import Final

from assistant.model.run import Note, Number, Run

SEVERAL: Final = "several_values_a_step"
"""Code of the note."""

_RANK: Final = re.compile(
    r"(?i)(?:^|[/_.])(?:(?:global|local|node|dp|data_parallel|world)?_?rank|process_?(?:index|id|idx)?|proc(?:_id)?|"
    r"worker_?(?:id|idx|index)?|device_?(?:id|idx|index)?|gpu_?(?:id|idx|index)?)$"
)
_NEAR: Final = 64
_MOST_SHOWN: Final = 8


def turn_notes(run: Run) -> list[Note]:
    """A note where most steps have several rows next to each other, with different values.

    Without a restart a step is printed again by another process. What counts at a step is its last row; the note
    tells how many values do not, and, where a column names the process, whose values do.
    """
    if run.step_axis == "index":
        return []
    distinct = len(run.distinct_steps)
    if len(run.steps) < 2 * distinct or distinct < 2:
        return []
    near = _repeated_near(run.steps, min(_NEAR, max(1, distinct // 2)))
    if 2 * near < len(run.steps) - distinct:  # a restart prints a stretch again, far behind
        return []
    last = {step: row for row, step in enumerate(run.steps)}
    unused, names = 0, []
    for key, column in run.columns.items():
        if _RANK.search(key):
            continue
        held: dict[int, Number] = {run.steps[row]: value for row, value in zip(column.rows, column.values, strict=True)}
        pairs = zip(column.rows, column.values, strict=True)
        other = sum(value != held[run.steps[row]] and not isnan(value) for row, value in pairs)
        unused += other
        if other:
            names.append(key)
    if not unused:
        return []
    ranks = next((key for key in run.columns if _RANK.search(key) and len(set(run.columns[key].values)) > 1), None)
    zh, en = _whose(run, ranks, set(last.values())) if ranks is not None else ("", "")
    rows, steps = len(run.steps), len(last)
    shown = ", ".join(names[:_MOST_SHOWN])
    return [
        Note(
            SEVERAL,
            f"{steps} 个 step 共有 {rows} 行，同一步的各行数值不同（{shown}）：每步只采用最后一行，"
            f"另有 {unused} 个值没有用到{zh}。",
            f"{steps} steps have {rows} rows, whose values differ within a step ({shown}): the last row of each step "
            f"counts, and {unused} other values are not used{en}.",
            run.row_lines[0],
        )
    ]


def _repeated_near(steps: Sequence[int], reach: int) -> int:
    """How many rows have the step of one of the rows just before them."""
    near = 0
    last: dict[int, int] = {}
    for row, step in enumerate(steps):
        near += step in last and row - last[step] <= reach
        last[step] = row
        if len(last) > 4 * reach:  # what is farther away does not matter, and a long log has many steps
            last = {step: at for step, at in last.items() if row - at < reach}
    return near


def _whose(run: Run, key: str, rows: set[int]) -> tuple[str, str]:
    """Whose rows are the last ones."""
    column = run.columns[key]
    used = Counter(value for row, value in zip(column.rows, column.values, strict=True) if row in rows)
    if len(used) == 1:
        value = next(iter(used))
        return f"；采用的都是 {key} {value} 的", f"; those that count are of {key} {value}"
    held = ", ".join(f"{value} ({count})" for value, count in sorted(used.items())[:_MOST_SHOWN])
    return (
        f"；各步采用的 {key} 不同（步数）：{held}",
        f"; the {key} that counts differs from step to step (steps): {held}",
    )
