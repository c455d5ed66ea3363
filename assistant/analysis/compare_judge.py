"""What each row of a comparison says: better, worse, unchanged, or nothing; corrected for the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.analysis.compare_averaged import Averaged
from assistant.analysis.compare_model import Row, RowCode, Side, holm, spread
from assistant.analysis.compare_rows import Pair, Workshop
from assistant.analysis.compare_rules import MetricClass, rules
from assistant.analysis.ledger import Ledger
from assistant.analysis.noise import too_wide
from assistant.model import Fact
from assistant.model.fact import AT_LEAST

#: A trend between two steps counts from so many points on, below this p-value, and where at most so many measures of
#: quality are looked at: a random walk passes even this bound three times in a hundred, and chances add up.
TREND_POINTS = 8
CLEAR_TREND = 0.0025
#: Degrees of freedom from which a re-sampling error is told well enough for an interval of 95 %. Below, few problems
#: differ in their answers, and pairs that happen to differ have intervals that hold up to 100 %.
WELL_TOLD = 80
MOST_TRENDS = 3


def row_of(bench: Workshop, pair: Pair) -> Row:
    """The row of a metric, before the correction for the others."""
    found = bench.estimate(pair)
    change = bench.change(pair, found, _looks(pair))
    half = None
    if found is not None and change.noise is not None:
        noise = found.noise
        exact = isinstance(noise, Averaged) or (found.basis == "resampling" and noise.freedom >= WELL_TOLD)
        half = bench.ledger.derived(
            f"{'noise_95' if exact else AT_LEAST}/{change.metric}/{change.id}", 1.96 * change.noise,
            formula="1.96 × noise", inputs=[change],
            run=pair.sides[1].run,
        )  # fmt: skip
    code, band = _code(bench.ledger, pair, change)
    counts = (pair.parts[0].n, pair.parts[1].n)
    return Row(
        pair.metric, pair.other, pair.group, pair.direction, change, half, change.p_value, None, None, code, band,
        counts, rho=None if found is None else found.noise.rho, wide=_wide(pair, change),
    )  # fmt: skip


def _wide(pair: Pair, change: Fact) -> bool:
    """Whether the interval, told from the scatter, is wider than the range of the metric in the whole log or logs."""
    if change.noise is None or change.noise_basis not in {"residual", "autocorrelated"}:
        return False
    return too_wide(1.96 * change.noise, *(part.points.values for part in pair.parts))


def _looks(pair: Pair) -> int:
    """Validations that a step was chosen from: the best of k is the best of k chances."""
    parts, sides = pair.parts, pair.sides
    chosen = max(side.best_of or 1 for side in sides)
    if pair.group != "validation" or not (sides[0].single and sides[1].single and sides[0].run is sides[1].run):
        return chosen
    values = parts[0].points.values
    extremes = {float(values.max()), float(values.min())}
    seen = len(values) - 1
    return max(chosen, seen) if len(values) >= 3 and parts[1].value in extremes else chosen


def _code(ledger: Ledger, pair: Pair, change: Fact) -> tuple[RowCode, Fact | None]:
    """What a row says before the correction."""
    parts, delta = pair.parts, float(change.delta or 0)
    seen = [{float(v) for v in p.points.values[p.start : p.stop]} for p in parts]
    if seen[0] == seen[1] and len(seen[0]) == 1:
        return "unchanged", None
    if change.noise is None:
        constant = len(seen[0]) == len(seen[1]) == 1 and min(parts[0].n, parts[1].n) > 1
        return ("changed" if constant else "inconclusive"), None
    size = rules().relative_band * abs(parts[0].value)
    if pair.group == "validation" and 0 <= parts[0].value <= 1:
        size = max(size, rules().share_band)
    size = max(size, rules().least(change.metric or ""))
    if size > 0 and abs(delta) + 1.96 * change.noise <= size:
        band = ledger.derived(
            f"band/{change.metric}/{change.id}", size, inputs=[parts[0].fact],
            formula=f"{rules().relative_band:g} × |{change.metric}| on side A"
            + ("" if size == rules().relative_band * abs(parts[0].value) else f", at least {size:g}"),
        )  # fmt: skip
        return "unchanged", band
    if not change.significant:
        return "inconclusive", None
    if pair.direction not in {"higher_better", "lower_better"}:
        return "changed", None
    return ("improved" if (delta > 0) == (pair.direction == "higher_better") else "regressed"), None


def fewer(rows: Sequence[Row]) -> list[Row]:
    """Without what another row says already, digit by digit, and the neutral rows beyond the number shown."""
    kept, neutral, seen = [], 0, set()
    for row in rows:
        told = (row.group, row.change.from_value, row.change.to_value)
        if told in seen and row.change.delta:
            continue
        seen.add(told)
        setting = row.code == "changed" and row.basis is None
        counted = not row.directed and not setting and row.group != "speed"
        neutral += counted
        if not counted or neutral <= rules().most_neutral_rows:
            kept.append(row)
    return kept


def with_trend(ledger: Ledger, row: Row, sides: tuple[Side, Side]) -> Row:
    """A measure of quality at two steps, which a clear trend over the points between them may settle.

    Only where the ends do not, where the trend goes the same way, and at p < :data:`CLEAR_TREND`, so that both chances
    together stay below one in ten even for a random walk (near one in twenty for anything milder).
    """
    run, (low, high) = sides[0].run, sorted((sides[0].first, sides[1].first))
    settled = row.code != "inconclusive" or not row.directed or row.group not in {"validation", "reward"}
    if settled or not (sides[0].single and sides[1].single) or run is not sides[1].run:
        return row
    steps = [step for step in run.series(row.metric)[0] if low <= step <= high]
    trend = ledger.trend(row.metric, steps, run) if len(steps) >= TREND_POINTS else None
    way = {"rising": 1, "falling": -1}.get(trend.direction or "", 0) if trend is not None else 0
    if sides[0].first > sides[1].first:
        return row
    if trend is None or not way or (trend.p_value or 1) >= CLEAR_TREND or way * float(row.change.delta or 0) <= 0:
        return row
    code: RowCode = "improved" if (way > 0) == (row.direction == "higher_better") else "regressed"
    return replace(row, code=code, trend=trend)


def corrected(ledger: Ledger, rows: Sequence[Row]) -> list[Row]:
    """Rows with p-values corrected for all of them, classes in deciding order."""
    order: list[MetricClass] = ["validation", "reward", "stability", "speed"]
    rows = sorted(rows, key=lambda row: (order.index(row.group), not row.directed))
    tested = [row for row in rows if row.p is not None]
    weights = list(spread([(row.group, row.directed) for row in tested], rules().weight))
    adjusted = dict(zip(map(id, tested), holm([row.p or 0.0 for row in tested], weights), strict=True))
    result = []
    for row in rows:
        p = adjusted.get(id(row))
        if p is None:
            result.append(row)
            continue
        fact = ledger.add(
            ("p_corrected", row.change.id, len(tested)),
            kind="derived", run=row.change.run, name=f"p_corrected/{row.metric}/{row.change.id}", value=p, p_value=p,
            formula=f"Holm 1979 over {len(tested)} metrics, weighted by class", inputs=(row.change.id,),
        )  # fmt: skip
        beyond = p < 0.05
        code: RowCode = row.code
        if not beyond and code in {"improved", "regressed", "changed"}:
            code = "inconclusive"
        result.append(replace(row, p_corrected=fact, significant=beyond, code=code))
    return result
