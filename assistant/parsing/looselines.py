"""Lines of a counter and values in a dress of their own, read only where no other format found anything.

Known: ``[epoch]: 199, [batch]: 23900, [loss]: 4.99``, ``<epoch:17, iter:16000, lr:5.000e-04, loss:-12.7>``,
``[10/11 13:37:24 d2.utils.events]:  eta: 7 days, 18:11:51  iter: 19  total_loss: 7.083`` (detectron2),
``Game number: 005100  Frame number: 01981609  Average reward: 22.1``, ``Time 09h 05m, Avg Reward 0.06, Avg Length 5.2,
Best Reward 0.18``, ``PARAMETER loss_scale : 524288.0`` and a JSON
object behind a question. A line counts where hardly a word of it is left over, so that no sentence is taken for one.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from assistant.model.run import Note, Number
from assistant.parsing.columns import is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.logprefix import read_body
from assistant.parsing.markdown import Fences
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.prose import is_prose
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_BOXED: Final = re.compile(r"\[([A-Za-z][A-Za-z_ ]{0,30})\](?=\s{0,2}:)")
_PAIR: Final = re.compile(
    r"(?<![\w./-])(?P<quote>['\"]?)(?P<key>[A-Za-z_][\w./%@-]{0,60}(?: [A-Za-z_][\w./-]{0,30}){0,3}?)(?P=quote)"
    rf"\s{{0,12}}[:=]\s{{0,8}}['\"]?(?P<number>{NUMBER})(?P<unit>(?:ms|s|%|[KMG]i?B?)(?![\w/]))?['\"]?"
    r"(?![\w/:]|\.\w|-\d|\s{1,2}days?\b)"
)
_DURATION: Final = re.compile(
    r"(?i)\b(?:eta|elapsed|remaining|time)(?: left| time)?\s{0,2}[:=]?\s{0,4}"
    r"(?:[0-9]{1,4} ?d(?:ays?)?,? )?[0-9]{1,3}(?::[0-9]{2}){1,2}(?:\.[0-9]{1,6})?"
)
_COUNTERS: Final = {
    word: word for word in ("epoch", "episode", "game", "step", "iteration", "batch", "frame", "update", "timestep")
} | {
    "ep": "epoch",
    "iter": "iteration",
    "iters": "iteration",
    "it": "iteration",
    "global_step": "step",
    "itr": "iteration",
}
_FINE: Final = ("step", "iteration", "update", "timestep", "batch", "frame", "episode", "game", "epoch")
_RATES: Final = re.compile(r"(?i)^(?:lr|learning[ _]rate|value|base_lr)$")
_WORD: Final = re.compile(r"[A-Za-z\u3400-\u9fff][A-Za-z'\u3400-\u9fff]+")
_CODE: Final = re.compile(r"--\w|==|\breturn\b|\bdef \w|\bimport \w|[A-Za-z_]\w*\([^)]*[=,][^)]*\)\s*$|\\$")
_CODE_SIGNS: Final = ("--", "==", "return", "def ", "import ", ")", "\\")
"""One of them is in every text that the pattern finds; they are found sooner."""
#: A dict and nothing else: other formats know which of these are measured and which are settings.
_DICT: Final = re.compile(r"\s{0,20}\{'[^{}]{0,1000}\},?\s{0,20}")
_LONGEST, _MOST_LEFT, _FEW, _MANY = 1000, 2, 3, 4
#: A name and its value, nothing between them but a blank.
_VALUED: Final = re.compile(rf"(?P<key>[A-Za-z][A-Za-z_]{{0,30}}(?: [A-Za-z_]{{1,30}}){{0,3}}) (?P<number>{NUMBER})%?")
Shape: TypeAlias = tuple[tuple[str, str], ...]
"""Keys of a line's values with their units."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that was read.

    Attributes:
        number: of the line in the text.
        counters: by name.
        shape: keys of its values with their units, the same object for every line of the same ones.
        values: of each key.
        asks: whether somebody asks beside it.
    """

    number: int
    counters: dict[str, int]
    shape: Shape
    values: list[Number]
    asks: bool


class LooseLines:
    """Reads counted lines of values, and lines of one shape that come again and again."""

    name: Final = "loose-lines"
    strength: Final = 3

    def read(self, document: Document) -> Reading:
        """At most one run."""
        fences = Fences()
        found: list[_Line] = []
        known: dict[Shape, Shape] = {}
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or (fences.skip(raw) and raw.count(": ") < _MANY):
                continue  # values are also pasted between fences that say "python"
            text = raw if ":" in raw or "=" in raw else _spaced(raw)
            line = _read(text, number, known) if text else None
            if line is not None:
                found.append(line)
        names = {shape: tuple(key for key, _ in shape) for shape in known}
        times = Counter(names[line.shape] for line in found)
        kept = [line for line in found if line.counters or times[names[line.shape]] >= _FEW]
        if not kept:
            return Reading()
        axis = _axis(kept)
        book = Book()
        begun: set[Shape] = set()
        for place, line in enumerate(kept):
            step = line.counters[axis] if axis else place
            others = [Cell(name, count, "") for name, count in line.counters.items() if name != axis]
            if others or line.shape not in begun:
                begun.add(line.shape)
                cells = [Cell(key, value, unit) for (key, unit), value in zip(line.shape, line.values, strict=True)]
                book.add(step, [*others, *cells], line.number)
            else:
                book.add_like(step, line.shape, line.values, line.number)
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        columns = {key for row in book.rows for key in row.values}
        warned = [*notes, *([] if axis or len(kept) < 2 else [_uncounted(kept[0].number)])]
        run = book.run(
            document, format=self.name, framework=detect_framework(columns), axis=axis or "index", warnings=warned
        )
        return Reading((run,), frozenset(book.taken), (), tuple(line.number for line in kept if line.asks))


def _uncounted(line: int) -> Note:
    return Note(
        "no_steps",
        f"日志没有步数，各行按出现顺序编号（从第 {line} 行起，从 0 开始）。",
        f"The log prints no steps; its rows are counted from zero, beginning on line {line}.",
        line,
    )


def _spaced(raw: str) -> str:
    """``Avg Reward 0.06, Avg Accuracy 0.22`` with colons; empty for a line that is not made of such parts."""
    if raw.count(",") + 1 < _FEW:
        return ""
    parts = raw.split(",")
    found = [_VALUED.fullmatch(part.strip()) for part in parts]
    held = [match for match in found if match is not None]
    if len(held) < _FEW or len(parts) - len(held) > 1:
        return ""
    return ", ".join(f"{match['key']}: {match['number']}" for match in held)


def _read(raw: str, number: int, known: dict[Shape, Shape]) -> _Line | None:
    """A line as counters and values; ``None`` where it is anything else.

    Args:
        raw: the line.
        number: of the line in the text.
        known: shapes of earlier lines.
    """
    text = raw if "[" not in raw else _BOXED.sub(r"\1", raw)
    asks = False
    if "{" in text and '"' in text and "}" in text[text.find("{") :]:
        begin, end = text.find("{"), text.rfind("}")
        around = f"{text[:begin]} {text[end + 1 :]}"
        asks = ("?" in around or "？" in around) and is_prose(around)
        if not asks:
            return None
        text = text[begin + 1 : end]
        if "{" in text:
            return None
    elif _is_other(text):
        return None
    body = _DURATION.sub(" ", read_body(text)[1])
    counters: dict[str, int] = {}
    named: list[tuple[str, str]] = []
    values: list[Number] = []
    left: list[str] = []
    at = 0
    for pair in _PAIR.finditer(body):
        left.append(body[at : pair.start()])
        at = pair.end()
        key, value = _bare(pair["key"].strip()), read_number(pair["number"])
        if value is None:
            return None
        counter = _counter(key)
        if counter is not None and isinstance(value, int) and counter not in counters:
            counters[counter] = value
        else:
            named.append((key, pair["unit"] or ""))
            values.append(value)
    left.append(body[at:])
    words = sum(len(_WORD.findall(piece)) for piece in left if len(piece) > 1)
    shape = tuple(named)
    if words > _MOST_LEFT or not _names_results(shape):
        return None
    return _Line(number, counters, known.setdefault(shape, shape), values, asks)


def _is_other(text: str) -> bool:
    """Whether a line is code, a dict and nothing else, or a sentence."""
    if any(sign in text for sign in _CODE_SIGNS) and _CODE.search(text) is not None:
        return True
    return ("{'" in text and _DICT.fullmatch(text) is not None) or is_prose(text)


@lru_cache(maxsize=4096)
def _names_results(shape: Shape) -> bool:
    """Whether no key comes twice and one is a result's, and no setting's."""
    keys = {key for key, _ in shape}
    return len(keys) == len(shape) and any(is_result(key) and _RATES.match(key) is None for key in keys)


@lru_cache(maxsize=4096)
def _bare(key: str) -> str:
    """A key without the kind of entry before it: ``PARAMETER loss_scale``."""
    first, _, last = key.rpartition(" ")
    return last if first.isupper() and "_" in last else key


@lru_cache(maxsize=4096)
def _counter(key: str) -> str | None:
    """The name of what a key counts: ``Game number`` counts games."""
    words = key.lower().removesuffix(" number").removesuffix(" no").split()
    if words[:1] in (["global"], ["train"], ["training"]):
        words = words[1:]
    return _COUNTERS.get(words[0]) if len(words) == 1 else None


def _axis(lines: list[_Line]) -> str | None:
    """The counter that dates the lines: one that rises from each to the next, the finest of these; else the finest."""
    names = [name for name in lines[0].counters if all(name in line.counters for line in lines)]
    rising = [name for name in names if all(a.counters[name] < b.counters[name] for a, b in pairwise(lines))]
    names = rising or names
    return min(names, key=_FINE.index) if names else None
