"""Metrics of a log as a question's mentions: the keys that patterns meet, and a key with its card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
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


#: A count of what was scored is no score: "*val*score*" does not mean ``eval_n_scored``.
_OF_HOW_MANY: Final = re.compile(r"(?i)(?:^|[_/-])(?:n|num)_(?:scored|samples|problems|items|examples|total)")


def held(patterns: Iterable[str], keys: Sequence[str]) -> list[list[str]]:
    """Of each pattern that a log's key answers to, these keys; a pattern that ends in "~" asks for scores alone."""
    groups = []
    for pattern in patterns:
        lowered, scores = pattern.lower().removesuffix("~"), pattern.endswith("~")
        same = [key for key in keys if key.lower() == lowered or ("*" in lowered and fnmatchcase(key.lower(), lowered))]
        same = [key for key in same if key.lower() == lowered or _OF_HOW_MANY.search(key) is None]
        same = [key for key in same if not scores or _NO_SCORE.search(key) is None]
        if same:
            groups.append(same)
    return groups


@lru_cache(maxsize=64)
def tails(metrics: tuple[str, ...]) -> dict[tuple[str, ...], list[str]]:
    """The words of a log's keys from a joint on → the keys."""
    found: dict[tuple[str, ...], list[str]] = {}
    for key in metrics:
        pieces = key.lower().split("/")
        for at in range(len(pieces)):
            parts = tuple(re.findall(r"[a-z0-9]+", "/".join(pieces[at:])))
            if len(parts) > 1:
                found.setdefault(parts, []).append(key)
    return found


def behind_the_cuts(  # noqa: PLR0917
    run: Run, resolver: Resolver, key: str, start: int, end: int, text: str
) -> Mentioned:
    """A key of which every row was cut before it could stand there, or that the log never holds, without a value.

    Args:
        run: the log.
        resolver: of keys.
        key: as verl spells it.
        start: where the words that describe it begin.
        end: where they end.
        text: the question.
    """
    found = resolver.key(key, run.framework)
    if not run.missing:  # never logged: called as the question does, in no trainer's spelling
        chinese = _HAN.search(text) is not None
        said = text[start:end].strip()
        if key.startswith("timing_s/"):
            said += ("" if not said.isascii() else " ") + ("耗时" if chinese else "time")
        return Mentioned(start, end, said, None if found is None else found.card)
    return Mentioned(start, end, key, None if found is None else found.card)


_HAN = re.compile(r"[\u3400-\u9fff]")


_OF_THE_SLOWEST = re.compile(r"(?i)slowest|longest|最(?:慢|久|长|拖)|拖后腿|straggl")


def of_any(mention: Mentioned, text: str, run: Run, resolver: Resolver) -> Mentioned:
    """The mean over trajectories where the name is also that of the slowest one's key, which nothing asks for."""
    key, name = mention.key, mention.text.lower()
    if key is None or not key.lower().endswith(f"/slowest/{name}") or _OF_THE_SLOWEST.search(text):
        return mention
    means = [k for k in run.metrics if k.lower().endswith(f"/{name}/mean")]
    if len(means) != 1:
        return mention
    return as_mention(run, resolver, means[0], mention.start, mention.end, mention.text)
