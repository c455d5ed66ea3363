"""Sentences read as a whole: the means of equal parts of a run, told one after the other."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from assistant.ground.cues import cue
from assistant.ground.quantities import Quantity, chinese_number
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholeparts import PartReader
from assistant.ground.wholereader import Whole

_SPLIT: Final = re.compile(
    r"(?i)(?:(?:分成|分为|切成|划成)\s*|(?=[二三四五六八十]等分|\d{1,2}\s*等分))(?P<zparts>[二三四五六八十]|\d{1,2})\s*(?:等份|等分|段|份)"
    r"|(?:按|每)(?:段)?(?P<zsize>[一二两三四五]?百|\d{2,5})\s*步(?:一段)?(?:取|求|算|的)?|\b(?:by|per|in) (?P<parts>hal(?:f|ves)|thirds?|quarters?|fifths?|tenths?)\b|\b(?P<quarterly>quarterly)\b"
    r"|\b(?P<eparts>two|three|four|five|six|eight|ten|\d{1,2}) equal (?:parts|chunks|segments|stretches|stages)\b|\bper (?P<esize>hundred|\d{2,5}) steps\b"
)
_PARTS: Final = {"hal": 2, "thi": 3, "qua": 4, "fif": 5, "ten": 10}
_WORDS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10}
Rows = Sequence[tuple[int, float]]


class SplitReader(PartReader):
    """Claims about equal parts of the run."""

    def equal_parts(self) -> Iterator[Whole]:
        """``四等分，平均奖励依次为 1.65、2.93、3.53、4.39``, ``mean loss by quarter: 0.67, 0.68, 0.69, 0.72``."""
        match, key = _SPLIT.search(self.text), self.key()
        group = next((g for g in self.frame.groups if g.form == "list" and len(g.members) > 1), None)
        if (
            match is None
            or key is None
            or group is None
            or not (cue("mean").search(self.text) or re.search(r"(?i)\bmeans\b", self.text))
        ):
            return
        told = [self.frame.numbers[at] for at in group.members]
        parts, size = self._asked(match)
        rows = self.table.finite(key, self.span())
        if (parts and parts != len(told)) or len(rows) < 2 * len(told):
            return
        cuts = list(self._cuts(rows, len(told), size))
        fine = any(self._hold(told, key, cut) for cut in cuts)
        first = cuts[0] if cuts else [rows]
        means = ", ".join(plain(sum(v for _, v in part) / len(part)) for part in first)
        note = self.judge.say("count", true=means, shown=", ".join(q.text for q in told))
        covers = [(q.start, q.end) for q in told]
        covers += [(q.start, q.end) for q in self.frame.numbers if q.unit == "steps" and q.end <= told[0].start]
        yield self.say(told[0].start, told[-1].end, fine, note, None, covers)

    @staticmethod
    def _asked(match: re.Match[str]) -> tuple[int, int]:
        """How many parts, or how many steps each has; 0 where it is not said."""
        if word := match["zsize"] or match["esize"]:
            return 0, int(word) if word.isdigit() else 100 if word in {"百", "hundred"} else chinese_number(word)
        if match["quarterly"]:
            return 4, 0
        if word := match["parts"]:
            return _PARTS[word[:3].lower()], 0
        word = match["zparts"] or match["eparts"]
        return int(word) if word.isdigit() else _WORDS.get(word.lower()) or chinese_number(word), 0

    @staticmethod
    def _cuts(rows: Rows, count: int, size: int) -> Iterator[Sequence[Rows]]:
        """The ways to cut rows into so many parts, or into parts of so many steps."""
        if size:
            for start in dict.fromkeys((rows[0][0], 0, 1)):
                cut = [
                    [row for row in rows if start + at * size <= row[0] < start + (at + 1) * size]
                    for at in range(count)
                ]
                if all(cut):
                    yield cut
            return
        total = len(rows)
        even, short = [at * total // count for at in range(count + 1)], total // count
        for edges in (
            even,
            [*(at * short for at in range(count)), total],
            [-(-at * total // count) for at in range(count + 1)],
        ):
            yield [rows[a:b] for a, b in pairwise(edges)]

    def _hold(self, told: Sequence[Quantity], key: str, cut: Sequence[Rows]) -> bool:
        for q, part in zip(told, cut, strict=True):
            mean = sum(v for _, v in part) / len(part)
            if not any(agrees(n, h, mean, bound=q.bound) for n, h in self.table.readings(q, key, mean)):
                return False
        return True
