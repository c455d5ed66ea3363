"""A step's value or a statistic against another of the same metric: every number computed here from the log."""

from __future__ import annotations

from statistics import mean, median

import pytest

from assistant.write.numbers import format_number
from tests.ask.computed_support import ENTROPY, LENGTH, SCORE, ask, column, has, shown


def _all(metric: str, first: int = 1, last: int = 80) -> list[float]:
    return list(column(metric, first, last).values())


@pytest.mark.parametrize(
    ("question", "metric", "first", "second"),
    [
        ("第 70 步的 critic/score/mean 比整个训练的中位数高多少", SCORE, column(SCORE)[70], median(_all(SCORE))),
        ("第 70 步的得分比全程平均高几个点？", SCORE, column(SCORE)[70], mean(_all(SCORE))),
        ("critic/score/mean 最后一次比前一次高了多少", SCORE, column(SCORE)[80], column(SCORE)[79]),
        ("最后 20 步的最大 critic/score/mean 比全程均值高多少", SCORE, max(_all(SCORE, 61)), mean(_all(SCORE))),
        ("第 60 步的熵比前 30 步的平均高还是低，差多少", ENTROPY, column(ENTROPY)[60], mean(_all(ENTROPY, 1, 30))),
        ("现在的 response_length/mean 比前 20 步平均长多少", LENGTH, column(LENGTH)[80], mean(_all(LENGTH, 1, 20))),
        ("how much higher is critic/score/mean at step 70 than the median of the whole run",
         SCORE, column(SCORE)[70], median(_all(SCORE))),
    ],
)  # fmt: skip
def test_two_sides_tells_both_and_the_gap(question: str, metric: str, first: float, second: float) -> None:
    answer = ask(question)
    language = "en" if question.startswith("how") else "zh"
    has(answer, *(shown(metric, value, language) for value in (first, second, abs(first - second))))
    first_line = answer.answer.splitlines()[0]
    higher, lower = ("高 ", "低 ") if language == "zh" else ("higher", "lower")
    assert (higher in first_line) == (first > second)
    assert (lower in first_line) == (first < second)
    assert (answer.intent, answer.verdict.code) == ("lookup", "answered")


def test_a_wrong_direction_is_said_first() -> None:
    answer = ask("第 3 步的 critic/score/mean 比整个训练的中位数高多少")
    assert column(SCORE)[3] < median(_all(SCORE))
    assert answer.answer.startswith("**其实更低：")


def test_a_ratio_of_two_sides_is_told() -> None:
    answer = ask("第 70 步的 critic/score/mean 是全程中位数的几倍")
    has(answer, f"{format_number(column(SCORE)[70] / median(_all(SCORE)))} 倍")


@pytest.mark.parametrize(
    "question", ["最后十步的平均得分比最开始十步高了多少", "得分最开头 10 步和最后 10 步平均差多少"]
)
def test_one_statistic_of_two_parts_tells_both_means(question: str) -> None:
    early, late = mean(_all(SCORE, 1, 10)), mean(_all(SCORE, 71, 80))
    has(ask(question), shown(SCORE, early, "zh"), shown(SCORE, late, "zh"))


@pytest.mark.parametrize("question", ["第 70 步的得分为什么比中位数高这么多", "第 3 步和第 70 步的得分差多少"])
def test_other_questions_have_their_own_writers(question: str) -> None:
    assert "中位数" not in ask(question).answer.splitlines()[0]
