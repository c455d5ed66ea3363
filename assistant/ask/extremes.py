"""What a metric that is too low or too high may be a sign of (``extremes.yaml``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from assistant import resources
from assistant.model import KnowledgeError

_SIDES = {
    "low": re.compile(
        r"(?i)(?:太|过|很|过于|特别)(?:低|小|短|少)|低得|塌|坍|掉到|降到|接近(?:于)?零"
        r"|\btoo (?:low|small|short|little|few)\b"
        r"|\b(?:very|so|really) (?:low|small|short)\b|\bcollaps|\b(?:drops?|falls?|goes) (?:to|near) (?:0|zero)"
    ),
    "high": re.compile(
        r"(?i)(?:太|过|很|过于|特别)(?:高|大|长|多)|高得|爆(?:炸|了|掉)|飙|\btoo (?:high|large|big|long|much|many)\b"
        r"|\b(?:very|so|really) (?:high|large|big|long)\b|\bexplo|\bblows? up|\bblew up|\bspik"
    ),
}


@dataclass(frozen=True, slots=True)
class Extreme:
    """A side of a metric and the card of what it may be a sign of."""

    key: re.Pattern[str]
    side: str
    card: str


@lru_cache(maxsize=1)
def extremes() -> tuple[Extreme, ...]:
    """The entries of ``extremes.yaml``.

    Raises:
        KnowledgeError: an entry lacks a field, or names a side that there is not.
    """
    path = Path(__file__).with_suffix(".yaml")
    found = []
    for place, entry in enumerate(resources.yaml_table(path), 1):
        if set(entry) != {"key", "side", "card"} or entry["side"] not in _SIDES:
            raise KnowledgeError(
                zh=f"{path.name} 第 {place} 项的字段不对：{entry}。",
                en=f"{path.name}, entry {place}, is malformed: {entry}.",
            )
        found.append(Extreme(re.compile(entry["key"], re.IGNORECASE), entry["side"], entry["card"]))
    return tuple(found)


def side_in(text: str) -> str | None:
    """``low`` or ``high`` where a question speaks of a metric that is too low or too high."""
    return next((side for side, words in _SIDES.items() if words.search(text)), None)


def card_for(text: str, names: tuple[str, ...]) -> str | None:
    """The card of what a metric on the side that the question speaks of may be a sign of.

    Args:
        text: the question.
        names: the metric's key and those of its card.
    """
    side = side_in(text)
    return next(
        (one.card for one in extremes() if one.side == side and any(one.key.search(name) for name in names)), None
    )
