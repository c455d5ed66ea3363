"""Logs of trainers without rules of their own, as people paste them with a title and a question."""

from __future__ import annotations

from itertools import pairwise

import pytest

from assistant.model import Answer
from assistant.parsing import parse_text
from assistant.service.facade import Source, service


def asked(text: str, question: str = "") -> Answer:
    return service().explain(service().read([Source("paste.txt", text)]), question).answer


MLX = "\n".join(
    f"Iter {10 * i}: Train loss {2.3 - 0.05 * i:.3f}, Learning Rate 1.000e-05, It/sec {0.048 if i == 7 else 0.16}, "
    f"Tokens/sec {98.1 if i == 7 else 280.5 + i}, Trained Tokens {900 * i}"
    for i in range(1, 13)
)
MMENGINE = "\n".join(
    f"2025/05/07 11:{i:02d}:16 - mmengine - INFO - Iter(train) [ {500 + 10 * i}/2046]  lr: 1.7e-04  eta: 1:25:37  "
    f"time: {22.5 if i == 3 else 2.9}  data_time: {19.6 if i == 3 else 0.02}  memory: 15266  loss: 0.6{i}"
    for i in range(1, 9)
)
RAY = "\n".join(
    [
        "episode_reward_mean: -819.93", "episode_len_mean: 52.0", "episodes_total: 2301", "info:", "  default:",
        "    cur_kl_coeff: 0.15", "    entropy: 2.4", "    vf_explained_var: -0.0219", "    vf_loss: 132067.5",
        "  grad_time_ms: 2263.6", "  load_time_ms: 0.8", "  sample_time_ms: 490.3", "  update_time_ms: 5.3",
        "time_this_iter_s: 2.78", "timesteps_total: 108000", "training_iteration: 27",
    ]
)  # fmt: skip
KERAS = "\n".join(
    f"Epoch {i}/50\n61148/61148 [==============================] - 1s - loss: {4.7 - 0.3 * i:.4f} - val_loss: {v}"
    for i, v in enumerate((5.53, 5.86, 6.21, 6.32, 6.52, 6.71), 1)
)
LOSSES = "\n".join(
    f"Epoch {i}/40 - Train Loss: {90 - i:.4f}, Val Loss: {v}"
    for i, v in enumerate((1.55, 1.46, 1.51, 1.34, 1.52, 2.91, 1.24, 1.37, 1.41, 1.38), 20)
)
MLX_GRPO = "\n".join(
    [
        "Iter 1: Val loss -0.010, Val total_rewards_mean 0.300, Val kl 0.000, Val took 20.100s",
        *(f"Iter {i}: Train loss 0.0{i:02d}, Total rewards mean {0.2 + 0.05 * i:.3f}, KL 0.010" for i in range(1, 13)),
    ]
)


def test_slow_step_rates_of_the_others_tell_how_much() -> None:
    answer = asked(f"{MLX}\nWhy is iter 70 so slow?")
    assert answer.verdict.summary.startswith("Step 70 was 3.33 times as slow as usual: `It/sec` is 0.048")
    assert "`Tokens/sec` is 98.1" in answer.answer
    assert "timing_s" not in answer.answer


def test_slow_step_that_is_not_slow_is_said_so() -> None:
    assert "hardly slower than usual" in asked(f"{MLX}\nWhy is iter 50 so slow?").verdict.summary


def test_slow_step_waiting_for_data_is_named() -> None:
    answer = asked(f"第530步为什么用了22秒？\n{MMENGINE}")
    assert "比平常慢 7.76 倍" in answer.verdict.summary
    assert "`data_time`" in answer.verdict.summary
    assert "等数据" in answer.answer


def test_slowest_step_by_a_rate_is_the_lowest() -> None:
    assert asked(f"{MLX}\nWhich iteration was the slowest?").verdict.summary.startswith("The slowest is step 70")


def test_time_of_parts_without_a_known_layout_largest_first() -> None:
    answer = asked(f"{RAY}\nWhere does the time go, sampling or the gradient?")
    assert answer.verdict.code == "answered"
    assert "`info/grad_time_ms` is the largest" in answer.verdict.summary


def test_value_function_is_told_by_the_explained_variance() -> None:
    assert "vf_explained_var` is -0.0219" in asked(f"{RAY}\nIs the value function any good?").answer


@pytest.mark.parametrize(
    ("front", "question"),
    [("Starting training..., iters: 3000\n", "how long will it still take?"), ("", "how long until 3000 iterations?")],
)
def test_time_left_from_a_rate_and_the_total(front: str, question: str) -> None:
    answer = asked(f"{front}{MLX}\n{question}")
    assert answer.verdict.summary.startswith("About ")
    assert "2,880 of 3,000 steps are left after step 120" in answer.verdict.summary


def test_total_behind_global_step_of_a_single_row_is_read() -> None:
    line = (
        "'loss': -0.0, 'grad_norm': 0.1, 'learning_rate': 2.6e-07, 'reward': 0.34, 'reward_std': 0.4, 'kl': 0.0, "
        "'epoch': 0.0, 'global_step/max_steps': '5/3766', 'elapsed_time': '1m 29s', 'train_speed(iter/s)': 0.05}"
    )
    run = parse_text(line).runs[0]
    assert run.extras["total_steps"][0] == 3766
    assert "20.9 小时" in asked(f"{line}\n还要跑多久？").verdict.summary


def test_best_of_a_loss_is_its_lowest() -> None:
    answer = asked(f"{LOSSES}\nWhich epoch has the best val loss?")
    assert "1.24, at step 26" in answer.verdict.summary


def test_plain_reward_is_the_training_one() -> None:
    answer = asked(f"{MLX_GRPO}\nIs the reward improving?")
    assert answer.verdict.code == "rising"
    assert "`Total rewards mean`" in answer.verdict.summary
    assert "`Val total_rewards_mean`" in asked(f"{MLX_GRPO}\nWhat was the val reward?").answer


def test_reward_that_no_card_knows_is_better_when_higher() -> None:
    lines = "\n".join(f"epoch:\t{5 * i}\treward:\t{v}" for i, v in enumerate((0.1, 0.978, 0.99, 0.993, 0.988, 0.982)))
    answer = asked(f"`{lines}`\nreward 最后一个 epoch 和刚开始比有差别吗？")
    assert answer.verdict.code == "improved"
    assert "step 25" in answer.verdict.summary


def test_advice_without_findings_begins_with_what_is_asked_about() -> None:
    answer = asked(f"How can I improve the train loss?\n{MLX}")
    assert answer.verdict.summary.startswith("`Train loss` is falling")
    assert "test_freq" not in answer.answer


def test_how_many_epochs_is_told_by_the_lowest_held_out_loss() -> None:
    answer = asked(f"{LOSSES}\nWhat should be the ideal number of epochs to stop training?")
    assert "near step 26" in answer.verdict.summary


def test_rising_held_out_loss_beside_a_falling_one_is_overfitting() -> None:
    answer = asked(f"val_loss increases from the beginning, any idea?\n{KERAS}")
    assert "overfitting" in answer.answer
    assert "the best is step 1" in answer.answer


def test_evaluations_of_keras_are_held() -> None:
    line = "Epoch 1/15\n200/200 [======] - 42s - loss: 0.57 - acc: 0.68 - val_loss: 0.48 - val_acc: 0.76"
    answer = asked(f"{line}\nIs the validation accuracy good?").answer
    assert "no validation metrics" not in answer
    assert "0.76" in answer


def test_bar_in_lower_case_is_read() -> None:
    bars = "\n".join(
        f"[STDERR] steps:  57%|███▋  | {i}/96 [19:38<14:38, 21.4s/it, avr_loss=0.1{i}]" for i in range(55, 60)
    )
    run = parse_text(bars).runs[0]
    assert run.series("avr_loss")[0] == [55, 56, 57, 58, 59]


def test_two_questions_each_with_a_mark_are_both_answered() -> None:
    rows = "\n".join(
        f"{{'loss': 0.3, 'rewards/chosen': {c}, 'rewards/rejected': 0.5, 'rewards/accuracies': {a}, "
        f"'rewards/margins': {c - 0.5}, 'epoch': 0.{i}}}"
        for i, (a, c) in enumerate(((1.0, 4.0), (0.5, 3.0), (0.0, 5.0), (1.0, 6.0), (1.0, 7.0), (0.5, 8.0)), 1)
    )
    answer = asked(f"{rows}\nWhich lines have accuracy below 1? Is the margin growing?")
    assert "below 1 at 3 of 6 steps: 1, 2, 5" in answer.verdict.summary
    assert "`rewards/margins`" in answer.answer


def test_report_headings_without_content_are_left_out() -> None:
    answer = asked(LOSSES).answer
    blocks = answer.split("\n\n")
    assert not any(a.startswith("### ") and b.startswith("### ") for a, b in pairwise(blocks))


REWARDS = "\n".join(
    f"{{'loss': 0.01, 'grad_norm': 0.5, 'rewards/answer_reward': {a}, 'rewards/format_reward': {f}, "
    f"'reward': {a + f:.2f}, 'reward_std': 0.3, 'completion_length': 200.0, 'kl': 0.01, 'epoch': 0.{i}}}"
    for i, (a, f) in enumerate(((0.5, 0.1), (0.4, 0.4), (0.3, 0.7), (0.2, 0.9), (0.1, 1.0), (0.0, 1.0)), 1)
)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Which reward function drags it down most?", "`rewards/answer_reward` is the lowest part: 0.25 "),
        ("which reward part is highest?", "`rewards/format_reward` is the highest part: 0.683"),
        ("哪个奖励函数最低？", "拉低最多的是 `rewards/answer_reward`"),
    ],
)
def test_part_of_a_reward_ranked_by_its_mean(question: str, begins: str) -> None:
    assert asked(f"{REWARDS}\n{question}").verdict.summary.startswith(begins)


def test_part_gained_at_the_cost_of_another_looks_like_hacking() -> None:
    answer = asked(f"Is this reward hacking?\n{REWARDS}")
    assert answer.verdict.code == "warning"
    assert "while `rewards/answer_reward` went from 0.5 to 0" in answer.verdict.summary


def test_second_question_is_answered_after_the_first() -> None:
    answer = asked(f"{REWARDS}\nIs the model learning anything? Which reward function drags it down most?")
    assert answer.verdict.summary.startswith("No learning to be seen yet: the training reward")
    assert "`rewards/answer_reward` is the lowest part" in answer.answer


def test_reward_that_never_moved_is_no_learning() -> None:
    table = "\n".join(
        f"| episodes                | {7600 + 100 * i}     |\n| mean 100 episode reward | -21      |\n"
        f"| steps                   | {5931155 + 78000 * i}  |\n{'-' * 38}"
        for i in range(5)
    )
    answer = asked(f"the agent does not converge\n{table}")
    assert (
        answer.verdict.summary
        == "No learning to be seen: `mean 100 episode reward` is -21 in all 5 values and has not moved."
    )


def test_words_that_count_and_names_of_files_are_no_metrics_beside_one() -> None:
    lines = "\n".join(f"step = {200 * i}: loss = {v}" for i, v in enumerate((1, 2, 4, 8, 16, 32, 64, 128), 1))
    answer = asked(
        f"Why does the loss become bigger after longer training iterations in docs/1_tutorial.ipynb?\n{lines}"
    )
    assert "time_this_iter_s" not in answer.answer
    assert "`loss`" in answer.answer


def test_something_wrong_elsewhere_comes_first() -> None:
    rows = "\n".join(
        f"{{'loss': 0.15, 'grad_norm': {'nan' if i == 4 else 0.3}, 'learning_rate': 0.0001, 'epoch': 0.0{i}}}"
        for i in range(1, 10)
    )
    answer = asked(f"{rows}\nThe loss does not decrease. Is something wrong?")
    assert answer.verdict.summary.startswith("Not normal. `grad_norm` is NaN at row 3")


def test_time_left_by_the_pace_of_a_bar() -> None:
    log = (
        "  8%|▊         | 4/52 [02:30<29:54, 37.39s/it]\n 10%|▉         | 5/52 [03:07<29:13, 37.31s/it]\n"
        "{'loss': 4.75, 'grad_norm': 3.06, 'learning_rate': 9.9e-05, 'epoch': 0.1}"
    )
    answer = asked(f"{log}\nhow long will the rest take?")
    assert "47 of 52 steps are left after step 5" in answer.verdict.summary
    assert "37.3 s a step" in answer.verdict.summary


def test_stages_of_rsl_rl_are_known() -> None:
    block = "\n".join(
        f"{'#' * 80}\n                      Learning iteration {i}/5000\n\n"
        f"                       Computation: 46{i % 10} steps/s (collection: 1.6{i % 10}0s, learning 0.069s)\n"
        f"               Value function loss: 0.009\n                       Mean reward: 1.4{i % 10}\n"
        f"{'-' * 80}\n                    Iteration time: 1.7{i % 10}s\n                        ETA: 6.4s\n"
        for i in range(4990, 4997)
    )
    answer = asked(f"{block}\n时间主要花在采样还是学习上？")
    assert "`collection`" in answer.verdict.summary
    assert "96" in answer.verdict.summary


def test_reward_run_together_is_the_mean_reward() -> None:
    blocks = "\n".join(
        f"-----------------\nIteration: \t {i}\nLoss:     \t 0.12{i}\nMaxRew: \t -199.9\n"
        f"MeanRew: \t {-250 - 10 * i} +- 63.1\n"
        f"MeanEntropy \t 2.39\n-----------------"
        for i in range(8)
    )
    answer = asked(f"{blocks}\nIs the mean reward getting worse?")
    assert "`MeanRew`" in answer.verdict.summary
    assert answer.verdict.code == "falling"


def test_evaluations_named_are_told_alone() -> None:
    rows = "\n".join(
        f"{{'eval_loss': 0.{8 - i}, 'eval_runtime': 9.5, 'eval_rewards/accuracies': 0.{4 + i}, "
        f"'eval_rewards/margins': {i}.5, 'eval_logps/rejected': -140.0, 'eval_logps/chosen': -115.0, 'epoch': 0.{i}}}"
        for i in range(1, 5)
    )
    answer = asked(f"{rows}\nhow did the eval margin and the eval accuracy go?").answer
    assert "`eval_rewards/margins`" in answer
    assert "`eval_logps/chosen`" not in answer


def test_memory_and_a_second_metric_are_both_answered() -> None:
    log = "\n".join(
        f"Iter {10 * i}: Train loss 0.06{i}, Accuracy 0.{i}, Margin 0.0{i}, It/sec 0.1, Peak mem {5 + i}.2 GB"
        for i in range(1, 9)
    )
    answer = asked(f"{log}\nhow much memory does it need at most, and did the margin increase?")
    assert "`Peak mem`" in answer.verdict.summary
    assert "`Margin` is rising" in answer.answer


RSL = "\n".join(
    f"{'#' * 80}\n                          Learning iteration {i}/30000\n\n"
    f"                            Total steps: {24 * i}\n                       Steps per second: 101\n"
    f"                        Collection time: 0.18{i % 10}s\n                          Learning time: 0.054s\n"
    f"                            Mean reward: -7.9{i % 10}\n             Episode_Reward/speed: 0.4{i % 10}\n"
    f"             Episode_Reward/smoothness: -0.2{i % 10}\n{'-' * 80}\n"
    "                         Iteration time: 0.24s\n"
    for i in range(60, 67)
)


def test_total_of_rsl_rl_is_its_iterations_and_no_environment_steps() -> None:
    run = parse_text(RSL).runs[0]
    assert run.extras["total_steps"][0] == 30000
    assert "1,608" not in asked(f"{RSL}\nHow long will all 30000 iterations take?").answer


def test_term_of_an_episode_reward_ranked() -> None:
    answer = asked(f"{RSL}\nWhich reward term is the lowest?")
    assert answer.verdict.summary.startswith("`Episode_Reward/smoothness` is the lowest part")


def test_loss_of_a_run_without_rewards_is_better_when_lower() -> None:
    rows = "\n".join(f"Epoch: 00{i}/010 | Train: 1{i}.000% | Loss: {2.5 - 0.2 * i:.3f}%" for i in range(1, 5))
    assert "no better direction" not in asked(rows).answer


def test_two_chinese_questions_each_with_a_mark_are_both_answered() -> None:
    rows = "\n".join(
        f"{{'loss': 0.04, 'grad_norm': {7.69 if i == 5 else 1.1}, 'learning_rate': {4e-05 - 1e-06 * i}, "
        f"'epoch': 1.{i}}}"
        for i in range(1, 8)
    )
    answer = asked(f"{rows}\n哪一步的梯度范数最大？学习率是不是在下降？")
    assert "7.69" in answer.verdict.summary
    assert "`learning_rate`" in answer.answer
    assert "最大值是 3.9" not in answer.answer


def test_should_i_stop_names_the_lowest_held_out_loss() -> None:
    assert "near step 26" in asked(LOSSES, "should I stop?").verdict.summary
