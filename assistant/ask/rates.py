"""Metrics that are rates, of which the slowest step has the smallest value."""

from __future__ import annotations

import re
from typing import Final

RATE: Final = re.compile(r"(?i)throughput|(?<![a-z])tps(?![a-z])|mfu|per_?sec|(?<![a-z])fps(?![a-z])|tokens?/s|it/s")
FAST_OR_SLOW: Final = re.compile(r"(?i)最(?:快|慢)|\b(?:fastest|slowest|quickest)\b")
_SIZE: Final = re.compile(r"(?i)最(?:高|大|低|小|多|少)|\b(?:highest|largest|lowest|smallest|max\w*|min\w*|peak)\b")


def turned(text: str, key: str) -> bool:
    """Whether the words of speed in a question mean the other end of a metric: its fastest step has the largest value.

    Args:
        text: the question, normalised.
        key: the metric's key.
    """
    return FAST_OR_SLOW.search(text) is not None and _SIZE.search(text) is None and RATE.search(key) is not None
