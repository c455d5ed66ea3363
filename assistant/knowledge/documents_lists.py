"""Lists of a document: points that define keys, points below them, signs of health, and values of template fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.knowledge.documents_fields import Draft, Field, labelled
from assistant.knowledge.documents_keys import Item, bullet, plain, read_item, says_something
from assistant.knowledge.documents_model import Definition, Kind, Range
from assistant.knowledge.documents_ranges import ranges_of
from assistant.knowledge.documents_text import MAX_LINE, Line

MAX_DEFINITIONS: Final = 2_000
MAX_ITEMS: Final = 50_000
"""Lines that are looked into; what follows is prose."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
FENCE: Final = re.compile(r"\s*(```|~~~)")
_UNDERLINE: Final = re.compile(r" {0,3}(={3,}|-{3,})\s*")
ASSIGNED: Final = re.compile(
    r"\s*(?:[-*]\s+)?`?([A-Za-z_]\w{0,60})`?\s{0,3}[=:：]\s{0,3}[fFrR]?[\"'“”‘’「`]([^\"'“”‘’」`\n]{1,150})[\"'“”‘’」`]"
    r"\s{0,4}(?:[-—–:：]{1,2}\s{0,4})?"
)
_FIELD: Final = re.compile(r"\{(?:self\.)?([A-Za-z_]\w{0,60})\}")
_NORMAL: Final = re.compile(
    r"健康|正常(?:训练)?(?:的)?(?:信号|表现|范围|值|区间|情况|状态)|"
    r"healthy|good sign|normal (?:range|value|sign)|looks? good",
    re.IGNORECASE,
)
_WARNING: Final = re.compile(
    r"需要?注意|异常|警告|告警|危险|不健康|不正常|warning|watch out|bad sign|unhealthy|alarm|alert|red flag",
    re.IGNORECASE,
)
_MARKED: Final[dict[str, Kind]] = {
    **dict.fromkeys("✅✔✓☑🟢👍", "normal"),
    **dict.fromkeys("⚠❌✗✘🔴🚨❗🟡", "warning"),
}


@dataclass(frozen=True, slots=True)
class Signal:
    """A point of a list of healthy or worrying signs that names a key."""

    item: Item
    kind: Kind
    ranges: tuple[Range, ...]
    line: int
    heading: tuple[str, ...]


@dataclass(slots=True)
class Reading:
    """What was found.

    Attributes:
        definitions: in order.
        signals: in order.
        infixes: what fields of templates may stand for: value, explanation, line.
        taken: lines that went into definitions.
        headings: line of each heading → the path down to it.
        refused: lines of keys that were refused, and why (``long``, ``control``, ``many``).
    """

    definitions: list[Definition] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    infixes: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    headings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    refused: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Entry:
    """An item of a list."""

    indent: int
    text: str
    mark: str
    at: int
    item: Item | None
    label: tuple[Field, str, str] | None
    draft: Draft | None = None
    last: tuple[Field, str] = ("text", "")


class ListReader:
    """What a reader of lists and one of whole documents share: the lines, the headings above, and what was found."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.out = Reading()
        self.path: list[tuple[int, str]] = []
        self.lead = ""
        self.items = 0
        self.fields = {name for _, text in lines if "{" in text for name in _FIELD.findall(text[:MAX_LINE])}

    @property
    def heading(self) -> tuple[str, ...]:
        """The headings above."""
        return tuple(text for _, text in self.path)

    def heading_at(self, at: int) -> tuple[int, str, int] | None:
        """Level, text and number of lines of the heading at a line."""
        text = self.lines[at][1]
        match = _HEADING.match(text)
        if match is not None:
            return len(match[1]), plain_heading(match[2]), 1
        if at + 1 < len(self.lines) and not text.startswith((" ", "\t", "|", ">")) and len(text) <= 200:
            under = _UNDERLINE.fullmatch(self.lines[at + 1][1])
            if under is not None and bullet(text) is None:
                return (1 if under[1].startswith("=") else 2), plain_heading(text), 2
        return None

    def read_list(self, at: int) -> int:
        """The list that begins at a line; returns the line after it."""
        entries, end = self._entries(at)
        field_name = self._listed_field()
        if field_name is not None:
            for entry in entries:
                if entry.item is not None and f"{{{field_name}}}" in "".join(entry.item.keys):
                    return entry.at  # the templates themselves follow without a break
                if entry.item is not None and len(entry.item.keys) == 1:
                    value = (entry.item.keys[0], entry.item.text or entry.item.title, self.lines[entry.at][0])
                    self.out.infixes.setdefault(field_name, []).append(value)
            return end
        outer = min(entry.indent for entry in entries)
        top = [entry for entry in entries if entry.indent == outer]
        weak = any(_defines(e) and e.item and e.item.strong for e in entries) or (
            len(top) > 1 and all(map(_defines, top))
        )
        context = self._kind_of_list()
        above: list[_Entry] = []
        pending: list[tuple[Draft, list[int]]] = []
        for position, entry in enumerate(entries):
            while above and above[-1].indent >= entry.indent:
                above.pop()
            self.refuse(entry.item, self.lines[entry.at][0])
            kind = _MARKED.get(entry.mark, context)
            parent = next((e.draft for e in reversed(above) if e.draft is not None), None)
            opens = position + 1 < len(entries) and entries[position + 1].indent > entry.indent
            item = entry.item
            known = entry.label is not None and (entry.label[0] != "other" or item is None or not item.strong)
            if parent is not None and known:
                self._field(above, parent, entry)
                _of(pending, parent).append(entry.at)
            elif item is not None and item.keys and kind is not None and (item.strong or not item.separated):
                self._signal(item, kind, entry.at)
            elif item is not None and ((_defines(entry) and (item.strong or weak)) or _opens(item, opens)):
                entry.draft = self._draft(item, entry, above)
                pending.append((entry.draft, [entry.at]))
            elif parent is not None:
                name, label = next((e.last for e in reversed(above) if e.last != ("text", "")), ("text", ""))
                parent.add(name, plain(entry.text), self.lines[entry.at][0], label)
                _of(pending, parent).append(entry.at)
            above.append(entry)
        for draft, taken in pending:
            self.keep(draft, taken)
        return end

    def _entries(self, at: int) -> tuple[list[_Entry], int]:
        """The items of the list that begins at a line, and where it ends."""
        entries: list[_Entry] = []
        while at < len(self.lines):
            text = self.lines[at][1]
            if not text.strip():
                following = self.lines[at + 1][1] if at + 1 < len(self.lines) else ""
                if bullet(following) is None and not following.startswith(("  ", "\t")):
                    break
            elif len(text) > MAX_LINE or FENCE.match(text) or self.items >= MAX_ITEMS:
                break
            else:
                self.items += 1
                point = bullet(text)
                if point is None:
                    if self.heading_at(at) is not None or (not text[0].isspace() and self._starts_anew(at)):
                        break
                    if entries and len(entries[-1].text) < MAX_LINE:
                        entries[-1].text += " " + text.strip()
                elif entries and _HEADING.match(text) is not None:
                    break
                else:
                    entries.append(_Entry(point[0], point[1], point[2], at, None, None))
            at += 1
        for entry in entries:
            entry.label = labelled(entry.text)
            entry.item = read_item(entry.text)
        return entries, at

    def _starts_anew(self, at: int) -> bool:
        """Whether a line right after a list is none of its last item: a key's own line, a table, or after a blank."""
        if not self.lines[at - 1][1].strip() or "|" in self.lines[at][1] or ASSIGNED.match(self.lines[at][1]):
            return True
        item = read_item(self.lines[at][1])
        return item is not None and item.strong and item.separated

    def _draft(self, item: Item, entry: _Entry, above: Iterable[_Entry]) -> Draft:
        outer = tuple(e.text.rstrip(" :：")[:120] for e in above if e.draft is None and not e.label)
        draft = Draft(item.keys, self.lines[entry.at][0], (*self.heading, *map(plain, outer)), item.title)
        if item.text:
            draft.add("text", item.text, self.lines[entry.at][0])
        return draft

    def _field(self, above: Sequence[_Entry], parent: Draft, entry: _Entry) -> None:
        name, label, text = entry.label or ("other", "", entry.text)
        inside = next((e.last for e in reversed(above) if e.last != ("text", "")), None)
        if name == "other" and inside is not None:
            name, label, text = *inside, plain(entry.text)
        entry.last = (name, label)
        if text:
            parent.add(name, text, self.lines[entry.at][0], label)

    def _kind_of_list(self) -> Kind | None:
        """Whether the heading or the sentence above announces signs: of health, or of trouble."""
        near = " ".join((*self.heading[-2:], self.lead if self.lead.endswith((":", "：")) else ""))
        last = self.heading[-1] if self.heading else ""
        for text in (last, near):
            if _WARNING.search(text):
                return "warning"
            if _NORMAL.search(text):
                return "normal"
        return None

    def _signal(self, item: Item, kind: Kind, at: int) -> None:
        number = self.lines[at][0]
        ranges = ranges_of(item.text, number, kind)
        if ranges or says_something(item.text):
            self.out.signals.append(Signal(item, kind, tuple(ranges), number, self.heading))

    def _listed_field(self) -> str | None:
        """The field of templates whose values a list enumerates, as the line above it says."""
        if not self.lead.endswith((":", "：")):
            return None
        named = [name for name in _FIELD.findall(self.lead) if name in self.fields]
        whole = read_item(self.lead)
        return named[0] if len(named) == 1 and (whole is None or "/" not in "".join(whole.keys)) else None

    def keep(self, draft: Draft, taken: Iterable[int]) -> None:
        """Takes a definition with its lines, if it says something."""
        definition = draft.finish() if len(self.out.definitions) < MAX_DEFINITIONS else None
        if definition is not None:
            self.out.definitions.append(definition)
            self.out.taken.update(self.lines[at][0] for at in taken)
            self.out.taken.add(definition.line)

    def refuse(self, item: Item | None, number: int) -> None:
        """Notes a key that is not taken."""
        if item is not None and item.bad and len(self.out.refused) < 100:
            self.out.refused.append((number, item.bad))


def plain_heading(text: str) -> str:
    """A heading's text: no marks of bold, no closing hashes, at most 200 characters."""
    return plain(text.rstrip("# "))[:200]


def _defines(entry: _Entry) -> bool:
    """Whether an item says what its keys mean."""
    item = entry.item
    if item is None or not item.keys or not item.separated or not says_something(item.text):
        return False
    return entry.label is None or entry.label[0] == "other"


def _opens(item: Item, deeper: bool) -> bool:
    """Whether an item is a key alone, with points below it."""
    return bool(item.keys) and not item.text and deeper


def _of(pending: Sequence[tuple[Draft, list[int]]], draft: Draft) -> list[int]:
    return next(taken for known, taken in pending if known is draft)
