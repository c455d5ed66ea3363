"""How fast a run goes where its log times no step: by a rate, by the clock that runs through it, or by a bar."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Final

from assistant.ask import answer_pace
from assistant.ask.concepts import spelt_out
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.parsing.totals import PACE
from assistant.write.document import unmark

#: A clock that runs from the beginning on, as its name is spelt out.
_CLOCK: Final = re.compile(
    r"^(?:time )?time elapsed$|^elapsed(?: time)?$|^time total s$|^(?:total )?(?:wall ?)?time$|^walltime$"
)
#: So many times as slow in the second half of a clock is told.
_SLOWER: Final = 1.2
_FEWEST: Final = 3
_COUNTED: Final = frozenset({"step", "iteration", "timestep", "total_timesteps", "frame", "update", "batch"})


def any_speed(context: Context) -> Verdict | None:
    """The speed as the log lets it be known; ``None`` (nothing written) where nothing of it is in the log."""
    if answer_pace.of_a_part(context):
        return None
    return answer_pace.overall(context) or by_clock(context) or by_bar(context)


def by_clock(context: Context) -> Verdict | None:
    """Steps a second from a clock that runs through the log, and whether the second half was slower."""
    run, say, ledger = context.run, context.say, context.ledger
    if run.step_axis.lower().rpartition("/")[2] not in _COUNTED:
        return None
    for metric in run.metrics:
        if not _CLOCK.match(spelt_out(metric)):
            continue
        steps, values = run.series(metric)
        runs_on = all(one < other for one, other in pairwise(values)) and all(map(math.isfinite, values))
        if len(steps) < _FEWEST or not runs_on or any(one >= other for one, other in pairwise(steps)):
            continue
        ends = [fact for step in (steps[0], steps[-1]) if (fact := context.value(metric, step)) is not None]
        if len(ends) < 2:
            return None
        rate = _rate(context, metric, ends[0], ends[1], "steps_per_second")
        text = say("rates.clock", rate=rate, metric=metric, a=ends[0], b=ends[1])
        middle = context.value(metric, steps[len(steps) // 2])
        if middle is not None and len(steps) > _FEWEST:
            early = _rate(context, metric, ends[0], middle, "steps_per_second of the first half")
            late = _rate(context, metric, middle, ends[1], "steps_per_second of the second half")
            times = number(early) / number(late)
            told = "slower" if times >= _SLOWER else "faster" if times <= 1 / _SLOWER else "even"
            ledger.derived("times as slow in the second half", times, inputs=[early, late], formula="early / late")
            text += ("" if context.language == "zh" else " ") + say(f"rates.{told}", early=early, late=late)
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(say("pace.untold_run"))
        context.metrics.append(metric)
        return Verdict("answered", unmark(text), "medium")
    return None


def _rate(context: Context, metric: str, first: Fact, last: Fact, name: str) -> Fact:
    assert first.step is not None
    assert last.step is not None
    seconds = number(last) - number(first)
    return context.ledger.derived(
        f"{name} by {metric}", (last.step - first.step) / seconds, inputs=[first, last],
        formula=f"steps from {first.step} to {last.step} / seconds of {metric} between them",
    )  # fmt: skip


def by_bar(context: Context) -> Verdict | None:
    """The seconds of a step that a progress bar shows."""
    shown = context.run.extras.get(PACE)
    if shown is None:
        return None
    pace = context.ledger.constant("seconds_per_step", shown[0], "the progress bar", unit="s")
    text = context.say("rates.bar", pace=pace)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("pace.untold_run"))
    return Verdict("answered", unmark(text), "medium")
