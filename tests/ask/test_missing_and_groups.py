"""Stretches with a cell that the log lost, or that holds no number; comparisons that lack a side; groups of keys."""

from __future__ import annotations

import math

import pytest

from assistant.model import Answer, Number, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of, training_step

from .support import answerer

LIMIT = 4096
LOST = 6


def cut() -> Run:
    """Twelve steps as Ray's console prints them; the line of one step is cut before its timings."""
    lines = []
    for step in range(1, 13):
        head = f"step:{step} - actor/entropy:{0.5 - 0.01 * step:.4f} - critic/score/mean:{0.4 + 0.01 * step:.4f}"
        pad = "".join(f" - filler_{n:03}/value:{n}.0" for n in range(300)) if step == LOST else ""
        lines.append(f"{head}{pad} - timing_s/gen:{50 + step}.5 - timing_s/step:{60 + step}.25"[:LIMIT])
    return parse_text("\n".join(lines) + "\n").runs[0]


def ask(question: str, run: Run) -> Answer:
    return answerer().ask(question, [run])[0]


@pytest.mark.parametrize(
    "question", ["gen time, steps 5 to 7", "timing_s/gen from step 4 to 8", "第 5 到 7 步的生成时间分别是多少"]
)
def test_stretch_with_a_lost_cell_names_it(question: str) -> None:
    made = ask(question, cut())
    said = made.answer.split("|")[0]
    assert f"step {LOST}" in said
    assert any(fact.kind == "missing" and fact.step == LOST for fact in made.facts)


def test_stretch_without_a_lost_cell_names_none() -> None:
    assert all(fact.kind != "missing" for fact in ask("gen time, steps 8 to 10", cut()).facts)


@pytest.mark.parametrize("question", ["did step 6 take longer than step 7?", "did step 7 take less time than step 6?"])
def test_comparison_that_lacks_a_side_gives_no_value_for_it(question: str) -> None:
    made = ask(question, cut())
    assert made.verdict.code in {"no_data", "not_comparable"}
    assert f"step {LOST}" in made.verdict.summary or f"Step {LOST}" in made.verdict.summary


@pytest.mark.parametrize("question", ["entropy over the last 5 steps", "entropy steps 8 to 12", "最近 5 步的熵"])
def test_stretch_without_a_number_says_so_first(question: str) -> None:
    table: dict[int, dict[str, Number]] = {
        step: {**training_step(step), "actor/entropy": 0.4 if step < 8 else math.nan} for step in range(1, 13)
    }
    assert "NaN" in ask(question, run_of(table)).answer.splitlines()[0]


TRL = {
    step: {"loss": 0.01 * step, "reward": 0.5, "clip_ratio/low_mean": 0.001, "clip_ratio/high_mean": 0.002,
           "clip_ratio/region_mean": 0.003, "completions/mean_length": 200.0 + step}
    for step in range(1, 9)
}  # fmt: skip


@pytest.mark.parametrize(
    "question", ["every clip ratio in step 6", "all clip ratios at step 6", "all the clip_ratio values at step 6"]
)
def test_group_of_two_words_is_listed_whole(question: str) -> None:
    made = ask(question, run_of(TRL))
    assert {fact.metric for fact in made.facts if fact.step == 6} >= {key for key in TRL[1] if key.startswith("clip_")}
    assert "completions/mean_length" not in made.answer


@pytest.mark.parametrize(
    "question",
    ["all actor metrics at step 6", "list all actor metrics at step 6", "actor metrics, step 6, all of them"],
)
def test_group_of_one_word_is_its_keys_and_no_stage(question: str) -> None:
    run = run_of({step: {**training_step(step), "timing_s/update_actor": 9.0} for step in range(1, 9)})
    made = ask(question, run)
    held = {key for key in run.metrics if key.startswith("actor/")}
    assert held
    assert {fact.metric for fact in made.facts if fact.step == 6} >= held
    assert "timing_s/update_actor" not in made.answer


def test_absent_metric_is_not_answered_by_one_of_another_matter() -> None:
    run = run_of(
        {s: {"response_length/mean": 300.0 + s, "actor/entropy": 0.4, "timing_s/step": 60.0} for s in range(1, 9)}
    )
    made = ask("how much gpu memory at the end?", run)
    assert made.verdict.code == "no_data"
    assert "of its kind" not in made.answer
