"""Words of direction and judgement against the log: rose, fell, unchanged, higher than, improved, collapsed."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from typing import Final

from assistant.ground.binding import Frame, carries
from assistant.ground.changes import _THEN, SPEED, _is_reference
from assistant.ground.comparisons import SPED_UP, Word
from assistant.ground.cues import REVERSED, change_cue, cue, negated
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.steadiness import BLEW_UP, CRASHED, TRENDED, Steadiness, leg
from assistant.ground.table import median

_DRASTIC: Final = re.compile(r"(?i)collaps|explod|blew|崩|坍|爆炸|发散|diverg")
_TREND_FLAT: Final = re.compile(r"(?i)\bflat\b|走平|持平|横盘|essentially|basically|基本|大体|大致")
#: 用掉了: what a phase took, no course.
_USED_UP: Final = re.compile(
    r"[用花吃占耗费砍丢去删关漏截忘省]掉了?$|(?i:\b(?:end(?:s|ed|ing)?|w(?:ound|inds?)|ma(?:kes?|de|king)) up$)"
)
NO_COURSE: Final = re.compile(
    r"(?i)more than (?:doubl|halv|tripl|quadrupl|trebl)|spike\b(?= (?:is|was|of|at|reach|hit|comes|came|occurs|on|in)\b)|fall(?:s|ing)? (?:on|at|in|within|between(?! (?:the )?steps? \d)|outside|into|under) (?!to\b)|up (?:to|until)\b(?![^.;]{0,40}\bfrom\b)|over (?:(?:the |all |its )?(?:steps?|(?:first|second|last|whole|entire|full)\b)|\d)|grow(?:s|n)? out"
)
_MAGNITUDE: Final = re.compile(r"(?i)\babsolute\b|\bmagnitude|绝对值|幅度")
ABSOLUTE: Final = re.compile(r"(?i)\babsolute (?:value|size)|(?<!order of )(?<!orders of )\bmagnitude\b|绝对值")
_PACE: Final = re.compile(r"(?i)slow|fast|quick|spe?ed|[快慢]")
#: Words of a peak or a trough at one step rather than of a course.
_LOCAL: Final = re.compile(
    r"(?i)spik|jump|surg|shoot|shot|dip|plung|slump|leap|soar|rocket|balloon|nosediv|setback|uptick|尖|跳|窜|骤|猛|陡|突|飙|蹿|冲|暴|激增"
)
_ONWARDS: Final = re.compile(
    r"(?i)\bthen\b|\bafter(?:wards?)?\b|\bthereafter\b|\bfrom (?:then|there)\b|\bsince\b|之后|此后|随后|然后|后来|接着|再|往后|以后"
)
_LEVELLED: Final = re.compile(r"(?i)\blevel\w* (?:off|out)|\bplateau|趋稳|趋于平|走平")
_BY: Final = re.compile(r"(?i)(?:\bby|(?:^|[，,。；;：:])\s*到了?)\s*(?:the )?$")
_SUBJECT: Final = re.compile(
    r"(?i)\b(?:model|training|(?<!of the )(?<!over the )(?<!in the )(?<!whole )(?<!entire )run|policy|agent|learning|performance)\b|模型|训练|策略|整体|性能"
)


def course_words(frame: Frame) -> list[Word]:
    """The words of direction of a sentence that stand in no name, left to right."""
    taken = [(n.start, n.end) for n in frame.names] + [(p.start, p.end) for p in frame.places]
    taken += [(q.start, q.end) for q in frame.numbers if q.unit != "factor"]
    found = [Word(*match.span(), "down") for match in SPED_UP.finditer(frame.text)]
    taken += [(word.start, word.end) for word in found]
    for sense in ("flat", "improve", "worsen", "stable", "up", "down", "higher", "lower"):
        if sense in {"higher", "lower"} and not cue("versus").search(frame.text):
            continue
        for match in cue(sense).finditer(frame.text):
            start, end = match.span()
            if frame.text[start] in "比较" and end - start > 2:  # the pattern reaches from 比 to 高
                adjective = re.search(r"(?<![得很许不])[高低大小多少长短慢快](?!.*(?<![得很许不])[高低大小多少长短慢快])", frame.text[start:end])  # fmt: skip
                start += adjective.start() if adjective else 0
                end = start + 1 if adjective else end
            if (
                any(a < end and start < b for a, b in taken)
                or NO_COURSE.match(frame.text[start : end + 18])
                or _USED_UP.search(frame.text[:end])
            ):
                continue
            taken.append((start, end))
            found.append(Word(start, end, sense))
    return sorted(found, key=lambda word: word.start)


class Courses(Steadiness):
    """Decides words of direction.

    Args:
        judge: holds the run, and which numbers of the sentence were tied to which cells.
    """

    def decide(self, frame: Frame, word: Word) -> Decision | None:
        """One word; ``None`` where it says nothing about a metric of the log."""
        sense = word.sense
        if negated(frame, word.start):
            if sense in {"improve", "worsen", "stable", "higher", "lower", "flat"}:
                return None
            sense = f"not_{sense}"
        following = next((q for q in frame.numbers if q.start >= word.end), None)
        if (
            following is not None
            and following.bound
            and sense in {"up", "down", "not_up", "not_down"}
            and following.start - word.end <= 12
            and not change_cue(frame, following)
        ):
            return None  # "never drops below 0.15" is a bound
        if sense in {"higher", "lower"}:
            return self._compared(frame, word)
        name = self._metric(frame, word)
        if name is not None and name.keys and sense == "worsen" and (frame.places or frame.groups):
            drastic = frame.text[word.start : word.end]
            sense = "down" if CRASHED.match(drastic) else "up" if BLEW_UP.match(drastic) else sense
        if (
            name is not None
            and name.keys
            and sense in {"up", "down"}
            and (passing := self._on_the_way(frame, word, name))
        ):
            return passing
        total = self.table.total_time()
        if name is None and sense in {"up", "down"} and total is not None and _PACE.search(frame.text[word.start : word.end]) and not frame.names:  # fmt: skip
            name = Named(word.start, word.end, "", (total,))
        if name is None and sense in {"up", "down", "flat"} and not frame.names and self._about_log(frame):
            return Decision("unsupported", self.say("unknown_subject"))
        if name is None:
            return self._judgement(frame, word) if sense in {"improve", "worsen"} else None
        if name.absent:
            return Decision("contradicted", self.say("no_metric", metric=name.text.strip("`")))
        if name.derived and not name.keys:
            return self._derived(frame, word, name, sense)
        if not name.keys:
            return None
        keys = name.keys
        if name.statistic in {"max", "min"} and keys[0].endswith(f"/{name.statistic}"):
            keys = tuple(key for key in keys if key.endswith(f"/{name.statistic}"))
        told = {key for at, (key, _) in self.judge.told.items() if key in keys and abs(frame.clause(frame.numbers[at].start) - frame.clause(word.start)) <= 1}  # fmt: skip
        keys = tuple(key for key in keys if key in told) or keys
        first: Decision | None = None
        for key in keys[:4]:
            own = sense
            if SPED_UP.fullmatch(frame.text[word.start : word.end]) and not self._of_pace(key):
                continue
            if SPEED.search(key) and _PACE.search(frame.text[word.start : word.end]):
                own = {"up": "down", "down": "up", "not_up": "not_down", "not_down": "not_up"}.get(sense, sense)
            decided = self._one(frame, word, key, own)
            if decided is not None and decided.status != "supported" and self._elsewhere(frame, word, key, own):
                decided = Decision("supported", "", None, key)
            if decided is not None and decided.status == "supported":
                return decided
            first = first or decided
        return first

    def _elsewhere(self, frame: Frame, word: Word, key: str, sense: str) -> bool:
        """Whether a word holds where its place allows another reading: at a peak or trough, from a step to the end, late."""
        rows = self.table.finite(key)
        if len(rows) < 3:
            return False
        start, end = frame.clause_span(word.start)
        text = frame.text[word.start : word.end]
        after = [step for at, (other, step) in sorted(self.judge.told.items())
                 if other == key and word.end <= frame.numbers[at].start < end]  # fmt: skip
        after += [p.steps[0] for p in frame.places if len(p.steps) == 1 and start <= p.start < end]
        values = dict(rows)
        by = [
            p
            for p in frame.places
            if len(p.steps) == 1 and start <= p.start < end and _BY.search(frame.text[: p.start])
        ]
        if sense in {"up", "down"} and len(by) == 1 and by[0].steps[0] in values:
            return (values[by[0].steps[0]] - rows[0][1]) * (1 if sense == "up" else -1) > 0  # "down to 0.1 by step 100"
        moved_by = any(
            0 <= q.start - word.end <= 12 and change_cue(frame, q) == "sure" for q in frame.numbers
        )  # "plunged by 0.03" is no trough
        if sense in {"up", "down"} and _LOCAL.search(text) and after and after[0] in values and not moved_by:
            middle = median([v for _, v in rows])
            back = self.table.before(key, after[0])
            there = values[after[0]]
            wanted = 1 if sense == "up" else -1
            return (there - middle) * wanted > 0 and (
                back is None or back not in values or (there - values[back]) * wanted > 0
            )
        reached = re.match(r"(?i)\s*(?:back )?(?:to|at|到|至)", frame.text[word.end : word.end + 8]) or re.search(
            r"[到至]$", text
        )
        own = [p.steps[0] for p in frame.places if len(p.steps) == 1 and start <= p.start < end]
        since = [p.steps[0] for p in frame.places if len(p.steps) == 1 and p.end <= start and p.steps[0] in values]
        if sense in {"up", "down"} and reached and len(own) == 1 and own[0] in values and since:
            base = max((step for step in since if step < own[0]), default=since[-1])
            return (values[own[0]] - values[base]) * (1 if sense == "up" else -1) > 0
        if sense in {"flat", "stable"} and _LEVELLED.search(text):
            spread = max(v for _, v in rows) - min(v for _, v in rows)
            tail = [v for _, v in rows[-max(3, len(rows) // 3) :]]
            return max(tail) - min(tail) <= 0.25 * spread
        earlier = [p.steps[-1] for p in frame.places if p.end <= word.start]
        earlier += [
            step
            for at, (other, step) in sorted(self.judge.told.items())
            if other == key and frame.numbers[at].end <= word.start
        ]
        if not earlier or any(p.start >= start for p in frame.places if len(p.steps) == 1 and p.start < end):
            return False
        if not _ONWARDS.search(frame.text[start : word.start]) and not _ONWARDS.search(
            frame.text[max(0, start - 2) : start + 1]
        ):
            return False
        late = [row for row in rows if row[0] >= earlier[-1]]
        if len(late) < 2:
            return False
        if sense in {"up", "down"}:
            return (late[-1][1] - late[0][1]) * (1 if sense == "up" else -1) > 0
        if sense in {"flat", "stable"}:
            whole = max(v for _, v in rows) - min(v for _, v in rows)
            half = late[len(late) // 4 :]
            return max(v for _, v in half) - min(v for _, v in half) <= 0.25 * whole
        return False

    def _metric(self, frame: Frame, word: Word) -> Named | None:
        clause = frame.clause(word.start)
        before = [n for n in frame.names if n.end <= word.start]
        near = [n for n in before if frame.clause(n.start) == clause]
        after = [n for n in frame.names if n.start >= word.end and frame.clause(n.start) == clause]
        if after and re.match(r"(?i)^\s*(?:in|of|的)?\s*(?:the\s+)?[`*]*\s*$", frame.text[word.end : after[0].start]):
            return after[0]
        if near:
            return near[-1]
        if before:
            return before[-1]
        if after:
            return after[0]
        if not frame.names and frame.carried.names and not _SUBJECT.search(frame.text) and carries(frame, word.start):
            return frame.carried.names[-1]
        return None

    @staticmethod
    def _about_log(frame: Frame) -> bool:
        """Whether a sentence speaks of this run's steps, rather than in general."""
        return bool(frame.places) or bool(
            re.search(
                r"(?i)steadily|throughout|over the run|the (?:whole|entire) (?:time|way)|as training|the course of|一路|持续|全程|曲线|越往后|训练过程|整体",
                frame.text,
            )
        )

    # -- the steps meant -----------------------------------------------------------------------------
    def _pair(self, frame: Frame, word: Word, key: str) -> tuple[tuple[int, int] | None, bool]:
        """The steps that a word compares, and whether the sentence says them (else: the whole run)."""
        moves = [w.start for w in course_words(frame) if w.sense in {"up", "down"}] if frame.groups else []
        if word.start in moves and (between := leg(frame, self.judge.told, word.start, moves, key)) is not None:
            return between, True
        clause = frame.clause(word.start)
        told = self.judge.pair
        own = [p for p in frame.places if frame.clause(p.start) == clause and len(p.steps) == 1]
        lead = frame.text[frame.clause_span(word.start)[0] : word.end]
        reached = re.match(r"(?i)\s*(?:back )?(?:to|到|至)", frame.text[word.end : word.end + 8]) or re.search(
            r"[到至]$", frame.text[word.start : word.end]
        )
        elsewhere = [p for p in frame.places if frame.clause(p.start) != clause and len(p.steps) == 1]
        if (
            reached
            and len(own) == 1
            and elsewhere
            and own[0].end <= word.start
            and not any(
                g.form == "chain" and frame.clause(frame.numbers[g.members[0]].start) == clause for g in frame.groups
            )
        ):
            back = self.table.before(key, own[0].steps[0])
            if back is not None:
                return (back, own[0].steps[0]), True
        beside = [s for s in self.judge.spans if s[1] == key and frame.clause(s[0]) == clause]
        if beside:
            _, _, a, b = min(beside, key=lambda s: abs(s[0] - word.end))
            return (a, b), True
        if told is None and reached and len(own) == 1 and own[0].start >= word.end and _THEN.search(lead):
            passed = [step for at, (other, step) in self.judge.told.items()
                      if other == key and frame.numbers[at].end <= word.start and step < own[0].steps[0]]  # fmt: skip
            if passed:  # "falls to 0.33 at step 45 (from 0.46 at step 9), then rises to 0.36 at step 55"
                return (max(passed), own[0].steps[0]), True
        if told is not None and told[0] == key and (_THEN.search(lead) or (own and own[0].steps[0] not in told[1:])):
            pairs = self.judge.changes.pairs(frame, word.end, key, told)
            if pairs:
                return pairs[0], True
        if told is not None and told[0] == key and abs(frame.clause(word.start) - clause) <= 1:
            return (told[1], told[2]), True
        held = self.table.held(key)
        spans = [p for p in frame.places if p.kind == "range" and frame.clause(p.start) == clause]
        spans = spans or [p for p in frame.places if p.kind == "range"]
        singles = [p for p in frame.places if p.kind != "range"]
        if spans and not singles:
            rows = [s for s, _ in self.table.within(key, spans[0].steps)]
            whole = bool(rows and held and rows[0] == held[0] and rows[-1] == held[-1])
            return ((rows[0], rows[-1]) if len(rows) > 1 else None), not whole
        here = [p for p in frame.places if frame.clause(p.start) <= clause]
        if not here and frame.places:
            stepped = [step for at, (other, step) in sorted(self.judge.told.items()) if other == key]
            if len(stepped) > 1 and stepped[0] != stepped[-1]:
                return (stepped[0], stepped[-1]), True
            last = frame.places[0]
            if (
                len(frame.places) == 1
                and len(last.steps) == 2
                and not re.search("[,，]", frame.text[word.end : last.start])
            ):
                return (last.steps[0], last.steps[1]), True  # "entropy falls and grad norm rises between steps 3 and 9"
            return ((held[0], held[-1]) if len(held) > 1 else None), False
        if (
            reached
            and len(own) == 1
            and held
            and own[0].start >= word.end
            and own[0].steps[0] != held[0]
            and not any(p.end <= word.start for p in frame.places)
            and any(_THEN.search(frame.text[own[0].end : p.start]) for p in elsewhere)
        ):
            return (held[0], own[0].steps[0]), True  # "rises to 0.15 at step 2, then falls to 0.14 at step 3"
        pairs = (
            self.judge.changes.pairs(frame, word.start, key, told)
            if frame.places or frame.carried.pair or frame.carried.steps
            else []
        )
        if pairs:
            return pairs[0], True
        if frame.carried.span:
            rows = [s for s, _ in self.table.within(key, frame.carried.span)]
            return ((rows[0], rows[-1]) if len(rows) > 1 else None), True
        return ((held[0], held[-1]) if len(held) > 1 else None), False

    @staticmethod
    def _forward(frame: Frame, word: Word, pair: tuple[int, int]) -> tuple[int, int]:
        """``leapt to 0.87 by step 57, having been 0.39 at step 37``: what moves, moves from the earlier step to the later.

        Unless a step is what another is compared with, or numbers are told from one to the other.
        """
        clause = frame.clause(word.start)
        chained = any(
            group.form == "chain" and frame.clause(frame.numbers[group.members[0]].start) == clause
            for group in frame.groups
        )
        compared = any(_is_reference(frame, place) for place in frame.places if len(place.steps) == 1)
        told = any(place.kind == "pair" for place in frame.places) or bool(REVERSED.search(frame.text))
        return pair if chained or compared or told or pair[0] < pair[1] else (pair[1], pair[0])

    def _one(self, frame: Frame, word: Word, key: str, sense: str) -> Decision | None:
        shown = self._shown_words(frame, word, sense)
        if shown is not None:
            return shown
        if sense in {"up", "down"} and (levels := self._of_stretches(frame, word, key, sense)) is not None:
            return levels
        if sense in {"stable", "flat"} and any(
            g.form == "range" and 0 <= frame.numbers[g.members[0]].start - word.end <= 12 for g in frame.groups
        ):
            return None  # "stays stable between 2.4 and 2.9": the bounds are judged
        pair, said = self._pair(frame, word, key)
        if pair is not None and sense.removeprefix("not_") in {"up", "down"}:
            pair = self._forward(frame, word, pair)
        alone = [p for p in frame.places if len(p.steps) == 1]
        held = self.table.held(key)
        if (
            len(frame.places) == 1
            and alone
            and held
            and alone[0].steps[0] == held[0]
            and not self.judge.spans
            and not _is_reference(frame, alone[0])
        ):
            return None  # nothing before the first value to have come from
        told_numbers = (self.judge.pair is not None and self.judge.pair[0] == key) or any(
            span[1] == key for span in self.judge.spans
        )
        here = [
            q
            for q in frame.numbers
            if frame.clause(q.start) == frame.clause(word.start)
            and change_cue(frame, q) == "sure"
            and q.unit in {"%", "ratio", "factor", "pp", ""}
        ]
        said = said or bool(here)
        if pair is None:
            return None
        table = self.table
        a, b = pair
        x, y = table.value(key, a), table.value(key, b)
        if x is None or y is None:
            return self.judge.missing(key, a if x is None else b)
        if not (math.isfinite(x) and math.isfinite(y)):
            return None
        size = bool(ABSOLUTE.search(frame.clause_text(word.start)))
        x, y = (abs(x), abs(y)) if size else (x, y)
        fact = table.ledger.change(key, a, b, table.run)
        identity = fact.id if fact else None
        if sense == "flat" and (alike := self._alike(frame, word, key)) is not None:
            return alike
        ranged = [g for g in frame.groups if g.form == "range"]
        if sense == "flat" and ranged:
            return self._flat(key, a, b, x, y, identity, frame)
        if sense == "flat" and _TREND_FLAT.search(frame.text[max(0, word.start - 24) : word.end]):
            rows = table.finite(key, (min(a, b), max(a, b)))
            if len(rows) > 3:
                trend = table.ledger.trend(
                    key, [s for s, _ in rows] if len(rows) != len(table.finite(key)) else None, table.run
                )
                moved = trend is not None and trend.direction in {"rising", "falling"}
                if not moved:
                    return Decision("supported", "", trend.id if trend else None, key)
                return Decision(
                    "contradicted",
                    self._told(key, a, b, x, y, 1 if trend and trend.direction == "rising" else -1),
                    trend.id if trend else None,
                    key,
                )
        if sense == "flat":
            return self._flat(key, a, b, x, y, identity, frame)
        if sense == "stable":
            return self._stable(key, a, b, said=said)
        if sense in {"improve", "worsen"} and told_numbers and (better := table.better(key)):
            wanted = (1 if better == "higher" else -1) * (1 if sense == "improve" else -1)
            if ((y > x) - (y < x)) == wanted:
                return Decision("supported", "", identity, key)
        if sense in {"improve", "worsen"}:
            return self._better(key, sense, a, b, drastically=bool(_DRASTIC.search(frame.text[word.start : word.end])))
        wanted = {"up": 1, "down": -1, "not_up": 1, "not_down": -1}[sense]
        sign = (y > x) - (y < x)
        if sense.startswith("not_") and not said and len(rows := table.finite(key, (min(a, b), max(a, b)))) > 3:
            trend = table.ledger.trend(
                key, None if len(rows) == len(table.finite(key)) else [s for s, _ in rows], table.run
            )
            moved = trend is not None and {"rising": 1, "falling": -1}.get(str(trend.direction)) == wanted
            note = self._told(key, a, b, x, y, sign) if moved else ""
            return Decision("contradicted" if moved else "supported", note, trend.id if trend else None, key)
        if sense.startswith("not_"):
            good = sign != wanted
            return Decision(
                "supported" if good else "contradicted",
                "" if good else self._told(key, a, b, x, y, sign),
                identity,
                key,
            )
        clause = frame.clause_text(word.start)
        valued = said and any(frame.clause(q.start) == frame.clause(word.start) for q in frame.numbers)
        steadily = bool(cue("steadily").search(TRENDED.sub("", clause) if valued else clause))
        rows = table.finite(key, (min(a, b), max(a, b)))
        if (steadily or not said) and len(rows) > 3 and not size:
            return self._trend(key, wanted, rows, (a, b, x, y), said=said)
        if sign == wanted:
            return Decision("supported", "", identity, key)
        return Decision("contradicted", self._told(key, a, b, x, y, sign), identity, key)

    def _of_stretches(self, frame: Frame, word: Word, key: str, sense: str) -> Decision | None:
        """``the first twenty average 0.31, the last twenty 0.33: it has come up``: by the means of the two."""
        ranges = [self.judge._placed(frame, p, key) for p in frame.places if p.kind == "range"]
        if len(ranges) != 2 or len(frame.places) != 2 or not cue("mean").search(frame.text):
            return None
        if ranges[0].steps[-1] >= ranges[1].steps[0]:
            return None
        parts = [[v for _, v in self.table.finite(key, p.steps)] for p in ranges]
        if not all(parts):
            return None
        x, y = (sum(values) / len(values) for values in parts)
        fine = (y - x) * (1 if sense == "up" else -1) > 0
        a, b = ranges[0].steps[0], ranges[1].steps[-1]
        return Decision(
            "supported" if fine else "contradicted",
            "" if fine else self._told(key, a, b, x, y, (y > x) - (y < x)),
            None,
            key,
        )

    def _shown_words(self, frame: Frame, word: Word, sense: str) -> Decision | None:
        """``rose from 0.150 to 0.047``: the sentence's own numbers against its verb."""
        if sense not in {"up", "down"}:
            return None
        clause = frame.clause(word.start)
        if re.match(r"(?i)\s+from\b", frame.text[word.end : word.end + 6]) and frame.text[
            word.start : word.end
        ].lower() in {"up", "down"}:
            before = [
                q
                for q in frame.numbers
                if q.end <= word.start
                and q.unit not in {"steps", "points", "%"}
                and (frame.clause(q.start) == clause or not any(q.end <= n.start < word.start for n in frame.names))
            ]
            after = [q for q in frame.numbers if q.start >= word.end]
            if (
                before
                and after
                and before[-1].unit in {after[0].unit, ""} | ({before[-1].unit} if not after[0].unit else set())
            ):
                x, y = after[0].number, before[-1].number
                note = self.say(
                    "shown_words", from_=after[0].text, to=before[-1].text, shown=frame.text[word.start : word.end]
                )
                return Decision("supported") if (y > x) == (sense == "up") else Decision("contradicted", note)
        for group in frame.groups:
            if group.form != "chain":
                continue
            first, last = frame.numbers[group.members[0]], frame.numbers[group.members[-1]]
            if frame.clause(first.start) != clause or not (
                (word.end <= first.start + 1 and first.start - word.end < 40) or first.end <= word.start <= last.start
            ):
                continue
            x, y = first.number * first.factor, last.number * (last.factor if last.unit else first.factor)
            if _MAGNITUDE.search(frame.clause_text(word.start)):
                x, y = abs(x), abs(y)
            if len(group.members) == 2 and x != y and (y > x) != (sense == "up"):
                return Decision(
                    "contradicted",
                    self.say("shown_words", from_=first.text, to=last.text, shown=frame.text[word.start : word.end]),
                )
            if len(group.members) == 2 and x != y:
                return Decision("supported")  # the numbers themselves are judged one by one
        return None
