"""What an identity that a log breaks is told as: the statement, where and by how much, and what may be behind it."""

from __future__ import annotations

from assistant.analysis.identities import Violation, identities
from assistant.ask.context import Context, key
from assistant.model import Finding
from assistant.write.document import unmark


def broken(context: Context, violation: Violation) -> str:
    """Registers a broken identity as a finding; returns its sentences (with marks)."""
    identity = identities()[violation.identity]
    facts = dict(violation.facts)
    name = f"identities#{identity.id}"
    law = identity.says(context.language)
    context.quotable[name] = law
    cells = ("、" if context.language == "zh" else ", ").join(key(metric) for metric in violation.metrics[:6])
    phrase = "identity.broken_one" if facts["broken"].value == 1 else "identity.broken_many"
    parts = [
        context.say(
            phrase, law=context.doc.quote(name, identity.id, identity.source, law), cells=cells,
            residual=facts["residual"], tested=facts["tested"], broken=facts["broken"],
        )
    ]  # fmt: skip
    if "suspect" in facts:
        parts.append(context.say("identity.suspect", suspect=facts["suspect"]))
    reason = violation.reasons[0]
    if reason == "other":
        void = identity.unless[context.language]
        context.quotable[f"{name}/unless"] = void
        quoted = context.doc.quote(f"{name}/unless", identity.id, identity.source, void)
        parts.append(context.say("identity.reason_other", unless=quoted))
    else:
        parts.append(context.say(f"identity.reason_{reason}"))
    sentence = ("" if context.language == "zh" else " ").join(parts)
    context.findings.append(
        Finding(
            f"F{len(context.findings) + 1}", f"identity/{identity.id}", violation.severity, violation.metrics,
            violation.steps, unmark(sentence), tuple(fact.id for fact in facts.values()),
        )
    )  # fmt: skip
    return sentence
