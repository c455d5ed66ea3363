"""Finds dicts of metrics behind a heading such as ``rollout 3: {`` or ``Global step 3: {``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from assistant.parsing.flatdict import Printed, read_printed
from assistant.parsing.logprefix import has_prefix, read_body
from assistant.parsing.repair import Document

_WIDEST_TERMINAL: Final = 1000
_LONGEST_HEADING: Final = 160


@dataclass(frozen=True, slots=True)
class Headed:
    """A dict and the heading in front of it."""

    heading: re.Match[str]
    tag: str | None
    printed: Printed

    @property
    def index(self) -> int:
        """Index of the line on which the heading begins."""
        return self.printed.entries[0]


def find_headed(document: Document, heading: re.Pattern[str], words: tuple[str, ...]) -> Iterator[Headed]:
    """All dicts of a document whose heading matches, in order.

    Args:
        document: a text.
        heading: matched at the beginning of a message; ends behind the opening brace.
        words: one of them stands in every line with a heading (a cheap test).
    """
    lines = document.lines

    def is_start(line: str) -> bool:
        return any(word in line for word in words) and heading.match(read_body(line)[1]) is not None

    end = 0
    for index, line in enumerate(lines):
        if index < end or not any(word in line for word in words):
            continue
        tag, body = read_body(line)
        found = heading.match(body)
        if found is None and len(line) <= _WIDEST_TERMINAL and index + 1 < len(lines):
            found = _over_the_edge(body, lines[index + 1], heading)
        if found is None:
            continue
        printed = read_printed(lines, index, body, found.end() - 1, is_start)
        if printed is None:
            continue
        end = printed.entries[-1] + 1
        yield Headed(found, tag, printed)


def _over_the_edge(body: str, following: str, heading: re.Pattern[str]) -> re.Match[str] | None:
    """A heading that a terminal broke: it begins in one line and ends in the next."""
    if len(body) > _LONGEST_HEADING or "{" not in following[:_LONGEST_HEADING] or has_prefix(following):
        return None
    found = heading.match(body + following[:_LONGEST_HEADING])
    return found if found is not None and found.end() > len(body) else None
