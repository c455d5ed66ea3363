"""The claims of one sentence: its numbers, courses, extremes and absences, each decided."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.absences import absence, absences, extremes, logged, no_nan
from assistant.ground.allowed import Allowed
from assistant.ground.bearing import borne_out
from assistant.ground.binding import Frame, metric_of, places_of
from assistant.ground.courses import Courses, course_words
from assistant.ground.cues import cue, idle_clauses, negated, normative
from assistant.ground.deciding import Decision
from assistant.ground.extra import stated
from assistant.ground.judging import Judge
from assistant.ground.misplacing import misplaced
from assistant.ground.order import turned
from assistant.ground.passes import passes
from assistant.ground.plainly import plainly
from assistant.ground.probing import exchanged, unaccounted, unspoken
from assistant.ground.sentences import Unit
from assistant.ground.silence import silent
from assistant.ground.turning import Turn, unturned
from assistant.ground.validated import validated
from assistant.ground.verdicts import Claim
from assistant.ground.wholes import wholes
from assistant.model import Fact

#: Numbers of one text whose further readings are looked for; beyond it (a pasted log, thousands of figures) each has the
#: reading that stands nearest, or none.
MOST_SEARCHED: Final = 400

#: Words that claim something of a metric of this log: a course, an extreme, a comparison.
_SAID_OF: Final = re.compile(
    r"(?i)走势|趋势|波动|数量级|一路|持续|\b(?:trend|noise|direction|order of magnitude|on average|over (?:the (?:whole )?run|training)|throughout)\b|"
    r"(?:上升|下降|上涨|下跌|走高|走低|变[大小高低])了?|\b(?:rose|fell|ris(?:es|ing)|fall(?:s|ing)|increase[sd]?|decrease[sd]?|dropped|climbed|went (?:up|down)|go(?:es|ing) (?:up|down))\b"
)
#: Cues of what may be said of a metric.
_SAYING: Final = ("up", "down", "flat", "stable", "higher", "lower", "maximum", "minimum", "improve", "worsen")
_DENIED: Final = re.compile(
    r"(?i)(?:\bno|\bnot|\bwithout|\bnor|没有|无|不含|未|缺)\s*(?:(?!signs?|hints?|traces?)\w+\s){0,2}[`*]*$"
)
#: A size of the run that a list of settings tells.
_SIZE: Final = re.compile(
    r"(?i)[×x*]\s*\0|\0.*(?:gpus?|cards?|prompts?|samples?|responses?|rollouts?|卡|条)\b|\0[\d,]+\s*[×x*]|\0.*[卡条]"
)
#: A setting whose value the log implies: the group's size.
_GROUP_SET: Final = re.compile(r"(?i)\b(?:rollout[._]n|num_generations|n_samples_per_prompt)[`*\s]*[=:：＝][`*\s]*$")
_PLANNED: Final = re.compile(
    r"(?i)\b(?:next|try|set|use|using|launch|re-?run|change|config)\b|下次|设|改|换|配置|试|用"
)
_DEFINED: Final = re.compile(
    r"(?i)\bis (?:the|defined)\b|\bmeans\b|\bdivided by\b|是指|指的是|定义|等于.{0,12}(?:除以|乘以)"
)
_DENIED_AFTER: Final = re.compile(
    r"(?i)[`*\s]*(?:(?:is|was|are|were) (?:not|nowhere)\b|(?:isn't|wasn't)|不在|没(?:有)?(?:记|打|出现))"
)


def _course_of_nothing(frame: Frame, judge: Judge, idle: Sequence[bool]) -> tuple[int, int, Decision] | None:
    """A course, an extreme or a comparison told of a metric that the log does not hold."""
    for name in frame.names:
        if (
            not name.absent
            or idle[frame.clause(name.start)]
            or cue("missing").search(frame.text)
            or _DEFINED.search(frame.text)
        ):
            continue
        if _DENIED.search(frame.text[max(0, name.start - 24) : name.start]) or _DENIED_AFTER.match(
            frame.text[name.end :]
        ):
            continue
        if (
            any(n.keys for n in frame.names if frame.clause(n.start) == frame.clause(name.start))
            and "/" not in name.text
        ):
            continue
        if _SAID_OF.search(frame.text) or any(cue(word).search(frame.text) for word in _SAYING):
            note = judge.say("no_metric", metric=name.text.strip("`"))
            return name.start, name.end, Decision("contradicted", note)
    return None


def claims_of(  # noqa: PLR0917
    frame: Frame,
    judge: Judge,
    courses: Courses,
    unit: Unit,
    extra: Sequence[Fact],
    reframe: Callable[[str], Frame] | None = None,
) -> list[Claim]:
    """The claims of one sentence; what it names and no claim of it rests on is a claim that nothing bears out.

    Args:
        frame: the sentence.
        judge, courses: decide its numbers and its words of direction.
        unit: where it stands.
        extra: further facts that it may state.
        reframe: takes the same sentence apart with other words in it.
    """
    unread = replace(frame, numbers=[*frame.numbers])
    found = _claims(frame, judge, courses, unit, extra)
    if frame.away or any(claim.status != "supported" for claim in found):
        return found
    if not found and silent(frame):
        return found
    if not found:
        return [_unread(frame, judge, unit, *span) for span in unspoken(frame)]
    idle = idle_clauses(frame)
    told = judge.wholes
    covered = any((a, b) == (0, len(frame.text)) for one in told for a, b in one.covers)
    plain = [] if covered else [_unread(frame, judge, unit, *span) for span in plainly(unread, judge, idle)]
    if plain:
        return sorted([*found, *plain], key=lambda claim: claim.start)
    if any(not one.aside for one in told) or absence(frame, judge, idle) is not None or any(passes(frame, judge, idle)):
        return found  # "not logged at step 5" holds of every step that is not there; wholes read the text itself
    kept = judge.pair, judge.told, judge.spans

    supported = {(claim.start, claim.end) for claim in found}

    def holds(probe: Frame) -> bool:
        judge.begin()
        again = _claims(probe, judge, courses, unit, ())  # what was told elsewhere holds whatever step stands here
        return {(c.start, c.end) for c in again if c.status == "supported"} >= supported

    for start, end in unaccounted(unread, judge.table.steps, holds):
        found.append(_unread(frame, judge, unit, start, end))

    def holds_of_told(turn: Turn) -> bool:
        judge.pair, judge.told, judge.spans = kept
        return borne_out(unread, judge, turn)

    def holds_turned(text: str) -> bool:
        judge.begin()
        assert reframe is not None
        probe = reframe(text)
        # 99.4 is "more than 99", and within rounding less than it: one of the two is meant
        probe.numbers = [replace(q, half=0.0) if q.bound else q for q in probe.numbers]
        again = _claims(probe, judge, courses, unit, extra)
        return len(again) >= len(found) and all(claim.status == "supported" for claim in again)

    swapped = exchanged(unread, holds)
    judge.pair, judge.told, judge.spans = kept
    if swapped is not None and misplaced(unread, judge):
        found.append(_unread(frame, judge, unit, *swapped))
    if reframe is not None and all(claim.status == "supported" for claim in found):
        for start, end in unturned(unread, idle, holds_turned, holds_of_told):
            found.append(_unread(frame, judge, unit, start, end))
    judge.pair, judge.told, judge.spans = kept
    return sorted(found, key=lambda claim: claim.start)


def _unread(frame: Frame, judge: Judge, unit: Unit, start: int, end: int) -> Claim:
    text = frame.text[start:end]
    return Claim(text, unit.start + start, unit.start + end, "unsupported", judge.say("unread", shown=text))


def _claims(frame: Frame, judge: Judge, courses: Courses, unit: Unit, extra: Sequence[Fact]) -> list[Claim]:
    idle = idle_clauses(frame)
    quiet = silent(frame)
    if quiet:
        idle = [True] * len(idle)
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

    lacking = [*absences(frame, judge, idle)]
    first_nan = judge.counting.first_time(frame) is not None
    decided: dict[int, Decision] = {}
    kinds = [*passes(frame, judge, idle)]
    lacking = [(a, b, d) for a, b, d in lacking if not any(a < end and start < b for start, end, _ in kinds)]
    for start, end, held in (*kinds, *validated(frame, judge, idle), *logged(frame, idle, judge)):
        if not any(a < end and start < b and d is not held for a, b, d in (*lacking, *kinds)):
            add(start, end, held)
    for absent in lacking:
        add(*absent)
    for index, q in enumerate(frame.numbers):
        if quiet and (
            _SIZE.search(f"{frame.text[max(0, q.start - 3) : q.start]}\0{q.text}{frame.text[q.end : q.end + 3]}")
            or (_GROUP_SET.search(frame.text[max(0, q.start - 28) : q.start]) and not _PLANNED.search(frame.text))
        ):
            known = judge.number(frame, index)  # "Setup: 8 GPUs, 64 prompts × 8 samples": what the log implies of it
            if known is not None and known.status != "unsupported":
                decided[index] = known
            continue
        if idle[frame.clause(q.start)] or normative(frame, q):
            continue
        if any(a <= q.start < b for a, b, _ in lacking):
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
    if judge.searched < MOST_SEARCHED:
        judge.searched += sum(decision.status != "supported" for decision in decided.values())
        decided |= Allowed(frame, judge).settle(decided)
    for index, decision in decided.items():
        add(frame.numbers[index].start, frame.numbers[index].end, decision)
    steps = judge.table.steps
    for place in frame.places:
        if place.kind in {"range", "pair"} and steps and max(place.steps) > steps[-1] and decided and not idle[frame.clause(place.start)]:  # fmt: skip
            note = judge.say("no_step", step=max(place.steps), first=steps[0], last=steps[-1])
            add(place.start, place.end, Decision("contradicted", note))
    judge.wholes = whole = wholes(frame, judge, idle)
    taken = [span for one in whole for span in one.covers]
    found = [c for c in found if not any(a <= c.start - unit.start and c.end - unit.start <= b for a, b in taken)]
    for one in whole:
        add(one.start, one.end, one.decision)
    first = judge.counting.first_time(frame)
    if first is not None and not idle[frame.clause(first[0])]:
        add(first[0], first[1], Decision(*first[2]))
    for word in course_words(frame):
        if any(a <= word.start < b for a, b, _ in lacking):
            continue  # "so its time is lost": not there
        if idle[frame.clause(word.start)] or any(a <= word.start < b for a, b in taken):
            continue
        decision = courses.decide(frame, word)
        if decision is not None:
            add(word.start, word.end, decision)
    for start, end, decision in turned(frame, judge, idle):
        add(start, end, decision)
    if not any(c.status != "supported" for c in found) and (gone := _course_of_nothing(frame, judge, idle)):
        add(*gone)
    if first is None and not lacking and all(q.unit in {"steps", "points"} for q in frame.numbers):
        for start, end, decision in extremes(frame, judge, idle):
            if any(a <= start < b for a, b in taken):
                continue
            add(start, end, decision)
        if not [c for c in found if c.status != "supported"]:
            for name in frame.names:
                if (
                    name.absent
                    and (("/" in name.text and frame.places) or _SAID_OF.search(frame.clause_text(name.end)))
                    and not idle[frame.clause(name.start)]
                    and not re.search(r"(?i)\bno\b|\bnot\b|\bwithout\b|没有|无|不含|未", frame.text)
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
