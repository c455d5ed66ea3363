"""A search index that is open: entries by their words, by vectors, and by how well their words cover a question."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from assistant.knowledge.embedding import Embedding
from assistant.knowledge.filelocks import hold
from assistant.knowledge.index_chroma import Tell, Vectors, tell_unusable
from assistant.knowledge.index_files import META, NAMES, TERMS, WORDS
from assistant.knowledge.nametable import NameTable
from assistant.knowledge.termtable import TermTable

_WEIGHTS: Final = (0.0, 6.0, 5.0, 4.0, 4.0, 1.0)
_MOST_HELD: Final = 200_000
"""Numbers that are remembered of the terms looked up last."""


def quiet(zh: str, en: str) -> None:
    """Tells nobody."""


class Index:
    """An index that is open; :func:`open_index` makes one.

    Args:
        folder: where it lies.
        embedding: turns questions into vectors.
        vectors: Chroma's, ``None`` if Chroma cannot be used; words are still found then.
        entries: the entries' ids in the order of the table of terms.
        tell: hears of a server that went away.
    """

    def __init__(
        self, folder: Path, embedding: Embedding, vectors: Vectors | None, entries: Sequence[str], tell: Tell = quiet
    ) -> None:
        self.folder = folder
        self._release = hold(self, folder / META)
        self._table = TermTable.load(folder / TERMS)
        self._names = NameTable.load(folder / NAMES)
        self._ids = list(entries)
        self._places = {entry: at for at, entry in enumerate(self._ids)}
        self._tell = tell
        self.has_vectors = vectors is not None
        self._embedding = embedding
        self._vectors = vectors
        self._parts = 1 if takes_whole(embedding) else 3
        self._lock = threading.Lock()
        self._shares: dict[str, float] = {}
        self._remembered: dict[str, tuple[Any, Any]] = {}
        self._held = 0
        self._words = sqlite3.connect(
            f"{(folder / WORDS).absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        try:
            self._entries = self.count()
        except sqlite3.Error:  # no such table
            self._words.close()
            raise

    def by_words(self, weights: Mapping[str, float], k: int = 40) -> dict[str, float]:
        """BM25 of the entries that share words with a question, best first.

        Args:
            weights: the question's terms and how much each counts;
            k: how many entries at most.
        """
        import numpy as np

        if not weights:
            return {}
        scores = np.zeros(len(self._ids))
        held = np.zeros(len(self._ids), dtype=bool)
        for term, weight in weights.items():
            entries, strengths = self._strengths(term)
            scores[entries] += weight * strengths
            held[entries] = True
        places = np.flatnonzero(held)
        best: list[int] = places[np.argsort(-scores[places], kind="stable")[:k]].tolist()
        return {self._ids[at]: float(scores[at]) for at in best}

    def _strengths(self, term: str) -> tuple[Any, Any]:
        """The places of the entries that hold a term, and its part of the BM25 of each; remembered.

        BM25 is a sum over the terms, so that each is looked up by itself, the common ones hardly ever again.
        """
        known = self._remembered.get(term)
        if known is None:
            import numpy as np

            with self._lock:
                rows = self._words.execute(
                    f"SELECT rowid, -bm25(entries, {', '.join(map(str, _WEIGHTS))}) FROM entries WHERE entries MATCH ?",
                    (f'"{term}"',),
                ).fetchall()
            places, strengths = zip(*rows, strict=True) if rows else ((), ())
            known = np.array(places, dtype=np.int32) - 1, np.array(strengths, dtype=np.float64)
            self._held += len(rows) + 1
            if self._held > _MOST_HELD:
                self._remembered, self._held = {}, len(rows) + 1
            self._remembered[term] = known
        return known

    def by_vectors(self, text: str, k: int = 40) -> dict[str, float]:
        """Cosine of the entries nearest to a question, best first; empty without Chroma."""
        if self._vectors is None:
            return {}
        try:
            vector = self._embedding.embed_query(text)
            if not any(vector):
                return {}
            found = self._vectors.nearest(vector, self._parts * k)
        except Exception as error:  # a server went away: words are still found
            tell_unusable(self._tell, error)
            return {}
        scores: dict[str, float] = {}
        for part, distance in found:
            scores.setdefault(entry_of(part), 1.0 - distance)
        return dict(list(scores.items())[:k])

    def by_terms(self, text: str, among: Iterable[str], k: int = 20) -> dict[str, tuple[float, float]]:
        """How much of a question each entry holds, and how strongly its words point to it.

        Args:
            text: a folded question.
            among: entries that are asked about in any case.
            k: how many of those to which the words point most are told, too.

        Returns:
            entry → (cover, likely), see :class:`~assistant.knowledge.termtable.Evidence`.
        """
        import numpy as np

        found = self._table.ask(text)
        best: list[int] = np.argsort(-found.likely)[:k].tolist()
        places = {self._places[entry] for entry in among} | {at for at in best if found.likely[at] > 0}
        return {self._ids[at]: (float(found.cover[at]), float(found.likely[at])) for at in places}

    def by_names(self, texts: Iterable[str], k: int = 40) -> dict[str, float]:
        """How like the entries' names are to one of some texts, word by word; the likest first.

        Args:
            texts: a question, more and less of it.
            k: how many at most.
        """
        import numpy as np

        likeness = np.maximum.reduce([self._names.ask(text) for text in texts])
        best: list[int] = np.argsort(-likeness, kind="stable")[:k].tolist()
        return {self._ids[at]: float(likeness[at]) for at in best if likeness[at] > 0}

    def is_said(self, entry: str, terms: Iterable[str]) -> bool:
        """Whether the names, titles and wordings of an entry hold all of some terms."""
        return self._table.is_said(self._places[entry], terms)

    def is_named(self, words: Iterable[str]) -> bool:
        """Whether some entry goes by a name that holds all of some words."""
        return self._names.holds(words)

    def known(self, questioned: Iterable[str]) -> set[str]:
        """Those of some terms that any entry holds."""
        found = set()
        with self._lock:
            for term in questioned:
                hit = self._words.execute("SELECT 1 FROM entries WHERE entries MATCH ? LIMIT 1", (f'"{term}"',))
                if hit.fetchone():
                    found.add(term)
        return found

    def share(self, term: str) -> float:
        """How many of the entries hold a term, 0 to 1; remembered."""
        if term not in self._shares:
            with self._lock:
                hits = self._words.execute("SELECT count(*) FROM entries WHERE entries MATCH ?", (f'"{term}"',))
                self._shares[term] = int(hits.fetchone()[0]) / max(1, self._entries)
        return self._shares[term]

    def count(self) -> int:
        """How many entries there are."""
        return int(self._words.execute("SELECT count(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        """Gives the files back."""
        self._words.close()
        if self._vectors is not None:
            self._vectors.close()
        self._release()


def takes_whole(embedding: Embedding) -> bool:
    """Whether an embedding makes one vector of all parts of an entry."""
    return bool(getattr(embedding, "whole", False))


def entry_of(part: str) -> str:
    """The entry that a part belongs to, by their ids."""
    return part.rsplit("#", 1)[0]
