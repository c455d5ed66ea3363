"""Numbers as text: short, with a unit, and read back by the check as what they were."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.ground.reading import numbers
from assistant.write.numbers import format_number, plain, signed

KINDS = (
    "number", "fraction", "seconds", "milliseconds", "tokens", "count", "nats", "gib", "rate", "integer", "digits4",
)  # fmt: skip
LANGUAGES = ("zh", "en")

finite = st.one_of(
    st.floats(-1e12, 1e12).map(lambda value: value + 0.0),  # no negative zero: a difference is none
    st.floats(-1.0, 1.0).map(lambda value: value + 0.0),
    st.integers(-(10**9), 10**9),
    st.builds(lambda digits, places: digits / 10**places, st.integers(-(10**5), 10**5), st.integers(0, 9)),
)


def agrees(text: str, value: float, count: int | None = None) -> bool:
    """Whether every number in the text is the value, within half a unit of its last digit."""
    reads = numbers(text)
    if not reads or (count is not None and len(reads) != count):
        return False
    return all(abs(read.value - value) <= read.half * 1.000001 + abs(value) * 1e-9 for read in reads)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
@given(value=finite)
@example(value=0)
@example(value=0.0)
@example(value=999.5)
@example(value=-0.9995)
@example(value=9.9996e-05)
@example(value=0.0001)
@example(value=7199.96)
@example(value=1.0)
@example(value=204.84540128707886)
def test_format_number_read_back_is_the_value_at_the_precision_shown(kind: str, language: str, value: float) -> None:
    text = format_number(value, kind, language=language)
    count = 2 if kind == "seconds" and value >= 120 else 1
    assert agrees(text, round(value) if kind == "integer" else value, count), text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["number", "fraction", "seconds", "tokens", "gib", "rate"])
@given(value=finite)
def test_signed_read_back_is_the_change_at_the_precision_shown(kind: str, language: str, value: float) -> None:
    text = signed(value, kind, language=language)
    assert agrees(text, value), text
    assert text.startswith("+" if value > 0 else "-" if value < 0 else "±")


@given(value=st.one_of(st.floats(1e-300, 1e12), st.integers(1, 10**12)))
def test_plain_shows_at_least_three_digits_of_any_value(value: float) -> None:
    (read,) = numbers(plain(value))
    assert abs(read.value - value) <= 0.005 * value * 1.000001


@given(value=st.floats(1e-12, 1e12))
def test_plain_of_the_negative_is_the_negative(value: float) -> None:
    assert plain(-value) == "-" + plain(value)


@pytest.mark.parametrize(
    ("value", "kind", "language", "text"),
    [
        (0.15639255940914154, "number", "en", "0.156"),
        (2.393998338045359e-05, "nats", "en", "2.39e-05"),
        (1e-06, "number", "en", "1e-06"),
        (0.5, "number", "en", "0.5"),
        (23487497, "tokens", "en", "23,487,497 tokens"),
        (2535.5634765625, "tokens", "zh", "2,536 token"),
        (0.23, "fraction", "en", "23.0%"),
        (0, "fraction", "en", "0%"),
        (1.0, "fraction", "zh", "100%"),
        (0.0252685546875, "fraction", "en", "2.53%"),
        (2143.2214297391474, "seconds", "en", "2,143 s (35.7 min)"),
        (2143.2214297391474, "seconds", "zh", "2,143 秒（35.7 分钟）"),
        (9000.0, "seconds", "en", "9,000 s (2.5 h)"),
        (0.7246750853955746, "seconds", "en", "0.725 s"),
        (0.10318168411214124, "milliseconds", "en", "0.103 ms"),
        (216.712890625, "gib", "en", "216.7 GiB"),
        (677.3895106607794, "rate", "zh", "677 tokens/s"),
        (8192.0003, "integer", "en", "8,192"),
        (3.749990463256836, "digits4", "en", "3.750"),
        (math.nan, "fraction", "en", "NaN"),
        (math.inf, "seconds", "zh", "∞"),
        (-math.inf, "number", "en", "-∞"),
    ],
)
def test_format_number_as_a_reader_wants_it(value: float, kind: str, language: str, text: str) -> None:
    assert format_number(value, kind, language=language) == text


@pytest.mark.parametrize(
    ("value", "kind", "language", "text"),
    [
        (0.032, "fraction", "en", "+3.20 pp"),
        (-0.032, "fraction", "zh", "-3.20 个百分点"),
        (0.0, "number", "en", "±0"),
        (-1.5609, "seconds", "en", "-1.56 s"),
        (0.1035, "number", "zh", "+0.103"),
    ],
)
def test_signed_as_a_reader_wants_it(value: float, kind: str, language: str, text: str) -> None:
    assert signed(value, kind, language=language) == text
