"""The loss that a Trainer prints at the end of a training: the mean over all of it, beside the last value."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Verdict
from assistant.write.document import unmark

_NAME: Final = "train_loss"
_ASKED: Final = re.compile(
    r"(?i)(?<![\w/])train_loss(?![\w/])|\b(?:final|overall|average) train(?:ing)? loss\b|平均(?:训练)?(?:损失|loss)"
)
_LOSSES: Final = ("loss", "train/loss")
#: A mean so many times as large as the last value is not told to be about the same.
_APART: Final = 1.2


def attempt(context: Context) -> Verdict | None:
    """What the closing mean is; ``None`` where it is not asked about, or the log logs a metric of that name."""
    if not context.runs or _ASKED.search(context.query.said) is None:
        return None
    run, say = context.run, context.say
    held = run.extras.get(_NAME)
    own = next((metric for metric in _LOSSES if metric in run.columns), None)
    if held is None or own is None or _NAME in run.columns:
        return None
    steps, _ = run.series(own)
    ends = [context.value(own, step) for step in (steps[0], steps[-1])] if steps else []
    if len(ends) < 2 or ends[0] is None or ends[1] is None or not number(ends[1]):
        return None
    mean = context.ledger.constant(_NAME, float(held[0]), "the log's closing line")
    ratio = context.ledger.derived(
        "mean / last loss", float(held[0]) / number(ends[1]), inputs=[mean, ends[1]], formula=f"{_NAME} / last {own}"
    )
    gap = "" if context.language == "zh" else " "
    times = f"{gap}{say('average.times', ratio=ratio)}" if number(ratio) >= _APART else ""
    text = say("average.whole", metric=_NAME, mean=mean, own=own, last=ends[1], times=times)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(say("average.early", first=ends[0]) if times else "")
    context.names.add(_NAME)
    context.metrics.append(own)
    return Verdict("answered", unmark(text))
