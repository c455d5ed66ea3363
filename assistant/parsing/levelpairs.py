"""Pairs behind a logger's prefix: ``16:43:08 INFO steps_per_s=321, loss=0.089``.

The weakest format: it looks only at lines with a time and a level in front, and only where nothing else found
anything.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.parsing.logprefix import has_prefix, read_body
from assistant.parsing.pairs import read_pairs
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading

_PAIRS: Final = re.compile(r"[A-Za-z_][\w/@.-]{0,100}+ ?[=:] ?[-+]?(?:[0-9.]|nan|inf)")
_LONGEST: Final = 4000


class LevelPairs:
    """Reads logger lines that hold nothing but pairs, one row a line."""

    name: Final = "logger-pairs"
    strength: Final = 9

    def read(self, document: Document) -> Reading:
        """At most one run."""
        lines = [""] * len(document.lines)
        found = False
        for index, line in enumerate(document.lines):
            if ("=" not in line and ":" not in line) or len(line) > _LONGEST or not has_prefix(line):
                continue
            body = read_body(line)[1]
            if body != line and _PAIRS.match(body) is not None:
                lines[index] = body
                found = True
        return read_pairs(replace(document, lines=lines), self.name) if found else Reading()
