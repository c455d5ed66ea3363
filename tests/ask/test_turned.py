"""Follow-ups that go on from the steps just told: the one before, counted from the end, at that step, the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.model import Answer
from tests.analysis.support import run_of

from .support import conversation

STEPS = range(2, 41, 2)
RUN = run_of(
    {
        step: {
            "completions/mean_length": 300.0 + step, "completions/max_length": 900.0 + 3 * step,
            "completions/min_length": 20.0 + step, "reward": round(0.3 + 0.01 * step, 4),
            "grad_norm": 2.0 if step == 16 else 0.5 + 0.001 * step,
            "timing_s/step": 95.0 if step == 16 else 80.0 if step == 30 else 50.0 + 0.01 * step,
            "timing_s/gen": 85.0 if step == 16 else 70.0 if step == 30 else 40.0 + 0.01 * step,
            "timing_s/tool/max": 60.0 if step == 22 else 9.0 + 0.1 * step,
            **({"eval_reward": round(0.2 + 0.01 * step, 4)} if step % 10 == 0 else {}),
        }
        for step in STEPS
    }
)  # fmt: skip


def last(*turns: str) -> Answer:
    return conversation(RUN, *turns)


def slots(made: Answer) -> dict[str, Any]:
    held: dict[str, Any] = made.to_json()["slots"]
    return held


def told(made: Answer) -> set[tuple[str | None, int | None]]:
    return {(fact.metric, fact.step) for fact in made.facts if fact.kind == "value"}


@pytest.mark.parametrize(
    ("turns", "key", "step"),
    [
        (("grad_norm 最后多少", "前一个"), "grad_norm", 38),
        (("grad_norm 最后多少", "前一个", "再前一个"), "grad_norm", 36),
        (("last grad_norm", "and before that?"), "grad_norm", 38),
        (("last eval_reward", "second to last?"), "eval_reward", 30),
        (("最后的 eval_reward", "倒数第二次呢"), "eval_reward", 30),
        (("最后的 eval_reward", "那倒数第三个呢"), "eval_reward", 20),
        (("step 10 的 reward", "下一个呢"), "reward", 12),
        (("reward at step 10", "the previous one"), "reward", 8),
        (("completions/mean_length at step 10", "max?"), "completions/max_length", 10),
        (("completions/mean_length at step 10", "min", "max"), "completions/max_length", 10),
        (("step 10 的 completions/mean_length", "最短的呢"), "completions/min_length", 10),
        (("grad_norm 最大是哪一步", "那一步 timing_s/tool/max 呢"), "timing_s/tool/max", 16),
        (("which step has the largest grad_norm", "timing_s/tool/max in that step?"), "timing_s/tool/max", 16),
        (("step 10 的 reward", "最长的回答呢"), "completions/max_length", 10),
        (("timing_s/gen 最慢的是哪步", "它的前一步花了多久"), "timing_s/gen", 14),
    ],
)
def test_follow_up_step_beside_told(turns: tuple[str, ...], key: str, step: int) -> None:
    made = last(*turns)
    assert told(made) == {(key, step)}
    assert slots(made)["steps"] == {"kind": "single", "values": [step]}


@pytest.mark.parametrize(
    ("turns", "steps", "op"),
    [
        (("step 10 的 grad_norm", "换成最后 10 步的平均"), {"kind": "last_n", "values": [10]}, "mean"),
        (("step 10 的 grad_norm", "最后 6 步的最大值呢"), {"kind": "last_n", "values": [6]}, "max"),
        (("grad_norm at step 10", "mean of steps 12 to 20"), {"kind": "range", "values": [12, 20]}, "mean"),
        (("grad_norm at step 10", "and the max of the first 8"), {"kind": "range", "values": [2, 16]}, "max"),
        (("step 10 的 reward", "step 20 到 30 的最小值"), {"kind": "range", "values": [20, 30]}, "min"),
    ],
)
def test_follow_up_part_and_statistic_keeps_metric(turns: tuple[str, ...], steps: dict[str, object], op: str) -> None:
    made = last(*turns)
    assert slots(made)["steps"] == steps
    assert slots(made)["op"] == op
    assert len(slots(made)["metrics"]) == 1
    assert slots(made)["metrics"][0] in turns[0]


def test_follow_up_last_steps_alone_is_no_shift() -> None:
    assert slots(last("step 10 的 grad_norm", "换成最后 6 步"))["steps"] == {"kind": "last_n", "values": [6]}


@pytest.mark.parametrize(
    "turns",
    [
        ("step 10 的 reward", "step 12 呢", "涨了吗"),
        ("step 10 的 reward", "step 12", "有没有变高"),
        ("reward at 10", "at 12?", "did it go up?"),
        ("reward at 10", "12", "so is it higher"),
    ],
)
def test_follow_up_moved_compares_the_two_told(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    assert made.intent == "compare"
    assert slots(made)["steps"] == {"kind": "pair", "values": [10, 12]}


@pytest.mark.parametrize(
    "turns",
    [
        ("最慢的是哪一步", "慢在哪"),
        ("timing_s/step 最久的是哪一步", "卡在哪个 stage"),
        ("which step was slowest", "where did the time go"),
    ],
)
def test_follow_up_where_slow_is_of_the_step_told(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    assert made.intent == "bottleneck"
    assert slots(made)["steps"] == {"kind": "single", "values": [16]}


@pytest.mark.parametrize(
    "turns",
    [
        ("timing_s/step 最久的是哪一步", "除了它之外最慢的呢"),
        ("which step has the largest timing_s/step", "the next largest?"),
    ],
)
def test_follow_up_next_of_order(turns: tuple[str, ...]) -> None:
    text = last(*turns).answer
    assert "30" in text
    assert "80" in text


@pytest.mark.parametrize(
    "turns",
    [("reward 最后多少", "grad_norm 呢", "给个结论"), ("last reward", "grad_norm?", "so what's the verdict")],
)
def test_follow_up_conclusion_is_of_the_run(turns: tuple[str, ...]) -> None:
    assert last(*turns).intent == "health"


@pytest.mark.parametrize("turns", [("reward 在涨吗", "百分之几"), ("is reward rising", "by what percent")])
def test_follow_up_share_of_a_trend_is_from_end_to_end(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    assert slots(made)["steps"] == {"kind": "pair", "values": [2, 40]}
    assert "119" in made.answer  # 0.32 to 0.7


@pytest.mark.parametrize(
    ("turns", "steps"),
    [
        (("grad_norm 最大是哪一步", "eval_reward 有受影响吗"), [18, 40]),
        (("which step has the largest grad_norm", "was eval_reward affected?"), [18, 40]),
    ],
)
def test_follow_up_affected_is_the_course_since_then(turns: tuple[str, ...], steps: list[int]) -> None:
    made = last(*turns)
    assert made.intent == "trend"
    assert slots(made)["metrics"] == ["eval_reward"]
    assert slots(made)["steps"]["values"][-1] == steps[1]
