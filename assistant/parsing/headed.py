"""Trainers that print one line a step behind a counter of their own: torchtitan, torchtune, LitGPT, MMEngine, fairseq.

Also ML-Agents and rl_games. What stands behind the counter are ``key: value``, ``key=value`` or ``key value`` cells;
the table of :data:`STYLES` tells how to split them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from assistant.model.run import Missing, Note
from assistant.parsing.columns import is_result
from assistant.parsing.headedlines import Body, bars, labels, sentences, spaced
from assistant.parsing.nanogpt import is_prefix
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, cut_note, is_end
from assistant.parsing.table import Reading

_FRONT: Final = 300
_LONGEST: Final = 5000
_COUNT: Final = "[0-9]{1,12}"


class Style(NamedTuple):
    """How one trainer prints.

    Attributes:
        name: of the format.
        framework: that prints it.
        word: a line without it is none.
        head: what stands before the cells; groups ``step``, ``iter``, ``epoch``, ``at``, ``of``, ``part``.
        bare: whether nothing but stamps and levels may stand before the head.
        cells: ``bars``, ``spaced``, ``sentences`` or ``labels``.
    """

    name: str
    framework: str
    word: str
    head: re.Pattern[str]
    cells: str
    bare: bool = True


STYLES: Final = (
    Style(
        "litgpt",
        "LitGPT",
        "iter ",
        re.compile(
            rf"(?:Epoch (?P<epoch>{_COUNT}) ?\| )?(?<![\w/])iter (?P<iter>{_COUNT}) step (?P<step>{_COUNT})(?: ?\| |: )"
        ),
        "bars",
    ),
    Style(
        "torchtitan",
        "torchtitan",
        "step:",
        re.compile(
            rf"(?<![\w/.-])(?P<part>validate )?step:\s{{1,6}}(?P<step>{_COUNT})\s{{2,8}}(?=[a-z][\w/.-]{{0,60}}:)"
        ),
        "spaced",
    ),
    Style(
        "torchtune",
        "torchtune",
        "Step ",
        re.compile(rf"(?<![\w/.-])Step (?P<step>{_COUNT}) \| (?=[A-Za-z_][^\s:|]{{0,80}}:[0-9n.+-])"),
        "spaced",
    ),
    Style(
        "torchtune",
        "torchtune",
        "|Loss: ",
        re.compile(rf"(?<![\w|./-])(?P<epoch>{_COUNT})\|(?P<step>{_COUNT})\|(?=Loss: )"),
        "spaced",
        bare=False,
    ),
    Style(
        "mmengine",
        "MMEngine",
        "][",
        re.compile(
            rf"(?<![\w/.-])Epoch(?:\((?P<part>\w{{1,20}})\))?\s{{1,3}}\[\s{{0,8}}(?P<epoch>{_COUNT})\]"
            rf"\[\s{{0,8}}(?P<at>{_COUNT})(?:/\s{{0,8}}(?P<of>{_COUNT}))?\]\s{{1,8}}"
        ),
        "spaced",
        bare=False,
    ),
    Style(
        "mmengine",
        "MMEngine",
        "Iter",
        re.compile(
            rf"(?<![\w/.-])Iter(?:\((?P<part>\w{{1,20}})\))?\s{{1,3}}"
            rf"\[\s{{0,8}}(?P<at>{_COUNT})(?:/\s{{0,8}}{_COUNT})?\]\s{{1,8}}"
        ),
        "spaced",
        bare=False,
    ),
    Style(
        "fairseq",
        "fairseq",
        "| epoch ",
        re.compile(
            rf"(?:train_inner )?\| epoch (?P<epoch>{_COUNT}):?\s{{1,8}}(?P<at>{_COUNT}) / (?P<of>{_COUNT}) (?=[a-z])"
        ),
        "spaced",
    ),
    Style(
        "fairseq",
        "fairseq",
        "| epoch ",
        re.compile(
            rf"(?:(?:train|valid|test)\w{{0,20}} )?\| epoch (?P<epoch>{_COUNT}) \| "
            r"(?:(?P<part>valid|test) on '[^']{1,60}' subset \| )?(?=[a-z])"
        ),
        "bars",
    ),
    Style(
        "ml-agents",
        "ML-Agents",
        "Step: ",
        re.compile(rf"(?<![\w/])Step: (?P<step>{_COUNT})\. (?=Time Elapsed: |Mean Reward: )"),
        "sentences",
        bare=False,
    ),
    Style("rl-games", "rl_games", "fps step", re.compile(r"(?=fps step: [0-9])"), "labels"),
)
_FAIRSEQ: Final = frozenset({"wps", "wpb", "ppl", "nll_loss", "valid_nll_loss", "valid_ppl", "num_updates", "gnorm"})
_SPLIT: Final = {"bars": bars, "spaced": spaced, "sentences": sentences, "labels": labels}


@dataclass
class _Line:
    """One line: its counters and cells."""

    style: Style
    counts: dict[str, int]
    part: str
    body: Body
    number: int
    cells: list[Cell] = field(default_factory=list)

    def step(self, axis: str, last: int) -> int:
        """Its step; a line that names none has the last one."""
        if axis in self.counts:
            return self.counts[axis]
        if "of" in self.counts and not self.part:
            return (self.counts["epoch"] - 1) * self.counts["of"] + self.counts["at"]
        return self.counts["at"] if "at" in self.counts and "epoch" not in self.counts else last


class HeadedLines:
    """Reads the lines of :data:`STYLES`; the trainer that printed most of them wins."""

    name: Final = "headed-lines"
    strength: Final = 61

    def read(self, document: Document) -> Reading:
        """At most one run, one row a step."""
        lines = list(_lines(document))
        if not lines:
            return Reading()
        name = Counter(line.style.name for line in lines).most_common(1)[0][0]
        lines = [line for line in lines if line.style.name == name]
        axis = _axis(lines)
        cut = is_end(document, lines[-1].number) and lines[-1].body.drop_half(line.body for line in lines[:-1])
        book, copies, derived, last = Book(), 0, False, 0
        lacking: list[tuple[str, str, int, int]] = []
        bad: list[int] = []
        seen: tuple[object, ...] = ()
        for line in lines:
            if axis == "num_updates" and axis not in line.counts and "at" in line.counts:
                bad.append(line.number)
                continue
            derived = derived or (axis not in line.counts and "of" in line.counts and not line.part)
            last = line.step(axis, last)
            cells = _named(line, axis)
            shown = (last, line.part, tuple((cell.key, repr(cell.value)) for cell in cells))
            if not line.body.cells:
                bad.append(line.number)
                continue
            book.taken.add(line.number)
            if shown == seen:
                copies += 1
                book.last = line.number
                continue
            seen = shown
            book.add(last, cells, line.number)
            lacking += [(key, text, last, line.number) for key, text in line.body.lacking]
        held = Counter(key for row in book.rows for key in row.values)
        for key, text, step, number in lacking:
            if 2 * held[key] >= len(book.rows):
                book.gaps.append(Missing(key, step, number, "not_a_number", text))
        notes = book.settle_end(document, lines[-1].body.tail)
        if cut and not notes:
            notes = [cut_note(lines[-1].number)]
        if not book.rows:
            return Reading(not_understood=tuple(bad))
        notes += _notes(copies, derived)
        run = book.run(document, format=name, framework=lines[0].style.framework, axis=axis, warnings=notes)
        return Reading((run,), frozenset(book.taken), tuple(bad))


def _lines(document: Document) -> Iterable[_Line]:
    """The lines of any style, with their cells."""
    for raw, number in zip(document.lines, document.numbers, strict=False):
        if len(raw) > _LONGEST:
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        front = line[:_FRONT]
        for style in STYLES:
            if style.word not in front:
                continue
            found = style.head.search(line, 0, _FRONT)
            if found is None or (style.bare and not is_prefix(line[: found.start()])):
                continue
            counts = {key: int(text) for key, text in found.groupdict().items() if text and key != "part"}
            body = _SPLIT[style.cells](line[found.end() :])
            if style.name == "fairseq" and not any(cell.key.split()[-1] in _FAIRSEQ for cell in body.cells):
                continue
            part = (found.groupdict().get("part") or "").strip()
            if any(is_result(cell.key) for cell in body.cells) or (part and body.cells):
                yield _Line(style, counts, "" if part == "train" else part, body, number)
                break


def _axis(lines: list[_Line]) -> str:
    """What counts the rows."""
    name = lines[0].style.name
    counter = {"fairseq": "num_updates", "rl-games": "epoch"}.get(name)
    for line in lines:
        for cell in line.body.cells:
            if cell.key == counter and isinstance(cell.value, int):
                line.counts[counter] = cell.value
    if name == "rl-games":
        return "epoch"
    if name == "fairseq":
        return "num_updates" if any("num_updates" in line.counts for line in lines) else "iteration"
    if name == "litgpt":
        steps = [line.counts["step"] for line in lines]
        return "step" if len(set(steps)) == len(steps) else "iter"
    return "iteration" if name == "mmengine" else "step"


def _named(line: _Line, axis: str) -> list[Cell]:
    """A line's cells, those of an evaluation apart from those of the training."""
    cells = [cell for cell in line.body.cells if cell.key != axis]
    name = line.style.name
    if name == "fairseq":
        whole = "at" not in line.counts
        split = "valid" if line.part else "train"
        if whole:
            cells = [
                cell if cell.key.startswith((split, "best")) else cell._replace(key=f"{split}/{cell.key}")
                for cell in cells
            ]
    elif line.part and name == "torchtitan":
        cells = [cell._replace(key=f"validation_metrics/{cell.key}") for cell in cells]
    elif line.part:
        cells = [cell if "/" in cell.key else cell._replace(key=f"{line.part}/{cell.key}") for cell in cells]
    elif name == "litgpt":
        renamed = {"val": "loss val"}
        line.body.lacking[:] = [(renamed.get(key, key), text) for key, text in line.body.lacking]
        cells = [cell._replace(key=renamed.get(cell.key, cell.key)) for cell in cells]
    extra = [Cell(key, value, "") for key, value in line.counts.items() if key in {"epoch", "iter", "step"}]
    return [cell for cell in extra if cell.key != axis and name in {"litgpt", "torchtune", "mmengine"}] + cells


def _notes(copies: int, derived: bool) -> list[Note]:
    """Remarks on lines that several processes printed, and on steps that were counted."""
    notes: list[Note] = []
    if copies:
        notes.append(
            Note(
                "duplicate_lines",
                f"{copies} 行与前一行完全相同（多个进程都在输出），只计一次。",
                f"{copies} lines repeat the line before them exactly (several processes print); each is counted once.",
            )
        )
    if derived:
        notes.append(
            Note(
                "step_counted",
                "步数由日志的轮次与轮内序号算出：(epoch − 1) × 每轮步数 + 轮内序号。",
                "The step is counted from the log's epoch and place: (epoch - 1) x steps an epoch + place.",
            )
        )
    return notes
