"""NeMo-RL's console: a banner a step, then lists of results, times and throughputs.

``========== Step 3/100 ==========``, ``📊 Training Results:``, ``  • Loss: 0.0123``, ``⏱️  Timing:``,
``  • generation: 5.10s (41.2%)``. Keys are as printed; those of the other lists get the list's name in front:
``Timing/generation``, ``Validation/Accuracy``, ``Performance/E2E (Tokens/sec/gpu)``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing, Note
from assistant.parsing.logprefix import has_prefix
from assistant.parsing.numbers import NUMBER, decimals, read_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading, Row

_BANNER: Final = re.compile(
    r"\s{0,20}+={3,80}+ (?P<what>Step|Epoch) (?P<n>[0-9]{1,12})/(?P<total>[0-9]{1,12}) ={3,80}+\s{0,40}$"
)
_VALIDATES: Final = re.compile(r"[^\w]{0,8}+Starting validation at step (?P<n>[0-9]{1,12})")
_LIST: Final = re.compile(
    r"[^\w{}'\"|]{0,12}+"
    r"(?P<what>Training Results|Validation Results|Timing|Validation Timing|Performance Metrics)"
    r"(?: for [`'\"]?(?P<set>[\w./@-]{1,80})[`'\"]?(?: set)?)?:\s{0,40}$"
)
_ITEM: Final = re.compile(
    rf"\s{{0,12}}+[•*-] (?P<key>[^\s:][^:]{{0,120}}): {{1,4}}(?P<number>{NUMBER})"
    r"(?P<unit> ?(?:%|[A-Za-z]{1,12}(?:/[A-Za-z]{1,12})?))?+"
    r"(?: \([^()]{1,60}\))?+\s{0,40}$"
)
_OPEN: Final = re.compile(r"\s{0,12}+[•*-] (?P<key>[^\s:][^:]{0,120})(?P<colon>:?) {0,2}(?P<rest>.{0,80})$")
_PREFIXES: Final = {
    "Training Results": "",
    "Validation Results": "Validation/",
    "Timing": "Timing/",
    "Validation Timing": "Validation Timing/",
    "Performance Metrics": "Performance/",
}
_BULLET: Final = re.compile(r"\s{0,12}+[•*-] \S")
_NOISE: Final = 50
_MOST_PIECES: Final = 5


@dataclass(slots=True)
class _State:
    """Where the reading stands: the step that the log counts, and the list that is open."""

    epoch: int = 1
    step: int | None = None
    total: int = 0
    validated: int | None = None
    prefix: str | None = None
    record: Record | None = None
    noise: int = 0
    records: list[Record] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    bad: list[int] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    early: list[Record] = field(default_factory=list)
    blocks: int = 0
    shifted: bool = False


class NeMoRL:
    """Reads the lists under each step's banner into one row."""

    name: Final = "nemo-rl"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        if not any("Training Results:" in line or "Validation Results" in line for line in document.lines):
            return Reading()
        state = _State()
        width = max((len(line) for line in document.lines if _BULLET.match(line) is not None), default=0)
        joined = 0
        for index, (line, number) in enumerate(zip(document.lines, document.numbers, strict=False)):
            if joined:
                joined -= 1
            elif line and len(line) <= 400:
                tag, text = strip_ray(line)
                if state.prefix is not None and _BULLET.match(text) is not None:
                    text, joined = _unwrapped(document.lines, index, text, width)
                _feed(state, tag, text, number)
                if joined and number in state.taken:
                    state.taken.update(document.numbers[index + 1 : index + 1 + joined])
            elif not line or line.isspace():
                state.prefix = None
        notes = [*unit_notes(state.units.items()), *([_SHIFTED] if state.shifted else [])]
        banners = state.step is not None
        if banners and state.early:
            notes.append(_INFERRED)
        records = state.records
        settle_ends(records, fixed=True)
        if records:
            _settle_last(records[-1])
        runs = make_runs(
            records,
            first=0,
            name=document.name,
            format="nemo-rl",
            framework="NeMo-RL",
            step_axis="step" if banners or state.validated is not None else "index",
            notes=notes,
        )
        return Reading(tuple(runs), frozenset(state.taken) if runs else frozenset(), tuple(state.bad) if runs else ())


def _unwrapped(lines: Sequence[str], index: int, text: str, width: int) -> tuple[str, int]:
    """An item with the lines that a terminal made of its rest, and how many they are."""
    whole, size = text, len(lines[index])
    for count, piece in enumerate(lines[index + 1 : index + 1 + _MOST_PIECES], 1):
        if not piece or piece.isspace() or len(piece) > size or _BULLET.match(piece) is not None or has_prefix(piece):
            break
        whole += piece
        if _ITEM.match(whole) is not None and (size == width or not piece.strip().replace(".", "").isdigit()):
            return whole, count
        if len(piece) < size:
            break
    return text, 0


def _settle_last(record: Record) -> None:
    """Takes out the last value of a paste if the others of its list have more decimals, or a time lacks its unit.

    Where the list holds no other value: results are printed with four decimals, times and throughputs with two.
    """
    if record.kind == "Validation Results" or not record.texts or record.row.cut:
        return
    key, (text, unit) = next(reversed(record.texts.items()))
    others = [decimals(shown) or 0 for name, (shown, _) in record.texts.items() if name != key and "n" not in shown]
    least = min(others, default=4 if record.kind == "Training Results" else 2)
    timed = record.kind.endswith("Timing")
    if key in record.row.values and "n" not in text and not unit and (timed or (decimals(text) or 0) < least):
        row = record.row
        del row.values[key]
        row.cut, row.half = True, Missing(key, row.step, row.last_line, "half_value", text[:80])


def _feed(state: _State, tag: str | None, text: str, number: int) -> None:
    if "=== " in text:
        banner = _BANNER.match(text)
        if banner is not None:
            state.prefix = None
            _step(state, banner)
            return
    begun = _VALIDATES.match(text) if "Starting validation at step" in text else None
    if begun is not None:
        state.validated = int(begun["n"])
        return
    head = _LIST.match(text) if text.rstrip().endswith(":") else None
    if head is not None:
        _open(state, head["what"], head["set"], tag, number)
    elif state.prefix is not None and state.record is not None:
        _item(state, state.record, text, number)


def _step(state: _State, banner: re.Match[str]) -> None:
    number = int(banner["n"])
    if banner["what"] == "Epoch":
        state.epoch = number
        return
    state.total = int(banner["total"])
    offset = (state.epoch - 1) * state.total
    state.shifted = state.shifted or offset > 0
    first = state.step is None
    state.step = number + offset
    if first and state.early:
        _place_early(state, state.step)


def _place_early(state: _State, step: int) -> None:
    """Lists before the first banner belong to the step before it."""
    blocks = sorted({record.row.step for record in state.early})
    for record in state.early:
        record.row.step = step - len(blocks) + blocks.index(record.row.step)
        record.row.bad = [Missing(g.metric, record.row.step, g.line, g.reason, g.detail) for g in record.row.bad]
        half = record.row.half
        if half is not None:
            record.row.half = Missing(half.metric, record.row.step, half.line, half.reason, half.detail)


def _open(state: _State, what: str, data_set: str | None, tag: str | None, number: int) -> None:
    validates = what.startswith("Validation")
    if what == "Training Results":
        state.blocks += 1
    if validates and state.validated is not None:
        step = state.validated
    elif state.step is not None:
        step = state.step
    else:
        step = max(state.blocks - 1, 0)
    if what in {"Timing", "Performance Metrics"} and not state.records:
        state.prefix = None
        return
    state.prefix, state.noise = _PREFIXES[what] + (f"{data_set}/" if data_set else ""), 0
    state.record = Record(what, Row(step, number, last_line=number, tag=tag))
    state.records.append(state.record)
    if state.step is None and not (validates and state.validated is not None):
        state.early.append(state.record)


def _item(state: _State, record: Record, text: str, number: int) -> None:
    """One line of an open list; other lines between its items are let be, up to fifty."""
    row = record.row
    found = _ITEM.match(text)
    if found is not None and state.prefix is not None:
        value = read_number(found["number"])
        key, unit = state.prefix + found["key"], (found["unit"] or "").strip()
        if value is not None and key not in row.values:
            if not row.values:
                row.line = number
            row.values[key], row.lines[key] = value, number
            row.last_line = number
            record.texts[key] = (found["number"], unit)
            state.units.setdefault(key, unit)
            state.taken.add(number)
        return
    begun = _OPEN.match(text)
    if begun is not None and state.prefix is not None:
        rest = begun["rest"].strip()
        if begun["colon"] and rest == "None":
            row.bad.append(Missing(state.prefix + begun["key"], row.step, number, "not_a_number", rest))
        return
    state.noise += 1
    if state.noise > _NOISE:
        state.prefix = None


_SHIFTED: Final = Note(
    "epochs",
    "横幅中的步数在每个 epoch 重新开始；后面 epoch 的步数已加上前面各 epoch 的步数。",
    "The banner's step starts anew each epoch; steps of later epochs are counted on.",
)
_INFERRED: Final = Note(
    "steps_inferred",
    "第一条步数横幅之前的结果没有步数；按顺序归入横幅之前的各步。",
    "Results before the first step banner name no step; they go to the steps right before it.",
)
