"""Whether a metric fell back behind a limit, since when it set no new high, whether a step is the extreme, and gaps."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_two import alike, gaps
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import cell, limit_text, part_of, remarks
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.subject import subject_of, words_of
from assistant.model import StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

#: Where the first limit ends and the second begins.
_THEN: Final = re.compile(
    r"(?i)(?:之后|以后|过后|后)|,|，|\b(?:did|does|has|have|was|is|then|and)\b(?=[^,，]{0,60}\b(?:again|ever|back|below|above"
    r"|under|over|fall|fell|drop|go|rise)\b)"
)
_PASSED: Final = re.compile(r"(?i)\b(?:pass(?:ed|es)?|cross(?:ed|es)?)\b|过(?=了?\s*-?\d)")
_LOW: Final = re.compile(r"(?i)新低|最[低小短少]|\b(?:low|lowest|min\w*|smallest|shortest)\b")
_HIGH: Final = re.compile(r"(?i)新高|最[高大长多]|\b(?:high|highest|max\w*|peak|largest|longest|biggest)\b")


def relapsed(context: Context) -> Verdict | None:
    """Whether a metric, once beyond one limit, came beyond another again: "超过 0.6 之后有没有再掉到 0.5 以下".

    Returns:
        The verdict; ``None`` where no two limits are named, or no one metric.
    """
    found = subject_of(context, least=3, several=True)
    if found is None:
        return None
    part = part_of(context, found.metric, Scope())
    text = words_of(context)
    seam = next(
        (m for m in _THEN.finditer(text) if re.search(r"\d", text[: m.start()]) and _number_in(text[m.end() :])), None
    )
    if seam is None:
        return None
    first = condition_in(_PASSED.sub("超过", text[: seam.start()]))
    second = condition_in(_PASSED.sub("超过", text[seam.end() :]))
    if first is None or second is None:
        return None
    largest = max(abs(value) for value in part.values)
    first, second = first.scaled(largest), second.scaled(largest)
    begin = next((p for p, value in enumerate(part.values) if first.holds(value)), None)
    values = {"metric": part.metric, "first": limit_text(context, first, part.metric)}
    context.metrics.append(part.metric)
    if begin is None:
        far = part.values.index((max if _upward(first) else min)(part.values))
        said = context.say("again.never_first", v=cell(context, part, far), over=part.over, **values)
        return _told(context, said, part.metric, *remarks(context, part))
    values["second"] = limit_text(context, second, part.metric)
    behind = [p for p in range(begin + 1, len(part)) if second.holds(part.values[p])]
    start = cell(context, part, begin)
    if not behind:
        rest = range(begin, len(part))
        pick = max if _upward(second) else min
        far = pick(rest, key=lambda p: part.values[p])
        said = context.say("again.no", v=start, far=cell(context, part, far), **values)
    else:
        count = context.ledger.count("steps behind the second limit", len(behind), metric=part.metric)
        said = context.say(
            "again.yes", v=start, w=cell(context, part, behind[0]), n=count, last=cell(context, part, len(part) - 1),
            **values,
        )  # fmt: skip
    return _told(context, said, part.metric, *remarks(context, part))


def _number_in(text: str) -> bool:
    return re.search(r"(?<![\w.])-?\d", text) is not None


def _upward(limit: Condition) -> bool:
    return limit.kind in {"above", "at_least", "positive"}


def _told(context: Context, said: str, metric: str, *lines: str, op: Op | None = None) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op=op, asked_op=op, topics=(), steps=StepSlot("all"))
    return Verdict("answered", unmark(said))


def since_record(context: Context) -> Verdict | None:
    """At which step a metric set its last record, and how many logged steps have passed since."""
    found = subject_of(context, least=3, several=True)
    if found is None:
        return None
    part, text = found.part, context.query.said
    down = _LOW.search(text) is not None or (SMALL_IS_GOOD.search(found.metric) is not None and not _HIGH.search(text))
    best = (min if down else max)(part.values)
    place = part.values.index(best)
    after = len(part) - 1 - place
    count = context.ledger.count("values since the record", after, metric=part.metric)
    if down:
        name = "again.record_low" if after else "again.record_now_low"
    else:
        name = "again.record_high" if after else "again.record_now_high"
    said = context.say(name, metric=part.metric, v=cell(context, part, place), n=count, over=part.over)
    context.metrics.append(part.metric)
    return _told(context, said, part.metric, *remarks(context, part), op="argmin" if down else "argmax")


def is_extreme(context: Context) -> Verdict | None:
    """Whether the value of a step named is the highest or the lowest of all."""
    found = subject_of(context, least=2, several=True)
    slot = context.query.steps
    if found is None or slot.kind not in {"single", "last", "first"}:
        return None
    part = part_of(context, found.metric, Scope())
    step = slot.values[0] if slot.kind == "single" else part.steps[-1 if slot.kind == "last" else 0]
    if step not in part.steps:
        return None
    low = _LOW.search(words_of(context)) is not None
    place = part.steps.index(step)
    best = part.values.index((min if low else max)(part.values))
    better = sum(1 for value in part.values if (value < part.values[place] if low else value > part.values[place]))
    side = "low" if low else "high"
    if not better:
        said = context.say(f"again.is_{side}", metric=part.metric, v=cell(context, part, place), over=part.over)
    else:
        count = context.ledger.count("values beyond it", better, metric=part.metric)
        said = context.say(
            f"again.is_not_{side}", metric=part.metric, v=cell(context, part, place), w=cell(context, part, best),
            n=count, over=part.over,
        )  # fmt: skip
    context.metrics.append(part.metric)
    steps = context.query.steps
    verdict = _told(context, said, part.metric, *remarks(context, part))
    context.query = replace(context.query, steps=steps)
    return verdict


_LIMIT: Final = re.compile(
    r"(?i)(?:超过|大于|高于|多于|达到|以上|\b(?:more than|over|exceed\w*|above|at least|larger than|greater than)\b)\s*"
    r"(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?)\s*(?P<percent>%)?"
)
_SHARE: Final = 1.5


def gap_beyond(context: Context) -> Verdict | None:
    """At which steps two metrics are further apart than a limit: "reward 和 score 差超过 0.05 的步有吗".

    Returns:
        The verdict; ``None`` where no two metrics of one kind, or no limit, are named.
    """
    keys = central(named_keys(context))
    match = _LIMIT.search(words_of(context))
    if len(keys) != 2 or match is None or not alike(context, *keys):
        return None
    a, b = keys
    there = set(context.run.series(b)[0])
    steps = [step for step in context.run.series(a)[0] if step in there]
    found = gaps(context, a, b, steps)
    if not found:
        return None
    limit = float(match["value"])
    largest = max((abs(float(v)) for key in keys for v in context.run.series(key)[1] if math.isfinite(v)), default=0.0)
    limit = limit / 100 if match["percent"] and largest <= _SHARE else limit
    beyond = [fact for fact in found if abs(number(fact)) > limit]
    widest = max(found, key=lambda fact: abs(number(fact)))
    mark_of = context.ledger.constant(f"limit {limit:g}", limit, "the question")
    values = {
        "a": a, "b": b, "limit": mark(mark_of.id, format_number(limit, "number", language=context.language)),
        "widest": context.doc.show(widest), "at": widest.step or 0,
        "n": context.ledger.count("steps with both", len(found)),
    }  # fmt: skip
    if beyond:
        count = context.ledger.count("steps further apart", len(beyond))
        said = context.say("again.apart", k=count, first=beyond[0].step or 0, **values)
    else:
        said = context.say("again.never_apart", **values)
    context.metrics.extend(keys)
    return _told(context, said, a, op="count")
