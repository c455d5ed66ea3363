"""Numbers as a reader wants them: three significant digits, a unit, never more precision than held.

The check reads the text back with :mod:`assistant.ground`; what is written here must be legible there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from assistant.model import Number


def format_number(value: Number, kind: str = "number", *, language: str = "en") -> str:
    """One value with its unit.

    Args:
        value: the number; NaN and infinities are shown as ``NaN``, ``∞``, ``-∞``.
        kind: ``fraction`` (shown as %), ``seconds``, ``milliseconds``, ``tokens``, ``count``, ``nats``,
            ``gib``, ``rate`` (tokens per second), ``integer`` or ``number``.
        language: of the unit.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if kind == "fraction":
        return f"{percent(value * 100)}%" if value == 0 or abs(value) >= 1e-6 else plain(value)
    if kind == "seconds":
        return seconds(float(value), language)
    if kind == "milliseconds":
        return f"{plain(value)} ms"
    if kind == "gib":
        return f"{value:,.1f} GiB" if value == 0 or abs(value) >= 1 else f"{value:.3g} GiB"
    if kind == "rate":
        return f"{plain(value)} tokens/s"
    if kind == "tokens":
        return f"{plain(value)} token" if language == "zh" else f"{plain(value)} tokens"
    if kind == "integer":
        return f"{round(value):,}"
    if kind == "digits4":
        return plain(value, 4)
    return plain(value)


MOST_DIGITS = 9


def beside(value: Number, limits: Iterable[float], kind: str = "number", *, language: str = "en") -> str:
    """One value with its unit, with as many digits as tell it from the limits that it is set against.

    What is below 3.5 by a little is "3.497" there, and no "3.50".

    Args:
        value: the number.
        limits: the numbers that it may be mistaken for.
        kind: as for :func:`format_number`; shares and numbers without a unit alone are shown with more digits.
        language: of the unit.
    """
    text = format_number(value, kind, language=language)
    if not math.isfinite(value) or (kind != "fraction" and text != plain(value)):
        return text
    scale, unit = (100, "%") if kind == "fraction" else (1, "")
    for limit in limits:
        digits = 4
        while digits <= MOST_DIGITS and value != limit and _read(text, unit) == limit * scale:
            text = plain(value * scale, digits) + unit
            digits += 1
    return text


def _read(text: str, unit: str) -> float | None:
    try:
        return float(text.removesuffix(unit).replace(",", ""))
    except ValueError:
        return None


def percent(value: Number) -> str:
    """A percentage to three significant digits (``23.0``); 0 and whole hundreds bare."""
    if value % 100 == 0:
        return f"{int(value)}"
    size = abs(value)
    return (
        f"{value:,.0f}"
        if size >= 999.5
        else plain(value)
        if size < 1e-4
        else f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"
    )


def seconds(value: float, language: str) -> str:
    """Seconds, with minutes, hours or days beside them where those are easier to grasp."""
    unit = " 秒" if language == "zh" else " s"
    text = plain(value) + unit
    if value >= 172_800:
        days = f"{value / 86_400:.1f}"
        return text + (f"（{days} 天）" if language == "zh" else f" ({days} days)")
    if value >= 7200:
        hours = f"{value / 3600:.1f}"
        return text + (f"（{hours} 小时）" if language == "zh" else f" ({hours} h)")
    if value >= 120:
        minutes = f"{value / 60:.1f}"
        return text + (f"（{minutes} 分钟）" if language == "zh" else f" ({minutes} min)")
    return text


def plain(value: Number, digits: int = 3) -> str:
    """Three significant digits; whole numbers exactly, with thousands separators; tiny ones as 2.39e-05."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}" if size >= 10_000 or digits <= 3 else f"{value:,.1f}"
    if size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        if "." in mantissa and set(mantissa.split(".")[1]) == {"0"}:
            mantissa = mantissa.split(".")[0]
        return f"{mantissa}e{exponent}"
    decimals = digits - 1 - math.floor(math.log10(size))
    text = f"{value:.{decimals}f}"
    shortest = repr(float(value))
    return shortest if "e" not in shortest and len(shortest) < len(text) else text


def signed(value: Number, kind: str = "number", *, language: str = "en") -> str:
    """A change with its sign; a change of a fraction is in percentage points."""
    value = value or 0  # a negative zero is no fall
    sign = "+" if value > 0 else ("" if value < 0 else "±")
    if kind == "fraction":
        points = percent(value * 100)
        return f"{sign}{points}" + (" 个百分点" if language == "zh" else " pp")
    if kind == "seconds":
        return f"{sign}{plain(value)}" + (" 秒" if language == "zh" else " s")
    return sign + format_number(value, kind, language=language)


def capital(text: str) -> str:
    """A sentence that begins with a capital, unless a name in code stands first."""
    return text[:1].upper() + text[1:]
