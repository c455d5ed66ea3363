"""JSON of documents that hold what a log holds: integers of any size among it."""

from __future__ import annotations

import json
from typing import Any

import orjson


def json_bytes(document: Any, *, indent: bool = False) -> bytes:
    """A document as UTF-8 JSON.

    orjson refuses integers beyond 64 bits, which a log may hold; the standard library writes such a document, its
    integers digit by digit.

    Args:
        document: of dicts, lists, strings, numbers, booleans and ``None``; no NaN (see ``json_number``).
        indent: two blanks a level.

    Raises:
        TypeError: something in it has no JSON form.
    """
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:
        layout: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
        return json.dumps(document, ensure_ascii=False, **layout).encode("utf-8", "backslashreplace")
