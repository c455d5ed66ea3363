"""Small trainers that print one line a step: nanoGPT, modded-nanogpt, nanochat, llm.c, MLX and their kin."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from assistant.model.run import Note
from assistant.parsing.numbers import NUMBER
from assistant.parsing.quickline import Forms
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, read_cell
from assistant.parsing.table import Reading

_COMMAS: Final = re.compile(r"(?<![\w/.-])(?P<word>[Ii]ter|[Ss]tep) (?P<step>[0-9]{1,12})(?: \(Opt [0-9]{1,12}\))?: ")
_BARS: Final = re.compile(
    r"(?<![\w/.-])(?P<word>[Ss]tep|[Ii]ter(?:ation)?|it)[:\s]\s{0,12}(?P<step>[0-9]{1,12})"
    r"(?:\s?/\s{0,12}[0-9]{1,12})?(?: \([0-9.]{1,8}%\))?\s{0,3}\|"
)
_BARE: Final = re.compile(r"^(?P<word>)(?P<step>[0-9]{1,12}) \| (?=loss )")
_BLANKS: Final = re.compile(
    r"(?<![\w/.:-])(?P<word>step|iter|s):(?P<step>[0-9]{1,12})(?P<of>/[0-9]{1,12})?\s{1,4}(?=[a-z])"
)
_PAIR: Final = re.compile(
    rf"\s{{0,8}}(?P<pair>[A-Za-z][\w./%-]{{0,60}}:(?:{NUMBER})[A-Za-z%/]{{0,8}}+)(?=\s|$|[^\w.:])"
)
_VAL: Final = re.compile(rf"(?:val|test) loss (?P<number>{NUMBER})\s*$")
_HELLA: Final = re.compile(r"HellaSwag: [0-9]{1,7}/[0-9]{1,7} = [0-9.]{1,12}\s*$")
_LOSS: Final = re.compile(
    r"(?i)(?:[\w.-]{1,30} ){0,3}(?:loss|\w{0,12}_loss|bpb|bpc|ppl|perplexity|trl|tel|eval|acc(?:uracy)?|reward|"
    r"return|score|kl|time|dt|lr)$"
)
_RESULT: Final = re.compile(r"(?i)loss|bp[bc]|ppl|perplexity|tr?[el]l|eval|acc|reward|return|score|kl")
_SPACED: Final = (
    "Learning Rate",
    "Trained Tokens",
    "Peak mem",
    "bf16 MFU",
    "train loss",
    "val loss",
    "Train loss",
    "Val loss",
)
_FRONT: Final = 300
_LONGEST: Final = 5000
_PREFIX_END: Final = tuple("])|>:-%,0123456789")
_LEVEL: Final = re.compile(r"(?:^|[\s\]|:])(?:[A-Z]{3,10}|rank ?[0-9]{1,5}|epoch [0-9]{1,6},?)$")


class _Line(NamedTuple):
    step: int
    word: str
    kind: str
    cells: list[Cell]
    tail: str
    begin: int


class _Shape(NamedTuple):
    kind: str
    word: str
    shape: tuple[tuple[str, str], ...]
    tail: str
    closed: bool


class NanoGPT:
    """Reads ``iter 10: loss 4.68, time 52.57ms``, ``step 10/100 | loss …``, ``step:10/100 train_loss:…``."""

    name: Final = "nanogpt"
    strength: Final = 60

    def read(self, document: Document) -> Reading:
        """At most one run; ``iter N`` and ``step N`` count the same thing, so their values share a row."""
        book = Book()
        kinds: Counter[str] = Counter()
        words: Counter[str] = Counter()
        tail = ""
        loose: list[tuple[Cell, int]] = []
        followed = 0
        counted: list[int] = []
        known = {*_SPACED}
        seen: set[tuple[tuple[str, str], ...]] = set()
        forms = Forms[_Shape]()
        skip = 0
        for index, (raw, number) in enumerate(zip(document.lines, document.numbers, strict=False)):
            if index < skip or len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            quick = forms.read(line)
            if quick is not None and not loose and (quick[0].closed or _stops(document.lines, index, line)):
                kinds[quick[0].kind] += 1
                words[quick[0].word] += 1
                book.add_like(quick[1], quick[0].shape, quick[2], number)
                tail = quick[0].tail
                continue
            found = _read(line)
            if found is None:
                cell = _loose(line)
                if cell is not None and (kinds["bars"] or not book.rows) and len(loose) < 100_000:
                    before, followed = followed, _follow(book, loose, (cell, number), followed)
                    counted += [number] * (followed - before)
                continue
            if loose and not book.rows:
                book.add(0, [cell for cell, _ in loose], loose[0][1], [at for _, at in loose])
            loose = []
            kinds[found.kind] += 1
            words[found.word.lower()] += 1
            shape = tuple((cell.key, cell.unit) for cell in found.cells)
            ends: list[int] = []
            closed = bool(shape[-1][1] or shape[-1][0] == "tok/s") and not found.tail
            again = shape in seen and len(dict(shape)) == len(shape)
            if shape not in seen or not closed:
                found, skip, ends = _join(document.lines, index, line, found, known)
                seen.add(tuple((cell.key, cell.unit) for cell in found.cells))
            if again and not ends:
                places = [(cell.at, cell.value) for cell in found.cells]
                forms.learn(
                    line, found.begin, places, _Shape(found.kind, found.word.lower(), shape, found.tail, closed)
                )
            known.update(cell.key for cell in found.cells)
            numbers = [document.numbers[index + sum(cell.at >= end for end in ends)] for cell in found.cells]
            book.add(found.step, found.cells, number, numbers)
            book.taken.update(document.numbers[index : max(skip, index + 1)])
            tail = found.tail
        if not kinds:
            return Reading()
        notes = book.settle_end(document, tail)
        if not book.rows or (len(book.rows) == 1 and all(not _RESULT.search(key) for key in book.rows[0].values)):
            return Reading()
        if followed:
            notes.append(
                Note(
                    "step_before",
                    f"{followed} 行（验证损失等）没有步数，归入它前面的一步。",
                    f"{followed} lines (validation losses and the like) name no step; they go to the step before them.",
                    counted=tuple(counted),
                )
            )
        kind = kinds.most_common(1)[0][0]
        name, framework = _origin(kind, {key for row in book.rows for key in row.values})
        axis = "step" if kind == "bars" or (words["step"] and not words["iter"]) or words["s"] else "iter"
        run = book.run(document, format=name, framework=framework, axis=axis, warnings=notes)
        return Reading((run,), frozenset(book.taken))


def _read(line: str) -> _Line | None:
    """What one line prints, ``None`` if it is no such line."""
    lower = line[:_FRONT]
    if "tep" not in lower and "it" not in lower and "s:" not in lower and "ter" not in lower and "| loss" not in lower:
        return None
    commas, bars = "ter " in lower or "tep " in lower, "|" in lower
    blanks = "step:" in lower or "iter:" in lower or "s:" in lower
    for kind, head, likely in (
        ("commas", _COMMAS, commas),
        ("bars", _BARS, bars),
        ("bars", _BARE, bars),
        ("blanks", _BLANKS, blanks),
    ):
        found = head.search(line, 0, _FRONT) if likely else None
        if found is None or not is_prefix(line[: found.start()]):
            continue
        body = line[found.end() :]
        if kind == "blanks":
            cells, tail = _blanks(body)
            if found["word"] == "s" and not (cells and cells[0].key in {"trl", "tel", "eval"}):
                continue
        else:
            cells, tail = _pieces(body, "|" if kind == "bars" else ",", value_first=kind == "bars")
        if not cells or not any(_LOSS.match(cell.key) for cell in cells):
            continue
        if kind == "commas" and not _LOSS.match(cells[0].key):
            continue
        cells = [cell.moved(found.end()) for cell in cells]
        return _Line(int(found["step"]), found["word"], kind, cells, tail, found.start("step"))
    return None


def _is_head(line: str) -> bool:
    """Whether a line names a step of its own."""
    return any(head.search(line, 0, 80) is not None for head in (_COMMAS, _BARS, _BARE, _BLANKS))


def _stops(lines: list[str], index: int, line: str) -> bool:
    """Whether the next line cannot be what a terminal broke off a line."""
    more = lines[index + 1] if index + 1 < len(lines) else ""
    return not more.strip() or len(more) > max(len(line), 8) or _is_head(more)


def _join(lines: list[str], index: int, line: str, found: _Line, known: set[str]) -> tuple[_Line, int, list[int]]:
    """A line with those that a terminal broke off it, if the whole is understood and tells more.

    Returns:
        What the whole prints, the index behind it, and where each line but the last ends in it.
    """
    text, best, ends, stop = line, found, [], index + 1
    pending: list[int] = []
    for at in range(index + 1, min(index + 4, len(lines))):
        more = lines[at]
        if _stops(lines, at - 1, line):
            break
        pending.append(len(text))
        whole = _best(text, more, found, known)
        if whole is None:
            text += more
            continue
        text, joined = whole
        last, old = joined.cells[-1], best.cells[-1]
        if joined.tail or not (len(joined.cells) > len(best.cells) or (last.unit and not old.unit)):
            if not joined.tail:
                break
            continue
        best, stop = joined, at + 1
        ends = list(pending)
    return best, stop, ends


def _best(text: str, more: str, found: _Line, known: set[str]) -> tuple[str, _Line] | None:
    """The text with a further line behind it, with a blank between if only then its keys are known ones."""
    glued = _read(text + more)
    if glued is not None and not glued.tail and known.issuperset(cell.key for cell in glued.cells):
        return (text + more, glued) if glued.step == found.step else None
    tried = [(text + more, glued), (f"{text} {more}", _read(f"{text} {more}"))]
    good = [(whole, line) for whole, line in tried if line is not None and line.step == found.step]
    if not good:
        return None
    return max(good, key=lambda pair: (not pair[1].tail, sum(cell.key in known for cell in pair[1].cells)))


def is_prefix(text: str) -> bool:
    """Whether what stands before a step is a stamp, a level or a progress bar, and no sentence."""
    text = text.rstrip()
    return not text or text.endswith(_PREFIX_END) or _LEVEL.search(text) is not None


def _pieces(body: str, separator: str, *, value_first: bool) -> tuple[list[Cell], str]:
    """The cells between separators, up to the first piece that is none, and that piece."""
    cells: list[Cell] = []
    start = 0
    for piece in body.split(separator):
        offset, start = start, start + len(piece) + 1
        text = piece.replace("(", " ", 1) if piece.lstrip().startswith("(") else piece
        if separator == "|" and text.rstrip().endswith(")") and "(" not in text:
            text = text.rstrip()[:-1]
        if not text.strip():
            continue
        cell = read_cell(text, value_first=value_first)
        if cell is None:
            if value_first and ":" in text and not text.strip()[-1:].isdigit():
                continue
            return cells, text.strip()
        words = cell.key.split()
        if separator == "," and (len(words) > 4 or words[-1] in {"to", "is", "of", "at", "by"}):
            return cells, text.strip()
        cells.append(cell.moved(offset))
        took = text.find("(took ")
        if took > 0:
            inner = read_cell(text[took + 1 :].rstrip().rstrip(")"))
            if inner is not None:
                cells.append(inner.moved(offset + took + 1))
    return cells, ""


def _blanks(body: str) -> tuple[list[Cell], str]:
    """The ``key:value`` cells between blanks."""
    cells: list[Cell] = []
    at = 0
    while at < len(body):
        found = _PAIR.match(body, at)
        cell = None if found is None else read_cell(found["pair"])
        if found is None or cell is None:
            return cells, body[at:].strip()
        cells.append(cell.moved(found.start("pair")))
        at = found.end()
    return cells, ""


def _loose(line: str) -> Cell | None:
    """llm.c's ``val loss 4.5`` and ``HellaSwag: 10/100 = 0.1``, which name no step."""
    if line.startswith(("val loss ", "test loss ")) and _VAL.match(line):
        return read_cell(line)
    if line.startswith("HellaSwag: ") and _HELLA.match(line):
        return read_cell("HellaSwag " + line.rpartition("= ")[2])
    return None


def _follow(book: Book, loose: list[tuple[Cell, int]], held: tuple[Cell, int], followed: int) -> int:
    """Puts a cell without a step into the row before it, or keeps it for the first row, step 0."""
    cell, number = held
    if not book.rows:
        loose.append(held)
        return followed + 1
    row = book.rows[-1]
    if cell.key not in row.values:
        row.values[cell.key] = cell.value
        row.lines[cell.key] = number
        row.last_line = number
        book.taken.add(number)
        book.last = number
        return followed + 1
    return followed


def _origin(kind: str, keys: set[str]) -> tuple[str, str | None]:
    """Format and framework that print such lines."""
    if kind == "blanks":
        if keys & {"trl", "tel"}:
            return "llm.c", "llm.c"
        return (
            ("modded-nanogpt", "modded-nanogpt") if "step_avg" in keys or "train_time" in keys else ("step-lines", None)
        )
    if kind == "bars":
        if "lrm" in keys:
            return "nanochat", "nanochat"
        return ("llm.c", "llm.c") if keys & {"tok/s", "norm"} and "ms" in keys else ("step-lines", None)
    if keys & {"Train loss", "Val loss"}:
        return "mlx", "MLX"
    return ("llm.c", "llm.c") if "took" in keys else ("nanogpt", "nanoGPT")
