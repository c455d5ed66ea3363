"""Printed dictionaries: every balanced ``{…}`` of a text, evaluated, and told apart from configurations.

Plain rules, in this order. A dictionary is **no event** if it holds another dictionary, a ``True`` or ``False``, or
fewer numbers than other things; **an event** if

- the text in front of it is a step heading: slime's ``step 3: ``, ``rollout 3: ``, ``perf 3: ``, ``eval 3: ``;
  OpenRLHF's ``Global step 3: `` and ``global_step 3, eval_metrics: ``; that names the step;
- or it holds ``train_runtime`` or ``eval_runtime`` (the Trainer's last words);
- or it holds a number ``epoch``, ``episode``, ``current_steps`` or the text ``global_step/max_steps``, and a loss, a
  reward, a gradient norm, a learning rate or an evaluation;
- or the text says ``pipeline step N`` (ROLL) and at least half of its keys are paths.

Any other dictionary, any that stands in a sentence and any that cannot be evaluated is open.
"""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from typing import Any, Final

from evals.parsing.model import Cell, Event, Line, Number, Reference
from evals.parsing.text import NUMBER, to_number, without_process

DICTIONARY: Final = "dictionary"
_WRAPPED: Final = re.compile(
    rf"(?<![\w'\"])(?:(?:np|numpy|torch)\.)?(?:float|int|uint|tensor|array)\d*"
    rf"\(\s*({NUMBER})(?:, (?:device|dtype)=[^()]*)?\)"
)
_NAMES: Final = re.compile(r"(?<![\w.'\"/@-])([-+]?)(nan|NaN|inf|Infinity|null|true|false)(?![\w.'\"/@-])")
_SENTINEL: Final = {
    "nan": "1e999-1e999j",
    "NaN": "1e999-1e999j",
    "inf": "1e999",
    "Infinity": "1e999",
    "null": "None",
    "true": "True",
    "false": "False",
}
"""What ``ast.literal_eval`` takes in their place; the complex number, which no log prints, stands for ``nan``."""
_OPENING: Final = re.compile(r"\{\s*(?:['\"]|$)")
_HEADING: Final = re.compile(
    r"(?:^|[\s\]:-])(?:(?:[a-z][a-z0-9_]*-)?(?P<slime>step|rollout|perf|eval|passrate|multi_turn) (?P<n>\d{1,12}): "
    r"|Global step (?P<m>\d{1,12})(?: \[[\w.-]+\])?: |global_step (?P<e>\d{1,12}), eval_metrics: )$"
)
_FRONT: Final = re.compile(r"\s*|.*(?:[\]}]|[:>\-|])\s*|.*\b(?:INFO|DEBUG)\s*")
_METRIC: Final = re.compile(r"loss|reward|grad_norm|learning_rate|^lr$|^eval_|objective/|accuracy", re.IGNORECASE)
_COUNTS: Final = ("epoch", "episode", "current_steps")
_STEP_OF_MAX: Final = "global_step/max_steps"
_PERCENT: Final = re.compile(r"[-+]?\d+(?:\.\d+)?\s?%")
_MOST_LINES: Final = 120
_MOST_TEXT: Final = 60_000


def evaluate_dict(text: str) -> dict[Any, Any] | None:
    """The dictionary that a text writes, ``nan``, infinities and NumPy scalars included; ``None`` if it is none."""
    if text.startswith('{"'):
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            held = None
        if isinstance(held, dict):
            return held
    plain = _WRAPPED.sub(lambda found: found[1], text)
    plain = _NAMES.sub(lambda found: found[1] + _SENTINEL[found[2]], plain)
    try:
        held = ast.literal_eval(plain)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return _restored(held) if isinstance(held, dict) else None


def _restored(held: dict[Any, Any]) -> dict[Any, Any]:
    return {key: float("nan") if isinstance(value, complex) else value for key, value in held.items()}


def balanced(text: str, start: int) -> int | None:
    """The offset behind the brace that closes the one at ``start``, quotes considered; ``None`` if it stays open."""
    depth, quote, at = 0, "", start
    while at < len(text):
        sign = text[at]
        if quote:
            if sign == "\\":
                at += 1
            elif sign == quote:
                quote = ""
        elif sign in "'\"":
            quote = sign
        elif sign in "{[(":
            depth += 1
        elif sign in "}])":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def read_dicts(lines: list[Line], reference: Reference) -> None:
    """Adds the events of a text, and marks the lines of dictionaries that are none or in doubt."""
    roll = any("pipeline step " in line.text for line in lines)
    at, column = 0, 0
    while at < len(lines):
        found = _OPENING.search(lines[at].text, column)
        if found is None:
            at, column = at + 1, 0
            continue
        read = _read_at(lines, at, found.start())
        if read is None:
            reference.open.add(lines[at].number)
            column = found.start() + 1
            continue
        held, text, starts, end = read
        numbers = [line.number for line in lines[at : at + len(starts)]]
        front = without_process(lines[at].text[: found.start()])
        verdict, step = judge(held, front, roll=roll)
        if verdict == "event":
            cells = _cells(held, text, starts, numbers, step)
            summary = "train_runtime" in held
            reference.events.append(Event(DICTIONARY, numbers[0], numbers[-1], tuple(cells), summary))
        else:
            (reference.refused if verdict == "none" else reference.open).update(numbers)
        at, column = at + len(starts) - 1, end - starts[-1]


def judge(held: dict[Any, Any], front: str, *, roll: bool) -> tuple[str, int | None]:
    """``event``, ``none`` or ``open``, and the step that the heading in front names."""
    if not held:
        return "open", None
    numbers = {key for key, value in held.items() if _as_number(value) is not None}
    nested = any(isinstance(value, dict | bool) or _holds_dict(value) for value in held.values())
    if nested or 2 * len(numbers) < len(held) or not all(isinstance(key, str) for key in held):
        return "none", None
    heading = _HEADING.search(front)
    if heading is not None:
        return "event", int(heading["n"] or heading["m"] or heading["e"])
    if _FRONT.fullmatch(front) is None:
        return "open", None
    if {"train_runtime", "eval_runtime"} & numbers:
        return "event", None
    if (numbers.intersection(_COUNTS) or _STEP_OF_MAX in held) and any(_METRIC.search(key) for key in numbers):
        return "event", None
    if roll and 2 * sum("/" in key for key in held) >= len(held) and len(numbers) == len(held):
        return "event", None
    return "open", None


def _holds_dict(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, dict) for item in value)


def _as_number(value: object) -> Number | None:
    """The number a value is, or that the Trainer of transformers 5 wrote between quotes."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return to_number(value.strip()) if isinstance(value, str) else None


def _read_at(lines: list[Line], at: int, column: int) -> tuple[dict[Any, Any], str, list[int], int] | None:
    """The dictionary that begins there: its value, the joined text, where each line begins in it, and its end."""
    alone = lines[at].text
    end = balanced(alone, column)
    if end is not None:
        held = evaluate_dict(alone[column:end])
        return None if held is None else (held, alone, [0], end)
    for glue in ("\n", ""):
        text, starts = alone, [0]
        for further in lines[at + 1 : at + _MOST_LINES]:
            if len(text) > _MOST_TEXT:
                break
            starts.append(len(text) + len(glue))
            text += glue + (without_process(further.text) if glue else further.text)
            if "}" not in further.text:
                continue
            end = balanced(text, column)
            if end is not None:
                held = evaluate_dict(text[column:end])
                if held is not None:
                    return held, text, starts, end
                break
    return None


def _cells(held: dict[Any, Any], text: str, starts: list[int], numbers: list[int], step: int | None) -> list[Cell]:
    if _STEP_OF_MAX in held:
        step = int(str(held[_STEP_OF_MAX]).split("/", maxsplit=1)[0])
    cells = []
    for key, value in held.items():
        number = _as_number(value)
        optional = False
        if number is None and isinstance(value, str) and _PERCENT.fullmatch(value):
            number, optional = to_number(value.rstrip("% ")), True
        if number is None:
            continue
        places = [text.find(quote + key + quote) for quote in "'\""] if "\n" in text or len(starts) > 1 else []
        first, last = 0, len(starts) - 1
        if any(place >= 0 for place in places):
            first = bisect_right(starts, max(places)) - 1
            last = min(first + 2, last)
        cells.append(Cell(key, number, numbers[first], numbers[last], step, optional))
    return cells
