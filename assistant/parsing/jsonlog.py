"""JSON and JSON lines: objects of metrics, one an event, nested ones flattened with "/"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from assistant.model.run import Missing, Number, Run
from assistant.parsing.columns import is_metric, is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import axis_first, cut_note, is_step, keeps_axis
from assistant.parsing.table import Reading, Row, build_run, restart_notes

_TOKEN: Final = re.compile(
    r'[ \t\r]*+(?:(?P<string>"(?:[^"\\\n]|\\.)*+")|(?P<number>[-+]?(?:[0-9][0-9.eE+-]*+|NaN|Infinity|nan|inf))|'
    r"(?P<word>true|false|null)|(?P<mark>[\[\]{},:]))"
)
_PREFIX: Final = re.compile(
    r"(?:[\s\[\](){}<>|:;,.\-/_=*#+0-9TZ]|[A-Z]{3,10}\b|rank|metrics?|train(?:er|ing)?|eval|log(?:ger|s)?|step|json|"
    r"[\w./-]{1,80}\.py|[a-z_]\w{0,40}(?:\.\w{1,40}){0,8}(?=[:\s]))*+$",
    re.IGNORECASE,
)
_SETTINGS: Final = re.compile(r"(?i)config|args|argument|param|setting|option|hyper|request|sampling|usage|schema")
_TEXTS: Final = frozenset(
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
_HISTORIES: Final = (
    "log_history",
    "history",
    "metrics",
    "logs",
    "log",
    "records",
    "data",
    "results",
    "steps",
    "train",
    "eval",
)
_LONGEST: Final = 200_000
_DEEPEST: Final = 40
_MOST_FAILURES: Final = 20
_MOST_NUMBERS: Final = 3000


class _Value(NamedTuple):
    """A number, or ``None`` where ``null`` stands, with its line."""

    value: Number | None
    line: int


@dataclass
class _Event:
    """An object's numbers."""

    line: int
    cells: dict[str, _Value] = field(default_factory=dict)
    texts: bool = False
    bare: bool = True
    last: int = 0


class _BadJson(Exception):
    """The text stops being JSON, at an index of the document's lines."""

    def __init__(self, ended: bool) -> None:
        super().__init__()
        self.ended = ended


class JsonLogs:
    """Reads JSON lines (a prefix before the brace is allowed), lists of objects, and objects of lists."""

    name: Final = "json"
    strength: Final = 42

    def read(self, document: Document) -> Reading:
        """At most one run."""
        if not any("{" in line or "[" in line for line in document.lines):
            return Reading()
        lines = _read_lines(document)
        run = _run(document, lines, "jsonl")
        if run is not None:
            return Reading((run,), _taken(lines))
        for events, cut in _read_texts(document):
            run = _run(document, events, "json", cut=cut)
            if run is not None:
                return Reading((run,), _taken(events))
        return Reading()


def _taken(events: list[_Event]) -> frozenset[int]:
    return frozenset(line for event in events for line in range(event.line, max(event.line, event.last) + 1))


def _read_lines(document: Document) -> list[_Event]:
    """The objects that end on the line on which they begin and are all that stands there but a prefix."""
    events: list[_Event] = []
    for raw, number in zip(document.lines, document.numbers, strict=False):
        if "}" not in raw or len(raw) > _LONGEST:
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        line = line.rstrip().rstrip(",")
        start = line.find("{", 0, 240)
        if start < 0 or not line.endswith("}") or not line.startswith(('{"', "{}", "{ "), start):
            continue
        prefix = line[:start].strip()
        if prefix and (_SETTINGS.search(prefix) or _PREFIX.match(prefix) is None):
            continue
        held = _loads(line[start:])
        if held is None:
            continue
        event = _Event(number, bare=not prefix, last=number)
        _flatten(held, "", number, event, 0)
        if event.cells:
            events.append(event)
    return events


def _loads(text: str) -> dict[str, Any] | None:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _flatten(held: dict[str, Any], path: str, line: int, event: _Event, depth: int) -> None:
    """Adds an object's numbers to an event."""
    for key, value in held.items():
        name = f"{path}/{key}" if path else key
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float) or value is None:
            event.cells.setdefault(name, _Value(value, line))
        elif isinstance(value, dict) and depth < _DEEPEST:
            _flatten(value, name, line, event, depth + 1)
        elif str(key).lower() in _TEXTS or (isinstance(value, str) and len(value) > 200):
            event.texts = True


class _Scanner:
    """Reads one JSON value from a document, with the line of each number."""

    def __init__(self, document: Document, index: int) -> None:
        self.lines = document.lines
        self.numbers = document.numbers
        self.index = index
        self.at = len(self.lines[index]) - len(self.lines[index].lstrip())
        self.tokens = 0

    def _next(self) -> tuple[str, str]:
        """Kind and text of the next token."""
        while self.index < len(self.lines):
            line = self.lines[self.index]
            found = _TOKEN.match(line, self.at)
            if found is not None:
                self.at = found.end()
                self.tokens += 1
                return found.lastgroup or "", found[found.lastgroup or 0]
            if line[self.at :].strip():
                raise _BadJson(ended=is_end_index(self.lines, self.index))
            self.index, self.at = self.index + 1, 0
        raise _BadJson(ended=True)

    def document_lines(self) -> int:
        """Original number of the line that is being read."""
        return self.numbers[min(self.index, len(self.lines) - 1)]

    def value(self, token: tuple[str, str], depth: int, sink: list[_Event]) -> Any:
        """A value: numbers as ``_Value``, objects as dicts; objects that end in a list are put into the sink."""
        kind, text = token
        if kind == "string":
            return text[1:-1] if "\\" not in text else _text(text)
        if kind == "number":
            number = read_number(text)
            if number is None:
                raise _BadJson(ended=False)
            return _Value(number, self.document_lines())
        if kind == "word":
            return _Value(None, self.document_lines()) if text == "null" else text == "true"
        if depth > _DEEPEST or text not in "[{":
            raise _BadJson(ended=False)
        return self._list(depth, sink) if text == "[" else self._object(depth, sink)

    def _list(self, depth: int, sink: list[_Event]) -> list[Any]:
        items: list[Any] = []
        token = self._next()
        while token[1] != "]" or token[0] != "mark":
            items.append(self.value(token, depth + 1, sink))
            if isinstance(items[-1], dict) and depth <= 3:
                event = _event(items[-1])
                if event.cells:
                    sink.append(event)
            token = self._next()
            if token == ("mark", ","):
                token = self._next()
            elif token != ("mark", "]"):
                raise _BadJson(ended=False)
        return items

    def _object(self, depth: int, sink: list[_Event]) -> dict[str, Any]:
        held: dict[str, Any] = {}
        start = self.document_lines()
        token = self._next()
        while token != ("mark", "}"):
            if token[0] != "string" or self._next() != ("mark", ":"):
                raise _BadJson(ended=False)
            key = token[1][1:-1] if "\\" not in token[1] else _text(token[1])
            held[key] = self.value(self._next(), depth + 1, sink)
            token = self._next()
            if token == ("mark", ","):
                token = self._next()
            elif token != ("mark", "}"):
                raise _BadJson(ended=False)
        held[""] = (start, self.document_lines())
        return held


def is_end_index(lines: list[str], index: int) -> bool:
    """Whether no line but blank ones follows."""
    return not any(line.strip() for line in lines[index + 1 : index + 50])


def _text(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _collect(held: dict[str, Any], path: str, event: _Event, depth: int) -> None:
    """Adds the numbers of an object with lines to an event."""
    for key, value in held.items():
        name = f"{path}/{key}" if path else key
        if isinstance(value, _Value):
            event.cells.setdefault(name, value)
        elif isinstance(value, dict) and depth < _DEEPEST:
            _collect(value, name, event, depth + 1)
        elif key.lower() in _TEXTS or (isinstance(value, str) and len(value) > 200):
            event.texts = True


def _event(held: dict[str, Any]) -> _Event:
    """The numbers of an object."""
    start, last = held[""]
    event = _Event(start, last=last)
    _collect(held, "", event, 0)
    return event


def _read_texts(document: Document) -> Iterator[tuple[list[_Event], int | None]]:
    """The events of each JSON value that begins on a line of its own, and the line at which it is cut."""
    failures, index = 0, 0
    single: list[_Event] = []
    while index < len(document.lines) and failures < _MOST_FAILURES:
        if document.lines[index].lstrip()[:1] not in {"{", "["} or not document.lines[index].strip():
            index += 1
            continue
        line = document.lines[index]
        if "[" not in line and line[0] == "{" and line.rstrip().endswith("}"):
            index += 1  # an object that was read as a line
            continue
        scanner = _Scanner(document, index)
        sink: list[_Event] = []
        try:
            held = scanner.value(scanner._next(), 0, sink)
        except (_BadJson, RecursionError) as error:
            failures += 1
            if isinstance(error, _BadJson) and error.ended and len(sink) >= 2:
                yield sink, document.numbers[min(scanner.index, len(document.numbers) - 1)]
            index += 1
            continue
        if scanner.index == index:
            index += 1
        else:
            index = scanner.index + 1
        yield from ((events, None) for events in _histories(held, 0))
        if isinstance(held, dict):
            columns = _columns(held)
            if columns:
                yield columns, None
            event = _event(held)
            if event.cells:
                single.append(event)
    if single:
        yield single, None


def _histories(held: Any, depth: int) -> Iterator[list[_Event]]:
    """The lists of objects in a value, the likeliest first."""
    if isinstance(held, list):
        events = []
        for item in held:
            if isinstance(item, dict):
                event = _event(item)
                if event.cells:
                    events.append(event)
        if events and 2 * len(events) > len(held):
            yield events
    elif isinstance(held, dict) and depth < 3:
        names = sorted(held, key=lambda name: _HISTORIES.index(name) if name in _HISTORIES else len(_HISTORIES))
        for name in names:
            if isinstance(held[name], list | dict):
                yield from _histories(held[name], depth + 1)


def _columns(held: dict[str, Any]) -> list[_Event]:
    """The events of an object of lists of equal length."""
    lists = {name: value for name, value in held.items() if isinstance(value, list) and len(value) >= 2}
    lists = {name: value for name, value in lists.items() if all(isinstance(item, _Value) for item in value)}
    if not lists:
        return []
    size = max((len(value) for value in lists.values()), key=[len(value) for value in lists.values()].count)
    events: list[_Event] = []
    for at in range(size):
        cells = {name: value[at] for name, value in lists.items() if len(value) == size}
        lines = [cell.line for cell in cells.values()]
        events.append(_Event(min(lines), cells, last=max(lines)))
    return events


def _run(document: Document, events: list[_Event], format: str, *, cut: int | None = None) -> Run | None:
    """The run of objects, ``None`` if they are settings, samples or answers rather than metrics."""
    events = [event for event in events if not event.texts and len(event.cells) <= _MOST_NUMBERS]
    if not events:
        return None
    names: dict[str, int] = {}
    for event in events:
        for name, cell in event.cells.items():
            names[name] = names.get(name, 0) + (cell.value is not None)
    metrics = [name for name, count in names.items() if count and not is_step(name) and is_metric(name)]
    steps = {
        name: [event.cells[name].value for event in events if name in event.cells] for name in names if is_step(name)
    }
    numbers = {name: [v for v in values if v is not None] for name, values in steps.items()}
    axis, counted = axis_first(numbers, len(events))
    if not metrics or (axis is None and (len(events) < 2 or max(names[name] for name in metrics) < 2)):
        return None
    if axis is None and not (any(map(is_result, metrics)) and all(event.bare for event in events)):
        return None
    rows: list[Row] = []
    missing: list[Missing] = []
    for event, step in zip(events, counted, strict=True):
        row = Row(step, event.line, last_line=event.last)
        for name, (value, line) in event.cells.items():
            if name == axis and not keeps_axis(name):
                continue
            if value is not None:
                row.values[name] = value
                if line != row.line:
                    row.lines[name] = line
            elif 2 * names[name] >= len(events):
                missing.append(Missing(name, step, line, "not_a_number", "null"))
        rows.append(row)
    notes = restart_notes(rows)
    if cut is not None:
        notes.append(cut_note(cut))
    return build_run(
        rows,
        id="r0",
        name=document.name,
        format=format,
        framework=detect_framework(names),
        step_axis=axis or "index",
        missing=missing,
        warnings=notes,
    )
