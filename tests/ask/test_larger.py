"""Which of two metrics is larger, or whether the first is: at a step, on average, at any step, at every one."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of

from .computed_support import ask

#: The score is above the format reward but at steps 3 and 4; both are logged at every step.
A, B = "reward/correct", "reward/format"
RUN = run_of(
    {step: {A: 0.5 + 0.01 * step, B: 0.9 if step in {3, 4} else 0.3, "loss": 1 / step} for step in range(1, 11)}
)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (f"Which was higher at step 5: {A} or {B}?", f"**`{A}` is higher at step 5: 0.55, against 0.3 of `{B}`"),
        (f"at step 3, which is larger, {A} or {B}", f"**`{B}` is higher at step 3: 0.9, against 0.53 of `{A}`"),
        (f"{A} 和 {B} 在第 3 步哪个大", f"**step 3 时 `{B}` 更大：0.9，`{A}` 为 0.53"),
        (f"{A} 和 {B} 第 5 步哪个更小", f"**step 5 时 `{B}` 更小：0.3，`{A}` 为 0.55"),
        (f"{A} 比 {B} 高吗，在第 3 步？", f"**不是：step 3 时 `{A}` 更小：0.53，`{B}` 为 0.9"),
        (f"Is {A} higher than {B} at step 5?", f"**Yes: `{A}` is higher at step 5: 0.55, against 0.3 of `{B}`"),
        (f"Is {A} lower than {B} at step 5?", f"**No: `{A}` is higher at step 5"),
    ],
)
def test_larger_of_two_at_a_step_is_named_with_both_values(question: str, start: str) -> None:
    assert ask(question, RUN).answer.startswith(start)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (
            f"{A} 和 {B} 哪个大",
            f"**平均下来 `{A}` 更大：0.555，`{B}` 为 0.420（step 1 到 10）；10 个 step 里有 8 个是这样",
        ),
        (f"On average, which is lower, {A} or {B}?", f"**On average `{B}` is lower: 0.420, against 0.555 of `{A}`"),
        (
            f"which is larger on average over steps 3 to 4, {A} or {B}?",
            f"**On average `{B}` is higher: 0.9, against 0.535",
        ),
    ],
)
def test_larger_of_two_over_a_part_is_told_by_means_and_how_often(question: str, start: str) -> None:
    assert ask(question, RUN).answer.startswith(start)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (
            f"Is {B} higher than {A} at any step?",
            f"**Yes: `{B}` is higher than `{A}` at 2 of 10 steps, first at step 3",
        ),
        (f"{B} 有没有比 {A} 高的步", f"**有：`{B}` 在 10 个 step 中的 2 个上大于 `{A}`，第一次是 step 3"),
        (f"Is {A} always higher than {B}?", f"**No: `{A}` is not higher than `{B}` at 2 of 10 steps, first at step 3"),
        (f"{A} 每一步都比 {B} 高吗", f"**不是：`{A}` 在 10 个 step 中的 2 个上并不大于 `{B}`"),
        (f"Is {A} higher than {B} at every step from 5 to 10?", f"**Yes: `{A}` is higher than `{B}` at all 6 steps"),
    ],
)
def test_larger_at_any_or_every_step_is_yes_or_no_with_how_often(question: str, start: str) -> None:
    assert ask(question, RUN).answer.startswith(start)


@pytest.mark.parametrize(
    "question", [f"{A} 和 {B} 哪个波动大", f"which fell more, {A} or {B}?", f"{A} 和 {B} 哪个涨得多"]
)
def test_other_comparisons_of_two_are_not_taken_over(question: str) -> None:
    assert "平均下来" not in ask(question, RUN).answer
    assert "On average" not in ask(question, RUN).answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("loss 最高的前三步", "最大的 3 个 step：step 1（1）、step 2（0.5）、step 3（0.333）"),
        ("loss 最低的前两步是哪些", "最小的 2 个 step：step 10（0.1）、step 9（0.111）"),
        ("最高的三个 loss", "最大的 3 个 step：step 1（1）"),
    ],
)
def test_so_many_of_the_largest_are_no_first_steps(question: str, said: str) -> None:
    assert said in ask(question, RUN).answer


@pytest.mark.parametrize("words", ["前一个", "上一个", "上一段", "再前一个"])
def test_steps_right_before_those_named_are_as_many(words: str) -> None:
    text = ask(f"loss 最后 3 步平均和{words} 3 步比", RUN).answer
    assert "step 5–7" in text
    assert "step 8–10" in text


def test_target_that_the_first_value_meets_is_reached_from_below_where_larger_is_better() -> None:
    run = run_of({step: {"reward": 1.0 if step == 1 else 0.2, "loss": 0.5} for step in range(1, 9)})
    for question in ("reward 到 0.9 了吗", "reward 到过 0.9 吗"):
        assert "达到 0.9" in ask(question, run).answer
        assert "不高于" not in ask(question, run).answer


@pytest.mark.parametrize(("first", "last"), [(1, 6), (2, 8)])
def test_denied_direction_is_parted_from_what_follows_by_a_blank(first: int, last: int) -> None:
    text = ask(f"How much lower is {A} at step {last} than at step {first}?", RUN).answer
    assert ":`" not in text
