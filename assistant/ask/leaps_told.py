"""When a metric "suddenly jumped": the step of its change of level, where it has one, before any single large move."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context
from assistant.ask.course_moves import jump_of
from assistant.ask.part import Part, remarks
from assistant.ask.telling import main_change, trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

#: Words for a move from one level to another, rather than for a peak or a breakdown.
_SUDDEN: Final = re.compile(
    r"(?i)突然|忽然|一下子|陡|跳[变升涨到]|突变|翻了?(?:好?几|[两二三四五六七八九十])[倍番]"
    r"|\bjump\w*|\bsudden\w*|\bshot up|shoot up"
    r"|\bleap\w*|\bstep(?:ped|s)? up"
)
_WHEN: Final = re.compile(
    r"(?i)什么时候|何时|啥时候|几时|从?哪(?:一)?(?:步|行|个 ?step)|第几步"
    r"|\bwhen\b|(?:which|what) (?:step|iteration|row|point)|since when"
)
_LARGEST: Final = re.compile(
    r"(?i)最(?:大|多|高|狠|猛|厉害|剧烈)|\b(?:most|largest|biggest|steepest|sharpest|greatest)\b"
)


def leap(context: Context, part: Part, text: str, *, up: bool) -> Verdict | None:
    """The change of level of a metric, for "when did it suddenly jump?".

    Args:
        context: of the answer.
        part: the metric's values that are meant.
        text: the question without the metric's name.
        up: whether a rise is asked for, else a fall.

    Returns:
        The verdict; ``None`` (nothing written) where no such thing is asked, or the metric's trend is no jump that way.
    """
    if not _SUDDEN.search(text) or not _WHEN.search(text) or _LARGEST.search(text):
        return None
    trend = context.ledger.trend(part.metric, list(part.steps))
    if trend is None or trend.form != "shift" or trend.direction != ("rising" if up else "falling"):
        return None
    change = main_change(context, trend, part.steps)
    jump = None if change is None else jump_of(context, trend, change[0], part.steps)
    if jump is None or jump.first is None:
        return None
    said = trend_sentence(context, part.metric, trend, part.steps)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.doc.paragraph(context.gloss(part.metric))
    context.metrics.append(part.metric)
    context.chart(context.title(part.metric), [part.metric])
    return Verdict("answered", unmark(said), "medium")
