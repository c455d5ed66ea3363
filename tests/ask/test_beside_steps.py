"""What lies beside the timed steps counts in the time left, in the whole time, and as a part of it."""

from __future__ import annotations

import math

import pytest

from assistant.analysis import Ledger
from assistant.analysis.forecast import remaining
from assistant.analysis.outside import ahead, outside_keys, times_ahead
from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

STEP, TESTING, SAVING = 50.0, 70.0, 40.0
LAST = 42


def _noise(step: int) -> float:
    return 0.3 * math.sin(7.3 * step)


def timed(*, within: bool, every: int = 5, save: int = 20) -> Run:
    """A run that validates and saves now and then, within its timed steps or beside them."""
    rows = {}
    for step in range(1, LAST + 1):
        extra = {}
        if step % every == 0:
            extra["timing_s/testing"] = TESTING + _noise(step)
        if step % save == 0:
            extra["timing_s/save_checkpoint"] = SAVING + _noise(step)
        stages = {"timing_s/gen": 40.0 + _noise(step), "timing_s/update_actor": 9.9}
        whole = math.fsum(stages.values()) + 0.1 + (math.fsum(extra.values()) if within else 0.0)
        rows[step] = {**stages, **extra, "timing_s/step": whole}
    return run_of(rows, framework="verl")


def test_validations_and_checkpoints_beside_the_steps_are_to_come() -> None:
    run = timed(within=False)
    assert set(outside_keys(run)) == {"timing_s/testing", "timing_s/save_checkpoint"}
    found = {one.key: one.count for one in ahead(run, 80)}
    assert found == {"timing_s/testing": 8, "timing_s/save_checkpoint": 2}
    fact, _ = remaining(Ledger([run]), total=80)
    assert fact is not None
    assert float(str(fact.value)) == pytest.approx(38 * STEP + 8 * TESTING + 2 * SAVING, rel=0.01)
    assert fact.low is not None
    assert fact.high is not None
    assert fact.low < 38 * STEP + 8 * TESTING + 2 * SAVING < fact.high


def test_those_within_the_steps_are_counted_once() -> None:
    run = timed(within=True)
    assert outside_keys(run) == ()
    fact, _ = remaining(Ledger([run]), total=80)
    assert fact is not None
    assert float(str(fact.value)) == pytest.approx(38 * STEP + 7.6 * TESTING + 1.9 * SAVING, rel=0.05)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(
    ("question", "said"), [("ETA for 80 steps?", "as often as before"), ("总共 80 步，还要多久", "按已有的频度计")]
)
def test_time_left_says_what_it_counts(question: str, said: str, *, within: bool) -> None:
    answer = ask(question, timed(within=within))
    first = answer.answer.split("\n", 1)[0]
    assert said in answer.answer
    assert ("`timing_s/testing` 8" in first) is not within
    assert ("beside the steps as often" in answer.answer or "步外的验证" in answer.answer) is not within


def test_time_left_without_any_timing_of_validations_says_that_they_are_left_out() -> None:
    run = run_of({step: {"timing_s/step": STEP + _noise(step)} for step in range(1, LAST + 1)})
    said = ask("ETA for 80 steps?", run).answer
    assert "is not counted" in said
    assert "as often as before" not in said


@pytest.mark.parametrize(
    ("steps", "last", "total", "at_the_end", "count"),
    [
        ([5, 10, 15, 20], 22, 40, False, 4),
        ([5, 10, 15, 20], 22, 42, True, 5),  # and at the last step
        ([5, 10, 15, 20], 22, 40, True, 4),  # which the interval holds already
        ([5, 10, 15, 16], 16, 30, False, 3),  # the one at the end of a stage does not shift the others
        ([20], 22, 60, False, 2),
        ([22], 22, 60, True, 0),  # alone and last: it may be the end's
        ([3, 4, 11, 30], 40, 80, False, 4),  # without an interval, as often as they came
    ],
)
def test_times_ahead(steps: list[int], last: int, total: int, *, at_the_end: bool, count: int) -> None:
    assert times_ahead(steps, last, total, at_the_end=at_the_end) == count


def test_one_at_the_last_step_alone_is_said_to_be_left_out() -> None:
    rows = {step: {"timing_s/step": STEP, "timing_s/gen": STEP - 0.1} for step in range(1, 4)}
    rows[3]["timing_s/testing"] = TESTING
    said = ask("总共 100 步，还要多久", run_of(rows, framework="verl")).answer
    assert "只在最后一步记录过一次" in said


def test_whole_time_and_a_part_of_it_hold_all_that_lies_beside() -> None:
    run = timed(within=False)
    whole = LAST * STEP + 8 * TESTING + 2 * SAVING
    said = ask("how long did the run take in total?", run).answer
    assert "`timing_s/save_checkpoint`, 2 times" in said
    assert "loading, checkpoints" not in said
    answer = ask("what share of the total time is validation?", run)
    shares = [fact.value for fact in answer.facts if (fact.name or "").startswith("share of all of timing_s/testing")]
    assert shares == [pytest.approx(8 * TESTING / whole, rel=1e-3)]


@pytest.mark.parametrize(("question", "said"), [("bottleneck?", "`eval_runtime`"), ("时间花在哪", "`eval_runtime`")])
def test_evaluations_are_told_where_only_whole_steps_are_timed(question: str, said: str) -> None:
    rows = {
        step: {"step_time": 60.0 + _noise(step), "reward": 0.5, **({"eval_runtime": 75.0} if step % 5 == 0 else {})}
        for step in range(1, 41)
    }
    first = ask(question, run_of(rows, framework="TRL")).answer.split("\n", 1)[0]
    assert said in first
    assert "20.0%" in first  # 600 of 3,000 s
