"""The readings that a sentence's words leave open for a number, each computed from the run.

Grammar ties most numbers to one metric, one place and one operation (:mod:`assistant.ground.judging`). Where that reading
does not hold, the words may still allow others: another metric named in the sentence, the step of the clause before, the
stretch that "after step 11" means, a typical value, a change. Each reading is ``(metric, place, operation)``; what a word
excludes (a name or a step right beside the number, a unit of another dimension, "the peak") is never tried. A number is
supported where one reading holds that does not cross those of the sentence's other numbers: two values told in one order
and metrics or steps in the other are an exchange, which is what the order of words excludes.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assistant.ground.binding import _AT, _OF, _TIGHT, _former, _in_order, _leads, _tight_with_next, carries
from assistant.ground.cells import excepted
from assistant.ground.changes import _is_reference
from assistant.ground.cues import change_cue, outside
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named, of_its_own
from assistant.ground.operations import Operations, Reading, Subject, Where
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.several import from_told, of_parts, several
from assistant.ground.subjects import headed, implied, resembling, spent_on, variants
from assistant.ground.tally import tally

_LATER: Final = re.compile(
    r"(?i)(?:\bafter|\bpast|\bbeyond|\bsince|\bfrom|自|从|过了?)\s*(?:the\s+)?$|(?:after|since|from)\s*$"
)
#: "Since step 9", 从第 9 步起: that step itself too.
_FROM_IT: Final = re.compile(r"(?i)(?:\bsince|\bfrom|自|从)\s*(?:the\s+)?$")
_LATER_AFTER: Final = re.compile(r"(?i)^\s*(?:之后|以后|后|往后|起|开始|以来|onwards?\b|on\b|and (?:later|beyond))")
_SOONER: Final = re.compile(r"(?i)(?:\bbefore|\buntil|\btill|\bup to(?: and including)?|\bthrough|截至|直到|到)\s*$")
_SOONER_AFTER: Final = re.compile(r"(?i)^\s*(?:之前|以前|前(?!者|向)|为止)")
_AFTERWARDS: Final = re.compile(
    r"(?i)\bafter(?:wards?| that| which)\b|\bfrom (?:then|there) on\b|\bsince(?: then)?\b|\bthereafter\b|\bthen\b|此后|之后|以后|随后|往后|后来|再往后"
)
_BEFOREHAND: Final = re.compile(r"(?i)\bbefore(?: that| then)?\b|\bpreviously\b|此前|之前|以前")
_ALL: Final = re.compile(r"(?i)\bboth\b|\beach\b|\ball\b|都|均|各")
#: Words of where a course ends: the last value is meant where no other step is told.
_ENDING: Final = re.compile(
    r"(?i)\b(?:ends?|ended|ending|finish(?:es|ed)?|finally|eventually|closes?|closed|settl(?:es|ed|ing)|wind(?:s|ing)? up|recover(?:s|ed|ing)?|return(?:s|ed|ing)?|afterwards|thereafter|after which|after that|then|on to)\b|最后|最终|末|之后|此后|随后|然后|后来|再|回落|衰减|收敛|收在|停在|结束"
)
#: "… of step 9's 145 s": the step's own time.
_OF_STEP: Final = re.compile(
    r"(?i)\b(?:of|/|out of)\s+step\s*\d+(?:'s|’s)\s*$|(?:step\s*\d+|第\s*\d+\s*步)的?\s*总?(?:共|时长|耗时)?\s*$"
)
_PEAK: Final = re.compile(
    r"(?i)(?:\bpeak|\bhigh|\blow|\bmax(?:imum)?|\bmin(?:imum)?|\bbest|\bworst|\btrough|\bbottom|\btop|\b(?:slow|fast|long|short|quick)est|峰值|谷底|最[高低大小长短快慢]值?)(?: value| one| step)?\s*(?:of|is|was|at|为|是|的|约)?\s*[（(`*]*$"
)
#: Words that say that a peak is that of the run, though the sentence names a stretch of it.
_WHOLE: Final = re.compile(
    r"(?i)\b(?:overall|whole|entire|ever|all-time|run(?:'s|’s)?|its|global)\b|全程|整个|全局|历史|整体"
)
#: Numbers of a sentence beyond which it is no prose, and only its first reading counts.
_MOST_NUMBERS: Final = 48
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_STARTING: Final = re.compile(r"(?i)(?:\bfrom|从|由)\s*(?:about|around|roughly|约|大约)?\s*[`*]*$")


class Allowed(Operations):
    """The readings that one sentence's words allow.

    Args:
        frame: the sentence.
        judge: holds the run, and the cells that numbers were tied to.
    """

    def settle(self, decided: Mapping[int, Decision]) -> dict[int, Decision]:
        """Of the numbers that their first reading does not bear out, those that another allowed reading does.

        Args:
            decided: what was decided of each number, by its index.
        """
        open_ = [at for at, decision in decided.items() if decision.status != "supported" and not decision.final]
        open_ = [at for at in open_ if spent_on(self.frame, self.frame.numbers[at]) is None]
        if len(self.frame.numbers) > _MOST_NUMBERS:
            return {}
        fixed = [reading for at, decision in decided.items() if (reading := self._fixed(at, decision)) is not None]
        options = {at: list(self.readings(at))[:12] for at in open_}
        chosen: dict[int, Reading] = {}
        for at in sorted((at for at in open_ if options[at]), key=lambda at: len(options[at])):
            for reading in options[at]:
                others = [*fixed, *chosen.values()]
                if not any(self._crosses(reading, other) for other in others):
                    chosen[at] = reading
                    break
        return {
            at: Decision(
                "supported",
                "",
                reading.fact,
                reading.subject.key,
                reading.where.steps[0] if reading.where.form == "one" else None,
            )
            for at, reading in chosen.items()
        }

    def _fixed(self, at: int, decision: Decision) -> Reading | None:
        if decision.status != "supported" or decision.key is None or decision.step is None:
            return None
        q = self.frame.numbers[at]
        names = [n for n in self.frame.names if decision.key in n.keys]
        near = min(names, key=lambda n: abs(n.start - q.start)).start if names else -1
        spots = [p for p in self.frame.places if decision.step in p.steps]
        spot = min(spots, key=lambda p: abs(p.start - q.start)) if spots else None
        turn = spot.steps.index(decision.step) if spot is not None and spot.kind != "range" else 0
        place = spot.start if spot is not None else -1
        return Reading(
            at,
            Subject(decision.key, near, "", self._tight_name(q) is not None),
            Where((decision.step,), "one", place, self._tight_place(q) is not None, turn),
            "value",
        )

    def _crosses(self, one: Reading, two: Reading) -> bool:
        """Whether two readings exchange what the order of words keeps apart, or tell two numbers of one cell."""
        if one.index > two.index:
            one, two = two, one
        first, second = self.frame.numbers[one.index], self.frame.numbers[two.index]
        group = self.frame.group_of(one.index)
        if (
            group is not None and two.index in group.members and group.form in {"chain", "range"}
            and one.subject.key != two.subject.key and min(one.subject.at, two.subject.at) >= 0
        ):  # fmt: skip
            return True  # from a to b: of one metric
        if one.cell == two.cell:
            return (first.number, first.unit) != (second.number, second.unit) and not (first.bound or second.bound)
        if "value" not in {one.operation, two.operation} and one.operation != two.operation:
            return False
        same = one.subject.key == two.subject.key or one.subject.at == two.subject.at >= 0  # two keys of one name
        if same and one.where.form == two.where.form == "one":
            here, there = (one.where.at, one.where.turn), (two.where.at, two.where.turn)
            if here[0] != there[0] and (one.where.fixed or two.where.fixed or min(here[0], there[0]) < 0):
                return False
            if (
                group is not None
                and group.form == "versus"
                and two.index in group.members
                and min(here[0], there[0]) >= 0
            ):
                if self._referred(here[0]) != self._referred(there[0]):
                    return self._referred(here[0])  # "compared with step 12, step 40 is faster (57 s vs 172 s)"
                return here > there  # "faster than step 12 (57 s vs 172 s)": in the order in which the steps are named
            return here > there and one.where.steps > two.where.steps
        if one.subject.key != two.subject.key and one.where.steps == two.where.steps:
            if one.subject.fixed or two.subject.fixed or min(one.subject.at, two.subject.at) < 0:
                return False
            return one.subject.at > two.subject.at and (
                (two.subject.at < first.start) == (one.subject.at < first.start)
            )
        return False

    def _referred(self, at: int) -> bool:
        """Whether the step named at a place is what the other one is compared with."""
        return any(p.start == at and _is_reference(self.frame, p) for p in self.frame.places)

    # -- candidates ----------------------------------------------------------------------------------
    def readings(self, index: int) -> Iterator[Reading]:
        """Every reading of a number that its words allow and the run bears out, the nearest first."""
        q = self.frame.numbers[index]
        if q.number != q.number or math.isinf(q.number):
            return
        yield from self._read(index, q)
        before = next(
            (n for n in self.frame.numbers[:index][::-1] if n.unit in {"s", "%", "tokens", "gib", "rate"}), None
        )
        if not q.unit and before is not None:  # "step 1 needs 72 minutes, step 14 needs 99"
            self.frame.numbers[index] = q.in_unit_of(before)
            yield from self._read(index, self.frame.numbers[index])
            self.frame.numbers[index] = q

    def _read(self, index: int, q: Quantity) -> Iterator[Reading]:
        subjects = self.subjects(index)
        for subject in subjects:
            for where in self.wheres(index, subject):
                for operation, fact in self.holds(index, q, subject, where):
                    yield Reading(index, subject, where, operation, fact)
        yield from self._of_many(index, q, subjects)

    def _of_many(self, index: int, q: Quantity, subjects: Sequence[Subject]) -> Iterator[Reading]:
        """Counts of steps, and what several of the metrics named give together."""
        frame = self.frame
        if any(n.absent for n in frame.names):
            return
        names = [n for n in frame.names if n.keys] or [n for n in frame.carried.names if n.keys]
        named = [Subject(key, at) for key, at in headed(names, frame.text, self.table)]
        places = {s for p in frame.places if p.kind != "range" for s in p.steps}
        elsewhere = len(places) > 1 and any(step not in places for _, step in self.judge.told.values())
        if not elsewhere and (from_told(q, index, frame) or of_parts(q, index, frame)):
            yield Reading(index, named[0] if named else Subject("", -1), Where((), "whole", -1), f"told {q.start}")
            return
        spans: list[tuple[int, ...] | None] = [None]
        for subject in named[:1] or [Subject(k, -1) for k in list(self.table.run.columns)[:1]]:
            spans += [w.steps for p in frame.places for w in self._of_place(p, subject.key) if w.form == "span"]
        if re.search(r"(?i)开始|首次|\bstart|\bfirst\b(?! \d)|\bbecom|\bturn", frame.text):
            spans = [None]
        elif any(p.kind == "range" for p in frame.places):
            spans = spans[1:]
        keys = list(dict.fromkeys(key for n in names for key in n.keys[:3]))
        if tally(q, frame, self.table, keys, spans):
            yield Reading(index, named[0] if named else Subject("", -1), Where((), "whole", -1), f"count {q.start}")
            return
        everyone = named or list(subjects)
        if len(everyone) < 2 and q.unit != "%":
            return
        for where in self.wheres(index, everyone[0]) if everyone else ():
            if where.form == "whole" and frame.places:
                continue
            for operation in several(
                q, frame, self.table, [s.key for s in everyone], where.steps, [s.key for s in subjects]
            ):
                yield Reading(index, everyone[0], where, f"{operation} {q.start}")

    def _tight_name(self, q: Quantity) -> Named | None:
        text = self.frame.text
        before = [n for n in self.frame.names if n.end <= q.start]
        after = [n for n in self.frame.names if n.start >= q.end]
        if before and _TIGHT.match(text[before[-1].end : q.start]):
            gap = text[before[-1].end : q.start]
            if not re.search(r"[,，]", gap):
                return before[-1]
        if (
            after
            and text[q.end : after[0].start].strip()
            and _OF.match(text[q.end : after[0].start])
            and not _tight_with_next(self.frame, after[0], q)
        ):
            return after[0]
        return None

    def _tight_place(self, q: Quantity) -> Place | None:
        text, places = self.frame.text, self.frame.places
        after = [p for p in places if p.start >= q.end]
        if after and _AT.match(text[q.end : after[0].start]) and not _leads(self.frame, after[0]):
            return after[0]
        before = [p for p in places if p.end <= q.start]
        group = self.frame.group_of(self.frame.numbers.index(q)) if q in self.frame.numbers else None
        if group is not None and group.form == "versus" and sum(len(p.steps) == 1 for p in before) == 2:
            return None  # "step 2 vs step 30: 0.67 vs 0.62": in this order, not the one that stands nearest
        if (
            before
            and (before[-1].kind != "range" or re.search(r"\d", text[before[-1].start : before[-1].end]))
            and re.fullmatch(
                r"[\s:：=(（`*的为是,，]*(?:at|with|was|is|had|reads?|shows?)?\s*(?:约|about|~|≈)?[\s`*]*",
                text[before[-1].end : q.start],
            )
        ):
            return before[-1]
        return None

    def subjects(self, index: int) -> list[Subject]:
        """The metrics that a number may be of, the nearest first."""
        frame, q = self.frame, self.frame.numbers[index]
        tight = _former(frame, q) or spent_on(frame, q) or self._tight_name(q)
        group = frame.group_of(index)
        if (
            group is not None
            and group.form in {"list", "versus"}
            and (shared := _in_order(frame, group, index)) is not None
        ):
            tight = shared
        if tight is not None and tight.statistic == "whole":
            tight = None
        clause = frame.clause(q.start)
        if (
            tight is not None
            and not tight.exact
            and q.unit == "%"
            and tight.start >= q.end
            and len(frame.names) > 1
            and not any(self.table.readings(q, key) for key in tight.keys)
        ):
            tight = None  # "0.8 % of the answers hit the cap": a share of them
        if tight is not None and not tight.keys:
            return []
        if any(n.absent for n in frame.names) and not any(n.keys for n in frame.names):
            return []
        if tight is None and any(n.absent for n in frame.names if n.start < q.start):
            return []
        held = [n for n in frame.names if n.keys]
        fits = [n for n in held if any(self._fits_kind(q, key) for key in n.keys)]
        own = [n for n in fits if frame.clause(n.start) == clause]
        tied = {key for at, (key, _) in self.judge.told.items() if at != index}
        if tight is not None and tight in fits:
            fits = [tight]
        elif own and frame.group_of(index) is None and any(n.end <= q.start for n in own):
            fits = own
        fits.sort(key=lambda n: (n.start > q.start, abs(frame.clause(n.start) - clause), abs(n.start - q.start)))
        found: dict[str, Subject] = {}
        for name in fits:
            own_key = of_its_own(name) and change_cue(frame, q) == "sure"
            for key in name.keys[:1] if own_key else variants(name, frame.text, q, self.table):
                if self._fits_kind(q, key):
                    found.setdefault(key, Subject(key, name.start, name.statistic, name is tight))
        if tight is None and not any(n.exact for n in own) and all(set(n.keys) & tied for n in own):
            for key, at in resembling(q, frame, self.table):
                if self._fits_kind(q, key):
                    found.setdefault(key, Subject(key, at, "", True))
        before = [n for n in held if frame.clause(n.start) == clause and n.end <= q.start]
        other = [n for n in before if n not in fits]  # "validation costs 676 s": what it costs is another metric
        free = tight is None and all(set(n.keys) & tied or n in other for n in before)
        if (
            not before
            and any(n in fits and n.end <= q.start for n in held)
            and carries(frame, q.start)
            and not _CHINESE.search(frame.text)
        ):
            free = False  # "the prompt length, 183 tokens at step 1, …": of what the clause before names
        if not before and not tied and len(held) == 1 and held[0].exact:
            free = False  # "by `timing_s/gen`, step 3 is fastest, 41 s": of that metric
        if q.unit == "s" and tight is None and _OF_STEP.search(frame.text[max(0, q.start - 24) : q.start]) and (total := self.table.total_time()):  # fmt: skip
            found.setdefault(total, Subject(total, -1))
        if free or (tight is not None and tight not in fits):
            beside = tight if not free else other[-1] if other else None
            meant = implied(q, frame, self.table, beside.text if beside is not None else "")
            for key in meant or (implied(q, frame, self.table) if free and q.unit != "s" else ()):
                found.setdefault(key, Subject(key, -1))
        if free and not held and carries(frame, q.start):
            for name in frame.carried.names[::-1]:
                for key in variants(name, frame.text, q, self.table):
                    if self._fits_kind(q, key):
                        found.setdefault(key, Subject(key, -1, name.statistic))
        return list(found.values())[:14]

    def _fits_kind(self, q: Quantity, key: str) -> bool:
        return q.unit in {"%", "pp", "ratio", "factor", "steps", "points"} or bool(self.table.readings(q, key))

    def wheres(self, index: int, subject: Subject) -> list[Where]:
        """The places that a number may be at, the nearest first."""
        frame, q = self.frame, self.frame.numbers[index]
        tight = self._tight_place(q)
        if tight is not None:
            found = self._of_place(tight, subject.key, fixed=True)
            if tight.end <= q.start:
                start, end = q.end, min([frame.clause_span(q.start)[1], *(n.start for n in frame.numbers if n.start > q.end)])  # fmt: skip
                beyond = self._beyond(frame.text[start:end], [tight], subject.key)
                return beyond or found
            return found
        clause = frame.clause(q.start)
        here = [p for p in frame.places if frame.clause(p.start) == clause]
        if here:
            chosen = sorted(here, key=lambda p: (p.start > q.start, abs(p.start - q.start)))
            group = frame.group_of(index)
            if group is not None and group.form == "versus" and group.members[-1] == index and len(here) == 1:
                chosen += [p for p in frame.places if p.end < here[0].start and self._referred(p.start)]
        else:
            before = [p for p in frame.places if p.end <= q.start]
            after = [p for p in frame.places if p.start >= q.end]
            group = frame.group_of(index)
            chosen = [*before[::-1], *after] if group is not None else [*before[-1:], *after[: 0 if before else 1]]
            if group is None and before and before[-1].kind == "range":
                chosen += [p for p in before if len(p.steps) == 1][-1:]
        found = [where for place in chosen for where in self._of_place(place, subject.key)]
        text = outside(frame, *frame.clause_span(q.start))
        if not here and frame.places:
            found += self._beyond(text, chosen or frame.places, subject.key)
        rows, group = self.table.held(subject.key), frame.group_of(index)
        start = max([frame.clause_span(q.start)[0], *(n.end for n in frame.numbers if n.end <= q.start)])
        chained = group is not None and group.form == "chain" and len({s for p in frame.places if p.kind != "range" for s in p.steps}) > 1  # fmt: skip
        if chained:
            return list(dict.fromkeys(found))  # "from 0.1 to 0.2 between steps 30 and 50": at no end but those
        if rows and frame.places and _ENDING.search(frame.text[start : q.start]) and not any(start <= p.start < q.start for p in frame.places):  # fmt: skip
            found.append(Where((rows[-1],), "one", q.start))
        if (
            rows
            and not any(start <= p.start < q.start for p in frame.places)
            and _STARTING.search(frame.text[start : q.start])
        ):
            found.append(Where((rows[0],), "one", q.start))
        if rows and not frame.places and group is not None and group.form == "chain":
            found += [Where((s,), "one", -1, turn=turn) for turn, s in enumerate((rows[0], rows[-1]))]
        if not frame.places and not frame.carried.steps:
            tied = {step for at, (_, step) in self.judge.told.items() if at != index}
            found += [
                Where((s,), "one", -1) for s in tied if len(tied) == 1
            ]  # "1.40M tokens in 346 s at 1015 tokens/s"
        if not frame.places:
            if frame.carried.steps:
                found += [Where((s,), "one", -1, turn=turn) for turn, s in enumerate(frame.carried.steps)]
            if frame.carried.span:
                found.append(Where(frame.carried.span, "span", -1))
        within = any(p.kind in {"range", "pair"} and re.search(r"\d", frame.text[p.start : p.end]) for p in here)
        peak = _PEAK.search(frame.text[max(0, q.start - 24) : q.start]) and not (
            within and not _WHOLE.search(frame.text)
        )
        if rows and (not here or peak):
            found.append(Where((rows[0], rows[-1]), "whole", -1))
        return list(dict.fromkeys(found))

    def _of_place(self, place: Place, key: str, *, fixed: bool = False) -> list[Where]:
        """A naming of steps, and the stretch that a word beside it makes of it."""
        if set(place.steps) <= excepted(self.frame):
            return []
        place = self.judge._placed(self.frame, place, key)
        text, held = self.frame.text, self.table.held(key)
        if place.kind == "range" and any(g.form in {"chain", "versus"} for g in self.frame.groups) and held:
            rows = [s for s in held if place.steps[0] <= s <= place.steps[-1]] or held
            whole = int(match[0]) if (match := re.search(r"\d+", text[place.start : place.end])) else rows[-1]
            ends = dict.fromkeys([rows[0], rows[-1], *([whole] if whole in held else [])])
            return [Where((place.steps[0], place.steps[-1]), "span", place.start, fixed),
                    *(Where((s,), "one", place.start, fixed, turn) for turn, s in enumerate(ends))]  # fmt: skip
        if place.kind == "range":
            left, right = text[max(0, place.start - 22) : place.start], text[place.end : place.end + 16]
            if re.search(r"(?i)\bafter (?:the )?$", left) or re.match(r"(?:之后|以后|过后|后)", right):
                return self._stretch([s for s in held if s > place.steps[-1]], place.start)
            return [Where((place.steps[0], place.steps[-1]), "span", place.start, fixed)]
        if len(place.steps) > 1 and _ALL.search(text) and not self.frame.groups:
            return [Where(place.steps, "each", place.start, fixed)]
        found = [Where((s,), "one", place.start, fixed, turn) for turn, s in enumerate(place.steps)]
        if len(place.steps) != 1 or not held:
            return found
        step = place.steps[0]
        left, right = text[max(0, place.start - 22) : place.start], text[place.end : place.end + 16]
        if _LATER.search(left) or _LATER_AFTER.match(right):
            found += self._stretch([s for s in held if s >= step], place.start)
            if not (_FROM_IT.search(left) and not re.match(r"\s*(?:之后|以后|后)", right)):
                found += self._stretch([s for s in held if s > step], place.start)
        if _SOONER.search(left) or _SOONER_AFTER.match(right):
            found += self._stretch([s for s in held if s <= step], place.start)
            found += self._stretch([s for s in held if s < step], place.start)
        return found

    def _beyond(self, text: str, places: Sequence[Place], key: str) -> list[Where]:
        """ "… at step 13: 184 s before, 550 s from then on": the stretch on one side of the step named before."""
        held, found = self.table.held(key), list[Where]()
        for place in places[-1:]:
            first, last = place.steps[0], place.steps[-1]
            if place.kind == "range" and _BEFOREHAND.search(
                text
            ):  # "after step 13 …, before that …": not step 13 itself
                found += self._stretch([s for s in held if s < first][:-1], place.start)
            if _AFTERWARDS.search(text):
                found += self._stretch([s for s in held if s > last], place.start)
                found += self._stretch([s for s in held if s >= last], place.start)
            if _BEFOREHAND.search(text):
                found += self._stretch([s for s in held if s < first], place.start)
        return found

    @staticmethod
    def _stretch(rows: Sequence[int], at: int) -> list[Where]:
        return [Where((rows[0], rows[-1]), "span", at)] if rows else []
