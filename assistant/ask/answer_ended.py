"""Why a run stopped: what its log says after the last row, and what it does not say."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import median

from assistant.analysis.forecast import total_steps
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.model import Fact, Verdict
from assistant.parsing.endings import ending
from assistant.write.document import unmark

_GRAVE = {"critical", "warning"}
_NAMED_SIGNALS = {1, 2, 6, 7, 9, 11, 15}


def stopped(context: Context) -> Verdict | None:
    """The cause that the log's last lines name; where they name none, that it cannot be told from the log."""
    run, say, doc = context.run, context.say, context.doc
    if context.query.threshold is not None or not run.steps:
        return None
    last = run.distinct_steps[-1]
    total = total_steps(run)
    planned = ""
    if total is not None:
        goal = context.ledger.constant("total_steps", total, "the log")
        planned = ("" if context.language == "zh" else " ") + say("ended.planned", total=goal)
    found = ending(run)
    if found is None and total is not None and complete(run.distinct_steps, total):
        text = say("run.finished", last=last, total=goal)
        doc.paragraph(f"**{text}**")
        return Verdict("answered", unmark(text))
    if found is None:
        row = max(run.row_lines)
        text = say("ended.untold", last=last, planned=planned, at=_line(context, "last row", row))
        doc.paragraph(f"**{text}**")
        doc.paragraph(say("ended.look"))
        return Verdict("no_data", unmark(text), "medium")
    cause, _, line = found
    at = _line(context, "end of the run", line)
    text = say("ended.told", last=last, planned=planned, at=at, cause=said_cause(context))
    doc.paragraph(f"**{text}**")
    grave = [check for check in all_checks(context) if check.severity in _GRAVE]
    lines = [say(f"ended.next_{cause}")] if cause != "signal" else []
    lines.append(say("ended.rules_fired", n=context.ledger.count("findings", len(grave))) if grave else _quiet(context))
    doc.bullets(lines)
    return Verdict("answered", unmark(text))


def complete(steps: Sequence[int], total: float) -> bool:
    """Whether the last logged step is the last one planned, where steps count from zero or from one."""
    every = round(median([b - a for a, b in itertools.pairwise(steps)] or [1]))
    return steps[-1] >= total or (steps[0] == 0 and every == 1 and steps[-1] == total - 1)


def said_cause(context: Context) -> str:
    """The cause that the log names, in words; empty where it names none."""
    found = ending(context.run)
    if found is None:
        return ""
    cause, value, line = found
    if cause != "signal":
        return context.say(f"ended.cause_{cause}")
    number = context.ledger.add(
        ("signal", context.run.id, line),
        kind="derived", run=context.run.id, name="signal", value=int(value), line=line,
        formula="number of the signal, as the line tells it", inputs=(),
    )  # fmt: skip
    which = context.say(f"ended.signal_{int(value)}" if value in _NAMED_SIGNALS else "ended.signal_other")
    return context.say("ended.cause_signal", n=number, which=which)


def _line(context: Context, name: str, line: int) -> Fact:
    return context.ledger.add(
        (name, context.run.id, line), kind="derived", run=context.run.id, name=name, value=line, line=line,
        formula=f"line of the {name}", inputs=(),
    )  # fmt: skip


def _quiet(context: Context) -> str:
    count = context.ledger.count("training_steps", len(context.train_steps))
    return context.say("ended.rules_quiet", n=count)
