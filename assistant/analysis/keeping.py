"""What is computed once for a run and let go with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from assistant.model import Run

T = TypeVar("T")
A = TypeVarTuple("A")


def kept_with_run(function: Callable[[Run, *A], T]) -> Callable[[Run, *A], T]:
    """A function of a run that remembers its results as long as the run lives.

    A result must not hold the run, or neither would ever be let go; a cache of the last so many calls would hold that
    many runs, of whatever size.
    """
    found: WeakKeyDictionary[Run, dict[tuple[*A], T]] = WeakKeyDictionary()

    @wraps(function)
    def asked(run: Run, *rest: *A) -> T:
        own = found.setdefault(run, {})
        if rest not in own:
            own[rest] = function(run, *rest)
        return own[rest]

    return asked
