"""Whether a step was validated: "no validation ran at step 7", "第 7 步没有验证分数", "step 0 only ran validation".

What is spoken of is any metric of validation, those that a name or a data set beside it means, or the pass itself.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from assistant.analysis.keeping import kept_with_run
from assistant.ground.absences import BESIDE_LEFT, BESIDE_RIGHT, stretch
from assistant.ground.binding import Frame
from assistant.ground.counting import VALIDATION
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.masks import data_sets
from assistant.ground.places import Place
from assistant.model import Run

#: Stand for what a sentence names, so that its words are no verbs.
_VALID, _STEP, _NAME = "\u2460", "\u2461", "\u2462"
_WHAT: Final = (
    rf"(?:(?:{_VALID}|\b(?:validation|evaluation|eval)s?\b|验证|评测|评估)"
    r"(?:[ `*]*(?:的|集|上)*[ `*]*(?:\b(?:pass(?:es)?|runs?|scores?|results?|numbers?|data|entry|entries|metrics?|accuracy|figures?|values?|reading)\b|分数|得分|结果|指标|数据|准确率|数值|成绩))*[`*]*)"
)
_SOME: Final = r"(?:(?:an?|any|the|its|some|of|single|new|separate|own|proper|such)\s+){0,3}[`*]*"
_RUN: Final = r"(?:run|ran|done|carried out|performed|logged|recorded|reported|printed|listed|made|held|scheduled|available|present|there|given)"
_BE: Final = r"(?:is|are|was|were|has|have|had|did|does|do|has been|have been)"
_MIDDLE: Final = r"[^,;.，。；\d]{0,24}?"
_NOT_EN: Final = (
    rf"\b(?:no|without|lacks?|lacking|skip(?:s|ped)?|not (?:run|do|have|hold|include|contain|carry|log|print|record|report|get|show))\s+{_SOME}{_WHAT}",
    rf"\b{_BE}(?:\s+not|n[o']t)\s+(?:been\s+)?(?:validated|evaluated|validate|evaluate|one of the (?:validated|validation|eval\w*))\b",
    rf"{_WHAT}{_MIDDLE}\s(?:\b{_BE}(?:\s+not|n[o']t)|never)\s+(?:been\s+)?{_RUN}\b",
    rf"{_WHAT}{_MIDDLE}\s(?:did not|didn't|does not|doesn't)\s+(?:run|happen|take place|occur)\b",
    rf"{_WHAT}{_MIDDLE}[\s:](?:missing|absent|empty|blank|unavailable|not available|skipped|n/a)\b",
)
_DID_EN: Final = (
    rf"\b(?:there (?:is|are|was|were)|(?:{_STEP}(?:'s \w+)?|\bit|\bwe|\b(?:this|that|the) step)\s+(?:also |only |just )?(?:has|have|had|holds?|includes?|contains?|carries|comes with|did|ran|runs|does|got|gets|logs?|prints?|reports?|shows?))\s+(?:only\s+|just\s+)?{_SOME}{_WHAT}",
    r"\b(?:is|are|was|were|got|has been|have been)\s+(?:validated|evaluated)\b",
    rf"{_WHAT}{_MIDDLE}\s(?:(?:is|are|was|were|has been)\s+)?(?:{_RUN}|runs|happened|took place)\b",
    rf"\bonly (?:ran|runs|did|does|has|holds|logs) {_SOME}{_WHAT}|{_WHAT}[ -]only\b",
)
_NOT_ZH: Final = (
    rf"(?:没有?|未|无|不)(?:再|能|会)?(?:做|跑|进行|安排|包含|含有?|带有?|打印|打|记录|记|给出|存在)?(?:过|了)?(?:任何|一次|什么|相应的?|{_STEP}的?)?[ `*]*{_WHAT}",
    rf"{_WHAT}[ `*]*(?:这一?项|这一步|也|都|还|则|是|就|[:：]|在?{_STEP}(?:时|里|中|上)?)*\s*(?:没有?|未|无(?!关|论)|缺)",
    rf"(?:找|看|查|读)不到[^，。；]{{0,8}}{_WHAT}|缺(?:少|了)?[ `*]*{_WHAT}|跳过(?:了)?[ `*]*{_WHAT}|不在{_WHAT}(?:之列|里|中)",
)
_DID_ZH: Final = (
    rf"(?<![没未无不])(?:做|跑|进行|安排|打印|记录|记)(?:了|过)[^，。；]{{0,6}}?{_WHAT}|(?<![没未无不只])(?:有|包含|含有?|带有?)(?:了|着|做|跑|进行|过|{_STEP}的?|[ `*])*{_WHAT}",
    rf"{_WHAT}[^，。；]{{0,6}}?(?:做了|跑了|有(?:记录|数据|结果|值|$|[。.])|打印了|记录了|(?:看|找|查)得到)|能(?:找|看|查)到[^，。；]{{0,8}}{_WHAT}",
    rf"(?<!不)在{_WHAT}(?:之列|里|中)",
    r"(?<![没未])(?:验证|评测|评估)了",
    rf"{_STEP}[ 也还都]*(?:做|跑|进行)[^，。；]{{0,4}}?{_WHAT}",
    rf"(?:只|仅)(?:是|做|跑|有)?(?:了)?[^，。；]{{0,4}}?{_WHAT}",
)
_WORD: Final = re.compile(rf"[`*\s]*{_WHAT}[`*\s]*", re.IGNORECASE)
_NOT: Final = re.compile("|".join((*_NOT_EN, *_NOT_ZH)), re.IGNORECASE)
_DID: Final = re.compile("|".join((*_DID_EN, *_DID_ZH)), re.IGNORECASE)
_ONLY: Final = re.compile(r"(?i)\bonly\b|[只仅]")
#: What is said of a result that is there, or of a change, is no claim that it is.
_SAID: Final = re.compile(
    r"(?i)\b(?:significant\w*|change[sd]?|changing|improv\w*|gain\w*|drop\w*|better|worse|higher|lower|best|worst|peak\w*|trend\w*|between|than|until|before|after this|next|every|each|when(?:ever)?|soon|yet to|rise|rises|rising|rose|fall|falls|fell)\b"
    r"|提升|下降|上升|改善|变化|更[好高低差]|最[好高低差]|[比较]|之间|每|时候|下一?次|下次|趋势|[涨跌升降]|意义|问题"
)
_OF_THE_LOG: Final = re.compile(r"(?i)\b(?:log|run|training)\b|日志|训练|全程")
_MEANT: Final = re.compile(r"(?i)valid|eval|验证|评测|评估")
#: Characters beyond which a text is no sentence.
_LONGEST: Final = 2000
_TRAINS: Final = re.compile(r"(?i)(?:^|[/_])(?:loss|pg_loss|grad_norm|entropy|rewards?|lr)(?:$|[/_])|learning_rate")


def validated(frame: Frame, judge: Judge, idle: Sequence[bool]) -> Iterator[tuple[int, int, Decision]]:
    """What a sentence says of there being a validation at a step, clause by clause; nothing where it tells a value.

    Args:
        frame: the sentence.
        judge: its table is asked.
        idle: which of its clauses state nothing.
    """
    if len(frame.text) > _LONGEST:
        return
    meant = _MEANT.search(frame.text) or any(VALIDATION.match(key) for n in frame.names for key in n.keys[:3])
    if not meant and not _sets(judge.table.run).search(frame.text):
        return
    marks = _marks(frame, judge)
    edges = [0, *(stop + 1 for stop in frame.breaks), len(frame.text)]
    for at, (start, end) in enumerate(pairwise(edges)):
        if idle[at] or any(start <= q.start < end and q.unit not in {"steps", "points"} for q in frame.numbers):
            continue
        clause, spots = _shown(frame.text, start, end, marks)
        if _SAID.search(clause):
            continue
        match = (denied := _NOT.search(clause)) or _DID.search(clause)
        if match is None:
            continue
        places = [p for p in frame.places if start <= p.start < end] or frame.places
        ranged = any(p.kind == "range" for p in places)
        steps = [s for p in places for s in p.steps] or list(frame.carried.steps)
        if denied is not None and places and not ranged:
            steps = stretch(frame, places, judge.table.steps)
            if not steps:
                yield spots[match.start()], spots[match.end()], Decision("supported")
                continue
        keys = _keys(frame, judge, start, end)
        if not steps and not _OF_THE_LOG.search(clause):
            continue
        decision = _decided(judge, keys, steps, denied is not None, ranged=ranged, only=bool(_ONLY.search(clause)))
        yield spots[match.start()], spots[match.end()], decision


@kept_with_run
def _sets(run: Run) -> re.Pattern[str]:
    """Names of the data sets of validation, whole or without the year: ``AIME 2025``, ``AIME``."""
    pieces = {piece for key in run.columns if VALIDATION.match(key) for piece in key.split("/")[1:-1]}
    heads = {m.group() for piece in pieces if (m := re.match(r"[A-Za-z]{4,}(?=[\W_]*\d)", piece))}
    short = "|".join(map(re.escape, sorted(heads)))
    whole = data_sets(run).pattern
    return re.compile(rf"{whole}|(?<![A-Za-z0-9])(?:{short})(?![A-Za-z0-9@])" if short else whole, re.IGNORECASE)


def _marks(frame: Frame, judge: Judge) -> list[tuple[int, int, str]]:
    """Names, data sets and steps of a sentence, left to right, each with the mark of what it is."""
    spans = [
        (n.start, n.end, _VALID if any(map(VALIDATION.match, n.keys[:3])) else _NAME)
        for n in frame.names
        if (n.keys or n.absent) and not _WORD.fullmatch(frame.text, n.start, n.end)
    ]
    spans += [(*match.span(), _VALID) for match in _sets(judge.table.run).finditer(frame.text)]
    return sorted([*spans, *((*_with_side(frame, place), _STEP) for place in frame.places)])


def _with_side(frame: Frame, place: Place) -> tuple[int, int]:
    """A step with the word of its side: ``before step 5``, ``step 54 和 step 59 之间``."""
    left = BESIDE_LEFT.search(frame.text, max(0, place.start - 20), place.start)
    right = BESIDE_RIGHT.match(frame.text, place.end)
    return left.start() if left else place.start, right.end() if right else place.end


def _shown(text: str, start: int, end: int, marks: Sequence[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """A clause with marks in place of what it names, and where each of its characters stands in the sentence."""
    shown, spots, at = list[str](), list[int](), start
    for first, last, mark in marks:
        if first < at or last > end:
            continue
        shown += [text[at:first], mark]
        spots += [*range(at, first), first]
        at = last
    return "".join([*shown, text[at:end]]), [*spots, *range(at, end + 1)]


def _keys(frame: Frame, judge: Judge, start: int, end: int) -> list[str]:
    """The metrics of validation that a clause speaks of: those named, or all."""
    every = [key for key in judge.table.run.columns if VALIDATION.match(key)]
    named = [key for n in frame.names if start <= n.start < end for key in n.keys if VALIDATION.match(key)]
    spelt = [
        re.sub(r"[^a-z0-9]", "", m.group().lower()) for m in _sets(judge.table.run).finditer(frame.text, start, end)
    ]
    own = [key for key in every if any(s in re.sub(r"[^a-z0-9]", "", key.lower()) for s in spelt)]
    return named or own or every


def _decided(
    judge: Judge, keys: Sequence[str], steps: Sequence[int], denied: bool, *, ranged: bool, only: bool
) -> Decision:
    table = judge.table
    held = {step for key in keys for step in table.held(key)}
    if gone := [s for s in steps if s not in table.steps and not ranged]:
        return Decision("contradicted", judge.say("no_step", step=gone[0], first=table.steps[0], last=table.steps[-1]))
    if not steps:
        there = bool(held)
        step = min(held, default=0)
    else:
        inside = [s for s in held if min(steps) <= s <= max(steps)] if ranged else [s for s in steps if s in held]
        there = bool(inside) if denied or ranged else len(inside) == len(set(steps))
        step = inside[0] if inside and denied else next((s for s in steps if s not in held), steps[0])
    if only and there and not denied:
        trained = next(
            (
                k
                for k in table.run.columns
                if _TRAINS.search(k) and not VALIDATION.match(k) and table.value(k, step) is not None
            ),
            "",
        )
        if trained:
            return _held(judge, trained, step)
    if there != denied:
        return Decision("supported")
    if denied:
        return _held(judge, next(key for key in keys if step in table.held(key)), step)
    return (
        judge.missing(keys[0], step) if keys else Decision("contradicted", judge.say("no_metric", metric="validation"))
    )


def _held(judge: Judge, key: str, step: int) -> Decision:
    cell = judge.table.run.cell(key, step)
    note = judge.say("held", metric=key, step=step, true=cell.value if cell else "", line=cell.line if cell else 0)
    return Decision("contradicted", note)
