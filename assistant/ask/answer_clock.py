"""What a log tells of time beside its columns: the clock of a progress bar, a trainer's own total, a running clock.

How long a step took on average, how long the run took, and about how long it was until a step.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Final

from assistant.analysis.forecast import total_steps
from assistant.ask.concepts import spelt_out
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.parsing.totals import ELAPSED, ELAPSED_AT, PACE
from assistant.write.document import unmark

#: A clock that runs on from the start, as its name is spelt out.
SINCE_START: Final = re.compile(
    r"^(?:(?:train|time|timing) )?(?:time elapsed|elapsed time|elapsed|total time|wall(?: ?clock)?(?: time)?"
    r"|train(?:ing)? time)(?: (?P<unit>s|sec|seconds|ms|min|minutes|h|hours))?$"
)
_UNIT_OF: Final = {"time/time_elapsed": "s"}  # stable_baselines3/common/on_policy_algorithm.py
_UNIT_NAMED: Final = {"seconds": "s", "second": "s", "s": "s", "milliseconds": "ms", "ms": "ms"}
_IN_SECONDS: Final = {
    "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0,
}  # fmt: skip
#: A bar's clock counts for a run whose last step it nearly reached; its mean and its pace are about the same, unless
#: the bar began with steps done before.
_NEARLY, _APART = 0.9, 2.0


def running_clock(context: Context) -> tuple[str, float | None] | None:
    """The metric that counts the time on from the start, and the seconds of its unit (``None``: not told)."""
    for metric in context.run.metrics:
        match = SINCE_START.match(spelt_out(metric))
        if match is None:
            continue
        finite = [v for v in context.run.series(metric)[1] if math.isfinite(v)]
        back = sum(one > other for one, other in pairwise(finite))  # once: a clock that starts anew after the first
        if len(finite) < 2 or back > 1 or not finite[-1] == max(finite) > 0:
            continue
        card = context.card(metric)
        named = card.unit.split()[0].lower().strip(",;") if card is not None and card.unit else ""
        unit = match["unit"] or _UNIT_OF.get(metric) or _UNIT_NAMED.get(named)
        return metric, _IN_SECONDS.get(unit or "")
    return None


def in_seconds(context: Context, fact: Fact, unit: float | None) -> str:
    """A clock's value in seconds where its unit is known; else as logged."""
    if unit is None:
        return context.doc.show(fact)
    spent = context.ledger.derived(
        f"{fact.metric} in seconds", number(fact) * unit, inputs=[fact], unit="s", formula=f"{fact.metric} in seconds",
        step=fact.step,
    )  # fmt: skip
    return context.doc.show(spent, None, "seconds")


def _bar(context: Context) -> tuple[Fact, Fact] | None:
    """The time since the start that was printed last, and the step of it; ``None`` where that is not the run's end."""
    spent, at = (context.run.extras.get(name) for name in (ELAPSED, ELAPSED_AT))
    last = max(context.run.distinct_steps, default=0)
    if spent is None or at is None or at[0] < _NEARLY * last or not spent[0]:
        return None
    mean, pace = spent[0] / at[0], context.run.extras.get(PACE)
    if pace is not None and max(mean / pace[0], pace[0] / mean) > _APART:
        return None
    ledger = context.ledger
    return ledger.constant("seconds_elapsed", spent[0], "the log", unit="s"), ledger.constant("at", at[0], "the log")


def mean_step(context: Context) -> tuple[Fact, Fact, Fact] | None:
    """The seconds of a step on average, the total that the log prints, and its steps; ``None`` where it prints none."""
    run, ledger = context.run, context.ledger
    runtime, total = run.extras.get("train_runtime"), total_steps(run)
    last = max(run.distinct_steps, default=0)
    if runtime is not None and total is not None and last >= _NEARLY * total and run.step_axis != "index":
        spent = ledger.constant("train_runtime", runtime[0], "the log", unit="s")
        steps = ledger.constant("total_steps", total, "the log")
    elif (bar := _bar(context)) is not None:
        spent, steps = bar
    else:
        return None
    mean = ledger.derived(
        "mean_step_time", number(spent) / number(steps), inputs=[spent, steps], unit="s", formula="total time / steps"
    )
    return mean, spent, steps


def step_on_average(context: Context) -> Verdict | None:
    """How long a step took on average where no step is timed; ``None`` where the log prints no total."""
    told = mean_step(context)
    if told is None:
        return None
    mean, spent, steps = told
    context.names.add("train_runtime")
    whole = spent.name == "train_runtime"
    said = context.say("clock.step_runtime" if whole else "clock.step_elapsed", v=mean, total=spent, n=steps)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("clock.step_note"))
    return Verdict("answered", unmark(said), "medium")


def elapsed(context: Context) -> Verdict | None:
    """How long the run took by the clock that its trainer or its bar printed last; ``None`` where none was printed."""
    bar = _bar(context)
    if bar is None:
        return None
    said = context.say("clock.elapsed", v=bar[0], at=bar[1])
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("total.runtime_from"))
    return Verdict("answered", unmark(said), "medium")


def at_the_mean(context: Context, step: int) -> str:
    """About how long the run took to a step, by the mean of a total that the log prints; empty where it prints none."""
    if (told := mean_step(context)) is None:
        return ""
    spent = context.ledger.derived(
        f"time by {step} at the mean", number(told[0]) * step, inputs=[told[0]], unit="s",
        formula="mean step time × steps",
    )  # fmt: skip
    return context.say("clock.at_mean", v=spent, mean=told[0], step=step)
