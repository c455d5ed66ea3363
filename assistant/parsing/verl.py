"""verl's console log: one line a step, possibly wrapped, cut or prefixed, and the first validation's dict."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableSequence, Sequence, Set
from itertools import combinations
from typing import Final

from assistant.model.run import Missing, Note, Number, Run
from assistant.parsing import cuts
from assistant.parsing.frameworks import detect_framework, is_validation, is_verl_sft
from assistant.parsing.kept import AnyRow, KeptRow, Rows, kinds_of, lines_of, loosen, steps_of
from assistant.parsing.keptcolumns import fill_columns
from assistant.parsing.numbers import decimals, same_number
from assistant.parsing.prose import is_prose
from assistant.parsing.repair import Document
from assistant.parsing.segments import Tail
from assistant.parsing.splitting import earlier
from assistant.parsing.stepbook import lost_decimals
from assistant.parsing.table import Reading, Row, back_notes, build_run
from assistant.parsing.verldict import MARK, ValidationDict
from assistant.parsing.verlscan import Scan, scan_document

SAMPLES: Final = "validation_samples"
SHORTEST_LIMIT: Final = 1000
"""A length at which a log's lines are cut is at least this."""

MOST_ASIDES: Final = 200
"""How many lines may follow a paste that ends inside a record."""

_MOST_KNOWN: Final = 50
_PREFIX: Final = "val/"


class VerlConsole:
    """Reads ``step:N - key:value - …`` lines, old (three decimals) and new (``np.float64(…)``)."""

    name: Final = "verl"
    strength: Final = 100

    def read(self, document: Document) -> Reading:
        """The runs of a document; no runs if no line of this kind is there."""
        if not document.has_steps and not any(MARK in line for line in document.lines):
            return Reading()
        scan = scan_document(document)
        return Reading(finish_scan(scan, document.name), frozenset(scan.taken), tuple(scan.bad))


def finish_scan(scan: Scan, name: str) -> tuple[Run, ...]:
    """The runs of what a scan collected: cut rows settled, dicts merged, processes told apart."""
    _settle_ends(scan)
    groups = _by_process(scan.rows)
    runs: list[Run] = []
    for rows in groups:
        run = _finish(rows, scan, name, len(runs), alone=len(groups) == 1)
        if run is not None:
            runs.append(run)
    return tuple(runs)


def _settle_ends(scan: Scan) -> None:
    """Decides for each record whether its last cell is whole, half or absent."""
    limit = learn_limit(scan)
    last = len(scan.rows) - 1
    bodies, fulls = scan.sizes
    for at, (tail, body) in scan.ends.items():
        row = scan.rows[at]
        reached = next((size for size in (cuts.KNOWN_LIMIT, limit) if size and size in {bodies[at], fulls[at]}), None)
        if tail.state == "not_a_number" or isinstance(row, KeptRow):
            continue
        if tail.state == "complete" and reached == cuts.KNOWN_LIMIT and _is_long_by_chance(scan, at):
            reached = None
        if tail.state == "complete":
            if reached is None and not tail.dangling and not (at == last and _is_last_cut(scan, tail)):
                continue
            row.cut, row.limit = True, reached
            if not tail.plain or tail.key is None or _is_proved(row, tail, body):
                continue
            del row.values[tail.key]
            row.lines.pop(tail.key, None)
            row.half = Missing(tail.key, row.step, row.last_line, "half_value", tail.text[:80], reached)
            continue
        row.cut, row.limit = True, reached
        if tail.state != "clean":
            row.half = Missing(tail.key, row.step, row.last_line, tail.state, tail.text[:80], reached)


def _is_long_by_chance(scan: Scan, at: int) -> bool:
    """Whether a row only happens to be as long as a cut one: it holds all that a longer row of the log holds."""
    own = [sizes for sizes in scan.sizes if sizes[at] == cuts.KNOWN_LIMIT]
    longer = [other for other in range(len(scan.rows)) if all(sizes[other] > cuts.KNOWN_LIMIT for sizes in own)]
    keys = scan.rows[at].keys()
    return any(scan.rows[other].keys() == keys for other in longer[:_MOST_KNOWN])


def learn_limit(scan: Scan) -> int | None:
    """A length at which several of this log's records stop, some of them inside a cell."""
    sizes = scan.sizes[0]
    longest = max(sizes, default=0)
    if longest < SHORTEST_LIMIT or sizes.count(longest) < 2:
        return None
    broken = [
        tail.state not in {"complete", "not_a_number"} for at, (tail, _) in scan.ends.items() if sizes[at] == longest
    ]
    return longest if any(broken) else None


def _is_proved(row: Row, tail: Tail, body: str) -> bool:
    """Whether a number at a cut is whole: all others of the record have three decimals, and so has it."""
    shown = re.findall(r":(-?[0-9]+\.[0-9]+)(?= - )", body)
    return (
        len(shown) >= 5
        and len(shown) == len(row.values) - 1
        and all(decimals(text) == 3 for text in [*shown, tail.text])
    )


def _is_last_cut(scan: Scan, tail: Tail) -> bool:
    """Whether a text ends inside its last record: its number lost its decimals, or its keys begin another row's.

    Only blank lines, prose and code fences may follow; a program's output shows that the line was printed.
    """
    if len(scan.rest) > MOST_ASIDES or any(not _is_aside(line) for line in scan.rest):
        return False
    if tail.plain and tail.key is not None:
        recent = (row.values for row in scan.rows[-_MOST_KNOWN - 1 : -1])
        known = [values[tail.key] for values in recent if tail.key in values]
        if lost_decimals(tail.text, known):
            return True
    keys = scan.rows[-1].keys()
    shapes = kinds_of(scan.rows, len(scan.rows) - 1)
    return keys not in shapes and any(len(s) > len(keys) and s[: len(keys)] == keys for s in shapes)


def _is_aside(line: str) -> bool:
    return not line.strip() or line.startswith("```") or is_prose(line)


def _by_process(rows: Rows) -> Sequence[MutableSequence[AnyRow]]:
    """Rows of one run each: by process where processes overlap and contradict each other."""
    spans = rows.spans()
    if not any(one[0] < other[1] and other[0] < one[1] for one, other in combinations(spans.values(), 2)):
        return [rows]
    by_step: dict[int, dict[str | None, AnyRow]] = {}
    apart: set[str | None] = set()
    for row in rows:
        for tag, other_row in by_step.get(row.step, {}).items():
            if tag == row.tag or {tag, row.tag} <= apart:
                continue
            overlap = spans[tag][0] < spans[row.tag][1] and spans[row.tag][0] < spans[tag][1]
            if overlap and _contradict(other_row.values, row.values):
                apart |= {tag, row.tag}
        by_step.setdefault(row.step, {})[row.tag] = row
    if not apart:
        return [rows]
    loose: list[AnyRow] = [row.loose() if isinstance(row, KeptRow) else row for row in rows]
    first_tag = next(tag for tag in spans if tag in apart)
    return [
        [row for row in loose if row.tag == tag or (tag == first_tag and row.tag not in apart)]
        for tag in spans
        if tag in apart
    ]


def _contradict(one: Mapping[str, Number], other: Mapping[str, Number]) -> bool:
    return any(not same_number(one.get(key, value), value) for key, value in other.items())


def _finish(rows: MutableSequence[AnyRow], scan: Scan, name: str, index: int, *, alone: bool) -> Run | None:
    notes: list[Note] = []
    tags = {row.tag for row in rows} if scan.dicts and not alone else set()
    known = {key for kind in kinds_of(rows) for key in kind} if scan.dicts else set()
    for position, printed in reversed(scan.dicts):
        if alone or printed.tag in tags:
            before = position if alone else sum(row.tag in tags for row in scan.rows[:position])
            notes.extend(_merge(rows, before, printed, known))
    if not rows:
        return None
    keys = list(dict.fromkeys(key for kind in kinds_of(rows) for key in kind))
    if not keys:
        return None
    missing = cuts.find_missing(rows)
    notes.extend(_duplicate_notes(scan, rows, alone=alone))
    axis = steps_of(rows), lines_of(rows)
    restarts = back_notes(*axis)
    notes.extend(restarts)
    notes.extend(cuts.cut_notes(rows, missing))
    if not alone:
        notes.append(
            Note(
                "separate_runs",
                f"进程 {rows[0].tag} 与其他进程在同一步输出了不同的值，按进程分为不同的 run。",
                f"Process {rows[0].tag} printed other values than another process at the same step: one run a process.",
            )
        )
    samples = scan.samples.get("acc") or next(reversed(scan.samples.values()), [])
    extras = {SAMPLES: samples[-1]} if samples else {}
    if restarts:  # those before may be another run's
        extras |= {earlier(SAMPLES, held[1]): held for held in samples[:-1]}
    return build_run(
        rows,
        id=f"r{index}",
        name=name if alone else f"{name} ({rows[0].tag})",
        format="verl-sft" if is_verl_sft(keys) else "verl",
        framework=detect_framework(keys),
        step_axis="step",
        missing=missing,
        warnings=notes,
        extras=extras,
        columns=fill_columns(rows, axis[1]) if isinstance(rows, Rows) and rows.is_kept() else None,
        axis=axis,
    )


def _merge(rows: MutableSequence[AnyRow], before: int, printed: ValidationDict, known: Set[str]) -> list[Note]:
    """Puts a validation dict into its row; a row of its own if the log has none.

    Old verl prints the dict as ``_validate()`` returns it (``test_score/gsm8k``) and puts ``val/`` before the
    same keys for the step line (``verl/trainer/ppo/ray_trainer.py``, ``fit``): they are one metric, called as the step
    lines call it. Where the step line has another value than the dict, both stay as they were printed.
    """
    keys = {key for key, _, _ in printed.cells}
    start = printed.line
    place: int | None = None
    if printed.final:
        place = before - 1 if before else None
    elif before < len(rows):
        after = rows[before]
        place = before if after.step == 0 or keys & set(after.keys()) else None
    if place is None and not printed.final and before >= len(rows):
        place = next((at for at, r in enumerate(rows) if r.step == 0), None)
    row = None if place is None else loosen(rows, place)
    notes: list[Note] = []
    if row is None:
        row = Row(0, start, last_line=printed.last_line, tag=printed.tag)
        rows.insert(before, row)
    elif printed.final and not keys & set(row.values):
        notes.append(
            Note(
                "final_validation",
                f"第 {start} 行的最终验证结果没有步数，归入最后一步 {row.step}。",
                f"The final validation on line {start} names no step; it goes to the last step, {row.step}.",
                start,
            )
        )
    differ: list[str] = []
    for key, value, line in printed.cells:
        name = key if key in known or _PREFIX + key not in known else _PREFIX + key
        if name != key and not same_number(row.values.get(name, value), value):
            name = key
        held = row.values.get(name)
        if held is None:
            row.values[name] = value
            row.lines[name] = line
        elif not same_number(held, value):
            differ.append(name)
    if differ:
        some = ", ".join(differ[:3]) + (" …" if len(differ) > 3 else "")
        notes.append(
            Note(
                "dict_differs",
                f"步 {row.step}：验证结果字典与 step 行的 {len(differ)} 个值不同（{some}），"
                "以 step 行为准（可能只是舍入）。",
                f"Step {row.step}: {len(differ)} values of the validation dict differ from the step line "
                f"({some}); the step line's are kept (it may be rounding).",
                start,
            )
        )
    if printed.closed and row.cut and all(map(is_validation, row.values)):
        row.cut, row.half = False, None
    elif row.half is not None and row.half.metric is None and any(k.startswith(row.half.detail) for k in keys):
        row.half = None
    if not printed.closed:
        notes.append(
            Note(
                "dict_cut",
                f"第 {start} 行起的验证结果字典不完整。",
                f"The validation dict that starts on line {start} is not complete.",
                start,
            )
        )
    return notes


def _duplicate_notes(scan: Scan, rows: MutableSequence[AnyRow], *, alone: bool) -> list[Note]:
    copies = [row for row in scan.duplicates if alone or row.tag == rows[0].tag]
    if not copies:
        return []
    return [
        Note(
            "duplicate_lines",
            f"{len(copies)} 行与前面的行完全相同(首次在第 {copies[0].line} 行),只计一次。",
            f"{len(copies)} lines repeat an earlier line exactly (first on line {copies[0].line}); "
            "each is counted once.",
            copies[0].line,
            tuple(copy.line for copy in copies),
        )
    ]
