"""Whole files of structured records: ``trainer_state.json``, JSON lines, CSV and TSV, with the standard modules."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any, Final

from evals.parsing.model import Cell, Event, Reference
from evals.parsing.text import to_number

TRAINER_STATE: Final = "trainer_state.json"
_STEPS: Final = ("step", "_step", "global_step", "current_steps", "iteration", "Step")
_TEXT: Final = 200


def read_trainer_state(text: str, reference: Reference) -> bool:
    """Adds the ``log_history`` of a ``trainer_state.json``; ``False`` if the text is none.

    The module ``json`` tells no lines: each key is sought in the text from where the last one was found.
    """
    if '"log_history"' not in text:
        return False
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        return False
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list):
        return False
    at = text.find('"log_history"')
    for record in history:
        if not isinstance(record, dict):
            continue
        cells = []
        first = last = 0
        for key, value in record.items():
            found = re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:").search(text, at)
            at = at if found is None else found.end()
            last = text.count("\n", 0, at) + 1
            first = first or last
            if isinstance(value, int | float) and not isinstance(value, bool) and key != "step":
                cells.append(Cell(key, value, last, last, record.get("step")))
        if cells:
            summary = "train_runtime" in record
            reference.events.append(Event(TRAINER_STATE, first, last, tuple(cells), summary))
    return True


def read_json_lines(text: str, reference: Reference) -> bool:
    """Adds the objects of a text most of whose lines are JSON objects; ``False`` if it is none.

    An object is an event if it names its step, or if at least half of its leaves are numbers, unless it holds a text
    of more than 200 characters: then it is a sample. Nested keys are joined with ``/``. A number between quotes is
    compared where it was read.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    objects = [(number, held) for number, line in lines if (held := _object(line)) is not None]
    if not objects or 2 * len(objects) < len(lines):
        return False
    reference.open.update({number for number, _ in lines} - {number for number, _ in objects})
    for number, held in objects:
        leaves = dict(_leaves(held, ""))
        numbers = {k: v for k, v in leaves.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        counter = next((key for key in _STEPS if isinstance(numbers.get(key), int)), None)
        sample = any(isinstance(value, str) and len(value) > _TEXT for value in leaves.values())
        if sample or not numbers or (counter is None and 2 * len(numbers) < len(leaves)):
            reference.refused.add(number)
            continue
        step = None if counter is None else int(numbers[counter])
        cells = [Cell(key, value, number, number, step) for key, value in numbers.items() if key != counter]
        for key, value in leaves.items():
            quoted = to_number(value.strip().rstrip("% ")) if isinstance(value, str) else None
            if quoted is not None:
                cells.append(Cell(key, quoted, number, number, step, optional=True))
        reference.events.append(Event("JSON lines", number, number, tuple(cells)))
    return True


def _object(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _leaves(held: dict[str, Any], path: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in held.items():
        name = f"{path}/{key}" if path else key
        found += _leaves(value, name) if isinstance(value, dict) else [(name, value)]
    return found


def read_table(text: str, name: str, reference: Reference) -> bool:
    """Adds the rows of a ``.csv`` or ``.tsv`` file; ``False`` if it is none.

    The first row names the columns; a field is a cell if all of it is a number. A row of another width than the first
    is open, and so is the last number of a text that does not end with a line feed.
    """
    bare = name.lower().removesuffix(".gz")
    if not bare.endswith((".csv", ".tsv")):
        return False
    head = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",")
    last = text.count("\n") + 1
    names: list[str] = []
    first = 1
    for row in reader:
        begin, first = first, reader.line_num + 1
        if not names:
            names = [field.strip() for field in row]
            continue
        if len(row) != len(names):
            reference.open.update(range(begin, first))
            continue
        read = [(key, to_number(field.strip())) for key, field in zip(names, row, strict=True)]
        values = {key: number for key, number in read if number is not None}
        counter = next((key for key in _STEPS if isinstance(values.get(key), int)), None)
        step = None if counter is None else int(values[counter])
        cells = [Cell(key, value, begin, reader.line_num, step) for key, value in values.items() if key != counter]
        if reader.line_num >= last and not text.endswith("\n"):
            cells = cells[:-1]  # the text may stop inside its last number
            reference.open.add(reader.line_num)
        if cells:
            reference.events.append(Event("table", begin, reader.line_num, tuple(cells)))
    return True
