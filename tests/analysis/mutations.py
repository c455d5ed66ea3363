"""Logs with one digit of one cell changed, to measure what the identities notice."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assistant.analysis import Ledger
from assistant.analysis.identities.constants import constants
from assistant.analysis.identities.grid import grid_of
from assistant.analysis.identities.registry import identities
from assistant.analysis.identities.relations import outcomes
from assistant.analysis.identities.verifying import Violation, verify
from assistant.model import Column, Number, Run


@dataclass(frozen=True)
class Mutation:
    """An edited cell: ``digit`` counts from the first significant one, from 1."""

    metric: str
    step: int
    before: Number
    after: Number
    digit: int
    run: Run


def change_digit(value: Number, digit: int, dice: random.Random) -> Number | None:
    """The value with another digit in one place; ``None`` if it has no such digit."""
    text = repr(value)
    mantissa, mark, power = text.partition("e")
    places = [i for i, c in enumerate(mantissa) if c.isdigit()]
    first = next((at for at, i in enumerate(places) if mantissa[i] != "0"), None)
    if first is None or first + digit - 1 >= len(places):
        return None
    at = places[first + digit - 1]
    other = dice.choice([d for d in "123456789" if d != mantissa[at]])
    changed = mantissa[:at] + other + mantissa[at + 1 :] + mark + power
    return type(value)(changed) if isinstance(value, int) else float(changed)


def with_cell(run: Run, metric: str, place: int, value: Number) -> Run:
    """The run with another value in one place of a column."""
    column = run.columns[metric]
    values = list(column.values)
    values[place] = value
    columns = {**run.columns, metric: Column(column.rows, tuple(values), column.lines)}
    return replace(run, columns=columns)


def covered(run: Run) -> dict[str, set[int]]:
    """Metric → steps at which some identity that the log has tests it."""
    grid, found = grid_of(run), constants(run)
    result: dict[str, set[int]] = {}
    for identity in identities().values():
        if identity.applies(run.framework):
            for outcome in outcomes(grid, identity, found):
                if outcome.applies and outcome.relation.kind != "at_most":
                    steps = {int(step) for step in grid.steps[outcome.tested]}
                    for metric in outcome.metrics:
                        result.setdefault(metric, set()).update(steps)
    return result


def mutations(run: Run, n: int, dice: random.Random, *, digits: int = 3) -> Iterator[Mutation]:
    """``n`` mutations of random cells (each step printed once), in one of the first significant digits."""
    metrics = list(run.columns)
    made = 0
    for _ in range(20 * n):
        if made == n:
            return
        metric = dice.choice(metrics)
        column = run.columns[metric]
        place = dice.randrange(len(column.values))
        step = run.steps[column.rows[place]]
        if run.steps.count(step) > 1:
            continue
        digit = dice.randint(1, digits)
        after = change_digit(column.values[place], digit, dice)
        if after is None or after == column.values[place]:
            continue
        made += 1
        yield Mutation(metric, step, column.values[place], after, digit, with_cell(run, metric, place, after))


def caught(mutation: Mutation) -> list[Violation]:
    """The violations that name the edited cell."""
    found = verify(Ledger([mutation.run]))
    return [v for v in found if mutation.step in v.steps and mutation.metric in v.metrics]


def main() -> None:
    """Prints the share caught over cases of the simulated suite: ``python -m tests.analysis.mutations 60 6``."""
    from assistant.parsing import parse_text
    from evals.diagnosis.cases import runs

    cases, each = int(sys.argv[1]), int(sys.argv[2])
    dice = random.Random(11)
    total: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    suspects = 0
    for case in runs(5, cases):
        run = parse_text(case.text).runs[0]
        reach = covered(run)
        for mutation in mutations(run, each, dice):
            found = caught(mutation)
            names = ["all", case.framework, f"digit {mutation.digit}"]
            inside = mutation.step in reach.get(mutation.metric, ())
            names += [f"covered {case.framework}", "covered"] if inside else ["not covered"]
            for name in names:
                total[name] += 1
                hit[name] += bool(found)
            if inside and not found:
                missed[f"{case.framework} {mutation.metric}"] += 1
            suspects += any(v.suspect == mutation.metric for v in found)
    for name in sorted(total):
        print(f"{name:20} {hit[name]:5} / {total[name]:5}  {hit[name] / total[name]:.3f}")
    print("suspect named rightly", suspects, "of", hit["all"])
    print(missed.most_common(25))


if __name__ == "__main__":
    main()
