"""Follow-ups: what they change of the question before, and what they leave."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.ask.query import Query, State
from assistant.ask.understand import after, continued_language, language_of, understand
from assistant.knowledge import Resolver, library
from tests.ask.test_understand_wordings import agentic

from .support import answerer

RESOLVER = Resolver(library())


def last(*turns: str) -> Query:
    state: State | None = None
    for turn in turns:
        language = continued_language(turn, state, language_of(turn))
        query = understand(turn, RESOLVER, [agentic()], language=language, state=state)
        state = after(query, (), language)
    return query


@pytest.mark.parametrize(
    ("turns", "intent", "metrics", "steps", "op"),
    [
        (("step 2 的熵", "那 step 3 呢"), "lookup", ["actor/entropy"], ("single", 3), None),
        (("grad norm at step 4", "and entropy?"), "lookup", ["actor/entropy"], ("single", 4), None),
        (("kl 趋势", "reward 呢"), "trend", ["critic/rewards/mean"], ("none",), None),
        (("第 40 步梯度范数多少", "熵呢"), "lookup", ["actor/entropy"], ("single", 40), None),
        (("最近10步 entropy 均值", "reward 呢"), "lookup", ["critic/rewards/mean"], ("last_n", 10), "mean"),
        (("max reward over the last 10 steps", "min?"), "lookup", ["critic/rewards/mean"], ("last_n", 10), "min"),
        (("max reward over the last 10 steps", "and the last 20?"), "lookup", ["critic/rewards/mean"],
         ("last_n", 20), "max"),
        (("entropy at step 3", "next step?"), "lookup", ["actor/entropy"], ("single", 4), None),
        (("step 3 actor/grad_norm", "不是，我说的是 score 的"), "lookup", ["critic/score/mean"], ("single", 3), None),
        (("step 5 reward", "the same for entropy"), "lookup", ["actor/entropy"], ("single", 5), None),
        (("How should I read actor/grad_norm?", "How does critic/score/mean develop?"), "trend", ["critic/score/mean"],
         ("none",), None),
        (("is the run healthy?", "what is the learning rate"), "define", ["actor/lr"], ("none",), None),
        (("step 7 的 entropy 比 step 6 高吗", "entropy 是不是在塌缩"), "health", ["actor/entropy"], ("none",), None),
        (("分析 step 1", "那最后一步呢"), "explain", [], ("last",), None),
        (("分析 step 1", "和 step 3 比呢"), "compare", [], ("pair", 1, 3), None),
        (("kl 最近怎么样", "要紧吗"), "health", ["actor/kl_loss"], ("none",), None),
        (("grad norm 超过 0.5 的有几步", "超过 0.4 呢"), "lookup", ["actor/grad_norm"], ("all",), "count"),
        (("compare step 2 and 3", "and 5 vs 9"), "compare", [], ("pair", 5, 9), None),
        (("score at step 5", "what about 9", "how big is the difference"), "compare", ["critic/score/mean"],
         ("pair", 5, 9), None),
        (("第 5 步的熵", "第 9 步呢", "差多少"), "compare", ["actor/entropy"], ("pair", 5, 9), None),
        (("第 5 步的 score", "我要的是 grad norm，不是 score"), "lookup", ["actor/grad_norm"], ("single", 5), None),
        (("entropy at step 20", "and the one before that"), "lookup", ["actor/entropy"], ("single", 19), None),
        (("第 5 步的熵", "同一步的 grad norm"), "lookup", ["actor/grad_norm"], ("single", 5), None),
    ],
)  # fmt: skip
def test_follow_up_changes_what_it_says_and_keeps_the_rest(
    turns: tuple[str, ...], intent: str, metrics: list[str], steps: tuple[Any, ...], op: str | None
) -> None:
    query = last(*turns)
    assert query.intent == intent
    assert [m.key for m in query.mentions] == metrics
    assert (query.steps.kind, *query.steps.values) == steps
    assert query.op == op


@pytest.mark.parametrize(
    ("turns", "language", "depth", "follows"),
    [
        (("训练正常吗", "in English please"), "en", "normal", "language"),
        (("is the training healthy?", "用中文"), "zh", "normal", "language"),
        (("训练正常吗", "再详细点"), "zh", "detailed", "depth"),
        (("训练正常吗", "less words"), "zh", "brief", "depth"),
        (("训练正常吗", "为什么"), "zh", "detailed", "why"),
    ],
)
def test_follow_up_about_the_answer_asks_the_same_again(
    turns: tuple[str, ...], language: str, depth: str, follows: str
) -> None:
    query = last(*turns)
    assert (query.intent, query.language, query.depth, query.follows) == ("health", language, depth, follows)
    assert query.wording == turns[0]


@pytest.mark.parametrize(
    ("turns", "intent"),
    [
        (("entropy at step 3", "is the run healthy"), "health"),
        (("entropy at step 3", "用了几张卡"), "derive"),
        (("entropy at step 3", "tell me a joke"), "out_of_scope"),
    ],
)
def test_follow_up_question_of_its_own_takes_nothing(turns: tuple[str, ...], intent: str) -> None:
    query = last(*turns)
    assert (query.intent, query.mentions, query.steps.kind) == (intent, (), "none")


def test_follow_up_that_step_is_the_step_of_the_last_answer() -> None:
    run = agentic()
    best, state = answerer().ask("reward 最高是哪步", [run])
    step = next(fact.step for fact in best.facts if fact.kind == "value")
    answer, _ = answerer().ask("那一步的熵是多少", [run], state=state)
    assert answer.slots.steps.values == (step,)
    assert answer.slots.metrics == ("actor/entropy",)


def test_follow_up_other_run_is_asked_about() -> None:
    first, second = agentic().renamed(id="r0", name="a.log"), agentic().renamed(id="r1", name="b.log")
    _, state = answerer().ask("entropy in run A at step 30", [first, second])
    answer, _ = answerer().ask("and in B?", [first, second], state=state)
    assert {fact.run for fact in answer.facts} == {"r1"}
    assert answer.slots.metrics == ("actor/entropy",)


@pytest.mark.parametrize(
    ("question", "language"),
    [("what is the learning rate?", "en"), ("is the entropy low?", "en"), ("entropy?", "zh"), ("and entropy", "zh")],
)
def test_continued_language_of_a_whole_english_question_is_english(question: str, language: str) -> None:
    state = after(last("熵的趋势"), (), "zh")
    assert continued_language(question, state, language_of(question)) == language
