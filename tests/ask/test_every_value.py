"""A condition that is said of every value is answered for every value: "stay below 0.2 throughout", "从来没超过 3"."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of

from .computed_support import ENTROPY, KL, LENGTH, ask, column

LOW, HIGH = min(column(ENTROPY).values()), max(column(ENTROPY).values())
TWO = run_of({step: {"loss": 1.0, "reward": 0.5 if step == 8 else 0.1} for step in range(1, 21)})


@pytest.mark.parametrize(
    "question",
    [
        "Did entropy stay below 0.5 throughout?", "Did entropy remain under 0.5 all along?",
        "Did entropy stay below 0.5 from start to finish?", "Has entropy been below 0.5 at every step?",
        "Does entropy keep below 0.5?", "Did entropy never exceed 0.5?", "Was entropy never above 0.5?",
    ],
)  # fmt: skip
def test_condition_that_some_values_break_is_denied_with_how_many_do(question: str) -> None:
    broken = sum(value >= 0.5 for value in column(ENTROPY).values())
    text = ask(question).answer
    assert text.startswith("**No: ")
    assert f"at {broken} steps" in text


@pytest.mark.parametrize(
    "question",
    [
        "熵都低于 0.5 吗",
        "熵每一步都低于 0.5 吗",
        "所有步的熵都小于 0.5 吗",
        "熵从未超过 0.5 吗",
        "熵从来没超过 0.5 吗",
        "熵一直没超过 0.5 吗",
    ],
)
def test_condition_that_some_values_break_is_denied_in_chinese(question: str) -> None:
    broken = sum(value >= 0.5 for value in column(ENTROPY).values())
    text = ask(question).answer
    assert text.startswith("**不是：")
    assert f"{broken} 个 step" in text


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Did entropy stay below 5 throughout?", "**Yes: "), ("Did entropy stay above 0.1 after step 20?", "**Yes: "),
        ("熵从未超过 5 吗", "**是："), ("第 10 步之后熵都大于 0 吗", "**是："), ("熵从来没超过 5 对吧", "**对："),
        ("任何一步的熵都没超过 5 吗", "**是："),
    ],
)  # fmt: skip
def test_condition_that_all_values_meet_is_affirmed(question: str, start: str) -> None:
    assert ask(question).answer.startswith(start)


@pytest.mark.parametrize("question", ["从来没超过 0.3 对吧", "从未超过 0.3 对吧", "始终没超过 0.3 对吧"])
def test_denial_in_front_of_a_denied_side_is_one_denial(question: str) -> None:
    text = ask(f"reward {question}", TWO).answer
    assert text.startswith(("**不对：", "**不是这样："))
    assert "有 1 个 step 高于 0.3" in text


@pytest.mark.parametrize("question", ["Did entropy ever go below 0.5?", "熵有没有低于 0.5"])
def test_condition_asked_of_any_value_is_not_read_as_of_every_value(question: str) -> None:
    assert not ask(question).answer.startswith(("**No: ", "**不是："))


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("response length 超过 9 百的有几步", 900), ("response length 超过 1 千的有几步", 1000),
        ("response length 高于 1.1 千的步有多少个", 1100),
    ],
)  # fmt: skip
def test_figure_with_a_power_of_ten_in_words_is_that_many(question: str, limit: int) -> None:
    above = sum(value > limit for value in column(LENGTH).values())
    assert f"{above} 个 step" in ask(question).answer


def test_share_in_words_is_not_taken_for_hundreds() -> None:
    assert "100" not in ask("超过 1 万 token 的 response length 有吗").answer.split("。")[0].replace("10,000", "")
    assert ask(f"{KL} 百分之 1 是多少").answer
