"""Progress bars that carry metrics: Lightning, NeMo, Tianshou (``Epoch 0: 97%| 1651/1702 [13:00<00:24, loss=0.1]``).

A bar is drawn many times; of the drawings of one place the last counts, because the values are those of the batch that
has just ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.model.run import Note
from assistant.parsing.columns import is_result
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.runstarts import FEWEST_STEPS
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_BAR: Final = re.compile(
    r"(?<![\w#])(?P<name>[Ee]poch|[Tt]rain(?:ing)?|[Ii]teration|[Ss]teps?)\s?#?(?P<epoch>[0-9]{1,9})?(?:/[0-9]{1,9})?\s?:[\s:]{0,3}"
    r"(?:\s{0,3}[0-9]{1,3}%(?:\s?\|[^|\n\[\]]{0,300}+\|)?)?\s?(?P<at>[0-9]{1,12})(?:/(?P<of>[0-9]{1,12}|\?))?(?:it)?\s\["
    r"[^\[\]\n,=]{1,60}+(?:,\s{0,4}[^\[\]\n,=]{1,30}+(?=[,\]]))?+(?P<more>,|\])"
)
_PAIR: Final = re.compile(
    rf"\s{{0,4}}(?P<key>[A-Za-z_][\w./@+ ()-]{{0,80}}?)=\s{{0,4}}(?P<number>{NUMBER})(?:\.0(?=[,\]]))?"
    r"(?P<unit>%|[a-zA-Z/]{1,8})?\s{0,2}(?=[,\]]|$)"
)
_OTHER: Final = re.compile(r"\s{0,4}[\w./@+ ()-]{1,80}?=(?P<text>[^,\]\[]{0,80})(?=[,\]]|$)")
_BEST: Final = re.compile(
    rf"Epoch #(?P<epoch>[0-9]{{1,9}}): test_reward: (?P<mean>{NUMBER}) ± (?P<spread>{NUMBER}), "
    rf"best_reward: (?P<best>{NUMBER}) ± "
)
_PAIRED: Final = re.compile(
    rf"(?<=, )(?P<key>[A-Za-z][\w/ -]{{0,40}}?):? \((?P<one>{NUMBER}), (?P<two>{NUMBER})\)(?=[,\]])"
)
_BLANK: Final = re.compile(rf"(?<=, )(?P<key>[A-Za-z][\w/ -]{{0,40}}?):? (?P<number>{NUMBER})(?=%?[,\]])")
_STEPS: Final = ("global_step", "env_step", "step", "trainer/global_step")
_SKIPPED: Final = frozenset({"v_num", "refresh"})
_LONGEST: Final = 5000


@dataclass(slots=True)
class _Drawing:
    """One drawing of a bar."""

    epoch: int
    at: int
    of: int | None
    cells: list[Cell]
    number: int
    tail: str = ""


class BarPostfix:
    """Reads the values that a named progress bar carries behind its speed."""

    name: Final = "bar-postfix"
    strength: Final = 54

    def read(self, document: Document) -> Reading:
        """At most one run, one row a place of the bar."""
        drawings, taken = _drawings(document)
        if not drawings:
            return Reading()
        axis = next(
            (name for name in _STEPS if all(any(cell.key == name for cell in found.cells) for found in drawings)), None
        )
        kept = _last_drawings(drawings)
        ends = [found for found in kept if found.of is None or found.at == found.of]
        counted = axis is None and any(found.epoch and found.of is not None for found in kept)
        book = Book()
        for found in kept:
            step = found.epoch * (found.of or 0) + found.at
            for cell in found.cells:
                if cell.key == axis:
                    step = int(cell.value)
            if axis is None and len(ends) == len(kept) and kept[0].of is None:
                step = found.epoch
            cells = [cell for cell in found.cells if cell.key != axis]
            if cells:
                book.add(step, cells, found.number)
        book.taken.update(taken)
        if not book.rows:
            return Reading()
        notes = book.settle_end(document, drawings[-1].tail)
        notes.append(
            Note(
                "last_drawing",
                "进度条会重绘多次；每个位置取最后一次显示的值。",
                "A progress bar is drawn many times; of each place the last drawing counts.",
            )
        )
        if counted:
            notes.append(
                Note(
                    "step_counted",
                    "步数由进度条算出：epoch × 每轮步数 + 轮内序号。",
                    "The step is counted from the bar: epoch x steps an epoch + place.",
                )
            )
        framework = _framework({cell.key for found in drawings for cell in found.cells}, document)
        run = book.run(document, format=self.name, framework=framework, axis=axis or "step", warnings=notes)
        return Reading((run,), frozenset(book.taken))


def _last_drawings(drawings: Sequence[_Drawing]) -> list[_Drawing]:
    """The last drawing of each place; a bar that is back at its first place is another one."""
    kept: list[_Drawing] = []
    last: dict[tuple[int, int], _Drawing] = {}
    lowest, latest = (0, 0), (-1, -1)
    for found in drawings:
        place = found.epoch, found.at
        if place < latest and len(last) >= FEWEST_STEPS and place <= lowest:
            kept += last.values()
            last = {}
        lowest = min(lowest, place) if last else place
        last.pop(place, None)
        last[place] = found
        latest = place
    return [*kept, *last.values()]


def _drawings(document: Document) -> tuple[list[_Drawing], set[int]]:
    """The drawings that carry a metric, and the lines that were used."""
    drawings: list[_Drawing] = []
    taken: set[int] = set()
    for raw, number in zip(document.lines, document.numbers, strict=False):
        if len(raw) > _LONGEST or not ("=" in raw or "test_reward" in raw or "/s, " in raw):
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        if "=" not in line and "/s, " in line:
            line = _respelt(line)
        best = _BEST.search(line) if "test_reward: " in line else None
        if best is not None and drawings and drawings[-1].epoch == int(best["epoch"]):
            pairs = (("test_reward", "mean"), ("test_reward +-", "spread"), ("best_reward", "best"))
            values = [(key, read_number(best[name])) for key, name in pairs]
            drawings[-1].cells += [Cell(key, value, "") for key, value in values if value is not None]
            taken.add(number)
            continue
        for found in _BAR.finditer(line) if "[" in line else ():
            if found["more"] != ",":
                continue
            cells, tail = _cells(line, found.end())
            if not any(is_result(cell.key) for cell in cells):
                continue
            of = int(found["of"]) if (found["of"] or "").isdigit() else None
            drawings.append(_Drawing(int(found["epoch"] or 0), int(found["at"]), of, cells, number, tail))
            taken.add(number)
    return drawings, taken


def _respelt(line: str) -> str:
    """A bar whose values stand behind a blank, ``Loss 6.27, Acc (0.39, 2.49)``, as ``Loss=6.27, Acc=0.39, ...``."""
    line = _PAIRED.sub(r"\g<key>=\g<one>, \g<key> (2)=\g<two>", line)
    return _BLANK.sub(r"\g<key>=\g<number>", line)


def _cells(line: str, at: int) -> tuple[list[Cell], str]:
    """The ``key=value`` pairs up to the bracket, and what stands there that is none."""
    cells: list[Cell] = []
    while at < len(line):
        pair = _PAIR.match(line, at)
        value = None if pair is None else read_number(pair["number"])
        other = None if pair is not None else _OTHER.match(line, at)
        if pair is not None and pair.end() == len(line):
            return cells, line[at:].strip()
        if pair is not None and value is not None:
            key = pair["key"].strip()
            if key not in _SKIPPED:
                cells.append(Cell(key, value, pair["unit"] or "", pair.start("number")))
        elif other is None:
            return cells, line[at:].strip()
        end = pair.end() if pair is not None else other.end() if other is not None else len(line)
        if line[end : end + 1] != ",":
            return cells, ""
        at = end + 1
    return cells, ""


def _framework(keys: set[str], document: Document) -> str | None:
    if keys & {"test_reward", "env_step"}:
        return "Tianshou"
    if keys & {"reduced_train_loss", "train_step_timing in s"}:
        return "NeMo"
    if any("v_num=" in line for line in document.lines[-2000:]):
        return "PyTorch Lightning"
    return None
