"""Lines behind a counter, progress bars with values, and the blocks of Keras, Ultralytics, Ray Tune and W&B."""

import math
import random

import pytest

from assistant.parsing import parse_text, registry
from assistant.parsing.repair import prepare
from tests.parsing.generators import damage
from tests.parsing.generators.headed_trainers import PRINTERS
from tests.parsing.test_nanogpt import cells_of, read_cells
from tests.timing import assert_in_proportion, once

MINE = (
    "dreamer",
    "headed-lines",
    "bar-postfix",
    "keras",
    "yolo",
    "ray-tune",
    "sb3-eval",
    "counted-lines",
    "wandb-summary",
)


@pytest.mark.parametrize("name", PRINTERS)
@pytest.mark.parametrize("seed", range(4))
def test_headed_lines_with_damage_are_read_exactly(name: str, seed: int) -> None:
    rng = random.Random(seed)
    printed = [line for step in range(1, 13) for line in PRINTERS[name](rng, step)]
    lines, places = damage.with_noise([line for line, _, _ in printed], rng)
    lines = [rng.choice([damage.ray, damage.colour, str])(line) for line in lines]
    text = "\n".join(lines)
    assert read_cells(text) == cells_of(printed, places)
    assert parse_text(text).runs[0].format == name


@pytest.mark.parametrize("name", ["torchtitan", "litgpt", "ml-agents"])
def test_headed_lines_cut_anywhere_hold_no_half_value(name: str) -> None:
    rng = random.Random(7)
    printed = [line for step in range(1, 5) for line in PRINTERS[name](rng, step)]
    whole = "\n".join(line for line, _, _ in printed)
    true = {(step, key, repr(value)) for _, step, row in printed for key, value in row.items()}
    *_, last = printed
    begin = len(whole) - len(last[0])
    for end in range(begin + 10, len(whole)):
        for run in parse_text(whole[:end]).runs:
            held = {(cell.step, key, repr(cell.value)) for key in run.metrics for cell in run.cells(key)}
            extra = {cell for cell in held - true if cell[0] == last[1] and cell[1] not in {"epoch", "iter"}}
            assert not extra, whole[begin:end]


def test_torchtitan_several_ranks_print_the_same_line_counts_once() -> None:
    (line, _, _), (other, _, _) = (PRINTERS["torchtitan"](random.Random(1), step)[0] for step in (4, 5))
    (run,) = parse_text("\n".join([line, line, other, other])).runs
    assert run.steps == (4, 5)
    assert "duplicate_lines" in {note.code for note in run.warnings}


def test_mmengine_validation_is_apart_from_training() -> None:
    text = (
        "Epoch(train) [1][20/30]  lr: 1e-2  loss: 0.5\nEpoch(val) [1][5/5]  loss: 0.7  coco/bbox_mAP: 0.3\n"
        "Epoch(train) [2][10/30]  lr: 1e-2  loss: 0.4\n"
    )
    (run,) = parse_text(text).runs
    assert run.steps == (20, 40)
    assert {key: list(run.columns[key].values) for key in run.columns} == {
        "lr": [0.01, 0.01], "loss": [0.5, 0.4], "epoch": [1, 2], "val/loss": [0.7], "coco/bbox_mAP": [0.3],
    }  # fmt: skip


def test_bar_postfix_last_drawing_of_a_place_counts() -> None:
    bar = "Epoch 0:  11%|█   | 2/18 [00:11<01:33,  5.82s/it, loss={}, v_num=1]"
    (run,) = parse_text("\r".join([bar.format(10.473), bar.format(10.224)]) + "\n").runs
    assert (run.steps, list(run.columns["loss"].values)) == ((2,), [10.224])


@pytest.mark.parametrize(
    "bar",
    [
        "Epoch 0: 100%|██████████| 10/10 [00:05<00:00,  1.9it/s, v_num=0]",
        "Loading checkpoint shards: 100%|██████████| 4/4 [00:08<00:00,  2.1s/it]",
        "Map (num_proc=8): 100%|██████████| 7473/7473 [00:01<00:00, 5000.11 examples/s]",
    ],
)
def test_bar_postfix_without_metric_is_nothing(bar: str) -> None:
    assert not parse_text(f"{bar}\n{bar}\n").runs


@pytest.mark.parametrize("bar", ["[==============================]", "━━━━━━━━━━━━━━━━━━━━"])
def test_keras_epochs_are_rows(bar: str) -> None:
    rng = random.Random(3)
    lines, expected = [], []
    for epoch in range(1, 6):
        loss, acc = f"{rng.uniform(0, 2):.4f}", rng.choice(["nan", "0.0000e+00", f"{rng.random():.4f}"])
        dash = " - " if "=" in bar else " "
        lines += [f"Epoch {epoch}/10", f"60/60 {bar}{dash}5s 87us/step - loss: {loss} - val_acc: {acc}"]
        expected.append((epoch, float(loss), acc))
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.format, run.step_axis, run.steps) == ("keras", "epoch", (1, 2, 3, 4, 5))
    assert list(run.columns["loss"].values) == [loss for _, loss, _ in expected]
    assert list(map(repr, run.columns["val_acc"].values)) == [repr(float(acc)) for _, _, acc in expected]


def test_keras_running_epoch_is_named_as_such() -> None:
    text = "Epoch 1/3\n60/60 [====] - 5s - loss: 0.5\nEpoch 2/3\n13/60 [==>..] - ETA: 3s - loss: 0.4\n"
    (run,) = parse_text(text).runs
    assert list(run.columns["loss"].values) == [0.5, 0.4]
    assert "running_mean" in {note.code for note in run.warnings}


def test_yolo_epoch_and_validation_share_a_row() -> None:
    text = (
        "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n"
        "    151/200      10.4G     0.4635        nan       1578        640: 100%|██| 99/99 [01:52<00:00]\n"
        "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|█| 2/2\n"
        "                   all        498      70099      0.937      0.905      0.941       0.82\n"
    )
    (run,) = parse_text(text).runs
    values = {key: column.values[0] for key, column in run.columns.items()}
    assert math.isnan(values.pop("cls_loss"))
    assert values == {
        "GPU_mem": 10.4, "box_loss": 0.4635, "Instances": 1578, "Size": 640, "Images": 498,
        "Box(P)": 0.937, "Box(R)": 0.905, "Box(mAP50)": 0.941, "Box(mAP50-95)": 0.82,
    }  # fmt: skip
    assert (run.steps, list(run.columns["Box(R)"].lines)) == ((151,), [4])


def test_ray_tune_nested_results_are_rows_of_their_trial() -> None:
    block = (
        "Result for {}:\n  date: 2022-07-27_15-41-01\n  done: false\n  config:\n    lr: 0.1\n"
        "  episode_reward_mean: {}\n"
        "  info:\n    learner:\n      kl: 0.02\n  node_ip: 127.0.0.1\n  pid: 77\n  training_iteration: {}\n\n"
    )
    runs = parse_text(block.format("A", 1.5, 1) + block.format("B", "nan", 1) + block.format("A", 2.5, 2)).runs
    assert [(run.steps, sorted(run.columns)) for run in runs] == [
        ((1, 2), ["episode_reward_mean", "info/learner/kl"]),
        ((1,), ["episode_reward_mean", "info/learner/kl"]),
    ]
    assert list(runs[0].columns["episode_reward_mean"].lines) == [6, 32]


def test_ray_tune_configuration_is_no_result() -> None:
    assert not parse_text("config:\n  lr: 0.0001\n  entropy_coeff: 0.01\n  training_iteration: 10\n").runs


def test_wandb_summary_is_read_and_its_history_is_not() -> None:
    text = (
        "wandb: Run history:\nwandb:        eval/loss █▄▂▁\nwandb: \nwandb: Run summary:\n"
        "wandb:        eval/loss 0.37632\n"
        "wandb:       best_model 'ckpt-100'\nwandb: train/train_loss nan\nwandb:         _runtime 288\n"
        "wandb:            _step 120\nwandb: \nwandb: Synced 5 W&B file(s), 0 media file(s)\n"
    )
    (run,) = parse_text(text).runs
    assert (run.steps, run.step_axis, sorted(run.columns)) == ((120,), "_step", ["eval/loss", "train/train_loss"])
    assert list(run.columns["eval/loss"].lines) == [5]


def test_sb3_evaluations_stand_beside_the_tables() -> None:
    table = "--------\n| time/              |      |\n|    total_timesteps | {}    |\n|    fps | 9 |\n--------\n"
    lines = "Eval num_timesteps={}, episode_reward=-200.12 +/- 11.30\nEpisode length: 200.00 +/- 0.00\n"
    text = "".join(table.format(step) + lines.format(step) for step in (1000, 2000, 3000))
    _, evals = parse_text(text).runs
    assert (evals.format, evals.steps) == ("sb3-eval", (1000, 2000, 3000))
    assert evals.columns["episode_reward +-"].values[0] == 11.3


def test_dreamer_metrics_below_each_rule_are_a_row() -> None:
    text = (
        "───────── Step 15104 ─────────\nepisode/length 3000 / episode/score nan /   \ntrain/kl 7e-6 / fps/train 12\n\n"
        "-----[Agent Step 558_096]-----\nMetrics filtered by: 'score|fps'\nepisode/length 200 / train/kl 4.3e-"
    )
    (run,) = parse_text(text).runs
    assert (run.format, run.steps) == ("dreamer", (15104, 558096))
    assert {key: list(column.values) for key, column in run.columns.items() if key != "episode/score"} == {
        "episode/length": [3000, 200], "train/kl": [7e-6], "fps/train": [12],
    }  # fmt: skip
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("train/kl", "half_value")]
    assert list(run.columns["train/kl"].lines) == [3]


@pytest.mark.parametrize(
    ("line", "step", "row"),
    [
        ("Episode: 59, Actions: 2351, reward: -18, Avg. reward: -19.900", 59, {"reward": -18, "Avg. reward": -19.9}),
        ("[12:00:01] Epoch 59/99, Train Loss: nan, Val Acc: 87.5%", 59, {"Train Loss": math.nan, "Val Acc": 87.5}),
        ("Epoch: 059 | Loss: 1.234 | Acc: 0.51", 59, {"Loss": 1.234, "Acc": 0.51}),
        ("Episode 59\tAverage Score: 12.50", 59, {"Average Score": 12.5}),
        ("  39/50: episode: 59, duration: 0.073s, mean reward: 1.000 [1.0, 1.0], loss: 7.5", 59, {"mean reward": 1.0}),
    ],
)
def test_counted_lines_are_read(line: str, step: int, row: dict[str, float]) -> None:
    (run,) = parse_text(f"{line}\n{line.replace('59', '60')}\n").runs
    assert run.steps == (step, step + 1)
    for key, value in row.items():
        assert repr(float(run.columns[key].values[0])) == repr(float(value))


@pytest.mark.parametrize(
    "text",
    [
        "for epoch in range(10):\n    print(f'Epoch {epoch}, loss: {loss:.4f}')\n",
        "Epoch 5, the dinosaurs died\nEpoch 6, nothing happened\n",
        "Step 1: pip install verl==0.4.0\nStep 2: set lr: 1e-6\nStep 3: run, time: 3 hours\n",
        "In step 5 the loss was about 0.4 and it rose to 0.6 in step 10; is this normal?\n",
        "<|im_start|>assistant\nEpisode 3, so\nreward: 0.5, score: 1.0\n<|im_end|>\n",
        "Run summary: the run finished after 3 hours.\nloss went down to 0.3\n",
    ],
)
def test_counted_lines_of_prose_and_programs_are_nothing(text: str) -> None:
    assert not parse_text(text).runs


@pytest.mark.parametrize(
    "pattern",
    [
        "Epoch 1: 1/2 [a, b, ", "Epoch 1, a ", "Epoch(train) [1][1/9]  a: ", "step: 1  a: 1 ", "| epoch 001: 1 / 2 a=",
        "Step: 1. Mean Reward: ", "fps step: 1 ", "1/2 - 1s - a: ", "Eval num_timesteps=1, ", "wandb: Run summary: ",
        "Result for a:", " a", "a: ", "Class Images ", "Epoch GPU_mem a ", "1|1|Loss: ", "iter 1 step 1 | loss 1, ",
        "[1, 2] ", " - ", ", ", "--- Step 1 ---\na 1 / ", "a/b 1 / ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("between", ["", "\n"])
def test_headed_formats_megabyte_is_quick(pattern: str, between: str) -> None:
    piece = pattern + between
    head = "Epoch 1 Run summary:\ntraining_iteration: 1\n"
    documents = once(lambda size: prepare("x", head + piece * (size // len(piece))))
    for known in registry.formats():
        if known.name in MINE:
            assert_in_proportion(known.read, documents, 1_000_000, label=known.name)


@pytest.mark.parametrize(
    ("lines", "axis", "steps", "key"),
    [
        ([f"[{e},  {b}] loss: {3 - e - b / 9000:.3f}" for e in (1, 2) for b in (2000, 4000)], "step",
         (2000, 4000, 6000, 8000), "loss"),
        ([f"2021-11-18 00:17:14,42{i} 93253 [INFO] Episode: {i}, reward: {400 + i}.00" for i in range(1, 5)], "episode",
         (1, 2, 3, 4), "reward"),
        ([f"2020-12-14-13-0{i}: epoch: {i} |loss 0.0{i} | hm_loss 2.9{i} | time 3.7 | " for i in range(1, 5)], "epoch",
         (1, 2, 3, 4), "hm_loss"),
    ],
    ids=["epoch-and-batch", "process-number", "minute-stamp"],
)  # fmt: skip
def test_parse_text_counted_lines_behind_other_fronts(
    lines: list[str], axis: str, steps: tuple[int, ...], key: str
) -> None:
    (run,) = parse_text("\n".join(lines)).runs
    assert run.step_axis == axis
    assert run.steps == steps
    assert key in run.columns
