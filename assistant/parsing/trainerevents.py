"""What Trainer-like programs log, event by event, on its way to runs: the part that all their formats share."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from assistant.model.run import Missing, Note, Number, Run
from assistant.parsing import cuts
from assistant.parsing.eventdict import Item, Placed
from assistant.parsing.numbers import read_number, same_number, significant_digits
from assistant.parsing.progress import Bar, Dating, date_events
from assistant.parsing.table import Row, build_run, restart_notes
from assistant.parsing.trainernotes import copies_note, dated_note, epoch_notes, final_note

STEP_OF_MAX: Final = "global_step/max_steps"
"""ms-swift's step: the text ``9/547``."""

_TIMES: Final = frozenset({"elapsed_time", "remaining_time", "eta", "time_elapsed", "time_remaining"})
_PROGRESS: Final = frozenset({"epoch", "total_steps", "percentage", "num_input_tokens_seen", "num_tokens"})
_TRL: Final = re.compile(
    r"reward$|reward_std$|frac_reward_zero_std$|mean_token_accuracy$|num_tokens$|"
    r"(?:eval_)?(?:rewards|completions|objective|logps|logits|clip_ratio|sampling)[/ ]|"
    r"completion_length$|(?:policy|val)/\w+_avg$"
)
_STEP_TEXT: Final = re.compile(r"\s*([0-9]{1,12})\s*/\s*([0-9]{1,12})\s*")
_PERCENT: Final = re.compile(r"([-+]?[0-9]{1,9}(?:\.[0-9]{1,12})?)\s?%")
_FINGERPRINT: Final = 8
_RECENT: Final = 16


@dataclass(slots=True)
class Event:
    """One printed dictionary.

    Attributes:
        kind: ``train``, ``eval`` (every metric is of the evaluation) or ``final`` (averages over the run).
        line: 1-based line on which it begins.
        last_line: line on which it ends.
        values: its numbers, in order.
        lines: line of each number that does not stand on ``line``.
        step: the step it names, if it names one.
        bad: ``(key, text, line)`` of values that are no number.
        texts: keys and values as printed.
        cut: whether it stops before its end.
        half: the item in which it stops: key, reason and text.
        span: where it begins and ends in the document.
        tag: process that printed it, if the log tells.
    """

    kind: Literal["train", "eval", "final"]
    line: int
    last_line: int
    values: dict[str, Number]
    lines: dict[str, int]
    step: int | None
    bad: list[tuple[str, str, int]]
    texts: tuple[tuple[str, str], ...]
    cut: bool = False
    half: Missing | None = None
    span: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    tag: str | None = None

    @property
    def epoch(self) -> Number | None:
        """The epoch it prints."""
        return self.values.get("epoch")


@dataclass(slots=True)
class Built:
    """Runs, the original lines that their events use, and those of events cut before their step."""

    runs: list[Run] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    undated: list[int] = field(default_factory=list)


def item_number(item: Item) -> Number | None:
    """The value of an item: a number, a quoted number, or the number of a percentage (``"1.65%"`` is 1.65)."""
    if item.kind == "number":
        return read_number(item.text)
    if item.kind != "text":
        return None
    text = item.text.strip()
    value = read_number(text) if text and text[-1] != "%" else None
    if value is None:
        percent = _PERCENT.fullmatch(text)
        return read_number(percent[1]) if percent is not None else None
    return value


def make_event(placed: Placed, *, axis: str | None = None, tag: str | None = None) -> Event:
    """The event of a dictionary.

    Args:
        placed: a flat dictionary.
        axis: the key that holds the step; that item becomes the step and is no cell.
        tag: process that printed it.
    """
    flat = placed.flat
    line = placed.line(flat.start)
    values: dict[str, Number] = {}
    lines: dict[str, int] = {}
    bad: list[tuple[str, str, int]] = []
    step: int | None = None
    for item in flat.items:
        if item.key == axis:
            named = _STEP_TEXT.fullmatch(item.text)
            value = item_number(item)
            if named is not None:
                step = int(named[1])
            elif value is not None and abs(value) < 1e15 and value == int(value):
                step = int(value)
            continue
        if item.key in _TIMES:
            continue
        value = item_number(item)
        at = placed.line(item.at)
        if value is None:
            bad.append((item.key, item.text, at))
        elif item.key not in values:
            values[item.key] = value
            if at != line:
                lines[item.key] = at
    last_line = placed.numbers[len(placed.numbers) - 1] if flat.state == "open" else placed.line(max(0, flat.end - 1))
    half = None
    if flat.reason is not None and flat.key not in _TIMES and flat.key != axis:
        half = Missing(flat.key, 0, last_line, flat.reason, flat.rest)
    return Event(
        _kind(values),
        line,
        last_line,
        values,
        lines,
        step,
        bad,
        tuple((item.key, item.text) for item in flat.items),
        flat.state != "closed",
        half,
        ((placed.entry, placed.offset), (placed.last, placed.stop)),
        tag,
    )


def _kind(keys: Iterable[str]) -> Literal["train", "eval", "final"]:
    metrics = [key for key in keys if key not in _PROGRESS and not key.startswith(("memory", "train_speed"))]
    if "train_runtime" in metrics or "total_flos" in metrics:
        return "final"
    if metrics and all(key.startswith(("eval_", "eval/", "test_")) for key in metrics):
        return "eval"
    return "train"


def flavour(keys: Iterable[str]) -> tuple[str, str]:
    """The format's name (``hf-dict``, ``trl-dict``) and the framework that the keys belong to."""
    names = list(keys)
    if any(_TRL.match(key) for key in names):
        return "trl-dict", "TRL"
    return "hf-dict", "HF Trainer"


def drop_copies(events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """Events that count, and copies that further processes printed.

    Two equal dictionaries close to each other are one event if their numbers are too particular to be equal by
    chance, if two processes printed them, or if every event of the log comes as often.
    """
    groups: list[list[Event]] = []
    recent: deque[list[Event]] = deque(maxlen=_RECENT)
    for event in events:
        group = next((known for known in recent if known[0].texts == event.texts and not event.cut), None)
        if group is None:
            group = []
            groups.append(group)
            recent.append(group)
        group.append(event)
    sizes = {len(group) for group in groups}
    all_alike = len(sizes) == 1 and len(groups) > 1
    kept: list[Event] = []
    copies: list[Event] = []
    for group in groups:
        tags = {event.tag for event in group}
        if len(group) > 1 and (all_alike or len(tags) == len(group) or _particular(group[0])):
            kept.append(group[0])
            copies.extend(group[1:])
        else:
            kept.extend(group)
    if len(kept) != len(events):
        kept.sort(key=lambda event: event.span)
        return kept, copies
    return list(events), []


def _particular(event: Event) -> bool:
    digits = 0
    for text in {text for key, text in event.texts if key not in _PROGRESS and key != "learning_rate"}:
        value = read_number(text)
        if isinstance(value, float) and math.isfinite(value) and value not in {0.5, 0.25, 0.75} and value % 1:
            digits += significant_digits(text.rstrip("0") if "." in text and "e" not in text else text)
    return digits >= _FINGERPRINT


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
    dating: Dating | None = None
    step_axis = axis or "index"
    if step_axis == "index":
        train = [event for event in events if event.kind == "train"]
        dating = date_events(bars, [event.span for event in train], [event.epoch for event in train])
        if dating is not None and any(a.step > b.step for a, b in pairwise(_rows(events, False, dating)[0])):
            dating = None
        notes.append(dated_note(events[0].line, dating))
        step_axis = "step" if dating is not None else "index"
    rows, gaps = _rows(events, step_axis == "index", dating)
    notes.extend(copies_note([copy.line for copy in copies]))
    notes.extend(restart_notes(rows) if step_axis != "index" else epoch_notes(rows))
    missing = [gap for row in rows for gap in row.bad]
    shapes = _common_shapes(events) if gaps else {}
    for row, event in gaps:
        missing.extend(_lost(row, event, shapes.get(event.kind, ())))
    missing.sort(key=lambda gap: gap.line)
    notes.extend(cuts.cut_notes(rows, missing))
    extras: dict[str, tuple[Number, int]] = {}
    for event in part:
        if event.kind == "final":
            extras.update({key: (value, event.lines.get(key, event.line)) for key, value in event.values.items()})
            notes.append(final_note(event.line, event.values))
    keys = [key for event in events for key in event.values]
    kind, framework = style or flavour(keys)
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
    )


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
            known = last is not None and not dating.is_single and last.values.get("epoch") == event.epoch
            step = last.step if last is not None and known else dating.at(event.span[0])
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


def _conflict(row: Row, event: Event) -> bool:
    return any(
        key in row.values and key not in _PROGRESS and not same_number(row.values[key], value)
        for key, value in event.values.items()
    )


def _common_shapes(events: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """The keys that whole events of each kind most often print, in order."""
    shapes: dict[str, Counter[tuple[str, ...]]] = {}
    for event in events:
        if not event.cut:
            shapes.setdefault(event.kind, Counter())[tuple(event.values)] += 1
    return {kind: counted.most_common(1)[0][0] for kind, counted in shapes.items()}


def _lost(row: Row, event: Event, shape: Sequence[str]) -> list[Missing]:
    """The item in which an event stops, and the metrics that others of its kind print behind it."""
    found: list[Missing] = []
    present = set(event.values) | {key for key, _, _ in event.bad}
    if event.half is not None:
        found.append(Missing(event.half.metric, row.step, event.half.line, event.half.reason, event.half.detail))
        present.add(event.half.metric or "")
    last = max((at for at, key in enumerate(shape) if key in present), default=-1)
    found.extend(Missing(key, row.step, event.last_line, "line_cut") for key in shape[last + 1 :] if key not in present)
    return found or [Missing(None, row.step, event.last_line, "line_cut")]
