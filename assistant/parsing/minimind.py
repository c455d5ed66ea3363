"""minimind's lines: ``Epoch:[1/2](100/9751), Reward: -1.57, KL_ref: 0.02, …`` (older: ``… loss:2.3 lr:0.0005 …``).

Its first PPO, GRPO and SPO trainers print ``Epoch: 1, Step: 100/9751, Actor Loss: 0.012345, …``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from assistant.model.run import Missing, Note, Number
from assistant.parsing.messages import Message, find_messages
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.quickline import Forms
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(
    r"(?:[A-Z][A-Za-z]{1,15}+ )?+Epoch:? ?(?:\[(?P<epoch>[0-9]{1,9})/[0-9]{1,9}\]"
    r" ?\((?P<step>[0-9]{1,12})/(?P<total>[0-9]{1,12})\),?"
    r"|(?P<named_epoch>[0-9]{1,9}), Step: (?P<named_step>[0-9]{1,12})/(?P<named_total>[0-9]{1,12}),)"
)
_CELL: Final = re.compile(
    rf"[ ,|]{{0,4}}+(?P<key>[A-Za-z_][\w/@.-]{{0,60}}+(?: (?!epoch_[Tt]ime)[A-Za-z_][\w/@.-]{{0,40}}+){{0,5}}+): ?+"
    rf"(?P<number>{NUMBER})(?P<unit> ?(?:min|ms|s|h|%)(?![\w.]))?+(?=[ ,|:;]|$)"
)
_NEXT: Final = re.compile(r"[^ ,|]{1,400}+[ ,|]")
_WORDS: Final = ("poch:[", "poch: ", "poch [")


class _Shape(NamedTuple):
    """Keys and units of a line's cells."""

    keys: tuple[str, ...]
    units: tuple[str, ...]


class MiniMind:
    """Reads one row a line; steps count on over the epochs."""

    name: Final = "minimind"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        found: list[tuple[int, int, int, Message, int]] = []
        forms = Forms[_Shape]()

        def measure(body: str) -> tuple[tuple[str, ...], bool] | None:
            quick = forms.find(body)
            return _measure(body, forms) if quick is None else (quick[0].held.keys, True)

        for message in find_messages(document, _WORDS, measure):
            heading = _HEADING.match(message.body)
            if heading is not None:
                epoch, step, total = (
                    int(heading[key] or heading[f"named_{key}"]) for key in ("epoch", "step", "total")
                )
                found.append((epoch, step, total, message, heading.end()))
        first = 0 if any(epoch == 0 for epoch, *_ in found) else 1
        records: list[Record] = []
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        shifted = False
        for epoch, step, total, message, at in found:
            offset = (epoch - first) * total
            row = Row(offset + step, message.number, last_line=message.numbers[-1], tag=message.tag)
            record = _read_alike(row, message, forms, units) or _read_line(row, message, at, units)[0]
            if not record.row.values:
                bad.append(message.number)
                continue
            shifted = shifted or offset > 0
            records.append(record)
            taken.update(message.numbers)
        settle_ends(records, fixed=True)
        runs = make_runs(
            records,
            first=0,
            name=document.name,
            format="minimind",
            framework="minimind",
            step_axis="step",
            notes=[*unit_notes(units.items()), *([_SHIFTED] if shifted else [])],
        )
        return Reading(tuple(runs), frozenset(taken) if runs else frozenset(), tuple(bad))


def _measure(body: str, forms: Forms[_Shape]) -> tuple[tuple[str, ...], bool] | None:
    """The metrics of a line, and whether all of it was understood; remembers its form if it was."""
    heading = _HEADING.match(body)
    if heading is None:
        return None
    row = Row(0, 0)
    places: list[tuple[int, Number]] = []
    record, complete = _read_line(row, Message(None, body, (0,), (0,)), heading.end(), {}, places)
    if complete and record.texts and not row.bad and len(places) == len(row.values):
        begin = heading.start("step" if heading["step"] else "named_step")
        held = _Shape(tuple(record.texts), tuple(unit for _, unit in record.texts.values()))
        forms.learn(body, begin, places, held, loose=False)
    return (*record.row.values, *(gap.metric or "" for gap in record.row.bad)), complete


def _read_alike(row: Row, message: Message, forms: Forms[_Shape], units: dict[str, str]) -> Record | None:
    """The record of a line that differs only in its numbers from one that was read before."""
    quick = forms.find(message.body) if len(message.numbers) == 1 else None
    if quick is None:
        return None
    form, _, texts = quick
    for key, unit in zip(form.held.keys, form.held.units, strict=True):
        units.setdefault(key, unit)
    row.values = {key: kind(text) for key, kind, text in zip(form.held.keys, form.kinds, texts, strict=True)}
    return Record("step", row, dict(zip(form.held.keys, zip(texts, form.held.units, strict=True), strict=True)))


def _read_line(
    row: Row, message: Message, at: int, units: dict[str, str], places: list[tuple[int, Number]] | None = None
) -> tuple[Record, bool]:
    """The record of a line, and whether every part of it was understood; ``places`` gets where the numbers stand."""
    texts: dict[str, tuple[str, str]] = {}
    body = message.body.rstrip()
    complete = True
    while at < len(body) and len(row.values) < 200:
        cell = _CELL.match(body, at)
        if cell is None:
            complete = complete and not body[at:].strip(" ,|;:")
            skipped = _NEXT.match(body, at)
            if skipped is None:
                _note_tail(row, body[at:].lstrip(" ,|;:"))
                break
            at = skipped.end()
            continue
        value = read_number(cell["number"])
        if places is not None and value is not None:
            places.append((cell.start("number"), value))
        key, unit = cell["key"], (cell["unit"] or "").strip()
        if value is not None and key not in row.values:
            row.values[key], row.lines[key] = value, message.line(cell.start("number"))
            texts[key] = (cell["number"], unit)
            units.setdefault(key, unit)
        at = cell.end()
    return Record("step", row, {} if row.cut else texts), complete


def _note_tail(row: Row, tail: str) -> None:
    """What stands at the end of a line behind the last whole cell: a key or a number that stops, or a remark."""
    key, colon, text = tail.partition(":")
    text = text.strip()
    if not colon and re.fullmatch(r"[A-Za-z_][\w/@. -]{0,100}", tail):
        row.cut = True
        row.half = Missing(None, row.step, row.line, "half_key", tail[:80])
    elif colon and re.fullmatch(r"[-+]?[0-9.]{0,40}(?:e[-+]?)?m?i?|[nai]{1,2}", text) and len(key) <= 100:
        row.cut = True
        row.half = Missing(key, row.step, row.line, "half_value", text[:80])
    elif colon and text in {"None", "nanmin"}:
        row.bad.append(Missing(key, row.step, row.line, "not_a_number", text))


_SHIFTED: Final = Note(
    "epochs",
    "括号中的步数在每个 epoch 重新开始；后面 epoch 的步数已加上前面各 epoch 的步数（N × (epoch − 1)）。",
    "The step in parentheses starts anew each epoch; later epochs are counted on by N × (epoch - 1).",
)
