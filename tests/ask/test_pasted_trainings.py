"""Pastes of trainers' logs with what people write beside them: the first sentence tells what the numbers show."""

from __future__ import annotations

import pytest

from assistant.model import Answer
from assistant.service import Source, service


def paste(text: str, question: str = "") -> Answer:
    material = service().read([Source("paste.txt", text)])
    return service().explain(material, question).answer


def lead(text: str, question: str = "") -> str:
    return paste(text, question).answer.splitlines()[0]


def console(losses: list[float], **more: list[float]) -> str:
    """Dictionaries of a Trainer."""
    rows = []
    for place, loss in enumerate(losses):
        extra = "".join(f"'{key}': {values[place]}, " for key, values in more.items())
        rows.append(f"{{'loss': {loss}, {extra}'learning_rate': 1e-05, 'epoch': {(place + 1) / 100}}}")
    return "\n".join(rows) + "\n"


VANISHING = [1.02, 0.91, 0.95, 1.28, 8.19, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How is this run going?", ("exactly 0 from row 5 on (3 values)", "8.19 at row 4")),
        ("Is the loss normal?", ("Not normal", "exactly 0 from row 5 on")),
        ("loss 正常吗", ("不正常", "从记录 5 起恰好是 0（3 个值）", "8.19")),
        ("训练得怎么样", ("恰好是 0", "8.19")),
    ],
)
def test_loss_that_vanishes_from_one_value_to_the_next_is_told_as_broken(question: str, words: tuple[str, ...]) -> None:
    first = lead(console(VANISHING), question)
    assert all(word in first for word in words), first


@pytest.mark.parametrize(
    "losses", [[1.0, 0.5, 0.2, 0.1, 0.04, 0.01, 0.0, 0.0], [0.0] * 6, [1.0, 0.9, 0.0, 0.8, 0.7, 0.6]]
)
def test_loss_that_falls_to_zero_by_and_by_is_not_told_as_broken(losses: list[float]) -> None:
    assert "exactly 0 from" not in paste(console(losses), "How is this run going?").answer


def test_loss_of_a_policy_may_be_zero_after_a_large_one() -> None:
    text = console([0.5, 0.4, 0.0, 0.0], reward=[0.1, 0.2, 0.2, 0.3], reward_std=[0.1] * 4, kl=[0.0] * 4)
    assert "exactly 0 from" not in paste(text, "How is this run going?").answer


def test_evaluation_loss_that_is_nan_is_no_usual_value() -> None:
    first = lead(
        "{'eval_loss': nan, 'eval_runtime': 143.8, 'eval_samples_per_second': 17.5, 'eval_steps_per_second': 2.1}"
    )
    assert "`eval_loss` is NaN" in first
    assert "nothing unusual" not in first


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Why is the loss like this?", ("`loss` is falling", "2 at row 0", "0.900 at row 11")),
        ("loss 为什么会这样", ("`loss` 在下降", "记录 0 为 2", "0.900")),
    ],
)
def test_reason_of_a_metric_is_led_by_its_values_and_not_by_its_definition(
    question: str, words: tuple[str, ...]
) -> None:
    made = paste(console([2.0 - 0.1 * place for place in range(12)]), question)
    first = made.answer.splitlines()[0]
    assert all(word in first for word in words), first
    assert "`loss`:" in made.answer or "`loss`：" in made.answer


def test_meaning_of_a_metric_is_still_led_by_its_definition() -> None:
    assert "falling" not in lead(console([2.0 - 0.1 * place for place in range(12)]), "What does loss mean?")


def test_why_something_will_be_zero_is_no_forecast() -> None:
    text = console(
        [0.0, 0.01, 0.04, 17.8],
        reward=[0.9, 0.7, 1.26, 0.0],
        reward_std=[0.8, 0.7, 0.6, 0.0],
        kl=[0.0001, 0.001, 1.05, 445.5],
    )
    made = paste(text, "Why will the final reward be 0?")
    assert made.intent != "forecast"
    assert "`reward` is 0 (row 3)" in made.answer.splitlines()[0]


def test_step_of_few_whose_values_leap_is_not_said_to_be_usual() -> None:
    text = console([0.5, 0.51, 0.52, 17.8], kl=[1.0, 1.02, 1.05, 445.5], entropy=[0.5, 0.5, 0.51, 0.5])
    first = lead(text, "Explain step 3")
    assert "nothing unusual" not in first
    assert "`kl` (1.05 → 446)" in first
    assert "`loss` (0.52 → 17.8)" in first
    assert "entropy" not in first


MEANING = (
    "| approxkl | 0.00069 |\n| clipfrac | 0.0039 |\n| ep_rewmean | nan |\n| explained_variance | 0.847 |\n"
    "| fps | 142 |\n| nupdates | 782 |\n| policy_loss | -0.0118 |\n| total_timesteps | 100096 |\n"
    "| value_loss | 0.44 |\n"
)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What do these values mean?", "metrics of the log"),
        ("what is the meaning of these metrics", "metrics of the log"),
        ("这些指标分别是什么意思", "个指标"),
        ("日志里这些值分别代表什么意思", "个指标"),
    ],
)
def test_meaning_of_all_that_is_printed_is_told_metric_by_metric(question: str, word: str) -> None:
    made = paste(MEANING, question)
    assert made.verdict.code == "answered"
    assert word in made.answer.splitlines()[0]
    assert "`explained_variance` | 0.847 |" in made.answer
    assert "`ep_rewmean` NaN" in made.answer


def test_low_gradient_norm_does_not_stand_out_as_something_odd() -> None:
    text = console([11.6, 8.9, 7.3, 5.8], grad_norm=[430.0, 282.0, 508.0, 84.0])
    assert "stands out" not in lead(text, "Is this grad_norm normal?")


def mmengine(counter: str, eta: str) -> str:
    return "".join(
        f"2025/05/07 11:45:1{n} - mmengine - INFO - {counter.replace('N', str(10 * n))}  lr: 1.7e-04  {eta}"
        f"  time: 2.0000  data_time: 0.01  memory: 15266  loss: 0.6{n}\n"
        for n in range(1, 7)
    )


def test_time_left_is_held_against_what_the_trainer_prints() -> None:
    made = paste(mmengine("Iter(train) [ N/2060]", "eta: 1:06:40"), "Is this eta reasonable?")
    assert "2,000 steps left take 4,000 s (66.7 min)" in made.answer.splitlines()[0]
    assert "prints 4,000 s (66.7 min) left" in made.answer
    assert "agrees" in made.answer


def test_time_left_printed_that_differs_is_said_to_differ() -> None:
    made = paste(mmengine("Iter(train) [ N/2060]", "eta: 10:06:40"), "Is this eta reasonable?")
    assert "differs" in made.answer


def test_place_within_an_epoch_is_no_total_of_steps() -> None:
    first = lead(mmengine("Epoch(train) [3][ N/735]", "eta: 2:44:21"), "how long will it take?")
    assert "9,861 s (2.7 h) are left" in first
    assert "735" not in first


def test_single_row_tells_its_total_where_its_counter_is_named() -> None:
    text = (
        "2025-04-18 21:58:31,047 - mmdet - INFO - Iter [10100/316440]\tlr: 3.990e-04, eta: 7 days, 4:23:57, "
        "time: 2.125, data_time: 0.014, memory: 15378, loss: nan, grad_norm: nan\n"
    )
    made = paste(text, "Is this eta reasonable?")
    assert "306,340 steps left" in made.answer.splitlines()[0]
    assert "620,637 s (7.2 days) left" in made.answer


SUMMED = console([1.9, 1.7, 1.6]) + (
    "{'train_runtime': 4583.0, 'train_samples_per_second': 9.6, 'train_steps_per_second': 2.4, 'train_loss': 6.4, "
    "'epoch': 1.0}\n"
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("train_loss与正常loss对不上", ("6.4", "全程平均", "1.6", "4 倍")),
        ("Why is the final train_loss so different?", ("6.4", "mean over the whole training", "1.6", "(the mean is 4")),
    ],
)
def test_closing_mean_of_the_loss_is_told_apart_from_the_last_value(question: str, words: tuple[str, ...]) -> None:
    first = lead(SUMMED, question)
    assert all(word in first for word in words), first


def test_nan_that_does_not_last_is_said_to_be_over() -> None:
    text = console([1.9, 0.9, 0.8], grad_norm=["nan", 3.9, 3.8])  # type: ignore[list-item]
    assert "Finite values come again afterwards (3.9 at row 1)" in lead(text, "is grad_norm nan?")
    text = console([1.9, 0.9, 0.8], grad_norm=[3.9, 3.8, "nan"])  # type: ignore[list-item]
    assert "finite again" not in paste(text, "is grad_norm nan?").answer


def by_the_clock(seconds: list[float]) -> str:
    return "".join(
        f"INFO:mlagents.trainers: run: Brain: Step: {1000 * n}. Time Elapsed: {value:.3f} s Mean Reward: 0.{n}00. "
        "Std of Reward: 0.400. Training.\n"
        for n, value in enumerate(seconds, start=1)
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ([10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0], ("200 steps a second", "did not get slower")),
        ([10.0, 12.0, 14.0, 16.0, 26.0, 36.0, 46.0], ("167 steps a second", "got slower", "500", "100")),
    ],
)
def test_clock_that_runs_through_a_log_tells_its_speed(seconds: list[float], words: tuple[str, ...]) -> None:
    first = lead(by_the_clock(seconds), "Does it get slower?")
    assert all(word in first for word in words), first


def test_speeds_of_two_logs_in_one_text_are_no_course() -> None:
    def rows(steps: range, speed: float) -> str:
        return "".join(
            f"{{'loss': 0.4, 'grad_norm': 3.6, 'learning_rate': 1e-05, 'train_speed(iter/s)': {speed}, 'epoch': 0.2, "
            f"'global_step/max_steps': '{step}/4491', 'elapsed_time': '25m 15s', 'remaining_time': '5h 59m 14s'}}\n"
            for step in steps
        )

    made = paste(rows(range(295, 310, 5), 0.195) + "\n" + rows(range(50, 65, 5), 0.031), "is it getting slower?")
    first = made.answer.splitlines()[0]
    assert "0.031" in first
    assert "0.195" in first
    assert "faster:" not in first
    assert "steps go back" in first


def test_progress_bar_tells_the_time_of_a_step_where_nothing_else_does() -> None:
    text = (
        "  9%|▉         | 249/2724 [9:12:40<91:10:10, 132.61s/it]\n"
        "{'loss': 1.89, 'learning_rate': 0.00019920353585932578, 'epoch': 0.18}\n"
        "  9%|▉         | 250/2724 [9:14:53<91:10:34, 132.67s/it]\n"
    )
    assert "133 秒" in lead(text, "速度变慢了吗")


LEVEL = console([4.84, 4.9, 5.04, 4.99, 5.84])


@pytest.mark.parametrize(
    "question",
    [
        "why does the loss not go below 4.8?",
        "Why can't the loss be lower than 4.8?",
        "why is the loss not below 4.8",
        "the loss never drops below 4.8, is that normal?",
    ],
)
def test_what_a_question_says_not_to_be_so_is_not_denied_where_it_is_not(question: str) -> None:
    assert not lead(LEVEL, question).lstrip("*").startswith(("Not so", "No"))


def test_what_a_question_says_not_to_be_so_is_denied_where_it_is() -> None:
    first = lead(LEVEL, "why does the loss not go below 5?")
    assert "4.84" in first


def test_value_behind_not_normal_is_still_held_against_the_log() -> None:
    assert "Not so" in lead(LEVEL, "the loss is not normal, it is above 10, is that a problem?")


DETECTRON = "".join(
    f"[10/11 13:3{n}:24 d2.utils.events]:  eta: 7 days, 18:11:51  iter: {n}9  total_loss: 7.0{n}  time: 2.5\n"
    for n in range(1, 6)
)


@pytest.mark.parametrize(
    "front",
    [
        "Time of your model\nHello, why does it take about 7 days to train on 8 GPUs.\n\nand 14 days on others.\n\n"
        "Is there some mistake in my process?\n",
        "About the model\n\nSome words about it.\n\nMore words about what was done.\n\nAnd more.\n\n"
        "Why does it take about 7 days to train?\n",
    ],
)
def test_question_above_a_log_is_found_wherever_the_text_begins(front: str) -> None:
    made = paste(f"{front}\n{DETECTRON}")
    assert "take about 7 days" in made.question
    assert "`time` is 2.5 at the median of its 5 values" in made.answer.splitlines()[0]
    assert "670,311 s (7.8 days) are left" in made.answer


def test_single_step_time_is_told_where_the_speed_is_asked_about() -> None:
    first = lead('8 GPUs. Is the training speed normal?  {"step": 22, "epoch": 1, "loss": 0.0839, "step_time": 2.98}')
    assert "`step_time` is 2.98 at step 22" in first


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("loss突然下降至0", ("恰好是 0", "8.19")),
        ("微调损失函数无法收敛", ("恰好是 0", "8.19")),
        ("The loss does not converge", ("exactly 0", "8.19")),
    ],
)
def test_complaint_of_a_loss_that_vanished_is_told_what_happened_to_it(said: str, words: tuple[str, ...]) -> None:
    first = lead(f"{said}\n\n{console(VANISHING)}")
    assert all(word in first for word in words), first


def scales(values: list[float]) -> str:
    return "".join(
        f"DLL 2020-06-03 02:4{n}:14.640910 - PARAMETER loss_scale : {value}\n" for n, value in enumerate(values)
    )


def test_factor_from_each_value_to_the_next_is_not_denied_by_the_ends() -> None:
    text = scales([524288.0, 262144.0, 131072.0, 65536.0, 32768.0, 16384.0, 8192.0])
    assert "Not so" not in paste(text, "Why does the loss_scale halve every time?").answer
    assert "对" in lead(text, "loss_scale 每次减半，对吗？")[:4]


def test_factor_that_not_every_change_has_is_denied_with_how_many_have_it() -> None:
    text = scales([524288.0, 262144.0, 131072.0, 131072.0, 131072.0, 131072.0, 65536.0])
    first = lead(text, "The loss_scale halves every time, right?")
    assert first.lstrip("*").startswith(("No", "Not so"))
    assert "3 of its 6 changes" in first


def test_complaint_of_nan_that_does_not_last_is_not_told_as_broken_from_the_start() -> None:
    text = console([1.9, 0.9, 0.8], grad_norm=["nan", 3.9, 3.8])  # type: ignore[list-item]
    first = lead(f"reward is bad and grad_norm becomes nan\n\n{text}", "where is grad_norm nan?")
    assert "Finite values come again afterwards (3.9 at row 1)" in first
    assert "it broke there" not in first


def test_nan_of_an_evaluation_alone_is_not_said_to_be_absent() -> None:
    text = "".join(
        f"{{'loss': {2 - 0.1 * n:.1f}, 'learning_rate': 1e-05, 'epoch': {n}.0}}\n"
        f"{{'eval_loss': {'nan' if n == 4 else 1.5}, 'eval_runtime': 7.0, 'epoch': {n}.0}}\n"
        for n in range(1, 5)
    )
    made = paste(text, "The occurrence of NaN in the eval_loss.")
    assert "There is no NaN" not in made.answer
    assert "NaN" in made.answer.splitlines()[0]


def test_time_in_every_time_is_no_question_of_the_time() -> None:
    first = lead(scales([524288.0, 262144.0, 131072.0, 65536.0, 32768.0]), "Why does loss_scale halve every time?")
    assert "`loss_scale`" in first
    assert "stages" not in first
