"""Misspelt names of metrics, mended by the keys of the log at hand."""

from __future__ import annotations

import re
from functools import lru_cache

from assistant.ask.logged import TIMED, as_mention, held
from assistant.knowledge import Mentioned, Resolver
from assistant.knowledge.resolver import plain_words
from assistant.model import Run

_LEAST_ALIKE = 0.8
_SHORTEST_TYPO = 5
#: English words that stand in questions and are no misspelt metric.
_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        """about above accurate actual actually after again along already always another answer answers anything average
because become becoming before being below best better between break broken cause change changed changes check
checkpoint compare compared config could count curve curves decrease decreasing degrade describe detail details does
doing down drift drop dropped during each either else enough ever every everything exact exactly explain exploding
exceed falling faster final finish first flat found friday from going gone good great group grow growing half happen
happened happening hardware have healthy help high higher highest hour hours improve improved improving increase
increasing initial instead interpret issue issues iteration just keep kind know largest last latest latency learn
learning least length less level line list little log logged logs long longer longest look looking looks lower
lowest machine make manager many maximum mean meaning means measure metric metrics minimum minute minutes model
models monitor more most much need never next noise noisy normal nothing number numbers okay once only other over
overall part peak percent percentage performance phase plateau please plot point points print prompt prompts problem
problems question quick quickly quite range rate rather rating read really reason recent remain report response
responses restart restarted result results right rise rising rollout rollouts running runs same sample samples save
second seconds seem seems separate setting share should show showing since single size slow slower slowest small
smaller smallest something sometimes soon sound speed stable start started starts state stats status still stop
stopped strange such sudden suddenly summary sure table take takes taken tell test than that their them then there
these they thing things think this those though thousand through tiny today together token tokens tool tools total
trained trainer training trajectory trend trending trust turn turns unit units until update updated used using usual
value values verdict very wait want warn warning wasn well went were what when where whether which while whole will
with within without worse worst would wrong year yesterday your""",
    )
)


def respelt(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Misspelt names, where one key of the log is clearly nearest; a name that is like nothing stays unknown."""
    result = []
    taken = [False] * len(text)
    for mention in found:
        taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
        key = None
        if mention.key is None and mention.card is None:
            key = _nearest(mention.text, run)
        fixed = mention if key is None else as_mention(run, resolver, key, mention.start, mention.end, mention.text)
        result.append(fixed)
    for match in re.finditer(r"(?<![A-Za-z0-9_/@.])[A-Za-z][A-Za-z_/]{3,}(?![A-Za-z0-9_/@])", text):
        word = match.group().lower()
        if any(taken[match.start() : match.end()]) or word in _WORDS or len(word) < _SHORTEST_TYPO:
            continue
        key = _nearest(word, run)
        if key is not None:
            result.append(as_mention(run, resolver, key, match.start(), match.end(), match.group()))
    return result


_NO_TAILS = frozenset({"mean", "max", "min", "std", "step", "actor", "critic", "timing_s", "perf", "token", "time"})
"""Ends of keys that half of all keys have."""


def _nearest(word: str, run: Run) -> str | None:
    """The log's key that a misspelt word means; ``None`` where none is near, or two are as near."""
    return _nearest_of(word.lower(), tuple(run.metrics))


@lru_cache(maxsize=4096)
def _nearest_of(word: str, metrics: tuple[str, ...]) -> str | None:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    pool = _pool("/" in word, metrics)
    found = process.extract(
        word, pool.keys(), scorer=OSA.normalized_similarity, score_cutoff=_LEAST_ALIKE, limit=None, processor=None
    )
    scored = sorted(((score, name) for name, score, _ in found), reverse=True)
    if not scored or scored[0][1] == word:
        return None
    best = [name for score, name in scored if score >= scored[0][0] - 1e-9]
    keys = [key for name in best for key in pool[name]]
    means = [key for key in keys if key.endswith("/mean")] or [key for key in keys if key.startswith(TIMED)]
    if len(set(keys)) == 1:
        return keys[0]
    return means[0] if len(set(means)) == 1 else None


@lru_cache(maxsize=32)
def _pool(jointed: bool, metrics: tuple[str, ...]) -> dict[str, list[str]]:
    """What may be misspelt: the ends of a log's keys and plain words for them, with a joint or without one."""
    pool: dict[str, list[str]] = {}
    for key in metrics:
        pieces = key.lower().split("/")
        tails = {"/".join(pieces[at:]) for at in range(len(pieces))} | ({pieces[0]} if len(pieces) > 1 else set())
        for tail in tails - _NO_TAILS:
            if jointed == ("/" in tail):
                pool.setdefault(tail, []).append(key)
    for phrase, patterns in ((entry_word, entry["keys"]) for entry in plain_words() for entry_word in entry["words"]):
        if (
            phrase.isascii()
            and " " not in phrase
            and len(phrase) >= _SHORTEST_TYPO
            and (known_keys := held(patterns, metrics))
        ):
            known = pool.get(phrase.lower(), [])
            if all(key.startswith(TIMED) for key in known):  # "rewrd" is the reward, not the time that it takes
                pool[phrase.lower()] = [known_keys[0][0]]
    return pool
