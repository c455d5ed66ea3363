"""What between verl's records tells that their bytes alone do not suffice: broken heads, records inside samples."""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.verldict import MARK
from assistant.parsing.verlends import NeedsCare
from assistant.parsing.verlfront import SAMPLE_MARKS
from assistant.parsing.verlscan import EXTRA_MARK

_MARKS: Final = (MARK.encode(), EXTRA_MARK.encode())
_SPLIT_MARK: Final = re.compile(
    rb"\x1b(?<=[a-z_:' \[]\x1b)(?:\[[0-9;:?<=>]*[ -/]*[@-~])?+(?:tep:|ep:|p:|:[0-9]|"
    + b"|".join(re.escape(mark[at:]) for mark in _MARKS for at in range(1, len(mark) - 2))
    + rb")"
)
"""A colour code inside what the lines are found by."""

_SPLIT_HEAD: Final = re.compile(rb"(?:tep|ep|p)?:[0-9]{1,15} - ")
_INSIDE: Final = rb"(?:(?<=\n:)|(?<=\np:)|(?<=\nep:)|(?<=\ntep:))[0-9]{1,15} - "
_SPLIT_HEAD_INSIDE: Final = re.compile(rb":(?<=[\np]:)" + _INSIDE)
"""A record whose ``step`` a terminal broke. Inside a text it is looked for from the colon on, at half the cost of the
search from line breaks: other output has fewer colons than lines, and what stands before a colon tells quickly."""

_DICT: Final = rb" \{(?<=" + re.escape(MARK.encode()) + rb")"
_NEXT: Final = re.compile(rb":(?<=[\nps]:)(?:(?<=step:)|" + _INSIDE + b"|" + _DICT + b")")
"""Begins at a colon, of which there are few, and looks at one letter before it first, which most of them fail."""

_SAMPLE_BEGINS: Final = tuple(mark.encode() for mark in SAMPLE_MARKS[:2])
_LONGEST_SAMPLE: Final = 1 << 16
"""Bytes of a sample before a record that may stand in it; only so much is searched."""

_SAMPLE_END: Final = SAMPLE_MARKS[2].encode()


def find_next(data: bytes, begin: int) -> re.Match[bytes] | None:
    """What comes next: the colon of ``step:``, a broken head on another line than the first, or a validation dict.

    One search for all three, since each takes time of its own over all noise; where no colon is left, none is needed.
    """
    colon = data.find(b":", begin)
    return None if colon < 0 else _NEXT.search(data, colon)


class Signs:
    """Looks at the lines between records."""

    def __init__(self) -> None:
        self._sample_open: int | None = None

    def look(self, data: bytes, begin: int, end: int, records: int, *, whole: bool = False) -> None:
        """Looks at whole lines that hold no record.

        Args:
            data: a text.
            begin, end: where the lines lie in it.
            records: how many lines of records were taken so far.
            whole: no line but the first one can be a broken head.

        Raises:
            NeedsCare: a record's head was broken by a terminal or a colour code, or a record that was taken may have
                stood inside a model's answer.
        """
        if data.find(b"\x1b", begin, end) >= 0 and _SPLIT_MARK.search(data, begin, end):
            raise NeedsCare
        if _SPLIT_HEAD.match(data, begin, end) or (not whole and _SPLIT_HEAD_INSIDE.search(data, begin, end)):
            raise NeedsCare
        if self._sample_open is not None and data.find(_SAMPLE_END, begin, end) >= 0:
            if records > self._sample_open:
                raise NeedsCare
            self._sample_open = None
        near = max(begin, end - _LONGEST_SAMPLE)
        opened = max(data.rfind(mark, near, end) for mark in _SAMPLE_BEGINS)
        if opened >= 0 and data.find(_SAMPLE_END, opened, end) < 0:
            self._sample_open = records
