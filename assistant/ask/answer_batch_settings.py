"""Settings of the batch asked for by name: what the log implies of them, or that it implies nothing.

A log prints no ``rollout_batch_size``, but the trajectories of a step and the size of a group give it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.analysis import derive
from assistant.analysis.diagnosis import role
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_KINDS: Final = ("prompts", "group", "mini", "micro")
#: Steps looked at for a group's size, which a step with uniform groups alone does not show.
_MOST_STEPS: Final = 20
_LONGEST: Final = 200


def attempt(context: Context) -> Verdict | None:
    """What the log implies of the batch settings named; ``None`` (nothing written) where none is asked for."""
    held, query = words("batch_settings"), context.query
    text = normalised(query.wording or query.text)
    if len(text) > _LONGEST or query.intent == "advice" or held["other"].search(text) or not held["asks"].search(text):
        return None
    named = [(match.start(), kind, match.group().strip()) for kind in _KINDS if (match := held[kind].search(text))]
    if not named or any(_logged(context, word) for _, _, word in named):
        return None
    if [kind for _, kind, _ in named] == ["mini"] and not _ONLY_BATCH.search(text):
        return None
    said = [_said(context, kind, word) for _, kind, word in sorted(named)]
    context.names.update(word for _, _, word in named)
    derived = any(found for found, _ in said)
    context.doc.paragraph(f"**{said[0][1]}**")
    context.doc.paragraph(*[line for _, line in said[1:]])
    if any(kind == "mini" for _, kind, _ in named):
        context.doc.paragraph(_one_update(context))
    context.query = replace(query, intent="derive", topics=(), mentions=(), alternatives=(), op=None, asked_op=None)
    context.settled, context.kind = True, "batch_setting"
    return Verdict("answered" if derived else "no_data", unmark(said[0][1]))


#: A mini-batch is asked for by its size: "how many mini-batches" asks for updates.
_ONLY_BATCH: Final = re.compile(
    r"(?i)mini[-_ ]?batch[-_ ]?size|mini[-_ ]?batch\s*(?:的)?\s*(?:大小|多大|设|是多少|是几|有多大|取|用|配|size)"
    r"|how (?:big|large) (?:is|was|are) (?:the |a |each )?mini"
)


def _logged(context: Context, word: str) -> bool:
    """Whether the log holds a metric of that name."""
    spelt = re.sub(r"[^a-z0-9]+", "_", word.lower())
    return any(spelt in re.sub(r"[^a-z0-9]+", "_", name.lower()) for name in context.run.metrics)


def _said(context: Context, kind: str, word: str) -> tuple[bool, str]:
    """The sentence of one setting, and whether the log implies it."""
    if kind in {"prompts", "group"}:
        group, batch = _group(context), _batch(context)
        if kind == "group" and group is not None:
            return True, context.say("batch_setting.group", name=key(word), v=group)
        if kind == "prompts" and group is not None and batch is not None and not number(batch) % number(group):
            prompts = context.ledger.derived(
                "prompts_per_step", round(number(batch) / number(group)), inputs=[batch, group],
                formula="trajectories_per_step / group_size",
            )  # fmt: skip
            return True, context.say("batch_setting.prompts", name=key(word), v=prompts, batch=batch, group=group)
    return False, context.say(f"batch_setting.{'no_' if kind in {'prompts', 'group'} else ''}{kind}", name=key(word))


def _group(context: Context) -> Fact | None:
    steps = list(context.train_steps)[:_MOST_STEPS]
    return next((fact for step in steps if (fact := derive(context.ledger, "group_size", step)) is not None), None)


def _batch(context: Context) -> Fact | None:
    for step in list(context.train_steps)[:_MOST_STEPS]:
        fact = derive(context.ledger, "trajectories_per_step", step) or context.value("system/batch_size", step)
        if fact is not None:
            return fact
    return None


def _one_update(context: Context) -> str:
    """Whether a step is one update, as the KL to the old policy tells: the mini-batch is then the whole batch."""
    found = role(context.run, "old_kl")
    metric = None if found is None or not found.spelling.plain else found.metrics[0]
    cells = [] if metric is None else [f for s in context.run.series(metric)[0] if (f := context.value(metric, s))]
    values = [fact for fact in cells if isinstance(fact.value, (int, float))]
    if metric is None or not values:
        return ""
    moved = [fact for fact in values if fact.value != 0]
    count = context.ledger.count("values", len(moved) or len(values), metric=metric)
    phrase = "batch_setting.several_updates" if moved else "batch_setting.one_update"
    return context.say(phrase, metric=metric, n=count)
