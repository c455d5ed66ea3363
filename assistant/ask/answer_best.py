"""Which step is best or worst, and which metrics got worse or better over the run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from assistant.analysis.compare import compare_windows
from assistant.analysis.compare_model import Row
from assistant.analysis.diagnosis import role
from assistant.ask import by_course, outcomes
from assistant.ask.answer_overfit import evaluation_loss, training_loss
from assistant.ask.comparing import knowledge_of
from assistant.ask.context import Context, is_validation, key
from assistant.ask.departures import departures
from assistant.ask.held_out_gap import is_held_out
from assistant.ask.naming import central, named_keys, unknown, wanted_steps
from assistant.ask.parts import note, number
from assistant.ask.validation_errors import as_validated
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.comparison import BOUNDS
from assistant.write.document import unmark

_TRAINING = re.compile(r"(?i)train|训练")
Which = Literal["best", "worst"]
MOST_SHOWN = 4
#: Fewest training steps for two windows, and the part of the run that each takes.
LEAST_STEPS, PART = 6, 4


# -- the best step -----------------------------------------------------------------------------------------------------
def best(context: Context) -> Verdict:
    """The best step by the metric named, else by validation, else by reward."""
    return _extreme(context, "best")


def worst(context: Context) -> Verdict:
    """The worst step, by the same choice of metric."""
    return _extreme(context, "worst")


def lead(context: Context) -> Verdict | None:
    """The best step, and by how much it is better than the last one.

    Returns:
        The verdict; ``None`` (nothing written) where nothing says what is better.
    """
    keys = central(named_keys(context))
    metric = keys[0] if keys else _judge(context)
    if metric is None or _higher(context, metric) is None or len(context.run.series(metric)[0]) < 2:
        return None
    context.query = replace(context.query, steps=StepSlot(), all_steps=(), step_marks=())
    return _extreme(context, "best", against_last=True)


def _over_last(context: Context, metric: str, first: Fact, last: Fact) -> str:
    """By how much the best value is better than the last."""
    if first.value == last.value:
        return context.say("best.is_last", v=last)
    gap = context.ledger.derived(
        f"best − last/{metric}", abs(number(first) - number(last)), inputs=[first, last], formula="|best − last|"
    )
    kind = context.kind_of(metric)
    shown = context.doc.show(gap, None, "points" if kind == "fraction" else kind)
    return context.say("best.over_last" if number(first) > number(last) else "best.under_last", v=last, gap=shown)


def _extreme(context: Context, which: Which, *, against_last: bool = False) -> Verdict:
    doc, say = context.doc, context.say
    keys, held_out = central(named_keys(context)), None
    if not keys and any(m.card is None for m in context.query.mentions):
        return unknown(context, next(m.text for m in context.query.mentions if m.card is None))
    if keys and (held_out := _by_held_out(context, keys[0])) is not None:
        keys = []
    metric = keys[0] if keys else held_out if held_out is not None else _judge(context)
    if metric is None:
        text = say("best.nothing")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    higher = _higher(context, metric)
    held = [f for s in wanted_steps(context, metric) if (f := context.value(metric, s)) is not None and _finite(f)]
    context.metrics.append(metric)
    if not held:
        text = say("best.nothing")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    if higher is None:
        return _undirected(context, metric, held)
    top = (which == "best") == higher
    ranked = sorted(held, key=number, reverse=top)
    count = context.ledger.count("values looked at", len(held), metric=metric)
    text = say(f"best.{which}", metric=metric, v=ranked[0], n=count)
    ties = [fact for fact in held if fact.value == ranked[0].value]
    if len(ties) > 1:
        text = say(f"best.{which}_tie", metric=metric, v=ranked[0], n=count, steps=[f.step or 0 for f in ties])
    if against_last:
        text += ("" if context.language == "zh" else " ") + _over_last(context, metric, ranked[0], held[-1])
    doc.paragraph(f"**{text}**")
    doc.paragraph(*_reading(context, metric, named=bool(keys)))
    if len(held) > 1:
        shown = ranked[:MOST_SHOWN]
        if held[-1] not in shown:
            shown.append(held[-1])
        doc.table([say("head.step"), key(metric)], [[doc.step(f.step or 0), doc.show(f)] for f in shown])
        doc.bullets(_cautions(context, metric, ranked))
    context.cite(context.card(metric))
    context.chart(context.title(metric), [metric])
    return Verdict("answered", unmark(text), "medium")


def _by_held_out(context: Context, metric: str) -> str | None:
    """The held-out loss, where a plain "loss" was named and no training: the lowest training loss is the last one."""
    held_out = evaluation_loss(context)
    if metric != training_loss(context) or _TRAINING.search(context.query.said) or held_out is None:
        return None
    return held_out if len(context.run.series(held_out)[0]) > 1 else None


def _judge(context: Context) -> str | None:
    """What "best" is judged by: a validation taken more than once, else the training score."""
    names = ("val_accuracy", "held_out_loss", "score_mean", "reward_mean", "plain_reward", "training_loss")
    found = [(name, held) for name in names if (held := role(context.run, name)) is not None and held.spelling.plain]
    found = found or [
        (one.role, one) for one in (outcomes.validated(context.run), outcomes.trained(context.run)) if one is not None
    ]
    if found and found[0][0] == "val_accuracy" and len(found[0][1]) < 2:
        # One validation is no choice: another metric that was validated more often is one.
        counts = {m: len(context.run.columns[m].values) for m in context.run.metrics if is_validation(m)}
        often = max((m for m in counts if _higher(context, m)), key=counts.__getitem__, default=None)
        if often is not None and counts[often] > 1:
            return often
    several = next((held for name, held in found if not name.startswith("val") or len(held) > 1), None)
    return several.metrics[0] if several is not None else found[0][1].metrics[0] if found else None


def _higher(context: Context, metric: str) -> bool | None:
    """Whether larger is better; ``None`` where the card gives no direction."""
    way = outcomes.direction(context, metric)
    if way != "context":
        return way == "higher_better"
    if is_validation(metric) or any(word in metric for word in ("reward", "score", "acc")):
        return not metric.endswith("loss")
    return False if metric.endswith("loss") and not metric.endswith(("pg_loss", "policy_loss")) else None


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)


def _undirected(context: Context, metric: str, held: Sequence[Fact]) -> Verdict:
    low, high = (pick(held, key=number) for pick in (min, max))
    text = context.say("best.undirected", metric=metric, low=low, high=high)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.gloss(metric))
    return Verdict("answered", unmark(text), "medium")


def _reading(context: Context, metric: str, *, named: bool) -> list[str]:
    """Which reading of "best" was taken, and why not the validation where it was not."""
    if named:
        return []
    if is_held_out(metric) or metric in getattr(role(context.run, "val_accuracy"), "metrics", ()):
        return [context.say("best.by_validation")]
    validations = role(context.run, "val_accuracy")
    if validations is None:
        return [context.say("best.by_reward_none", validate=context.setting("validate", "setting.named"))]
    fact = context.value(validations.metrics[0], int(validations.steps[-1])) if validations.spelling.plain else None
    return [] if fact is None else [context.say("best.by_reward_once", v=fact, metric=validations.metrics[0])]


def _cautions(context: Context, metric: str, ranked: Sequence[Fact]) -> list[str]:
    """Best of many is biased; the lead over the next; training batches differ."""
    say, ledger = context.say, context.ledger
    lines = []
    first, second = ranked[0], ranked[1]
    low, high = sorted((first, second), key=lambda f: f.step or 0)
    change = ledger.change(metric, low.step or 0, high.step or 0)
    change = None if change is None else as_validated(context, change)
    if change is not None and change.noise is not None and change.delta:
        phrase = "best.lead_sure" if change.significant else "best.lead_noise"
        gap = ledger.derived(
            f"lead/{metric}", abs(float(change.delta)), inputs=[first, second], formula="best − second best"
        )
        kind = context.kind_of(metric)
        shown = context.doc.show(gap, None, "points" if kind == "fraction" else kind)
        lines.append(say(phrase, gap=shown, second=second.step or 0, limit=context.bound(change)))
    if len(ranked) > 2:
        lines.append(say("best.of_many", n=ledger.count("values looked at", len(ranked), metric=metric)))
    if not is_held_out(metric):
        lines.append(say("best.training"))
    return lines


# -- what got worse ----------------------------------------------------------------------------------------------------
def got_worse(context: Context) -> Verdict:
    """Metrics that got worse from the first to the last part of the run, corrected for the number looked at."""
    return _moved(context, "regressed")


def got_better(context: Context) -> Verdict:
    """Metrics that got better, likewise."""
    return _moved(context, "improved")


def _moved(context: Context, wanted: Literal["regressed", "improved"]) -> Verdict:
    doc, say = context.doc, context.say
    steps = list(context.run.distinct_steps)
    slot = context.query.steps
    if slot.kind == "pair" and len(slot.values) > 1:
        low, high = sorted(slot.values)[:2]
        windows: tuple[tuple[int, int], tuple[int, int]] | None = ((low, low), (high, high))
    elif slot.kind == "range":
        inside = [s for s in steps if slot.values[0] <= s <= slot.values[1]]
        windows = _ends(inside)
    else:
        windows = _ends(context.train_steps or steps)
    if windows is None:
        text = say("moved.few")
        doc.paragraph(f"**{text}**")
        return Verdict("inconclusive", unmark(text), "low")
    result = compare_windows(context.ledger, *windows, **knowledge_of(context, context.run, context.run))
    courses = _courses(context, result.rows) if slot.kind != "pair" else {}
    worse = [row for row in result.rows if courses.get(row.metric, row.code) == "regressed"]
    better = [row for row in result.rows if courses.get(row.metric, row.code) == "improved"]
    asked = worse if wanted == "regressed" else better
    gone = departures(context) if slot.kind != "pair" else []
    looked = context.ledger.count("metrics compared", len(result.rows))
    directed = context.ledger.count("metrics with a better and a worse", sum(row.directed for row in result.rows))
    (a0, a1), (b0, b1) = windows
    a, b = _span(context, a0, a1), _span(context, b0, b1)
    spans: dict[str, Fact | str] = {"a": a, "b": b, "n": looked, "m": directed}
    if asked:
        names = context.join(key(row.metric) for row in asked[:6])
        number = context.ledger.count(f"metrics {wanted}", len(asked))
        text = say(f"moved.{wanted}", names=names, k=number, **spans)
    else:
        text = say(f"moved.none_{wanted}", **spans)
    if gone and wanted == "regressed":
        names = context.join(key(one.metric) for one in gone[:6])
        lead = say("moved.departed_lead", names=names, step=gone[0].at.step)
        text = lead + ("" if context.language == "zh" else " ") + (text if asked else "")
    doc.paragraph(f"**{text.strip()}**")
    doc.bullets(
        [say("finding.departure", at=one.at, before=one.before) for one in gone[:4]] if wanted == "regressed" else []
    )
    other = better if wanted == "regressed" else worse
    neutral = [row for row in result.rows if row.code == "changed"]
    shown = [*asked, *other, *neutral] or [row for row in result.rows if row.directed][:6]
    _rows(context, shown[:10], a, b, courses)
    lines = []
    if neutral:
        lines.append(say("moved.neutral", names=context.join(key(row.metric) for row in neutral[:6])))
    lines.append(say("moved.corrected", n=looked))
    if any(row.metric in courses for row in shown[:10]):
        lines.append(say("moved.by_course"))
    open_rows = [
        row for row in result.rows if row.directed and row.code == "inconclusive" and row.metric not in courses
    ]
    if open_rows:
        lines.append(say("moved.open", names=context.join(key(row.metric) for row in open_rows[:6])))
    doc.bullets(lines)
    for row in asked[:3]:
        context.cite(context.card(row.metric))
    context.metrics.extend(row.metric for row in [*asked, *other, *neutral][:8])
    if gone:
        context.metrics[:0] = [one.metric for one in gone[:4]]
    code = (
        "mixed"
        if (worse or gone) and better
        else "regressed"
        if worse or gone
        else "improved"
        if better
        else "inconclusive"
    )
    return Verdict(code, unmark(text), "medium")


def _courses(context: Context, rows: Sequence[Row]) -> dict[str, str]:
    """Of the rows that two windows do not settle, those that the whole course does: a trend or a jump."""
    tried = {row.metric: row for row in rows if row.directed and row.code == "inconclusive"}
    return {
        metric: "improved" if (sign > 0) == (tried[metric].direction == "higher_better") else "regressed"
        for metric, sign in by_course.settled(context, list(tried.values())).items()
    }


def _ends(steps: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if len(steps) < 2:
        return None
    part = max(1, len(steps) // PART) if len(steps) >= LEAST_STEPS else 1
    return (steps[0], steps[part - 1]), (steps[-part], steps[-1])


def _span(context: Context, first: int, last: int) -> str:
    if first == last:
        return context.say("comparison.step", first=first)
    return context.say("comparison.window", first=first, last=last)


def _rows(context: Context, rows: Sequence[Row], a: str, b: str, courses: Mapping[str, str]) -> None:
    doc, say = context.doc, context.say
    lines = []
    for row in rows:
        kind = context.kind_of(row.metric)
        half = "—"
        if row.half is not None and not row.wide:
            half = doc.show(row.half, None, "points" if kind == "fraction" else kind)
            half = say("noise.at_most", noise=half) if row.change.noise_basis in BOUNDS else half
        mark = say(f"comparison.mark_{courses.get(row.metric, row.code)}")
        if row.metric in courses and (trend := context.ledger.trend(row.metric)) is not None:
            mark = say("moved.mark_course", mark=note(context, trend, mark))
        lines.append(
            [key(row.metric), doc.show(row.change, "from"), doc.show(row.change, "to"), doc.show(row.change, "delta"),
             half, mark]
        )  # fmt: skip
    doc.table([say("head.metric"), a, b, say("head.change"), say("comparison.head_half"), say("head.reading")], lines)
