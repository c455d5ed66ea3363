"""Lines that differ only in their numbers are read by the form of one that was read with care.

A form is the text of a line with groups for the numbers of its cells, and a class for digits before them. A number of
another kind (``nan`` instead of digits, a point where none was, more than fifteen digits) does not fit and is read with
care again, so that a form never reads what the format itself would read otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from assistant.model.run import Number

T = TypeVar("T")

_INT: Final = "-?[0-9]{1,15}"
_KINDS: Final = tuple(
    re.compile(kind) for kind in (rf"{_INT}\.[0-9]{{1,20}}[eE][-+][0-9]{{1,3}}", rf"{_INT}\.[0-9]{{1,20}}", _INT, "nan")
)
_DIGIT: Final = re.compile("[0-9]")
_LONGEST: Final = 4000
_MOST_FORMS: Final = 8
_MOST_MISSES: Final = 200


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """A line's form.

    Attributes:
        match: matches a whole line of this form; the first group is the step, the others are the cells' numbers.
        kinds: what makes a number of each group.
        held: what the format remembers of the line.
    """

    match: Callable[[str], re.Match[str] | None]
    kinds: tuple[Callable[[str], Number], ...]
    held: T


class Forms(Generic[T]):
    """The forms that fitted last, the latest first."""

    def __init__(self) -> None:
        self._forms: list[Form[T]] = []
        self._misses = 0

    def read(self, line: str) -> tuple[T, int, list[Number]] | None:
        """What is remembered of a line of the same form, the step, and the cells' values; ``None`` if none fits."""
        found = self.find(line)
        if found is None:
            return None
        form, step, texts = found
        return form.held, step, [kind(text) for kind, text in zip(form.kinds, texts)]  # noqa: B905

    def find(self, line: str) -> tuple[Form[T], int, list[str]] | None:
        """The form of a line, the step, and the cells' numbers as they are printed; ``None`` if no form fits."""
        forms = self._forms
        for place, form in enumerate(forms):
            found = form.match(line)
            if found is not None:
                if place:
                    del forms[place]
                    forms.insert(0, form)
                step, *texts = found.groups()
                return form, int(step), texts
        return None

    def learn(self, line: str, step: int, values: Sequence[tuple[int, Number]], held: T, *, loose: bool = True) -> None:
        """Remembers the form of a line that was read.

        Args:
            line: all of it.
            step: where its step's digits begin.
            values: where the number of each cell begins, and its value, in order.
            held: what to remember.
            loose: whether digits before the step may be others.
        """
        if self._misses > _MOST_MISSES or len(line) > _LONGEST:
            return
        self._misses += 1
        pattern, kinds, at = "", [], 0
        for place, value in [(step, None), *values]:
            if place < at:
                return
            tried = ((kind.pattern, kind.match(line, place)) for kind in (_KINDS[2:3] if value is None else _KINDS))
            shown, found = next(((shown, found) for shown, found in tried if found is not None), ("", None))
            if found is None:
                return
            end = found.end()
            read: Callable[[str], Number] = int if shown == _INT else float
            if value is not None and repr(read(found[0])) != repr(value):
                return
            pattern += (
                _literal(line[at:place], loose=loose and value is None)
                + f"({'[0-9]{1,12}' if value is None else shown})"
            )
            at = end
            if value is not None:
                kinds.append(read)
        pattern += _literal(line[at:], loose=False)
        form = Form(re.compile(pattern).fullmatch, tuple(kinds), held)
        self._forms.insert(0, form)
        del self._forms[_MOST_FORMS:]


def _literal(text: str, *, loose: bool) -> str:
    """A pattern for the text before a number: any digits for digits if asked for, and not more blanks before it."""
    stripped = text.rstrip(" ")
    blanks = len(text) - len(stripped)
    shown = re.escape(stripped)
    return (_DIGIT.sub("[0-9]", shown) if loose else shown) + (f" {{1,{blanks}}}" if blanks > 1 else " " * blanks)
