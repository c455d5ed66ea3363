"""Several runs: a line for each, and which were better by what they share."""

from __future__ import annotations

import copy
from dataclasses import replace

from assistant.analysis.checks import covered
from assistant.analysis.diagnosis import role
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.telling import from_to, movement
from assistant.model import Run, Verdict
from assistant.write.document import unmark

MOST_RUNS = 12
_RANK = {"critical": 0, "warning": 1, "insufficient_data": 2, "healthy": 3}
_ENOUGH = 5


def about(context: Context, run: Run) -> Context:
    """The same answer under construction, about another of its runs; facts, text and citations are shared."""
    ledger = copy.copy(context.ledger)
    ledger.run = run
    other = replace(context.query, mentions=())
    made = Context(other, (run,), context.resolver, ledger)
    made.doc, made.findings, made.charts = context.doc, context.findings, context.charts
    made.quotable = context.quotable
    return made


def every_run(context: Context) -> Verdict:
    """One line a run: verdict, validation, reward; worst first in what is said, in the input's order in the table."""
    doc, say = context.doc, context.say
    slot = len(doc.blocks)
    doc.blocks.append("")
    states, rows, lines = [], [], []
    for run in context.runs[:MOST_RUNS]:
        one = about(context, run)
        steps = one.train_steps or list(run.distinct_steps)
        grave = [c for c in all_checks(one, steps) if c.severity in {"critical", "warning"}]
        enough = len(one.train_steps) >= _ENOUGH and covered(run)
        state = grave[0].severity if grave else "healthy" if enough else "insufficient_data"
        states.append((str(state), run))
        if grave:
            lines.append(say("runs.finding", name=run.name, first=one.finding(grave[0])))
        number = context.ledger.add(
            ("count", run.id, "steps in run"), kind="derived", run=run.id, name="steps", value=len(run.distinct_steps),
            formula="count of steps", inputs=(),
        )  # fmt: skip
        rows.append(
            [f"`{run.name}`", doc.show(number), _course(one, "val_accuracy"), _course(one, "score_mean", "reward_mean"),
             say(f"runs.state_{state}")]
        )  # fmt: skip
    doc.table(
        [say("runs.head_run"), say("runs.head_steps"), say("runs.head_validation"), say("runs.head_reward"),
         say("runs.head_state")],
        rows,
    )  # fmt: skip
    doc.bullets(lines)
    worst = min(states, key=lambda pair: _RANK[pair[0]])[0]
    names = context.join(key(run.name) for state, run in states if state == worst)
    total = context.ledger.count("runs", len(context.runs))
    affected = context.ledger.count(f"runs that are {worst}", sum(state == worst for state, _ in states))
    text = say(f"runs.{worst}", n=total, k=affected, names=names)
    doc.blocks[slot] = f"**{text}**"
    if len(context.runs) > MOST_RUNS:
        doc.paragraph(say("runs.more", n=context.ledger.count("runs shown", MOST_RUNS)))
    doc.paragraph(say("runs.compare"))
    alone = say("note.other_runs", n=str(len(context.runs)), name=context.runs[0].name)
    context.warnings = [warning for warning in context.warnings if warning != alone]
    return Verdict(worst, unmark(text), "medium")


def _course(context: Context, *names: str) -> str:
    """Where a role came from and went to in a run, as a cell."""
    found = next((held for name in names if (held := role(context.run, name)) is not None), None)
    if found is None or not found.spelling.plain:
        return "—"
    metric = found.metrics[0]
    trend = context.ledger.trend(metric, None, context.run)
    if trend is None:
        return "—"
    context.metrics.append(metric)
    if trend.n == 1:
        fact = context.value(metric, trend.last_step or 0)
        return "—" if fact is None else context.doc.show(fact)
    early, late = from_to(context, metric, trend)
    gap = "，" if context.language == "zh" else ", "
    last = context.value(metric, trend.last_step or 0)
    ended = "" if last is None else gap + context.say("runs.ended", v=last)
    return f"{early} → {late}{gap}{movement(context, metric, trend)}{ended}"


def compare_many(context: Context) -> Verdict:
    """More than two runs compared: each run's course in one table; pairs are judged one by one on request."""
    verdict = every_run(context)
    text = context.say("runs.compare_many")
    context.doc.blocks.insert(1, text)
    return Verdict("inconclusive", verdict.summary, "low")
