"""Vectors for texts without a model: hashed character n-grams, weighted by how rare they are.

English sentence models fail on Chinese, and this machine may have no network; n-grams do well in both languages and
forgive typos. A text's vector has unit length, so that the inner product of two is their cosine.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Final, Protocol

from assistant.knowledge.terms import fold, grams

SIZE: Final = 1024
"""Entries of a vector; n-grams share them by hashing, with signs, so that collisions cancel on average."""

Vector = list[float]


class Embedding(Protocol):
    """What the index needs of an embedding; LangChain's embeddings have this form too."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        ...


class NgramEmbedding:
    """Hashed n-grams.

    Args:
        rarity: a weight for each of the ``SIZE`` entries; all alike if none are given.
    """

    name: Final = "ngrams-1"

    def __init__(self, rarity: Sequence[float] | None = None) -> None:
        self._rarity = list(rarity) if rarity is not None else [1.0] * SIZE

    def embed_query(self, text: str) -> Vector:
        """The vector of one text; zeros if it holds no word."""
        vector = [0.0] * SIZE
        for gram, count in Counter(grams(fold(text))).items():
            code = zlib.crc32(gram.encode())
            at = (code >> 1) % SIZE
            vector[at] += (1 if code & 1 else -1) * (1 + math.log(count)) * self._rarity[at]
        norm = math.sqrt(sum(value * value for value in vector))
        return [value / norm for value in vector] if norm else vector

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        return [self.embed_query(text) for text in texts]


def learn_rarity(texts: Sequence[str]) -> list[float]:
    """The weight of each entry: the logarithm of how many texts there are for one that uses it."""
    used = Counter[int]()
    for text in texts:
        used.update({(zlib.crc32(gram.encode()) >> 1) % SIZE for gram in grams(fold(text))})
    return [round(math.log((1 + len(texts)) / (1 + used[at])) + 0.2, 4) for at in range(SIZE)]
