"""Texts that ask several things at once, spreads and shares of a change, and what follow-ups point to."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask import clauses
from assistant.ask.pointing import pointed, pointed_span
from assistant.ask.slips import mended
from assistant.ask.wording import normalised
from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has
from tests.ask.support import answerer

STEP, GEN, UPDATE = "timing_s/step", "timing_s/gen", "timing_s/update_actor"
REWARD, ENTROPY, GRAD, LENGTH = "critic/rewards/mean", "actor/entropy", "actor/grad_norm", "response_length/mean"
LONGEST, SHORTEST = "response_length/max", "response_length/min"
STEPS = range(1, 41)


def _length(step: int) -> float:
    """One jump of 300 tokens, at step 21."""
    return 500.0 + step + (300 if step > 20 else 0)


def _grad(step: int) -> float:
    """Wild up to step 20, calm after it."""
    return 0.5 + (0.2 if step % 2 else -0.2) * (1.0 if step <= 20 else 0.05)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                STEP: 100.0 + (60.0 if step == 9 else -20.0 if step == 5 else 0.0) + (30.0 if step > 20 else 0.0),
                GEN: 60.0 + (30.0 if step > 20 else 0.0), UPDATE: 40.0, REWARD: round(0.1 + step / 100, 4),
                ENTROPY: round(0.9 - 0.02 * step, 4), GRAD: _grad(step), LENGTH: _length(step),
                LONGEST: 2.0 * _length(step), SHORTEST: 20.0 + step,
            }
            for step in STEPS
        }
    )  # fmt: skip


def talk(*turns: str, run: Run | None = None) -> Answer:
    """The answer to the last turn of a conversation."""
    state = None
    for turn in turns:
        answer, state = answerer().ask(turn, [run or made()], state=state)
    return answer


# -- the spread between the largest and the smallest -------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        "最慢的一步比最快的一步多花了多少分钟？", "最慢和最快的一步差多少秒", "step 时间最长和最短差多少",
        "step time 最大最小相差多少", "how much longer did the slowest step take than the fastest?",
        "difference between the slowest and the fastest step", "gap between the longest and shortest step time",
        "by how much does the slowest step exceed the fastest?", "spread of the step time",
        "最快的一步比最慢的一步快了多少", "how far apart are the slowest and the fastest step",
    ],
)  # fmt: skip
def test_extreme_gap_tells_the_difference_and_both_ends(question: str) -> None:
    answer = ask(question, made())
    has(answer, "80", "160", "step 5", "step 9")
    assert answer.intent == "lookup"


def test_extreme_gap_asked_in_times_tells_the_ratio() -> None:
    has(ask("how many times longer is the slowest step than the fastest", made()), "2 times")
    has(ask("最慢的一步是最快一步的几倍，最长和最短差几倍", made()), "2")


def test_extreme_gap_of_one_step_is_left_to_the_key_of_the_spread() -> None:
    answer = ask("spread of the step time in step 9", made())
    assert "range" not in answer.answer.split("\n")[0]


# -- several clauses ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("between which two steps did the response length jump the most, and is the gradient calmer afterwards?",
         ("step 21", "Less noisy", "actor/grad_norm")),
        ("回答长度哪一步跳得最多，之后梯度有没有安静下来？", ("step 21", "波动变小", "actor/grad_norm")),
        ("entropy 一共下降了百分之几，主要发生在哪一段？", ("-88", "降得最快的一段")),
        ("by what percentage did entropy drop, and mostly when?", ("-88", "fell most from")),
        ("which step was slowest, and what was the entropy there?", ("step 9", "0.72")),
        ("哪一步最慢，那一步熵是多少", ("step 9", "0.72")),
        ("when did the reward peak, and how long were the answers then?", ("step 40", "840")),
        ("how often is grad norm above 0.6, and what is the largest?", ("10 of 40", "0.7")),
        ("what's the highest reward and what's the mean step time?", ("0.5", "116")),
        ("1) reward now 2) entropy now 3) lowest grad norm", ("0.5", "0.1", "0.3")),
    ],
)  # fmt: skip
def test_clauses_are_each_answered(question: str, told: tuple[str, ...]) -> None:
    has(ask(question, made()), *told)


@pytest.mark.parametrize("question", ["reward 最高多少，在哪步", "what is the highest reward, and at which step?"])
def test_clause_that_asks_nothing_new_adds_nothing(question: str) -> None:
    answer = ask(question, made())
    assert answer.answer.count("0.5") == 1
    assert "not understood" not in answer.answer
    assert "没有看懂" not in answer.answer


def test_clause_that_nobody_understands_is_said() -> None:
    answer = ask("how much longer did the slowest step take than the fastest, and what about the frobnication?", made())
    assert "80" in answer.answer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is the mean and max of kl", 0), ("entropy and kl at step 3", 0), ("几张卡，一步多久，吞吐多少", 3),
        ("which step was slowest, and what was the kl there", 2), ("reward 涨了吗", 0), ("熵多少，为什么", 2),
    ],
)  # fmt: skip
def test_asking_counts_the_clauses_that_ask(text: str, found: int) -> None:
    assert len(clauses.asking(text)) == found


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("is it calmer afterwards", "is it calmer after step 7"),
        ("what was the kl there", "what was the kl  at step 7 "),
        ("之后涨了吗", "step 7 之后涨了吗"), ("那时回答多长", "step 7 回答多长"), ("after step 3", "after step 3"),
        ("and before that", "and before step 7"), ("what is the kl", "what is the kl"),
    ],
)  # fmt: skip
def test_pointed_tells_the_step_that_is_meant(clause: str, said: str) -> None:
    assert pointed(clause, 7) == said
    assert pointed(clause, None) == clause


def test_pointed_span_leaves_a_single_step_alone() -> None:
    assert pointed_span("那之前的均值呢", 26) == "step 26 之前的均值呢"
    assert pointed_span("那之后呢", 26) == "那之后呢"
    assert pointed_span("what was it there on average", 26) == "what was it there on average"


# -- how a metric went -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    ["after which step does entropy stay below 0.5 for good?", "entropy 从哪步起一直低于 0.5",
     "from which step on is entropy below 0.5 until the end"],
)  # fmt: skip
def test_for_good_tells_the_step_from_which_it_holds(question: str) -> None:
    has(ask(question, made()), "21", "0.48")


@pytest.mark.parametrize(
    "question", ["by what step had half of the entropy drop happened?", "entropy 降幅的一半是在哪步完成的"]
)
def test_share_of_way_tells_the_step(question: str) -> None:
    has(ask(question, made()), "step 21", "50")


@pytest.mark.parametrize(
    "question",
    ["number of steps where reward went up compared with the step before", "reward 比上一步涨的有几步"],
)
def test_moves_are_counted(question: str) -> None:
    has(ask(question, made()), "39")


@pytest.mark.parametrize("question", ["response length jumped at 21: by how much", "回答长度在第 21 步涨了多少"])
def test_change_at_a_step_is_told_from_the_value_before(question: str) -> None:
    has(ask(question, made()), "301")


@pytest.mark.parametrize(
    "question", ["reward: start, best, end", "reward first / lowest / last", "reward 开头、最高、最后"]
)
def test_ends_and_extremes_stand_in_one_sentence(question: str) -> None:
    has(ask(question, made()), "0.11", "0.5")


@pytest.mark.parametrize("question", ["is the gradient calmer after step 20?", "20 步以后梯度更稳了吗"])
def test_noisiness_compares_before_and_after_a_step(question: str) -> None:
    answer = ask(question, made())
    has(answer, "0.283", "0.0141")


def test_noisiness_in_percent_is_relative_to_the_median() -> None:
    has(ask("how stable is grad norm, in percent", made()), "%")


# -- steps and limits in other words -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("reward the step after 20", "0.31"), ("reward ten steps ago", "0.4"),
        ("reward 5 steps before the end", "0.45"),
        ("reward two thirds of the way through", "0.37"), ("reward on the last but two step", "0.48"),
        ("reward @ setp 12", "0.22"), ("reward at the first log line", "0.11"), ("20 步的下一步 reward 多少", "0.31"),
    ],
)  # fmt: skip
def test_step_in_other_words_is_read(question: str, value: str) -> None:
    has(ask(question, made()), value)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many steps have a reward over a quarter", "25 of 40"), ("reward 超过四分之一的有几步", "25"),
        ("when's the reward first past 0.3", "step 21"), ("steps slower than 125s, how many", "21"),
        ("how many different values does the update time take", "40"), ("mean reward since 31", "0.455"),
        ("the three slowest steps", "step 9"), ("哪 3 步最慢", "step 9"), ("max reward until 20", "0.3"),
    ],
)  # fmt: skip
def test_limit_in_other_words_is_read(question: str, told: str) -> None:
    has(ask(question, made()), told)


def test_slip_of_step_is_mended_before_a_number_alone() -> None:
    assert mended("setp 41 nad 42") == "step 41 and 42"
    assert normalised("september 3").startswith("september")


def test_two_parts_set_against_each_other_are_two_windows() -> None:
    has(ask("mean generate time up to step 20 against step 21 onwards", made()), "60", "90")


@pytest.mark.parametrize(
    "question",
    [
        "what if we doubled the batch size?",
        "要是把 lr 减半，熵会怎样",
        "suppose I halve the learning rate, what happens to entropy?",
    ],
)
def test_hypothetical_is_said_to_be_no_matter_of_the_log(question: str) -> None:
    answer = ask(question, made())
    assert (answer.intent, answer.verdict.code) == ("advice", "insufficient_data")


@pytest.mark.parametrize("question", ["how many minutes longer are steps now than at the beginning?"])
def test_two_steps_are_told_with_their_difference(question: str) -> None:
    has(ask(question, made()), "+30")


# -- conversations -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("entropy at step 10", "and its average before that?"), "0.8"),
        (("第 10 步熵多少", "那之前的均值呢"), "0.8"),
        (("reward at 10", "no wait, 12"), "0.22"),
        (("best reward?", "and the worst?", "how far apart are they"), "0.39"),
        (("was the reward ever below 0.2", "how often"), "9 of 40"),
        (("was the reward ever below 0.2", "when was the last time"), "step 9"),
        (("longest response", "shortest"), "21 tokens"),
        (("length at step 30", "no, the longest one"), "1,660"),
        (("time per step at 10", "and at 40", "which stage is responsible for the increase"), GEN),
        (("生成最慢的是哪步", "它的前一步花了多久"), GEN),
        (("lowest entropy", "对应的 reward 呢"), "0.5"),
        (("compare step 10 and 20", "what about 30 and 40"), "step 30"),
    ],
)  # fmt: skip
def test_follow_up_points_to_what_was_told(turns: tuple[str, ...], told: str) -> None:
    has(talk(*turns), told)


def test_follow_up_that_leaves_training_is_out_of_scope() -> None:
    assert talk("reward trend?", "ok, unrelated: which laptop should I buy").intent == "out_of_scope"


# -- a judgement first, numbers after it -------------------------------------------------------------------------------
KL = "actor/kl_loss"


@lru_cache(maxsize=1)
def blown() -> Run:
    """A KL that leaves its range at step 31, and is largest at step 45."""
    return run_of(
        {
            step: {KL: 0.002 + 0.0001 * (step % 4) + (2.0 + 0.05 * (step % 6) if step > 30 else 0.0)
                   + (4.0 if step == 45 else 0.0), ENTROPY: 0.5 + 0.01 * (step % 3), REWARD: 0.4 + 0.02 * (step % 5),
                   LENGTH: 700.0 + step % 7, GRAD: 0.5 + 0.02 * (step % 3)}
            for step in range(1, 61)
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "kl_loss 爆了吗，几步开始的，最大多少",
        "kl_loss 崩了没 啥时候开始的 最大到多少，在哪步",
        "kl_loss 有没有问题？从第几步开始的？最大多少？",
    ],
)
def test_a_judgement_and_numbers_are_all_answered_first(question: str) -> None:
    answer = ask(question, blown())
    leads = [line for line in answer.answer.split("\n\n") if line.startswith("**")]
    assert answer.verdict.code in {"warning", "critical"}
    assert leads[0].startswith("**不正常")
    assert "step 31" in leads[1]
    assert "step 45" in leads[2]
    assert f"{float(blown().value(KL, 45) or 0):.2f}" in leads[2]
    assert answer.grounding.unsupported == ()


def test_a_judgement_leads_with_the_finding_of_the_metric_asked_about() -> None:
    assert "KL" in ask("kl_loss 正常吗，最大多少", blown()).answer.split("\n\n")[0]


@pytest.mark.parametrize("question", ["熵在掉吗，最低多少", "actor/entropy 一直在降吗 最低到多少"])
def test_a_course_asked_before_an_extreme_is_told_before_it(question: str) -> None:
    answer = ask(question, made())
    assert "下降" in answer.answer.split("\n\n")[0]
    assert answer.answer.count("最小值是 0.1，在 step 40") == 1


@pytest.mark.parametrize(
    ("spoken", "meant"),
    [("奖励最负到多少", "奖励最低到多少"), ("the most negative reward", "the lowest reward"),
     ("几步开始崩的", "第几步开始崩的"), ("训了十几步开始崩的", "训了十几步开始崩的"), ("最负责的人", "最负责的人")],
)  # fmt: skip
def test_spoken_forms_are_read_as_the_plain_words(spoken: str, meant: str) -> None:
    assert normalised(spoken) == meant
