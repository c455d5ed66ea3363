"""Values that stand far above those around them and go back at once: one spike, or several of a spiky series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from assistant.analysis.diagnosis import role
from assistant.analysis.ledger import Ledger
from assistant.analysis.moves import lone_spike
from assistant.analysis.series import Series, Values, series
from assistant.model import Fact, Run
from assistant.model.fact import Severity

#: Roles in which spikes are told.
SPIKING: Final = ("grad_norm", "policy_loss", "training_loss", "old_kl", "ref_kl")
#: Fewest values among which a single one far from all others is told.
LEAST_LONE: Final = 12
#: A spike exceeds the median size of so many nearest values (before and after) by this factor …
NEAREST, TIMES = 20, 10.0
#: … and one of so many values after it is below this multiple of that median.
WITHIN, BACK = 3, 3.0
#: Largest share of a series that may be spikes: above it, that is how the series scatters.
MOST: Final = 0.1
#: Values that are looked at together, so that a long series needs little memory.
CHUNK: Final = 1 << 16
#: A KL to the reference, in nats a token, from which repeated spikes are a warning (a typical token is 1.6 times as
#: likely as under the reference; the bound above which the rule on a distant reference looks).
LARGE_KL: Final = 0.5
#: Spikes that a sentence names.
NAMED: Final = ("value", "second", "third")


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a metric's spikes: the phrase's rule, severity, metric, steps and facts."""

    rule: str
    severity: Severity
    metric: str
    steps: tuple[int, ...]
    facts: tuple[tuple[str, Fact], ...]


def spikes(values: Values) -> tuple[list[int], Values]:
    """Places of values that exceed ten times the median size of the twenty around them and go back within three.

    Where ten or more values are before one, it exceeds their median (of twenty at most) by that factor, too; in a
    series of both signs also the largest other size before it.

    Args:
        values: shape (n,), finite, in the order of steps; sizes (absolute values) are compared.

    Returns:
        The places, ascending, and the median size about each place, shape (n,). No place below 21 values, or where
        more than a tenth of the values are such: a series that scatters so has no spikes.
    """
    n = len(values)
    sizes = np.abs(values)
    around = np.empty(n)
    if n <= NEAREST:
        around.fill(float(np.median(sizes)) if n else 0.0)
        return [], around
    windows = np.lib.stride_tricks.sliding_window_view(sizes, NEAREST + 1)
    middle = np.concatenate([np.median(windows[at : at + CHUNK], axis=1) for at in range(0, len(windows), CHUNK)])
    around = np.concatenate([np.repeat(middle[:1], NEAREST // 2), middle, np.repeat(middle[-1:], NEAREST // 2)])
    high = np.flatnonzero((around > 0) & (sizes > TIMES * around))
    found = [int(at) for at in high if back_after(sizes, around, int(at)) is not None and _above_before(sizes, int(at))]
    if found and float(values.min()) < 0 < float(values.max()):
        found = _beyond_earlier(sizes, found)
    return (found if len(found) <= MOST * n else []), around


def _beyond_earlier(sizes: Values, found: list[int]) -> list[int]:
    """Of a series of both signs, whose size near zero says little: the spikes larger than any other size before."""
    ordinary = sizes.copy()
    ordinary[found] = 0.0
    highest = np.maximum.accumulate(ordinary)
    return [at for at in found if sizes[at] > highest[at]]


def _above_before(sizes: Values, at: int) -> bool:
    """Whether a value stands as far above those before it: the last of a level that then falls away does not."""
    before = sizes[max(0, at - NEAREST) : at]
    return len(before) < NEAREST // 2 or bool(sizes[at] > TIMES * np.median(before))


def back_after(sizes: Values, around: Values, at: int) -> int | None:
    """The first of the three places after a spike that is near the level again; ``None`` where none is."""
    near = np.flatnonzero(sizes[at + 1 : at + 1 + WITHIN] < BACK * around[at])
    return at + 1 + int(near[0]) if len(near) else None


def told_spikes(ledger: Ledger, run: Run, wanted: set[int], told: Iterable[str]) -> list[Told]:
    """What is said of the spikes of gradient norms, losses and KLs at some steps, where no other rule speaks of them.

    Args:
        ledger: receives the facts.
        run: the run; a spike is judged against the values around it, whichever steps are wanted.
        wanted: steps that are looked at.
        told: metrics that other rules speak of.
    """
    known, found = set(told), []
    for name in SPIKING:
        held = role(run, name)
        metric = None if held is None or not held.spelling.plain else held.metrics[0]
        if metric is None or metric in known:
            continue
        one = _lone(ledger, run, metric, series(run, metric).at(sorted(wanted)))
        one = one or _several(ledger, run, metric, wanted, kl=_per_token(run, metric))
        if one is not None:
            known.add(metric)
            found.append(one)
    return found


def _per_token(run: Run, metric: str) -> bool:
    held = role(run, "ref_kl_token")
    return held is not None and held.spelling.plain and metric == held.metrics[0]


def _lone(ledger: Ledger, run: Run, metric: str, points: Series) -> Told | None:
    """A single value far from all others, of those looked at."""
    place = lone_spike(points.values) if len(points) >= LEAST_LONE else None
    if place is None:
        return None
    rest = np.delete(np.arange(len(points)), place)
    low, high = rest[points.values[rest].argmin()], rest[points.values[rest].argmax()]
    places = {"value": place, "low": int(low), "high": int(high)}
    facts = [(key, ledger.value(metric, int(points.steps[at]), run)) for key, at in places.items()]
    shown = tuple((key, fact) for key, fact in facts if fact is not None)
    return Told("lone_spike", "info", metric, (int(points.steps[place]),), shown)


def _several(ledger: Ledger, run: Run, metric: str, wanted: set[int], *, kl: bool) -> Told | None:
    """The spikes among the steps looked at; of a single step, what it is and how many there are in all."""
    points = series(run, metric)
    places, around = spikes(points.values)
    steps = {at: int(points.steps[at]) for at in places}
    mine = [at for at in places if steps[at] in wanted]
    if not mine:
        return None
    sizes = np.abs(points.values)
    single = len(wanted) == 1
    ranked = sorted(places if single else mine, key=lambda at: (-float(sizes[at]), at))
    lead = mine[0] if single else ranked[0]
    value = ledger.value(metric, steps[lead], run)
    back = back_after(sizes, around, lead)
    after = None if back is None else ledger.value(metric, int(points.steps[back]), run)
    if value is None or after is None:
        return None
    level = ledger.derived(
        f"median_around/{metric}", float(around[lead]), step=steps[lead], inputs=[value], run=run,
        formula=f"median size of the {NEAREST + 1} values of {metric} about step {steps[lead]}",
    )  # fmt: skip
    count = ledger.count("spikes", len(ranked), metric=metric, first_step=min(wanted), last_step=max(wanted))
    facts = [("value", value), ("level", level), ("after", after)]
    severity: Severity = "warning" if kl and len(ranked) > 1 and float(sizes[ranked[0]]) >= LARGE_KL else "info"
    if len(ranked) == 1:
        return Told("spike", "info", metric, (steps[lead],), tuple(facts))
    if single:
        if ranked[0] == lead:
            return Told("spike_largest", severity, metric, (steps[lead],), (*facts, ("count", count)))
        largest = ledger.value(metric, steps[ranked[0]], run)
        named = (*facts, ("count", count), *((("largest", largest),) if largest is not None else ()))
        return Told("spike_of_many", severity, metric, (steps[lead],), named)
    for name, at in zip(NAMED[1:], ranked[1:], strict=False):
        fact = ledger.value(metric, steps[at], run)
        if fact is None:
            return None
        facts.append((name, fact))
    rule = "spikes" if len(ranked) >= len(NAMED) else "spikes_two"
    return Told(rule, severity, metric, tuple(steps[at] for at in mine), (*facts, ("count", count)))
