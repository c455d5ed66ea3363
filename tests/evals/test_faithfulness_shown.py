"""Numbers as people write them: what a literal says, how exactly, and how a value is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.faithfulness.fields import edge, nice
from evals.faithfulness.shown import ANY, agrees, differs, said, show, significant

FORMATS = sorted({how for formats in ANY.values() for how in formats} | {"min1", "h2", "x1", "wan1", "M1", "k1", "pp1"})


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("4.7%", 0.04688720405101776),
        ("4.7 %", 0.04688720405101776),
        ("0.047", 0.04688720405101776),
        ("4.69e-2", 0.04688720405101776),
        ("2.5k", 2535.56),
        ("2,536", 2535.56),
        ("72 min", 4334.19),
        ("72.2 分钟", 4334.19),
        ("1.2 小时", 4334.19),
        ("4,334 s", 4334.19),
        ("+219%", 2.1867),
        ("-42%", -0.4225),
        ("−42%", -0.4225),
        ("3.2×", 3.2067),
        ("3.2 倍", 3.2067),
        ("204.8 GB", 204.84540128707886),
        ("2349 万", 23487497),
        ("23.5M", 23487497),
        ("0.5 亿", 48000000),
        ("15 个百分点", 0.1503),
        ("103 ms", 0.10318),
        ("8", 8),
    ],
)
def test_agrees_rounded_number_holds(literal: str, value: float) -> None:
    assert agrees(literal, value)
    assert not differs(literal, value, 0.0)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("0.165", 0.15639),
        ("47%", 0.04688720405101776),
        ("0.047%", 0.04688720405101776),
        ("72 s", 4334.19),
        ("204.8 MB", 204.84540128707886),
        ("-0.047", 0.04688720405101776),
        ("0.046875312", 0.04698720405101776),
        ("0.156", None),
        ("0.156", float("nan")),
    ],
)
def test_differs_false_number_beyond_dispute(literal: str, value: float | None) -> None:
    assert not agrees(literal, value)
    assert differs(literal, value, 0.0)


def test_differs_number_within_slack_is_left_open() -> None:
    assert not differs("0.1520", 0.15237574465572834, 0.004)
    assert not agrees("0.1520", 0.15237574465572834)


def test_said_number_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no number"):
        said("about eight")


@given(st.floats(1e-4, 1e7), st.sampled_from(FORMATS), st.sampled_from(["zh", "en"]))
def test_show_any_format_agrees_with_its_value(value: float, how: str, language: str) -> None:
    assert agrees(show(value, how, language), value)


@given(st.floats(1e-7, 1e6), st.integers(1, 5))
def test_significant_any_value_is_within_half_a_digit(value: float, digits: int) -> None:
    text = significant(value, digits)
    assert abs(float(text) - value) <= 0.5000001 * 10.0 ** (-digits + 1) * 10.0 ** len(str(int(value))) or value < 1
    assert agrees(text, value)


def test_nice_bound_has_two_digits() -> None:
    assert nice(0.15639) == 0.16
    assert nice(2535.6) == 2500


def test_edge_middle_between_neighbours_is_found() -> None:
    assert edge(0.1549, 2)
    assert not edge(0.1501, 2)
