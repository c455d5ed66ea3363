"""Shares of several stages, and what a step would take if one took less: against numbers computed here."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.answer_speedup import remaining
from assistant.model import Run
from assistant.write.numbers import format_number
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

STEPS = range(1, 41)


def _gen(step: int) -> float:
    return 50.0 + step % 5


@lru_cache(maxsize=1)
def timed() -> Run:
    return run_of(
        {
            step: {"timing_s/gen": _gen(step), "timing_s/update_actor": 30.0, "timing_s/ref": 10.0,
                   "timing_s/step": _gen(step) + 45.0, "actor/entropy": 0.5}
            for step in STEPS
        }
    )  # fmt: skip


@lru_cache(maxsize=1)
def untimed() -> Run:
    """A log of stages alone."""
    return run_of(
        {
            step: {"timing/gen": 20.0, "timing/update_actor": 60.0, "timing/ref": 20.0, "actor/lr": 1e-6}
            for step in STEPS
        }
    )


GEN = sum(map(_gen, STEPS)) / len(STEPS)
STEP = GEN + 45
SHARES = {
    "gen": sum(_gen(s) / (_gen(s) + 45) for s in STEPS) / len(STEPS),
    "update": sum(30 / (_gen(s) + 45) for s in STEPS) / len(STEPS),
}


@pytest.mark.parametrize(
    "question",
    [
        "生成和更新各占多少",
        "gen 和 update_actor 分别占一步的百分之几",
        "what share of the step do gen and update_actor each take?",
    ],
)
def test_each_share_of_several_stages(question: str) -> None:
    answer = ask(question, timed())
    has(answer, f"{100 * SHARES['gen']:.1f}%", f"{100 * SHARES['update']:.1f}%", f"{100 * sum(SHARES.values()):.1f}%")
    assert answer.intent == "bottleneck"


def test_each_share_at_a_step_named() -> None:
    has(ask("第 5 步生成和更新各占多少", timed()), "step 5", f"{100 * 50 / 95:.1f}%", f"{100 * 30 / 95:.1f}%")


def test_each_share_without_a_total_is_of_the_stages_logged() -> None:
    has(ask("生成和更新各占多少", untimed()), "20.0%", "60.0%", "日志没有整步耗时")


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("如果 gen 快一倍能省多少", 1 / 2),
        ("生成时间砍半的话一步能快多少", 1 / 2),
        ("gen 耗时少 30% 的话每步省几秒", 0.7),
        ("要是生成完全不花时间，一步多久", 0.0),
        ("if generation were twice as fast, how long would a step be?", 1 / 2),
    ],
)
def test_speedup_of_a_stage_is_an_estimate_of_the_step(question: str, left: float) -> None:
    answer = ask(question, timed())
    has(
        answer,
        format_number(STEP - GEN * (1 - left), "seconds", language=answer.language),
        f"{100 * GEN * (1 - left) / STEP:.1f}%",
    )
    assert answer.answer.startswith(("**估计：", "**An estimate:"))


@pytest.mark.parametrize(
    ("text", "left"),
    [("快一倍", 0.5), ("提速到 4 倍", 0.25), ("快 25%", 0.8), ("少 25%", 0.75), ("3x faster", 1 / 3), ("多少", None)],
)
def test_remaining_reads_what_is_left_of_a_stage(text: str, left: float | None) -> None:
    assert remaining(text) == (None if left is None else pytest.approx(left))


def test_a_setting_is_no_stage() -> None:
    assert not ask("如果学习率减半能省多少时间", timed()).answer.startswith("**估计")
