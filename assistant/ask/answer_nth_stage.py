"""The second or third longest stage of a step: "second most expensive stage at step 40?"."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.parts import timed
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_THIRD: Final = re.compile(r"(?i)\bthird\b|\b3rd\b|第\s*[三3]")


def nth(context: Context) -> Verdict | None:
    """The stage, its time and share of the step, the last one by default; ``None`` where the log holds too few."""
    slot, run = context.query.steps, context.run
    steps = context.train_steps or list(run.distinct_steps)
    at = slot.values[0] if slot.kind == "single" else steps[0] if slot.kind == "first" else steps[-1]
    found = timed(context, at) if at in run.distinct_steps else None
    place = 2 if _THIRD.search(normalised(context.query.wording or context.query.text)) else 1
    if found is None or len(found.shares) <= place:
        return None
    share, name = found.shares[place], str(found.shares[place].name)
    spent = context.value(name, found.step)
    if spent is None:
        return None
    before = context.join(key(str(one.name)) for one in found.shares[:place])
    text = context.say(
        "nth_stage.third" if place > 1 else "nth_stage.second", step=found.step, stage=key(name), v=spent, share=share,
        before=before,
    )  # fmt: skip
    context.doc.paragraph(f"**{text}**")
    context.metrics.extend([name, str(found.shares[0].name)])
    context.cite(context.card(name))
    return Verdict("answered", unmark(text))


__all__ = ["nth"]
