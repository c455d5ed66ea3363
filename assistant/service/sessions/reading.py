"""Texts into what is stored of them: parsed once, packed, cut into pieces of lines. Works in any process."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.model import BinaryInput, EmptyInput, InputError
from assistant.service.facade import Doubtful, Material, Source, service
from assistant.service.sessions.packing import note_from_json, note_to_json, pack_run
from assistant.service.sessions.records import PackedRun, PackedSource, packed, storable, unpacked

#: Characters of a piece of text.
PIECE: Final = 1 << 20
#: Lines that were not understood and are remembered of one text.
MOST_DOUBTFUL: Final = 10_000
_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class Read:
    """What was read from several texts.

    Attributes:
        sources: those that hold runs.
        question: that stood beside a log.
        skipped: name, code and messages (zh, en) of those that hold none.
    """

    sources: tuple[PackedSource, ...]
    question: str
    skipped: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Remarks:
    """What was noted of a text as a whole."""

    notes: tuple[Any, ...] = ()
    doubtful: tuple[Doubtful, ...] = ()
    language: str | None = None


def read_sources(sources: Sequence[Source], *, keep_text: bool) -> Read:
    """Parses texts, each by itself; one that cannot be read is skipped, and said to be.

    Args:
        sources: the texts.
        keep_text: whether their text is kept.
    """
    engine = service()
    found: list[PackedSource] = []
    skipped: list[tuple[str, str, str, str]] = []
    question = ""
    for source in sources:
        name = storable(source.name)
        try:
            material = engine.read([source])
        except InputError as error:
            skipped.append((name, error.code, error.zh, error.en))
            continue
        if not material.runs:
            skipped.append((name, "no_metrics", f"{name} 里没有找到任何指标。", f"{name} holds no metric."))
            continue
        found.append(_packed(source, name, material, keep_text=keep_text))
        question = question or material.question
    return Read(tuple(found), storable(question), tuple(skipped))


def nothing_read(skipped: Sequence[tuple[str, str, str, str]]) -> InputError | None:
    """The error of texts that hold no run where the same is wrong with all of them: empty, or no text.

    Args:
        skipped: as in :class:`Read`.

    Returns:
        The first one's error; ``None`` where they differ, or are texts without a metric.
    """
    codes = {code for _, code, _, _ in skipped}
    kind = next((one for one in (EmptyInput, BinaryInput) if codes == {one.code}), None)
    return None if kind is None else kind(zh=skipped[0][2], en=skipped[0][3])


def may_hold_log(text: str) -> bool:
    """Whether a message can hold a log beside its question: one line that ends with a question mark is a question,
    whatever numbers it names."""
    stripped = text.strip()
    if "\n" not in stripped and stripped.endswith(("?", "？")):
        return False
    return any(char.isdigit() for char in stripped)


def _packed(source: Source, name: str, material: Material, *, keep_text: bool) -> PackedSource:
    text = _text(source)
    chunks = tuple(pieces(text)) if keep_text and text is not None else ()
    content = source.content
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    remarks = {
        "notes": [note_to_json(note) for note in material.notes],
        "doubtful": [[one.name, list(one.lines[:MOST_DOUBTFUL]), list(one.samples)] for one in material.doubtful],
        "language": material.language,
    }
    runs = []
    for run in material.runs:
        summary = {language: run.summary_json(language) for language in ("zh", "en")}
        runs.append(PackedRun(storable(run.name), pack_run(run), packed(json.dumps(summary).encode())))
    lines = 0 if text is None else text.count("\n") + (not text.endswith("\n"))
    return PackedSource(
        name, size, lines, bool(chunks), chunks, packed(json.dumps(remarks).encode("ascii")), tuple(runs)
    )


def remarks_of(data: bytes) -> Remarks:
    """The remarks that were stored with a source."""
    told = json.loads(unpacked(data))
    return Remarks(
        tuple(note_from_json(one) for one in told["notes"]),
        tuple(Doubtful(name, tuple(lines), tuple(samples)) for name, lines, samples in told["doubtful"]),
        told["language"],
    )


def pieces(text: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a text in packed pieces, each with the number of its first line."""
    line, at = 1, 0
    while at < len(text):
        end = text.find("\n", at + PIECE)
        end = len(text) if end < 0 else end + 1
        part = text[at:end]
        yield line, zlib.compress(part.encode("utf-8", "surrogatepass"), _LEVEL)
        line += part.count("\n")
        at = end


def text_of(data: bytes) -> str:
    """The text of a piece."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def _text(source: Source) -> str | None:
    """The text with the line ends that the parser counts; ``None`` for what is no text (an event file)."""
    content = source.content
    if isinstance(content, str):
        text = content
    else:
        from assistant.parsing import decode

        data = content.read_bytes() if isinstance(content, Path) else content
        try:
            text = decode(data, source.name)[0]
        except InputError:
            return None
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return text
