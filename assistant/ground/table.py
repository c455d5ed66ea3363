"""What the audit asks of a run: cells, changes, courses, shares and derived quantities; each computed once."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from assistant.analysis import Ledger, derive
from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.ground.lexicon import words
from assistant.ground.quantities import Quantity
from assistant.knowledge import Resolver
from assistant.model import Fact, Run

_COUNTS: Final = {"tokens", "turns", "samples", "steps", "prompts", "characters", "metrics"}
#: Units that a number of some kind may carry; a bare number may always stand.
_ALLOWED: Final = {
    "fraction": {"%"}, "percent": {"%"}, "seconds": {"s", "ms"}, "milliseconds": {"s", "ms"}, "gib": {"gib"},
    "rate": {"rate", "tokens"}, "tokens": {"tokens"}, "nats": {"nats", "%"}, "count": _COUNTS, "integer": _COUNTS,
    "number": {"%", "nats"},
}  # fmt: skip
_BY_NAME: Final = (
    (re.compile(r"(?i)timing_per_token_ms|_ms$|/ms$"), "milliseconds"),
    (
        re.compile(
            r"(?i)^timing_s/(?!.*(?:_length|num_))|(?:^|[/_ ])(?:time|runtime|seconds|duration)(?:$|[/_ ])|_s$|time_per|_time$|\b(?:e2e|gather) latency$"
        ),
        "seconds",
    ),
    (re.compile(r"(?i)(?:_gb|_gib|memory)(?:$|/)"), "gib"),
    (re.compile(r"(?i)throughput|tokens?_per_s|tps\b"), "rate"),
    (re.compile(r"(?i)num_turns|turns"), "count"),
    (re.compile(r"(?i)seqlen|_tokens?$|num_tokens|length/(?:mean|max|min)$|_length$"), "tokens"),
)
#: Quantities that some frameworks log outright.
_LOGGED: Final = {"trajectories_per_step": "system/batch_size", "cluster_throughput": "system/tps/tps"}
#: Cells that an aggregate names as what it was made from.
_MOST_INPUTS: Final = 200
COUNTED: Final = {"n_gpus", "trajectories_per_step", "prompts_per_step", "group_size", "data_parallel_ranks"}


class Table:
    """One run, asked again and again.

    Args:
        run: the run.
        resolver: for what its keys measure.
        ledger: where facts are kept.
    """

    def __init__(self, run: Run, resolver: Resolver, ledger: Ledger) -> None:
        self.run, self.resolver, self.ledger = run, resolver, ledger
        self.steps: tuple[int, ...] = run.distinct_steps
        self._series: dict[str, tuple[list[int], list[float]]] = {}
        self._kinds: dict[str, str] = {}
        self._derived: dict[tuple[str, int], Fact | None] = {}

    # -- cells ---------------------------------------------------------------------------------
    def series(self, key: str) -> tuple[list[int], list[float]]:
        """Steps and values of a metric, ascending."""
        if key not in self._series:
            steps, values = self.run.series(key)
            self._series[key] = (steps, [float(value) for value in values])
        return self._series[key]

    def held(self, key: str) -> list[int]:
        """Steps at which a metric has a value."""
        return self.series(key)[0]

    def value(self, key: str, step: int) -> float | None:
        """A cell, as a float."""
        value = self.run.value(key, step)
        return None if value is None else float(value)

    def within(self, key: str, span: Sequence[int] | None) -> list[tuple[int, float]]:
        """Steps and values from the first to the last of ``span``; all without one."""
        steps, values = self.series(key)
        pairs = list(zip(steps, values, strict=True))
        if not span:
            return pairs
        low, high = min(span), max(span)
        return [(step, value) for step, value in pairs if low <= step <= high]

    def finite(self, key: str, span: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The finite ones of :meth:`within`."""
        return [(step, value) for step, value in self.within(key, span) if math.isfinite(value)]

    def before(self, key: str, step: int) -> int | None:
        """The last step before one that holds the metric."""
        earlier = [held for held in self.held(key) if held < step]
        return earlier[-1] if earlier else None

    # -- meaning -------------------------------------------------------------------------------
    def kind(self, key: str) -> str:
        """What a metric's number measures: ``fraction``, ``seconds`` …; by its card, else by its name."""
        if key not in self._kinds:
            found = self.resolver.key(key, self.run.framework)
            kind = "number" if found is None else found.card.kind
            if kind in {"number", "seconds"}:
                if kind == "seconds" and re.search(r"(?:prompt|response)_length$", key):
                    kind = "tokens"
                elif kind == "number":
                    kind = next((name for pattern, name in _BY_NAME if pattern.search(key)), kind)
            if kind == "fraction" and any(abs(value) > 1.5 for _, value in self.finite(key)):
                kind = "percent"
            self._kinds[key] = kind
        return self._kinds[key]

    def better(self, key: str) -> str:
        """``higher``, ``lower`` or "" for what counts as an improvement."""
        found = self.resolver.key(key, self.run.framework)
        direction = "" if found is None else found.card.direction
        return {"higher_better": "higher", "lower_better": "lower"}.get(direction, "")

    def readings(self, q: Quantity, key: str, value: float | None = None) -> list[tuple[float, float]]:
        """A quantity as ``(number, allowance)`` in the metric's own unit; empty where its unit is another's."""
        return readings(q, self.kind(key), value)

    # -- facts -----------------------------------------------------------------------------------
    def derived(self, name: str, step: int) -> Fact | None:
        """A derived quantity at a step."""
        if (name, step) not in self._derived:
            if name == "imbalance_to_min":
                found = self._imbalance(step)
            else:
                try:
                    found = derive(self.ledger, name, step, self.run)
                    if found is None and name == "n_gpus":
                        found = derive(self.ledger, "roll_gpus", step, self.run)
                except KeyError:
                    found = None
                if found is None and name in _LOGGED and _LOGGED[name] in self.run.columns:
                    found = self.ledger.value(_LOGGED[name], step, self.run)
                if found is None and name == "prompts_per_step":
                    found = self._prompts(step)
            self._derived[name, step] = found
        return self._derived[name, step]

    def _prompts(self, step: int) -> Fact | None:
        """Trajectories a step over the group's size, where that comes out whole."""
        whole = self.derived("trajectories_per_step", step)
        group = self.derived("group_size", step) or next(iter(self.derivable("group_size", self.steps[:20])), None)
        if whole is None or group is None or not group.value or float(whole.value or 0) % float(group.value):
            return None
        return self.ledger.derived(
            "prompts_per_step", float(whole.value or 0) / float(group.value), unit="count", step=step, run=self.run,
            formula="trajectories_per_step / group_size", inputs=[whole, group],
        )  # fmt: skip

    def _imbalance(self, step: int) -> Fact | None:
        spread = self.ledger.value("global_seqlen/minmax_diff", step, self.run)
        least = self.ledger.value("global_seqlen/min", step, self.run)
        if spread is None or least is None or not least.value:
            return None
        return self.ledger.derived(
            "imbalance_to_min", float(spread.value or 0) / float(least.value), unit="fraction", step=step, run=self.run,
            formula="global_seqlen/minmax_diff / global_seqlen/min", inputs=[spread, least],
        )  # fmt: skip

    def derivable(self, name: str, steps: Iterable[int]) -> list[Fact]:
        """A derived quantity at each of some steps that give it."""
        return [fact for step in steps if (fact := self.derived(name, step)) is not None]

    def aggregate(self, what: str, key: str, value: float, rows: Sequence[tuple[int, float]]) -> str:
        """The id of the fact that some cells of a metric, as ``(step, value)``, have a mean, sum, level or range."""
        first, last = rows[0][0], rows[-1][0]
        return self.ledger.derived(
            f"{what}/{key}/{first}-{last}/{value!r}", value, formula=f"{what} of {key} over steps {first} to {last}",
            inputs=[self.ledger.value(key, step, self.run) for step, _ in rows[:_MOST_INPUTS]], run=self.run,
        ).id  # fmt: skip

    def total_time(self) -> str | None:
        """The key of a step's whole time."""
        layout = layout_of(self.run)
        found = None if layout is None else total_key(self.run, layout)
        return found or next((key for key in words()["step_time"] if key in self.run.columns), None)

    def stages(self) -> tuple[str, ...]:
        """The keys of the stages that a step's time is made of."""
        layout = layout_of(self.run)
        return () if layout is None else stage_keys(self.run, layout)


def readings(q: Quantity, kind: str, value: float | None = None) -> list[tuple[float, float]]:
    """A quantity as ``(number, allowance)`` where numbers of a kind are meant; empty where its unit does not fit."""
    unit = q.unit
    if not unit:
        return [(q.number, q.half)]
    if unit not in _ALLOWED.get(kind, set()):
        return []
    if unit == "%":
        share = (q.number * q.factor, q.half * q.factor)
        if kind == "percent":
            return [(q.number * q.factor * 100, q.half * q.factor * 100)]
        if kind == "number" and value is not None and abs(value) > 1:
            return [share, (q.number, q.half)]
        return [share]
    factor = q.factor
    if kind == "seconds" and unit == "ms":
        factor /= 1000
    if kind == "milliseconds" and unit == "s":
        factor *= 1000
    return [(q.number * factor, q.half * factor)]


def agrees(shown: float, allowance: float, value: float, *, bound: str = "") -> bool:
    """Whether a shown number is the value at its precision, or bounds it."""
    if math.isnan(shown) or math.isnan(value):
        return math.isnan(shown) and math.isnan(value)
    if math.isinf(shown) or math.isinf(value):
        return shown == value
    slack = allowance * (1 + 1e-6) + abs(value) * 1e-9
    if bound:  # "above 1" is not "above 0.5": rounding gives way by a hundredth of the bound at most
        slack = min(slack, 0.01 * abs(shown) + abs(value) * 1e-9)
    if bound == ">":
        return value > shown - slack
    if bound == "<":
        return value < shown + slack
    return abs(shown - value) <= slack


def rounded(value: float, digits: int) -> float:
    """A value at so many significant digits."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def median(values: Sequence[float]) -> float:
    """The median."""
    return float(statistics.median(values))
