"""Several runs in one log: a run whose counter begins anew is cut there, whatever format and whichever way read it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assistant.model.run import Column, Missing, Note, Number, Run
from assistant.parsing.frameworks import detect_framework, is_verl_sft
from assistant.parsing.runstarts import Start, find_starts, training_epochs
from assistant.parsing.turns import turn_notes

ANOTHER: Final = "another_run"
"""Code of the notes on both sides of a cut."""

_INDEX: Final = "index"
_VERL: Final = frozenset({"verl", "verl-sft"})
_EARLIER: Final = "@"
"""Stands in the name of a side fact before the line of an earlier printing, which a later one of its run replaces."""


def earlier(name: str, line: int) -> str:
    """The name under which a side fact is kept that was printed again later: it may be another run's by then."""
    return f"{name}{_EARLIER}{line}"


def split_runs(runs: Iterable[Run], *, used_up: bool = False) -> tuple[Run, ...]:
    """The runs of one text, each cut where another one begins in it.

    Args:
        runs: as the formats read them, in order of appearance.
        used_up: nobody else needs them: the columns of one that is cut are taken out of it one by one, so that a large
            table is not there twice.

    Returns:
        In order of appearance, ``r0``, ``r1`` …; of runs with one name each has its place behind it
        (``train.log #2``), as a source is written to mean that run.
    """
    cut = [split_run(run, used_up=used_up) for run in runs]
    parts = [part for of_one in cut for part in of_one]
    if len(parts) > len(cut):
        parts = [replace(run, id=f"r{at}") for at, run in enumerate(_in_order(cut))]
    parts = [replace(run, warnings=(*notes, *run.warnings)) if (notes := turn_notes(run)) else run for run in parts]
    parts = _tell_neighbours(parts)
    names = Counter(run.name for run in parts)
    return tuple(
        replace(run, name=f"{run.name} #{at}") if names[run.name] > 1 else run for at, run in enumerate(parts, 1)
    )


def _tell_neighbours(parts: Sequence[Run]) -> list[Run]:
    """Runs that formats told apart, with a note on both sides, as those that were cut have one."""
    found = list(parts)
    for at, (one, other) in enumerate(pairwise(parts), 1):
        first = min(other.row_lines, default=0)
        told = {note.line for note in one.warnings if note.code == ANOTHER}
        if first <= max(one.row_lines, default=0) or told & set(other.row_lines[:1]):
            continue
        before = Note(
            ANOTHER,
            f"从第 {first} 行起是另一份记录（{other.format}），算作另一个 run。",
            f"From line {first} on another log ({other.format}) follows: it is taken as another run.",
            first,
        )
        behind = Note(
            ANOTHER,
            f"第 {first} 行之前是另一份记录（{one.format}），算作另一个 run。",
            f"Another log ({one.format}) stands before line {first}: it is taken as another run.",
            first,
        )
        found[at - 1] = replace(found[at - 1], warnings=(*found[at - 1].warnings, before))
        found[at] = replace(found[at], warnings=(behind, *found[at].warnings))
    return found


def _in_order(cut: Sequence[list[Run]]) -> list[Run]:
    """The parts of several runs, none before one that ends where it has not begun; else in the order of the runs."""
    left = [of_one[::-1] for of_one in cut]
    found: list[Run] = []
    while left := [of_one for of_one in left if of_one]:
        first = min(max(of_one[-1].row_lines, default=0) for of_one in left)
        of_one = next(of_one for of_one in left if min(of_one[-1].row_lines, default=0) <= first)
        found.append(of_one.pop())
    return found


def split_run(run: Run, *, used_up: bool = False) -> list[Run]:
    """A run as the runs it consists of: mostly itself; ``used_up`` as in :func:`split_runs`."""
    starts = find_starts(run)
    if not starts:
        return [_plain(run)]
    rows = [0, *(start.row for start in starts), len(run.steps)]
    parts = [_Part(begin, end, _first_line(run, begin)) for begin, end in pairwise(rows)]
    ends = [*(part.first for part in parts[1:]), None]
    parts = [replace(part, behind=end) for part, end in zip(parts, ends, strict=True)]
    missing = _share_out(run, parts)
    notes = [_notes(start, run.row_lines[start.row], _what(run)) for start in starts]
    metrics = frozenset(run.columns)
    columns = _columns(run.columns, parts, used_up=used_up)
    return [
        _cut(
            run,
            part,
            columns[at],
            _own(missing[at], columns[at], metrics, part.begin if run.step_axis == _INDEX else 0),
            [*([notes[at - 1][1]] if at else []), *([notes[at][0]] if at < len(notes) else [])],
        )
        for at, part in enumerate(parts)
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows and lines of a part of a run; the first one begins with the text, the last one has no line behind it."""

    begin: int
    end: int
    first: int
    behind: int | None = None

    def holds(self, number: int | None) -> bool:
        """Whether a line is the part's own."""
        return number is not None and self.first <= number and (self.behind is None or number < self.behind)


def _first_line(run: Run, begin: int) -> int:
    """The line behind the row before: what stands between the rows, such as a validation's size, is the later run's."""
    if not begin:
        return 0
    last = [column.lines[at] for column in run.columns.values() if (at := _place(column, begin - 1)) is not None]
    last += [gap.line for gap in run.missing if gap.step == run.steps[begin - 1] and gap.line < run.row_lines[begin]]
    return min(max([run.row_lines[begin - 1], *last]) + 1, run.row_lines[begin])


def _place(column: Column, row: int) -> int | None:
    at = bisect_left(column.rows, row)
    return at if at < len(column.rows) and column.rows[at] == row else None


def _what(run: Run) -> str:
    return "epoch" if run.step_axis in (_INDEX, "epoch") else "step"


def _notes(start: Start, line: int, what: str) -> tuple[Note, Note]:
    """Why a run was cut: for the run before and for the run behind the place."""
    counted = "步数" if what == "step" else what
    back_zh = f"第 {line} 行：{counted}从 {start.before} 退回到 {start.to}"
    back_en = f"Line {line}: the {what} goes back from {start.before} to {start.to}"
    return (
        Note(
            ANOTHER, f"{back_zh}，从那里起算作另一个 run。", f"{back_en}: what follows is taken as another run.", line
        ),
        Note(ANOTHER, f"{back_zh}，算作另一个 run。", f"{back_en}: taken as another run.", line),
    )


def _share_out(run: Run, parts: Sequence[_Part]) -> list[list[Missing]]:
    """The missing cells of each part: by their lines, or by the rows that lack them where all stand on one line."""
    found: list[list[Missing]] = [[] for _ in parts]
    firsts = [part.first for part in parts]
    lacking: dict[tuple[str | None, int], list[int]] = {}
    if any(run.row_lines[part.begin] <= run.row_lines[part.begin - 1] for part in parts[1:]):
        rows: dict[int, list[int]] = {}
        for row, step in enumerate(run.steps):
            rows.setdefault(step, []).append(row)
        for metric, step in {(gap.metric, gap.step) for gap in run.missing}:
            column = run.columns.get(metric or "")
            without = [row for row in rows.get(step, []) if column is None or _place(column, row) is None]
            lacking[metric, step] = without[::-1]
    begins = [part.begin for part in parts]
    for gap in run.missing:
        without = lacking.get((gap.metric, gap.step), [])
        at = bisect_right(begins, without.pop()) if without else bisect_right(firsts, gap.line)
        found[max(at - 1, 0)].append(gap)
    return found


def _cut(
    run: Run, part: _Part, columns: Mapping[str, Column], missing: Sequence[Missing], notes: Sequence[Note]
) -> Run:
    from assistant.parsing.largenotes import Notes

    steps = run.steps[part.begin : part.end]
    if run.step_axis == _INDEX:
        steps = tuple(range(part.end - part.begin))
    framework, kind = run.framework, run.format
    if kind in _VERL:
        framework, kind = detect_framework(columns), "verl-sft" if is_verl_sft(columns) else "verl"
    cut = replace(
        run,
        steps=steps,
        row_lines=run.row_lines[part.begin : part.end],
        columns=columns,
        missing=tuple(missing),
        extras={key: held for key, held in run.extras.items() if part.holds(held[1])},
        warnings=(),
        format=kind,
        framework=framework,
    )
    kept = Notes()
    kept.take((note for note in run.warnings if run.step_axis != _INDEX or note.code != "restart"), part)
    cut = _plain(kept.onto(cut))
    return replace(cut, warnings=(*notes, *cut.warnings, *(_epochs_back(cut) if run.step_axis == _INDEX else ())))


def _own(missing: Iterable[Missing], columns: Container[str], of_all: Container[str], moved: int) -> list[Missing]:
    """The cells that a part lacks, its rows moved: a metric that only another run prints is none of them."""
    found: list[Missing] = []
    cut: dict[tuple[int, int], list[Missing]] = {}
    for held in missing:
        gap = replace(held, step=held.step - moved) if moved else held
        group = cut.setdefault((gap.step, gap.line), [])
        if gap.reason == "line_cut" and gap.metric is not None and gap.metric not in columns and gap.metric in of_all:
            group.append(replace(gap, metric=None))
        else:
            found.append(gap)
    told = {(gap.step, gap.line) for gap in found}
    found.extend(group[0] for place, group in cut.items() if group and place not in told)
    return sorted(found, key=lambda gap: gap.line)


def _plain(run: Run) -> Run:
    """The run with the side facts that were printed last, under their names."""
    if not any(_EARLIER in key for key in run.extras):
        return run
    latest: dict[str, tuple[Number, int]] = {}
    for key, held in sorted(run.extras.items(), key=lambda item: item[1][1]):
        latest[key.partition(_EARLIER)[0]] = held
    return replace(run, extras=latest)


def _epochs_back(run: Run) -> list[Note]:
    """Where the epoch of training first goes back, in a run whose rows are only counted."""
    from assistant.parsing.trainernotes import epoch_note

    rows, epochs = training_epochs(run)
    for at, (before, to) in enumerate(pairwise(epochs), 1):
        if to < before:
            return [epoch_note(run.row_lines[rows[at]], before, to)]
    return []


def _columns(columns: Mapping[str, Column], parts: Sequence[_Part], *, used_up: bool) -> list[dict[str, Column]]:
    """Of each part the columns with values in its rows; those that shared their rows and lines share them again."""
    order = {key: at for at, key in enumerate(columns)}
    alike: dict[tuple[int, int], list[str]] = {}
    for key, column in columns.items():
        alike.setdefault((id(column.rows), id(column.lines)), []).append(key)
    found: list[dict[str, Column]] = [{} for _ in parts]
    for keys in alike.values():
        rows, lines = columns[keys[0]].rows, columns[keys[0]].lines
        ends = [(bisect_left(rows, part.begin), bisect_left(rows, part.end)) for part in parts]
        places = [
            (_moved(rows[begin:end], part.begin), lines[begin:end])
            for part, (begin, end) in zip(parts, ends, strict=True)
        ]
        for key in keys:
            column = columns.pop(key) if used_up and isinstance(columns, dict) else columns[key]
            for own, (begin, end), place in zip(found, ends, places, strict=True):
                if begin < end:
                    own[key] = Column(place[0], column.values[begin:end], place[1])
    # by the first row; the keys of one row stay in their order
    return [{key: own[key] for key in sorted(own, key=lambda key: (own[key].rows[0], order[key]))} for own in found]


def _moved(rows: Sequence[int], by: int) -> Sequence[int]:
    if not by:
        return rows
    if isinstance(rows, range):
        return range(rows.start - by, rows.stop - by)
    if isinstance(rows, array):
        return array(rows.typecode, [row - by for row in rows])
    return [row - by for row in rows]
