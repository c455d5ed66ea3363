"""Which cells a cut line lost: told from the keys of the other rows, never filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from assistant.model.run import Missing, Note
from assistant.parsing.frameworks import is_validation
from assistant.parsing.kept import AnyRow, own_rows

KNOWN_LIMIT: Final = 4096
"""Length at which Ray workers' terminals cut a line of standard output (characters)."""

_MOST_SHAPES: Final = 64


def find_missing(rows: Sequence[AnyRow]) -> list[Missing]:
    """The cells that should be there and are not, row by row.

    A cut row lacks every metric that other rows of its kind carry behind the place of the cut. Kinds:
    a row that holds training metrics lacks training metrics, a row that holds validation metrics lacks
    validation metrics. A pure validation row lacks training metrics only if training had begun before it (the
    validation before training has none). Rows that were not cut lack nothing.

    Args:
        rows: the rows of one run, in order.

    Returns:
        For each cut row the half cell first, then one entry a metric in the log's order of keys.
    """
    if not any(row.cut or row.bad for _, row in own_rows(rows)):
        return []
    order: dict[str, int] = {}
    kinds = Counter(row.keys() for row in rows)
    for keys in kinds:
        for key in keys:
            order.setdefault(key, len(order))
    shapes = [keys for keys, _ in kinds.most_common(_MOST_SHAPES)]
    trains = {keys: any(not is_validation(key) for key in keys) for keys in kinds}
    missing: list[Missing] = []
    begun = False
    for row in rows:
        begun = begun or trains[row.keys()]
        missing.extend(gap for gap in row.bad if gap.metric not in row.values)
        if not row.cut:
            continue
        found: list[Missing] = []
        if row.half is not None and row.half.metric not in row.values:
            found.append(row.half)
        lost = _lost_keys(row, shapes, begun=begun)
        if row.half is not None:
            lost.discard(row.half.metric or "")
        for key in sorted(lost, key=order.__getitem__):
            found.append(Missing(key, row.step, row.last_line, "line_cut", "", row.limit))
        missing.extend(found or [Missing(None, row.step, row.last_line, "line_cut", "", row.limit)])
    return missing


def _lost_keys(row: AnyRow, shapes: Sequence[tuple[str, ...]], *, begun: bool) -> set[str]:
    present = set(row.values)
    if row.half is not None and row.half.metric is not None:
        present.add(row.half.metric)
    trains = begun or any(not is_validation(key) for key in present)
    validates = any(is_validation(key) for key in present)
    lost: set[str] = set()
    for keys in shapes:
        last = max((at for at, key in enumerate(keys) if key in present), default=None)
        if last is None and present and not begun:
            continue
        for key in keys[(last if last is not None else -1) + 1 :]:
            if key not in present and (validates if is_validation(key) else trains):
                lost.add(key)
    return lost


def cut_notes(rows: Sequence[AnyRow], missing: Sequence[Missing]) -> list[Note]:
    """One note that names the cut rows, if there are any."""
    cut = [row for _, row in own_rows(rows) if row.cut]
    if not cut:
        return []
    steps = ", ".join(str(row.step) for row in cut[:12]) + (" …" if len(cut) > 12 else "")
    limit = next((row.limit for row in cut if row.limit), None)
    lost = len({gap.metric for gap in missing if gap.metric and gap.reason != "not_a_number"})
    at_zh = f"在第 {limit} 个字符处" if limit else ""
    at_en = f" at {limit} characters" if limit else ""
    return [
        Note(
            "line_cut",
            f"步 {steps} 的日志行{at_zh}被截断，涉及 {lost} 个指标：这些值缺失，不是 0，也不补全。",
            f"The lines of step {steps} are cut{at_en}; {lost} metrics are affected: "
            "those values are missing, not 0, and are not filled in.",
            cut[0].last_line,
        )
    ]
