"""Lines and blocks of hand-written loops: a counter in a sentence, a banner above values, columns held by blanks."""

from __future__ import annotations

import random
from math import isnan

import pytest

from assistant.parsing import parse_text

_RNG = random.Random(5)
_VALUES = [round(_RNG.uniform(-20, 20), 3) for _ in range(4)]
_STEPS = [71, 72, 73, 74]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("Total rewards in episode {step} is {value} total number of steps are {more}", "Total rewards"),
        ("Average reward after episode {step}: {value}", "Average reward"),
        ("Loss at step {step} = {value}", "Loss"),
        ("Episode {step} finished after {more} timesteps with reward {value}", "reward"),
        ("| Reward: {value}  | Episode {step} | Qmax: 38.5", "Reward"),
        ("12:56:21.327 [INFO] (trainer.py:77) Total Epi:   112 Steps:   {step} Episode Steps:   {more} "
         "Return: {value} FPS: 141.92", "Return"),
        ("    Step {step}     [1.8 sec/step, Loss={value}, avg_loss=0.56]", "Loss"),
        ("INFO:tensorflow:Step {step} per-step time 0.813s loss={value}", "loss"),
        ("I0912 11:40:27.956218 139735407601536 model_lib.py:652] Step {step} per-step time 0.8s loss={value}", "loss"),
        ("INFO:root:Step 0000{step}, model loss {value}, 5.59 seconds/step, 1.43 examples/second", "model loss"),
        ("INFO:tensorflow:global step {step}: loss = {value} (57.126 sec/step)", "loss"),
        ("epoch {step} best test acc: 0.9, train loss: {value}; train acc: 0.5002 val acc: 0.5", "train loss"),
        ("> Epoch {step}, Loss: {value}, ValLoss: 0.0001", "Loss"),
        ("Epoch: {step:04d} nll_train: 93185.5 loss_train: {value} time: 866.2s", "loss_train"),
    ],
)  # fmt: skip
def test_a_counter_inside_a_line_dates_its_values(line: str, key: str) -> None:
    told = zip(_STEPS, _VALUES, strict=True)
    text = "\n".join(line.format(step=step, value=value, more=40 + step) for step, value in told)
    (run,) = parse_text(text + "\nThanks\n").runs
    assert run.series(key) == (_STEPS, _VALUES)


@pytest.mark.parametrize(
    "line",
    [
        "I saw the reward in episode 5 is 3 times as large as before and then it fell",
        "Loss at step 100 was 5% lower",
        "The accuracy of epoch 3 is 0.5 while we wanted more",
    ],
)
def test_a_sentence_of_prose_is_no_row(line: str) -> None:
    assert not parse_text(f"{line}\n{line}\n").runs


def test_values_below_a_banner_are_those_of_its_count() -> None:
    text = "\n".join(
        f"{'*' * 10} Iteration {step} {'*' * 12}\nTotal number of episodes:      {700 + step}\n"
        f"KL between old and new distribution:      {abs(value)} (this is greater than 2 * 0.01)\n"
        f"Surrogate loss:                           {value}\nTime elapsed:                             0.07 mins\n"
        for step, value in zip(_STEPS, _VALUES, strict=True)
    )
    (run,) = parse_text(text).runs
    assert run.series("Surrogate loss") == (_STEPS, _VALUES)
    assert run.series("KL between old and new distribution")[1] == [abs(value) for value in _VALUES]


def test_not_a_number_below_a_banner_is_read() -> None:
    text = f"{'-' * 20} Iteration #50 {'-' * 20}\nAverage Return: nan\nAverage Loss: nan\n{'-' * 54}\nany idea?\n"
    (run,) = parse_text(text).runs
    assert run.steps == (50,)
    assert all(map(isnan, run.series("Average Return")[1]))


@pytest.mark.parametrize("blank", [False, True])
def test_columns_held_apart_by_blanks_are_a_table(blank: bool) -> None:
    rows = [f"{n:<11} {value:<12} {'' if blank and n % 2 else '0.1':<24} {60.5 * n}" for n, value in enumerate(_VALUES)]
    head = f"{'epoch':<11} {'main/loss':<12} {'validation/main/accuracy':<24} elapsed_time"
    (run,) = parse_text("# epoch: 300\n\n" + "\n".join([head, *rows]) + "\n...\nvalidation does not change\n").runs
    assert run.series("main/loss") == ([0, 1, 2, 3], _VALUES)
    assert run.series("validation/main/accuracy")[0] == ([0, 2] if blank else [0, 1, 2, 3])


def test_epochs_of_keras_without_a_bar_are_read() -> None:
    text = "\n".join(
        f"Epoch {n}/16\n1{n}s - loss: {1 - n / 10:.4f} - acc: 0.5 - val_loss: 0.7 - val_acc: 0.72" for n in (1, 2, 3)
    )
    (run,) = parse_text(text).runs
    assert run.series("loss") == ([1, 2, 3], [0.9, 0.8, 0.7])
    assert run.step_axis == "epoch"


def test_a_bar_with_values_behind_blanks_is_read() -> None:
    text = "\n".join(
        f"Epoch {n}/300: 100%|██████████| 8144/8144 [1:24:14<00:00,  1.61 batches/s, Loss 6.2{n}, "
        f"Raw Acc (0.39, 2.4{n}), Val Loss 44.{n}]"
        for n in (85, 86)
    )
    (run,) = parse_text(text).runs
    assert run.series("Loss")[1] == [6.285, 6.286]
    assert run.series("Raw Acc (2)")[1] == [2.485, 2.486]


def test_a_value_in_bold_in_a_table_between_dashes_is_read() -> None:
    block = (
        "---------------------------------\n| time/              |          |\n|    total_timesteps | 95744    |\n"
        "| train/             |          |\n|    actor_loss      | 4.84     |\n|    reward          | **-3.5** |\n"
        "---------------------------------\n"
    )
    (run,) = parse_text(block).runs
    assert run.series("train/reward") == ([95744], [-3.5])


def test_not_a_number_as_yaml_writes_it_is_read() -> None:
    (run,) = parse_text("episode_reward_mean: .nan\nepisode_len_mean: .nan\nepisodes_total: 0\n").runs
    assert set(run.columns) == {"episode_reward_mean", "episode_len_mean", "episodes_total"}


def test_blocks_that_begin_with_their_count_are_rows() -> None:
    text = "\n".join(
        f"Episodes: {18000 + step}\nNum steps: {1000 * step}\nMean Episode reward: {value} \n"
        "Last Episode reward: -2.5 \n"
        "=========== DONE ================"
        for step, value in zip(_STEPS, _VALUES, strict=True)
    )
    (run,) = parse_text(f"Is there any improvement?\n{text}\n").runs
    assert run.series("Mean Episode reward") == ([18000 + step for step in _STEPS], _VALUES)
    assert run.step_axis == "episode"
