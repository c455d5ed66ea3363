"""A metric against a part, or a multiple, of its own first value, mean, median or peak: "十倍以上", "below half"."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask import run_questions
from assistant.ask.answer_relative import factor_in
from assistant.ask.blanking import figures, spans_of
from assistant.ask.context import Context
from assistant.ask.held_since import since_then
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.ranges import listed
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain

_LEAST: Final = 2
#: What a limit is a part or a multiple of.
_WHAT: Final = {
    "first": "multiple.first", "peak": "multiple.peak", "mean": "multiple.mean", "median": "multiple.median",
}  # fmt: skip


def multiple(context: Context) -> Verdict | None:
    """The first step on the side named, how many there are and which; ``None`` where no such limit is named."""
    text, held = figures(normalised(context.query.wording or context.query.text)), words("multiples")
    match = run_questions.found("multiple", text)
    metric = _metric(context, text, match.span()) if match is not None else None
    if match is None or metric is None:
        return None
    up, down = held["up"].search(match.group()) is not None, held["down"].search(match.group()) is not None
    factor = factor_in(match.group())
    if factor is None or up == down:
        return None
    if match["bare"] and ("一半" not in context.query.text or context.kind_of(metric) == "fraction"):
        return None  # of a share, 50 % is a level of its own
    base_name = next((name for name in ("mean", "median", "peak") if held[name].search(match.group())), "first")
    part = part_of(context, metric, Scope())
    if len(part) < _LEAST:
        return None
    context.metrics.append(metric)
    base = _base(context, metric, base_name)
    if base is None or number(base) <= 0:
        return None
    target = context.ledger.derived(
        f"{factor:g} × {base_name} of {metric}", number(base) * factor, inputs=[base],
        formula=f"{factor:g} × {base_name} of {metric}",
    )  # fmt: skip
    met = [value > number(target) if up else value < number(target) for value in part.values]
    what = context.say(_WHAT[base_name], **({"step": base.step or 0} if base.kind == "value" else {}))
    values = {
        "metric": metric, "factor": _factor_text(context, factor), "base": shown(context, base, metric),
        "what": what, "target": shown(context, target, metric),
        "side": context.say("multiple.above" if up else "multiple.below"),
        "n": context.ledger.count("values", len(part), metric=metric),
    }  # fmt: skip
    counted = held["lasted"].search(text) is not None and held["which"].search(text) is None
    lines: list[str] = []
    if not any(met):
        at = part.values.index((max if up else min)(part.values))
        said = context.say("multiple.never", near=cell(context, part, at), **values)
    else:
        steps = [step for step, one in zip(part.steps, met, strict=True) if one]
        count = context.ledger.count(f"steps beyond {factor:g} × {base_name}", len(steps), metric=metric)
        first = cell(context, part, met.index(True))
        said = context.say(
            "multiple.told", v=first, k=count, steps=listed(context, metric, steps), **values
        )  # fmt: skip
        lines.append(since_then(context, metric, part.steps, met))
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*[line for line in lines if line], *remarks(context, part))
    context.chart(context.title(metric), [metric])
    op: Op = "count" if counted else "first_crossing"
    context.query = replace(context.query, op=op, asked_op=op, steps=StepSlot("all"), threshold=None, topics=())
    return Verdict("answered", unmark(said))


def _metric(context: Context, text: str, at: tuple[int, int]) -> str | None:
    """The metric that the limit is said of: the only one, or of several the nearest before it."""
    keys = central(named_keys(context))
    if len(keys) < _LEAST:
        return keys[0] if keys else None
    placed = [
        (span[1], str(m.key)) for m in context.query.mentions if m.key in keys for span in spans_of(text, m)
        if span[1] <= at[1]
    ]  # fmt: skip
    return max(placed)[1] if placed else None


def _base(context: Context, metric: str, name: str) -> Fact | None:
    part = part_of(context, metric, Scope())
    if name == "first":
        return cell(context, part, 0)
    if name == "peak":
        return cell(context, part, part.values.index(max(part.values)))
    value = median(part.values) if name == "median" else math.fsum(part.values) / len(part)
    return statistic(context, part, name, value, name)


def _factor_text(context: Context, factor: float) -> str:
    fact = context.ledger.constant("factor", factor, "the question", "fraction")
    if factor < 1:
        return context.say("multiple.part", share=mark(fact.id, f"{plain(100 * factor)}%"))
    return context.say("conditioned.times", k=mark(fact.id, plain(factor)))
