"""What the audit says: claims, sentences, the whole; and the reasons, in Chinese and English."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from assistant import resources
from assistant.ground.quantities import Quantity
from assistant.model import Fact

Status = Literal["supported", "contradicted", "unsupported", "no_claim"]
#: From the gravest: a sentence is as bad as its worst claim.
GRAVEST: tuple[Status, ...] = ("contradicted", "unsupported", "supported", "no_claim")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement about the log.

    Attributes:
        text: its characters, ``start:end`` of the audited text.
        status: ``supported``, ``contradicted`` or ``unsupported``.
        reason: why, in the audit's language; of a contradicted one, what is so instead.
        fact: id of the fact that decides it.
    """

    text: str
    start: int
    end: int
    status: Status
    reason: str = ""
    fact: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's object."""
        return {"text": self.text, "start": self.start, "end": self.end, "status": self.status, "reason": self.reason,
                "fact": self.fact}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item, heading, table row or code block with its claims."""

    text: str
    start: int
    end: int
    status: Status
    claims: tuple[Claim, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's object."""
        return {"text": self.text, "start": self.start, "end": self.end, "status": self.status,
                "claims": [claim.to_json() for claim in self.claims]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Audit:
    """A text audited: its sentences in order, the facts that decided, and how many sentences have which status."""

    sentences: tuple[Sentence, ...]
    facts: tuple[Fact, ...]
    summary: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The contract's object of ``verify``."""
        return {
            "sentences": [sentence.to_json() for sentence in self.sentences],
            "summary": dict(self.summary),
            "facts": [fact.to_json() for fact in self.facts],
        }


def worst(claims: tuple[Claim, ...]) -> Status:
    """The status of a sentence with some claims."""
    return min((claim.status for claim in claims), key=GRAVEST.index, default="no_claim")


@lru_cache(maxsize=1)
def _reasons() -> dict[str, dict[str, str]]:
    path = (resources.data_folder("prompts") / "phrases" / "verify").with_suffix(".yaml")
    table: dict[str, dict[str, str]] = resources.yaml_table(path)
    return table


def reason(key: str, language: str, **values: Any) -> str:
    """A reason in a language, its fields filled (``prompts/phrases/verify.yaml``)."""
    return _reasons()[f"verify.{key}"][language].strip().format(**values)


def as_shown(value: float, q: Quantity, kind: str, *, change: bool = False) -> str:
    """A true value as the text shows its own: same unit, with enough digits to be told from it."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    scaled, unit = value, ""
    if q.unit == "%" and kind != "percent" and not (kind == "number" and abs(value) > 1 and not change):
        scaled, unit = value * 100, "%"
    elif q.unit == "%":
        unit = "%"
    elif q.unit in {"s", "ms"} and kind in {"seconds", "milliseconds"}:
        base = value / 1000 if kind == "milliseconds" else value
        scaled, unit = (
            (base * 1000, " ms")
            if q.unit == "ms"
            else (base / q.factor, {1.0: " s", 60.0: " min", 3600.0: " h"}.get(q.factor, " d"))
        )
    elif kind == "seconds":
        unit = " s"
    elif kind == "gib":
        unit = " GiB"
    elif kind == "rate":
        unit = " tokens/s"
    return plain(scaled, max(4, q.digits + 1)) + unit


def plain(value: float, digits: int = 4) -> str:
    """A number with some significant digits, whole numbers in full with separators."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if size < 1e-4:
        return f"{value:.{min(digits, 6) - 1}e}"
    decimals = max(0, min(digits, 8) - 1 - math.floor(math.log10(size)))
    return f"{value:,.{min(decimals, 8)}f}"
