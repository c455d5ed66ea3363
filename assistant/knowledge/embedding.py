"""Vectors for texts without a model to download: latent semantic analysis of the cards themselves.

What words of a card stand together tells what they mean, and since every card says the same in Chinese and in English,
the two languages meet: each card is a bag of stems, Chinese characters and pairs, and groups of synonyms, weighted by
how rare they are; the singular vectors of the table of cards and terms are the axes (Deerwester et al. 1990, "Indexing
by latent semantic analysis"). A text's vector has unit length, so that the inner product of two is their cosine. Where
the cards' single wordings are known, :mod:`assistant.knowledge.tuning` then turns the axes so that each wording lies
nearest to its own card.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

from assistant.knowledge.questions import known_wordings, search_table, without_fillers
from assistant.knowledge.terms import fold, is_chinese, pieces, stem

SIZE: Final = 128
"""Axes of a vector; fewer if there are fewer texts to learn from."""

_SHARPNESS: Final = 0.7
"""Power of the singular values that a learnt text's coordinates carry; the rest goes to the questions."""

_SYNONYM: Final = 0.5
_CHARACTER: Final = 0.3
_LEAST_VALUE: Final = 1e-6

Vector = list[float]


class Embedding(Protocol):
    """What the index needs of an embedding; LangChain's embeddings have this form too."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """What was learnt: term → row of ``rows`` (terms × size), each row with the term's rarity in it."""

    terms: dict[str, int]
    rows: Any

    def save(self, path: Path) -> None:
        """Writes both into one file."""
        import numpy as np

        with path.open("wb") as file:
            np.savez(file, terms=np.array("\n".join(self.terms)), rows=self.rows)

    @classmethod
    def load(cls, path: Path) -> Axes:
        """Reads what :meth:`save` wrote; raises if it is something else."""
        import numpy as np

        with np.load(path, allow_pickle=False) as held:
            terms = str(held["terms"]).split("\n")
            return cls({term: at for at, term in enumerate(terms)}, held["rows"])


class LatentEmbedding:
    """Vectors along learnt axes.

    Args:
        axes: from :func:`learn_axes`.
        learnt: texts whose vectors were learnt together with the axes.
    """

    name: Final = "latent-3"
    whole: Final = True
    """A card is one text: its passages are one per line."""

    def __init__(self, axes: Axes, learnt: Mapping[str, Vector] | None = None) -> None:
        self._axes = axes
        self._learnt = learnt or {}

    def embed_query(self, text: str) -> Vector:
        """The vector of one text; zeros if it holds no word that was learnt."""
        return self.embed_bag(bag(text))

    def embed_bag(self, terms: Mapping[str, float]) -> Vector:
        """The vector of a text's :func:`bag`."""
        import numpy as np

        held = [(at, value) for term, value in terms.items() if (at := self._axes.terms.get(term)) is not None]
        if not held:
            return [0.0] * int(self._axes.rows.shape[1])
        places, values = zip(*held, strict=True)
        vector = np.asarray(values, dtype=np.float32) @ self._axes.rows[list(places)].astype(np.float32)
        norm = float(np.linalg.norm(vector))
        result: Vector = (vector / norm if norm else vector).tolist()
        return result

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        return [self._learnt[text] if text in self._learnt else self.embed_query(text) for text in texts]


def line_terms(text: str) -> dict[str, float]:
    """Stems, Chinese characters and pairs, and groups of synonyms (``=first``) of one line, each with its weight."""
    table = search_table()
    plain = without_fillers(fold(text))
    result: dict[str, float] = {}
    for piece in pieces(plain):
        if is_chinese(piece):
            for char in piece:
                if char not in table["fillers"]:
                    result.setdefault(char, _CHARACTER)
            for at in range(len(piece) - 1):
                result[piece[at : at + 2]] = 1.0
        elif piece not in table["fillers"]:
            result[stem(piece)] = 1.0
    for wording in known_wordings(plain):
        for group in table["groups"][wording]:
            result[f"={group}"] = _SYNONYM
    return result


def bag(text: str, terms_of: Callable[[str], Mapping[str, float]] = line_terms) -> dict[str, float]:
    """Terms of a text and how much each counts: the logarithm of 1 + how many of its lines hold it.

    Args:
        text: lines.
        terms_of: the terms of a line; :func:`line_terms`, or what remembers them.
    """
    counts: dict[str, float] = {}
    for line in text.splitlines():
        for term, weight in terms_of(line).items():
            counts[term] = counts.get(term, 0.0) + weight
    return {term: math.log1p(count) for term, count in counts.items()}


def learn_axes(bags: Sequence[Mapping[str, float]]) -> Axes:
    """The axes along which some texts differ most.

    Args:
        bags: the :func:`bag` of each text: one a card, a passage a line.

    Returns:
        axes of at most :data:`SIZE` entries; the learnt texts' own coordinates are those of their embedding.
    """
    import numpy as np

    used = Counter(term for held in bags for term in held)
    terms = {term: at for at, term in enumerate(sorted(used))}
    rarity = np.array([math.log(1 + len(bags) / (used[term] + 0.5)) for term in terms])
    table = np.zeros((len(bags), len(terms)), dtype=np.float32)
    for row, held in enumerate(bags):
        for term, count in held.items():
            table[row, terms[term]] = count
    table *= rarity.astype(np.float32)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(norms > 0, norms, 1.0)
    values, vectors = np.linalg.eigh(table @ table.T)  # squares of the singular values, ascending
    kept = [at for at in range(len(values) - 1, -1, -1) if values[at] > _LEAST_VALUE][:SIZE]
    rows = table.T @ (vectors[:, kept] * values[kept] ** (_SHARPNESS - 1))
    return Axes(terms, (rows * rarity[:, None]).astype(np.float16))


@lru_cache(maxsize=1)
def wording_digest() -> str:
    """Tells whether the synonyms or fillers changed, on which the terms of a text depend."""
    table = search_table()
    held = repr((sorted(table["groups"].items()), sorted(table["fillers"])))
    return hashlib.sha256(held.encode()).hexdigest()[:12]
