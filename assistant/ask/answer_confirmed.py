"""Says first whether what a question puts for confirmation is so: yes, no or in part, with the values."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.ask import claimed_onset, claimed_return, claimed_start
from assistant.ask.blanking import blanked
from assistant.ask.clause_subjects import anchored, first_odd, of_stage, of_whole_steps, without_place
from assistant.ask.confirmed import Claim, Statement, claim_in, statement_in, values_from_to
from assistant.ask.confirmed_factors import (
    STEADILY,
    Told,
    averaged,
    mean_of,
    of_levels,
    short_of,
    sides,
    times,
)  # fmt: skip
from assistant.ask.context import Context, is_validation
from assistant.ask.in_between import happened, largest_move
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.of_part import on_the_whole
from assistant.ask.part import Part, cell, part_of
from assistant.ask.scope import Scope, scope_in
from assistant.ask.supposed import Supposed
from assistant.ask.understand import Query, understand
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import marked_ids, unmark

#: First sentences that say yes or no themselves.
_DENIED: Final = re.compile(
    r"(?i)^\W*(?:no\b|not so|not -?\d|it is the other way"
    r"|the log (?:does not show|shows no|holds no)|nothing of|there is no|不对|没有(?!发现)|不是|并非"
    r"|日志里?(?:没有|看不到)|与问题所说)"
)
_AFFIRMED: Final = re.compile(r"(?i)^\W*(?:yes\b|对[：:，,]|有[：:，,]|是[：:，,]|确实)")
#: Kinds that the other writers read to the end as well.
_PLAIN: Final = {"value", "moved"}
_INTENTS: Final = {
    "health", "explain", "advice", "lookup", "define", "trend", "validation", "bottleneck", "compare", "derive",
}  # fmt: skip
#: Kinds of answers that hold the statement against what the question does not speak of.
_OWN_KINDS: Final = {"heard", "preference_start", "model_better"}
#: A metric's name that swallowed what is said of it.
_SAID_IN_NAME: Final = re.compile(
    r"(?i)\s*\b(?:take|took|last|get|got|spend|spent|stay|need)\w*\b.*|越来越.*|[要花用]了?\s*\d.*|(?<![\w-])\d+\s*\w*$"
)
#: How far a rough number may be from the value, as a share of the number.
_ROUGH: Final = 0.15
#: How far a number with few digits may be from the value that it names.
_ALIKE: Final = 0.1
#: A median that many times another is a change of pace.
_CHANGED: Final = 1.1
#: Half a unit of a number without decimals.
_WHOLE: Final = 0.5
#: So many times the usual move from one step to the next stands out.
_STANDS_OUT: Final = 5.0
_STILL: Final = 1e-6
#: A move of less than this share of the largest value is no leap.
_LEAP: Final = 0.2
#: A value as small as this is zero to whoever says so.
_NOTHING: Final = 1e-8
#: Said of the mean, although the words went into the metric's name: "一步平均要 80 分钟".
_AVERAGED: Final = re.compile("平均|均值")
#: A length of time behind a number.
_CLOCK: Final = re.compile(r"(?i)\d\s*(?:秒|分钟|小时|毫秒|(?:s|secs?|seconds?|ms|mins?|minutes?|hours?|hrs?)\b)")
#: A row, where the log names no steps.
_ROW: Final = re.compile(r"(?i)\brows?\s+(?=\d)")
#: So many slashes a validation's key has that names its set.
_DEEP: Final = 3
#: Fewest values of which one move can be called the largest.
_FEWEST: Final = 4


def beside(context: Context, verdict: Verdict) -> Verdict:
    """The verdict, with yes, no or in part in front where the question puts, or takes for granted, what can be looked
    up. What is taken for granted and so is not repeated."""
    if len(context.runs) != 1 or context.query.intent not in _INTENTS or not context.doc.blocks:
        return verdict
    early = claimed_onset.denied(context) or claimed_start.denied(context) or claimed_return.told(context)
    if early:
        lead = unmark(context.doc.blocks[0]).strip("*")
        if _AFFIRMED.search(lead) or _DENIED.search(lead):
            del context.doc.blocks[0]
        context.doc.blocks.insert(0, f"**{early}**")
        return replace(verdict, summary=unmark(early))
    statement = statement_in(normalised(context.query.wording or context.query.text))
    if statement is None or context.kind in _OWN_KINDS:
        return verdict
    with on_the_whole(context):
        told, unread = _all(context, statement)
    wrong = [one for one in told if not one.holds]
    if not told or (not wrong and unread and not statement.causal):
        return verdict
    blocks = context.doc.blocks
    first = unmark(blocks[0]).strip("*")
    denied, affirmed = _DENIED.search(first) is not None, _AFFIRMED.search(first) is not None
    same = any(not one.metric or f"`{one.metric}`" in first for one in wrong)
    if statement.taken and ((denied and same) or not wrong):
        return verdict
    if (
        {one.kind for one in told} <= _PLAIN
        and not unread
        and (denied if len(wrong) == len(told) else affirmed and not wrong)
        and all(one.metric in first for one in told)
    ):
        return verdict
    said = _sentence(context, statement, told, unread)
    if ((denied or affirmed) and (same or not statement.taken)) or set(marked_ids(blocks[0])) <= set(marked_ids(said)):
        del blocks[0]
    elif wrong and blocks[0].startswith(so := f"**{context.say('complaint.so')}"):  # not all of it is as stated
        blocks[0] = f"**{blocks[0][len(so) :].lstrip()}"
    blocks.insert(0, f"**{said}**")
    for one in reversed(told):
        if one.metric and one.metric not in context.metrics:
            context.metrics.insert(0, one.metric)
    return replace(verdict, summary=unmark(said))


def _sentence(context: Context, statement: Statement, told: Sequence[Told], unread: str) -> str:
    gap = "；" if context.language == "zh" else "; "
    no = gap.join(dict.fromkeys(one.said for one in told if not one.holds))
    yes = gap.join(dict.fromkeys(one.said for one in told if one.holds))
    if no:
        if statement.taken:
            return context.say("put.not_so", told=no)
        return context.say("put.partly", no=no, yes=yes) if yes else context.say("put.no", told=no)
    if unread:
        context.names.add(unread)
        return context.say("put.no_ground", told=yes, clause=unread)
    causal = statement.causal and len(told) > 1
    return context.say("put.no_cause" if causal else "put.yes", told=yes)


def _all(context: Context, statement: Statement) -> tuple[list[Told], str]:
    """The clauses held against the log, and the first that could not be."""
    told: list[Told] = []
    keys: list[str] = central(named_keys(context))[:1] if context.query.follows else []  # "why is it falling?"
    unread = ""
    step: int | None = None
    for clause in statement.clauses:
        for piece in _conjoined(context, anchored(context, clause)):
            read = understand(piece, context.resolver, context.runs, language=context.language)
            own = _keys(context, read, piece) or of_whole_steps(context, piece)
            staged, word = ([], "") if own else of_stage(context, piece)
            keys = own or staged or keys
            if not keys and words("confirmed")["nan"].search(piece) and (odd := first_odd(context)) is not None:
                keys = [odd]
            scope, text = _stripped(context, piece, read)
            text = text.replace(word, " ", 1) if staged else text
            if scope.whole and step is not None and words("confirmed")["afterwards"].search(piece):
                scope = Scope(first=step)
            claim = claim_in(text)
            found = [] if claim is None or (len(keys) > 1 and claim.kind != "moved") else [
                one for key in keys if (one := _held(context, key, claim, scope, read)) is not None
            ]  # fmt: skip
            if found and len(found) == len(keys):
                told.extend(found)
            else:
                unread = unread or clause
            if read.steps.kind == "single" and scope.whole:
                step = read.steps.values[0]
    return told, unread


def _conjoined(context: Context, clause: str) -> list[str]:
    """A clause, or both sides of its "and" where each states something by itself."""
    match = words("confirmed")["and"].search(clause)
    if match is None:
        return [clause]
    pieces = [clause[: match.start()].strip(), clause[match.end() :].strip()]
    for piece in pieces:
        read = understand(piece, context.resolver, context.runs, language=context.language)
        if claim_in(_stripped(context, piece, read)[1]) is None:
            return [clause]
    return pieces


def _keys(context: Context, read: Query, piece: str) -> list[str]:
    """The metrics that a clause names, one of each place; a validation named beside a training metric included."""
    held, context.query = context.query, read
    kept: dict[tuple[int, int], str] = {}
    for mention in read.mentions:
        if mention.end == mention.start:
            continue  # only described: "涨" is said of what was asked about
        context.query = replace(read, mentions=(mention,))
        found = [key for key in central(named_keys(context)) if key in context.run.columns]
        if found:
            kept.setdefault((mention.start, mention.end), found[0])
    context.query = held
    keys = list(dict.fromkeys(kept.values()))
    word = _benchmark(context, blanked(normalised(piece), list(kept)))
    if not keys or word is None or any(is_validation(key) or key.startswith("eval") for key in keys):
        return keys
    context.query = understand(word, context.resolver, context.runs, language=context.language)
    found = [key for key in central(named_keys(context)) if key in context.run.columns and "time" not in key]
    context.query = held
    return found[:1] + keys if found else []


def _benchmark(context: Context, text: str) -> str | None:
    """The word of a text that names the validation, or one of the sets that the log validates on."""
    sets = {key.split("/")[-3] for key in context.run.metrics if is_validation(key) and key.count("/") >= _DEEP}
    named = next((name for name in sorted(sets) if name.lower() in text.lower()), None)
    match = words("confirmed")["validation"].search(text)
    return named or (match.group() if match is not None else None)


def _stripped(context: Context, clause: str, read: Query) -> tuple[Scope, str]:
    """The part of the run that a clause names, and its words without that and without names of metrics."""
    text = normalised(clause)
    spans = []
    for mention in read.mentions:
        name = _SAID_IN_NAME.sub("", text[mention.start : mention.end]).rstrip()
        spans.append((mention.start, mention.start + len(name)))
    text = blanked(text, spans)
    word = _benchmark(context, text)
    if word is not None:
        at = text.lower().find(word.lower())
        text = blanked(text, [(at, at + len(word))])
    text = _ROW.sub("step ", text)
    if read.steps.kind == "single" and words("confirmed")["broke"].search(text):
        text = without_place(text, read.steps.values[0])
    if values_from_to(text):  # "from 15 to 9" are values, and no part of the run
        return Scope(), text
    scope = scope_in(text, context.train_steps)
    return scope, blanked(text, scope.spans)


def _held(context: Context, metric: str, claim: Claim, scope: Scope, read: Query) -> Told | None:
    told = _looked_up(context, metric, claim, scope, read)
    return None if told is None else replace(told, kind=claim.kind)


def _looked_up(context: Context, metric: str, claim: Claim, scope: Scope, read: Query) -> Told | None:
    if claim.kind == "nan":
        return _nan(context, metric, read)
    if claim.pace and context.kind_of(metric) not in {"seconds", "milliseconds"}:
        return None  # a rate is the higher the faster
    timed = context.kind_of(metric) in {"seconds", "milliseconds"}
    if claim.kind in {"value", "from_to"} and not timed and _CLOCK.search(read.text):
        return None  # "took 22 s" is not said of a metric that holds no time
    part = _part(context, metric, scope, read)
    if part is None or not len(part):
        return None
    if claim.kind == "value" and claim.supposed is not None:
        return _value(context, part, claim, claim.supposed, read)
    if claim.kind == "broke" and read.steps.kind == "single":
        return _broke(context, metric, read)
    if claim.kind == "broke":  # of no step: it can be denied, where the metric went the other way
        up = words("confirmed")["burst"].search(read.text) is not None
        told = _leapt(_moved(context, part, up=up), part, read) if len(part) > 1 else None
        if told is not None and told.holds and words("confirmed")["ruined"].search(read.text):
            told = short_of(context, part, told, up=up)
        return told if told is not None and not told.holds else None
    if claim.kind in {"peak", "bottom"}:
        return _peak(context, part_of(context, metric, Scope()), claim, read)
    if claim.kind == "than":
        return _than(context, metric, up=bool(claim.up), read=read)
    if len(part) < 2 or (read.steps.kind == "single" and scope.whole):
        return None
    if claim.kind == "from_to" and claim.ends is not None:
        return _from_to(context, part, claim, claim.ends)
    if claim.kind == "times":
        return times(context, metric, part, claim, scope)
    if claim.pace and (both := sides(context, metric, part, scope)) is not None:
        return replace(both[0], holds=both[1] > _CHANGED if claim.up else both[1] < 1 / _CHANGED)
    told = _moved(context, part, up=bool(claim.up))
    if not told.holds and not STEADILY.search(read.text):
        told = of_levels(context, metric, part, scope, up=bool(claim.up)) or told
    return _leapt(told, part, read)


def _leapt(told: Told, part: Part, read: Query) -> Told:
    """A move that was said to be a leap: it is none where all values lie within a small part of the largest."""
    little = max(part.values) - min(part.values) < _LEAP * max(abs(value) for value in part.values)
    return replace(told, holds=False) if little and words("confirmed")["all_at_once"].search(read.text) else told


def _part(context: Context, metric: str, scope: Scope, read: Query) -> Part | None:
    slot = read.steps
    if slot.kind == "single" and scope.whole:
        step = slot.values[0]
        return part_of(context, metric, Scope(step, step)) if context.run.value(metric, step) is not None else None
    return part_of(context, metric, scope)


def _ends(context: Context, part: Part, name: str = "put.ends") -> str:
    first, last = cell(context, part, 0), cell(context, part, len(part) - 1)
    return context.say(name, metric=part.metric, first=first, last=last)


def _value(context: Context, part: Part, claim: Claim, stated: Supposed, read: Query) -> Told | None:
    whole = part_of(context, part.metric, Scope())
    largest = max(abs(value) for value in whole.values)
    stated = stated.scaled(largest, context.kind_of(part.metric))
    measured = set(whole.values)
    aside = [value for value in map(float, context.run.series(part.metric)[1]) if value not in measured]
    if stated.kind == "is" and any(stated.names(value) for value in aside):
        return None  # one that stands for what was not measured
    if (claim.average or _AVERAGED.search(read.text)) and len(part) > 1:
        mean = mean_of(context, part)
        value = float(mean.value or 0)
        rough = claim.about and abs(value - stated.value) <= _ROUGH * abs(stated.value)
        same = stated.names(value) if stated.kind in {"is", "to"} else stated.holds(value, whole.values[0], largest)
        return Told(rough or same, averaged(context, part, mean), part.metric)

    def meets(value: float) -> bool | None:
        if claim.about and stated.kind in {"is", "to", "up_to", "down_to", "near"}:
            return abs(value - stated.value) <= max(_ROUGH * abs(stated.value), 2 * stated.half)
        if stated.kind in {"is", "to"}:
            return _same(value, stated, largest)
        if stated.kind in {"up_to", "down_to"} and (stated.last or len(part) == 1):
            return _same(value, stated, largest) or stated.holds(value, whole.values[0], largest)
        return stated.holds(value, whole.values[0], largest)

    held = [meets(value) for value in part.values]
    if len(part) == 1 or claim.first or stated.last or read.steps.kind == "last":
        place = 0 if claim.first or len(part) == 1 else len(part) - 1
        holds = held[place]
        if holds is None:
            return None
        return Told(holds, context.say("put.at", metric=part.metric, v=cell(context, part, place)), part.metric)
    said = _range(context, part)
    moving = stated.kind in {"up_to", "down_to", "to"} or words("confirmed")[
        "falls" if stated.kind == "below" else "rises"
    ].search(read.text)
    if stated.every and (False in held or None not in held):
        return Told(False not in held, said, part.metric)
    if not stated.every and (held[-1] or (moving and True in held)):
        return Told(True, said, part.metric)
    return Told(False, said, part.metric) if set(held) == {False} else None


def _same(value: float, stated: Supposed, largest: float) -> bool | None:
    """Whether a value is the number as typed; ``None`` where only its first digits are."""
    if stated.value == 0:
        return abs(value) <= max(_STILL * largest, _NOTHING)
    if not stated.names(value):
        return False
    off = abs(value - stated.value) / abs(stated.value)
    if off <= _ALIKE:
        return True
    return False if stated.half >= _WHOLE and off > 2 * _ALIKE else None  # 0.74 is no 1


def _range(context: Context, part: Part) -> str:
    if max(part.values) == min(part.values):
        count = context.ledger.count("values", len(part), metric=part.metric)
        return context.say("put.constant", metric=part.metric, n=count, v=cell(context, part, len(part) - 1))
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    return context.say("put.between", metric=part.metric, low=low, high=high, v=cell(context, part, len(part) - 1))


def _from_to(context: Context, part: Part, claim: Claim, ends: tuple[Supposed, Supposed]) -> Told:
    largest = max(abs(value) for value in part.values)
    first, last = (end.scaled(largest, context.kind_of(part.metric)) for end in ends)

    def near(value: float, end: Supposed) -> bool:
        if end.kind in {"above", "below"}:
            return end.holds(value, part.values[0], largest)
        rough = claim.about and abs(value - end.value) <= _ROUGH * abs(end.value)
        return bool(rough or _same(value, end, largest))

    holds = near(part.values[0], first) and near(part.values[-1], last)
    return Told(holds, _ends(context, part), part.metric)


def _moved(context: Context, part: Part, *, up: bool) -> Told:
    first, last = part.values[0], part.values[-1]
    if max(part.values) - min(part.values) <= _STILL * max(abs(v) for v in part.values) or first == last:
        return Told(False, _ends(context, part, "put.ends_still"), part.metric)
    trend = context.ledger.trend(part.metric, list(part.steps))
    way = None if trend is None else {"rising": True, "falling": False}.get(trend.direction or "")
    if (last > first) != up or (way is not None and way != up):
        once = happened(context.query.said) and not (up and way is False)  # a rise that was lost again is none
        move = largest_move(context, part.metric, part.steps, part.values, up=up) if once else None
        if move is not None:  # it did, if not from its first value to its last
            final = cell(context, part, len(part) - 1)
            said = context.say("put.in_between", metric=part.metric, a=move.start, b=move.end, v=final)
            return Told(True, said, part.metric)
        return Told(False, _ends(context, part), part.metric)
    if way is None:  # by its ends alone: so much as it moves from one value to the next is no move
        usual = statistics.median([abs(b - a) for a, b in pairwise(part.values)])
        holds = len(part) < _FEWEST or abs(last - first) > 2 * usual
        return Told(holds, _ends(context, part, "put.ends_only"), part.metric)
    return Told(True, _ends(context, part), part.metric)


def _peak(context: Context, whole: Part, claim: Claim, read: Query) -> Told | None:
    if read.steps.kind != "single" or not len(whole):
        return None
    mean = f"{whole.metric.rpartition('/')[0]}/mean"
    if max(whole.values) == min(whole.values) and mean in context.run.columns:  # "得分最高" of a constant largest one
        whole = part_of(context, mean, Scope())
    step = read.steps.values[0]
    high = claim.kind == "peak"
    far = whole.values.index((max if high else min)(whole.values))
    gaps = [b - a for a, b in zip(whole.steps, whole.steps[1:], strict=False)]
    wide = max(min(gaps, default=1), 3) if claim.about else 0
    value = context.run.value(whole.metric, step)
    holds = abs(whole.steps[far] - step) <= wide or value == whole.values[far]
    said = context.say(
        "put.highest" if high else "put.lowest", metric=whole.metric, far=cell(context, whole, far),
        v=cell(context, whole, len(whole) - 1),
    )  # fmt: skip
    return Told(holds, said, whole.metric)


def _nan(context: Context, metric: str, read: Query) -> Told | None:
    steps, values = context.run.series(metric)
    odd = next((s for s, v in zip(steps, values, strict=True) if not math.isfinite(v)), None)
    if odd is None:
        return None if first_odd(context) is not None else Told(False, context.say("put.all_finite"), "")
    fact = context.value(metric, odd)
    if fact is None:
        return None
    holds = read.steps.kind != "single" or read.steps.values[0] == odd
    context.names.update({"NaN", "inf"})
    return Told(holds, context.say("put.not_finite", metric=metric, v=fact), metric)


def _than(context: Context, metric: str, *, up: bool, read: Query) -> Told | None:
    """One step's value against another's, in the order in which they are named."""
    if len(read.all_steps) != 2:
        return None
    a, b = (context.value(metric, step) for step in read.all_steps)
    if a is None or b is None or not isinstance(a.value, (int, float)) or not isinstance(b.value, (int, float)):
        return None
    holds = a.value > b.value if up else a.value < b.value
    return Told(holds, context.say("put.two", metric=metric, a=a, b=b), metric)


def _broke(context: Context, metric: str, read: Query) -> Told | None:
    """The move into a step against the usual one and the largest of the run."""
    whole = part_of(context, metric, Scope())
    if read.steps.kind != "single" or len(whole) < _FEWEST or read.steps.values[0] not in whole.steps[1:]:
        return None
    moves = [abs(b - a) for a, b in zip(whole.values, whole.values[1:], strict=False)]
    place = whole.steps.index(read.steps.values[0])
    most = max(range(len(moves)), key=lambda at: moves[at])
    usual = statistics.median(moves)
    values = {"metric": metric, "a": cell(context, whole, most), "b": cell(context, whole, most + 1)}
    if most == place - 1 and moves[most] > _STANDS_OUT * usual:
        return Told(True, context.say("put.move", **values), metric)
    if moves[place - 1] > 2 * usual:
        return None
    return Told(False, context.say("put.no_move", v=cell(context, whole, place), **values), metric)
