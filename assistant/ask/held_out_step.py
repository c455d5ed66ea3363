"""The validation that only tells a step: "kl_loss at the step with the best val" asks for the KL alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.logged import as_mention
from assistant.ask.query import Query
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

_MOST: Final = r"(?:最[高低好差大小佳]|峰值|best|worst|highest|lowest|peak)"
_NAME: Final = r"(?:验证集?(?:得分|准确率|分数)?|评测(?:得分)?|val(?:idation)?(?: acc(?:uracy)?| score)?|evals?)"
#: The validation beside an extreme, and that step behind it.
_THERE: Final = re.compile(
    rf"(?i)(?<![A-Za-z0-9_/])(?P<zh>{_NAME})\s*(?:是|在|的)?\s*{_MOST}\s*(?:的)?\s*(?:那一?|这一?|当)?(?:个)?\s*(?:步|step|次|时候?)"
    rf"|\b(?:at|on|in) (?:the |its )?(?:step (?:with|of) (?:the )?)?{_MOST} (?P<en>{_NAME})\b(?: step)?"
    rf"|\b(?:when|where) (?:the )?(?P<when>{_NAME}) (?:is|was|peak\w*|reached its)\b"
)


_HELD_OUT: Final = re.compile(r"(?i)(?:^|[/_])(?:val|eval|test)")


def with_validation(
    mentions: tuple[Mentioned, ...], text: str, run: Run | None, resolver: Resolver
) -> tuple[Mentioned, ...]:
    """The metrics named, and the main validation where one other metric is asked for at its best step.

    Args:
        mentions: the metrics named.
        text: the question, normalised.
        run: the log.
        resolver: from names to cards.
    """
    keyed = [m for m in mentions if m.key is not None]
    if run is None or len(keyed) != 1 or len(mentions) != 1 or _HELD_OUT.search(keyed[0].key or ""):
        return mentions
    match = _THERE.search(text)
    found = None if match is None else role(run, "val_accuracy")
    if match is None or found is None:
        return mentions
    group = next(name for name in ("zh", "en", "when") if match[name])
    start, end = match.span(group)
    if start < keyed[0].end and keyed[0].start < end:
        return mentions
    meant = as_mention(run, resolver, found.metrics[0], start, end, match[group])
    return tuple(sorted((*mentions, meant), key=lambda m: m.start))


_VALIDATED: Final = re.compile(r"^(?:val|eval|test)[-_/]")


def of_the_run(query: Query, runs: Sequence[Run], resolver: Resolver) -> Query:
    """ "And B's?" after a validation of A: B's own validation, where it was not taken on the same problems."""
    if not query.follows or len(query.runs) != 1 or query.runs[0] >= len(runs):
        return query
    run = runs[query.runs[0]]
    found = role(run, "val_accuracy")
    if found is None:
        return query
    own = as_mention(run, resolver, found.metrics[0], 0, 0, found.metrics[0])
    mentions = tuple(
        own if m.key is not None and m.key not in run.columns and _VALIDATED.match(m.key) else m for m in query.mentions
    )
    return query if mentions == query.mentions else replace(query, mentions=tuple(dict.fromkeys(mentions)))
