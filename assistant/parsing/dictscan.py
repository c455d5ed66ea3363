"""A printed dictionary of metrics, as ``print(dict)`` and ``json.dumps`` write it: one pass, no evaluation.

The one scanner behind all formats that print dictionaries. A dictionary may be glued to other text, or stop in the
middle; who reads one that a terminal broke over lines joins the lines first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import MissingReason, Number
from assistant.parsing.numbers import NUMBER, read_number

ItemKind = Literal["number", "text", "none", "flag", "other"]
State = Literal["closed", "open", "broken", "nested"]

LONGEST_KEY: Final = 300

_KEY: Final = rf"\s*+(?:'([^'\\{{}}\n]{{1,{LONGEST_KEY}}}+)'|\"([^\"\\{{}}\n]{{1,{LONGEST_KEY}}}+)\")\s*+:\s*+"
_VALUE: Final = (
    rf"({NUMBER})"
    rf"|[A-Za-z_][\w.]{{0,60}}+\(\s*+({NUMBER})\s*+(?:,[^(){{}}]{{0,160}}+)?+\)"
    r"|'([^'\\]*+(?:\\.[^'\\]*+)*+)'|\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\""
    r"|(None|null)|(True|False|true|false)|(\[[^\[\]{}()'\"]*+\])"
)
_CELL: Final = re.compile(rf"{_KEY}(?:{_VALUE})\s*+[,}}]")
_LAST: Final = re.compile(rf"{_KEY}(?:{_VALUE})\s*+\Z")
_KINDS: Final[tuple[ItemKind, ...]] = ("number", "number", "text", "text", "none", "flag", "other")
_BEFORE: Final = 3
"""Number of the first group of ``_VALUE`` behind those of ``_KEY``."""

_NAMED: Final = re.compile(_KEY)
_CALL: Final = re.compile(r"[A-Za-z_][\w.]{0,60}+(?=\()")
_REST: Final = re.compile(
    rf"\s*+(?:(?P<quote>['\"])(?P<key>[^'\"\\{{}}]{{0,{LONGEST_KEY}}}+)"
    r"(?P<named>(?P=quote)(?:\s{0,80}+:\s{0,80}+(?P<value>['\"]?+[^'\",{}\[\]]{0,60}+['\"]?+))?+)?+)?+"
)
_PERCENT: Final = re.compile(r"([-+]?[0-9]{1,9}(?:\.[0-9]{1,12})?)\s?%")
_PLAIN: Final = re.compile(r"[^\[\](){}'\"]++")
_STRING: Final = re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"")
_BLANK: Final = re.compile(r"\s*+")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*+")
_WORD_STARTS: Final = frozenset(
    word[:at]
    for word in ("nan", "NaN", "inf", "Infinity", "None", "null", "True", "False", "true", "false")
    for at in range(1, 9)
)
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_DETAIL: Final = 80
_NEAR_END: Final = 400


@dataclass(frozen=True, slots=True)
class Item:
    """One ``key: value`` of a dictionary.

    Attributes:
        key: as spelled.
        kind: what the value is; a number inside ``np.float64(…)`` is a number, a quoted one is a text; ``other`` is a
            list, a tuple, a dictionary or a call.
        text: the value's text without quotes or wrapper.
        at: where the value's text begins.
    """

    key: str
    kind: ItemKind
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class ScannedDict:
    """What was read from an opening brace on.

    Attributes:
        start: offset of the brace.
        end: offset after the closing brace, or where reading stopped.
        items: the whole items.
        state: ``closed``; ``open`` (the text ends inside); ``broken`` (other text follows inside);
            ``nested`` (a value is itself a dictionary or a list of them, and those were not to be stepped over).
        key: key of the item in which it stops, if that key is whole.
        rest: what stood at the stop (at most 80 characters).
        reason: what the stop makes of that item, ``None`` between items.
    """

    start: int
    end: int
    items: tuple[Item, ...]
    state: State
    key: str | None = None
    rest: str = ""
    reason: MissingReason | None = None


def text_number(text: str) -> Number | None:
    """The value of a quoted number, or the number of a percentage (``"1.65%"`` is 1.65)."""
    text = text.strip()
    value = read_number(text) if text and text[-1] != "%" else None
    if value is None and text[-1:] == "%":
        percent = _PERCENT.fullmatch(text)
        return read_number(percent[1]) if percent is not None else None
    return value


def scan_dict(text: str, start: int, *, deep: bool = False) -> ScannedDict:
    """Reads a dictionary.

    Args:
        text: any text.
        start: offset of an opening brace in it.
        deep: step over dictionaries, tuples and calls inside, rather than stop there.

    Returns:
        Its items and how it ends; time is linear in what it consumes.
    """
    items: list[Item] = []
    at = start + 1
    match = _CELL.match
    while True:
        cell = match(text, at)
        if cell is not None:
            items.append(_item(cell))
            at = cell.end()
            if text[at - 1] == "}":
                return ScannedDict(start, at, tuple(items), "closed")
            continue
        after = _step_over_value(text, at, items) if deep else None
        if after is None:
            break
        at = after
        if text[at - 1] == "}":
            return ScannedDict(start, at, tuple(items), "closed")
    if items and text[at - 1] == "," and (closed := _BLANK.match(text, at)) is not None:
        end = closed.end()
        if text.startswith("}", end):
            return ScannedDict(start, end + 1, tuple(items), "closed")
    if (cell := _LAST.match(text, at)) is not None and cell.lastindex != _BEFORE:
        return ScannedDict(start, len(text), (*items, _item(cell)), "open")
    return _stopped(text, start, at, tuple(items))


def _item(cell: re.Match[str]) -> Item:
    index = cell.lastindex or _BEFORE
    return Item(cell[1] or cell[2], _KINDS[index - _BEFORE], cell[index], cell.start(index))


def _step_over_value(text: str, at: int, items: list[Item]) -> int | None:
    """Offset behind the comma or brace after a value of several parts; ``None`` if there is none."""
    key = _NAMED.match(text, at)
    if key is None:
        return None
    begin = key.end()
    call = _CALL.match(text, begin)
    opening = call.end() if call is not None else begin
    if text[opening : opening + 1] not in _CLOSING:
        return None
    end = _step_over(text, opening)
    blank = _BLANK.match(text, end) if end is not None else None
    if end is None or blank is None or text[blank.end() : blank.end() + 1] not in {",", "}"}:
        return None
    items.append(Item(key[1] or key[2], "other", text[begin : min(end, begin + _DETAIL)], begin))
    return blank.end() + 1


def _step_over(text: str, at: int) -> int | None:
    """Offset behind a list, tuple or dictionary; ``None`` if it does not end."""
    open_ones: list[str] = []
    while at < len(text):
        char = text[at]
        if char in "'\"":
            string = _STRING.match(text, at)
            if string is None:
                return None
            at = string.end()
        elif char in _CLOSING:
            open_ones.append(_CLOSING[char])
            at += 1
        elif char in "])}":
            if not open_ones or open_ones.pop() != char:
                return None
            at += 1
        else:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain is not None else at + 1
        if not open_ones:
            return at
    return None


def _stopped(text: str, start: int, at: int, items: tuple[Item, ...]) -> ScannedDict:
    """What is made of the item in which a dictionary stops."""
    rest = _REST.match(text, at)
    end = rest.end() if rest is not None else at
    if rest is None or rest["quote"] is None:
        return ScannedDict(start, end, items, "open" if end >= len(text) else "broken")
    at_end = end >= len(text) or (len(text) - end <= _NEAR_END and not text[end:].strip())
    state: State = "open" if at_end else "broken"
    if rest["named"] is None:
        return ScannedDict(start, end, items, state, None, rest["key"][:_DETAIL], "half_key")
    value = (rest["value"] or "").strip().strip("'\"")
    if not value and end < len(text) and text[end] in "{[(":
        return ScannedDict(start, end, items, "nested", rest["key"])
    wrapper = "(" in value or (_NAME.fullmatch(value) is not None and value not in _WORD_STARTS)
    reason: MissingReason = "half_wrapper" if wrapper and rest["value"][:1] not in "'\"" else "half_value"
    return ScannedDict(start, end, items, state, rest["key"], value[:_DETAIL], reason)
