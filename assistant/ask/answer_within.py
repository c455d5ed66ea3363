"""What happened in a part of the run, or to two metrics at once; the mean time of each stage."""

from __future__ import annotations

import math
from dataclasses import replace

from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import outcomes
from assistant.ask.answer_single import tail_of
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.naming import central, named_keys
from assistant.ask.part import part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import subject_of, words_of
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

MOST_TOLD = 2


def moved_within(context: Context) -> Verdict | None:
    """By how much a metric moved in the part of the run named; ``None`` where none is, or two steps are."""
    found = subject_of(context)
    scope = scope_in(words_of(context), context.train_steps)
    if found is None or scope.whole or context.query.steps.kind in {"pair", "single"}:
        return None
    part = found.part
    change = context.ledger.change(found.metric, part.steps[0], part.steps[-1])
    if change is None:
        return None
    context.metrics.append(found.metric)
    said = context.say("within.moved", metric=found.metric, c=change, over=part.over)
    lines = []
    if change.noise is not None:
        lines.append(
            context.say("within.significant" if change.significant else "rel.within_noise", limit=context.bound(change))
        )
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines, *remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    return Verdict("answered", unmark(said))


def opposed(context: Context) -> Verdict | None:
    """Why one metric rises while another falls: both courses, and what the rules report of either."""
    keys = central(named_keys(context))
    if len(keys) != 2:
        return None
    trends = [context.ledger.trend(metric) for metric in keys]
    if any(trend is None or (trend.n or 0) < 2 for trend in trends):
        return None
    context.metrics.extend(keys)
    lines = []
    for metric, trend in zip(keys, trends, strict=True):
        assert trend is not None
        sentence = trend_sentence(context, metric, trend)
        lines.append(sentence + tail_of(context, metric, sentence))
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    near = [c for c in checks if set(c.metrics) & set(keys)] or checks
    findings = told(context, near[:MOST_TOLD])
    summary = findings[0].sentence if findings else context.say("within.no_cause")
    context.doc.paragraph(f"**{summary}**")
    if findings:
        context.doc.bullets([findings[0].line, *(one.whole(context.language) for one in findings[1:])])
    context.doc.bullets(lines)
    context.doc.paragraph(context.say("within.together"))
    context.chart(context.title(keys[0]), keys)
    worst = "critical" if any(c.severity == "critical" for c in near[:MOST_TOLD]) else "warning"
    return Verdict(worst if findings else "insufficient_data", unmark(summary), "medium")


def stage_means(context: Context) -> Verdict | None:
    """The mean time of every stage over the steps, and its share of the mean step."""
    run, say, doc = context.run, context.say, context.doc
    layout = layout_of(run)
    whole = None if layout is None else total_key(run, layout)
    if layout is None:
        return None
    rows = []
    total = None
    if whole is not None and len(part := part_of(context, whole, Scope())):
        total = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    for stage in stage_keys(run, layout):
        part = part_of(context, stage, Scope())
        if not len(part):
            continue
        mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
        share = (
            None if total is None or not number(total) else context.ledger.derived(
                f"share of mean step: {stage}", number(mean) / number(total), inputs=[mean, total], unit="fraction",
                formula=f"mean of {stage} / mean of {whole}",
            )
        )  # fmt: skip
        rows.append((number(mean), stage, mean, share))
    if not rows:
        return None
    rows.sort(key=lambda row: -row[0])
    _, top, mean, _ = rows[0]
    text = say("within.stage_means", stage=top, mean=shown(context, mean, top))
    doc.paragraph(f"**{text}**")
    table = [[key(s), shown(context, m, s), "—" if p is None else doc.show(p)] for _, s, m, p in rows]
    doc.table([say("head.stage"), say("within.head_mean"), say("head.share")], table)
    context.metrics.append(top)
    context.query = replace(context.query, op="mean", asked_op="mean")
    return Verdict("answered", unmark(text))


def as_trend(context: Context) -> Verdict | None:
    """Whether a metric has levelled off, told by its course; ``None`` where no metric of the log is named."""
    from assistant.ask.answer_trend import trend

    return trend(context) if named_keys(context) else None


def plateaued(context: Context) -> Verdict | None:
    """As :func:`as_trend`; where no metric is named, by what the run is judged by: validation, else the reward."""
    if named_keys(context):
        return as_trend(context)
    found = outcomes.validated(context.run) or outcomes.rewarded(context.run)
    if found is None or not found.spelling.plain:
        return None
    told = context.ledger.trend(found.metrics[0])
    if told is None or (told.n or 0) < MIN_POINTS:
        return None
    text = trend_sentence(context, found.metrics[0], told)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(found.metrics[0])
    context.settled = True
    return Verdict(told.direction or "inconclusive", unmark(text), "medium")
