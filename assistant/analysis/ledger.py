"""The ledger: every value that an answer may use, each once, with an id."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from assistant.analysis.changepoints import ChangePoint
from assistant.analysis.noise import change_noise
from assistant.analysis.series import Series, series
from assistant.analysis.trend import Scale, Trend, thirds, trend_of
from assistant.model import Fact, Number, Run


class Ledger:
    """Facts about one or several runs; asking twice for the same fact gives the same id.

    Ids are ``E1``, ``E2`` … in the order in which facts were first asked for.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = {run.id: run for run in runs}
        self.run = runs[0] if runs else None
        self._facts: dict[str, Fact] = {}
        self._by_key: dict[tuple[Any, ...], Fact] = {}
        self._batch: dict[str, int | None] = {}
        self._trends: dict[tuple[Any, ...], tuple[Series, Trend] | None] = {}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts so far, in order."""
        return tuple(self._facts.values())

    def get(self, fact_id: str) -> Fact | None:
        """A fact by id."""
        return self._facts.get(fact_id)

    def add(self, key: tuple[Any, ...], **fields: Any) -> Fact:
        """A fact under a key; the first one stays, later calls with the same key return it."""
        known = self._by_key.get(key)
        if known is not None:
            return known
        fact = Fact(id=f"E{len(self._facts) + 1}", **fields)
        self._facts[fact.id] = fact
        self._by_key[key] = fact
        return fact

    def with_part(self, part: Run) -> Ledger:
        """A ledger of these facts that goes on with a part of the run in the first place."""
        other = Ledger((part, *self.runs.values()))
        other._facts, other._by_key = dict(self._facts), dict(self._by_key)
        other._batch, other._trends = dict(self._batch), dict(self._trends)
        return other

    # -- cells ---------------------------------------------------------------------------------
    def value(self, metric: str, step: int, run: Run | None = None) -> Fact | None:
        """The cell as a fact; ``None`` when the log has no such cell."""
        run = self._run(run)
        cell = run.cell(metric, step)
        if cell is None:
            return None
        return self.add(
            ("value", run.id, metric, step),
            kind="value", run=run.id, metric=metric, step=step, value=cell.value, line=cell.line,
        )  # fmt: skip

    def missing(self, metric: str, step: int, run: Run | None = None) -> Fact:
        """The absence of a cell as a fact, with the parser's reason where it has one."""
        run = self._run(run)
        gap = run.missing_at(metric, step)
        reason = "not in the log at this step"
        limit = None
        line = None
        if gap is not None:
            limit, line = gap.limit, gap.line
            reason = f"line cut at {limit} characters" if limit else _REASONS[gap.reason]
        return self.add(
            ("missing", run.id, metric, step),
            kind="missing", run=run.id, metric=metric, step=step, reason=reason, line=line, limit=limit,
        )  # fmt: skip

    # -- computations ----------------------------------------------------------------------------
    def change(self, metric: str, first: int, second: int, run: Run | None = None) -> Fact | None:
        """The change of a metric between two steps, with its noise; ``None`` if a cell is missing."""
        run = self._run(run)
        a, b = run.value(metric, first), run.value(metric, second)
        if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
            return None
        key = ("change", run.id, metric, first, second)
        if key in self._by_key:
            return self._by_key[key]
        inputs = [self.value(metric, step, run) for step in (first, second)]
        noise, basis = change_noise(run, metric, first, second, prompts=self._prompts(run))
        delta = b - a
        significant = None if noise is None else abs(delta) > 1.96 * noise
        return self.add(
            key,
            kind="change", run=run.id, metric=metric, from_step=first, to_step=second,
            from_value=a, to_value=b, delta=delta, ratio=(b / a if a else None), noise=noise,
            noise_basis=basis, significant=significant,
            inputs=tuple(f.id for f in inputs if f is not None),
        )  # fmt: skip

    def with_noise(self, change: Fact, noise: float | None, basis: str, inputs: Iterable[Fact]) -> Fact:
        """A change with another estimate of its noise (one standard error; ``None``: it cannot be told)."""
        significant = None if noise is None else abs(change.delta or 0) > 1.96 * noise
        kept = replace(
            change, id="", noise=noise, noise_basis=None if noise is None else basis, significant=significant,
            inputs=(*(change.inputs or ()), *(fact.id for fact in inputs)),
        )  # fmt: skip
        key = ("change", basis, change.run, change.metric, change.from_step, change.to_step)
        return self.add(key, **{f.name: getattr(kept, f.name) for f in fields(kept) if f.name != "id"})

    def _prompts(self, run: Run) -> int | None:
        """Prompts per step, derived once (the number of independent draws in a batch)."""
        from assistant.analysis.identities import derive

        if run.id not in self._batch:
            facts = (derive(self, "prompts_per_step", step, run) for step in run.distinct_steps)
            found = next((fact.value for fact in facts if fact is not None), None)
            self._batch[run.id] = found if isinstance(found, int) else None
        return self._batch[run.id]

    def trend(
        self, metric: str, steps: Iterable[int] | None = None, run: Run | None = None, *, scale: Scale = "linear"
    ) -> Fact | None:
        """The trend over some steps (all by default); ``None`` if no value is there.

        Args:
            metric: key.
            steps: those to look at; ``None``: all. Steps without a finite value are left out.
            run: the first one by default.
            scale: ``log`` for a metric that grows by factors; which ones do is the caller's knowledge. A metric with
                a value that is not positive there is judged on the linear scale.
        """
        run = self._run(run)
        key, found = self._trend(metric, steps, run, scale)
        if found is None:
            return None
        known = self._by_key.get(key)
        if known is not None:
            return known
        part, result = found
        low, high = result.interval or (None, None)
        growth_low, growth_high = result.growth_interval or (None, None)
        return self.add(
            key,
            kind="trend", run=run.id, metric=metric, first_step=int(part.steps[0]), last_step=int(part.steps[-1]),
            from_value=part.number(run, 0), to_value=part.number(run, -1), direction=result.direction,
            slope_per_step=result.slope, p_value=result.p_value, n=len(part), low=low, high=high, form=result.form,
            growth_per_step=result.growth, growth_low=growth_low, growth_high=growth_high,
        )  # fmt: skip

    def trend_detail(
        self, metric: str, steps: Iterable[int] | None = None, run: Run | None = None, *, scale: Scale = "linear"
    ) -> Trend | None:
        """All that is known of the trend that :meth:`trend` states, its change points among it."""
        found = self._trend(metric, steps, self._run(run), scale)[1]
        return None if found is None else found[1]

    def changes(
        self, trend: Fact, steps: Iterable[int] | None = None, run: Run | None = None, *, scale: Scale = "linear"
    ) -> list[tuple[ChangePoint, Fact, Fact]]:
        """Where a trend's metric jumped or bent, with the levels (or slopes per step) before and after as facts."""
        run = self._run(run)
        detail = self.trend_detail(str(trend.metric), steps, run, scale=scale)
        result = []
        for change in () if detail is None else detail.changes:
            stem = f"{trend.metric}/{trend.first_step}-{trend.last_step}"
            noun = "median" if change.kind == "level" else "growth per step" if scale == "log" else "slope per step"
            before, after = (
                self.derived(
                    f"{change.kind}_{side}/{stem}/{scale}", value, inputs=[trend], step=change.step, run=run,
                    formula=f"{noun} of {trend.metric} {side} the change at step {change.step}",
                )
                for side, value in (("before", change.before), ("after", change.after))
            )  # fmt: skip
            result.append((change, before, after))
        return result

    def _trend(
        self, metric: str, steps: Iterable[int] | None, run: Run, scale: Scale
    ) -> tuple[tuple[Any, ...], tuple[Series, Trend] | None]:
        """The key of a trend's fact, and what was found; computed once."""
        whole = series(run, metric)
        part = whole if steps is None else whole.at(steps)
        covered = len(part) == len(whole)
        # The same points under another name (all of them asked for one by one) are the same fact.
        key = ("trend", run.id, metric, None if covered else part.steps.tobytes(), scale)
        if key not in self._trends:
            found = None
            if len(part):
                apt: Scale = "linear" if scale == "log" and part.values.min() <= 0 else scale
                found = (part, trend_of(part.steps, part.values, scale=apt))
            self._trends[key] = found
        return key, self._trends[key]

    def level(self, metric: str, trend: Fact, which: str, run: Run | None = None) -> Fact | None:
        """Median of the ``first`` or ``last`` third of a trend's points; ``None`` below nine points."""
        run = self._run(run)
        if (trend.n or 0) < 9 or trend.first_step is None or trend.last_step is None:
            return None
        name = f"median_{which}_third/{metric}/{trend.first_step}-{trend.last_step}"
        known = self._by_key.get(("level", run.id, name))
        if known is not None:
            return known
        points = series(run, metric).between(trend.first_step, trend.last_step).values
        if len(points) < 9:
            return None
        first, _, last = thirds(points)
        fact = self.derived(
            name, first if which == "first" else last,
            formula=f"median of {metric} over the {which} third of the points", inputs=[trend], run=run,
        )  # fmt: skip
        self._by_key["level", run.id, name] = fact
        return fact

    def derived(
        self, name: str, value: Number | str | bool, *, formula: str, inputs: Iterable[Fact | None],
        unit: str | None = None, step: int | None = None, run: Run | None = None,
    ) -> Fact:  # fmt: skip
        """A named quantity computed from other facts; two values of one name (means of two parts) are two facts."""
        run = self._run(run)
        return self.add(
            ("derived", run.id, name, step, value),
            kind="derived", run=run.id, name=name, step=step, value=value, unit=unit, formula=formula,
            inputs=tuple(f.id for f in inputs if f is not None),
        )  # fmt: skip

    def share(
        self, name: str, of: str, step: int, value: float, *, inputs: Iterable[Fact | None], run: Run | None = None
    ) -> Fact:
        """A part of a whole, as a fraction."""
        run = self._run(run)
        return self.add(
            ("share", run.id, name, of, step, value),
            kind="share", run=run.id, name=name, step=step, value=value, of=of,
            inputs=tuple(f.id for f in inputs if f is not None),
        )  # fmt: skip

    def count(self, name: str, value: int, **fields: Any) -> Fact:
        """A count over the run (rows, metrics, missing cells …)."""
        run = self._run(None)
        return self.add(
            ("count", run.id, name, value, *sorted(fields.items())),  # two counts of one name are two facts
            kind="derived", run=run.id, name=name, value=value, formula=f"count of {name}", inputs=(), **fields,
        )  # fmt: skip

    def constant(self, name: str, value: Number, card: str, unit: str | None = None) -> Fact:
        """A number that a definition states (bootstrap draws, a documented threshold), with its card."""
        run = None if self.run is None else self.run.id
        return self.add(
            ("constant", card, name, value),
            kind="derived", run=run, name=name, value=value, card=card, unit=unit,
            formula=f"stated by {card}", inputs=(),
        )  # fmt: skip

    def _run(self, run: Run | None) -> Run:
        chosen = run or self.run
        if chosen is None:
            raise LookupError("this ledger has no run")
        return chosen

    # -- finishing -------------------------------------------------------------------------------
    def used(self, ids: Iterable[str]) -> tuple[tuple[Fact, ...], dict[str, str]]:
        """The facts named by ``ids`` and all their inputs, renumbered ``E1`` … in that order.

        Returns:
            The facts, and the map from old id to new.
        """
        order: list[str] = []

        def visit(fact_id: str) -> None:
            if fact_id in order or fact_id not in self._facts:
                return
            order.append(fact_id)

        for fact_id in ids:
            visit(fact_id)
        position = 0
        while position < len(order):
            for parent in self._facts[order[position]].inputs or ():
                visit(parent)
            position += 1
        names = {old: f"E{i}" for i, old in enumerate(order, 1)}
        facts = []
        for old in order:
            fact = self._facts[old]
            inputs = None if fact.inputs is None else tuple(names[i] for i in fact.inputs)
            facts.append(replace(fact, id=names[old], inputs=inputs))
        return tuple(facts), names


_REASONS = {
    "line_cut": "line cut",
    "half_value": "line cut in the middle of the value",
    "half_wrapper": "line cut in the middle of the value",
    "half_key": "line cut in the middle of the key",
    "not_a_number": "no number stands there",
}
