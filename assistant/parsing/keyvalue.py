"""The format of hand-pasted pairs, as it is registered; its grammar is loaded when it is first needed."""

from __future__ import annotations

from typing import Final

from assistant.parsing.repair import Document
from assistant.parsing.table import Reading


class KeyValue:
    """Reads ``key: value`` lines and Markdown lists where no log format found anything."""

    name: Final = "key-value"
    strength: Final = 10

    def read(self, document: Document) -> Reading:
        """At most one run; see :func:`assistant.parsing.pairs.read_pairs`."""
        from assistant.parsing.pairs import read_pairs

        return read_pairs(document, self.name)
