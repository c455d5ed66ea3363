"""Time left: the interval holds where step times drift, jumped or level off."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from assistant.analysis.time_left import remaining_seconds

from .test_forecast import ar

Shape = Callable[[np.ndarray], np.ndarray]
DRIFTS: dict[str, tuple[Shape, float]] = {
    "stays": (lambda t: 0 * t, 0.93),
    "rises by a half": (lambda t: 50 * t / 200, 0.88),
    "falls": (lambda t: -40 * t / 200, 0.88),
    "rises and levels off": (lambda t: 60 * (1 - np.exp(-3 * t / 200)), 0.93),
    "rises and stops rising": (lambda t: 60 * np.minimum(t / 200, 0.4), 0.93),
    "jumped at step 60": (lambda t: 40.0 * (t > 60), 0.93),
}


@pytest.mark.parametrize("cut", [100, 160])
@pytest.mark.parametrize("name", list(DRIFTS))
def test_remaining_seconds_of_moving_step_times_holds_the_time(name: str, cut: int) -> None:
    shape, least = DRIFTS[name]
    held = 0
    for seed in range(60):
        times = 100 + shape(np.arange(200)) + 8 * ar(200, 0.3, seed)
        found = remaining_seconds(times[:cut], 200 - cut)
        assert found is not None
        held += found[1] <= times[cut:].sum() <= found[2]
    assert held / 60 >= least


def test_remaining_seconds_of_rising_step_times_expects_more_than_the_last_mean() -> None:
    times = 100 + np.arange(100.0) + ar(100, 0.0, 1)
    found = remaining_seconds(times, 50)
    assert found is not None
    assert found[0] == pytest.approx(50 * (200 + 25), rel=0.02)
    assert found[0] > 50 * times[-50:].mean()


def test_remaining_seconds_after_a_jump_forgets_the_level_before() -> None:
    times = np.where(np.arange(80) < 40, 100.0, 200.0) + ar(80, 0.0, 2)
    found = remaining_seconds(times, 80)
    assert found is not None
    assert found[0] == pytest.approx(80 * 200, rel=0.01)
    assert found[1] > 80 * 190


def test_remaining_seconds_expects_a_time_within_its_interval_and_none_below_zero() -> None:
    for seed in range(20):
        times = np.maximum(100 - 2.4 * np.arange(40) + 5 * ar(40, 0.0, seed), 1)
        found = remaining_seconds(times, 200)
        assert found is not None
        assert 0 <= found[1] <= found[0] <= found[2] < math.inf
