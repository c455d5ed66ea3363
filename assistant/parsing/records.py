"""From printed records to runs: halves at cuts, copies by several processes, and several records of one step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing, Note, Run
from assistant.parsing import cuts
from assistant.parsing.numbers import decimals, same_number
from assistant.parsing.printeddict import Printed
from assistant.parsing.repair import Document
from assistant.parsing.table import Row, build_run, restart_notes

_MOST_SHAPES: Final = 64
_FEW: Final = 12


@dataclass(slots=True)
class Record:
    """One printed event.

    Attributes:
        kind: records of one kind print the same keys.
        row: its values.
        texts: number text and unit of each value, for records whose end does not show (empty for dicts).
    """

    kind: str
    row: Row
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)


def dict_record(kind: str, step: int, tag: str | None, printed: Printed, document: Document) -> Record | None:
    """The record that a printed dict makes; ``None`` if it holds no number."""
    flat, numbers = printed.flat, document.numbers
    if not flat.cells:
        return None
    line = numbers[printed.entries[0]]
    last = numbers[printed.entry(max(flat.end - 1, 0))]
    row = Row(step, line, last_line=last, tag=tag, cut=not flat.closed)
    for key, value, offset in flat.cells:
        row.values[key] = value
        row.lines[key] = numbers[printed.entry(offset)]
    for key, text, offset in flat.bad:
        row.bad.append(Missing(key, step, numbers[printed.entry(offset)], "not_a_number", text))
    if flat.half is not None:
        reason, name, text, offset = flat.half
        row.half = Missing(name, step, last, reason, text[:80])
    if len(document.lines[printed.entries[0]]) == cuts.KNOWN_LIMIT and row.cut:
        row.limit = cuts.KNOWN_LIMIT
    return Record(kind, row)


def settle_ends(records: Sequence[Record], *, fixed: bool) -> None:
    """Takes out values that may be half, at the end of records whose end does not show.

    A record is cut if its keys are the beginning of what other records of its kind print and no other record
    stops there; its last value is kept only if it is proved whole by its decimals or its unit. A record with
    all keys is cut if its last value has fewer decimals than all others, or lacks their unit.

    Args:
        records: in the log's order.
        fixed: whether the log prints each metric with a fixed number of decimals.
    """
    kinds: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.texts:
            kinds[record.kind].append(record)
    for group in kinds.values():
        shapes = Counter(tuple(record.texts) for record in group)
        common = [shape for shape, count in shapes.most_common(_MOST_SHAPES) if count > 1 or len(shapes) == 2]
        cut = {
            keys: count == 1 and any(len(s) > len(keys) and s[: len(keys)] == keys for s in common)
            for keys, count in shapes.items()
        }
        printed: dict[str, Counter[tuple[int | None, str]]] = {}
        for record in group:
            key, (text, unit) = next(reversed(record.texts.items()))
            if key not in record.row.values:
                continue
            if key not in printed:
                printed[key] = _styles(group, key)
            others = set(printed[key])
            if printed[key][decimals(text), unit] == 1 and "n" not in text:
                others.discard((decimals(text), unit))
            whole = _is_whole(text, unit, others, fixed=fixed)
            fuller = cut[tuple(record.texts)]
            if fuller or whole is False:
                record.row.cut = True
            if whole is False or (fuller and not whole):
                del record.row.values[key]
                record.row.half = Missing(key, record.row.step, record.row.last_line, "half_value", text[:80])


def _styles(group: Sequence[Record], key: str) -> Counter[tuple[int | None, str]]:
    """How a metric's numbers are printed: decimals and unit, with how often."""
    shown = [record.texts[key] for record in group if key in record.texts]
    return Counter((decimals(text), unit) for text, unit in shown if "n" not in text)


def _is_whole(text: str, unit: str, others: Set[tuple[int | None, str]], *, fixed: bool) -> bool | None:
    """Whether a number at a line's end is whole; ``None`` where the others' decimals and units do not tell."""
    if "n" in text:
        return text.lstrip("+-") in ("nan", "inf")
    if text.endswith("."):
        return False
    if not others:
        return None
    units = {given for _, given in others}
    if len(units) == 1 and unit not in units:
        return False
    if unit in units and unit:
        return True
    known = [count for count, _ in others if count is not None]
    if len(known) < len(others):
        return None
    if fixed:
        own = decimals(text)
        return own is not None and own >= min(known)
    return False if "." not in text and "e" not in text else None


def make_runs(
    records: Sequence[Record],
    *,
    first: int,
    name: str,
    format: str,
    framework: str | None,
    step_axis: str,
    notes: Iterable[Note] = (),
) -> list[Run]:
    """One run, or one a process where processes contradict each other; no run without a value.

    Args:
        records: in the log's order; several of one step make one row.
        first: number of the first run.
        name: for display.
        format, framework, step_axis: as in a run.
        notes: put before the notes on copies, restarts and cuts.
    """
    groups = _by_process(records)
    runs: list[Run] = []
    for tag, group in groups:
        missing = _find_missing(group)
        rows, copies = _merge(group)
        if not any(row.values for row in rows):
            continue
        held: dict[int, set[str]] = defaultdict(set)
        for row in rows:
            held[row.step].update(row.values)
        missing = [gap for gap in missing if gap.metric not in held[gap.step]]
        warnings = [*notes, *_copy_notes(copies), *restart_notes(rows)]
        warnings += cuts.cut_notes([r.row for r in group if r.row.cut], missing)
        if len(groups) > 1:
            warnings.append(
                Note(
                    "separate_runs",
                    f"进程 {tag} 与其他进程在同一步输出了不同的值，按进程分为不同的 run。",
                    f"Process {tag} printed other values than another process at the same step: one run a process.",
                )
            )
        runs.append(
            build_run(
                rows,
                id=f"r{first + len(runs)}",
                name=name if len(groups) == 1 else f"{name} ({tag})",
                format=format,
                framework=framework,
                step_axis=step_axis,
                missing=missing,
                warnings=warnings,
            )
        )
    return runs


def _find_missing(records: Sequence[Record]) -> list[Missing]:
    kinds: dict[str, list[Row]] = defaultdict(list)
    for record in records:
        kinds[record.kind].append(record.row)
    return [gap for rows in kinds.values() for gap in cuts.find_missing(rows)]


def _by_process(records: Sequence[Record]) -> list[tuple[str | None, list[Record]]]:
    """Records of one run each: by process where processes overlap and contradict each other."""
    spans: dict[str | None, list[int]] = {}
    for at, record in enumerate(records):
        spans.setdefault(record.row.tag, [at, at])[1] = at
    if len(spans) < 2:
        return [(None, list(records))]
    apart: set[str | None] = set()
    seen: dict[tuple[int, str], dict[str | None, Row]] = defaultdict(dict)
    for record in records:
        row = record.row
        if len(seen[row.step, record.kind]) < _FEW:
            for tag, other in seen[row.step, record.kind].items():
                if tag == row.tag or not (spans[tag][0] < spans[row.tag][1] and spans[row.tag][0] < spans[tag][1]):
                    continue
                if any(not same_number(other.values.get(key, value), value) for key, value in row.values.items()):
                    apart |= {tag, row.tag}
            seen[row.step, record.kind][row.tag] = row
    if not apart:
        return [(None, list(records))]
    first = next(tag for tag in spans if tag in apart)
    return [
        (tag, [r for r in records if r.row.tag == tag or (tag == first and r.row.tag not in apart)])
        for tag in spans
        if tag in apart
    ]


def _merge(records: Sequence[Record]) -> tuple[list[Row], list[Row]]:
    """Rows, and the records that only repeat one: a record joins its step's row if they do not contradict."""
    rows: list[Row] = []
    copies: list[Row] = []
    places: dict[int, Row] = {}
    for record in records:
        row = record.row
        held = places.get(row.step)
        if held is None or any(not same_number(held.values.get(k, v), v) for k, v in row.values.items()):
            if held is not None:
                places = {}
            lines = {key: row.lines.get(key, row.line) for key in row.values}
            fresh = Row(row.step, row.line, dict(row.values), lines, row.last_line, row.tag)
            rows.append(fresh)
            places[row.step] = fresh
            continue
        new = [key for key in row.values if key not in held.values]
        if not new:
            copies.append(row)
        for key in new:
            held.values[key] = row.values[key]
            held.lines[key] = row.lines.get(key, row.line)
    return [row for row in rows if row.values], copies


def _copy_notes(copies: Sequence[Row]) -> list[Note]:
    if not copies:
        return []
    return [
        Note(
            "duplicate_lines",
            f"{len(copies)} 条记录与前面的记录完全相同（首次在第 {copies[0].line} 行），只计一次。",
            f"{len(copies)} records repeat an earlier record exactly (first on line {copies[0].line}); "
            "each is counted once.",
            copies[0].line,
            tuple(copy.line for copy in copies),
        )
    ]


def unit_notes(units: Iterable[tuple[str, str]]) -> list[Note]:
    """A note that says in which units values were printed, as the values are bare numbers."""
    shown = dict.fromkeys(f"{key}: {unit}" for key, unit in units if unit)
    if not shown:
        return []
    some = ", ".join(list(shown)[:10]) + (" …" if len(shown) > 10 else "")
    return [Note("units", f"日志中的单位：{some}。", f"Units as the log prints them: {some}.")]
