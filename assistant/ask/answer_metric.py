"""Answers about single metrics: definition, value, trend."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from assistant.analysis import derive
from assistant.analysis.checks import JUDGED, check_all, covered
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.context import Context, key
from assistant.knowledge import Card, difference
from assistant.model import Fact, Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

#: Families whose largest member is meant by "the longest": lengths and counts of single trajectories.
_EXTREMES = ("response_length", "prompt_length", "num_turns", "tool_call", "timing_s/agent_loop/")

_CLIP = "response_length/clip_ratio"
MOST_GAPS = 24


def named_keys(context: Context) -> list[str]:
    """The log's keys that a question names; a family named by its card gives all its keys in the log."""
    keys: list[str] = []
    for mention in context.query.mentions:
        if mention.key is not None:
            keys.append(mention.key)
        elif mention.card is not None and context.runs and not mention.specific:
            keys.extend(metric for metric in context.run.metrics if context.card(metric) is mention.card)
    return list(dict.fromkeys(keys))


def central(keys: list[str]) -> list[str]:
    """Of a family (mean, max, min …), the members that a question in plain words means: the means."""
    means = [k for k in keys if k.endswith("/mean")]
    return means if means and len(means) < len(keys) else keys


def unknown(context: Context, name: str) -> Verdict:
    """The answer about a metric that nobody knows: the nearest names, no guess."""
    near = context.resolver.nearest(name, 3, context.run.metrics if context.runs else ())
    text = context.say("define.unknown", name=name, near=context.join(map(key, near)))
    context.doc.paragraph(f"**{text}**")
    return Verdict("unknown_metric", unmark(text))


# -- define -------------------------------------------------------------------------------------
def define(context: Context) -> Verdict:
    """Definition of each metric named, with its values in the log."""
    cards: list[tuple[Card, str]] = []
    for mention in context.query.mentions:
        card = context.card(mention.key) if mention.key is not None else mention.card
        if card is not None and all(card is not known for known, _ in cards):
            cards.append((card, mention.key or mention.text))
    if not cards and named_keys(context):  # a key of the log that no card explains: its values, and that said
        context.doc.paragraph(context.say("define.no_card", names=context.join(map(key, named_keys(context)[:3]))))
        enough = any(len(context.run.series(name)[0]) >= MIN_POINTS for name in named_keys(context))
        several = enough and context.query.steps.kind in {"none", "all", "range", "last_n"}
        return replace(trend(context) if several else lookup(context), code="answered")
    if not cards:
        nameless = next((m.text for m in context.query.mentions), None)
        if nameless is not None:
            return unknown(context, nameless)
        near = ["actor/entropy", "actor/ppo_kl", "critic/rewards/mean"]
        text = context.say("define.which", near=context.join(map(key, near)))
        context.doc.paragraph(f"**{text}**")
        return Verdict("unknown_metric", unmark(text))
    first_summary = ""
    for card, named in cards[:3]:
        summary = define_card(context, card, named)
        first_summary = first_summary or summary
    return Verdict("answered", unmark(first_summary))


def define_card(context: Context, card: Card, named: str = "") -> str:
    """One card: what it is, how to read it, what it does not mean, the log's values, formula, source.

    ``named`` is the key that the question spells or stands for, where it is one of the log's.
    """
    doc, say, language = context.doc, context.say, context.language
    held = [m for m in context.run.metrics if context.card(m) is card] if context.runs else []
    if named in held:
        held = [named]
    shown = held[0] if len(held) == 1 else card.keys[0]
    title, source = card.title(language), card.source
    short = doc.quote(card.id, title, source, card.short(language).rstrip("。."))
    summary = say("define.summary", key=shown, short=short)
    doc.paragraph(f"**{summary}**")
    framework = context.run.framework if context.runs else None
    if framework is not None and not card.own and card.framework not in {framework, "concept"}:
        doc.paragraph(say("define.foreign", framework=card.framework, own=framework))
    _says(context, card)
    if context.query.depth != "brief" and card.section(language, "read"):
        doc.heading("section.means")
        doc.paragraph(context.quote(card, "read"))
    _here(context, central(held), card)
    if card.section(language, "not"):
        doc.heading("section.not")
        doc.paragraph(context.quote(card, "not"))
    if context.query.depth != "brief" and card.section(language, "next"):
        doc.heading("section.next")
        doc.paragraph(context.quote(card, "next"))
    lines = []
    if card.own:
        lines += _stated(context, card)
    elif card.category != "concept":
        quoted = doc.quote(card.id, title, source, card.formula)
        lines.append(say("define.formula", formula=quoted, unit=doc.quote(card.id, title, source, card.unit)))
        present = doc.quote(card.id, title, source, card.present_when(language).rstrip("。."))
        lines.append(say("define.present", text=present))
    others = _also(context, card)
    if others:
        lines.append(say("define.also", items=others))
    lines.append(say("define.source", source=doc.quote(card.id, title, source, source), ref=context.cite(card)))
    doc.bullets(lines)
    context.metrics.extend(central(held) or [card.keys[0]])
    return summary


def _says(context: Context, card: Card) -> None:
    """What it is, in the card's words; a team's own document is shown as the quotation it is."""
    if not card.own:
        context.doc.paragraph(context.quote(card, "is"))
        return
    title, source = card.title(context.language), card.source
    lines = [line.strip() for line in card.section(context.language, "is").split("\n") if line.strip()]
    quoted = [f"> {context.doc.quote(card.id, title, source, line)}" for line in lines]
    context.doc.blocks.append("\n".join([*quoted[:-1], f"{quoted[-1]} {context.cite(card)}"]))


def _stated(context: Context, card: Card) -> list[str]:
    """Formula and unit, where a team's document states them, and what the shipped card of the key says."""
    doc, say, language = context.doc, context.say, context.language
    title, source, lines = card.title(language), card.source, []
    if card.formula:
        lines.append(say("define.own_formula", formula=doc.quote(card.id, title, source, card.formula)))
    if card.unit:
        lines.append(say("define.own_unit", unit=doc.quote(card.id, title, source, card.unit)))
    found = context.resolver.shipped_key(card.keys[0], context.run.framework if context.runs else None)
    if found is not None:
        other = found.card
        short = context.short(other).rstrip("。.")
        lines.append(say("define.shipped", framework=other.framework, short=short, ref=context.cite(other)))
        theirs = other.meta.get("healthy")
        if theirs and difference(card, other) is not None:
            mine = doc.quote(card.id, title, source, card.meta["healthy"][language])
            words = doc.quote(other.id, other.title(language), other.source, theirs[language])
            lines.append(say("define.differs", own=mine, other=words))
    return lines


def _also(context: Context, card: Card) -> str:
    parts = []
    for other in card.meta.get("also", ()):
        names = ", ".join(key(name) for name in other["keys"])
        text = f"{other['framework']} {names}"
        if "differs" in other:
            difference = other["differs"][context.language].rstrip("。.")
            text += f"（{difference}）" if context.language == "zh" else f" ({difference})"
        parts.append(context.doc.quote(card.id, card.title(context.language), card.source, text))
    return ("；" if context.language == "zh" else "; ").join(parts)


def _here(context: Context, keys: list[str], card: Card) -> None:
    if not keys:
        return
    wanted = context.query.steps.values if context.query.steps.kind in {"single", "pair"} else ()
    items = []
    for metric in keys[:3]:
        steps, _ = context.run.series(metric)
        chosen = [s for s in steps if s in wanted] if wanted else (steps if len(steps) <= 4 else [steps[0], steps[-1]])
        facts = [f for s in chosen if (f := context.value(metric, s)) is not None]
        if facts:
            name = f"{key(metric)} " if len(keys) > 1 else ""
            joined = context.join(context.say("define.here_item", v=fact) for fact in facts)
            items.append(name + joined)
    if not items:
        return
    lines = [context.say("define.here", values=("；" if context.language == "zh" else "; ").join(items))]
    if card.direction in {"target_range", "context", "neutral"} and not card.meta.get("healthy"):
        lines.append(context.say("define.no_norm"))
    context.doc.paragraph(*lines)


# -- lookup -------------------------------------------------------------------------------------
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
            return define(context)
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
        return Verdict("no_data", unmark(text))
    if context.query.op in {"max", "min", "argmax", "argmin"} or (context.query.op is None and len(keys) > 1):
        keys = _variant(context, keys, context.query.op)
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
        texts.append(context.say("lookup.one", metric=metric, v=fact) if fact else _absent(context, metric, [step]))
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


def _variant(context: Context, keys: list[str], op: Op | None) -> list[str]:
    """With "the largest response length" the ``/max`` key is meant; without such a word, the means."""
    suffix = {"max": "/max", "min": "/min", "argmax": "/max", "argmin": "/min"}.get(op or "", "")
    sibling = [k[: -len("/mean")] + suffix for k in keys if suffix and k.endswith("/mean") and k.startswith(_EXTREMES)]
    if sibling and not re.search(r"平均|均值|mean|average", context.query.text):
        return [k for k in sibling if k in context.run.columns] or central(keys)
    exact = [k for k in keys if suffix and k.endswith(suffix)]
    return exact or central(keys)


def wanted_steps(context: Context, metric: str) -> list[int]:
    """Steps at which a metric is asked for, of those that hold it (all where none is named)."""
    steps, _ = context.run.series(metric)
    slot = context.query.steps
    if slot.kind in {"single", "pair"}:
        return list(slot.values)
    if slot.kind == "range":
        return [s for s in steps if slot.values[0] <= s <= slot.values[1]]
    if slot.kind == "last_n":
        return steps[-slot.values[0] :]
    if slot.kind == "last":
        return steps[-1:]
    if slot.kind == "first":
        return steps[:1]
    return steps


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
        return _absent(context, metric, steps), False
    number = context.ledger.count("values", len(held), metric=metric)
    shown = held if len(held) <= 24 else held[-24:]
    rows = [[context.doc.step(f.step or 0), context.doc.show(f), f"L{f.line}"] for f in shown]
    context.doc.table([say("head.step"), key(metric), "line" if context.language == "en" else "行"], rows)
    context.chart(context.title(metric), [metric])
    gaps = [_absent(context, metric, [s]) for s in steps if context.value(metric, s) is None]
    return " ".join([say("lookup.many", metric=metric, n=number), *gaps]), True


def _absent(context: Context, metric: str, steps: list[int]) -> str:
    step = steps[0] if steps else context.run.distinct_steps[-1]
    gap = context.ledger.missing(metric, step)
    reason = context.run.missing_at(metric, step)
    if reason is not None:
        return context.say("lookup.missing_cut" if gap.limit else "lookup.missing_half", metric=metric, gap=gap)
    steps_held, _ = context.run.series(metric)
    return context.say("lookup.not_there", metric=metric, gap=gap, steps=steps_text(context, steps_held))


def steps_text(context: Context, steps: list[int]) -> str:
    """Steps as a list, or as a range when there are many."""
    if len(steps) <= 8:
        return context.doc.show(steps)
    count = context.ledger.count("steps", len(steps))
    return context.say("steps.range", first=steps[0], last=steps[-1], n=count)


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
def trend(context: Context) -> Verdict:
    """Trend of the metrics named, or of the main ones; the verdict is the first one's direction."""
    from assistant.ask.parts import headlines

    keys = central(named_keys(context))
    if not keys and any(m.card is None for m in context.query.mentions):
        return unknown(context, next(m.text for m in context.query.mentions if m.card is None))
    if not keys and context.query.mentions:
        return lookup(context)
    if not keys:
        last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
        keys = headlines(context, last)[:8]
    context.metrics.extend(keys[:8])
    texts, code = [], "inconclusive"
    for position, metric in enumerate(keys[:8]):
        steps = wanted_steps(context, metric)
        fact = context.ledger.trend(metric, steps)
        if fact is None or fact.first_step is None or fact.last_step is None:
            texts.append(_absent(context, metric, steps))
            continue
        text = _trend_text(context, metric, fact)
        texts.append(text)
        if position == 0:
            code = fact.direction or "inconclusive"
    if len(texts) == 1:
        context.doc.paragraph(f"**{texts[0]}**")
        _trend_detail(context, keys[0], code)
    else:
        context.doc.bullets(texts)
    context.chart(context.title(keys[0]), keys[:4])
    summary = unmark(texts[0])
    return Verdict(code, summary, "low" if code == "inconclusive" else "medium")


def health(context: Context, keys: list[str]) -> Verdict:
    """Whether single metrics look normal: what rules say of them, their trend, and that there is no universal norm."""
    doc, steps = context.doc, context.train_steps or list(context.run.distinct_steps)
    slot = context.query.steps
    chosen = [s for s in slot.values if s in steps] if slot.kind == "single" else steps
    found = [c for c in check_all(context.ledger, chosen or steps) if set(c.metrics) & set(keys)]
    sentences = [context.finding(check) for check in found]
    texts = []
    for metric in keys[:3]:
        trend = context.ledger.trend(metric, None)
        if trend is None:
            continue
        texts.append(_trend_text(context, metric, trend))
        if slot.kind == "single" and (fact := context.value(metric, slot.values[0])) is not None:
            texts.insert(0, context.say("lookup.one", metric=metric, v=fact))
    count = context.ledger.count("training_steps", len(context.train_steps))
    judged = any(metric.startswith(JUDGED) for metric in keys)
    quiet = "health.metric_clean" if judged else "health.metric_unjudged"
    summary = sentences[0] if sentences else context.say(quiet, names=context.join(map(key, keys)), n=count)
    doc.paragraph(f"**{summary}**")
    doc.bullets([*sentences[1:], *texts])
    if len(keys) == 1 and slot.kind != "single":
        _values_table(context, keys[0])
    doc.paragraph(context.say("define.no_norm"))
    for metric in keys[:3]:
        doc.paragraph(context.gloss(metric))
    context.metrics.extend(keys)
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in found)), None)
    enough = judged and len(context.train_steps) >= MIN_POINTS and covered(context.run)
    return Verdict(worst or ("healthy" if enough else "insufficient_data"), unmark(summary), "medium")


def _trend_text(context: Context, metric: str, fact: Fact) -> str:
    """A trend in words: its ends, its levels, values lost to cuts, and what a large p-value beside it means."""
    ends = {
        "first": context.value(metric, fact.first_step or 0),
        "last": context.value(metric, fact.last_step or 0),
    }
    phrase = "single" if fact.n == 1 else fact.direction
    texts = [context.say(f"trend.{phrase}", metric=metric, t=fact, **ends)]
    levels = context.levels(metric, fact)
    if levels:
        texts.append(context.say("trend.moved", **levels))
    lost = sorted({g.step for g in context.run.missing if g.metric == metric and g.step in context.run.steps})
    if lost and len(lost) <= MOST_GAPS:
        for step in lost:
            context.ledger.missing(metric, step)
        texts.append(context.say("trend.gaps", steps=lost))
    if fact.direction in {"rising", "falling"} and (fact.p_value or 0) >= 0.05:
        texts.append(context.say("trend.level"))
    return ("" if context.language == "zh" else " ").join(texts)


def _trend_detail(context: Context, metric: str, code: str) -> None:
    doc, say = context.doc, context.say
    _values_table(context, metric)
    if code == "inconclusive":
        least = context.ledger.constant("least_points", MIN_POINTS, "trend")
        doc.paragraph(say("trend.few_note", least=least))
    card = context.card(metric)
    if card is not None:
        if card.direction not in {"higher_better", "lower_better"} and code in {"rising", "falling"}:
            doc.paragraph(say("trend.direction_note"))
        doc.paragraph(context.gloss(metric))


def _values_table(context: Context, metric: str) -> None:
    """Up to twelve values of a metric, evenly picked."""
    doc, say = context.doc, context.say
    steps = [s for s in wanted_steps(context, metric) if context.run.value(metric, s) is not None]
    shown = steps if len(steps) <= 12 else [steps[round(i * (len(steps) - 1) / 11)] for i in range(12)]
    rows = []
    for step in shown:
        fact = context.value(metric, step)
        if fact is not None:
            rows.append([doc.step(step), doc.show(fact)])
    if len(rows) > 1:
        doc.table([say("head.step"), key(metric)], rows)
