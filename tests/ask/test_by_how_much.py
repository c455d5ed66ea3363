"""A bare "by how much" belongs to the clause before; shares at a step; parts of the run beside an epoch."""

from __future__ import annotations

import math

import pytest

from tests.analysis.support import run_of

from .computed_support import ask

RUN = run_of(
    {
        s: {
            "reward": s / 10, "loss": 1 / s, "epoch": s / 5, "generate_time": 2.0 + s, "latency": 10.0, "odd": math.nan,
            "perf/max_memory_allocated_gb": 70.0,
        }
        for s in range(1, 16)
    }
)  # fmt: skip


@pytest.mark.parametrize("step_pair", ["step 3 和 step 8", "第 3 步和第 8 步"])
@pytest.mark.parametrize("tail", ["哪个高？高多少？", "哪个高，高多少", "哪个低？低多少", "哪个大，相差多少？"])
def test_bare_amount_is_of_the_metric_before_it(step_pair: str, tail: str) -> None:
    text = ask(f"{step_pair}的 reward {tail}", RUN).answer
    assert "memory" not in text
    assert "+0.5" in text
    assert "并没有变低" not in text


@pytest.mark.parametrize("question", ["loss 最低是哪一步？比平均低多少？", "loss 最低是哪一步，比平均低多少"])
def test_distance_of_an_extreme_from_the_mean_is_no_count(question: str) -> None:
    text = ask(question, RUN).answer
    assert "高于平均值" not in text
    assert "0.155" in text  # 1/15 is that far below the mean of 1/1 … 1/15


@pytest.mark.parametrize(
    "question", ["generate_time 占 latency 多少，第 4 步", "第 4 步 generate_time 占 latency 的百分之多少"]
)
def test_share_of_two_named_metrics_at_a_step_is_computed(question: str) -> None:
    assert "60" in ask(question, RUN).answer.split("\n")[0]
    assert "%" in ask(question, RUN).answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("epoch 2 之后 loss 平均多少", 11, 15), ("What is the mean loss after epoch 2?", 11, 15),
        ("mean loss before epoch 1", 1, 4), ("epoch 1 之前 reward 最高多少", 1, 4),
    ],
)  # fmt: skip
def test_part_beside_an_epoch_is_no_single_step(question: str, first: int, last: int) -> None:
    text = ask(question, RUN).answer.split("\n")[0]
    assert f"step {first} 到 {last}" in text or f"steps {first} to {last}" in text


@pytest.mark.parametrize("question", ["odd 的平均值", "mean of odd after step 3", "odd 在 5 步以后平均"])
def test_metric_without_a_finite_value_is_not_said_to_have_values(question: str) -> None:
    text = ask(question, RUN).answer
    assert "有值的 step" not in text
    assert "it has values" not in text
