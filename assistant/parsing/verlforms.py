"""verl records that look like those before: one regular expression takes the values out of a line, and JSON reads them.

A run prints the same metrics in the same order at nearly every step, so the texts between the values repeat. Once some
hundred records with the same keys were read, their line becomes a pattern with a group for each value. What stands
between the values is only measured by the pattern and compared when the line is put together again from the texts of
the form and its values: that is quicker than to match letter by letter. Both take half as long as to rewrite the line
to JSON, and tell at once that nothing else is on the line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

import orjson

from assistant.parsing.verlblocks import WRAPPERS, Group, pack_group, read_records

WORTH: Final = 128
"""Records with the same keys after which their pattern is built; a few times as many make up for the time it takes."""

_MOST_FORMS: Final = 4


@dataclass(frozen=True)
class _Form:
    """How the records with the same keys look.

    Attributes:
        keys: ``step`` and the metrics.
        texts: what stands before the first value, between them, and behind the last.
        pattern: of a whole line; each value is a group, and the texts are any of their length.
    """

    keys: tuple[str, ...]
    texts: tuple[bytes, ...]
    pattern: re.Pattern[bytes]

    @classmethod
    def of(cls, line: bytes, keys: tuple[str, ...]) -> _Form | None:
        """The form of a record.

        Args:
            line: from ``step:`` on; it holds nothing but cells, separated by `` - ``.
            keys: the metrics, without the step.
        """
        cells = line.split(b" - ")[1:]
        texts, values = [b"step:"], [b"([0-9]{1,15}+)"]
        closing = b""
        for cell in cells:
            key, _, value = cell.partition(b":")
            wrapper = next((one for one in WRAPPERS if cell.startswith(one, len(key))), None)
            if wrapper is not None and not value.endswith(b")"):
                return None
            texts.append(closing + b" - " + key + (wrapper or b":"))
            values.append(b"([^ ]*+)" if wrapper is None else b"([^)]*+)")
            closing = b"" if wrapper is None else b")"
        if tuple(cell.partition(b":")[0].decode() for cell in cells) != keys:
            return None
        skips = (b".{%d}+" % len(text) for text in texts)
        pattern = b"".join(chain.from_iterable(zip(skips, values, strict=True))) + re.escape(closing)
        return cls(("step", *keys), (*texts, closing), re.compile(pattern, re.DOTALL))

    def take(self, lines: Sequence[bytes], at: int) -> list[bytes]:
        """The values of the lines from an index on that have this form, each line's joined by commas."""
        match = self.pattern.fullmatch
        whole: list[bytes] = [b""] * (2 * len(self.texts) - 1)
        whole[::2] = self.texts
        taken: list[bytes] = []
        for line in islice(lines, at, None):
            found = match(line)
            if found is None:
                break
            values = whole[1::2] = found.groups()
            if b"".join(whole) != line:
                break
            taken.append(b",".join(values))
        return taken

    def read(self, taken: Sequence[bytes]) -> Group | None:
        """The records whose values :meth:`take` gave; ``None`` if some value is no plain number."""
        json = b"".join((b"[", b",".join(taken), b"]"))
        if b" " in json or b"\t" in json or b"\r" in json:
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
        return any(form.take((line,), 0) for form in self._forms)

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
