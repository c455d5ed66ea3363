"""One quantity of two models of a training: the student's entropy and the teacher's, the actor's norm and the critic's.

Where the log holds both, both keys are what the question names; where it holds one, that the other is not there is
said, rather than the one compared with itself at another step.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.intents import is_stage
from assistant.ask.logged import as_mention
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import number
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

#: Words for a part of a training, and what its keys begin with or hold.
_OWNERS: Final = {
    "teacher": (r"teachers?|老师|教师", r"teacher"),
    "student": (r"students?|学生", r"student|(?:^|/)actor|(?:^|/)policy"),
    "actor": (r"actors?|polic(?:y|ies)|策略(?:模型|网络)?", r"(?:^|/)actor|(?:^|[/_])policy"),
    "critic": (
        r"critics?|value (?:model|net\w*|head)|价值(?:模型|网络)|评论家",
        r"(?:^|/)critic/(?!score|rewards|adv|ret)|(?:^|[/_])value|(?:^|[/_])vf",
    ),
    "reference": (r"ref(?:erence)?(?: (?:model|policy))?|参考(?:模型|策略)?", r"(?:^|[/_])ref(?:erence)?(?:[/_]|$)"),
    "rollout": (r"rollouts?(?: engine)?|vllm|sglang|推理(?:引擎|端)?", r"rollout|vllm|sglang"),
}
_COMPARED: Final = re.compile(
    r"(?i)\b(?:than|vs|versus|compared|exceeds?|or|which)\b|[比较](?![例重值率])|还是|哪个|谁"
)
_STEPS: Final = re.compile(r"(?i)\bsteps?\s*\d|第\s*\d+\s*步|\d\s*步")
_LEAF: Final = re.compile(
    r"(?i)entropy|grad_?norm|loss|learning_rate|(?<![a-z])lr(?![a-z])|kl|accuracy|(?<![a-z])acc(?![a-z])|length|reward"
    r"|score|mfu|(?:log_?)?probs?"
)


def attempt(context: Context) -> Verdict | None:
    """That one of two owners has no such metric; ``None`` where both have (both are named then) or none is asked.

    Where both have one, the query's mentions become the two keys.
    """
    query = context.query
    keys = central(named_keys(context))
    text = normalised(query.wording or query.text)
    if len(context.runs) != 1 or len(keys) != 1 or not _COMPARED.search(text) or _STEPS.search(text):
        return None
    leaf = None if is_stage(keys[0]) else _LEAF.search(keys[0])
    found = sorted(
        (match.start(), name) for name, (said, _) in _OWNERS.items() if (match := _said(text, said)) is not None
    )
    if leaf is None or len(found) != 2:
        return None
    if all(_said(re.sub(r"[/_]", " ", keys[0]), _OWNERS[name][0]) for _, name in found):
        return None  # a metric of both: rollout_actor_probs_pearson_corr
    (_, a), (_, b) = found
    held = {name: _of(context, name, keys[0], leaf.group()) for name in (a, b)}
    if held[a] is not None and held[b] is not None:
        if held[a] == held[b]:
            return None
        named = [as_mention(context.run, context.resolver, str(held[one]), 0, 0, str(held[one])) for one in (a, b)]
        context.query = replace(query, mentions=tuple(named), intent="lookup")
        return None
    if held[a] is None and held[b] is None:
        return None
    absent, there = (a, b) if held[a] is None else (b, a)
    metric = str(held[there])
    value = context.value(metric, context.run.series(metric)[0][-1])
    if value is None or not isinstance(number(value), float):
        return None
    said = context.say("owner.absent", metric=metric, v=value, owner=context.say(f"owner.{absent}"))
    context.names.add(key(metric))
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(metric)
    context.query = replace(query, intent="lookup", op=None, asked_op=None, topics=())
    return Verdict("no_data", unmark(said))


def _said(text: str, words: str) -> re.Match[str] | None:
    """Where an owner is named by itself: as the owner of something, or as what is compared."""
    return re.search(rf"(?i)(?<![A-Za-z0-9_/.-])(?:{words})(?![A-Za-z0-9_/-])", text)


def _of(context: Context, owner: str, metric: str, leaf: str) -> str | None:
    """The key of a quantity that belongs to an owner: the one named, if it does."""
    pattern = re.compile(f"(?i){_OWNERS[owner][1]}")
    if pattern.search(metric):
        return metric
    alike = [name for name in context.run.metrics if pattern.search(name) and leaf.lower() in name.lower()]
    return min(alike, key=len, default=None)


__all__ = ["attempt"]
