"""Under which key the log holds what a question names in plain words: "哪一列是 reward", "which key is the loss"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys
from assistant.model import Verdict
from assistant.write.document import unmark

MOST: Final = 6
"""So many keys are told."""


def which_key(context: Context) -> Verdict | None:
    """The log's keys of what is named, each with its latest value.

    Returns:
        The verdict; ``None`` where the log holds none of it, or the question names nothing.
    """
    named = named_keys(context)
    keys = [*central(named), *(name for name in named if name not in central(named))][:MOST]
    held = [fact for name in keys if (fact := context.value(name, context.run.series(name)[0][-1])) is not None]
    if not held:
        return None
    names = context.join([key(str(fact.metric)) for fact in held])
    said = context.say("which.one" if len(held) == 1 else "which.several", names=names)
    context.doc.paragraph(f"**{said}**")
    context.doc.bullets([context.say("which.latest", metric=str(fact.metric), v=fact) for fact in held])
    for fact in held:
        context.metrics.append(str(fact.metric))
    context.doc.paragraph(*dict.fromkeys(context.gloss(str(fact.metric)) for fact in held))
    context.cite(context.card(str(held[0].metric)))
    context.query = replace(context.query, op=None, asked_op=None, topics=(), alternatives=())
    return Verdict("answered", unmark(said))
