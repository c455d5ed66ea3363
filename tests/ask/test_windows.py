"""Two windows of steps set against each other."""

from __future__ import annotations

import pytest

from assistant.ask.windows import Window, windows_in
from tests.analysis.support import long_run

from .support import answerer

RUN = long_run()
STEPS = list(RUN.distinct_steps)
VALIDATIONS = [1, 5, 10, 15, 20]


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("What changed between steps 1-5 and steps 11-15?", ((1, 5), (11, 15))),
        ("steps 11 to 15 against steps 1 to 5", ((1, 5), (11, 15))),
        ("前 5 步和后 5 步比", ((STEPS[0], STEPS[4]), (STEPS[-5], STEPS[-1]))),
        ("头两次评测跟末两次评测相比", ((1, 5), (15, 20))),
        ("first three and last three steps", ((STEPS[0], STEPS[2]), (STEPS[-3], STEPS[-1]))),
        ("opening three steps against closing three", ((STEPS[0], STEPS[2]), (STEPS[-3], STEPS[-1]))),
        ("mean length 1-5 vs 11-15", ((1, 5), (11, 15))),
        ("is the mean of 11-15 higher than that of 1-5", ((1, 5), (11, 15))),
        ("1-5 和 11-15 的熵比一比", ((1, 5), (11, 15))),
        ("12 步以前和 12 步以后差多少", ((0, 11), (12, 20))),
        ("前期和后期比一下", ((STEPS[0], STEPS[len(STEPS) // 2 - 1]), (STEPS[len(STEPS) // 2], STEPS[-1]))),
        ("后半程比前半程好吗", ((STEPS[0], STEPS[len(STEPS) // 2 - 1]), (STEPS[len(STEPS) // 2], STEPS[-1]))),
    ],
)
def test_windows_in_two_are_named_the_earlier_comes_first(text: str, windows: tuple[Window, Window]) -> None:
    assert windows_in(text, RUN, VALIDATIONS, STEPS) == windows


@pytest.mark.parametrize(
    "text",
    ["step 3 到 9 的平均", "最后 5 步", "steps 1-10 and steps 5-15", "0.2 到 0.4", "前 15 步和后 15 步", "熵的趋势"],
)
def test_windows_in_one_or_overlapping_or_none_is_none(text: str) -> None:
    assert windows_in(text, RUN, VALIDATIONS, STEPS) is None


def test_windows_question_compares_the_means_of_both() -> None:
    answer, _ = answerer().ask("actor/entropy: mean of steps 1-5 against mean of steps 11-15", [RUN])
    assert answer.intent == "compare"
    assert answer.slots.metrics == ("actor/entropy",)
    change = next(fact for fact in answer.facts if fact.kind == "change" and fact.metric == "actor/entropy")
    values = dict(zip(*RUN.series("actor/entropy"), strict=True))
    for side, steps in ((change.from_value, range(1, 6)), (change.to_value, range(11, 16))):
        assert side == pytest.approx(sum(values[step] for step in steps) / 5)
