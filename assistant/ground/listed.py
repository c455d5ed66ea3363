"""Lists laid out as tables: ``- entropy`` over ``  - first: 0.91``, ``- entropy: first 0.91, last 0.35``.

A list whose items are a label and what titles tell of it is read as the row of a table that says the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.ground.sentences import Unit
from assistant.ground.titles import title_of

_TITLED: Final = re.compile(r"(?P<mark>[*_`]*)(?P<title>[^:：=\n]{1,60}?)(?P=mark)\s*(?:[:：]|\s=)\s*[*_]*\s*(?=\S)")
_LABEL: Final = re.compile(r"[^。！？!?;；\n]{1,80}")
_COMMA: Final = re.compile(r"(?:[，；;]|,(?=\s)|、)\s*|\s+[|/·]\s+")
#: What a cell holds beside words of its own.
_UNIT_WORDS: Final = re.compile(
    r"(?i)[^A-Za-z\u3400-\u9fff]|\b(?:tokens?|sec|seconds|min|minutes|step|not logged|missing)\b"
)
#: A sentence's words between its numbers: "从 0.9 降到 0.4".
_MOVED: Final = re.compile(r"(?i)\d[^\d]{0,8}(?:[到至]|\bto\b)|\b(?:from|by)\b")
_MARK: Final = re.compile(r"[↑↓⬆⬇↗↘🔺🔻📈📉]")
_LONGEST_CELL: Final = 12
_MOST_PIECES: Final = 24


@dataclass(frozen=True, slots=True)
class Listed:
    """A row told as a list.

    Attributes:
        row: the row, with its titles and cells.
        units: the units that hold its cells, by their number.
        first: whether it begins its list.
    """

    row: Unit
    units: tuple[int, ...]
    first: bool


def listed(
    text: str, units: Sequence[Unit], titled: Callable[[str], bool], labels: Callable[[str], bool]
) -> dict[int, Listed]:  # fmt: skip
    """The rows that a text's lists tell, by the number of the unit that holds the label.

    Args:
        text: the text.
        units: its units.
        titled: whether words are the title of a column.
        labels: whether words are the label of a row.
    """
    found: dict[int, Listed] = {}
    before = -2
    at = 0
    while at < len(units):
        if units[at].kind != "item":
            at += 1
            continue
        row = _nested(text, units, at) or _flat(text, units, at, titled)
        if row is None or not labels(text[slice(*row.row.cells[0])]):
            at += 1
            continue
        found[at] = replace(row, first=before != at)
        at = before = row.units[-1] + 1
    return found


def _nested(text: str, units: Sequence[Unit], at: int) -> Listed | None:
    """A short item over items that are each a title and a cell."""
    label = units[at]
    body = text[label.start : label.end]
    if _LABEL.fullmatch(body) is None:
        return None
    titles, cells, held = [""], [_label_span(text, label)], [at]
    after = at + 1
    while after < len(units) and units[after].kind == "item" and units[after].above[-1:] == (body.strip(),):
        own = units[after]
        match = _TITLED.match(text, own.start, own.end)
        alone = after + 1 == len(units) or units[after + 1].start > own.end + 1 or units[after + 1].kind == "item"
        if match is not None and match.end() < own.end and alone:
            titles.append(match["title"].strip(" *_`"))
            cells.append((match.end(), own.end))
            held.append(after)
        after += 1
    if len(titles) < 2 or after - at - 1 > _MOST_PIECES:
        return None
    return Listed(
        Unit(label.start, units[held[-1]].end, "row", label.above, tuple(titles), tuple(cells)), tuple(held), False
    )


def _flat(text: str, units: Sequence[Unit], at: int, titled: Callable[[str], bool]) -> Listed | None:
    """An item that tells a label and, behind its colon, titles with their cells."""
    own = units[at]
    match = _TITLED.match(text, own.start, own.end)
    if match is None or own.end - own.start > 400:
        return None
    titles, cells = [""], [(match.start("title"), match.end("title"))]
    for start, end in _pieces(text, match.end(), own.end):
        cut = _cut(text, start, end, titled)
        if cut is None:
            return None
        title = text[start : cut[0]].strip(" *_`:：=")
        worded = title_of(title).role in {"note", "trend", "verdict"}
        if not worded and _MOVED.search(text[cut[0] : end]):
            return None
        if len(_UNIT_WORDS.sub("", text[cut[1] : end])) > (_LONGEST_CELL if not worded else 4 * _LONGEST_CELL):
            return None
        titles.append(title)
        cells.append((cut[1], end))
    if len(titles) < 2 or len(titles) > _MOST_PIECES:
        return None
    return Listed(Unit(own.start, own.end, "row", own.above, tuple(titles), tuple(cells)), (at,), False)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    here = start
    for match in _COMMA.finditer(text, start, end):
        if text[here : match.start()].count("(") + text[here : match.start()].count("（") == text[
            here : match.start()
        ].count(")") + text[here : match.start()].count("）"):
            yield here, match.start()
            here = match.end()
    while end > here and text[end - 1] in " .。;；":
        end -= 1
    if here < end:
        yield here, end


def _cut(text: str, start: int, end: int, titled: Callable[[str], bool]) -> tuple[int, int] | None:
    """Where the title of a piece ends and where its cell begins: the longest title before something else."""
    part = text[start:end]
    seams = [m.span() for m in re.finditer(r"\s*[:：=]\s*|\s+", part)][:8]
    for left, right in reversed(seams):
        if left > 0 and right < len(part) and not _MARK.search(part[:left]) and titled(part[:left].strip(" *_`")):
            return start + left, start + right
    return None


def _label_span(text: str, unit: Unit) -> tuple[int, int]:
    end = unit.end
    while end > unit.start and text[end - 1] in " :：":
        end -= 1
    return unit.start, end
