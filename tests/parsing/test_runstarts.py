"""Where another run begins in one log, and where what goes back to the beginning is none."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import pytest

from assistant.model.run import Column, Number, Run
from assistant.parsing.runstarts import find_starts
from tests.timing import assert_in_proportion


def run_of(
    steps: Sequence[int],
    more: Mapping[str, Sequence[Number | None]] | None = None,
    *,
    framework: str | None = None,
    format: str = "csv",
    loss: bool = True,
) -> Run:
    """A run with a loss that no two rows share, and further columns (``None``: no value in that row)."""
    rng = random.Random(7)
    columns: dict[str, Sequence[Number | None]] = {"loss": [rng.random() for _ in steps]} if loss else {}
    held = {}
    for key, values in (columns | dict(more or {})).items():
        rows = [row for row, value in enumerate(values) if value is not None]
        held[key] = Column(rows, [values[row] for row in rows], [row + 1 for row in rows])  # type: ignore[misc]
    return Run("r0", "x", format, framework, "step", tuple(steps), tuple(range(1, len(steps) + 1)), held)


def starts(steps: Iterable[int], more: Mapping[str, Sequence[Number | None]] | None = None, **known: str) -> list[int]:
    return [start.row for start in find_starts(run_of(list(steps), more, **known))]  # type: ignore[arg-type]


def span(first: int, last: int, gap: int = 1) -> list[int]:
    return list(range(first, last + 1, gap))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (span(1, 60), span(1, 40)),
        (span(1, 40), span(1, 60)),
        (span(0, 60), span(1, 40)),
        (span(1, 60), span(0, 40)),
        (span(10, 600, 10), span(10, 400, 10)),
        (span(0, 600, 10), span(10, 400, 10)),
        ([1, *span(10, 600, 10)], [1, *span(10, 400, 10)]),
        (span(500, 560), span(1, 30)),
        (span(2048, 204800, 2048), span(2048, 40960, 2048)),
        (span(1, 60), span(3, 40)),
        ([1, 2, 3], [1, 2, 3]),
        (sorted(span(1, 30) * 2), sorted(span(1, 20) * 2)),
    ],
)
def test_find_starts_steps_that_begin_anew_are_another_run(one: list[int], other: list[int]) -> None:
    assert starts([*one, *other]) == [len(one)]


@pytest.mark.parametrize(
    "steps",
    [
        span(1, 60),
        [*span(1, 60), *span(50, 80)],
        [*span(1, 60), *span(51, 80), *span(51, 90)],
        [*span(55, 60), *span(50, 80)],
        [*span(181, 220), *span(181, 260)],
        [1, 2, *span(1, 40)],
        [*span(1, 40), 1, 2],
        [step for step in span(1, 30) for _ in range(4)],
        [part for n in range(0, 30, 3) for _ in range(2) for part in (n, n + 1, n + 2)],
        [*span(100, 300, 100), 1, *span(400, 600, 100), 2, *span(700, 900, 100)],
        [*span(100, 300, 100), 1, 2, 3, *span(400, 600, 100)],
        span(0, 468, 10) * 5,
    ],
    ids=[
        "rising",
        "taken up again",
        "twice",
        "excerpt",
        "twice from one checkpoint",
        "broke off at once",
        "two steps more",
        "copies",
        "processes in turns",
        "an axis of evaluations",
        "a block on another axis",
        "anew each epoch",
    ],
)
def test_find_starts_one_run_stays_one(steps: list[int]) -> None:
    assert starts(steps) == []


def test_find_starts_three_runs_of_different_length_are_three() -> None:
    assert starts([*span(1, 30), *span(1, 20), *span(1, 40)]) == [30, 50]


def test_find_starts_attempt_that_broke_off_stays_with_the_run_that_follows() -> None:
    assert starts([*span(1, 30), 1, 2, *span(1, 40)]) == [30]


def test_find_starts_counter_beside_an_epoch_that_goes_on_is_one_run() -> None:
    assert starts(span(0, 99) * 2, {"epoch": [1] * 100 + [2] * 100}) == []
    assert starts(span(0, 99) * 2, {"train/epoch": [n / 100 for n in range(200)]}) == []
    assert starts(span(0, 99) * 2, {"epoch": [n / 100 for n in range(100)] * 2}) == [100]


def test_find_starts_counter_beside_tokens_that_go_on_is_one_run() -> None:
    assert starts(span(0, 99) * 2, {"num_tokens": span(1, 200)}) == []
    assert starts(span(0, 99) * 2, {"num_tokens": span(1, 100) * 2}) == [100]


def test_find_starts_learning_rate_that_falls_on_is_one_run() -> None:
    rates = [1e-4 * (1 - n / 200) for n in range(200)]
    assert starts(span(1, 100) * 2, {"lr": rates}) == []
    assert starts(span(1, 100) * 2, {"lr": rates[:100] * 2}) == [100]


def test_find_starts_equal_stretches_whose_learning_rate_begins_anew_are_runs() -> None:
    rates = [1e-4 * (1 - n / 200) for n in range(100)]
    assert starts(span(1, 100) * 3) == []
    assert starts(span(1, 100) * 3, {"lr": rates * 3}) == [100, 200]
    assert starts(span(1, 100) * 3, {"lr": [1e-6] * 300}) == []


def test_find_starts_equal_stretches_of_a_framework_that_counts_throughout_are_runs() -> None:
    assert starts(span(1, 60) * 3, framework="verl", format="verl") == [60, 120]
    assert starts(span(1, 60) * 3, framework="OpenRLHF", format="openrlhf-bars") == []


def test_find_starts_repetition_of_the_same_values_is_no_run() -> None:
    values = [n / 7 for n in range(1, 61)]
    assert starts(span(1, 60) * 2, {"reward": values * 2, "kl": values * 2, "entropy": values * 2}) == []
    assert starts(span(1, 60) * 2, {"reward": values * 2}) == [60]


def test_find_starts_evaluations_alone_are_no_run() -> None:
    none: list[Number | None] = [None]
    train = [n / 7 for n in range(1, 61)]
    checks = [n / 3 for n in range(1, 11)]
    more = {"train/reward": train + none * 10, "eval/acc": none * 60 + checks}
    assert find_starts(run_of([*span(1, 60), *span(1, 10)], more, loss=False)) == []
    stages = {"sft/nll": train + none * 10, "ppo/reward": none * 60 + checks}
    assert [start.row for start in find_starts(run_of([*span(1, 60), *span(1, 10)], stages, loss=False))] == [60]


def test_find_starts_numbers_that_no_float_holds_do_not_matter() -> None:
    assert starts([*span(1, 9), 10**400, *span(1, 9)]) in ([], [10])
    assert starts(span(1, 9) * 2, {"lr": [10**400 - n * 10**398 for n in range(17)] + [0.5]}) in ([], [9])
    assert starts(span(1, 9) * 2, {"epoch": [float("nan"), float("inf")] * 9}) == [9]


@pytest.mark.parametrize(
    "steps",
    [
        [n % 100 for n in range(300_000)],
        [n % 2 for n in range(300_000)],
        [n for size in range(1100) for n in range(size)],
        [random.Random(3).randrange(10**6) for _ in range(1000)] * 300,
    ],
)
def test_find_starts_many_places_that_go_back_take_little_time(steps: list[int]) -> None:
    assert find_starts(run_of(steps)) == []
    assert_in_proportion(find_starts, lambda size: run_of(steps[:size]), len(steps))
