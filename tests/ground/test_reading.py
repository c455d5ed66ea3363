"""Numbers read back from prose, at the precision they are shown with."""

from __future__ import annotations

import math

import pytest

from assistant.ground.reading import half_unit, numbers


@pytest.mark.parametrize(
    ("text", "value", "half", "unit"),
    [
        ("the value is 0.156.", 0.156, 0.0005, ""),
        ("共 5,419 个", 5419.0, 0.5, ""),
        ("lr 1e-06", 1e-6, 5e-7, ""),
        ("熵为2.39e-05。", 2.39e-5, 5e-8, ""),
        ("23.0%", 0.230, 0.0005, "%"),
        ("占 23％", 0.23, 0.005, "％"),
        ("moved -0.0732 pp", -0.000732, 5e-7, "pp"),
        ("变化 +3.2 个百分点", 0.032, 0.0005, "个百分点"),
        ("4,334 s", 4334.0, 0.5, "s"),
        ("72.2 min", 4332.0, 3.0, "min"),
        ("（28.5 分钟）", 1710.0, 3.0, "分钟"),
        ("1.5 h", 5400.0, 180.0, "h"),
        ("677 tokens/s", 677.0, 0.5, "tokens/s"),
        ("216.7 GiB", 216.7, 0.05, "GiB"),
        ("3.2×", 3.2, 0.05, "×"),
        ("23.5M tokens", 23.5e6, 50_000.0, "M"),
        ("−0.5", -0.5, 0.05, ""),
        ("±0.05", 0.05, 0.005, ""),
    ],
)
def test_numbers_one_number_gives_value_precision_and_unit(text: str, value: float, half: float, unit: str) -> None:
    (read,) = numbers(text)
    assert read.value == pytest.approx(value, rel=1e-12)
    assert read.half == pytest.approx(half, rel=1e-9)
    assert read.unit == unit
    assert text[read.start : read.end].strip() == read.text


@pytest.mark.parametrize(
    "text",
    ["mean@30", "best@2/mean", "k1", "step_2", "v1.2.3", "Qwen2", "aime_2025", "F1", "r0", "`x_1`", "no number"],
)
def test_numbers_part_of_a_name_is_none(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(("text", "signed"), [("+0.5", True), ("-0.5", True), ("−0.5", True), ("±0.5", False)])
def test_numbers_sign_is_noted(text: str, signed: bool) -> None:
    assert numbers(text)[0].signed is signed


def test_numbers_not_a_number_and_infinity_are_read() -> None:
    nan, infinity, negative = (read.value for read in numbers("NaN, ∞ and -∞"))
    assert math.isnan(nan)
    assert (infinity, negative) == (math.inf, -math.inf)


def test_numbers_several_in_a_row_are_all_read() -> None:
    assert [read.value for read in numbers("| 1 | 0.156 | 2,048 | -1.5% |")] == [1, 0.156, 2048, -0.015]


@pytest.mark.parametrize(("body", "half"), [("0.156", 5e-4), ("2.39e-05", 5e-8), ("5419", 0.5), ("1E3", 500.0)])
def test_half_unit_is_half_of_the_last_digit(body: str, half: float) -> None:
    assert half_unit(body) == pytest.approx(half)
