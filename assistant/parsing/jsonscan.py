"""JSON values with the line of each number, however many lines they take."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from assistant.model.run import Number
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document

_TOKEN: Final = re.compile(
    r'[ \t\r]*+(?:(?P<string>"(?:[^"\\\n]|\\.)*+")|(?P<number>[-+]?(?:[0-9][0-9.eE+-]*+|NaN|Infinity|nan|inf))|'
    r"(?P<word>true|false|null)|(?P<mark>[\[\]{},:]))"
)
TEXTS: Final = frozenset(
    [
        "prompt",
        "prompts",
        "question",
        "answer",
        "response",
        "responses",
        "completion",
        "completions",
        "messages",
        "message",
        "conversation",
        "text",
        "content",
        "solution",
        "ground_truth",
        "trajectory",
        "rollout",
        "instruction",
        "chosen",
        "rejected",
        "input",
        "output",
        "tokens",
        "tool_calls",
    ]
)
_SHORT: Final = frozenset({"message", "text", "content", "input", "output"})
_IDS: Final = re.compile(r"(?i)(?:^|[_/.-])(?:id|uuid|hash|sha|version|name|host|port|pid|date|seed|tag)$")
_LONG_TEXT: Final = 200
_LABEL: Final = 24
DEEPEST: Final = 40


class Value(NamedTuple):
    """A number, or ``None`` where ``null`` stands, with its line."""

    value: Number | None
    line: int


@dataclass
class Event:
    """An object's numbers.

    Attributes:
        line: on which it begins.
        cells: its numbers by name.
        texts: whether it holds a prompt, an answer or the like.
        bare: whether nothing stands before it on its line.
        last: line on which it ends.
        others: how many of its values are texts, flags or lists, names and dates left out.
    """

    line: int
    cells: dict[str, Value] = field(default_factory=dict)
    texts: bool = False
    bare: bool = True
    last: int = 0
    others: int = 0


class BadJson(Exception):
    """The text stops being JSON, at an index of the document's lines."""

    def __init__(self, ended: bool) -> None:
        super().__init__()
        self.ended = ended


class Scanner:
    """Reads one JSON value from a document, with the line of each number."""

    def __init__(self, document: Document, index: int) -> None:
        self.lines = document.lines
        self.numbers = document.numbers
        self.index = index
        self.at = len(self.lines[index]) - len(self.lines[index].lstrip())
        self.tokens = 0

    def token(self) -> tuple[str, str]:
        """Kind and text of the next token."""
        while self.index < len(self.lines):
            line = self.lines[self.index]
            found = _TOKEN.match(line, self.at)
            if found is not None:
                self.at = found.end()
                self.tokens += 1
                return found.lastgroup or "", found[found.lastgroup or 0]
            if line[self.at :].strip():
                raise BadJson(ended=is_end_index(self.lines, self.index))
            self.index, self.at = self.index + 1, 0
        raise BadJson(ended=True)

    def document_lines(self) -> int:
        """Original number of the line that is being read."""
        return self.numbers[min(self.index, len(self.lines) - 1)]

    def value(self, token: tuple[str, str], depth: int, sink: list[Event]) -> Any:
        """A value: numbers as ``Value``, objects as dicts; objects that end in a list are put into the sink."""
        kind, text = token
        if kind == "string":
            return text[1:-1] if "\\" not in text else _text(text)
        if kind == "number":
            number = read_number(text)
            if number is None:
                raise BadJson(ended=False)
            return Value(number, self.document_lines())
        if kind == "word":
            return Value(None, self.document_lines()) if text == "null" else text == "true"
        if depth > DEEPEST or text not in "[{":
            raise BadJson(ended=False)
        return self._list(depth, sink) if text == "[" else self._object(depth, sink)

    def _list(self, depth: int, sink: list[Event]) -> list[Any]:
        items: list[Any] = []
        token = self.token()
        while token[1] != "]" or token[0] != "mark":
            items.append(self.value(token, depth + 1, sink))
            if isinstance(items[-1], dict) and depth <= 3:
                event = make_event(items[-1])
                if event.cells:
                    sink.append(event)
            token = self.token()
            if token == ("mark", ","):
                token = self.token()
            elif token != ("mark", "]"):
                raise BadJson(ended=False)
        return items

    def _object(self, depth: int, sink: list[Event]) -> dict[str, Any]:
        held: dict[str, Any] = {}
        start = self.document_lines()
        token = self.token()
        while token != ("mark", "}"):
            if token[0] != "string" or self.token() != ("mark", ":"):
                raise BadJson(ended=False)
            key = token[1][1:-1] if "\\" not in token[1] else _text(token[1])
            held[key] = self.value(self.token(), depth + 1, sink)
            token = self.token()
            if token == ("mark", ","):
                token = self.token()
            elif token != ("mark", "}"):
                raise BadJson(ended=False)
        held[""] = (start, self.document_lines())
        return held


def is_end_index(lines: list[str], index: int) -> bool:
    """Whether no line but blank ones follows."""
    return not any(line.strip() for line in lines[index + 1 : index + 50])


def is_sample(key: str, value: object) -> bool:
    """Whether a field holds a prompt, an answer or the like: its object is a sample, and none of metrics."""
    if isinstance(value, str) and (len(value) > _LONG_TEXT or (key.lower() in _SHORT and len(value) <= _LABEL)):
        return len(value) > _LONG_TEXT
    return key.lower() in TEXTS


def quoted_number(key: str, value: object) -> Number | None:
    """The number that a text holds, as some loggers quote their numbers; ``None`` for names and versions."""
    if not isinstance(value, str) or _IDS.search(key):
        return None
    return read_number(value)


def is_other(key: str) -> bool:
    """Whether a text, a flag or a list under a key tells that its object is more than a record of metrics."""
    return bool(key) and key[0] != "_" and _IDS.search(key) is None


def _text(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _collect(held: dict[str, Any], path: str, event: Event, depth: int) -> None:
    """Adds the numbers of an object with lines to an event."""
    for key, value in held.items():
        name = f"{path}/{key}" if path else key
        if isinstance(value, Value):
            event.cells.setdefault(name, value)
        elif isinstance(value, dict) and depth < DEEPEST:
            _collect(value, name, event, depth + 1)
        elif (number := quoted_number(key, value)) is not None:
            event.cells.setdefault(name, Value(number, event.line))
        else:
            event.texts = event.texts or is_sample(key, value)
            event.others += is_other(key)


def make_event(held: dict[str, Any]) -> Event:
    """The numbers of an object."""
    start, last = held[""]
    event = Event(start, last=last)
    _collect(held, "", event, 0)
    return event
