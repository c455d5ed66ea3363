"""How many steps fit into a time that the question names: the time over the mean time of a step."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.context import Context
from assistant.ask.part import part_of, shown, statistic
from assistant.ask.scope import Scope
from assistant.ask.steps import NUMBER_WORDS, chinese_number
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

_TIME: Final = re.compile(
    r"(?i)(?P<n>\d+(?:\.\d+)?|[一二两三四五六七八九十]{1,3}|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)"
    r"\s*个?\s*(?:(?P<half>半)?(?P<hours>小时|钟头|h\b|hrs?\b|hours?\b)|(?P<days>天|days?\b)|(?P<minutes>分钟|min(?:ute)?s?\b))"
)
_SECONDS: Final = {"hours": 3600.0, "days": 86_400.0, "minutes": 60.0}


def steps_in_time(context: Context) -> Verdict | None:
    """The steps that a time named holds; ``None`` where none is named or the log times no steps."""
    match = _TIME.search(normalised(context.query.wording or context.query.text))
    key = next((name for name in STEP_TIMES if name in context.run.columns), None)
    if match is None or key is None:
        return None
    part = part_of(context, key, Scope())
    if not len(part) or math.fsum(part.values) <= 0:
        return None
    said = match["n"].lower()
    count = (
        float(said) if said[0].isdigit()
        else float(NUMBER_WORDS.get(said, 1)) if said.isascii()
        else float(chinese_number(said))
    )  # fmt: skip
    count += 0.5 if match["half"] else 0.0
    unit = next(name for name in _SECONDS if match[name])
    time = context.ledger.constant("time asked for", count * _SECONDS[unit], "the question", "s")
    mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    steps = context.ledger.derived(
        "steps in the time", math.floor(count * _SECONDS[unit] / (math.fsum(part.values) / len(part))),
        formula=f"time / mean of {key}, rounded down", inputs=[time, mean],
    )  # fmt: skip
    amount = context.say(f"capacity.{unit}", n=format_number(int(count) if count.is_integer() else count))
    text = mark(time.id, amount)
    said = context.say("capacity.steps", time=text, n=steps, metric=key, mean=shown(context, mean, key), over=part.over)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("capacity.without"))
    context.metrics.append(key)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
