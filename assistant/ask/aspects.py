"""What a question asks of one metric beside what was answered: its trend, whether its level is normal, its largest.

"How many tokens per second on average, and is it getting worse?" asks twice. The first is the answer; what else a
clause asks of the same metric is added in a sentence each.
"""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.ask.answer_overall import afterwards
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.naming import named_keys
from assistant.ask.part import cell, limit_text, part_of, shown, statistic
from assistant.ask.scope import Scope
from assistant.ask.subject import words_of
from assistant.ask.telling import trend_sentence

_CLAUSE: Final = re.compile(
    r"(?i)[,，;；。?？!！]|\band\b|\bbut\b|而且|并且|同时|还有|以及|另外|，?那|(?<=[吗没么])\s+(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\s+(?=最[高低大小长短多少])|(?<=[\u3400-\u9fff])\s+(?=正常|合理|健康|算不算|高不高|够不够|好不好|够好)"
)
_TREND: Final = re.compile(
    r"(?i)\b(?:getting|got|gets|became|becoming|going|went|gone) (?:any )?(?:worse|better|slower|faster|higher|lower"
    r"|longer|shorter|up|down)\b|\b(?:rising|falling|improving|increasing|decreasing|dropping|stable|growing|trend(?:ing)?)\b"
    r"|(?:还|一直|是不是|是否|是)?在(?:涨|升|降|跌|掉|变|下降|上升)|越来越|(?:涨|升|降|跌|掉)(?:了)?(?:吗|么|没有?|还是)"
    r"|变(?:好|差|慢|快|长|短|高|低|大|小)(?:了)?(?:吗|么|没)?|稳(?:定)?(?:吗|么|不)|趋势|走势"
)
_JUDGED: Final = re.compile(
    r"(?i)(?:算|是不是|是否|偏|太|过)(?:比较|很)?(?:高|低|大|小|多|少|慢|快|正常)(?:吗|么|不|了|啊)?|(?:正常|合理|健康|高|低|大|够|够好)(?:吗|么|不\s*$)|够不够|好不好"
    r"|\b(?:is|are|was) (?:it|that|this|these|they)\b.{0,12}\b(?:high|low|normal|ok|okay|good|bad|fine|healthy"
    r"|reasonable|large|small|a lot)\b|\btoo (?:high|low|large|small|long|slow|big)\b"
)
_MEANS: Final = re.compile(r"(?i)平均|均值|\bmean\b|average|\bavg\b")
#: Families whose single members a limit may be meant for: "tool calls over 10 s" are calls rather than means of a step.
_OF_SINGLE: Final = ("timing_s/agent_loop/", "response_length", "prompt_length", "num_turns", "tool_call")
_LOOKED_UP: Final = {"lookup", "validation", "derive"}
_EXTREMES: Final = {"max", "min", "argmax", "argmin"}
_FIGURES: Final = re.compile(r"(?i)最|峰|谷|\b(?:most|peak|max|min|(?:high|low|larg|small)est)\b|多少|几")
_CHANGES: Final = re.compile(r"(?i)为什么|为啥|\bwhy\b")


def further(context: Context) -> None:
    """Adds what a later clause asks of the answered metric, where the answer does not hold it."""
    if len(context.runs) != 1 or context.query.intent not in _LOOKED_UP | {"trend"}:
        return
    keys = [metric for metric in dict.fromkeys(context.metrics) if metric in context.run.columns]
    if len(keys) != 1 or keys[0] not in {*named_keys(context), *context.metrics[:1]}:
        return
    metric, text = keys[0], words_of(context)
    if _CHANGES.search(text):
        return
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    if context.query.intent == "trend":
        lines = [_figure(context, metric, clause) for clause in clauses if len(clauses) > 1]
        clauses = []
    else:
        lines = [_singles(context, metric, text)]
    first = clauses[0] if len(clauses) > 1 and context.query.op in _EXTREMES else ""
    if first and _TREND.search(first) and not _FIGURES.search(first) and context.query.steps.kind in {"none", "all"}:
        course = context.ledger.trend(metric)  # "is it falling, and what was the lowest?"
        if course is not None and (course.n or 0) > 1:
            context.doc.blocks.insert(0, f"**{trend_sentence(context, metric, course)}**")
    for clause in clauses[1:]:
        after = afterwards(context, metric, part_of(context, metric, Scope()), clause)
        if after:
            lines.append(after)
        elif _TREND.search(clause) and context.query.steps.kind in {"none", "all"}:
            trend = context.ledger.trend(metric)
            if trend is not None and (trend.n or 0) > 1:
                lines.append(trend_sentence(context, metric, trend))
        elif _JUDGED.search(clause):
            lines.append(_judged(context, metric))
    for line in dict.fromkeys(line for line in lines if line):
        context.doc.paragraph(line)


def _figure(context: Context, metric: str, clause: str) -> str:
    """The mean or an extreme that a clause asks for beside a trend."""
    part = part_of(context, metric, Scope())
    if not len(part):
        return ""
    if _MEANS.search(clause):
        mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
        return context.say("calc.mean", metric=metric, v=shown(context, mean, metric), over=part.over)
    for name, words, pick in (("max", _HIGH, max), ("min", _LOW, min)):
        if words.search(clause):
            at = part.values.index(pick(part.values))
            return context.say(f"calc.{name}", metric=metric, v=cell(context, part, at), over=part.over)
    return ""


_HIGH: Final = re.compile(r"(?i)最(?:高|大|长|多)(?!的?(?:一)?段)|峰值|\b(?:highest|largest|maximum|peak)\b")
_LOW: Final = re.compile(r"(?i)最(?:低|小|短|少)|\b(?:lowest|smallest|minimum)\b")


def _judged(context: Context, metric: str) -> str:
    """A rule's finding on the metric, else its card's range, else that none is known."""
    checks = [c for c in all_checks(context) if metric in c.metrics and c.severity in {"critical", "warning"}]
    if checks:
        return told(context, checks[:1])[0].whole(context.language)
    card = context.card(metric)
    healthy = None if card is None else card.meta.get("healthy")
    if card is None or not healthy:
        return context.say("normal.no_range", metric=metric)
    language = context.language
    quoted = context.doc.quote(card.id, card.title(language), card.source, healthy[language].rstrip("。."))
    return f"{context.say('normal.range', metric=metric, range=quoted)} {context.cite(card)}"


def _singles(context: Context, metric: str, text: str) -> str:
    """Of a mean per step compared with a limit: at how many steps the largest single value is beyond it."""
    if (
        context.query.op not in {"count", None}
        or not metric.endswith("/mean")
        or not metric.startswith(_OF_SINGLE)
        or _MEANS.search(text)
    ):
        return ""
    largest = f"{metric.removesuffix('mean')}max"
    limit = condition_in(text)
    if largest not in context.run.columns or limit is None or limit.kind not in {"above", "at_least"}:
        return ""
    part = part_of(context, largest, Scope())
    if not len(part):
        return ""
    places = [place for place, value in enumerate(part.values) if limit.holds(value)]
    count = context.ledger.count(f"steps {limit.kind} {limit.low:g}", len(places), metric=largest)
    values = {"metric": largest, "limit": limit_text(context, limit, largest), "k": count, "over": part.over}
    top = cell(context, part, part.values.index(max(part.values)))
    said = context.say("aspect.singles" if places else "aspect.singles_none", top=top, **values)
    gap = "" if context.language == "zh" else " "
    listed = context.doc.show([part.steps[p] for p in places]) if 0 < len(places) <= 16 else ""
    return f"**{said}**" + (gap + context.say("calc.steps", steps=listed) if listed else "")
