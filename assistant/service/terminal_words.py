"""Sentences that the terminal says by itself: ``prompts/terminal/*.yaml``, read when one is needed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from assistant import resources
from assistant.write.phrases import Phrases, read_phrases

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


@lru_cache(maxsize=1)
def _words() -> Phrases:
    return Phrases(read_phrases(resources.data_folder("prompts") / "terminal"))


def say(key: str, language: str, **values: Any) -> str:
    """A sentence; raises :class:`~assistant.model.KnowledgeError` if there is none by that key."""
    return _words().get(key, language).format(**values)


def duration(seconds: float, language: str) -> str:
    """A time as a person says it: two digits, in the unit that suits it."""
    for limit, unit, name in ((DAY, DAY, "days"), (HOUR, HOUR, "hours"), (MINUTE, MINUTE, "minutes")):
        if seconds >= 2 * limit or (limit < DAY and seconds >= 1.5 * limit):
            number = seconds / unit
            return say(f"watch.{name}", language, n=f"{number:.0f}" if number >= 9.95 else f"{number:.1f}")
    return say("watch.seconds", language, n=f"{max(seconds, 0.0):.0f}")
