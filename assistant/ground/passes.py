"""Which kind of metrics a step holds: "step 0 has no training metrics", "validation appears only at step 0", "只有第 0 步有验证"."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.analysis.keeping import kept_with_run
from assistant.ground.absences import BESIDE_LEFT, BESIDE_RIGHT, stretch
from assistant.ground.binding import Frame
from assistant.ground.counting import VALIDATION
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.model import Run

_STEP: Final = "\u2461"
_KIND_EN: Final = r"(?P<{0}>training|train|validation|eval(?:uation)?)(?:[ -](?:set|split|phase))?"
_OF_IT_EN: Final = r"(?:\s+(?:metrics?|results?|values?|numbers?|data|entries|stats|statistics|figures?))"
_THERE_EN: Final = r"(?:appears?|appeared|shows? up|showed up|exists?|existed|ran|runs|happened|happens|took place|takes place|occurs?|occurred|(?:is|are|was|were) (?:logged|recorded|reported|run|done|present|available|there|given))"
_KIND_ZH: Final = r"(?P<{0}>训练|验证|评测|评估)(?:集|阶段|步)?(?:上|中)?的?"
_OF_IT_ZH: Final = r"(?:指标|数据|数值|记录|结果|日志|统计)"
_NONE: Final = re.compile(
    rf"(?i)\b(?:no|without(?: any)?|lacks?(?: any)?|not (?:have|hold|contain|log|include|record|report)(?: any)?)\s+{_KIND_EN.format('a')}{_OF_IT_EN}"
    rf"|(?:没有|无|缺少|不含|未记录|没记录|没有记录|没打印)(?:任何|记录|打印)?(?:的)?\s*{_KIND_ZH.format('b')}{_OF_IT_ZH}|{_KIND_ZH.format('c')}{_OF_IT_ZH}(?:都|也|一个也|一项也)?(?:没有|缺失|没记录|未记录)"
)
_ONLY: Final = re.compile(
    rf"(?i)\b{_KIND_EN.format('a')}{_OF_IT_EN}?\s+(?:only|just)\s+{_THERE_EN}\s+(?:at|on|in|for|with)\s+{_STEP}|\b{_KIND_EN.format('b')}{_OF_IT_EN}?\s+{_THERE_EN}\s+(?:only|solely|exclusively|just)\s+(?:at|on|in|for|with)\s+{_STEP}"
    rf"|\bonly\s+{_STEP}\s+(?:has|have|holds?|contains?|logs?|includes?|ran|did)\s+(?:any\s+|an?\s+)?{_KIND_EN.format('c')}\b"
    rf"|{_KIND_ZH.format('d')}(?:{_OF_IT_ZH})?(?:也|都|就)?(?:只|仅)(?:在|出现在|出现于|有|跑在)\s*{_STEP}|(?:只有|仅有?|唯有)(?:在)?\s*{_STEP}\s*(?:才|上)?(?:有|做了?|跑了?|记录了?|是)(?:过)?(?:一次)?\s*{_KIND_ZH.format('e')}"
)
_UNIT: Final = r"(?:records?|entry|entries|rows?|lines?|data(?: point)?|logs?|metrics?|values?|measurements?|points?)"
_STEPLESS: Final = re.compile(
    rf"(?i)\bno\s+(?:separate |own |logged )?{_UNIT}(?:\s+at all)?\s+(?:for|at|of|from|on)\s+{_STEP}|{_STEP}\s+(?:itself )?(?:(?:is|are|was|were|does|do)(?: not|n['’]t)\s+(?:in the (?:log|file)|logged|recorded|printed|reported|exist|appear)|(?:is|are|was|were) (?:missing|absent)(?: from the log)?\s*(?:[.,;]|$))"
    rf"|{_STEP}\s*(?:都|也|并)?(?:没有|未被?|没)(?:被)?(?:记录|打印|日志|数据)|(?:没有|缺少?|不含)\s*{_STEP}\s*(?:的\s*(?:记录|数据|日志|值)|[。，；]|$)"
)
#: What a step of training logs.
_TRAINS: Final = re.compile(r"(?i)(?:^|[/_])(?:loss|pg_loss|grad_norm|entropy|rewards?|lr)(?:$|[/_@])|learning_rate")
_LONGEST: Final = 600
#: Words without which nothing of all this is said.
_MAYBE: Final = re.compile(
    r"(?i)\b(?:no|not|only|just|without|lacks?|missing|absent)\b|n['’]t\b|[没无未缺只仅]|唯有|不含"
)


def passes(frame: Frame, judge: Judge, idle: Sequence[bool]) -> Iterator[tuple[int, int, Decision]]:
    """What a sentence says of there being training or validation at its steps, and at those alone.

    Args:
        frame: the sentence.
        judge: its table is asked.
        idle: which of its clauses state nothing.
    """
    if len(frame.text) > _LONGEST or not (frame.places or frame.carried.steps) or not _MAYBE.search(frame.text):
        return
    shown, spots = _shown(frame)
    for match in _NONE.finditer(shown):
        at = frame.clause(spots[match.start()])
        if idle[at]:
            continue
        beside = [p for p in frame.places if frame.clause(p.start) == at] or frame.places
        steps = stretch(frame, beside, judge.table.steps) if frame.places else list(frame.carried.steps)
        held = _held(judge.table.run, _validates(match))
        there = next((step for step in steps if step in held), None)
        decision = Decision("supported") if there is None else _told(judge, held[there], there)
        if gone := [s for s in steps if s not in judge.table.steps]:
            decision = judge.missing("", gone[0])
        yield spots[match.start()], spots[match.end()], decision
    for match in _ONLY.finditer(shown):
        at = frame.clause(spots[match.start()])
        first = frame.places[shown[: match.end()].count(_STEP) - 1]
        if idle[at]:
            continue
        steps = stretch(frame, [first], judge.table.steps)
        held = _held(judge.table.run, _validates(match))
        other = next((step for step in sorted(held) if step not in steps), None)
        lacking = next((step for step in steps if step not in held), None)
        if other is not None:
            decision = _told(judge, held[other], other)
        elif lacking is not None:
            decision = judge.missing(next(iter(held.values()), ""), lacking)
        else:
            decision = Decision("supported")
        yield spots[match.start()], spots[match.end()], decision
    for match in _STEPLESS.finditer(shown):
        at = frame.clause(spots[match.start()])
        here = [n for n in frame.names if frame.clause(n.start) == at and (n.keys or n.absent or n.derived)]
        place = frame.places[shown[: match.end()].count(_STEP) - 1]
        low, high = min(place.steps), max(place.steps)
        logged = [s for s in judge.table.steps if (low <= s <= high if place.kind == "range" else s in place.steps)]
        if idle[at] or here or (logged and frame.carried.names):
            continue
        if logged:
            key = next((key for key in judge.table.run.columns if judge.table.run.cell(key, logged[0])), "")
            yield spots[match.start()], spots[match.end()], _told(judge, key, logged[0])
        else:
            yield spots[match.start()], spots[match.end()], Decision("supported")


def _validates(match: re.Match[str]) -> bool:
    return next(found for found in match.groupdict().values() if found).lower()[:5] not in {"train", "训练"}


@kept_with_run
def _of_kinds(run: Run) -> tuple[dict[int, str], dict[int, str]]:
    """By step, a metric of training that it holds; and one of validation."""
    found: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for key in run.columns:
        valid = VALIDATION.match(key) is not None
        if valid or _TRAINS.search(key):
            for cell in run.cells(key):
                found[valid].setdefault(cell.step, key)
    return found


def _held(run: Run, valid: bool) -> dict[int, str]:
    return _of_kinds(run)[valid]


def _told(judge: Judge, key: str, step: int) -> Decision:
    cell = judge.table.run.cell(key, step)
    note = judge.say("held", metric=key, step=step, true=cell.value if cell else "", line=cell.line if cell else 0)
    return Decision("contradicted", note)


def _shown(frame: Frame) -> tuple[str, list[int]]:
    """The sentence with a mark for each step it names, and where each character of that stands."""
    shown, spots, at = list[str](), list[int](), 0
    for place in sorted(frame.places, key=lambda p: p.start):
        left = BESIDE_LEFT.search(frame.text, max(0, place.start - 20), place.start)
        right = BESIDE_RIGHT.match(frame.text, place.end)
        first, last = (left.start() if left else place.start), (right.end() if right else place.end)
        first = max(first, at)
        shown += [*frame.text[at:first], _STEP]
        spots += [*range(at, first), first]
        at = last
    return "".join([*shown, *frame.text[at:]]), [*spots, *range(at, len(frame.text) + 1)]
