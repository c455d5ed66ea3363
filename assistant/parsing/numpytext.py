"""numpy's wrappers around printed numbers, taken off a whole record at once."""

from __future__ import annotations

from typing import Final

_WRAPPERS: Final = (b":np.float64(", b":np.float32(", b":np.int64(", b":np.int32(")


def unwrap(body: bytes) -> bytes | None:
    """A record's cells without numpy's wrappers; ``None`` if parentheses are not where they belong.

    What separates a wrapped value from the next cell is rewritten to JSON already.
    """
    text = body
    opened = 0
    for wrapper in _WRAPPERS:
        parts = text.split(wrapper)
        if len(parts) > 1:
            opened += len(parts) - 1
            text = b":".join(parts)
            if b"(" not in text:
                break
    if b"(" in text and body.count(b"(") != body.count(b")"):
        return None
    parts = text.split(b") - ")
    closed = len(parts) - 1
    text = b',"'.join(parts)
    if text.endswith(b")"):
        text = text[:-1]
        closed += 1
    return text if closed == opened and (b")" not in text or b"(" in text) else None
