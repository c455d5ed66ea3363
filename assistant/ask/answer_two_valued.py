"""The accuracy that a mean reward of two values stands for: "rewards are 1 and -1, so what is the accuracy?"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_NUMBER: Final = r"([-+]?\d+(?:\.\d+)?)"
_VALUES: Final = re.compile(
    rf"(?i)(?:只有|只能是|不是|要么|取值?(?:为|是)?|either|only|are|is) ?\(?{_NUMBER} ?"
    rf"(?:和|或者?|就是|要么(?:是)?|与|、|/|,|or|and) ?{_NUMBER}(?![\d.])"
)


def accuracy(context: Context) -> Verdict | None:
    """The share of the higher of two reward values, from the mean; ``None`` where the log does not bear them out.

    The smallest and largest reward of the step must be these two values: then the mean is between them, and
    share = (mean − low) / (high − low).
    """
    match = _VALUES.search(normalised(context.query.wording or context.query.text))
    found = [role(context.run, name) for name in ("score_mean", "score_min", "score_max")]
    if match is None or any(one is None or not one.spelling.plain for one in found):
        return None
    low, high = sorted((float(match[1]), float(match[2])))
    slot = context.query.steps
    steps = [s for s in context.train_steps if slot.kind != "single" or s in slot.values]
    if not steps or low == high:
        return None
    facts = [context.value(one.metrics[0], steps[-1]) for one in found if one is not None]
    if any(fact is None or not isinstance(fact.value, (int, float)) for fact in facts):
        return None
    mean, least, most = (fact for fact in facts if fact is not None)
    if (number(least), number(most)) != (low, high) or not low <= number(mean) <= high:
        return None
    share = context.ledger.derived(
        "share of right answers", (number(mean) - low) / (high - low), step=mean.step,
        formula="(mean − low) / (high − low)", inputs=[mean, least, most], unit="fraction",
    )  # fmt: skip
    text = context.say("two_valued.accuracy", share=share, metric=str(mean.metric), mean=mean, low=least, high=most)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("two_valued.note"))
    context.metrics.append(str(mean.metric))
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(text))
