"""A question's text with its counts as figures and its names blanked, so that their words tell no operation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.ask.steps import NUMBER_WORDS, chinese_number
from assistant.knowledge import Mentioned

_FEW_NUMERALS = re.compile(
    r"(?<![第零一二三四五六七八九十])([二两三四五六七八九十]{1,3})(?=\s*个?\s*(?:步|steps?|值|点|次))"
)
_FEW_WORDS = re.compile(
    rf"(?i)\b({'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?=[- ]+(?:steps?|values?|points?"
    rf"|iterations?|consecutive"
    r"|successive|highest|lowest|largest|smallest|biggest|slowest|fastest|longest|shortest|best|worst|most|least)\b)"
)


def figures(text: str) -> str:
    """Counts in words as figures, where they count steps or values: "最低的三步", "the five slowest steps"."""
    text = _FEW_NUMERALS.sub(lambda match: str(chinese_number(match[1])), text)
    return _FEW_WORDS.sub(lambda match: str(NUMBER_WORDS[match[1].lower()]), text)


def spans_of(text: str, mention: Mentioned) -> list[tuple[int, int]]:
    """Where the words of a mention stand in a text, which need not be the one that they were found in."""
    if not mention.text:
        return []
    if text[mention.start : mention.end] == mention.text:
        return [(mention.start, mention.end)]
    at = text.find(mention.text)
    return [] if at < 0 else [(at, at + len(mention.text))]


def without_names(text: str, mentions: Sequence[Mentioned]) -> str:
    """A text with the names of metrics blanked."""
    keyed = any(mention.key is not None for mention in mentions)
    # "iter_time_s and total time": what is no key of the log, beside one that is, may be an operation
    kept = [mention for mention in mentions if mention.key is not None or not keyed]
    return blanked(text, [span for mention in kept for span in spans_of(text, mention)])


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text with some parts blanked; positions stay."""
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)
