"""The search index: a full-text table (SQLite FTS5) and a vector collection (Chroma) over the same entries.

An index is a folder named after its content: what it was built from, and with which embedding. It is built beside its
place and renamed into it, so that other processes see it whole or not at all. When entries change, the next index takes
the vectors of the others from the last one and embeds only what is new. A folder that does not open, or whose files are
not those that were built, is built anew: by one process, while others that need it wait.

With a Chroma server the vectors live in a collection of the same name there; the full-text table stays local.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from assistant.knowledge.embedding import (
    Axes,
    Embedding,
    LatentEmbedding,
    bag,
    learn_axes,
    line_terms,
    wording_digest,
)
from assistant.knowledge.filelocks import alone, held
from assistant.knowledge.index_chroma import (
    Lost,
    Tell,
    Unusable,
    Vectors,
    connect,
    create,
    new_name,
    rename_into_place,
    tell_unusable,
)
from assistant.knowledge.index_files import (
    AXES,
    META,
    NAMES,
    TERMS,
    WORDS,
    BrokenIndex,
    Entry,
    check,
    seal,
    used,
    write_words,
)
from assistant.knowledge.index_search import Index, entry_of, quiet, takes_whole
from assistant.knowledge.nametable import build_names
from assistant.knowledge.namewords import table as name_table
from assistant.knowledge.termtable import build_table
from assistant.knowledge.tuning import tune

__all__ = ["Entry", "Index", "open_index"]

_VERSION: Final = "7"
_COLLECTION: Final = "entries"
_BATCH: Final = 256
_KEPT: Final = 2
_MOST_NEW: Final = 0.2
"""Share of new entries from which on the axes are learnt anew, and everything is embedded again."""

_LEFT: Final = 86_400
"""Age from which on a folder under construction is taken for one whose process was killed, in seconds."""


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
        content = orjson.dumps([_VERSION, self.model_name, name_table().digest, sorted(self.digests.items())])
        return "index-" + hashlib.sha256(content).hexdigest()[:20]

    def index(self) -> Index:
        """Opens the index; builds it first if need be."""
        folder = self.root / self.name
        with contextlib.suppress(Exception):  # not there, broken or being replaced: seen to when nobody else builds
            return self.open(folder)
        with alone(self.root / ".lock"):
            if folder.exists():
                try:
                    return self.open(folder)
                except Exception as error:  # whatever is wrong with it: it is only derived
                    self.tell(
                        f"检索索引 {folder} 已损坏（{error or type(error).__name__}），正在重建。",
                        f"The search index {folder} is broken ({error or type(error).__name__}); it is built anew.",
                    )
                    self.discard(folder)
            folder = self.add(folder)
            self.clean(folder)
            return self.open(folder)

    def open(self, folder: Path) -> Index:
        """Opens what lies in a folder; raises if it is not this index, whole."""
        meta = orjson.loads((folder / META).read_bytes())
        if meta["entries"] != self.digests:
            raise BrokenIndex("entries")
        check(folder, meta)
        embedding = self.embedding or LatentEmbedding(Axes.load(folder / AXES))
        vectors = self.vectors(folder, meta) if meta["parts"] else None
        try:
            index = Index(folder, embedding, vectors, meta["order"], self.tell)
        except Exception:
            if vectors is not None:
                vectors.close()
            raise
        if index.count() != len(self.digests):
            index.close()
            raise BrokenIndex(WORDS)
        with contextlib.suppress(OSError):  # somebody else's, or to be read only
            os.utime(folder)
        return index

    def vectors(self, folder: Path, meta: Mapping[str, Any]) -> Vectors | None:
        """The vectors of an index, if they are whole; ``None``, with a remark, if Chroma cannot be used."""
        try:
            client = connect(folder / meta["vectors"], self.chroma_url)
        except Unusable as error:
            tell_unusable(self.tell, error)
            return None
        vectors = Vectors(client, self.name if self.chroma_url else _COLLECTION, held=not self.chroma_url)
        if vectors.size != meta["parts"]:
            vectors.close()
            raise BrokenIndex("vectors")
        return vectors

    # -- building, alone --------------------------------------------------------------------------
    def add(self, folder: Path) -> Path:
        """Builds the index beside its place and puts it there; returns where it is."""
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=self.root))
        try:
            if not self.build(building):  # the next process tries again whether Chroma can be used
                folder = folder.with_name(f"{self.name}-words-{uuid.uuid4().hex[:8]}")
            try:
                building.rename(folder)
            except OSError:  # another process was quicker, where there are no locks
                if not folder.exists():
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return folder

    def build(self, folder: Path) -> int:
        """Writes the index into an empty folder; returns how many vectors it has."""
        write_words(folder / WORDS, self.entries)
        texts = ["\n".join(entry.parts) for entry in self.entries]
        terms_of = cache(line_terms)  # most wordings are lines of a text, too
        phrases = [[terms_of(phrase) for phrase in entry.phrases] for entry in self.entries]
        bags = [bag(text, terms_of) for text in texts]
        build_table(bags, phrases).save(folder / TERMS)
        build_names([entry.called for entry in self.entries]).save(folder / NAMES)
        place, parts = self.embed(folder, texts, bags, phrases)
        meta = {
            "embedding": self.model_name,
            "entries": self.digests,
            "order": [entry.id for entry in self.entries],
            "parts": parts,
            "vectors": place,
            "files": seal(folder, place),
        }
        (folder / META).write_bytes(orjson.dumps(meta))
        return parts

    def embed(
        self, folder: Path, texts: Sequence[str], bags: Sequence[Mapping[str, float]],
        phrases: Sequence[Sequence[Mapping[str, float]]],
    ) -> tuple[str, int]:  # fmt: skip
        """Writes the vectors, and the axes if they are learnt; returns the name of Chroma's folder, and how many."""
        earlier = self.earlier()
        if earlier is not None:
            place = new_name()
            try:
                if self.embedding is None:
                    shutil.copyfile(earlier.folder / AXES, folder / AXES)
                return place, self.write(folder / place, earlier.embedding, earlier)
            except Lost:  # then everything is embedded
                shutil.rmtree(folder / place)
            finally:
                earlier.vectors.close()
        embedding = self.embedding
        if embedding is None:
            axes = learn_axes(bags)
            axes, learnt = tune(axes, list(map(LatentEmbedding(axes).embed_bag, bags)), phrases)
            axes.save(folder / AXES)
            embedding = LatentEmbedding(axes, dict(zip(texts, learnt, strict=True)))
        place = "" if self.chroma_url else new_name()
        return place, self.write(folder / place, embedding, None)

    def write(self, place: Path, embedding: Embedding, earlier: _Earlier | None) -> int:
        """Writes the vectors; returns how many, none, with a remark, if Chroma or its server cannot be used."""
        try:
            client = connect(place, self.chroma_url)
        except Exception as error:
            tell_unusable(self.tell, error)
            return 0
        try:
            return self.write_vectors(client, embedding, earlier)
        except Lost:
            raise
        except Exception as error:  # a server of embeddings or of Chroma
            if self.embedding is None and not self.chroma_url:
                raise
            tell_unusable(self.tell, error)
            return 0
        finally:
            if not self.chroma_url:
                client.close()

    def write_vectors(self, client: Any, embedding: Embedding, earlier: _Earlier | None) -> int:
        """Takes over what the earlier index holds, embeds the rest; returns how many vectors there are."""
        collection = create(client, f"{self.name}-{uuid.uuid4().hex[:8]}" if self.chroma_url else _COLLECTION)
        whole = takes_whole(embedding)
        texts = {
            f"{entry.id}#{at}": part
            for entry in self.entries
            for at, part in enumerate(["\n".join(entry.parts)] if whole else entry.parts)
        }
        ids = list(texts)
        for begin in range(0, len(ids), _BATCH):
            batch = ids[begin : begin + _BATCH]
            vectors = {}
            if earlier is not None:
                vectors = earlier.vectors.stored([part for part in batch if entry_of(part) in earlier.unchanged])
            fresh = [part for part in batch if part not in vectors]
            if fresh:
                vectors |= zip(fresh, embedding.embed_documents([texts[part] for part in fresh]), strict=True)
            collection.upsert(
                ids=batch,
                embeddings=[vectors[part] for part in batch],
                metadatas=[{"entry": entry_of(part)} for part in batch],
            )
        count = int(collection.count())
        if self.chroma_url:
            rename_into_place(client, collection, self.name)
        return count

    def earlier(self) -> _Earlier | None:
        """The index of the same embedding that was used last, if it is whole and most entries stand in it."""
        for folder in [] if self.chroma_url else self.folders():
            try:
                meta = orjson.loads((folder / META).read_bytes())
                if meta["embedding"] != self.model_name or not meta["parts"]:
                    continue
                unchanged = {entry for entry, digest in self.digests.items() if meta["entries"].get(entry) == digest}
                if len(self.digests) - len(unchanged) > _MOST_NEW * len(self.digests):
                    return None
                check(folder, meta)
                embedding = self.embedding or LatentEmbedding(Axes.load(folder / AXES))
                vectors = self.vectors(folder, meta)
            except Exception:  # broken or of another version: it is not needed
                continue
            return None if vectors is None else _Earlier(folder, unchanged, embedding, vectors)
        return None

    def folders(self) -> list[Path]:
        """All indexes, that used last first."""
        return sorted(self.root.glob("index-*"), key=used, reverse=True)

    def discard(self, folder: Path) -> None:
        """Takes a folder out of its place, all at once, and removes it.

        Raises:
            OSError: it cannot be taken away.
        """
        away = self.root / f".building-{uuid.uuid4().hex}"
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)

    def clean(self, current: Path) -> None:
        """Drops indexes that were replaced, except those used last or now, and what killed processes left."""
        others = [folder for folder in self.folders() if folder != current]
        left = [folder for folder in self.root.glob(".building-*") if used(folder) < time.time() - _LEFT]
        for folder in [*(folder for folder in others[_KEPT - 1 :] if not held(folder / META)), *left]:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Earlier:
    """What the next index takes over from the last one.

    Attributes:
        folder: the last one's.
        unchanged: the entries that stand in it as they are.
        embedding: its own.
        vectors: its own, open.
    """

    folder: Path
    unchanged: set[str]
    embedding: Embedding
    vectors: Vectors
