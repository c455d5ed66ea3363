"""Explain and health: one step, or the whole run."""

from __future__ import annotations

from assistant.analysis.checks import Check, check_all, check_step, covered
from assistant.ask import answer_validation
from assistant.ask.context import Context, key
from assistant.ask.detail import every_metric
from assistant.ask.parts import (
    change_remarks,
    change_table,
    headlines,
    missing_lines,
    setup_lines,
    time_part,
)
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

ENOUGH_STEPS = 5
MAX_RECORDS = 4
#: Shown besides the main metrics when a step is to be analysed in detail.
MORE_CHANGES = (
    "response_length/max", "response_length/min", "prompt_length/mean", "actor/pg_clipfrac_lower", "timing_s/gen",
    "timing_s/update_actor", "timing_s/old_log_prob", "timing_s/agent_loop/generate_sequences/max",
    "timing_s/agent_loop/tool_calls/max", "global_seqlen/minmax_diff", "perf/mfu/actor", "perf/cpu_memory_used_gb",
)  # fmt: skip


def explain_step(context: Context, step: int) -> Verdict:
    """One step: what kind of run, the main numbers, changes since the step before, what stands out."""
    if step not in context.train_steps:
        return answer_validation.validation(context, step)
    doc, every = context.doc, context.query.depth == "every"
    checks = check_step(context.ledger, step)
    earlier = [s for s in context.train_steps if s < step]
    previous = earlier[-1] if earlier else None
    slot = len(doc.blocks)
    doc.blocks.append("")
    sentences = _findings(context, checks)
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
    _gaps(context, [step])
    _next(context, bool(_grave(checks)), step)
    grave = len(_grave(checks))
    worth = sentences[grave] if len(sentences) > grave else ""
    summary = _step_summary(context, step, sentences[:grave], worth, changes)
    doc.blocks[slot] = f"**{summary}**"
    context.metrics.extend(headlines(context, step)[:6])
    return _verdict(context, checks, summary)


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
        names = context.join(f"`{c.metric}` {context.doc.show(c, 'delta')}" for c in beyond[:4])
        said = say("explain.said_some", names=names) if beyond else say("explain.said_none")
        return say("explain.step_changes", a=changes[0].from_step, b=step, said=said)
    if len(context.train_steps) >= ENOUGH_STEPS:
        return say("explain.step_healthy", step=step)
    return say("explain.step_clean", step=step, known=say("explain.known_one"))


def _verdict(context: Context, checks: list[Check], summary: str) -> Verdict:
    """``critical`` or ``warning`` where a rule says so; ``healthy`` needs enough steps to be said."""
    worst = _worst(checks)
    if worst in {"critical", "warning"}:
        return Verdict(worst, unmark(summary), "high" if worst == "critical" else "medium")
    known = len(context.train_steps) >= ENOUGH_STEPS and covered(context.run)
    code = "healthy" if known else "insufficient_data"
    return Verdict(code, unmark(summary), "medium")


def _grave(checks: list[Check]) -> list[Check]:
    """Findings that call for attention (an ``info`` is only worth knowing)."""
    return [check for check in checks if check.severity in {"critical", "warning"}]


def _worst(checks: list[Check]) -> str:
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


def _gaps(context: Context, steps: list[int]) -> None:
    lines = missing_lines(context, steps)
    if lines:
        context.doc.heading("section.missing")
        context.doc.bullets(lines)


def _next(context: Context, flagged: bool, step: int) -> None:
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
        lines.append(say("explain.val_last", metric=baseline.metric or "", value=baseline))
    elif baseline is not None:
        lines.append(say("explain.next_val", metric=baseline.metric or "", value=baseline))
    elif context.run.framework == "verl":
        lines.append(say("explain.next_val_none"))
    if len(context.train_steps) < ENOUGH_STEPS:
        lines.append(say("explain.next_trend"))
    if not flagged:
        lines.append(say("explain.no_change_needed" if covered(context.run) else "explain.not_covered"))
    doc.bullets(lines)


def explain_run(context: Context, *, brief: bool = False) -> Verdict:
    """The whole run: setup, validation first, trends of the main metrics, time, what stands out."""
    train = context.train_steps
    if not train:
        steps = context.validation_steps
        return answer_validation.validation(context, steps[-1])
    if len(context.run.distinct_steps) == 1:
        return explain_step(context, train[-1])
    if context.run.step_axis == "index" and len(train) <= MAX_RECORDS:
        return explain_records(context, train)
    doc, say, last = context.doc, context.say, train[-1]
    checks = check_all(context.ledger, train)
    slot = len(doc.blocks)
    doc.blocks.append("")
    sentences = _findings(context, checks)
    lines = setup_lines(context, last)
    if lines and not brief:
        doc.heading("section.setup")
        doc.bullets(lines)
    if len(context.validation_steps) == 1:
        answer_validation.body(context, context.validation_steps[0], brief=True)
    else:
        answer_validation.history(context)
    metrics = [m for m in headlines(context, last) if len(context.run.series(m)[0]) > 1]
    if len(train) >= ENOUGH_STEPS:
        doc.heading("section.signals")
        doc.bullets([line for metric in metrics[:12] if (line := trend_line(context, metric, train))])
    elif len(train) > 1:
        doc.heading("section.changes", step=train[0])
        change_table(context, metrics, train[0], last)
        doc.bullets(change_remarks(context, train[0], last))
    else:
        _main_table(context, last)
    if context.query.depth == "every":
        every_metric(context, last, validation=False)
    if not brief:
        time_part(context, last)
    _gaps(context, list(context.run.distinct_steps))
    _next(context, bool(_grave(checks)), last)
    counts = {
        "train": context.ledger.count("training_steps", len(train)),
        "val": context.ledger.count("validations", len(context.validation_steps)),
    }
    grave = _grave(checks)
    if grave:
        number = context.ledger.count("findings", len(grave))
        summary = say("explain.run_flagged", count=number, first=sentences[0], **counts)
    elif len(train) < ENOUGH_STEPS:
        summary = say("explain.run_clean_few", **counts)
    elif not covered(context.run):
        summary = say("explain.run_uncovered", **counts)
    else:
        summary = say("explain.run_clean", **counts)
    doc.blocks[slot] = f"**{summary}**"
    context.chart(say("section.signals"), metrics[:6])
    context.metrics.extend(metrics[:6])
    return _verdict(context, checks, summary)


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
    grave = _grave(found)
    summary = (
        say("explain.records_flagged", n=count, first=sentences[found.index(grave[0])])
        if grave
        else say("explain.records", n=count)
    )
    doc.blocks[slot] = f"**{summary}**"
    context.metrics.extend(headlines(context, records[0])[:6])
    worst = _worst(found)
    return Verdict(worst if grave else "insufficient_data", unmark(summary), "medium")


def trend_line(context: Context, metric: str, steps: list[int]) -> str:
    """One line on a metric's trend over some steps; empty if it has no values there."""
    trend = context.ledger.trend(metric, steps)
    if trend is None or trend.first_step is None or trend.last_step is None or trend.p_value is None:
        return ""
    first, last = context.value(metric, trend.first_step), context.value(metric, trend.last_step)
    assert first is not None
    assert last is not None
    phrases = {"rising": "explain.trend_up", "falling": "explain.trend_down"}
    phrase = phrases.get(trend.direction or "", "explain.trend_none")
    levels = context.levels(metric, trend)
    if levels:
        unsure = trend.direction in {"rising", "falling"} and trend.p_value >= 0.05
        return context.say(
            f"{phrase}_s" if unsure else f"{phrase}_m",
            title=context.title(metric),
            metric=metric,
            trend=trend,
            **levels,
        )
    return context.say(phrase, title=context.title(metric), metric=metric, trend=trend, first=first, last=last)
