"""The same questions in quite other words: what is asked, of which steps, and whose run."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.conditions import condition_in
from assistant.ask.intents import TOPIC_INTENTS
from assistant.ask.limits import threshold_in
from assistant.ask.runs_named import runs_named
from assistant.ask.scope import scope_in
from assistant.ask.understand import language_of, parts, understand
from assistant.ask.wording import normalised
from assistant.knowledge import Resolver, library
from assistant.model import Run
from tests.analysis.support import long_run, run_of, training_step

from .support import answerer
from .test_understand_wordings import agentic

RESOLVER = Resolver(library())


@lru_cache(maxsize=1)
def cliff() -> Run:
    """A score that falls at one step, so that no rule has a name for it; a ratio that grows without bound."""
    table = {
        step: {
            **training_step(step),
            "test/score": round(0.5 + 0.002 * (step % 3) if step < 13 else 0.1 + 0.002 * (step % 3), 4),
            "ratio": 2.0**step,
        }
        for step in range(1, 25)
    }
    return run_of(table)


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        # two moves and their effect
        ("batch 翻倍有没有用", "advice"),
        ("把 max response length 加大一倍，有帮助吗", "advice"),
        ("lr 5e-7 → 2e-6，这样改合适吗", "advice"),
        ("is it time to cut the learning rate", "advice"),
        ("what is the one most important change", "advice"),
        ("if you could keep only one thing to fix, which", "advice"),
        ("each step takes nine minutes and eval still rises; carry on?", "advice"),
        ("tool 等得太 long 了，怎么 solve", "advice"),
        ("该从哪一步恢复训练", "advice"),
        ("which step should I restart from", "advice"),
        # does it matter: no word of what to do
        ("step 12 的熵比 step 11 低，要不要紧", "health"),
        # steps against steps
        ("put step 5 beside step 12", "compare"),
        ("what moved the most between step 5 and step 12", "compare"),
        ("biggest changes from step 5 to step 12", "compare"),
        ("step 5 到 step 12 哪些指标炸了", "compare"),
        ("step 5 和 12，恶化最厉害的指标", "compare"),
        # where time goes
        ("time 都 spent 在哪些阶段", "bottleneck"),
        ("每步 time 花在哪了", "bottleneck"),
        ("who is waiting for whom here", "bottleneck"),
        ("which worker is idle because of the other", "bottleneck"),
        ("step time keeps climbing, why", "bottleneck"),
        # what the log gives away
        ("number of prompts in a step", "derive"),
        ("每个问题的 sample 数", "derive"),
        ("bs and n per question", "derive"),
        ("每步几条，每组几条", "derive"),
        ("what is the limit on completion length in the setup", "derive"),
        ("number of graphics cards", "derive"),
        ("# of GPUs", "derive"),
        ("what is the size of each group", "derive"),
        ("keep going or cancel?", "advice"),
        ("abort it or carry on", "advice"),
        # what is to come
        ("score 到 0.95 还差几步", "forecast"),
        ("距离 0.95 还剩多少步，score", "forecast"),
        # all of it
        ("sum up what is in this log", "explain"),
        ("go over step 5 metric by metric", "explain"),
        ("step 5 的指标挨个讲", "explain"),
    ],
)
def test_understand_other_words_mean_the_same_intent(question: str, intent: str) -> None:
    query = understand(question, RESOLVER, [agentic()], language=language_of(question))
    topic = next((name for name in TOPIC_INTENTS if name in query.topics), None)
    assert (TOPIC_INTENTS[topic] if topic else query.intent) == intent


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("how many steps 的 gen 超过 200 秒", "timing_s/gen"),
        ("count steps with the generate phase shorter than 250 seconds", "timing_s/gen"),
        ("有几步的更新策略超过 100 秒", "timing_s/update_actor"),
    ],
)
def test_understand_count_of_a_stage_is_of_the_stage(question: str, key: str) -> None:
    query = understand(question, RESOLVER, [agentic()], language="en")
    assert [mention.key for mention in query.mentions] == [key]
    assert query.op == "count"


@pytest.mark.parametrize(
    "question", ["B 出了哪些 A 没出的问题", "compare B with A", "B or A, which is better", "run 2 vs run 1"]
)
def test_runs_named_by_letters_keep_the_letters_order(question: str) -> None:
    runs = (run_of({1: {"a": 1.0}}, id="r0", name="x.log"), run_of({1: {"a": 1.0}}, id="r1", name="y.log"))
    assert runs_named(question, runs)[1] == (0, 1)


def test_runs_named_by_files_keep_the_order_named() -> None:
    runs = (run_of({1: {"a": 1.0}}, id="r0", name="x.log"), run_of({1: {"a": 1.0}}, id="r1", name="y.log"))
    assert runs_named("y.log 对比 x.log", runs)[1] == (1, 0)


def test_compare_runs_named_backwards_are_called_as_the_question_calls_them() -> None:
    worse = {step: {**training_step(step), "critic/score/mean": 0.9 - 0.02 * step} for step in range(1, 31)}
    better = {step: {**training_step(step), "critic/score/mean": 0.3 + 0.02 * step} for step in range(1, 31)}
    runs = (run_of(better, id="r0", name="better.log"), run_of(worse, id="r1", name="worse.log"))
    made, _ = answerer().ask("B 跟 A 比，critic/score/mean 好还是差", runs)
    assert made.verdict.code == "regressed"
    assert "B 好于 A" not in made.answer


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("得分比 0.1 还低的步", ("below", 0.1)),
        ("比 3 分钟还久的有几步", ("above", 180.0)),
        ("有多少步的熵比 0.5 更高", ("above", 0.5)),
        ("到 0.75 还差几步", ("above", 0.75)),
        ("距离 0.75 还剩几步", ("above", 0.75)),
    ],
)
def test_threshold_in_other_words_is_the_limit(text: str, limit: tuple[str, float]) -> None:
    assert threshold_in(text) == limit


@pytest.mark.parametrize("text", ["step 40 比 step 20 还高", "还高多少", "比第 3 步更慢"])
def test_threshold_in_words_without_a_limit_is_none(text: str) -> None:
    assert threshold_in(text) is None


@pytest.mark.parametrize("text", ["higher than that of 0-19", "the mean of 0 to 19"])
def test_condition_in_range_from_zero_is_no_zero(text: str) -> None:
    assert condition_in(text) is None


@pytest.mark.parametrize("text", ["go through step 2 slowly", "walk me through step 2", "please run through step 2"])
def test_scope_in_reading_through_a_step_is_no_part_of_the_run(text: str) -> None:
    assert scope_in(text, [1, 2, 3, 4]).whole


def test_scope_in_through_a_step_is_the_run_up_to_it() -> None:
    assert scope_in("the mean through step 2", [1, 2, 3, 4]).last == 2


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("the best against the last one", "the best against the last one"),
        ("what made step 4 so slow", "why was step 4 so slow"),
        ("it takes twice as long, what for?", "it takes twice as long, why?"),
    ],
)
def test_normalised_other_words_become_the_known_ones(typed: str, read: str) -> None:
    assert normalised(typed) == read


@pytest.mark.parametrize(
    "question",
    ["test/score right before it collapsed", "last test/score before the crash in it", "test/score 崩之前最后是多少"],
)
def test_before_a_collapse_of_the_metric_itself_is_before_its_largest_move(question: str) -> None:
    made, _ = answerer().ask(question, [cliff()])
    assert made.verdict.code == "answered"
    values = {fact.value for fact in made.facts if fact.metric == "test/score"}
    assert 0.5 in values
    assert 0.1 not in values


@pytest.mark.parametrize("more", ["and 1000?", "那 1000 呢", "what about 1000"])
def test_follow_up_of_a_large_limit_is_another_limit(more: str) -> None:
    _, state = answerer().ask("when does ratio exceed 100 for the first time", [cliff()])
    made, _ = answerer().ask(more, [cliff()], state=state)
    assert made.slots.op == "first_crossing"
    assert any(fact.step == 10 for fact in made.facts)


@pytest.mark.parametrize("more", ["5 呢", "那 5 呢", "and 5?"])
def test_follow_up_of_a_small_limit_is_another_limit_of_its_size(more: str) -> None:
    rising = run_of({step: {"actor/grad_norm": 0.5 * step} for step in range(1, 21)})
    first, state = answerer().ask("grad_norm 什么时候第一次超过 2", [rising])
    made, _ = answerer().ask(more, [rising], state=state)
    assert (first.slots.op, made.slots.op) == ("first_crossing", "first_crossing")
    assert any(fact.step == 11 and fact.value == 5.5 for fact in made.facts)


def test_time_left_to_a_step_named_counts_the_steps_to_it() -> None:
    made, _ = answerer().ask("还要多久能到 40 step", [long_run()])
    last = long_run().distinct_steps[-1]
    assert made.intent == "forecast"
    assert any(fact.value == 40 - last for fact in made.facts)


def test_last_evaluation_against_the_one_before_takes_the_last_two() -> None:
    table = {step: training_step(step) for step in range(1, 21)}
    for step in range(5, 21, 5):
        table[step]["val-core/a/acc/mean@4"] = 0.5 + step / 100
    run = run_of(table)
    made, _ = answerer().ask("最后一次验证比倒数第二次高了多少", [run])
    assert sorted(made.slots.steps.values) == [15, 20]


@pytest.mark.parametrize("question", ["how many prompts per step", "derive the number of prompts in a step"])
def test_prompts_of_a_logged_batch_are_its_groups(question: str) -> None:
    table = {step: training_step(step) for step in range(1, 13)}
    for row in table.values():
        row.pop("perf/total_num_tokens", None)
        row["system/batch_size"] = 64
    made, _ = answerer().ask(question, [run_of(table)])
    assert made.intent == "derive"
    assert any(fact.value == 8 for fact in made.facts)


def test_causes_of_a_zero_that_ask_where_to_look_stay_advice() -> None:
    table = {
        step: {**training_step(step), "critic/score/mean": 0.0, "critic/rewards/mean": 0.0} for step in range(1, 21)
    }
    made, _ = answerer().ask("critic/score/mean is stuck at zero, where do I look first?", [run_of(table)])
    assert made.intent == "advice"


@pytest.mark.parametrize("question", ["critic 训了没有？从哪里能看出来", "is a critic trained? how can you tell"])
def test_parts_what_the_answer_is_told_from_is_no_question_of_its_own(question: str) -> None:
    assert parts(question) == [question]


def test_runs_named_by_ordinals_of_which_one_stands_alone_are_both() -> None:
    runs = (run_of({1: {"a": 1.0}}, id="r0", name="x.log"), run_of({1: {"a": 1.0}}, id="r1", name="y.log"))
    assert runs_named("who is higher at the end, first or second run?", runs)[1] == (0, 1)
