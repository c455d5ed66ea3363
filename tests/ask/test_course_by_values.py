"""A course is told by the log's own values: what stands beside a step is the value there, medians name their steps."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from assistant.analysis import Ledger
from assistant.analysis.trend import trend_of
from assistant.ask.context import Context
from assistant.ask.telling import movement, trend_sentence
from assistant.ask.understand import Query
from assistant.model import Run
from assistant.service import service
from assistant.write.document import unmark
from tests.analysis.support import run_of, series_run, training_step

from .support import answerer

Array = NDArray[np.float64]
N = 80
T = np.arange(N, dtype=np.float64)
SHAPES: dict[str, Callable[[], Array]] = {
    "saturates": lambda: 1 - np.exp(-T / 8),
    "logistic": lambda: 0.2 + 0.7 / (1 + np.exp((35 - T) / 3)),
    "collapses": lambda: 0.45 / (1 + np.exp((T - 33) / 3)) + 0.004 + 0.0002 * (N - T),
    "ramp of ten steps": lambda: np.clip((T - 30) / 10, 0, 1),
    "ramp, then down a little": lambda: np.clip((T - 30) / 10, 0, 1) - 0.01 * np.maximum(T - 40, 0),
    "hump": lambda: np.where(T < 40, T / 40, 1.6 - 0.6 * T / 40),
    "trough": lambda: np.where(T < 25, 1 - T / 25, 0.9 * (T - 25) / 55),
    "jump": lambda: np.where(T < 26, 1.0, 3.0),
    "down at once": lambda: np.where(T < 50, 2.0 + T / 200, 0.5),
    "warm-up": lambda: np.minimum(T / 5, 1) + 1,
    "grows late": lambda: 0.3 + np.maximum(T - 50, 0) * 0.05,
    "two jumps": lambda: np.where(T < 20, 1.0, np.where(T < 50, 2.0, 3.0)),
}


def told(run: Run, metric: str, language: str = "en") -> tuple[str, str]:
    context = Context(Query("", language, "trend"), (run,), service().resolver, Ledger([run]))
    fact = context.ledger.trend(metric)
    assert fact is not None
    return unmark(trend_sentence(context, metric, fact)), unmark(movement(context, metric, fact))


def close(text: str, value: float) -> bool:
    return float(text.replace(",", "")) == pytest.approx(value, rel=0.006, abs=1e-9)


@pytest.mark.parametrize("noise", [0.0005, 0.02, 0.1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("metric", ["critic/vf_loss", "actor/entropy", "my/metric"])
def test_course_values_and_medians_are_those_of_the_log(metric: str, shape: str, noise: float) -> None:
    for seed in range(4):
        dice = np.random.default_rng([seed, len(shape)])
        run = series_run(metric, (SHAPES[shape]() + dice.normal(0, noise, N)).tolist())
        english, _ = told(run, metric)
        values = dict(zip(*run.series(metric), strict=True))
        number = r"(-?\d[\d.,]*(?:e-?\d+)?)"
        pairs = [(v, int(s)) for v, s in re.findall(rf"{number} (?:at )?\(?(?:at )?step (\d+)", english)]
        pairs += [(v, int(s)) for s, v in re.findall(rf"step (\d+) \({number}\)", english)]
        for value, step in pairs:
            assert close(value, values[step]), (english, value, step, values[step])
        medians = re.findall(rf"{number} over steps (\d+) to (\d+)", english)
        for value, low, high in medians:
            assert close(value, float(np.median([values[s] for s in range(int(low), int(high) + 1)]))), english
        assert pairs or medians or "per step before" in english, english


@pytest.mark.parametrize("shape", SHAPES)
def test_course_claims_no_clear_change_only_where_the_part_shows_none(shape: str) -> None:
    for seed in range(6):
        dice = np.random.default_rng([seed, len(shape), 7])
        values = SHAPES[shape]() + dice.normal(0, 0.003, N)
        english, _ = told(series_run("critic/vf_loss", values.tolist()), "critic/vf_loss")
        for low, high in re.findall(r"no clear change [a-z ]+\(median [-\d.,e]+ over steps (\d+) to (\d+)\)", english):
            part = slice(int(low) - 1, int(high))
            found = trend_of(np.arange(int(low), int(high) + 1), values[part])
            assert found.direction in {"fluctuating", "flat"}, english
            assert found.form is None, english


@pytest.mark.parametrize(("language", "words"), [("en", "went on falling"), ("zh", "此后仍在降")])
def test_course_that_goes_on_falling_after_its_collapse_says_so(language: str, words: str) -> None:
    values = SHAPES["collapses"]() + np.random.default_rng(1).normal(0, 0.0002, N)
    assert words in told(series_run("actor/entropy", values.tolist()), "actor/entropy", language)[0]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("length", [6, 10, 14])
def test_climb_over_some_steps_is_no_jump(length: int, language: str) -> None:
    for seed in range(12):
        dice = np.random.default_rng([seed, length])
        ramp = 0.3 * np.clip((np.arange(66) - 29) / length, 0, 1)
        ramp[29 + length :] -= dice.uniform(0, 0.15) * np.clip(np.arange(37 - length) / 5, 0, 1)
        values = np.maximum(ramp + np.where(np.arange(66) > 29, dice.normal(0, 0.02, 66), 0), 0)
        sentence, word = told(
            series_run("response_length/clip_ratio", values.tolist()), "response_length/clip_ratio", language
        )
        for text in (sentence, word):
            assert not re.search(r"jump|跳", text), text


@pytest.mark.parametrize(("language", "words"), [("en", "by a jump, from 22 s"), ("zh", "来自跳变")])
def test_change_in_one_step_is_a_jump_between_its_two_values(language: str, words: str) -> None:
    values = [22.0 if step < 26 else 70.0 + step % 3 for step in range(1, 71)]
    sentence, word = told(series_run("timing_s/update_actor", values), "timing_s/update_actor", language)
    assert words in sentence
    assert re.search(r"step 25\b", sentence)
    assert re.search(r"step 26\b", word)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sign", [1, -1])
def test_turn_names_the_extreme_and_its_step(seed: int, sign: int) -> None:
    dice = np.random.default_rng(seed)
    at = 30 + 3 * seed
    course = np.where(at > T, T / at, 1 - 0.6 * (T - at) / (N - at))
    values = sign * course + dice.normal(0, 0.01, N) + 2
    english, word = told(series_run("critic/vf_loss", values.tolist()), "critic/vf_loss")
    extreme = int(values.argmax() if sign > 0 else values.argmin())
    assert re.match(r"`critic/vf_loss` (rose, then fell|fell, then rose)", english), english
    assert f"at step {extreme + 1}, its {'highest' if sign > 0 else 'lowest'}" in english
    assert f"until step {extreme + 1}," in word


@pytest.mark.parametrize(("language", "words"), [("en", "rose until step"), ("zh", "为止上升，此后平稳")])
def test_warm_up_of_a_few_steps_is_not_told_as_rising(language: str, words: str) -> None:
    dice = np.random.default_rng(2)
    values = 0.0017 * np.minimum(np.arange(1, 63) / 5, 1) + dice.normal(0, 0.00004, 62)
    assert words in told(series_run("actor/pg_clipfrac", values.tolist()), "actor/pg_clipfrac", language)[1]


@pytest.mark.parametrize(
    ("language", "sentence", "word"),
    [
        ("en", "at each of its last 38 values, since step 24", "constant since step 24"),
        ("zh", "从 step 24 起一直是", "step 24 起不再变化"),
    ],
)
@pytest.mark.parametrize("value", [0.45, 0.5])
def test_series_that_stopped_moving_is_said_to_be_constant_since(
    language: str, sentence: str, word: str, value: float
) -> None:
    dice = np.random.default_rng(5)
    values = [*(0.5 + dice.normal(0, 0.2, 23)).tolist(), *([value] * 38)]
    course, cell = told(series_run("my/metric", values), "my/metric", language)
    assert sentence in course
    assert cell == word


def test_share_that_is_zero_at_most_steps_is_not_said_to_have_stopped() -> None:
    dice = np.random.default_rng(6)
    values = [0.01 if dice.random() < 0.2 else 0.0 for _ in range(50)] + [0.0] * 10
    course, cell = told(series_run("response/aborted_ratio", values), "response/aborted_ratio")
    assert "since step" not in course + cell


@pytest.mark.parametrize(
    ("language", "words"), [("en", "last 36 values, from step 27 on"), ("zh", "最后 36 个值（step 27 起")]
)
def test_trend_of_a_metric_that_ends_in_nan_says_so(language: str, words: str) -> None:
    dice = np.random.default_rng(7)
    rows = {
        step: {
            **training_step(step),
            "actor/entropy": 0.25 - 0.002 * step + dice.normal(0, 0.003) if step < 27 else np.nan,
        }
        for step in range(1, 63)
    }
    text = (
        answerer()
        .ask("actor/entropy 的趋势" if language == "zh" else "trend of actor/entropy", (run_of(rows),))[0]
        .answer
    )
    assert words in text
