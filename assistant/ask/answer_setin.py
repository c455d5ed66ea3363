"""From which step a metric falls or rises: "从哪步开始掉的", "when did the entropy start to fall"."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.ask.answer_events import SUDDEN, steepest
from assistant.ask.context import Context
from assistant.ask.departures import all_checks, began
from assistant.ask.logged import STEP_TIME
from assistant.ask.part import Part, cell, remarks
from assistant.ask.subject import subject_of
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

UP: Final = re.compile(
    r"(?i)涨|升|飞|走高|增|变(?:高|大|长)|\b(?:ris(?:e|es|ing)|rose|climb\w*|increas\w*|grow\w*|grew"
    r"|going up|go up|t(?:ake|ook) off)\b"
    r"|抬头|攀|爬|窜|蹿|飙"
    r"|变(?:得)?慢|\b(?:slow|slower|longer)\b"
)
DOWN: Final = re.compile(
    r"(?i)掉|跌|降|下滑|走低|滑|减|变(?:低|小|短)|\b(?:fall(?:s|ing)?|fell|drop\w*|declin\w*|decreas\w*|shr[iau]nk\w*"
    r"|going down|go down)\b|变(?:得)?快|\b(?:fast|faster|shorter)\b"
)
#: Slow and fast say of a rate the opposite of what they say of a time.
PACE: Final = re.compile(r"(?i)变(?:得)?[慢快]|\b(?:slow|fast)(?:er)?\b")
RATE: Final = re.compile(r"(?i)throughput|tokens?_per|per_sec|samples_per|/s$|fps|mfu|tps")
LEAST: Final = 6
#: p-value from which on the values after an extreme go a way for certain: the extreme was picked for it.
SURE: Final = 0.01
#: Forms of a trend whose sentence names the step from which it goes.
_NAMED: Final = frozenset({"shift", "ramp"})


def set_in(context: Context) -> Verdict | None:
    """From which step the metric goes the way that is asked; ``None`` where no one metric or way is named."""
    found = subject_of(context, least=LEAST)
    if found is None or context.query.threshold is not None or context.query.steps.kind not in {"none", "all"}:
        return None
    up, down = UP.search(found.text) is not None, DOWN.search(found.text) is not None
    if up == down:
        return None
    if PACE.search(found.text) and found.metric in STEP_TIME:
        return None  # why a step takes longer has a writer of its own
    if PACE.search(found.text) and RATE.search(found.metric):
        up, down = down, up
    part, metric = found.part, found.metric
    trend = context.ledger.trend(metric, list(part.steps))
    if trend is None:
        return None
    side = "up" if up else "down"
    asked = "rising" if up else "falling"
    place = part.values.index((min if up else max)(part.values))
    moves = len(part) - 1 - place
    ends = {"metric": metric, "at": cell(context, part, place), "last": cell(context, part, len(part) - 1)}
    gap = "" if context.language == "zh" else " "
    goes = trend.direction == asked
    if goes and trend.form in _NAMED:
        said = trend_sentence(context, metric, trend, part.steps)
    elif moves and (goes or _turned(context, part, place, asked)):
        goes = True
        count = context.ledger.count("moves after the turn", moves, metric=metric)
        going = sum((b > a) == up and a != b for a, b in pairwise(part.values[place:]))
        many = context.ledger.count(f"moves {side} after the turn", going, metric=metric)
        said = context.say(f"setin.{'first' if place == 0 else 'from'}_{side}", n=count, k=many, **ends)
    else:
        said = context.say(f"setin.not_{side}") + gap + trend_sentence(context, metric, trend, part.steps)
    onset = since(context, metric) if goes else None
    if onset is not None:
        said = context.say("run.onset_since", metric=metric, step=onset) + gap + said
    context.doc.paragraph(f"**{said}**")
    if goes:
        _steepest(context, part, up=up)
    context.doc.paragraph(*remarks(context, part))
    context.doc.paragraph(context.gloss(metric))
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict(asked if goes else trend.direction or "inconclusive", unmark(said), "medium")


def _turned(context: Context, part: Part, place: int, asked: str) -> bool:
    """Whether the values from the extreme on go the way that is asked, whatever the whole does."""
    after = context.ledger.trend(part.metric, list(part.steps[place:]))
    return after is not None and after.direction == asked and (after.p_value or 0.0) < SURE


def since(context: Context, metric: str) -> int | None:
    """The step from which a rule holds that is about this metric first of all."""
    checks = [c for c in all_checks(context) if c.metrics[:1] == (metric,) and c.severity in {"critical", "warning"}]
    return min((at for c in checks if (at := began(context, c)) is not None), default=None)


def _steepest(context: Context, part: Part, *, up: bool) -> None:
    first, last = steepest(part.values, up=up)
    usual = median(abs(b - a) for a, b in pairwise(part.values))
    if abs(part.values[last] - part.values[first]) > SUDDEN * usual:
        ends = {"a": cell(context, part, first), "b": cell(context, part, last)}
        context.doc.paragraph(context.say(f"run.onset_{'up' if up else 'down'}", metric=part.metric, **ends))
