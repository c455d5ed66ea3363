"""The cases: true sentences about runs, each with versions that hold one falsehood, and sentences without a claim."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Final

from evals.faithfulness.falsehoods import falsehoods, same_range, stated
from evals.faithfulness.fields import Written
from evals.faithfulness.templates import Template, templates

MOST: Final = 2
"""Drawn falsehoods of a sentence, besides those that its template states."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text about one log or two.

    Attributes:
        id: template, draw and, for a falsehood, its kind.
        half: open, held, or a later set (fresh, second, third, fourth, fifth).
        language: zh or en.
        runs: (name it goes by, run of ``evals/questions/runs.yaml``), one or two.
        kind: of sentence.
        truth: true, false or no_claim.
        falsehood: its kind, or None.
        text: what is to be checked.
    """

    id: str
    half: str
    language: str
    runs: tuple[tuple[str, str], ...]
    kind: str
    truth: str
    falsehood: str | None
    text: str

    def to_json(self) -> dict[str, Any]:
        """The case as data."""
        return asdict(self)


@cache
def cases(later: str = "") -> tuple[Case, ...]:
    """All cases of the open and the held half, or those of a later set; the same on every call.

    Raises:
        ValueError: for a template that no run makes true, or a stated falsehood that is not false.
    """
    given: Counter[str] = Counter()
    return tuple(case for template in templates(later) for case in _of(template, given))


def _of(template: Template, given: Counter[str]) -> Iterator[Case]:
    for draw, (true, about, rng) in enumerate(template.scenes()):
        name = f"{template.id}-{draw}"
        silent = template.kind == "no_claim"
        same = (template.half, template.language, about, template.kind)
        yield Case(name, *same, "no_claim" if silent else "true", None, true.text)
        if silent:
            continue
        for kind, text in template.false.items():
            written = stated(kind, text, true, rng)
            if written is None:
                if draw == template.draws - 1 and template.draws == 1:
                    raise ValueError(f"{template.id}: the stated falsehood {kind!r} is not false")
                continue
            given[kind] += 1
            yield Case(f"{name}~{kind}", *same, "false", kind, written.text)
        for kind, changed in _chosen(falsehoods(true, rng), given, template, rng):
            if not same_range(true, changed):  # it was chosen all the same, so that other sentences keep their kinds
                yield Case(f"{name}~{kind}", *same, "false", kind, changed.text)


def _chosen(
    found: Iterator[tuple[str, Written]], given: Counter[str], template: Template, rng: random.Random
) -> Iterator[tuple[str, Written]]:
    """At most :data:`MOST` falsehoods, of the kinds that are rarest so far."""
    by_kind: dict[str, list[Written]] = {}
    for kind, written in found:
        if kind not in template.false:
            by_kind.setdefault(kind, []).append(written)
    for kind in sorted(by_kind, key=lambda one: (given[one], one))[:MOST]:
        given[kind] += 1
        yield kind, rng.choice(by_kind[kind])
