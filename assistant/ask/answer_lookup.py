"""Answers to "how much": values at steps, counts, largest and smallest."""

from __future__ import annotations

import math

from assistant.analysis import derive
from assistant.ask.context import Context, key
from assistant.ask.naming import absent, named_keys, steps_text, unknown, variant, wanted_steps, which
from assistant.knowledge import Card
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_CLIP = "response_length/clip_ratio"


def lookup(context: Context) -> Verdict:
    """Values of the metrics named, at the steps named, under the operation named."""
    pairs = _paired(context)
    if pairs:
        return _pairs(context, pairs)
    if context.query.op == "count" and not context.query.mentions:
        return _count_steps(context)
    keys = named_keys(context)
    if not keys:
        lost = next((m.text for m in context.query.mentions), None)
        if lost is None:
            return which(context)
        known = next((m.card for m in context.query.mentions if m.card is not None), None)
        if known is None:
            return unknown(context, lost)
        cut = _lost_in_a_cut(context, lost)
        if cut is not None:
            return cut
        near = context.resolver.nearest(lost, 3, context.run.metrics, only_keys=True)
        text = context.say(
            "lookup.other_metric",
            metric=lost if "{" in known.keys[0] else known.keys[0],
            near=context.join(map(key, near)),
        )
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(_when_logged(context, known))
        return Verdict("no_data", unmark(text))
    if context.query.op in {"max", "min", "argmax", "argmin"} or (context.query.op is None and len(keys) > 1):
        keys = variant(context, keys, context.query.op)
    context.metrics.extend(keys)
    texts: list[str] = []
    found = False
    slot = len(context.doc.blocks)
    context.doc.blocks.append("")
    for metric in keys[:8]:
        text, ok = _one(context, metric)
        texts.append(text)
        found = found or ok
    if len(texts) == 1:
        context.doc.blocks[slot] = f"**{texts[0]}**"
    else:
        context.doc.blocks[slot] = "\n".join(f"- {text}" for text in texts)
    for metric in keys[:3]:
        context.doc.paragraph(context.gloss(metric))
    return Verdict("answered" if found else "no_data", unmark(texts[0]))


def _when_logged(context: Context, card: Card) -> str:
    """What a metric that the log lacks needs to be logged, in its card's words."""
    when = card.present_when(context.language).rstrip("。.")
    if not when or when == "—":
        return ""
    quoted = context.doc.quote(card.id, card.title(context.language), card.source, when)
    return f"{context.say('define.present', text=quoted)} {context.cite(card)}"


def _count_steps(context: Context) -> Verdict:
    """How many steps the log holds, and of which kind."""
    steps = context.run.distinct_steps
    text = context.say(
        "lookup.steps", n=context.ledger.count("steps", len(steps)), first=steps[0], last=steps[-1],
        train=context.ledger.count("training_steps", len(context.train_steps)),
        val=context.ledger.count("validations", len(context.validation_steps)),
    )  # fmt: skip
    context.doc.paragraph(f"**{text}**")
    return Verdict("answered", unmark(text))


def _paired(context: Context) -> list[tuple[str, int]]:
    """Metrics each with a step of its own ("entropy at step 1 and the score at step 3"); else nothing."""
    query = context.query
    if len(query.mentions) < 2 or len(query.mentions) != len(query.step_marks):
        return []
    order = sorted([(m.start, 0) for m in query.mentions] + [(at, 1) for at, _ in query.step_marks])
    kinds = [kind for _, kind in order]
    if kinds not in ([0, 1] * len(query.mentions), [1, 0] * len(query.mentions)):
        return []
    keys = [m.key for m in query.mentions]
    return [(k, step) for k, (_, step) in zip(keys, query.step_marks, strict=True) if k is not None]


def _pairs(context: Context, pairs: list[tuple[str, int]]) -> Verdict:
    texts, found = [], False
    for metric, step in pairs:
        fact = context.value(metric, step)
        found = found or fact is not None
        texts.append(context.say("lookup.one", metric=metric, v=fact) if fact else absent(context, metric, [step]))
    context.metrics.extend(metric for metric, _ in pairs)
    context.doc.bullets(texts)
    return Verdict("answered" if found else "no_data", unmark(texts[0]))


def _lost_in_a_cut(context: Context, name: str) -> Verdict | None:
    """A metric of which no row holds a value, asked for at a step whose line was cut: it may stand after the cut."""
    slot = context.query.steps
    only = len(context.run.distinct_steps) == 1
    steps = slot.values if slot.kind in {"single", "pair"} else context.run.distinct_steps
    gap = next((g for s in steps for g in context.run.missing if g.step == s), None)
    cut = {g.step for g in context.run.missing}
    kind = context.validation_steps if "@" in name or name.startswith("val") else context.train_steps
    if gap is None or (slot.kind not in {"single", "pair"} and not only) or any(step not in cut for step in kind):
        return None  # a whole row of this kind lacks the metric: it is not logged, rather than lost
    reason = f"line cut at {gap.limit} characters" if gap.limit else "line cut"
    fact = context.ledger.add(
        ("missing", context.run.id, name, gap.step), kind="missing", run=context.run.id, metric=name, step=gap.step,
        reason=reason, line=gap.line, limit=gap.limit,
    )  # fmt: skip
    text = context.say("lookup.missing_cut" if gap.limit else "lookup.missing_half", metric=name, gap=fact)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(name)
    return Verdict("no_data", unmark(text))


def _one(context: Context, metric: str) -> tuple[str, bool]:
    say, steps = context.say, wanted_steps(context, metric)
    held = [f for s in steps if (f := context.value(metric, s)) is not None]
    if (context.query.op is not None or context.query.threshold is not None) and len(held) > 1:
        return _operation(context, metric, held), True
    if len(held) == 1 and len(steps) == 1:
        text = say("lookup.one", metric=metric, v=held[0])
        clipped = derive(context.ledger, "clipped_trajectories", steps[0]) if metric == _CLIP else None
        batch = derive(context.ledger, "trajectories_per_step", steps[0]) if clipped else None
        if clipped is not None and batch is not None:
            text += ("" if context.language == "zh" else " ") + say("lookup.clipped", count=clipped, batch=batch)
        return text, True
    if not held:
        return absent(context, metric, steps), False
    number = context.ledger.count("values", len(held), metric=metric)
    shown = held if len(held) <= 24 else held[-24:]
    rows = [[context.doc.step(f.step or 0), context.doc.show(f), f"L{f.line}"] for f in shown]
    context.doc.table([say("head.step"), key(metric), "line" if context.language == "en" else "行"], rows)
    context.chart(context.title(metric), [metric])
    gaps = [absent(context, metric, [s]) for s in steps if context.value(metric, s) is None]
    return " ".join([say("lookup.many", metric=metric, n=number), *gaps]), True


def _operation(context: Context, metric: str, held: list[Fact]) -> str:
    say, op = context.say, context.query.op
    numbers = [(float(f.value), f) for f in held if isinstance(f.value, (int, float)) and not math.isnan(f.value)]
    if not numbers:
        return say("lookup.many", metric=metric, n=context.ledger.count("values", len(held), metric=metric))
    count = context.ledger.count("values", len(numbers), metric=metric)
    if op in {"max", "argmax", "min", "argmin"}:
        which = "max" if op in {"max", "argmax"} else "min"
        extreme = (max if which == "max" else min)(value for value, _ in numbers)
        ties = [fact for value, fact in numbers if value == extreme]
        if len(ties) == 1:
            return say(f"lookup.{which}", metric=metric, v=ties[0], n=count)
        shared = context.ledger.count(f"steps at the {which}imum", len(ties), metric=metric)
        word, at = say(f"lookup.which_{which}"), steps_text(context, [fact.step or 0 for fact in ties])
        return say("lookup.tie", which=word, metric=metric, v=ties[0], m=shared, n=count, steps=at)
    if op == "mean":
        mean = context.ledger.derived(
            f"mean({metric})", math.fsum(v for v, _ in numbers) / len(numbers), formula=f"mean of {metric}",
            inputs=[f for _, f in numbers],
        )  # fmt: skip
        kind = context.kind_of(metric)
        return say("lookup.mean", metric=metric, n=count, v=context.doc.show(mean, None, kind))
    if context.query.threshold is None:
        return say("lookup.many", metric=metric, n=count)
    side, limit = context.query.threshold
    over = [f for v, f in numbers if (v > limit if side == "above" else v < limit)]
    given = context.ledger.constant("threshold", limit, "the question")
    words = {"side": say(f"lookup.{side}"), "limit": context.doc.show(given)}
    if op == "count":
        total = context.ledger.count(f"steps {side} {limit:g}", len(over), metric=metric)
        return say("lookup.count", metric=metric, v=total, n=count, **words)
    if op is None and over:
        steps = [f.step or 0 for f in over]
        total = context.ledger.count(f"steps {side} {limit:g}", len(over), metric=metric)
        return say("lookup.list", metric=metric, v=total, n=count, steps=steps_text(context, steps), **words)
    if over:
        return say("lookup.first", metric=metric, v=over[0], **words)
    return say("lookup.never", metric=metric, n=count, **words)


# -- trend --------------------------------------------------------------------------------------
