"""Onsets: a step, a ramp and a bend are found where they begin; noise alone is no argument for one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.analysis.diagnosis.onset import change, departs, first_for_good, scatter, settled, thinned, top
from assistant.analysis.diagnosis.statistics import View, errors_between, known
from assistant.analysis.series import Values

N = 100


def noise(seed: int, n: int = N) -> Values:
    return np.random.default_rng(seed).normal(0, 1, n)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), at=st.integers(15, 85), size=st.floats(5, 50), up=st.booleans())
def test_change_step_is_found_where_it_is(seed: int, at: int, size: float, up: bool) -> None:
    values = noise(seed)
    values[at:] += size if up else -size
    found = change(values, "up" if up else "down")
    assert found is not None
    assert abs(found.index - at) <= 5
    assert found.size == pytest.approx(size if up else -size, rel=0.5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), at=st.integers(20, 60), width=st.integers(8, 35))
def test_change_ramp_is_found_where_it_begins(seed: int, at: int, width: int) -> None:
    values = noise(seed) + 20 * np.clip((np.arange(N) - at) / width, 0, 1)
    found = change(values, "up")
    assert found is not None
    assert abs(found.index - at) <= 10


@given(seed=st.integers(0, 10_000), shift=st.floats(-1e6, 1e6), scale=st.floats(1e-6, 1e6))
@settings(max_examples=40, deadline=None)
def test_change_does_not_depend_on_units(seed: int, shift: float, scale: float) -> None:
    values = noise(seed)
    values[40:] += 12
    first, second = change(values, "up"), change(values * scale + shift * scale, "up")
    assert first is not None
    assert second is not None
    assert abs(first.index - second.index) <= 1


def test_change_in_the_other_direction_is_not_taken_for_it() -> None:
    values = noise(1)
    values[50:] += 30
    down = change(values, "down")
    assert down is None or down.gain < 0.1


@pytest.mark.parametrize("values", [np.ones(50), np.array([1.0, 2.0, 3.0]), np.empty(0)])
def test_change_constant_or_short_series_has_none(values: Values) -> None:
    assert change(values) is None


def test_change_lone_spike_does_not_move_the_onset() -> None:
    values = noise(2)
    values[60:] += 10
    values[20] += 500
    found = change(values, "up")
    assert found is not None
    assert abs(found.index - 60) <= 5


def test_settled_draws_only_outliers_in() -> None:
    values = noise(3)
    values[30] = 1000.0
    calm = settled(values)
    assert calm[30] < 20
    assert np.count_nonzero(calm != values) <= 5


@pytest.mark.parametrize(
    ("held", "place"), [("0001111", 3), ("0101111", 3), ("1111111", 0), ("0000000", None), ("1111100", None)]
)
def test_first_for_good_is_where_it_begins_to_hold(held: str, place: int | None) -> None:
    assert first_for_good(np.array([int(c) for c in held], dtype=bool), share=0.9) == place


def test_top_is_the_highest_stretch_not_the_highest_point() -> None:
    values = np.array([1, 1, 9, 1, 1, 3, 3, 3, 1, 1], dtype=float)
    assert top(values) in {5, 6, 7}


@pytest.mark.parametrize("at", [30, 45, 60])
def test_departs_bend_is_found_where_the_line_is_left(at: int) -> None:
    steps = np.arange(N)
    values = 0.01 * steps + np.where(steps > at, 0.003 * (steps - at) ** 2.0, 0) + 0.002 * noise(4)
    found = departs(steps, values)
    assert found is not None
    assert abs(found - at) <= 10


def test_departs_straight_line_never_does() -> None:
    steps = np.arange(N)
    assert departs(steps, 0.01 * steps + 0.002 * noise(5)) is None


@pytest.mark.parametrize("n", [10, 240, 241, 10_000])
def test_thinned_keeps_the_shape_within_its_points(n: int) -> None:
    data, width = thinned(np.arange(n, dtype=float))
    assert len(data) <= 240
    assert (len(data) - 1) * width < n <= len(data) * width
    assert np.all(np.diff(data) > 0)


def test_scatter_sees_noise_and_not_drift() -> None:
    drift = 5.0 * np.arange(2000)
    assert scatter(noise(6, 2000) + drift) == pytest.approx(1.0, rel=0.15)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_errors_between_two_halves_of_noise_is_small(seed: int) -> None:
    values = noise(seed, 60)
    assert errors_between(values[:30], values[30:]) < 5


def test_errors_between_correlated_noise_is_not_taken_for_a_change() -> None:
    """A slow wander crosses the same gap with fewer independent points, so it must count for less."""
    far = []
    for seed in range(40):
        steps = noise(seed, 60)
        wander = np.zeros(60)
        for i in range(1, 60):
            wander[i] = 0.8 * wander[i - 1] + steps[i]
        far.append(errors_between(wander[:30], wander[30:]))
    assert np.quantile(far, 0.9) < 4


# -- statistics --------------------------------------------------------------------------------------------


def view(values: Values, at: int, **more: object) -> View:
    return View(np.arange(len(values)), np.asarray(values, dtype=float), at, **more)  # type: ignore[arg-type]


def value(name: str, values: Values, at: int, **more: object) -> float | None:
    found = known()[name](view(values, at, **more))
    return None if found is None else found.value


STEP = np.concatenate([np.full(20, 2.0), np.full(20, 6.0)])
RAMP = np.concatenate([np.full(20, 2.0), np.linspace(2, 6, 20)])


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("ratio", STEP, 3.0),
        ("shift", STEP, 4.0),
        ("end_ratio", STEP, 3.0),
        ("end_shift", STEP, 4.0),
        ("level", STEP, 6.0),
        ("start", STEP, 2.0),
        ("outset", STEP, 2.0),
        ("end", STEP, 6.0),
        ("change", STEP, 4.0),
        ("growth", STEP, 3.0),
        ("peak", STEP, 3.0),
        ("fall", STEP[::-1], -4.0),
        ("rise", STEP, 3.0),
        ("abrupt", STEP, 1.0),
        ("still", STEP, 0.0),
        ("share", STEP, 1.0),
        ("constant", STEP, 1.0),
        ("height_before", STEP, 1 / 3),
        ("points", STEP, 20.0),
        ("against_start", STEP, 3.0),
    ],
)
def test_statistic_of_a_step_is_exact(name: str, values: Values, expected: float) -> None:
    assert value(name, values, 20) == pytest.approx(expected)


def test_statistic_tells_a_step_from_a_ramp() -> None:
    sudden, gradual = value("abrupt", STEP, 20), value("abrupt", RAMP, 20)
    assert sudden == pytest.approx(1.0)
    assert gradual is not None
    assert gradual < 0.2
    growing = value("still", RAMP, 20)
    assert growing is not None
    assert growing > 0.3


def test_statistic_tells_a_line_from_growth_that_speeds_up() -> None:
    line, faster = np.arange(60.0), np.exp(np.arange(60) / 8)
    assert value("accelerates", line, 20) == pytest.approx(1.0, rel=0.1)
    found = value("accelerates", faster, 20)
    assert found is not None
    assert found > 3


@pytest.mark.parametrize("name", sorted(known()))
@pytest.mark.parametrize("at", [0, 1, 5])
@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [1.0, 2.0, 1.0], [0.0] * 6, [5.0] * 40])
def test_statistic_of_few_or_equal_points_is_a_number_or_nothing(name: str, at: int, values: list[float]) -> None:
    data = np.asarray(values)
    found = known()[name](view(data, min(at, len(data)), other=data))
    assert found is None or isinstance(found.value, float)
