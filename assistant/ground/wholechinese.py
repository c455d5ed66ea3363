"""Chinese sentences whose every word is known: which metric, step and number stand where, and what is said of which.

A sentence is brought into a plain form of a few signs (metrics N, steps P, two steps R, numbers Q, ways W, …) by the
words of ``chinese.yaml``; one in which nothing else is left is read from left to right, claim after claim
(:mod:`assistant.ground.chineseclaims`). A sentence with any other word in it is left to the other readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ground.binding import Frame
from assistant.ground.chineseclaims import claims_of
from assistant.ground.chineseholds import holds
from assistant.ground.chinesereading import FIRST, LAST, Claimed, Held, Unclear
from assistant.ground.cues import negated
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.wholereader import Whole
from assistant.ground.wholeshapes import ShapeReader

WORDS: Final = Path(__file__).with_name("chinese.yaml")
#: A sentence with more signs than that is left to the other readers.
_LONGEST: Final = 300
_MOST: Final = 12
#: While a sentence is brought into plain form, the first of the characters that stand for things of a sign.
_FIRST: Final = dict(zip("NPRQWTGE", range(0xE000, 0xE800, 0x100), strict=True))
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_PUNCTUATION: Final = str.maketrans("，：（）；。！＝／～＞＋", ",:();..=/~>+")
#: Words of pace mean more for a time and less for a rate.
_PACE: Final = re.compile(r"[快慢]")
#: Words of how much there is, rather than of where it went.
_LEVEL: Final = re.compile(r"[更较偏]?[高低大小多少长短慢快久好差]")


#: Units of what is counted, which no metric's value is told in.
_COUNTS: Final = frozenset(
    {"samples", "gpus", "prompts", "steps", "points", "validations", "lines", "characters", "metrics"}
)
_FIRST_STEP: Final = "第一步"
_IN_ALL: Final = re.compile(r"(?:一?共|总共|累计|合计)(?!用|耗)")


@dataclass(frozen=True, slots=True)
class _Words:
    falls: tuple[tuple[re.Pattern[str], str], ...]
    signs: tuple[tuple[re.Pattern[str], str], ...]
    ways: re.Pattern[str]
    sense: dict[str, int]


@lru_cache(maxsize=1)
def _words() -> _Words:
    """The words that fall away, those that become signs, and those of a way.

    Raises:
        ValueError: naming the word of a way that stands on both sides.
    """
    table: dict[str, Any] = resources.yaml_table(WORDS)
    sense = dict.fromkeys(map(str, table["up"]), 1)
    for word in map(str, table["down"]):
        if word in sense:
            raise ValueError(f"{WORDS.name}: {word!r} is both up and down")
        sense[word] = -1

    falls = tuple((_pattern(one["words"]), str(one.get("instead", ""))) for one in table["falls_away"])
    signs = tuple((_pattern(str(one["words"])), str(one["sign"])) for one in table["signs"])
    ways = "|".join(sorted(map(re.escape, sense), key=len, reverse=True))
    return _Words(falls, signs, re.compile(ways), sense)


def _whole_run(place: Place, text: str, steps: Sequence[int]) -> Place:
    """A stretch told as that of all steps goes from the first to the last that holds the metric."""
    by_word = place.kind == "range" and not re.search(r"\d", text[place.start : place.end])
    whole = by_word and steps and (place.steps[0], place.steps[-1]) == (steps[0], steps[-1])
    return replace(place, steps=(FIRST, LAST)) if whole else place


def _of_first_row(frame: Frame) -> Iterator[Frame]:
    """The sentence with 第一步 as the first that holds the metric, where it may be step 1 as well."""
    if _FIRST_STEP in frame.text:
        spots = [replace(p, steps=(FIRST,)) if frame.text[p.start : p.end] == _FIRST_STEP else p for p in frame.places]
        yield replace(frame, places=spots)


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern whose signs are the characters that stand for them."""
    found, inside = "", False
    for char in written:
        inside = char == "[" or (inside and char != "]")
        first = _FIRST.get(char, 0)
        either = f"{chr(first)}-{chr(first + 0xFF)}" if first else char
        found += either if inside or not first else f"[{either}]"
    return re.compile(found)


#: Behind a word of a way: what it is completed with, how far it went, what it is more than.
_AFTER_WAY: Final = (
    (_pattern(r"(W)于(?=[NPQRM])"), "G"),
    (_pattern(r"(W)过(?=[NP])"), "G"),
    (_pattern(r"(W)[了过出去掉上下得]{1,2}(?=[QPW,;.:()]|$)"), "W"),
    (_pattern(r"(W)(?:了?[到至成]了?|了?为)(?=[PQ])"), "T"),
    (_pattern(r"(W)的?(?:一步|那步)?(?:是|为|出现在|在|=)+(?=P)"), "E"),
)


@dataclass
class _Plain:
    """A sentence in plain form: its signs, and what each stands for in order of appearance."""

    text: str
    names: list[Named] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)


class ChineseReader(ShapeReader):
    """Reads Chinese sentences from end to end."""

    def chinese(self) -> Iterator[Whole]:
        """``step 3 的熵是 0.5，step 9 是 0.4，下降了 20%``: each number where it stands, each way between its steps."""
        frame = self.frame
        if len(frame.text) > _LONGEST or not _CHINESE.search(frame.text) or "|" in frame.text:
            return
        carried = [] if frame.names else [n for n in frame.carried.names if n.keys][-1:]
        steps = list(frame.carried.steps) if carried and len(frame.carried.steps) == 1 else []
        told = len(frame.places) or (len(frame.carried.pair or ()) if carried else 0)
        if not (0 < len(frame.names) + len(carried) < 7 and len(frame.numbers) < 8 and 0 < told < 6) or frame.away:
            return
        if any(not n.keys or n.absent for n in frame.names) or any(
            q.bound or q.sign == "±" or q.unit in _COUNTS for q in frame.numbers
        ):
            return
        before = (steps[0],) if steps and frame.places else () if frame.places else tuple(frame.carried.pair or ())
        read: list[Whole] = []
        for frame_ in (frame, *_of_first_row(frame)):
            plain = plain_form(frame_, self.table.steps)
            if plain is None:
                return
            try:
                claimed = claims_of(plain.text, plain.held, carried, before)
            except Unclear:
                return
            again = [*self._chinese_says(claimed)] if claimed else []
            fine = all(one.decision.status == "supported" for one in again)
            read = again if fine or not read else read
            if fine:
                break
        yield from read

    def _chinese_says(self, claimed: Sequence[Claimed]) -> Iterator[Whole]:
        """Each number with what is said of it; a way is told by the number beside it."""
        names = list({id(n): n for one in claimed for n in one.names}.values())
        best: list[Decision] = []
        for keys in islice(product(*(self._keys_of(name) for name in names)), _MOST):
            meant = dict(zip(map(id, names), keys, strict=True))
            decided = [holds(one, [meant[id(n)] for n in one.names], self.judge) for one in claimed]
            if not best or _borne_out(decided) > _borne_out(best):
                best = decided
            if _borne_out(decided) == len(claimed):
                break
        covers = [(0, len(self.text))]
        waiting: list[Decision] = []
        if not any(one.number is not None for one in claimed):
            wrong = next((one for one in best if one.status != "supported"), best[-1])
            yield Whole(0, len(self.text), wrong, tuple(covers))
            return
        numbers = [at for at, one in enumerate(claimed) if one.number is not None]
        for at, (one, decision) in enumerate(zip(claimed, best, strict=True)):
            waiting.append(decision)
            if one.number is None or (at == numbers[-1] and at < len(claimed) - 1):
                continue
            yield self._chinese_whole(one.number, waiting, covers)
            covers, waiting = [], []
        if waiting:
            last = claimed[numbers[-1]].number
            assert last is not None
            yield self._chinese_whole(last, waiting, covers)

    def _chinese_whole(self, q: Quantity, decided: Sequence[Decision], covers: Sequence[tuple[int, int]]) -> Whole:
        wrong = next((one for one in decided if one.status != "supported"), None)
        shown = wrong or decided[-1]
        note = shown.reason or ("" if wrong is None else self.judge.say("unread", shown=q.text))
        decision = Decision(shown.status, note, shown.fact, shown.key, shown.step)
        return Whole(q.start, q.end, decision, ((q.start, q.end), *covers))

    def _keys_of(self, name: Named) -> list[str]:
        return (self._shape_keys(name) if self.frame.numbers else list(name.keys[:3])) or list(name.keys[:1])


def _borne_out(decided: Sequence[Decision]) -> int:
    return sum(one.status == "supported" for one in decided)


def plain_form(frame: Frame, steps: Sequence[int]) -> _Plain | None:
    """A sentence in plain form; ``None`` where words are left that are not known, or things named overlap."""
    places = [_whole_run(place, frame.text, steps) for place in frame.places]
    parts = sorted(
        [(n.start, n.end, "N", n) for n in frame.names]
        + [(p.start, p.end, "P" if len(p.steps) == 1 else "R", p) for p in places]
        + [(q.start, q.end, "Q", q) for q in frame.numbers],
        key=lambda part: part[0],
    )
    if len(parts) > 16:
        return None
    words = _words()
    text, at = "", 0
    for number, (start, end, sign, _) in enumerate(parts):
        if start < at:
            return None
        text += f"{frame.text[at:start].lower()}{chr(_FIRST[sign] + number)}"
        if sign == "N" and _IN_ALL.match(frame.text, start, end):
            text += "合计"  # "共处理 16.3M token": the name tells a sum
        at = end
    text = (text + frame.text[at:].lower()).translate(_PUNCTUATION)
    text = re.sub(r"[\s`*_“”\"「」【】]+", "", text).strip(".,;!- ")
    for pattern, instead in words.falls:
        text = pattern.sub(instead, text)
    if any(negated(frame, match.start()) for match in words.ways.finditer(frame.text)):
        return None
    for pattern, sign in words.signs:
        text = pattern.sub(sign, text)
    senses: list[tuple[int, bool, bool, bool]] = []

    def way(match: re.Match[str]) -> str:
        word = match.group()
        senses.append(
            (words.sense[word], _PACE.search(word) is not None, _LEVEL.fullmatch(word) is not None, word[-1] in "好差")
        )
        return chr(_FIRST["W"] + len(senses) - 1)

    text = words.ways.sub(way, text)
    for pattern, sign in _AFTER_WAY:
        text = pattern.sub(lambda match, to=sign: chr(ord(match[1]) - _FIRST["W"] + _FIRST[to]), text)  # type: ignore[misc]
    if re.search(r"[\u3400-\u9fffa-z\d]", re.sub(r"[到从和至由自]", "", text)):
        return None
    plain = _Plain("")
    for char in text:
        sign = next((one for one, first in _FIRST.items() if first <= ord(char) <= first + 0xFF), "")
        if sign:
            number = ord(char) - _FIRST[sign]
            known = Held(sign, *senses[number]) if sign in "WTGE" else Held(sign, thing=parts[number][3])
            plain.held.append(known)
        plain.text += sign or char
    return plain
