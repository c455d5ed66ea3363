"""Tables of two columns between dashes, one an event: Stable-Baselines, Spinning Up, baselines; and rsl_rl's blocks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing, Note, Number
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import STEP_NAMES, Book, Cell, cut_note, is_end, keeps_axis, whole_number
from assistant.parsing.table import Reading

_BORDER: Final = re.compile(r"\s{0,40}[-+=]{5,400}\s*$")
_ROW: Final = re.compile(r"\s{0,40}\|(?P<pad>\s{1,80})(?P<key>[^|\s][^|]{0,120})\|(?P<value>[^|]{0,120})\|\s*$")
_PREFIX: Final = re.compile(
    r"\s{0,8}(?:\[[^\]|]{1,60}\]|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{5,18}Z?|[0-9]{1,4}:)(?: - )?\s(?=\s{0,40}[|-])"
)
_RESULT: Final = re.compile(
    r"(?i)(?:ep_?rew|ep_?len|eprewmean|epret|eplen|loss|explained_variance|fps|return|reward|entropy)"
)
_ITERATION: Final = re.compile(r"[\s#*]{0,120}Learning iteration (?P<step>[0-9]{1,9})/[0-9]{1,9}[\s*]*$")
_LABEL: Final = re.compile(
    rf"(?P<key>[A-Za-z][^:|]{{0,100}}):\s{{1,40}}(?P<number>{NUMBER})"
    r"(?P<unit>(?:s|ms|%| ?steps/s|fps)?)(?P<rest>(?![\w.:]).{0,200})$"
)
_PART: Final = re.compile(rf"(?P<key>[a-z][\w ]{{0,30}}):? (?P<number>{NUMBER})s")
_LONGEST: Final = 1000
_MOST_LINES: Final = 200


@dataclass
class _Block:
    """A table: its cells with their lines, and where it stops if it is cut."""

    cells: dict[str, tuple[Number, int]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    rows: int = 0
    texts: int = 0
    group: str = ""
    pad: int = 0
    closed: bool = False
    torn: bool = False


class BoxTables:
    """Reads ``|    ep_rew_mean | -227 |`` tables; keys below a group row ``| rollout/ | |`` are joined with it."""

    name: Final = "box-table"
    strength: Final = 55

    def read(self, document: Document) -> Reading:
        """At most one run, one row a table."""
        blocks = [block for block in _blocks(document) if block.cells and block.rows > block.texts * 2]
        if not blocks or not _are_metrics(blocks):
            return Reading()
        axis = _axis(blocks)
        book, notes = Book(), list[Note]()
        step, carried = 0, list[int]()
        bad: tuple[int, ...] = ()
        if axis is None and blocks[0].torn and len(blocks) > 1 and _axis(blocks[1:]) is not None:
            bad = tuple(sorted({number for _, number in blocks.pop(0).cells.values()}))
            axis = _axis(blocks)
            notes.append(
                Note(
                    "table_cut",
                    f"第 {bad[0]} 行的表缺少开头，没有 {axis}，不知道是哪一步，未采用。",
                    f"The table on line {bad[0]} lacks its beginning and {axis}: its step is not known, "
                    "and it was left out.",
                    bad[0],
                )
            )
        final = blocks[-1]
        if axis is not None and not final.closed and axis not in final.cells and _is_last(document, max(final.lines)):
            blocks.pop()
            bad += tuple(final.lines)
            notes.append(
                Note(
                    "table_cut",
                    f"第 {final.lines[0]} 行起的最后一个表在 {axis} 之前中断，不知道是哪一步，未采用。",
                    f"The last table, from line {final.lines[0]} on, stops before its {axis}: its step is not known, "
                    "and it was left out.",
                    final.lines[0],
                )
            )
        for at, block in enumerate(blocks):
            held = block.cells.get(axis) if axis else None
            if axis is None:
                step = at
            elif held is not None:
                step = whole_number(held[0]) or 0
            else:
                carried.append(min(block.lines))
            cells = [(k, v, n) for k, (v, n) in block.cells.items() if k != axis or keeps_axis(k)]
            if cells:
                numbers = [n for _, _, n in cells]
                book.add(step, [Cell(k, v, "") for k, v, _ in cells], min(block.lines), numbers)
            book.taken.update(block.lines)
        if not book.rows:
            return Reading(not_understood=bad)
        last = blocks[-1]
        if last is final and not last.closed and _is_last(document, max(last.lines)):
            notes += _cut(book, [list(b.cells) for b in blocks[:-1]], list(last.cells), axis, max(last.lines))
        if carried:
            notes.append(
                Note(
                    "step_before",
                    f"{len(carried)} 个表没有 {axis}，归入它前面的一步。",
                    f"{len(carried)} tables do not show {axis}; they go to the step before them.",
                    counted=tuple(carried),
                )
            )
        keys = {key for block in blocks for key in block.cells}
        run = book.run(document, format="box-table", framework=_framework(keys), axis=axis or "index", warnings=notes)
        return Reading((run,), frozenset(book.taken), bad)


def _blocks(document: Document) -> list[_Block]:
    """The tables; rows without a border above are a table's end whose beginning was not pasted."""
    blocks: list[_Block] = []
    block: _Block | None = None
    strange = 0
    for raw, number in zip(document.lines, document.numbers, strict=False):
        if len(raw) > _LONGEST or not ("|" in raw or "---" in raw or "===" in raw or block is not None):
            block = None
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        stamp = _PREFIX.match(line)
        if stamp is not None:
            line = line[stamp.end() :]
        if _BORDER.match(line):
            if block is not None and block.rows and "+" not in line:
                block.lines.append(number)
                block.closed = True
                block = None
            elif block is None:
                block = _Block()
                blocks.append(block)
            continue
        row = _ROW.match(line) if line.count("|") == 3 else None
        if row is None:
            strange += 1
            if block is None or "|" in line or strange > 3:
                block = None
            continue
        strange = 0
        if block is None:
            block = _Block(torn=True)
            blocks.append(block)
        _take(block, row, number)
    return blocks


def _take(block: _Block, row: re.Match[str], number: int) -> None:
    """Reads one row of a table."""
    key, text = row["key"].strip(), row["value"].strip(" *\t")
    if not text and key.endswith("/"):
        block.group, block.pad = key, len(row["pad"])
        block.lines.append(number)
        return
    block.rows += 1
    value = read_number(text) if text else None
    if value is None:
        block.texts += bool(text)
        return
    if block.group and len(row["pad"]) > block.pad:
        key = block.group + key
    block.cells.setdefault(key, (value, number))
    block.lines.append(number)


def _are_metrics(blocks: list[_Block]) -> bool:
    """Whether the tables are a training's: settings are printed once, and name no step and no result."""
    seen: Counter[str] = Counter(key for block in blocks for key in block.cells)
    names = {key.lower() for key in seen}
    results = sum(_RESULT.search(key) is not None for key in seen)
    if any(name in names for name in STEP_NAMES) and results:
        return True
    return results >= 2 and (len(blocks) == 1 or max(seen.values()) >= 2)


def _axis(blocks: list[_Block]) -> str | None:
    """The key that counts the tables: of the known names the first that most of them show as a whole number."""
    shown: Counter[str] = Counter()
    for block in blocks:
        shown.update(key for key, (value, _) in block.cells.items() if whole_number(value) is not None)
    named = {key.lower(): key for key in reversed(list(shown))}
    for name in STEP_NAMES:
        key = named.get(name)
        if key is not None and 2 * shown[key] > len(blocks) and key in blocks[0].cells:
            return key
    return None


def _cut(
    book: Book, shapes: list[list[str]], keys: list[str], axis: str | None, line: int, *, half: bool = False
) -> list[Note]:
    """Names the cells that a last table without its border lacks.

    Args:
        book: the rows.
        shapes: keys of the tables before it.
        keys: its keys.
        axis: the key that counts the rows.
        line: where the text stops.
        half: whether the last value may be half.
    """
    longer = [shape for shape in shapes if shape[: len(keys)] == keys and len(shape) > len(keys)]
    unit = book.shapes[-1][-1][1] if book.shapes and book.shapes[-1] else ""
    torn = half and not unit and keys[-1] in book.units
    if not book.rows or not (longer or torn):
        return []
    row = book.rows[-1]
    if half:
        value = row.values.pop(keys[-1], None)
        row.lines.pop(keys[-1], None)
        book.gaps.append(Missing(keys[-1], row.step, line, "half_value", "" if value is None else str(value)))
    book.gaps += [
        Missing(k, row.step, line, "line_cut") for k in max(longer, key=len, default=[])[len(keys) :] if k != axis
    ]
    return [cut_note(line)]


def _is_last(document: Document, number: int) -> bool:
    """Whether at most a torn row and prose follow a line of a table."""
    torn = number
    for line, at in zip(document.lines[-20:], document.numbers[-20:], strict=False):
        if at > number and line.strip():
            torn = at if strip_ray(line)[1].lstrip().startswith(("|", "-")) else number
            break
    return is_end(document, torn)


def _framework(keys: set[str]) -> str | None:
    if any(key.startswith(("rollout/", "time/")) for key in keys):
        return "Stable-Baselines3"
    if keys & {"AverageEpRet", "TotalEnvInteracts", "EpLen"}:
        return "Spinning Up"
    if keys & {"ep_rewmean", "ep_reward_mean", "eplenmean", "eprewmean", "EpRewMean"}:
        return "Stable-Baselines"
    return None


class RslRl:
    """Reads rsl_rl's blocks: ``Learning iteration 5/1500`` and the labelled values below it."""

    name: Final = "rsl-rl"
    strength: Final = 56

    def read(self, document: Document) -> Reading:
        """At most one run, one row an iteration."""
        book, shapes = Book(), list[list[str]]()
        step: int | None = None
        colon = start = 0
        cells: list[tuple[Cell, int]] = []

        def flush() -> None:
            if step is not None and cells:
                book.add(step, [cell for cell, _ in cells], start, [at for _, at in cells])
                shapes.append([cell.key for cell, _ in cells])

        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _ITERATION.match(line) if "Learning iteration" in line else None
            if head is not None:
                flush()
                step, start, colon, cells = int(head["step"]), number, 0, []
                continue
            if step is None or ":" not in line:
                continue
            if number - start > _MOST_LINES or line.lstrip().startswith("ETA:"):
                flush()
                if cells and line.lstrip().startswith("ETA:"):
                    book.taken.add(number)
                step, cells = None, []
                continue
            found = _LABEL.match(line.lstrip())
            if found is None:
                continue
            place = len(line) - len(line.lstrip()) + len(found["key"])
            key = found["key"]
            if not (place == colon or not cells or key.startswith(("Mean ", "Total ", "Episode")) or line[0] != " "):
                continue
            value = read_number(found["number"])
            if value is None:
                continue
            colon = colon or place
            cells.append((Cell(key, value, found["unit"].strip()), number))
            if found["rest"].startswith(" (collection"):
                for part in _PART.finditer(found["rest"]):
                    seconds = read_number(part["number"])
                    if seconds is not None:
                        cells.append((Cell(part["key"], seconds, "s"), number))
        flush()
        if not book.rows:
            return Reading()
        notes: list[Note] = []
        if step is not None and is_end(document, book.last):
            half = document.numbers[-1] == book.last
            notes = _cut(book, shapes[:-1], shapes[-1], None, book.last, half=half)
        run = book.run(document, format=self.name, framework="rsl_rl", axis="iteration", warnings=notes)
        return Reading((run,), frozenset(book.taken))
