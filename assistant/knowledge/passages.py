"""Passages of a team's own documents that share words with a question: a plain count, for a few megabytes of text.

No index is kept. Rare words count more than common ones, and words of the heading more than those of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.knowledge.terms import terms

_EXCERPT: Final = 240
_MOST_TERMS: Final = 32
_LEAST: Final = 0.25
_FILLERS: Final = frozenset({
    "a", "an", "and", "are", "be", "can", "do", "does", "for", "how", "if", "in", "is", "it", "of", "on", "or",
    "our", "should", "that", "the", "this", "to", "was", "we", "what", "when", "where", "which", "why", "with",
    "my", "you", "什么", "怎么", "如何", "为什", "么样", "多少", "是什", "的是", "一个", "我们", "这个", "哪些",
    "是否",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a team's own document that is no definition.

    Attributes:
        id: ``doc:<document>#<n>``, counted from 1.
        document: the document's name.
        heading: the headings above it, outermost first.
        text: its Markdown.
        line: where it begins.
    """

    id: str
    document: str
    heading: tuple[str, ...]
    text: str
    line: int

    @property
    def title(self) -> str:
        """The headings above it, else the document's name."""
        return " › ".join(self.heading) or self.document

    @property
    def source(self) -> str:
        """Document and line."""
        return f"{self.document}:{self.line}"


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage, how much of the question it holds (0 to 1), and an excerpt around the first word found."""

    passage: Passage
    score: float
    excerpt: str


def find_passages(passages: Sequence[Passage], question: str, k: int = 5) -> list[FoundPassage]:
    """Passages that hold much of what a question asks, best first; empty if none does.

    Args:
        passages: where to look.
        question: in any words.
        k: how many at most.
    """
    if not passages:
        return []
    wanted = [term for term in dict.fromkeys(terms(question[:2_000])) if len(term) > 1 and term not in _FILLERS]
    wanted = wanted[:_MOST_TERMS]
    if not wanted:
        return []
    texts = [(passage.text.lower(), " ".join((*passage.heading, passage.document)).lower()) for passage in passages]
    held = [[term in text or term in head for term in wanted] for text, head in texts]
    counts = [sum(column) for column in zip(*held, strict=True)]
    weights = [math.log(1 + len(passages) / (1 + count)) + 0.1 for count in counts]
    whole = sum(weights)
    scored: list[tuple[float, int]] = []
    for at, (text, head) in enumerate(texts):
        if not any(held[at]):
            continue
        score = 0.0
        for term, weight, there in zip(wanted, weights, held[at], strict=True):
            if there:
                score += weight * (1.0 if term in head else 0.75 + 0.05 * min(4, text.count(term)))
        scored.append((min(1.0, score / whole), at))
    scored.sort(key=lambda item: (-item[0], item[1]))
    return [
        FoundPassage(passages[at], round(score, 3), excerpt(passages[at].text, wanted))
        for score, at in scored[:k]
        if score >= _LEAST
    ]


def excerpt(text: str, wanted: Sequence[str]) -> str:
    """A piece of a text, on one line, around the first of some words that stands in it."""
    plain = re.sub(r"\s+", " ", text).strip()
    lower = plain.lower()
    places = [place for term in wanted if (place := lower.find(term)) >= 0]
    start = max(0, min(places, default=0) - _EXCERPT // 4)
    start = 0 if start < 20 else start
    piece = plain[start : start + _EXCERPT]
    return ("…" if start else "") + piece.strip() + ("…" if start + _EXCERPT < len(plain) else "")
