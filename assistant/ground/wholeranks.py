"""Sentences read as a whole: the order of steps by a metric, and steps told in passing to be those of an extreme.

``highest at step 15, followed by step 30 and step 25``, ``between its peak at step 15 and step 60``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assistant.ground.cues import bare, cue, negated
from assistant.ground.lexicon import Named
from assistant.ground.verdicts import plain
from assistant.ground.wholereader import Whole
from assistant.ground.wholesides import SideReader

_FOLLOWED: Final = re.compile(
    r"(?i)\bfollowed (?:closely )?by\b|\bthen comes?\b|\bwith [^.;,]{1,40}? (?:in )?second\b|其次(?:才)?(?:是|为)?|紧随其后的是|第二(?:高|低|大|小|慢|快|长|短)(?:的)?是"
)
_SLOW: Final = re.compile(r"(?i)\bslow|\bfast|\bquick|[慢快]")
#: "Its peak at step 15", "best value (step 15)", 峰值（step 15）: a thing that lies at a step, not the telling of it.
_THING: Final = re.compile(
    r"(?i)\b(?:its|their|the|a|own|from) (?:all-time |overall |previous |earlier |global )?(?:(?P<max>peak|high(?:est (?:value|point|level))?|maximum|top)|(?P<min>trough|low(?:est (?:value|point|level))?|minimum|bottom)|(?P<best>best(?: (?:value|score|result|checkpoint))?)|(?P<worst>worst(?: (?:value|score|result))?))(?: of [-−\d.]+%?)?\s*[（(]?\s*(?:at|on|in|of)?\s*$"
    r"|(?:(?P<zmax>最高点|峰值|顶点|最大值)|(?P<zmin>最低点|谷底|谷值|最小值)|(?P<zbest>最佳值?|最好成绩))\s*[（(]\s*(?:在|于|即)?\s*$"
)


class RankReader(SideReader):
    """Claims about the order of steps."""

    def ranked(self) -> Iterator[Whole]:
        """``step 3 is the slowest, followed by step 1 and step 2``."""
        match = _FOLLOWED.search(self.text)
        singles = [p for p in self.frame.places if p.kind == "steps" and re.search(r"\d", self.text[p.start : p.end])]
        if match is None or len(singles) < 2 or len(singles) != len(self.frame.places):
            return
        before = [p for p in singles if p.end <= match.start()][-1:]
        behind = [p for p in singles if p.start >= match.end()]
        key = self.key() or (self.table.total_time() if _SLOW.search(self.text) else None)
        which = self._which(match.start(), key or "")
        if not before or not behind or key is None or not which or negated(self.frame, match.start()):
            return
        told = [step for place in (*before, *behind) for step in place.steps]
        rows = sorted(self.table.finite(key), key=lambda row: row[1], reverse=which == "max")
        values = [self.table.value(key, step) for step in told]
        fine = len(rows) >= len(told) and all(v == rows[at][1] for at, v in enumerate(values))
        first = next((at for at, v in enumerate(values) if at >= len(rows) or v != rows[at][1]), 0)
        note = (
            self.judge.say("extreme_step", metric=key, step=rows[first][0], true=plain(rows[first][1]))
            if first < len(rows)
            else ""
        )
        yield self.say(match.start(), behind[-1].end, fine, note)

    def thing_at(self) -> Iterator[Whole]:
        """``between its peak at step 15 and step 60``: the step must be that of the peak."""
        for place in self.frame.places:
            match = _THING.search(self.text, max(0, place.start - 40), place.start)
            told = re.search(r"\d", self.text[place.start : place.end])
            if (
                match is None
                or not told
                or place.kind not in {"steps", "pair", "range"}
                or negated(self.frame, match.start())
            ):
                continue
            name = self._whose(match.start())
            if name is None or name.statistic in {"max", "min"}:
                continue
            step, found = place.steps[0], next(word for word, text in match.groupdict().items() if text)
            keys = [key for key in name.keys[:3] if self.table.finite(key)]
            held = [key for key in keys if self._extreme_at(key, found) == self.table.value(key, step)]
            if not keys:
                continue
            key = (held or keys)[0]
            best = self._extreme_at(key, found)
            at = next((s for s, v in self.table.finite(key) if v == best), step)
            fact = self.table.ledger.value(key, at, self.table.run)
            note = self.judge.say("extreme_step", metric=key, step=at, true=plain(best or 0.0))
            told_so = self.say(match.start(), match.end(found), bool(held), note, fact.id if fact else None)
            yield replace(told_so, aside=True)

    def _whose(self, at: int) -> Named | None:
        """The metric whose extreme is told at a place: that of its clause; else the only one, where "its" means it."""
        clause = self.frame.clause(at)
        own = [n for n in self.frame.names if n.keys and self.frame.clause(n.start) == clause and n.start < at]
        if own or not re.match(r"(?i)(?:its|their)\b", self.text[at:]):
            return own[-1] if own else None
        return next(iter(self.names()), None) if self.key() else None

    def _extreme_at(self, key: str, word: str) -> float | None:
        values = [v for _, v in self.table.finite(key)]
        if word.endswith(("best", "worst")):
            better = self.table.better(key)
            if not better:
                return None
            word = "max" if (better == "higher") == word.endswith("best") else "min"
        return (max if word.endswith("max") else min)(values) if values else None

    def _which(self, end: int, key: str) -> str:
        """Which extreme is told before a place."""
        words = bare(self.frame, 0, end)
        if re.search(r"(?i)\b(?:best|worst)\b|最好|最佳|最差", words):
            better = self.table.better(key) if key else ""
            best = re.search(r"(?i)\bbest\b|最好|最佳", words) is not None
            return "" if not better else "max" if (better == "higher") == best else "min"
        high, low = bool(cue("maximum").search(words)), bool(cue("minimum").search(words))
        return "" if high == low else "max" if high else "min"
