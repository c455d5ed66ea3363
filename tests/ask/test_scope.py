"""Parts of a run, and conditions on values, as questions name them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ask.conditions import Condition, condition_in
from assistant.ask.scope import Scope, scope_in, shares_in
from assistant.ask.wording import normalised

TRAINING = list(range(1, 181))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("after step 40", 41, None),
        ("past step 40", 41, None),
        ("later than step 40", 41, None),
        ("step 40 之后", 41, None),
        ("第40步以后", 41, None),
        ("40 步后", 41, None),
        ("since step 40", 40, None),
        ("from step 40 on", 40, None),
        ("from step 40 onwards", 40, None),
        ("steps 40 and later", 40, None),
        ("从第 40 步起", 40, None),
        ("从 step 40 开始", 40, None),
        ("step 40 以来", 40, None),
        ("before step 40", None, 39),
        ("prior to step 40", None, 39),
        ("step 40 之前", None, 39),
        ("第四十步以前", None, 39),
        ("up to step 40", None, 40),
        ("until step 40", None, 40),
        ("截至 step 40", None, 40),
        ("到 step 40 为止", None, 40),
        ("after step 20 and before step 60", 21, 59),
        ("前 10%", 1, 18),
        ("first 10% of the run", 1, 18),
        ("最后 5%", 172, 180),
        ("last quarter", 136, 180),
        ("前三分之一", 1, 60),
        ("后半程", 91, 180),
        ("between step 3 and 9", 3, 9),
        ("the whole run", None, None),
        ("第 40 步前后", None, None),
        ("after 40 minutes", None, None),
    ],
)
def test_scope_in_wording_gives_the_bounds(text: str, first: int | None, last: int | None) -> None:
    found = scope_in(normalised(text), TRAINING)
    assert (found.first, found.last) == (first, last)


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("excluding step 16", (16,)),
        ("except steps 3, 4 and 9", (3, 4, 9)),
        ("除了第 16 步", (16,)),
        ("step 16 除外", (16,)),
        ("不算 step 16 和 20", (16, 20)),
        ("without the first 3 steps", (1, 2, 3)),
        ("ignoring the last step", (180,)),
        ("去掉前三步", (1, 2, 3)),
        ("excluding steps 5 to 7", (5, 6, 7)),
        ("at step 16", ()),
    ],
)
def test_scope_in_left_out_steps_are_named(text: str, without: tuple[int, ...]) -> None:
    assert scope_in(normalised(text), TRAINING).without == without


@given(
    st.integers(0, 200), st.integers(0, 200), st.sets(st.integers(0, 200), max_size=5), st.sets(st.integers(0, 200))
)  # fmt: skip
def test_scope_of_keeps_exactly_the_steps_of_the_part(a: int, b: int, without: set[int], steps: set[int]) -> None:
    low, high = min(a, b), max(a, b)
    kept = Scope(low, high, tuple(without)).of(sorted(steps))
    assert kept == [s for s in sorted(steps) if low <= s <= high and s not in without]


def test_shares_in_two_shares_do_not_overlap() -> None:
    assert shares_in("比较前 10% 和后 10%", TRAINING) == ((1, 18), (163, 180))
    assert shares_in("first quarter against the last quarter", TRAINING) == ((1, 45), (136, 180))
    assert shares_in("前 60% 和后 60%", TRAINING) is None
    assert shares_in("前 10 步和后 10 步", TRAINING) is None


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("超过 0.1", "above", 0.1, 0.1),
        ("不超过 0.1", "at_most", 0.1, 0.1),
        ("not above 0.1", "at_most", 0.1, 0.1),
        ("no more than 3", "at_most", 3, 3),
        ("低于 0.1", "below", 0.1, 0.1),
        ("不低于 0.1", "at_least", 0.1, 0.1),
        ("at least 0.7", "at_least", 0.7, 0.7),
        ("第一次到 1.0", "at_least", 1, 1),
        ("reached 0.5", "at_least", 0.5, 0.5),
        ("达到 0.5", "at_least", 0.5, 0.5),
        ("降到 1 以下", "below", 1, 1),
        ("降到 1", "at_most", 1, 1),
        ("between 0.3 and 0.5", "between", 0.3, 0.5),
        ("在 0.5 到 0.3 之间", "between", 0.3, 0.5),
        ("0.5 以上", "at_least", 0.5, 0.5),
        ("0.5 or more", "at_least", 0.5, 0.5),
        ("below -0.5", "below", -0.5, -0.5),
        ("over 2 minutes", "above", 120, 120),
        ("exceed 1k", "above", 1000, 1000),
        ("等于 0.25", "equal", 0.25, 0.25),
    ],
)
def test_condition_in_wording_gives_kind_and_numbers(text: str, kind: str, low: float, high: float) -> None:
    found = condition_in(text)
    assert found is not None
    assert (found.kind, found.low, found.high) == (kind, low, high)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("负的", "negative"),
        ("negative", "negative"),
        ("小于零", "negative"),
        ("为正", "positive"),
        ("改为正常", None),
        ("是正的", "positive"),
        ("was zero", "zero"),
        ("正常吗", None),
        ("after step 40", None),
    ],
)
def test_condition_in_sign_words_are_conditions(text: str, kind: str | None) -> None:
    found = condition_in(text)
    assert (None if found is None else found.kind) == kind


@given(st.floats(allow_nan=True), st.floats(-10, 10), st.floats(-10, 10))
def test_condition_holds_sides_are_complementary(value: float, a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    if math.isnan(value):
        assert not any(Condition(kind, low, high).holds(value) for kind in ("above", "at_most", "between"))  # type: ignore[arg-type]
        return
    assert Condition("above", low, low).holds(value) != Condition("at_most", low, low).holds(value)
    assert Condition("below", low, low).holds(value) != Condition("at_least", low, low).holds(value)
    assert not Condition("between", low, high).holds(high + 1)


def test_condition_scaled_percent_is_a_fraction_of_fractions_only() -> None:
    found = condition_in("at least 70%")
    assert found is not None
    assert found.scaled(0.9).low == pytest.approx(0.7)
    assert found.scaled(88.0).low == 70
