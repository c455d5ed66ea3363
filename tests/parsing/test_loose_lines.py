"""Lines of a counter and values in a dress of their own."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text

LOSSES = [2.5 - 0.25 * place for place in range(6)]


@pytest.mark.parametrize(
    ("shape", "axis", "metric", "steps"),
    [
        ("[epoch]: 7, [batch]: {n}00, [loss]: {v}", "batch", "loss", [100, 200, 300, 400, 500, 600]),
        ("<epoch:3, iter:{n}000, lr:5.000e-04, loss:{v}>", "iteration", "loss", [1000, 2000, 3000, 4000, 5000, 6000]),
        (
            "[10/11 13:3{n}:24 d2.utils.events]:  eta: 7 days, 18:11:51  iter: {n}9  total_loss: {v}  time: 2.5"
            "  lr: 1e-06  max_mem: 6130M",
            "iteration",
            "total_loss",
            [19, 29, 39, 49, 59, 69],
        ),
        (
            "Game number: 00{n}00  Frame number: 0{n}81609  Average reward: {v}  Time taken: 38.0s",
            "frame",
            "Average reward",
            [int(f"{n}81609") for n in range(1, 7)],
        ),
        ("DLL 2020-06-03 02:4{n}:14.640910 - PARAMETER loss_scale : {v}", "index", "loss_scale", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_parse_text_counted_values_in_any_dress_are_rows(shape: str, axis: str, metric: str, steps: list[int]) -> None:
    text = "\n".join(shape.replace("{n}", str(n)).replace("{v}", str(LOSSES[n - 1])) for n in range(1, 7))
    (run,) = parse_text(text).runs
    assert (run.step_axis, list(run.steps)) == (axis, steps)
    assert [cell.value for cell in run.cells(metric)] == LOSSES


def test_parse_text_object_behind_a_question_is_a_row_and_the_question_stays() -> None:
    parsed = parse_text('8 GPUs. Is the speed normal?  {"step": 22, "epoch": 1, "loss": 0.0839, "step_time": 2.98}')
    (run,) = parsed.runs
    assert list(run.steps) == [22]
    assert run.value("step_time", 22) == 2.98
    assert [one.text for one in parsed.prose] == ["8 GPUs. Is the speed normal?"]


@pytest.mark.parametrize(
    "text",
    [
        "We train with batch: 64 and get a loss: 0.5 after the warm-up of the schedule",
        'settings: {"step": 22, "lr": 0.1, "loss": 3}',
        "train(epoch=3, loss=0.5)",
        "python train.py --epoch: 3 --loss=0.5",
        "batch: 64, lr: 0.01",
        "loss: 0.5",
    ],
)
def test_parse_text_settings_and_sentences_are_no_loose_lines(text: str) -> None:
    assert all(run.format != "loose-lines" for run in parse_text(text).runs)


def test_parse_text_logger_prefix_with_a_clock_of_its_own_on_each_line() -> None:
    lines = [
        f"[INFO|2025-05-12 01:53:{20 + n}] logging.py:143 >> "
        f"{{'loss': {value}, 'learning_rate': 4.9e-05, 'epoch': {n}.5, 'throughput': 1{n}90.5}}"
        for n, value in enumerate(LOSSES)
    ]
    (run,) = parse_text("\n".join(lines)).runs
    assert [cell.value for cell in run.cells("loss")] == LOSSES


def test_parse_text_global_step_behind_an_epoch_dates_the_rows() -> None:
    lines = [f"Epoch {n // 3}, global step {5000 + 10 * n}, train lm loss: {value}" for n, value in enumerate(LOSSES)]
    (run,) = parse_text("\n".join(lines)).runs
    assert list(run.steps) == [5000 + 10 * n for n in range(6)]
    assert run.step_axis == "step"


def test_parse_text_estimator_rows_hold_what_is_printed_before_their_step() -> None:
    lines = []
    for n in range(1, 5):
        front = f"I0814 16:59:0{n}.674449 140168988681984 tf_logging.py:115] "
        lines.append(f"{front}global_step/sec: 4{n}.5")
        lines.append(f"{front}cross_entropy = 2.{n}, learning_rate = 0.0125, train_accuracy = 0 (2.336 sec)")
        lines.append(f"{front}loss = 3.{n}, step = {n}00 (2.336 sec)")
    (run,) = parse_text("\n".join(lines)).runs
    assert list(run.steps) == [100, 200, 300, 400]
    assert [cell.value for cell in run.cells("loss")] == [3.1, 3.2, 3.3, 3.4]
    assert [cell.value for cell in run.cells("train_accuracy")] == [0, 0, 0, 0]
    assert [cell.value for cell in run.cells("global_step/sec")] == [41.5, 42.5, 43.5, 44.5]


def test_parse_text_estimator_lines_behind_their_level_are_read() -> None:
    text = "INFO:tensorflow:global_step/sec: 4.23\nINFO:tensorflow:loss = 1.59, step = 45000 (1180.966 sec)\n"
    (run,) = parse_text(text).runs
    assert run.value("loss", 45000) == 1.59
    assert run.value("global_step/sec", 45000) == 4.23


def test_parse_text_summary_of_a_training_alone_is_one_row() -> None:
    text = (
        "训练完6000步之后，结果如下：\n{\n"
        '    "epoch": 1.68,\n    "train_loss": 4.087,\n    "train_runtime": 389852.35,\n'
        '    "train_samples": 114599\n}\n'
        "loss很大，是为什么？\n"
    )
    (run,) = parse_text(text).runs
    assert run.value("train_loss", 0) == 4.087
    assert run.format == "trainer-summary"


@pytest.mark.parametrize(
    "text",
    ['{"train_loss": 1.0, "name": "x"}', "x = 3, step = function(4)", "lr = 0.1", "speed/sec: fast", "a = 1, b = 2"],
)
def test_parse_text_assignments_are_no_estimator(text: str) -> None:
    assert all(run.format not in {"tf-estimator", "trainer-summary"} for run in parse_text(text).runs)


def test_names_and_values_with_only_blanks_between_are_read() -> None:
    text = "\n".join(
        f"Time 08h 3{i}m 42s, Avg Reward 0.0{i}, Avg Accuracy 0.2{i}, Avg Ep length 5.{i}" for i in range(1, 5)
    )
    run = parse_text(text).runs[0]
    assert list(run.series("Avg Accuracy")[1]) == [0.21, 0.22, 0.23, 0.24]
    assert not parse_text("We took GPU 0, CPU 1, disk 2 and went home.\nWith lr 3, bs 4, seed 5, it failed.").runs


def test_values_between_fences_that_name_a_language_are_read() -> None:
    rows = "\n".join(f"[train: 120, {i} / 125] FPS: 21.6  ,  Loss/total: 0.3{i}  ,  Loss/iou: 0.1  ,  reward: -0.00{i}"
                     for i in range(5, 9))  # fmt: skip
    run = parse_text(f"```python\n{rows}\n```").runs[0]
    assert list(run.series("reward")[1]) == [-0.005, -0.006, -0.007, -0.008]
    assert not parse_text("```python\nlr: float = 0.1\nloss: float = compute(x, reward=3)\n```").runs
