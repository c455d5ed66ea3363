"""Whether two metrics of a log hold the same values."""

from __future__ import annotations

import math

from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import number
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_REWARDS = {"critic/score", "critic/rewards"}
CLOSE, MOST = 1e-9, 3


def same(context: Context) -> Verdict | None:
    """Whether the first two metrics named agree at every step; ``None`` where fewer than two are the log's."""
    keys = central(named_keys(context))
    if len(keys) < 2:
        return None
    text = equality(context, keys[0], keys[1])
    context.doc.paragraph(f"**{text}**")
    context.metrics.extend(keys[:2])
    for metric in keys[:2]:
        context.doc.paragraph(context.gloss(metric))
    return Verdict("answered", unmark(text))


def versus(context: Context, keys: list[str]) -> Verdict:
    """Two or more metrics of one run side by side: their values at one step, their difference, what each measures."""
    doc, say, run = context.doc, context.say, context.run
    slot = context.query.steps
    shared = sorted(set.intersection(*(set(run.series(key)[0]) for key in keys)))
    wanted = [s for s in shared if slot.kind == "single" and s in slot.values]
    step = wanted[0] if wanted else shared[0] if shared and slot.kind == "first" else shared[-1] if shared else None
    context.metrics.extend(keys)
    if step is None:
        text = say("same.no_common", a=keys[0], b=keys[1])
        doc.paragraph(f"**{text}**")
        return Verdict("not_comparable", unmark(text))
    facts = [fact for key in keys if (fact := context.value(key, step)) is not None]
    items = context.join(say("versus.item", metric=str(fact.metric), v=fact) for fact in facts)
    text = say("versus.values", step=step, items=items)
    kinds = {context.kind_of(key) for key in keys[:2]}
    finite = all(isinstance(f.value, (int, float)) and math.isfinite(f.value) for f in facts[:2])
    if len(kinds) == 1 and finite:
        gap = context.ledger.derived(
            f"{keys[0]} minus {keys[1]}", number(facts[0]) - number(facts[1]), inputs=facts[:2],
            formula=f"{keys[0]} − {keys[1]}", step=step,
        )  # fmt: skip
        shown = mark(gap.id, signed(number(gap), next(iter(kinds)), language=context.language))
        text += ("" if context.language == "zh" else " ") + say("versus.gap", d=shown)
    doc.paragraph(f"**{text}**")
    for metric in keys[:MOST]:
        doc.paragraph(context.gloss(metric))
        card = context.card(metric)
        if card is not None:
            doc.paragraph(context.quote(card, "not"))
    lines = []
    for metric in keys[:MOST]:
        trend = context.ledger.trend(metric)
        if trend is not None and (trend.n or 0) > 1:
            lines.append(trend_sentence(context, metric, trend))
    doc.bullets(lines)
    doc.paragraph(say("versus.note"))
    return Verdict("not_comparable", unmark(text), "medium")


def equality(context: Context, a: str, b: str) -> str:
    """At how many steps two metrics of a log differ, and where most, as a sentence."""
    say, ledger, run = context.say, context.ledger, context.run
    shared = [s for s in run.series(a)[0] if run.value(b, s) is not None]
    pairs = []
    for step in shared:
        va, vb = context.value(a, step), context.value(b, step)
        if va is not None and vb is not None and math.isfinite(number(va)) and math.isfinite(number(vb)):
            pairs.append((va, vb))
    if not pairs:
        return say("same.no_common", a=a, b=b)
    count = ledger.count("steps with both", len(pairs), metric=a)
    apart = [(va, vb) for va, vb in pairs if not math.isclose(number(va), number(vb), rel_tol=CLOSE, abs_tol=1e-12)]
    if not apart:
        va, vb = pairs[-1]
        return say("same.equal", a=a, b=b, n=count, va=va, vb=vb)
    va, vb = max(apart, key=lambda pair: abs(number(pair[0]) - number(pair[1])))
    differ = ledger.count("steps that differ", len(apart), metric=a)
    gap = ledger.derived(
        f"largest difference of {a} and {b}",
        number(va) - number(vb),
        inputs=[va, vb],
        formula=f"{a} − {b}",
        step=va.step,
    )
    kind = context.kind_of(a)
    shown = mark(gap.id, signed(number(gap), kind, language=context.language))
    text = say("same.differ", a=a, b=b, n=count, k=differ, va=va, vb=vb, d=shown)
    if {a.rsplit("/", 1)[0], b.rsplit("/", 1)[0]} == _REWARDS:
        text += ("" if context.language == "zh" else " ") + say("same.kl")
    return text
