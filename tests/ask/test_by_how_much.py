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


LOW = run_of({s: {"eval_loss": [0, 6.0, 3.0, 2.0, 2.5, 3.0][s], "reward": s / 10} for s in range(1, 6)})


@pytest.mark.parametrize(
    "question",
    ["eval_loss 从最低点到最后涨了百分之几", "By what percentage did eval_loss rise from its lowest to the end?"],
)
def test_change_from_an_extreme_begins_there(question: str) -> None:
    first = ask(question, LOW).answer.split("\n")[0]
    assert "step 3" in first
    assert "+50" in first


@pytest.mark.parametrize(
    "question",
    ["reward 在第 8 步前后 3 步的平均差多少", "mean reward of the 3 steps before and after step 8, compared"],
)
def test_so_many_steps_on_either_side_of_a_step_are_these(question: str) -> None:
    text = ask(question, RUN).answer
    assert "step 5 到 7" in text or "steps 5–7" in text
    assert "step 8 到 10" in text or "steps 8–10" in text


@pytest.mark.parametrize(
    "question",
    ["What is the mean reward after step 10? And before step 5?", "reward 在 10 步之后平均多少？5 步之前呢？"],
)
def test_sides_of_two_steps_are_no_sides_of_each_other(question: str) -> None:
    text = ask(question, RUN).answer
    assert "1.3" in text.split("\n\n")[0]  # the mean over steps 11 to 15
    assert "0.25" in text


def test_placeholder_of_the_log_is_not_denied_to_be_there() -> None:
    log = "\n".join(
        f"iter {n}: loss {4 - n / 10:.4f}, time {50 + n:.2f}ms, mfu {-100 if n < 2 else 6 + n / 100:.2f}%"
        for n in range(12)
    )
    from assistant.parsing import parse_text

    text = ask("mfu 为什么是 -100", parse_text(log).runs[0]).answer
    assert not text.startswith("**不是这样")


def test_first_row_of_a_log_without_steps_is_the_first() -> None:
    log = "\n".join(str({"loss": 2.0 - n / 10, "grad_norm": 1.0 + n, "epoch": n / 10}) for n in range(8))
    from assistant.parsing import parse_text

    text = ask("第一行的 grad_norm", parse_text(log).runs[0]).answer
    assert "记录 0" in text.split("\n")[0]
