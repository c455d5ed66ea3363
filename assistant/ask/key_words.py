"""Keys that no card explains, named by their words in any order: "groups were skipped" is ``skipped_groups``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from assistant.ask.logged import as_mention
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

#: How keys shorten words that questions write out.
_SHORT: Final = {
    "rt": "rate", "acc": "accuracy", "len": "length", "avg": "average", "num": "number", "tok": "token",
    "ans": "answer",
    "val": "validation", "lr": "learning", "std": "std", "frac": "fraction", "grad": "gradient",
}  # fmt: skip
#: So many other words may stand between those of a key.
BETWEEN: Final = 2
LEAST: Final = 2
#: A longer text is no question.
MOST_WORDS: Final = 120
_LINKS: Final = frozenset({"of", "per", "the", "in", "and", "to"})
_WORD: Final = re.compile(r"[A-Za-z]+")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without the ends that forms of it have."""
    word = word.lower()
    word = _SHORT.get(word, word)
    for end in ("ing", "ied", "ed", "es", "s", "y"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            word = word[: -len(end)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


@lru_cache(maxsize=8192)
def _parts(key: str) -> frozenset[str]:
    """The words of a key without their ends, those left out that only tie it together."""
    words = (part for part in re.split(r"[^A-Za-z]+", key) if len(part) > 1 and part.lower() not in _LINKS)
    return frozenset(map(stem, words))


def by_words(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """The metrics found, and keys without a card all of whose words stand close together in the text.

    A key of at least two words takes the place of what was found inside those words of the text; of several the one
    with most words.
    """
    words = [(stem(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]
    spoken = {word for word, _, _ in words}
    if len(words) > MOST_WORDS:
        return found
    best: tuple[int, str, int, int] | None = None
    for key in run.metrics:
        parts = _parts(key)
        if len(parts) < LEAST or not parts <= spoken or resolver.key(key, run.framework) is not None:
            continue
        span = _span(words, parts)
        if span is not None and (best is None or len(parts) > best[0]):
            best = (len(parts), key, *span)
    if best is None or any(m.key == best[1] for m in found):
        return found
    _, key, start, end = best
    if any(m.start < end and start < m.end and re.search(r"[/_]", m.text) for m in found):
        return found  # a key that is spelt is that key
    kept = [m for m in found if m.end <= start or end <= m.start]
    return [*kept, as_mention(run, resolver, key, start, end, text[start:end])]


#: Words of a question that mean another statistic of a benchmark than its mean.
_OTHERS: Final = re.compile(r"(?i)\b(?:best|maj\w*|std|max|min|worst|pass)\b|最好|最高|标准差|多数")
_MEANS: Final = frozenset({"mean", "avg", "acc", "accuracy", "average", "score"})
_NUMBERED: Final = re.compile(r"(?<![\w/@.-])[A-Za-z]{3,}[-_]?[0-9]{1,4}(?![\w/@])")


def by_number(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Columns of a benchmark that a question names by its name alone: "AIME24" is ``AIME24 mean@32``."""
    for match in _NUMBERED.finditer(text):
        if any(m.start < match.end() and match.start() < m.end for m in found):
            continue
        word = match.group().lower().replace("-", "").replace("_", "")
        keys = [key for key in run.metrics if word in re.split(r"[^a-z0-9]+", key.lower())]
        means = [key for key in keys if _MEANS & set(re.split(r"[^a-z]+", key.lower()))]
        chosen = means if len(keys) > 1 and not _OTHERS.search(text) else keys
        if len(chosen) == 1:
            found = [*found, as_mention(run, resolver, chosen[0], match.start(), match.end(), match.group())]
    return found


def _span(words: list[tuple[str, int, int]], parts: frozenset[str]) -> tuple[int, int] | None:
    """Where all the words of a key stand within a few others; ``None`` where they do not."""
    width = len(parts) + BETWEEN
    for first, (word, start, _) in enumerate(words):
        if word not in parts:
            continue
        window = words[first : first + width]
        places = {one: end for one, _, end in reversed(window) if one in parts}
        if len(places) == len(parts):
            return start, max(places.values())
    return None
