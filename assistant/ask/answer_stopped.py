"""Says that the log goes on where a question takes it for granted that the job died at a step."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from assistant.ask.context import Context
from assistant.ask.wording import normalised

_STOPPED: Final = re.compile(
    r"(?i)\b(?:job|run|training|process|trainer|script|it)\b[^,.;?\d]{0,16}?"
    r"\b(?:crash(?:ed|es)?|died?|dies|killed|abort(?:ed|s)?|stop(?:ped|s)?|fail(?:ed|s)?|hung|restart(?:ed|s)?|interrupted"
    r"|broke off|went down)\b[^,.;?\d]{0,16}?\b(?:at|around|after|near|in|by|from)\s+(?:about\s+)?"
    r"(?:(?:step|row|iteration)\s*)?(?P<en>\d{1,7})\b(?![.%]|\s*(?:h|hours?|min|minutes?|s|seconds?|gb|percent)\b)"
    r"|(?<![\d.])(?P<zh>\d{1,7})\s*步(?:的时候|时|那里|那儿|左右|附近|前后)?[^,，。;；?？\d]{0,6}"
    r"(?:挂掉?了|崩掉?了|重启了?|中断了|停掉?了|死掉?了|断掉?了|被杀)"
)
_NOT_SO: Final = re.compile(r"(?i)\b(?:if|will|would|might|could|suppose|in case|should)\b|如果|要是|万一|会不会|假如")
#: A restart this near to the step that is named is the one that is meant.
_NEAR: Final = 1


def beside(context: Context) -> str | None:
    """The sentence; ``None`` where nothing of the kind is said, or the log may well show it."""
    text = normalised(context.query.wording or context.query.text)
    match = _STOPPED.search(text)
    if match is None or _NOT_SO.search(text):
        return None
    if any(mention.text and mention.text in match[0] for mention in context.query.mentions):
        return None  # a metric that broke, and no job
    clause = re.split(r"[,，;；。?？]", text[: match.start()])[-1]
    if any(mention.text and mention.text in clause for mention in context.query.mentions):
        return None
    run, step = context.run, int(match["en"] or match["zh"])
    steps = run.distinct_steps
    if step not in steps or step >= steps[-1]:
        return None  # nothing follows: it may have stopped there
    back = [
        (before, after, line)
        for (before, after), line in zip(pairwise(run.steps), run.row_lines[1:], strict=True)
        if after < before
    ]
    here = next((pair for pair in back if abs(step - pair[0]) <= _NEAR or abs(step - pair[1]) <= _NEAR), None)
    if here is not None:
        return context.say("stopped.here", before=here[0], after=here[1])
    if any(after <= step <= before for before, after, _ in back):
        return None
    said = context.say("stopped.goes_on", step=step, last=steps[-1])
    if not back:
        return said
    gap = "" if context.language == "zh" else " "
    count = context.ledger.count("restarts", len(back))
    before, after, _ = back[0]
    return said + gap + context.say("stopped.elsewhere", k=count, before=before, after=after)


__all__ = ["beside"]
