"""How fast a run of any trainer went, from the times and rates that its log prints under whatever names.

For logs whose stages are not known: a step that was slow against the others (``It/sec``, ``time``), the largest of the
times printed (``sample_time_ms`` and ``grad_time_ms``), and what is left at the pace of the last steps.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.concepts import spelt_out
from assistant.ask.context import Context, key
from assistant.ask.part import shown
from assistant.ask.parts import number, timed, validation_time
from assistant.ask.wording import seamed
from assistant.model import Fact, Run, Verdict
from assistant.parsing.totals import ELAPSED_AT, LEFT, PACE, TOTAL
from assistant.write.document import unmark

#: Share of all the time from which that of validations belongs to the answer's first sentence.
NOTABLE: Final = 0.05
#: Two estimates of one time that differ by no more agree.
AGREES: Final = 1.2
#: Names, as they are spelt out, of a rate of steps, of any rate, of a time of a whole step, and of any time.
_STEPS_A_SECOND: Final = re.compile(
    r"^(?:train )?(?:it|iter|iters|iterations|steps) (?:per )?(?:s|sec|second)$|^train speed iter s$"
)
_RATE: Final = re.compile(
    r"\b(?:it|iter|iters|steps|tokens|tok|samples) (?:per )?(?:s|sec|second)\b|\b(?:fps|sps|tps|throughput)\b"
)
_STEP: Final = re.compile(
    r"^(?:time|step time|iter time|iteration time|time this iter s|time took|batch time|train speed s it"
    r"|(?:elapsed time per iteration|iter time|step time|iteration time)(?: ms| s)?|(?:timing )?total step time"
    r"|(?:s|secs?|seconds) (?:per )?(?:it|iter|iteration|step|batch)|per step time|step avg)$"
)
_TIME: Final = re.compile(r"\b(?:time|took|seconds|duration)\b")
#: Times that are no part of a step: since the beginning, still to come, an evaluation's.
_ASIDE: Final = re.compile(
    r"total|elapsed|since|remaining|eta|\bval\b|\beval\b|wall|stamp|timesteps|cumulative|episode"
)
_SLOW: Final = re.compile(
    r"(?i)慢|这么久|那么久|[用花]了.{0,8}秒|耗时.{0,6}[长久高]|\bslow|\bstall"
    r"|\b(?:took|takes?)\b.{0,12}(?:\d+(?:\.\d+)? ?(?:s|secs?|seconds?|mins?|minutes?|h|hours?)\b|so |long)|\bso long\b"
)
_OF_THE_RUN: Final = re.compile(
    r"(?i)\b(?:train\w*|speed|it|this|iterations?|steps?)\b.{0,24}\bslow\b|\bso slow\b"
    r"|\bspeed\b.{0,16}\b(?:normal|ok(?:ay)?|reasonable|fine)\b|\b(?:normal|reasonable)\b.{0,12}\bspeed\b"
    r"|(?<![a-z])(?:ms|s|secs?|seconds?|minutes?) ?(?:per|an?|/) ?(?:iter\w*|step|it)\b"
    r".{0,30}\b(?:normal|reasonable|ok(?:ay)?)\b"
    r"|速度.{0,6}(?:正常|慢|合理)|(?:训练|跑|更新).{0,6}慢"
)
_MORE_AND_MORE: Final = re.compile(r"(?i)越来越|越跑越|\bslower\b|变慢|慢下来|\bslow\w* down\b")
_WHICH: Final = re.compile(r"(?i)最慢|\bslowest\b|(?:哪|which).{0,12}(?:慢|slow)")
_UNIT: Final = re.compile(r"(?:^|[_( /])(ms|us|s|sec|seconds|min)\)?$")
#: From how many times as long a step counts as slow, and how many of the times of a step are told.
SLOWER, MOST = 1.2, 5
LEAST_OTHERS, LEAST_THIRDS = 2, 6
RECENT = 20
#: So many last lines are looked at for times by stage.
LINES = 5


#: A stage's part of a step, which its whole time does not tell.
_OF_A_PART = re.compile(r"(?i)占|比例|比重|\b(?:share|fraction|percent\w*|proportion)\b|\bhow much of\b")


def attempt(context: Context) -> Verdict | None:
    """Answers a question about a slow step of a log whose stages are not known; ``None`` for any other."""
    steps = context.train_steps or list(context.run.distinct_steps)
    said = seamed(context.query.wording or context.query.text)
    if not steps or any(timed(context, step) is not None for step in steps[: -LINES - 1 : -1]):
        return None  # the last lines may be cut before their timings
    found = (slow_step(context) or slowest(context)) if _SLOW.search(said) else None
    asked = _OF_THE_RUN.search(said) and not _MORE_AND_MORE.search(said)
    return found or (overall(context) if asked else None)


def of_a_part(context: Context) -> bool:
    """Whether a stage's part of a step is asked for, which the time of whole steps does not tell."""
    return _OF_A_PART.search(context.query.said) is not None


def overall(context: Context) -> Verdict | None:
    """How fast the run went, and whether it became slower; ``None`` where its log tells nothing of its speed.

    Whether that is fast for a model and a machine stands in no log.
    """
    whole = _of_whole_steps(context)
    if (
        whole is None
        or context.query.steps.kind not in {"none", "all", "last"}
        or _OF_A_PART.search(context.query.said)
    ):
        return None
    metric, is_rate = whole
    held = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None and _finite(f)]
    if len(held) == 1 and number(held[0]) > 0:
        text = context.say("pace.run_one", metric=metric, v=held[0])
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(context.say("pace.untold_run"))
        context.metrics.append(metric)
        context.settled = True
        context.query = replace(context.query, intent="bottleneck")
        return Verdict("answered", unmark(text), "low")
    if len(held) < LEAST_OTHERS or any(number(fact) <= 0 for fact in held):
        return None
    if any(note.code == "restart" for note in context.run.warnings):  # two stretches, or two logs: no course
        return _between(context, metric, held)
    usual = _median(context, metric, held, "all")
    size = len(held) // 3
    early, late = (
        (_median(context, metric, held[:size], "first third"), _median(context, metric, held[-size:], "last third"))
        if len(held) >= LEAST_THIRDS
        else (held[0], held[-1])
    )
    ratio = number(early) / number(late) if is_rate else number(late) / number(early)
    slower = ratio >= 1
    factor = context.ledger.derived(
        "times as slow at the end", ratio if slower else 1 / ratio, inputs=[early, late], formula="late against early"
    )
    phrase = "even" if max(ratio, 1 / ratio) < SLOWER else "slower" if slower else "faster"
    fields = {"usual": usual, "early": early, "late": late}
    told = {name: shown(context, fact, metric) for name, fact in fields.items()}
    count = context.ledger.count("values of the speed", len(held), metric=metric)
    text = context.say(f"pace.run_{phrase}", metric=metric, times=factor, n=count, **told)
    aside, part = validation_time(context)
    large, gap = part >= NOTABLE, "" if context.language == "zh" else " "
    context.doc.paragraph(f"**{text}{gap}{aside}**" if large else f"**{text}**")
    context.doc.paragraph("" if large else aside, context.say("pace.untold_beside" if aside else "pace.untold_run"))
    context.metrics.append(metric)
    context.cite(context.card(metric))
    context.settled = True
    context.query = replace(context.query, intent="bottleneck")
    return Verdict("answered", unmark(text), "medium")


def _between(context: Context, metric: str, held: list[Fact]) -> Verdict:
    """The slowest and the fastest of a text whose steps go back."""
    low, high = min(held, key=number), max(held, key=number)
    ratio = context.ledger.derived(
        "highest / lowest", number(high) / number(low), inputs=[high, low], formula="highest / lowest"
    )
    count = context.ledger.count("values of the speed", len(held), metric=metric)
    text = context.say("pace.run_between", metric=metric, low=low, high=high, n=count, ratio=ratio)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("pace.untold_run"))
    context.metrics.append(metric)
    context.settled = True
    context.query = replace(context.query, intent="bottleneck")
    return Verdict("answered", unmark(text), "medium")


def _median(context: Context, metric: str, held: list[Fact], part: str) -> Fact:
    return context.ledger.derived(
        f"median({metric}), {part}", median(number(f) for f in held), inputs=held, formula=f"median of {metric}"
    )


def slow_step(context: Context) -> Verdict | None:
    """Why one step took so long: how much slower it was, and which of the times printed carry it.

    Returns:
        The verdict; ``None`` where the question is about no such step, or the log tells nothing of its speed.
    """
    query = context.query
    if query.steps.kind != "single" or not _SLOW.search(seamed(context.query.wording or context.query.text)):
        return None
    step = query.steps.values[0]
    whole = _of_whole_steps(context)
    if whole is None:
        return None
    metric, is_rate = whole
    here = context.value(metric, step)
    others = [f for s in context.run.series(metric)[0] if s != step and (f := context.value(metric, s)) is not None]
    others = [f for f in others if _finite(f)]
    if here is None or not _finite(here) or len(others) < LEAST_OTHERS:
        return None
    usual = context.ledger.derived(
        f"median({metric}) of the other steps", median(number(f) for f in others), inputs=others, step=step,
        formula=f"median of {metric} at the other steps",
    )  # fmt: skip
    times = number(usual) / number(here) if is_rate else number(here) / number(usual)
    factor = context.ledger.derived(
        f"times as slow at {step}", times, inputs=[here, usual], step=step,
        formula="usual / here" if is_rate else "here / usual",
    )  # fmt: skip
    slow = times >= SLOWER
    part = _largest_part(context, metric, step) if not is_rate else None
    phrase = "pace.slow" if slow else "pace.not_slow"
    text = context.say(phrase, metric=metric, v=here, usual=shown(context, usual, metric), times=factor, step=step)
    if part is not None:
        gap = "" if context.language == "zh" else " "
        text += gap + context.say("pace.part", part=part[0], share=part[1], metric=str(part[0].metric))
    context.doc.paragraph(f"**{text}**")
    moved = _moved_with(context, metric, step)
    if moved:
        context.doc.bullets(moved)
    if slow:
        context.doc.paragraph(context.say("pace.waiting" if part is not None and _is_data(part[0]) else "pace.untold"))
    context.metrics.append(metric)
    context.cite(context.card(metric))
    return Verdict("answered", unmark(text), "medium")


#: Timers of what is no part of a step.
_OUTSIDE = re.compile(r"setup|checkpoint|eval|interval|elapsed|iteration")


def slowest(context: Context) -> Verdict | None:
    """Which step was slowest; ``None`` where that is not asked, or the log tells nothing of its speed."""
    if not _WHICH.search(seamed(context.query.wording or context.query.text)) or context.query.steps.kind == "single":
        return None
    whole = _of_whole_steps(context)
    if whole is None:
        return None
    metric, is_rate = whole
    held = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None and _finite(f)]
    if len(held) < LEAST_OTHERS:
        return None
    worst = (min if is_rate else max)(held, key=number)
    usual = context.ledger.derived(
        f"median({metric})", median(number(f) for f in held), inputs=held, formula=f"median of {metric}"
    )
    text = context.say("pace.slowest", metric=metric, v=worst, usual=shown(context, usual, metric))
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.query = replace(context.query, intent="lookup")  # a step is asked for, and no stage of one
    return Verdict("answered", unmark(text), "medium")


def _whole_of_parts(context: Context) -> str | None:
    """The time of a whole step among parts that are logged in one group with it: ``time/step`` of ``time/…``."""
    held = set(context.run.metrics)
    groups = {name.rpartition("/")[0] for name in held if name.startswith(("time/", "timing/"))}
    return next((f"{group}/step" for group in sorted(groups) if f"{group}/step" in held), None)


def has_parts(context: Context) -> bool:
    """Whether the time of a step is logged in one group with the times of its parts."""
    whole = _whole_of_parts(context)
    group = "" if whole is None else whole.rpartition("/")[0]
    return whole is not None and sum(name.startswith(f"{group}/") for name in context.run.metrics) > 2


def _share_of_step(context: Context, largest: Fact) -> str:
    whole = _whole_of_parts(context)
    fact = None if whole is None or largest.step is None else context.value(whole, largest.step)
    if fact is None or not 0 < number(largest) < number(fact):
        return ""
    share = context.ledger.derived(
        f"{largest.metric} / {whole}", number(largest) / number(fact), inputs=[largest, fact], formula="part / step",
        step=largest.step,
    )  # fmt: skip
    return context.say("pace.largest_share", share=context.doc.show(share, None, "fraction"), v=fact)


def largest_times(context: Context, step: int) -> Verdict | None:
    """The times that a step prints, the largest first; ``None`` where it prints fewer than two of one unit."""
    groups: dict[str, list[Fact]] = {}
    whole = _whole_of_parts(context)
    for metric in context.run.metrics:
        if metric == whole:
            continue
        name = spelt_out(metric)
        timer = _is_timer(context, metric)
        if not (timer or _TIME.search(name)) or _ASIDE.search(name) or _STEP.match(name):
            continue
        at = run_steps[-1] if timer and step not in (run_steps := context.run.series(metric)[0]) else step
        fact = context.value(metric, at)
        if fact is not None and _finite(fact):
            unit = _UNIT.search(metric)
            groups.setdefault("timer" if timer else unit[1] if unit is not None else "", []).append(fact)
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        return None
    ranked = sorted(best, key=number, reverse=True)
    text = context.say(
        "pace.largest", v=ranked[0], metric=str(ranked[0].metric), next=ranked[1], other=str(ranked[1].metric)
    )
    share = _share_of_step(context, ranked[0])
    text = f"{text}{'' if context.language == 'zh' or not share else ' '}{share}"
    context.doc.paragraph(f"**{text}**")
    rows = [[key(str(fact.metric)), context.doc.show(fact)] for fact in ranked[:MOST]]
    context.doc.table([context.say("head.metric"), context.say("head.value")], rows)
    card = context.card(str(ranked[0].metric)) if "timer" in groups and best is groups["timer"] else None
    if card is not None:  # timers nest
        context.doc.paragraph(context.quote(card, "not"))
    context.metrics.extend(str(fact.metric) for fact in ranked[:2])
    return Verdict("answered", unmark(text), "medium")


def _is_timer(context: Context, metric: str) -> bool:
    """Whether a key is one phase's timer in milliseconds, by its card and not by its name."""
    card = context.card(metric)
    if card is None or card.category != "timing" or card.kind != "milliseconds" or _OUTSIDE.search(metric):
        return False
    return bool(context.run.series(metric)[0]) and len(card.keys) > 1


def left_at_rate(context: Context, total: int, *, stated: bool) -> str | None:
    """What the steps left take at the rate of the last steps; writes it. ``None`` where the log holds no rate."""
    metric = next((m for m in context.run.metrics if _STEPS_A_SECOND.match(spelt_out(m))), None)
    if metric is None:
        return _left_at_time(context, total, stated=stated) or _left_by_bar(context, total, stated=stated)
    last = max(context.run.distinct_steps)
    steps = context.run.series(metric)[0][-RECENT:]
    held = [f for s in steps if (f := context.value(metric, s)) is not None and _finite(f) and number(f) > 0]
    if not held:
        return None
    ledger, source = context.ledger, "question" if stated else "log"
    whole = ledger.constant("total_steps", total, f"the {source}")
    left = ledger.derived("steps_left", total - last, inputs=[whole], formula=f"total_steps − {last}")
    rate = ledger.derived(
        "recent_rate", len(held) / math.fsum(1 / number(f) for f in held), inputs=held,
        formula=f"harmonic mean of {metric} over its last values",
    )  # fmt: skip
    taken = ledger.derived(
        "seconds_left_at_this_rate", (total - last) / number(rate), unit="s", inputs=[rate, left],
        formula="steps_left / recent_rate",
    )  # fmt: skip
    count = ledger.count("recent rates", len(held))
    text = context.say("pace.left", metric=metric, rate=rate, left=left, total=whole, last=last, v=taken, n=count)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("pace.left_note"))
    context.metrics.append(metric)
    return text


def whole_step_time(run: Run) -> str | None:
    """The metric of a whole step's time in whatever unit; ``None`` for none."""
    return whole_step_seconds(run) or next((m for m in run.metrics if _STEP.match(spelt_out(m))), None)


def whole_step_seconds(run: Run) -> str | None:
    """The metric of a whole step's seconds, under whatever name; ``None`` for none, or for one in milliseconds."""
    known = next((name for name in STEP_TIMES if name in run.columns), None)
    others = (m for m in run.metrics if _STEP.match(spelt_out(m)) and m.lower().endswith(("time", "_s", "(s)")))
    return known or next(others, None)


def _left_at_time(context: Context, total: int, *, stated: bool) -> str | None:
    """As :func:`left_at_rate`, from the milliseconds of a step; ``None`` where the log prints none."""
    metric = next((m for m in context.run.metrics if _STEP.match(spelt_out(m)) and _UNIT.search(m)), None)
    unit = {"ms": 1e-3, "s": 1.0}.get(_UNIT.search(metric)[1]) if metric is not None else None  # type: ignore[index]
    if metric is None or unit is None:
        return None
    last = max(context.run.distinct_steps)
    steps = context.run.series(metric)[0][-RECENT:]
    held = [f for s in steps if (f := context.value(metric, s)) is not None and _finite(f)]
    if not held:
        return None
    ledger, source = context.ledger, "question" if stated else "log"
    whole = ledger.constant("total_steps", total, f"the {source}")
    left = ledger.derived("steps_left", total - last, inputs=[whole], formula=f"total_steps − {last}")
    mean = ledger.derived(
        "mean_step_time", unit * math.fsum(number(f) for f in held) / len(held), unit="s", inputs=held,
        formula=f"mean of {metric} over its last values, in seconds",
    )  # fmt: skip
    taken = ledger.derived(
        "seconds_left_at_this_pace", (total - last) * number(mean), unit="s", inputs=[mean, left],
        formula="steps_left × mean_step_time",
    )  # fmt: skip
    count = ledger.count("recent step times", len(held))
    text = context.say("eta.pace_only", n=count, mean=mean, left=left, total=whole, last=last, v=taken)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("pace.left_note"))
    context.metrics.append(metric)
    return text


def _left_by_bar(context: Context, total: int, *, stated: bool) -> str | None:
    """What the steps left take at the pace that a progress bar shows; writes it. ``None`` where no bar shows one."""
    shown = context.run.extras.get(PACE)
    if shown is None:
        return _left_printed(context, total)
    ledger, source, last = context.ledger, "question" if stated else "log", max(context.run.distinct_steps)
    at = context.run.extras.get(ELAPSED_AT)
    if at is not None and last < at[0] < total:  # the bar goes on where rows are logged every so many steps
        last = int(at[0])
    whole = ledger.constant("total_steps", total, f"the {source}")
    left = ledger.derived("steps_left", total - last, inputs=[whole], formula=f"total_steps − {last}")
    reached = ledger.constant("step of the bar", last, "the progress bar")
    pace = ledger.constant("seconds_per_step", shown[0], "the progress bar", unit="s")
    taken = ledger.derived(
        "seconds_left_at_this_pace", number(pace) * (total - last), unit="s", inputs=[pace, left],
        formula="seconds_per_step × steps_left",
    )  # fmt: skip
    text = context.say("pace.bar", v=taken, pace=pace, left=left, total=whole, last=reached)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("pace.left_note"))
    return text


def printed_left(context: Context) -> Fact | None:
    """The seconds that the trainer itself prints to be left at the last row; ``None`` where it prints none."""
    printed = context.run.extras.get(LEFT)
    return None if printed is None else context.ledger.constant("seconds_left", printed[0], "the log", unit="s")


def projected(context: Context, metric: str, total: int) -> float:
    """The seconds that the steps left take at the mean of the last step times."""
    values = [value for value in context.run.series(metric)[1][-RECENT:] if math.isfinite(value)]
    return (total - max(context.run.distinct_steps)) * math.fsum(values) / len(values) if values else 0.0


def beside_printed(context: Context, projected: float) -> str:
    """Whether what the trainer prints to be left agrees with the step times; empty where it prints nothing."""
    printed = printed_left(context)
    if printed is None or number(printed) <= 0 or projected <= 0:
        return ""
    agrees = max(number(printed) / projected, projected / number(printed)) <= AGREES
    return context.say("eta.agrees" if agrees else "eta.differs", v=printed, last=max(context.run.distinct_steps))


def _left_printed(context: Context, total: int) -> str | None:
    """The time left as the trainer itself prints it beside the last row; ``None`` where it prints none."""
    printed, last = context.run.extras.get(LEFT), max(context.run.distinct_steps)
    if printed is None or total != context.run.extras[TOTAL][0]:
        return None
    ledger = context.ledger
    whole = ledger.constant("total_steps", total, "the log")
    left = ledger.derived("steps_left", total - last, inputs=[whole], formula=f"total_steps − {last}")
    taken = ledger.constant("seconds_left", printed[0], "the log's remaining_time", unit="s")
    text = context.say("pace.printed", v=taken, left=left, total=whole, last=last)
    context.doc.paragraph(f"**{text}**")
    return text


def _of_whole_steps(context: Context) -> tuple[str, bool] | None:
    """The metric that tells how long steps took, and whether it is a rate."""
    names = {metric: spelt_out(metric) for metric in context.run.metrics}
    times = [m for m, name in names.items() if m in STEP_TIMES or _STEP.match(name)]
    if times:
        return times[0], False
    for pattern in (_STEPS_A_SECOND, _RATE):
        for metric, name in names.items():
            if pattern.search(name) and not _ASIDE.search(name):
                return metric, True
    return None


def _largest_part(context: Context, metric: str, step: int) -> tuple[Fact, Fact] | None:
    """The largest of the other times of a step, where it is part of the whole and half of it at least."""
    whole = context.value(metric, step)
    parts = [
        fact for m in context.run.metrics
        if m != metric and _TIME.search(spelt_out(m)) and not _ASIDE.search(spelt_out(m))
        and (fact := context.value(m, step)) is not None and _finite(fact)
    ]  # fmt: skip
    if whole is None or not parts:
        return None
    part = max(parts, key=number)
    if not 0.5 * number(whole) <= number(part) <= number(whole):
        return None
    share = context.ledger.share(str(part.metric), metric, step, number(part) / number(whole), inputs=[part, whole])
    return part, share


def _moved_with(context: Context, metric: str, step: int) -> list[str]:
    """Other rates at the step, against their usual."""
    lines = []
    for other in context.run.metrics:
        if other == metric or not _RATE.search(spelt_out(other)):
            continue
        here = context.value(other, step)
        rest = [f for s in context.run.series(other)[0] if s != step and (f := context.value(other, s)) is not None]
        rest = [f for f in rest if _finite(f)]
        if here is None or not _finite(here) or len(rest) < LEAST_OTHERS:
            continue
        usual = context.ledger.derived(
            f"median({other}) of the other steps", median(number(f) for f in rest), inputs=rest, step=step,
            formula=f"median of {other} at the other steps",
        )  # fmt: skip
        lines.append(context.say("pace.beside", metric=other, v=here, usual=shown(context, usual, other)))
    return lines[:2]


def _is_data(fact: Fact) -> bool:
    return "data" in str(fact.metric).lower()


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)
