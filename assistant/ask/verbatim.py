"""Keys of a log that hold blanks ("train loss"), named in a question letter by letter."""

from __future__ import annotations

import re

from assistant.ask.logged import as_mention
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run


def spelt_with_blanks(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """The mentions, where a key that the question spells out in full wins over other readings of the same words.

    Args:
        text: the question, normalised.
        found: what was recognised so far.
        run: whose keys are looked for.
        resolver: from names to cards.
    """
    lower = text.lower()
    taken: list[tuple[int, int]] = []
    for key in sorted((key for key in run.metrics if " " in key.strip()), key=len, reverse=True):
        for match in re.finditer(rf"(?<![A-Za-z0-9_/]){re.escape(key.lower())}(?![A-Za-z0-9_/])", lower):
            start, end = match.span()
            if any(a < end and start < b for a, b in taken):
                continue
            taken.append((start, end))
            # A longer name around it ("val loss" inside "train/val loss ratio") was meant as a whole.
            if any(m.start <= start and end <= m.end and m.end - m.start > end - start for m in found):
                continue
            found = [m for m in found if not (m.start < end and start < m.end)]
            found.append(as_mention(run, resolver, key, start, end, text[start:end]))
    return found


def first_words(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Keys of several words by a first word that no other key has ("E2E" for "E2E latency")."""
    if any(m.key is not None for m in found):
        return found
    heads: dict[str, list[str]] = {}
    for key in run.metrics:
        if " " in key:
            heads.setdefault(key.lower().split()[0], []).append(key)
    for match in re.finditer(r"(?<![\w/])[A-Za-z][A-Za-z0-9]{2,}(?![\w/])", text) if heads else ():
        keys = heads.get(match.group().lower(), [])
        if len(keys) == 1 and not (match.group().islower() and match.group().isalpha()):
            found = [m for m in found if m.end <= match.start() or match.end() <= m.start]
            found.append(as_mention(run, resolver, keys[0], match.start(), match.end(), match.group()))
    return found
