"""The whole run in half a page: what it is, whether it learns, is stable, is fast, what is odd, what next."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.analysis import derive
from assistant.analysis.checks import Check, covered
from assistant.analysis.diagnosis import role
from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.analysis.validation import validation_sets
from assistant.ask import answer_validation, naming, outcomes
from assistant.ask.answer_explain import (
    ENOUGH_STEPS,
    MAX_RECORDS,
    explain_records,
    explain_step,
    gaps,
    grave_of,
    next_part,
    verdict_of,
)
from assistant.ask.answer_single import progress, tail_of
from assistant.ask.answer_tail import in_flight
from assistant.ask.context import Context, is_validation, key
from assistant.ask.departures import all_checks
from assistant.ask.detail import every_metric
from assistant.ask.findings import Told, remedy, told
from assistant.ask.parts import (
    change_remarks,
    change_table,
    headlines,
    note,
    number,
    setup_lines,
    time_part,
    timed,
    top_advantage,
    validation_time,
)
from assistant.ask.telling import course_table
from assistant.model import Fact, Verdict

#: Roles that show whether a run is stable, as the table has them.
STABILITY = ("policy_entropy", "old_kl", "ref_kl", "clip_fraction", "grad_norm", "response_length_mean",
             "truncated_share", "value_explained")  # fmt: skip
#: Quantities that say what kind of run it is.
SETUP = ("n_gpus", "prompts_per_step", "group_size", "trajectories_per_step", "critic_present", "kl_in_reward")
MOST_STABLE, MOST_STAGES, MOST_CHARTED = 7, 3, 6
#: Rules of values that stand far above those around them.
SPIKES = frozenset({"lone_spike", "spike", "spikes", "spikes_two"})
#: Fewest evaluations for a held-out loss to be judged, and the share of its lowest value by which it counts as risen.
LEAST_EVALUATIONS, OVERFIT = 4, 0.02
#: Formats of figures that somebody wrote down, whose order is none of time; a trainer prints its rows in order.
_BY_HAND = frozenset({"key-value", "markdown-list", "markdown-table"})
_OVERFITTING = re.compile(r"(?i)over-?fit|过拟合")


def explain_run(context: Context, *, brief: bool = False) -> Verdict:
    """The whole run; where there is only one step, or no steps at all, that is explained instead."""
    train = context.train_steps
    if not train:
        return answer_validation.validation(context, context.validation_steps[-1])
    if len(context.run.distinct_steps) == 1:
        return explain_step(context, train[-1])
    if context.run.step_axis == "index" and len(train) <= MAX_RECORDS and context.run.format in _BY_HAND:
        return explain_records(context, train)
    return _report(context, brief=brief)


def _report(context: Context, *, brief: bool) -> Verdict:
    doc, say, train, depth = context.doc, context.say, context.train_steps, context.query.depth
    full = depth in {"detailed", "every"}
    last = train[-1]
    checks = all_checks(context, train)
    slot = len(doc.blocks)
    doc.blocks.append("")
    if not brief:
        _kind_of_run(context, last, full=full)
    state, by = _learning(context, full=full)
    findings = told(context, checks)
    _stability(context, findings)
    if full:
        _in_detail(context, last)
    elif not brief:
        _efficiency(context, last)
    if depth == "every":
        every_metric(context, last, validation=False)
    gaps(context, list(context.run.distinct_steps))
    next_part(context, bool(grave_of(checks)), last)
    gravest = next((one for one in findings if one.grave), None)
    if gravest is not None and not brief:
        doc.paragraph(remedy(context, gravest))
    alone = by == "loss" and not covered(context.run) and len(train) >= ENOUGH_STEPS and not grave_of(checks)
    summary = _summary(context, checks, [one.sentence for one in findings], say(f"learning.short_{state}_{by}"))
    if alone and state == "up" and _all_finite(context):
        summary = say("learning.loss_only")
    back = held_out(context)
    if back is not None and not grave_of(checks):
        parts = [back[0], summary] if _OVERFITTING.search(context.query.said) else [summary, back[0]]
        summary = ("" if context.language == "zh" else " ").join(parts)
    doc.blocks[slot] = f"**{summary}**"
    metrics = [m for m in headlines(context, last) if len(context.run.series(m)[0]) > 1]
    context.chart(say("section.signals"), metrics[:MOST_CHARTED])
    context.metrics.extend(metrics[:MOST_CHARTED])
    context.metrics[:] = dict.fromkeys(context.metrics)
    verdict = verdict_of(context, checks, summary)
    if alone and state == "up" and _all_finite(context):
        verdict = replace(verdict, code="warning" if back is not None and back[1] else "healthy", confidence="low")
    return verdict


def _all_finite(context: Context) -> bool:
    return all(math.isfinite(cell.value) for metric in context.run.metrics for cell in context.run.cells(metric))


def held_out(context: Context) -> tuple[str, bool] | None:
    """Where the held-out loss was lowest and what it is now, and whether it came back by more than its scatter.

    ``None`` with fewer than four evaluations. It has come back where the last value lies more than two hundredths of
    the lowest above it.
    """
    found = outcomes.validated(context.run)
    if found is None or not outcomes.is_loss(found) or not found.spelling.plain:
        return None
    metric = found.metrics[0]
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(held) < LEAST_EVALUATIONS:
        return None
    best, last = min(held, key=number), held[-1]
    context.metrics.append(metric)
    context.cite(context.card(metric))
    if best is last:
        return context.say("learning.held_out_falls", best=best), False
    rise = number(last) - number(best)
    if rise > OVERFIT * abs(number(best)):
        return context.say("learning.held_out_back", best=best, last=last), True
    change = context.ledger.change(metric, best.step or 0, last.step or 0)
    assert change is not None
    return context.say("learning.held_out_slight", best=best, last=last, rise=context.doc.show(change, "rel")), False


def _summary(context: Context, checks: Sequence[Check], sentences: Sequence[str], learns: str) -> str:
    train, say = context.train_steps, context.say
    validated = outcomes.validated(context.run)
    many = max(len(context.validation_steps), 0 if validated is None else len(validated))
    counts = {
        "train": context.ledger.count("training_steps", len(train)),
        "val": context.ledger.count("validations", many),
    }
    grave = grave_of(list(checks))
    if grave:
        flagged = context.ledger.count("findings", len(grave))
        return say("explain.run_flagged", count=flagged, first=sentences[0], **counts)
    if len(train) < ENOUGH_STEPS:
        return say("explain.run_clean_few", **counts)
    spike = next((one for one in checks if one.rule in SPIKES and covered(context.run)), None)
    if spike is not None:
        value = next(fact for name, fact in spike.facts if name == "value")
        return say("explain.run_but_spike", v=value, **counts) + ("" if context.language == "zh" else " ") + learns
    phrase = "explain.run_clean" if covered(context.run) else "explain.run_uncovered"
    return say(phrase, **counts) + ("" if context.language == "zh" else " ") + learns


# -- what kind of run --------------------------------------------------------------------------------------------------
def _kind_of_run(context: Context, step: int, *, full: bool) -> None:
    """Framework, GPUs, batch, estimator, KL: one line, or with the derivations where detail is asked for."""
    doc, say = context.doc, context.say
    if full:
        lines = setup_lines(context, step)
        if lines:
            doc.heading("section.setup")
            doc.bullets(lines)
        return
    facts = {name: fact for name in SETUP if (fact := derive(context.ledger, name, step)) is not None}
    items = [context.run.framework] if context.run.framework else []
    if "n_gpus" in facts:
        items.append(say("derive.item_gpus", v=facts["n_gpus"]))
    if "prompts_per_step" in facts:
        size = facts["group_size"]
        top = top_advantage(context, size)
        batch = say("report.batch", batch=facts["trajectories_per_step"], prompts=facts["prompts_per_step"], group=size)
        items.append(batch if top is None else note(context, top, batch))
    elif "trajectories_per_step" in facts:
        items.append(say("derive.item_batch", v=facts["trajectories_per_step"]))
    if "critic_present" in facts:
        critic = facts["critic_present"]
        items.append(note(context, critic, say("derive.item_critic" if critic.value else "derive.item_no_critic")))
    if "kl_in_reward" in facts:
        kl = facts["kl_in_reward"]
        items.append(note(context, kl, say("derive.item_kl_yes" if kl.value else "derive.item_kl_no")))
    if items:
        joined = ("；" if context.language == "zh" else "; ").join(items)
        doc.paragraph(say("report.kind", items=joined))


# -- is it learning ----------------------------------------------------------------------------------------------------
def _learning(context: Context, *, full: bool) -> tuple[str, str]:
    """Validation first, then the training score; returns how it goes and by which of them that is told."""
    doc, say, run = context.doc, context.say, context.run
    doc.heading("report.section_learning")
    lines: list[str] = []
    told_by = ("few", "none")
    for found, by in (
        (role(run, "val_accuracy"), "validation"), (outcomes.rewarded(run), "reward"), (outcomes.lost(run), "loss")
    ):  # fmt: skip
        if found is None or not found.spelling.plain or (by == "loss" and lines):
            continue
        metric = found.metrics[0]
        trend = context.ledger.trend(metric)
        if trend is None:
            continue
        state, sentence = progress(context, metric, trend)
        if by == "loss":
            state = {"up": "down", "down": "up"}.get(state, state)
        context.metrics.append(metric)
        context.cite(context.card(metric))
        sentence += tail_of(context, metric, sentence)
        single = by == "validation" and trend.n == 1 and _one_validation(context, trend)
        lines.append(single or sentence)
        if single and (beside := _validation_reward(context)):
            lines.append(beside)
        if told_by[0] == "few" or (by == "validation" and state != "few"):
            told_by = (state, by)
    if not lines:
        lines.append(say("report.no_outcome"))
    doc.bullets(lines)
    if len(context.validation_steps) == 1 and full:
        answer_validation.body(context, context.validation_steps[0], brief=True)
    elif len(context.validation_steps) > 1 and (
        full or len(context.validation_steps) <= answer_validation.MOST_COLUMNS
    ):
        answer_validation.history(context)
    return told_by


def _one_validation(context: Context, trend: Fact) -> str:
    """The only validation: its accuracy with the error of re-sampling."""
    step = trend.last_step or 0
    fact = context.value(str(trend.metric), step)
    table = next((t for t in validation_sets(context.run, step) if t.key("mean") == trend.metric), None)
    error = None if table is None else answer_validation.standard_error(context, table, step)
    if fact is None:
        return ""
    text = context.say("report.one_validation", metric=str(trend.metric), v=fact)
    lost = [s for s in context.validation_steps if s != step and any(g.step == s for g in context.run.missing)]
    gap = "" if context.language == "zh" else " "
    if error is not None:
        text += gap + context.say("report.error", se=error)
    return text + (gap + context.say("claim.log_cut", steps=naming.steps_text(context, lost)) if lost else "")


def _validation_reward(context: Context) -> str:
    """The validation's reward over its validations, where the accuracy itself was read only once."""
    for metric in context.run.metrics:
        if is_validation(metric) and "/reward/mean@" in metric and len(context.run.series(metric)[0]) > 1:
            steps, _ = context.run.series(metric)
            change = context.ledger.change(metric, steps[0], steps[-1])
            return "" if change is None else context.say("report.validation_reward", metric=metric, c=change)
    return ""


# -- is it stable ------------------------------------------------------------------------------------------------------
def _stability(context: Context, findings: Sequence[Told]) -> None:
    doc = context.doc
    doc.heading("report.section_stable")
    said = next((one for one in findings if one.grave), None)  # the verdict holds its sentence
    doc.bullets([one.line if one is said else one.whole(context.language) for one in findings])
    keys = [found.metrics[0] for name in STABILITY if (found := role(context.run, name)) is not None
            and found.spelling.plain]  # fmt: skip
    if len(keys) < 2:
        last = context.train_steps[-1]
        keys = [m for m in headlines(context, last) if m not in context.metrics]
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    course_table(context, list(dict.fromkeys(keys))[:MOST_STABLE], step=last)


# -- is it fast --------------------------------------------------------------------------------------------------------
def _efficiency(context: Context, step: int) -> None:
    """Where a step's time goes, in a sentence, and the throughput."""
    doc, say = context.doc, context.say
    found = timed(context, step)
    layout = layout_of(context.run)
    if found is None:
        metric = None if layout is None else total_key(context.run, layout)
        total = None if metric is None else context.value(metric, step)
        if total is not None and layout is not None and not stage_keys(context.run, layout):
            doc.heading("report.section_fast")
            doc.paragraph(say("report.time_only", step=step, total=doc.show(total, None, "seconds")))
        return
    doc.heading("report.section_fast")
    step = found.step
    parts = context.join(
        say("report.stage", stage=key(str(share.name)), share=share) for share in found.shares[:MOST_STAGES]
        if isinstance(share.value, float) and share.value >= 0.01
    )  # fmt: skip
    lines = [say("report.time", step=step, total=doc.show(found.total, None, "seconds"), parts=parts)]
    lines.append(in_flight(context, step))
    lines.append(validation_time(context)[0])
    rate, cluster = context.value("perf/throughput", step), derive(context.ledger, "cluster_throughput", step)
    if rate is not None and cluster is not None:
        lines.append(say("report.rate", rate=doc.show(rate, None, "rate"), cluster=cluster))
    doc.paragraph(*lines)


def _in_detail(context: Context, last: int) -> None:
    doc, train = context.doc, context.train_steps
    metrics = [m for m in headlines(context, last) if len(context.run.series(m)[0]) > 1]
    if len(train) > 1:
        doc.heading("section.changes", step=train[0])
        change_table(context, metrics, train[0], last)
        doc.bullets(change_remarks(context, train[0], last))
    time_part(context, last)
