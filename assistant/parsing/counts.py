"""How the lines of a text were used: read, recognised as noise, or not understood."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import LineCounts
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading

_VALUE: Final = r"(?:np\.\w{1,12}\()?[-+]?(?:[0-9]|nan\b|inf\b|\.[0-9])"
_PATH_PAIR: Final = re.compile(rf"(?<![\w/.:])[A-Za-z][\w@-]{{0,60}}/[\w/@().-]{{1,120}}['\"]?[:=]\s?['\"]?{_VALUE}")
_WORD_PAIR: Final = re.compile(
    rf"(?i)['\"]?\b(?:\w{{0,40}}_)?(?:loss|reward|rewards|kl|entropy|grad_norm|accuracy|score)['\"]?[:=]\s?['\"]?{_VALUE}"
)
_WORDS: Final = ("loss", "reward", "kl", "entropy", "grad_norm", "accuracy")
_LONGEST: Final = 20_000
_SAMPLE_WIDTH: Final = 160


def looks_like_metrics(line: str) -> bool:
    """Whether a line holds two or more ``metric: number`` pairs (its first 20,000 characters)."""
    line = line[:_LONGEST]
    if ":" not in line and "=" not in line:
        return False
    pairs = len(_PATH_PAIR.findall(line)) if "/" in line else 0
    if pairs < 2 and any(word in line for word in _WORDS):
        pairs = len(_WORD_PAIR.findall(line))
    return pairs >= 2


def count_lines(document: Document, reading: Reading) -> LineCounts:
    """Counts of the original text's lines; the three parts add up to all lines.

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
            if len(samples) < 3:
                samples.setdefault(number, strip_ray(line)[1].strip()[:_SAMPLE_WIDTH])
    bad -= reading.taken
    taken = len(reading.taken)
    return LineCounts(taken, document.text_lines - taken - len(bad), len(bad), tuple(samples.values()))
