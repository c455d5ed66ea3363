"""Answers to follow-ups that lean on the values told before: which is higher, later, moved more, by how much, times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask.answer_computed import deviation
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.part import part_of, shown, statistic
from assistant.ask.parts import number
from assistant.ask.query import Told
from assistant.ask.recalled import Asked, asked
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number, percent, signed

_VALUES: Final[dict[str, Callable[[tuple[float, ...]], float]]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": median,
    "std": deviation,
    "max": max,
    "min": min,
}
_UNITS: Final = {"hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "milliseconds": 0.001}
_NEAR: Final = 1e-9
#: Kinds of numbers of which differences compare as they are.
_ALIKE: Final = {"fraction", "seconds", "tokens", "gib"}


def attempt(context: Context) -> Verdict | None:
    """The answer to a follow-up that leans on what was told; ``None`` (nothing written) for any other question."""
    held = context.query.recalled
    if not held or len(context.runs) != 1:
        return None
    text = normalised(context.query.wording or context.query.text)
    found = asked(text)
    said = None
    if found is not None and found.kind in {"which", "later", "sooner"}:
        said = _which(context, found, held, text)
    elif found is not None and found.kind == "moved":
        said = _moved(context, held, text)
    elif found is not None and found.kind == "gap":
        said = _gap(context, found, [_side(context, side, held[-1]) for side in found.sides])
    elif found is not None and found.kind == "between":
        said = _gap(context, found, sorted(held[-2:], key=lambda one: one.steps, reverse=True))
    elif found is not None:
        said = _product(context, found, held[-1])
    if said is None:
        return None
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(dict.fromkeys(one.metric for one in held))
    context.settled = True
    return Verdict("answered", unmark(said))


def _fact(context: Context, one: Told) -> Fact | None:
    """What was told, looked up again; ``None`` where it is no finite number."""
    if len(one.steps) == 1:
        fact = context.value(one.metric, one.steps[0])
    else:
        scope = Scope(first=one.steps[0], last=one.steps[-1]) if one.steps else Scope()
        part = part_of(context, one.metric, scope)
        if not len(part) or one.statistic not in _VALUES:
            return None
        fact = statistic(context, part, one.statistic, _VALUES[one.statistic](part.values), one.statistic)
    return fact if fact is not None and math.isfinite(number(fact)) else None


def _label(context: Context, one: Told, *, named: bool) -> str:
    """How a value is called: the step, the extreme or the mean, with the metric where there are several."""
    name = context.say("recall.of", metric=one.metric) if named else ""
    if len(one.steps) == 1:
        phrase = f"recall.{one.statistic}" if one.statistic in {"max", "min"} else "recall.step"
        return context.say(phrase, step=one.steps[0], name=name).strip()
    what = context.say(f"portion_name.{one.statistic}")
    if not one.steps:
        return context.say("recall.over_all", what=what, name=name).strip()
    return context.say("recall.over", what=what, a=one.steps[0], b=one.steps[-1], name=name).strip()


def _which(context: Context, found: Asked, held: Sequence[Told], text: str) -> str | None:
    """Which of the values told is the highest (lowest), or stands latest (first)."""
    facts = [_fact(context, one) for one in held]
    kinds = {context.kind_of(one.metric) for one in held}
    if any(fact is None for fact in facts) or (found.kind == "which" and len(kinds) > 1):
        return None
    pairs = [(one, fact) for one, fact in zip(held, facts, strict=True) if fact is not None]
    low = words("recalled")["low"].search(text) is not None and words("recalled")["high"].search(text) is None
    if found.kind == "which":
        pick = (min if low else max)(pairs, key=lambda pair: number(pair[1]))
        tied = sum(math.isclose(number(fact), number(pick[1]), rel_tol=_NEAR) for _, fact in pairs) > 1
    else:
        pick = (max if found.kind == "later" else min)(pairs, key=lambda pair: pair[0].steps[0])
        tied = len({pair[0].steps[0] for pair in pairs}) < len(pairs)
    named = len({one.metric for one in held}) > 1
    items = context.join(
        context.say("recall.item", what=_label(context, one, named=named), v=shown(context, fact, one.metric))
        for one, fact in pairs
    )
    steps = sorted({step for one in held for step in one.steps})
    context.query = replace(context.query, steps=_slot(steps), op=None, asked_op=None)
    if tied:
        return context.say("recall.tied", items=items)
    side = found.kind if found.kind != "which" else "low" if low else "high"
    return context.say(f"recall.which_{side}", what=_label(context, pick[0], named=named), items=items)


def _slot(steps: Sequence[int]) -> StepSlot:
    """Steps in the contract's terms; of a part, and of more than two, the whole run."""
    if len(steps) == 1:
        return StepSlot("single", tuple(steps))
    return StepSlot("pair", tuple(steps)) if len(steps) == 2 else StepSlot("all")


def _moved(context: Context, held: Sequence[Told], text: str) -> str | None:
    """Which of several metrics changed most, over the steps told of each, or over the run."""
    changes = []
    for one in held:
        steps = context.run.series(one.metric)[0]
        ends = one.steps if len(one.steps) > 1 and one.of_two else (steps[0], steps[-1])
        change = context.ledger.change(one.metric, ends[0], ends[-1])
        if change is None or change.delta is None or not change.from_value:
            return None
        changes.append((one.metric, change))
    kinds = {context.kind_of(metric) for metric, _ in changes}
    plainly = len(kinds) == 1 and kinds <= _ALIKE
    sizes = {m: (c.delta or 0.0) if plainly else (c.delta or 0.0) / abs(c.from_value or 1.0) for m, c in changes}
    up = words("recalled")["risen"].search(text) is not None
    down = words("recalled")["fallen"].search(text) is not None
    sign = 1 if up and not down else -1 if down and not up else 0
    top = max(sizes, key=lambda metric: sizes[metric] * sign if sign else abs(sizes[metric]))
    items = []
    for metric, change in changes:
        share = context.ledger.derived(
            f"relative change of {metric}/{change.from_step}-{change.to_step}",
            (change.delta or 0.0) / abs(change.from_value or 1.0), inputs=[change], unit="fraction",
            formula="change / first value",
        )  # fmt: skip
        rel = 100 * number(share)
        delta = signed(change.delta or 0.0, context.kind_of(metric), language=context.language)
        items.append(
            context.say(
                "recall.change", metric=metric, c=change, delta=mark(change.id, delta),
                share=mark(share.id, f"{'+' if rel > 0 else ''}{percent(rel)}%"),
            )
        )  # fmt: skip
    context.query = replace(context.query, steps=StepSlot("all"), op=None, asked_op=None)
    if sign and sizes[top] * sign <= 0:
        return context.say("recall.none_moved", items=context.join(items))
    how = context.say("recall.by_size" if plainly else "recall.by_share")
    way = "recall.rose_most" if sign > 0 else "recall.fell_most" if sign < 0 else "recall.moved_most"
    return context.say(way, metric=top, how=how, items=context.join(items))


def _side(context: Context, side: str, one: Told) -> Told:
    """What a side of a comparison stands for."""
    steps = context.run.series(one.metric)[0]
    if side == "told":
        return one
    if side.startswith("step:"):
        return Told(one.metric, int(side[5:]), int(side[5:]))
    if side in {"first", "last"}:
        end = steps[0 if side == "first" else -1]
        return Told(one.metric, end, end)
    if side in {"max", "min"}:
        part = part_of(context, one.metric, Scope())
        at = part.steps[part.values.index((max if side == "max" else min)(part.values))]
        return Told(one.metric, at, at, side)
    return Told(one.metric, statistic=side)


def _gap(context: Context, found: Asked, sides: Sequence[Told]) -> str | None:
    """By how much one of two values is above the other, and whether within so many per cent."""
    a, b = sides
    one = a
    x, y = _fact(context, a), _fact(context, b)
    if x is None or y is None or a == b:
        return None
    delta = number(x) - number(y)
    gap = context.ledger.derived(
        f"difference of {x.id} and {y.id}", abs(delta), inputs=[x, y], formula="|one − the other|"
    )
    kind = context.kind_of(one.metric)
    d = mark(gap.id, signed(abs(delta), kind, language=context.language).lstrip("+"))
    values = {
        "metric": key(one.metric), "x": _label(context, a, named=False), "y": _label(context, b, named=False),
        "vx": shown(context, x, one.metric), "vy": shown(context, y, one.metric), "d": d, "share": "",
    }  # fmt: skip
    if number(y) > 0 and delta:
        share = context.ledger.derived(
            f"relative difference of {x.id} and {y.id}", abs(delta) / number(y), inputs=[x, y], unit="fraction",
            formula="|one − the other| / the other",
        )  # fmt: skip
        values["share"] = context.say("recall.share", v=mark(share.id, f"{percent(100 * number(share))}%"))
    steps = sorted({step for side in (a, b) for step in side.steps})
    slot = (
        StepSlot("all")
        if not steps
        else StepSlot("single" if len(steps) == 1 else "pair", (steps[0], steps[-1])[: len(steps)])
    )
    op: Op | None = next((o for o in ("mean", "max", "min") if o in found.sides), None)
    context.query = replace(context.query, steps=slot, op=op, asked_op=op)
    if not delta:
        return context.say("recall.same", **{name: values[name] for name in ("metric", "x", "y", "vx")})
    said = context.say("recall.higher" if delta > 0 else "recall.lower", **values)
    if found.number and number(y) > 0:
        limit = context.ledger.constant("margin", found.number / 100, "the question", "fraction")
        inside = abs(delta) <= found.number / 100 * number(y)
        text = mark(limit.id, f"{percent(found.number)}%")
        return context.say("recall.within" if inside else "recall.beyond", limit=text, said=said)
    return said


def _product(context: Context, found: Asked, one: Told) -> str | None:
    """What was told times a number, or in another unit."""
    fact, kind = _fact(context, one), context.kind_of(one.metric)
    scale = {"seconds": 1.0, "milliseconds": 0.001}.get(kind)
    if fact is None or (found.unit and scale is None) or (found.kind == "unit" and scale is None):
        return None
    factor = found.number if found.kind == "times" else 1.0
    value = number(fact) * factor
    context.query = replace(
        context.query, steps=StepSlot("single", one.steps) if len(one.steps) == 1 else StepSlot("all")
    )
    v = shown(context, fact, one.metric)
    what = _label(context, one, named=True)
    text = ""
    if scale is not None:
        unit = found.unit or "seconds"  # the fact is in seconds, whatever unit it is told in
        own = context.ledger.derived(
            f"{fact.name or fact.metric} × {factor:g}", value * scale, inputs=[fact], unit="s",
            formula=f"value × {factor:g} × {scale:g} s",
        )  # fmt: skip
        shown_value = mark(own.id, format_number(number(own) / _UNITS[unit], "number", language=context.language))
        text = context.say(f"recall.in_{unit}", v=shown_value)
    else:
        own = context.ledger.derived(
            f"{fact.name or fact.metric} × {factor:g}", value, inputs=[fact], formula=f"value × {factor:g}"
        )
        text = shown(context, own, one.metric)
    if found.kind == "unit":
        return context.say("recall.unit", what=what, v=v, text=text)
    n = context.ledger.constant("factor", found.number, "the question")
    return context.say("recall.product", what=what, v=v, n=mark(n.id, f"{found.number:g}"), text=text)
