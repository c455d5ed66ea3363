"""Names of more than one word or with a count, which are one metric's: "entropy loss", "pass@8"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.logged import as_mention
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

_COUNTED: Final = re.compile(r"(?i)(?<![\w/@.-])(pass|cons|avg)\s?@\s?(\d{1,4})(?![\w/@.])")
_GAP: Final = re.compile(r"[ _-]?")
#: What a statistic of several answers is taken of: "reward mean@30" is one key, and no reward besides.
_VARIABLE: Final = re.compile(r"(?i)rewards?|scores?|acc(?:uracy)?|奖励|得分|分数|准确率|正确率")
_OF: Final = re.compile(r"\s?的?\s?")


def mentioned(text: str, resolver: Resolver, run: Run | None) -> list[Mentioned]:
    """Every metric that a text names, names that stand together or end in a count taken as one.

    Args:
        text: the question, normalised.
        resolver: from names to cards.
        run: whose keys come first; ``None`` without a log.
    """
    keys = run.metrics if run is not None else ()
    framework = run.framework if run is not None else None
    found = resolver.mentions(text, keys, framework)
    for match in _COUNTED.finditer(text):
        named = resolver.name(f"{match[1]}@{match[2]}", framework)
        spelt = re.compile(rf"(?i){match[1]}[ _-]?(?:@|at)[ _-]?{match[2]}(?!\d)")
        if any(spelt.search(name) for name in keys):  # "pass_at_8" is a key of this log
            continue
        best = [name for name in keys if f"/acc/best@{match[2]}/mean" in name and match[1].lower() == "pass"]
        if best and run is not None:  # drawn with replacement, the best of k is the log's pass@k
            found = [m for m in found if m.end <= match.start() or match.end() <= m.start]
            found.append(as_mention(run, resolver, best[0], match.start(), match.end(), match.group()))
            continue
        if named and all(m.end <= match.start() or match.end() <= m.start for m in found):
            found.append(Mentioned(match.start(), match.end(), match.group(), named[0].card))
    found.sort(key=lambda m: m.start)
    return found if run is None else _joint(text, found, run, resolver)


def _joint(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Two neighbouring names as the one that they make together, where a card goes by it."""
    kept: list[Mentioned] = []
    for mention in found:
        before = kept[-1] if kept else None
        one = None if before is None else _of_a_statistic(text, before, mention)
        if one is None and before is not None and _GAP.fullmatch(text[before.end : mention.start]):
            one = _one(text, before.start, mention.end, run, resolver)
        kept[-1:] = [mention] if before is None else [before, mention] if one is None else [one]
    return kept


def _of_a_statistic(text: str, a: Mentioned, b: Mentioned) -> Mentioned | None:
    """The statistic that two neighbouring names tell together with its variable."""
    if _OF.fullmatch(text[a.end : b.start]) is None:
        return None
    for name, other in ((a, b), (b, a)):
        if "@" in other.text and "@" not in name.text and _VARIABLE.fullmatch(name.text):
            return replace(other, start=a.start, end=b.end, text=text[a.start : b.end])
    return None


def _one(text: str, start: int, end: int, run: Run, resolver: Resolver) -> Mentioned | None:
    """The metric that a whole phrase names in the log's framework."""
    for found in resolver.name(text[start:end], run.framework):
        if found.foreign or found.how == "search" or found.card.category in {"concept", "failure"}:
            continue
        key = next((key for key in run.metrics if key in found.card.keys), None)
        if key is not None:
            return as_mention(run, resolver, key, start, end, text[start:end])
        return Mentioned(start, end, text[start:end], found.card)
    return None
