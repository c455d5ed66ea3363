"""Logs whose lines begin with ``iteration N/ M |``: Megatron-LM, its kin, NeMo, and nanotron."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing, MissingReason, Note
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.quickline import Forms
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, cut_note, is_end
from assistant.parsing.table import Reading

_HEAD: Final = re.compile(
    r"(?<![\w/.-])iteration(?P<colon>:?)\s{1,12}(?P<step>[0-9]{1,12})\s?/\s{0,12}[0-9]{1,12}\s{1,3}\|"
)
_VALIDATION: Final = re.compile(
    r"(?<![\w/.-])validation (?:loss|results) at iteration (?P<step>[0-9]{1,12})(?: on (?P<set>\w+) set)?\s{0,3}\|"
)
_EPOCH: Final = re.compile(r"epoch [0-9]{1,9}, $")
_TIMES: Final = re.compile(r"\s{0,8}time \(ms\)\s{0,3}\|")
_CELL: Final = re.compile(
    rf"\s*(?P<key>[A-Za-z#][^:|]{{0,100}}?)\s{{0,3}}:\s{{0,40}}(?P<number>{NUMBER})(?P<suffix>[KMGBTPE]?)\s*"
)
_SCALES: Final = {"K": 3, "M": 6, "G": 9, "B": 9, "T": 12, "P": 15, "E": 18}
_NEW: Final = re.compile(
    r"\s*(?:\[?[0-9]{2,4}[-/][0-9]{2}[-/ T]|\[|-{4,}|\([\w./:<>@#=,\[\]-]{1,160} pid=|WARNING|INFO|ERROR|"
    r"Traceback|saving |validation |time \(ms\)|\(min, max\))"
)
_SPACED: Final = (
    "consumed samples",
    "consumed tokens",
    "elapsed time per iteration (ms)",
    "elapsed time per iteration (s)",
    "throughput per GPU (TFLOP/s/GPU)",
    "learning rate",
    "global batch size",
    "lm loss",
    "load_balancing_loss",
    "mtp_1 loss",
    "loss scale",
    "grad norm",
    "params norm",
    "num zeros",
    "number of skipped iterations",
    "number of nan iterations",
    "actual seqlen",
    "samples per second",
    "curriculum seqlen",
)
_Shape = tuple[tuple[str, str], ...]
_LOSS: Final = re.compile(r"(?i)(?<![A-Za-z])loss(?! scale)")
_FRONT: Final = 400
_MOST_PIECES: Final = 60
_LONGEST: Final = 20_000


@dataclass
class _Record:
    """A line, with the lines that a terminal broke it into."""

    pieces: list[str]
    numbers: list[int]
    step: int
    kind: str
    start: int
    ends: list[int] = field(default_factory=list)
    nemo: bool = False
    place: int = 0

    def join(self) -> str:
        """The text behind the head; ``ends`` tells where each piece ends in it."""
        text = self.pieces[0][self.start :]
        self.ends = [len(text)]
        for piece in self.pieces[1:]:
            text += piece
            self.ends.append(len(text))
        return text

    def number(self, offset: int) -> int:
        """Original line on which an offset of the joined text lies."""
        return next(line for end, line in zip(self.ends, self.numbers, strict=True) if offset < end)


class Megatron:
    """Reads ``iteration 3384/ 8000 | consumed samples: 216576 | lm loss: 7.07E-01 | …``."""

    name: Final = "megatron"
    strength: Final = 70

    def read(self, document: Document) -> Reading:
        """At most one run, one row an iteration."""
        records, nanotron = _find(document)
        nemo = any(record.nemo for record in records)
        trained = [record for record in records if record.kind == "train"]
        closed = not nanotron and not nemo
        if len(trained) > 1 and not any(record.pieces[-1].rstrip().endswith("|") for record in trained):
            closed = False
        if not any(record.kind != "times" for record in records):
            return Reading()
        book, notes, scaled = Book(), [], False
        bad: list[int] = []
        forms = Forms[_Shape]()
        for at, record in enumerate(records):
            alone = len(record.pieces) == 1 and at < len(records) - 1
            quick = forms.read(record.pieces[0]) if alone and record.kind != "times" else None
            if quick is not None:
                book.add_like(record.step, quick[0], quick[2], record.numbers[0])
                continue
            final = at == len(records) - 1 and is_end(document, record.numbers[-1])
            cells, numbers, half, clean = _cells(record, closed=closed, final=final)
            if not clean and len(record.pieces) > 1:
                del record.pieces[1:], record.numbers[1:]
                cells, numbers, half, clean = _cells(record, closed=closed, final=False)
            scaled = scaled or any(cell.unit == "scaled" for cell in cells)
            cells = [cell._replace(unit="ms" if record.kind == "times" else "") for cell in cells]
            if not cells:
                bad.append(record.numbers[0])
                continue
            book.add(record.step, cells, record.numbers[0], numbers)
            book.taken.update(record.numbers)
            if alone and clean and half is None and record.kind != "times":
                shape = tuple((cell.key, cell.unit) for cell in cells)
                if len(dict(shape)) == len(shape):
                    places = [(cell.at, cell.value) for cell in cells]
                    forms.learn(record.pieces[0], record.place, places, shape)
            if half is not None:
                book.gaps.append(half)
                expected = _shape(book, [cell.key for cell in cells])
                book.gaps.extend(
                    Missing(key, record.step, record.numbers[-1], "line_cut") for key in expected if key != half.metric
                )
                notes.append(cut_note(record.numbers[-1]))
        if not book.rows:
            return Reading(not_understood=tuple(bad))
        if not notes:
            notes.extend(book.settle_end(document, "|" if closed else ""))
        if scaled:
            notes.append(
                Note(
                    "scaled",
                    "nanotron 把大数印成 K/M/G(B)/T 的缩写（三位有效数字），表中是展开后的值。",
                    "nanotron shortens large numbers to three digits and K, M, G (B), T; the table holds them in full.",
                )
            )
        book.gaps.extend(_lost_losses(book))
        run = book.run(
            document,
            format="nanotron" if nanotron else "nemo" if nemo else "megatron",
            framework="nanotron" if nanotron else "NeMo" if nemo else "Megatron-LM",
            axis="iteration",
            warnings=notes,
        )
        return Reading((run,), frozenset(book.taken), tuple(bad))


def _find(document: Document) -> tuple[list[_Record], bool]:
    """The records with the lines that continue them, and whether nanotron printed them."""
    records: list[_Record] = []
    colons = plain = 0
    step: int | None = None
    open_record: _Record | None = None
    for raw, number in zip(document.lines, document.numbers, strict=False):
        if len(raw) > _LONGEST:
            open_record = None
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        head = kind = None
        if "iteration" in line[:_FRONT]:
            head, kind = _HEAD.search(line, 0, _FRONT), "train"
            if head is None and "validation " in line[:_FRONT]:
                head, kind = _VALIDATION.search(line, 0, _FRONT), "validation"
                if head is not None and head["set"] == "test":
                    kind = "test"
        elif step is not None and "time (ms)" in line[:40]:
            head, kind = _TIMES.match(line), "times"
        if head is None or kind is None:
            if open_record is not None and len(open_record.pieces) < _MOST_PIECES and _continues(open_record, line):
                open_record.pieces.append(line)
                open_record.numbers.append(number)
            else:
                open_record = None
            continue
        if kind == "train":
            colons, plain = colons + bool(head["colon"]), plain + (not head["colon"])
        if kind != "times":
            step = int(head["step"])
        if step is not None:
            open_record = _Record([line], [number], step, kind, head.end())
            open_record.place = head.start("step") if kind != "times" else 0
            open_record.nemo = (
                kind == "train" and _EPOCH.search(line[max(head.start() - 40, 0) : head.start()]) is not None
            )
            records.append(open_record)
    return records, colons > plain


def _continues(record: _Record, line: str) -> bool:
    """Whether a line is the rest of a record that a terminal broke."""
    if not line.strip() or _NEW.match(line):
        return False
    last = record.pieces[-1].rstrip()
    if "|" in line:
        return not last.endswith("|") or _CELL.match(line) is not None
    return not last.endswith("|") and len(line) < len(record.pieces[0]) and not line[0].isspace()


def _cells(record: _Record, *, closed: bool, final: bool) -> tuple[list[Cell], list[int], Missing | None, bool]:
    """The cells of a record, the line of each, the cell at which the text stops, and whether all was understood.

    Args:
        record: a line with what continues it.
        closed: whether each cell ends with a bar, as Megatron prints them.
        final: whether the text ends with this record.
    """
    text = record.join()
    cells: list[Cell] = []
    numbers: list[int] = []
    at = 0
    while at < len(text):
        end = text.find("|", at)
        stop = len(text) if end < 0 else end
        found = _CELL.match(text, at, stop)
        whole = found is not None and found.end() == stop
        if end < 0 and (closed or final) and text[at:].strip():
            key = _spaced(found["key"]) if found is not None else None
            if not final or (found is not None and not whole) or (found is None and len(text) - at > 60):
                return cells, numbers, None, False
            if closed or found is None:
                reason: MissingReason = "half_value" if found is not None else "half_key"
                detail = text[at:].strip()[:80]
                return cells, numbers, Missing(key, record.step, record.numbers[-1], reason, detail), True
        value = None
        if found is not None and (whole or (end < 0 and text[found.end() - 1].isspace())):
            value = read_number(found["number"])
            if found["suffix"] and not found["number"].lstrip("+-").replace(".", "").isdigit():
                value = None
        if found is None or value is None:
            if not text[at:stop].strip() and end >= 0:
                at = end + 1
                continue
            return cells, numbers, None, False
        unit, key = "", _spaced(found["key"])
        if found["suffix"]:
            value, unit = float(f"{found['number']}e{_SCALES[found['suffix']]}"), "scaled"
        key = f"{key} on test set" if record.kind == "test" else key
        cells.append(Cell(key, value, unit, record.start + found.start("number")))
        numbers.append(record.number(found.start("number")))
        at = stop + 1
    return cells, numbers, None, True


def _spaced(key: str) -> str:
    """A key as it was printed before a terminal broke it at a blank."""
    key = key.strip()
    return key if key in _KNOWN.values() else _KNOWN.get(key.replace(" ", ""), key)


_KNOWN: Final = {key.replace(" ", ""): key for key in _SPACED}


def _shape(book: Book, keys: list[str]) -> list[str]:
    """The keys that other lines with the same first keys print behind them."""
    longest: list[str] = []
    for shape in book.shapes[:-1]:
        others = [key for key, _ in shape]
        if others[: len(keys)] == keys and len(others) > len(longest):
            longest = others
    return longest[len(keys) :]


def _lost_losses(book: Book) -> list[Missing]:
    """Losses that are not printed because they were NaN: other rows have them, and the row counts NaN iterations."""
    trained = [row for row in book.rows if "number of nan iterations" in row.values]
    losses = dict.fromkeys(key for row in trained for key in row.values if _LOSS.search(key) and "value" not in key)
    gaps = []
    for row in trained:
        count = row.values["number of nan iterations"]
        if count > 0 and not row.half:
            gaps += [
                Missing(key, row.step, row.line, "not_a_number", f"number of nan iterations: {count}")
                for key in losses
                if key not in row.values
            ]
    return gaps
