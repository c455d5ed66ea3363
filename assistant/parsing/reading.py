"""A text, a file's bytes or a file, read with the formats of a registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from assistant.model.run import Note, Run
from assistant.parsing.archives import expand, kind_of, limit_text
from assistant.parsing.counts import count_lines
from assistant.parsing.decoding import decode
from assistant.parsing.endings import with_ending
from assistant.parsing.feed import CHUNK, Progress, slices
from assistant.parsing.largecut import SIZES, NeedsWhole
from assistant.parsing.prose import Prose, find_prose
from assistant.parsing.registry import Registry
from assistant.parsing.repair import Document, prepare
from assistant.parsing.splitting import split_runs
from assistant.parsing.totals import with_totals
from assistant.parsing.uncollected import uncollected

LARGE: Final = 1 << 18
"""Bytes from which on a verl log is read from its bytes; smaller texts are read whole."""

_HEAD: Final = 1 << 16


@dataclass(frozen=True)
class Parsed:
    """All that was read from one text.

    Attributes:
        runs: tables, in order of appearance; empty if the text holds no metric.
        prose: paragraphs of natural language around the log.
        notes: what was repaired in the text as a whole.
        text_lines: number of lines of the text.
        doubtful: numbers of lines that look like metrics and were not read (all of them only where a thorough
            reading was asked for).
        samples: texts of the first three of them.
    """

    runs: tuple[Run, ...]
    prose: tuple[Prose, ...]
    notes: tuple[Note, ...]
    text_lines: int
    doubtful: tuple[int, ...] = ()
    samples: tuple[str, ...] = ()


@uncollected()
def read_text(registry: Registry, text: str, name: str) -> Parsed:
    """Reads a text with every format; never raises on content."""
    document = prepare(name, text)
    reading = registry.read(document)
    counts, doubtful = count_lines(document, reading)
    runs = with_totals(split_runs(reading.runs), document.lines, document.numbers)
    runs = with_ending(runs, document.lines, document.numbers)
    runs = tuple(replace(run, lines=counts) for run in runs)
    prose = find_prose(document.lines, document.numbers, reading.taken, reading.asking)
    return Parsed(runs, prose, document.notes + reading.notes, document.text_lines, doubtful, counts.samples)


def read_data(registry: Registry, data: bytes, name: str, *, thorough: bool = False) -> Parsed:
    """Reads a file's bytes: an event file, an archive of a log, or a text."""
    if kind_of(data) is not None:
        return _read_chunks(registry, lambda: expand(slices(data), name), name, thorough=thorough)
    events = _read_events(data, name)
    if events is not None:
        return events
    if len(data) >= LARGE and b"step:" in data:
        return _read_chunks(registry, lambda: slices(data), name, thorough=thorough, whole=data)
    if len(data) >= SIZES.least:
        return _read_lines(registry, lambda: slices(data), name, data)
    text, notes = decode(data, name)
    parsed = read_text(registry, text, name)
    return replace(parsed, notes=notes + parsed.notes)


def read_file(
    registry: Registry, path: Path, name: str, *, thorough: bool = False, progress: Progress | None = None
) -> Parsed:
    """Reads a file; a large log is never in memory as a whole, if it consists of lines.

    Args:
        registry: the formats.
        path: the file.
        name: for display.
        thorough: look at all noise for metrics that were not understood.
        progress: is told how many bytes have been read.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as handle:
        head = handle.read(_HEAD)
    packed = kind_of(head) is not None
    if not packed and path.stat().st_size < LARGE:
        return read_data(registry, path.read_bytes(), name, thorough=thorough)

    def chunks(told: Progress | None = progress) -> Iterator[bytes]:
        plain = _file_chunks(path, told)
        return expand(plain, name) if packed else plain

    events = None if packed else _read_events(head, name, path)
    return events or _read_chunks(registry, chunks, name, thorough=thorough, quiet=lambda: chunks(None))


def _file_chunks(path: Path, progress: Progress | None) -> Iterator[bytes]:
    read = 0
    with path.open("rb") as handle:
        while chunk := handle.read(CHUNK):
            read += len(chunk)
            if progress is not None:
                progress(read)
            yield chunk
            del chunk  # so that its memory is there for the next one


def _read_events(head: bytes, name: str, path: Path | None = None) -> Parsed | None:
    """A TensorBoard event file; ``None`` if it is none."""
    if b"\x00" not in head[:64]:
        return None
    from assistant.parsing.tfevents import is_tfevents, read_tfevents

    if not is_tfevents(head):
        return None
    return Parsed(read_tfevents(head if path is None else path.read_bytes(), name), (), (), 0)


def _read_chunks(
    registry: Registry,
    chunks: Callable[[], Iterator[bytes]],
    name: str,
    *,
    thorough: bool,
    whole: bytes | None = None,
    quiet: Callable[[], Iterator[bytes]] | None = None,
) -> Parsed:
    """A large text: verl's from its bytes, any other as a whole."""
    from assistant.parsing.verlbytes import read_bytes
    from assistant.parsing.verlends import NeedsCare

    reading = None
    with suppress(NeedsCare):
        reading = read_bytes(chunks(), name, thorough=thorough)
    if reading is None:  # outside of the handler: the exception would keep what was read alive
        return _read_lines(registry, chunks, name, whole)
    sample = Document(name, *reading.noise, text_lines=len(reading.noise[0]))
    if reading.blocks or registry.others(sample, "verl"):
        del reading
        return _read_lines(registry, chunks, name, whole)
    notes = (_sampled(reading.skipped),) if reading.skipped else ()
    samples = reading.runs[0].lines.samples
    runs = with_ending(with_totals(reading.runs, *reading.noise), *reading.noise)
    return Parsed(runs, reading.prose, notes, reading.text_lines, reading.doubtful, samples)


def _read_lines(registry: Registry, chunks: Callable[[], Iterator[bytes]], name: str, whole: bytes | None) -> Parsed:
    """A text of any format: a large one in segments, if it can be cut."""
    from assistant.parsing.large import read_large

    read = None
    with suppress(NeedsWhole):
        read = read_large(registry, chunks(), name)
    if read is None:
        return _read_whole(registry, chunks, name, whole)
    return Parsed(read.runs, read.prose, read.notes, read.text_lines, read.doubtful, read.samples)


def _read_whole(registry: Registry, chunks: Callable[[], Iterator[bytes]], name: str, whole: bytes | None) -> Parsed:
    data = _join(chunks(), name) if whole is None else whole
    events = _read_events(data, name) if whole is None else None
    if events is not None:
        return events
    text, notes = decode(data, name)
    parsed = read_text(registry, text, name)
    return replace(parsed, notes=notes + parsed.notes)


def _join(chunks: Iterator[bytes], name: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        limit_text(size, name)
        parts.append(chunk)
    return b"".join(parts)


def _sampled(skipped: int) -> Note:
    return Note(
        "noise_sampled",
        f"日志中 {skipped / 1e6:.0f} MB 的无关输出只抽查了是否含有未识别的指标；parse --strict 会全部检查。",
        f"{skipped / 1e6:.0f} MB of other output were only sampled for metrics that were not understood; "
        "parse --strict looks at all of it.",
    )
