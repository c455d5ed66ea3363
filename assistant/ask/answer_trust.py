"""Whether a run, or its rising reward, can be trusted: what the rules report comes first, whatever metric is named."""

from __future__ import annotations

from assistant.analysis.checks import covered
from assistant.analysis.diagnosis import role
from assistant.ask import of_part
from assistant.ask.answer_single import progress, tail_of
from assistant.ask.context import Context
from assistant.ask.departures import all_checks, began
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

#: So many findings are told.
MOST_TOLD = 3


def trust(context: Context) -> Verdict | None:
    """The gravest findings, or that there are none, then the course of what the question names and the validations.

    Returns:
        The verdict; ``None`` (nothing written) for a question about a validation, whose error has a writer of its own.
    """
    named = central(named_keys(context))
    if any(key.startswith("val") for key in named):
        return None
    lead = of_part.enter(context)
    doc, say = context.doc, context.say
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    findings = told(context, checks[:MOST_TOLD])
    if findings:
        grave = any(c.severity == "critical" for c in checks)
        summary = say("trust.no" if grave else "trust.careful", first=findings[0].sentence)
        doc.paragraph(f"**{summary}**")
        doc.bullets([findings[0].line, *(one.whole(context.language) for one in findings[1:])])
        code = "critical" if grave else "warning"
    elif not covered(context.run):
        summary = say("trust.not_covered")
        doc.paragraph(f"**{summary}**")
        code = "insufficient_data"
    else:
        summary = say("trust.nothing")
        doc.paragraph(f"**{summary}**")
        code = "healthy"
    lines = [_course(context, metric) for metric in named[:2]]
    validated = role(context.run, "val_accuracy") or role(context.run, "held_out_loss")
    if validated is None or not validated.spelling.plain or len(context.run.series(validated.metrics[0])[0]) < 2:
        lines.append(say("trust.no_validation"))
    else:
        trend = context.ledger.trend(validated.metrics[0])
        if trend is not None:
            sentence = progress(context, validated.metrics[0], trend)[1]
            lines.append(sentence + tail_of(context, validated.metrics[0], sentence))
    doc.bullets(lines)
    context.metrics.extend(named)
    verdict = Verdict(code, unmark(summary), "medium")
    if lead is None:
        return verdict
    verdict = of_part.leading(context, verdict, lead)
    of_part.outside(context)
    return verdict


def _course(context: Context, metric: str) -> str:
    trend = context.ledger.trend(metric)
    if trend is None:
        return ""
    sentence = trend_sentence(context, metric, trend)
    return sentence + tail_of(context, metric, sentence)


def safe_checkpoint(context: Context) -> Verdict | None:
    """Before which step the run was sound, by the onset of what the rules report, and which saves lie before it."""
    doc, say = context.doc, context.say
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    dated = sorted(((at, c) for c in checks if (at := began(context, c)) is not None), key=lambda pair: pair[0])
    saves = [s for m in context.run.metrics if "save_checkpoint" in m for s in context.run.series(m)[0]]
    if not dated:
        summary = say("trust.no_onset" if covered(context.run) else "trust.not_covered")
        doc.paragraph(f"**{summary}**")
        return Verdict(
            "healthy" if covered(context.run) and not checks else "insufficient_data", unmark(summary), "medium"
        )
    onset, first = dated[0]
    finding = told(context, [first])[0]
    before = [s for s in saves if s < onset]
    if onset <= context.run.distinct_steps[0]:
        summary = say("trust.from_start", first=finding.sentence)
    elif before:
        summary = say("trust.saved_before", onset=onset, save=max(before), first=finding.sentence)
    else:
        summary = say("trust.before", onset=onset, first=finding.sentence)
    doc.paragraph(f"**{summary}**")
    lines = [finding.line]
    if not saves:
        lines.append(say("trust.saves_unknown"))
    elif not before:
        lines.append(say("trust.saves_late", steps=doc.show(saves[:8])))
    later = [(at, c) for at, c in dated[1:3] if at > onset]
    lines += [one.sentence for one in told(context, [c for _, c in later])]
    doc.bullets(lines)
    worst = "critical" if any(c.severity == "critical" for c in checks) else "warning"
    return Verdict(worst, unmark(summary), "medium")
