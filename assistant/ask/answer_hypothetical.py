"""What another setting would have done: one log cannot tell, which is said before what it does show."""

from __future__ import annotations

from typing import Final

from assistant.ask.answer_single import tail_of
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

MOST_METRICS: Final = 3
MOST_FINDINGS: Final = 2


def hypothetical(context: Context) -> Verdict:
    """That no log answers it, how the metrics named moved under the settings there were, and what rules say of them."""
    said = context.say("what_if.unknown")
    context.doc.paragraph(f"**{said}**")
    keys = [key for key in central(named_keys(context)) if key in context.run.columns][:MOST_METRICS]
    context.metrics.extend(keys)
    lines = []
    for metric in keys:
        trend = context.ledger.trend(metric)
        if trend is not None:
            sentence = trend_sentence(context, metric, trend)
            lines.append(sentence + tail_of(context, metric, sentence))
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    about = [c for c in checks if set(c.metrics) & set(keys)] or checks
    lines += [finding.whole(context.language) for finding in told(context, about[:MOST_FINDINGS])]
    if lines:
        context.doc.paragraph(context.say("what_if.shown"))
        context.doc.bullets(lines)
    context.doc.paragraph(context.say("what_if.try"))
    if keys:
        context.chart(context.title(keys[0]), keys[:1])
    return Verdict("insufficient_data", unmark(said), "medium")
