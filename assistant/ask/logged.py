"""Metrics of a log as a question's mentions: the keys that patterns meet, and a key with its card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

TIMED: Final = ("timing_s/", "time/")
"""What the keys of a stage's seconds begin with."""
STEP_TIME: Final = ("timing_s/step", "perf/time_per_step", "time/step_total", "step_time")
"""Keys of the seconds of a whole step."""
_NO_SCORE: Final = re.compile(
    r"(?i)(?:^|[-_/ ])(?:truncat\w*|len|lengths?|time|runtime|tokens?|tok|toks|loss|ppl|perplexity|entropy|"
    r"repetition\w*|samples?|count|num|n|steps?|per|std|min|speed|aborted|turns?|kl)(?=$|[-_/ @])"
)
"""Words of an evaluation's keys that are no score."""


def as_mention(run: Run, resolver: Resolver, key: str, start: int, end: int, text: str) -> Mentioned:  # noqa: PLR0917
    """A key of the log as a mention of it in a question, with its card."""
    resolution = resolver.key(key, run.framework)
    return Mentioned(start, end, text, resolution.card if resolution is not None else None, key)


def held(patterns: Iterable[str], keys: Sequence[str]) -> list[list[str]]:
    """Of each pattern that a log's key answers to, these keys; a pattern that ends in "~" asks for scores alone."""
    groups = []
    for pattern in patterns:
        lowered, scores = pattern.lower().removesuffix("~"), pattern.endswith("~")
        same = [key for key in keys if key.lower() == lowered or ("*" in lowered and fnmatchcase(key.lower(), lowered))]
        same = [key for key in same if not scores or _NO_SCORE.search(key) is None]
        if same:
            groups.append(same)
    return groups
