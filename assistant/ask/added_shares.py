"""Which shares of stages may be added: what lies beside the steps is a part of all the time, what overlaps of none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assistant.analysis.outside import outside_keys
from assistant.analysis.timing import inside_step, layout_of
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.ask.stages import Timed, finite
from assistant.model import Fact, Run, Verdict
from assistant.write.document import unmark

#: Shares whose sum exceeds the whole by more than rounding are of stages that run at the same time.
_WHOLE = 1.005


def lies_outside(run: Run, stage: str) -> bool:
    """Whether a time is spent beside the steps: where the log shows it, or does not show that it is part of them."""
    layout = layout_of(run)
    sometimes = () if layout is None else tuple(layout.sometimes)
    return stage in outside_keys(run) or (stage in sometimes and inside_step(run, stage) is not True)


def overlapping(context: Context, stages: Sequence[str], shares: Sequence[Fact]) -> str:
    """Why the shares of some stages do not add up, in a sentence; empty where they may be added."""
    single = [stage for stage in stages if "/agent_loop/" in stage]
    if single:
        return context.say("stages.of_one_trajectory", names=context.join(map(key, single)))
    beside = [stage for stage in stages if lies_outside(context.run, stage)]
    if beside:
        return context.say("stages.beside", names=context.join(map(key, beside)))
    return context.say("stages.overlap") if math.fsum(map(number, shares)) > _WHOLE else ""


def of_all_time(context: Context, stages: Sequence[str], timed: Timed) -> Verdict | None:
    """The parts that some stages take of all the time that the log holds, those beside the steps counted in it."""
    run = context.run
    beside = list(dict.fromkeys([*outside_keys(run), *(one for one in stages if lies_outside(run, one))]))
    more = [fact for name in beside for step in run.series(name)[0] if (fact := finite(context, name, step))]
    whole = list(timed.totals.values())
    total = context.ledger.derived(
        "all the time", math.fsum(map(number, [*whole, *more])), inputs=[*whole, *more], unit="s",
        formula=" + ".join(f"Σ {name}" for name in (timed.whole or "stages", *beside)),
    )  # fmt: skip
    parts, items, rows = list[Fact](), list[str](), list[list[str]]()
    for stage in stages:
        spent = [fact for step in run.series(stage)[0] if (fact := finite(context, stage, step)) is not None]
        if not spent or not number(total):
            return None
        own = context.ledger.derived(
            f"total of {stage}", math.fsum(map(number, spent)), inputs=spent, unit="s", formula=f"Σ {stage}"
        )
        part = context.ledger.derived(
            f"share of all of {stage}", number(own) / number(total), inputs=[own, total], unit="fraction",
            formula=f"Σ {stage} / all the time",
        )  # fmt: skip
        parts.append(part)
        items.append(context.say("stages.item", stage=key(stage), share=part))
        rows.append([key(stage), context.doc.show(own, None, "seconds"), context.doc.show(part)])
        context.metrics.append(stage)
        context.cite(context.card(stage))
    together = context.ledger.derived(
        "shares together", math.fsum(map(number, parts)), inputs=parts, formula="sum of the shares", unit="fraction"
    )
    apart = "" if not any("/agent_loop/" in stage for stage in stages) else overlapping(context, stages, parts)
    fields = {
        "items": context.join(items), "names": context.join(map(key, beside)),
        "total": context.doc.show(total, None, "seconds"),
    }  # fmt: skip
    if apart:
        said = context.say("stages.of_all_apart", **fields)
    else:
        said = context.say("stages.of_all", together=together, **fields)
    context.doc.paragraph(f"**{said}**")
    context.doc.table([context.say(f"head.{name}") for name in ("stage", "time", "share")], rows)
    if apart:
        context.doc.paragraph(apart)
    context.settled = True
    context.query = replace(context.query, intent="bottleneck", op=None, asked_op=None)
    return Verdict("answered", unmark(said))
