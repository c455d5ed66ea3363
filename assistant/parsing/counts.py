"""How the lines of a text were used: read, recognised as noise, or not understood."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import LineCounts
from assistant.parsing.beside import may_hold_block
from assistant.parsing.repair import Document, strip_ansi, strip_ray
from assistant.parsing.table import Reading

_VALUE: Final = r"(?:np\.\w{1,12}\()?[-+]?(?:[0-9]|nan\b|inf\b|\.[0-9])"
_PATH_PAIR: Final = re.compile(rf"(?<![\w/.:])[A-Za-z][\w@-]{{0,60}}/[\w/@().-]{{1,120}}['\"]?[:=]\s?['\"]?{_VALUE}")
_WORD_PAIR: Final = re.compile(
    rf"(?i)(?<![^\W_])(?:loss|rewards?|kl|entropy|grad_norm|accuracy|score)['\"]?[:=]\s?['\"]?{_VALUE}"
)
_WORDS: Final = ("loss", "reward", "kl", "entropy", "grad_norm", "accuracy")
_LONGEST: Final = 20_000
_SAMPLE_WIDTH: Final = 160
_SAMPLES: Final = 3
_BYTE_WORDS: Final = tuple(word.encode() for word in _WORDS)
_BYTE_PATH: Final = re.compile(
    rb"/(?<=[\w@-]/)[\w/@().\x80-\xff-]{1,360}+['\"]?[:=](?:\s|[\x80-\xff]{1,3})?['\"]?(?:np\.\w{1,12}\()?[-+]?(?:[0-9]|nan|inf|\.[0-9])"
)
_COLOURS: Final = re.compile(rb"\x1b\[[0-9;]*m")
_ALL: Final = 1 << 20
_PART: Final = 1 << 14
_STRIDE: Final = 1 << 20


def looks_like_metrics(line: str) -> bool:
    """Whether a line holds two or more ``metric: number`` pairs (its first 20,000 characters)."""
    line = line[:_LONGEST]
    if ":" not in line and "=" not in line:
        return False
    pairs = len(_PATH_PAIR.findall(line)) if "/" in line else 0
    if pairs < 2 and any(word in line for word in _WORDS):
        pairs = len(_WORD_PAIR.findall(line))
    return pairs >= 2


def count_lines(document: Document, reading: Reading) -> tuple[LineCounts, tuple[int, ...]]:
    """Counts of the original text's lines, and which were not understood; the three parts add up to all lines.

    A line is not understood if it looks like metrics and was not read; all else that was not taken is
    noise (blank lines, prose, progress bars, configuration, rollouts, messages).
    """
    bad = set(reading.not_understood)
    samples: dict[int, str] = {}
    for line, number in zip(document.lines, document.numbers, strict=False):
        if number in reading.taken:
            continue
        if number in bad or looks_like_metrics(line):
            bad.add(number)
            if len(samples) < _SAMPLES:
                samples.setdefault(number, strip_ray(line)[1].strip()[:_SAMPLE_WIDTH])
    bad.difference_update(reading.taken)
    taken = len(reading.taken)
    counts = LineCounts(taken, document.text_lines - taken - len(bad), len(bad), tuple(samples.values()))
    return counts, tuple(sorted(bad))


class Lookalikes:
    """Counts the lines of noise that look like metrics, from bytes.

    All of the first megabyte of noise is looked at, of the rest every sixty-fourth part, unless it has to be thorough.

    Attributes:
        numbers: original line numbers found.
        samples: texts of the first three, by number.
        skipped: bytes that were not looked at.
        blocks: whether a table or records may stand among the lines that were looked at.
    """

    def __init__(self, *, thorough: bool = False) -> None:
        self.numbers: set[int] = set()
        self.samples: dict[int, str] = {}
        self.skipped = 0
        self.blocks = False
        self._left = _ALL
        self._owed = 0
        self._thorough = thorough

    def add(self, entry: str, number: int) -> None:
        """Counts a line that was not understood."""
        self.numbers.add(number)
        if len(self.samples) < _SAMPLES:
            self.samples.setdefault(number, strip_ray(entry)[1].strip()[:_SAMPLE_WIDTH])

    def look(self, data: bytes, begin: int, end: int, line: int) -> None:
        """Looks at lines of noise.

        Args:
            data: the text.
            begin: where the first line begins.
            end: after the last line.
            line: original number of the first line.
        """
        if self._thorough or end - begin <= self._left:
            self._left -= end - begin
            self._look(data, begin, begin, end, line)
            return
        part = max(self._left, 0)
        self._left = 0
        at = begin
        while True:
            stop = min(data.rfind(b"\n", at, min(at + part, end)) + 1 or at, end)
            if stop > at:
                self._look(data, begin, at, stop, line)
            self._owed += end - stop
            if self._owed < _STRIDE:
                self.skipped += end - stop
                return
            over = min(self._owed - _STRIDE, end - stop)
            self.skipped += end - stop - over
            at = data.find(b"\n", end - over, end) + 1 or end
            self._owed = 0
            part = _PART
            if at >= end:
                return

    def _look(self, data: bytes, known: int, start: int, stop: int, line: int) -> None:
        """Looks at all lines from ``start`` to ``stop``; ``line`` is the number of the one at ``known``."""
        text = data[start:stop]
        if b"\x1b" in text:
            text = strip_colours(text)
        self.blocks = self.blocks or may_hold_block(text, 0, len(text))
        spots = []
        for word in _BYTE_WORDS:
            at = text.find(word)
            while at >= 0:
                spots.append(at)
                end = text.find(b"\n", at)
                at = text.find(word, end) if end >= 0 else -1
        path = _BYTE_PATH.search(text)
        while path is not None:
            spots.append(path.start())
            end = text.find(b"\n", path.start())
            path = _BYTE_PATH.search(text, end) if end >= 0 else None
        done = counted = 0
        numbered = False
        for spot in sorted(spots):
            if spot < done:
                continue
            begin = text.rfind(b"\n", 0, spot) + 1
            end = text.find(b"\n", spot)
            done = len(text) if end < 0 else end + 1
            raw = text[begin : min(done, begin + 4 * _LONGEST)]
            entries = raw.rstrip(b"\n").decode("utf-8", "replace").split("\r")
            found = next((entry for entry in entries if looks_like_metrics(entry)), None)
            if found is not None:
                if not numbered:  # counting the lines before takes longer than looking at these
                    line += data.count(b"\n", known, start)
                    numbered = True
                line += text.count(b"\n", counted, begin)
                counted = begin
                self.add(found, line)


def strip_colours(text: bytes) -> bytes:
    """The bytes without terminal escape sequences."""
    stripped = _COLOURS.sub(b"", text)
    return stripped if b"\x1b" not in stripped else strip_ansi(text.decode("utf-8", "replace")).encode()
