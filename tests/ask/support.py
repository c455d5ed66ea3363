"""Logs and questions for the tests of answers, and the check of a text as the engine makes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from assistant.ask import Answerer
from assistant.ask.engine import card_text
from assistant.ground import Checked, check
from assistant.knowledge import Resolver, library
from assistant.model import Answer, Mention, Run
from assistant.parsing import parse_text

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "verl-retool-steps-0-3.log"

#: The same question in both languages; all can be answered from the example log and from a longer run.
PAIRS = (
    ("解读 step 0 的测试结果", "interpret the test results of step 0"),
    ("如何解读 step 1，逐条", "explain step 1 line by line"),
    ("跟 step 0 相比，step 2 有改进吗", "did step 2 improve on step 0?"),
    ("step 3 比 step 2 好吗", "is step 3 better than step 2?"),
    ("ppo_kl 怎么理解", "what does ppo_kl mean?"),
    ("用了多少张卡", "how many GPUs were used?"),
    ("batch 多大", "how big is the batch?"),
    ("为什么 advantage 最大是 3.75", "why is the max advantage 3.75?"),
    ("step 2 的时间都花在哪了", "where does the time go at step 2?"),
    ("actor/entropy 的趋势", "trend of actor/entropy over time"),
    ("actor/grad_norm 在 step 2 是多少", "value of actor/grad_norm at step 2"),
    ("actor/entropy 最大值是多少", "give me the maximum of actor/entropy"),
    ("actor/grad_norm 的平均值是多少", "give me the average of actor/grad_norm"),
    ("actor/entropy 第一次低于 0.155 是哪一步", "when was actor/entropy first below 0.155"),
    ("训练正常吗", "is everything normal?"),
    ("接下来该怎么调参", "what should I change?"),
    ("深入分析 step 2", "analyze step 2 in depth"),
    ("今天天气怎么样", "what is the weather like today?"),
    ("step 99 的 actor/entropy 是多少", "value of actor/entropy at step 99"),
    ("actor/no_such_thing 是什么意思", "what does actor/no_such_thing mean?"),
    ("日志完整吗", "is the log complete?"),
    ("训练重启过吗", "was the run restarted?"),
    ("整个训练一共跑了多久", "how long did the whole run take?"),
    ("从哪步开始出问题的", "when did it go wrong?"),
    ("timing_s/gen 占一步的多少", "what share of the step does timing_s/gen take?"),
    ("是 on-policy 的吗", "is it on-policy?"),
    ("多久验证一次", "how often is it validated?"),
    ("actor/entropy 的最大值和最小值", "max and min of actor/entropy"),
    ("critic/score/mean 和 critic/rewards/mean 一样吗", "are critic/score/mean and critic/rewards/mean the same?"),
    ("要不要降 learning rate", "should I lower the learning rate?"),
    ("用的什么框架", "which framework is this?"),
    ("actor/entropy 后半程和前半程比", "actor/entropy: second half against the first half"),
    ("有几步的 actor/grad_norm 是 NaN", "how many steps have a NaN actor/grad_norm"),
)


@lru_cache(maxsize=1)
def answerer() -> Answerer:
    return Answerer(Resolver(library()))


def conversation(run: Run, *turns: str) -> Answer:
    """The last answer of a conversation about a run."""
    state = None
    for turn in turns:
        answer, state = answerer().ask(turn, (run,), state=state)
    return answer


def first_line(answer: Answer) -> str:
    """The first line of an answer, with the marks of emphasis off."""
    return answer.answer.split("\n", 1)[0].strip("*- ")


def holds(answer: Answer, number: float) -> bool:
    """Whether a number is among the facts of an answer."""
    values = [fact.value for fact in answer.facts] + [fact.delta for fact in answer.facts]
    return any(isinstance(value, (int, float)) and math.isclose(value, number, rel_tol=1e-9) for value in values)


@lru_cache(maxsize=1)
def example_runs() -> tuple[Run, ...]:
    return parse_text(EXAMPLE.read_text(encoding="utf-8")).runs


@lru_cache(maxsize=1)
def _card_names() -> frozenset[str]:
    names = {name for card in library() for name in (*card.keys, card.id)}
    names |= {f"{kind}@{n}" for kind in ("mean", "best", "worst", "maj", "std", "pass") for n in range(1, 65)}
    return frozenset(names | {"best@n/mean", "best@n/std"})


def recheck(answer: Answer, runs: Sequence[Run], text: str, mentions: Sequence[Mention]) -> Checked:
    """Checks a text in place of an answer's own, against the answer's facts and citations."""
    cards = {citation.id: library().get(citation.card) for citation in answer.citations}
    return check(
        text,
        mentions,
        answer.facts,
        steps={step for run in runs for step in run.steps},
        quotes={name: card_text(card, answer.language) for name, card in cards.items() if card is not None},
        names=_card_names() | {metric for run in runs for metric in run.metrics},
    )
