"""The table of identities: YAML files in ``data/``, read once, every formula parsed and every field checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from assistant import resources
from assistant.analysis.identities.formula import Formula, parse
from assistant.model import KnowledgeError

DATA: Final = Path(__file__).with_name("data")
Tolerance = Literal["exact", "fp32", "approx"]
RELATIVE: Final[Mapping[str, float]] = {"exact": 1e-9, "fp32": 3e-7, "approx": 1e-6}
"""Relative error of one cell: float64 as printed, float32 (half a unit of the last place is 6e-8, a mean over a large
batch some units more), and a mean over ranks of float32."""
_KINDS: Final = ("equal", "at_most", "whole", "linear", "call")
_ENTRY: Final = {"zh", "en", "formula", "frameworks", "tolerance", "source", "unless"}
_MORE: Final = {"derives", "quantities", "verify"}
_RELATION: Final = {
    *_KINDS,
    "each",
    "slack",
    "always",
    "share",
    "least",
    "gross",
    "joined",
    "needs",
    "without",
    "terms",
    "of",
    "by",
}
_QUANTITY: Final = {"name", "formula", "unit", "whole", "needs"}


@dataclass(frozen=True, slots=True)
class Relation:
    """One check of an identity.

    Attributes:
        kind: ``equal`` (left = right), ``at_most`` (left ≤ right), ``whole`` (left is an integer), ``linear`` (left is
            a combination of ``terms``), ``call`` (a function of :mod:`laws`).
        left: formula; for ``call`` the function's name.
        right: the other side, or "".
        each: pattern over metrics; the relation holds for every match, ``<name>`` standing for its groups.
        slack: formula of a difference that means nothing, beside rounding.
        always: holds by definition; else a log that breaks it at many steps does not have the identity at all.
        share: share of steps that must hold for the identity to apply.
        least: fewest steps that must hold for it to apply.
        gross: times the allowance from which one step is enough.
        joined: a log that keeps to it up to some step, or from one on, was joined from two: that breaks it, too.
        needs: formula whose cells must be there, beside those of the two sides.
        without: metric that must not be in the log.
        terms: coefficient → formula, for ``linear``.
        of, by: metrics, for ``call``.
    """

    kind: str
    left: str
    right: str = ""
    each: re.Pattern[str] | None = None
    slack: str = ""
    always: bool = False
    share: float = 0.75
    least: int = 2
    gross: float = 10.0
    joined: bool = False
    needs: str = ""
    without: str = ""
    terms: tuple[tuple[str, str], ...] = ()
    of: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A derived quantity that is one formula; ``whole`` if it must come out as an integer."""

    name: str
    formula: Formula
    unit: str | None
    whole: bool
    needs: str


@dataclass(frozen=True, slots=True)
class Identity:
    """An arithmetic identity between metrics.

    Attributes:
        id: ``I-01`` ….
        zh: what it says, in Chinese.
        en: in English.
        formula: for display.
        frameworks: whose logs it is about; ``any`` for all.
        tolerance: ``exact`` (float64), ``fp32``, ``approx``.
        source: code or paper that proves it.
        unless: what would invalidate it, by language.
        derives: names of the quantities that it gives (see :data:`DERIVATIONS` and :func:`derive_run`).
        quantities: those of them that are formulas.
        verifies: the checks.
    """

    id: str
    zh: str
    en: str
    formula: str
    frameworks: tuple[str, ...]
    tolerance: Tolerance
    source: str
    unless: Mapping[str, str]
    derives: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    verifies: tuple[Relation, ...]

    def says(self, language: str) -> str:
        """The statement in a language."""
        return self.zh if language == "zh" else self.en

    def applies(self, framework: str | None) -> bool:
        """Whether a framework's log can carry it."""
        return "any" in self.frameworks or framework in self.frameworks


def read_identities(folder: Path) -> dict[str, Identity]:
    """All identities of a folder's YAML files, by id, in ascending order.

    Raises:
        KnowledgeError: names file and key, and what is wrong there.
    """
    found: dict[str, Identity] = {}
    owners: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        for name, entry in (resources.yaml_table(path) or {}).items():
            where = f"{path.name}: {name}"
            if name in found or not re.fullmatch(r"I-\d\d", str(name)):
                raise _wrong(where, "重复，或编号不是 I-NN", "stands twice, or is not of the form I-NN")
            identity = found[name] = _identity(where, str(name), entry)
            for quantity in identity.derives:
                if quantity in owners:
                    raise _wrong(where, f"{quantity} 已属于 {owners[quantity]}", f"{quantity} is {owners[quantity]}'s")
                owners[quantity] = name
    return dict(sorted(found.items()))


def _identity(where: str, name: str, entry: Any) -> Identity:
    if not isinstance(entry, dict) or not _ENTRY <= set(entry) <= _ENTRY | _MORE:
        odd = sorted(set(entry) ^ _ENTRY - _MORE) if isinstance(entry, dict) else entry
        raise _wrong(where, f"字段不对：{odd}", f"fields are wrong: {odd}")
    if entry["tolerance"] not in RELATIVE:
        raise _wrong(where, f"tolerance 应是 {', '.join(RELATIVE)} 之一", f"tolerance is one of {', '.join(RELATIVE)}")
    if set(entry["unless"]) != {"zh", "en"}:
        raise _wrong(where, "unless 应恰有 zh 与 en", "unless needs zh and en, no more")
    try:
        quantities = tuple(_quantity(where, item) for item in entry.get("quantities", ()))
        relations = tuple(_relation(where, item) for item in entry.get("verify", ()))
    except (ValueError, re.error) as error:
        raise _wrong(where, str(error), str(error)) from None
    derives = tuple(entry.get("derives", ()))
    missing = {quantity.name for quantity in quantities} - set(derives)
    if missing:
        raise _wrong(where, f"derives 里缺少 {sorted(missing)}", f"derives lacks {sorted(missing)}")
    return Identity(
        name, entry["zh"], entry["en"], entry["formula"], tuple(entry["frameworks"]), entry["tolerance"],
        entry["source"], entry["unless"], derives, quantities, relations,
    )  # fmt: skip


def _quantity(where: str, item: dict[str, Any]) -> Quantity:
    if not {"name", "formula"} <= set(item) <= _QUANTITY:
        raise _wrong(where, f"quantities 的字段不对：{sorted(item)}", f"fields of a quantity are wrong: {sorted(item)}")
    whole, needs = bool(item.get("whole", False)), item.get("needs", "")
    return Quantity(item["name"], parse(item["formula"]), item.get("unit"), whole, needs)


def _relation(where: str, item: dict[str, Any]) -> Relation:
    kinds = [kind for kind in _KINDS if kind in item]
    if len(kinds) != 1 or not set(item) <= _RELATION:
        raise _wrong(where, f"verify 的字段不对：{sorted(item)}", f"fields of a check are wrong: {sorted(item)}")
    kind = kinds[0]
    sides = item[kind] if isinstance(item[kind], list) else [item[kind]]
    if len(sides) != (2 if kind in {"equal", "at_most"} else 1):
        raise _wrong(where, f"{kind} 的边数不对", f"{kind} has the wrong number of sides")
    terms = tuple((item.get("terms") or {}).items())
    if kind != "call":
        for text in [*sides, *(text for _, text in terms), item.get("slack", ""), item.get("needs", "")]:
            if text:
                parse(re.sub(r"<\w+>", "x", text))
    fewest = 5 if kind == "at_most" else 2
    return Relation(
        kind, sides[0], sides[1] if len(sides) > 1 else "",
        re.compile(item["each"]) if "each" in item else None,
        item.get("slack", ""), bool(item.get("always", False)), float(item.get("share", 0.75)),
        int(item.get("least", fewest)), float(item.get("gross", 10.0)), bool(item.get("joined", False)),
        item.get("needs", ""), item.get("without", ""), terms, item.get("of", ""), item.get("by", ""),
    )  # fmt: skip


def _wrong(where: str, zh: str, en: str) -> KnowledgeError:
    return KnowledgeError(zh=f"{where}：{zh}。", en=f"{where}: {en}.")


@lru_cache(maxsize=1)
def identities() -> Mapping[str, Identity]:
    """The shipped identities, read once a process."""
    return read_identities(DATA)


@lru_cache(maxsize=1)
def _owners() -> Mapping[str, Identity]:
    return {name: identity for identity in identities().values() for name in identity.derives}


def identity_of(name: str) -> Identity | None:
    """The identity that gives a derived quantity: its id, statement and what would invalidate it."""
    return _owners().get(name.split("/", 1)[0])
