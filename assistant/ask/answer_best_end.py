"""Whether a metric stands at its best, highest or lowest at its latest value: "did it hit its best at the end?"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.outcomes import direction
from assistant.ask.part import cell
from assistant.ask.subject import subject_of
from assistant.model import Verdict
from assistant.write.document import unmark

_HIGH: Final = re.compile(r"(?i)\b(?:highest|peak|max(?:imum)?)\b|最[高大]")
_LOW: Final = re.compile(r"(?i)\b(?:lowest|min(?:imum)?)\b|最[低小]")
_WORST: Final = re.compile(r"(?i)\bworst\b|最差")


def at_the_end(context: Context) -> Verdict | None:
    """Yes or no, with the extreme and the latest value; ``None`` for another question, or a metric without a better."""
    found = subject_of(context, least=2)
    if found is None:
        return None
    text = context.query.said
    if _HIGH.search(text) or _LOW.search(text):
        high = _HIGH.search(text) is not None
    else:
        way = direction(context, found.metric)
        if way not in {"higher_better", "lower_better"}:
            return None
        high = (way == "higher_better") != (_WORST.search(text) is not None)
    part = found.part
    far, last = (max if high else min)(part.values), len(part) - 1
    top, now = cell(context, part, part.values.index(far)), cell(context, part, last)
    if part.values[last] == far:
        said = context.say("best_end.high_now" if high else "best_end.low_now", metric=found.metric, last=now)
    else:
        said = context.say("best_end.high" if high else "best_end.low", metric=found.metric, far=top, last=now)
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))


__all__ = ["at_the_end"]
