"""The files of an index: their names, the full-text table of its entries, and whether they are still those built."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.knowledge.index_chroma import saved_files, sound
from assistant.knowledge.terms import terms

AXES: Final = "axes.npz"
TERMS: Final = "terms.npz"
NAMES: Final = "names.npz"
WORDS: Final = "words.sqlite"
META: Final = "meta.json"


class BrokenIndex(Exception):
    """What lies in an index's place is not that index."""


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
        called: what it goes by, each name by itself.
    """

    id: str
    names: str
    words: str
    asks: str
    head: str
    body: str
    parts: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Tells whether it changed."""
        texts = (self.names, self.words, self.asks, self.head, self.body, *self.parts, *self.phrases, *self.called)
        fields = "\x1f".join(texts)
        return hashlib.sha256(fields.encode()).hexdigest()[:24]


def used(folder: Path) -> float:
    """When an index was used last; 0 if it has just been removed."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def seal(folder: Path, place: str) -> dict[str, tuple[int, int | None]]:
    """Size of each file that is never written again, and the checksum of those that nobody else checks.

    Chroma crashes on graphs of neighbours that are broken; tables of numbers carry checksums of their own.
    """
    graphs = saved_files(folder / place) if place else []
    files: dict[str, tuple[int, int | None]] = {
        file.name: (file.stat().st_size, None) for file in folder.iterdir() if file.is_file()
    }
    for file in graphs:
        files[file.relative_to(folder).as_posix()] = (file.stat().st_size, zlib.crc32(file.read_bytes()))
    return files


def check(folder: Path, meta: Mapping[str, Any]) -> None:
    """Looks whether an index has the files that were built.

    Args:
        folder: the index's.
        meta: what it says about itself, with the files that :func:`seal` found.

    Raises:
        BrokenIndex: one is missing or another one.
    """
    for name, (size, checksum) in meta["files"].items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != size:
            raise BrokenIndex(name)
        if checksum is not None and zlib.crc32(file.read_bytes()) != checksum:
            raise BrokenIndex(name)
    if meta["parts"] and meta["vectors"] and not sound(folder / meta["vectors"]):
        raise BrokenIndex("vectors")


def write_words(path: Path, entries: Sequence[Entry]) -> None:
    """Writes the full-text table."""
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
