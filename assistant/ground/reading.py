"""Reading numbers back from prose, in Chinese and English, at the precision they are shown with."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A number that is not part of a name (``mean@30``, ``k1``, ``step_2``) nor of a date or version.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_@/.,\-−+±])(?P<sign>[+±−-]?)(?P<body>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|∞|NaN)"
    r"(?P<unit>\s?(?:%|％|×|(?:tokens?/s|ms|min|days|GiB|pp|s|h|[KMB])(?![A-Za-z0-9_/])|秒|分钟|小时|天|个百分点))?"
    r"(?![A-Za-z0-9_@]|\.\d)"
)
SCALE = {"%": 0.01, "％": 0.01, "pp": 0.01, "个百分点": 0.01, "ms": 1.0, "min": 60.0, "分钟": 60.0, "h": 3600.0,
         "小时": 3600.0, "days": 86400.0, "天": 86400.0, "K": 1e3, "M": 1e6, "B": 1e9}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Read:
    """A number in a text: where, its value in base units, half a unit of its last digit, and its unit."""

    start: int
    end: int
    text: str
    value: float
    half: float
    unit: str
    signed: bool


def numbers(text: str) -> list[Read]:
    """Every number of a text that is not part of a name."""
    found = []
    for match in _NUMBER.finditer(text):
        body, unit = match["body"].replace(",", ""), (match["unit"] or "").strip()
        if body == "NaN":
            value, half = float("nan"), 0.0
        elif body == "∞":
            value, half = float("inf"), 0.0
        else:
            value, half = float(body), half_unit(body)
        if match["sign"] in {"-", "−"}:
            value = -value
        scale = SCALE.get(unit, 1.0)
        found.append(
            Read(
                match.start(), match.end(), match.group().strip(), value * scale, half * scale, unit,
                match["sign"] in {"+", "-", "−"},
            )
        )  # fmt: skip
    return found


def half_unit(body: str) -> float:
    """Half of the last shown digit's place: ``0.156`` → 0.0005, ``2.39e-05`` → 5e-8, ``5,419`` → 0.5."""
    mantissa, _, exponent = body.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(0.5 * 10.0 ** (int(exponent or 0) - decimals))
