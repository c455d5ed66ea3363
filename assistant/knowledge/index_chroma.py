"""Vectors in Chroma, in files of one's own or on a server, one a part of an entry, with ids such as ``entry#0``.

Chroma keeps one database open for all clients of a folder in this process, by the folder's path, and opens further
connections to that path as it needs them. Where another database were put in its place, some connections would see the
old one and some the new, so no folder's name is ever used twice (:func:`new_name`). Chroma also writes to its files
when it merely opens them: they cannot be copied beside another process; vectors can be read and written to the next.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from assistant.knowledge.embedding import Vector

Tell = Callable[[str, str], None]
"""Receives a remark in Chinese and in English."""

_DATABASE: Final = "chroma.sqlite3"
_SAVED: Final = "index_metadata.pickle"
_NO_DEFAULT: Final = None
"""Chroma's own embedding function would download a model; vectors are always given."""
_GRAPH: Final = {"space": "cosine", "ef_search": 400, "ef_construction": 400, "max_neighbors": 64}
"""The graph of neighbours, dense enough that a search in it misses next to nothing, however its building was ordered:
of vectors that lie equally far apart, Chroma's defaults find the nearest only two times in three."""


_SEARCHES: Final = 8
"""Searches that Chroma answers before all vectors are read: a single one is quicker without them."""

_MOST_NUMBERS: Final = 4_000_000
"""Numbers of all vectors together that are held in memory: 16 MB."""


class Unusable(Exception):
    """Chroma is not installed, or its server cannot be reached."""


class Lost(Exception):
    """Vectors that a collection should hold cannot be read from it."""


def tell_unusable(tell: Tell, error: Exception) -> None:
    """The remark that only words are searched, and why."""
    why = str(error) if isinstance(error, Unusable) else f"{type(error).__name__}: {error}"[:200]
    tell(f"向量检索不可用（{why}），只按词检索。", f"Vector search cannot be used ({why}); only words are searched.")


def new_name() -> str:
    """A folder's name that was never used."""
    return f"chroma-{uuid.uuid4().hex[:12]}"


def connect(place: Path, url: str) -> Any:
    """A client of files in a folder, made if need be, or of a server.

    Raises:
        Unusable: Chroma is not installed, or its server cannot be reached.
        Exception: Chroma's own; the files are broken or cannot be written.
    """
    try:
        import chromadb
        from chromadb.config import Settings

        quiet = Settings(anonymized_telemetry=False)
        if url:
            return _server(chromadb, url, quiet)
    except Exception as error:
        raise Unusable(f"{type(error).__name__}: {error}"[:200]) from error
    return chromadb.PersistentClient(str(place), settings=quiet)


def _server(chromadb: Any, url: str, quiet: Any) -> Any:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    secure = parts.scheme == "https"
    return chromadb.HttpClient(
        host=parts.hostname or "localhost", port=parts.port or (443 if secure else 8000), ssl=secure, settings=quiet
    )


class Vectors:
    """A collection that is open, with the client that it takes along when it is closed.

    Args:
        client: from :func:`connect`; closed if the collection is not there.
        name: the collection's.
        held: whether all vectors are read once several searches were made: each then costs a tenth.

    Raises:
        Exception: Chroma's own; there is no such collection.
    """

    def __init__(self, client: Any, name: str, *, held: bool = False) -> None:
        self._client = client
        self._wait = _SEARCHES if held else None
        self._table: tuple[list[str], Any] | None = None
        try:
            self._collection = client.get_collection(name, _NO_DEFAULT)
            self.size = int(self._collection.count())
        except Exception:
            client.close()
            raise

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Ids of the ``k`` parts nearest to a vector, and their cosine distances, nearest first."""
        if self._table is None and self._wait is not None:
            self._wait = self._wait - 1 or None
            if self._wait is None:
                self._table = self._all()
        if self._table is not None:
            return _nearest_of(*self._table, vector, k)
        found = self._collection.query(query_embeddings=[vector], n_results=min(k, self.size), include=["distances"])
        return list(zip(found["ids"][0], map(float, found["distances"][0]), strict=True))

    def _all(self) -> tuple[list[str], Any] | None:
        """Every part and its vector, of unit length; ``None`` if they are too many, or cannot be read."""
        import numpy as np

        try:
            first = self._collection.peek(1)["embeddings"]
            if self.size * len(first[0]) > _MOST_NUMBERS:
                return None
            found = self._collection.get(include=["embeddings"])
        except Exception:  # then Chroma is asked each time, and tells what is wrong
            return None
        rows = np.asarray(found["embeddings"], dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return (list(found["ids"]), rows / np.where(lengths > 0, lengths, 1.0)) if len(rows) == self.size else None

    def stored(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of some parts.

        Raises:
            Lost: one of them cannot be read.
        """
        if not ids:
            return {}
        try:
            found = self._collection.get(ids=list(ids), include=["embeddings"])
            vectors = {part: vector.tolist() for part, vector in zip(found["ids"], found["embeddings"], strict=True)}
        except Exception as error:
            raise Lost(str(error)) from error
        if len(vectors) != len(ids):
            raise Lost(f"{len(ids) - len(vectors)} of {len(ids)}")
        return vectors

    def close(self) -> None:
        """Gives the files back, unless another client in this process has them open."""
        self._client.close()


def _nearest_of(parts: Sequence[str], rows: Any, vector: Vector, k: int) -> list[tuple[str, float]]:
    """The ``k`` parts whose vectors are nearest to one, and their cosine distances, nearest first."""
    import numpy as np

    asked = np.asarray(vector, dtype=np.float32)
    distances = 1.0 - rows @ (asked / (np.linalg.norm(asked) or 1.0))
    best: list[int] = np.argsort(distances, kind="stable")[:k].tolist()
    return [(parts[at], float(distances[at])) for at in best]


def create(client: Any, name: str) -> Any:
    """An empty collection."""
    return client.create_collection(name, embedding_function=_NO_DEFAULT, configuration={"hnsw": dict(_GRAPH)})


def rename_into_place(client: Any, built: Any, name: str) -> None:
    """Gives a finished collection of a server its name, unless a whole one has it already.

    A replica may have been quicker; what has the name and not as many vectors is broken, and replaced.
    """
    try:
        built.modify(name=name)
    except Exception:  # the name is taken
        if client.get_collection(name, _NO_DEFAULT).count() == built.count():
            client.delete_collection(built.name)
        else:
            client.delete_collection(name)
            built.modify(name=name)


def saved_files(place: Path) -> list[Path]:
    """Files of a closed database that are not written again: the graphs of neighbours that it saved.

    The database itself changes when it is opened, and so do graphs that are still too small to be saved.
    """
    return sorted(file for saved in place.glob(f"*/{_SAVED}") for file in saved.parent.iterdir())


def sound(place: Path) -> bool:
    """Whether a folder holds a database whose pages are in order."""
    if not (place / _DATABASE).is_file():
        return False
    with closing(sqlite3.connect(f"{(place / _DATABASE).absolute().as_uri()}?mode=rw", uri=True)) as database:
        return bool(database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
