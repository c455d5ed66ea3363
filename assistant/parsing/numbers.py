"""How a number is written in a log, and what it is worth."""

from __future__ import annotations

import re
from array import array
from dataclasses import replace
from math import isnan
from typing import Final

from assistant.model.run import Number, Run

DIGITS: Final = r"[0-9]++(?:\.[0-9]*+)?+(?:[eE][-+]?[0-9]++)?+|\.[0-9]++(?:[eE][-+]?[0-9]++)?+"
NUMBER: Final = rf"[-+]?(?:{DIGITS}|nan|inf|NaN|Infinity)"
"""A bare number as Python, numpy and torch print it; no thousands separators."""

GROUPED: Final = r"[-+]?[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+"
"""A number with thousands separators, as people write it."""

_BARE: Final = re.compile(NUMBER)
_GROUPED: Final = re.compile(GROUPED)
LONGEST: Final = 400
"""Numbers with more characters are none."""


def read_number(text: str) -> Number | None:
    """The value of a number's text: ``int`` for an integer's text, else ``float``.

    Args:
        text: digits only, without wrapper or unit; thousands separators are allowed.

    Returns:
        A value bit-equal to ``float(text)`` (or ``int(text)``); ``None`` if the text is no number.
    """
    if len(text) > LONGEST:
        return None
    if "," in text:
        if _GROUPED.fullmatch(text) is None:
            return None
        text = text.replace(",", "")
    elif _BARE.fullmatch(text) is None:
        return None
    digits = text[1:] if text[0] in "+-" else text
    return int(text) if digits.isdigit() else float(text)


def decimals(text: str) -> int | None:
    """How many digits follow the point of a plain number (``None`` for other shapes)."""
    whole, point, rest = text.partition(".")
    if not point or not rest.isdigit() or not whole.lstrip("+-").isdigit():
        return None
    return len(rest)


def significant_digits(text: str) -> int:
    """How many significant digits a number's text shows before its exponent."""
    mantissa = re.split("[eE]", text, maxsplit=1)[0]
    return len(mantissa.lstrip("+-").replace(".", "").lstrip("0"))


def same_number(one: Number, other: Number) -> bool:
    """Whether two values are equal; ``nan`` equals ``nan``."""
    if isinstance(one, float) and isinstance(other, float) and isnan(one):
        return isnan(other)
    return one == other


def bounded(run: Run) -> Run:
    """The run with integers beyond the largest float as infinities, as ``1e999`` is read: none can be computed with."""
    columns = {}
    for key, column in run.columns.items():
        if not isinstance(column.values, array):
            try:
                array("d", column.values)
            except OverflowError:
                columns[key] = replace(column, values=tuple(map(_float, column.values)))
    return replace(run, columns={**run.columns, **columns}) if columns else run


def _float(value: Number) -> Number:
    try:
        float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
