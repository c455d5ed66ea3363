"""A team's own document, read: definitions of metrics, and sections of other prose.

Markdown, plain text and HTML come in as bytes; what goes out is plain data that can be kept as JSON. See
``docs/own-documents.md`` for the forms that are understood.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from assistant.knowledge.documents_fields import MAX_TEXT
from assistant.knowledge.documents_html import html_lines, looks_like_html
from assistant.knowledge.documents_keys import normal
from assistant.knowledge.documents_model import MAX_BYTES, Definition, Document, Range, Refused, Section, too_large
from assistant.knowledge.documents_reader import MAX_DEFINITIONS, Reading, Signal, read_lines
from assistant.knowledge.documents_text import Line, clean, decode, is_chinese, markdown_lines
from assistant.knowledge.templates import is_telling
from assistant.model import InputError

__all__ = ["MAX_BYTES", "MAX_SECTION", "Definition", "Document", "Range", "Refused", "Section", "read_document"]

MAX_SECTION: Final = 1_500
MAX_SECTIONS: Final = 4_000
_HTML: Final = frozenset({".html", ".htm", ".xhtml"})
_FIELD: Final = re.compile(r"\{([A-Za-z_]\w*)\}")


_REASONS: Final = {
    "long": ("键名超过 200 个字符", "a key of over 200 characters"),
    "control": ("键名里有控制字符", "a key with control characters"),
    "many": (
        f"定义超过 {MAX_DEFINITIONS} 条（或列表过长），其余按正文收录",
        f"more than {MAX_DEFINITIONS} definitions, or endless lists: the rest is kept as prose",
    ),
    "broad": ("模板里固定的文字太少或字段太多", "a template with too little text of its own, or too many fields"),
}


def read_document(data: bytes, name: str, path: str = "") -> Document:
    """Reads a document.

    Args:
        data: its bytes.
        name: what it goes by; the ending tells HTML from Markdown and text.
        path: where it was read.

    Raises:
        InputError: it is empty, too large or no text; the message names it.
    """
    shown = path or name
    if len(data) > MAX_BYTES:
        raise too_large(shown, len(data))
    if not data.strip():
        raise InputError(zh=f"{shown} 是空的。", en=f"{shown} is empty.")
    text = clean(decode(data, shown))
    is_html = PurePath(path or name).suffix.lower() in _HTML or looks_like_html(text)
    lines = html_lines(text) if is_html else markdown_lines(text)
    reading = read_lines(lines)
    definitions, refused = _definitions(reading)
    sections = _sections(lines, reading)
    if not definitions and not sections:
        raise InputError(
            zh=f"{shown} 里没有可以收录的文字。", en=f"{shown} holds no text that could be added."
        )  # fmt: skip
    return Document(
        name=name,
        path=path,
        digest=hashlib.sha256(data).hexdigest(),
        size=len(data),
        added="",
        definitions=tuple(definitions),
        sections=tuple(sections),
        refused=tuple(refused),
    )


# --- definitions -----------------------------------------------------------------------------------------


def _definitions(reading: Reading) -> tuple[list[Definition], list[Refused]]:
    """Definitions with their signs, one a key; templates also as the instances that the document names."""
    merged: dict[str, Definition] = {}
    by_key: dict[str, str] = {}
    problems = list(reading.refused)
    found = [*reading.definitions, *(_from_signal(signal) for signal in reading.signals if _is_said(signal))]
    signalled = {id(d) for d in found[len(reading.definitions) :]}
    for definition in found:
        broad = [key for key in definition.keys if _is_broad(key)]
        problems += [(definition.line, "broad")] * bool(broad)
        keys = [key for key in definition.keys if key not in broad]
        fresh = [key for key in keys if key.lower() not in by_key]
        for first in dict.fromkeys(by_key[key.lower()] for key in keys if key.lower() in by_key):
            if id(definition) not in signalled:
                merged[first] = _joined(merged[first], definition)
        if fresh:
            merged[fresh[0]] = replace(definition, keys=tuple(fresh))
            by_key.update((key.lower(), fresh[0]) for key in fresh)
    for signal in reading.signals:
        for first in dict.fromkeys(by_key[key.lower()] for key in signal.item.keys if key.lower() in by_key):
            merged[first] = _with_signal(merged[first], signal)
    result = list(merged.values())
    for definition in list(result):
        for instance in _instances(definition, reading):
            if len(result) < MAX_DEFINITIONS and all(key.lower() not in by_key for key in instance.keys):
                by_key.update((key.lower(), key) for key in instance.keys)
                result.append(instance)
    return result, [Refused(line, *_REASONS[why]) for line, why in problems]


def _is_broad(key: str) -> bool:
    """Whether a key is a template with too little text of its own, or too many fields, to tell keys apart."""
    return "{" in key and not is_telling(key)


def _is_said(signal: Signal) -> bool:
    """Whether a sign defines its key too, should nothing else do so."""
    return bool(signal.ranges) or (signal.item.separated and bool(signal.item.text))


def _from_signal(signal: Signal) -> Definition:
    return Definition(signal.item.keys, signal.item.text[:MAX_TEXT], signal.line, signal.heading, signal.item.title)


def _with_signal(definition: Definition, signal: Signal) -> Definition:
    ranges = [r for r in signal.ranges if r not in definition.ranges]
    note = (f"sign:{signal.kind}", signal.item.text[:1000])
    notes = definition.notes
    if signal.line != definition.line and len(notes) < 16:
        notes = (*notes, note)
    return replace(definition, ranges=(*definition.ranges, *ranges)[:8], notes=notes)


def _joined(first: Definition, other: Definition) -> Definition:
    """A definition with what a second one of the same key says."""
    text = first.text
    if other.text and other.text not in text and len(text) + len(other.text) < MAX_TEXT:
        text = f"{text}\n{other.text}" if text else other.text
    return replace(
        first,
        text=text,
        title=first.title or other.title,
        formula=first.formula or other.formula,
        unit=first.unit or other.unit,
        direction=first.direction or other.direction,
        ranges=(*first.ranges, *(r for r in other.ranges if r not in first.ranges))[:8],
        normal=first.normal or other.normal,
        notes=(*first.notes, *(note for note in other.notes if note not in first.notes))[:16],
    )


def _instances(definition: Definition, reading: Reading) -> list[Definition]:
    """A template with each value of its field that the document names."""
    result: list[Definition] = []
    for key in definition.keys:
        for name in dict.fromkeys(_FIELD.findall(key)):
            for value, words, _ in reading.infixes.get(name, ()):
                filled = normal(key.replace(f"{{{name}}}", normal(value.strip())))
                colon = "：" if is_chinese(words + definition.text) else ": "
                text = f"{words}{colon}{definition.text}" if words else definition.text
                if filled != key and not _is_broad(filled) and len(filled) <= 200:
                    result.append(replace(definition, keys=(filled,), text=text, template=key))
            reading.taken.update(line for _, _, line in reading.infixes.get(name, ()))
    return result


# --- sections --------------------------------------------------------------------------------------------


def _sections(lines: Sequence[Line], reading: Reading) -> list[Section]:
    """What is no definition, cut at headings and then at blank lines into passages of limited length."""
    result: list[Section] = []
    path: tuple[str, ...] = ()
    held: list[Line] = []

    def close() -> None:
        result.extend(_cut(path, held))
        held.clear()

    for number, text in lines:
        if number in reading.headings:
            if held:
                close()
            path = reading.headings[number]
        elif number not in reading.taken:
            held.append((number, text))
    close()
    return result if len(result) <= MAX_SECTIONS else _packed(result)


def _cut(path: tuple[str, ...], lines: Sequence[Line]) -> list[Section]:
    result: list[Section] = []
    pieces: list[Line] = []
    length = blank = 0
    start = 0

    def close(end: int) -> None:
        body = "\n".join(text for _, text in pieces[start:end]).strip("\n").replace("\ufffd", "")
        first = next((number for number, text in pieces[start:end] if text.strip()), 0)
        if any(char.isalnum() for char in body):
            result.append(Section(path, body, first))

    for number, text in lines:
        pieces.extend((number, text[at : at + MAX_SECTION]) for at in range(0, max(1, len(text)), MAX_SECTION))
    for at, (_, text) in enumerate(pieces):
        if length + len(text) + 1 > MAX_SECTION and at > start:
            end = blank if start < blank and at - blank < 12 else at
            close(end)
            start, length = end, sum(len(t) + 1 for _, t in pieces[end:at])
        if not text.strip():
            blank = at
        length += len(text) + 1
    close(len(pieces))
    return result


def _packed(sections: Sequence[Section]) -> list[Section]:
    """Neighbouring short sections as one, for documents of thousands of headings."""
    result: list[Section] = []
    parts: list[str] = []
    length, first = 0, sections[0]
    for section in sections:
        own = " > ".join(section.heading[-1:])
        text = f"{own}\n{section.text}" if own else section.text
        if parts and length + len(text) > MAX_SECTION:
            result.append(Section(first.heading[:1], "\n\n".join(parts)[: 2 * MAX_SECTION], first.line))
            parts, length = [], 0
        if not parts:
            first = section
        parts.append(text)
        length += len(text) + 2
    result.append(Section(first.heading[:1], "\n\n".join(parts)[: 2 * MAX_SECTION], first.line))
    return result
