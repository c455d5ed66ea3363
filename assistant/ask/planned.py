"""Answers a question that asks for several values at once, where all its words were read (``assistant.ask.plan``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.analysis import Ledger
from assistant.ask import answer_conditioned, run_questions
from assistant.ask.antecedents import MOST_KEPT
from assistant.ask.blanking import figures, spans_of
from assistant.ask.context import Context
from assistant.ask.follow import after
from assistant.ask.naming import central
from assistant.ask.plan.build import Plan, plan_of
from assistant.ask.plan.limited import plan_of_limited
from assistant.ask.plan.of_told import plan_at_told, plan_of_told
from assistant.ask.plan.tags import tagged
from assistant.ask.plan.told import told
from assistant.ask.query import Query, State
from assistant.ask.steps import training_steps
from assistant.ask.windows import windows_in
from assistant.ask.wording import normalised
from assistant.knowledge import Resolver
from assistant.model import Answer, Run, Verdict

#: Longer texts ask for more than values.
_LONGEST: Final = 160
#: A follow-up about what was told is no longer.
_SHORT: Final = 48
#: Without one of these a question asks for one thing, for which there are readers of their own.
_SEVERAL: Final = re.compile(
    r"(?i)[,，、;；?？/&].*\S|\band\b|\bvs\b|\bversus\b|\bto\b|\bthan\b|\bratio\b|\bpercentile\b|和|跟|与|且|比"
    r"|倍|差|哪|占|百分位"
    r"|分位|各|前后"
)
#: A limit may part the steps over which another metric is asked for.
_LIMITED: Final = re.compile(
    r"(?i)超过|超出|高于|低于|大于|小于|不到|不足|多于|少于|突破|跌破|破|[<>≤≥]|为[正负]|之间|\b(?:above|below"
    r"|over|under|exceed\w*"
    r"|than|least|most|negative|positive|between)\b"
)
_EXCEPT: Final = re.compile(
    r"(?i)\b(?:excluding|without|except|leaving out|ignoring)\b|w/o|不算|不含|剔除|去掉"
    r"|排除|除去"
)
_POINTING: Final = re.compile(r"(?i)[那这该它]|两|三|\b(?:there|those|these|them|both|that|its|their)\b")
_INTENTS: Final = frozenset(
    {"lookup", "compare", "trend", "derive", "explain", "validation", "out_of_scope", "define", "bottleneck"}
)


def plan(query: Query, run: Run, state: State | None) -> Plan | None:
    """The plan of a question; ``None`` where not every word of it is read, or it asks for one thing only."""
    if state is not None and len(query.text) <= _SHORT:
        tags = tagged(figures(normalised(query.text)), ())
        if tags and (found := plan_of_told(tags, run, state)) is not None:
            return found
    text = figures(normalised(query.wording or query.text))
    if len(text) > _LONGEST or query.intent not in _INTENTS:
        return None
    pointing = state is not None and len(text) <= _SHORT and _POINTING.search(text) is not None
    several = _SEVERAL.search(text) is not None
    if not (pointing or several or _LIMITED.search(text)):
        return None
    names = _names(query, text, run)
    if names is None or (not names and state is None):
        return None
    tags = tagged(text, names)
    if tags is None:
        return None
    if pointing and state is not None and (at := plan_at_told(tags, run, state)) is not None:
        return at
    limited = plan_of_limited(tags, run)
    if limited is not None and (limited.first_met or _EXCEPT.search(text)):
        return limited
    made = plan_of(tags, run, state) if several else None
    if made is not None and made.event is not None:
        return made
    if run_questions.kind_of(query) is not None:
        return None  # a kind of question with a reader of its own
    if made is None:
        return limited
    divided = made.ratio or made.factor
    return made if divided or windows_in(text, run, (), training_steps(run)) is None else None


def _names(query: Query, text: str, run: Run) -> list[tuple[int, int, str]] | None:
    """Where metrics are named, and the one key that each means; ``None`` where one of them means several."""
    found: dict[tuple[int, int], list[str]] = {}
    for mention in query.mentions:
        spans = spans_of(text, mention) if mention.end > mention.start else []
        keys = [mention.key] if mention.key is not None else []
        if not keys and mention.card is not None and not mention.specific:
            keys = [key for key in mention.card.keys if key in run.columns]
        if not keys:
            continue  # its words are read as what they are else, or not at all
        for span in spans:
            found.setdefault(span, []).extend(keys)
    names = []
    for (start, end), keys in sorted(found.items()):
        meant = central(list(dict.fromkeys(keys)))
        if len(meant) != 1:
            return None
        names.append((start, end, meant[0]))
    overlapping = any(a[1] > b[0] for a, b in pairwise(names))
    return None if overlapping else names


def answered(
    question: str, query: Query, runs: Sequence[Run], resolver: Resolver, state: State | None
) -> tuple[Context, Verdict] | None:
    """The answer under construction and its verdict; ``None`` where the question is no such one."""
    made = plan(query, runs[0], state)
    if made is None:
        return None

    def begun() -> Context:
        return Context(replace(query, text=question), tuple(runs), resolver, Ledger(tuple(runs)))

    limited = (made.event is None and any(output.limits for output in made.outputs)) or (
        made.limits and not made.outputs
    )
    if limited and answer_conditioned.attempt(begun()) is not None:
        return None  # which tells the other steps as well
    context = begun()
    verdict = told(context, made)
    return None if verdict is None else (context, verdict)


def carried(context: Context, answer: Answer, state: State | None) -> State:
    """What the conversation carries on from such an answer."""
    held = after(context.query, answer.facts, context.language, state)
    if not context.cells:
        return held
    kept = () if state is None else tuple(one for one in state.cells if one not in context.cells)
    return replace(held, cells=(*kept, *context.cells)[-MOST_KEPT:])
