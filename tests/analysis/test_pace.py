"""Curvature: lines are seldom called bent, curves are, and a broken line is told from a curve."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assistant.analysis.pace import curvature, is_curve

from .test_forecast import ar


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_curvature_of_lines_seldom_bends(rho: float) -> None:
    bent = sum(curvature(np.arange(60), 0.3 * np.arange(60) + ar(60, rho, seed)).bends() for seed in range(300))
    assert bent <= 0.05 * 300


def test_curvature_of_a_parabola_bends_and_reaches_to_its_side() -> None:
    t = np.arange(60.0)
    found = curvature(t, (t / 20) ** 2 + 0.1 * ar(60, 0.0, 1))
    assert found.bends()
    assert found.size == pytest.approx(1 / 400, rel=0.1)
    assert found.bow(90) > 0
    assert curvature(t, -((t / 20) ** 2) + 0.1 * ar(60, 0.0, 1)).bow(90) < 0


def test_curvature_of_a_line_leaves_open_what_noise_does_to_it() -> None:
    """The parabola through independent noise strays by one error of it; what is left open is some times that, and more
    so further ahead: 2.5 times at the end, 3.5 times half the length on."""
    t = np.arange(60.0)
    found = [curvature(t, ar(60, 0.0, seed)) for seed in range(400)]
    for step, errors in ((59.5, 2.5), (89.5, 3.5)):
        strays = math.sqrt(float(np.mean([one.bow(step) ** 2 for one in found])))
        assert np.mean([one.doubt(step) for one in found]) == pytest.approx(errors * strays, rel=0.15)
        assert found[0].doubt(step, again=True) == pytest.approx(found[0].doubt(step) * 4 / errors, rel=0.01)
    assert curvature(t, 2.0 + 0.1 * t).doubt(90) == 0


def test_curvature_of_exact_values_is_none_for_a_line_and_endless_for_a_curve() -> None:
    assert curvature(np.arange(30), 2.0 + 0.1 * np.arange(30)).ratio == 0
    assert curvature(np.arange(30), np.arange(30.0) ** 2).ratio == math.inf
    assert not curvature(np.arange(5), np.arange(5.0) ** 2).bends()


def test_is_curve_tells_saturation_from_a_broken_line() -> None:
    t = np.arange(80)
    assert is_curve(t, 1 - np.exp(-t / 20) + 0.01 * ar(80, 0.0, 1), 30)
    assert not is_curve(t, np.minimum(t, 40) / 40 + np.maximum(t - 40, 0) / 400 + 0.01 * ar(80, 0.0, 1), 40)
