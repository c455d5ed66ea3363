"""Facts and findings: the only things an answer may be made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from assistant.model.run import Number, json_number

FactKind = Literal["value", "change", "trend", "derived", "missing", "share"]
Direction = Literal["rising", "falling", "flat", "fluctuating", "inconclusive"]
Severity = Literal["info", "ok", "warning", "critical"]

AT_LEAST: Final = "noise_at_least_95"
"""How the name of half of an interval begins that holds the truth in at least 95 % of cases; others do in 95 %."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is so, and why.

    The fields used depend on ``kind`` (see the contract's examples); the rest are ``None`` and are
    left out of the JSON. ``from_value``/``to_value`` are ``from``/``to`` there.

    kind ``value``: metric, step, value, line. ``change``: metric, from_step, to_step, from, to,
    delta, ratio, noise (one standard error of the difference, same unit), significant (``None``
    where the log does not allow to tell). ``trend``: metric, first_step, last_step, direction,
    slope_per_step, p_value, n; and, where they are known, ``low`` and ``high`` (95 % interval of the slope), ``form``
    (``slope``, ``shift``, ``ramp``, ``bend``, ``turn``, ``spike``, ``drift``, ``walk``), ``growth_per_step`` (a
    fraction: 0.02 is 2 % a step) with ``growth_low`` and ``growth_high``. ``derived``: name, value, unit, formula,
    inputs (fact ids), step; a forecast's ``low`` and ``high`` are its prediction interval, of at least 95 % for
    a straight line. ``missing``: metric, step, reason. ``share``: name, step, value (fraction), of. Counts over the log
    and constants that a definition states (``card`` names it) are ``derived`` without inputs.
    """

    id: str
    kind: FactKind
    run: str | None = None
    metric: str | None = None
    name: str | None = None
    step: int | None = None
    value: Number | str | bool | None = None
    unit: str | None = None
    line: int | None = None
    from_step: int | None = None
    to_step: int | None = None
    from_value: Number | None = None
    to_value: Number | None = None
    delta: Number | None = None
    ratio: float | None = None
    noise: float | None = None
    noise_basis: str | None = None
    significant: bool | None = None
    first_step: int | None = None
    last_step: int | None = None
    direction: Direction | None = None
    slope_per_step: float | None = None
    p_value: float | None = None
    n: int | None = None
    formula: str | None = None
    inputs: tuple[str, ...] | None = None
    of: str | None = None
    reason: str | None = None
    limit: int | None = None
    card: str | None = None
    low: float | None = None
    high: float | None = None
    form: str | None = None
    growth_per_step: float | None = None
    growth_low: float | None = None
    growth_high: float | None = None

    @property
    def at_least(self) -> bool:
        """Whether it is half of an interval that holds at least what its level says."""
        return (self.name or "").startswith(AT_LEAST)

    def to_json(self) -> dict[str, Any]:
        """The contract's object: fields that are ``None`` left out, ``from_value`` → ``from``."""
        result: dict[str, Any] = {}
        for spec in fields(self):
            value = getattr(self, spec.name)
            if value is None and spec.name not in _SAID_WHEN_UNKNOWN.get(self.kind, ()):
                continue
            if isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                value = json_number(value)
            result[_JSON_NAMES.get(spec.name, spec.name)] = value
        return result


#: Fields that stand in the JSON even when the log cannot tell them (``null``): a p-value takes more than a few points.
_SAID_WHEN_UNKNOWN = {"change": {"ratio", "noise", "significant"}, "trend": {"p_value"}}
_JSON_NAMES = {"from_value": "from", "to_value": "to"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule concluded from facts.

    Attributes:
        rule: stable rule id.
        severity: ``info``, ``ok``, ``warning`` or ``critical``.
        statement: one sentence in the answer's language.
        evidence: ids of the facts that carry it.
        mode: failure mode that the log is consistent with (``FM-08``), if the rule is one's.
        onset: step from which its deciding sign holds.
        card: the mode's card.
        considered: other explanations → whether the log rules them out (``None``: it cannot tell).
    """

    id: str
    rule: str
    severity: Severity
    metrics: tuple[str, ...]
    steps: tuple[int, ...]
    statement: str
    evidence: tuple[str, ...]
    mode: str | None = None
    onset: int | None = None
    card: str | None = None
    considered: tuple[tuple[str, bool | None], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's object; what belongs to a failure mode is added where there is one."""
        more: dict[str, Any] = {}
        if self.mode is not None:
            more = {"mode": self.mode, "onset": self.onset, "card": self.card, "considered": dict(self.considered)}
        return {
            "id": self.id,
            "rule": self.rule,
            "severity": self.severity,
            "metrics": list(self.metrics),
            "steps": list(self.steps),
            "statement": self.statement,
            "evidence": list(self.evidence),
            **more,
        }
