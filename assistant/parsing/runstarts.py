"""Where a further run begins in the rows of one log: its counter is back where a training begins.

A training that is taken up again goes back to a checkpoint, well above its first step; a further run begins at the
beginning. What else goes back to the beginning is told apart by what the log shows beside the counter:

- a counter that starts anew each epoch, by an epoch (or tokens, samples, a time elapsed) that goes on where it was, by
  a learning rate that goes on falling, or, where the framework is not known, by three and more stretches over the very
  same steps whose learning rate does not start anew;
- several processes that take turns, by steps that all stand equally often while the log goes back more often than
  one stretch a process would need;
- rows on another axis (an evaluation's batches), by the old count that is taken up behind them;
- a repetition of what was printed before, by its values.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, groupby, islice, pairwise
from operator import gt
from typing import Final

from assistant.model.run import Column, Number, Run

FEWEST_STEPS: Final = 3
"""Distinct steps that both sides must have: fewer are an attempt that broke off, and stay with their run."""

EPOCH: Final = "epoch"
_EPOCHS: Final = re.compile(r"(?i)(?:^|[/_ .])(?:cur(?:rent)?_?)?epochs?(?:_?(?:num(?:ber)?|idx|index))?$")
_CARRIED: Final = re.compile(
    r"(?i)(?:^|[/_ .])(?:global_?steps?|(?:num|input|trained|seen|consumed|train)_(?:input_)?(?:tokens|samples)"
    r"(?:_seen)?|tokens_seen|samples_seen|total_timesteps|trained tokens|num_episodes|"
    r"elapsed(?:_?time)?|time_elapsed|runtime)$"
)
_RATE: Final = re.compile(r"(?i)(?:^|[/_ .])(?:lr|learning[_ ]?rate)(?:$|[(/])")
_EVALUATION: Final = re.compile(r"(?i)^(?:eval|val|test|validation)(?:[/_ -]|$)")
_COUNTED: Final = frozenset({EPOCH, "num_tokens", "num_input_tokens_seen", "global_step", "step"})

_BARS: Final = frozenset({"openrlhf-bars", "bar-postfix"})
"""Formats whose counter may be that of a bar, which starts anew within a training."""

_WINDOW: Final = 50
_SEEN: Final = 1000
_NEARLY: Final = 0.1
_MOST: Final = 1000
_EQUALLY: Final = 0.9
_SAME: Final = 0.7
_FEWEST_CELLS: Final = 10
_COMPARED: Final = 20
_LOOSE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Start:
    """Where a further run begins.

    Attributes:
        row: its first row.
        before: the counter in the row before.
        to: the counter in its first row.
    """

    row: int
    before: Number
    to: Number


@dataclass(frozen=True, slots=True)
class _Count:
    """What counts the rows: ascending rows, the counter in each, and the distance from zero that is a beginning."""

    rows: Sequence[int]
    values: Sequence[Number]
    unit: int


def find_starts(run: Run) -> list[Start]:
    """The rows at which further runs begin; none where the run is one, whatever its steps do.

    Takes time in proportion to the rows.
    """
    try:
        return _find(run)
    except OverflowError:  # an integer that no float holds counts nothing
        return []


def _find(run: Run) -> list[Start]:
    if run.step_axis != "index" and not _goes_back(run.steps):
        return []
    count = _counter(run)
    backs = [at for at, (one, other) in enumerate(pairwise(count.values), 1) if other < one]
    starts = _candidates(run, count, backs) if backs else []
    if not starts or _take_turns(count.values, len(backs)):
        return []
    unknown = run.framework is None or run.format in _BARS  # else it is known what counts
    if len(starts) > 1 and unknown and _counts_within(run, count, starts):
        return []
    kept: list[int] = []
    for at in starts:
        if not _repeats(run, count, kept[-1] if kept else 0, at):
            kept.append(at)
    return [Start(count.rows[at], count.values[at - 1], count.values[at]) for at in kept]


def _goes_back(values: Sequence[Number]) -> bool:
    return any(map(gt, values, islice(values, 1, None)))


def _counter(run: Run) -> _Count:
    """The steps; where rows are only counted, the epochs of training."""
    if run.step_axis != "index":
        return _Count(range(len(run.steps)), run.steps, 1)
    return _Count(*training_epochs(run), 0)


def training_epochs(run: Run) -> tuple[Sequence[int], Sequence[Number]]:
    """The rows of training that print an epoch, and their epochs; evaluations may stand in a block of their own."""
    epochs = run.columns.get(EPOCH)
    if epochs is None:
        return (), ()
    main = [column.rows for key, column in run.columns.items() if not _EVALUATION.match(key) and key not in _COUNTED]
    trained = bytearray(len(run.steps))  # one byte a row, where a set takes sixty
    for rows in {id(rows): rows for rows in main}.values():
        for row in rows:
            trained[row] = 1
    own = bytes(map(trained.__getitem__, epochs.rows))
    if 0 not in own:
        return epochs.rows, epochs.values
    return array("q", compress(epochs.rows, own)), list(compress(epochs.values, own))


def _candidates(run: Run, count: _Count, backs: Sequence[int]) -> list[int]:
    """The places at which the counter is back at a beginning and nothing else goes on."""
    values = count.values
    found: list[int] = []
    begin = 0
    smallest = _smallest(values, 0, backs[0])
    high = values[backs[0] - 1]
    for at, end in pairwise([*backs, len(values)]):
        if (
            len(smallest) == FEWEST_STEPS
            and _is_beginning(count, smallest, high, begin, at)
            and len(_distinct(values, at)) == FEWEST_STEPS
            and not _is_aside(values, begin, at, end)
            and not _is_other_kind(run, count, begin, at, end)
            and not _goes_on(run, count, begin, at)
        ):
            found.append(at)
            if len(found) > _MOST:  # something counts within one
                return []
            begin, smallest, high = at, [], values[end - 1]
        smallest = sorted({*smallest, *_smallest(values, at, end)})[:FEWEST_STEPS]
        high = max(high, values[end - 1])
    return found


def _smallest(values: Sequence[Number], begin: int, end: int) -> list[Number]:
    """The smallest distinct values of a stretch that does not go back."""
    found: list[Number] = []
    at = begin
    while at < end and len(found) < FEWEST_STEPS:
        found.append(values[at])
        at = bisect_right(values, values[at], at, end)
    return found


def _distinct(values: Sequence[Number], at: int) -> set[Number]:
    """The first distinct values from a place on, as many as matter."""
    found: set[Number] = set()
    for begin in range(at, min(at + _SEEN, len(values)), _WINDOW):
        for value in values[begin : begin + _WINDOW]:
            found.add(value)
            if len(found) == FEWEST_STEPS:
                return found
    return found


def _gap(values: Sequence[Number], at: int) -> float:
    """The usual distance between steps that follow each other from a place on."""
    gaps = sorted(other - one for one, other in pairwise(values[at : at + _WINDOW]) if other > one)
    return gaps[len(gaps) // 2] if gaps else 0


def _is_beginning(count: _Count, smallest: Sequence[Number], high: Number, begin: int, at: int) -> bool:
    """Whether the counter is back at its run's first step, or a little behind it, where a training can begin.

    A log may begin at a validation before the training, at step 0, and the next one at step 1; and the first line may
    be lost. Within an excerpt that begins far from zero, going back to its beginning tells no further run: a training
    that is taken up again twice from one checkpoint does that.
    """
    low, to = smallest[0], count.values[at]
    slack = min(2 * _gap(count.values, begin), _NEARLY * (high - low))
    allowed = smallest[1] if low == 0 else low
    first = max(count.unit, _gap(count.values, at) * (1 if count.unit else _LOOSE))
    return to <= allowed + slack and to <= first + slack


def _is_aside(values: Sequence[Number], begin: int, at: int, end: int) -> bool:
    """Whether the count before a place is taken up again behind it: what stands between is on another axis."""
    before = values[at - 1]
    again = bisect_right(values, before, at, end)
    if again in (at, end):
        return False
    gap = _gap(values, max(begin, at - _WINDOW))
    leap = values[again] - values[again - 1]
    taken_up = (
        values[again] - before <= 2 * gap
        and leap > 2 * gap
        and leap > 3 * _gap(values[at : min(again, at + _WINDOW)], 0)
    )
    after = bisect_right(values, values[again], again, end)
    return taken_up and (after == end or values[after] - values[again] <= 2 * gap)


def _is_other_kind(run: Run, count: _Count, begin: int, at: int, end: int) -> bool:
    """Whether what begins is evaluations alone, beside a training that prints none of their metrics."""
    first, middle = count.rows[begin], count.rows[at]
    last = count.rows[end] if end < len(count.rows) else len(run.steps)
    after = {key for key, column in run.columns.items() if _has(column, middle, last)}
    return all(_EVALUATION.match(key) for key in after) and not any(
        _has(run.columns[key], first, middle) for key in after
    )


def _has(column: Column, begin: int, end: int) -> bool:
    place = bisect_left(column.rows, begin)
    return place < len(column.rows) and column.rows[place] < end


def _goes_on(run: Run, count: _Count, begin: int, at: int) -> bool:
    """Whether something beside the counter goes on where it was: an epoch, a number of tokens, the learning rate."""
    first, row = count.rows[begin], count.rows[at]
    for key, column in run.columns.items():
        epoch = _EPOCHS.search(key) is not None
        rate = not epoch and _RATE.search(key) is not None
        if not (epoch or rate or _CARRIED.search(key)) or key == run.step_axis:
            continue
        place = bisect_left(column.rows, row)
        own = column.values[max(bisect_left(column.rows, first), place - _WINDOW) : place]
        after = column.values[place : place + FEWEST_STEPS]
        if not own or not after or (count.unit == 0 and key == EPOCH):
            continue
        if rate:
            found = len(own) >= FEWEST_STEPS and len(after) == FEWEST_STEPS and _falls_on(own, after)
        else:
            found = not _goes_back(own) and (after[0] > own[-1] if epoch else own[0] < own[-1] <= after[0])
        if found:
            return True
    return False


def _falls_on(own: Sequence[Number], after: Sequence[Number]) -> bool:
    """Whether a learning rate that fell to the end falls on at the same pace."""
    tail = [*own[-FEWEST_STEPS:], *after]
    falls = [one - other for one, other in pairwise(tail)]
    return all(fall > 0 for fall in falls) and max(falls) <= 2 * min(falls)  # no comparison holds for NaN


def _take_turns(values: Sequence[Number], backs: int) -> bool:
    """Whether processes print the same steps in turns, each a few at a time."""
    often = Counter(sum(1 for _ in same) for _, same in groupby(sorted(values)))
    times, steps = often.most_common(1)[0]
    return times > 1 and steps >= _EQUALLY * often.total() and backs > times - 1


def _counts_within(run: Run, count: _Count, starts: Sequence[int]) -> bool:
    """Whether the counter starts anew within one training: the same steps each time, and no learning rate anew."""
    parts = [set(count.values[begin:end]) for begin, end in pairwise([0, *starts, len(count.values)])]
    if any(part != parts[0] for part in parts[1:-1]) or not parts[-1] <= parts[0]:
        return False
    rates = [column for key, column in run.columns.items() if _RATE.search(key)]
    return not any(_starts_anew(column, [count.rows[at] for at in (0, *starts)]) for column in rates)


def _starts_anew(rate: Column, rows: Sequence[int]) -> bool:
    """Whether a learning rate that changes is the same at the beginning of each stretch."""
    heads = {_head(rate, row) for row in rows}
    changes = len(set(rate.values[: bisect_left(rate.rows, rows[1])])) > 1
    return changes and len(heads) == 1 and len(heads.pop()) == FEWEST_STEPS


def _head(column: Column, row: int) -> tuple[Number, ...]:
    place = bisect_left(column.rows, row)
    return tuple(column.values[place : place + FEWEST_STEPS])


def _repeats(run: Run, count: _Count, begin: int, at: int) -> bool:
    """Whether the values of the first steps that both sides have are the same ones, for the most part.

    Only numbers that are not whole are compared: counts, limits and zeros are the same in any two runs.
    """
    known = dict(zip(count.values[begin : min(at, begin + _WINDOW)], count.rows[begin:at], strict=False))
    after = zip(count.values[at : at + _WINDOW], count.rows[at : at + _WINDOW], strict=True)
    pairs = list(islice(((known[step], row) for step, row in after if step in known), _COMPARED))
    same = cells = 0
    for key, column in run.columns.items():
        if _RATE.search(key) or _EPOCHS.search(key):
            continue
        for one, other in _both(column, pairs):
            if one % 1 or other % 1:
                cells += 1
                same += one == other
    return cells >= _FEWEST_CELLS and same >= _SAME * cells


def _both(column: Column, pairs: Iterable[tuple[int, int]]) -> list[tuple[Number, Number]]:
    """The values of a column in pairs of rows that both have one."""
    rows, found = column.rows, []
    for one, other in pairs:
        here, there = bisect_left(rows, one), bisect_left(rows, other)
        if there < len(rows) and rows[here] == one and rows[there] == other:
            found.append((column.values[here], column.values[there]))
    return found
