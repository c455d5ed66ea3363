"""Health and explanation of a part of a run: its own rows are judged, and what lies outside it is told apart."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from assistant.analysis import departures as of_log
from assistant.analysis.checks import Check
from assistant.ask.context import Context, benchmark_sizes
from assistant.ask.departures import all_checks, began, main_metrics
from assistant.ask.findings import told
from assistant.ask.scope import scope_in
from assistant.ask.subject import words_of
from assistant.model import Run, StepSlot, Verdict
from assistant.write.document import unmark

Span = tuple[int, int]

#: A finding belongs to a part of which it holds over at least this share; one that sets in later lies outside.
BELONGS: Final = 0.2
#: So many findings outside the part are told.
MOST_OUTSIDE: Final = 2
#: Parts that are named by no number: a third of the run each.
_THIRDS: Final = (
    re.compile(
        r"(?i)[前早初]期|刚开始(?:的时候|那会儿)?|(?<![从打])一开始"
        r"|\bearly (?:on|part|phase|stage)\b|\bat the (?:beginning|start)\b"
    ),
    re.compile(r"(?i)中[期段](?!待)|中间(?:那)?段|\bmiddle (?:part|phase|third)\b|\bin the middle\b|\bmid-?run\b"),
    re.compile(r"(?i)[后晚末]期|\b(?:late|later|final|closing) (?:part|phase|stage)\b|\btowards? the end\b"),
)
#: What is said to have moved, beside the step from which on it did.
_MOVED: Final = re.compile(
    r"(?i)(?:变)?[慢快高低长短大小][了得]|[涨跌掉升降崩塌]了|翻了?[倍番一]|[\d几两一]\s*倍"
    r"|\b(?:slower|faster|higher|lower|longer|shorter|worse|better|tripled?|doubled?|halved?|rose|fell|dropped|increased"
    r"|decreased|jumped|collapsed)\b"
)
_WENT: Final = re.compile(
    r"(?i)\b(?:went|gone|goes|going|rose|fell|dropp?ed|climbed|increased|decreased|grew|jumped|changed|moved) "
    r"(?:up |down )?from -?\d|[从由]\s*-?\d[\d.]*\s*(?:一路)?[涨升降跌掉变]"
)
_STEPS: Final = re.compile(
    r"(?i)step|步|第|row|记录|iter|update|epoch|轮|eval|[前后末头]|最[近后初]|\b(?:first|last|final|latest|early|late|half|third)\b"
)
_FIGURE: Final = re.compile(r"\d")
_LEAD: Final = "**"
#: How the writers call all that they read, which here is the part.
_OVER: Final = {
    "zh": (("全程", "这一段"), ("整个训练（", "这一段（")),
    "en": (
        ("Over the run:", "Over these steps:"), ("over the run:", "over these steps:"),
        ("over the whole run (", "over these steps ("), ("the lowest of all", "the lowest of these"),
        ("the highest of all", "the highest of these"),
    ),
}  # fmt: skip


def attempt(context: Context) -> Verdict | None:
    """The answer of :func:`assistant.ask.answers.explained` on the rows of the part that a question names.

    Returns:
        ``None`` (nothing written) where the question is about the whole run or one step.
    """
    from assistant.ask.answers import explained

    lead = enter(context)
    if lead is None:
        return None
    verdict = leading(context, explained(context), lead)
    outside(context)
    return verdict


@contextmanager
def on_the_whole(context: Context) -> Iterator[None]:
    """For a while the whole run again, for an answer about a part: what is said of both sides of a step needs both."""
    if context.whole is None:
        yield
        return
    runs, ledger = context.runs, context.ledger
    context.runs, context.ledger = (context.whole, *runs[1:]), copy.copy(ledger)
    context.ledger.run = context.whole
    _forget(context)
    try:
        yield
    finally:
        context.runs, context.ledger = runs, ledger
        _forget(context)


def _forget(context: Context) -> None:
    for name in ("train_steps", "validation_steps"):
        context.__dict__.pop(name, None)


def enter(context: Context) -> str | None:
    """Narrows an answer to the part of the run that the question names; its lead, ``None`` where it names none."""
    span = span_of(context)
    if span is None or context.whole is not None or context.doc.blocks:
        return None
    whole = context.run
    part = rows_between(whole, *span)
    if not part.steps or len(part.steps) == len(whole.steps):
        return None
    grave = [check for check in all_checks(context) if check.severity in {"critical", "warning"}]
    dated = [(check, began(context, check)) for check in grave]
    context.narrow(part, context.ledger.with_part(part))
    last = part.distinct_steps[-1]
    for check, start in dated:
        holds = start is not None and _holds(check, start, (part.distinct_steps[0], last), whole)
        (context.reaching if holds else context.outside).append(check)
    first = context.train_steps[0] if context.train_steps else part.distinct_steps[0]
    context.query = replace(context.query, steps=StepSlot("range", (first, last)))
    return context.say("part.only", first=first, last=last) if first != last else context.say("part.one", step=last)


def leading(context: Context, verdict: Verdict, lead: str) -> Verdict:
    """The answer with the part that it is about in front."""
    blocks, gap = context.doc.blocks, "" if context.language == "zh" else " "
    for said, meant in _OVER[context.language]:
        blocks[:] = [block.replace(said, meant) for block in blocks]
        verdict = replace(verdict, summary=verdict.summary.replace(said, meant))
    place = next((place for place, block in enumerate(blocks) if block.startswith(_LEAD)), None)
    if place is None:
        blocks.insert(0, lead)
    else:
        blocks[place] = f"{_LEAD}{lead}{gap}{blocks[place].removeprefix(_LEAD)}"
    return replace(verdict, summary=unmark(lead) + gap + verdict.summary)


def outside(context: Context) -> None:
    """What the rules report outside the part, so that an all-clear for the part is none for the run."""
    known = {(f.rule, f.metrics) for f in context.findings}
    later = [check for check in context.outside if (check.rule, check.metrics) not in known]
    rules = {f.rule for f in context.findings}
    sentences = [one.sentence for one in told(context, [c for c in later if c.rule not in rules][:MOST_OUTSIDE])]
    for sentence in sentences:
        context.doc.paragraph(context.say("part.of_run", first=sentence))


def span_of(context: Context) -> Span | None:
    """First and last step of the part that a question names; ``None`` for one step and for the whole run."""
    steps, train = list(context.run.distinct_steps), context.train_steps or list(context.run.distinct_steps)
    slot = context.query.steps
    if len(train) < 2:
        return None
    scope = scope_in(words_of(context), train)
    if scope.first is not None and scope.last is None and _MOVED.search(words_of(context)):
        return None  # "it got slower after step 20": against what was before
    if _WENT.search(words_of(context)) and not _STEPS.search(context.query.said):
        return None  # "the loss went from 4 to 6" names values
    if scope.whole:
        if slot.kind == "range" and len(slot.values) == 2:
            low, high = sorted(slot.values)
        elif slot.kind == "last_n" and slot.values and 0 < slot.values[0] < len(train):
            low, high = train[-slot.values[0]], steps[-1]
        elif not _FIGURE.search(context.query.said) and (third := _third(context.query.said, train)) is not None:
            low, high = third
        else:
            return None
    elif scope.without:
        return None
    else:
        held = scope.of(train)
        if not held:
            return None
        low, high = held[0], held[-1]
    low = steps[0] if low <= train[0] else low
    high = steps[-1] if high >= train[-1] else high
    return None if low <= steps[0] and high >= steps[-1] else (low, high)


def _third(text: str, train: Sequence[int]) -> Span | None:
    named = [place for place, pattern in enumerate(_THIRDS) if pattern.search(text)]
    if len(named) != 1 or len(train) < 2 * len(_THIRDS):
        return None
    size = len(train) // len(_THIRDS)
    bounds = ((0, size - 1), (size, -size - 1), (-size, -1))[named[0]]
    return train[bounds[0]], train[bounds[1]]


def _holds(check: Check, start: int, span: Span, run: Run) -> bool:
    """Whether a finding over the whole run, which sets in at a step, is one of a part, too.

    What it compares with before is the later half of the steps since it set in, so the part must reach into that, and
    a good share of the part must lie after the onset.
    """
    low, high = span
    single = check.diagnosis is None or len(check.steps) == 1
    end = max(check.steps) if single and len(check.steps) > 1 else run.distinct_steps[-1]
    if not (start <= high and end >= low and high - max(start, low) >= BELONGS * (high - low)):
        return False
    return high >= (start + end) / 2


def as_of(context: Context, step: int) -> list[Check]:
    """What the rules report of the rows up to a step, as if the log ended there."""
    whole = context.run
    first, last = whole.distinct_steps[0], whole.distinct_steps[-1]
    if step >= last:
        return []
    part = rows_between(whole, first, step)
    context.parts[part.id] = whole.id
    steps = [at for at in context.train_steps if at <= step]
    return (
        of_log.with_departures(context.ledger, part, steps, main_metrics(context), benchmark_sizes()) if steps else []
    )


def rows_between(run: Run, low: int, high: int) -> Run:
    """The rows of a run between two steps, as a run of its own id."""
    kept = [place for place, step in enumerate(run.steps) if low <= step <= high]
    place_of = {old: new for new, old in enumerate(kept)}
    columns = {}
    for metric, column in run.columns.items():
        held = [at for at, row in enumerate(column.rows) if row in place_of]
        if held:
            columns[metric] = replace(
                column, rows=[place_of[column.rows[at]] for at in held], values=[column.values[at] for at in held],
                lines=[column.lines[at] for at in held],
            )  # fmt: skip
    return replace(
        run, id=f"{run.id}:{low}-{high}", steps=tuple(run.steps[at] for at in kept),
        row_lines=tuple(run.row_lines[at] for at in kept), columns=columns,
        missing=tuple(gap for gap in run.missing if low <= gap.step <= high),
    )  # fmt: skip
