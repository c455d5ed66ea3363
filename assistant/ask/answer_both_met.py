"""Steps at which several metrics meet a condition each: "score above 0.7 and entropy below 0.2"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.blanking import figures, spans_of
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import limit_text, share_shown
from assistant.ask.ranges import listed
from assistant.ask.scope import scope_in
from assistant.ask.wording import normalised
from assistant.model import StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

_JOINED: Final = re.compile(
    r"(?i)且|而|同时|又|也|并|和|跟|与|,|，|、|\band\b|\bwhile\b|\bbut\b|\bwith\b|\bat the same time\b"
)
_EITHER: Final = re.compile(
    r"(?i)或|\bor\b|分别|各|\beach\b|\brespectively\b|为什么|为啥|\bwhy\b|先|之后|之前|\bafter\b|\bbefore\b"
)
_VALIDATION: Final = re.compile(r"(?i)验证|评测|\bval(?:idation)?\b|\beval(?:uation)?\b")
_OPS: Final[dict[str, Op]] = {"count": "count", "share": "count", "first_time": "first_crossing"}
_MOST: Final = 3

Placed = tuple[str, Condition]


def attempt(context: Context) -> Verdict | None:
    """The steps that meet all the conditions, how many and which; ``None`` (nothing written) for another question."""
    query = context.query
    if len(context.runs) != 1 or query.intent in {"define", "advice", "forecast"}:
        return None
    text = figures(normalised(query.wording or query.text))
    placed = [] if _EITHER.search(text) else _conditions(context, text)
    if not 2 <= len(placed) <= _MOST:
        return None
    kinds = ("share", "count", "first_time", "list", "any")
    asked = next((name for name in kinds if words("computed")[name].search(text)), "")
    if not asked:
        return None
    tables = []
    for metric, _ in placed:
        steps, values = context.run.series(metric)
        tables.append({s: float(v) for s, v in zip(steps, values, strict=True) if math.isfinite(float(v))})
    limits = [
        limit.scaled(max(map(abs, table.values()), default=0.0))
        for (_, limit), table in zip(placed, tables, strict=True)
    ]
    bare = text
    for _, limit in placed:
        bare = bare[: limit.span[0]] + " " * (limit.span[1] - limit.span[0]) + bare[limit.span[1] :]
    scope = scope_in(_without_names(context, bare), context.train_steps)
    both = scope.of(sorted(set.intersection(*map(set, tables))))
    if not both:
        return None
    met = [step for step in both if all(limit.holds(table[step]) for limit, table in zip(limits, tables, strict=True))]
    keys = [metric for metric, _ in placed]
    what = context.join(
        context.say("both_met.one", metric=metric, limit=limit_text(context, limit, metric))
        for metric, limit in zip(keys, limits, strict=True)
    )
    total = context.ledger.count("steps with all of them", len(both), metric=keys[0])
    count = context.ledger.count("steps that meet all conditions", len(met), metric=keys[0])
    if met:
        share = share_shown(context, "share of steps that meet all conditions", len(met), len(both), [count, total])
        at = listed(context, min(keys, key=lambda name: len(context.run.series(name)[0])), met)
        said = context.say("both_met.some", what=what, k=count, n=total, share=share, steps=at)
    else:
        said = context.say("both_met.none", what=what, n=total)
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(keys)
    context.chart(context.title(keys[0]), keys[:2])
    context.settled = True
    op = _OPS.get(asked)
    context.query = replace(
        query, intent="lookup", op=op, asked_op=op, steps=StepSlot("all"), topics=(), threshold=None
    )
    return Verdict("answered", unmark(said))


def _without_names(context: Context, text: str) -> str:
    for mention in context.query.mentions:
        for start, end in spans_of(text, mention):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _conditions(context: Context, text: str) -> list[Placed]:
    """Each metric named with the condition that stands behind it; none where one of them has none."""
    keys = central(named_keys(context))
    places: list[tuple[int, int, str]] = []
    for mention in context.query.mentions:
        key = mention.key if mention.key in keys else next((k for k in keys if context.card(k) is mention.card), None)
        spans = spans_of(text, mention)
        if key is not None and spans and key not in {name for _, _, name in places}:
            places.append((*spans[0], key))
    taken = _without_names(context, text)
    validation = _VALIDATION.search(taken)
    if len(places) == 1 and validation is not None:
        found = role(context.run, "val_accuracy")
        if found is not None and found.metrics and found.metrics[0] != places[0][2]:
            places.append((*validation.span(), found.metrics[0]))
    if len(places) < 2:
        return []
    places.sort()
    placed: list[Placed] = []
    for (_, end, key), following in zip(places, [*places[1:], None], strict=True):
        stop = len(text) if following is None else following[0]
        limit = condition_in(taken[end:stop])
        if limit is None:
            return []
        placed.append((key, replace(limit, span=(end + limit.span[0], end + limit.span[1]))))
        if following is not None and not _JOINED.search(taken[placed[-1][1].span[1] : stop]):
            return []
    return placed
