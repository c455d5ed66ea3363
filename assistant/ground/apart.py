"""Columns that tell how far the columns of two runs lie apart: held against the numbers that the row shows of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ground.quantities import Quantity, quantities
from assistant.ground.sentences import Unit
from assistant.ground.titles import title_of
from assistant.ground.verdicts import Claim, Sentence, reason

_DOWN: Final = re.compile(r"[↓↘⬇🔻📉▼]|(?i:\blower\b|\bless\b|\bdown\b)|[低少降跌减]")
_UP: Final = re.compile(r"[↑↗⬆🔺📈▲]|(?i:\bhigher\b|\bmore\b|\bup\b)|[高多升涨增]")
_LESS_THE_OTHER: Final = re.compile(r"\s[-−–]\s|(?i:\bminus\b)")
Column = tuple[tuple[int, int], list[int]]


def between_columns(row: Sentence, unit: Unit, columns: Sequence[Column], language: str) -> list[Claim]:
    """The claims of a row's cells under titles of a change, of the second run's column against the first's."""
    runs = [span for span, told in columns if len(told) == 1]
    order = [told[0] for _, told in columns if len(told) == 1]
    if len(runs) != 2:
        return []
    shown = [quantities(row.text[a - row.start : b - row.start], []) for a, b in runs]
    if any(len(numbers) != 1 for numbers in shown):
        return []
    x, y = shown[0][0], shown[1][0]
    claims = []
    for (start, end), told in columns:
        title = unit.header[unit.cells.index((start, end))]
        role = title_of(title)
        part = row.text[start - row.start : end - row.start]
        if len(told) == 2 and _LESS_THE_OTHER.search(title):  # "A − B": the one named first less the other
            first, second = (y, x) if told[0] == order[1] else (x, y)
            for q in quantities(part, []):
                fine = _fits(q, second, first, percent=q.unit == "%", factor=False, down=None if q.sign else False)
                note = (
                    "" if fine else reason("factor", language, true=_true(second, first, percent=False), shown=q.text)
                )
                claims.append(
                    Claim(q.text, start + q.start, start + q.end, "supported" if fine else "contradicted", note)
                )
            continue
        if told or role.role not in {"change", "factor"}:
            continue
        down = bool(_DOWN.search(part)) if bool(_DOWN.search(part)) != bool(_UP.search(part)) else role.down
        for q in quantities(part, []):
            percent = q.unit == "%" or (not q.unit and role.percent)
            fine = _fits(
                q,
                x,
                y,
                percent=percent,
                factor=q.unit == "ratio" or role.role == "factor",
                down=None if q.sign else down,
            )
            note = "" if fine else reason("factor", language, true=_true(x, y, percent=percent), shown=q.text)
            claims.append(Claim(q.text, start + q.start, start + q.end, "supported" if fine else "contradicted", note))
    return claims


def _base(q: Quantity) -> tuple[float, float]:
    factor = q.factor if q.unit else 1.0
    return q.number * factor, q.half * factor


def _fits(q: Quantity, x: Quantity, y: Quantity, *, percent: bool, factor: bool, down: bool | None) -> bool:
    """Whether a number is the change from the one shown to the other, as far as what is shown of them tells."""
    (a, da), (b, db) = _base(x), _base(y)
    number, half = abs(q.number), q.half
    if percent or factor:
        if not a:
            return False
        ends = [(b + sb * db) / (a + sa * da) for sa in (-1, 1) for sb in (-1, 1) if a + sa * da]
        low, high = min(ends), max(ends)
        if percent:
            low, high, sign = (low - 1) * 100, (high - 1) * 100, 1 if a > 0 else -1
            low, high = sorted((low * sign, high * sign))
    else:
        low, high = b - a - da - db, b - a + da + db
        number, half = number * (q.factor if q.unit else 1.0), half * (q.factor if q.unit else 1.0)
    signs = (
        [-1] if q.sign == "-" else [1] if q.sign == "+" or factor else [1, -1] if down is None else [-1 if down else 1]
    )
    return any(low - half * 1.001 <= sign * number <= high + half * 1.001 for sign in signs)


def _true(x: Quantity, y: Quantity, *, percent: bool) -> str:
    a, b = _base(x)[0], _base(y)[0]
    return f"{100 * (b / a - 1):+.3g}%" if percent and a else f"{b - a:+.4g}"
