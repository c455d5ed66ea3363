"""Changes between extremes, the slowest step of a rate, parts of a sparse log, one statistic of two parts."""

from __future__ import annotations

from statistics import median

import pytest

from assistant.model import Answer
from tests.analysis.support import run_of

from .support import answerer

#: A throughput that peaks at step 6 and is lowest at step 31; its generation takes longest there.
RATE = {step: {6: 900.0, 31: 300.0}.get(step, 600.0 - step) for step in range(1, 41)}
RUN = run_of(
    {
        step: {
            "perf/throughput": RATE[step], "timing_s/gen": 100.0 + (50.0 if step == 31 else 0.1 * step),
            "timing_s/step": 200.0 + step, "critic/score/mean": round(0.1 + 0.01 * step, 4),
        }
        for step in range(1, 41)
    }
)  # fmt: skip
#: Every twentieth step of two thousand.
SPARSE = run_of({step: {"kl": round(0.001 * step + 0.0001 * (step % 7), 5)} for step in range(20, 2001, 20)})


def ask(question: str, run: object = RUN) -> Answer:
    return answerer().ask(question, [run])[0]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("question", "first", "final"),
    [
        ("throughput 从最高到最低掉了百分之多少", 6, 31),
        ("throughput 从 peak 到 end 掉了百分之多少", 6, 40),
        ("throughput 从最高到最后降了几倍", 6, 40),
        ("throughput 从 best 到 worst 掉了 percent 多少", 6, 31),
        ("score 从 10 到 the end 涨了百分之多少", 10, 40),
        ("score 从 step 10 到 step 30 变了百分之多少", 10, 30),
        ("score 从 step 10 到 step 30 变了几倍", 10, 30),
        ("score 最近 5 步涨了几倍", 36, 40),
        ("17→18步，timing_s/gen 翻了几番", 17, 18),
    ],
)
def test_a_change_is_between_the_ends_named(question: str, first: int, final: int) -> None:
    change = next(fact for fact in ask(question).facts if fact.kind == "change")
    assert (change.from_step, change.to_step) == (first, final)


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("throughput 最慢的那步，generation time 是多少", 31),
        ("throughput 最快的那步，timing_s/gen 是多少", 6),
        ("what was timing_s/gen at the step with the slowest throughput", 31),
        ("throughput 最低的那步 timing_s/gen 多少", 31),
    ],
)
def test_the_slowest_step_of_a_rate_has_its_smallest_value(question: str, step: int) -> None:
    cells = {fact.metric: fact.step for fact in ask(question).facts if fact.kind == "value"}
    assert cells["timing_s/gen"] == step


@pytest.mark.parametrize("question", ["throughput 最慢的 3 步", "the 3 slowest throughput steps"])
def test_the_slowest_few_of_a_rate_are_the_lowest(question: str) -> None:
    assert {fact.step for fact in ask(question).facts if fact.kind == "value"} == {31, 40, 39}


@pytest.mark.parametrize(
    "question",
    [
        "kl 最近 500 步的平均", "kl 的平均，last 500 steps", "mean kl over the last 500 steps",
    ],
)  # fmt: skip
def test_the_last_steps_of_a_sparse_log_go_by_their_numbers(question: str) -> None:
    held = [value for step, value in zip(*SPARSE.series("kl"), strict=True) if step > 1500]
    assert pytest.approx(sum(held) / len(held)) in [f.value for f in ask(question, SPARSE).facts]


def test_two_ends_of_a_sparse_log_have_no_step_in_common() -> None:
    made = ask("kl 前 500 步和后 500 步的平均差多少", SPARSE)
    assert "step 20 到 500" in made.verdict.summary
    assert "step 1520 到 2000" in made.verdict.summary


@pytest.mark.parametrize(
    "question",
    [
        "timing_s/step 的中位数，前 10 步和最后 10 步差多少",
        "timing_s/step 前 10 步和最后 10 步的中位数差多少",
        "timing_s/step 的 median，first 10 steps 和 last 10 steps 差多少",
    ],
)
def test_two_parts_are_compared_by_the_one_statistic_named(question: str) -> None:
    values = [fact.value for fact in ask(question).facts if fact.kind == "derived"]
    assert median(range(201, 211)) in values
    assert median(range(231, 241)) in values


def test_a_mean_in_the_name_of_a_metric_is_no_operation_where_its_course_is_asked() -> None:
    run = run_of({step: {"mean_reward": round(0.01 * step, 3)} for step in range(1, 31)})
    assert ask("mean reward 在 last 10 steps 是不是还在涨", run).intent == "trend"
    assert ask("is mean reward still rising over the last 10 steps", run).intent == "trend"
    assert ask("mean reward 最近 10 步", run).slots.op == "mean"


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("eval_reward 每次 eval 都 up 吗", False),
        ("did eval_reward rise at every eval", False),
        ("eval_loss 每次 eval 都降吗", True),
        ("did eval_loss fall at every eval", True),
    ],
)
def test_whether_it_moved_so_every_time(question: str, yes: bool) -> None:
    table = {
        step: {"eval_reward": round(0.1 * step - (0.5 if step == 6 else 0.0), 3), "eval_loss": round(3 - 0.1 * step, 3)}
        for step in range(1, 11)
    }
    made = ask(question, run_of(table))
    start = ("是，" if yes else "不是") if made.language == "zh" else ("Yes" if yes else "Not")
    assert made.verdict.summary.startswith(start)


@pytest.mark.parametrize(
    ("question", "ends"),
    [
        ("score step 10 → step 30 掉了 how much percent", (10, 30)),
        ("throughput 从 min 到 end 涨了多少", (31, 40)),
        ("throughput min 之后又 go up 了多少", (31, 40)),
    ],
)
def test_ends_typed_in_two_languages(question: str, ends: tuple[int, int]) -> None:
    change = next(fact for fact in ask(question).facts if fact.kind == "change")
    assert (change.from_step, change.to_step) == ends
