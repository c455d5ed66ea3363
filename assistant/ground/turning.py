"""Whether a sentence that is borne out would be so if one of its words of direction said the opposite.

A reader that takes no notice of "highest" or "slower" bears the sentence out whichever of the two stands there. So each
such word is exchanged for its opposite (``turns.yaml``) and the sentence is judged again: where it is borne out as
before, nobody read the word. It may still hold of the values that the sentence tells (:func:`holds_of_told`); else what
the sentence says with it is not supported by the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ground.binding import Frame
from assistant.ground.courses import NO_COURSE
from assistant.ground.cues import negated

PAIRS: Final = Path(__file__).with_name("turns.yaml")
KINDS: Final = ("extremes", "courses", "comparisons", "signs")
#: Words of one sentence that are turned; a longer one is a list, whose parts have words of their own.
_MOST: Final = 6


#: 比第一步高, 比 step 3 慢得多: the word that a comparison ends with.
_THAN: Final = re.compile(
    r"[比较](?![例率值如分重较大小高低为])[^，。；：:,;（(比]{1,30}?(?:更|还|要|略|稍|都)?([高低大小多少长短快慢好差强弱久])(?=[了出得一些点许不，。；：:,（(、]|\s|\d|$)"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A word that a sentence's verdict may rest on.

    Attributes:
        start, end: its characters.
        kind: the section of ``turns.yaml`` that it stands in.
        more: whether it is the one of the pair that says more.
        other: its opposite.
    """

    start: int
    end: int
    kind: str
    more: bool
    other: str


@dataclass(frozen=True, slots=True)
class _Turns:
    pattern: re.Pattern[str]
    still: re.Pattern[str]
    words: dict[str, tuple[str, bool, str]]


@lru_cache(maxsize=1)
def _turns() -> _Turns:
    """The words, each with its kind, its side and its opposite, and the set phrases in which they turn nothing.

    Raises:
        ValueError: naming the line that is no word and its opposite.
    """
    table: dict[str, Any] = resources.yaml_table(PAIRS)
    words: dict[str, tuple[str, bool, str]] = {}
    english: set[str] = set()
    chinese: set[str] = set()
    for kind in KINDS:
        for language, found in (("en", english), ("zh", chinese)):
            for entry in table[kind][language]:
                more, parted, less = (part.strip() for part in entry.partition(" | "))
                if not parted:
                    raise ValueError(f"{PAIRS.name}: {entry!r} is no word and its opposite")
                words.setdefault(more, (kind, True, less))
                words.setdefault(less, (kind, False, more))
                found.update((more, less))
    for entry in table["comparisons"]["than"]:
        more, less = entry.split(" | ")
        words.setdefault(more, ("comparisons", True, less))
        words.setdefault(less, ("comparisons", False, more))
    one, two = ("|".join(sorted(map(re.escape, found), key=len, reverse=True)) for found in (english, chinese))
    still = rf"\b(?:{'|'.join(table['still']['en'])})|{'|'.join(table['still']['zh'])}"
    return _Turns(re.compile(rf"\b(?:{one})\b|{two}", re.IGNORECASE), re.compile(still, re.IGNORECASE), words)


def turns(frame: Frame, idle: Sequence[bool]) -> Iterator[Turn]:
    """The words of a sentence that have an opposite and are said of the log."""
    known = _turns()
    taken = [match.span() for match in known.still.finditer(frame.text)]
    taken += [(name.start, name.end) for name in frame.names] + [(place.start, place.end) for place in frame.places]
    taken += [(q.start, q.end) for q in frame.numbers if q.unit != "factor"]
    taken += [match.span() for match in NO_COURSE.finditer(frame.text)]
    found = [match.span() for match in known.pattern.finditer(frame.text)]
    found += [
        match.span(1)
        for match in _THAN.finditer(frame.text)
        if not any(a < match.end() and match.start(1) < b for a, b in found)
    ]
    for start, end in sorted(found):
        if idle[frame.clause(start)] or any(a < end and start < b for a, b in taken) or negated(frame, start):
            continue
        kind, more, other = known.words[frame.text[start:end].lower()]
        yield Turn(start, end, kind, more, other)


def unturned(
    frame: Frame, idle: Sequence[bool], holds: Callable[[str], bool], told: Callable[[Turn], bool]
) -> Iterator[tuple[int, int]]:
    """The words of direction that a sentence's verdict does not rest on, each as ``(start, end)``.

    Args:
        frame: a sentence that is borne out.
        idle: which of its clauses state nothing.
        holds: judges the sentence with another text: whether it is borne out as it was.
        told: whether a word holds of the values that the sentence tells.
    """
    for count, turn in enumerate(turns(frame, idle)):
        if count == _MOST:
            return
        if holds(frame.text[: turn.start] + turn.other + frame.text[turn.end :]) and not told(turn):
            yield turn.start, turn.end
