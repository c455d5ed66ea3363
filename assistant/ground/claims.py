"""The claims of one sentence: its numbers, courses, extremes and absences, each decided."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ground.absences import absence, extremes, no_nan
from assistant.ground.allowed import Allowed
from assistant.ground.binding import Frame, metric_of, places_of
from assistant.ground.courses import Courses, course_words
from assistant.ground.cues import cue, idle_clauses, negated, normative
from assistant.ground.deciding import Decision
from assistant.ground.extra import stated
from assistant.ground.judging import Judge
from assistant.ground.sentences import Unit
from assistant.ground.verdicts import Claim
from assistant.ground.wholes import wholes
from assistant.model import Fact

#: Words that claim something of a metric of this log: a course, an extreme, a comparison.
_SAID_OF: Final = re.compile(
    r"(?i)走势|趋势|波动|数量级|一路|持续|\b(?:trend|noise|direction|order of magnitude|on average|over (?:the (?:whole )?run|training)|throughout)\b|"
    r"(?:上升|下降|上涨|下跌|走高|走低|变[大小高低])了?|\b(?:rose|fell|ris(?:es|ing)|fall(?:s|ing)|increase[sd]?|decrease[sd]?|dropped|climbed|went (?:up|down)|go(?:es|ing) (?:up|down))\b"
)
_DENIED: Final = re.compile(r"(?i)\bno\b|\bnot\b|\bwithout\b|没有|无|不含|未")


def _course_of_nothing(frame: Frame, judge: Judge, idle: Sequence[bool]) -> tuple[int, int, Decision] | None:
    """A course, an extreme or a comparison told of a metric that the log does not hold."""
    for name in frame.names:
        if not name.absent or idle[frame.clause(name.start)] or _DENIED.search(frame.text):
            continue
        if (
            any(n.keys for n in frame.names if frame.clause(n.start) == frame.clause(name.start))
            and "/" not in name.text
        ):
            continue
        if _SAID_OF.search(frame.text):
            note = judge.say("no_metric", metric=name.text.strip("`"))
            return name.start, name.end, Decision("contradicted", note)
    return None


def claims_of(frame: Frame, judge: Judge, courses: Courses, unit: Unit, extra: Sequence[Fact]) -> list[Claim]:
    """The claims of one sentence."""
    idle = idle_clauses(frame)
    if any(cue("prediction").search(title) for title in unit.above[-2:]) and unit.kind == "item":
        idle = [True] * len(idle)
    found: list[Claim] = []

    def add(start: int, end: int, decision: Decision) -> None:
        found.append(
            Claim(
                frame.text[start:end],
                unit.start + start,
                unit.start + end,
                decision.status,
                decision.reason,
                decision.fact,
            )
        )

    absent = absence(frame, judge, idle)
    first_nan = judge.counting.first_time(frame) is not None
    decided: dict[int, Decision] = {}
    if absent is not None:
        add(*absent)
    for index, q in enumerate(frame.numbers):
        if idle[frame.clause(q.start)] or normative(frame, q):
            continue
        if absent is not None and absent[0] <= q.start < absent[1]:
            continue
        if q.number != q.number and first_nan:
            continue
        if q.number != q.number and negated(frame, q.start):
            add(q.start, q.end, no_nan(frame, judge))
            continue
        decision = judge.number(frame, index)
        if decision is None:
            continue
        if decision.status != "supported" and _stated_elsewhere(frame, index, decision, extra):
            decision = Decision("supported")
        decided[index] = decision
    decided |= Allowed(frame, judge).settle(decided)
    for index, decision in decided.items():
        add(frame.numbers[index].start, frame.numbers[index].end, decision)
    steps = judge.table.steps
    for place in frame.places:
        if place.kind in {"range", "pair"} and steps and max(place.steps) > steps[-1] and decided and not idle[frame.clause(place.start)]:  # fmt: skip
            note = judge.say("no_step", step=max(place.steps), first=steps[0], last=steps[-1])
            add(place.start, place.end, Decision("contradicted", note))
    whole = wholes(frame, judge, idle)
    taken = [span for one in whole for span in one.covers]
    found = [c for c in found if not any(a <= c.start - unit.start and c.end - unit.start <= b for a, b in taken)]
    for one in whole:
        add(one.start, one.end, one.decision)
    first = judge.counting.first_time(frame)
    if first is not None and not idle[frame.clause(first[0])]:
        add(first[0], first[1], Decision(*first[2]))
    for word in course_words(frame):
        if idle[frame.clause(word.start)] or any(a <= word.start < b for a, b in taken):
            continue
        decision = courses.decide(frame, word)
        if decision is not None:
            add(word.start, word.end, decision)
    if not any(c.status != "supported" for c in found) and (gone := _course_of_nothing(frame, judge, idle)):
        add(*gone)
    if first is None and all(q.unit in {"steps", "points"} for q in frame.numbers):
        for start, end, decision in extremes(frame, judge, idle):
            add(start, end, decision)
        if not [c for c in found if c.status != "supported"]:
            for name in frame.names:
                if (
                    name.absent
                    and (("/" in name.text and frame.places) or _SAID_OF.search(frame.clause_text(name.end)))
                    and not idle[frame.clause(name.start)]
                    and not _DENIED.search(frame.text)
                ):
                    add(
                        name.start,
                        name.end,
                        Decision("contradicted", judge.say("no_metric", metric=name.text.strip("`"))),
                    )
    return sorted(found, key=lambda c: c.start)


def _stated_elsewhere(frame: Frame, index: int, decision: Decision, extra: Sequence[Fact]) -> bool:
    """Whether a further fact about the same metric, or about none, states the number.

    That a cell holds it bears out nothing else that is said of it: that it is the best of all, say.
    """
    if decision.status == "contradicted":
        extra = [fact for fact in extra if fact.kind != "value"]
    if not extra:
        return False
    name, _ = metric_of(frame, index)
    found, _ = places_of(frame, index)
    q = frame.numbers[index]
    around = frame.text[max(0, q.start - 16) : q.end + 20]
    return stated(q, extra, name.keys if name is not None else (), {s for p in found for s in p.steps}, around)
