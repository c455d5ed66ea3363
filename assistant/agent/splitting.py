"""A model's text, as it streams in, cut into pieces that can be checked one by one and joined again unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 1200
_THINK = re.compile(r"<(think(?:ing)?|reasoning|thought|analysis)>", re.IGNORECASE)
_UNTHINK = re.compile(r"</(think(?:ing)?|reasoning|thought|analysis)>", re.IGNORECASE)
_TAIL = re.compile(r"</?[a-z]{0,9}$", re.IGNORECASE)
_LEAD = re.compile(r"\s*(?:#{1,6}\s+|>\s*|(?:[-*+•]|\d{1,3}[.)、])\s+(?:\[[ x]\]\s+)?)*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|etc|approx|resp|no|fig|eq|al)|^\s*\d{1,3}|\b(?-i:[A-Z]))\.$", re.IGNORECASE
)
_ENDS = "。！？；!?"
_CLOSING = "”’」』）)】"
_EITHER = "\"'*_`"  # close only what was opened


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, heading, list item or table row: ``lead`` (blanks and markers), ``body``, ``tail`` (blanks)."""

    lead: str
    body: str
    tail: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.lead + self.body + self.tail

    @property
    def structure(self) -> bool:
        """Whether it only introduces what follows: a heading, a table's header or rule, a lead-in line."""
        stripped = self.body.strip()
        return "#" in self.lead or stripped.endswith((":", "：")) or self.rule

    @property
    def row(self) -> bool:
        """Whether it is a line of a table."""
        return self.body.startswith("|")

    @property
    def rule(self) -> bool:
        """The line under a table's header."""
        return self.row and not re.sub(r"[|:\-\s]", "", self.body)


class Unthinking:
    """Takes blocks of thought (``<think>…</think>``, closed or not) out of a stream of text."""

    def __init__(self) -> None:
        self.inside = False
        self.forget = False
        """A block was closed that was never opened: all text before it was thought."""
        self._kept = ""

    def feed(self, text: str) -> str:
        """The text that may be shown, as far as that is certain."""
        pending, shown = self._kept + text, ""
        self._kept = ""
        while pending:
            if self.inside:
                end = _UNTHINK.search(pending)
                if end is None:
                    self._kept = _held(pending)
                    return shown
                self.inside, pending = False, pending[end.end() :].lstrip("\n")
                continue
            start, end = _THINK.search(pending), _UNTHINK.search(pending)
            if end is not None and (start is None or end.start() < start.start()):
                shown, self.forget, pending = "", True, pending[end.end() :].lstrip("\n")
            elif start is not None:
                shown += pending[: start.start()]
                self.inside, pending = True, pending[start.end() :]
            else:
                self._kept = _held(pending)
                return shown + pending[: len(pending) - len(self._kept)]
        return shown

    def close(self) -> str:
        """What was held back at the end."""
        kept, self._kept = self._kept, ""
        return "" if self.inside else kept


def _held(text: str) -> str:
    """The end of a text that may be the beginning of a tag."""
    match = _TAIL.search(text)
    return match.group() if match else ""


class Splitter:
    """Pieces out of a stream; what is not yet ended waits."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are complete now."""
        self._text += text
        found = []
        while (end := _end(self._text)) is not None:
            found.append(_piece(self._text[:end]))
            self._text = self._text[end:]
        return found

    def close(self) -> list[Piece]:
        """The rest."""
        rest, self._text = self._text, ""
        found = []
        while rest and (end := _end(rest + "\n")) is not None and end <= len(rest):
            found.append(_piece(rest[:end]))
            rest = rest[end:]
        return [*found, _piece(rest)] if rest else found


def _end(text: str) -> int | None:
    """Where the first piece of a text ends (its blanks included), once that is certain."""
    start = _LEAD.match(text).end()  # type: ignore[union-attr]
    if start == len(text):
        return None
    row = text[start] == "|"
    place = start
    while place < len(text):
        char = text[place]
        if char == "\n":
            after = place + 1
            while after < len(text) and text[after] in " \t\n":
                after += 1
            return _back_to_line(text, place, after) if after < len(text) else None
        over = place - start > LONGEST
        if not row and (char in _ENDS or char == "." or (over and char in "，, ")):
            close = place + 1
            while close < len(text) and (text[close] in _CLOSING or _closes(text, start, close)):
                close += 1
            if close == len(text):
                return None
            spaced = text[close].isspace()
            whole = char in _ENDS if char not in "!?;" else spaced
            if char == ".":
                whole = spaced and not _ABBREVIATION.search(text[start : place + 1])
            if (whole or over) and (over or _balanced(text[start:close])):
                after = close
                while after < len(text) and text[after] in " \t":
                    after += 1
                if after == len(text):
                    return None
                if text[after] != "\n":
                    return after
                place = after
                continue
        place += 1
    return None


def _back_to_line(text: str, newline: int, after: int) -> int:
    """The end of the blank lines behind a line; the next line's indentation belongs to it."""
    last = text.rfind("\n", newline, after)
    return last + 1


def _closes(text: str, start: int, place: int) -> bool:
    """Whether a mark that may open or close does close: one of its kind is open."""
    char, before = text[place], text[start:place]
    if char not in _EITHER:
        return False
    if char == "*":
        return before.count("**") % 2 == 1 or before.replace("**", "").count("*") % 2 == 1
    return before.count(char) % 2 == 1


def _balanced(text: str) -> bool:
    """Whether no emphasis, code span or bracket is open."""
    brackets = sum(text.count(c) for c in "（(") - sum(text.count(c) for c in "）)")
    return text.count("**") % 2 == 0 and text.count("`") % 2 == 0 and brackets <= 0


def _piece(text: str) -> Piece:
    lead = _LEAD.match(text).group()  # type: ignore[union-attr]
    rest = text[len(lead) :]
    body = rest.rstrip()
    return Piece(lead, body, rest[len(body) :])
