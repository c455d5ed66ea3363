"""Claims that a value is there or not, is finite, or is the extreme of its metric."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import cue, negated, outside
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.table import agrees

_NO: Final = re.compile(
    r"(?i)(?:没有|并无|缺少|(?<!不)缺|不含|未见|找不到|查不到|\b(?:no|without(?: any)?|lacks?(?: any)?|(?:won't|will not|can't|cannot|don't|do not|couldn't|could not) (?:find|see|have|know|get)(?: any)?))\s*(?:the |any |an? )?"
)
#: "不缺 `timing_s/gen`": it is there, whatever number stands in another clause.
_NO_LACK: Final = re.compile(r"不缺")
#: Between "no" and a name: "no actor MFU".
_ADJECTIVE: Final = re.compile(r"[`*\s]*(?:[A-Za-z-]{2,12}\s)?[`*\s]*")
_NEAR: Final = 20
#: Nothing more is said of a metric that a log without steps does not hold.
_LEFT: Final = re.compile(
    r"(?i)[`*]{0,4}\s{0,3}(?:(?:in|of|from) (?:the|this|your) (?:log|run|file|output)|(?:这|该)?(?:一)?(?:个|项|列)?(?:指标|字段|列|一项)|(?:metric|key|column|field|series|entry)s?)?\s{0,3}(?:[,，.。;；]|$)"
)
_THERE: Final = re.compile(
    r"(?i)(?:\b(?:log|run|file|output|it)\s+(?:also |still |does )?(?:has|have|contains?|holds?|includes?|records?|logs?|prints?|reports?|tracks?|lists?)\s+(?:an? |the |its |both )?|日志(?:里|中|文件)?(?:也|还|是|都)*(?:有|含|包含|记录了?|打印了?|记了)|(?<![没未不])(?:记录了|打印了|记了)|有记录)[`*\s]*$"
)
_AMONG: Final = re.compile(
    r"(?i)[`*]*\s+(?:is|are|was|were)(?P<no> not|n't)? (?:also |never )?(?:logged|recorded|printed|reported|tracked|among the|part of the log|in (?:the|this|your) log)\b|[`*]*\s*(?P<zh_no>不|没)?在(?:这份|该)?日志(?:里|中)"
)
_MOVES: Final = re.compile(
    r"(?i)[`*\s]*(?:的)?[`*\s]*(?:上升|下降|变化|增长|提升|回落|波动|趋势|更|比|gain|rise|drop|growth|change|trend|increase|decrease|improve)"
)

#: "No `critic/vf_loss` is logged".
_NONE_OF: Final = re.compile(
    r"(?i)\b(?:no|neither|nor|none of)\s+(?:the |separate |such )?(?:metric |key |column )?[`*]*$"
)
#: "Is logged up to step 22", "only from step 5 to 9": and at no other step.
_UNTIL: Final = re.compile(r"(?i)\b(?:until|up to|till)\b|直到|为止")
_TO_ITS_END: Final = re.compile(rf"{_UNTIL.pattern}|\bonly\b|只|仅")
#: "before step 5", "step 5 前"; "between steps 54 and 59", "step 54 和 step 59 之间": the steps inside.
_BEFORE: Final = re.compile(r"(?i)\b(?:before|prior to|earlier than)\s+(?:the )?[`*]*$")
_BEFORE_ZH: Final = re.compile(r"[`*\s]*(?:之前|以前|前(?![几两三]|\s?\d))")
_AMIDST: Final = re.compile(r"(?i)\b(?:in )?between\s+(?:the )?[`*]*$")
_AMIDST_ZH: Final = re.compile(r"[`*\s]*(?:之间|中间)")
BESIDE_LEFT: Final = re.compile(f"{_BEFORE.pattern}|{_AMIDST.pattern.removeprefix('(?i)')}")
BESIDE_RIGHT: Final = re.compile(f"{_BEFORE_ZH.pattern}|{_AMIDST_ZH.pattern}")


def absence(
    frame: Frame, judge: Judge, idle: Sequence[bool], since: int = 0
) -> tuple[int, int, Decision] | None:  # fmt: skip
    """ "Step 5 has no reward", "日志里没有 kl_loss": a claim that something is not there.

    Args:
        frame: the sentence.
        judge: its table is asked.
        idle: which of its clauses state nothing.
        since: where to look from; then only the names of the clause itself are meant.
    """
    match = cue("missing").search(frame.text, since) or _none_of(frame, since)
    if since:
        return _without(frame, judge, idle, match, near_by=0) if match is not None else None
    return _present(frame, judge, idle) if match is None else _without(frame, judge, idle, match)


def _present(
    frame: Frame, judge: Judge, idle: Sequence[bool], missing: Sequence[int] = ()
) -> tuple[int, int, Decision] | None:
    """What a word says is there; not in the clauses of words that say it is not."""
    for present in cue("present").finditer(frame.text) if frame.places or frame.carried.steps else ():
        clause = frame.clause(present.start())
        if any(frame.clause(q.start) == clause for q in frame.numbers) or (frame.numbers and not _NO_LACK.match(present.group())):  # fmt: skip
            continue
        if not idle[clause] and clause not in missing and not negated(frame, present.start()):
            return presence(frame, judge, present.start(), present.end())
    return None


def absences(frame: Frame, judge: Judge, idle: Sequence[bool]) -> Iterator[tuple[int, int, Decision]]:
    """The first of :func:`absence`, and those of the clauses behind it."""
    found = first = absence(frame, judge, idle)
    while found is not None:
        yield found
        _, end = frame.clause_span(found[1])
        found = absence(frame, judge, idle, end + 1) if end < len(frame.text) else None
    if first is not None and len(frame.breaks) and (match := cue("missing").search(frame.text) or _none_of(frame)):
        also = _present(frame, judge, idle, [frame.clause(match.start())])
        if also is not None and (also[0] >= first[1] or also[1] <= first[0]):
            yield also  # "is logged from step 23 on, as no answer is marked right"


def _without(
    frame: Frame, judge: Judge, idle: Sequence[bool], match: re.Match[str], near_by: int = 1
) -> tuple[int, int, Decision] | None:
    """What a word says is not there: the metrics of its clause, or of one beside it."""
    if idle[frame.clause(match.start())]:
        return None
    names = [n for n in frame.names if (n.keys or n.absent) and not re.search(r"截断|cut|truncat", n.text)]
    clause = frame.clause(match.start())
    close = [n for n in names if frame.clause(n.start) == clause]
    close = [
        n for n in close if 0 <= n.start - match.end() < 3
    ] or close  # "at validation (step 0) no entropy is logged"
    near = [n for n in close or (names if near_by else []) if abs(frame.clause(n.start) - clause) <= near_by]
    told = bool(near)
    if not near and not frame.names and frame.places and not frame.numbers:
        near = [n for n in frame.carried.names[-1:] if n.keys]  # "…; for step 25 the log gives no value"
    if not near:
        return None
    start, end = match.span()
    if told:
        start, end = min(start, near[0].start), max(end, near[-1].end)
    if any(
        start <= q.start < end
        or (frame.clause(q.start) == clause and q.unit not in {"steps", "characters"} and q.start > start)
        for q in frame.numbers
    ):
        return None
    table = judge.table
    finite = re.search(r"(?i)\bfinite|有限", frame.text[match.start() : match.end() + 12]) is not None

    def there(key: str, step: int) -> bool:
        value = table.value(key, step)
        return value is not None and (not finite or math.isfinite(value))

    held = [n for n in near if n.keys]
    beside = [p for p in frame.places if frame.clause(p.start) == clause]
    steps = stretch(frame, beside or frame.places, table.steps) or ([] if frame.places else list(frame.carried.steps))
    if frame.places and not steps:
        return start, end, Decision("supported")  # between two steps that follow each other
    for name in held:
        here = [(key, s) for key in name.keys[:3] for s in (steps or table.held(key)[:1]) if there(key, s)]
        gone = [key for key in name.keys[:3] if steps and not any(there(key, s) for s in steps)]
        if here and not gone and (steps or name.exact or len(name.keys) == 1):
            key, step = here[0]
            cell = table.run.cell(key, step)
            if not steps and any(True for gap in table.run.missing if gap.metric in {key, None}):
                return None
            note = judge.say(
                "held", metric=key, step=step, true=cell.value if cell else "", line=cell.line if cell else 0
            )
            return start, end, Decision("contradicted", note)
    return start, end, Decision("supported")


def stretch(frame: Frame, places: Sequence[Place], logged_steps: Sequence[int]) -> list[int]:
    """The steps at which something is said not to be: all of a stretch, those before a step, those between two."""
    found: list[int] = []
    for place in places:
        low, high = min(place.steps), max(place.steps)
        left, right = frame.text[max(0, place.start - 20) : place.start], frame.text[place.end :]
        if place.kind == "range":
            found += [s for s in logged_steps if low <= s <= high]
        elif len(place.steps) == 1 and (_BEFORE.search(left) or _BEFORE_ZH.match(right)):
            found += [s for s in logged_steps if s < low]
        elif len(place.steps) == 2 and (_AMIDST.search(left) or _AMIDST_ZH.match(right)):
            found += [s for s in logged_steps if low < s < high]
        else:
            found += place.steps
    return found


def _none_of(frame: Frame, since: int = 0) -> re.Match[str] | None:
    """``没有 `timing_s/gen` ``, ``there is no entropy at step 0``: a word that denies the name right behind it."""
    for name in frame.names:
        if not (name.keys or name.absent):
            continue
        if not (frame.places or frame.carried.steps) and not _LEFT.match(frame.text, name.end):
            continue
        match = _NO.search(frame.text, since, name.start)
        while match is not None:
            rest = frame.text[match.end() : name.start]
            for place in frame.places:  # "没有 step 102 的吞吐"
                if match.end() <= place.start and place.end <= name.start:
                    rest = re.sub(r"^[`*\s]*的?", "", rest.replace(frame.text[place.start : place.end], "", 1))
            if len(rest) < _NEAR and _ADJECTIVE.fullmatch(rest) and not _MOVES.match(frame.text[name.end :]):
                return match
            match = _NO.search(frame.text, match.end(), name.start)
    return None


def logged(frame: Frame, idle: Sequence[bool], judge: Judge) -> Iterator[tuple[int, int, Decision]]:
    """ "The log has a critic/vf_loss", "MFU is not among the logged metrics": of the run as a whole."""
    if frame.places or frame.carried.steps or frame.numbers:
        return
    for name in frame.names:
        if not (name.keys or name.absent) or idle[frame.clause(name.start)]:
            continue
        among = _AMONG.match(frame.text, name.end)
        if among is None and not (
            _LEFT.match(frame.text, name.end) and _THERE.search(frame.text[max(0, name.start - 40) : name.start])
        ):
            continue
        denied = among is not None and bool(among["no"] or among["zh_no"])
        denied ^= among is not None and _NONE_OF.search(frame.text[: name.start]) is not None
        if denied != bool(name.keys):
            yield name.start, name.end, Decision("supported")
        elif denied:
            step = judge.table.held(name.keys[0])[0]
            cell = judge.table.run.cell(name.keys[0], step)
            note = judge.say(
                "held", metric=name.keys[0], step=step, true=cell.value if cell else "", line=cell.line if cell else 0
            )
            yield name.start, name.end, Decision("contradicted", note)
        else:
            note = judge.say("no_metric", metric=name.text.strip("`"))
            yield name.start, name.end, Decision("contradicted", note)


def presence(frame: Frame, judge: Judge, start: int, end: int) -> tuple[int, int, Decision] | None:
    """ "Reward is logged at step 0", "entropy is finite at step 58": that a value stands there."""
    table = judge.table
    held = [n for n in frame.names if n.keys]
    steps = [s for p in frame.places if p.kind != "range" for s in p.steps] or list(frame.carried.steps)
    finite = re.search(r"(?i)finite|有限", frame.text[start:end])
    spans = [p for p in frame.places if p.kind == "range"]
    if held and len(spans) == 1 == len(frame.places):
        steps = stretch(frame, spans, table.steps)
        at = table.held(held[0].keys[0])
        beyond = [s for s in at if s not in steps] if _TO_ITS_END.search(frame.text) else []
        if _UNTIL.search(frame.text):  # from wherever it begins
            steps = [s for s in steps if at and s >= at[0]]
        if not beyond:
            return _all_along(judge, held[0], steps, start, end)
        cell = table.run.cell(held[0].keys[0], beyond[0])
        note = judge.say("held", metric=held[0].keys[0], step=beyond[0], true=cell.value if cell else "", line=cell.line if cell else 0)  # fmt: skip
        return start, end, Decision("contradicted", note)
    for name in held:
        for step in steps:
            cells = [table.run.cell(key, step) for key in name.keys[:3]]
            if all(cell is None for cell in cells):
                return start, end, judge.missing(name.keys[0], step)
            bad = next((c for c in cells if c is not None and float(c.value) != float(c.value)), None)
            if finite and bad is not None:
                return (
                    start,
                    end,
                    Decision(
                        "contradicted", judge.say("not_finite", metric=bad.metric, step=step, true="NaN", line=bad.line)
                    ),
                )
    return (start, end, Decision("supported")) if held and steps else None


def _all_along(
    judge: Judge, name: Named, steps: Sequence[int], start: int, end: int
) -> tuple[int, int, Decision] | None:
    """ "Is logged from step 1 to step 22": at each of them."""
    without = [step for step in steps if all(judge.table.run.cell(key, step) is None for key in name.keys[:3])]
    if not steps or not without:
        return (start, end, Decision("supported")) if steps else None
    return start, end, judge.missing(name.keys[0], without[0])


def no_nan(frame: Frame, judge: Judge) -> Decision:
    """Whether no value of the metrics named, or else of the whole run, is NaN."""
    table = judge.table
    keys = [key for name in frame.names for key in name.keys] or list(table.run.columns)
    for key in keys:
        for cell in table.run.cells(key):
            if not agrees(0.0, float("inf"), float(cell.value)) and float(cell.value) != float(cell.value):
                return Decision("contradicted", judge.say("nan", metric=key, step=cell.step, line=cell.line))
    return Decision("supported")


def extremes(frame: Frame, judge: Judge, idle: Sequence[bool]) -> list[tuple[int, int, Decision]]:
    """``entropy peaks at step 13``: the step of an extreme, with no number beside it."""
    result: list[tuple[int, int, Decision]] = []
    singles = [p for p in frame.places if len(p.steps) == 1 and p.kind == "steps"]
    for which in ("maximum", "minimum"):
        match = cue(which).search(outside(frame, 0, len(frame.text)))
        held = [n for n in frame.names if n.keys]
        if len(singles) != 1 or idle[frame.clause(singles[0].start)]:
            continue
        statistic = next((n.statistic for n in held if n.statistic in {"max", "min"}), "")
        if match is None and statistic != which[:3]:
            continue
        name = held[0] if held else next((n for n in frame.carried.names if n.keys), None)
        if name is None:
            continue
        step = singles[0].steps[0]
        decisions = []
        for key in name.keys[:3]:
            rows = judge.table.finite(key)
            if not rows or (key.endswith(f"/{which[:3]}") and name.statistic):
                continue
            best = (max if which == "maximum" else min)(v for _, v in rows)
            there = judge.table.value(key, step)
            at = next(s for s, v in rows if v == best)
            fact = judge.table.ledger.value(key, at, judge.table.run)
            if there == best:
                decisions.append(Decision("supported", "", fact.id if fact else None, key))
            else:
                decisions.append(
                    Decision(
                        "contradicted",
                        judge.say("extreme_step", metric=key, step=at, true=f"{best:.4g}"),
                        fact.id if fact else None,
                        key,
                    )
                )
        if decisions:
            chosen = next((d for d in decisions if d.status == "supported"), decisions[0])
            result.append((singles[0].start, singles[0].end, chosen))
    return result
