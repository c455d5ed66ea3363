"""Chinese questions with English verbs, qualities and words of asking: they get the answer of the Chinese question."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.mixed import unmixed
from assistant.ask.spoken import as_written
from assistant.ask.wording import language_asked, without_language
from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, column
from tests.ask.support import answerer

SCORE, ENTROPY, GRAD, KL = "critic/score/mean", "actor/entropy", "actor/grad_norm", "actor/kl_loss"
VAL, GEN, STEP = "val-core/math500/acc/mean@4", "timing_s/gen", "timing_s/step"


@lru_cache(maxsize=1)
def whole() -> Run:
    """Forty steps with a validation at every tenth; a share of an hour is generation."""
    table = {}
    for step in range(1, 41):
        row = {
            SCORE: round(0.3 + 0.01 * step, 4), ENTROPY: round(0.9 - 0.01 * step, 4), KL: round(0.001 * step, 5),
            GRAD: round(0.4 + 0.03 * (step * 7 % 11), 4), GEN: 40.0 + step % 5, STEP: 60.0 + step % 5,
            "timing_s/reward": 2.0 + 0.01 * step, "timing_s/update_actor": 15.0,
            "perf/mfu/actor": round(0.3 + 0.001 * step, 4), "perf/mfu/critic": round(0.2 + 0.001 * step, 4),
            "training/rollout_probs_diff_mean": 0.002, "training/rollout_probs_diff_std": round(0.01 + 1e-4 * step, 5),
        }  # fmt: skip
        if step % 10 == 0:
            row[VAL] = round(0.4 + 0.004 * step, 4)
        table[step] = row
    return run_of(table)


def answered(question: str) -> Answer:
    return ask(question, whole())


@pytest.mark.parametrize(
    ("mixed", "chinese"),
    [
        # how a value goes
        ("entropy 是一直 decline 吗", "entropy 是一直降吗"),
        ("entropy 是一直 going down 吗", "entropy 是一直降吗"),
        ("score 还在往 up 走吗", "score 还在往涨走吗"),
        ("score up 了多少", "score 涨了多少"),
        ("score increased 了多少", "score 涨了多少"),
        ("entropy 上升了 how much", "entropy 上升了多少"),
        ("entropy drop 了几 percent", "entropy 掉了百分之几"),
        ("训练 stable 吗", "训练稳定吗"),
        ("训练 stable 不 stable", "训练稳定吗"),
        ("kl high 吗", "kl 高吗"),
        ("entropy 从哪步 begin 降的", "entropy 从哪步开始降的"),
        # what is to be done
        ("lr 要不要 decrease", "lr 要不要调小"),
        ("需要 reduce lr 吗", "需要调小 lr 吗"),
        ("该不该 increase batch size", "该不该调大 batch size"),
        ("kl 太大怎么 deal with", "kl 太大怎么解决"),
        ("能拿去 release 吗", "能拿去上线吗"),
        ("要不要 terminate 这个 run", "要不要停掉这个 run"),
        # windows, steps and limits
        ("recent 10 步 grad norm 均值", "最近10步 grad norm 均值"),
        ("latest 10 个 step 的 grad norm 均值", "最近 10 步的 grad norm 均值"),
        ("initial 10 个 step 的 grad norm 均值", "前 10 步的 grad norm 均值"),
        ("step 20 after，entropy 的最大值", "step 20 之后,entropy 的最大值"),
        ("哪个 step 的 grad norm 最 small", "哪步的 grad norm 最低"),
        ("entropy 的 lower bound 到哪", "entropy 的下限到哪"),
        # what is asked
        ("有没有什么 unusual 的", "有没有什么异常的"),
        ("report 一下 step 30 的 score", "看一下 step 30 的 score"),
        ("变慢的 root cause 是什么", "变慢的原因是什么"),
        ("gen take 了 step 的百分之几", "gen 花了 step 的百分之几"),
        ("step 30 actor 和 critic 的 mfu 分别给下", "step 30 actor mfu 和 critic mfu 分别给下"),
        ("怎么就 slow 了", "怎么就变慢了"),
        ("step 20 之后 why slow", "step 20 之后为什么变慢了"),
        ("bottleneck 是 what", "bottleneck 是什么"),
        ("val 什么时候 start drop 的", "val 什么时候开始掉的"),
        ("val 从哪步 start going down", "val 从哪步开始降"),
        ("step 5 到 15 entropy decrease 多少", "step 5 到 15 entropy 降了多少"),
        ("total steps 是几", "总步数是几"),
        ("lr change 了吗", "lr 变了吗"),
        ("log complete 吗", "log 完整吗"),
    ],
)
def test_half_english_question_is_answered_as_the_chinese_one(mixed: str, chinese: str) -> None:
    one, other = answered(mixed), answered(chinese)
    assert (one.language, one.intent, one.slots, one.answer) == ("zh", other.intent, other.slots, other.answer)


@pytest.mark.parametrize(
    "question",
    ["latest 10 个 step 的 grad norm 均值", "recent 10 步的平均 grad norm", "past 10 个 step grad norm 平均多少"],
)
def test_latest_steps_are_a_window_and_no_step_of_that_number(question: str) -> None:
    last = column("actor/grad_norm", 71, 80)
    answer = ask(question)
    assert answer.slots.op == "mean"
    assert answer.slots.steps.kind == "last_n"
    assert f"{sum(last.values()) / len(last):.3g}" in answer.answer


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("训练得稳定吗", "health"),
        ("训练稳不稳定", "health"),
        ("怎么就慢了", "bottleneck"),
        ("哪个部分慢了", "bottleneck"),
        ("训到哪个 step 了", "lookup"),
        ("score 打到 1.0 了，可以拿去 deploy 不", "advice"),
        ("再 train 到 step 200 的话 val 有希望 reach 0.9 不", "forecast"),
        ("val 掉了，是不是 reward hacking", "health"),
        ("score 涨 val 掉，这算 length hacking 吗", "health"),
        ("grad norm 快到 0 了，这算 converge 了吧", "health"),
        ("算 reward 花的时间 long 吗", "bottleneck"),
        ("prompts per step 是几", "derive"),
        ("一句话 explain GAE", "define"),
        ("val 要是继续 train 100 个 step 能到几", "forecast"),
    ],
)
def test_half_english_question_asks_for_its_operation(question: str, intent: str) -> None:
    assert answered(question).intent == intent


@pytest.mark.parametrize(
    ("question", "metrics", "steps"),
    [
        ("val 最后一次相比第一次 better 了吗", (VAL,), (10, 40)),
        ("最后一次 val 和第一次比变好了吗", (VAL,), (10, 40)),
        ("score 从 step 5 走到 step 20 变了多少", (SCORE,), (5, 20)),
        ("actor 和 critic 的 mfu，step 30 各多少", ("perf/mfu/actor", "perf/mfu/critic"), (30,)),
        ("step 30 math500 的 final score 是几", (VAL,), (30,)),
    ],
)
def test_half_english_question_names_its_metrics_and_steps(
    question: str, metrics: tuple[str, ...], steps: tuple[int, ...]
) -> None:
    slots = answered(question).slots
    assert (tuple(slots.metrics), tuple(slots.steps.values)) == (metrics, steps)


def test_limit_told_as_a_place_counts_what_is_there() -> None:
    answer = answered("有几次 eval 的 math500 在 0.5 以下")
    assert (answer.slots.op, answer.slots.metrics) == ("count", (VAL,))
    assert "有 2 个 step 低于 0.5" in answer.answer


@pytest.mark.parametrize(
    "question", ["gen 最高在哪步，多少秒", "gen 时间 peak 在哪个 step，几秒", "gen 最慢在哪步，是多少"]
)
def test_value_asked_for_after_the_step_is_no_question_of_its_own(question: str) -> None:
    answer = answered(question)
    assert answer.slots.metrics == (GEN,)
    assert "GPU" not in answer.answer
    assert "44 秒" in answer.answer


def test_key_is_no_part_of_what_is_said_beside_it() -> None:
    assert "rollout_probs_diff_std" in as_written("rollout_probs_diff_std 是对什么算的 std")
    answer = answered("rollout_probs_diff_std 是对什么算的 std")
    assert (answer.intent, answer.slots.metrics) == ("define", ("training/rollout_probs_diff_std",))


@pytest.mark.parametrize(
    "text",
    [
        "show 熵 at step 5",
        "熵 drop at step 5",
        "entropy drop 5 times 了吗",
        "critic/up/down 是多少",
        "max_response_length 是多少",
        "learning rate decay 是多少",
    ],
)
def test_english_phrases_within_chinese_stay(text: str) -> None:
    assert unmixed(text) == text


@pytest.mark.parametrize(
    ("text", "language", "rest"),
    [
        ("switch to English，step 60 的也说下", "en", "step 60 的也说下"),
        ("TL;DR，要英文的", "en", "TL;DR"),
        ("entropy trend，要中文的", "zh", "entropy trend"),
    ],
)
def test_language_asked_for_in_passing(text: str, language: str, rest: str) -> None:
    assert (language_asked(text), without_language(text)) == (language, rest)


def _turns(*turns: str) -> Answer:
    state, answer = None, None
    for turn in turns:
        answer, state = answerer().ask(turn, [whole()], state=state)
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("turns", "metric", "step"),
    [
        (("step 9 的 score", "那 24", "同一步 entropy 呢"), ENTROPY, 24),
        (("step 10 的 grad norm", "no no，要 entropy"), ENTROPY, 10),
    ],
)
def test_half_english_follow_up_keeps_the_step(turns: tuple[str, ...], metric: str, step: int) -> None:
    slots = _turns(*turns).slots
    assert (slots.metrics, slots.steps.values) == ((metric,), (step,))


def test_switch_of_language_with_another_step_keeps_the_metric() -> None:
    answer = _turns("gen time，step 30", "switch to English，step 31 的也说下")
    assert (answer.language, answer.slots.metrics, answer.slots.steps.values) == ("en", (GEN,), (31,))


def test_this_metric_is_the_one_just_told() -> None:
    answer = _turns("final val 是几", "这个 metric 什么意思")
    assert (answer.intent, answer.slots.metrics) == ("define", (VAL,))


@pytest.mark.parametrize(
    ("mixed", "chinese"),
    [
        ("score last 10 个点的平均", "score 最后 10 个点的平均"),
        ("entropy 最近 5 次 log 的平均", "entropy 最近 5 次的平均"),
        ("score 哪个 step 的 drop 最多", "score 哪一步掉得最多"),
        ("entropy double 了没", "entropy 翻倍了没"),
        ("score 和 entropy 是 together 涨的吗", "score 和 entropy 是一起涨的吗"),
        ("score 是不是 follow 着 entropy 涨", "score 是不是跟着 entropy 涨"),
        ("score 从哪步 stop improving 的", "score 从哪步不再上升的"),
        ("grad norm 从 peak 到 end 掉了百分之多少", "grad norm 从最高到最后掉了百分之多少"),
        ("entropy 跌到 0.6 below 的有几步", "entropy 低于 0.6 的有几步"),
        ("kl_loss 最后是最开始的 how many times", "kl_loss 最后是最开始的多少倍"),
        ("timing_s/gen 占 timing_s/step 的 fraction 平均多少", "timing_s/gen 占 timing_s/step 的比例平均多少"),
        ("step 10 的 score 是不是 outlier", "step 10 的 score 是不是异常值"),
        ("mfu/actor 和 mfu/critic 哪个 larger at step 20", "mfu/actor 和 mfu/critic 在 step 20 哪个更高"),
    ],
)
def test_a_mixed_wording_gets_the_answer_of_the_chinese_one(mixed: str, chinese: str) -> None:
    one, other = answered(mixed), answered(chinese)
    assert (one.intent, one.verdict.summary, one.slots.op) == (other.intent, other.verdict.summary, other.slots.op)
    assert one.verdict.code != "unknown_metric"


@pytest.mark.parametrize(
    "question",
    [
        "kl_loss 在 val peak 那步是几", "kl_loss 在验证最高的那步是多少", "验证最好那次的 kl_loss 是多少",
        "kl loss at the step with the best val",
    ],
)  # fmt: skip
def test_a_validation_may_only_tell_the_step(question: str) -> None:
    made = answered(question)
    assert {fact.value for fact in made.facts if fact.metric == KL and fact.kind == "value"} == {0.04}


@pytest.mark.parametrize("question", ["entropy always 0 吗", "entropy 一直 0 吗"])
def test_always_so_much_is_held_against_the_values(question: str) -> None:
    assert answered(question).verdict.summary.startswith(("不是", "没有"))


def test_the_first_and_last_steps_of_a_value_loss_are_steps_of_training() -> None:
    run = run_of(
        {
            step: {"critic/vf_loss": round(1.0 - 0.01 * step, 4)} | ({VAL: 0.5 + 0.001 * step} if step % 5 == 0 else {})
            for step in range(1, 41)
        }
    )
    made = ask("value loss 的 first 5 steps 和 last 5 steps 比", run)
    assert "0.97" in made.verdict.summary
    assert "0.62" in made.verdict.summary
