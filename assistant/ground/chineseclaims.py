"""What a Chinese sentence in plain form claims, sign after sign (:mod:`assistant.ground.wholechinese`)."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.ground import chinesesides, chinesesteps
from assistant.ground.chinesereading import READERS, Claimed, Held, Reading, Unclear, foresee
from assistant.ground.lexicon import Named

__all__ = ["chinesesides", "chinesesteps", "claims_of"]


def claims_of(
    text: str, held: Sequence[Held], names: Sequence[Named] = (), before: Sequence[int] = ()
) -> list[Claimed]:
    """The claims of a sentence in plain form.

    Args:
        text: its signs.
        held: what each stands for.
        names: the metric of the sentence before, where this one names none.
        before: the step of the sentence before, or its two.

    Raises:
        Unclear: where the signs are in no known order, or which steps are meant is not told.
    """
    reading = Reading(held, names=[*names])
    foresee(reading, before)
    reading.share = "(Y)" in text
    at = 0
    while at < len(text):
        found = [(match, reader) for pattern, reader in READERS if (match := pattern.match(text, at))]
        if not found:
            raise Unclear(text[at:])
        match, reader = max(found, key=lambda one: one[0].end())  # what reads most
        reader(reading, match.group())
        at = match.end()
    return reading.found
