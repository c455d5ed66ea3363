"""A move that a question lets begin at a step, and where it begins: "从 step 50 开始掉的吧" of a fall from step 27.

That a value fell from a step to the end does not make that step the one from which it fell.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.answer_setin import PACE, RATE, since
from assistant.ask.blanking import without_names
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Fact

_ADVERBS: Final = "(?:一路|一直|慢慢|逐渐|持续|明显|突然|猛地?|急剧|往[上下]|就|才|都|在|变得?|越来越)*"
_CLAIM: Final = re.compile(
    r"(?i)(?:第\s*|step\s*)(?P<zh>\d{1,7})\s*步?\s*(?:左右|附近|前后|那会儿?)?\s*(?:之?后|以后)?\s*(?:就|才|便|都|已经|是)*\s*"
    rf"(?:开始|起)(?:就|才|都)?\s*{_ADVERBS}(?P<move>[掉跌降滑减缩短崩塌涨升飙爆爬增长慢快高低大小])"
    r"|\b(?:start\w*|beg[ai]n\w*) (?:to )?"
    r"(?P<en_move>fall|drop|declin|decreas|shrink|ris|climb|increas|grow|explod|go(?:ing)? (?:up|down)|slow"
    r"|get(?:ting)? (?:slow|long|short|low|high)\w*)\w* (?:down )?(?:only )?(?:at|from|around|in|since) (?:about )?"
    r"step (?P<en>\d{1,7})"
    r"|\b(?P<en_since>fell|rose|dropped|grew|climbed|has been (?:falling|rising|dropping|growing|climbing))"
    r" (?:only )?(?:since|from) (?:about )?step (?P<at>\d{1,7})(?! to)"
)
_UP: Final = re.compile(r"(?i)[涨升飙爆爬增长高大慢]|ris|rose|climb|increas|explod|gr[eo]w|up\b|slow|long|high")
_DOWN: Final = re.compile(r"(?i)[掉跌降滑减缩短崩塌快低小]|f[ae]ll|drop|declin|decreas|shrink|down\b|short|low\b")
_ASKS: Final = re.compile(
    r"(?i)[哪几](?:一)?步|什么时候|何时|多少|几(?!乎|步)|如果|要是|假如|不再|没有?(?:再)?[涨升降跌掉]|平均|均值|最[高低大小]"
    r"|\b(?:when|which|how|if|whether|mean|average|max|min)\b"
)
LEAST: Final = 8
#: So many steps, or this share of the run, a claimed step may be off.
_NEAR_STEPS: Final = 3
_NEAR_SHARE: Final = 0.06
#: So much of the whole move stands before a step from which it cannot have begun.
_DONE: Final = 0.2


def denied(context: Context) -> str:
    """That a move had begun before the step named, or not yet; empty where it began about there or cannot be told."""
    text = normalised(context.query.wording or context.query.text)
    match = _CLAIM.search(without_names(text, ())) if len(context.runs) == 1 else None
    if (
        match is None
        or _ASKS.search(without_names(text, context.query.mentions))
        or context.query.threshold is not None
    ):
        return ""
    keys = [key for key in central(named_keys(context)) if key in context.run.columns]
    word = match["move"] or match["en_move"] or match["en_since"]
    if not keys or not word:
        return ""
    metric, up = keys[0], _UP.search(word) is not None
    if not up and _DOWN.search(word) is None:
        return ""
    if PACE.search(match[0]) and RATE.search(metric):
        up = not up
    part = part_of(context, metric, Scope())
    step = int(match["zh"] or match["en"] or match["at"])
    return "" if len(part) < LEAST else _held(context, part, step, up=up)


def _held(context: Context, part: Part, step: int, *, up: bool) -> str:
    starts = _starts(context, part, up=up)
    inside = [place for place, at in enumerate(part.steps) if at <= step]
    if not starts or not inside or step > part.steps[-1]:
        return ""
    sign = 1.0 if up else -1.0
    far = (min if up else max)(range(len(part)), key=lambda place: part.values[place])
    whole = sign * (part.values[-1] - part.values[far])
    usual = max((b - a for a, b in zip(part.steps, part.steps[1:], strict=False)), default=1)
    near = max(_NEAR_STEPS, usual, _NEAR_SHARE * (part.steps[-1] - part.steps[0] + 1))
    if whole <= 0:
        return ""
    here, side = inside[-1], "up" if up else "down"
    values = {"metric": part.metric, "at": cell(context, part, here), "last": cell(context, part, len(part) - 1)}
    if step - max(starts) > near and far < here:
        done = sign * (part.values[here] - part.values[far]) / whole
        if done >= _DONE:
            top = _before(context, part, max(starts), up=up)
            return context.say(f"put.began_before_{side}", onset=max(starts), top=top, **values)
    if min(starts) - step > near:
        top = _before(context, part, min(starts), up=up)
        return context.say(f"put.began_after_{side}", onset=min(starts), top=top, **values)
    return ""


def _before(context: Context, part: Part, step: int, *, up: bool) -> Fact:
    """The value that the move left: the one at its first step, or the one before where that lies further back."""
    place = max((place for place, at in enumerate(part.steps) if at <= step), default=0)
    near = [max(place - 1, 0), place]
    return cell(context, part, (min if up else max)(near, key=lambda one: part.values[one]))


def _starts(context: Context, part: Part, *, up: bool) -> list[int]:
    """Steps from which the log shows the move to go: by a rule, by its form, else by the extreme that it left."""
    trend = context.ledger.trend_detail(part.metric, list(part.steps))
    if trend is None or trend.direction != ("rising" if up else "falling"):
        return []
    found = [] if (by_rule := since(context, part.metric)) is None else [by_rule]
    if trend.form == "shift" and trend.changes:
        found.append(trend.changes[0].step)
    elif trend.form == "ramp" and len(trend.knots) > 1:
        found.append(trend.knots[1][0])
    elif not found or trend.form in {"slope", "bend"}:
        found.append(part.steps[part.values.index((min if up else max)(part.values))])
    return found


__all__ = ["denied"]
