"""A metric that a question only describes: found by the wordings of the log's own metrics, where nothing else tells.

Names are read first (:mod:`assistant.ask.metrics_named`). A description is taken only where the question asks for
something that a metric answers: "should I stop?" is about no metric, however its words are alike to one's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.epochs import EPOCH_KEYS
from assistant.ask.metrics_named import ELSEWHERE
from assistant.ask.query import Query
from assistant.knowledge import Card, Mentioned, Resolver
from assistant.knowledge.near import own_metrics
from assistant.model import Run

_LEAST: Final = 0.42
_LEAST_ALONE: Final = 0.55
"""Where nothing else says that the question is about the log at all, or a conversation goes on."""
_AHEAD: Final = 0.03
"""By so much the best card is before the next, or both are named."""
_WORDS_OF_ITS_OWN: Final = 6
"""So many words (English words, pairs of Chinese characters) a follow-up has at least that describes another metric."""
_COUNTERS: Final = frozenset({*EPOCH_KEYS, "training/global_step", "global_step", "step"})
"""Where in the run a row stands: named by whoever wants it, never described."""
_ANSWERED_BY_A_METRIC: Final = frozenset({"lookup", "trend", "define", "compare"})


_EMPTY_WORDS: Final = """go goe goes going went gone run running off on wrong right good bad fine ok okay well better
worse best great
use used using job process gpu gpus card cards machine get got getting do done doing make made making take
taken took come came thing things someth anyth everyth noth start started end ended stop stopped work working
broke broken break happen look looking looks see saw seen say said tell show find found give gave given know think
want need now here there still already ever again also really actually problem issue trouble matter part number
much many lot bit all whole one two time point way kind sort training train trained model log step"""
_SAYS_NOTHING: Final = frozenset(_EMPTY_WORDS.split())
"""Stems that tell of no quantity: a description that shares only these with a card describes nothing."""


_SPELT: Final = re.compile(
    r"(?i)^\s*(?:what(?:'s| is| was)?\s+)?(?:the |our |my )?([a-z][a-z0-9_-]*(?: [a-z][a-z0-9_-]*){0,2})\s*"
    r"(?:现在|目前)?(?:是什么|是啥|是多少|多少|什么意思|mean(?:ing)?)\s*[?？。]*$"
)
"""A question that is a name in Latin letters and "is what" or "is how much", no more."""


def _covers(card: Card, keys: Sequence[str], name: str) -> bool:
    """Whether every word of a name is one of a card's or a key's words, but for a slip of the pen."""
    told = " ".join((card.id, card.title("en"), *card.keys, *keys, *map(str, card.meta.get("names", ())),
                     *(str(w) for words in (card.meta.get("words") or {}).values() for w in words)))  # fmt: skip
    known = set(re.findall(r"[a-z]+", told.lower()))
    words = re.findall(r"[a-z]+", name.lower())
    return all(any(word.startswith(one[:4]) or one.startswith(word[:4]) for one in known) for word in words)


#: What a run is trained by, which describes none of its metrics.
_METHODS: Final = re.compile(r"(?i)(?<![\w/])(?:sft|rlhf|rlvr|grpo|ppo|dpo|dapo|rloo|rl)(?![\w/])")
#: Quantities that one card may hold several of, by what they are asked for and by their keys: the finer ones first.
_QUANTITIES: Final = (
    (re.compile(r"(?i)fps|每秒|帧率|\bper second\b"), re.compile(r"(?i)fps|per_sec|throughput|tps")),
    (
        re.compile(
            r"(?i)毫秒|\bms\b|millisec|秒|多久|多长时间|耗时|用时|用了多少时间|时间|\btime\b(?!step)|how long|seconds"
        ),
        re.compile(r"(?i)(?:^|[/_ ])(?:time|elapsed|duration|latency|ms|secs?|seconds)(?:$|[/_ ])(?!.*(?:fps|steps))"),
    ),
    (re.compile(r"(?i)time ?steps?|环境步"), re.compile(r"(?i)timesteps?|env_steps")),
)
_LATIN: Final = re.compile(r"[a-z]{3,}")


def narrowed(keys: Sequence[str], text: str) -> Sequence[str]:
    """Of several keys under one card, those that a question's own words name: its time rather than its frame rate.

    Args:
        keys: of the log.
        text: the question, normalised.

    Returns:
        At least one; all of them where the words tell nothing, or where they are statistics of one quantity.
    """
    if len(keys) < 2 or len({re.sub(r"[/_ ](?:mean|max|min|std|sum|avg)$", "", key) for key in keys}) == 1:
        return keys
    words = set(_LATIN.findall(text.lower()))
    spelt = [key for key in keys if set(_LATIN.findall(key.lower().rsplit("/", 1)[-1])) & words]
    if spelt:
        return spelt
    for asked, named in _QUANTITIES:
        held = [key for key in keys if named.search(key.rsplit("/", 1)[-1])] if asked.search(text) else []
        if held:
            return held
    return keys


def may_describe(query: Query, strength: float) -> bool:
    """Whether a question without a named metric asks for something that a metric answers.

    Args:
        query: what was understood without one.
        strength: how strongly its intent was told.
    """
    if any(m.key is not None or m.card is not None for m in query.mentions) or query.depth == "every":
        return False
    if any(len(m.text) > 2 and not m.text.islower() for m in query.mentions):
        return False  # a name, spelt, that nobody knows: it is said to be unknown
    if query.topics or any(ELSEWHERE.fullmatch(m.text) for m in query.mentions):
        return False
    if query.intent == "compare":
        return query.steps.kind in {"pair", "range"} and query.op is not None
    if query.intent in _ANSWERED_BY_A_METRIC:
        return True
    return query.guessed or (query.intent == "out_of_scope" and strength <= 0) or query.threshold is not None


def described(text: str, query: Query, run: Run, resolver: Resolver, *, talking: bool) -> tuple[Mentioned, ...]:
    """The metric that a question describes; none where no card of the log's metrics is near enough.

    Args:
        text: the question, normalised.
        query: what was understood without one.
        run: the log.
        resolver: from keys to cards.
        talking: a conversation goes on: what is described may be what it is about.
    """
    found = own_metrics(run.metrics, run.framework, resolver).find(_METHODS.sub(" ", text))
    if talking and len(re.findall(r"[a-z]{3,}|[\u3400-\u9fff]{2}", text.lower())) < _WORDS_OF_ITS_OWN:
        return ()  # "and at the end?" goes on about the metric of the question before
    alone = talking or query.intent == "out_of_scope" or (query.guessed and query.steps.kind == "none")
    if not found or set(found[0].keys) <= _COUNTERS or found[0].score < (_LEAST_ALONE if alone else _LEAST):
        return ()
    if len(found) > 1 and found[0].score - found[1].score < _AHEAD and found[0].score < _LEAST_ALONE:
        return ()
    best = found[0]
    if best.shared <= _SAYS_NOTHING:  # "something is off with this run": no metric is described
        return ()
    spelt = _SPELT.match(text)
    if spelt is not None and not _covers(best.card, best.keys, spelt[1]):
        return (Mentioned(spelt.start(1), spelt.end(1), spelt[1], None),)  # a name, and of nothing that is known
    keys = narrowed(best.keys, text)
    key = keys[0] if len(keys) == 1 else None
    return (Mentioned(len(text), len(text), key or best.card.keys[0], best.card, key),)
