"""verl records that look like those before: one regular expression takes the values out of a line, and JSON reads them.

A run prints the same metrics in the same order at nearly every step, so the texts between the values repeat. Once some
hundred records with the same keys were read, their line becomes a pattern with a group for each value. To match it is
half as long as to rewrite the line to JSON, and it tells at once that nothing else is on the line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import orjson

from assistant.parsing.verlblocks import WRAPPERS, Group, pack_group, read_records

WORTH: Final = 128
"""Records with the same keys after which their pattern is built; a few times as many make up for the time it takes."""

_MOST_FORMS: Final = 4
_BLANKS: Final = (b" ", b"\t", b"\r")


@dataclass(frozen=True)
class _Form:
    """How the records with the same keys look.

    Attributes:
        keys: ``step`` and the metrics.
        pattern: of a whole line; each value is a group.
    """

    keys: tuple[str, ...]
    pattern: re.Pattern[bytes]

    @classmethod
    def of(cls, line: bytes, keys: tuple[str, ...]) -> _Form | None:
        """The form of a record.

        Args:
            line: from ``step:`` on; it holds nothing but cells, separated by `` - ``.
            keys: the metrics, without the step.
        """
        cells = line.split(b" - ")[1:]
        parts = [rb"step:([0-9]{1,15}+)"]
        for cell in cells:
            key, _, value = cell.partition(b":")
            wrapper = next((one for one in WRAPPERS if cell.startswith(one, len(key))), None)
            if wrapper is None:
                parts.append(re.escape(key) + rb":([^ ]*+)")
            elif value.endswith(b")"):
                parts.append(re.escape(key + wrapper) + rb"([^)]*+)\)")
            else:
                return None
        if tuple(cell.partition(b":")[0].decode() for cell in cells) != keys:
            return None
        return cls(("step", *keys), re.compile(b" - ".join(parts)))

    def take(self, lines: Sequence[bytes], at: int) -> list[bytes]:
        """The values of the lines from an index on that have this form, each line's joined by commas."""
        match = self.pattern.fullmatch
        taken: list[bytes] = []
        for line in islice(lines, at, None):
            found = match(line)
            if found is None:
                break
            taken.append(b",".join(found.groups()))
        return taken

    def read(self, taken: Sequence[bytes]) -> Group | None:
        """The records whose values :meth:`take` gave; ``None`` if some value is no plain number."""
        json = b"[%b]" % b",".join(taken)
        if any(blank in json for blank in _BLANKS):
            return None
        gaps = False
        try:
            values = orjson.loads(json)
        except orjson.JSONDecodeError:
            if b"nan" not in json or b"null" in json:
                return None
            gaps = True
            try:
                values = orjson.loads(json.replace(b"nan", b"null"))
            except orjson.JSONDecodeError:
                return None
        if len(values) != len(taken) * len(self.keys):
            return None
        return pack_group(self.keys, values, gaps=gaps)


class RecordReader:
    """Reads many whole records at once, and learns what they look like."""

    def __init__(self) -> None:
        self._forms: list[_Form] = []
        self._seen: Counter[tuple[str, ...]] = Counter()

    def read(self, lines: Sequence[bytes]) -> list[Group] | None:
        """The cells of whole records.

        Args:
            lines: ``step:N - key:value - …`` without launcher's prefix.

        Returns:
            The groups in the order of the lines; ``None`` if any line needs a closer look.
        """
        groups: list[Group] = []
        at = 0
        while at < len(lines):
            taken = self._take(lines, at)
            if taken:
                group = self._forms[0].read(taken)
                found = None if group is None else [group]
                end = at + len(taken)
            else:
                end = next((end for end in range(at + 1, len(lines)) if self._fits(lines[end])), len(lines))
                found = self._learn(lines[at:end])
            if found is None:
                return None
            groups += found
            at = end
        return groups

    def _take(self, lines: Sequence[bytes], at: int) -> list[bytes]:
        """The values of lines of one form, which then is the first; none if the line at an index is of no form."""
        for index, form in enumerate(self._forms):
            taken = form.take(lines, at)
            if taken:
                self._forms.insert(0, self._forms.pop(index))
                return taken
        return []

    def _fits(self, line: bytes) -> bool:
        return any(form.pattern.fullmatch(line) for form in self._forms)

    def _learn(self, lines: Sequence[bytes]) -> list[Group] | None:
        groups = read_records(b"\n".join(lines))
        at = 0
        for group in groups or ():
            at += len(group.steps)
            seen = self._seen[group.keys]
            self._seen[group.keys] += len(group.steps)
            if seen // WORTH < self._seen[group.keys] // WORTH:
                form = _Form.of(lines[at - 1], group.keys)
                if form is not None:  # instead of the one that was not used for longest
                    self._forms = [*self._forms[: _MOST_FORMS - 1], form]
        return groups
