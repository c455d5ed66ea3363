"""Explain and health of one step, or of sets of values without steps; the whole run is :mod:`report`."""

from __future__ import annotations

import math

from assistant.analysis.checks import NOT_FINITE, RANK, Check, check_step, covered
from assistant.analysis.diagnosis import role
from assistant.ask import answer_validation, held_out_gap, outcomes
from assistant.ask.context import Context, key
from assistant.ask.departures import LEAPS, all_checks, began
from assistant.ask.detail import every_metric
from assistant.ask.findings import told
from assistant.ask.of_part import as_of
from assistant.ask.parts import (
    change_remarks,
    change_table,
    headlines,
    missing_lines,
    setup_lines,
    time_part,
)
from assistant.ask.schedules import is_schedule
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

ENOUGH_STEPS = 5
MAX_RECORDS = 4
#: A value so many times as large as at the step before is told, though nothing shows how much it moves as a rule.
LEAP, MOST_LEAPS = 3.0, 4
#: Sizes below which a value's factor says nothing: a KL to the old policy, a loss or a share about zero.
NEAR_ZERO = 1e-3
#: What a change to exactly zero counts for among the factors of other changes.
VANISHED = 100.0
#: Shown besides the main metrics when a step is to be analysed in detail.
MORE_CHANGES = (
    "response_length/max", "response_length/min", "prompt_length/mean", "actor/pg_clipfrac_lower", "timing_s/gen",
    "timing_s/update_actor", "timing_s/old_log_prob", "timing_s/agent_loop/generate_sequences/max",
    "timing_s/agent_loop/tool_calls/max", "global_seqlen/minmax_diff", "perf/mfu/actor", "perf/cpu_memory_used_gb",
)  # fmt: skip


#: So many steps after the one asked about a finding may set in: its first step is an estimate.
SOON = 2


def explain_step(context: Context, step: int) -> Verdict:
    """One step: what kind of run, the main numbers, changes since the step before, what stands out."""
    if step not in context.train_steps:
        return answer_validation.validation(context, step)
    doc, every = context.doc, context.query.depth == "every"
    checks = _checks_of(context, step)
    earlier = [s for s in context.train_steps if s < step]
    previous = earlier[-1] if earlier else None
    slot = len(doc.blocks)
    doc.blocks.append("")
    sentences = _findings(context, checks)
    doc.paragraph(_not_finite_here(context, step))
    lines = setup_lines(context, step)
    if lines:
        doc.heading("section.setup")
        doc.bullets(lines)
    changes: list[Fact] = []
    if previous is not None:
        doc.heading("section.changes", step=previous)
        extra = [m for m in MORE_CHANGES if context.query.depth == "detailed"]
        changes = change_table(context, [*headlines(context, step), *extra], previous, step)
        remarks = change_remarks(context, previous, step)
        if remarks:
            doc.bullets(remarks)
    if every:
        every_metric(context, step, validation=False)
        time_part(context, step)
    else:
        if previous is None:
            _main_table(context, step)
        _reward_line(context, step)
        time_part(context, step)
    if step in context.validation_steps:
        answer_validation.body(context, step)
    gaps(context, [step])
    next_part(context, bool(grave_of(checks)), step)
    grave = len(grave_of(checks))
    worth = sentences[grave] if len(sentences) > grave else ""
    before = [] if grave else _set_in_before(context, step)
    if before:
        said = context.say("explain.step_before", step=step, first=told(context, before[:1])[0].sentence)
        doc.blocks[slot] = f"**{said}**"
        context.metrics.extend(headlines(context, step)[:6])
        return verdict_of(context, before, said)
    summary = _step_summary(context, step, sentences[:grave], worth, changes)
    if not grave and previous is None and (apart := held_out_gap.sentence(context)):
        doc.blocks[slot] = f"**{apart}**"
        return Verdict("warning", unmark(apart), "medium")
    doc.blocks[slot] = f"**{summary}**"
    context.metrics.extend(headlines(context, step)[:6])
    return verdict_of(context, checks, summary)


def _set_in_before(context: Context, step: int) -> list[Check]:
    """Findings over the run that had set in by a step; one that sets in a few steps later is as good as there."""
    found = []
    for check in all_checks(context):
        start = began(context, check) if check.severity in {"critical", "warning"} else None
        if start is not None and start <= step + SOON:
            found.append(check)
    seen = {check.rule: check for check in as_of(context, step)} if found else {}
    return [seen.get(check.rule, check) for check in found]  # as the log stood then, where it showed by then


def _checks_of(context: Context, step: int) -> list[Check]:
    """What a step breaks, and what began at it: metrics that leave their range, failure modes with their onset here."""
    run_wide = {check.rule: check for check in all_checks(context) if check.rule == NOT_FINITE}
    checks = [run_wide.get(check.rule, check) for check in check_step(context.ledger, step)]  # where it began, not here
    checks = list({check.rule + "".join(check.metrics): check for check in checks}.values())
    said = {metric for check in checks for metric in check.metrics}
    for check in all_checks(context):
        begins = check.rule in LEAPS or (check.diagnosis is not None and check.diagnosis.onset == step)
        grave = check.severity in {"critical", "warning"} and step in {
            *check.steps[:1],
            getattr(check.diagnosis, "onset", None),
        }
        if begins and grave and not said & set(check.metrics):
            checks.append(check)
    return sorted(checks, key=lambda check: RANK[check.severity])


def _not_finite_here(context: Context, step: int) -> str:
    """Every metric that is no finite number at a step, where there are several."""
    found = [m for m, cell in context.run.at(step).items() if not math.isfinite(cell.value)]
    facts = [fact for metric in found if (fact := context.value(metric, step)) is not None]
    if len(facts) < 2:
        return ""
    return context.say(
        "nan.here", step=step, names=context.join(f"{key(str(f.metric))} {context.doc.show(f)}" for f in facts)
    )


def _step_summary(context: Context, step: int, grave: list[str], worth: str, changes: list[Fact]) -> str:
    """The first sentence on one step: the gravest finding, else what is worth a look, else what changed."""
    say = context.say
    if grave:
        count = context.ledger.count("findings", len(grave), step=step)
        return say("explain.step_flagged", step=step, count=count, first=grave[0])
    if worth:
        return say("explain.worth", step=step, first=worth)
    if changes:
        beyond = [change for change in changes if change.significant]
        leaps = [] if beyond else _leaps(context, changes)
        if leaps:
            return say("explain.step_leaps", a=changes[0].from_step, b=step, listed=context.join(leaps))
        names = context.join(f"`{c.metric}` {context.doc.show(c, 'delta')}" for c in beyond[:4])
        said = say("explain.said_some", names=names) if beyond else say("explain.said_none")
        return say("explain.step_changes", a=changes[0].from_step, b=step, said=said)
    if len(context.train_steps) >= ENOUGH_STEPS:
        return say("explain.step_healthy", step=step)
    return say("explain.step_clean", step=step, known=say("explain.known_one"))


def _leaps(context: Context, changes: list[Fact]) -> list[str]:
    """The changes that multiply a value, or take it to zero or off it, where the log is too short to know its noise."""
    found: list[tuple[float, str]] = []
    for change in changes:
        before, after = change.from_value, change.to_value
        if change.noise is not None or before is None or after is None or not before or before == after:
            continue
        if max(abs(before), abs(after)) < NEAR_ZERO and not is_schedule(change.metric or ""):
            continue  # between two values near zero no factor means anything
        factor = VANISHED if not after else max(abs(after / before), abs(before / after))
        ends = [context.value(change.metric or "", at) for at in (change.from_step, change.to_step) if at is not None]
        if factor >= LEAP and len(ends) == 2 and ends[0] is not None and ends[1] is not None:
            found.append((factor, context.say("explain.leap", metric=change.metric or "", a=ends[0], b=ends[1])))
    return [text for _, text in sorted(found, key=lambda one: -one[0])][:MOST_LEAPS]


def verdict_of(context: Context, checks: list[Check], summary: str) -> Verdict:
    """``critical`` or ``warning`` where a rule says so; ``healthy`` needs enough steps to be said."""
    worst = worst_of(checks)
    if worst in {"critical", "warning"}:
        return Verdict(worst, unmark(summary), "high" if worst == "critical" else "medium")
    known = len(context.train_steps) >= ENOUGH_STEPS and covered(context.run)
    code = "healthy" if known else "insufficient_data"
    return Verdict(code, unmark(summary), "medium")


def grave_of(checks: list[Check]) -> list[Check]:
    """Findings that call for attention (an ``info`` is only worth knowing)."""
    return [check for check in checks if check.severity in {"critical", "warning"}]


def worst_of(checks: list[Check]) -> str:
    """The gravest severity, ``ok`` without any."""
    severities = {check.severity for check in checks}
    return next((s for s in ("critical", "warning", "info") if s in severities), "ok")


def _findings(context: Context, checks: list[Check]) -> list[str]:
    sentences = [context.finding(check) for check in checks]
    if sentences:
        context.doc.heading("section.findings")
        context.doc.bullets(sentences)
    return sentences


def _main_table(context: Context, step: int, *, heading: bool = True) -> None:
    doc, say = context.doc, context.say
    rows = []
    for metric in headlines(context, step):
        fact = context.value(metric, step)
        card = context.card(metric)
        if fact is not None:
            short = context.short(card) if card else say("remark.no_card")
            rows.append([key(metric), doc.show(fact), short])
    if heading:
        doc.heading("section.signals")
    doc.table([say("head.metric"), say("head.value"), say("head.meaning")], rows)


def _reward_line(context: Context, step: int) -> None:
    stem = "critic/score/" if context.run.value("critic/score/mean", step) is not None else "critic/rewards/"
    facts = [context.value(stem + part, step) for part in ("mean", "min", "max")]
    if all(fact is not None for fact in facts):
        mean, low, high = facts
        context.doc.paragraph(context.say("explain.reward_line", reward=mean, low=low, high=high))


def gaps(context: Context, steps: list[int]) -> None:
    """What the log lacks at some steps, under a heading; nothing where it lacks nothing."""
    lines = missing_lines(context, steps)
    if lines:
        context.doc.heading("section.missing")
        context.doc.bullets(lines)


def next_part(context: Context, flagged: bool, step: int) -> None:
    """What to look at after a step: the next validation, more steps, and that nothing need be changed."""
    doc, say = context.doc, context.say
    doc.heading("section.next")
    lines = []
    baseline = answer_validation.main_accuracy(context)
    after = [s for s in context.validation_steps if s > step]
    if baseline is not None and after:
        value = context.value(baseline.metric or "", after[0])
        if value is not None:
            lines.append(say("explain.val_after", metric=baseline.metric or "", value=value))
    elif baseline is not None and len(context.validation_steps) > 1:
        if baseline.metric not in context.metrics:  # else it was told already
            lines.append(say("explain.val_last", metric=baseline.metric or "", value=baseline))
    elif baseline is not None:
        lines.append(say("explain.next_val", metric=baseline.metric or "", value=baseline))
    elif (other := role(context.run, "val_accuracy")) is not None and other.spelling.plain:
        value = context.value(other.metrics[0], int(other.steps[-1]))
        if value is not None and other.metrics[0] not in context.metrics:
            lines.append(say("explain.val_last", metric=other.metrics[0], value=value))
    elif context.run.framework == "verl":
        lines.append(say("explain.next_val_none", validate=context.setting("validate", "setting.named")))
    if len(context.train_steps) < ENOUGH_STEPS:
        lines.append(outcomes.trend_hint(context))
    if not flagged:
        lines.append(say("explain.no_change_needed" if covered(context.run) else "explain.not_covered"))
    doc.bullets(lines)


def explain_records(context: Context, records: list[int]) -> Verdict:
    """Sets of values without steps (a document's figures): each by itself, never compared as if in time."""
    doc, say = context.doc, context.say
    slot = len(doc.blocks)
    doc.blocks.append("")
    found: list[Check] = []
    sentences: list[str] = []
    for record in records:
        doc.heading("section.record", line=str(context.run.row_lines[context.run.steps.index(record)]))
        checks = check_step(context.ledger, record)
        said = [context.finding(check) for check in checks]
        doc.bullets(said)
        _main_table(context, record, heading=False)
        found.extend(checks)
        sentences.extend(said)
    count = context.ledger.count("records", len(records))
    grave = grave_of(found)
    summary = (
        say("explain.records_flagged", n=count, first=sentences[found.index(grave[0])])
        if grave
        else say("explain.records", n=count)
    )
    doc.blocks[slot] = f"**{summary}**"
    context.metrics.extend(headlines(context, records[0])[:6])
    worst = worst_of(found)
    return Verdict(worst if grave else "insufficient_data", unmark(summary), "medium")
