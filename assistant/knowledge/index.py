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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from assistant.knowledge.embedding import Embedding, NgramEmbedding, learn_rarity
from assistant.knowledge.terms import terms

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

Tell = Callable[[str, str], None]
"""Receives a remark in Chinese and in English."""

_VERSION: Final = "1"
_COLLECTION: Final = "entries"
_BATCH: Final = 256
_KEPT: Final = 2
_MOST_NEW: Final = 0.2
"""Share of new entries from which on the rarities of n-grams are learnt anew, and everything is embedded again."""

_WEIGHTS: Final = (0.0, 6.0, 5.0, 4.0, 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be found.

    Attributes:
        id: a card's id, or ``doc:…`` for a section of a team's document.
        names: keys and short names.
        words: what people call it.
        head: titles and the one-line explanation.
        body: the text.
        parts: the texts that get a vector each.
    """

    id: str
    names: str
    words: str
    head: str
    body: str
    parts: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Tells whether it changed."""
        fields = "\x1f".join((self.names, self.words, self.head, self.body, *self.parts))
        return hashlib.sha256(fields.encode()).hexdigest()[:24]


class Index:
    """An index that is open; :func:`open_index` makes one.

    Args:
        folder: where it lies.
        embedding: turns questions into vectors.
        collection: Chroma's, ``None`` if Chroma cannot be used; words are still found then.
    """

    def __init__(self, folder: Path, embedding: Embedding, collection: Any | None) -> None:
        self.folder = folder
        self.has_vectors = collection is not None
        self._embedding = embedding
        self._collection = collection
        self._lock = threading.Lock()
        self._words = sqlite3.connect(f"file:{folder / 'words.sqlite'}?mode=ro", uri=True, check_same_thread=False)

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
                    (match, 4 * k),
                ).fetchall()
            for entry, score in rows:
                scores[entry] = scores.get(entry, 0.0) - weight * score
        return dict(sorted(scores.items(), key=lambda item: -item[1])[:k])

    def by_vectors(self, text: str, k: int = 40) -> dict[str, float]:
        """Cosine of the entries nearest to a question, best first; empty without Chroma."""
        if self._collection is None:
            return {}
        vector = self._embedding.embed_query(text)
        if not any(vector):
            return {}
        found = self._collection.query(query_embeddings=[vector], n_results=3 * k, include=["metadatas", "distances"])
        scores: dict[str, float] = {}
        for meta, distance in zip(found["metadatas"][0], found["distances"][0], strict=True):
            scores.setdefault(str(meta["entry"]), 1.0 - float(distance))
        return dict(list(scores.items())[:k])

    def close(self) -> None:
        """Gives the files back."""
        self._words.close()


def open_index(
    entries: Sequence[Entry],
    root: Path,
    *,
    embedding: Embedding | None = None,
    embedding_name: str = NgramEmbedding.name,
    chroma_url: str = "",
    tell: Tell = lambda zh, en: None,
) -> Index:
    """The index of some entries, built if it is not there.

    Args:
        entries: what is to be found.
        root: the folder that holds indexes; made if need be.
        embedding: ``None`` for hashed n-grams.
        embedding_name: tells one embedding from another; vectors of different ones are never mixed.
        chroma_url: a Chroma server, ``""`` for files of one's own.
        tell: hears of repairs, and of what cannot be used.
    """
    digests = {entry.id: entry.digest for entry in entries}
    name = _name(digests, embedding_name)
    folder = root / name
    if folder.exists():
        try:
            return _open(folder, digests, embedding, chroma_url, name, tell)
        except Exception as error:  # whatever is wrong with it: it is only derived
            tell(
                f"检索索引 {folder} 已损坏（{type(error).__name__}），正在重建。",
                f"The search index {folder} is broken ({type(error).__name__}); it is built anew.",
            )
            shutil.rmtree(folder, ignore_errors=True)
    root.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=root))
    try:
        _build(building, root, entries, embedding, embedding_name, chroma_url, name, tell)
        try:
            building.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(building, ignore_errors=True)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    _clean(root, folder)
    return _open(folder, digests, embedding, chroma_url, name, tell)


def _name(digests: Mapping[str, str], embedding_name: str) -> str:
    content = orjson.dumps([_VERSION, embedding_name, sorted(digests.items())])
    return "index-" + hashlib.sha256(content).hexdigest()[:20]


def _open(
    folder: Path, digests: Mapping[str, str], embedding: Embedding | None, chroma_url: str, name: str, tell: Tell
) -> Index:
    meta = orjson.loads((folder / "meta.json").read_bytes())
    if meta["entries"] != dict(digests):
        raise ValueError("the index holds other entries than its name says")
    collection = None
    if meta["parts"]:
        client = _client(folder, chroma_url, tell)
        if client is not None:
            collection = client.get_collection(name if chroma_url else _COLLECTION, embedding_function=None)
            if collection.count() != meta["parts"]:
                raise ValueError("the collection is not whole")
    index = Index(folder, embedding or NgramEmbedding(meta["rarity"]), collection)
    try:
        (count,) = index._words.execute("SELECT count(*) FROM entries").fetchone()
        if count != len(digests):
            raise ValueError("the table of words is not whole")
    except Exception:
        index.close()
        raise
    os.utime(folder)
    return index


# --- building --------------------------------------------------------------------------------------------


def _build(
    folder: Path,
    root: Path,
    entries: Sequence[Entry],
    embedding: Embedding | None,
    embedding_name: str,
    chroma_url: str,
    name: str,
    tell: Tell,
) -> None:
    _write_words(folder / "words.sqlite", entries)
    before = None if chroma_url else _latest(root, embedding_name)
    known: dict[str, str] = {}
    rarity: list[float] | None = None
    if before is not None:
        meta = orjson.loads((before / "meta.json").read_bytes())
        changed = [entry for entry in entries if meta["entries"].get(entry.id) != entry.digest]
        if len(changed) <= _MOST_NEW * len(entries) and (before / "chroma").is_dir():
            shutil.copytree(before / "chroma", folder / "chroma")
            known, rarity = meta["entries"], meta["rarity"]
    if rarity is None and embedding is None:
        rarity = learn_rarity([part for entry in entries for part in entry.parts])
    client = _client(folder, chroma_url, tell)
    parts = 0
    if client is not None:
        parts = _write_vectors(client, entries, known, embedding or NgramEmbedding(rarity), name if chroma_url else "")
        if not chroma_url:
            _release(client)
    meta = {
        "embedding": embedding_name,
        "rarity": rarity or [],
        "entries": {entry.id: entry.digest for entry in entries},
        "parts": parts,
    }
    (folder / "meta.json").write_bytes(orjson.dumps(meta))


def _write_words(path: Path, entries: Sequence[Entry]) -> None:
    table = sqlite3.connect(path)
    table.execute(
        "CREATE VIRTUAL TABLE entries USING fts5(id UNINDEXED, names, words, head, body, tokenize = 'porter unicode61')"
    )
    table.executemany(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
        [
            (entry.id, *(" ".join(terms(text)) for text in (entry.names, entry.words, entry.head, entry.body)))
            for entry in entries
        ],
    )
    table.execute("INSERT INTO entries (entries) VALUES ('optimize')")
    table.commit()
    table.close()


def _write_vectors(
    client: ClientAPI, entries: Sequence[Entry], known: Mapping[str, str], embedding: Embedding, server_name: str
) -> int:
    """Embeds what is new and takes out what is gone; returns how many vectors there are."""
    building = f"{server_name}-building-{os.getpid()}" if server_name else _COLLECTION
    collection = client.get_or_create_collection(
        building, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": 100}}
    )
    current = {entry.id for entry in entries}
    fresh = {entry.id for entry in entries if known.get(entry.id) != entry.digest}
    for gone in (name for name in known if name in fresh or name not in current):
        collection.delete(where={"entry": gone})
    ids: list[str] = []
    texts: list[str] = []
    owners: list[Any] = []
    for entry in entries:
        for at, part in enumerate(entry.parts if entry.id in fresh else ()):
            ids.append(f"{entry.id}#{at}")
            texts.append(part)
            owners.append({"entry": entry.id})
    for at in range(0, len(ids), _BATCH):
        span = slice(at, at + _BATCH)
        vectors: Any = embedding.embed_documents(texts[span])
        collection.upsert(ids=ids[span], embeddings=vectors, metadatas=owners[span])
    count = collection.count()
    if server_name:
        try:
            collection.modify(name=server_name)
        except Exception:  # another replica was quicker
            client.delete_collection(building)
    return count


def _latest(root: Path, embedding_name: str) -> Path | None:
    """The index of the same embedding that was used last."""
    for folder in sorted(root.glob("index-*"), key=lambda path: -path.stat().st_mtime):
        try:
            if orjson.loads((folder / "meta.json").read_bytes())["embedding"] == embedding_name:
                return folder
        except (OSError, ValueError, KeyError):
            continue
    return None


def _clean(root: Path, current: Path) -> None:
    """Drops indexes that were replaced, except those used last."""
    others = sorted((p for p in root.glob("index-*") if p != current), key=lambda path: -path.stat().st_mtime)
    for folder in others[_KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)


# --- Chroma ----------------------------------------------------------------------------------------------


def _client(folder: Path, chroma_url: str, tell: Tell) -> ClientAPI | None:
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
    except Exception as error:  # not installed, not reachable, or broken: words are still found
        tell(
            f"向量检索不可用（{type(error).__name__}：{error}），只按词检索。",
            f"Vector search cannot be used ({type(error).__name__}: {error}); only words are searched.",
        )
        return None


def _release(client: ClientAPI) -> None:
    """Closes files of a client, so that its folder can be renamed."""
    close = getattr(client, "close", None)
    if close is not None:
        close()
