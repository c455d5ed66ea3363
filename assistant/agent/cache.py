"""Earlier replies of a model to the same question on the same runs.

Kept is the model's text, not the answer: it goes through the check again, so that a kept file can say nothing that a
model could not. Files are the user's alone and the oldest go first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from assistant.model import Run
from assistant.resources import cache_folder

MOST = 500
_DIGESTS: WeakKeyDictionary[Run, str] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply, the sentences that repaired it, and the tools' calls that led to it."""

    text: str
    repaired: dict[str, str]
    model: str
    calls: tuple[tuple[str, str], ...] = ()


def digest(run: Run) -> str:
    """What a run holds: every cell, step and gap."""
    if run not in _DIGESTS:
        found = hashlib.sha256()
        found.update(repr((run.format, run.framework, run.steps, run.missing)).encode())
        for metric, column in run.columns.items():
            found.update(repr((metric, tuple(column.rows), tuple(column.values))).encode("utf-8", "replace"))
        _DIGESTS[run] = found.hexdigest()
    return _DIGESTS[run]


def key(runs: Sequence[Run], *parts: str) -> str:
    """The name of an answer: what the runs hold, and everything else that decides the reply."""
    told = json.dumps([*(f"{run.id}:{digest(run)}" for run in runs), *parts], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


class Cache:
    """Replies in files of a folder; what cannot be read or written is as good as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Kept | None:
        """An earlier reply."""
        try:
            data = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            repaired = {str(k): str(v) for k, v in dict(data["repaired"]).items()}
            calls = tuple((str(tool), str(arguments)) for tool, arguments in data["calls"])
            return Kept(str(data["text"]), repaired, str(data["model"]), calls)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, kept: Kept) -> None:
        """Keeps a reply; the oldest files give way."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self.folder / f".{name}.{secrets.token_hex(4)}"
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(kept), file, ensure_ascii=False)
            temporary.replace(self.folder / f"{name}.json")
            self._trim()

    def _trim(self) -> None:
        files = list(self.folder.glob("*.json"))
        if len(files) > MOST:
            for path in sorted(files, key=lambda file: file.stat().st_mtime)[: len(files) - MOST]:
                path.unlink(missing_ok=True)


@lru_cache(maxsize=4)
def open_cache(folder: Path) -> Cache:
    """The cache of a folder."""
    return Cache(folder)


def default_cache() -> Cache:
    """The cache in the user's cache folder."""
    return open_cache(cache_folder() / "replies")
