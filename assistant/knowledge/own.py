"""A team's own documents: kept in a folder of the user's, and laid over the shipped cards.

Every document is one JSON file, written beside its place and renamed into it, so that other processes read it whole or
not at all; adding and removing hold a lock. A file that cannot be read is reported and skipped. Without documents
nothing is read but the name of a folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from assistant.knowledge.documents_model import Document
from assistant.knowledge.filelocks import alone
from assistant.knowledge.ownfiles import (
    ENDINGS,
    READER,
    absolute,
    bytes_of,
    file_name,
    files_below,
    free_name,
    load_document,
    reader_of,
    shown,
    write_document,
)
from assistant.model import InputError
from assistant.settings import settings

MAX_TOTAL: Final = 50_000_000

Status = Literal["added", "replaced", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file that was to be added.

    Attributes:
        path: the file.
        status: what was done.
        document: the document as stored; ``None`` if refused.
        error: why it was refused.
        named: whether the user named it, rather than a folder that holds it.
    """

    path: str
    status: Status
    document: Document | None = None
    error: InputError | None = None
    named: bool = True


@dataclass(frozen=True, slots=True)
class Stored:
    """All documents, by name, and what is wrong with files that cannot be read."""

    documents: tuple[Document, ...]
    problems: tuple[InputError, ...]


class Store:
    """The folder of documents.

    Args:
        folder: where it lies; by default in the user's data folder (see :mod:`assistant.settings`).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else settings().data_dir / "documents"

    def stamp(self) -> tuple[Any, ...]:
        """Tells whether anything changed; empty if there are no documents."""
        try:
            with os.scandir(self.folder) as found:
                files = [entry for entry in found if entry.name.endswith(".json")]
                stats = [(entry.name, entry.stat()) for entry in files]
        except OSError:
            return ()
        return tuple(sorted((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in stats))

    def read(self) -> Stored:
        """All documents."""
        documents: list[Document] = []
        problems: list[InputError] = []
        for name, *_ in self.stamp():
            path = self.folder / name
            try:
                documents.append(load_document(path))
            except FileNotFoundError:
                continue  # another process removed it
            except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                why = f"{type(error).__name__}: {error}"[:200]
                problems.append(
                    InputError(
                        zh=f"自有文档的文件 {path} 无法读取（{why}），已跳过；请删除它并重新添加该文档。",
                        en=f"The stored document {path} cannot be read ({why}) and is skipped; "
                        "delete it and add the document again.",
                    )
                )
        return Stored(tuple(sorted(documents, key=lambda d: d.name)), tuple(problems))

    # -- changes -------------------------------------------------------------------------------
    def add(self, path: Path) -> list[Outcome]:
        """Adds a file, or every document below a folder; what is wrong with one stands in its outcome.

        Links that lead out of a folder are not followed, and hidden folders are left out.
        """
        if not path.is_dir():
            return [self._add(path, named=True)]
        outcomes = [
            self._add(file, named=False) if error is None else Outcome(str(file), "refused", None, error, named=False)
            for file, error in files_below(path)
        ]
        if not any(outcome.document is not None for outcome in outcomes):
            error = InputError(
                zh=f"文件夹 {path} 里没有可以添加的文档（{'、'.join(sorted(ENDINGS))}）。",
                en=f"The folder {path} holds no document that could be added ({', '.join(sorted(ENDINGS))}).",
            )
            outcomes.append(Outcome(str(path), "refused", None, error))
        return outcomes

    def remove(self, name: str) -> Document:
        """Removes a document by name, or by the path it was read from.

        Raises:
            InputError: there is none; the message lists those there are.
        """
        stored = self.read().documents
        found = next((d for d in stored if d.name == name), None) or next(
            (d for d in stored if d.path in {name, absolute(Path(name))}), None
        )
        if found is None:
            known = [d.name for d in stored]
            raise InputError(
                zh=f"没有名为“{shown(name)}”的自有文档。"
                + (f"已有：{'、'.join(known[:10])}。" if known else "还没有添加任何文档。"),
                en=f"There is no own document “{shown(name)}”. "
                + (f"There are: {', '.join(known[:10])}." if known else "None has been added yet."),
            )
        path = self.folder / file_name(found.name)
        try:
            with alone(self.folder / ".lock"):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                zh=f"无法删除 {path}：{error.strerror}。请检查权限。",
                en=f"Cannot delete {path}: {error.strerror}. Check its permissions.",
            ) from None
        return found

    def _add(self, path: Path, *, named: bool) -> Outcome:
        from assistant.knowledge.documents import read_document

        try:
            data = bytes_of(path)
            document = read_document(data, path.name, absolute(path))
            with alone(self.folder / ".lock"):
                status, kept = self._keep(document)
        except InputError as error:
            return Outcome(str(path), "refused", None, error, named)
        except OSError as error:
            why = error.strerror or str(error)
            problem = InputError(
                zh=f"读不了或存不下 {path}：{why}。请检查权限和磁盘空间。",
                en=f"Cannot read or keep {path}: {why}. Check permissions and disk space.",
            )
            return Outcome(str(path), "refused", None, problem, named)
        return Outcome(str(path), status, kept, None, named)

    def _keep(self, document: Document) -> tuple[Status, Document]:
        stored = self.read().documents
        before = next((d for d in stored if d.path == document.path), None)
        same = next((d for d in stored if d.digest == document.digest), None)
        if same is not None and (same is before or (before is None and same.path != document.path)):
            if reader_of(self.folder / file_name(same.name)) == READER:
                return "unchanged", same
            before = before or same
        total = sum(d.size for d in stored if d is not before) + document.size
        if total > MAX_TOTAL:
            raise InputError(
                zh=f"加上 {document.path} 后自有文档共 {total / 1e6:.1f} MB，超过 {MAX_TOTAL // 1_000_000} MB 的上限："
                "请先用 index remove 移除一些。",
                en=f"With {document.path} the own documents would have {total / 1e6:.1f} MB, over the limit of "
                f"{MAX_TOTAL // 1_000_000} MB: remove some first (index remove).",
            )
        name = before.name if before is not None else free_name(Path(document.path), {d.name for d in stored})
        kept = replace(document, name=name, added=datetime.now(UTC).isoformat(timespec="seconds"))
        write_document(self.folder / file_name(name), kept)
        return ("added" if before is None else "replaced"), kept
