"""The values of a metric in the part of a run that a question is about, and how that part is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.ask.conditions import Condition
from assistant.ask.context import Context, is_validation
from assistant.ask.naming import last_steps, steps_text
from assistant.ask.possible import unmeasured, unmeasured_remark
from assistant.ask.scope import Scope
from assistant.model import Fact, StepSlot
from assistant.write.document import mark, per_gpu
from assistant.write.numbers import format_number

#: So many excluded steps, and steps cut, are named one by one.
MOST_NAMED = 16
#: Up to so many values a statistic lists them as its inputs; of more, its formula names the range.
MOST_INPUTS = 512


@dataclass(frozen=True, slots=True)
class Part:
    """Finite values of one metric.

    Attributes:
        metric: key.
        steps: where it has a finite value, ascending, shape (n,).
        values: the values there, shape (n,).
        odd: how many values of the part are NaN or infinite.
        lost: steps of the part whose line was cut before the value.
        over: the part as text, such as "(steps 3 to 9, 7 values)".
        empty: that some values stand for what was not measured and were left out, as sentences.
    """

    metric: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    odd: int
    lost: tuple[int, ...]
    over: str
    empty: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)


def part_of(context: Context, metric: str, scope: Scope) -> Part:
    """The part of a metric's values that a scope takes in."""
    steps, values = context.run.series(metric)
    wanted = set(last_steps(context, metric, steps, scope.latest) if scope.latest else scope.of(steps))
    pairs = [(s, float(v)) for s, v in zip(steps, values, strict=True) if s in wanted]
    empty = unmeasured(context, metric)
    held = [fact for s, v in pairs if v == empty and (fact := context.value(metric, s)) is not None]
    pairs = [(s, v) for s, v in pairs if v != empty]
    finite = [(s, v) for s, v in pairs if math.isfinite(v)]
    kind = context.validation_steps if is_validation(metric) else context.train_steps
    there = set(steps)
    bounds = [s for s, _ in pairs]
    cut = [
        s for s in scope.of(kind)
        if s not in there and s >= (min(bounds, default=s) if scope.latest else s)
        and context.run.missing_at(metric, s) is not None
    ]  # fmt: skip
    over = _over(context, metric, [s for s, _ in finite], scope) if finite else ""
    return Part(
        metric, tuple(s for s, _ in finite), tuple(v for _, v in finite), len(pairs) - len(finite), tuple(cut), over,
        tuple(unmeasured_remark(context, metric, held)),
    )  # fmt: skip


def _over(context: Context, metric: str, steps: Sequence[int], scope: Scope) -> str:
    count = context.ledger.count(
        "values in that part", len(steps), metric=metric, first_step=steps[0], last_step=steps[-1]
    )
    held = [s for s in scope.without if context.run.value(metric, s) is not None]
    less = ""
    if held and len(held) <= MOST_NAMED:
        less = context.say("calc.less", steps=context.doc.show(held))
    elif held:
        less = context.say("calc.less_many", k=context.ledger.count("excluded steps", len(held)))
    phrase = "calc.over" if len(steps) > 1 else "calc.over_one"
    values = {"first": steps[0], "n": count, "less": less} | ({"last": steps[-1]} if len(steps) > 1 else {})
    return context.say(phrase, **values)


def remarks(context: Context, part: Part) -> list[str]:
    """That values were cut off, or are no finite numbers, where either is so."""
    said = list(part.empty)
    if part.lost:
        count = context.ledger.count("steps cut", len(part.lost), metric=part.metric)
        for step in part.lost:
            context.ledger.missing(part.metric, step)
        many = len(part.lost) > MOST_NAMED
        shown = steps_text(context, list(part.lost)) if many else context.doc.show(list(part.lost))
        said.append(context.say("calc.lost", k=count, steps=shown))
    if part.odd:
        said.append(
            context.say("calc.not_finite", k=context.ledger.count("values not finite", part.odd, metric=part.metric))
        )
    return said


def cell(context: Context, part: Part, place: int) -> Fact:
    """The value at a place of a part as a fact."""
    fact = context.value(part.metric, part.steps[place])
    assert fact is not None
    return fact


def statistic(context: Context, part: Part, name: str, value: float, formula: str) -> Fact:
    """A number computed from all values of a part, as a fact."""
    inputs = [context.value(part.metric, s) for s in part.steps] if len(part) <= MOST_INPUTS else []
    span = f"{part.steps[0]}-{part.steps[-1]}/{len(part)}"
    return context.ledger.derived(
        f"{name}({part.metric})/{span}", value, inputs=inputs,
        formula=f"{formula} of {part.metric}, {len(part)} values, steps {part.steps[0]} to {part.steps[-1]}",
    )  # fmt: skip


def shown(context: Context, fact: Fact, metric: str) -> str:
    """A computed number in its metric's unit."""
    return context.doc.show(fact, None, context.kind_of(metric)) + per_gpu(metric)


def share_shown(context: Context, name: str, count: int, total: int, inputs: Sequence[Fact]) -> str:
    """A part of so many steps in per cent."""
    fact = context.ledger.derived(
        name, count / total, formula="steps that meet it / steps with a value", inputs=inputs, unit="fraction"
    )
    return context.doc.show(fact)


def limit_text(context: Context, limit: Condition, metric: str) -> str:
    """A condition in words, its numbers tied to the question."""
    kind = context.kind_of(metric)
    texts = {}
    for name in ("low", "high"):
        value = getattr(limit, name)
        fact = context.ledger.constant(f"limit {value:g}", value, "the question")
        style = kind if kind in {"fraction", "seconds"} and abs(value) < 1e6 else "number"
        context.doc.limits.add(value)
        texts[name] = mark(fact.id, format_number(value, style, language=context.language))
    needed = (
        {"low", "high"}
        if limit.kind == "between"
        else set()
        if limit.kind in {"negative", "positive", "zero"}
        else {"low"}
    )
    return context.say(f"calc.limit_{limit.kind}", **{name: texts[name] for name in needed})


def slot_of(context: Context, scope: Scope) -> StepSlot:
    """A scope in the contract's terms."""
    steps = context.run.distinct_steps
    if scope.latest:
        return StepSlot("last_n", (scope.latest,))
    if scope.first is None and scope.last is None:
        return StepSlot("all")
    return StepSlot(
        "range", (steps[0] if scope.first is None else scope.first, steps[-1] if scope.last is None else scope.last)
    )
