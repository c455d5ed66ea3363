"""A metric that a question only describes: found by the wordings of the log's own metrics, where nothing else tells.

Names are read first (:mod:`assistant.ask.metrics_named`). A description is taken only where the question asks for
something that a metric answers: "should I stop?" is about no metric, however its words are alike to one's.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.query import Query
from assistant.knowledge import Mentioned, Resolver
from assistant.knowledge.near import own_metrics
from assistant.model import Run

_LEAST: Final = 0.42
_LEAST_ALONE: Final = 0.55
"""Where nothing else says that the question is about the log at all, or a conversation goes on."""
_AHEAD: Final = 0.03
"""By so much the best card is before the next, or both are named."""
_WORDS_OF_ITS_OWN: Final = 6
"""So many words (English words, pairs of Chinese characters) a follow-up has at least that describes another metric."""
_ANSWERED_BY_A_METRIC: Final = frozenset({"lookup", "trend", "define", "compare"})


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
    if query.topics:
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
    found = own_metrics(run.metrics, run.framework, resolver).find(text)
    if talking and len(re.findall(r"[a-z]{3,}|[\u3400-\u9fff]{2}", text.lower())) < _WORDS_OF_ITS_OWN:
        return ()  # "and at the end?" goes on about the metric of the question before
    alone = talking or query.intent == "out_of_scope" or (query.guessed and query.steps.kind == "none")
    if not found or found[0].score < (_LEAST_ALONE if alone else _LEAST):
        return ()
    if len(found) > 1 and found[0].score - found[1].score < _AHEAD and found[0].score < _LEAST_ALONE:
        return ()
    best = found[0]
    key = best.keys[0] if len(best.keys) == 1 else None
    return (Mentioned(len(text), len(text), key or best.card.keys[0], best.card, key),)
