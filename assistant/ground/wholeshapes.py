"""Sentences whose whole shape is known: which metric, step and number stand where, and so what is said of which.

A sentence is brought into a plain form of a few signs (metrics N, steps P and R, numbers Q, directions W, comparisons C) and
compared with the shapes of ``shapes.yaml``; one that has a shape from end to end says what stands there and nothing else.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ground.binding import Frame
from assistant.ground.changes import SPEED
from assistant.ground.cues import cue
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.subjects import variants
from assistant.ground.table import agrees
from assistant.ground.wholereader import Whole, WholeReader

SHAPES: Final = Path(__file__).with_name("shapes.yaml")
#: How far two values that are told to be the same may lie apart.
_STEADY: Final = 0.02
#: A sentence with more signs than that has none of the shapes.
_LONGEST: Final = 400
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_STATISTIC: Final = r"(?:mean|average|avg|maximum|max|minimum|min|longest|overall|total)"
_FALLS_AWAY: Final = (
    (re.compile(r"[`*_]{1,3}"), ""),
    (re.compile(r"\b(?:this run's|the run's|the run’s|in this run|for this run)\s*"), ""),
    (re.compile(r"\s*\b(?:of|in) (?:the|this) (?:whole |entire )?(?:run|log)\b"), ""),
    (re.compile(r"\b(?:still|already|now|also|clearly|noticeably|visibly|markedly|slightly|somewhat) "), ""),
    (re.compile(r",? respectively\b"), ""),
    (re.compile(r"(?:’|')s own\b"), "'s"),
    (re.compile(rf"\b(?:the|an?|its|their)\s+(?=(?:{_STATISTIC}\s+)*⟨|(?:first |last )?(?:value|ratio|figure|level|change|difference|gap)|W\b|C\b|(?:\w+ )?(?:rise|fall|drop|increase|decrease))"), ""),
    (re.compile(rf"\b(?:{_STATISTIC}\s+)+(?=⟨N)"), ""),
    (re.compile(r"(?<=⟩) (?:value|figure|number|reading|time)s?\b(?= )"), ""),
    (re.compile(r"\b(?:in going |going |moving |in (?:the )?stretch )?(?:between|from|over|across|during|through)\s+(?=⟨R)"), ""),
    (re.compile(r"\b(?:at|in|on|by|of|for)\s+(?=⟨[PR])"), ""),
    (re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|some|just|exactly|only)\s+(?=⟨Q)"), ""),
)  # fmt: skip
_TWO_STEPS: Final = re.compile(
    r"\b(?:(?:in going |going |moving |in (?:the )?stretch )?(?:from|between|over)\s+)⟨P(\d+)⟩\s*(?:to|and|through|→|->|–|-)\s*⟨P(\d+)⟩|⟨P(\d+)⟩\s*(?:→|->)\s*⟨P(\d+)⟩"
)
_IS: Final = re.compile(
    r"(?<![\w'])(?:(?:is|was|are|were|had been|has been|stood at|stands at|sat at|sits at|stood|lay at|came in at|comes in at|reads?|amount(?:s|ed)? to|c[ao]mes? to|equal(?:s|led)?|"
    r"works? out (?:at|to|as)|worked out (?:at|to|as)|took the values|takes the values|(?:needs?|needed|takes?|took|lasts?|lasted|costs?|used to be|has become|became|c[ao]mes? out at)(?= ⟨Q))(?: at)?)(?!\w)"
)
_WENT: Final = re.compile(r"\b(?:went|goes|moved|moves|changed|changes)\b")
_MORE: Final = re.compile(r"\b(?:higher|larger|greater|bigger|longer|more|slower)\b")
_LESS: Final = re.compile(r"\b(?:lower|smaller|less|shorter|fewer|faster)\b")
_JOINED: Final = re.compile(r"[,;]?\s+(?:while|whereas|but|and|–|—|-)\s+(?=⟨P\d+⟩,? they\b)|[;,]\s+(?=⟨P\d+⟩,? they\b)")
_ENDED: Final = re.compile(r"\b(?:landed|ended up|ended|settled|finished|closed|stood|sat) (?:at )?(?=⟨Q)")
_OVER_IT: Final = re.compile(
    r"\b(?:is )?(?:above|over|exceeds|exceeded|tops|topped|surpasses|outweighs)\b(?= (?:(?:that|the one|what it is|the value) )?(?:the |its )?(?:(?:mean|average|maximum|longest) )*⟨[NP])"
)
_AVERAGE: Final = r"(?= (?:(?:the |its |this run's |overall |own )*(?:average|mean|avg|maximum|max|minimum|min|peak|highest|lowest|best)\b(?! ⟨N)|where it\b))"
_UNDER_IT: Final = re.compile(
    r"\b(?:is )?(?:below|under|falls short of|fell short of|undercuts|undercut)\b(?= (?:(?:that|the one|what it is|the value) )?(?:the |its )?(?:(?:mean|average|maximum|longest) )*⟨[NP])"
)
_OVER_MEAN: Final = re.compile(rf"\b(?:above|over|beyond|exceeding){_AVERAGE}")
_UNDER_MEAN: Final = re.compile(rf"\b(?:below|under|beneath|short of){_AVERAGE}")
#: Two values set against each other.
_VERSUS: Final = re.compile(
    r"(?<=⟩) ?,? (?:against|versus|vs\.?|as (?:opposed|compared) to|compared (?:to|with)|instead of|rather than) (?=⟨Q)"
)
#: A value told to be what it was.
_STILL: Final = re.compile(
    r"\bis (?:(?:practically|virtually|essentially|basically|almost|nearly|largely|about|more or less|pretty much|effectively) )?(?:unchanged|flat|the same|constant|stable|level)\b|(?:\bhas )?\b(?:barely|hardly|scarcely) (?:moved|went|moves|changed|changes|budged|budges)\b"
)
#: Where a sentence that names no step speaks of the first and the last.
_FROM_FIRST: Final = re.compile(r"(?i)\b(?:started|starts|began|begins)\b")
_PACE: Final = re.compile(r"(?i)\b(?:slow|fast|quick|speed|sped)")
_SENSE: Final = {"higher": 1, "lower": -1}
_UP_NOUN: Final = re.compile(r"\b(?:rise|increase|climb|growth|gain|jump|uptick)\b")
_DOWN_NOUN: Final = re.compile(r"\b(?:fall|drop|decrease|decline|reduction|dip|slide|loss)\b")


@dataclass
class _Plain:
    """A sentence in plain form: its signs, and what each stands for in order of appearance."""

    text: str
    names: list[Named] = field(default_factory=list)
    places: list[tuple[Any, ...]] = field(default_factory=list)
    ranges: list[tuple[int, ...]] = field(default_factory=list)
    numbers: list[Quantity] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    senses: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Shape:
    pattern: re.Pattern[str]
    says: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def _shapes() -> tuple[_Shape, ...]:
    table: dict[str, list[dict[str, Any]]] = {**resources.yaml_table(SHAPES)}
    pieces: dict[str, str] = {k: v for entry in table.pop("pieces") for k, v in entry.items()}
    found = []
    for group in table.values():
        for entry in group:
            written = re.sub(r"\{(\w+)\}", lambda piece: f"(?:{pieces[piece[1]]})", entry["shape"])
            written = re.sub(r"(?<![A-Za-z\\])([NPRQWCS])(?![A-Za-z])", r"⟨\1⟩", written).replace("⟨S⟩", "⟨[WC]⟩")
            found.append(_Shape(re.compile(rf"(?:{written})"), tuple(tuple(one.split()) for one in entry["says"])))
    return tuple(found)


class ShapeReader(WholeReader):
    """Reads sentences by their shape."""

    def shaped(self) -> Iterator[Whole]:
        """``At step 3, A was x (down from y at step 1) and B was z (up from w)``: each number where it stands."""
        frame = self.frame
        if not (len(frame.names) < 3 and 0 < len(frame.numbers) < 5 and len(frame.places) < 4):
            return
        if not frame.places and not _FROM_FIRST.search(frame.text):
            return
        if len(frame.text) > _LONGEST or _CHINESE.search(frame.text):
            return
        if any(not n.keys for n in frame.names) or any(q.bound for q in frame.numbers):
            return
        if _PACE.search(frame.text) and any(SPEED.search(key) for n in frame.names for key in n.keys[:1]):
            return  # a throughput that slows down falls
        plain = _plain(frame)
        if plain is None:
            return
        signs = re.sub(r"⟨([A-Z])\d+⟩", r"⟨\1⟩", plain.text)
        for shape in _shapes():
            if shape.pattern.fullmatch(signs):
                if plain.names or self._shape_time() is not None:
                    yield from self._shape_says(plain, shape)
                return

    def _shape_says(self, plain: _Plain, shape: _Shape) -> Iterator[Whole]:
        fine = all(self._shape_holds(plain, one) for one in shape.says)
        first, last = plain.numbers[0], plain.numbers[0]
        for q in plain.numbers:
            first, last = min(first, q, key=lambda n: n.start), max(last, q, key=lambda n: n.end)
        key = self._shape_keys(plain.names[0])[0] if plain.names else str(self.table.total_time())
        note = self.judge.say("unread", shown=self.text[first.start : last.end])
        held = self.table.held(key)
        fact = self.table.ledger.value(key, held[-1], self.table.run) if held else None
        yield self.say(
            first.start,
            last.end,
            True if fine else None,
            note,
            fact.id if fact else None,
            [(0, len(self.text))] if fine else [],  # what else is found against it stays
        )

    def _shape_holds(self, plain: _Plain, said: Sequence[str]) -> bool:
        what, *rest = said
        time = self._shape_time()
        names = [plain.names[int(one[1:])] for one in rest if one[0] == "N"]
        names += [time] if "T" in rest and time is not None else []
        steps = [self._shape_step(plain, one, names[0]) for one in rest if one[0] in "PRFL"]
        numbers = [plain.numbers[int(one[1:])] for one in rest if one[0] == "Q"]
        if what in {"moved", "signed", "shift"} and numbers[0].unit == "points":
            numbers = [replace(numbers[0], unit="pp")]  # "33.0% (-15.4 points)"
        kept = {"W": plain.ways, "C": plain.compared, "S": plain.senses}
        signs = [kept[one[0]][int(one[1:])] for one in rest if one[0] in kept]
        signs += [1 if one == "+" else -1 for one in rest if one in {"+", "-"}]
        if any(step is None for step in steps):
            return False
        if what == "unit":
            return numbers[0].number == 1
        if what == "same":
            return bool(set(names[0].keys) & set(names[1].keys))
        values = [
            [self.table.value(key, step) for step in steps if step is not None] for key in self._shape_keys(names[0])
        ]
        for key, cells in zip(self._shape_keys(names[0]), values, strict=True):
            known = [v for v in cells if v is not None and math.isfinite(v)]
            if len(known) != len(cells):
                continue
            if what == "part" and numbers[0].unit == "%":
                whole = self.table.value(str(self.table.total_time()), steps[0] or 0)
                if whole and _is_ratio(numbers[0], known[0] / whole):
                    return True
                continue
            if what == "better" and (known[1] - known[0]) * _SENSE.get(self.table.better(key) or "", 0) > 0:
                return True
            if what in {"max", "min"}:
                best = (max if what == "max" else min)(v for _, v in self.table.finite(key))
                if any(agrees(n, h, best) for n, h in self.table.readings(numbers[0], key, best)):
                    return True
            if (what == "under" and signs[0] < 0) or (what == "over_min" and signs[0] > 0):
                return True
            if what == "ofmean":
                if self._shape_multiple(plain.numbers, key, steps[0] or 0):
                    return True
                continue
            if what == "stands":
                if any(
                    self._shape_apart(numbers, known[0], mean, signs[0], key)
                    for mean in self._shape_means(key, steps[0] or 0)
                ):
                    return True
                continue
            if what in {"value", "part"} and self.judge.cell(numbers[0], key, steps[0] or 0).status == "supported":
                return True
            if what == "way" and (known[1] - known[0]) * signs[0] > 0:
                return True
            if what == "beyond" and (known[0] - self._shape_mean(key)) * signs[0] > 0:
                return True
            if what in {"total", "mean"} and self._shape_sums(key, numbers[0], what):
                return True
            if what == "still" and abs(known[1] - known[0]) <= _STEADY * max(map(abs, known)):
                return True
            if what == "delta":
                if numbers[0].unit not in {"%", "ratio", "factor"} and any(
                    agrees(n, h, known[1] - known[0])
                    for n, h in self.table.readings(numbers[0], key, known[1] - known[0])
                ):
                    return True
                relative = numbers[0].unit == "%" and (numbers[0].number < 0) == (known[1] < known[0])
                if relative and self.judge.changes.is_change(numbers[0], self.table.kind(key), known[0], known[1]):
                    return True
                continue
            if what == "signed" and not (numbers[0].sign and self._fits_change(numbers[0], known)):
                continue
            if what == "shift" and not numbers[0].sign and known[1] < known[0]:
                continue
            if what in {"moved", "signed", "shift"} and self.judge.changes.is_change(
                numbers[0], self.table.kind(key), known[0], known[1]
            ):
                return True
            if what == "over" and known[1] and _is_ratio(numbers[0], known[0] / known[1]):
                return True
            if what in {"times", "compared", "apart", "sum"}:
                for other in self._shape_keys(names[1]):
                    second = self.table.value(other, steps[0] or 0)
                    if not second or not math.isfinite(second) or self.table.kind(key) != self.table.kind(other):
                        continue
                    if what == "times" and _is_ratio(numbers[0], known[0] / second):
                        return True
                    if what == "apart" and numbers[0].unit in {"ratio", "%"}:
                        more, less = max(known[0], second), min(known[0], second)
                        base = less if numbers[0].unit == "ratio" or known[0] > second else more
                        part = more / less if numbers[0].unit == "ratio" else abs(known[0] - second) / base
                        if less > 0 and _is_ratio(numbers[0], part):
                            return True
                        continue
                    computed = abs(known[0] - second) if what == "apart" else known[0] + second
                    if what in {"apart", "sum"} and any(
                        agrees(n, h, computed) for n, h in self.table.readings(numbers[0], key, computed)
                    ):
                        return True
                    if what == "compared" and (known[0] - second) * signs[0] > 0:
                        return True
        return False

    def _shape_sums(self, key: str, q: Quantity, what: str) -> bool:
        """Whether a number is the sum, or the mean, of all values of a metric."""
        true = self._shape_mean(key) * (1 if what == "mean" else len(self.table.finite(key)))
        return any(agrees(n, h, true) for n, h in self.table.readings(q, key, true))

    def _shape_means(self, key: str, step: int) -> Iterator[float]:
        """What "the average" may be beside an extreme of a step's samples: their mean, else that of all steps."""
        beside = re.sub(r"/(?:max|min)$", "/mean", key)
        here = self.table.value(beside, step) if beside != key else None
        yield self._shape_mean(key) if here is None else here

    def _shape_multiple(self, numbers: Sequence[Quantity], key: str, step: int) -> bool:
        """Whether an extreme of a step's samples is told as so many times their mean, with both values."""
        ratios = [q for q in numbers if q.unit == "ratio"]
        told = [q for q in numbers if q.unit != "ratio"]
        beside = re.sub(r"/(?:max|min)$", "/mean", key)
        cells = [self.judge.cell(q, k, step).status for q, k in zip(told, (key, beside), strict=False)]
        x, y = self.table.value(key, step), self.table.value(beside, step)
        fine = len(ratios) == 1 and cells == ["supported"] * 2 and key != beside and bool(x) and bool(y)
        return fine and _is_ratio(ratios[0], (x or 0.0) / (y or 1.0))

    def _shape_apart(self, numbers: Sequence[Quantity], here: float, mean: float, sense: int, key: str) -> bool:
        """Whether a value lies so far above or below a mean that is told behind."""
        apart, told = numbers
        held = self.table.readings(told.in_unit_of(apart) if not told.unit else told, key, mean)
        fine = any(agrees(n, h, mean) for n, h in held) and (here - mean) * sense > 0
        return fine and any(
            agrees(n, h, abs(here - mean)) for n, h in self.table.readings(apart, key, abs(here - mean))
        )

    def _shape_mean(self, key: str) -> float:
        values = [v for _, v in self.table.finite(key)]
        return sum(values) / len(values) if values else math.nan

    def _shape_time(self) -> Named | None:
        """The time of a step, which "steps" and "step 9 takes" mean without a name."""
        total = self.table.total_time()
        return None if total is None else Named(0, 0, "", (total,))

    @staticmethod
    def _fits_change(q: Quantity, known: Sequence[float]) -> bool:
        """Whether a change told with its sign goes the way that its sign says."""
        return (known[1] > known[0]) == (q.sign == "+")

    def _shape_keys(self, name: Named) -> list[str]:
        if name.statistic in {"max", "min"} and name.keys[0].endswith(f"/{name.statistic}"):
            return [name.keys[0]]
        return list(name.keys[:3]) if name.exact else variants(name, "", self.frame.numbers[0], self.table)

    def _shape_step(self, plain: _Plain, sign: str, name: Named) -> int | None:
        if sign in {"R-", "F", "L"}:
            held = self.table.held(name.keys[0])
            return None if not held else held[-1] if sign == "L" else held[0]
        which, _, turn = sign[1:].partition(".")
        steps = (plain.places if sign[0] == "P" else plain.ranges)[int(which)]
        if int(turn or 0) >= len(steps):
            return None
        held, ends = self.table.held(name.keys[0]), self.table.steps
        if sign[0] == "R" and held and steps == (ends[0], ends[-1]):
            return held[-1] if turn == "1" else held[0]  # "over the run": from the first value to the last
        if steps[-1] == "end" and held:
            return held[-1] if steps[0] == ends[-1] else held[0]  # "at the start": of what is logged
        return steps[int(turn or 0)]


def _is_ratio(q: Quantity, true: float) -> bool:
    factor = 0.01 if q.unit == "%" else 1.0
    return q.unit in {"", "ratio", "factor", "%"} and agrees(q.number * factor, q.half * factor, true)


def _plain(frame: Frame) -> _Plain | None:
    """A sentence in plain form; ``None`` where something named in it overlaps something else."""
    parts = sorted(
        [(n.start, n.end, "N", n) for n in frame.names]
        + [(p.start, p.end, "P" if len(p.steps) == 1 else "R", p) for p in frame.places]
        + [(q.start, q.end, "Q", q) for q in frame.numbers],
        key=lambda part: part[0],
    )
    text, at = "", 0
    held: dict[str, list[Any]] = {"N": [], "P": [], "R": [], "Q": []}
    for start, end, sign, thing in parts:
        if start < at:
            return None
        text += f"{frame.text[at:start].lower()}⟨{sign}{len(held[sign])}⟩"
        held[sign].append(thing)
        at = end
    text += frame.text[at:].lower()
    text = re.sub(r"⟩(?:’|')s ", "⟩ ", text)
    for pattern, instead in _FALLS_AWAY:
        text = pattern.sub(instead, text)
    ranges = [tuple(p.steps) if p.kind != "range" else (p.steps[0], p.steps[-1]) for p in held["R"]]

    def together(match: re.Match[str]) -> str:
        one, two = (int(found) for found in match.groups() if found is not None)
        ranges.append((held["P"][one].steps[0], held["P"][two].steps[0]))
        return f"⟨R{len(ranges) - 1}⟩"

    text = _JOINED.sub(" J ", _WENT.sub("went", _IS.sub("is", _ENDED.sub("is ", _TWO_STEPS.sub(together, text)))))
    text = _STILL.sub("remained", _VERSUS.sub(" vs ", text))
    text = _OVER_IT.sub("is higher than", _UNDER_IT.sub("is lower than", text))
    text = _OVER_MEAN.sub("higher than", _UNDER_MEAN.sub("lower than", text))
    ways: list[int] = []
    compared: list[int] = []
    senses: list[int] = []
    spots = sorted(
        [(m.start(), m.end(), 1, ways, "W") for m in (*cue("up").finditer(text), *_UP_NOUN.finditer(text))]
        + [(m.start(), m.end(), -1, ways, "W") for m in (*cue("down").finditer(text), *_DOWN_NOUN.finditer(text))]
        + [(m.start(), m.end(), 1, compared, "C") for m in _MORE.finditer(text)]
        + [(m.start(), m.end(), -1, compared, "C") for m in _LESS.finditer(text)],
        key=lambda spot: (spot[0], -spot[1]),
    )
    plain, at = "", 0
    for start, end, sense, kept, sign in spots:
        if start < at or "⟨" in text[start:end]:
            continue
        kept.append(sense)
        senses.append(sense)
        plain += f"{text[at:start]}⟨{sign}0⟩"
        at = end
    plain += text[at:]
    for pattern, instead in _FALLS_AWAY:
        plain = pattern.sub(instead, plain)
    plain = re.sub(r"\b(?:the|an?|its|has|have|had)\s+(?=⟨W)", "", plain)
    plain = re.sub(r"⟨W0⟩ (?=of ⟨Q)", "⟨W0⟩ ", re.sub(r"\s+", " ", plain)).strip().rstrip(".!")
    order = [int(n) for n in re.findall(r"⟨Q(\d+)⟩", plain)]
    named = [int(n) for n in re.findall(r"⟨N(\d+)⟩", plain)]
    told = [int(n) for n in re.findall(r"⟨P(\d+)⟩", plain)]
    stretches = [int(n) for n in re.findall(r"⟨R(\d+)⟩", plain)]
    return _Plain(
        plain,
        [held["N"][n] for n in named],
        [(*held["P"][n].steps, *(["end"] if held["P"][n].kind == "ends" else [])) for n in told],
        [ranges[n] for n in stretches],
        [held["Q"][n] for n in order],
        ways,
        compared,
        senses,
    )
