"""Which cards hold which words, and how strongly a word points to a card: two signs beside BM25 and the vectors.

``cover`` is the share of a question's words, weighted by how rare they are, that a card holds anywhere: BM25 rewards
a card that holds one word often, ``cover`` one that leaves no word unexplained. ``likely`` is the mean evidence of
the question's words for a card among all cards' wordings: query likelihood with Dirichlet smoothing (Zhai and
Lafferty 2004, "A study of smoothing methods for language models applied to information retrieval").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.knowledge.embedding import line_terms

_SMOOTHING: Final = 60.0
"""Words of the whole collection that each card is thought to hold besides its own."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a question's words say about each entry, 0 where they say nothing.

    Attributes:
        cover: share of the question's words that the entry holds, by rarity; entries.
        likely: mean evidence of the question's words, in nats a word; entries.
    """

    cover: Any
    likely: Any


class TermTable:
    """Postings of the terms of all entries, as arrays.

    Args:
        terms: term → its number.
        bounds: where each term's postings begin and end; terms + 1.
        entries: the numbers of the entries that hold it.
        evidence: the term's evidence for each of these, in nats.
        rarity: of each term; the last one is that of a term that no entry holds.
        shortness: what an entry with few wordings gains over one with many, in nats a word; entries.
    """

    def __init__(
        self, terms: Mapping[str, int], *, bounds: Any, entries: Any, evidence: Any, rarity: Any, shortness: Any
    ) -> None:
        self._terms = terms
        self._bounds = bounds
        self._entries = entries
        self._evidence = evidence
        self._rarity = rarity
        self._shortness = shortness

    def ask(self, text: str) -> Evidence:
        """The evidence of a folded question's words for each entry."""
        import numpy as np

        cover = np.zeros(len(self._shortness), dtype=np.float32)
        likely = np.zeros(len(self._shortness), dtype=np.float32)
        whole = counted = 0.0
        for term, weight in line_terms(text).items():
            own = not term.startswith("=")
            at = self._terms.get(term)
            if own:
                whole += weight * float(self._rarity[-1 if at is None else at])
            if at is not None:
                begin, end = self._bounds[at], self._bounds[at + 1]
                held = self._entries[begin:end]
                if own:
                    cover[held] += weight * float(self._rarity[at])
                likely[held] += weight * self._evidence[begin:end]
                counted += weight
        if counted:
            likely = np.maximum(likely + counted * self._shortness, 0.0) / counted
        return Evidence(cover / whole if whole else cover, likely)

    def is_said(self, entry: int, terms: Iterable[str]) -> bool:
        """Whether the wordings of an entry, by its number, hold all of some terms."""
        import numpy as np

        for term in terms:
            at = self._terms.get(term)
            if at is None:
                return False
            begin, end = int(self._bounds[at]), int(self._bounds[at + 1])
            place = begin + int(np.searchsorted(self._entries[begin:end], entry))
            if place == end or self._entries[place] != entry or not self._evidence[place] > 0:
                return False
        return True

    def save(self, path: Path) -> None:
        """Writes it into one file."""
        import numpy as np

        with path.open("wb") as file:
            np.savez(
                file, terms=np.array("\n".join(self._terms)), bounds=self._bounds, entries=self._entries,
                evidence=self._evidence, rarity=self._rarity, shortness=self._shortness,
            )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> TermTable:
        """Reads what :meth:`save` wrote; raises if it is something else."""
        import numpy as np

        with np.load(path, allow_pickle=False) as held:
            terms = {term: at for at, term in enumerate(str(held["terms"]).split("\n"))}
            names = ("bounds", "entries", "evidence", "rarity", "shortness")
            return cls(terms, **{name: held[name] for name in names})


def build_table(texts: Sequence[Iterable[str]], wordings: Sequence[Sequence[Mapping[str, float]]]) -> TermTable:
    """The table of some entries.

    Args:
        texts: the terms of everything that each entry says, each once.
        wordings: for each entry the weighted terms of each of its wordings.
    """
    import numpy as np

    counts = [Counter(term for line in lines for term in line) for lines in wordings]
    whole: Counter[str] = Counter()
    for own in counts:
        whole.update(own)
    total = max(1, sum(whole.values()))
    held: dict[str, dict[int, float]] = {}
    for entry, (text, own) in enumerate(zip(texts, counts, strict=True)):
        for term in text:
            held.setdefault(term, {})[entry] = 0.0
        for term, count in own.items():
            strength = math.log1p(count / (_SMOOTHING * whole[term] / total))
            held.setdefault(term, {})[entry] = strength
    size = len(texts)
    rarity = [math.log(1 + size / (len(entries) + 0.5)) for entries in held.values()]
    lengths = np.array([sum(own.values()) for own in counts], dtype=np.float32)
    return TermTable(
        {term: at for at, term in enumerate(held)},
        bounds=np.cumsum([0, *(len(entries) for entries in held.values())]).astype(np.int32),
        entries=np.array([entry for entries in held.values() for entry in entries], dtype=np.int32),
        evidence=np.array([value for entries in held.values() for value in entries.values()], dtype=np.float32),
        rarity=np.array([*rarity, math.log(1 + size / 0.5)], dtype=np.float32),
        shortness=np.log(_SMOOTHING / (_SMOOTHING + lengths)).astype(np.float32),
    )
