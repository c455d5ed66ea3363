"""Questions about the log itself: is it whole, was the run restarted, how long did it take, where did trouble begin."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mode
from typing import Final

from assistant.analysis.checks import covered
from assistant.analysis.diagnosis import role
from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.outside import outside_keys
from assistant.analysis.timing import layout_of, stage_keys
from assistant.ask import answer_clock
from assistant.ask.answer_clock import in_seconds, running_clock
from assistant.ask.answer_share import of_named_stage
from assistant.ask.breakdowns import breakdown_in
from assistant.ask.context import Context, key
from assistant.ask.cut_away import lost_in_a_cut
from assistant.ask.departures import all_checks, began
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import headlines, missing_row, note, number
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Rows named one by one, and metrics named as examples.
MOST_ROWS, MOST_NAMES, MOST_RESTARTS = 12, 4, 5
#: "Is it broken?" asked of a restart.
_WORRIED = re.compile(
    r"(?i)坏|正常|问题|要紧|没事|异常|\bbroken|\bnormal|\bok\b|okay|\bfine\b|\bwrong|problem|worr|\bbad\b|\bharm|\bbreak|\bbroke|\bruin|\bmess|\bhurt|damag|\baffect|\bimpact|corrupt|影响|受损|伤|出事|事儿?[吗么]"
)
_JUDGES = re.compile(r"(?i)loss|acc|score|reward|ppl|bpb")
#: Metrics of a held-out set, however a framework spells them.
_HELD_OUT = re.compile(r"(?i)(?:val|valid|validation|eval|test)(?:[-_/ ]|$)")


# -- is the log whole --------------------------------------------------------------------------------------------------
def missing_there(context: Context) -> Verdict | None:
    """Which rows were cut, where a question wonders at values that are not there; ``None`` where none was cut."""
    return gaps(context) if context.run.missing else None


def gaps(context: Context) -> Verdict:
    """Which rows were cut and what they lack; where none was, that every row is whole."""
    run, say, doc = context.run, context.say, context.doc
    lost = sorted({gap.step for gap in run.missing})
    steps = context.ledger.count("steps of the log", len(run.distinct_steps))
    metrics = context.ledger.count("metrics in the log", len(run.metrics))
    jumps = skipped(run.distinct_steps) if run.step_axis != "index" else []
    leaps = context.join(
        say("gaps.jump", before=a, after=b, k=context.ledger.count(f"steps between {a} and {b}", b - a - 1))
        for a, b in jumps[:MOST_ROWS]
    )
    if not lost:
        name = "gaps.skipped" if jumps else "gaps.none"
        ends = {"first": run.distinct_steps[0], "last": run.distinct_steps[-1]}
        text = say(name, n=steps, metrics=metrics, **ends, **({"jumps": leaps} if jumps else {}))
        doc.paragraph(f"**{text}**")
        doc.bullets([*([say("gaps.skipped_why")] if jumps else []), *_unevenly_logged(context)])
        return Verdict("answered", unmark(text))
    names = list(dict.fromkeys(gap.metric for gap in run.missing if gap.metric))
    held = [name for name in names if name in run.columns]
    first = next((gap for gap in run.missing if gap.limit), run.missing[0])
    cut = missing_row(context, first.step)
    count = context.ledger.count("steps cut", len(lost))
    text = say(
        "gaps.cut" if first.limit else "gaps.half", n=count, of=steps, cut=cut,
        steps=_listed(context, lost),
    )  # fmt: skip
    doc.paragraph(f"**{text}**")
    lines = []
    if names:
        many = context.ledger.count("metrics that lack values", len(names))
        shown = context.join(key(name) for name in (held or names)[:MOST_NAMES])
        lines.append(say("gaps.metrics", n=many, names=shown))
    whole = [name for name in names if name not in run.columns]
    if whole:
        lines.append(say("gaps.never", names=context.join(key(name) for name in whole[:MOST_NAMES])))
    elif not names:
        lines.append(say("gaps.unnamed"))
    lines.append(say("gaps.not_zero"))
    if jumps:
        lines.append(say("gaps.skipped_too", jumps=leaps))
    doc.bullets([*lines, *_unevenly_logged(context)])
    context.names.update(name for name in names if name not in run.columns)
    doc.paragraph(say("gaps.mend"))
    return Verdict("answered", unmark(text))


def skipped(steps: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring logged steps with more between them than usual; empty where the distances are of many sizes.

    Args:
        steps: ascending, each once.
    """
    apart = [b - a for a, b in pairwise(steps)]
    if len(apart) < 4:
        return []
    usual = mode(apart)
    found = [(a, b) for a, b in pairwise(steps) if b - a > usual]
    return found if apart.count(usual) >= 0.8 * len(apart) else []


def _listed(context: Context, steps: Sequence[int]) -> str:
    """Steps one by one; of many, the first and the last ones."""
    if len(steps) <= MOST_ROWS + MOST_NAMES:
        return context.doc.show(list(steps))
    return f"{context.doc.show(list(steps[:MOST_ROWS]))} … {context.doc.show(list(steps[-2:]))}"


def _unevenly_logged(context: Context) -> list[str]:
    """That validations stand at some steps alone, which is no gap."""
    if not context.validation_steps or len(context.validation_steps) >= len(context.run.distinct_steps):
        return []
    return [context.say("gaps.validations", steps=_listed(context, context.validation_steps))]


# -- restarts ----------------------------------------------------------------------------------------------------------
def restarts(context: Context) -> Verdict:
    """Where the step goes back, which steps are printed twice, and which of the two values counts."""
    run, say, doc = context.run, context.say, context.doc
    back = [
        (before, after, line)
        for (before, after), line in zip(pairwise(run.steps), run.row_lines[1:], strict=True)
        if after < before
    ]
    if not back:
        count = context.ledger.count("steps of the log", len(run.distinct_steps))
        text = say("restart.none", n=count, first=run.distinct_steps[0], last=run.distinct_steps[-1])
        doc.paragraph(f"**{text}**")
        return Verdict("answered", unmark(text))
    twice = sorted({step for step in run.steps if run.steps.count(step) > 1})
    counted = context.ledger.count("steps printed twice", len(twice))
    before, after, line = back[0]
    fact = _restart(context, after, line)
    text = say(
        "restart.one" if len(back) == 1 else "restart.many", at=fact, before=before, after=after,
        n=counted, steps=_span(context, twice), k=context.ledger.count("restarts", len(back)),
        yes=_so_many(context, len(back)),
    )  # fmt: skip
    doc.paragraph(f"**{text}**")
    further = [
        say("restart.further", at=_restart(context, b, place), before=a, after=b) for a, b, place in back[1:]
    ]  # fmt: skip
    doc.bullets(further[:MOST_RESTARTS])
    _both_values(context, twice)
    doc.bullets([say("restart.later"), say("restart.check")])
    if _WORRIED.search(context.query.said):
        context.query = replace(context.query, intent="health")
        return Verdict("warning", unmark(text), "medium")
    return Verdict("answered", unmark(text))


#: How many restarts a question takes for granted or asks about.
_TIMES: Final = re.compile(
    r"(?i)(?<![第上哪每头])(?P<zh>[一两二三四五六七八九十]|\d{1,3}) ?[次回](?!验证|评估|训练|之)"
    r"|\b(?P<once>once|twice|thrice)\b|\b(?P<en>one|two|three|four|five|six|\d{1,3}) (?:times?|restarts?)\b"
)
_NUMERALS: Final = {
    **{word: n for n, word in enumerate("一二三四五六七八九十", 1)}, "两": 2, "once": 1, "twice": 2, "thrice": 3,
    **{word: n for n, word in enumerate(("one", "two", "three", "four", "five", "six"), 1)},
}  # fmt: skip


def _so_many(context: Context, held: int) -> str:
    """How the sentence on restarts begins: yes, or that there were not as many as the question says."""
    match = _TIMES.search(context.query.said)
    word = "" if match is None else next(group for group in match.groups() if group).lower()
    asked = _NUMERALS.get(word) or (int(word) if word.isdecimal() else held)
    if asked == held:
        return context.say("restart.yes")
    fact = context.ledger.constant("restarts asked about", asked, "the question", "1")
    return context.say("restart.not_so_many", asked=fact)


def _restart(context: Context, step: int, line: int) -> Fact:
    return context.ledger.add(
        ("restart", context.run.id, line), kind="derived", run=context.run.id, name="restart", value=line, step=step,
        line=line, formula="line at which the step goes back", inputs=(),
    )  # fmt: skip


def _span(context: Context, steps: Sequence[int]) -> str:
    if len(steps) > 2 and steps[-1] - steps[0] == len(steps) - 1:
        return context.say("restart.span", first=steps[0], last=steps[-1])
    return _listed(context, steps)


def _both_values(context: Context, twice: Sequence[int]) -> None:
    """The step asked about (or the first and the last that stand twice) as it was printed each time."""
    slot = context.query.steps
    named = central(named_keys(context))
    if slot.kind == "single" and slot.values[0] in twice:
        wanted = [slot.values[0]]
    else:
        wanted = list(dict.fromkeys([twice[0], twice[-1]]))
    for step in wanted:
        _printed(context, step, (named or headlines(context, step))[:3])
    context.metrics.extend(named)


def _printed(context: Context, step: int, metrics: Sequence[str]) -> None:
    """Each printed value of some metrics at a step, as a table."""
    run, rows = context.run, []
    for metric in metrics:
        cells = [cell for cell in run.cells(metric) if cell.step == step]
        facts = [
            context.ledger.add(
                ("value-printed", run.id, metric, step, cell.line), kind="value", run=run.id, metric=metric, step=step,
                value=cell.value, line=cell.line,
            )
            for cell in cells
        ]  # fmt: skip
        rows += [[key(metric), context.say("restart.line", at=fact), context.doc.show(fact)] for fact in facts]
    if rows:
        context.doc.paragraph(context.say("restart.both", step=step))
        head = [context.say("head.metric"), context.say("restart.head_line"), context.say("head.value")]
        context.doc.table(head, rows)


# -- how often it is validated ----------------------------------------------------------------------------------------
def interval(context: Context) -> Verdict | None:
    """The steps with a validation, how many there are, and the interval between them where it is one.

    Returns:
        The verdict; ``None`` where the extreme of a metric is asked for ("which epoch's validation loss is lowest").
    """
    run, say, doc = context.run, context.say, context.doc
    if context.query.op in {"argmin", "argmax", "min", "max"}:
        return None
    steps = list(context.validation_steps)
    if not steps:
        found = role(run, "val_accuracy") or role(run, "held_out_loss")
        steps = [] if found is None else [int(step) for step in found.steps]
    if not steps:
        names = [name for name in run.metrics if _HELD_OUT.match(name)]
        held = {int(step) for name in names for step in run.series(name)[0]}
        told = any(_JUDGES.search(name) for name in names)  # "val/ratio" of each row is no validation
        steps = sorted(held) if told or len(held) < len(run.distinct_steps) else []
    if not steps:
        text = say("validation.none_at_all" if run.framework == "verl" else "validation.none_other")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    count = context.ledger.count("validations of the log", len(steps))
    gaps_between = [b - a for a, b in pairwise(steps)]
    usual = mode(gaps_between) if gaps_between else 0
    if usual and gaps_between.count(usual) * 2 > len(gaps_between):
        every = context.ledger.count("steps from one validation to the next", usual)
        text = say("interval.every", n=count, every=every, steps=_listed(context, steps))
    else:
        text = say("interval.uneven", n=count, steps=_listed(context, steps))
    doc.paragraph(f"**{text}**")
    return Verdict("answered", unmark(text))


# -- how long it took --------------------------------------------------------------------------------------------------
def total_time(context: Context) -> Verdict:
    """The sum of the step times logged; what they leave out is said."""
    run, say, doc = context.run, context.say, context.doc
    if (part := of_named_stage(context)) is not None:
        return part
    metric = next((name for name in STEP_TIMES if name in run.columns), None)
    metric = metric or next((name for name in run.columns if _SECONDS_OF_A_STEP.search(name)), None)
    slot = context.query.steps
    if "train_runtime" in run.extras and slot.kind != "range":
        return _runtime(context)
    if metric is None and run.framework == "verl" and (gone := lost_in_a_cut(context, STEP_TIMES[0])) is not None:
        return gone
    if metric is None:
        return _stage_totals(context)
    held = [f for s in run.series(metric)[0] if (f := context.value(metric, s)) is not None and _finite(f)]
    if slot.kind == "range":
        held = [f for f in held if slot.values[0] <= (f.step or 0) <= slot.values[1]]
    broken = None if slot.kind == "range" else breakdown_in(context, words_of(context))
    early = broken is not None and f"step {broken.step} 之前" in broken.text
    if broken is not None:
        held = [f for f in held if ((f.step or 0) < broken.step) is early]
    if not held:
        text = say("total.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    total = context.ledger.derived(
        "total_step_time", math.fsum(number(f) for f in held), inputs=held, unit="s", formula=f"Σ {metric}"
    )
    count = context.ledger.count("steps timed", len(held))
    mean = context.ledger.derived(
        "mean_step_time", number(total) / len(held), inputs=[total, count], unit="s", formula="total / steps"
    )
    text = say("total.time", metric=metric, n=count, v=total, mean=mean, first=held[0].step, last=held[-1].step)
    doc.paragraph(f"**{text}**")
    lines = []
    beside = outside_keys(run)
    for name in beside:
        cells = [f for s in run.series(name)[0] if (f := context.value(name, s)) is not None and _finite(f)]
        if slot.kind == "range":
            cells = [f for f in cells if slot.values[0] <= (f.step or 0) <= slot.values[1]]
        if broken is not None:
            cells = [f for f in cells if ((f.step or 0) < broken.step) is early]
        if cells:
            extra = context.ledger.derived(
                f"total of {name}", math.fsum(number(f) for f in cells), inputs=cells, unit="s", formula=f"Σ {name}"
            )
            many = context.ledger.count("times beside the steps", len(cells), metric=name)
            lines.append(say("total.outside", metric=name, v=extra, n=many))
    lost = len(context.train_steps) - len(held)
    if lost > 0 and slot.kind != "range" and broken is None:
        lines.append(say("total.lost", n=context.ledger.count("steps without a time", lost)))
    if sparse(held):
        lines.append(say("total.sparse"))
    saved = any("checkpoint" in name for name in beside)
    lines.append(say("total.leaves_out_saved" if saved else "total.leaves_out"))
    doc.bullets(lines)
    context.metrics.append(metric)
    context.cite(context.card(metric))
    return Verdict("answered", unmark(text))


def _runtime(context: Context) -> Verdict:
    """The trainer's own total, printed at its end: it counts from the last start."""
    value, _ = context.run.extras["train_runtime"]
    total = context.ledger.derived("train_runtime", float(value), inputs=[], unit="s", formula="train_runtime")
    text = context.say("total.runtime", v=total)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("total.runtime_from"))
    context.names.add("train_runtime")
    return Verdict("answered", unmark(text))


#: Keys that say themselves that they are the seconds of one step: "iter_time_s", "step_time (s)".
_SECONDS_OF_A_STEP = re.compile(r"(?i)^(?:train/)?(?:iter(?:ation)?|step)?_?time ?(?:_s|_sec|_seconds|\(s\))$")


def _since_start(context: Context) -> Verdict | None:
    """The last value of a time that counts on from the start; ``None`` where the log holds none."""
    clock = running_clock(context)
    last = None if clock is None else context.value(clock[0], context.run.series(clock[0])[0][-1])
    if clock is None or last is None:
        return None
    text = context.say("total.since_start", metric=clock[0], v=last, shown=in_seconds(context, last, clock[1]))
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(clock[0])
    return Verdict("answered", unmark(text), "medium")


def _stage_totals(context: Context) -> Verdict:
    """Where no step is timed, the sums of the stages that are: no less than that was spent in them."""
    run, say, doc = context.run, context.say, context.doc
    layout = layout_of(run)
    sums: list[tuple[str, Fact, int]] = []
    for stage in () if layout is None else stage_keys(run, layout):
        cells = [f for s in run.series(stage)[0] if (f := context.value(stage, s)) is not None and _finite(f)]
        if cells:
            spent = context.ledger.derived(
                f"total of {stage}", math.fsum(number(f) for f in cells), inputs=cells, unit="s", formula=f"Σ {stage}"
            )
            sums.append((stage, spent, len(cells)))
    if not sums and (told := _since_start(context) or answer_clock.elapsed(context)) is not None:
        return told
    if not sums:
        text = say("total.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    sums.sort(key=lambda one: -number(one[1]))
    total = context.ledger.derived(
        "total of the stages", math.fsum(number(spent) for _, spent, _ in sums), inputs=[spent for _, spent, _ in sums],
        unit="s", formula="Σ stages",
    )  # fmt: skip
    text = say("total.stages", v=total, first=run.distinct_steps[0], last=run.distinct_steps[-1])
    doc.paragraph(f"**{text}**")
    head = [say(f"total.column_{name}") for name in ("stage", "time", "n")]
    counts = [context.ledger.count(f"values of {stage}", many) for stage, _, many in sums]
    rows = [[key(stage), doc.show(spent), doc.show(n)] for (stage, spent, _), n in zip(sums, counts, strict=True)]
    doc.table(head, rows)
    doc.paragraph(say("total.stages_only"))
    context.metrics.extend(stage for stage, _, _ in sums)
    return Verdict("answered", unmark(text))


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)


def sparse(held: Sequence[Fact]) -> bool:
    """Whether only every n-th step is logged, so that the sum is not the run's."""
    steps = [fact.step or 0 for fact in held]
    return len(steps) > 2 and (steps[-1] - steps[0]) > 1.5 * (len(steps) - 1)


# -- where trouble began -----------------------------------------------------------------------------------------------
def onset(context: Context) -> Verdict:
    """The step from which each grave finding holds, earliest first; that there is none where no rule fires."""
    doc, say = context.doc, context.say
    steps = context.train_steps or list(context.run.distinct_steps)
    checks = all_checks(context)
    named = set(central(named_keys(context)))
    checks = [c for c in checks if set(c.metrics) & named] or checks if named else checks
    dated = [(began(context, c), c) for c in checks if c.severity in {"critical", "warning"}]
    starts = sorted(((step, c) for step, c in dated if step is not None), key=lambda pair: pair[0])
    grave = [c for _, c in starts] + [c for step, c in dated if step is None]
    findings = told(context, grave)
    enough = len(steps) >= 5 and covered(context.run)
    if not findings:
        count = context.ledger.count("training_steps", len(context.train_steps))
        text = say("onset.none", n=count)
        doc.paragraph(f"**{text}**")
        return Verdict("healthy" if enough else "insufficient_data", unmark(text), "medium")
    begins = [step for step, _ in starts]
    if begins:
        first = context.ledger.derived(
            "onset", begins[0], step=begins[0], inputs=[fact for _, fact in grave[0].facts],
            formula="first step of the finding",
        )  # fmt: skip
        text = note(context, first, say("onset.from", step=begins[0], first=findings[0].sentence))
    else:
        text = say("onset.gradual", first=findings[0].sentence)
    doc.paragraph(f"**{text}**")
    doc.bullets(
        [findings[0].line]
        + [
            say("onset.then", step=begins[place], first=one.whole(context.language))
            if place < len(begins)
            else say("onset.gradual", first=one.whole(context.language))
            for place, one in enumerate(findings[1:], 1)
        ]
    )
    touched = dict.fromkeys(metric for check in grave for metric in check.metrics)
    context.metrics.extend([metric for metric in touched if metric in named] or touched)
    worst = "critical" if any(c.severity == "critical" for c in grave) else "warning"
    return Verdict(worst, unmark(text), "medium")
