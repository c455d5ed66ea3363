"""Whether a metric that crossed a limit came back; how fast it moves by so many steps; how far a stage grew."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context, key
from assistant.ask.part import cell, limit_text, part_of, remarks
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.subject import Subject, subject_of, words_of
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_PER: Final = re.compile(
    r"(?i)(?:每|per|every|each)\s*(?:隔)?\s*(\d{1,6})?\s*(?:个)?\s*(?:步|steps?|iterations?|iter\b|evals?|次验证|次更新|轮)"
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
    if _BACK_TO.search(found.text):
        return _again(context, found, limit)
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


#: "go back under 0.04", "回到 0.5 以上": the limit is what it came back to, rather than what it came back from.
_BACK_TO: Final = re.compile(
    r"(?i)\b(?:back|again|return\w*|recover\w*)(?: (?:down|up))?"
    r"(?: (?:to|under|below|above|over|past|beneath|inside|within))+"
    r"(?: (?:at least|about|around))?\s*-?\d|\b(?:under|below|above|over|past)\s*-?\d[\d.e-]*\s*%?\s*again\b"
    r"|(?:回到|恢复到|回升到|回落到|降回到?|升回到?|涨回到?|跌回到?|重新(?:回到|低于|高于|超过|降到|升到))[^,，。?]{0,8}\d"
)


def _again(context: Context, found: Subject, limit: Condition) -> Verdict:
    """Whether a metric met a limit again: after the part's bound that the question names, else after its extreme."""
    part, say = found.part, context.say
    down = limit.kind in {"below", "at_most"}
    whole = part_of(context, found.metric, Scope())
    if part.steps[0] > whole.steps[0]:
        start, begin = 0, whole.steps.index(part.steps[0]) - 1
        after = say("back.after_step", at=context.doc.step(_named_bound(context, whole.steps[begin])))
    else:
        start = part.values.index((max if down else min)(part.values))
        after = say("back.after_high" if down else "back.after_low", base=cell(context, part, start))
    values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric), "after": after}
    context.metrics.append(found.metric)
    last = cell(context, part, len(part) - 1)
    place = next((p for p in range(start, len(part)) if limit.holds(part.values[p])), None)
    if place is None:
        near = part.values.index((min if down else max)(part.values[start:]), start)
        return _told(context, say("back.never", near=cell(context, part, near), last=last, **values))
    said = say("back.again", v=cell(context, part, place), **values)
    rest = [limit.holds(value) for value in part.values[place:]]
    count = context.ledger.count("values from there on", len(rest), metric=found.metric)
    kept = context.ledger.count(f"of them {limit.kind} {limit.low:g}", sum(rest), metric=found.metric)
    stays = say("back.stays", last=last) if all(rest) else say("back.wavers", n=count, k=kept, last=last)
    return _told(context, said, stays if len(rest) > 1 else "", *remarks(context, part))


def _named_bound(context: Context, before: int) -> int:
    """The step after which a question asks, by its number where it names one."""
    match = re.search(r"(?i)(?:after|since|past) step (\d{1,8})|step (\d{1,8}) ?(?:之后|以后)", words_of(context))
    return int(match[1] or match[2]) if match is not None else before


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
