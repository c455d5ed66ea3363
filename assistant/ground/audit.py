"""The audit of any text about a log: sentence by sentence supported, contradicted, unsupported, or no claim at all.

Each number, step, unit, metric name and direction word is tied to what the log holds or implies
(:mod:`assistant.analysis`). Hypotheses, advice, questions and code blocks are no claims; a table's cells are.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from assistant.analysis import Ledger
from assistant.ground.absences import absence, extremes, no_nan
from assistant.ground.across import combined, spots
from assistant.ground.binding import Carried, Frame, metric_of, places_of
from assistant.ground.counting import VALIDATION
from assistant.ground.courses import Courses, course_words
from assistant.ground.cues import cue, idle_clauses, negated, normative
from assistant.ground.deciding import Decision
from assistant.ground.extra import stated
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Lexicon, Named
from assistant.ground.masks import masked_spans
from assistant.ground.places import Place, places, relative_places
from assistant.ground.quantities import quantities
from assistant.ground.rows import RowReader
from assistant.ground.sentences import Unit, units
from assistant.ground.table import Table
from assistant.ground.verdicts import GRAVEST, Audit, Claim, Sentence, Status, reason, worst
from assistant.ground.wholes import wholes
from assistant.knowledge import Resolver
from assistant.model import Fact, Run

__all__ = ["Audit", "Auditor", "Claim", "Sentence"]
_RESPECTIVELY: Final = re.compile(r"(?i)\brespectively\b|分别")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
#: Text before a sentence that is read for what it carries over, in characters.
_BEFORE: Final = 6000


class _Reader:
    """Everything about one run that is built once."""

    def __init__(self, run: Run, resolver: Resolver) -> None:
        self.run = run
        self.lexicon = Lexicon(run, resolver)
        self.ledger = Ledger([run])
        self.table = Table(run, resolver, self.ledger)
        self.lock = threading.RLock()  # the ledger numbers its facts


@lru_cache(maxsize=8)
def _reader(run: Run, resolver: Resolver) -> _Reader:
    return _Reader(run, resolver)


class Auditor:
    """Audits texts about some runs; build once, then each sentence costs about a millisecond.

    Args:
        runs: what the texts are about; a claim that holds for one of them is supported, unless its run is named.
        resolver: from names to cards.
        facts: further facts that a text may state, such as those of the answer that it belongs to.
        language: of the reasons, ``zh`` or ``en``; that of the text by default.
        quotes: texts of cards; a sentence that stands in one of them word by word is no claim about the log.
    """

    def __init__(
        self, runs: Sequence[Run], resolver: Resolver, *, facts: Iterable[Fact] = (), language: str | None = None,
        quotes: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.readers = [_reader(run, resolver) for run in runs]
        self.extra = tuple(facts)
        self.language = language
        self.quotes = [re.sub(r"\s+", " ", text) for text in (quotes or {}).values()]

    def audit(self, text: str) -> Audit:
        """A whole text."""
        language = self.language or ("zh" if len(_CHINESE.findall(text)) > 0.05 * len(text) else "en")
        all_units = units(text)
        judged = [self._units(reader, text, all_units, language) for reader in self.readers]
        if judged:
            order: list[int] = []
            chosen = []
            for unit, options in zip(all_units, zip(*judged, strict=True), strict=True):
                chosen.append(self._best(options, language, unit, order))
                order = self._order(options[0].text) or ([] if unit.fresh else order)
            sentences = tuple(chosen)
        else:
            sentences = tuple(Sentence(text[u.start : u.end], u.start, u.end, "no_claim") for u in all_units)
        return self._finished(sentences)

    def sentence(self, text: str, before: str = "") -> Sentence:
        """One sentence after the text already shown: steps and metrics carry over from ``before``.

        Where ``text`` holds several sentences, they are judged in turn and told as one.
        """
        before = before[-_BEFORE:]
        if before and not before.endswith(("\n", " ")) and not _CHINESE.match(text):
            before += " "
        whole = before + text
        language = self.language or ("zh" if _CHINESE.search(text) else "en")
        all_units = units(whole)
        judged = [self._units(reader, whole, all_units, language, start=len(before)) for reader in self.readers]
        options = [self._best(pair, language) for pair in zip(*judged, strict=True)] if judged else []
        claims = tuple(
            replace(claim, start=claim.start - len(before), end=claim.end - len(before))
            for part in options for claim in part.claims
        )  # fmt: skip
        return Sentence(text, 0, len(text), worst(claims), claims)

    def subjects(self, sentences: Iterable[str]) -> tuple[list[str], list[int]]:
        """The metrics and the steps that some sentences name, those named first first."""
        keys: dict[str, None] = {}
        steps: dict[int, None] = {}
        for text in sentences:
            for reader in self.readers:
                held = set(reader.table.steps)
                keys.update((name.keys[0], None) for name in reader.lexicon.named(text) if name.keys)
                found = [step for place in places(text, reader.table.steps) for step in place.steps]
                steps.update((step, None) for step in found if step in held)
        return list(keys), list(steps)

    # -- runs ------------------------------------------------------------------------------------
    def _order(self, text: str) -> list[int]:
        """The runs that a text names, in its order."""
        return (
            list(dict.fromkeys(s.run for s in spots(text, [r.run for r in self.readers])))
            if len(self.readers) > 1
            else []
        )

    def _best(
        self, options: Sequence[Sentence], language: str, unit: Unit | None = None, order: Sequence[int] = ()
    ) -> Sentence:
        """Of the verdicts of several runs, that of the runs named; else the kindest: the text may mean that run.

        Args:
            options: the verdict against each run.
            language: of reasons.
            unit: what is judged: a row's columns may each be of a run.
            order: the runs that the sentence before named, which "respectively" takes over.
        """
        if len(options) > 1 and unit is not None and unit.kind == "row":
            columns = [(cell, self._order(title)) for cell, title in zip(unit.cells, unit.header, strict=False)]
            if sum(len(runs) == 1 for _, runs in columns) > 1:
                kept = [
                    claim
                    for (start, end), runs in columns
                    for claim in options[runs[0] if len(runs) == 1 else 0].claims
                    if start <= claim.start < end and len(runs) == 1
                ]
                return replace(options[0], status=worst(tuple(kept)), claims=tuple(kept))
        if (
            len(options) > 1
            and len(order) > 1
            and _RESPECTIVELY.search(options[0].text)
            and not self._order(options[0].text)
        ):
            spans = sorted({(c.start, c.end) for option in options for c in option.claims if re.search(r"\d", c.text)})
            if len(spans) == len(order):
                picked = [
                    claim
                    for span, run in zip(spans, order, strict=True)
                    for claim in options[run].claims
                    if (claim.start, claim.end) == span
                ]
                return replace(options[0], status=worst(tuple(picked)), claims=tuple(picked))
        named = spots(options[0].text, [r.run for r in self.readers]) if len(options) > 1 else []
        if named:
            lexicons, tables = [r.lexicon for r in self.readers], [r.table for r in self.readers]
            return combined(options, named, lexicons, tables, lambda key, **values: reason(key, language, **values))
        return max(options, key=lambda s: (s.status != "no_claim", GRAVEST.index(s.status)))

    def _finished(self, sentences: tuple[Sentence, ...]) -> Audit:
        def fact_of(identity: str) -> Fact | None:
            number, _, own = identity.partition(":")
            return self.readers[int(number)].ledger.get(own)

        queue = list(dict.fromkeys(claim.fact for s in sentences for claim in s.claims if claim.fact))
        names: dict[str, str] = {}
        found: list[tuple[str, Fact]] = []
        for identity in queue:
            fact = fact_of(identity)
            if fact is None or identity in names:
                continue
            names[identity] = f"E{len(names) + 1}"
            found.append((identity, fact))
            prefix = identity.partition(":")[0]
            queue.extend(f"{prefix}:{parent}" for parent in (fact.inputs or ())[:50])
        facts = []
        for identity, fact in found:
            prefix = identity.partition(":")[0]
            parents = tuple(names[p] for parent in fact.inputs or () if (p := f"{prefix}:{parent}") in names)
            facts.append(replace(fact, id=names[identity], inputs=None if fact.inputs is None else parents))
        told = tuple(
            replace(s, claims=tuple(replace(c, fact=names.get(c.fact or "")) for c in s.claims)) for s in sentences
        )
        summary = {
            status: sum(s.status == status for s in told)
            for status in ("supported", "contradicted", "unsupported", "no_claim")
        }
        return Audit(told, tuple(facts), summary)

    # -- one run ---------------------------------------------------------------------------------
    def _units(
        self, reader: _Reader, text: str, all_units: Sequence[Unit], language: str, start: int = 0
    ) -> list[Sentence]:
        """The sentences from ``start`` on; those before are only read for what carries over."""
        with reader.lock:
            return self._judged(reader, text, all_units, language, start)

    def _judged(
        self, reader: _Reader, text: str, all_units: Sequence[Unit], language: str, start: int
    ) -> list[Sentence]:
        judge = Judge(reader.table, language)
        courses = Courses(judge)
        rows = RowReader(reader.lexicon, judge, self.extra)
        prefix = f"{next(n for n, r in enumerate(self.readers) if r is reader)}:"
        carried = Carried()
        result = []
        for unit in all_units:
            part = text[unit.start : unit.end]
            context = self._context(reader, unit, carried)
            if unit.end <= start:
                if unit.kind not in {"code", "row", "header"}:
                    frame = self._frame(reader, part, context)
                    carried = _carry(frame, carried, judge)
                continue
            if unit.kind in {"code", "header"} or any(
                re.sub(r"\s+", " ", part.strip()) in quote for quote in self.quotes if len(part) > 12
            ):
                if unit.kind == "header":
                    rows.begin()
                result.append(Sentence(part, unit.start, unit.end, "no_claim"))
                continue
            if unit.kind == "row":
                claims = rows.claims(text, unit, context)
            else:
                frame = self._frame(reader, part, context)
                judge.begin()
                claims = _claims(frame, judge, courses, unit, self.extra)
                carried = _carry(frame, carried, judge)
            claims = [replace(c, fact=None if c.fact is None else prefix + c.fact) for c in claims]
            result.append(Sentence(part, unit.start, unit.end, worst(tuple(claims)), tuple(claims)))
        return result

    def _frame(self, reader: _Reader, part: str, context: Carried) -> Frame:
        steps = reader.table.steps
        runs = spots(part, [r.run for r in self.readers]) if len(self.readers) > 1 else []
        whole = part
        for spot in runs:  # a run's name is no metric, no step and no number
            part = part[: spot.start] + "_" * (spot.end - spot.start) + part[spot.end :]
        shadow = part
        found = places(part, steps)
        base = found[0].steps[0] if found else context.steps[-1] if context.steps else None
        for place in relative_places(part, base, steps):
            if not any(p.start < place.end and place.start < p.end for p in found):
                found.append(place)
        found.sort(key=lambda p: p.start)
        blank = list(part)
        for place in found:
            blank[place.start : place.end] = " " * (place.end - place.start)
        names = reader.lexicon.named("".join(blank))
        names = [replace(n, text=part[n.start : n.end]) for n in names]
        names = _with_step_time(part, names, reader.table.total_time())
        names = _of_validation(_with_update(part, names, reader.run.columns), context)
        part = whole
        masks = masked_spans(part, reader.run, names, found) + [(s.start, s.end) for s in runs]
        numbers = quantities(part, masks)
        for at in range(1, len(numbers)):  # "A logs 61 steps and B 66"
            before, here = numbers[at - 1], numbers[at]
            if (
                runs
                and before.unit in _COUNTED
                and not here.unit
                and _NEXT_RUN.fullmatch(shadow[before.end : here.start])
            ):
                numbers[at] = here.in_unit_of(before)
        return Frame(part, names, found, numbers, context, away=tuple((s.start, s.end) for s in runs))

    @staticmethod
    def _context(reader: _Reader, unit: Unit, carried: Carried) -> Carried:
        """What a unit takes over: from its heading or list parent, else from the sentence before."""
        names, steps, pair, span, key = carried.names, carried.steps, carried.pair, carried.span, carried.key
        if unit.fresh:
            names = ()
        if unit.above and (unit.fresh or unit.kind in {"item", "row"} or not (names or steps)):
            if unit.kind == "item":
                names = ()
            for text in unit.above:
                found_places = places(text, reader.table.steps)
                found_names = [n for n in reader.lexicon.named(text) if n.keys or n.derived]
                if found_places:
                    steps, pair, span = _steps_of(found_places)
                    key = None
                if found_names and len(found_names) <= 2:
                    names = tuple(found_names[:1])
        return Carried(names, steps, pair, span, key)


_COUNTED: Final = {"steps", "points", "gpus", "samples", "prompts", "validations"}
_NEXT_RUN: Final = re.compile(r"(?i)\s*(?:,|，|、|and|和|;|；)?\s*_+\s*(?:为|是|有|:|：)?\s*")
_TOOK: Final = re.compile(
    r"(?i)(?P<took>\b(?:took|takes|lasts|lasted)\b|用时|耗时(?!占|的|为?最)|花了|跑了|(?:一步|单步)(?=\s*约?\s*[\d.,]+\s*(?:秒|分钟|小时))|\b(?:spent|spend|spends)\b(?=[^;,]{0,26}\bstep \d)|用了(?=\s*(?:约|大约)?\s*[\d.]+\s*(?:秒|分钟|小时|s\b|min)))|(?P<whole>\bof (?:the|each|a|every|its) (?:whole )?step(?:'s time)?\b(?!\s*\d)|占(?:整个)?(?:一步|单步|step)的?)"
)


def _with_step_time(part: str, names: list[Named], total: str | None) -> list[Named]:
    """``Step 62 took 130 s``: where nothing else is named before it, what takes the time is the step."""
    if total is None:
        return names
    result = list(names)
    for match in _TOOK.finditer(part):
        if any(n.start < match.end() and match.start() < n.end for n in result):
            continue
        near = [
            n
            for n in result
            if n.end <= match.start()
            and match.start() - n.end < 32
            and not re.search(r"[,，;；。]", part[n.end : match.start()])
        ]
        if match["took"] and (
            near
            or not re.match(
                r"[^\d，,。；;]{0,24}[\d.,]+\s*(?:s\b|sec|min|h\b|hour|秒|分|小时|个小时)", part[match.end() :]
            )
        ):
            continue
        if match["took"] and not re.search(r"(?i)step|步|iteration|it\b|each|每", part):
            continue
        statistic = "whole" if match["whole"] else ""
        result.append(Named(match.start(), match.end(), match.group(), (total,), statistic=statistic))
    return sorted(result, key=lambda n: n.start)


_UPDATE: Final = re.compile(r"(?:更新|\bupdate)(?=\s*(?:约|大约|about|~)?\s*[\d.]+\s*(?:秒|分钟|s\b|min\b))")


def _with_update(part: str, names: list[Named], columns: Container[str]) -> list[Named]:
    """``生成 61 秒，更新 2.4 秒``: a bare "update" with a time beside it is the actor's."""
    key = next((k for k in ("timing_s/update_actor", "time/step_train") if k in columns), None)
    found = [m for m in _UPDATE.finditer(part) if not any(n.start < m.end() and m.start() < n.end for n in names)]
    added = [Named(m.start(), m.end(), m.group(), (key,)) for m in found if key is not None]
    return sorted([*names, *added], key=lambda n: n.start)


_GENERIC_SCORE: Final = re.compile(r"(?i)(?:the )?(?:last |final |latest )?(?:scores?|accuracy|得分|分数|准确率)")


def _of_validation(names: list[Named], context: Carried) -> list[Named]:
    """``Validation … ; the last score is 72%``: a bare "score" may be that of the validation spoken of before."""
    before = [k for n in context.names for k in n.keys if VALIDATION.match(k)]
    if not before:
        return names
    return [
        replace(n, keys=tuple(dict.fromkeys((*before, *n.keys)))) if n.keys and _GENERIC_SCORE.fullmatch(n.text) else n
        for n in names
    ]


#: Words that claim something of a metric of this log: a course, an extreme, a comparison.
_SAID_OF: Final = re.compile(
    r"(?i)走势|趋势|波动|数量级|一路|持续|\b(?:trend|noise|direction|order of magnitude|on average|over (?:the (?:whole )?run|training)|throughout)\b|"
    r"(?:上升|下降|上涨|下跌|走高|走低|变[大小高低])了?|\b(?:rose|fell|ris(?:es|ing)|fall(?:s|ing)|increase[sd]?|decrease[sd]?|dropped|climbed|went (?:up|down)|go(?:es|ing) (?:up|down))\b"
)
_DENIED: Final = re.compile(r"(?i)\bno\b|\bnot\b|\bwithout\b|没有|无|不含|未")


def _steps_of(found: Sequence[Place]) -> tuple[tuple[int, ...], tuple[int, int] | None, tuple[int, int] | None]:
    last = found[-1]
    if last.kind == "range":
        return (), None, (last.steps[0], last.steps[-1])
    if len(last.steps) == 2:
        return last.steps, (last.steps[0], last.steps[1]), None
    singles = [p.steps[0] for p in found if len(p.steps) == 1]
    if len(singles) == 2 and singles[0] != singles[1]:
        return tuple(singles), (singles[0], singles[1]), None
    return last.steps, None, None


def _carry(frame: Frame, carried: Carried, judge: Judge) -> Carried:
    """What the next sentence takes from this one."""
    names = tuple(n for n in frame.names if n.keys or n.derived) or frame.carried.names
    if len(names) > 1:
        names = (names[0],) if frame.numbers and not _about_last(frame, names) else names[-1:]
    if frame.places:
        steps, pair, span = _steps_of(frame.places)
    else:
        steps, pair, span = frame.carried.steps, frame.carried.pair, frame.carried.span
    key = None if frame.places else frame.carried.key
    if judge.pair is not None and not frame.places:
        key, pair = judge.pair[0], (judge.pair[1], judge.pair[2])
    return Carried(names, steps, pair, span, key)


def _about_last(frame: Frame, names: Sequence[Named]) -> bool:
    return bool(frame.numbers) and frame.numbers[-1].start > names[-1].end and frame.clause(names[-1].start) > 0


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


def _claims(frame: Frame, judge: Judge, courses: Courses, unit: Unit, extra: Sequence[Fact]) -> list[Claim]:
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
        if decision.status != "supported" and _stated_elsewhere(frame, index, extra):
            decision = Decision("supported")
        add(q.start, q.end, decision)
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


def _stated_elsewhere(frame: Frame, index: int, extra: Sequence[Fact]) -> bool:
    """Whether a further fact about the same metric, or about none, states the number."""
    if not extra:
        return False
    name, _ = metric_of(frame, index)
    found, _ = places_of(frame, index)
    q = frame.numbers[index]
    around = frame.text[max(0, q.start - 16) : q.end + 20]
    return stated(q, extra, name.keys if name is not None else (), {s for p in found for s in p.steps}, around)


def statuses() -> tuple[Status, ...]:
    """All statuses, the gravest first."""
    return GRAVEST
