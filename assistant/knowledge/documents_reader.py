"""The definitions in a document's lines: metric sections, lists, tables, single lines, signals and template fields.

Reading is one pass over the lines. What is not taken as a definition stays for the sections that are searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.knowledge.documents_fields import Draft, Field, labelled
from assistant.knowledge.documents_keys import bullet, plain, read_item, says_something, without_number
from assistant.knowledge.documents_lists import ASSIGNED, FENCE, MAX_DEFINITIONS, MAX_ITEMS, ListReader, Reading, Signal
from assistant.knowledge.documents_tables import is_rule, read_table
from assistant.knowledge.documents_text import MAX_LINE, Line

__all__ = ["MAX_DEFINITIONS", "Reading", "Signal", "read_lines"]

MAX_ROWS: Final = 10_000


def read_lines(lines: Sequence[Line]) -> Reading:
    """Reads a document's lines."""
    return _Reader(lines).read()


class _Reader(ListReader):
    def read(self) -> Reading:
        """All lines, from the first."""
        at = 0
        while at < len(self.lines):
            text = self.lines[at][1]
            if not text or len(text) > MAX_LINE:
                at += 1
                continue
            fence = FENCE.match(text)
            if fence is not None:
                at = self._after_fence(at, fence[1])
                continue
            found = self.heading_at(at)
            if found is not None:
                at = self._heading(at, *found)
            elif self._full:
                at += 1
            elif "|" in text and at + 1 < len(self.lines) and is_rule(self.lines[at + 1][1]):
                at = self._table(at)
            elif bullet(text) is not None:
                at = self.read_list(at)
            else:
                at = self._line(at)
            if found is None and text.strip():
                self.lead = text.strip()
        return self.out

    @property
    def _full(self) -> bool:
        full = len(self.out.definitions) >= MAX_DEFINITIONS or self.items >= MAX_ITEMS
        if full and not any(why == "many" for _, why in self.out.refused):
            self.out.refused.append((0, "many"))
        return full

    def _after_fence(self, at: int, mark: str) -> int:
        at += 1
        while at < len(self.lines) and not self.lines[at][1].lstrip().startswith(mark):
            at += 1
        return at + 1

    # -- headings ------------------------------------------------------------------------------
    def _heading(self, at: int, level: int, text: str, height: int) -> int:
        """A heading; one that names a metric begins its definition. Returns the next line."""
        while self.path and self.path[-1][0] >= level:
            self.path.pop()
        number = self.lines[at][0]
        above = self.heading
        self.path.append((level, text))
        for line in range(height):
            self.out.headings[self.lines[at + line][0]] = self.heading
        self.lead = ""
        following = at + height
        self.items += 1
        item = None if self._full else read_item(without_number(text))
        if item is None or not item.keys or len(item.text) > 60 or len(text) > 300:
            self.refuse(item, number)
            return following
        draft = Draft(item.keys, number, above, item.title or plain(item.text))
        taken, end, known = self._body(draft, following, level)
        telling = (known and not item.text) or (item.strong and (known or item.title or not item.text)) or known > 1
        if telling and (draft.text or draft.fields.keys() & {"formula", "range"}):
            self.keep(draft, taken)
            return end
        return following

    def _body(self, draft: Draft, at: int, level: int) -> tuple[list[int], int, int]:
        """Fields and text below a metric's heading: the lines taken, where it ends, how many fields were known."""
        taken, known, indent = list[int](), 0, -1
        current: tuple[Field, str] = ("text", "")
        while at < len(self.lines):
            number, text = self.lines[at]
            found = self.heading_at(at) if text else None
            if found is not None:
                name = labelled(found[1] + ":")
                if found[0] <= level or name is None or name[0] == "other":
                    break
                current, known, indent = (name[0], name[1]), known + 1, -1
                taken.append(at)
            elif FENCE.match(text) or (text and len(text) > MAX_LINE):
                break
            elif text.strip():
                point = bullet(text)
                words = point[1] if point is not None else text.strip()
                deep = point[0] if point is not None else len(text) - len(text.lstrip())
                label = labelled(words)
                inner = indent >= 0 and deep > indent
                if label is not None and not (label[0] == "other" and inner):
                    current, known = label[:2], known + (label[0] != "other")
                    indent = deep if point is not None else -1
                    if label[2]:
                        draft.add(label[0], label[2], number, label[1])
                else:
                    item = read_item(words) if not inner else None
                    table = "|" in text and at + 1 < len(self.lines) and is_rule(self.lines[at + 1][1])
                    if table or (item is not None and item.keys and item.strong and item.separated and item.text):
                        break
                    if not inner and point is not None:
                        current, indent = ("text", ""), -1
                    draft.add(current[0], plain(words), number, current[1])
                taken.append(at)
            at += 1
        return taken, at, known

    # -- other lines ---------------------------------------------------------------------------
    def _line(self, at: int) -> int:
        number, text = self.lines[at]
        assigned = ASSIGNED.match(text) if "=" in text or ":" in text or "：" in text else None
        if assigned is not None and assigned[1] in self.fields:
            value = (assigned[2], plain(text[assigned.end() :]), number)
            self.out.infixes.setdefault(assigned[1], []).append(value)
            return at + 1
        self.items += 1
        item = read_item(text.strip().lstrip("> "))
        self.refuse(item, number)
        if item is None or not (item.keys and item.strong and item.separated and says_something(item.text)):
            return at + 1
        if text.isascii() and len(item.text.split()) < 2:
            return at + 1
        draft = Draft(item.keys, number, self.heading, item.title)
        draft.add("text", item.text, number)
        taken = [at]
        at += 1
        while at < len(self.lines) and self.lines[at][1][:1].isspace() and bullet(self.lines[at][1]) is None:
            draft.add("text", self.lines[at][1].strip(), self.lines[at][0])
            taken.append(at)
            at += 1
        self.keep(draft, taken)
        return at

    def _table(self, at: int) -> int:
        end = at + 2
        most = min(len(self.lines), at + MAX_ROWS)
        while end < most and "|" in self.lines[end][1] and len(self.lines[end][1]) <= MAX_LINE:
            end += 1
        self.items += end - at
        drafts, taken = read_table(self.lines[at:end], self.heading)
        for draft in drafts:
            self.keep(draft, ())
        if taken and all(number in self.out.taken for number, _ in self.lines[at + 2 : end]):
            self.out.taken.update(number for number, _ in self.lines[at : at + 2])
        return end
