"""A course that is told from one level to another goes the way it is said to go."""

from __future__ import annotations

import random

from assistant.analysis.trend import trend_of


def test_ramp_of_a_series_that_calms_down_has_levels_in_its_direction() -> None:
    ramps = 0
    for seed in range(160, 400):
        dice = random.Random(seed)
        length = dice.randint(80, 300)
        width, start = dice.randint(10, length // 2), dice.uniform(0, 1)
        values = [start * (1 - min(1, n / width)) + dice.gauss(0, 0.3 if n < width else 0.05) for n in range(length)]
        values[:3] = [dice.uniform(-0.3, 0.3) for _ in range(3)]
        found = trend_of(list(range(length)), values)
        if found.form == "ramp":
            ramps += 1
            rise = found.knots[2][1] - found.knots[1][1]
            assert (rise > 0) == (found.direction == "rising"), (seed, found.knots, found.direction)
    assert ramps > 10
