"""One plain verl record at a time, from its bytes: rewritten to JSON, its values checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import NoneType
from typing import Any, Final

import orjson

from assistant.model.run import Number
from assistant.parsing.kept import Shape
from assistant.parsing.numpytext import unwrap

LONGEST_TAIL: Final = 300
"""Characters of a last cell that are still plain."""

_SPECIAL: Final = {True: math.inf, False: -math.inf, None: math.nan}
_HUGE: Final = 2.0**62
_NUMBERS: Final = frozenset({int, float})

Cells = tuple[tuple[str, ...], tuple[Number, ...], tuple[type, ...]]
"""Keys, values and their types."""


class LineReader:
    """Reads records; remembers what NaN and infinities looked like in the last one.

    Args:
        shapes: the shapes known so far, by keys.
    """

    def __init__(self, shapes: Mapping[tuple[str, ...], Shape]) -> None:
        self._shapes = shapes
        self._special = 0
        self._specials = 0
        self._special_types: tuple[type, ...] = ()
        self._plain_types: tuple[type, ...] = ()
        self._special_at: list[int] = []

    def read(self, body: bytes) -> Cells | None:
        """The cells of a record's text behind ``step:N - ``; ``None`` if it needs a closer look."""
        if not body.isascii() or b'"' in body or b"\\" in body or b"\t" in body or b"\r" in body:
            return None
        text = unwrap(body) if b"(" in body or b")" in body else body
        if text is None:
            return None
        cells = self._load(text)
        if cells is None:
            return None
        cut = body.rfind(b" - ")
        tail = body[cut + 3 :] if cut >= 0 else body
        if len(tail) > LONGEST_TAIL or tail.count(b"(") != tail.count(b")"):
            return None
        keys = tuple(cells)
        values = tuple(cells.values())
        types = tuple(map(type, values))
        shape = self._shapes.get(keys)
        if self._specials or ((shape is None or types != shape.types) and not _NUMBERS.issuperset(types)):
            shown = self._show(values, types)
            if shown is None:
                return None
            values, types = shown, self._plain_types
        elif not math.hypot(*values) < _HUGE:
            return None
        if shape is None and ("" in cells or "step" in cells):
            return None
        return keys, values, types

    def _show(self, values: tuple[Any, ...], types: tuple[type, ...]) -> tuple[Number, ...] | None:
        """The values with NaN and infinities where JSON has its own words for them."""
        if types != self._special_types:
            self._special_at = [at for at, kind in enumerate(types) if kind is bool or kind is NoneType]
            self._special_types = types
            self._plain_types = tuple(float if kind is bool or kind is NoneType else kind for kind in types)
        plain, shown = list(values), list(values)
        for at in self._special_at:
            plain[at] = 0
            shown[at] = _SPECIAL[values[at]]
        if len(self._special_at) != self._specials or not _NUMBERS.issuperset(self._plain_types):
            return None
        return tuple(shown) if math.hypot(*plain) < _HUGE else None

    def _load(self, text: bytes) -> dict[str, Any] | None:
        """The cells of a record's text as JSON reads them; ``None`` if it does not, or a key comes twice."""
        joined = b',"'.join(text.split(b" - "))
        if b" " in joined:
            return None
        quoted = joined.replace(b":", b'":')
        line = b'{"' + quoted + b"}"
        if self._special:
            line = line.replace(b'":nan', b'":null')
            if self._special > 1:
                line = line.replace(b'":inf', b'":true').replace(b'":-inf', b'":false')
            self._specials = len(line) - len(quoted) - 3
        try:
            cells: dict[str, Any] = orjson.loads(line)
        except orjson.JSONDecodeError:
            if self._special < 1 and b":nan" in text:
                self._special = 1
            elif self._special < 2 and b"inf" in text:
                self._special = 2
            else:
                return None
            return self._load(text)
        return cells if len(cells) == len(quoted) - len(joined) else None
