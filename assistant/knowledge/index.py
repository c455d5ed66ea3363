"""The search index: a full-text table (SQLite FTS5) and a vector collection (Chroma) over the same entries.

An index is a folder named after its content: what it was built from, and with which embedding. It is built beside its
place and renamed into it, so that other processes see it whole or not at all, and it is never changed afterwards. When
entries change, the next index starts from a copy of the last one and embeds only what is new. A folder that does not
open, or whose counts are wrong, is built anew.

With a Chroma server the vectors live in a collection of the same name there; the full-text table stays local.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from assistant.knowledge.embedding import (
    Axes,
    Embedding,
    LatentEmbedding,
    Vector,
    learn_axes,
    line_terms,
    wording_digest,
)
from assistant.knowledge.terms import terms
from assistant.knowledge.termtable import TermTable, build_table
from assistant.knowledge.tuning import tune

Tell = Callable[[str, str], None]
"""Receives a remark in Chinese and in English."""


def quiet(zh: str, en: str) -> None:
    """Tells nobody."""


_VERSION: Final = "4"
_COLLECTION: Final = "entries"
_BATCH: Final = 256
_KEPT: Final = 2
_MOST_NEW: Final = 0.2
"""Share of new entries from which on the axes are learnt anew, and everything is embedded again."""

_AXES: Final = "axes.npz"
_TERMS: Final = "terms.npz"

_NO_DEFAULT: Final = None
"""Chroma's own embedding function would download a model; vectors are always given."""

_WEIGHTS: Final = (0.0, 6.0, 5.0, 4.0, 4.0, 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be found.

    Attributes:
        id: a card's id, or ``doc:…`` for a section of a team's document.
        names: keys and short names.
        words: what people call it.
        asks: how people ask for it without naming it.
        head: titles and the one-line explanation.
        body: the text.
        parts: the texts that get a vector each, or one together if the embedding takes them so; passages of one text
            stand on lines of their own.
        phrases: its names, titles and wordings, each by itself: what people say who mean it.
    """

    id: str
    names: str
    words: str
    asks: str
    head: str
    body: str
    parts: tuple[str, ...]
    phrases: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Tells whether it changed."""
        fields = "\x1f".join((self.names, self.words, self.asks, self.head, self.body, *self.parts, *self.phrases))
        return hashlib.sha256(fields.encode()).hexdigest()[:24]


class Index:
    """An index that is open; :func:`open_index` makes one.

    Args:
        folder: where it lies.
        embedding: turns questions into vectors.
        collection: Chroma's, ``None`` if Chroma cannot be used; words are still found then.
        entries: the entries' ids in the order of the table of terms.
        tell: hears of a server that went away.
    """

    def __init__(
        self, folder: Path, embedding: Embedding, collection: Any | None, entries: Sequence[str], tell: Tell = quiet
    ) -> None:
        self.folder = folder
        self._table = TermTable.load(folder / _TERMS)
        self._ids = list(entries)
        self._places = {entry: at for at, entry in enumerate(self._ids)}
        self._tell = tell
        self.has_vectors = collection is not None
        self._embedding = embedding
        self._collection = collection
        self._size = collection.count() if collection is not None else 0
        self._parts = 1 if _takes_whole(embedding) else 3
        self._lock = threading.Lock()
        self._shares: dict[str, float] = {}
        self._words = sqlite3.connect(f"file:{folder / 'words.sqlite'}?mode=ro", uri=True, check_same_thread=False)
        self._entries = self.count()

    def by_words(self, weights: Mapping[str, float], k: int = 40) -> dict[str, float]:
        """BM25 of the entries that share words with a question, best first.

        Args:
            weights: the question's terms and how much each counts; terms of equal weight are asked together.
            k: how many entries at most.
        """
        groups: dict[float, list[str]] = {}
        for term, weight in weights.items():
            groups.setdefault(weight, []).append(term)
        scores: dict[str, float] = {}
        for weight, members in groups.items():
            match = " OR ".join(f'"{term}"' for term in members)
            with self._lock:
                rows = self._words.execute(
                    f"SELECT id, bm25(entries, {', '.join(map(str, _WEIGHTS))}) AS score FROM entries "
                    "WHERE entries MATCH ? ORDER BY score LIMIT ?",
                    (match, k if len(groups) == 1 else 4 * k),
                ).fetchall()
            for entry, score in rows:
                scores[entry] = scores.get(entry, 0.0) - weight * score
        return dict(sorted(scores.items(), key=lambda item: -item[1])[:k])

    def by_vectors(self, text: str, k: int = 40) -> dict[str, float]:
        """Cosine of the entries nearest to a question, best first; empty without Chroma."""
        if self._collection is None:
            return {}
        try:
            vector = self._embedding.embed_query(text)
            if not any(vector):
                return {}
            found = self._collection.query(
                query_embeddings=[vector], n_results=min(self._parts * k, self._size), include=["distances"]
            )
        except Exception as error:  # a server went away: words are still found
            _tell_unusable(self._tell, error)
            return {}
        scores: dict[str, float] = {}
        for part, distance in zip(found["ids"][0], found["distances"][0], strict=True):
            scores.setdefault(part.rsplit("#", 1)[0], 1.0 - float(distance))
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


def open_index(
    entries: Sequence[Entry],
    root: Path,
    *,
    embedding: Embedding | None = None,
    embedding_name: str = LatentEmbedding.name,
    chroma_url: str = "",
    tell: Tell = quiet,
) -> Index:
    """The index of some entries, built if it is not there.

    Args:
        entries: what is to be found.
        root: the folder that holds indexes; made if need be.
        embedding: ``None`` for axes learnt from the entries.
        embedding_name: tells one embedding from another; vectors of different ones are never mixed.
        chroma_url: a Chroma server, ``""`` for files of one's own.
        tell: hears of repairs, and of what cannot be used.

    Raises:
        OSError: the folder cannot be written.
    """
    return _Store(entries, root, embedding, embedding_name, chroma_url, tell).index()


class _BrokenIndex(Exception):
    """What lies in an index's place is not that index."""


@dataclass(frozen=True)
class _Store:
    """Where the index of some entries is, or will be."""

    entries: Sequence[Entry]
    root: Path
    embedding: Embedding | None
    embedding_name: str
    chroma_url: str
    tell: Tell

    @cached_property
    def digests(self) -> dict[str, str]:
        """Digest of each entry."""
        return {entry.id: entry.digest for entry in self.entries}

    @cached_property
    def model_name(self) -> str:
        """Tells one embedding from another; the learnt one depends on the tables of wordings, too."""
        return self.embedding_name + (f" {wording_digest()}" if self.embedding is None else "")

    @cached_property
    def name(self) -> str:
        """The index's name: what it holds, and how."""
        content = orjson.dumps([_VERSION, self.model_name, sorted(self.digests.items())])
        return "index-" + hashlib.sha256(content).hexdigest()[:20]

    def index(self) -> Index:
        """Opens the index; builds it first if need be."""
        folder = self.root / self.name
        if folder.exists():
            try:
                return self.open(folder)
            except Exception as error:  # whatever is wrong with it: it is only derived
                self.tell(
                    f"检索索引 {folder} 已损坏（{error or type(error).__name__}），正在重建。",
                    f"The search index {folder} is broken ({error or type(error).__name__}); it is built anew.",
                )
                shutil.rmtree(folder, ignore_errors=True)
        self.root.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=self.root))
        try:
            if not self.build(building):  # the next process tries again whether Chroma can be used
                folder = folder.with_name(f"{self.name}-words-{uuid.uuid4().hex[:8]}")
            try:
                building.rename(folder)
            except OSError:  # another process was quicker
                shutil.rmtree(building, ignore_errors=True)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        self.clean(folder)
        return self.open(folder)

    def open(self, folder: Path) -> Index:
        """Opens what lies in a folder; raises if it is not this index, whole."""
        meta = orjson.loads((folder / "meta.json").read_bytes())
        if meta["entries"] != self.digests:
            raise _BrokenIndex("entries")
        collection = None
        if meta["parts"]:
            if not self.chroma_url and not (folder / "chroma" / "chroma.sqlite3").is_file():
                raise _BrokenIndex("vectors")
            client = _client(folder, self.chroma_url, self.tell)
            if client is not None:
                collection = self.collection(client, meta["parts"])
        embedding = self.embedding or LatentEmbedding(Axes.load(folder / _AXES))
        index = Index(folder, embedding, collection, meta["order"], self.tell)
        if index.count() != len(self.digests):
            index.close()
            raise _BrokenIndex("words")
        os.utime(folder)
        return index

    def collection(self, client: Any, parts: int) -> Any:
        """Chroma's collection, if it is whole; the client is closed otherwise."""
        try:
            collection = client.get_collection(self.name if self.chroma_url else _COLLECTION, _NO_DEFAULT)
            count = collection.count()
        except Exception:
            client.close()
            raise
        if count != parts:
            client.close()
            raise _BrokenIndex("vectors")
        return collection

    # -- building --------------------------------------------------------------------------------
    def build(self, folder: Path) -> int:
        """Writes the index into an empty folder; returns how many vectors it has."""
        _write_words(folder / "words.sqlite", self.entries)
        texts = ["\n".join(entry.parts) for entry in self.entries]
        phrases = [[line_terms(phrase) for phrase in entry.phrases] for entry in self.entries]
        build_table(texts, phrases).save(folder / _TERMS)
        known: dict[str, str] = {}
        axes: Axes | None = None
        before = None if self.chroma_url else self.latest()
        if before is not None:
            meta = orjson.loads((before / "meta.json").read_bytes())
            changed = sum(meta["entries"].get(entry) != digest for entry, digest in self.digests.items())
            if changed <= _MOST_NEW * len(self.entries) and (before / "chroma").is_dir():
                shutil.copytree(before / "chroma", folder / "chroma")
                known = meta["entries"]
                axes = Axes.load(before / _AXES) if self.embedding is None else None
        embedding = self.embedding
        if embedding is None:
            learnt: dict[str, Vector] = {}
            if axes is None:
                axes = learn_axes(texts)
                axes, vectors = tune(axes, LatentEmbedding(axes).embed_documents(texts), phrases)
                learnt = dict(zip(texts, vectors, strict=True))
            axes.save(folder / _AXES)
            embedding = LatentEmbedding(axes, learnt)
        client = _client(folder, self.chroma_url, self.tell)
        parts = 0
        if client is not None:
            try:
                parts = self.write_vectors(client, known, embedding)
            except Exception as error:  # a server of embeddings or of Chroma
                if self.embedding is None and not self.chroma_url:
                    raise
                _tell_unusable(self.tell, error)
            finally:
                if not self.chroma_url:
                    client.close()
        order = [entry.id for entry in self.entries]
        meta = {"embedding": self.model_name, "entries": self.digests, "order": order, "parts": parts}
        (folder / "meta.json").write_bytes(orjson.dumps(meta))
        return parts

    def write_vectors(self, client: Any, known: Mapping[str, str], embedding: Embedding) -> int:
        """Embeds what is new and takes out what is gone; returns how many vectors there are."""
        building = f"{self.name}-{uuid.uuid4().hex[:8]}" if self.chroma_url else _COLLECTION
        collection = client.get_or_create_collection(
            building, embedding_function=_NO_DEFAULT, configuration={"hnsw": {"space": "cosine", "ef_search": 100}}
        )
        fresh = {entry for entry, digest in self.digests.items() if known.get(entry) != digest}
        for gone in (name for name in known if name in fresh or name not in self.digests):
            collection.delete(where={"entry": gone})
        whole = _takes_whole(embedding)
        new = [
            (entry.id, at, part)
            for entry in self.entries
            if entry.id in fresh
            for at, part in enumerate(["\n".join(entry.parts)] if whole else entry.parts)
        ]
        for begin in range(0, len(new), _BATCH):
            batch = new[begin : begin + _BATCH]
            collection.upsert(
                ids=[f"{entry}#{at}" for entry, at, _ in batch],
                embeddings=embedding.embed_documents([part for _, _, part in batch]),
                metadatas=[{"entry": entry} for entry, _, _ in batch],
            )
        count = int(collection.count())
        if self.chroma_url:
            try:
                collection.modify(name=self.name)
            except Exception:  # another replica was quicker
                client.delete_collection(building)
        return count

    def latest(self) -> Path | None:
        """The index of the same embedding that was used last."""
        for folder in sorted(self.root.glob("index-*"), key=lambda path: -path.stat().st_mtime):
            try:
                if orjson.loads((folder / "meta.json").read_bytes())["embedding"] == self.model_name:
                    return folder
            except (OSError, ValueError, KeyError):
                continue
        return None

    def clean(self, current: Path) -> None:
        """Drops indexes that were replaced, except those used last."""
        others = sorted((p for p in self.root.glob("index-*") if p != current), key=lambda p: -p.stat().st_mtime)
        for folder in others[_KEPT - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)


def _takes_whole(embedding: Embedding) -> bool:
    return bool(getattr(embedding, "whole", False))


def _write_words(path: Path, entries: Sequence[Entry]) -> None:
    table = sqlite3.connect(path)
    table.execute(
        "CREATE VIRTUAL TABLE entries USING "
        "fts5(id UNINDEXED, names, words, asks, head, body, tokenize = 'porter unicode61')"
    )
    fields = [(entry.names, entry.words, entry.asks, entry.head, entry.body) for entry in entries]
    rows = [
        (entry.id, *(" ".join(terms(text)) for text in texts)) for entry, texts in zip(entries, fields, strict=True)
    ]
    table.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
    table.execute("INSERT INTO entries (entries) VALUES ('optimize')")
    table.commit()
    table.close()


# --- Chroma ----------------------------------------------------------------------------------------------


def _client(folder: Path, chroma_url: str, tell: Tell) -> Any:
    """Chroma over files or a server; ``None``, with a remark, if it cannot be used."""
    try:
        import chromadb
        from chromadb.config import Settings

        quiet = Settings(anonymized_telemetry=False)
        if not chroma_url:
            return chromadb.PersistentClient(str(folder / "chroma"), settings=quiet)
        from urllib.parse import urlsplit

        url = urlsplit(chroma_url)
        secure = url.scheme == "https"
        return chromadb.HttpClient(
            host=url.hostname or "localhost", port=url.port or (443 if secure else 8000), ssl=secure, settings=quiet
        )
    except Exception as error:  # not installed, not reachable, or broken
        _tell_unusable(tell, error)
        return None


def _tell_unusable(tell: Tell, error: Exception) -> None:
    why = f"{type(error).__name__}: {error}"[:200]
    tell(f"向量检索不可用（{why}），只按词检索。", f"Vector search cannot be used ({why}); only words are searched.")
