"""The check: a number agrees with the fact it is tied to, a quotation with its card, a direction with its sign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ground import check
from assistant.ground.check import Checked, agrees, withhold
from assistant.ground.reading import numbers
from assistant.model import Fact, Mention

VALUE = Fact("E1", "value", metric="actor/entropy", step=2, value=0.15572, line=80)
CHANGE = Fact(
    "E2", "change", metric="actor/entropy", from_step=1, to_step=2, from_value=0.2, to_value=0.15, delta=-0.05,
    ratio=0.75, noise=0.01, significant=True,
)  # fmt: skip


def checked(text: str, marks: Sequence[tuple[str, str]] = (), facts: Sequence[Fact] = (), **options: Any) -> Checked:
    """Checks a text in which the first ``piece`` of each ``(piece, owner)`` is marked."""
    mentions = [Mention(text.index(piece), text.index(piece) + len(piece), owner) for piece, owner in marks]
    return check(text, mentions, facts, **options)


# --- numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["0.156", "0.16", "0.2", "0.1557", "0.15572", "15.6%"])
def test_check_value_at_any_precision_is_supported(shown: str) -> None:
    result = checked(f"The entropy is {shown}.", [(shown, "E1")], [VALUE])
    assert (result.grounding.numbers, result.grounding.supported, result.failures) == (1, 1, ())


@pytest.mark.parametrize("shown", ["0.157", "0.155", "0.1558", "-0.156", "1.56", "0.156%", "0.3"])
def test_check_value_that_is_another_fails(shown: str) -> None:
    result = checked(f"The entropy is {shown}.", [(shown, "E1")], [VALUE])
    assert result.grounding.supported == 0
    assert result.grounding.unsupported == (f"The entropy is {shown}.",)
    assert "no fact holds" in result.failures[0][2]


def test_check_value_of_another_fact_does_not_help_a_marked_number() -> None:
    other = Fact("E9", "value", metric="x", step=2, value=7.5)
    assert checked("It is 7.5.", [("7.5", "E1")], [VALUE, other]).failures
    assert not checked("It is 7.5.", [("7.5", "E9")], [VALUE, other]).failures


def test_check_mark_of_an_unknown_fact_fails() -> None:
    assert checked("It is 0.156.", [("0.156", "E7")], [VALUE]).failures


def test_check_unmarked_number_needs_some_fact() -> None:
    assert not checked("It is 0.156.", facts=[VALUE]).failures
    assert checked("It is 0.158.", facts=[VALUE]).failures


@pytest.mark.parametrize("shown", ["0.2", "0.15", "-0.05", "0.05", "0.75×", "-25%", "25%", "0.01"])
def test_check_any_part_of_a_change_is_supported(shown: str) -> None:
    assert not checked(f"About {shown} here.", [(shown, "E2")], [CHANGE]).failures


@pytest.mark.parametrize("shown", ["+0.05", "0.35", "+25%", "-0.35", "1.75×", "0.16"])
def test_check_no_part_of_a_change_fails(shown: str) -> None:
    assert checked(f"About {shown} here.", [(shown, "E2")], [CHANGE]).failures


@pytest.mark.parametrize(("value", "shown"), [(math.nan, "NaN")])
def test_check_value_not_finite_is_supported_as_what_it_is(value: float, shown: str) -> None:
    fact = Fact("E1", "value", metric="loss", step=1, value=value)
    assert not checked(f"loss is {shown} now", [(shown, "E1")], [fact]).failures


def test_check_value_not_a_number_does_not_support_a_number() -> None:
    fact = Fact("E1", "value", metric="loss", step=1, value=math.nan)
    assert checked("loss is 0.5 now", [("0.5", "E1")], [fact]).failures


@given(st.floats(-1000, 1000), st.integers(0, 5), st.floats(2.1, 50))
def test_check_number_off_by_more_than_its_precision_fails(value: float, decimals: int, units: float) -> None:
    fact = Fact("E1", "value", metric="x", step=1, value=value)
    right = f"{value:.{decimals}f}"
    wrong = f"{value + units * 10.0**-decimals:.{decimals}f}"
    assert not checked(f"x is {right} at last", [(right, "E1")], [fact]).failures
    assert checked(f"x is {wrong} at last", [(wrong, "E1")], [fact]).failures


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_agrees_a_value_as_python_prints_it(value: float) -> None:
    (read,) = numbers(repr(value))
    assert agrees(read, Fact("E1", "value", value=value))


# --- steps, names, constants -----------------------------------------------------------------------------


def test_check_step_of_the_run_is_supported() -> None:
    assert not checked("At step 3.", [("3", "step:3")], steps={1, 2, 3}).failures


@pytest.mark.parametrize(("text", "owner"), [("At step 3.", "step:2"), ("At step 9.", "step:9")])
def test_check_step_another_or_not_in_the_run_fails(text: str, owner: str) -> None:
    assert checked(text, [(text[8], owner)], steps={1, 2, 3}).failures


def test_check_step_with_a_unit_fails() -> None:
    assert checked("At step 3%.", [("3%", "step:3")], steps={3}).failures


def test_check_step_named_by_a_fact_is_known() -> None:
    assert not checked("At step 2.", [("2", "step:2")], [VALUE], steps=()).failures


def test_check_names_in_code_are_not_numbers() -> None:
    text = "`val-core/aime_2025/acc/best@30/mean` and `actor/entropy` and [K3]"
    assert checked(text, names={"val-core/aime_2025/acc/best@30/mean"}).grounding.numbers == 0


def test_check_number_in_code_that_is_no_name_is_checked() -> None:
    assert checked("`0.5` it is", facts=[VALUE]).failures


def test_check_formula_of_a_fact_in_code_is_a_name() -> None:
    fact = Fact("E1", "derived", name="rate", value=9.0, formula="1000 / timing_per_token_ms/gen")
    assert checked("`1000 / timing_per_token_ms/gen`", facts=[fact]).grounding.numbers == 0


def test_check_text_without_numbers_is_fine() -> None:
    result = checked("Nothing to see.")
    assert (result.grounding.numbers, result.grounding.supported, result.grounding.unsupported) == (0, 0, ())


# --- quotations ------------------------------------------------------------------------------------------

CARD = {"K1": "Clamped to [−20, 20]; near 0.5 it is normal."}


def test_check_quotation_letter_by_letter_is_supported() -> None:
    text = f"As the card says: {CARD['K1']} [K1]"
    result = checked(text, [(CARD["K1"], "K1")], quotes=CARD)
    assert not result.failures
    assert result.grounding.numbers == result.grounding.supported == 3


@pytest.mark.parametrize(("old", "new"), [("0.5", "0.6"), ("normal", "abnormal"), ("20]", "30]"), ("; ", ", ")])
def test_check_quotation_changed_anywhere_fails(old: str, new: str) -> None:
    quoted = CARD["K1"].replace(old, new, 1)
    result = checked(f"As the card says: {quoted}", [(quoted, "K1")], quotes=CARD)
    assert any("not in K1" in reason for _, _, reason in result.failures)


def test_check_quotation_of_a_card_not_cited_fails() -> None:
    assert checked("near 0.5 it is normal.", [("near 0.5 it is normal.", "K2")], quotes=CARD).failures


# --- directions ------------------------------------------------------------------------------------------

UP = Fact("E3", "change", metric="r", from_step=1, to_step=2, from_value=0.1, to_value=0.2, delta=0.1, ratio=2.0)


@pytest.mark.parametrize(
    ("word", "fact", "fails"),
    [
        ("fell", CHANGE, False), ("dropped", CHANGE, False), ("rose", CHANGE, True), ("increased", CHANGE, True),
        ("rose", UP, False), ("grew", UP, False), ("decreased", UP, True), ("shrank", UP, True),
    ],
)  # fmt: skip
def test_check_direction_in_english_must_have_the_sign(word: str, fact: Fact, fails: bool) -> None:
    size = f"{abs(fact.delta or 0):g}"
    assert bool(checked(f"It {word} by {size}.", [(size, fact.id)], [fact]).failures) is fails


@pytest.mark.parametrize(
    ("word", "fact", "fails"),
    [
        ("下降", CHANGE, False), ("缩短", CHANGE, False), ("上升", CHANGE, True), ("提高", CHANGE, True),
        ("上升", UP, False), ("增加", UP, False), ("降低", UP, True), ("减少", UP, True),
    ],
)  # fmt: skip
def test_check_direction_in_chinese_must_have_the_sign(word: str, fact: Fact, fails: bool) -> None:
    size = f"{abs(fact.delta or 0):g}"
    assert bool(checked(f"它{word}了 {size}。", [(size, fact.id)], [fact]).failures) is fails


def test_check_direction_both_words_in_a_sentence_is_left_alone() -> None:
    assert not checked("It rose, then fell to 0.15.", [("0.15", "E2")], [CHANGE]).failures


def test_check_direction_in_another_sentence_is_not_held_against_it() -> None:
    text = "The reward rose. The entropy went to 0.15."
    assert not checked(text, [("0.15", "E2")], [CHANGE]).failures


# --- withholding -----------------------------------------------------------------------------------------


def test_withhold_takes_out_the_failing_sentence_only() -> None:
    text = "The entropy is 0.156. The reward is 0.9. All is well."
    result = checked(text, facts=[VALUE])
    assert result.grounding.unsupported == ("The reward is 0.9.",)
    assert withhold(text, result.failures) == "The entropy is 0.156. All is well."


def test_withhold_in_chinese_takes_out_the_failing_sentence_only() -> None:
    text = "熵是 0.156。奖励是 0.9。一切正常。"
    assert withhold(text, checked(text, facts=[VALUE]).failures) == "熵是 0.156。一切正常。"


def test_withhold_takes_a_table_row_as_a_whole() -> None:
    text = "| a | b |\n| --- | --- |\n| x | 0.9 |\n| y | 0.156 |"
    shorter = withhold(text, checked(text, facts=[VALUE]).failures)
    assert "0.9" not in shorter
    assert "| x |" not in shorter
    assert "| y | 0.156 |" in shorter


def test_withhold_nothing_failing_changes_nothing() -> None:
    assert withhold("All is well.", ()) == "All is well."
