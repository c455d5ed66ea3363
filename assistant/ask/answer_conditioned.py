"""A metric over the steps at which another meets a condition, and steps at which one exceeds a multiple of another."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask import answer_both_met
from assistant.ask.blanking import blanked, figures, spans_of
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import limit_text, share_shown
from assistant.ask.parts import number
from assistant.ask.scope import Scope, scope_in
from assistant.ask.wording import normalised
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

#: Steps named one by one at most.
MOST: Final = 24
#: Up to so many values a statistic lists them as its inputs.
MOST_INPUTS: Final = 512
_NAMED: Final[dict[str, Callable[[list[float]], float]]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": median,
    "max": max,
    "min": min,
}
_OPS: Final[dict[str, Op]] = {"mean": "mean", "max": "max", "min": "min"}
_MULTIPLES: Final = {
    "half": 0.5, "一半": 0.5, "二分之一": 0.5, "a third": 1 / 3, "三分之一": 1 / 3, "三分之二": 2 / 3,
    "a quarter": 0.25,     "四分之一": 0.25, "四分之三": 0.75, "twice": 2.0, "double": 2.0,
}  # fmt: skip
_FIRST_TIME: Final = re.compile(r"(?i)第一次|首次|头一[次回]|最早|\bfirst\b")
_FIGURES: Final = {"两": 2.0, "二": 2.0, "三": 3.0, "四": 4.0, "五": 5.0}


def attempt(context: Context) -> Verdict | None:
    """Answers a question of two metrics, one of which chooses the steps; ``None`` (nothing written) for any other."""
    query = context.query
    if len(context.runs) != 1 or query.intent in {"define", "advice", "forecast"}:
        return None
    if (several := answer_both_met.attempt(context)) is not None:
        return several
    keys = central(named_keys(context))
    text = figures(normalised(query.wording or query.text))
    placed = _placed(context, keys, text)
    if len(placed) != 2 or words("portions")["judging"].search(text):
        return None
    return _against(context, text, placed) or _apart(context, text, placed) or _chosen(context, text, placed)


def _placed(context: Context, keys: Sequence[str], text: str) -> list[tuple[str, tuple[int, int]]]:
    """Two metrics named, each once, with where they stand, in their order; else fewer."""
    found: list[tuple[str, tuple[int, int]]] = []
    for mention in context.query.mentions:
        key = mention.key if mention.key in keys else next((k for k in keys if context.card(k) is mention.card), None)
        spans = spans_of(text, mention)
        if key is not None and spans and key not in {name for name, _ in found}:
            found.append((key, spans[0]))
    if len(found) == 1 and len(keys) == 2:  # "how long are the responses": described, and spelt nowhere
        found.append((next(key for key in keys if key != found[0][0]), (0, 0)))
    return sorted(found, key=lambda one: one[1]) if len(found) == len(keys) == 2 else []


def _chosen(context: Context, text: str, placed: Sequence[tuple[str, tuple[int, int]]]) -> Verdict | None:
    """The statistic of one metric over the steps at which the other meets a condition, and over the rest."""
    bare = blanked(text, [span for _, span in placed])
    limit = condition_in(bare)
    if limit is None:
        return None
    left = [(name, span) for name, span in placed if span[1] <= limit.span[0] + 1]
    if not left:
        return None
    chooser, span = left[-1]
    after = words("conditioned")["chosen_after"].search(bare[limit.span[1] :])
    before = words("conditioned")["chosen_before"].search(text[: span[0]])
    said = (one for spoken in (bare, text) for one in _NAMED if words("portions")[one].search(spoken))
    name = next(said, "")
    if not name and _FIRST_TIME.search(bare):
        return None  # "when it was first below 1.5": of that one step
    crossed = words("conditioned")["crossed"].search(bare[limit.span[1] :])
    name = name or ("mean" if words("conditioned")["asked"].search(bare) else "")
    if (after is None and before is None and crossed is None) or not name:
        return None
    told = next(key for key, _ in placed if key != chooser)
    steps, values = context.run.series(chooser)
    finite = {step: float(value) for step, value in zip(steps, values, strict=True) if math.isfinite(value)}
    if not finite:
        return None
    limit = limit.scaled(max(abs(value) for value in finite.values()))
    rest = scope_in(blanked(bare, [limit.span]), context.train_steps)
    wanted = [step for step in rest.of(sorted(finite)) if context.run.value(told, step) is not None]
    if crossed is not None:
        at = next((step for step, value in finite.items() if limit.holds(value)), None)
        sides_asked = (True, True) if crossed["both"] else (crossed["later"] is None, crossed["later"] is not None)
        return _crossed(context, (chooser, told), limit, (wanted, name), (at, sides_asked))
    sides = [[s for s in wanted if limit.holds(finite[s]) == met] for met in (True, False)]
    return _told(context, (chooser, told), limit, sides, name)


def _statistic(context: Context, metric: str, steps: Sequence[int], name: str, which: str) -> tuple[Fact, Fact] | None:
    """A statistic over some steps, and the count of values; ``None`` without a finite value."""
    facts = [fact for step in steps if (fact := context.value(metric, step)) is not None]
    facts = [fact for fact in facts if isinstance(fact.value, (int, float)) and math.isfinite(fact.value)]
    if not facts:
        return None
    value = _NAMED[name]([number(fact) for fact in facts])
    told = context.ledger.derived(
        f"{name}({metric}) over steps that {which}", value, inputs=facts if len(facts) <= MOST_INPUTS else [],
        formula=f"{name} of {metric} over {len(facts)} steps that {which}",
    )  # fmt: skip
    return told, context.ledger.count(f"steps that {which}", len(facts), metric=metric)


def _told(
    context: Context, keys: tuple[str, str], limit: Condition, sides: Sequence[Sequence[int]], name: str
) -> Verdict:
    """The second metric's statistic over the steps that meet the condition on the first, and over those that do not."""
    chooser, told = keys
    say, kind = context.say, context.kind_of(told)
    which = f"{chooser} {limit.kind} {limit.low:g}"
    values = {"chooser": chooser, "limit": limit_text(context, limit, chooser), "metric": told}
    own = _statistic(context, told, sides[0], name, which)
    if own is None:
        count = context.ledger.count(f"steps that {which}", 0, metric=told)
        said = say("conditioned.none", n=count, **values)
    else:
        how = say(f"conditioned.{name}")
        said = say("conditioned.told", n=own[1], how=how, v=context.doc.show(own[0], None, kind), **values)
        other = _statistic(context, told, sides[1], name, f"not {which}")
        if other is not None:
            said += say("conditioned.rest", n=other[1], how=how, v=context.doc.show(other[0], None, kind))
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend([told, chooser])
    context.chart(context.title(told), [told, chooser])
    context.settled = True
    op = _OPS.get(name)
    context.query = replace(context.query, intent="lookup", op=op, asked_op=op, steps=StepSlot("all"), topics=())
    return Verdict("no_data" if own is None else "answered", unmark(said))


def _crossed(
    context: Context, keys: tuple[str, str], limit: Condition, asked: tuple[Sequence[int], str],
    side: tuple[int | None, tuple[bool, bool]],
) -> Verdict | None:  # fmt: skip
    """The second metric's statistic before and after the first step at which the first meets the condition."""
    steps, name = asked
    chooser, told = keys
    at, sides = side
    say, kind, code = context.say, context.kind_of(told), "answered"
    values = {"chooser": chooser, "limit": limit_text(context, limit, chooser)}
    if at is None:
        said, code = say("conditioned.never_crossed", **values), "no_data"
    else:
        said = ""
        for later in (place == 1 for place in (0, 1) if sides[place]):
            part = [
                step for step in steps if (step >= at if later and all(sides) else step > at if later else step < at)
            ]
            own = _statistic(context, told, part, name, f"{'after' if later else 'before'} step {at}")
            if own is None:
                continue
            phrase = "conditioned.crossed_later" if later else "conditioned.crossed_earlier"
            phrase = "conditioned.and_later" if said else phrase
            shown, how = context.doc.show(own[0], None, kind), say(f"conditioned.{name}")
            said += say(phrase, n=own[1], how=how, v=shown, **({} if said else {"at": at, "metric": told, **values}))
        if not said:
            return None
        said += "。" if context.language == "zh" else "."
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend([told, chooser])
    context.settled = True
    op = _OPS.get(name)
    context.query = replace(context.query, intent="lookup", op=op, asked_op=op, steps=StepSlot("all"), topics=())
    return Verdict(code, unmark(said))


def _multiple(match: re.Match[str]) -> float | None:
    said = (match["en"] or match["zh"] or "").strip().lower()
    if not said:
        return 1.0
    if said in _MULTIPLES:
        return _MULTIPLES[said]
    digits = re.search(r"\d+(?:\.\d+)?", said)
    value = float(digits[0]) if digits else _FIGURES.get(said[0])
    if value is None:
        return None
    return value / 100 if re.search(r"%|％|percent|百分之", said) else value


def _marked(text: str, placed: Sequence[tuple[str, tuple[int, int]]]) -> str:
    """A question with ⟨0⟩ and ⟨1⟩ for its metrics."""
    (_, first), (_, second) = placed
    return f"{text[: first[0]]}⟨0⟩{text[first[1] : second[0]]}⟨1⟩{text[second[1] :]}"


def _apart(context: Context, text: str, placed: Sequence[tuple[str, tuple[int, int]]]) -> Verdict | None:
    """At which steps one metric is above (below) the other by more than a number."""
    (a, _), (b, _) = placed
    marked = _marked(text, placed)
    match = words("conditioned")["apart"].search(marked)
    if match is None or "0" not in {match["a"], match["ea"]}:
        return None
    kind = next((name for name in ("count", "first", "list") if words("conditioned")[name].search(marked)), "")
    sign = 1 if match["more"] or match["emore"] else -1 if match["less"] or match["eless"] else 0
    if not kind or not sign:
        return None
    gap = float(match["n"] or match["en_n"] or 0)
    pairs = _pairs(context, a, b, scope_in(marked[match.end() :], context.train_steps))
    if not pairs:
        return None
    met = [(step, cells) for step, cells in pairs if sign * (number(cells[0]) - number(cells[1])) > gap]
    limit = context.ledger.constant("difference asked for", gap, "the question")
    shown = mark(limit.id, format_number(gap, context.kind_of(a), language=context.language))
    side = "above" if sign > 0 else "below"
    phrase = f"conditioned.apart_{side}" if gap else f"conditioned.{side}_itself"
    what = context.say(phrase, a=a, b=b, **({"k": shown} if gap else {}))
    return _counted(context, (a, b), what, kind, (pairs, met))


Pairs = list[tuple[int, tuple[Fact, Fact]]]


def _pairs(context: Context, a: str, b: str, scope: Scope) -> Pairs:
    """The steps of a part at which both metrics have a finite value, with both cells."""
    found: Pairs = []
    for step in scope.of(context.run.series(a)[0]):
        one, other = context.value(a, step), context.value(b, step)
        if one is None or other is None:
            continue
        if math.isfinite(number(one)) and math.isfinite(number(other)):
            found.append((step, (one, other)))
    return found


def _against(context: Context, text: str, placed: Sequence[tuple[str, tuple[int, int]]]) -> Verdict | None:
    """At which steps one metric exceeds the other, or a multiple of it."""
    (a, _), (b, _) = placed
    marked = _marked(text, placed)
    match = words("conditioned")["against"].search(marked)
    multiple = None if match is None else _multiple(match)
    if match is None or multiple is None or (match["a"], match["b"]) != ("0", "1"):
        return None
    kind = next((name for name in ("count", "first", "list") if words("conditioned")[name].search(marked)), "")
    pairs = _pairs(context, a, b, scope_in(marked[match.end() :], context.train_steps))
    if not kind or not pairs:
        return None
    sign = 1 if match["above"] is not None else -1
    met = [(step, cells) for step, cells in pairs if sign * (number(cells[0]) - multiple * number(cells[1])) > 0]
    factor = context.ledger.constant("multiple", multiple, "the question", "fraction" if multiple < 1 else None)
    shown = mark(factor.id, f"{multiple * 100:.3g}%" if multiple < 1 else f"{multiple:g}")
    shown = shown if multiple < 1 else context.say("conditioned.times", k=shown)
    side = "above" if sign > 0 else "below"
    what = context.say(f"conditioned.{side}" if multiple != 1 else f"conditioned.{side}_itself", a=a, b=b, k=shown)
    return _counted(context, (a, b), what, kind, (pairs, met))


def _counted(context: Context, keys: tuple[str, str], what: str, kind: str, steps: tuple[Pairs, Pairs]) -> Verdict:
    """The first, the number or the list of the steps that meet what is asked, of those that could."""
    say, (pairs, met) = context.say, steps
    total = context.ledger.count("steps with both", len(pairs), metric=keys[0])
    count = context.ledger.count(f"steps that meet {unmark(what)}", len(met), metric=keys[0])
    if not met:
        said = say("conditioned.never", what=what, n=total)
    elif kind == "first":
        step, cells = met[0]
        said = say("conditioned.first", what=what, step=step, va=cells[0], vb=cells[1], k=count, n=total)
    else:
        share = share_shown(context, f"share of steps that meet {unmark(what)}", len(met), len(pairs), [count, total])
        said = say("conditioned.count", what=what, k=count, n=total, share=share)
    context.doc.paragraph(f"**{said}**")
    if met and kind != "first" and len(met) <= MOST:
        context.doc.paragraph(say("calc.steps", steps=context.doc.show([step for step, _ in met])))
    context.metrics.extend(keys)
    context.settled = True
    op: Op = "first_crossing" if kind == "first" else "count"
    context.query = replace(context.query, intent="lookup", op=op, asked_op=op, steps=StepSlot("all"), topics=())
    return Verdict("answered", unmark(said))
