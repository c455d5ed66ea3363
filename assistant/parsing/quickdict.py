"""Plain one-line dictionaries, read by the JSON parser: what is unusual is left to :mod:`assistant.parsing.dictscan`.

Both ways give the same cells; a test holds them to that.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson

from assistant.model.run import Number
from assistant.parsing.dictscan import LONGEST_KEY, text_number
from assistant.parsing.numbers import LONGEST

_EXACT: Final = 9e18
"""JSON parsers keep whole numbers below 2⁶³ as they are."""

_MOST: Final = 100_000
_NUMBERS: Final = frozenset({int, float})
_READ: Final = frozenset({int, float, str, type(None)})


@dataclass(slots=True)
class QuickDict:
    """A closed dictionary without nested values, flags or odd spellings.

    Attributes:
        cells: its numbers, in order; quoted numbers are among them.
        rest: key and text of the values that are no number, in order (``None`` and ``null`` as spelled); quoted values
            of the keys that were named beforehand are left out.
        keys: all keys, in order.
        raw: its text.
        end: offset after the closing brace.
    """

    cells: dict[str, Number]
    rest: list[tuple[str, str]]
    keys: tuple[str, ...]
    raw: str
    end: int


def quick_dict(text: str, start: int, words: frozenset[str] = frozenset()) -> QuickDict | None:
    """The dictionary that begins at an offset; ``None`` if it takes the careful scanner to tell.

    Args:
        text: any text.
        start: offset of an opening brace in it.
        words: keys whose quoted values are no numbers, and are not looked at.
    """
    end = text.find("}", start, start + _MOST) + 1
    if not end:
        return None
    raw = text[start:end]
    json = _as_json(raw)
    if json is None:
        return None
    try:
        held: dict[str, Any] = orjson.loads(json)
    except orjson.JSONDecodeError:
        return None
    if not held or (len(raw) > LONGEST and max(map(len, raw.split(","))) > LONGEST):
        return None
    keys = tuple(held)
    texts = 0
    rest: list[tuple[str, str]] = []
    types = set(map(type, held.values()))
    if not types <= _NUMBERS:
        if not types <= _READ:
            return None
        texts, rest = _settle(held, words, "None" if raw[1] == "'" else "null")
    if json.count('"') != 2 * (len(keys) + texts) or max(map(len, keys)) > LONGEST_KEY or "" in keys:
        return None
    if not math.hypot(*held.values()) < _EXACT and not all(map(_is_exact, held.values())):
        return None
    return QuickDict(held, rest, keys, raw, end)


def _as_json(raw: str) -> str | None:
    """The text as JSON, with the words for no number quoted; ``None`` if quotes are mixed, escaped or nested."""
    if "\\" in raw or raw.count("{") != 1:
        return None
    if raw[1:2] == "'":
        if '"' in raw or "null" in raw:
            return None
        json = raw.replace("'", '"')
        if "nan" in raw or "inf" in raw:
            json = json.replace(": nan", ': "nan"').replace(": inf", ': "inf"').replace(": -inf", ': "-inf"')
        return json.replace(": None", ": null") if "None" in raw else json
    if "'" in raw:
        return None
    if ": NaN" in raw or "Infinity" in raw:
        raw = raw.replace(": NaN", ': "NaN"').replace(": Inf", ': "Inf').replace(": -Inf", ': "-Inf')
        raw = raw.replace("Infinity", 'Infinity"')
    return raw


def _settle(held: dict[str, Any], words: frozenset[str], none: str) -> tuple[int, list[tuple[str, str]]]:
    """Turns quoted numbers into numbers and takes out what is none.

    Returns:
        How many values were quoted, and key and text of those taken out, but for the words.
    """
    quoted = [key for key, value in held.items() if type(value) is str]
    texts = {key: held[key] for key in quoted if key not in words}
    if len(texts) < len(quoted):
        for key in quoted:
            if key in words:
                del held[key]
    numbers: list[Any] = []
    if texts:
        with suppress(orjson.JSONDecodeError):
            numbers = orjson.loads("[" + ",".join(texts.values()) + "]")
        if len(numbers) != len(texts) or not set(map(type, numbers)) <= _NUMBERS:
            numbers = [text if (value := text_number(text)) is None else value for text in texts.values()]
        held.update(zip(texts, numbers, strict=True))
    rest = []
    if str in map(type, numbers) or None in held.values():
        for key in [key for key, value in held.items() if value is None or type(value) is str]:
            text = held.pop(key)
            rest.append((key, none if text is None else text))
    return len(quoted), rest


def _is_exact(value: Number) -> bool:
    return abs(value) < _EXACT or (isinstance(value, float) and not math.isfinite(value))
