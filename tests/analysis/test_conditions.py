import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.analysis.condition_values import Series, holds, measure
from assistant.analysis.conditions import Window, parse_condition, parse_measure, renamed
from assistant.model import InputError

TABLE = {
    "kl": Series((1, 2, 3), (0.01, 0.06, math.nan)),
    "a": Series((1, 2, 3), (5.0, 3.0, 1.0)),
    "b": Series((1, 3), (1.0, 12.0)),
    "val-core/aime/acc/mean@30": Series((2,), (0.2,)),
    "Val Loss": Series((1,), (2.5,)),
}


def verdicts(text: str) -> list[bool | None]:
    tree = parse_condition(text).tree
    return [holds(tree, TABLE, step) for step in (1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kl < 0.05", [True, False, False]),
        ("kl<5%", [True, False, False]),
        ("kl != 7", [True, True, False]),
        ("a - b <= 4", [True, None, True]),
        ("|a - b| < 10", [True, None, False]),
        ("abs(a-b) < 10", [None, None, None]),
        ("2 <= a <= 4", [False, True, False]),
        ("a in (2, 4)", [False, True, False]),
        ("a >= 0.5 * baseline(a, 2)", [True, True, False]),
        ("mean(a, 2) >= 4", [True, True, False]),
        ("delta(a) < 0", [None, True, True]),
        ("growth(b) < 10", [None, None, False]),
        ("a > 4 or b > 10", [True, None, True]),
        ("a > 4 and b < 10", [True, False, False]),
        ("not a > 4", [False, True, True]),
        ("(a > 4 and b < 10) or a == 1", [True, False, True]),
        ("(a + 1) * 2 / 4 > 2", [True, False, False]),
        ("-a < -2", [True, True, False]),
        ("val-core/aime/acc/mean@30 > 10%", [None, True, None]),
        ("`Val Loss` < 3", [True, None, None]),
        ("a ≤ 3", [False, True, True]),
    ],
)
def test_condition_at_each_step_holds_as_written(text, expected):
    assert verdicts(text) == expected


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("a > 1 @ last 10", Window("last", 10)),
        ("a > 1 @ first 3", Window("first", 3)),
        ("a > 1 @ last", Window("last", 1)),
        ("a > 1 @ 20:", Window("range", low=20)),
        ("a > 1 @ :20", Window("range", high=20)),
        ("a > 1 @ 3:9", Window("range", low=3, high=9)),
        ("a > 1 @ 7", Window("range", low=7, high=7)),
    ],
)
def test_window_behind_a_condition_is_read(text, window):
    condition = parse_condition(text + " => critical")
    assert condition.window == window
    assert condition.severity == "critical"
    assert condition.text == "a > 1"


def test_window_chooses_steps():
    steps = [1, 3, 5, 7]
    assert Window("last", 2).choose(steps) == [5, 7]
    assert Window("first", 3).choose(steps) == [1, 3, 5]
    assert Window("range", low=3, high=5).choose(steps) == [3, 5]
    assert Window().choose(steps) == steps


@pytest.mark.parametrize(
    "text",
    ["", "a", "a <", "5 < 6", "a << 1", "a < 1 =>", "a < 1 => grave", "a < 1 @", "mean(3) < 1", "|a < 1", "a < 1 b",
     "mean(a, 0) < 1", "(a < 1", "a < 1 and", "a < $x", "a" * 2000 + " < 1", "(" * 300 + "a < 1"],
)  # fmt: skip
def test_condition_that_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(InputError) as caught:
        parse_condition(text)
    assert "actor/ppo_kl < 0.05" in caught.value.en
    assert "actor/ppo_kl < 0.05" in caught.value.zh


@given(st.text(alphabet="ab/@-+*|()<>=&! 0123456789.e%`andort,:", max_size=40))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        condition = parse_condition(text)
    except InputError:
        return
    assert condition.metrics
    assert holds(condition.tree, TABLE, 1) in {True, False, None}


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_comparison_agrees_with_python(value, bound):
    table = {"m": Series((1,), (value,))}
    for operator, expected in (("<", value < bound), (">=", value >= bound), ("==", value == bound)):
        assert holds(parse_condition(f"m {operator} {bound!r}").tree, table, 1) is expected


def test_measure_with_a_missing_value_is_none():
    node = parse_measure("|a - b|")
    assert node.metrics == ("a", "b")
    assert measure(node, TABLE, 1) == 4.0
    assert measure(node, TABLE, 2) is None


def test_renamed_changes_keys_only():
    tree = renamed(parse_condition("kl < 0.05").tree, {"kl": "actor/ppo_kl"})
    assert tree.metrics == ("actor/ppo_kl",)
    assert tree.numbers == (0.05,)
