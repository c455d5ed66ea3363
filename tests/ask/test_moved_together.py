"""Which of two metrics fell (rose) more and whether both did; falls after a peak; what was reached already; windows."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of

from .computed_support import ask

ONE, TWO = "actor/entropy", "actor/grad_norm"
#: The entropy falls by a tenth up to step 3 and rises after it; the norm falls throughout.
RUN = run_of(
    {s: {ONE: [0, 1.0, 0.95, 0.9, 1.2, 1.4, 1.6][s], TWO: [0, 2.0, 1.8, 1.0, 0.9, 0.7, 0.5][s]} for s in range(1, 7)}
)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Did entropy and grad norm both drop by step 3?", "**Yes: each of them fell: "),
        ("熵和 grad_norm 到第 3 步都降了吗", "**是：都降了："),
        ("Did both entropy and grad norm fall?", "**No: only `actor/grad_norm` fell: "),
        ("entropy 和 grad_norm 都降了吗", "**不是：只有 `actor/grad_norm` 降了："),
        ("neither entropy nor grad norm rose by step 3, right?", "**Yes: none of them rose: "),
        ("entropy 和 grad_norm 都没降吗", "**不是：只有 `actor/grad_norm` 降了："),
    ],
)
def test_whether_both_moved_is_yes_or_no_with_both_changes(question: str, start: str) -> None:
    assert ask(question, RUN).answer.startswith(start)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which fell more by step 3, entropy or grad norm?", "`actor/grad_norm` fell more"),
        ("entropy 和 grad_norm 哪个降得更多", "降得更多的是 `actor/grad_norm`"),
        ("entropy 和 grad_norm 哪个涨得更多", "涨得更多的是 `actor/entropy`"),
        ("which of entropy and grad norm rose more by step 3?", "None of them rose"),
    ],
)
def test_which_fell_more_looks_at_falls_alone(question: str, said: str) -> None:
    assert said in ask(question, RUN).answer.split("\n")[0]


def test_second_clause_without_metrics_takes_those_of_the_first_and_its_step() -> None:
    question = "Did entropy and grad norm both drop by step 3, and which fell more in percent?"
    first, second = [line for line in ask(question, RUN).answer.split("\n") if line.startswith("**")]
    assert first.startswith("**Yes: each of them fell")
    assert "`actor/grad_norm` 2 → 1 (-50.0%)" in second
    assert "`actor/entropy` 1 → 0.9 (-10.0%)" in second


@pytest.mark.parametrize(
    "question", [
        "entropy 和 grad_norm 哪个波动大", "哪个波动更大，entropy 还是 grad_norm",
        "Which fluctuates more, entropy or grad norm?",
    ],
)  # fmt: skip
def test_scatter_is_no_change(question: str) -> None:
    text = ask(question).answer
    assert "scatter" in text or "逐步起伏" in text


PEAK = run_of({s: {"reward": [0, 1, 3, 2.9, 9, 8, 6, 7, 8.5, 8.6, 8.7][s], "loss": 1 / s} for s in range(1, 11)})


@pytest.mark.parametrize("question", ["reward 到峰值之后降了多少？", "After the reward peak, how far did it fall?"])
def test_fall_after_the_peak_is_from_the_highest_value(question: str) -> None:
    first = ask(question, PEAK).answer.split("\n")[0]
    assert "step 4" in first
    assert "step 6" in first
    assert "-3" in first


@pytest.mark.parametrize(
    ("question", "step"),
    [("reward 什么时候到满分 9？", 4), ("reward 什么时候达到最大", 4), ("loss 什么时候达到最小", 10)],
)
def test_what_the_log_holds_is_no_forecast(question: str, step: int) -> None:
    answer = ask(question, PEAK)
    assert answer.intent == "lookup"
    assert f"step {step}" in answer.answer.split("\n")[0]


def test_another_limit_of_a_first_crossing_is_read_as_one() -> None:
    from .support import answerer

    _, state = answerer().ask("loss 第一次到 0.5 是哪步", [PEAK])
    text = answerer().ask("0.25 呢", [PEAK], state=state)[0].answer
    assert "0.25" in text.split("\n")[0]
    assert "step 4" in text.split("\n")[0] or "step 5" in text.split("\n")[0]


@pytest.mark.parametrize(
    "question", ["loss 第一次到 0.5 是哪步", "loss 什么时候达到 0.5", "when did loss first reach 0.5?"]
)
def test_level_reached_from_above_is_no_level_reached_at_the_start(question: str) -> None:
    assert "step 2" in ask(question, PEAK).answer.split("\n")[0]


@pytest.mark.parametrize("question", ["reward 最后 4 步还在涨吗", "最后 4 步 loss 是不是还在降"])
def test_still_going_over_the_last_steps_is_told_of_these_steps(question: str) -> None:
    text = ask(question, PEAK).answer
    assert "没有持续到最后" not in text
    assert "step 7" in text


@pytest.mark.parametrize("question", ["每个 epoch 的 loss 平均多少", "每个 epoch 平均多少 loss"])
def test_mean_of_every_epoch_is_said_not_to_be_computed(question: str) -> None:
    assert "没有算" in ask(question, PEAK).answer


@pytest.mark.parametrize(
    "question",
    ["reward changed by how many tokens from step 1 to step 4?", "From step 1 to step 4, reward went up by how much?"],
)
def test_unit_of_a_change_is_no_metric(question: str) -> None:
    assert "`reward`" in ask(question, PEAK).answer.split("\n")[0]
    assert "+8" in ask(question, PEAK).answer.split("\n")[0]


@pytest.mark.parametrize("question", ["kl_loss 一直在涨", "kl_loss keeps rising"])
def test_rise_that_ends_before_the_end_is_told_as_its_course(question: str) -> None:
    run = run_of(
        {
            s: {"actor/kl_loss": (0.1 * s if s <= 20 else 1.6 + 0.02 * (s % 3)) + (4 if s == 45 else 0)}
            for s in range(1, 61)
        }
    )
    first = ask(question, run).answer.split("\n")[0]
    assert first.startswith(("**部分如此：", "**In part: "))
    assert "step 45" not in first
