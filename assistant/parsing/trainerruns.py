"""From a Trainer's events to runs: copies, steps, evaluations beside training, and what a cut lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final

from assistant.model.run import Column, Missing, Note, Number, Run
from assistant.parsing import cuts
from assistant.parsing.numbers import same_number
from assistant.parsing.progress import Bar, Dating, date_events
from assistant.parsing.table import Row, build_run, restart_notes
from assistant.parsing.totals import TOTAL
from assistant.parsing.trainercopies import drop_copies
from assistant.parsing.trainerevents import PROGRESS, Event, flavour
from assistant.parsing.trainernotes import (
    copies_note,
    dated_note,
    epoch_notes,
    final_note,
    only_final_note,
    shared_names_note,
)

_MOST_SHAPES: Final = 8
_BEHIND: Final = 3
"""Lines within which a bar is drawn again around an event."""


@dataclass(slots=True)
class Built:
    """Runs, the original lines that their events use, and those of events cut before their step."""

    runs: list[Run] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    undated: list[int] = field(default_factory=list)


def build_runs(
    events: Sequence[Event],
    *,
    name: str,
    axis: str | None,
    bars: Sequence[Bar] = (),
    style: tuple[str, str] | None = None,
) -> Built:
    """Runs of a log's events; the averages that end a training end its run.

    Args:
        events: in order of appearance.
        name: for display.
        axis: the key that counts the rows; without one the progress bars do, or else the order.
        bars: the log's progress bars.
        style: format and framework, where they do not follow from the keys.
    """
    built = Built()
    if not any(event.values for event in events):
        return built
    if axis is not None:
        events, built.undated = _dated(events)
        if not any(event.values for event in events):
            return built
    kept, copies = drop_copies(events)
    parts: list[list[Event]] = [[]]
    ended = False
    for event in kept:
        if ended and event.kind == "train":
            parts.append([])
        ended = event.kind == "final" or (ended and event.kind != "train")
        parts[-1].append(event)
    parts = [part for part in parts if any(event.kind != "final" for event in part)] or parts[:1]
    for part in parts:
        first, last = part[0].span, part[-1].span
        own = [copy for copy in copies if len(parts) == 1 or first <= copy.span <= last]
        built.runs.append(_run(part, own, id=f"r{len(built.runs)}", name=name, axis=axis, bars=bars, style=style))
    for event in [*(event for part in parts for event in part), *copies]:
        built.taken.update(range(event.line, event.last_line + 1))
    return built


def _dated(events: Sequence[Event]) -> tuple[list[Event], list[int]]:
    """Events with their steps, and the lines of those whose step is not there (cut before it): none is invented.

    An evaluation that names no step has that of the event before it, if their epochs are the same.
    """
    kept: list[Event] = []
    undated: list[int] = []
    for event in events:
        if event.step is None and event.kind == "eval" and not event.cut and kept and kept[-1].epoch == event.epoch:
            event.step = kept[-1].step
        if event.step is None and event.kind != "final":
            undated.append(event.line)
        else:
            kept.append(event)
    return kept, undated


def _run(
    part: Sequence[Event],
    copies: Sequence[Event],
    *,
    id: str,
    name: str,
    axis: str | None,
    bars: Sequence[Bar],
    style: tuple[str, str] | None,
) -> Run:
    events = [event for event in part if event.kind != "final"]
    notes: list[Note] = []
    if not events:
        notes.append(only_final_note(part[0].line))
        for event in part:
            event.kind = "train"
        events = list(part)
    dating: Dating | None = None
    dated: tuple[list[Row], list[tuple[Row, Event]]] = ([], [])
    step_axis = axis or "index"
    if step_axis == "index":
        train = [event for event in events if event.kind == "train"]
        dating = date_events(bars, [event.span for event in train], [event.epoch for event in train])
        if dating is not None:
            dated = _rows(events, False, dating)
            if any(row.step > after.step and not _goes_back(row, after) for row, after in pairwise(dated[0])):
                dating = None
        notes.append(dated_note(events[0].line, dating))
        step_axis = "step" if dating is not None else "index"
    rows, gaps = dated if dating is not None else _rows(events, step_axis == "index", None)
    notes.extend(copies_note([copy.line for copy in copies]))
    notes.extend(shared_names_note(events) if any(event.kind == "eval" for event in events) else ())
    notes.extend(restart_notes(rows) if step_axis != "index" else epoch_notes(events))
    missing = [gap for row in rows for gap in row.bad]
    shapes = _common_shapes(events) if gaps else {}
    for row, event in gaps:
        missing.extend(_lost(row, event, shapes.get(event.kind, ())))
    missing.sort(key=lambda gap: gap.line)
    notes.extend(cuts.cut_notes(rows, missing))
    extras: dict[str, tuple[Number, int]] = {}
    if dating is not None and (total := _total(bars, events, dating)) is not None:
        extras[TOTAL] = (total, rows[-1].line)
    for event in part:
        if event.kind == "final":
            extras.update({key: (value, event.lines.get(key, event.line)) for key, value in event.values.items()})
            notes.append(final_note(event.line, event.values))
    shapes_held = set(map(tuple, (event.values for event in events)))
    kind, framework = style or flavour(dict.fromkeys(key for keys in shapes_held for key in keys))
    return build_run(
        rows,
        id=id,
        name=name,
        format=kind,
        framework=framework,
        step_axis=step_axis,
        missing=missing,
        warnings=notes,
        extras=extras,
        columns=_columns(rows),
    )


def _total(bars: Sequence[Bar], events: Sequence[Event], dating: Dating) -> int | None:
    """The total of the bar that dates the last event: a log of several trainings has a bar for each."""
    train = [event for event in events if event.kind == "train"]
    if not train or not dating.steps:
        return None
    first, last = train[0].span[0][0], train[-1].span[1][0] + _BEHIND
    own = [bar for bar in bars if first - _BEHIND <= bar.place[0] <= last and bar.done == dating.steps[-1]]
    totals = {bar.total for bar in own if bar.total >= max(dating.steps)}
    return totals.pop() if len(totals) == 1 else None


def _columns(rows: Sequence[Row]) -> dict[str, Column]:
    """The rows' values by metric, as :func:`~assistant.parsing.table.collect_columns` gives them; rows in a row that
    hold the same metrics are turned at once."""
    columns: dict[str, tuple[list[int], list[Number], list[int]]] = {}
    at = 0
    for keys, members in groupby(rows, Row.keys):
        own = list(members)
        places = range(at, at + len(own))
        at += len(own)
        begins = [row.line for row in own]
        spread = any(row.lines for row in own)
        for key, values in zip(keys, zip(*[row.values.values() for row in own], strict=True), strict=True):
            column = columns.get(key)
            if column is None:
                column = columns[key] = ([], [], [])
            column[0].extend(places)
            column[1].extend(values)
            column[2].extend([row.lines.get(key, row.line) for row in own] if spread else begins)
    return {key: Column(*parts) for key, parts in columns.items()}


def _rows(events: Sequence[Event], counted: bool, dating: Dating | None) -> tuple[list[Row], list[tuple[Row, Event]]]:
    """One row an event; an evaluation joins the row of the training event it follows."""
    rows: list[Row] = []
    gaps: list[tuple[Row, Event]] = []
    dated = iter(dating.steps if dating is not None else ())
    for event in events:
        step = event.step if event.step is not None else len(rows)
        last = rows[-1] if rows else None
        if dating is not None and event.kind == "train":
            step = next(dated)
        elif dating is not None:
            known = last is not None and not dating.single and last.values.get("epoch") == event.epoch
            step = last.step if last is not None and known else dating.at(event.span[0], event.epoch)
        row: Row | None = None
        if last is not None and event.kind == "eval" and not _conflict(last, event):
            same = last.step == step and not counted
            if same or (counted and event.epoch is not None and last.values.get("epoch") == event.epoch):
                row = last
        if row is None:
            row = Row(step, event.line, dict(event.values), dict(event.lines), event.last_line, event.tag)
            rows.append(row)
        else:
            for key, value in event.values.items():
                if key not in row.values:
                    row.values[key] = value
                    row.lines[key] = event.lines.get(key, event.line)
            row.last_line = max(row.last_line, event.last_line)
        row.bad.extend(Missing(key, row.step, at, "not_a_number", text[:80]) for key, text, at in event.bad)
        if event.cut:
            row.cut = True
            gaps.append((row, event))
    return rows, gaps


def _goes_back(row: Row, after: Row) -> bool:
    """Whether the training was taken up again between two rows."""
    one, other = row.values.get("epoch"), after.values.get("epoch")
    return one is not None and other is not None and other < one


def _conflict(row: Row, event: Event) -> bool:
    return any(
        key in row.values and key not in PROGRESS and not same_number(row.values[key], value)
        for key, value in event.values.items()
    )


def _common_shapes(events: Sequence[Event]) -> dict[str, list[tuple[str, ...]]]:
    """The keys that whole events of each kind print, in order, the most frequent first."""
    shapes: dict[str, Counter[tuple[str, ...]]] = {}
    for event in events:
        if not event.cut:
            shapes.setdefault(event.kind, Counter())[tuple(event.values)] += 1
    return {kind: [keys for keys, _ in counted.most_common(_MOST_SHAPES)] for kind, counted in shapes.items()}


def _lost(row: Row, event: Event, shapes: Sequence[Sequence[str]]) -> list[Missing]:
    """The item in which an event stops, and the metrics that others which begin as it does print behind it."""
    found: list[Missing] = []
    present = set(event.values) | {key for key, _, _ in event.bad}
    if event.half is not None:
        found.append(Missing(event.half.metric, row.step, event.half.line, event.half.reason, event.half.detail))
        present.add(event.half.metric or "")
    begun = set(event.values)
    shape = next((keys for keys in shapes if begun <= set(keys)), ())
    last = max((at for at, key in enumerate(shape) if key in present), default=-1)
    found.extend(Missing(key, row.step, event.last_line, "line_cut") for key in shape[last + 1 :] if key not in present)
    return found or [Missing(None, row.step, event.last_line, "line_cut")]
