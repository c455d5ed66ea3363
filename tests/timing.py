"""What a test may say of speed, on a machine that is slow or that others use too.

Limits are of processor time, as on the machine on which they were set, and grow with :func:`slowness`. What must take
time in proportion to its input may also take long, if a part of the input takes a part of the time.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

#: Processor time of the yardstick on the machine on which limits were set.
REFERENCE_S = 0.014
#: How much longer the whole may take than a quarter of it: four times, and half as much again for what is measured.
PROPORTION = 6


def spent(work: Callable[[], Any]) -> float:
    """Processor time of something, in seconds.

    The garbage collector rests meanwhile, as in :mod:`timeit`: it walks through all that other tests have left behind,
    so that the time would tell of them, and not in proportion to the input.
    """
    rested = gc.isenabled()
    gc.disable()
    try:
        begin = time.process_time()
        work()
        return time.process_time() - begin
    finally:
        if rested:
            gc.enable()


def _yardstick() -> None:
    table: dict[str, int] = {}
    for i in range(100_000):
        word = f"{i % 997}"
        table[word] = table.get(word, 0) + i


def slowness() -> float:
    """How many times slower than where limits were set this machine is at the moment; at least 1."""
    return max(1.0, min(spent(_yardstick) for _ in range(3)) / REFERENCE_S)


def assert_quick(work: Callable[[], Any], limit: float, *, tries: int = 1) -> None:
    """Fails if the quickest of some tries takes over ``limit`` seconds of such a machine."""
    taken = min(spent(work) for _ in range(tries))
    assert taken < limit or taken < limit * slowness(), f"{taken:.2f} s instead of {limit} s"


def once(made: Callable[[int], T]) -> Callable[[int], T]:
    """The same inputs, each made only once."""
    return lru_cache(maxsize=2)(made)


def assert_in_proportion(
    work: Callable[[T], Any], made: Callable[[int], T], size: int, *, limit: float = 2.0, label: object = ""
) -> None:
    """Fails if work takes over ``limit`` seconds and out of proportion to its input.

    Args:
        work: takes an input.
        made: an input of about so many characters (or items).
        size: of the whole.
        limit: seconds of processor time within which nothing is asked.
        label: what is told of a failure.
    """
    whole = made(size)
    taken = spent(lambda: work(whole))
    if taken < limit:
        return
    quarter = made(size // 4)
    part = spent(lambda: work(quarter))
    taken = min(taken, spent(lambda: work(whole)))
    if taken < limit or taken < PROPORTION * part:
        return
    assert taken < limit * slowness(), (label, taken, part)
