"""Files of a team's documents: those to be added, and the JSON in which a document is kept."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from assistant.knowledge.documents_model import MAX_BYTES, Definition, Document, Range, Refused, Section, too_large
from assistant.model import InputError

FORMAT: Final = "metric-assistant/document/1"
READER: Final = 1
"""Counts changes in how documents are read; one read by an older reader is read again when it is added again."""

_MAX_STORED: Final = 64_000_000
_MAX_FILES: Final = 2_000
ENDINGS: Final = frozenset({".md", ".markdown", ".mdx", ".txt", ".text", ".html", ".htm", ".xhtml"})


def files_below(folder: Path) -> Iterator[tuple[Path, InputError | None]]:
    """Documents below a folder, each with what keeps it from being read, if anything does."""
    root = folder.resolve()
    problems: list[OSError] = []
    count = 0
    for base, folders, files in os.walk(folder, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(files):
            path = Path(base) / name
            if path.suffix.lower() not in ENDINGS or name.startswith("."):
                continue
            count += 1
            if count > _MAX_FILES:
                yield (
                    folder,
                    InputError(
                        zh=f"{folder} 里的文档超过 {_MAX_FILES} 个，其余没有添加。",
                        en=f"{folder} holds more than {_MAX_FILES} documents; the rest was not added.",
                    ),
                )
                return
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                yield (
                    path,
                    InputError(
                        zh=f"{path} 是指向文件夹外的链接，没有跟随。",
                        en=f"{path} is a link that leads out of the folder; it is not followed.",
                    ),
                )
                continue
            yield path, None
    for problem in problems:
        name = str(problem.filename)
        yield (
            Path(name),
            InputError(zh=f"读不了 {name}：{problem.strerror}。", en=f"Cannot read {name}: {problem.strerror}."),
        )


def bytes_of(path: Path) -> bytes:
    """A file's bytes, one more than the limit at most."""
    if not path.exists():
        raise InputError(
            zh=f"找不到 {shown(str(path))}。请检查路径。",
            en=f"There is no {shown(str(path))}. Check the path.",
        )  # fmt: skip
    if not path.is_file():
        raise InputError(zh=f"{path} 不是普通文件。", en=f"{path} is no regular file.")
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise too_large(str(path), os.fstat(handle.fileno()).st_size)
    return data


def absolute(path: Path) -> str:
    """A path from the root, as text; links stay what they are."""
    return os.fsencode(Path(os.path.abspath(path))).decode("utf-8", "replace")  # noqa: PTH100


def shown(name: str) -> str:
    """A name in a message: without what a terminal would act on, and not endless."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)[:200]


def _slug(name: str) -> str:
    """A file's name as a document's: letters, digits, dots and dashes."""
    text = unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))
    return re.sub(r"[^\w.\-]+", "-", text).strip("-.")[:60].strip("-.") or "document"


def free_name(path: Path, taken: set[str]) -> str:
    """A name for a new document that no other has: its file's, else with its folder's before it, else numbered."""
    folded = {name.casefold() for name in taken}
    plain = _slug(path.name)
    for name in (plain, _slug(f"{path.parent.name}-{path.name}")):
        if name.casefold() not in folded:
            return name
    return next(name for n in range(2, len(taken) + 3) if (name := f"{plain}-{n}").casefold() not in folded)


def file_name(name: str) -> str:
    """The stored file of a document: never more than its name says, whatever the name."""
    return f"{_slug(name)[:40]}-{hashlib.sha256(name.casefold().encode()).hexdigest()[:12]}.json"


def write_document(path: Path, document: Document) -> None:
    """Writes a document beside its place, and renames it into it."""
    raw = {"format": FORMAT, "reader": READER, **asdict(document)}
    raw["cards"] = raw.pop("definitions")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as handle:
        try:
            handle.write(orjson.dumps(raw))
            handle.flush()
            os.fsync(handle.fileno())
            Path(handle.name).replace(path)
        except BaseException:
            Path(handle.name).unlink(missing_ok=True)
            raise


def reader_of(path: Path) -> int:
    """Which version of the reader wrote a stored document."""
    return int(orjson.loads(path.read_bytes()).get("reader", 0))


def load_document(path: Path) -> Document:
    """A stored document; raises what an unexpected content leads to."""
    if path.stat().st_size > _MAX_STORED or path.is_symlink():
        raise ValueError("not a file that was written here")
    raw = orjson.loads(path.read_bytes())
    if raw["format"] != FORMAT:
        raise ValueError(f"format {raw['format']!r}, this version reads {FORMAT}")
    return Document(
        name=_text(raw["name"]),
        path=_text(raw["path"]),
        digest=_text(raw["digest"]),
        size=int(raw["size"]),
        added=_text(raw["added"]),
        definitions=tuple(_definition(entry) for entry in raw["cards"]),
        sections=tuple(
            Section(_texts(entry["heading"]), _text(entry["text"]), int(entry["line"])) for entry in raw["sections"]
        ),
        refused=tuple(Refused(int(e["line"]), _text(e["zh"]), _text(e["en"])) for e in raw["refused"]),
    )


def _definition(raw: dict[str, Any]) -> Definition:
    keys = _texts(raw["keys"])
    if not keys or not all(keys):
        raise ValueError("a definition without a key")
    return Definition(
        keys=keys,
        text=_text(raw["text"]),
        line=int(raw["line"]),
        heading=_texts(raw["heading"]),
        title=_text(raw["title"]),
        formula=_text(raw["formula"]),
        unit=_text(raw["unit"]),
        direction=_text(raw["direction"]),
        ranges=tuple(
            Range(_bound(r["low"]), _bound(r["high"]), _text(r["words"]), r["kind"], int(r["line"]))
            for r in raw["ranges"]
        ),
        normal=_text(raw["normal"]),
        notes=tuple((_text(label), _text(words)) for label, words in raw["notes"]),
        template=_text(raw["template"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text belongs")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} where a list belongs")
    return tuple(map(_text, value))


def _bound(value: Any) -> float | None:
    return None if value is None else float(value)
