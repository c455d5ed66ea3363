"""Questions below logs of environments and of hand-written loops, as people paste them."""

from __future__ import annotations

import pytest

from assistant.model import Answer
from assistant.service.facade import Source, service


def asked(text: str, question: str = "") -> Answer:
    return service().explain(service().read([Source("paste.txt", text)]), question).answer


PENALTIES = "\n".join(
    f"{'#' * 80}\n                          Learning iteration {i}/1500\n\n"
    f"                        Collection time: 1.2s\n                            Mean reward: -68.{i}\n"
    "            Episode_Reward/track_lin_vel: 0.8\n             Episode_Reward/lin_vel_z_l2: -0.04\n"
    f"             Episode_Reward/joint_acc_l2: -3.{i}\n"
    for i in range(20, 27)
)
EVALUATED = "\n".join(
    f"Epoch: {i:04d} nll_train: {t} acc_train: 0.{i + 1} nll_val: {v} mse_val: 0.{v:03d} acc_val: 0.0 time: 86.2s"
    for i, (t, v) in enumerate(((93.1, 104), (40.8, 75), (28.3, 44), (23.0, 60), (20.6, 68)))
)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Which penalty is the largest?", "`Episode_Reward/joint_acc_l2` is the lowest part: -3.2"),
        ("why is the mean reward so negative?", "`Episode_Reward/joint_acc_l2` pulls the reward down most (-3.2"),
        ("哪个惩罚项最大？", "拉低最多的是 `Episode_Reward/joint_acc_l2`"),
        ("奖励为什么这么低？", "拉低奖励最多的是 `Episode_Reward/joint_acc_l2`"),
    ],
)
def test_a_low_reward_is_told_by_its_most_negative_part(question: str, begins: str) -> None:
    assert asked(f"{PENALTIES}\n{question}").verdict.summary.startswith(begins)


def test_a_reward_whose_parts_are_all_above_zero_has_none_that_pulls_it_down() -> None:
    log = PENALTIES.replace(": -3.", ": 3.").replace(": -0.04", ": 0.04")
    assert "pulls the reward down" not in asked(f"{log}\nwhy is the mean reward so negative?").answer


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Which epoch has the best nll_val?", "The minimum of `nll_val` is 44, at step 2"),
        ("哪个 epoch 的 mse_val 最好？", "`mse_val` 的最小值是 0.044，在 step 2"),
        ("which epoch is best by acc_train?", "The maximum of `acc_train` is 0.5, at step 4"),
    ],
)
def test_the_best_of_an_error_is_the_lowest(question: str, says: str) -> None:
    answer = asked(f"{EVALUATED}\n{question}")
    assert says in answer.verdict.summary
    assert "no epoch" not in answer.answer


def test_values_that_mean_something_are_no_mean() -> None:
    table = "\n".join(
        f"{'-' * 38}\n| % time spent exploring  | 2        |\n| episodes                | {100 * i}      |\n"
        f"| mean 100 episode reward | -{60 - i}    |\n| steps                   | {1800 + 600 * i}     |\n{'-' * 38}"
        for i in (1, 2, 3)
    )
    answer = asked(f"So, what exactly do these values mean? What does `episodes` represent?\n{table}")
    assert "The mean of `episodes`" not in answer.answer


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "I tried some parameters (num_layers, buffer_size, learning_rate, batch_size) to see. "
            "But every mean reward is negative. Why is it so?",
            "I tried some parameters to see. But every mean reward is negative. Why is it so?",
        ),
        ("why the reward doesn`t change, what`s the problem?", "why the reward doesn't change, what's the problem?"),
        ("Same episodic returns every epoch", "Same episodic returns every epoch - why?"),
    ],
)
def test_the_question_is_found_without_what_stands_beside_it(text: str, question: str) -> None:
    log = "\n".join(f"Step: {1000 * i}. Mean Reward: -0.5. Std of Reward: 0.07." for i in range(1, 6))
    assert service().read([Source("paste.txt", f"{text}\n\n{log}\n")]).question == question


def test_lines_that_a_program_prints_twice_ask_nothing() -> None:
    log = "\n".join(f"{{'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 0, 'epoch': 0.{i}}}" for i in range(1, 6))
    said = "tried to get lr value before scheduler started stepping, returning lr=0"
    text = f"loss始终为0\n\n{said}\n{said}\n{log}\n"
    assert service().read([Source("paste.txt", text)]).question == "loss始终为0，为什么？"


STAYING = "\n".join(
    f"{{'loss': 0.6931, 'learning_rate': 9.99e-06, 'rewards/chosen': 0.0, 'rewards/rejected': 0.0, "
    f"'rewards/accuracies': 0.0, 'rewards/margins': 0.0, 'logps/chosen': -{30 + i}.5, 'epoch': 0.{i}}}"
    for i in range(1, 5)
)
ALIKE = "\n".join(
    f"{'-' * 33}\n| time/              |          |\n|    episodes        | {170 + 4 * i}     |\n"
    f"|    total_timesteps | {93000 + 2000 * i}    |\n| train/             |          |\n"
    f"|    actor_loss      | {5 + i / 10}     |\n|    reward          | **-3.8** |\n{'-' * 33}"
    for i in range(3)
)


@pytest.mark.parametrize(
    "question",
    ["我的loss和rewards/chosen一直是以下这样的，这正常吗？", "Is the loss normal?", "loss 一直不变，正常吗？"],
)
def test_a_preference_loss_that_stays_at_the_start_is_not_normal(question: str) -> None:
    answer = asked(f"{question}\n{STAYING}")
    assert answer.verdict.code == "warning"
    assert ("is not being updated" in answer.answer) or ("没有在更新" in answer.answer)


def test_a_first_row_at_the_loss_without_preference_is_normal() -> None:
    answer = asked(f"loss 是 0.6931，正常吗？\n{STAYING.splitlines()[0]}")
    assert answer.verdict.code != "warning"


@pytest.mark.parametrize(
    "question", ["All episodes SAME REWARD!", "why is the reward always the same?", "reward 一直不变，为什么？"]
)
def test_returns_all_alike_are_told_by_what_makes_episodes_alike(question: str) -> None:
    answer = asked(f"{question}\n\n{ALIKE}\n")
    assert "`train/reward`" in answer.verdict.summary
    assert "-3.8" in answer.verdict.summary
    assert ("same return" in answer.answer) or ("回报都一样" in answer.answer)
    assert "scorer" not in answer.answer
    assert "prompts" not in answer.answer


def test_a_flat_reward_of_an_environment_lacks_nothing_of_answers_to_prompts() -> None:
    log = "\n".join(f"| Reward: {9 + i % 3}  | Episode {930 + i} | Qmax: {38 + i % 5}.8" for i in range(14))
    assert "cut off" not in asked(f"{log}\nwhy does the reward not increase?").answer


def test_few_rows_of_a_trainer_are_one_course() -> None:
    rows = "\n".join(
        f"{{'loss': {v}, 'learning_rate': 1.9e-05, 'epoch': {4.17 * i}}}" for i, v in enumerate((6.4, 2.1, 0.6, 0.2), 1)
    )
    text = f"LOSS下降太快\n{rows}\n这个是不是下降太快了？\n"
    assert service().read([Source("paste.txt", text)]).question == "LOSS下降太快。 这个是不是下降太快了？"
    answer = asked(text)
    assert answer.verdict.summary.startswith("`loss` 一步比一步低")
    assert "没有 step 编号" not in answer.answer
    assert "没有 step 编号" not in asked(f"{rows}\n正常吗？").answer


APART = "Epoch 50/50\n45000/45000 [=====] - 449s - loss: 0.035 - accuracy: 0.988 - val_loss: 2.68 - val_accuracy: 0.593"


@pytest.mark.parametrize(
    "question",
    [
        "Is it a normal performance?", "is it overfitting?", "val_accuracy is low, is that normal?",
        "why is val_accuracy so much lower than accuracy?", "过拟合了吗？",
    ],
)  # fmt: skip
def test_training_far_above_validation_is_told_with_both_values(question: str) -> None:
    answer = asked(f"{APART}\n{question}")
    assert answer.verdict.code == "warning"
    assert "0.988" in answer.verdict.summary
    assert "0.593" in answer.verdict.summary


def test_training_near_validation_is_no_gap() -> None:
    log = APART.replace("2.68", "0.036").replace("0.593", "0.981")
    assert "far better" not in asked(f"{log}\nis it overfitting?").answer


def test_a_mean_over_no_episode_is_told_by_the_count() -> None:
    log = "episode_len_mean: .nan\nepisode_reward_mean: .nan\nepisodes_this_iter: 0\nepisodes_total: 0\n"
    answer = asked(f"Always getting .nan reward while training with PPO, why?\n{log}")
    assert "`episodes_this_iter` is 0 there: no episode has ended yet" in answer.verdict.summary
    ended = log.replace("this_iter: 0", "this_iter: 3").replace("total: 0", "total: 9")
    assert "no episode" not in asked(f"Always getting .nan reward, why?\n{ended}").answer


def test_the_only_value_that_is_not_finite_is_called_so() -> None:
    head = f"{'#' * 80}\n{'':30}Learning iteration 8391/10000\n\n"
    block = f"{head}{'':15}Value function loss: inf\n{'':20}Mean reward: 25.6\n"
    answer = asked(f"{block}What is the cause of the value function loss becoming inf?")
    assert answer.verdict.summary.startswith("The only value of `Value function loss`, at step 8391, is ∞")


def test_last_episodes_are_no_single_step() -> None:
    log = "\n".join(f"global_step={200 * i}, episodic_return={-100 - 37 * (i % 5)}.5" for i in range(40, 60))
    answer = asked(f"Returns of the last episodes jump around a lot, is that normal?\n{log}")
    assert "Against step" not in answer.answer
    assert "`episodic_return`" in answer.verdict.summary
    assert "holds no" not in answer.answer


def test_a_training_that_seems_not_to_work_is_asked_for_learning() -> None:
    log = "\n".join(f"Total rewards in episode {i} is 3.8 total number of steps are {49 * i}" for i in range(70, 80))
    answer = asked(f"training not seemed to be working?\nI can see the game.\n\n{log}\n")
    assert "not fully understood" not in answer.answer
    assert answer.verdict.summary.startswith("No learning to be seen")


EPOCHS = (
    "| Epoch | Training Loss | Validation Loss | Accuracy |\n|---|---|---|---|\n| 1 | 0.9123 | 0.8123 | 0.701 |\n"
    "| 2 | 0.6234 | 0.7023 | 0.745 |\n| 3 | 0.4023 | 0.7234 | 0.751 |\n| 4 | 0.2123 | 0.8345 | 0.739 |"
)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("第几个 epoch 的验证损失最低？", "0.702"),
        ("第几个 epoch 最好？", "step 2"),
        ("which epoch has the lowest validation loss?", "at step 2"),
        ("is it overfitting?", "It looks like the beginning of overfitting"),
    ],
)
def test_epochs_of_a_table_are_asked_for_by_their_validation(question: str, says: str) -> None:
    answer = asked(f"{question}\n{EPOCHS}")
    assert says in answer.verdict.summary
    assert "没有验证" not in answer.answer
    assert "没有记录 epoch" not in answer.answer


def test_a_level_that_begins_with_nought_is_no_zero() -> None:
    rows = "\n".join(
        f"Epoch {i}/30\n200/200 [=====] - 48s - loss: 0.69{i} - accuracy: 0.49 - val_loss: 0.69{i} - val_accuracy: {v}"
        for i, v in enumerate((0.5, 0.5, 0.5, 0.5, 0.5, 0.56, 0.5), 1)
    )
    answer = asked(f"why is the val_accuracy always 0.5? The training result is as follows\n{rows}")
    assert "negative" not in answer.answer
    assert "no metrics of a validation" not in answer.answer
    assert "0.56" in answer.verdict.summary


def test_a_line_that_announces_the_log_is_no_part_of_the_question() -> None:
    log = "\n".join(f"INFO:tensorflow:Step {100 * i} per-step time 0.8{i}s loss={1 + i / 10}" for i in range(1, 9))
    text = f"Training problem\nwhy does the loss go up instead of down?\nthis is the training progress\n{log}\n"
    assert service().read([Source("paste.txt", text)]).question == "why does the loss go up instead of down?"


def test_best_epoch_beside_a_plain_loss_is_the_one_of_validation() -> None:
    answer = asked(f"微调时 loss 正常但 eval 变差，第几个 epoch 最好？\n{EPOCHS}")
    assert answer.verdict.summary.startswith("最好的是 step 2：`Validation Loss`")


def _rated(rates: list[float]) -> str:
    return "\n".join(
        f"Iter {10 * i}: Train loss {3 - 0.05 * i:.3f}, It/sec {v}, Tokens/sec {100 * v:.1f}"
        for i, v in enumerate(rates, 1)
    )


@pytest.mark.parametrize(
    ("question", "rates", "says"),
    [
        ("LoRA training really slow\n\n", [0.015, 0.014, 0.013, 0.013, 0.013, 0.013, 0.014], "about level throughout"),
        ("Is the speed normal?\n", [2.0, 2.0, 1.9, 1.5, 1.1, 1.0, 1.0], "2 times as slow"),
        ("训练速度正常吗？\n", [1.0, 1.0, 1.1, 1.6, 2.0, 2.0, 2.0], "速度是原来的 2 倍"),
    ],
)
def test_how_fast_a_run_is_tells_its_rate_and_whether_it_changed(question: str, rates: list[float], says: str) -> None:
    answer = asked(f"{question}{_rated(rates)}")
    assert "`It/sec`" in answer.verdict.summary
    assert says in answer.verdict.summary


def test_a_time_beside_rates_has_no_rate_s_unit() -> None:
    log = f"Iter 1: Val loss 2.612, Val took 1822.826s\n{_rated([0.015, 0.014, 0.013])}"
    assert "1,823 tokens" not in asked(f"{log}\nhow fast is it?").answer


@pytest.mark.parametrize(
    ("left", "seconds"), [("0:23:24", "1,404"), ("1 day, 1:00:00", "90,000"), ("2h 57m 4s", "10,624"), ("59s", "59")]
)
def test_time_left_that_the_trainer_prints_is_told(left: str, seconds: str) -> None:
    rows = "\n".join(
        f'{{"current_steps": {i}, "total_steps": 82, "loss": 0.6{i}, "eval_loss": null, "epoch": 0.5{i}, '
        f'"percentage": 5{i}.4, "elapsed_time": "0:27:55", "remaining_time": "{left}"}}'
        for i in range(43, 47)
    )
    answer = asked(f"{rows}\nhow much longer will it take?")
    assert seconds in answer.verdict.summary
    assert "36 of 82 steps are left" in answer.verdict.summary


def test_best_of_several_goes_each_metric_s_own_way() -> None:
    answer = asked(f"{EVALUATED}\nWhich epoch is best by acc_train, and which by nll_val?").answer
    assert "The maximum of `acc_train` is 0.5, at step 4" in answer
    assert "The minimum of `nll_val` is 44, at step 2" in answer


def test_seconds_of_a_step_behind_a_slash_are_its_time() -> None:
    log = "\n".join(f"INFO:tensorflow:global step {i}: loss = {80 - i}.5 (1{i}.126 sec/step)" for i in range(1, 9))
    answer = asked(f"how long does one step take?\n{log}")
    assert "`sec/step`" in answer.verdict.summary
    assert "no step times" not in answer.answer


def test_one_value_is_not_all_values() -> None:
    block = f"{'#' * 80}\n{'':30}Learning iteration 8391/10000\n\n{'':20}Mean reward: -25.6\n{'':20}Loss: 0.5\n"
    assert "All 1" not in asked(f"{block}why is the mean reward negative?").answer
