"""Why a metric is as it is, whether a movement is good, and questions that assert what must be checked first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from assistant.analysis.checks import NOT_FINITE, Check, covered
from assistant.analysis.compare import compare_windows
from assistant.analysis.diagnosis import role
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.answer_single import tail_of
from assistant.ask.came_back import from_extreme
from assistant.ask.comparing import knowledge_of
from assistant.ask.confirmed_factors import STEADILY, of_levels
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys, unknown, which
from assistant.ask.part import part_of
from assistant.ask.parts import note, number
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import words_of
from assistant.ask.telling import course_table, main_change, trend_sentence
from assistant.knowledge import Card
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import unmark

Claimed = Literal["collapse", "burst", "jump", "up", "down", "flat"]
_CLAIMS: tuple[tuple[Claimed, re.Pattern[str]], ...] = (
    (
        "flat",
        re.compile(
            r"(?i)上不去|回不[去到]|起不来|涨不动|不动|没动|不(?:涨|升|降|跌)|没(?:涨|升|降)"
            r"|not (?:improv|increas|ris|mov|decreas)|停滞|卡住|走平|没变化|\bstuck\b|\bflat\b|plateau|stall"
        ),
    ),
    (
        "collapse",
        re.compile(
            r"(?i)崩|垮|坍|塌|挂了|归零|清零|collaps|crash|(?:是|为|变成|成了|到|等于)\s*(?:0|零)(?![.\d])"
            r"|\b(?:is|are|was|were|be|to|at|reads?)\b[^.?]{0,24}\b(?:0|zero)\b(?!\.\d)"
        ),
    ),
    ("burst", re.compile(r"(?i)发散|爆(?:炸|了|掉)|炸了|diverg|blow(?:n|s|ing)?\s*up|blew|explod|explosion")),
    (
        "down",
        re.compile(
            r"(?i)下降|降|跌|掉|下滑|滑落|回落|走低|缩水|萎缩|退步|变差|变小|变短|变低|减少|恶化"
            r"|\b(?:drop|fall|fell|declin|decreas|worse|lower|shrink|shrank|went down|going down)"
        ),
    ),
    (
        "up",
        re.compile(
            r"(?i)上升|升|涨|变大|变长|增|飙|窜|蹿|攀|走高|变高"
            r"|\b(?:ris|rose|increas|grow|grew|higher|larger|longer|climb|went up|going up)"
        ),
    ),
    ("jump", re.compile(r"(?i)突然|骤|跳|spik|jump|sudden|尖")),
)
_SUDDEN = re.compile(r"(?i)突然|骤|飙|跳|spik|jump|sudden|尖|暴")
#: Roles whose course shows a collapse, in the order of a table.
_VITAL = ("val_accuracy", "score_mean", "policy_entropy", "grad_norm", "old_kl", "ref_kl", "response_length_mean")
#: Around a step: how many steps before and after are shown.
AROUND = 2
#: "Around step 40", "40 步前后": a stretch, and not that step against the one before it.
_ABOUT = re.compile(
    r"(?i)\d\s*步?\s*(?:左右|前后|附近|上下|那一?(?:带|阵|段|块|会儿?))"
    r"|\b(?:around|about|near|close to|circa)\s+(?:step\s*)?\d"
)
#: Share of a metric's values that is set against each other on the two sides of such a step, and the fewest on a side.
NEAR, FEWEST_NEAR = 0.15, 4
ROUNDING = 1e-9


_SINCE_TREND = 3
"""Values after a step from which on something is said of its course."""


def _since(context: Context, keys: Sequence[str]) -> list[int]:
    """Steps of the metric from the one on from which it is said to move ("since step 30"); empty for one step, or all.

    The query's steps become that stretch.
    """
    scope = scope_in(words_of(context), context.train_steps)
    if scope.whole or scope.first is None or not keys:
        return []
    held = scope.of(context.run.series(keys[0])[0])
    if len(held) < _SINCE_TREND:
        return []
    last = context.run.distinct_steps[-1] if scope.last is None else scope.last
    context.query = replace(context.query, steps=StepSlot("range", (scope.first, last)))
    return held


# -- "why did it collapse at step 4" -----------------------------------------------------------------------------------
def premise(context: Context) -> Verdict:
    """Checks what a question asserts; says first where the log does not show it, then what the log does show."""
    claimed = next((name for name, pattern in _CLAIMS if pattern.search(context.query.said)), None)
    keys = central(named_keys(context))
    if not keys and any(m.card is None for m in context.query.mentions):
        return unknown(context, next(m.text for m in context.query.mentions if m.card is None))
    checks = all_checks(context)
    since = _since(context, keys)
    step = context.query.steps.values[-1] if context.query.steps.kind in {"single", "pair"} and not since else None
    if keys:
        return _of_metric(context, keys[0], claimed, step, checks, since=since)
    return _of_run(context, claimed or "collapse", step, checks)


def _of_run(context: Context, claimed: Claimed, step: int | None, checks: Sequence[Check]) -> Verdict:
    """A collapse of the run as a whole: shown only where a rule fires, at or around the step named."""
    doc, say = context.doc, context.say
    grave = [c for c in checks if c.severity in {"critical", "warning"}]
    near = [c for c in grave if step is None or _touches(c, step)]
    findings = told(context, near or grave[:2])
    if near:
        text = say("premise.shown", first=findings[0].sentence)
    elif grave:
        shown = "premise.elsewhere" if step is not None else "premise.not_shown"
        text = say(shown, step=step if step is not None else 0, first=findings[0].sentence)
    else:
        count = context.ledger.count("training_steps", len(context.train_steps))
        text = say("premise.not_shown_step", step=step) if step is not None else say("premise.not_shown_run", n=count)
    doc.paragraph(f"**{text}**")
    doc.bullets([*(one.line for one in findings[:1]), *(one.whole(context.language) for one in findings[1:])])
    keys = [found.metrics[0] for name in _VITAL if (found := role(context.run, name)) is not None
            and found.spelling.plain]  # fmt: skip
    if step is not None:
        _around(context, keys, step)
    else:
        course_table(context, keys)
    if not near:
        doc.paragraph(say("premise.tell_more"))
    context.metrics.extend(keys[:4])
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in near)), None)
    enough = len(context.train_steps) >= MIN_POINTS
    return Verdict(worst or ("healthy" if enough and not grave else "insufficient_data"), unmark(text), "medium")


def _touches(check: Check, step: int) -> bool:
    if len(check.steps) == 2:
        return check.steps[0] - AROUND <= step <= check.steps[1]
    return any(abs(other - step) <= AROUND for other in check.steps)


def _of_metric(
    context: Context, metric: str, claimed: Claimed | None, step: int | None, checks: Sequence[Check],
    *, since: Sequence[int] = (),
) -> Verdict:  # fmt: skip
    """A metric's movement as asserted, against what the log shows."""
    doc, say, run = context.doc, context.say, context.run
    steps, _ = run.series(metric)
    earlier = [s for s in steps if step is not None and s < step]
    context.metrics.append(metric)
    sudden, reach = _SUDDEN.search(context.query.said) is not None, 0
    ends = _ends_named(context, steps) if step is None and not since else None
    nought = _turned_zero(context, metric) if claimed == "collapse" and step is None and not since else None
    near = _near(context, metric, claimed, step) if claimed in {"down", "up", "collapse", "burst"} else None
    if nought is not None:
        text, holds = nought[0], True
    elif near is not None:
        text, holds, reach = near
    elif ends is not None and claimed not in {"flat", None}:
        text, holds = _at_step(context, metric, claimed, *ends)
        step = ends[1]
    elif step is not None and earlier and step in steps:
        text, holds = _at_step(context, metric, claimed, earlier[-1], step)
    else:
        trend = context.ledger.trend(metric, list(since) or None)
        if trend is None:
            gap = context.ledger.missing(metric, step if step is not None else run.distinct_steps[-1])
            text = say("premise.no_values", metric=metric, gap=gap)
            doc.paragraph(f"**{text}**")
            return Verdict("insufficient_data", unmark(text))
        text, holds = _over_run(context, metric, claimed, trend, sudden=sudden, since=since)
        level = None
        if since and not holds and claimed not in {"flat", None} and not STEADILY.search(context.query.said):
            scope, up = Scope(first=since[0]), claimed in {"up", "burst"}  # "after step 42": all at once, at that step
            level = of_levels(context, metric, part_of(context, metric, scope), scope, up=up)
        if level is not None:
            text, holds, step = say("put.yes", told=level.said), True, since[0]
        text += "" if since else tail_of(context, metric, text)
    doc.paragraph(f"**{text}**")
    related = [c for c in checks if metric in c.metrics and c.severity in {"critical", "warning"}]
    findings = told(context, related)
    at = step if nought is None else nought[1]
    broken = [c for c in _meanwhile(context, metric, at, checks, reach) if c.rule == NOT_FINITE and c not in related]
    for one in told(context, broken[:1]) if holds else ():  # whatever else moved: there is no update after it
        doc.bullets([say("premise.meanwhile", first=one.whole(context.language))])
    doc.bullets([one.whole(context.language) for one in findings])
    if (holds or near is not None) and not findings and not broken:
        meanwhile = told(context, _meanwhile(context, metric, at, checks, reach))
        doc.bullets([say("premise.meanwhile", first=one.whole(context.language)) for one in meanwhile])
        findings = meanwhile
    beside = [found.metrics[0] for name in _VITAL if (found := role(run, name)) is not None and found.spelling.plain]
    keys = list(dict.fromkeys([metric, *beside]))[:6]
    if step is not None:
        _around(context, keys, step)
    else:
        course_table(context, keys)
    if holds and not findings and not broken:
        doc.paragraph(say("premise.cause_unknown"))
    card = context.card(metric)
    if card is not None:
        doc.paragraph(
            context.quote(card, "read") if holds and context.query.depth != "brief" else context.gloss(metric)
        )
        context.cite(card)
    context.chart(context.title(metric), [metric])
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in related)), None)
    worst = "critical" if broken and holds else worst
    worst = worst or next((one.check.severity for one in findings if one.grave), None)
    return Verdict(worst or _unfounded(context, checks, holds=holds), unmark(text), "medium")


def _turned_zero(context: Context, metric: str) -> tuple[str, int] | None:
    """That a metric is zero from some step on and was not before, with that step; ``None`` where it is not so."""
    cells = [fact for s in context.run.series(metric)[0] if (fact := context.value(metric, s)) is not None]
    left = next((place for place in range(len(cells), 0, -1) if cells[place - 1].value != 0), 0)
    if not 0 < left < len(cells):
        return None
    count = context.ledger.count("values of zero at the end", len(cells) - left, metric=metric)
    text = context.say("premise.zero", metric=metric, first=cells[left], before=cells[left - 1], n=count)
    return text, cells[left].step or 0


def _ends_named(context: Context, steps: Sequence[int]) -> tuple[int, int] | None:
    """The two steps between which something is said to have happened, where the metric has values at both."""
    slot = context.query.steps
    if slot.kind != "range" or len(slot.values) != 2 or slot.values[0] >= slot.values[1]:
        return None
    first, last = slot.values
    return (first, last) if first in steps and last in steps else None


def _unfounded(context: Context, checks: Sequence[Check], *, holds: bool) -> str:
    """Where no rule speaks of the metric: healthy if the log denies what was asserted and no rule fires at all."""
    quiet = not any(c.severity in {"critical", "warning"} for c in checks)
    enough = len(context.train_steps) >= MIN_POINTS and covered(context.run)
    return "healthy" if quiet and enough and not holds else "insufficient_data"


def _meanwhile(
    context: Context, metric: str, step: int | None, checks: Sequence[Check], reach: int = 0
) -> list[Check]:  # fmt: skip
    """Grave findings of other metrics that set in around the step named, or around the metric's own change.

    Args:
        context: of the answer.
        metric: that moved.
        step: named, if one is.
        checks: all findings.
        reach: how far from the step a finding may set in, where the question says how far around it looks.
    """
    trend = context.ledger.trend(metric)
    change = None if trend is None else main_change(context, trend)
    at = step if step is not None else None if change is None else change[0].step
    grave = [c for c in checks if c.severity in {"critical", "warning"} and c.steps]
    if at is None:  # it does not move: whatever is grave may be why
        return grave[:2]
    near = max(AROUND, reach, round(0.1 * len(context.run.distinct_steps)))
    found = [c for c in grave if abs(c.steps[0] - at) <= near]
    return sorted(found, key=lambda c: c.rule != NOT_FINITE)[:2]


def _at_step(context: Context, metric: str, claimed: Claimed | None, before: int, step: int) -> tuple[str, bool]:
    change = context.ledger.change(metric, before, step)
    if change is None:
        fact = context.value(metric, step)
        return context.say("lookup.one", metric=metric, v=fact), True
    up = (change.delta or 0) > 0
    against = (claimed in {"up", "burst"} and not up) or (claimed in {"down", "collapse"} and up)
    if not change.delta:
        still = "premise.still" if claimed == "flat" else "premise.unmoved"
        return context.say(still, metric=metric, c=change, a=before, b=step), claimed == "flat"
    if against:
        return context.say("premise.other_way", metric=metric, c=change, a=before, b=step), False
    if change.significant is False:
        return context.say(
            "premise.within_noise", metric=metric, c=change, a=before, b=step, limit=context.bound(change)
        ), False
    sure = "premise.moved" if change.significant else "premise.moved_unknown"
    return context.say(sure, metric=metric, c=change, a=before, b=step), True


def _near(context: Context, metric: str, claimed: Claimed | None, step: int | None) -> tuple[str, bool, int] | None:
    """How a metric moved around a step, whether as asserted, and how far was looked.

    It is told by the means of as many steps before as from it on; ``None`` where the question names the step itself, or
    too few values lie on a side.
    """
    if step is None or _ABOUT.search(context.query.said) is None:
        return None
    steps = context.run.series(metric)[0]
    before, after = [s for s in steps if s < step], [s for s in steps if s >= step]
    many = min(max(FEWEST_NEAR, round(NEAR * len(steps))), len(before), len(after))
    if many < FEWEST_NEAR:
        return None
    a, b = (before[-many], before[-1]), (after[0], after[many - 1])
    result = compare_windows(context.ledger, a, b, metrics=[metric], **knowledge_of(context, context.run, context.run))
    row = next((one for one in result.rows if one.metric == metric), None)
    if row is None or row.change.delta is None:
        return None
    agrees = (row.change.delta > 0) == (claimed in {"up", "burst"})
    sure = "premise.near_noise" if not row.significant else "premise.near" if agrees else "premise.near_other"
    text = context.say(sure, metric=metric, c=row.change, a=a[0], b=a[1], d=b[0], e=b[1])
    return text, bool(row.significant) and agrees, max(step - a[0], b[1] - step)


def _over_run(
    context: Context, metric: str, claimed: Claimed | None, trend: Fact, *, sudden: bool, since: Sequence[int] = ()
) -> tuple[str, bool]:
    sentence = trend_sentence(context, metric, trend, list(since) or None)
    way = {"rising": "up", "falling": "down"}.get(trend.direction or "")
    wanted = "down" if claimed == "collapse" else "up" if claimed == "burst" else claimed
    if claimed == "flat":
        if way is None or _nought(context, metric):
            return sentence, True
        return context.say("premise.not_flat", metric=metric, trend=sentence), False
    if wanted in {"up", "down"} and way != wanted and not (trend.form == "shift" and way is None):
        word = context.say(f"premise.word_{wanted}")
        come = None if since or way is not None else from_extreme(context, metric, up=wanted == "up")
        if come is not None:
            said = "premise.came_up" if wanted == "up" else "premise.came_down"
            return context.say(said, metric=metric, far=come[0], last=come[1]), True
        if trend.n == 1:
            only = context.value(metric, trend.first_step or 0)
            return context.say("premise.one_value", metric=metric, word=word, v=only), False
        if (trend.n or 0) < MIN_POINTS:
            ends = {
                "first": context.value(metric, trend.first_step or 0),
                "last": context.value(metric, trend.last_step or 0),
            }
            return context.say("premise.few", metric=metric, word=word, t=trend, **ends), False
        return context.say("premise.no_such_trend", metric=metric, word=word, trend=sentence), False
    if (sudden or claimed == "jump") and trend.form not in {"shift", "bend", "ramp", "turn"}:
        return context.say("premise.no_jump", metric=metric, trend=sentence), False
    return sentence, True


def _nought(context: Context, metric: str) -> bool:
    """Whether a metric is zero throughout but for rounding."""
    return all(abs(value) < ROUNDING for value in context.run.series(metric)[1] if math.isfinite(value))


def _around(context: Context, keys: Sequence[str], step: int) -> None:
    """Values of some metrics around a step."""
    doc, say = context.doc, context.say
    steps = list(context.run.distinct_steps)
    place = min(range(len(steps)), key=lambda i: abs(steps[i] - step))
    shown = steps[max(0, place - AROUND) : place + AROUND + 1]
    rows = []
    for metric in keys:
        cells = [context.value(metric, s) for s in shown]
        if sum(cell is not None for cell in cells) > 1:
            rows.append([key(metric), *("—" if cell is None else doc.show(cell) for cell in cells)])
    doc.table([say("head.metric"), *(f"step {doc.step(s)}" for s in shown)], rows)


# -- "why is ppo_kl negative", "is loss near zero bad" -----------------------------------------------------------------
def sign(context: Context) -> Verdict:
    """A value's sign or size: what it is here, and what the definition says of it."""
    keys = central(named_keys(context))
    card = context.card(keys[0]) if keys else next((m.card for m in context.query.mentions if m.card), None)
    if not keys and card is None:
        mention = next((m.text for m in context.query.mentions), None)
        return unknown(context, mention) if mention is not None else which(context)
    if not keys:
        from assistant.ask.answer_define import define

        return define(context)
    metric = keys[0]
    held = [
        f for s in context.run.series(metric)[0]
        if (f := context.value(metric, s)) is not None and isinstance(f.value, (int, float)) and math.isfinite(f.value)
    ]  # fmt: skip
    text = _sizes(context, metric, held)
    slot = len(context.doc.blocks)
    context.doc.blocks.append("")
    related = [c for c in all_checks(context) if metric in c.metrics and c.severity in {"critical", "warning"}]
    findings = told(context, related)
    context.doc.bullets([one.whole(context.language) for one in findings])
    known = f"sign.{metric.replace('/', '_')}"
    if known in context.doc.phrases:
        text += ("" if context.language == "zh" else " ") + context.say(known)
    elif not findings:
        text += ("" if context.language == "zh" else " ") + context.say("sign.no_rule")
    context.doc.blocks[slot] = f"**{text}**"
    if card is not None:
        for section in ("read", "not"):
            context.doc.paragraph(context.quote(card, section))
        if not card.section(context.language, "read"):
            context.doc.paragraph(context.gloss(metric))
    context.metrics.append(metric)
    return Verdict("answered", unmark(text), "medium")


def _sizes(context: Context, metric: str, held: Sequence[Fact]) -> str:
    """The range of a metric, and at how many steps it is negative."""
    if not held:
        from assistant.ask.naming import absent

        return absent(context, metric, [])
    slot = context.query.steps
    if slot.kind == "single" and (one := next((f for f in held if f.step == slot.values[0]), None)) is not None:
        return context.say("lookup.one", metric=metric, v=one)
    low, high = (pick(held, key=number) for pick in (min, max))
    count = context.ledger.count("values", len(held), metric=metric)
    if len(held) == 1:
        return context.say("lookup.one", metric=metric, v=low)
    if low.value == high.value:
        return context.say("sign.constant", metric=metric, v=low, n=count)
    below = context.ledger.count("values below zero", sum(number(f) < 0 for f in held), metric=metric)
    if not below.value:
        return context.say("sign.positive", metric=metric, low=low, high=high, n=count)
    return context.say("sign.range", metric=metric, low=low, high=high, n=count, k=below)


# -- "is rising entropy good" ------------------------------------------------------------------------------------------
def good(context: Context) -> Verdict:
    """Whether a movement of a metric is good: the card's direction, the condition, and what this log shows."""
    keys = central(named_keys(context))
    card: Card | None = (
        context.card(keys[0]) if keys else next((m.card for m in context.query.mentions if m.card), None)
    )
    if card is None:
        if keys:
            text = context.say("good.no_card", metric=keys[0])
            context.doc.paragraph(f"**{text}**")
            return Verdict("no_data", unmark(text))
        mention = next((m.text for m in context.query.mentions), None)
        return unknown(context, mention) if mention is not None else which(context)
    doc, say = context.doc, context.say
    metric = keys[0] if keys else card.keys[0]
    direction = card.direction if card.direction in {"higher_better", "lower_better"} else "context"
    text = say(f"good.{direction}", metric=metric)
    doc.paragraph(f"**{text}**")
    lines = []
    for name in keys[:1]:
        trend = context.ledger.trend(name)
        if trend is not None:
            lines.append(trend_sentence(context, name, trend))
    outcome = role(context.run, "val_accuracy") if context.runs else None
    if outcome is None or len(outcome) < 2:
        outcome = role(context.run, "score_mean") if context.runs else None
    if outcome is not None and outcome.spelling.plain and outcome.metrics[0] not in keys and len(outcome) > 1:
        trend = context.ledger.trend(outcome.metrics[0])
        if trend is not None:
            lines.append(trend_sentence(context, outcome.metrics[0], trend))
    doc.bullets(lines)
    for section in ("read", "not", "next"):
        doc.paragraph(context.quote(card, section))
    if not card.section(context.language, "read"):
        doc.paragraph(note_short(context, card))
    context.metrics.insert(0, metric)
    return Verdict("answered", unmark(text), "medium")


def note_short(context: Context, card: Card) -> str:
    """A card's line with its reference."""
    return f"{context.short(card)} {context.cite(card)}"


__all__ = ["good", "note", "premise", "sign"]
