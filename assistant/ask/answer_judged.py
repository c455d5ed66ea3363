"""Whether a validation got better or worse, where its first and last value settle it though they are too few to tell a
trend."""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis.validation import validation_sets
from assistant.ask.answer_compare import judge_with_trend
from assistant.ask.context import Context, is_validation, key
from assistant.ask.naming import central, named_keys
from assistant.ask.validation_errors import with_error
from assistant.model import Verdict
from assistant.write.document import unmark

_BETTER: Final = re.compile(
    r"(?i)\b(?:improv|better|worse|regress|degrad|deteriorat|declin|drop|fall|fell|ris|rose|gain)\w*"
    r"|\b(?:go(?:ne|ing)?|went) (?:up|down)\b"
    r"|变[好差坏]|[好差]了|提[升高]|改[善进]|退步|进步|恶化|[涨跌升降掉]了?(?:没|吗|么)|下降|上升"
)
_OTHER: Final = re.compile(r"(?i)\bwhy\b|\bwhen\b|\bwhich\b|\bhow (?:much|many)\b|为什么|为啥|哪|几|多少|什么时候")
#: From so many values on, a trend is told.
TREND: Final = 5


def attempt(context: Context) -> Verdict | None:
    """The verdict on first and last validation; ``None`` (nothing written) where they settle nothing."""
    query = context.query
    keys = central(named_keys(context))
    asked = query.intent in {"trend", "validation"} and query.steps.kind in {"none", "all"} and query.depth != "every"
    if not asked or len(context.runs) != 1 or len(keys) != 1 or not is_validation(keys[0]):
        return None
    metric, text = keys[0], query.wording or query.text
    steps = context.run.series(metric)[0]
    if not 2 <= len(steps) < TREND or not _BETTER.search(text) or _OTHER.search(text):
        return None
    table = next((t for t in validation_sets(context.run, steps[-1]) if t.key("mean") == metric), None)
    change = context.ledger.change(metric, steps[0], steps[-1])
    if table is None or change is None:
        return None
    change = with_error(context, change, table)
    code, sentence = judge_with_trend(context, change)
    if code not in {"improved", "regressed"}:
        return None
    context.doc.paragraph(f"**{sentence}**")
    cells = [(step, fact) for step in steps if (fact := context.value(metric, step)) is not None]
    context.doc.table(
        [context.say("head.step"), key(metric)],
        [[context.doc.step(step), context.doc.show(fact)] for step, fact in cells],
    )
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.cite(context.card(metric))
    moved = "rising" if (change.delta or 0) > 0 else "falling"
    return Verdict(moved if query.intent == "trend" else "answered", unmark(sentence), "medium")


__all__ = ["attempt"]
