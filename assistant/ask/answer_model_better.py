"""Whether the model has got better: validation says so, never the training reward alone, and what the rules report."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.answer_single import progress, tail_of
from assistant.ask.context import Context, is_validation
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys
from assistant.ask.outcomes import rewarded
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

MOST_TOLD: Final = 2
#: What validation was, and is no longer.
_FELL_BACK: Final = frozenset({"overfitting", "overfitting_suspected", "held_out_loss_rises"})


def better(context: Context) -> Verdict | None:
    """No, where a grave finding stands or validation fell; yes, where validation rose; else that it cannot be told."""
    if len(context.runs) != 1 or context.query.steps.kind not in {"none", "all", "last"}:
        return None
    validated = role(context.run, "val_accuracy") or role(context.run, "held_out_loss")
    measured = next((m for m in central(named_keys(context)) if is_validation(m)), None)
    if measured is None and validated is not None and validated.spelling.plain:
        measured = validated.metrics[0]
    trend = None if measured is None else context.ledger.trend(measured)
    state, sentence = ("", "") if measured is None or trend is None else progress(context, measured, trend)
    if measured is not None and trend is not None and "loss" in measured:
        state = {"falling": "up", "rising": "down"}.get(trend.direction or "", "flat")
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    findings = told(context, checks[:MOST_TOLD])
    grave = any(c.severity == "critical" for c in checks)
    turned = any(c.rule in _FELL_BACK for c in checks[:1])
    doc, say = context.doc, context.say
    if state == "up":
        first = findings[0].sentence if findings else ""
        summary = (
            say("better.but", course=sentence, first=first) if grave or turned else say("better.yes", course=sentence)
        )
        code = "critical" if grave else "warning" if findings else "healthy"
    elif state != "down" and sentence and grave:
        summary, code = say("better.open_but", course=sentence, first=findings[0].sentence), "critical"
    elif state == "down" or grave:
        first = findings[0].sentence if findings else sentence
        summary = say("better.no", first=first)
        code = "critical" if grave else "warning"
    elif sentence:
        summary = say("better.open", course=sentence)
        code = "warning" if findings else "insufficient_data"
    else:
        summary = say("better.unproven")
        code = "warning" if findings else "insufficient_data"
    doc.paragraph(f"**{summary}**")
    lines = [one.line if at == 0 and one.sentence in summary else one.whole(context.language)
             for at, one in enumerate(findings)]  # fmt: skip
    if sentence and sentence not in summary:
        lines.append(sentence + tail_of(context, str(measured), sentence))
    lines.append(_trained(context))
    doc.bullets([line for line in lines if line])
    if measured is not None:
        context.metrics.append(measured)
        context.cite(context.card(measured))
    context.query = replace(context.query, intent="health", op=None, asked_op=None, threshold=None)
    return Verdict(code, unmark(summary), "medium")


def _trained(context: Context) -> str:
    """How the training reward went, which by itself proves nothing."""
    reward = rewarded(context.run)
    trend = None if reward is None else context.ledger.trend(reward.metrics[0])
    if reward is None or trend is None:
        return ""
    context.metrics.append(reward.metrics[0])
    return context.say("better.reward", course=trend_sentence(context, reward.metrics[0], trend))
