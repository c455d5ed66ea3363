"""Questions about logs of trainers with keys of their own: times, counts, order, distance, the end and the start."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import pytest

from assistant.ask.key_words import stem
from assistant.model import Answer, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of
from tests.ask.support import answerer


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, [run])[0]


@lru_cache(maxsize=1)
def slime() -> Run:
    table: dict[int, Mapping[str, float]] = {}
    for step in range(25):
        row = {
            "rollout/truncated_ratio": 0.0 if step < 15 else round(0.02 * (step - 14), 3),
            "perf/rollout_time": 60.0 + 2 * step, "perf/actor_train_time": 35.0, "perf/step_time": 100.0 + 2 * step,
            "train/grad_norm": 0.2 + 0.01 * (step % 5),
            "rollout/raw_reward": 0.9 - (0.6 if step >= 12 else 0.0) + 0.001 * (step % 3),
            "rollout/response_len/mean": 500.0 - (450.0 if step >= 8 else 0.0) + step % 4,
        }  # fmt: skip
        if step % 8 == 0:
            row["eval/aime"] = {0: 0.10, 8: 0.18, 16: 0.26, 24: 0.22}[step]
        table[step] = row
    return run_of(table, framework="slime", format="slime")


@lru_cache(maxsize=1)
def own() -> Run:
    """A trainer that nobody knows."""
    table = {
        step: {
            "mean_reward": 0.5 + 0.01 * step, "skipped_groups": step % 3, "eval_correct_rt": 0.7 + 0.002 * step,
            "eval_n_scored": 150, "batch_accuracy": 0.6 + 0.01 * step, "loss": 1.0 / step, "kl": 0.02 * min(step, 20),
        }
        for step in range(1, 31)
    }  # fmt: skip
    return run_of(table, framework="axiom", format="csv")


@lru_cache(maxsize=1)
def megatron() -> Run:
    lines = [
        f" [2025-10-01 03:{step:02d}:12] iteration {3000 + 10 * step:8d}/ 8000 | consumed samples: {640 * step:12d} | "
        f"elapsed time per iteration (ms): {6100.0 if step == 13 else 2100.0:.1f} | throughput per GPU "
        f"(TFLOP/s/GPU): {290.0 if step == 4 else 310.0:.1f} | learning rate: 1.000000E-04 | global batch size: 64 | "
        f"lm loss: {2.4 - 0.01 * step:.6E} | loss scale: 1.0 | grad norm: 0.700 | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |"
        for step in range(1, 31)
    ]
    return parse_text("\n".join(lines)).runs[0]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("when did truncation start", "`rollout/truncated_ratio` starts at step 15 (2.00%)"),
        ("rollout time vs train time at rollout 20", "is 100 s, `perf/actor_train_time` is 35"),
        (
            "what share of step time is rollout at the end",
            "in `perf/step_time` is 73.0% (",
        ),
        ("did aime drop at the last eval compared with the one before", "from 0.26 at step 16 to 0.22 at step 24"),
        ("how many steps are in the log", "25 training steps, 4 validations"),
        ("what collapsed first, the reward or the response length?", "`rollout/response_len/mean` came first"),
    ],
)
def test_slime_is_answered_by_its_own_keys(question: str, first: str) -> None:
    assert first in ask(slime(), question).answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how many groups were skipped in total", "The sum of `skipped_groups` is 30"),
        ("what's the eval correct rate at the last step?", "`eval_correct_rt` is 0.76 at step 30"),
        ("what is the batch accuracy at iteration 10", "`batch_accuracy` is 0.7 at step 10"),
        ("how far is the mean reward below 0.9 at the end", "`mean_reward` is 0.8 at step 30, 0.100 below 0.9"),
        ("how far is the mean reward from 0.5?", "0.300 above 0.5"),
        ("kl at the end vs its lowest?", "`kl` is 0.4 at its latest (step 30), 0.38 above its lowest, 0.02 at step 1"),
        ("how many times was the kl equal to 0.4", "`kl` is equal to 0.4 at 11"),
        ("what is the mean of the loss in the second half", "The mean of `loss` is 0.0451 (steps 16 to 30, 15 values)"),
    ],
)
def test_own_keys_are_found_by_their_words(question: str, first: str) -> None:
    assert first in ask(own(), question).answer.split("\n")[0]


def test_two_asked_for_the_number_of_steps_is_told_too() -> None:
    text = ask(own(), "how many iterations are there and what's the last mean reward").answer
    assert "`mean_reward` is 0.8 at step 30" in text
    assert "30 training steps" in text


def test_slowest_iteration_is_told_by_its_time_and_not_by_a_throughput() -> None:
    text = ask(megatron(), "slowest iteration and how slow vs median").answer
    assert text.startswith("**The slowest is step 3130")


def test_time_left_is_told_from_milliseconds_of_an_iteration() -> None:
    text = ask(megatron(), "how long until it's done?").answer
    assert "the 4,700 steps left take" in text.split("\n")[0]


@pytest.mark.parametrize("question", ["what percent done is it", "percent of training done", "how far along is it?"])
def test_percent_done_is_told_without_a_denial(question: str) -> None:
    assert ask(megatron(), question).answer.startswith("**41.2% of the way: the last row is step 3300 of 8,000")


@pytest.mark.parametrize(
    ("word", "other"),
    [("skipped", "skip"), ("groups", "group"), ("rt", "rate"), ("scored", "score"), ("acc", "accuracy")],
)
def test_stem_of_forms_of_a_word_agrees(word: str, other: str) -> None:
    assert stem(word).rstrip("e") == stem(other).rstrip("e")


# -- a stretch around a step, steps chosen by another metric, windows, what counts on from the start -------------------
def test_around_a_step_tells_what_moved_about_it() -> None:
    text = ask(slime(), "what happened around step 12").answer
    assert "Between step 7 and step 17" in text.split("\n")[0]


def test_once_a_metric_is_beyond_a_limit_chooses_the_steps() -> None:
    text = ask(own(), "what is the mean loss once mean reward is above 0.7").answer
    assert "`mean_reward` is above 0.7" in text.split("\n")[0]
    assert "`loss`" in text.split("\n")[0]


def test_range_against_the_last_so_many_compares_both() -> None:
    text = ask(slime(), "compare steps 1-5 with the last 5 on rollout/raw_reward").answer
    assert "steps 1–5" in text
    assert "steps 20–24" in text


def test_what_is_it_doing_asks_for_its_course() -> None:
    assert ask(own(), "what's the batch_accuracy doing").intent == "trend"


def test_total_time_is_read_from_what_counts_on_from_the_start() -> None:
    table = {step: {"time/time_elapsed": 12.0 * step, "rollout/ep_rew_mean": step} for step in range(1, 21)}
    text = ask(run_of(table, framework="Stable-Baselines3", format="sb3"), "how long did training take in total").answer
    assert "`time/time_elapsed` is a running total" in text
    assert "240 s" in text


@pytest.mark.parametrize(
    ("question", "cells"),
    [
        ("last 5 loss values", ("| 26 |", "| 30 |")),
        ("batch_accuracy at rows 10 to 13", ("| 10 | 0.7 |", "| 13 | 0.73 |")),
        ("mean_reward per 10 iterations?", ("1–10", "21–30")),
    ],
)
def test_values_asked_for_one_by_one_stand_in_a_table(question: str, cells: tuple[str, ...]) -> None:
    text = ask(own(), question).answer
    assert all(cell in text for cell in cells)


def test_clause_behind_a_colon_is_answered_with_the_next() -> None:
    text = ask(own(), "kl: how many steps above 0.39 and what's the max").answer
    assert "above 0.39 at 11 of 30 steps" in text
    assert "The maximum of `kl` is 0.4" in text


def test_whether_it_was_ever_zero_is_a_condition() -> None:
    assert ask(own(), "was skipped_groups ever 0").answer.startswith(
        "**Yes: `skipped_groups` is exactly zero at 10 steps"
    )


def test_longest_of_a_length_is_its_own_key() -> None:
    table = {s: {"rollout/response_len/mean": 300.0 + s, "rollout/response_len/max": 900.0 + s} for s in range(1, 13)}
    text = ask(
        run_of(table, framework="slime", format="slime"), "what was the longest response and at what step"
    ).answer
    assert "`rollout/response_len/max` is 912" in text.split("\n")[0]


def test_counts_of_one_name_and_two_values_are_told_apart() -> None:
    """How many steps share the maximum, and how many are cut, are two numbers."""
    lines = [
        f"step:{step} - actor/entropy:{0.5:.3f} - " + ("response_len" if step % 5 == 0 else "response_length/max:800.0")
        for step in range(1, 121)
    ]
    text = ask(parse_text("\n".join(lines)).runs[0], "what was the longest response ever and at what step").answer
    assert "shared by 96 steps: 96 steps between 1 and 119" in text
    assert text.count("24 steps") == 1


def test_order_takes_the_first_nan_as_the_break() -> None:
    table = {
        step: {"actor/grad_norm": float("nan") if step >= 9 else 0.3, "critic/rewards/mean": 0.5 - 0.01 * step}
        for step in range(1, 21)
    }
    text = ask(run_of(table), "what broke first, the gradient or the reward?").answer
    assert text.startswith("**`actor/grad_norm` broke first: it is no finite number from step 9 on")
