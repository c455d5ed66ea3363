"""The pace of a curved course, and forecasts that start from where a series is."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from assistant.analysis.forecast import forecast_at
from tests.analysis.support import run_of, training_step

from .support import answerer
from .test_course_by_values import told


def grown(factor: float, n: int, every: int, seed: int = 1) -> tuple[list[int], list[float]]:
    dice = np.random.default_rng(seed)
    steps = [every * (i + 1) for i in range(n)]
    return steps, [2e-4 * factor ** (i + dice.normal(0, 0.1)) for i in range(n)]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("factor", "n", "every"), [(2.0, 12, 5), (1.9, 10, 1), (1.6, 16, 10)])
def test_pace_of_a_course_that_doubles_is_the_mean_and_the_latest(
    factor: float, n: int, every: int, language: str
) -> None:
    steps, values = grown(factor, n, every)
    run = run_of({step: {"kl": value} for step, value in zip(steps, values, strict=True)})
    sentence, _ = told(run, "kl", language)
    numbers = [float(v) for v in re.findall(r"[+]([\d.]+(?:e-?\d+)?)", sentence)]
    mean = (values[-1] - values[0]) / (steps[-1] - steps[0])
    start = n - 1 - n // 3
    assert numbers[0] == pytest.approx(mean, rel=0.01), sentence
    assert numbers[1] == pytest.approx((values[-1] - values[start]) / (steps[-1] - steps[start]), rel=0.01), sentence
    doubles = re.search(r"(?:every|约每) ([\d.]+)", sentence)
    assert doubles is not None, sentence
    assert float(doubles[1]) == pytest.approx(every * math.log(2) / math.log(factor), rel=0.1)


def test_slope_of_a_line_in_noise_is_told_as_it_is() -> None:
    for seed in range(20):
        values = (0.01 * np.arange(60) + np.random.default_rng(seed).normal(0, 0.1, 60)).tolist()
        sentence, _ = told(run_of({step: {"my/x": value} for step, value in enumerate(values, 1)}), "my/x")
        assert "on average" not in sentence


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("factor", "n", "every"), [(2.0, 12, 5), (1.5, 14, 5), (1.3, 20, 1), (1.15, 40, 1)])
def test_forecast_of_a_rising_series_does_not_lie_below_what_it_has_come_to(
    seed: int, factor: float, n: int, every: int
) -> None:
    steps, values = grown(factor, n, every, seed)
    ahead = steps[-1] + max(1, every)
    for scale in (1.0, -1.0):
        found = forecast_at(steps, [scale * value for value in values], ahead)
        if found.value is not None:
            assert scale * found.value > 0.85 * values[-1]


@pytest.mark.parametrize(
    ("language", "question", "words"),
    [
        ("en", "where will kl be at step 66?", "steps 5 to 60 (a line in the logarithms)"),
        ("zh", "kl 到 step 66 会是多少", "step 5 到 60 的走势按同样的倍率"),
    ],
)
def test_forecast_says_which_steps_it_continues(language: str, question: str, words: str) -> None:
    steps, values = grown(2.0, 12, 5)
    run = run_of({step: {**training_step(step), "kl": value} for step, value in zip(steps, values, strict=True)})
    text = answerer().ask(question, (run,), language=language)[0].answer
    assert words in text
    assert "latest stretch" not in text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("fall", [5.0, 7.0])
def test_few_smooth_points_are_not_said_to_wander(language: str, fall: float) -> None:
    values = [1.0 + 0.2 * math.exp(-fall * i / 5) + (0.004 * (i - 3) if i > 3 else 0) for i in range(6)]
    sentence, _ = told(
        run_of({5 * i + 4: {"eval_loss": value} for i, value in enumerate(values)}), "eval_loss", language
    )
    assert not re.search(r"wander|漂移", sentence)
    assert re.search(r"lowest|最低", sentence)


@pytest.mark.parametrize("seed", range(6))
def test_turn_in_scatter_names_no_value_that_others_exceed(seed: int) -> None:
    """A hump whose highest single value lies in the scatter elsewhere than about its middle."""
    rng = np.random.default_rng(seed)
    hump = 2.5 * np.sin(np.linspace(0, 1, 90) * np.pi * 0.75) + 0.15 * rng.standard_normal(90)
    hump[[70, 72]] += 3.0  # far above, late, and twice: no lone spike
    sentence, _ = told(run_of({step: {"kl": float(value)} for step, value in enumerate(hump, start=1)}), "kl", "en")
    if "rose, then fell" in sentence and "median" not in sentence:
        named = [float(number) for number in re.findall(r"to (\d\.\d+) at", sentence)]
        assert max(named) == pytest.approx(hump.max(), abs=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_rise_whose_end_lies_lower_is_not_told_as_a_slower_rise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 0.75 + 0.0006 * np.arange(46) + 0.008 * rng.standard_normal(46)
    values[0], values[-1] = 0.70, values[-16] - 0.004
    sentence, _ = told(run_of({20 * i + 20: {"reward": float(v)} for i, v in enumerate(values)}), "reward", "en")
    assert not re.search(r"of late.*and -\d", sentence)


def test_pace_since_a_step_is_what_the_values_did_since_then() -> None:
    """Flat, then an explosion to a peak, then down: no pace of its last part goes up."""
    values = (
        [1.0 + 0.001 * i for i in range(60)] + [3 * 3.0**i for i in range(7)] + [1500.0 - 30 * i for i in range(30)]
    )
    sentence, _ = told(
        run_of({i: {"rollout_corr/rollout_ppl": v} for i, v in enumerate(values, start=1)}), "rollout_corr/rollout_ppl"
    )
    for pace, since in re.findall(r"([+-]\d[\d.,e+-]*) per step since step (\d+)", sentence):
        late = values[int(since) - 1 :]
        assert float(pace.replace(",", "")) * (late[-1] - late[0]) > 0
