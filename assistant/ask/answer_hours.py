"""Sums that a run cost or worked off: GPU hours, the samples that a trainer counts by its rate."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis import derive
from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.outside import outside_keys
from assistant.analysis.timing import layout_of, total_key
from assistant.ask import answer_other
from assistant.ask.answer_log import total_time
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

HOUR: Final = 3600.0


def gpu_hours(context: Context) -> Verdict | None:
    """GPUs × the step times logged; where the GPUs cannot be derived, that they cannot, and the total time."""
    layout = layout_of(context.run)
    metric = next((name for name in STEP_TIMES if name in context.run.columns), None)
    metric = metric or (None if layout is None else total_key(context.run, layout))
    times = [] if metric is None else _finite(context, metric)
    gpus = _gpus(context)
    if gpus is None or metric is None or not times:
        context.doc.paragraph(f"**{(text := context.say('hours.unknown'))}**")
        if times or "train_runtime" in context.run.extras:
            total_time(context)
            return Verdict("answered", unmark(text), "medium")
        return Verdict("no_data", unmark(text))
    spent = _sum(context, metric, times)
    hours = context.ledger.derived(
        "gpu_hours",
        number(gpus) * number(spent) / HOUR,
        inputs=[gpus, spent],
        unit="h",
        formula="n_gpus × Σ time / 3600",
    )
    count = context.ledger.count("steps timed", len(times))
    text = context.say(
        "hours.gpu", v=context.doc.show(hours, None, "number"), gpus=gpus, total=spent, n=count, metric=metric
    )
    context.doc.paragraph(f"**{text}**")
    lines = []
    beside = outside_keys(context.run)
    for name in beside:
        cells = _finite(context, name)
        if not cells:
            continue
        extra = _sum(context, name, cells)
        whole = context.ledger.derived(
            f"gpu_hours with {name}", number(gpus) * (number(spent) + number(extra)) / HOUR,
            inputs=[gpus, spent, extra],
            unit="h", formula=f"n_gpus × (Σ time + Σ {name}) / 3600",
        )  # fmt: skip
        many = context.ledger.count(f"times of {name}", len(cells))
        lines.append(
            context.say("hours.beside", metric=name, n=many, spent=extra, v=context.doc.show(whole, None, "number"))
        )
    saved = any("checkpoint" in name for name in beside)
    lines.append(context.say("total.leaves_out_saved" if saved else "total.leaves_out"))
    context.doc.bullets(lines)
    context.metrics.append(metric)
    return Verdict("answered", unmark(text))


def _finite(context: Context, metric: str) -> list[Fact]:
    """The values of a time that are seconds."""
    if metric not in context.run.columns:
        return []
    cells = [fact for step in context.run.series(metric)[0] if (fact := context.value(metric, step)) is not None]
    # ROLL's first row holds a total of zero: it tells the time of the step before.
    return [fact for fact in cells if isinstance(fact.value, (int, float)) and math.isfinite(fact.value) and fact.value]


def _sum(context: Context, metric: str, cells: Sequence[Fact]) -> Fact:
    return context.ledger.derived(
        f"total of {metric}", math.fsum(number(fact) for fact in cells), inputs=cells, unit="s", formula=f"Σ {metric}"
    )


def _gpus(context: Context) -> Fact | None:
    """The GPUs that the log implies, where all steps that show them agree."""
    steps = context.train_steps
    found = [fact for step in steps if (fact := derive(context.ledger, "n_gpus", step)) is not None]
    if not found and steps:
        kept = list(context.metrics)
        found = [fact for step in steps if (fact := answer_other.gpus_by_rates(context, step)) is not None]
        context.metrics[:] = kept
    return found[-1] if len({fact.value for fact in found}) == 1 else None


def by_rate(context: Context) -> Verdict | None:
    """Samples as a trainer's own rate × its own time, which its last line tells (HF Trainer)."""
    extras = context.run.extras
    if not {"train_samples_per_second", "train_runtime"} <= set(extras):
        return None
    rate, spent = (
        context.ledger.derived(name, float(extras[name][0]), inputs=[], unit=unit, formula=name)
        for name, unit in (("train_samples_per_second", "1/s"), ("train_runtime", "s"))
    )
    total = context.ledger.derived(
        "samples_processed", round(number(rate) * number(spent)), inputs=[rate, spent],
        formula="train_samples_per_second × train_runtime",
    )  # fmt: skip
    context.names.update({"train_samples_per_second", "train_runtime"})
    text = context.say("samples.by_rate", v=total, rate=context.doc.show(rate, None, "number"), spent=spent)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("samples.by_rate_note"))
    return Verdict("answered", unmark(text), "medium")


def sample_rate(context: Context) -> Verdict | None:
    """Samples a second as a trainer's last line tells them; ``None`` where the log holds such a rate step by step."""
    extras = context.run.extras
    if "train_samples_per_second" not in extras or "train_runtime" not in extras:
        return None
    rate, spent = (
        context.ledger.derived(name, float(extras[name][0]), inputs=[], unit=unit, formula=name)
        for name, unit in (("train_samples_per_second", "1/s"), ("train_runtime", "s"))
    )
    context.names.update({"train_samples_per_second", "train_runtime"})
    text = context.say("samples.rate", rate=context.doc.show(rate, None, "number"), spent=spent)
    context.doc.paragraph(f"**{text}**")
    return Verdict("answered", unmark(text))


def card(context: Context) -> Verdict | None:
    """That the log does not hold which cards these are, nor how large; and the memory that was used of them."""
    keys = [
        m for m in context.run.metrics if re.search(r"(?i)max_memory|cuda_mem|gpu.*mem", m) and "cpu" not in m.lower()
    ]
    text = context.say("hours.card")
    context.doc.paragraph(f"**{text}**")
    metric = next((m for m in keys if "reserved" in m), keys[0] if keys else None)
    cells = [] if metric is None else _finite(context, metric)
    if metric is not None and cells:
        high = max(cells, key=number)
        context.doc.paragraph(context.say("hours.card_used", metric=metric, v=high))
        context.metrics.append(metric)
    return Verdict("no_data", unmark(text))
