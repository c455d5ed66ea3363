"""A value or a course that a question takes for granted is held against the log before anything else is said."""

from __future__ import annotations

import pytest

from assistant.ask.supposed import supposed_in, values_in
from assistant.model import Run
from tests.analysis.support import run_of, training_step

from .support import answerer

STEPS = 40
ENTROPY, SCORE, CLIP = "actor/entropy", "critic/score/mean", "response_length/clip_ratio"


def run() -> Run:
    """Entropy from 0.60 down to 0.40, a clip ratio between 1 and 2 per cent, a score that falls until step 20."""
    table = {}
    for step in range(1, STEPS + 1):
        wobble = 0.002 * (step % 3 - 1)
        score = 0.6 - 0.01 * step if step <= 20 else 0.4 + 0.015 * (step - 20)
        table[step] = {
            **training_step(step), ENTROPY: 0.605 - 0.005 * step + wobble, CLIP: 0.015 + wobble, SCORE: score + wobble,
            "critic/rewards/mean": score + wobble,
        }  # fmt: skip
    return run_of(table)


def ask(question: str, log: Run | None = None) -> str:
    return answerer().ask(question, (log or run(),))[0].answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("entropy is above 2 at the end, is that a problem?", "not above 2"),
        ("clip ratio is over 20% by the last step, should I worry?", "not above 20%"),
        ("entropy collapsed to 0.01, should I add a bonus?", "not as low as 0.01"),
        ("why did the score go to zero?", "not as low as 0"),
        ("the entropy stays around 0.01, is that bad?", "not near 0.01 throughout"),
        ("at step 12 entropy is 3, is that normal?", "0.543 at step 12, not 3"),
        ("entropy 最后都超过 2 了，是不是太大了", "并不高于 2"),
        ("熵都掉到 0.01 了，怎么办", "没有 0.01 那么低"),
        ("得分怎么全是 0", "并非一直在 0 附近"),
        ("clip ratio 都 30% 了吧，是不是太高", "并不是 30%"),
        ("entropy 已经到 2.5 了，is that a problem?", "没有 2.5 那么高"),
    ],
)
def test_value_taken_for_granted_that_the_log_lacks_is_denied_first(question: str, said: str) -> None:
    first = ask(question).split("\n")[0]
    assert first.startswith(("**Not so", "**不是这样")), first
    assert said in first


@pytest.mark.parametrize(
    "question",
    [
        "entropy is 0.4 now, is that a problem?",
        "entropy is below 0.5 at the end, too low?",
        "熵都掉到 0.41 了，怎么办",
        "clip ratio 都 1.5% 了，正常吗",
        "score 都到 0.7 了，没问题吧",
    ],
)
def test_value_taken_for_granted_that_the_log_holds_is_not_denied(question: str) -> None:
    assert "Not so" not in ask(question)
    assert "不是这样" not in ask(question)


@pytest.mark.parametrize(
    "text",
    [
        "did         ever go above 2?", "when does         drop to 0.1?", "        什么时候超过 2",
        "if         is above 2, what should I do",
        "如果        超过 2 怎么办", "has         been above 2 at any step",
        "how many steps are above 2, is that a problem",
        "why is it at step 12", "第 12 步为什么掉了",
    ],
)  # fmt: skip
def test_question_after_a_value_takes_none_for_granted(text: str) -> None:
    assert supposed_in(text) is None


def test_very_long_text_is_read_in_no_time() -> None:
    text = "is above 1" * 10_000 + "?"
    assert supposed_in(text) is None or supposed_in(text) is not None
    assert len(values_in("在 1 附近" * 20_000)) < 200


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("I read that entropy should be between 0.8 and 1.2, mine is 0.4, is mine wrong?", "Not by that number"),
        ("the docs say entropy must stay above 1, but ours is 0.4?", "Not by that number"),
        ("听说 entropy 正常范围 1–10，我这个 0.4 是不是不对", "不能照那个数判断"),
        ("都说熵应该在 0.8~1.2，我这 0.4 正常吗", "不能照那个数判断"),
    ],
)
def test_range_from_hearsay_is_no_measure_and_takes_no_steps(question: str, first: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert answer.answer.startswith(f"**{first}")
    assert answer.slots.metrics == (ENTROPY,)
    assert answer.slots.steps.kind == "none"
    assert ("agrees with the log" in answer.answer) or ("与日志相符" in answer.answer)


def test_value_from_hearsay_that_is_not_the_logs_is_said_to_be_none() -> None:
    assert "is no value of the log" in ask("entropy should be between 0.8 and 1.2, mine is 5, is mine wrong?")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("why is the score falling after step 20?", "The log does not show a fall"),
        ("the score has been dropping since step 22, why?", "The log does not show a fall"),
        ("为什么得分从 step 22 开始一直跌", "日志没有显示 `critic/score/mean` 的下降"),
        ("score 为什么 22 步之后在 drop", "日志没有显示 `critic/score/mean` 的下降"),
    ],
)
def test_course_from_a_step_on_is_judged_over_that_stretch_alone(question: str, first: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert answer.answer.startswith(f"**{first}")
    assert answer.slots.steps.kind == "range"
    assert answer.slots.steps.values[-1] == STEPS


def test_course_from_a_step_on_that_is_there_is_told() -> None:
    first = ask("why is the score rising since step 22?").split("\n")[0]
    assert "from step 22 on" in first
    assert "rises" in first


def test_step_at_which_nothing_is_wrong_does_not_vouch_for_the_others() -> None:
    ratios = {step: {"loss": 0.1, "mean_ratio": 1.0 if step < 9 else 40.0 * 3 ** (step - 9)} for step in range(1, 13)}
    log = run_of(ratios, format="pairs", framework=None)
    text = ask("is mean_ratio normal at step 1?", log)
    assert "at this step" in text
    assert "nothing unusual over 12" not in text
    assert ask("mean_ratio 一直在 1 附近，没问题吧", log).startswith("**不是这样")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("entropy never went below 0.5, is that fine?", "past 0.5"),
        ("why did the score never get below 0.5?", "past 0.5"),
        ("熵从来没低于 0.5，是不是太高", "0.5 以下"),
    ],
)
def test_value_said_never_to_be_is_denied_with_how_often_it_was(question: str, said: str) -> None:
    first = ask(question).split("\n")[0]
    assert first.startswith(("**Not so", "**不是这样")), first
    assert said in first


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("score 最后是负的，没学到东西吧", "不对：step 40 的 `critic/score/mean` 是 0.7"),
        ("the score is negative at the end, is that bad?", "not negative"),
        ("得分一直是负的，正常吗", "并非一直为负"),
        ("score is stuck at 0, what is wrong?", "not near 0 throughout"),
        ("clip ratio 卡在 0，是不是有问题", "全程并不是 0"),
    ],
)
def test_sign_or_level_taken_for_granted_is_denied_and_is_no_step(question: str, said: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert said in answer.answer.split("\n")[0]
    assert answer.slots.steps.kind in {"none", "last"}


def test_number_that_another_metric_holds_by_chance_is_denied_all_the_same() -> None:
    log = run_of({step: {**training_step(step), ENTROPY: 0.5, "training/epoch": 3} for step in range(1, 31)})
    assert ask("entropy is 3, is that normal?", log).startswith("**Not so")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("since the entropy became NaN around step 20, should I restart?", "**Not so, there is no `NaN`"),
        ("熵变成 nan 了，要不要重训", "**没有 `NaN`"),
    ],
)
def test_value_that_is_said_to_be_no_number_is_denied_where_all_are_finite(question: str, first: str) -> None:
    assert ask(question).startswith(first)


def test_value_that_is_no_number_is_not_denied() -> None:
    log = run_of({step: {**training_step(step), ENTROPY: 0.5 if step < 20 else float("nan")} for step in range(1, 31)})
    assert "there is no `NaN`" not in ask("since the entropy became NaN around step 20, should I restart?", log)


@pytest.mark.parametrize(
    "question", ["score is zero since a while. is the model broken?", "score 归零了，怎么办", "entropy is 1e-3, ok?"]
)
def test_numbers_in_words_and_powers_are_read(question: str) -> None:
    assert ask(question).startswith(("**Not so", "**不是这样"))


@pytest.mark.parametrize("question", ["GAE 是个啥", "gamma 是什么意思", "what is lora?"])
def test_meaning_of_a_setting_is_no_question_after_its_value(question: str) -> None:
    assert "启动配置" not in ask(question).split("\n")[0]
    assert "launch configuration" not in ask(question).split("\n")[0]


@pytest.mark.parametrize(
    "question", ["你刚才说熵是 0.5，不对吧？step 30 到底多少", "you said entropy should be 0.5, at step 30 what is it?"]
)
def test_what_the_answerer_is_said_to_have_said_is_no_hearsay(question: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert answer.slots.steps.values == (30,)
    assert "0.45" in answer.answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("entropy stayed above 0.5 the whole run, right?", "0.405 at step 40, not above 0.5"),
        ("熵一直低于 0.5，很稳吧", "不对：`actor/entropy` 在 0.405（step 40）与 0.6（step 1）之间"),
        ("entropy at step 12 was 0.9, right?", "Not 0.9"),
    ],
)
def test_value_said_of_every_step_is_held_against_the_farthest(question: str, said: str) -> None:
    answer = ask(question)
    assert said in answer.split("\n")[0]
    assert sum(answer.count(denial) for denial in ("Not 0.9", "Not so", "**不是", "**不对")) == 1


def test_value_that_every_step_has_is_not_denied() -> None:
    assert "Not so" not in ask("entropy stayed above 0.3 the whole run, right?")


@pytest.mark.parametrize("question", ["the run diverged, what should I change?", "模型崩了，怎么救"])
def test_collapse_of_a_run_in_which_no_rule_fires_is_denied_before_advice(question: str) -> None:
    log = run_of({step: training_step(step) for step in range(1, 31)})
    assert ask(question, log).startswith(("**The log does not show that", "**日志没有显示这样的事"))
    assert not ask("what should I do if it diverged?", log).startswith("**The log does not show that")


@pytest.mark.parametrize("question", ["why did validation get worse after step 1?", "为什么验证从 step 1 开始一直掉"])
def test_fall_of_a_metric_with_one_value_is_shown_by_nothing(question: str) -> None:
    table = {step: {**training_step(step)} for step in range(1, 4)}
    first = ask(question, run_of({0: {"val-core/math500/acc/mean@1": 0.23}, **table})).split("\n")[0]
    assert "one value" in first or "只有一个值" in first
