"""Lines of metrics in styles of their own: ``[5000] a 0.0 / b nan / c 1.2`` and ``MeanRew: \\t -257 +- 63`` blocks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, NamedTuple

from assistant.model.run import Note
from assistant.parsing.columns import is_metric, is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.logprefix import read_body
from assistant.parsing.markdown import Fences
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.respelt import averaged, epoch_told, respell, respell_start, tested
from assistant.parsing.stepbook import Book, Cell, read_cell
from assistant.parsing.table import Reading
from assistant.parsing.toldlines import told
from assistant.parsing.totals import TOTAL

_BRACKET: Final = re.compile(r"\s{0,8}\[\s{0,12}(?P<step>[0-9]{1,12})(?:\s?/\s?[0-9]{1,12})?\]\s{1,4}(?=[A-Za-z])")
_TABBED: Final = re.compile(
    rf"\s{{0,8}}(?:INFO[\w:.\- ]{{0,60}}[:\]\s]\s?)?"
    rf"(?P<key>[A-Za-z][\w()]{{1,40}}(?: [a-z]\w{{0,20}}){{0,2}})(?::|(?=[ ]{{0,12}}\t))"
    rf"[ ]{{0,12}}\t[\t ]{{0,8}}(?P<number>{NUMBER})"
    rf"(?: (?:\+-|\+/-|±) (?P<spread>{NUMBER}))?(?P<rest>(?: (?:seconds|secs?|s))?\s*)$"
)
_COUNTED: Final = re.compile(
    r"(?P<word>(?i:episode|epoch|ep|iteration|iter|(?:(?<=[,;|] )global[_ ])?step|update|generation|timestep|round))s?"
    r"\s?[:=#]?\s{0,4}"
    r"\[?(?P<step>[0-9]{1,12})(?:\s?/\s?(?P<of>[0-9]{1,12}))?(?:\](?=[,;|:\s]))?(?:\s{0,3}[,;|:\]\t-]\s{0,4}|\s{2,12})(?=[A-Za-z])"
    r"|[0-9]{1,12}/[0-9]{1,12}: (?P<other>episode): (?P<number>[0-9]{1,12}), (?=[A-Za-z])"
)
_SEPARATOR: Final = re.compile(r"\s{0,4}(?:,(?![^\[\]]{0,60}\])|[|;\t]|\s-\s)\s{0,4}|\s{2,12}(?=[A-Za-z])")
_RANGE: Final = re.compile(r"(?<=[0-9]) \[[-0-9., naif]{1,60}\]$")
_BORDER: Final = re.compile(r"(?:INFO[\w:.\- ]{0,60}[:\]\s]\s?)?[-=*]{5,200}\s*$")
_INNER: Final = frozenset({"step", "global step", "global_step", "iteration", "iter", "update", "timestep"})
_OUTER: Final = frozenset({"epoch", "ep"})
_WORDS: Final = frozenset({"episode", "epoch", "ep", "iteration", "iter", "step", "update", "generation", "timestep"})
_PAIRS: Final = re.compile(
    rf"[A-Za-z]{{2,12}} [0-9]{{1,12}}(?: {{1,4}}[A-Za-z_][\w./-]{{0,60}} {{1,4}}{NUMBER}){{1,60}}"
)
_MOST_COUNTERS: Final = 4
_COUNTERS: Final = frozenset({"iteration", "iter", "itr", "step", "epoch", "update"})
_LONGEST: Final = 2000


class BracketLines:
    """Reads ``[5000] a 0.0 / b nan / c 1.2``."""

    name: Final = "bracket-lines"
    strength: Final = 16

    def read(self, document: Document) -> Reading:
        """At most one run: at least two such lines, or one with a known metric."""
        book = Book()
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if "[" not in raw[:10] or len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _BRACKET.match(line)
            if head is None:
                continue
            pieces = line[head.end() :].split(" / ")
            cells = [read_cell(piece) for piece in pieces]
            good = [cell.moved(0) for cell in cells if cell is not None and len(cell.key.split()) <= 3]
            if len(good) == len(pieces) and (len(good) >= 2 or is_metric(good[0].key)):
                book.add(int(head["step"]), good, number)
        if not book.rows:
            return Reading()
        metrics = sum(is_metric(key) for key in book.rows[0].values)
        if len(book.rows) < 2 and not metrics:
            return Reading()
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        run = book.run(document, format=self.name, framework=None, axis="step", warnings=notes)
        return Reading((run,), frozenset(book.taken))


class _Counted(NamedTuple):
    """A line: its counters, the outermost first, its cells, its number, and the totals behind its counters."""

    counters: list[Cell]
    cells: list[Cell]
    number: int
    totals: list[int | None]


class CountedLines:
    """Reads ``Episode: 59, reward: -18, Avg. reward: -19.9``: lines of nothing but a counter and its values."""

    name: Final = "counted-lines"
    strength: Final = 14

    def read(self, document: Document) -> Reading:
        """At most one run: at least two such lines, or one with several values."""
        fences = Fences()
        events: list[_Counted] = []
        averages: list[_Counted] = []
        epoch: str | None = None
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or fences.skip(raw):
                continue
            line = respell(read_body(respell_start(raw))[1].rstrip().lstrip("=*- ").rstrip("=* "))
            epoch = epoch_told(line) or epoch
            into = events
            if (mean := averaged(line, epoch)) != "":
                line, into = mean, averages
            head = _COUNTED.match(line)
            if head is None and (moved := told(line)):
                line, head = moved, _COUNTED.match(moved)
            if head is None:
                pairs = _spaced_pairs(line, number) or _tested(line, number, events)
                if pairs is not None:
                    events.append(pairs)
                continue
            outer = head["word"] or head["other"]
            counters = [Cell(outer, int(head["step"] or head["number"]), "")]
            totals = [_total(head["of"])]
            at = head.end()
            while len(counters) < _MOST_COUNTERS and (head := _COUNTED.match(line, at)) is not None and head["word"]:
                key = line[at : head.start("step")].rstrip(" \t:=#[")
                counters.append(Cell(key, int(head["step"]), ""))
                totals.append(_total(head["of"]))
                at = head.end()
            pieces = [piece for piece in _SEPARATOR.split(line[at:]) if piece.strip()]
            cells = [read_cell(_RANGE.sub("", piece), value_first=True) for piece in pieces]
            good = [cell for cell in cells if cell is not None and len(cell.key.split()) <= 4]
            if len(good) == len(pieces) and any(is_result(cell.key) for cell in good):
                into.append(_Counted(counters, good, number, totals))
        events = events or averages
        book, place = Book(), _axis_place(events)
        running = _running(events) if place == 0 else None
        words: Counter[str] = Counter()
        for event in events:
            counter = event.counters[place if running is None else 1]
            words[counter.key.lower()] += 1
            others = [cell for cell in event.counters if cell is not counter]
            step = int(counter.value) if running is None else running.step(event)
            book.add(step, [*others, *event.cells], event.number)
        if not book.rows or (len(book.rows) < 2 and len(book.rows[0].values) < 2):
            return Reading()
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        axis = {"ep": "episode", "iter": "iteration", "global step": "step", "global_step": "step"}.get(
            word := words.most_common(1)[0][0], word
        )
        if running is not None:
            notes.append(running.note())
        run = book.run(document, format=self.name, framework=None, axis=axis, warnings=notes)
        run = replace(run, framework=detect_framework(run.columns))
        if running is not None and running.epochs is not None:
            run = replace(run, extras={TOTAL: (running.epochs * running.size, events[-1].number)})
        return Reading((run,), frozenset(book.taken))


def _tested(line: str, number: int, events: list[_Counted]) -> _Counted | None:
    """A test line below training lines: ``Test set: Average loss: 0.05``, at the place of the line above."""
    told = tested(line) if events else ""
    cells = [read_cell(piece) for piece in told.split(", ")] if told else []
    good = [cell for cell in cells if cell is not None]
    above = events[-1] if events else None
    return None if above is None or not good else above._replace(cells=good, number=number)


def _total(text: str | None) -> int | None:
    return None if text is None else int(text)


def _spaced_pairs(line: str, number: int) -> _Counted | None:
    """A line of nothing but ``word number`` pairs, counters first: ``epoch 0 step 3 loss 2.03 lr 1e-4``."""
    if _PAIRS.fullmatch(line) is None:
        return None
    words = line.split()
    cells: list[Cell] = []
    for key, text in zip(words[::2], words[1::2], strict=True):
        value = read_number(text)
        if value is None:
            return None
        cells.append(Cell(key, value, ""))
    inner = 0
    while inner < len(cells) and cells[inner].key.lower() in _WORDS and isinstance(cells[inner].value, int):
        inner += 1
    if not 0 < inner < len(cells) or not any(is_result(cell.key) for cell in cells[inner:]):
        return None
    return _Counted(cells[:inner], cells[inner:], number, [None] * inner)


@dataclass(frozen=True, slots=True)
class _Running:
    """A step within an epoch as a step of the whole: how many an epoch has, and how it is known."""

    size: int
    base: int
    printed: bool
    epochs: int | None

    def step(self, event: _Counted) -> int:
        """The running step of a line."""
        return (int(event.counters[0].value) - self.base) * self.size + int(event.counters[1].value)

    def note(self) -> Note:
        """Tells how the steps were counted."""
        size, base = self.size, self.base
        epoch_zh, epoch_en = (f"(轮次 − {base})", f"(epoch - {base})") if base else ("轮次", "epoch")
        how_zh, how_en = (
            ("日志所写", "as the log prints") if self.printed else ("由各轮的步数得出", "as its epochs show")
        )
        return Note(
            "step_counted",
            f"步数由日志的轮次与轮内序号算出：{epoch_zh} × 每轮 {size} 步（{how_zh}）+ 轮内序号。",
            f"The step is counted from the log's epoch and place: {epoch_en} x {size} steps an epoch ({how_en}) + "
            "place.",
        )


def _running(events: list[_Counted]) -> _Running | None:
    """How steps that begin anew each epoch run on, where the log tells the length of an epoch."""
    if len(events) < 2 or any(len(event.counters) < 2 for event in events):
        return None
    outer = {event.counters[0].key.lower() for event in events}
    inner = {event.counters[1].key.lower() for event in events}
    epochs: dict[int, list[int]] = {}
    for event in events:
        epochs.setdefault(int(event.counters[0].value), []).append(int(event.counters[1].value))
    if not outer <= _OUTER or len(inner) > 1 or not inner <= _INNER or max(map(len, epochs.values())) < 2:
        return None
    totals = {event.totals[1] for event in events}
    of = {event.totals[0] for event in events}
    base = 0 if 0 in epochs else 1
    last = of.pop() if len(of) == 1 else None
    printed = totals.pop() if len(totals) == 1 else None
    if printed is not None:
        fits = all(max(steps) <= printed for steps in epochs.values())
        return _Running(printed, base, True, last) if fits and printed > 0 else None
    size = _epoch_size(list(epochs.values()))
    return None if size is None else _Running(size, base, False, last)


def _epoch_size(epochs: list[list[int]]) -> int | None:
    """Steps an epoch, where all epochs but the last have the same steps at one distance."""
    first = sorted(set(epochs[0]))
    gaps = {other - one for one, other in pairwise(first)}
    whole = all(sorted(set(steps)) == first for steps in epochs[:-1]) and set(epochs[-1]) <= set(first)
    if len(epochs) < 2 or len(gaps) != 1 or not whole:
        return None
    gap = gaps.pop()
    return first[-1] - first[0] + gap if first[0] <= gap else None


def _axis_place(events: list[_Counted]) -> int:
    """Which of the lines' counters dates them: the second if it alone rises from line to line, else the first."""
    if len(events) < 2 or any(len(event.counters) < 2 for event in events):
        return 0
    names = {event.counters[1].key.lower() for event in events}
    if len(names) > 1 or not names <= _INNER:
        return 0
    rises = [all(one.counters[at].value < two.counters[at].value for one, two in pairwise(events)) for at in (0, 1)]
    return int(rises == [False, True])


class TabbedBlocks:
    """Reads blocks of ``Iteration: \\t 5`` and ``MeanRew: \\t -257 +- 63`` between dashes."""

    name: Final = "tabbed-blocks"
    strength: Final = 15

    def read(self, document: Document) -> Reading:
        """At most one run, one row a block that begins with its iteration."""
        book = Book()
        cells: list[tuple[Cell, int]] = []
        step: int | None = None
        start, spread = 0, False

        def flush() -> None:
            if step is not None and cells:
                book.add(step, [cell for cell, _ in cells], start, [at for _, at in cells])

        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            found = _TABBED.match(line) if "\t" in line else None
            if found is None:
                if _BORDER.match(line) or (step is not None and number - start > 100):
                    flush()
                    step, cells = None, []
                continue
            value = read_number(found["number"])
            if value is None:
                continue
            if found["key"].lower() in _COUNTERS and isinstance(value, int):
                flush()
                step, start, cells = value, number, []
            elif step is not None:
                cells.append((Cell(found["key"], value, found["rest"].strip()), number))
                other = read_number(found["spread"]) if found["spread"] else None
                if other is not None:
                    spread = True
                    cells.append((Cell(f"{found['key']} +-", other, ""), number))
        flush()
        if not book.rows:
            return Reading()
        notes = []
        if spread:
            notes.append(
                Note(
                    "spread",
                    "“值 +- 离散度”的第二个数记在 “指标名 +-” 下。",
                    'Of "value +- spread", the second number is kept under the metric\'s name with " +-".',
                )
            )
        run = book.run(document, format=self.name, framework=None, axis="iteration", warnings=notes)
        return Reading((run,), frozenset(book.taken))
