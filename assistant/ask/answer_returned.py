"""Whether a metric that crossed a limit came back; how fast it moves by so many steps; how far a stage grew."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context, key
from assistant.ask.part import cell, limit_text, remarks
from assistant.ask.parts import number
from assistant.ask.subject import subject_of, words_of
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_PER: Final = re.compile(
    r"(?i)(?:每|per|every|each)\s*(?:隔)?\s*(\d{1,6})?\s*(?:个)?\s*(?:步|steps?|iterations?|iter\b|evals?|次验证|次更新)"
)
_SLOPE: Final = re.compile(r"(?i)斜率|\bslope\b|per[- ]step")
MOST_STAGES: Final = 6


def returned(context: Context) -> Verdict | None:
    """First crossing of the limit named, how often it was beyond it, and whether the end is on this side again."""
    found = subject_of(context)
    if found is None:
        return None
    part = found.part
    limit = condition_in(found.text)
    if limit is None or limit.kind not in {"above", "at_least", "below", "at_most"}:
        if context.query.threshold is None:
            return None
        side, value = context.query.threshold
        limit = Condition("above" if side == "above" else "below", value, value)
    limit = limit.scaled(max(abs(v) for v in part.values))
    text = limit_text(context, limit, found.metric)
    places = [place for place, value in enumerate(part.values) if limit.holds(value)]
    context.metrics.append(found.metric)
    last = cell(context, part, len(part) - 1)
    if not places:
        side = "high" if limit.kind in {"above", "at_least"} else "low"
        at = part.values.index((max if side == "high" else min)(part.values))
        said = context.say("calc.never", metric=found.metric, limit=text, over=part.over)
        return _told(context, said, context.say(f"calc.nearest_{side}", v=cell(context, part, at)))
    count = context.ledger.count(f"steps {limit.kind} {limit.low:g}", len(places), metric=found.metric)
    values = {"metric": found.metric, "limit": text, "v": cell(context, part, places[0]), "k": count, "over": part.over}
    after = len(part) - 1 - places[-1]
    if after:
        rest = context.ledger.count("values after the last of them", after, metric=found.metric)
        said = context.say("back.yes", w=cell(context, part, places[-1]), n=rest, last=last, **values)
        if after < len(places) and after < 3:
            return _told(context, said, context.say("back.few"), *remarks(context, part))
        return _told(context, said, *remarks(context, part))
    inside = [place for place in range(places[0], len(part)) if not limit.holds(part.values[place])]
    if inside:
        between = context.ledger.count("values back in between", len(inside), metric=found.metric)
        since = next(p for p in range(len(part) - 1, -1, -1) if not limit.holds(part.values[p])) + 1
        said = context.say("back.not_for_good", m=between, since=cell(context, part, since), last=last, **values)
    else:
        said = context.say("back.no", last=last, **values)
    return _told(context, said, *remarks(context, part))


def _told(context: Context, said: str, *lines: str) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.chart(context.title(context.metrics[0]), context.metrics[:1])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing")
    return Verdict("answered", unmark(said))


def pace(context: Context) -> Verdict | None:
    """How much a metric moved from first to last value, and by how much that is in so many steps."""
    found = subject_of(context, least=3)
    named = _PER.search(words_of(context))
    if found is None or (named is None and not _SLOPE.search(found.text)):
        return None
    part = found.part
    every = int(named[1] or 1) if named is not None else 1
    change = context.ledger.change(found.metric, part.steps[0], part.steps[-1])
    trend = context.ledger.trend(found.metric, list(part.steps))
    if change is None or trend is None or every < 1:
        return None
    kind = context.kind_of(found.metric)
    spread = part.steps[-1] - part.steps[0]
    mean = context.ledger.derived(
        f"mean move per {every} steps of {found.metric}", (change.delta or 0.0) / spread * every, inputs=[change],
        formula=f"({found.metric} at the last − at the first step) / steps between × {every}",
    )  # fmt: skip
    steps = context.ledger.constant("steps per", every, "the question")
    shown = mark(mean.id, signed(number(mean), kind, language=context.language))
    context.metrics.append(found.metric)
    said = context.say(
        "pace.ends", metric=found.metric, first=cell(context, part, 0), last=cell(context, part, len(part) - 1),
        k=steps, v=shown,
    )  # fmt: skip
    lines = []
    if trend.direction in {"rising", "falling"} and trend.form == "slope":
        slope = context.ledger.derived(
            f"slope per {every} steps of {found.metric}", (trend.slope_per_step or 0.0) * every, inputs=[trend],
            formula=f"slope per step × {every}",
        )  # fmt: skip
        lines.append(
            context.say(
                "pace.slope", k=steps, v=mark(slope.id, signed(number(slope), kind, language=context.language)), t=trend
            )
        )
    else:
        lines.append(context.say("pace.uneven"))
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines, *remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    return Verdict(trend.direction or "inconclusive", unmark(said))


def stage_growth(context: Context) -> Verdict | None:
    """Which stage of a step grew (or shrank) most in seconds between the steps named, else the first and the last."""
    run, say, doc = context.run, context.say, context.doc
    layout = layout_of(run)
    whole = None if layout is None else total_key(run, layout)
    if layout is None or whole is None:
        return None
    steps = [s for s, v in zip(*run.series(whole), strict=True) if math.isfinite(v)]
    slot = context.query.steps
    if slot.kind in {"pair", "range"}:
        steps = [s for s in steps if min(slot.values) <= s <= max(slot.values)]
    if slot.kind == "single" and slot.values[0] in steps[1:]:  # "it jumps at 26": against the step before
        at = steps.index(slot.values[0])
        steps = steps[at - 1 : at + 1]
    if len(steps) < 2:
        return None
    first, last = steps[0], steps[-1]
    shrank = (
        re.search(r"(?i)shr[iau]nk|drop|fell|decreas|less|save|faster|降|减|缩|快|少", words_of(context)) is not None
    )
    moves = [c for stage in stage_keys(run, layout) if (c := context.ledger.change(stage, first, last)) is not None]
    total = context.ledger.change(whole, first, last)
    if not moves or total is None:
        return None
    moves.sort(key=lambda c: (c.delta or 0.0) * (1 if shrank else -1))
    top = moves[0]
    name = "shrank" if shrank else "grew"
    if (top.delta or 0.0) * (-1 if shrank else 1) <= 0:
        name += "_none"
    values: dict[str, Fact | str] = {"stage": str(top.metric), "c": top, "total": total}
    text = say(f"stage.{name}", first=first, last=last, **values)
    doc.paragraph(f"**{text}**")
    rows = [
        [key(str(c.metric)), doc.show(c, "from"), doc.show(c, "to"), doc.show(c, "delta")] for c in moves[:MOST_STAGES]
    ]
    doc.table([say("head.stage"), f"step {doc.step(first)}", f"step {doc.step(last)}", say("head.change")], rows)
    if len(steps) > 2:
        doc.paragraph(say("stage.two_steps"))
    context.metrics.append(str(top.metric))
    return Verdict("answered", unmark(text))


def from_to(context: Context) -> Verdict | None:
    """First and last value of one metric, its extremes, and how it moved in between."""
    found = subject_of(context)
    if found is None or context.query.steps.kind in {"pair", "single"}:
        return None
    part = found.part
    trend = context.ledger.trend(found.metric, list(part.steps))
    if trend is None:
        return None
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    context.metrics.append(found.metric)
    said = context.say(
        "aspect.ends", metric=found.metric, first=cell(context, part, 0), last=cell(context, part, len(part) - 1),
        low=low, high=high, over=part.over,
    )  # fmt: skip
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(trend_sentence(context, found.metric, trend, list(part.steps)), *remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    return Verdict(trend.direction or "inconclusive", unmark(said))
