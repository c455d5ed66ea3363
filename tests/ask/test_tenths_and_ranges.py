"""Growth in tenths, ranges that are values, what came back, and a scatter that widens or narrows."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

STEPS = range(1, 41)


def _run() -> Run:
    return run_of(
        {
            step: {
                "timing_s/gen": 20.0 + 0.5 * step, "timing_s/step": 100.0, "actor/entropy": 0.9 - 0.02 * step,
                "completion_length": 100.0 + step, "critic/kl": 0.1 if step <= 20 else 0.18,
            }
            for step in STEPS
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("question", "value"),
    [("entropy 降了几成", "-88.6%"), ("前半程 kl 均值和后半程 kl 均值各多少，涨了几成", "+80.0%")],
)
def test_growth_in_tenths_is_told_in_per_cent(question: str, value: str) -> None:
    has(ask(question, _run()), value)


def test_growth_of_a_stage_in_tenths_is_no_share_of_the_step() -> None:
    answer = ask("gen 耗时 step 1 到 step 40 涨了几成", _run())
    has(answer, "20.5 秒", "40 秒")
    assert "timing_s/step" not in answer.answer.split("\n")[0]


def test_share_of_the_step_in_tenths_stays_a_share() -> None:
    has(ask("最后一步 gen 占一步的几成", _run()), "40.0%")


@pytest.mark.parametrize("asked", ["的有几步", "的步占几成", "的步数有多少"])
def test_range_of_values_is_no_range_of_steps(asked: str) -> None:
    has(ask(f"completion_length 在 115 到 118 之间{asked}", _run()), "4 个", "10.0%")


def test_range_of_steps_stays_one() -> None:
    has(ask("第 10 到 20 步之间 completion_length 最大多少", _run()), "120", "step 20")


@pytest.mark.parametrize("asked", ["到最后都没回来过吗", "一直保持住了吗"])
def test_limit_that_was_not_crossed_back_is_said_to_hold(asked: str) -> None:
    has(ask(f"entropy 低于 0.5 是从哪步开始的，{asked}", _run()), "没有回来", "step 21")


def test_scatter_that_narrows_is_told() -> None:
    table = {step: {"actor/entropy": 0.5 + (-1) ** step * (0.1 if step < 20 else 0.01)} for step in STEPS}
    has(ask("entropy 的波动是越来越大还是越来越小", run_of(table)), "变小")
