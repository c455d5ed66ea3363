"""JSON and JSON lines: objects of metrics, one an event, nested ones flattened with "/"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from assistant.model.run import Missing, MissingReason, Run
from assistant.parsing.columns import is_metric, is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.jsonscan import (
    DEEPEST,
    BadJson,
    Event,
    Scanner,
    Value,
    is_other,
    is_sample,
    make_event,
    quoted_number,
)
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.runstarts import FEWEST_STEPS
from assistant.parsing.stepbook import STEP_NAMES, axis_first, cut_note, is_step, keeps_axis, whole_number
from assistant.parsing.table import Reading, Row, build_run, restart_notes

_PREFIX: Final = re.compile(
    r"(?:[\s\[\](){}<>|:;,.\-/_=*#+0-9TZ]|[A-Z]{3,10}\b|rank|metrics?|train(?:er|ing)?|eval|log(?:ger|s)?|step|json|"
    r"[\w./-]{1,80}\.py|[a-z_]\w{0,40}(?:\.\w{1,40}){0,8}(?=[:\s]))*+$",
    re.IGNORECASE,
)
_SETTINGS: Final = re.compile(r"(?i)config|args|argument|param|setting|option|hyper|request|sampling|usage|schema")
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
_COMMA: Final = re.compile(r', ?(?=")')
_TORN_CELL: Final = re.compile(r'"(?P<key>[^"\\]{1,200})": ?')
_INTERNAL: Final = re.compile(r"_(?:timestamp|runtime|wandb)(?:/|$)")
_RATES: Final = frozenset({"lr", "learning_rate"})
"""Names that settings share with metrics."""

_LONGEST: Final = 200_000
_MOST_FAILURES: Final = 20
_MOST_NUMBERS: Final = 3000


class JsonLogs:
    """Reads JSON lines (a prefix before the brace is allowed), lists of objects, and objects of lists."""

    name: Final = "json"
    strength: Final = 42

    def read(self, document: Document) -> Reading:
        """One run of all lines, or one a value that stands on several."""
        if not any("{" in line or "[" in line for line in document.lines):
            return Reading()
        lines = _read_lines(document)
        torn = _read_torn(document) if lines else None
        if torn is not None:
            lines.append(torn.event)
        run = records_run(document, lines, "jsonl", torn=torn)
        if torn is None and (run is None or run.step_axis == "index"):
            several = self._several(document, lines)
            if several.runs:
                return several
        if run is not None:
            lost = () if torn is None or torn.event.line in run.row_lines else (torn.event.line,)
            return Reading((run,), _taken(lines) - set(lost), lost)
        runs: list[Run] = []
        taken: frozenset[int] = frozenset()
        used = -1
        for at, events, cut in _read_texts(document):
            run = records_run(document, events, "json", cut=cut) if at != used else None
            if run is not None and (not runs or _is_alike(run, runs[0])):
                used = at
                runs.append(replace(run, id=f"r{len(runs)}"))
                taken |= _taken(events)
        return Reading(tuple(runs), taken)

    def _several(self, document: Document, lines: list[Event]) -> Reading:
        """Runs that count by different keys, or beside settings, if each line with a well-known metric is dated."""
        events = [event for event in lines if event.bare and not event.texts]
        groups = _by_counter(events)
        dated = {event.line for own in groups for event in own}
        if any(
            event.line not in dated and any(is_result(name) and name.lower() not in _RATES for name in event.cells)
            for event in lines
        ):
            return Reading()
        return self._grouped(document, groups)

    def read_blocks(self, document: Document) -> Reading:
        """Records beside another log: plain lines with a counter, one run for each counter that dates three or more."""
        events = [event for event in _read_lines(document) if event.bare and not event.texts]
        return self._grouped(document, _by_counter(events))

    @staticmethod
    def _grouped(document: Document, groups: list[list[Event]]) -> Reading:
        runs: list[Run] = []
        taken: frozenset[int] = frozenset()
        for own in groups:
            run = records_run(document, own, "jsonl")
            if run is not None:
                runs.append(replace(run, id=f"r{len(runs)}"))
                taken |= _taken(own)
        return Reading(tuple(runs), taken)


def _by_counter(events: list[Event]) -> list[list[Event]]:
    """Events by the key that counts them, those of three and more."""
    found: dict[str, list[Event]] = {}
    for event in events:
        named = {name.lower().strip(): name for name in event.cells}
        counter = next((name for name in STEP_NAMES if name in named), None)
        value = None if counter is None else event.cells[named[counter]].value
        if counter is not None and value is not None and whole_number(value) is not None and len(event.cells) > 1:
            found.setdefault(counter, []).append(event)
    return [own for own in found.values() if len(own) >= FEWEST_STEPS]


def _is_alike(run: Run, first: Run) -> bool:
    """Whether a further value holds another run of the same training script: its metrics over its steps."""
    shared = run.columns.keys() & first.columns.keys()
    same = run.step_axis == first.step_axis != "index" and 2 * len(shared) >= len(run.columns)
    return same and len(run.distinct_steps) >= FEWEST_STEPS <= len(first.distinct_steps)


def _taken(events: list[Event]) -> frozenset[int]:
    return frozenset(line for event in events for line in range(event.line, max(event.line, event.last) + 1))


def _read_lines(document: Document) -> list[Event]:
    """The objects that end on the line on which they begin and are all that stands there but a prefix."""
    events: list[Event] = []
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
        event = Event(number, bare=not prefix, last=number)
        _flatten(held, "", number, event, 0)
        if event.cells:
            events.append(event)
    return events


@dataclass
class _Torn:
    """An object in which the text stops: what is whole, the key at which it stops, and what stands there."""

    event: Event
    key: str | None
    text: str


def _read_torn(document: Document) -> _Torn | None:
    """The object on the last line, if the text stops inside it."""
    at = len(document.lines) - 1
    while at >= 0 and not document.lines[at].strip():
        at -= 1
    raw = document.lines[at] if at >= 0 else ""
    line = (strip_ray(raw)[1] if "pid=" in raw[:120] else raw).rstrip()
    start = line.find('{"', 0, 240)
    if start < 0 or len(line) > _LONGEST or line.endswith(("}", "},")) or _PREFIX.match(line[:start].strip()) is None:
        return None
    commas = list(_COMMA.finditer(line, start))
    held = _loads(line[start : commas[-1].start()] + "}") if commas else None
    if held is None:
        return None
    cut = commas[-1].end()
    number = document.numbers[at]
    event = Event(number, bare=not line[:start].strip(), last=number)
    _flatten(held, "", number, event, 0)
    found = _TORN_CELL.match(line, cut)
    return _Torn(event, found["key"] if found else None, line[cut:]) if event.cells else None


def _loads(text: str) -> dict[str, Any] | None:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _flatten(held: dict[str, Any], path: str, line: int, event: Event, depth: int) -> None:
    """Adds an object's numbers to an event."""
    for key, value in held.items():
        name = f"{path}/{key}" if path else key
        if isinstance(value, bool):
            event.others += is_other(str(key))
        elif isinstance(value, int | float) or value is None:
            event.cells.setdefault(name, Value(value, line))
        elif isinstance(value, dict) and depth < DEEPEST:
            _flatten(value, name, line, event, depth + 1)
        elif (number := quoted_number(str(key), value)) is not None:
            event.cells.setdefault(name, Value(number, line))
        else:
            event.texts = event.texts or is_sample(str(key), value)
            event.others += is_other(str(key))


def _read_texts(document: Document) -> Iterator[tuple[int, list[Event], int | None]]:
    """Each JSON value that begins on a line of its own: where, what may be its events, and the line at which it is cut.

    The numbers of all objects that are no histories come last, as one.
    """
    failures, index = 0, 0
    single: list[Event] = []
    while index < len(document.lines) and failures < _MOST_FAILURES:
        if document.lines[index].lstrip()[:1] not in {"{", "["} or not document.lines[index].strip():
            index += 1
            continue
        line = document.lines[index]
        if "[" not in line and line[0] == "{" and line.rstrip().endswith("}"):
            index += 1  # an object that was read as a line
            continue
        scanner = Scanner(document, index)
        sink: list[Event] = []
        try:
            held = scanner.value(scanner.token(), 0, sink)
        except (BadJson, RecursionError) as error:
            failures += 1
            if isinstance(error, BadJson) and error.ended and len(sink) >= 2:
                yield index, sink, document.numbers[min(scanner.index, len(document.numbers) - 1)]
            index += 1
            continue
        begin = index
        index = max(scanner.index, index) + 1
        yield from ((begin, events, None) for events in _histories(held, 0))
        if isinstance(held, dict):
            columns = _columns(held)
            if columns:
                yield begin, columns, None
            event = make_event(held)
            if event.cells:
                single.append(event)
    if single:
        yield len(document.lines), single, None


def _histories(held: Any, depth: int) -> Iterator[list[Event]]:
    """The lists of objects in a value, the likeliest first."""
    if isinstance(held, list):
        events = []
        for item in held:
            if isinstance(item, dict):
                event = make_event(item)
                if event.cells:
                    events.append(event)
        if events and 2 * len(events) > len(held):
            yield events
    elif isinstance(held, dict) and depth < 3:
        names = sorted(held, key=lambda name: _HISTORIES.index(name) if name in _HISTORIES else len(_HISTORIES))
        for name in names:
            if isinstance(held[name], list | dict):
                yield from _histories(held[name], depth + 1)


def _columns(held: dict[str, Any]) -> list[Event]:
    """The events of an object of lists of equal length."""
    lists = {name: value for name, value in held.items() if isinstance(value, list) and len(value) >= 2}
    lists = {name: value for name, value in lists.items() if all(isinstance(item, Value) for item in value)}
    if not lists:
        return []
    size = max((len(value) for value in lists.values()), key=[len(value) for value in lists.values()].count)
    events: list[Event] = []
    for at in range(size):
        cells = {name: value[at] for name, value in lists.items() if len(value) == size}
        lines = [cell.line for cell in cells.values()]
        events.append(Event(min(lines), cells, last=max(lines)))
    return events


def records_run(
    document: Document, events: list[Event], format: str, *, cut: int | None = None, torn: _Torn | None = None
) -> Run | None:
    """The run of objects, ``None`` if they are settings, samples or answers rather than metrics."""
    events = [event for event in events if not event.texts and len(event.cells) <= _MOST_NUMBERS]
    if not events:
        return None
    if torn is not None and torn.event is events[-1] and _is_undated(torn.event, events[:-1]):
        events = events[:-1]
        cut = torn.event.line
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
    if not metrics and format == "jsonl" and axis is not None and len(set(counted)) >= FEWEST_STEPS:
        metrics = [name for name, count in names.items() if count >= FEWEST_STEPS and not is_step(name)]
    if not metrics:
        return None
    if axis is None and len(events) == 1 and not is_record(events[0]):
        return None
    if axis is None and len(events) > 1 and max(names[name] for name in metrics) < 2:
        return None
    if axis is None and not (any(map(is_result, metrics)) and all(event.bare for event in events)):
        return None
    rows: list[Row] = []
    missing: list[Missing] = []
    for event, step in zip(events, counted, strict=True):
        row = Row(step, event.line, last_line=event.last)
        for name, (value, line) in event.cells.items():
            if (name == axis and not keeps_axis(name)) or _INTERNAL.match(name):
                continue
            if value is not None:
                row.values[name] = value
                if line != row.line:
                    row.lines[name] = line
            elif 2 * names[name] >= len(events):
                missing.append(Missing(name, step, line, "not_a_number", "null"))
        rows.append(row)
    notes = restart_notes(rows)
    if torn is not None and torn.event is events[-1]:
        missing += _lost(torn, names, rows[-1].step, len(events))
        cut = torn.event.line
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


def is_record(event: Event) -> bool:
    """Whether one object that names no step is a record of metrics by itself, and not of settings or of a sample."""
    names = [name for name, cell in event.cells.items() if cell.value is not None and name[:1] != "_"]
    metrics = [name for name in names if is_metric_name(name) and "..." not in name and "…" not in name]
    results = [name for name in metrics if is_result(name) and name.rpartition("/")[2].lower() not in _RATES]
    return len(results) >= 2 and 2 * len(metrics) > len(names) and 4 * event.others <= len(names)


def _is_undated(torn: Event, events: list[Event]) -> bool:
    """Whether an object stops before the step that all others name."""
    steps = [name for name in (events[0].cells if events else ()) if is_step(name) and name not in torn.cells]
    return any(all(name in event.cells for event in events) for name in steps) and not any(map(is_step, torn.cells))


def _lost(torn: _Torn, names: dict[str, int], step: int, size: int) -> list[Missing]:
    """What the last object lacks: the cell at which the text stops, and those that most objects have."""
    line = torn.event.line
    known = torn.key if torn.key in names else None
    reason: MissingReason = "half_value" if torn.key is not None else "half_key"
    gaps = [Missing(known or torn.key, step, line, reason, torn.text[:80])]
    others = [name for name, count in names.items() if 2 * count >= size and name not in torn.event.cells]
    return gaps + [Missing(name, step, line, "line_cut") for name in others if name != torn.key and not is_step(name)]
