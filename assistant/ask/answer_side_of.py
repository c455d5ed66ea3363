"""On which side of a step a metric has its extreme: "验证最好的一次在熵崩之前还是之后", "before or after step 40"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask import outcomes
from assistant.ask.breakdowns import breakdown_in
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.part import cell, part_of
from assistant.ask.scope import Scope
from assistant.ask.subject import words_of
from assistant.ask.understand import understand
from assistant.ask.wording import normalised
from assistant.model import StepSlot, Verdict
from assistant.write.document import unmark

_STEP: Final = re.compile(r"(?i)(?:step\s*|第\s*)(\d{1,7})")
_LOW: Final = re.compile(
    r"(?i)最(?:低|小|短|差|少|快)|谷底|触底|\b(?:lowest|smallest|worst|min\w*|shortest|fastest|least)\b"
)
_EXTREME: Final = re.compile(
    r"(?i)最[高低大小好差佳优长短多少快慢]|峰值|谷底|触底|见顶|\b(?:best|worst|highest|lowest|largest|smallest|peak\w*|max\w*|min\w*)\b"
)
_LEAST: Final = 2
_EITHER: Final = re.compile(
    r"(?i)(?:之前|以前|前面?)\s*还是\s*在?(?:它|那)?(?:之后|以后|后)|(?:之后|以后|后面?)\s*还是\s*在?(?:它|那)?(?:之前|以前|前)"
    r"|\b(?:before or after|after or before)\b"
)
_OTHERWISE: Final = re.compile(
    r"(?i)为什么|为啥|\bwhy\b|裁剪|clip(?!_)|更新|update|平均|均值|average|哪边|哪段|更[高低大小]"
)


def attempt(context: Context) -> Verdict | None:
    """The extreme of the metric named beside it, with its step, and on which side of the step named that lies.

    ``None`` where nothing of the kind is asked, or no step or no metric with values is named.
    """
    text = normalised(context.query.wording or context.query.text)
    if len(context.runs) != 1 or not _EITHER.search(text) or _OTHERWISE.search(text):
        return None
    match, extreme = _STEP.search(text), _EXTREME.search(text)
    broken = None if match is not None else breakdown_in(context, words_of(context))
    if extreme is None or (match is None and broken is None):
        return None
    if match is not None:
        clause = text[: match.start()] if extreme.start() < match.start() else text[match.end() :]
        step = int(match[1])
    else:
        assert broken is not None
        clause, step = text, broken.step
    owner = None if broken is None else broken.metric
    keys = [key for key in _named(context, clause) if key != owner]
    if not keys:
        return None
    part = part_of(context, keys[0], Scope())
    if len(part) < _LEAST:
        return None
    low = _LOW.search(extreme.group()) is not None
    place = part.values.index((min if low else max)(part.values))
    at = part.steps[place]
    side = "before" if at < step else "after" if at > step else "at"
    said = context.say(
        f"side_of.{side}", metric=part.metric, v=cell(context, part, place), step=step,
        which=context.say("side_of.lowest" if low else "side_of.highest"),
    )  # fmt: skip
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(part.metric)
    context.chart(context.title(part.metric), [part.metric])
    context.settled = True
    context.query = replace(
        context.query,
        intent="lookup",
        topics=(),
        op="argmin" if low else "argmax",
        asked_op=None,
        steps=StepSlot("all"),
    )
    return Verdict("answered", unmark(said))


def _named(context: Context, clause: str) -> list[str]:
    """The metrics that a clause names, the validation's where it speaks of one."""
    read = understand(clause, context.resolver, context.runs, language=context.language)
    mentions = read.mentions or context.query.mentions
    keys = [m.key for m in mentions if m.key is not None and m.key in context.run.columns]
    validated = outcomes.validated(context.run) if words("confirmed")["validation"].search(clause) else None
    if validated is not None and validated.spelling.plain and validated.metrics[0] not in keys:
        keys.insert(0, validated.metrics[0])
    return keys
