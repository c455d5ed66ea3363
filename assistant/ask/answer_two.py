"""Two metrics together: the value of one at the other's extreme, their difference, their correlation."""

from __future__ import annotations

import math
import re

from assistant.ask.computed import Request
from assistant.ask.context import Context
from assistant.ask.naming import absent
from assistant.ask.part import Part, cell, part_of, remarks
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

#: Below this magnitude a rank correlation is called none, weak, moderate; above the last, strong. Bounds in the manner
#: of textbooks (J. P. Guilford, Fundamental Statistics in Psychology and Education, 1956).
NONE, WEAK, MODERATE = 0.2, 0.4, 0.7
#: A correlation of levels that the changes do not share: theirs is below this.
APART = 0.15
_SIDE = re.compile(
    r"(?i)^(?:train|training|val|valid|validation|eval|test|dev)(?:[-_ /]|$)|[-_ /](?:train|val|eval|test)(?=[-_ /]|$)"
)
#: What a critic predicts and what it is to predict.
_VALUED = re.compile(r"(?i)(?:^|/)(?:values|returns)(?:/|$)|vpred_mean|(?:^|/)value_estimates?")
#: So many of the largest or smallest values are told at most.
MOST_EXTREMES = 12
_STATISTIC = re.compile(r"(?:/|_)(?:mean|max|min|std|sum|median|p\d+)$")


def two(context: Context, request: Request, keys: list[str]) -> Verdict:
    """The answer to a question about two metrics."""
    context.metrics.extend(keys)
    tell = {"at_extreme": _at_extreme, "difference": _difference, "correlation": _correlation}[request.kind]
    several = request.kind == "at_extreme" and len(keys) > 2
    lines, found = _all_there(context, request, keys) if several else tell(context, request, keys[0], keys[1])
    context.doc.paragraph(f"**{lines[0]}**")
    context.doc.paragraph(*lines[1:])
    if request.kind != "at_extreme":
        for metric in keys:
            context.doc.paragraph(context.gloss(metric))
    context.chart(context.title(keys[0]), keys)
    return Verdict("answered" if found else "no_data", unmark(lines[0]))


def _at_extreme(context: Context, request: Request, metric: str, other: str) -> tuple[list[str], bool]:
    part = part_of(context, metric, request.scope)
    if not len(part):
        return [absent(context, metric, list(context.run.distinct_steps[-1:]))], False
    if request.number > 1:
        return _at_extremes(context, request, part, other)
    best = (max if request.high else min)(part.values)
    top = cell(context, part, part.values.index(best))
    side = "max" if request.high else "min"
    there = context.value(other, top.step or 0)
    if there is not None:
        lines = [context.say(f"calc.at_{side}", metric=metric, v=top, other=other, w=there)]
    else:
        gap = "" if context.language == "zh" else " "
        lines = [
            context.say(f"calc.at_{side}_absent", metric=metric, v=top) + gap + absent(context, other, [top.step or 0])
        ]
        held = context.run.series(other)[0]
        nearest = min(held, key=lambda step: abs(step - (top.step or 0)), default=None)
        fact = None if nearest is None else context.value(other, nearest)
        if fact is not None:
            lines.append(context.say("calc.nearest_value", w=fact))
    shared = part.values.count(best)
    if shared > 1:
        lines.append(
            context.say("calc.tied", k=context.ledger.count(f"steps at the {side}imum", shared, metric=metric))
        )
    return [*lines, *remarks(context, part)], there is not None


def _all_there(context: Context, request: Request, keys: list[str]) -> tuple[list[str], bool]:
    """The values of several metrics at the extreme of the first."""
    part = part_of(context, keys[0], request.scope)
    if not len(part):
        return [absent(context, keys[0], list(context.run.distinct_steps[-1:]))], False
    best = (max if request.high else min)(part.values)
    top, side = cell(context, part, part.values.index(best)), "max" if request.high else "min"
    there = {other: context.value(other, top.step or 0) for other in keys[1:]}
    told = [context.say("calc.there", other=other, w=fact) for other, fact in there.items() if fact is not None]
    lost = [absent(context, other, [top.step or 0]) for other, fact in there.items() if fact is None]
    gap, joint = ("", "，") if context.language == "zh" else (" ", ", ")
    first = context.say(f"calc.at_{side}_absent", metric=keys[0], v=top)
    first += gap + context.say("calc.all_there", listed=joint.join(told)) if told else ""
    shared = part.values.count(best)
    if shared > 1:
        lost.append(context.say("calc.tied", k=context.ledger.count(f"at the {side}imum", shared, metric=keys[0])))
    return [first, *lost, *remarks(context, part)], bool(told)


def _at_extremes(context: Context, request: Request, part: Part, other: str) -> tuple[list[str], bool]:
    """The other metric at each of so many of the largest or smallest values."""
    order = sorted(
        range(len(part)), key=lambda place: (-part.values[place] if request.high else part.values[place], place)
    )
    picked = [cell(context, part, place) for place in order[: min(request.number, MOST_EXTREMES)]]
    items, found = [], False
    for one in picked:
        there = context.value(other, one.step or 0)
        found = found or there is not None
        phrase = "calc.top_item" if there is not None else "calc.top_item_absent"
        items.append(context.say(phrase, v=one, **({} if there is None else {"w": there})))
    count = context.ledger.count("steps listed", len(picked))
    side = "high" if request.high else "low"
    text = context.say(
        f"calc.tops_{side}", metric=part.metric, other=other, k=count, items=context.join(items), over=part.over
    )
    return [text, *remarks(context, part)], found


# -- difference --------------------------------------------------------------------------------------------------------
def _within_one(context: Context, metric: str) -> bool:
    """Whether all values lie between 0 and 1, as shares do."""
    return all(0 <= value <= 1 for value in context.run.series(metric)[1])


#: What a key says that it counts.
_UNIT_WORD = re.compile(r"(?i)(?<![a-z])(?:tokens?|len(?:gth)?|chars|words|turns|seconds|secs|gb|gib)(?![a-z])")


def alike(context: Context, a: str, b: str) -> bool:
    """Whether two metrics measure the same kind of quantity, so that their difference means something."""
    kinds = {context.kind_of(a), context.kind_of(b)}
    if len(kinds) > 1:
        return any(context.card(name) is None for name in (a, b)) and all(_within_one(context, name) for name in (a, b))
    if kinds != {"number"}:
        return True
    losses = [
        re.search(r"(?i)(?:^|[-_ /])(?:loss|nll|ppl|perplexity|bpb)(?:$|[-_ /])", name) is not None for name in (a, b)
    ]
    if any(losses):
        return all(losses)
    if all(_VALUED.search(name) for name in (a, b)):
        return True
    units = [{match.lower() for match in _UNIT_WORD.findall(name)} for name in (a, b)]
    if units[0] & units[1]:  # both count tokens
        return True
    stems = [_STATISTIC.sub("", _SIDE.sub("", name)) for name in (a, b)]
    if stems[0] == stems[1]:
        return True
    if all(re.search(r"(?i)acc(?:uracy)?(?:$|[/_@])|rate(?:$|[/_])", name) for name in (a, b)):
        return all(_within_one(context, name) for name in (a, b))
    cards = [context.card(name) for name in (a, b)]
    families = [
        re.search(r"(?i)score|reward", name) is not None or (card is not None and card.category == "reward")
        for name, card in zip((a, b), cards, strict=True)
    ]
    return all(families) or _STATISTIC.sub("", a) == _STATISTIC.sub("", b)


#: What the difference of two metrics, by their cards, is made of.
_MADE_OF = {
    frozenset({"openrlhf/reward", "openrlhf/return"}): "calc.gap_of_return",
    frozenset({"verl/critic/score", "verl/critic/rewards"}): "calc.gap_of_reward",
}
_WIDEST = re.compile(r"(?i)差(?:得|距)?最(?:大|多|远)|\b(?:widest|largest|biggest) (?:gap|difference)|farthest apart")


def gaps(context: Context, a: str, b: str, steps: list[int]) -> list[Fact]:
    """``a`` − ``b`` at each step where both are finite."""
    found = []
    for step in steps:
        va, vb = context.value(a, step), context.value(b, step)
        numbers = [fact.value for fact in (va, vb) if fact is not None]
        if len(numbers) == 2 and all(isinstance(v, (int, float)) and math.isfinite(v) for v in numbers):
            found.append(
                context.ledger.derived(
                    f"{a} minus {b}", float(numbers[0]) - float(numbers[1]), inputs=[va, vb],  # type: ignore[arg-type]
                    formula=f"{a} − {b}", step=step,
                )
            )  # fmt: skip
    return found


def gap_shown(context: Context, fact: Fact, metric: str) -> str:
    """A difference with its sign."""
    value = fact.value if isinstance(fact.value, (int, float)) else 0.0
    return mark(fact.id, signed(value, context.kind_of(metric), language=context.language))


def common_steps(context: Context, request: Request, a: str, b: str) -> list[int]:
    """Steps of the part asked about that hold both metrics."""
    there = set(context.run.series(b)[0])
    return [step for step in request.scope.of(context.run.series(a)[0]) if step in there]


def _difference(context: Context, request: Request, a: str, b: str) -> tuple[list[str], bool]:
    say = context.say
    steps = common_steps(context, request, a, b)
    if not steps:
        return [say("calc.no_common", a=a, b=b)], False
    if not alike(context, a, b):
        return [say("calc.gap_unlike", a=a, b=b)], False
    found = gaps(context, a, b, steps)
    slot = context.query.steps
    named = [s for s in context.query.all_steps if s in steps]
    at_first = slot.kind == "first" or re.search(r"(?i)第1步|第一步|开始|\bfirst\b|beginning|start", request.text)
    widest = max(found, key=lambda f: abs(float(f.value)), default=None) if _WIDEST.search(request.text) else None  # type: ignore[arg-type]
    chosen = (
        widest
        or next((f for f in found if named and f.step == named[0]), None)
        or (found and (found[0] if at_first else found[-1]))
    )
    if not chosen:
        return [say("calc.no_common", a=a, b=b)], False
    va, vb = context.value(a, chosen.step or 0), context.value(b, chosen.step or 0)
    lines = [say("calc.gap", step=chosen.step or 0, a=a, b=b, va=va, vb=vb, d=gap_shown(context, chosen, a))]
    if len(found) > 2:
        low = min(found, key=lambda f: float(f.value))  # type: ignore[arg-type]
        high = max(found, key=lambda f: float(f.value))  # type: ignore[arg-type]
        count = context.ledger.count("steps with both", len(found), metric=a)
        texts = {
            name: gap_shown(context, fact, a) for name, fact in (("low", low), ("high", high), ("first", found[0]))
        }
        places = {"low_at": low.step or 0, "high_at": high.step or 0, "first_at": found[0].step or 0}
        lines.append(say("calc.gap_course", n=count, **texts, **places))
    if _SIDE.search(a) or _SIDE.search(b):
        lines.append(say("calc.gap_caveat"))
    cards = [context.card(name) for name in (a, b)]
    made_of = _MADE_OF.get(frozenset(card.id for card in cards if card is not None))
    if made_of is not None:
        lines.append(say(made_of))
    return lines, True


# -- correlation -------------------------------------------------------------------------------------------------------
def _correlation(context: Context, request: Request, a: str, b: str) -> tuple[list[str], bool]:
    from assistant.analysis.association import LEAST, correlation

    say = context.say
    steps = common_steps(context, request, a, b)
    levels, changes, n = correlation(context.ledger, a, b, None if request.scope.whole else set(steps))
    count = context.ledger.count("common steps", n, metric=a)
    if levels is None or not isinstance(levels.value, float):
        return [say("calc.rho_few" if n < LEAST else "calc.rho_constant", a=a, b=b, n=count)], False
    size = abs(levels.value)
    rho = context.doc.show(levels, None, "number")
    if size < NONE:
        lines = [say("calc.rho_none", a=a, b=b, rho=rho, n=count)]
    else:
        strength = say("calc.weak" if size < WEAK else "calc.moderate" if size < MODERATE else "calc.strong")
        phrase = "calc.rho_positive" if levels.value > 0 else "calc.rho_negative"
        lines = [say(phrase, a=a, b=b, rho=rho, n=count, strength=strength)]
    if changes is not None and isinstance(changes.value, float):
        lines.append(say("calc.rho_changes", rho=context.doc.show(changes, None, "number")))
        if size >= NONE and abs(changes.value) < APART:
            lines.append(say("calc.rho_apart"))
        elif size >= NONE and changes.value * levels.value < 0:
            lines.append(say("calc.rho_opposite"))
    return [*lines, say("calc.rho_caveat")], True


__all__ = ["Part", "alike", "common_steps", "gap_shown", "gaps", "two"]
