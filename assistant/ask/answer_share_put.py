"""Whether a stage takes more, or less, than a part of the step: "gen 占不到一半吧", "more than a third of step 30?"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.timing import layout_of, total_key
from assistant.ask.answer_share import shares_of
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.stages import mean_of, stages_in
from assistant.ask.subject import words_of
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain

_INTENTS: Final = {"lookup", "compare", "bottleneck", "health", "explain", "derive", "trend"}
#: Parts in words, as per cent; the sides that a word holds itself, last.
_PARTS: Final = (
    (re.compile(r"(?i)三分之二|\btwo[- ]thirds\b"), "66.67%"),
    (re.compile(r"(?i)三分之一|\b(?:a|one) third\b"), "33.33%"),
    (re.compile(r"(?i)四分之三|\bthree[- ]quarters\b"), "75%"),
    (re.compile(r"(?i)四分之一|\b(?:a|one) quarter\b"), "25%"),
    (re.compile(r"(?i)五分之一|\b(?:a|one) fifth\b"), "20%"),
    (re.compile(r"(?i)十分之一|\b(?:a|one) tenth\b"), "10%"),
    (re.compile(r"过半(?!程)|大半(?!程)|大头|一多半"), "超过 50%"),
    (re.compile(r"小半(?!程)"), "不到 50%"),
    (
        re.compile(
            r"(?i)\bthe (?:bulk|majority|lion's share)\b|\bmost(?= of (?:the|each|every|a|its) (?:step|time|wall))"
        ),
        "more than 50%",
    ),
    (re.compile(r"(?i)(?<![前后])一半|\bhalf\b(?! of (?:the )?(?:run|training|steps)\b)"), "50%"),
)
_TENTHS: Final = re.compile(r"([一二两三四五六七八九]|\d)成(?!功|为)")
_TENTH: Final = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_PERCENT: Final = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,4})?)\s*(?:[%％]|percent\b|per cent\b)")
#: So many points from a part that is named without a side count as that part.
_NEAR: Final = 0.05
_NAMED: Final = 12


def limit_in(text: str) -> Condition | None:
    """The part of a step that a question names, with its side, as a fraction; ``equal`` where it names no side."""
    for pattern, figure in _PARTS:
        text = pattern.sub(f" {figure} ", text)
    text = _TENTHS.sub(lambda m: f" {(_TENTH.get(m[1]) or int(m[1])) * 10}% ", text)
    found = condition_in(text)
    if found is None and (match := _PERCENT.search(text)):
        found = Condition("equal", float(match[1]), float(match[1]), percent=True)
    if found is None or not found.percent or found.kind == "between" or len(_PERCENT.findall(text)) > 1:
        return None  # of two parts each is said of a step of its own
    return replace(found, low=found.low / 100, high=found.high / 100, percent=False)


def attempt(context: Context) -> Verdict | None:
    """Yes or no, with the shares; the steps where they are asked for; ``None`` (nothing written) for another question.

    Without a step the mean over all steps decides.
    """
    query, held = context.query, words("stages")
    if len(context.runs) != 1 or query.intent not in _INTENTS:
        return None
    text = words_of(context)
    spoken = held["part_of_step"].search(text) or _PERCENT.search(text)  # a time is of no per cent but of the step
    limit = limit_in(text) if spoken and not held["not_put"].search(text) else None
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    stages = [one for one in stages_in(context) if one != whole and "/agent_loop/" not in one]
    if limit is None or whole is None or len(stages) != 1:
        return None
    shares = shares_of(context, stages[0], whole)
    slot = query.steps
    if slot.kind in {"single", "pair"}:
        shares = [one for one in shares if one.step in slot.values]
    elif slot.kind in {"first", "last"}:
        shares = shares[:1] if slot.kind == "first" else shares[-1:]
    elif slot.kind == "range":
        shares = [one for one in shares if slot.values[0] <= (one.step or 0) <= slot.values[1]]
    if not shares:
        return None
    counted = next((name for name in ("count", "list", "first_time") if words("computed")[name].search(text)), "")
    if counted and limit.kind != "equal":
        said = _counted(context, stages[0], shares, limit, counted)
    elif slot.kind in {"single", "pair", "first", "last"} or len(shares) == 1:
        said = ("" if context.language == "zh" else " ").join(_one(context, stages[0], one, limit) for one in shares)
    else:
        said = _all(context, stages[0], shares, limit)
        context.query = replace(query, steps=slot if slot.kind == "range" else StepSlot("all"))
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(stages[0])
    context.cite(context.card(stages[0]))
    context.settled = True
    op = {"count": "count", "first_time": "first_crossing"}.get(counted)
    context.query = replace(context.query, intent="bottleneck", topics=(), threshold=None, op=op, asked_op=op)  # type: ignore[arg-type]
    return Verdict("answered", unmark(said))


def _meets(value: float, limit: Condition) -> bool:
    return abs(value - limit.low) <= _NEAR if limit.kind == "equal" else limit.holds(value)


def _side(context: Context, value: float, limit: Condition) -> str:
    if limit.kind == "equal" and _meets(value, limit):
        return context.say("put_share.near")
    return context.say("put_share.above" if value >= limit.low else "put_share.below")


def _limit(context: Context, limit: Condition) -> str:
    fact = context.ledger.constant(f"limit {limit.low:g}", limit.low, "the question", "fraction")
    context.doc.limits.add(limit.low)
    return mark(fact.id, f"{plain(100 * limit.low)}%")


def _answer(context: Context, value: float, limit: Condition) -> str:
    return context.say("put_share.yes" if _meets(value, limit) else "put_share.no")


def _one(context: Context, stage: str, share: Fact, limit: Condition) -> str:
    cell, total = (context.ledger.get(name) for name in (share.inputs or ("", ""))[:2])
    assert cell is not None
    assert total is not None
    return context.say(
        "put_share.step", answer=_answer(context, number(share), limit), share=share, stage=key(stage),
        cell=context.doc.show(cell, None, "seconds"), total=context.doc.show(total, None, "seconds"),
        side=_side(context, number(share), limit), limit=_limit(context, limit),
    )  # fmt: skip


def _all(context: Context, stage: str, shares: list[Fact], limit: Condition) -> str:
    mean = mean_of(context, f"share of {stage}", shares, "fraction")
    value = math.fsum(map(number, shares)) / len(shares)
    said = context.say(
        "put_share.all", answer=_answer(context, value, limit), stage=key(stage), mean=mean,
        n=context.ledger.count("steps with a share", len(shares)), low=min(shares, key=number),
        high=max(shares, key=number), side=_side(context, value, limit), limit=_limit(context, limit),
    )  # fmt: skip
    inside = sum(_meets(number(one), limit) for one in shares)
    if limit.kind != "equal" and 0 < inside < len(shares):
        gap = "" if context.language == "zh" else " "
        said += gap + _counted(context, stage, shares, limit, "count")
    return said


def _counted(context: Context, stage: str, shares: list[Fact], limit: Condition, asked: str) -> str:
    inside = [one for one in shares if limit.holds(number(one))]
    above = limit.kind in {"above", "at_least"}
    said = context.say(
        "put_share.count", stage=key(stage), limit=_limit(context, limit),
        side=context.say("put_share.above" if above else "put_share.below"),
        k=context.ledger.count("steps with such a share", len(inside)),
        n=context.ledger.count("steps with a share", len(shares)),
    )  # fmt: skip
    gap = "" if context.language == "zh" else " "
    if inside and (asked == "first_time" or len(inside) > _NAMED):
        said += gap + context.say("put_share.first", share=inside[0])
    elif inside:
        said += gap + context.say("put_share.steps", steps=context.doc.show([one.step or 0 for one in inside]))
    return said
