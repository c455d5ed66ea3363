"""A quantity over parts of a run: a metric or a ratio of two, its mean (median, extreme, slope), one part or two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from assistant.analysis.compare_averaged import difference
from assistant.analysis.diagnosis import role
from assistant.analysis.timing import layout_of, total_key
from assistant.ask import answer_conditioned
from assistant.ask.answer_computed import deviation
from assistant.ask.answer_share_moved import moved
from assistant.ask.breakdowns import Breakdown, breakdown_in, breakdown_named
from assistant.ask.clauses import TWO_PARTS
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context, is_validation
from assistant.ask.intents import is_stage
from assistant.ask.lexicon import words
from assistant.ask.members import against
from assistant.ask.naming import central, named_keys
from assistant.ask.part import slot_of
from assistant.ask.parts import number
from assistant.ask.portions import Quantity, portions_in, ratio_asked, ratio_in
from assistant.ask.scope import Scope
from assistant.ask.stages import all_stages, part_of_step, stages_in
from assistant.ask.subject import words_of
from assistant.ask.windows import windows_in
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import capital, percent, signed

#: Fewest values of each part for an interval of the difference of their means.
LEAST: Final = 4
#: Up to so many values a statistic lists them as its inputs; of more, its formula names the range.
MOST_INPUTS: Final = 512
_INTENTS: Final = {"lookup", "trend", "compare", "bottleneck", "validation", "derive", "explain"}
_STATISTICS: Final = ("slope", "change", "median", "std", "mean", "max", "min")
_OPS: Final[dict[str, Op]] = {"mean": "mean", "max": "max", "min": "min"}


@dataclass(frozen=True, slots=True)
class Told:
    """A quantity over one part.

    Attributes:
        steps: those with a finite value.
        values: there.
        fact: the statistic.
        at: the value that is the statistic, of an extreme.
        over: the part as text.
    """

    steps: tuple[int, ...]
    values: tuple[float, ...]
    fact: Fact
    at: int | None
    over: str


def attempt(context: Context) -> Verdict | None:
    """Answers a question about a ratio, about two parts of a run, or about steps that another metric chooses.

    Returns:
        The verdict; ``None`` (nothing written) for any other question.
    """
    chosen = answer_conditioned.attempt(context)
    if chosen is not None:
        return chosen
    query = context.query
    if len(context.runs) != 1 or query.intent in {"define", "advice"} or query.follows == "depth":
        return None
    text = words_of(context)
    members = against(context)
    keys = [members.metric, str(members.of)] if members is not None else central(named_keys(context))
    of_step = _of_step(context, text)
    keys = of_step or _stage(context, text, keys) or keys or _validated(context, text)
    if not keys or len(keys) > 2 or words("portions")["judging"].search(text) or query.depth == "every":
        return None
    broken = breakdown_in(context, text)
    if broken is None and breakdown_named(text) and len(keys) == 1:
        return _unbroken(context, keys[0], text)
    if broken is not None:
        rest = [key for key in keys if key != broken.metric] or keys
        return _around(context, rest, broken)
    if query.intent not in _INTENTS:
        return None
    parts = portions_in(text, context.train_steps)
    ratio = members or ratio_in(query, text, keys, _whole(context, keys))
    if condition_in(text) is not None:
        return None
    name = next((name for name in _STATISTICS if words("portions")[name].search(text)), "") if members is None else ""
    if ratio is not None and ratio.minus and members is None and name not in {"mean", "max", "min", "median"}:
        ratio = None  # the values of one step have a writer of their own
    if ratio is None and len(parts) == 1 and name == "mean" and words("breakdowns")["moved"].search(text):
        parts = [*parts, *_complement(parts[0])]
    if ratio is None:
        return _two_parts(context, keys, parts, name, text)
    if ratio.share and ratio.of is not None and len(parts) < 2:
        told = moved(context, text, ratio.metric, ratio.of, [step for step, _, _ in _series(context, ratio, Scope())])
        if told is not None:
            return told
    pointed = query.steps.kind in {"single", "pair"} or (query.steps.kind in {"last", "first"} and len(keys) == 2)
    if pointed and not parts and ratio.of is not None:
        return _at_steps(context, ratio, named_both=len(keys) == 2 or bool(of_step))
    if not parts and words("portions")["trend"].search(text) and len(context.train_steps) >= 2 * LEAST:
        half = context.train_steps[len(context.train_steps) // 2]
        parts, name = [Scope(last=half - 1), Scope(first=half)], name or "mean"
    named_two = bool(of_step) or (len(keys) == 2 and not (ratio.share and ratio.of == _whole(context, keys[:1])))
    plain_share = not parts and not named_two and name not in {"max", "min", "median"}
    timed = "share" in query.topics or query.intent == "bottleneck"
    plain_share = plain_share and (timed or len(keys) < 2)
    if plain_share or (query.steps.kind in {"first", "last"} and not named_two and not parts):
        return None  # a stage's share of the last step has a writer of its own
    return _told(context, ratio, parts or [Scope()], name or "mean")


def _complement(scope: Scope) -> list[Scope]:
    """The other side of a part with one bound: what "did the mean fall after step 2000" compares it with."""
    if scope.without or scope.latest or (scope.first is None) == (scope.last is None):
        return []
    return [Scope(last=scope.first - 1)] if scope.first is not None else [Scope(first=int(scope.last or 0) + 1)]


def _validated(context: Context, text: str) -> list[str]:
    """The main validation's key where a question about a breakdown names no metric but validations."""
    if not words("breakdowns")["validation"].search(text) or any(m.card is None for m in context.query.mentions):
        return []
    found = role(context.run, "val_accuracy")
    return [] if found is None else list(found.metrics[:1])


def _around(context: Context, keys: Sequence[str], broken: Breakdown) -> Verdict | None:
    """A metric before or after the run breaks down: its last value there, or the statistic asked for."""
    parts = portions_in(broken.text, context.train_steps)
    if len(keys) != 1 or not parts:
        return None
    if len(parts) == 1 and words("breakdowns")["moved"].search(broken.text):  # "longer or shorter after that"
        other = Scope(last=broken.step) if parts[0].last is None else Scope(first=broken.step)
        parts = [*parts, other]
    bare = words("breakdowns")["last"].sub(" ", broken.text)
    name = next((name for name in _STATISTICS if words("portions")[name].search(bare)), "")
    if words("portions")["best"].search(bare):
        name = "min" if SMALL_IS_GOOD.search(keys[0]) else "max"
    if not name:
        name = "mean" if parts[0].last is None or len(parts) > 1 else "last"
    named = context.query.steps
    verdict = _told(context, Quantity(keys[0]), parts, name)
    context.query = replace(context.query, steps=named)  # the breakdown's step is found, and was not named
    if verdict is None and len(parts) == 1 and not _series(context, Quantity(keys[0]), parts[0]):
        said = context.say(
            f"portion.none_{'before' if parts[0].first is None else 'after'}", metric=keys[0], step=broken.step
        )
        context.doc.paragraph(f"**{said}**")
        context.metrics.append(keys[0])
        context.settled = True
        context.query = replace(context.query, intent="lookup", steps=slot_of(context, parts[0]), topics=())
        verdict = Verdict("no_data", unmark(said))
    if verdict is not None:
        context.doc.paragraph(context.say(f"portion.{broken.kind}", step=broken.step, metric=broken.metric or ""))
    return verdict


def _unbroken(context: Context, metric: str, text: str) -> Verdict | None:
    """That the log holds no breakdown, where one is taken for granted; the statistic over the whole run instead."""
    name = next((name for name in ("median", "mean", "max", "min") if words("portions")[name].search(text)), "mean")
    part = _of_part(context, Quantity(metric), Scope(), name)
    if part is None:
        return None
    value = context.doc.show(part.fact, None, context.kind_of(metric))
    what = context.say(f"portion.{name}_of", what=_name(context, Quantity(metric)))
    said = context.say("portion.unbroken")
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("portion.whole", what=what, v=value, over=part.over))
    context.metrics.append(metric)
    context.settled = True
    context.query = replace(context.query, intent="lookup", op=_OPS.get(name), asked_op=_OPS.get(name), topics=())
    return Verdict("no_data", unmark(said))


def _two_parts(context: Context, keys: Sequence[str], parts: Sequence[Scope], name: str, text: str) -> Verdict | None:
    """One metric over two parts, where the comparison of means (which has a writer of its own) is not what is asked."""
    query = context.query
    against = words("portions")["compared"].search(text) is not None and words("portions")["each"].search(text) is None
    moved = name == "change" and against  # "how much did it fall against the first 50": the means are apart by so much
    name = "mean" if moved else name
    compared = windows_in(query.wording or query.text, context.run, context.validation_steps, context.train_steps)
    in_percent = words("portions")["in_percent"].search(text) is not None
    counted = len(parts) == 2 and any(part.latest for part in parts)
    if compared is not None and (counted or (in_percent and len(parts) != 2)):  # windows as a comparison takes them
        parts = [Scope(first=first, last=last) for first, last in compared]
        name = name or ("mean" if in_percent else "")
    name = name or ("mean" if query.intent == "compare" or against else "")
    if len(keys) != 1 or len(parts) != 2 or not name or (ratio_asked(text) and not in_percent):
        return None
    if name == "mean" and query.intent == "compare" and compared is not None and not (in_percent or moved):
        return None
    return _told(context, Quantity(keys[0]), parts, name)


def _stage(context: Context, text: str, named: Sequence[str]) -> list[str]:
    """The one stage that a question about a share of the step names in plain words, before the whole where named."""
    if words("portions")["share"].search(text) is None:
        return []
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    if any(m.key not in {None, whole} for m in context.query.mentions) or set(named) - {str(whole)}:
        return []
    stages = [key for key in stages_in(context) if key != whole]
    return [*stages, *named] if len(stages) == 1 else []


def _of_step(context: Context, text: str) -> list[str]:
    """The one stage in plain words of which a share is asked for beside the time of the step."""
    stage = part_of_step(context) if context.query.mentions and words("portions")["share"].search(text) else None
    return [] if stage is None else [stage]


def _whole(context: Context, keys: Sequence[str]) -> str | None:
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    return whole if any(is_stage(key) or key in all_stages(context) for key in keys) else None


def _series(context: Context, quantity: Quantity, scope: Scope) -> list[tuple[int, float, tuple[Fact, ...]]]:
    """Finite values of a quantity in a part, with the cells that each is made of."""
    found = []
    for step in scope.of(context.run.series(quantity.metric)[0]):
        cells = [context.value(name, step) for name in (quantity.metric, quantity.of) if name is not None]
        facts = tuple(fact for fact in cells if fact is not None)
        if len(facts) < len(cells) or not all(math.isfinite(number(fact)) for fact in facts):
            continue
        if quantity.of is None:
            found.append((step, number(facts[0]), facts))
        elif quantity.minus:
            found.append((step, number(facts[0]) - number(facts[1]), facts))
        elif number(facts[1]) != 0:
            found.append((step, number(facts[0]) / number(facts[1]), facts))
    return found


def _name(context: Context, quantity: Quantity) -> str:
    if quantity.of is None:
        return f"`{quantity.metric}`"
    phrase = "portion.share" if quantity.share else "portion.minus" if quantity.minus else "portion.ratio"
    return context.say(phrase, metric=quantity.metric, of=quantity.of)


def _style(context: Context, quantity: Quantity) -> str:
    if quantity.of is None or quantity.minus:
        return context.kind_of(quantity.metric)
    return "fraction" if quantity.share else "number"


def _formula(quantity: Quantity) -> str:
    return (
        quantity.metric if quantity.of is None else f"{quantity.metric} {'−' if quantity.minus else '/'} {quantity.of}"
    )


def _slope(steps: Sequence[int], values: Sequence[float]) -> float:
    """Least-squares slope per step."""
    return float(np.polyfit(np.array(steps, float) - steps[0], np.array(values), 1)[0])


_VALUES: Final[dict[str, Callable[[tuple[float, ...]], float]]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": median,
    "std": deviation,
    "max": max,
    "min": min,
    "last": lambda values: values[-1],
    "change": lambda values: values[-1] - values[0],
}


def _over(context: Context, steps: Sequence[int], metric: str) -> str:
    count = context.ledger.count(
        "values in that part", len(steps), metric=metric, first_step=steps[0], last_step=steps[-1]
    )
    phrase = "portion.over" if len(steps) > 1 else "portion.over_one"
    values = {"first": steps[0], "n": count} | ({"last": steps[-1]} if len(steps) > 1 else {})
    return context.say(phrase, **values)


def _of_part(context: Context, quantity: Quantity, scope: Scope, name: str) -> Told | None:
    """A statistic of a quantity over a part; ``None`` for too few values."""
    held = _series(context, quantity, scope)
    if len(held) < (3 if name == "slope" else 2 if name in {"std", "change"} else 1):
        return None
    steps, values = tuple(step for step, _, _ in held), tuple(value for _, value, _ in held)
    value = _slope(steps, values) if name == "slope" else _VALUES[name](values)
    inputs = [fact for _, _, facts in held for fact in facts] if len(held) <= MOST_INPUTS else []
    at = values.index(value) if name in {"max", "min"} else len(values) - 1 if name == "last" else None
    if at is not None:
        inputs = list(held[at][2])
    fact = context.ledger.derived(
        f"{name} of {_formula(quantity)}/{steps[0]}-{steps[-1]}/{len(steps)}", value, inputs=inputs,
        formula=f"{name} of {_formula(quantity)}, {len(steps)} values, steps {steps[0]} to {steps[-1]}",
        unit="fraction" if quantity.share else None,
    )  # fmt: skip
    return Told(steps, values, fact, None if at is None else steps[at], _over(context, steps, quantity.metric))


def _told(context: Context, quantity: Quantity, parts: Sequence[Scope], name: str) -> Verdict | None:
    """The statistic over each part, and what the first differs from the second by."""
    told = [one for scope in parts if (one := _of_part(context, quantity, scope, name)) is not None]
    if len(told) < len(parts) or (len(told) == 2 and told[0].steps == told[1].steps):
        return None
    say, doc, style = context.say, context.doc, _style(context, quantity)
    style = "number" if name == "slope" and style not in {"fraction", "seconds"} else style
    plain = name in {"mean", "median", "std", "max", "min", "change"} and quantity.of is None
    what = say(f"portion.{name}_of" if plain else f"portion.{name}", what=_name(context, quantity))
    signs = name == "change"
    shown = [
        mark(one.fact.id, signed(number(one.fact), style, language=context.language))
        if signs else doc.show(one.fact, None, style)
        for one in told
    ]  # fmt: skip
    items = [
        say("portion.at", over=one.over, v=text, step=one.at) if one.at is not None
        else say("portion.item", over=one.over, v=text)
        for one, text in zip(told, shown, strict=True)
    ]  # fmt: skip
    if len(told) == 1 and name == "last":
        one = told[0]
        said = say("portion.last_one", what=_name(context, quantity), v=shown[0], step=one.at, over=one.over)
        lines = []
    elif len(told) == 1:
        said = capital(say("portion.one", what=what, item=items[0]))
        lines = [_ends(context, told[0], quantity, style)] if name in {"mean", "median"} else []
    else:
        context.kind = TWO_PARTS
        gap = _gap(context, quantity, told, style, name)
        if name in {"mean", "median", "max", "min"} and words("portions")["in_percent"].search(words_of(context)):
            gap += _relative(context, quantity, told)
        said = capital(say("portion.two", what=what, a=items[0], b=items[1], gap=gap))
        lines = [_noise(context, quantity, told, style)] if name == "mean" else []
        lines += (
            [_span(context, quantity, one) for one in told]
            if name in {"slope", "change"} and quantity.of is None
            else []
        )
    doc.paragraph(f"**{said}**")
    doc.paragraph(*[line for line in lines if line], *_cut(context, quantity, parts))
    for metric in (quantity.metric, quantity.of):
        if metric is not None:
            context.metrics.append(metric)
    context.cite(context.card(quantity.metric))
    context.chart(context.title(quantity.metric), [quantity.metric])
    context.settled = True
    slot = slot_of(context, parts[0]) if len(parts) == 1 else StepSlot("all")
    op = _OPS.get(name)
    context.query = replace(context.query, intent="lookup", steps=slot, op=op, asked_op=op, topics=(), threshold=None)
    return Verdict("answered", unmark(said))


def _gap(context: Context, quantity: Quantity, told: Sequence[Told], style: str, name: str) -> str:
    """By how much the first part's number differs from the second's."""
    a, b = (number(one.fact) for one in told)
    fact = context.ledger.derived(
        f"difference of parts: {told[0].fact.name} − {told[1].fact.name}", abs(a - b),
        inputs=[one.fact for one in told], formula=f"|{told[0].fact.name} − {told[1].fact.name}|",
    )  # fmt: skip
    if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15):
        return context.say("portion.same")
    points = context.say("portion.points", v=mark(fact.id, percent(abs(a - b) * 100)))
    text = points if style == "fraction" else context.doc.show(fact, None, style)
    if name in {"slope", "change"}:
        return context.say("portion.apart", d=text)
    early, late = sorted(told, key=lambda one: one.steps)
    if early.steps[-1] >= late.steps[0]:
        return context.say("portion.higher" if a > b else "portion.lower", d=text)
    return context.say("portion.rose" if number(late.fact) > number(early.fact) else "portion.fell", d=text)


def _relative(context: Context, quantity: Quantity, told: Sequence[Told]) -> str:
    """What the later part's number is above or below the earlier's, in per cent; empty where that has no sense."""
    early, late = sorted(told, key=lambda one: one.steps)
    before, after = number(early.fact), number(late.fact)
    if before <= 0 or after < 0 or math.isclose(before, after, rel_tol=1e-9):
        return ""
    fact = context.ledger.derived(
        f"relative difference of parts of {_formula(quantity)}", after / before - 1,
        inputs=[early.fact, late.fact], formula="later / earlier − 1", unit="fraction",
    )  # fmt: skip
    share = 100 * number(fact)
    return context.say("portion.relative", share=mark(fact.id, f"{'+' if share > 0 else ''}{percent(share)}%"))


def _noise(context: Context, quantity: Quantity, told: Sequence[Told], style: str) -> str:
    """Whether the difference of two means is beyond the noise of the values; empty where that cannot be told."""
    steps = sorted({*told[0].steps, *told[1].steps})
    if len(steps) < len(told[0].steps) + len(told[1].steps) or min(len(one.steps) for one in told) < LEAST:
        return ""
    series = _series(context, quantity, Scope())
    places = {step: place for place, (step, _, _) in enumerate(series)}
    spans = [(places[one.steps[0]], places[one.steps[-1]] + 1) for one in told]
    if any(stop - start != len(one.steps) for (start, stop), one in zip(spans, told, strict=True)):
        return ""
    values = np.array([value for _, value, _ in series])
    found = difference((values, values), (spans[0], spans[1]), same=True)
    if found is None:
        return ""
    half = found.half_width()
    gap = abs(number(told[0].fact) - number(told[1].fact))
    low, high = sorted((one.values for one in told), key=max)
    if gap <= half and max(low) < min(high):  # a jump between them makes the interval wide
        return context.say("portion.separate")
    fact = context.ledger.derived(
        f"half-width of {told[0].fact.name} − {told[1].fact.name}", half, inputs=[one.fact for one in told],
        formula="95 % interval of the difference of two means, from the scatter of both parts",
    )  # fmt: skip
    shown = mark(fact.id, percent(half * 100)) if style == "fraction" else context.doc.show(fact, None, style)
    text = context.say("portion.points", v=shown) if style == "fraction" else shown
    level = context.ledger.constant("confidence of an interval", 0.95, "the method", "fraction")
    return context.say("portion.beyond" if gap > half else "portion.within", d=text, level=mark(level.id, "95%"))


def _ends(context: Context, told: Told, quantity: Quantity, style: str) -> str:
    """The smallest and the largest value of a part."""
    if len(told.steps) < LEAST:
        return ""
    cells: dict[str, str | int] = {}
    for side, pick in (("low", min), ("high", max)):
        value = pick(told.values)
        at = told.steps[told.values.index(value)]
        facts = [context.value(name, at) for name in (quantity.metric, quantity.of) if name is not None]
        fact = context.ledger.derived(
            f"{_formula(quantity)} at {side}", value, inputs=facts, formula=_formula(quantity), step=at,
            unit="fraction" if quantity.share else None,
        )  # fmt: skip
        cells[side], cells[f"{side}_step"] = context.doc.show(fact, None, style), at
    return context.say("portion.ends", **cells)


def _span(context: Context, quantity: Quantity, told: Told) -> str:
    """The first and the last value of a part."""
    cells = [context.value(quantity.metric, told.steps[place]) for place in (0, -1)]
    values = {name: cell for name, cell in zip(("a", "b"), cells, strict=True) if cell is not None}
    return context.say("portion.span", first=told.steps[0], last=told.steps[-1], **values) if len(values) == 2 else ""


def _cut(context: Context, quantity: Quantity, parts: Sequence[Scope]) -> list[str]:
    """That steps of the parts have no value because their lines are cut."""
    kind = context.validation_steps if is_validation(quantity.metric) else context.train_steps
    names = [name for name in (quantity.metric, quantity.of) if name is not None]
    lost = sorted(
        {step for scope in parts for step in scope.of(kind)
         if any(context.run.value(n, step) is None and context.run.missing_at(n, step) is not None for n in names)}
    )  # fmt: skip
    if not lost:
        return []
    for step in lost:
        context.ledger.missing(names[0], step)
    count = context.ledger.count("steps cut", len(lost), metric=quantity.metric)
    return [context.say("portion.lost", k=count)]


def _at_steps(context: Context, quantity: Quantity, *, named_both: bool) -> Verdict | None:
    """A ratio of two metrics at the steps named; a stage's share of its step has a writer of its own."""
    if quantity.of == _whole(context, [quantity.metric]) and not named_both:
        return None
    slot = context.query.steps
    held = _series(context, quantity, Scope())
    if slot.kind in {"last", "first"}:
        held = held[-1:] if slot.kind == "last" else held[:1]
    else:
        held = [one for one in held if one[0] in slot.values]
    if not held:
        return None
    style, said, items = _style(context, quantity), "", []
    what = _name(context, quantity)
    for step, value, facts in held:
        fact = context.ledger.derived(
            _formula(quantity), value, inputs=facts, formula=_formula(quantity), step=step,
            unit="fraction" if quantity.share else None,
        )  # fmt: skip
        a, b = (context.doc.show(one, None, context.kind_of(str(one.metric))) for one in facts)
        v = context.doc.show(fact, None, style)
        if len(held) == 1:
            phrase = "portion.single_minus" if quantity.minus else "portion.single"
            said = context.say(phrase, step=step, what=what, v=v, a=a, b=b)
        phrase = "portion.at_step_minus" if quantity.minus else "portion.at_step"
        items.append(context.say(phrase, step=step, v=v, a=a, b=b))
    said = said or context.say("portion.steps", what=what, items=context.join(items))
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(name for name in (quantity.metric, quantity.of) if name is not None)
    context.settled = True
    context.query = replace(context.query, intent="lookup", op=None, asked_op=None, topics=())
    return Verdict("answered", unmark(said))
