"""Evaluations that a log keeps under keys of its own (``eval_format``, ``eval/acc``): all of them alike."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_counts import evaluations_absent
from assistant.ask.context import Context, key
from assistant.ask.logged import as_mention
from assistant.ask.naming import steps_text
from assistant.ask.part import Part, cell, part_of
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_EVALUATED: Final = re.compile(
    r"(?i)^(?:eval|evaluation|test|valid(?:ation)?)[-_/ ](?!loss\b)"
    r"|^val[-_/ ](?:acc|accuracy|score|mae|mse|f1|auc|[a-z_ ]{0,20}rewards?(?:_mean)?$)"
)
#: What a trainer logs of an evaluation beside its outcome.
_ASIDE: Final = re.compile(
    r"(?i)runtime|per_second|(?:^|[_/])n_|num_|count|time|steps?$|samples|tokens|length|loss|truncat|repetition|entropy|_len\b"
)
_MOVES: Final = re.compile(
    r"(?i)涨|[升降跌掉]|提高|[好差高低](?:吗|么|没|不|些|一点|还是|了)|比|变好|变差|改善|好转|进步|趋势|走势|improv|trend|better|worse|\b(?:up|down)\b|\b(?:ris|fall|drop)"
)
#: The first evaluation against the last.
_ENDS: Final = re.compile(
    r"(?i)(?:第一|首|最初|\bfirst\b|\binitial\b).{0,16}(?:最后|最近|末|\blast\b|\bfinal\b|\blatest\b).{0,16}"
    r"(?:比|差|涨|升|降|跌|掉|提|improv|better|worse|chang)"
    r"|\b(?:first|initial)\b.{0,16}\b(?:vs\.?|versus|against|to)\b.{0,8}\b(?:last|final|latest)\b"
)
_BEFORE: Final = re.compile(r"(?i)(?:\beval\w*|\bval(?:idation)?|\btest|验证|评测|评估|测试)(?:集|上|的|\s|\bset\b)*$")
MOST: Final = 8
#: Keys of the sum of all rewards of an evaluation.
_TOTALS: Final = ("eval_reward", "eval/reward")


def evaluations(context: Context) -> Verdict | None:
    """First, latest and best value of every evaluation metric; that there is none where there is none.

    Where there is only one, the question is about that one.

    Returns:
        The verdict; ``None`` for logs whose validations have a writer of their own, or where a key is spelt.
    """
    if context.validation_steps:
        return None
    said = normalised(context.query.wording or context.query.text)
    if any(re.search(r"[_/]", m.text) and m.text in said for m in context.query.mentions if m.key is not None):
        return None
    keys = [m for m in context.run.metrics if _EVALUATED.search(m) and not _ASIDE.search(m)]
    keys = _worded(keys, said) or keys
    parts = [part for m in keys if len(part := part_of(context, m, Scope()))]
    if not parts:
        query = context.query
        own = [m for m in query.mentions if m.text in said and not _BEFORE.search(said[: m.start])]
        context.query = replace(query, mentions=tuple(own))  # "eval score" names no score of the training
        verdict = evaluations_absent(context)
        context.query = query if verdict is None else context.query
        return verdict
    total = parts[0] if len({tuple(part.values) for part in parts}) == 1 else None
    total = next((part for part in parts if total is not None and part.metric in _TOTALS), total)
    if total is not None and (context.query.op is None or len(parts) > 1):  # one reward function: the total is it
        return _only(context, total.metric)
    say, doc = context.say, context.doc
    count = context.ledger.count("evaluation metrics", len(parts))
    text = say("evals.lead", n=count, steps=steps_text(context, list(parts[0].steps)))
    if _MOVES.search(said) and len(parts[0]) > 1 and context.query.steps.kind != "pair":
        text = _first_to_last(context, parts)
    doc.paragraph(f"**{text}**")
    rows = []
    for part in parts[:MOST]:
        best = cell(context, part, part.values.index(max(part.values)))
        ends = (doc.show(cell(context, part, 0)), doc.show(cell(context, part, len(part) - 1)))
        rows.append([key(part.metric), " → ".join(ends), say("move.peak", v=best)])
    doc.table([say("head.metric"), say("head.first_last"), say("head.peak")], rows)
    doc.paragraph(say("evals.which"))
    context.metrics.extend(part.metric for part in parts[:MOST])
    context.chart(context.title(parts[0].metric), [part.metric for part in parts[:4]])
    return Verdict("answered", unmark(text))


def several(context: Context) -> Verdict | None:
    """As :func:`evaluations`, of a log that holds more than one; of one alone its own gap has a writer."""
    keys = [m for m in context.run.metrics if _EVALUATED.search(m) and not _ASIDE.search(m)]
    return evaluations(context) if len(keys) > 1 else None


def _first_to_last(context: Context, parts: list[Part]) -> str:
    """How many of the evaluation metrics are above, below and at their first value."""
    moves = [part.values[-1] - part.values[0] for part in parts]
    counts = {
        "k": context.ledger.count("evaluation metrics above their first value", sum(move > 0 for move in moves)),
        "d": context.ledger.count("evaluation metrics below their first value", sum(move < 0 for move in moves)),
        "s": context.ledger.count("evaluation metrics at their first value", sum(move == 0 for move in moves)),
        "n": context.ledger.count("evaluation metrics", len(parts)),
    }
    steps = parts[0].steps
    return context.say("evals.moved", first=steps[0], last=steps[-1], **counts)


def _worded(keys: list[str], said: str) -> list[str]:
    """The keys whose last word the question says, in the singular or plural: "margin" for ``eval_rewards/margins``."""
    words = {_stem(word) for word in re.findall(r"[a-z]{3,30}", said.lower())} | _translated(said)
    return [key for key in keys if _stem(re.findall(r"[a-z]+", key.lower())[-1]) in words]


def _stem(word: str) -> str:
    return "accurac" if word.startswith("acc") else word.removesuffix("s")


def _translated(said: str) -> set[str]:
    return {name for zh, name in (("准确率", "accurac"), ("正确率", "accurac"), ("奖励差", "margin")) if zh in said}


def _only(context: Context, metric: str) -> Verdict:
    """The question answered for the one evaluation metric of a log."""
    from assistant.ask.answer_lookup import lookup
    from assistant.ask.answer_trend import trend

    query = context.query
    context.query = replace(query, mentions=(as_mention(context.run, context.resolver, metric, 0, 0, ""),))
    if _ENDS.search(query.said):
        from assistant.ask.answer_compare import compare

        context.query = replace(context.query, intent="compare")
        return compare(context)
    if not _MOVES.search(query.said):
        return lookup(context)
    context.query = replace(context.query, intent="trend")
    return trend(context)
