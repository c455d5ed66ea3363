"""Moves of more than a size between neighbouring values; whether an event lasts to the end; what cannot be told."""

from __future__ import annotations

import math
import random
from functools import lru_cache

import pytest

from assistant.ask.answer_jumps import Size, size_in
from assistant.ask.query import State
from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.support import answerer

SCORE, KL, LENGTH, LR, GRAD = (
    "critic/score/mean", "actor/kl_loss", "response_length/mean", "actor/lr", "actor/grad_norm",
)  # fmt: skip
#: The length falls to 0.4 times the value before at step 12, to 0.45 times at step 30, by a fifth at step 20.
_FALLS = {12: 0.4, 20: 0.8, 30: 0.45}


def _lengths() -> dict[int, float]:
    value, found = 1000.0, {}
    for step in range(1, 41):
        value = round(value * _FALLS.get(step, 1.02), 4)
        found[step] = value
    return found


def ask(run: Run, question: str) -> tuple[Answer, str]:
    answer = answerer().ask(question, [run])[0]
    return answer, answer.answer


@lru_cache(maxsize=1)
def made() -> Run:
    lengths = _lengths()
    return run_of(
        {
            step: {
                # up by 0.15 at steps 5 and 25, down by as much at the next steps
                SCORE: round(0.5 + (0.15 if step in {5, 25} else 0.0) + 0.001 * (step % 2), 5),
                # away at step 15 for good
                KL: 0.01 + 0.0001 * (step % 3) + (2.0 if step >= 15 else 0.0),
                LENGTH: lengths[step],
                LR: min(step, 10) * 1e-7,
                # one spike
                GRAD: 40.0 if step == 18 else 1.0 + 0.01 * (step % 4),
                "actor/pg_loss": math.nan if step >= 33 else 0.1,
            }
            for step in range(1, 41)
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fall", "fraction", "size"),
    [
        ("fell by more than half", True, False, Size(0.5, True, False)),
        ("rose by more than 20 %", False, False, Size(0.2, True, False)),
        ("dropped by at least 0.1", True, False, Size(0.1, False, True)),
        ("dropped by more than 5 percentage points", True, True, Size(0.05, False, False)),
        ("more than doubled", False, False, Size(1.0, True, False)),
        ("fell by a factor of 4", True, False, Size(0.75, True, False)),
        ("比前一步涨超过一倍", False, False, Size(1.0, True, False)),
        ("掉了 0.1 以上", True, False, Size(0.1, False, True)),
    ],
)
def test_size_in_reads_shares_amounts_and_factors(text: str, fall: bool, fraction: bool, size: Size) -> None:
    assert size_in(text, fall=fall, fraction=fraction) == size


@pytest.mark.parametrize(
    ("question", "times", "steps"),
    [
        (
            "on which steps did the response length fall by more than half from one step to the next?",
            "2 times",
            (12, 30),
        ),
        ("how often did response length drop by at least 15% between neighbouring steps", "3 times", (12, 20, 30)),
        ("which steps saw the score rise by more than 0.1 compared with the step before", "2 times", (5, 25)),
        ("how many times did the score jump by over 0.1?", "2 times", (5, 25)),
        ("response_length 相邻两步掉了一半以上的是哪些步", "2 次", (12, 30)),
        ("grad norm 比上一步涨超过一倍的有几次", "1 次", (18,)),
    ],
)
def test_jumps_are_those_between_neighbours(question: str, times: str, steps: tuple[int, ...]) -> None:
    answer, text = ask(made(), question)
    first = text.split("\n")[0]
    assert times in first
    assert all(f"step {step}" in text or f"| {step} |" in text for step in steps)
    assert answer.intent == "lookup"


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("when did the response length first fall by more than half from one step to the next?", 12),
        ("when was the last time the response length fell by more than half from one step to the next?", 30),
    ],
)
def test_jumps_first_and_last_are_named(question: str, step: int) -> None:
    _, text = ask(made(), question)
    assert f"step {step} (" in text.split("\n")[0]


def test_jumps_none_that_large_says_never_with_the_largest() -> None:
    _, text = ask(made(), "did the response length ever drop by more than 90% between consecutive steps?")
    assert text.startswith("**Never: `response_length/mean` did not fall by more than 90%")
    assert "The largest such move is at step 12" in text
    assert "-60.0%" in text


def _talk(*turns: str) -> str:
    state: State | None = None
    text = ""
    for turn in turns:
        answer, state = answerer().ask(turn, [made()], state=state)
        text = answer.answer
    return text


@pytest.mark.parametrize(
    ("turns", "start"),
    [
        (("when did actor/kl_loss blow up?", "is it still there at the end?"), "**Yes, it lasts to the end"),
        (("highest grad norm?", "is it still that high at the end?"), "**No, it does not last to the end"),
        (("when did actor/kl_loss first exceed 1?", "does it stay that way until the end?"), "**It did not come back"),
        (("any NaN?", "still there at the end?"), "**Yes: at the last step (40) 1 metric is still no finite number"),
        (("actor/kl_loss 什么时候炸的", "最后还是这样吗"), "**是的，一直到最后"),
        (("did the grad norm spike last to the end?",), "**No, it does not last to the end"),
    ],
)
def test_lasting_is_answered_of_the_event_before(turns: tuple[str, ...], start: str) -> None:
    assert _talk(*turns).startswith(start)


def test_compare_of_a_learning_rate_tells_its_factor_and_no_noise() -> None:
    answer, text = ask(made(), "lr at the end compared with its start")
    assert "to 1e-06 at step 40, 10 times as much" in text.split("\n")[0]
    assert "Noise" not in text
    assert "better direction" not in text
    assert answer.verdict.code == "inconclusive"


# -- the bottleneck ----------------------------------------------------------------------------------------------------
def _timed(**stages: float) -> Run:
    return run_of({step: {f"timing_s/{name}": value for name, value in stages.items()} for step in range(1, 13)})


@pytest.mark.parametrize(
    ("stages", "first", "never"),
    [
        ({"gen": 39.0, "step": 100.0}, "most of the time, 61.0% of 100 s, is logged under no name", "time goes to"),
        ({"gen": 39.0, "update_actor": 31.0, "step": 100.0}, "another 30.0% of it is logged", "of the time"),
        ({"gen": 60.0, "update_actor": 39.0, "step": 100.0}, "most time goes to `timing_s/gen`: 60.0%", "no name"),
    ],
)  # fmt: skip
def test_bottleneck_says_first_what_is_logged_under_no_name(stages: dict[str, float], first: str, never: str) -> None:
    _, text = ask(_timed(**stages), "where does the time go?")
    assert first in text.split("\n")[0]
    assert never not in text.split("\n")[0]


# -- forecasts ---------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def leaking() -> Run:
    """Memory that grows slowly at first, and four times as fast from step 43 on, by uneven amounts."""
    dice, held, table = random.Random(0), 120.0, {}
    for step in range(1, 101):
        held += max(0.0, dice.gauss(1.1 if step < 43 else 4.4, 2.0))
        table[step] = {"perf/cpu_memory_used_gb": round(held, 3)}
    return run_of(table)


def test_forecast_with_an_interval_wider_than_all_that_was_is_not_told() -> None:
    answer, text = ask(leaking(), "predict cpu memory at step 140")
    assert text.startswith("**It cannot be told")
    fact = next(fact for fact in answer.facts if fact.name == "forecast/perf/cpu_memory_used_gb")
    values = leaking().series("perf/cpu_memory_used_gb")[1]
    assert fact.low is not None
    assert fact.high is not None
    assert fact.high - fact.low > 3 * (max(values) - min(values))
    assert "The latest value is" in text


@pytest.mark.parametrize(
    "question", ["where will cpu memory be in 20 steps?", "cpu memory 20 steps from now, forecast?"]
)
def test_forecast_so_many_steps_ahead_is_of_that_step(question: str) -> None:
    _, text = ask(leaking(), question)
    assert "step 120" in text.split("\n")[0]


def test_forecast_of_memory_with_a_capacity_is_of_when_it_is_full() -> None:
    _, text = ask(leaking(), "the node has 512 GB of RAM. at this pace, will cpu memory hit it?")
    assert "512.0 GiB" in text.split("\n")[0]
