"""What two metrics are and how they differ: both are defined, whatever the syntax, the language and the log."""

from __future__ import annotations

import time

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of, training_step

from .support import answerer, conversation, first_line


def run(**beside: float) -> Run:
    return run_of({step: {**training_step(step), **beside} for step in range(1, 31)})


def ask(question: str, log: Run | None = None) -> Answer:
    return answerer().ask(question, (log or run(),))[0]


WORDINGS = [
    "{a} 跟 {b} 有啥两样",
    "{a} 和 {b} 有什么区别",
    "{a} 与 {b} 的差别在哪",
    "区分一下 {a} 和 {b}",
    "{a} 和 {b} 是一回事吗",
    "what is the difference between {a} and {b}?",
    "how does {a} differ from {b}?",
    "{a} vs {b}: what's the difference",
    "are {a} and {b} the same thing?",
    "what distinguishes {a} from {b}",
]
PAIRS = [
    ("actor/entropy", "actor/ppo_kl", "actor/entropy", "actor/ppo_kl"),
    ("grad norm", "lr", "actor/grad_norm", "actor/lr"),
    ("entropy", "entropy loss", "actor/entropy", "actor/entropy_loss"),
    ("critic/score/mean", "critic/rewards/mean", "critic/score/mean", "critic/rewards/mean"),
]


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize(("a", "b", "first", "second"), PAIRS)
def test_difference_of_two_metrics_defines_both_in_the_first_sentence(
    wording: str, a: str, b: str, first: str, second: str
) -> None:
    answer = ask(wording.format(a=a, b=b))
    line = first_line(answer)
    assert answer.intent == "define"
    assert f"`{first}`" in line
    assert f"`{second}`" in line
    assert len(answer.citations) == 2
    if "一回事" in wording or "same thing" in wording:
        assert ("不是一回事" in line) if answer.language == "zh" else ("not the same thing" in line)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("critic/score/mean 和 critic/score/max 有什么区别", "同一类指标的不同项"),
        ("what is the difference between critic/score/mean and critic/score/max?", "members of one family"),
        ("throughput 跟 perf/throughput 是不是一个东西", "是一回事"),
        ("are throughput and perf/throughput the same thing?", "one and the same metric"),
    ],
)
def test_members_of_a_family_and_names_of_one_metric_are_told_as_such(question: str, said: str) -> None:
    log = run(**{"perf/throughput": 600.0, "critic/score/max": 1.0, "critic/score/mean": 0.5})
    assert said in first_line(ask(question, log))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("actor/entropy 和 weight_norm 有什么区别", "`weight_norm`：不认识"),
        ("how does actor/entropy differ from weight_norm?", "`weight_norm`: not known"),
    ],
)
def test_a_side_that_nobody_knows_is_said_to_be_unknown(question: str, said: str) -> None:
    assert said in first_line(ask(question))


def test_a_follow_up_sets_the_metric_told_before_against_another() -> None:
    answer = conversation(run(), "熵是什么", "它和 ppo_kl 有什么区别")
    assert "`actor/entropy`" in first_line(answer)
    assert "`actor/ppo_kl`" in first_line(answer)


@pytest.mark.parametrize(
    "question", ["step 3 和 step 5 有什么区别", "how does step 3 differ from step 5", "熵涨了多少，差别大吗"]
)
def test_steps_and_values_are_no_difference_of_meanings(question: str) -> None:
    assert ask(question).intent != "define"


def test_without_a_log_both_are_defined() -> None:
    answer, _ = answerer().ask("what is the difference between actor/ppo_kl and actor/kl_loss?", ())
    assert "`actor/ppo_kl`" in first_line(answer)
    assert "`actor/kl_loss`" in first_line(answer)


@pytest.mark.parametrize(
    "question", ["pass@8 是什么意思", "What does pass@8 mean?", "pass@16 是什么", "what is pass@64"]
)
def test_a_statistic_over_k_answers_is_defined_as_one(question: str) -> None:
    answer = ask(question)
    assert answer.intent == "define"
    assert answer.citations[0].card == "concept/pass-at-k"


@pytest.mark.parametrize("question", ["entropy loss at step 2", "第 2 步的熵损失是多少"])
def test_two_words_of_one_metric_are_not_two_metrics(question: str) -> None:
    answer = ask(question)
    assert answer.verdict.code == "no_data"
    assert "`actor/entropy_loss`" in first_line(answer)


def test_hostile_texts_are_read_in_no_time() -> None:
    started = time.perf_counter()
    ask("是不是" * 60 + "区别")
    ask("the " * 50 + "difference between x and y")
    assert time.perf_counter() - started < 1.0
