"""What a Chinese sentence in plain form is read into: its claims, and what has been named so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity


class Unclear(Exception):
    """The signs do not say which is meant."""


#: Metrics of which more is better.
_GOOD: Final = re.compile(r"(?i)reward|score|acc|correct|explained_var")
FIRST: Final = -1
LAST: Final = -2
"""The first and the last step that hold a metric."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a sign stands for: a metric, steps, a number; or which way a word goes, if of pace, a level or worth."""

    sign: str
    sense: int = 0
    pace: bool = False
    level: bool = False
    good: bool = False
    thing: Any = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """One claim: what it says, of which metrics, at which steps (as places), with which number or sense."""

    what: str
    names: tuple[Named, ...]
    at: tuple[Place | int, ...] = ()
    number: Quantity | None = None
    sense: int = 0
    pace: bool = False


@dataclass
class Reading:
    """What has been read so far."""

    held: Sequence[Held]
    at: int = 0
    names: list[Named] = field(default_factory=list)
    group: list[Named] = field(default_factory=list)
    """Metrics named together."""
    places: list[Place | int] = field(default_factory=list)
    pair: tuple[Place | int, Place | int] | None = None
    listed: tuple[int, ...] = ()
    against: Place | int | None = None
    told: list[tuple[Named, Place | int]] = field(default_factory=list)
    found: list[Claimed] = field(default_factory=list)
    share: bool = False
    """Whether what is told is a metric's share of its step's time."""
    aside: list[Place | int] = field(default_factory=list)
    """The steps named before the bracket that is open."""

    def take(self) -> Held:
        """The next thing that a sign stands for."""
        self.at += 1
        return self.held[self.at - 1]


def foresee(reading: Reading, before: Sequence[int]) -> None:
    """Two steps, or one pair, that a sentence names anywhere are meant by all of it."""
    ranges = [h.thing for h in reading.held if h.sign == "R"]
    singles = [h.thing for h in reading.held if h.sign == "P"]
    if len(ranges) == 1 and not singles:
        reading.pair = ends_of(ranges[0])
        reading.listed = listed_in(ranges[0])
    elif len(singles) == 2 and not ranges:
        reading.pair = (singles[0], singles[1])
        reading.listed = (first_of(singles[0]), first_of(singles[1]))
    elif len(singles) == 1 and not ranges:
        reading.places = [singles[0]]
        if len(before) == 1 and before[0] != first_of(singles[0]):
            reading.pair = (before[0], singles[0])
    elif len(before) == 2 and not singles and not ranges:
        reading.pair = (before[0], before[1])


def ends_of(place: Place) -> tuple[int, int]:
    """The first and the last step of a place."""
    if place.kind == "ends" or len(place.steps) < 2:
        raise Unclear("no two steps")
    return place.steps[0], place.steps[-1]


def listed_in(place: Place) -> tuple[int, ...]:
    """The steps of a place as they are told: of a pair that is told the other way round, the later one first."""
    if place.kind == "range":
        return ()
    return tuple(sorted(place.steps)) if place.kind == "pair" else tuple(place.steps)


#: The readers of signs: what each looks like, and what it does.
READERS: Final[list[tuple[re.Pattern[str], Callable[[Reading, str], None]]]] = []


def reads(pattern: str) -> Callable[[Callable[[Reading, str], None]], Callable[[Reading, str], None]]:
    """Adds a reader of signs."""

    def kept(reader: Callable[[Reading, str], None]) -> Callable[[Reading, str], None]:
        READERS.append((re.compile(pattern), reader))
        return reader

    return kept


# -- what a claim is about --------------------------------------------------------------------------
def name_of(reading: Reading) -> Named:
    """The metric spoken of; one that is named only later, where there is no other."""
    if not reading.names and len({h.thing.keys for h in reading.held if h.sign == "N"}) == 1:
        return next(h.thing for h in reading.held if h.sign == "N")  # type: ignore[no-any-return]
    if not reading.names:
        raise Unclear("no metric")
    return reading.names[-1]


def place_of(reading: Reading) -> Place | int:
    """The step spoken of."""
    if not reading.places:
        raise Unclear("no step")
    return reading.places[-1]


def pair_of(reading: Reading) -> tuple[Place | int, Place | int]:
    """The steps that something went between: from the one compared with, else in the order told."""
    if reading.against is not None:
        others = [p for p in reading.places if p != reading.against]
        others = others or [p for p in reading.pair or () if p != reading.against]
        if not others:
            raise Unclear("no other step")
        return reading.against, others[-1]
    pair = reading.pair
    if pair is None and len(reading.places) > 1:
        pair = reading.places[-2], reading.places[-1]
    if pair is None or (first_of(pair[0]) >= first_of(pair[1]) and pair != (FIRST, LAST)):
        raise Unclear("no two steps in order")
    return pair


def first_of(place: Place | int) -> int:
    """A place's first step."""
    return place if isinstance(place, int) else place.steps[0]


def add_value(reading: Reading, name: Named, place: Place | int, q: Quantity) -> None:
    """A number told as the value of a metric at a step; or as its share of the step's time."""
    if q.unit in {"ratio", "factor", "pp"} or q.sign == "+":
        raise Unclear("no value")
    if reading.share and q.unit != "%":
        raise Unclear("no share")
    reading.told.append((name, place))
    reading.found.append(Claimed("share" if reading.share else "value", (name,), (place,), q))


def add_way(reading: Reading, held: Held, pair: tuple[Place | int, Place | int]) -> None:
    """A metric told to have gone up or down between two steps."""
    if held.good and not all(_GOOD.search(key) for key in name_of(reading).keys[:1]):
        raise Unclear("better or worse of what")
    what = "share way" if reading.share else "way"
    reading.found.append(Claimed(what, (name_of(reading),), pair, None, held.sense, held.pace))
