"""Finds dicts of metrics behind a heading such as ``rollout 3: {`` or ``Global step 3: {``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from assistant.parsing.logprefix import has_prefix, read_body
from assistant.parsing.printeddict import Printed, read_printed
from assistant.parsing.repair import Document

_WIDEST_TERMINAL: Final = 1000
_LONGEST_HEADING: Final = 160
_COLON: Final = re.compile(r"[：:]\s{0,4}(?=\S)")
_MOST_COLONS: Final = 6


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
        if index < end:
            continue
        tag, body, found, skipped = None, "", None, 0
        if any(word in line for word in words):
            tag, body = read_body(line)
            found = heading.match(body)
            if found is None:
                tag, body, found = _behind_prose(line, heading)
        if found is None and index + 1 < len(lines) and "{" in lines[index + 1][:_LONGEST_HEADING]:
            tag, body, found, skipped = _over_the_edge(line, lines[index + 1], heading)
        if found is None:
            continue
        printed = read_printed(lines, index, body, skipped + found.end() - 1, is_start)
        if printed is None:
            continue
        end = printed.entries[-1] + 1
        yield Headed(found, tag, printed)


def _behind_prose(line: str, heading: re.Pattern[str]) -> tuple[str | None, str, re.Match[str] | None]:
    """A heading behind words that announce it on the same line: ``Here are my results: step 1: {``."""
    start = line[:_LONGEST_HEADING].partition("{")[0]
    for colon in list(_COLON.finditer(start))[:_MOST_COLONS]:
        tag, body = read_body(line[colon.end() :])
        found = heading.match(body)
        if found is not None:
            return tag, body, found
    return None, "", None


def _over_the_edge(
    line: str, following: str, heading: re.Pattern[str]
) -> tuple[str | None, str, re.Match[str] | None, int]:
    """A heading, or the prefix before it, that a terminal broke: it begins in one line and ends in the next.

    Returns:
        The process, the part of the heading on the first line (may be empty), the match, and how many
        characters of the next line belong to the prefix.
    """
    if not line or len(line) > _WIDEST_TERMINAL or has_prefix(following):
        return None, "", None, 0
    piece = following[:_LONGEST_HEADING]
    for glue in ("", " ") if not line.endswith(" ") else ("",):
        tag, body = read_body(line + glue + piece)
        kept = len(body) - len(piece)
        found = heading.match(body)
        if found is not None and found.end() > kept and (kept > 0 or has_prefix(line)):
            return tag, body[: max(kept, 0)], found, max(-kept, 0)
    return None, "", None, 0
