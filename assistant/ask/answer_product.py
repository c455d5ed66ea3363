"""Two metrics multiplied at a step: "kl_loss and kl_coef at step 30, what is their product"."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.naming import named_keys
from assistant.ask.parts import number
from assistant.model import Verdict
from assistant.write.document import unmark

_TWO: Final = 2


def product(context: Context) -> Verdict | None:
    """Both values at the step named (the last that holds both by default) and their product.

    ``None`` where not two metrics are named, or no such step holds both.
    """
    keys = [key for key in dict.fromkeys(named_keys(context)) if key in context.run.columns]
    if len(keys) != _TWO:
        return None
    both = [s for s in context.run.series(keys[0])[0] if context.run.value(keys[1], s) is not None]
    slot = context.query.steps
    if slot.kind == "single":
        both = [s for s in both if s == slot.values[0]]
    elif slot.kind not in {"none", "last", "all", "first"}:
        return None
    if not both:
        return None
    step = both[0] if slot.kind == "first" else both[-1]
    a, b = context.value(keys[0], step), context.value(keys[1], step)
    if a is None or b is None or not (math.isfinite(number(a)) and math.isfinite(number(b))):
        return None
    value = context.ledger.derived(
        f"{keys[0]} × {keys[1]}", number(a) * number(b), step=step, formula=f"{keys[0]} × {keys[1]}", inputs=[a, b]
    )
    said = context.say(
        "product.at", a=keys[0], b=keys[1], va=a, vb=b, v=context.doc.show(value, None, "number"), step=step
    )
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(keys)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
