"""Follow-ups that point to what the last turns told: the two, the three, that value, before and after it."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import conversation, first_line, holds

#: A loss with its lowest value at step 25, a stage's time that jumps at step 19, a KL that passes 0.1 at step 31, a
#: score's lowest that is 0 until step 40 and 1 from there on, two memories of which one grows by more.
RUN: Run = run_of(
    {
        step: {
            "critic/vf_loss": round(0.3 + 0.0004 * (step - 25) ** 2, 4),
            "timing_s/gen": (300.0 if step < 19 else 900.0) + 7.0 * (step % 5),
            "actor/kl_loss": round(0.0001 * step * step + 0.01, 5),
            "critic/score/min": 0.0 if step < 40 else 1.0,
            "perf/max_memory_allocated_gb": 40.0 + 0.2 * step,
            "perf/cpu_memory_used_gb": 100.0 + 3.0 * step,
            "actor/grad_norm": round(0.4 + 0.05 * ((step * 7) % 11 - 5) / 5, 4),
        }
        for step in range(1, 61)
    }
)


@pytest.mark.parametrize(
    ("turns", "step"),
    [
        (("critic/vf_loss at step 10", "20?", "and 50", "which of the three is lowest"), 20),
        (("critic/vf_loss at step 10", "20?", "和 50", "这三个里哪个最低"), 20),
        (("第 10 步的 vf_loss", "第 50 步呢", "两个哪个更大"), 50),
        (("第 10 步的 vf_loss", "第 50 步呢", "which is higher"), 50),
        (("vf_loss step 5", "加上 30", "这两步里谁最小"), 30),
    ],
)
def test_the_lowest_of_the_values_told(turns: tuple[str, ...], step: int) -> None:
    line = first_line(conversation(RUN, *turns))
    assert "critic/vf_loss" in line
    assert f"step {step}" in line


@pytest.mark.parametrize(
    ("turns", "more"),
    [
        (("显存峰值最后多少", "那主机内存呢", "两个相比谁涨得凶"), "perf/cpu_memory_used_gb"),
        (("latest perf/max_memory_allocated_gb", "and the host?", "which grew more"), "perf/cpu_memory_used_gb"),
        (("第 30 步和第 60 步的 vf_loss", "换成 kl_loss", "哪个变化更大？"), "actor/kl_loss"),
    ],
)  # fmt: skip
def test_the_one_that_moved_more_of_the_metrics_told(turns: tuple[str, ...], more: str) -> None:
    line = first_line(conversation(RUN, *turns))
    assert more in line.split("：")[0].split(":")[0].split("，")[0]


def test_two_metrics_over_the_steps_asked_about() -> None:
    """The span of the two turns is that of the comparison."""
    made = conversation(RUN, "第 30 步和第 60 步的 vf_loss", "换成 kl_loss", "哪个变化更大？")
    assert holds(made, 0.31)
    assert holds(made, 0.79)


@pytest.mark.parametrize(
    ("turns", "other"),
    [
        (("vf_loss 最低是哪步", "比 first step 高多少"), 1),
        (("vf_loss 最低是哪步", "最后的 vf_loss 比这个高还是低"), 60),
        (("lowest vf_loss?", "how much higher is it at the end"), 60),
        (("lowest vf_loss?", "is the last value higher than that"), 60),
        (("vf_loss 最低是多少", "比第 50 步低多少"), 50),
    ],
)
def test_the_value_told_against_another_of_its_metric(turns: tuple[str, ...], other: int) -> None:
    made = conversation(RUN, *turns)
    assert f"step {other}" in made.answer
    assert holds(made, 0.3)
    assert holds(made, round(0.3 + 0.0004 * (other - 25) ** 2, 4))


@pytest.mark.parametrize("asked", ["之后涨回去多少了", "后来涨了多少", "之后又反弹了多少"])
def test_what_it_came_back_to(asked: str) -> None:
    made = conversation(RUN, "vf_loss 最低是多少", asked)
    assert holds(made, round(0.0004 * 35**2, 4))


@pytest.mark.parametrize(
    ("turns", "yes"),
    [
        (("grad norm at step 3", "is that within 30% of the run's average?"), True),
        (("grad norm at step 3", "is it within 1% of its mean?"), False),
        (("step 3 的 grad_norm 在平均值的 30% 以内吗",), True),
        (("is grad_norm at step 3 within 1% of its mean?",), False),
    ],
)
def test_whether_a_value_is_within_a_share_of_what_is_usual(turns: tuple[str, ...], yes: bool) -> None:
    line = first_line(conversation(RUN, *turns))
    assert line.lower().startswith(("yes", "是")) is yes
    assert "step 3" in line


@pytest.mark.parametrize("asked", ["is that above the median?", "比中位数高吗", "比全程中位数高还是低"])
def test_a_value_against_the_median(asked: str) -> None:
    line = first_line(conversation(RUN, "grad norm at step 3", asked))
    assert "median" in line or "中位数" in line
    assert "step 3" in line


@pytest.mark.parametrize(
    "turns",
    [
        ("timing_s/gen 什么时候突然变大的", "之前平均多少，之后平均多少"),
        ("gen 什么时候突然翻了几倍", "那之前和之后呢"),
        ("when did timing_s/gen jump?", "mean before and after?"),
        ("timing_s/gen 从哪一步开始突然涨上去的", "那之前的平均值和之后的平均值呢"),
    ],
)
def test_both_sides_of_the_jump_told(turns: tuple[str, ...]) -> None:
    before = [300.0 + 7.0 * (step % 5) for step in range(1, 19)]
    after = [900.0 + 7.0 * (step % 5) for step in range(19, 61)]
    made = conversation(RUN, *turns)
    assert holds(made, sum(before) / len(before))
    assert holds(made, sum(after) / len(after))


@pytest.mark.parametrize("asked", ["when did timing_s/gen jump", "timing_s/gen 从哪一步开始突然涨上去的"])
def test_a_jump_is_the_change_of_level(asked: str) -> None:
    """Not the largest single move, which scatter may make anywhere."""
    line = first_line(conversation(RUN, asked))
    assert "step 18" in line
    assert "step 19" in line


@pytest.mark.parametrize(
    "asked",
    [
        "critic/score/min 在哪一步变成 1 的？之前一直是 0 吗",
        "when does critic/score/min become 1? was it 0 before?",
        "critic/score/min 什么时候变为 1？在那之前一直是 0 吗",
    ],
)
def test_the_step_at_which_it_became_so_and_what_it_was_before(asked: str) -> None:
    made = conversation(RUN, asked)
    assert "step 40" in first_line(made)
    assert "39" in made.answer
    assert "Yes:" in made.answer or "是：" in made.answer
    assert "60" not in made.answer.split("step 40")[-1].split("\n\n")[-1]


@pytest.mark.parametrize(
    "asked",
    [
        "kl_loss 超过 0.1 是 since which row? 之前最大多少",
        "since which step is actor/kl_loss above 0.1, and what was the max before?",
        "actor/kl_loss 从哪行开始超过 0.1? 之前最大多少",
    ],
)
def test_a_crossing_and_the_largest_before_it(asked: str) -> None:
    made = conversation(RUN, asked)
    crossed = next(step for step in range(1, 61) if round(0.0001 * step * step + 0.01, 5) > 0.1)
    assert f"step {crossed}" in first_line(made)
    assert holds(made, round(0.0001 * (crossed - 1) ** 2 + 0.01, 5))
    assert not holds(made, 0.37)


@pytest.mark.parametrize("asked", ["what was the max before step 20", "and the maximum over steps 1 to 19"])
def test_a_statistic_of_a_part_is_of_the_metric_told(asked: str) -> None:
    made = conversation(RUN, "since when is actor/kl_loss above 0.1", asked)
    assert "actor/kl_loss" in first_line(made)
    assert holds(made, round(0.0001 * 19**2 + 0.01, 5))
