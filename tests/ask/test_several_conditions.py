"""Steps that meet several conditions, both sides of a crossing, steps that do not stay, and parts told in brackets."""

from __future__ import annotations

import random

import pytest

from tests.analysis.support import run_of, series_run
from tests.ask.support import answerer, first_line, holds

STEPS = range(1, 41)
#: The score rises by a fortieth a step, the entropy falls as much; a validation at every tenth step.
RUN = run_of(
    {
        step: {"critic/score/mean": step / 40, "actor/entropy": 1 - step / 40, "response_length/mean": 100.0 + step}
        | ({"val-core/math500/acc/mean@4": 0.3 + step / 400} if step % 10 == 0 else {})
        for step in STEPS
    }
)


@pytest.mark.parametrize(
    ("question", "count", "op"),
    [
        ("score 高于 0.7 且 entropy 低于 0.2 的步有几个", 8, "count"),
        ("how many steps had score above 0.7 and entropy below 0.2?", 8, "count"),
        ("回答长度 > 120 且 score < 0.6 的有几步", 3, "count"),
        ("which steps have score above 0.5 while entropy is above 0.45?", 1, None),
        ("entropy 低于 0.1，同时 score 大于 0.95 的是哪些 step", 2, None),
        ("score 大于 0.4 而验证高于 0.35 的验证步有哪些", 2, None),
        ("how many steps have score above 0.9 and entropy above 0.9?", 0, "count"),
    ],
)
def test_steps_that_meet_several_conditions_meet_each_its_own(question: str, count: int, op: str | None) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert answer.slots.op == op
    assert len(answer.slots.metrics) == 2
    assert holds(answer, count) if count else first_line(answer).startswith("None")


@pytest.mark.parametrize(
    ("question", "before", "after"),
    [
        ("score 超过 0.5 之前和之后，entropy 均值各是多少", 0.7375, 0.2375),
        ("score 高于 0.5 前后 entropy 的平均", 0.7375, 0.2375),
    ],
)
def test_both_sides_of_a_crossing_are_told(question: str, before: float, after: float) -> None:
    answer, _ = answerer().ask(question, [RUN])
    told = [fact.value for fact in answer.facts if isinstance(fact.value, float)]
    assert any(abs(value - before) < 1e-9 for value in told)
    assert any(abs(value - after) < 1e-9 for value in told)


def test_parts_that_do_not_overlap_are_not_called_noise() -> None:
    run = run_of({step: {"critic/score/mean": 0.6 + 0.01 * (step % 3) if step <= 20 else 0.0} for step in STEPS})
    answer, _ = answerer().ask("mean score over steps 1 to 20 vs steps 21 to 40", [run])
    assert "within the noise" not in answer.answer


@pytest.mark.parametrize(
    ("question", "kind", "values"),
    [
        ("最后几步（3 步）的 entropy", "last_n", (3,)),
        ("score 最后几步是多少（5 步）", "last_n", (5,)),
        ("entropy trend after row 10", "range", (11, 40)),
        ("第 10 行之后 entropy 的平均", "range", (11, 40)),
    ],
)
def test_parts_in_brackets_and_by_rows_are_parts(question: str, kind: str, values: tuple[int, ...]) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert (answer.slots.steps.kind, answer.slots.steps.values) == (kind, values)


def test_first_step_beyond_a_limit_is_no_first_step_of_the_log() -> None:
    run = run_of({step: {"actor/kl_loss": step / 100} for step in range(0, 41)})
    answer, _ = answerer().ask("kl_loss 超过 0.2 的第一步和总步数", [run])
    assert "step 0 是" not in answer.answer
    assert holds(answer, 20)


@pytest.mark.parametrize("question", ["loss 有下降趋势吗", "loss 有没有明显的下降趋势", "is the loss going down?"])
def test_scatter_is_not_confirmed_as_a_fall(question: str) -> None:
    chance = random.Random(7)
    values = [0.6 + chance.gauss(0, 0.1) for _ in range(80)]
    values[20] = 1.3
    answer, _ = answerer().ask(question, [series_run("loss", values)])
    assert "一致" not in answer.answer
    assert answer.verdict.code in {"fluctuating", "flat", "inconclusive"}


@pytest.mark.parametrize("seed", range(4))
def test_a_value_that_the_next_takes_back_is_no_step_of_a_turn(seed: int) -> None:
    """Up and down again with one odd value at the beginning: the way there is no single step."""
    chance = random.Random(seed)
    values = [0.6 + 0.2 * min(step, 100 - step) / 50 + chance.gauss(0, 0.01) for step in range(100)]
    values[1] = values[0] + 0.12
    answer, _ = answerer().ask("trend of the score", [series_run("critic/score/mean", values)])
    assert "one step" not in answer.answer
