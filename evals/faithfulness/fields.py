"""Texts with fields: each number and word that claims something carries the expression that decides it.

A text is prose with fields in braces::

    {s}                     a variable (a step, a number, a run); {m} a metric, in any of its names;
    {m:key}  {m:code}  {m:name}  {m:Name}   a metric by key, key in backticks, short name, short name capitalised
    {v(m,s)|sig3}           a claim: the expression's value in a format of shown.py; `any` draws one by the unit of m
    {v(m,s):=0.047}         a claim, typed: the text is 0.047
    {v(m,s)<<v(m,t)|sig3}   a lie: claims the first expression, shows the value of the second
    {diff(m,s,t)?rose/fell/stayed the same}    a word: the first where the expression is positive, negative, zero
    {count#above(m,k)|int}  a claim with the kind of falsehood that a wrong value is

Expressions see the functions of :class:`evals.faithfulness.tables.Truth`, the variables, and roles by name.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import CodeType
from typing import Any, Final

from evals.faithfulness.names import Role, roles
from evals.faithfulness.shown import ANY, HEDGED, agrees, differs, show
from evals.faithfulness.tables import FUNCTIONS, Truth


def nice(value: float, digits: int = 2) -> float:
    """A bound as a person would choose it: so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


def edge(value: float, digits: int) -> bool:
    """Whether a value lies near the middle between two neighbours of so many significant digits."""
    rest = abs(value) / 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) % 1 if value else 0.0
    return 0.44 < rest < 0.499 or 0.501 < rest < 0.56


FIELD: Final = re.compile(r"\{([^{}]+)\}")
VARIABLE: Final = re.compile(r"([a-z])(?::(key|code|name|Name))?")
TAG: Final = re.compile(r"([a-z_]+)#")
METRICS: Final = ("m", "n", "o")
RUNS: Final = ("a", "b")
BUILT_IN: Final = {"abs": abs, "min": min, "max": max, "round": round, "int": int, "nice": nice, "edge": edge}
SLACK: Final = 0.004
"""Relative difference up to which a number is not called false, whatever its digits."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text.

    Attributes:
        what: prose, variable, number or word.
        text: the prose, the variable's name, a number's format or typed literal, a word's alternatives joined by ``/``.
        claim: the expression that decides it.
        shown: the expression that is written instead of the claimed one, for a lie.
        tag: kind of falsehood of a wrong value, or ``""``.
        typed: whether ``text`` of a number is its literal.
        style: of a metric variable.
    """

    what: str
    text: str
    claim: str = ""
    shown: str = ""
    tag: str = ""
    typed: bool = False
    style: str = ""


@cache
def parts(text: str) -> tuple[Part, ...]:
    """A template's text in pieces."""
    found: list[Part] = []
    at = 0
    for field_ in FIELD.finditer(text):
        if field_.start() > at:
            found.append(Part("prose", text[at : field_.start()]))
        found.append(_part(field_[1]))
        at = field_.end()
    if at < len(text):
        found.append(Part("prose", text[at:]))
    return tuple(found)


def _part(inside: str) -> Part:
    if variable := VARIABLE.fullmatch(inside):
        return Part("variable", variable[1], style=variable[2] or "")
    tag = ""
    if tagged := TAG.match(inside):
        tag, inside = tagged[1], inside[tagged.end() :]
    if ":=" in inside:
        claim, _, literal = inside.partition(":=")
        return Part("number", literal.strip(), claim.strip(), tag=tag, typed=True)
    if "?" in inside:
        claim, _, words = inside.partition("?")
        claim, _, shown = claim.partition("<<")
        return Part("word", words, claim.strip(), shown.strip(), tag or "direction")
    claim, _, how = inside.rpartition("|")
    if not claim:
        raise ValueError(f"field {{{inside}}}: no variable, format, literal or alternatives")
    claim, _, shown = claim.partition("<<")
    return Part("number", how.strip(), claim.strip(), shown.strip(), tag)


@dataclass(frozen=True)
class Scene:
    """What the expressions are about: runs by variable (``""`` is the run spoken of), and the variables' values."""

    runs: Mapping[str, Truth]
    values: Mapping[str, Any]
    metrics: Mapping[str, Role] = field(default_factory=dict)

    @cached_property
    def _names(self) -> dict[str, Any]:
        own = self.runs[""]
        names = {**_roles(own), **BUILT_IN}
        for name in FUNCTIONS:
            names[name] = getattr(own, name) if len(self.runs) == 1 else _function(name, self.runs, own)
        names.update(self.values)
        names.update({variable: _Named(variable) for variable in self.runs if variable})
        return names

    def value(self, expression: str) -> Any:
        """An expression's value; ``None`` where the log cannot tell."""
        try:
            found = eval(_compiled(expression), {"__builtins__": {}}, self._names)
        except (TypeError, ZeroDivisionError):
            return None
        return None if isinstance(found, float) and not math.isfinite(found) else found

    def readings(self) -> Iterator[Scene]:
        """The scene, and those in which the metrics' words mean another of the keys that they may."""
        own = self.runs[""]
        variables = list(self.metrics)
        choices = [[self.values[name], *self.metrics[name].others(own)] for name in variables]
        for chosen in itertools.islice(itertools.product(*choices), 200):
            yield replace(self, values={**self.values, **dict(zip(variables, chosen, strict=True))})


@dataclass(frozen=True, slots=True)
class _Named:
    """A run variable inside an expression."""

    variable: str


@cache
def _roles(own: Truth) -> dict[str, Any]:
    return {name: role.key(own) or f"no {name}" for name, role in roles().items()}


def _function(name: str, runs: Mapping[str, Truth], own: Truth) -> Any:
    def call(*given: Any) -> Any:
        of = next((runs[one.variable] for one in given if isinstance(one, _Named)), own)
        return getattr(of, name)(*(one for one in given if not isinstance(one, _Named)))

    return call


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, expression, "eval")


@dataclass(frozen=True)
class Written:
    """A text written out: its parts, what is shown for each, and the scene that it is claimed of."""

    pieces: tuple[Part, ...]
    texts: tuple[str, ...]
    scene: Scene
    language: str
    slack: float = SLACK

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.texts)

    def hedged(self, place: int) -> bool:
        """Whether the words right before or after a number make it vague."""
        before = "".join(self.texts[:place])[-14:]
        after = "".join(self.texts[place + 1 :])[:5]
        return bool(HEDGED.search(before) or HEDGED.search(after))

    def true(self) -> bool:
        """Whether each claim is borne out by the log."""
        return all(self._holds(place, self.scene) for place in self.claims())

    def false(self) -> bool:
        """Whether, whatever its words may mean, at least one claim is false beyond dispute."""
        return all(any(self._fails(place, scene) for place in self.claims()) for scene in self.scene.readings())

    def claims(self) -> list[int]:
        """Places of the parts that claim something."""
        return [place for place, part in enumerate(self.pieces) if part.claim]

    def _holds(self, place: int, scene: Scene) -> bool:
        part, value = self.pieces[place], scene.value(self.pieces[place].claim)
        if value is None:
            return False
        return self.texts[place] == chosen(part, value) if part.what == "word" else agrees(self.texts[place], value)

    def _fails(self, place: int, scene: Scene) -> bool:
        part, value = self.pieces[place], scene.value(self.pieces[place].claim)
        if part.what == "word":
            return value is not None and self.texts[place] != chosen(part, value)
        return differs(self.texts[place], value, 0.2 if self.hedged(place) else self.slack)


def chosen(part: Part, value: float) -> str:
    """The word of a part's alternatives that a value asks for."""
    words = part.text.split("/")
    return words[0 if value > 0 else 1 if value < 0 else min(2, len(words) - 1)]


def write(text: str, scene: Scene, language: str, rng: random.Random) -> Written | None:
    """Writes a text out for a scene; ``None`` where a claim's value is not to be had."""
    pieces, texts = parts(text), []
    formats: dict[str, str] = {}
    for part in pieces:
        if part.what == "prose":
            texts.append(part.text)
        elif part.what == "variable":
            texts.append(named(part, scene, language, rng))
        elif part.typed:
            texts.append(part.text)
        else:
            value = scene.value(part.shown or part.claim)
            if value is None:
                return None
            if part.what == "word":
                texts.append(chosen(part, value))
                continue
            how = part.text
            if how.startswith("any"):
                variable = how[3:].strip() or "m"
                unit = scene.metrics[variable].unit
                how = formats.setdefault(variable, rng.choice(ANY[unit]))
                if abs(value) < (10.0 if how == "int" else 10.0 ** -int(how[3]) if how.startswith("dec") else 0.0):
                    how = "sig3"
            texts.append(show(value, how, language))
    return Written(pieces, tuple(texts), scene, language)


def named(part: Part, scene: Scene, language: str, rng: random.Random) -> str:
    """A variable as text: a metric in one of its names, anything else as it is."""
    role = scene.metrics.get(part.text)
    if role is None:
        return str(scene.values[part.text])
    style = part.style or rng.choice(["key", "code", "name", "name"])
    if style in {"key", "code"}:
        key = str(scene.values[part.text])
        return f"`{key}`" if style == "code" else key
    word = rng.choice(role.words[language])
    return word[:1].upper() + word[1:] if style == "Name" else word
