"""Answers say what the log shows: phases of a schedule, jumps, the critic asked about, each run's own values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.ask.engine import distinct
from assistant.ask.schedules import is_schedule
from assistant.model import Number, Run
from tests.analysis.support import run_of, training_step

from .support import answerer


def ask(question: str, *runs: Run) -> str:
    return answerer().ask(question, runs)[0].answer


def rate_run() -> Run:
    rates = [1e-6 * min(step, 4) if step <= 4 else 4e-6 * (20 - step) / 16 for step in range(1, 21)]
    return run_of({step: {**training_step(step), "actor/lr": rate} for step, rate in enumerate(rates, 1)})


def validated(scores: list[float], source: str = "math500") -> Run:
    table: dict[int, dict[str, Number]] = {step: dict(training_step(step)) for step in range(1, 10 * len(scores))}
    for place, score in enumerate(scores):
        table.setdefault(10 * place, {})[f"val-core/{source}/acc/mean@1"] = score
    return run_of(table)


def test_distinct_runs_parsed_apart_get_ids_of_their_own() -> None:
    one, other = rate_run(), replace(rate_run(), name="other.log")
    assert one.id == other.id
    assert [run.id for run in distinct((one, other))] == ["r0", "r1"]
    assert distinct((one,)) == (one,)


def test_by_run_same_ids_each_run_keeps_its_own_values() -> None:
    runs = [
        replace(run_of({s: {**training_step(s), "actor/entropy": level} for s in range(1, 9)}), name=name)
        for name, level in (("a.log", 0.25), ("b.log", 0.75))
    ]
    said = ask("final actor/entropy of both runs", *runs)
    row = {
        name: next(line for line in said.splitlines() if line.startswith(f"| `{name}`")) for name in ("a.log", "b.log")
    }
    assert "0.25" in row["a.log"]
    assert "0.75" not in row["a.log"]
    assert "0.75" in row["b.log"]
    assert "0.25" not in row["b.log"]


@pytest.mark.parametrize(
    ("question", "words"),
    [("trend of actor/lr", "warms up, then decays linearly"), ("actor/lr 的趋势", "先 warmup 再线性衰减")],
)
def test_schedule_warm_up_and_decay_both_are_told_and_not_tested(question: str, words: str) -> None:
    said = ask(question, rate_run())
    assert words in said.splitlines()[0]
    assert "4e-06" in said.splitlines()[0]
    assert "Kendall" not in said


def test_is_schedule_other_keys_are_not() -> None:
    assert is_schedule("actor/lr")
    assert is_schedule("learning_rate")
    assert is_schedule("critic/lr@mean")
    assert not is_schedule("actor/pg_clipfrac_lower")
    assert not is_schedule("lr_tokens")


def test_why_slower_jump_asked_about_as_gradual_is_called_a_jump() -> None:
    table = {}
    for step in range(1, 41):
        row = {**training_step(step), "timing_s/step": (60.0 if step < 21 else 120.0) + (step % 3)}
        table[step] = {**row, "timing_s/gen": row["timing_s/step"] - 10}
    said = ask("why does each step get slower and slower?", run_of(table)).splitlines()[0]
    assert said.startswith("**Not gradual but one jump at step 21")


def test_learning_critic_asked_about_is_judged_by_its_own_metrics() -> None:
    table = {
        step: {**training_step(step), "critic/vf_explained_var": min(0.95, 0.05 * step), "critic/vf_loss": 1.0 / step}
        for step in range(1, 41)
    }
    said = ask("is the critic learning anything?", run_of(table)).splitlines()[0]
    assert said.startswith("**The critic does learn: `critic/vf_explained_var`")


def test_validation_difference_beyond_the_benchmarks_sampling_is_settled() -> None:
    said = ask("is it learning?", validated([0.5, 0.52, 0.46, 0.4, 0.34, 0.3]))
    assert "beyond noise (standard error ≤" in said
    assert "two points alone" not in said


def test_progress_fall_in_between_is_told_beside_the_rise() -> None:
    said = ask("is it learning?", validated([0.40, 0.46, 0.70, 0.44, 0.50, 0.56]))
    assert "had reached 70.0% at step 20 and went to 44.0% by step 30" in said


@pytest.mark.parametrize(("part", "word"), [("max", "maximum"), ("min", "minimum"), ("mean", "mean")])
def test_gloss_statistic_is_the_one_that_the_key_holds(part: str, word: str) -> None:
    run = run_of({1: {**training_step(1), f"critic/advantages/{part}": 1.5}})
    line = next(x for x in ask(f"critic/advantages/{part} at step 1", run).splitlines() if x.startswith("`critic"))
    assert f": {word} over all response tokens" in line


def test_unlogged_training_data_names_the_validation_set_alone() -> None:
    said = ask("训练用的哪份数据集，看得出来吗", validated([0.4, 0.5]))
    assert said.startswith("**日志的指标里没有训练集的名字")
    assert "`math500`" in said


def test_rows_without_steps_are_called_rows_with_their_epoch() -> None:
    run = replace(
        run_of({row: {"loss": 2.0 - 0.01 * row, "epoch": 0.1 * row} for row in range(1, 21)}), step_axis="index"
    )
    said = ask("last loss", run)
    assert said.startswith("**`loss` is 1.8 at row 20")
    assert "Row 20 is at epoch 2" in said


def test_range_values_of_the_sentence_before_are_not_said_again() -> None:
    said = ask("should I stop?", validated([0.70, 0.66, 0.58, 0.50, 0.42, 0.34]))
    line = next(x for x in said.splitlines() if x.startswith("- ") and "val-core" in x)
    assert line.count("70.0%") == 1
    assert line.count("34.0%") == 1
