"""One form of spoken Chinese: "熵崩没崩" and "熵是不是崩了" ask the same, and the patterns know the second.

So that each wording need not be written for every way in which it is said, spoken forms are set into those that the
patterns know. The wordings stand in ``spoken.yaml``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant.ask.mixed import beside_keys, reworded, wordings

_HAN: Final = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[re.Pattern[str], str], ...]:
    return wordings(Path(__file__).with_suffix(".yaml"))


def as_written(text: str) -> str:
    """A text with spoken forms as the ones that the patterns know; a text without Chinese is as it was.

    Args:
        text: half-width signs, simplified characters, the English words of Chinese sentences in Chinese.
    """
    if not _HAN.search(text):
        return text
    return beside_keys(text, lambda rest: reworded(rest, _words()))
