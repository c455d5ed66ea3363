"""What holds of a metric over the run: always or not, how noisy, by how many per cent it moved, where it settled."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.ask.between_ends import ends
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.part import Part, cell, limit_text, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.portions import portions_in
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import subject_of, words_of
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent, plain, signed

#: Fewest values for a spread early and late.
LEAST: Final = 12
#: Fewest values on either side of a step.
LEAST_SIDE: Final = 5
#: A spread that grew or shrank by less than this share is the same.
ALIKE: Final = 0.2
_LEFT: Final = re.compile(r"剩|\bleft\b|\bremain")
_NAMED: Final = 8
_IN_PERCENT: Final = re.compile(r"(?i)percent|%|％|百分|相对")


def _told(context: Context, metric: str, said: str, *lines: str, code: str = "answered") -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    return Verdict(code, unmark(said))


def always(context: Context) -> Verdict | None:
    """Whether a condition holds at every value; ``None`` where no single metric, or no condition, is named."""
    found = subject_of(context)
    limit = None if found is None else condition_in(found.text)
    if found is None or limit is None:
        return None
    lines = everywhere(context, found.part, limit)
    return _told(context, found.metric, lines[0], *lines[1:], *remarks(context, found.part))


def everywhere(context: Context, part: Part, limit: Condition) -> list[str]:
    """Whether a condition holds at every value of a part: the sentences, the verdict first."""
    limit = limit.scaled(max(abs(v) for v in part.values))
    values = {"metric": part.metric, "limit": limit_text(context, limit, part.metric), "over": part.over}
    outside = [place for place, value in enumerate(part.values) if not limit.holds(value)]
    if not outside:
        return [context.say("always.yes", **values)]
    denied = limit.denied if limit.kind in {"at_most", "at_least"} else None
    name = "always.no" if denied is None else "always.beyond"  # "above 3" rather than "not at or below 3"
    if denied is not None:
        values["limit"] = limit_text(context, denied, part.metric)
    if len(outside) == 1:
        return [context.say(f"{name}_one", v=cell(context, part, outside[0]), **values)]
    many = context.ledger.count(f"steps not {limit.kind} {limit.low:g}", len(outside), metric=part.metric)
    low, high = (cell(context, part, pick(outside, key=lambda place: part.values[place])) for pick in (min, max))
    said = context.say(name, k=many, v=cell(context, part, outside[0]), low=low, high=high, **values)
    steps = [part.steps[place] for place in outside]
    return [said, context.say("calc.steps", steps=context.doc.show(steps))] if len(steps) <= _NAMED else [said]


def noisiness(context: Context) -> Verdict | None:
    """How much a metric scatters from one value to the next, over the first and the last third, or before and after a
    step that the question names ("calmer after step 40").

    The scatter is the standard deviation of neighbouring differences over √2 (J. von Neumann, "Distribution of the
    Ratio of the Mean Square Successive Difference to the Variance", 1941): a trend hardly enters it.
    """
    found = subject_of(context)
    if found is None or (len(found.part) < LEAST and _turning(context, found.metric) is None):
        return None
    part, cut = found.part, _turning(context, found.metric)
    third = len(part) // 3
    pieces = {"early": slice(0, third), "late": slice(len(part) - third, len(part))}
    if cut is not None:
        part, pieces = cut[0], {"early": slice(0, cut[1]), "late": slice(cut[1], len(cut[0]))}
    facts = {}
    for name, piece in pieces.items():
        inner = Part(part.metric, part.steps[piece], part.values[piece], 0, (), "")
        facts[name] = statistic(context, inner, "scatter", scatter(inner.values), "sd of neighbouring differences / √2")
    early, late = number(facts["early"]), number(facts["late"])
    way = "same" if abs(late - early) <= ALIKE * max(early, late) else "less" if late < early else "more"
    texts = {name: shown(context, fact, found.metric) for name, fact in facts.items()}
    said = context.say(
        f"noisy.{way}" if cut is None else f"noisy.split_{way}", metric=found.metric, a=part.steps[0],
        b=part.steps[pieces["early"].stop - 1], c=part.steps[pieces["late"].start], d=part.steps[-1], **texts,
    )  # fmt: skip
    trend = context.ledger.trend(found.metric, list(part.steps))
    code = (None if trend is None else trend.direction) or "inconclusive"
    relative = _relative(context, found.metric, part, pieces, facts) if _IN_PERCENT.search(found.text) else ""
    lines = (relative, context.say("noisy.how"), *remarks(context, part))
    return _told(context, found.metric, said, *lines, code=code)


def _relative(
    context: Context, metric: str, part: Part, pieces: Mapping[str, slice], scatters: Mapping[str, Fact]
) -> str:
    """The scatters as shares of the medians of their pieces; empty where a median is not above zero."""
    shares = {}
    for name, piece in pieces.items():
        level = median(part.values[piece])
        if level <= 0:
            return ""
        share = context.ledger.derived(
            f"relative scatter of {metric}/{name}", number(scatters[name]) / level, inputs=[scatters[name]],
            formula=f"scatter / median of {metric} over the same steps", unit="fraction",
        )  # fmt: skip
        shares[name] = context.doc.show(share)
    return context.say("noisy.relative", **shares)


def _turning(context: Context, metric: str) -> tuple[Part, int] | None:
    """All values of a metric and the place where the part that a question names begins or ends; ``None`` where it names
    no such part, or too few values stand on either side."""
    scope = scope_in(words_of(context), context.train_steps)
    if scope.plain or (scope.first is None) == (scope.last is None) or scope.without:
        return None
    whole = part_of(context, metric, Scope())
    at = sum(s < scope.first if scope.first is not None else s <= (scope.last or 0) for s in whole.steps)
    return (whole, at) if min(at, len(whole) - at) >= LEAST_SIDE else None


def scatter(values: tuple[float, ...]) -> float:
    """The standard deviation of a value about its neighbours, from successive differences; at least two values."""
    moves = [b - a for a, b in pairwise(values)]
    return math.sqrt(math.fsum(d * d for d in moves) / (2 * len(moves)))


def percent_change(context: Context) -> Verdict | None:
    """By how many per cent a metric changed between the steps named, or from its first value to its last."""
    found = subject_of(context)
    if found is None or len(portions_in(words_of(context), context.train_steps)) > 1:
        return None  # the means of two parts have a writer of their own
    part, slot = found.part, context.query.steps
    first, last = ends(found.text, part, slot)
    change = context.ledger.change(found.metric, min(first, last), max(first, last))
    if change is None or not change.from_value or change.ratio is None or change.from_value < 0 or change.ratio < 0:
        return None
    kind = context.kind_of(found.metric)
    share = context.ledger.derived(
        f"relative change of {found.metric}/{first}-{last}", change.ratio - 1, inputs=[change],
        formula=f"{found.metric} at step {change.to_step} / at step {change.from_step} − 1", unit="fraction",
    )  # fmt: skip
    text = f"{'+' if number(share) > 0 else ''}{percent(number(share) * 100)}%"
    said = context.say(
        "percent.changed", metric=found.metric, c=change, share=mark(share.id, text),
        delta=mark(change.id, signed(change.delta or 0.0, kind, language=context.language)),
    )  # fmt: skip
    if _LEFT.search(found.text) and change.ratio < 1:  # "how much of it is left"
        left = context.ledger.derived(
            f"part left of {found.metric}/{first}-{last}", change.ratio, inputs=[change],
            formula=f"{found.metric} at step {change.to_step} / at step {change.from_step}", unit="fraction",
        )  # fmt: skip
        share_left = mark(left.id, f"{plain(100 * change.ratio)}%")
        said = context.say("percent.left", metric=found.metric, c=change, share=share_left)
    lines = [context.say("rel.within_noise", limit=context.bound(change))] if change.significant is False else []
    return _told(context, found.metric, said, *lines, *remarks(context, part))


def settled_level(context: Context) -> Verdict | None:
    """The level of the last third, and how the metric got there; ``None`` for fewer values than a level takes."""
    found = subject_of(context, least=9)
    if found is None:
        return None
    part = found.part
    trend = context.ledger.trend(found.metric, list(part.steps))
    level = None if trend is None else context.ledger.level(found.metric, trend, "last")
    if trend is None or level is None:
        return None
    said = context.say(
        "settled.level",
        metric=found.metric,
        v=shown(context, level, found.metric),
        last=cell(context, part, len(part) - 1),
    )
    return _told(context, found.metric, said, trend_sentence(context, found.metric, trend, list(part.steps)))


_AFTERWARDS: Final = re.compile(
    r"(?i)(?:之后|后来|随后|后面)[^,，。?]{0,4}(?:掉|跌|降|回落|下降|涨|升|恢复)|\b(?:did|has) (?:it|that) (?:drop"
    r"|fall|decline|rise|go (?:down|up))\w*(?: again)?(?: after\w*| since)|\bsince then\b"
    r"|\b(?:does|did|has|is|was|do) (?:it|that|this|they)\b.{0,24}\b(?:up|down|back|rise|rising|fall|falling"
    r"|recover\w*|climb\w*|drop\w*|improv\w*|worse\w*)\b.{0,8}\bafter(?:wards?| that)?\b"
)


def afterwards(context: Context, metric: str, part: Part, clause: str) -> str:
    """What came after an extreme that was told, where a clause asks for it; else empty."""
    op = context.query.op
    if not _AFTERWARDS.search(clause) or op not in {"max", "argmax", "min", "argmin"} or not len(part):
        return ""
    high = op in {"max", "argmax"}
    at = part.values.index((max if high else min)(part.values))
    rest = part.values[at + 1 :]
    if not rest:
        return context.say("after.none", metric=metric)
    far = at + 1 + rest.index((min if high else max)(rest))
    return context.say(
        "after.fell" if high else "after.rose", metric=metric, v=cell(context, part, far),
        last=cell(context, part, len(part) - 1),
        n=context.ledger.count("values after the extreme", len(rest), metric=metric),
    )  # fmt: skip


def _rows_per_epoch(context: Context, metric: str, first: Fact, last: Fact) -> Verdict | None:
    """Rows of an epoch, where the log prints no steps; ``None`` where rows do not come evenly."""
    rows = [step for step in context.run.series(metric)[0] if first.step is not None and step >= first.step]
    rate = (len(rows) - 1) / (number(last) - number(first))
    fact = context.ledger.derived(
        "rows per epoch", round(rate), inputs=[first, last], formula="rows between / epochs between"
    )
    context.query = replace(context.query, op=None, asked_op=None)
    context.names.add("logging_steps")
    return _told(context, metric, context.say("epoch.rows", metric=metric, v=fact, first=first, last=last))


def steps_per_row(context: Context) -> Verdict | None:
    """That a log without steps does not hold how many of them a row is, and which share of an epoch it is."""
    metric = next((m for m in context.run.metrics if m in {"epoch", "train/epoch"}), None)
    if metric is None or context.run.step_axis != "index":
        return None
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    if len(facts) < 2 or number(facts[-1]) <= number(facts[0]):
        return None
    share = context.ledger.derived(
        "epochs per row", (number(facts[-1]) - number(facts[0])) / (len(facts) - 1), inputs=[facts[0], facts[-1]],
        formula="epochs between / rows between",
    )  # fmt: skip
    context.query = replace(context.query, op=None, asked_op=None)
    context.names.add("logging_steps")
    said = context.say("epoch.per_row", v=context.doc.show(share, None, "number"))
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(metric)
    return Verdict("no_data", unmark(said))


def steps_per_epoch(context: Context) -> Verdict | None:
    """Steps of an epoch, from two logged epochs and the steps between."""
    metric = next((m for m in context.run.metrics if m in {"epoch", "train/epoch"}), None)
    if metric is None:
        return None
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    if len(facts) < 2 or number(facts[-1]) <= number(facts[0]):
        return None
    first, last = facts[0], facts[-1]
    if context.run.step_axis == "index":
        return _rows_per_epoch(context, metric, first, last)
    value = ((last.step or 0) - (first.step or 0)) / (number(last) - number(first))
    fact = context.ledger.derived(
        "steps per epoch", round(value), inputs=[first, last], formula="steps between / epochs between"
    )
    said = context.say("epoch.steps", metric=metric, v=fact, first=first, last=last)
    context.query = replace(context.query, op=None, asked_op=None)
    return _told(context, metric, said)
