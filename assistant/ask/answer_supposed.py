"""Says in front of an answer that a value which the question takes for granted is not what the log holds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.analysis.checks import covered
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import answer_stopped
from assistant.ask.confirmed import statement_in
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import words_of
from assistant.ask.supposed import Supposed, supposed_in
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

#: Answers that say by themselves that it is not so.
_DENIED: Final = re.compile(
    r"(?i)^\W*(?:no\b|not so|not -?\d|it is the other way|nothing of"
    r"|不对|没有(?!发现)|不是|并非|与问题所说|日志里没有)"
)
_OF_VALUES: Final = {"health", "explain", "advice", "lookup", "define", "trend", "validation", "bottleneck"}


def beside(context: Context, verdict: Verdict) -> Verdict:
    """The verdict, with what is supposed denied in its first sentence and in front of the text where it is not so."""
    if len(context.runs) != 1 or context.query.intent not in _OF_VALUES or not context.doc.blocks:
        return verdict
    settled = context.settled and context.kind != "overfit"
    if not settled and (text := _ran_out(context)) is not None:
        context.doc.blocks.insert(0, f"**{text}**")
        code = "healthy" if verdict.code == "insufficient_data" else verdict.code
        return replace(verdict, code=code, summary=unmark(text))
    if not settled and (text := answer_stopped.beside(context)) is not None:
        context.doc.blocks.insert(0, f"**{text}**")
        return replace(verdict, summary=unmark(text))
    if not settled and (text := _broke(context)) is not None:
        context.doc.blocks.insert(0, f"**{text}**")
        return replace(verdict, summary=unmark(text))
    if not settled and (text := _not_a_number(context)) is not None:
        context.doc.blocks.insert(0, f"**{text}**")
        return replace(verdict, summary=unmark(text))
    supposed = supposed_in(words_of(context))
    first = context.doc.blocks[0]
    if supposed is None or _DENIED.search(unmark(first)) or (settled and not supposed.never):
        return verdict
    if words("confirmed")["average"].search(context.query.said) and statement_in(normalised(context.query.said)):
        return verdict  # said of the mean, which is held against it by itself
    metric = _metric(context)
    if metric is None or _before_a_break(context, metric, supposed):
        return verdict
    said = _contradicted(context, metric, supposed)
    if not said:
        return verdict
    context.doc.blocks.insert(0, f"**{said}**")
    if metric not in context.metrics:
        context.metrics.insert(0, metric)
    return replace(verdict, summary=unmark(said))


def denied(context: Context) -> bool:
    """Whether a question takes a value for granted that the log does not hold."""
    supposed = supposed_in(words_of(context)) if len(context.runs) == 1 else None
    metric = None if supposed is None else _metric(context)
    if supposed is None or metric is None or _before_a_break(context, metric, supposed):
        return False
    return bool(_contradicted(context, metric, supposed))


_FEW: Final = 3
#: So many significant figures are no coincidence.
_TELLING: Final = 3
#: That memory ran out, as something that happened.
_OOM: Final = re.compile(r"(?i)\boom\w*\b|out of memory|爆(?:了)?(?:显存|内存)|(?:显存|内存)(?:爆|不够|溢出)")
_HAPPENED: Final = re.compile(
    r"(?i)了|过(?!程)|怎么|为什么|为啥|\b(?:did|why|was|had|got|crashed|died|killed|happened)\b|oom'?e?d\b|right\?"
)
_TO_COME: Final = re.compile(
    r"(?i)会|快要|要爆|风险|避免|防|担心|怕"
    r"|\b(?:will|would|going to|risk|avoid|prevent|about to|close to|might|could)\b"
)


_BROKEN: Final = re.compile(
    r"(?i)\b(?:diverged|collapsed|crashed|exploded|blew up|fell apart|broke down|is broken|was ruined)\b"
    r"|(?:崩|垮|炸|发散|训飞|训崩|坏)(?:掉|溃)?了"
)


def _broke(context: Context) -> str | None:
    """That no rule shows it where a question about what to do takes a collapse of the whole run for granted."""
    query = context.query
    if query.intent != "advice" or query.mentions or not _BROKEN.search(query.said) or _TO_COME.search(query.said):
        return None
    if _IF.search(query.said) or any(c.severity in {"critical", "warning"} for c in all_checks(context)):
        return None
    if len(context.train_steps) < MIN_POINTS or not covered(context.run):
        return None
    count = context.ledger.count("training_steps", len(context.train_steps))
    return context.say("supposed.not_broken", n=count)


_IF: Final = re.compile(r"(?i)\b(?:if|when|whenever|in case|once)\b|如果|要是|假如|万一|一旦|的话|怎么(?:避免|防)")
_NAN: Final = re.compile(
    r"(?i)\b(?:became|turn(?:ed|s)|went|goes|gone|got|hit|is|are|was)\s+(?:into |to |a )?(?:nan|inf)s?\b"
    r"|(?:变|成|出现|全是|都是|是)(?:成|了)?\s*(?:nan|inf)|(?:nan|inf)\s*了"
)


def _not_a_number(context: Context) -> str | None:
    """That every value is finite where a question takes NaN for granted and the answer does not speak of it."""
    if _NAN.search(context.query.said) is None or "nan" in context.doc.blocks[0].lower():
        return None
    run = context.run
    keys = [key for key in central(named_keys(context)) if key in run.columns] or list(run.metrics)
    if any(not math.isfinite(value) for key in keys for value in run.series(key)[1]):
        return None
    count = context.ledger.count("values that are finite", sum(len(run.series(key)[1]) for key in keys))
    named = keys if len(keys) <= _FEW else []
    if named and (metric := named[0]) not in context.metrics:
        context.metrics.insert(0, metric)
    context.names.add("NaN")
    name = "supposed.finite_of" if named else "supposed.finite"
    return context.say(name, n=count, **({"names": context.join(f"`{key}`" for key in named)} if named else {}))


def _ran_out(context: Context) -> str | None:
    """That the log shows no OOM where a question takes one for granted; ``None`` for another question."""
    text = context.query.said
    if "memory" not in context.query.topics or not _OOM.search(text):
        return None
    if _TO_COME.search(text) or not _HAPPENED.search(text):
        return None
    steps, slot = context.run.distinct_steps, context.query.steps
    step = slot.values[0] if slot.kind == "single" else None
    if step is not None and step in steps and step < steps[-1]:
        return context.say("supposed.no_oom_at", step=step, last=steps[-1])
    return context.say("supposed.no_oom", last=steps[-1])


def _metric(context: Context) -> str | None:
    """The one metric that is named, a mean before its extremes; ``None`` for none and for several matters."""
    keys = [key for key in central(named_keys(context)) if key in context.run.columns]
    starts = {mention.start for mention in context.query.mentions if mention.key in keys}
    families = {key.rpartition("/")[0] or key for key in keys}
    if not keys or (len(starts) > 1 and len(set(keys)) > 1 and len(families) > 1):
        return None
    return keys[0]


def _contradicted(context: Context, metric: str, supposed: Supposed) -> str:
    """The sentence that denies what is supposed; empty where the log bears it out, or cannot tell."""
    whole = part_of(context, metric, Scope())
    if not len(whole):
        return ""
    logged = [float(value) for value in context.run.series(metric)[1]]
    if supposed.kind == "is" and any(supposed.names(v) if supposed.value else v == 0 for v in logged):
        return ""  # a value of the log, be it one that stands for what was not measured
    largest = max(abs(value) for value in whole.values)
    if supposed.clock and context.kind_of(metric) not in {"seconds", "milliseconds"}:
        return ""  # a time is not said of a metric that holds none
    supposed = supposed.scaled(largest, context.kind_of(metric))
    part = _meant(context, metric, whole)
    if part is None or not len(part):
        return ""
    slot = context.query.steps
    at_end = supposed.last or slot.kind == "last"
    values: Sequence[float] = part.values[-1:] if at_end else part.values
    held = [supposed.holds(value, whole.values[0], largest) for value in values]
    if supposed.never:
        return _once(context, metric, supposed, part, held) if any(held) else ""
    always = supposed.kind == "near" or supposed.every
    if (all if always else any)(held) or _of_another(context, metric, supposed):
        return ""
    limit = _limit(context, metric, supposed, whole)
    shown = _shown(context, part, supposed, at_end=at_end)
    if len(whole) == 1:
        return context.say("supposed.one", metric=metric, v=shown, limit=limit)
    of = whole if at_end or len(part) == 1 else part
    low, high = (cell(context, of, of.values.index(pick(of.values))) for pick in (min, max))
    ends = {"low": low, "high": high, "metric": metric, "v": shown, "limit": limit}
    if at_end or len(part) == 1 or always:
        return context.say("supposed.at", **ends)
    if part.steps == whole.steps:
        return context.say("supposed.nowhere", over=context.say("supposed.anywhere"), **ends)
    over = context.say("supposed.in_part", first=part.steps[0], last=part.steps[-1])
    return context.say("supposed.nowhere", over=over, **ends)


def _once(context: Context, metric: str, supposed: Supposed, part: Part, held: Sequence[bool]) -> str:
    """That a metric was where it is said never to have been: how often, first when, and the farthest value."""
    high = supposed.kind in {"above", "up_to"} or (supposed.kind == "to" and supposed.value > part.values[0])
    far = cell(context, part, part.values.index((max if high else min)(part.values)))
    count = context.ledger.count(f"values {supposed.kind} {supposed.value:g}", sum(held), metric=metric)
    total = context.ledger.count("values", len(part), metric=metric)
    first = cell(context, part, held.index(True))
    return context.say("supposed.once_high" if high else "supposed.once_low", metric=metric, k=count, n=total,
                       first=first, far=far, low=_number(context, supposed))  # fmt: skip


#: What parts a number from a metric that is named only behind it: "pass@4 is 0.62, but the reward …".
_BREAK: Final = re.compile(r"(?i)[,，;；。]|\b(?:but|while|yet|although|though|whereas)\b|但|而|可是|却")


def _before_a_break(context: Context, metric: str, supposed: Supposed) -> bool:
    """Whether the number stands in a clause before the one that names the metric: it is said of something else."""
    text = words_of(context)
    at = text.find(supposed.text)
    starts = [mention.start for mention in context.query.mentions if mention.key == metric]
    return at >= 0 and bool(starts) and all(at < start and _BREAK.search(text[at:start]) for start in starts)


def _of_another(context: Context, metric: str, supposed: Supposed) -> bool:
    """Whether the number is one that another metric of the log holds: it is said of that one, however it is called."""
    figures = re.sub(r"(?i)e.*|[^\d]", "", supposed.text).lstrip("0")
    if supposed.kind not in {"is", "to", "near"} or len(figures) < _TELLING:
        return False  # "3" and "0.01" are held by chance
    run = context.run
    return any(supposed.names(v) for key in run.metrics if key != metric for v in run.series(key)[1])


def _meant(context: Context, metric: str, whole: Part) -> Part | None:
    """The part of the values that the question is about: one step, a stretch, all."""
    slot = context.query.steps
    if slot.kind == "single":
        step = slot.values[0]
        return part_of(context, metric, Scope(step, step)) if step in whole.steps else None
    scope = scope_in(words_of(context), context.train_steps)
    return whole if scope.whole else part_of(context, metric, scope)


def _shown(context: Context, part: Part, supposed: Supposed, *, at_end: bool) -> Fact:
    """The value that is set against what is supposed: the last, or for "always" the one farthest from it."""
    if supposed.every and not at_end:
        farthest = min if supposed.kind == "above" else max
        return cell(context, part, part.values.index(farthest(part.values)))
    if supposed.kind != "near" or at_end:
        return cell(context, part, len(part) - 1)
    far = max(range(len(part)), key=lambda place: abs(part.values[place] - supposed.value))
    return cell(context, part, far)


def _limit(context: Context, metric: str, supposed: Supposed, whole: Part) -> str:
    kind = supposed.kind
    if kind == "to":
        kind = "up_to" if supposed.value > whole.values[0] else "down_to"
    if kind == "negative":
        return context.say("supposed.limit_all_negative" if supposed.every else "supposed.limit_negative")
    return context.say(f"supposed.limit_{kind}", low=_number(context, supposed))


def _number(context: Context, supposed: Supposed) -> str:
    """The number as typed, tied to the question."""
    fact = context.ledger.constant(f"supposed {supposed.value:g}", supposed.value, "the question")
    typed = supposed.text.removesuffix("percent").removesuffix("pct")
    plain = typed.rstrip("%％ ").replace(".", "", 1).lstrip("-").isdigit()
    shown = (
        typed
        if plain and typed == supposed.text
        else format_number(supposed.value, "number", language=context.language)
    )
    return mark(fact.id, shown.replace("％", "%"))
