"""How long each of several runs took: "哪个训得更久" is answered for every run, by the step times that it logged."""

from __future__ import annotations

import math

from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.answer_runs import MOST_RUNS, about
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.model import Fact, Run, Verdict
from assistant.write.document import unmark


def totals(context: Context) -> Verdict | None:
    """The sum of the step times of each run, longest first; ``None`` where fewer than two log any."""
    held = [(run, total, count) for run in context.runs[:MOST_RUNS] for total, count in _total(context, run)]
    if len(held) < 2:
        return None
    held.sort(key=lambda one: -number(one[1]))
    top, low = held[0], held[-1]
    text = context.say("by_run.total", best=key(top[0].name), top=top[1], least=key(low[0].name), low=low[1])
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets([context.say("by_run.total_one", name=key(run.name), v=v, n=n) for run, v, n in held])
    context.doc.paragraph(context.say("total.leaves_out"))
    alone = context.say("note.other_runs", n=str(len(context.runs)), name=context.runs[0].name)
    context.warnings = [warning for warning in context.warnings if warning != alone]
    return Verdict("answered", unmark(text))


def _total(context: Context, run: Run) -> list[tuple[Fact, Fact]]:
    one = about(context, run)
    metric = next((name for name in STEP_TIMES if name in run.columns), None)
    steps = [] if metric is None else run.series(metric)[0]
    times = [f for s in steps if (f := one.value(str(metric), s)) is not None and math.isfinite(number(f))]
    if not times:
        return []
    context.metrics.append(str(metric))
    total = context.ledger.derived(
        "total_step_time", math.fsum(map(number, times)), inputs=times, unit="s", formula=f"Σ {metric}", run=run
    )
    count = context.ledger.add(
        ("count", run.id, "steps timed"), kind="derived", run=run.id, name="steps timed", value=len(times),
        formula="count of steps timed", inputs=(),
    )  # fmt: skip
    return [(total, count)]
