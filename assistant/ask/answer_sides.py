"""Two sides of one metric: a step's value, or a statistic of a part or of the whole run, against another such.

"第 12 步的 reward 比整个训练的中位数高多少": a value and a median. Each side is read by itself, so that any goes with
any. Two steps, and one statistic of two parts, have writers of their own. The words stand in ``sides.yaml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

from assistant.ask.answer_computed import deviation
from assistant.ask.answer_jumps import size_in
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.members import against
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.portions import ratio_asked
from assistant.ask.run_questions import holds
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import words_of
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent

_STATISTICS: Final = ("median", "std", "mean", "max", "min")
_INTENTS: Final = {"lookup", "trend", "compare", "validation", "derive", "explain", "health"}
_END: Final = re.compile(r"[,，;；。?？!！]")
_FORMULAS: Final = {"median": "median", "std": "sample standard deviation (n − 1)", "mean": "mean"}
_OF_VALUES: Final[dict[str, Callable[[tuple[float, ...]], float]]] = {
    "median": median, "std": deviation, "mean": lambda values: math.fsum(values) / len(values),
}  # fmt: skip
_GOOD: Final = re.compile(r"(?i)好|佳|差|\b(?:best|worst)\b")


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a comparison says: a statistic of a part, or one step's value.

    Attributes:
        name: the statistic; empty for a step's value.
        scope: the part of the run.
        at: the step; ``None`` for a statistic.
    """

    name: str = ""
    scope: Scope = field(default_factory=Scope)
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A side with its number: the fact, the value's text, and where an extreme is."""

    side: Side
    fact: Fact
    text: str
    part: Part | None
    at: int | None


def attempt(context: Context) -> Verdict | None:
    """Answers how far two sides of one metric are apart; ``None`` (nothing written) for any other question."""
    query, held = context.query, words("sides")
    if len(context.runs) != 1 or query.intent not in _INTENTS or query.depth == "every":
        return None
    text = words_of(context)
    if held["apart"].search(text) is None or held["judging"].search(text) or condition_in(text) is not None:
        return None
    keys = central(named_keys(context))
    if not keys or len({mention.start for mention in query.mentions if mention.key in keys}) > 1 or len(keys) > 1:
        return None
    if against(context) is not None:
        return None  # "the longest at step 2 and the mean one": two members of a family, and no mean over the run
    metric = keys[0]
    sides = _sides(context, metric, text)
    if sides is None:
        return None
    sized = size_in(text, fall=False, fraction=False) is not None
    if holds("jumps", text) and (sized or sides[0].at is None):  # "by more than half from one step to the next"
        return None
    told = [_told(context, metric, side) for side in sides]
    first, second = told
    if first is None or second is None:
        return None
    return _written(context, metric, first, second, text)


def _sides(context: Context, metric: str, text: str) -> tuple[Side, Side] | None:
    """The two sides, where they are none that another writer tells."""
    held = words("sides")
    steps = context.run.series(metric)[0]
    plain = not any(held[name].search(text) for name in _STATISTICS)
    if plain and held["last_two"].search(text) and len(steps) > 1:
        return Side(at=steps[-1]), Side(at=steps[-2])
    names = ("seam", "seam_of_ratio") if held["ratio"].search(text) else ("seam",)
    for seam in (match for name in names for match in held[name].finditer(text)):
        left, right = text[: seam.start()], _END.split(text[seam.end() :], maxsplit=1)[0]
        steps = context.run.series(metric)[0]
        second = _side(context, metric, right, steps)
        said = _side(context, metric, left, steps)
        first = said or _of_query(context, steps)
        if second is None and first is not None and first.at is not None:
            second = _beside(right, first.at, steps)
        first, second = _of_one_statistic(first, second, seam.group())
        if said is None and first == second and first is not None and first.at is not None:
            first = Side(at=steps[-1])  # "how many times the first step's": the latest
        if first is None or second is None or first == second:
            continue
        named = held["previous"].search(right) or held["next"].search(right)
        if (first.at is not None and second.at is not None) and not (named or held["either"].search(text)):
            return None  # two steps
        parts = not (first.scope.whole or second.scope.whole)
        if first.name and first.name == second.name and parts and held["ratio"].search(text) is None:
            return None  # one statistic of two parts
        return first, second
    return None


def _of_one_statistic(first: Side | None, second: Side | None, seam: str) -> tuple[Side | None, Side | None]:
    """Two parts of which one names a statistic are compared by it ("the median of the first 10 and the last 10")."""
    parts = [side for side in (first, second) if side is not None and not side.scope.whole]
    named = [side.name for side in parts if side.name]
    own = first is not None and not first.name and "比" in seam  # "the last 10 than the highest of the first 10"
    shared = named[0] if len(parts) == 2 and len(named) == 1 and not (own and named[0] in {"max", "min"}) else "mean"

    def full(side: Side | None) -> Side | None:
        return replace(side, name=shared) if side in parts and side is not None and not side.name else side

    return full(first), full(second)


def _of_query(context: Context, steps: Sequence[int]) -> Side | None:
    """The step that the question, or the one before it, names elsewhere."""
    slot = context.query.steps
    if slot.kind == "single":
        return Side(at=slot.values[0])
    return Side(at=steps[-1]) if slot.kind == "last" and steps else None


def _side(context: Context, metric: str, text: str, steps: Sequence[int]) -> Side | None:
    held = words("sides")
    if words("portions")["preceding"].search(text):
        return None  # "the 10 steps before": of what the other side names
    name, place = "", -1
    for one in _STATISTICS:
        match = held[one].search(text)
        if match is not None and match.start() > place:
            name, place = one, match.start()
            if one in {"max", "min"} and _GOOD.search(match.group()) and SMALL_IS_GOOD.search(metric):
                name = "min" if one == "max" else "max"
    scope = replace(scope_in(text, context.train_steps), spans=())
    if not scope.whole:
        return Side(name, scope)
    if (match := held["from_end"].search(text)) is not None:
        back = int(match["n"] or 2)
        return Side(at=steps[-back]) if 0 < back <= len(steps) else None
    if held["previous"].search(text) or held["next"].search(text):
        return None  # of what the other side names
    if (match := held["step"].search(text)) is not None:
        step = int(match["a"] or match["b"])
        if step == 1 and context.run.distinct_steps[0] > 1 and steps:
            step = steps[0]  # "the first step" of a log with every twentieth
        return Side(at=step) if step in context.run.distinct_steps else None
    if name:
        return Side(name)
    for word, at in (("last", -1), ("first", 0)):
        if held[word].search(text) and steps:
            return Side(at=steps[at])
    return None


def _beside(text: str, at: int, steps: Sequence[int]) -> Side | None:
    """The value before the other side's, or after it."""
    held = words("sides")
    if held["previous"].search(text):
        earlier = [step for step in steps if step < at]
        return Side(at=earlier[-1]) if earlier else None
    later = [step for step in steps if step > at]
    return Side(at=later[0]) if held["next"].search(text) and later else None


def _told(context: Context, metric: str, side: Side) -> Told | None:
    if side.at is not None:
        fact = context.value(metric, side.at)
        if fact is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value):
            return None  # the look-up says why there is none
        return Told(side, fact, context.doc.show(fact), None, side.at)
    part = part_of(context, metric, side.scope)
    if len(part) < (3 if side.name == "std" else 1):
        return None
    if side.name in {"max", "min"}:
        place = part.values.index((max if side.name == "max" else min)(part.values))
        fact = cell(context, part, place)
        return Told(side, fact, context.doc.show(fact), part, part.steps[place])
    value = _OF_VALUES[side.name](part.values)
    fact = statistic(context, part, side.name, value, _FORMULAS[side.name])
    return Told(side, fact, shown(context, fact, metric), part, None)


def _over(context: Context, told: Told) -> str:
    part = told.part
    assert part is not None
    count = context.ledger.count(
        "values in that part", len(part), metric=part.metric, first_step=part.steps[0], last_step=part.steps[-1]
    )
    phrase = "side.whole" if told.side.scope.whole else "side.part"
    return context.say(phrase, first=part.steps[0], last=part.steps[-1], n=count)


def _set(text: str) -> str:
    """A text between Chinese words: a blank where it begins or ends in letters or figures."""
    plain = unmark(text)
    return f"{' ' if plain[:1].isascii() else ''}{text}{' ' if plain[-1:].isascii() else ''}"


def _phrase(context: Context, metric: str, told: Told, place: str, over: str = "") -> str:
    """A side in words; ``place`` is ``a`` for the one that the sentence is about, ``b`` for the other."""
    if told.part is None:
        return context.say(f"side.{place}_step", metric=metric, step=told.at, v=told.text)
    name = context.say(f"side.{told.side.name}")
    values = {"metric": metric, "name": name, "over": over or _over(context, told), "v": told.text}
    if context.language == "zh":
        values["over"] = _set(values["over"])
    if told.at is not None:
        return context.say(f"side.{place}_extreme", step=told.at, **values)
    return context.say(f"side.{place}_statistic", **values)


def _written(context: Context, metric: str, first: Told, second: Told, text: str) -> Verdict:
    say, held = context.say, words("sides")
    gap = number(first.fact) - number(second.fact)
    same = first.part is not None and second.part is not None and first.part.steps == second.part.steps
    values = {"a": _phrase(context, metric, first, "a")}
    values["b"] = _phrase(context, metric, second, "b", say("side.again") if same else "")
    if context.language == "zh":
        values["b"] = _set(values["b"].strip())
    if math.isclose(gap, 0.0, abs_tol=1e-12 * max(1.0, abs(number(second.fact)))):
        said = say("side.same", **values)
    else:
        fact = context.ledger.derived(
            f"difference of sides of {metric}: {first.fact.id} − {second.fact.id}", abs(gap),
            inputs=[first.fact, second.fact], formula="|first − second|",
        )  # fmt: skip
        kind = context.kind_of(metric)
        points = say("portion.points", v=mark(fact.id, percent(abs(gap) * 100)))
        way = "higher" if gap > 0 else "lower"
        against = held["down" if gap > 0 else "up"].search(text) and not held["up" if gap > 0 else "down"].search(text)
        said = say(
            f"side.{way}_instead" if against else f"side.{way}",
            d=points if kind == "fraction" else context.doc.show(fact, None, kind), **values,
        )  # fmt: skip
    lines = []
    if ratio_asked(text) and number(second.fact) > 0:
        over, under = (second, first) if 0 < number(first.fact) < number(second.fact) else (first, second)
        times = context.ledger.derived(
            f"ratio of sides of {metric}: {over.fact.id} / {under.fact.id}", number(over.fact) / number(under.fact),
            inputs=[over.fact, under.fact], formula="first / second" if over is first else "second / first",
        )  # fmt: skip
        lines.append(say("side.times" if over is first else "side.times_back", v=times))
    part = second.part or first.part
    if part is not None and (first.part is None or second.part is None) and len(part) > 2:
        spread = statistic(context, part, "std", deviation(part.values), "sample standard deviation (n − 1)")
        lines.append(say("rel.spread", sd=shown(context, spread, metric)))
    for one in (first, second):
        lines.extend(line for line in (remarks(context, one.part) if one.part else []) if line not in lines)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.metrics.append(metric)
    context.cite(context.card(metric))
    context.chart(context.title(metric), [metric])
    context.settled, context.kind = True, "sides"
    steps = [one.at for one in (first, second) if one.part is None and one.at is not None]
    slot = StepSlot("single" if len(steps) == 1 else "pair", tuple(sorted(steps))) if steps else StepSlot("all")
    ops: dict[str, Op] = {"mean": "mean", "max": "max", "min": "min"}
    op = next((ops[one.side.name] for one in (first, second) if one.side.name in ops), None)
    context.query = replace(context.query, intent="lookup", steps=slot, op=op, asked_op=op, topics=(), threshold=None)
    return Verdict("answered", unmark(said))
