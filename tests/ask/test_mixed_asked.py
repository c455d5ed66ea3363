"""Mixed wordings of windows, of which of two, of spikes and streaks; and what a text without a log is asked for."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import answerer, conversation, first_line

STEPS = range(1, 41)
RUN: Run = run_of(
    {
        step: {
            "actor/entropy": 0.8 - 0.01 * step,
            "actor/grad_norm": 5.0 if step == 20 else 0.3,
            "critic/score/mean": 0.2 + 0.01 * step,
            "timing_s/gen": 30.0 + step,
            "timing_s/step": 100.0,
            **({"val-core/math500/acc/mean@1": 0.6 - 0.01 * step} if step % 5 == 0 else {}),
        }
        for step in STEPS
    }
)


@pytest.mark.parametrize(
    "question",
    ["gen 的占比 from first 10 to last 10 steps 变了吗", "first 10 vs last 10 steps，gen 占比变了吗"],
)
def test_two_windows_named_in_english_are_both_read(question: str) -> None:
    answer = conversation(RUN, question)
    assert "35.5%" in answer.answer
    assert "65.5%" in answer.answer


@pytest.mark.parametrize("question", ["grad norm 有没有 spike 过", "grad norm 出现过 spike 吗", "grad norm 飙升过吗"])
def test_whether_it_spiked_is_asked_for_its_spikes(question: str) -> None:
    answer = conversation(RUN, question)
    assert answer.intent == "health"
    assert "step 20" in first_line(answer)


@pytest.mark.parametrize("question", ["val 连续掉了几次 eval", "验证连续掉了几次", "val 连续 drop 了几次"])
def test_a_streak_of_validations_is_no_count_of_them(question: str) -> None:
    answer = conversation(RUN, question)
    assert "连续下降最长 7 次" in first_line(answer)


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("entropy 和 grad norm 哪个 larger at step 10", "actor/entropy"),
        ("entropy 和 critic/score/mean 谁 higher，step 40", "critic/score/mean"),
    ],
)
def test_which_of_two_is_asked_in_english(question: str, more: str) -> None:
    assert f"`{more}` 更" in first_line(conversation(RUN, question))


@pytest.mark.parametrize("question", ["optimizing 哪个 stage 收益最大", "除了 gen 剩下的 time 花在哪"])
def test_where_time_goes_is_no_time_that_is_left(question: str) -> None:
    answer = conversation(RUN, question)
    assert answer.intent == "bottleneck"
    assert answer.verdict.code == "answered"


@pytest.mark.parametrize("question", ["有没有 entropy", "日志里有 entropy 吗", "entropy 多少", "does it log entropy?"])
def test_what_a_log_holds_is_not_told_without_one(question: str) -> None:
    assert answerer().ask(question, [])[0].verdict.code == "no_metrics"


@pytest.mark.parametrize("question", ["entropy 是什么意思", "ppo_kl 怎么理解", "entropy 多少算正常"])
def test_meanings_need_no_log(question: str) -> None:
    assert answerer().ask(question, [])[0].verdict.code == "answered"


@pytest.mark.parametrize("question", ["loss 有 outlier 吗", "loss 有没有尖峰"])
def test_a_lone_value_is_the_spike_that_the_account_of_the_run_tells(question: str) -> None:
    rows = {
        step: {"loss": 1.8 if step == 29 else 0.35 + 0.01 * (step % 7), "reward": 0.01 * step} for step in range(1, 73)
    }
    run = run_of(rows)
    told = "step 29" in conversation(run, "训练正常吗").answer
    line = first_line(conversation(run, question))
    assert "step 29" in line
    assert line.startswith("没有尖峰") is not told
