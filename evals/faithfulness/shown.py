"""Numbers as people write them: formats, and what a written number says and how exactly."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

NUMBER: Final = re.compile(
    r"(?P<sign>[-+−])?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:[eE](?P<exponent>[-+]?\d+))?"
    r"(?P<gap>\s*)(?P<unit>%|percentage points?|points|个百分点|百分点|倍|×|x|万|亿|秒|分钟|小时|毫秒|天"
    r"|seconds?|secs?|minutes?|mins?|hours?|hrs?|ms|GiB|GB|MB|TB|[hskKMB])?(?![A-Za-z])"
)
UNITS: Final[dict[str, float]] = {
    "": 1.0,
    **dict.fromkeys(["%", "percentage point", "percentage points", "points", "个百分点", "百分点"], 0.01),
    **dict.fromkeys(["倍", "×", "x"], 1.0),
    **dict.fromkeys(["ms", "毫秒"], 1e-3),
    **dict.fromkeys(["s", "sec", "secs", "second", "seconds", "秒"], 1.0),
    **dict.fromkeys(["min", "mins", "minute", "minutes", "分钟"], 60.0),
    **dict.fromkeys(["h", "hr", "hrs", "hour", "hours", "小时"], 3600.0),
    **{"天": 86400.0, "MB": 1 / 1024, "TB": 1024.0},
    **dict.fromkeys(["GB", "GiB"], 1.0),
    **{"k": 1e3, "K": 1e3, "万": 1e4, "M": 1e6, "亿": 1e8, "B": 1e9},
}
OTHER_UNIT: Final[dict[str, str]] = {
    **{"GB": "MB", "GiB": "MB", "MB": "GB", "TB": "GB", "ms": "s", "毫秒": "秒", "秒": "分钟", "分钟": "秒"},
    **{"s": "min", "sec": "min", "seconds": "minutes", "min": "s", "mins": "secs", "minutes": "seconds"},
    **{"h": "min", "hours": "minutes", "小时": "分钟", "k": "M", "K": "M", "M": "k", "万": "亿", "亿": "万"},
}
"""The unit that a careless writer puts in its place."""
HEDGED: Final = re.compile(
    r"about|around|roughly|some |nearly|almost|approximately|close to|~|≈|or so|约|大概|大致|左右|差不多|将近|接近|近"
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a written number says: ``value`` in the field's own unit, give or take ``half`` of its last digit."""

    value: float
    half: float


def said(literal: str) -> Said:
    """Reads a written number.

    Raises:
        ValueError: if the text is no number.
    """
    found = NUMBER.fullmatch(literal.strip())
    if not found:
        raise ValueError(f"{literal!r} is no number")
    digits = found["digits"].replace(",", "")
    scale = UNITS[found["unit"] or ""] * 10.0 ** int(found["exponent"] or 0)
    half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
    return Said((-1 if found["sign"] in {"-", "−"} else 1) * float(digits) * scale, half * scale)


def agrees(literal: str, value: float | None) -> bool:
    """Whether a written number is the value, rounded or cut to the digits shown by half a unit of the last."""
    if value is None or not math.isfinite(value):
        return False
    read = said(literal)
    return abs(read.value - value) <= read.half * (1 + 1e-6) + 1e-12 * abs(value)


def differs(literal: str, value: float | None, slack: float) -> bool:
    """Whether a written number is false of the value beyond dispute: past any rounding and a relative slack.

    Signs are compared: "−0.02" is false of 0.02. Nothing is said of a value that is not there: any number is false.
    """
    if value is None or not math.isfinite(value):
        return True
    read = said(literal)
    off = abs(read.value - value)
    return off > 1.9 * read.half and off > slack * max(abs(value), abs(read.value))


def show(value: float, how: str, language: str) -> str:
    """Writes a value in a named format (:data:`FORMATS`).

    Args:
        value: in the metric's own unit: seconds, fractions, GB, tokens.
        how: name of the format.
        language: zh or en, for the units.

    Raises:
        ValueError: for a format that is not known, or cannot show the value.
    """
    zh = language == "zh"
    match how:
        case "full":
            return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
        case "int" | "step":
            return str(round(value))
        case "comma":
            return f"{value:,.0f}"
        case "comma1":
            return f"{value:,.1f}"
        case "sig2" | "sig3" | "sig4" | "sig5":
            return significant(value, int(how[3]))
        case "dec1" | "dec2" | "dec3" | "dec4" | "dec5":
            return f"{value:.{how[3]}f}"
        case "sdec2" | "sdec3" | "sdec4":
            return f"{value:+.{how[4]}f}"
        case "ssig2" | "ssig3":
            return ("+" if value > 0 else "") + significant(value, int(how[4]))
        case "sci1" | "sci2" | "sci3":
            mantissa, exponent = f"{value:.{how[3]}e}".split("e")
            return f"{mantissa}e{int(exponent)}" if zh else f"{mantissa}e{int(exponent):+03d}"
        case "pct0" | "pct1" | "pct2":
            return f"{100 * value:.{how[3]}f}%"
        case "pct1s" | "pct2s":
            return f"{100 * value:.{how[3]}f} %"
        case "spct0" | "spct1":
            return f"{100 * value:+.{how[4]}f}%"
        case "pp1" | "pp2":
            return f"{100 * value:.{how[2]}f}" + (" 个百分点" if zh else " percentage points")
        case "x1" | "x2":
            return f"{value:.{how[1]}f}" + (" 倍" if zh else "×")
        case "k0" | "k1" | "k2":
            return f"{value / 1e3:.{how[1]}f}k"
        case "M1" | "M2":
            return f"{value / 1e6:.{how[1]}f}M"
        case "wan1" | "wan2" | "wan0":
            return f"{value / 1e4:.{how[3]}f} 万"
        case "s0" | "s1" | "s2":
            return f"{value:,.{how[1]}f}" + (" 秒" if zh else " s")
        case "min0" | "min1" | "min2":
            return f"{value / 60:.{how[3]}f}" + (" 分钟" if zh else " min")
        case "h1" | "h2":
            return f"{value / 3600:.{how[1]}f}" + (" 小时" if zh else " hours")
        case "ms0" | "ms1":
            return f"{value * 1e3:.{how[2]}f} ms"
        case "gb0" | "gb1" | "gb2":
            return f"{value:.{how[2]}f} GB"
    raise ValueError(f"no format is named {how!r}")


ANY: Final[dict[str, tuple[str, ...]]] = {
    "plain": ("sig3", "sig4", "sig2"),
    "small": ("sci1", "sci2", "sig3"),
    "fraction": ("sig3", "pct1", "pct2", "dec3", "pct1s"),
    "reward": ("sig3", "dec3", "dec4", "dec2"),
    "accuracy": ("dec3", "pct1", "pct0"),
    "tokens": ("comma", "comma1", "int"),
    "manytokens": ("comma", "M1", "M2", "k0"),
    "seconds": ("s0", "s1", "sig3", "sig4"),
    "gb": ("gb1", "gb0", "gb2"),
    "rate": ("int", "comma1", "dec1"),
}
"""By a metric's unit: formats to draw from, for ``any``."""


def significant(value: float, digits: int) -> str:
    """A number to so many significant digits, without an exponent down to 1e-4."""
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(places, 0)}f}"
    if abs(float(text)) >= 10.0 ** (digits - places) and places > 0:
        text = f"{value:.{places - 1}f}"
    return text


def redigited(literal: str, digits: str) -> str:
    """The literal with other digits of the same form."""
    found = NUMBER.fullmatch(literal.strip())
    assert found is not None
    start, end = found.span("digits")
    return literal.strip()[:start] + digits + literal.strip()[end:]


def places(literal: str) -> tuple[Decimal, int, bool]:
    """Digits of a literal as a number without sign and exponent, its decimals, and whether it has thousands commas."""
    found = NUMBER.fullmatch(literal.strip())
    if not found:
        raise ValueError(f"{literal!r} is no number")
    digits = found["digits"]
    return Decimal(digits.replace(",", "")), len(digits.partition(".")[2]), "," in digits
