"""verl's console: ``step:7 - key:value - …`` on one line or hard-wrapped, and printed validation dictionaries."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace
from typing import Final

from evals.parsing.dicts import evaluate_dict
from evals.parsing.model import Cell, Event, Line, Number, Reference
from evals.parsing.text import NUMBER, to_number, without_process

CONSOLE: Final = "verl console"
VALIDATION: Final = "verl validation"
_HEAD: Final = re.compile(r"(?<![\w/])step:(\d{1,12}) - ")
_FRONT: Final = re.compile(r".*(?:it|s)(?:/it|/s)?\]\s*|\s*")
_PAIR: Final = re.compile(rf"([^\s:][^\n]*?):(?:({NUMBER})|(?:np\.|numpy\.)?(?:float|int|uint|bool)\d*\(({NUMBER})\))")
_KEY: Final = re.compile(r"[A-Za-z_][\w./@()+-]*")
_END: Final = re.compile(r"[\d.eE+)-]+|n|an|f|nf")
"""The rest of a value that a terminal broke."""
_LONGEST_WRAP: Final = 1000
_SHORTEST_WRAP: Final = 40
_CUT: Final = 4096
_MOST_LINES: Final = 500
_VALIDATION: Final = re.compile(r"(\(?)([\"'])(?:Initial|Final) validation metrics: \{")


def read_verl(lines: list[Line], reference: Reference) -> None:
    """Adds every console line and validation dictionary of a text.

    One line: all pairs between `` - ``; the last pair only if another line ends with the same key, so that it cannot
    be half. Several lines: a header, then lines that hold no header of their own; all of them but the last are
    equally long (a terminal's width; blanks that copying took from an end count), and every pair is whole. Anything
    else that begins like a console line is open from where it stops being certain.
    """
    heads: list[tuple[int, re.Match[str]]] = []
    for at, line in enumerate(lines):
        found = _head(line.text)
        if found is not None and not (heads and _is_key(lines[at - 1].text, found, heads[-1][1])):
            heads.append((at, found))
    begins = {at for at, _ in heads}
    ends = Counter(_last_key(lines[at].text) for at, _ in heads)
    for at, found in heads:
        number = lines[at].number
        step = int(found[1])
        body = lines[at].text[found.end() :]
        joined = _wrapped(lines, at, begins)
        pairs = [(pair, number, number) for pair in body.split(" - ")]
        if joined is not None:
            text, places = joined
            pairs = _placed(text[found.end() :], [place - found.end() for place in places], lines, at)
        elif _goes_on(lines, at, begins):
            pairs = pairs[:-1]
            reference.open.add(number)
            for index in range(at + 1, min(at + _MOST_LINES, len(lines))):
                if index in begins or not lines[index].text.strip():
                    break
                reference.open.add(lines[index].number)
        last_line = lines[at + (len(joined[1]) - 1 if joined else 0)].number
        cells, whole = _cells(pairs, step, reference, settled=ends[_last_key(lines[at].text)] > 1 or joined is not None)
        if len(lines[at].text) == _CUT or not whole:
            reference.open.add(last_line)
        if cells:
            reference.events.append(Event(CONSOLE, number, last_line, tuple(cells)))
    _read_validation(lines, reference)


def _head(text: str) -> re.Match[str] | None:
    """The header of a line that begins with it, but for Ray's prefix or a progress bar."""
    found = _HEAD.search(text)
    if found is None:
        return None
    front = text[: found.start()]
    return found if not without_process(front).strip() or _FRONT.fullmatch(front) else None


def _is_key(before: str, found: re.Match[str], head: re.Match[str]) -> bool:
    """Whether a line begins with the end of ``training/global_step:7`` that a terminal broke before ``step``."""
    return before.endswith("global_") and found.start() == 0 and found[1] == head[1]


def _last_key(text: str) -> str:
    found = _PAIR.fullmatch(without_process(text).rstrip().rsplit(" - ", 1)[-1])
    return "" if found is None else found[1]


def _goes_on(lines: list[Line], at: int, heads: set[int]) -> bool:
    """Whether the next line looks as if it continued this one."""
    if at + 1 >= len(lines) or at + 1 in heads or len(lines[at].text) < _SHORTEST_WRAP:
        return False
    following = lines[at + 1].text.strip(" -")
    joins = ":" in following or _END.fullmatch(following) is not None
    return joins and all(" " not in pair for pair in following.split(" - "))


def _wrapped(lines: list[Line], at: int, heads: set[int]) -> tuple[str, list[int]] | None:
    """The joined text of a hard-wrapped event and where each of its lines begins in it; ``None`` if it is none."""
    width = len(lines[at].text)
    if not _SHORTEST_WRAP <= width <= _LONGEST_WRAP or not _goes_on(lines, at, heads):
        return None
    texts = [lines[at].text]
    for index, line in enumerate(lines[at + 1 : at + _MOST_LINES], at + 1):
        if not line.text.strip() or index in heads:
            break
        texts.append(line.text)
    width = max(Counter(len(text) for text in texts[:-1]).items(), key=lambda item: (item[1], item[0]))[0]
    kept = 0
    while kept < len(texts) - 1 and width - 3 <= len(texts[kept]) <= width:
        kept += 1
    full = [text.ljust(width) for text in texts[:kept]]
    if not full or len(texts[0]) > width:
        return None
    text = "".join([*full, texts[kept]])
    pairs = text.partition(" - ")[2].rstrip().split(" - ")
    if not all((found := _PAIR.fullmatch(pair)) and _KEY.fullmatch(found[1]) for pair in pairs):
        return None
    return text, [width * index for index in range(kept + 1)]


def _placed(text: str, starts: list[int], lines: list[Line], at: int) -> list[tuple[str, int, int]]:
    """Pairs of a joined text with their first and last line."""
    pairs = []
    begin = 0
    for pair in text.split(" - "):
        end = begin + len(pair)
        first = max(index for index, start in enumerate(starts) if start <= begin)
        last = max(index for index, start in enumerate(starts) if start < max(end, 1))
        pairs.append((pair, lines[at + first].number, lines[at + max(first, last)].number))
        begin = end + len(" - ")
    return pairs


def _cells(
    pairs: list[tuple[str, int, int]], step: int, reference: Reference, *, settled: bool
) -> tuple[list[Cell], bool]:
    """Cells of an event, and whether they are all it holds."""
    cells = []
    whole = settled
    for at, (pair, first, last) in enumerate(pairs):
        found = _PAIR.fullmatch(pair.strip())
        final = at == len(pairs) - 1
        if found is None or (final and not settled and found[3] is None):
            whole = whole and not final
            if found is not None:
                reference.doubtful.add((found[1], float(found[2])))
            continue
        value = to_number(found[2] or found[3])
        if value is not None:
            cells.append(Cell(found[1], value, first, last, step))
        whole = whole or final
    return cells, whole


def _read_validation(lines: list[Line], reference: Reference) -> None:
    """Adds ``"Initial validation metrics: {…}"``: string literals side by side, as ``pprint`` breaks a long one.

    Each literal is evaluated by itself, their contents are joined, and what they hold is evaluated as a dictionary.
    Old verl's ``fit`` prints what ``_validate`` returns and logs ``{f'val/{key}': …}`` of the same on the step line: a
    key that only differs from the lines' by that prefix is theirs.
    """
    consoles = [event for event in reference.events if event.kind == CONSOLE]
    known = {cell.key for event in consoles for cell in event.cells}
    for at, line in enumerate(lines):
        opened = _VALIDATION.match(without_process(line.text).strip())
        if opened is None:
            continue
        contents: list[str] = []
        for further in lines[at : at + 5000]:
            piece = without_process(further.text).strip()
            ended = piece.endswith(")") if opened[1] else True
            literal = piece.removeprefix("(") if not contents else piece
            content = _literal(literal[:-1] if ended and opened[1] else literal)
            if content is None:
                break
            contents.append(content)
            if ended:
                break
        numbers = [held.number for held in lines[at : at + max(len(contents), 1)]]
        text = "".join(contents)
        held = evaluate_dict(text[text.find("{") :]) if text.endswith("}") else None
        if held is None:
            reference.open.update(held.number for held in lines[at : at + 400])
            continue
        cells = _validation_cells(held, text, contents, numbers)
        beside = _beside(consoles, numbers[0], final="Final" in line.text)
        cells = [replace(cell, key=_on_lines(cell, known, beside)) for cell in cells]
        reference.events.append(Event(VALIDATION, numbers[0], numbers[-1], tuple(cells)))


def _beside(consoles: list[Event], number: int, *, final: bool) -> dict[str, Number]:
    """The cells of the step line before a last validation, or after a first one."""
    events = [event for event in consoles if (event.first < number) == final]
    return {cell.key: cell.value for cell in events[-1 if final else 0].cells} if events else {}


def _on_lines(cell: Cell, known: set[str], beside: dict[str, Number]) -> str:
    """What step lines call a validation dictionary's cell; as it is where their own value is another."""
    name = f"val/{cell.key}"
    other = cell.key in known or name not in known or beside.get(name, cell.value) != cell.value
    return cell.key if other else name


def _literal(text: str) -> str | None:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def _validation_cells(held: dict[object, object], text: str, contents: list[str], numbers: list[int]) -> list[Cell]:
    starts = [sum(map(len, contents[:index])) for index in range(len(contents))]
    cells = []
    for key, value in held.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        at = text.find(f"{key!r}: ")
        end = min((stop for mark in (", '", "}") if (stop := text.find(mark, at + len(repr(key)))) > 0), default=at)
        first, last = (max(i for i, start in enumerate(starts) if start <= place) for place in (at, end))
        number: Number = value
        cells.append(Cell(str(key), number, numbers[first], numbers[last]))
    return cells
