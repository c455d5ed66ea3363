"""The fit of the widening of comparisons: its draws are the product's sides, its factor the least that is enough."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.analysis import compare_noise
from assistant.analysis.compare_noise import LARGEST, Level, level
from assistant.analysis.noise import pair_noise
from evals import compare_widths
from evals.trend_calibration import noise


def test_far_draw_is_the_difference_and_the_levels_of_the_product() -> None:
    found = compare_widths.far_draw(8, 30, 3, np.random.default_rng(1))
    series = noise(np.random.default_rng(1), 3, 46, LARGEST)
    for (delta, a, b), x in zip(found, series, strict=True):
        assert delta == pytest.approx(abs(x[38:].mean() - x[:8].mean()))
        assert (a, b) == (level(x, (0, 8), (0, 38)), level(x, (38, 46), (8, 46)))


def test_least_factor_is_the_least_that_misses_no_more_than_the_aim() -> None:
    rng = np.random.default_rng(2)
    draws = [(abs(float(d)), Level(0.4, 60.0, 0.9), Level(0.4, 60.0, 0.9)) for d in rng.standard_normal(1000)]
    factor = compare_widths.least_factor([draws], 0.05)
    assert compare_widths.missed(draws, factor) <= 0.05 < compare_widths.missed(draws, factor - 0.01)
    assert factor == pytest.approx(np.sqrt(1 / 0.8), abs=0.08)


def test_missed_widens_no_side_that_is_weakly_correlated() -> None:
    draws = [(2.1, Level(0.5, 1e6, 0.5), Level(0.5, 1e6, 0.7))]
    assert compare_widths.missed(draws, 5.0) == 1
    assert compare_widths.missed([(2.1, Level(0.5, 1e6, 0.9), Level(0.5, 1e6, 0.7))], 5.0) == 0


def test_largest_near_is_the_largest_of_a_factor_and_its_neighbours() -> None:
    assert [compare_widths.largest_near([1.1, 1.0, 1.3, 1.2], k) for k in range(4)] == [1.1, 1.3, 1.3, 1.3]


def test_widened_table_holds_the_sizes_that_are_fitted() -> None:
    assert tuple(compare_noise.WIDENED) == compare_widths.SIZES


@pytest.mark.parametrize("gap", [1, 30])
def test_step_pair_is_judged_as_compare_does(gap: int) -> None:
    x = noise(np.random.default_rng(3), 1, 40, 0.5)[0]
    delta, found = compare_widths.step_pair(gap)(x, x, np.random.default_rng(4))
    i = int(np.random.default_rng(4).integers(0, 40 - gap))
    assert delta == pytest.approx(abs(x[i + gap] - x[i]))
    assert found is not None
    told = pair_noise(x, i, i + gap)
    assert told is not None
    assert found == told[0]


@pytest.mark.parametrize(("problems", "samples"), [(8, 16), (30, 4), (100, 4)])
@pytest.mark.parametrize("ease", [(0.5, 1.0), (1.0, 1.0)])
def test_interval_of_resampled_validations_is_held_as_often_as_it_says(
    problems: int, samples: int, ease: tuple[float, float]
) -> None:
    held = float(compare_widths.validation_cell(problems, samples, ease, 60).split()[0])
    assert 93 - 1.3 <= held <= 97 + 1.0  # two standard errors of 1200 pairs
