"""A metric of which no row holds a value because every line was cut before it."""

from __future__ import annotations

from assistant.ask.context import Context
from assistant.ask.naming import MOST_CUT
from assistant.knowledge import Card
from assistant.model import Fact, Verdict
from assistant.write.document import unmark


def spelling(context: Context, name: str, card: Card) -> str:
    """The key under which the log would hold a metric that is called by a name: ``timing_s/gen`` for ``gen``."""
    if "/" in name and "_" in name:
        return name
    stage = f"timing_s/{name}"
    if context.run.framework == "verl" and any(stage in known.keys for known in context.resolver.library):
        return stage
    own = _own_spelling(context, card)
    return name if own is None or ("_" in name and not own.endswith(f"/{name}")) else own


def _own_spelling(context: Context, card: Card) -> str | None:
    """The key under which the log's framework would log a metric; ``None`` where the cards do not tell."""
    if context.run.framework in {None, card.framework}:
        return None if "{" in card.keys[0] else card.keys[0]
    others = (other for other in card.meta.get("also", ()) if other["framework"] == context.run.framework)
    return next((other["keys"][0] for other in others if "{" not in other["keys"][0]), None)


def lost_in_a_cut(context: Context, name: str) -> Verdict | None:
    """A metric of which no row holds a value, asked for at steps whose lines were cut: it may stand after the cut."""
    slot = context.query.steps
    gaps = {gap.step: gap for gap in context.run.missing}
    kind = context.validation_steps if "@" in name or name.startswith("val") else context.train_steps
    steps = slot.values if slot.kind in {"single", "pair"} else kind[-1:] if slot.kind == "last" else kind
    cut = [step for step in steps if step in gaps]
    if not cut or any(step not in gaps for step in kind):
        return None  # a whole row of this kind lacks the metric: it is not logged, rather than lost
    facts = [_gap(context, name, step) for step in cut]
    several = len(facts) > 1 and all(fact.limit for fact in facts)
    phrase = "lookup.missing_cuts" if several else "lookup.missing_cut" if facts[0].limit else "lookup.missing_half"
    text = context.say(phrase, metric=name, gap=facts[0], steps=context.doc.show(cut[:MOST_CUT]))
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(name)
    return Verdict("no_data", unmark(text))


def _gap(context: Context, name: str, step: int) -> Fact:
    gap = next(one for one in context.run.missing if one.step == step)
    return context.ledger.add(
        ("missing", context.run.id, name, step), kind="missing", run=context.run.id, metric=name, step=step,
        reason=f"line cut at {gap.limit} characters" if gap.limit else "line cut", line=gap.line, limit=gap.limit,
    )  # fmt: skip
