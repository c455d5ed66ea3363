"""Pastes whose questions ask no more than what is wrong: what was stated is held against the log, in its own words."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.ask.causes import keys_for, weigh
from assistant.ask.complaints import asks_more, clauses_of, merely_complains
from assistant.service import Source, service
from tests.ask.test_complaints import log
from tests.ask.test_pasted_logs import lead, paste


# -- what asks no more than for help -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "grad_norm 会突然爆炸，这个问题请问之前遇到过吗？",
        "loss 直接上升到了 3.7，请问是正常现象吗",
        "old logprob 很慢，想问下这个是我显卡的问题吗",
        "reward 一直不涨，是否有什么改进的建议？",
        "loss 一直在涨，这个怎么理解？",
        "chosen 的奖励下降，不是应该上升吗",
        "Entropy keeps increasing. I wonder whether this is normal. Is this related to the learning rate?",
        "The loss is increasing. I am curious how this should be explained. What does it mean?",
        "Reward drops after a while. Did anyone observe the same?",
        "The reward stays at 0. Is there any trick I missed?",
        "KL keeps growing, could this be a bug?",
    ],
)
def test_judgement_experience_or_a_way_out_is_help(text: str) -> None:
    assert merely_complains(text)


@pytest.mark.parametrize(
    "text",
    [
        "loss 上升，最高到多少", "reward 不涨是从哪一步开始的？", "The loss rises. At which step is it highest?",
        "entropy falls, how much lower is it at the end?", "得分下降，critic 坏掉有影响吗",
        "num_preempted 不为零说明啥，这里是几",
    ],
)  # fmt: skip
def test_question_for_a_step_or_a_value_is_its_own(text: str) -> None:
    assert asks_more(text)


def test_two_halves_of_one_course_are_one_clause() -> None:
    assert clauses_of("loss 先下降，之后持续增大，reward 在降") == ["loss 先下降后持续增大", "reward 在降"]


# -- which sentence of a paste is taken --------------------------------------------------------------------------------
CLIMBS = log(
    [50, 100, 250, 400, 600, 800], actor__entropy=[0.41, 0.47, 0.62, 0.81, 1.12, 1.39],
    critic__score__mean=[0.31, 0.36, 0.39, 0.4, 0.42, 0.43],
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Actor entropy keeps increasing\n\nI wonder whether this is normal. My score is lower than yours. Is this "
         f"related to the entropy issue?\n\n{CLIMBS}", "`actor/entropy` rises"),
        (f"训练异常\n\n你好，按教程跑的，actor entropy 一直在上升，得分还行，请问是正常现象吗\n\n{CLIMBS}",
         "`actor/entropy` 在涨"),
        (f"Question: entropy not decrease\n\nI followed your settings, but found that entropy grows.\n\n"
         f"What's the problem?\nHow do you calculate the entropy? Do you also log it?\n\n{CLIMBS}",
         "`actor/entropy` does not fall, it rises"),
    ],
)  # fmt: skip
def test_statement_above_a_request_for_help_is_what_is_answered(text: str, said: str) -> None:
    first = lead(text)
    assert said in first
    assert "0.41" in first
    assert "1.39" in first


def test_title_of_terms_alone_is_answered_in_the_language_of_the_story() -> None:
    rows = log([1, 2, 3, 4, 5, 6], critic__score__mean=[0.5, 0.45, 0.4, 0.3, 0.2, 0.1])
    assert paste(f"reward collapse？\n\nThe reward becomes lower when I train longer.\n\n{rows}").language == "en"
    story = "我在自己的数据集上训练，训练到后面模型的输出越来越短，奖励也越来越低，学习率没有改过。"
    assert paste(f"reward collapse?\n\n{story}\n\n{rows}").language == "zh"


# -- how it is told ----------------------------------------------------------------------------------------------------
def test_metric_said_to_be_unstable_that_rises_is_not_said_to_have_no_direction() -> None:
    rows = log([1, 2, 3, 4, 5, 6, 7], actor__grad_norm=[0.4, 0.4, 0.5, 0.5, 2.9, 31.2, 88.7])
    first = lead(f"Unstable grad_norm\n\n{rows}")
    assert "`actor/grad_norm` rises" in first
    assert "88.7" in first
    assert "direction" not in first


def test_jump_that_came_back_is_no_missing_rise() -> None:
    rows = log([118, 119, 120, 121, 122, 123, 124], actor__grad_norm=[0.21, 0.19, 0.23, 58.4, 3.71, 1.12, 0.41])
    for title in ("grad_norm 突然爆炸", "grad_norm explodes"):
        first = lead(f"{title}\n\n{rows}")
        assert "58.4" in first
        assert "121" in first
        assert "看不到" not in first
        assert "no rise" not in first


def test_rise_made_of_one_move_names_its_steps() -> None:
    rows = log([100, 200, 300, 400, 500, 600], actor__pg_loss=[1.52, 1.5, 1.51, 1.5, 3.71, 3.7])
    first = lead(f"the loss increases\n\n{rows}")
    assert "between step 400 (1.5) and step 500 (3.71)" in first


def test_fall_then_rise_is_told_as_such() -> None:
    rows = log([1, 2, 3, 4, 5, 6, 7], actor__pg_loss=[0.91, 0.74, 0.61, 0.55, 0.97, 1.49, 1.83])
    assert "先从 step 1 的 0.91 降到 step 4 的 0.55，再升到 step 7 的 1.83" in lead(
        f"loss 先下降，之后一直增大\n\n{rows}"
    )
    assert "then rose to 1.83 at step 7" in lead(f"loss decreases first, then increases\n\n{rows}")


def test_rise_from_a_step_on_is_told_from_there_and_what_was_before() -> None:
    rows = log([300, 350, 400, 450, 500], actor__pg_loss=[0.0031, 0.0036, 0.0047, 0.0388, 0.2013])
    first = lead(f"Question about loss rapidly increasing after 400 steps\n\n{rows}")
    assert "from step 400 on `actor/pg_loss` rises, 0.0047 at step 400, 0.201 at step 500" in first
    assert "0.0036 at step 350" in first


def test_metric_of_another_name_is_found_by_its_words() -> None:
    rows = "\n".join(
        f"step {s} | policy_loss: 0.01 | kl: {k} | reward: 0.4" for s, k in enumerate([0.003, 0.004, 61.2, 0.004])
    )
    first = lead(f"forward 时 kl_loss 爆炸\n\n{rows}")
    assert "`kl`" in first
    assert "61.2" in first


def test_slow_stage_that_is_described_is_told_by_its_share() -> None:
    rows = log([1, 2], timing_s__gen=[241.0, 240.0], timing_s__old_log_prob=[731.0, 733.0],
               timing_s__update_actor=[1103.0, 1101.0], timing_s__step=[2091.0, 2090.0])  # fmt: skip
    first = lead(f"训练阶段 old policy logprob 计算较慢\n\n想问下这个是我显卡的问题吗\n\n{rows}")
    assert "`timing_s/old_log_prob` 占一步的 35" in first


# -- causes ------------------------------------------------------------------------------------------------------------
def test_reward_that_went_to_zero_is_no_scorer_that_gives_zero() -> None:
    rows = "\n".join(
        f"{{'loss': {loss}, 'grad_norm': {grad}, 'reward': {reward}, 'epoch': {epoch}}}"
        for epoch, loss, grad, reward in [
            (0.1, 0.02, 0.3, 1.82), (0.2, 0.02, 0.3, 1.87), (0.3, 0.02, 0.4, 1.85), (0.4, 3.91, 41.2, 0.31),
            (0.5, 0.0, 0.0, 0.0), (0.6, 0.0, 0.0, 0.0), (0.7, 0.0, 0.0, 0.0),
        ]
    )  # fmt: skip
    made = paste(f"the reward becomes 0 after some steps. I am not sure why this happened.\n\n{rows}")
    first = made.answer.splitlines()[0]
    assert "`reward` is 0 from row 4 on; the value before is 0.31" in first
    assert "41.2" in first
    assert "too hard" not in made.answer


def test_gradient_that_is_zero_at_most_rows_is_not_ruled_out() -> None:
    rows = log(list(range(1, 7)), critic__score__mean=[0.0, 0.0, 0.0, 0.016, 0.0, 0.0],
               actor__grad_norm=[0.0, 0.0, 0.0, 0.23, 0.0, 0.0])  # fmt: skip
    made = paste(f"Why does the model not learn anything?\n\n{rows}")
    assert "not for lack of a gradient" not in made.answer
    assert "`critic/score/mean` does not rise" in made.answer.splitlines()[0]


def test_rate_printed_as_zero_is_not_said_to_be_why_where_the_policy_moved() -> None:
    rows = log(list(range(1, 7)), critic__score__mean=0.01, actor__lr=0.0, actor__kl_loss=0.07, actor__grad_norm=0.2)
    run = service().read([Source("paste.txt", rows)]).runs[0]
    found = {one.cause.name: one.seen for one in weigh(run, "critic/score/mean", "reward", "flat", np.arange(6))}
    assert keys_for(run, "lr") == ("actor/lr",)
    assert found["no_rate_flat"] == "denied"


def test_low_reward_of_one_row_is_told_with_what_lowers_it() -> None:
    rows = log([5], critic__rewards__mean=0.008, response_length__clip_ratio=0.521, actor__grad_norm=0.18)
    made = paste(f"why is the reward so low?\n\n{rows}")
    assert "0.008" in made.answer.splitlines()[0]
    assert "52.1%" in made.answer


@pytest.mark.parametrize("text", ["loss 会是负数，这个怎么理解。。", "the loss is negative, is that a bug?"])
def test_negative_loss_is_told_to_be_normal(text: str) -> None:
    rows = "\n".join(
        f"{{'loss': {v}, 'reward': {0.6 + i / 50}, 'learning_rate': 1e-5}}"
        for i, v in enumerate([-0.04, 0.01, -0.05, -0.03])
    )
    assert any(word in lead(f"{rows}\n\n{text}") for word in ("这是正常的", "That is expected"))


def test_mean_of_one_row_said_to_explode_is_told_with_its_maximum() -> None:
    rows = "Step: 9\nloss/kl_mean: 1,568,987.96\nloss/kl_max: 6,821,680,128.0\nloss/total: 1.77\n"
    first = lead(f"KL explodes to billions\n\n{rows}")
    assert "1,568,988" in first
    assert "6,821,680,128" in first


def test_total_that_the_log_writes_is_not_said_to_be_missing() -> None:
    row = (
        "{'loss': 0.48, 'grad_norm': 25.8, 'learning_rate': 1e-06, 'train_speed(iter/s)': 0.0104, 'epoch': 0.26, "
        "'global_step/max_steps': '12/94', 'elapsed_time': '18m 26s', 'remaining_time': '2h 5m 59s'}"
    )
    made = paste(f"训练效率很低\n\n请问怎么提升训练效率？\n\n{row}\n{row.replace('12/94', '13/94')}")
    assert "总步数日志没有写" not in made.answer
    assert "还要" in made.answer


# -- why, over the few rows of a paste ---------------------------------------------------------------------------------
def test_why_a_loss_rises_is_not_denied_for_want_of_rows() -> None:
    rows = "\n".join(
        f'{{"current_steps": {s}, "total_steps": 1287, "loss": {v}, "reward": 0.13, "learning_rate": 1e-6}}'
        for s, v in [(10, -0.1994), (20, -0.1902), (30, -0.1852), (1250, -0.0577), (1260, -0.0585)]
    )
    first = lead(f"ppo训练为啥loss不断上涨\n\n{rows}")
    assert "在涨" in first
    assert "-0.199" in first
    assert "step 30" not in first  # lines are left out there: no move of its own


def test_why_something_falls_from_a_step_on_looks_at_what_follows_it() -> None:
    rows = log([100, 200, 300, 400, 420, 440], critic__score__mean=[1.2, 1.5, 1.7, 1.85, 1.31, 0.71])
    text = f"前期 reward 上升平稳，为什么到400step的时候 reward 下降？请问是什么问题，应该如何修改？感谢！\n\n{rows}"
    first = lead(text)
    assert "从 step 400 起 `critic/score/mean` 在降" in first
    assert "0.71" in first
    assert "相反" not in first


def test_why_a_loss_became_zero_names_what_moved_there() -> None:
    rows = "\n".join(
        f"{{'loss': {loss}, 'grad_norm': {grad}, 'learning_rate': 1e-4, 'epoch': {epoch}}}"
        for epoch, loss, grad in [(1.0, 0.81, 0.61), (1.1, 0.79, 0.58), (1.2, 0.8, 0.63), (1.3, 0.78, 0.59),
                                  (1.4, 0.0, 1.0), (1.5, 0.0, 1.0), (1.6, 0.0, 1.0)]
    )  # fmt: skip
    first = lead(f"请问为什么在中间的特定步数，loss突然变为0\n\n{rows}")
    assert "0.78" in first
    assert "打分" not in first


def test_loss_that_goes_ever_further_below_zero_diverges() -> None:
    rows = "\n".join(
        f"{{'actor_loss': {a}, 'critic_loss': {c}, 'learning_rate': 3e-4}}"
        for a, c in [(-14.2, 1.8), (-28.9, 3.1), (-95.0, 44.0), (-2100.0, 6.3e4), (-88000.0, 7.1e7)]
    )
    first = lead(f"the actor_loss diverges to very big values\n\n{rows}")
    assert "goes ever further below zero" in first
    assert "-88,000" in first


def test_reward_that_does_not_converge_does_not_rise() -> None:
    rows = log([10, 20, 30, 40, 50, 60], critic__score__mean=[-1.2, -0.4, -2.0, -0.9, -1.7, -0.5],
               actor__pg_loss=[0.001, -0.03, 0.02, 0.0, 0.03, -0.02])  # fmt: skip
    made = paste(f"GRPO训练的效果不收敛，reward和loss等震荡严重\n\n{rows}")
    assert "`critic/score/mean` 没有涨起来" in made.answer
    assert made.answer.split("\n\n")[0].count("`critic/score/mean`") == 1


# -- which clause says what of which metric ----------------------------------------------------------------------------
def test_clause_without_a_metric_takes_none_that_another_clause_speaks_of() -> None:
    rows = log([100, 200, 300, 400, 500, 600], actor__pg_loss=[1.52, 1.5, 1.51, 1.5, 3.71, 3.7])
    story = "中间程序掉线了一次，重新开始训练，第一步的损失与中断前相似，后面几步的损失直接上升了，请问是正常现象吗"
    first = lead(f"{story}\n\n{rows}")
    assert "在涨" in first
    assert "看不到下降" not in first


def test_what_is_low_and_does_not_improve_is_told_not_to_rise() -> None:
    rows = log(
        [10, 20, 30, 40, 50, 60], critic__score__mean=[0.066, 0.067, 0.063, 0.0625, 0.064, 0.064], actor__lr=1e-3
    )
    first = lead(f"得分还是很低，基本没有提升，请问是学习率的问题吗\n\n{rows}")
    assert "`critic/score/mean` 没有涨起来" in first or "`critic/score/mean` 几乎没动" in first


def test_name_of_an_algorithm_is_no_metric() -> None:
    rows = "\n".join(f"step: {s}\ngrpo_loss/kl_mean: {k}\ngrpo_loss/total: 1.7" for s, k in enumerate([0.1, 0.2, 9.5]))
    assert "total" not in lead(f"KL explodes in GRPO training\n\n{rows}")
