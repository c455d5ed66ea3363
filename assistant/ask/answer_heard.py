"""A range that somebody heard of ("entropy should be 0.4 to 0.6, mine is 0.2"): whether there is one, and where the
log stands."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.checks import covered
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.answer_reference import here
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import cell, part_of
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.subject import words_of
from assistant.ask.supposed import Supposed
from assistant.model import StepSlot, Verdict
from assistant.write.document import mark, unmark

_OWN: Final = re.compile(
    r"(?i)(?:\b(?:mine|ours?|it|this|that|my(?: \w+)?|but|and)(?: is|'s| was| sits at| stays at| shows| hits?| got to"
    r"| went to| at| =)?"
    r"|\bis|\bat"
    r"|(?:我|这|现在|目前|实际)[^\d,，。?]{0,8}|都|才|只有|是|为|到了?)\s*"
    r"(?:only |just |about |around |already |才|只|只有|大概|约)?"
    r"(?P<digits>-?\d{1,9}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?)\s*(?P<unit>%|％)?(?!\s*(?:步|steps?\b))"
)

_MINE: Final = re.compile(r"(?i)\b(?:mine|ours?|my)\b|我|这|实际|现在")


def heard(context: Context) -> Verdict | None:
    """No range holds for the metric, or the one its card states; then the value asked about, the log's, the rules'.

    Returns:
        The verdict; ``None`` where no one metric of the log is named.
    """
    keys = [key for key in central(named_keys(context)) if key in context.run.columns]
    part = part_of(context, keys[0], Scope()) if keys else None
    if part is None or not len(part):
        return None
    metric, doc, say = keys[0], context.doc, context.say
    card = context.card(metric)
    healthy = card.meta.get("healthy") if card is not None else None
    if card is not None and healthy:
        text = healthy[context.language].rstrip("。.")
        quoted = doc.quote(card.id, card.title(context.language), card.source, text)
        lead = say("heard.range", metric=metric, range=quoted)
    else:
        lead = say("heard.no_range", metric=metric)
    doc.paragraph(f"**{lead}**" + (f" {context.cite(card)}" if healthy else ""))
    gap = "" if context.language == "zh" else " "
    own = _own(context, metric)
    doc.paragraph(gap.join(text for text in (own, here(context, metric)) if text))
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    about = [c for c in checks if metric in c.metrics]
    findings = told(context, about or checks[:1])
    sentence = gap.join(one.sentence for one in findings[:1])
    if not about:
        doc.paragraph(say("heard.no_rule", metric=metric))
    if sentence:
        doc.paragraph(sentence if about else say("health.elsewhere", first=sentence))
    if card is not None:
        doc.paragraph(context.quote(card, "read"))
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, steps=StepSlot(), op=None, asked_op=None)
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in about)), None)
    enough = len(context.train_steps) >= MIN_POINTS and covered(context.run) and not checks
    return Verdict(worst or ("healthy" if enough else "insufficient_data"), unmark(lead), "medium")


def _own(context: Context, metric: str) -> str:
    """Whether the value that the question calls its own is the log's; empty where it names none."""
    text = words_of(context)
    spans = [match.span() for match in words("supposed")["heard"].finditer(text)]
    found = [m for m in _OWN.finditer(text) if not any(a <= m.start("digits") < b for a, b in spans)]
    match = next((m for m in found if _MINE.search(m.group())), next(iter(found), None))
    if match is None:
        return ""
    part = part_of(context, metric, Scope())
    scale = 0.01 if match["unit"] and max(map(abs, part.values)) <= 2 else 1.0
    digits = match["digits"].lower().partition("e")
    value = float(match["digits"]) * scale
    half = 0.5 * 10.0 ** (int(digits[2] or 0) - len(digits[0].partition(".")[2])) * scale
    typed = Supposed("is", value, half, bool(match["unit"]), last=False, text=match["digits"])
    fact = context.ledger.constant(f"own {value:g}", value, "the question")
    given = mark(fact.id, match["digits"] + ("%" if match["unit"] else ""))
    near = [place for place, held in enumerate(part.values) if typed.names(held)]
    if not near or not math.isfinite(number(cell(context, part, near[-1]))):
        return context.say("heard.not_own", given=given)
    return context.say("heard.own", given=given, v=cell(context, part, near[-1]))
