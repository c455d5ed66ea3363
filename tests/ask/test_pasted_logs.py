"""Whole pastes as people send them: log lines with prose around them; the first sentence answers what is asked."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.model import Answer
from assistant.service import Source, service


def paste(text: str) -> Answer:
    """The answer to a paste that holds its question."""
    material = service().read([Source("paste.txt", text)])
    return service().explain(material, "").answer


def lead(text: str) -> str:
    """The first sentence of the answer to a paste."""
    return paste(text).answer.splitlines()[0]


def line(step: int, **values: Any) -> str:
    """A line as verl prints it; ``__`` in a name stands for a slash."""
    return f"step:{step} - " + " - ".join(f"{k.replace('__', '/')}:{v}" for k, v in values.items())


BENCHMARKS = "step:6 - actor/pg_loss:0.02 - actor/grad_norm:0.4 - actor/lr:1e-06 - " + " - ".join(
    f"val-aux/{name}/reward/mean@1:{acc} - val-aux/{name}/format_score/mean@1:{form} - val-core/{name}/acc/mean@1:{acc}"
    for name, acc, form in (("algebra", 0.74, 0.98), ("contest", 0.2, 0.81), ("proofs", 0.35, 0.9))
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("哪个 benchmark 最难？", ("contest", "20.0%", "最难")),
        ("Which benchmark is the hardest?", ("contest", "20.0%", "hardest")),
        ("which benchmark does it do best on?", ("algebra", "74.0%", "highest")),
        ("三个评测集平均准确率是多少？", ("43.0%",)),
        ("What is the average accuracy over the three benchmarks?", ("43.0%",)),
    ],
)
def test_several_benchmarks_are_told_apart(question: str, said: tuple[str, ...]) -> None:
    first = lead(f"{BENCHMARKS}\n{question}")
    assert all(text in first for text in said), first


def test_hardest_benchmark_and_format_gap_are_both_answered() -> None:
    made = paste(f"{BENCHMARKS}\n哪个 benchmark 最难？格式分和正确率差多少？")
    assert "contest" in made.answer.splitlines()[0]
    assert "61.0 个百分点" in made.answer
    assert "24.0 个百分点" in made.answer


def test_rewards_that_equal_the_accuracy_are_not_said_to_hold_penalties() -> None:
    made = paste(f"{BENCHMARKS}\n解读这次验证的结果？")
    assert "负分" not in made.answer
    assert "等于准确率" in made.answer


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("\n".join(line(s, critic__score__mean=0.1 + s / 50, actor__pg_loss=0.01, actor__grad_norm=0.3,
                        actor__entropy=0.4, critic__rewards__mean=0.1 + s / 50) for s in range(1, 7)), True),
        ("\n".join(f"epoch: 0|step: {s}|ppo_ep: 1|act_loss: 0.0{s}|cri_loss: 0.2{s}|unsuper_loss: 0.0\n"
                   f"average reward score: 0.2{s}" for s in range(3, 9)), False),
    ],
)  # fmt: skip
def test_no_setting_of_another_framework_is_named(text: str, setting: bool) -> None:
    made = paste(f"{text}\n\nIs the model still learning something?")
    assert ("trainer.test_freq" in made.answer) is setting, made.answer


ONE_STEP = line(
    7, critic__score__mean=0.4, actor__pg_loss=0.01, actor__grad_norm=0.3, perf__max_memory_reserved_gb=60.5,
    perf__max_memory_allocated_gb=50.5, timing_s__gen=75.0, timing_s__update_actor=15.0, timing_s__ref=8.0,
    timing_s__step=100.0,
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["I'm seeing much slower rollouts than expected. Where is the time going?", "为什么这么慢，时间都花在哪了？"],
)
def test_where_time_goes_is_told_of_a_single_step_that_is_slow(question: str) -> None:
    first = lead(f"{question}\n```\n{ONE_STEP}\n```")
    assert "timing_s/gen" in first
    assert "75.0%" in first


@pytest.mark.parametrize(
    "text",
    [
        f"Question: is grad_norm too small here? I use group size 8\n{ONE_STEP}",
        f"{ONE_STEP}\n\nPPO with a small batch? why is actor/grad_norm above 0 while actor/pg_loss hardly moves",
        f"{ONE_STEP}\n\nactor/grad_norm over actor/pg_loss is more than critic/score/mean?? How can that be",
    ],
)
def test_question_with_words_behind_its_mark_is_found(text: str) -> None:
    assert "?" in paste(text).question


def chat(step: int, reward: float) -> str:
    return (
        f"|E2E latency=4.00s |Gather latency=0.00s (0.00%) |Generate time=1.00s (25.00%) |Training time=2.80s (70.00%) "
        f"|Others=0.20 (5.00%)|CurSamplesPerSec=1.00 |AvgSamplesPerSec=1.00\n"
        f"epoch: 0|step: {step}|ppo_ep: 1|act_loss: 0.{step}|cri_loss: 0.1|unsuper_loss: 0.0\n"
        f"average reward score: {reward}"
    )


def test_stage_of_a_framework_is_no_step_of_the_log() -> None:
    log = "\n".join(chat(step, step / 100) for step in range(20, 24))
    first = lead(f"{log}\n\ndeepspeed-chat step3 一步 4 秒，时间主要花在生成还是训练？")
    assert "Training time" in first
    assert "70.0%" in first
    assert "没有 step 3" in lead(f"{log}\n\n第 3 步的 act_loss 是多少？")


def test_rounds_counted_from_one_are_the_rows_counted_from_zero() -> None:
    log = "\n".join(f"step {n}: {{'train/loss': {0.5 - n / 4}, 'train/grad_norm': {n + 1.5}}}" for n in range(2))
    first = lead(f"{log}\n\ngrad_norm 从第一轮到第二轮涨了多少？")
    assert "1.5" in first
    assert "2.5" in first


ROLLOUT = (
    "rollout.py:1193 - perf 0: {'rollout/response_len/mean': 2500.5, 'rollout/response_len/max': 4096, "
    "'rollout/truncated_ratio': 0.4375, 'rollout/zero_std/count_0': 11, 'perf/rollout_time': 371.25}"
)


@pytest.mark.parametrize(
    "question",
    [
        "截断率是多少？",
        "How high is the truncation ratio at the moment?",
        "截断率 44% 是不是太高了？",
    ],
)
def test_plain_word_for_another_frameworks_key_is_the_logs_own(question: str) -> None:
    made = paste(f"{ROLLOUT}\n{question}")
    assert "43.8%" in made.answer.splitlines()[0]
    assert "response_length/clip_ratio" not in made.answer


@pytest.mark.parametrize(
    ("question", "said"), [("What is the accuracy here?", "This log holds no value"), ("这里的准确率是多少？", "没有")]
)
def test_value_that_the_log_lacks_is_said_to_be_lacking_first(question: str, said: str) -> None:
    assert said in lead(f"{ROLLOUT}\n{question}")


GROWING = "\n".join(
    f"14:2{s}:01 SUCCESS Step {s} | Time: 96.02s | Reward: {r} | Seq. Length: {n} tokens/sample"
    for s, r, n in ((0, 0.2, 2000.0), (1, 0.31, 4600.0), (2, 0.3, 6500.0))
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("回答越来越长了，长度涨了几倍？", ("3.25 倍", "+225%")),
        ("by what factor did the length grow?", ("3.25 times", "+225%")),
        ("did the reward double?", ("No:", "1.50 times")),
    ],
)
def test_growth_over_few_steps_is_told_as_a_factor(question: str, said: tuple[str, ...]) -> None:
    first = lead(f"{GROWING}\n\n{question}")
    assert all(text in first for text in said), first


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("这个 step 的显存用了多少？还有余量吗（卡是 80G）", "19.5 GiB"),
        ("How much memory is left on an 80GB card?", "19.5 GiB"),
        ("显存还剩多少？卡是 60G", "没有余量"),
    ],
)
def test_memory_left_of_a_card_whose_size_is_named(question: str, said: str) -> None:
    assert said in paste(f"{ONE_STEP}\n\n{question}").answer


def test_move_of_a_metric_without_a_rule_comes_before_that_there_is_none() -> None:
    log = "\n".join(
        f"epoch: 0|step: {s}|ppo_ep: 1|act_loss: -0.1|cri_loss: {4 + s / 2}|unsuper_loss: 0.0\n"
        "average reward score: 1.2"
        for s in range(6)
    )
    first = lead(f"{log}\n\nMy critic loss went from 4 to 6, is cri_loss normal?")
    assert first.startswith("**`cri_loss` is rising: 4 at step 0, 6.5 at step 5")
    assert "No rule judges" in first


def test_one_validation_below_the_best_while_training_rises_may_be_overfitting() -> None:
    rows = ((10, 0.9, 0.8), (50, 2.4, 1.9), (100, 4.1, 1.4))
    log = "\n\n".join(f"Step {s}:\n  critic/rewards/mean: {a}\n  test/reward/mean: {b}" for s, a, b in rows)
    first = lead(f"{log}\n\nIs it overfitting?")
    assert first.startswith("**Perhaps")
    assert "step 50" in first


def test_factor_between_two_steps_named_is_of_these_steps() -> None:
    log = "\n".join(line(s, traj__llm_time_mean=v, actor__pg_loss=0.1) for s, v in ((1, 10.0), (5, 40.0), (9, 25.0)))
    first = lead(f"{log}\n\nby what factor did traj/llm_time_mean grow from step 1 to step 5?")
    assert "4 times" in first
    assert "step 9" not in first


SIGNED = line(
    4, critic__score__mean=-0.5, critic__score__max=1.0, critic__score__min=-1.0, actor__pg_loss=0.01,
    timing_s__gen=1400.0, timing_s__update_actor=100.0, timing_s__step=1600.0,
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["奖励 -0.5，奖励只有 1 和 -1，那正确率大概是多少？", "rewards are either 1 or -1, what is the accuracy?"],
)
def test_accuracy_behind_a_reward_of_two_values(question: str) -> None:
    assert "25.0%" in lead(f"{SIGNED}\n{question}")


def test_what_eats_the_time_is_told_with_its_share() -> None:
    first = lead(f"1600s per step seems way too long. What is eating the time?\n{SIGNED}")
    assert "timing_s/gen" in first
    assert "87.5%" in first


@pytest.mark.parametrize("question", ["验证成功率是在涨吗？", "is the validation success rate improving?"])
def test_validation_success_rate_is_the_validations(question: str) -> None:
    log = "\n".join(
        line(s, episode__success_rate=0.3, val__success_rate=0.2 + s / 100, actor__pg_loss=0.1) for s in range(5, 36, 5)
    )
    first = lead(f"{log}\n\n{question}")
    assert "val/success_rate" in first
    assert ("上升" in first) or ("rising" in first)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("algebra 和 contest 哪个高，差多少个点？", ("algebra 更高", "54.0 个百分点")),
        ("which is harder, proofs or algebra?", ("algebra scores higher", "39.0 pp")),
    ],
)
def test_two_benchmarks_named_are_set_against_each_other(question: str, said: tuple[str, ...]) -> None:
    first = lead(f"{BENCHMARKS}\n\n{question}")
    assert all(text in first for text in said), first


def test_before_training_is_the_first_validation_and_no_training_metric() -> None:
    log = "\n".join(
        f"step:{s} - val-core/openai/gsm8k/acc/mean@1:{0.5 + s / 100}"
        + (f" - critic/score/mean:{0.5 + s / 90}" if s else "")
        for s in range(0, 21, 5)
    )
    first = lead(f"{log}\n\n和训练前相比 gsm8k 提升了多少个点？")
    assert "不能直接比" not in first
    assert "20.0" in first


@pytest.mark.parametrize("question", ["有多少被截断了？", "What share of the responses hit the limit?"])
def test_share_of_truncated_responses_in_plain_words(question: str) -> None:
    log = "rollout 0: {'rollout/response_lengths': 4023.25, 'rollout/truncated': 0.125, 'rollout/raw_reward': 0.25}"
    first = lead(f"{log}\n\n{question}")
    assert "rollout/truncated" in first
    assert "0.125" in first or "12.5%" in first


def test_how_long_answers_are_is_their_length() -> None:
    log = "rollout 0: {'rollout/response_lengths': 4023.25, 'rollout/advantages': 0.0, 'rollout/raw_reward': 0.25}"
    assert "4,023" in lead(f"{log}\n\n回答平均多长？")


EPISODES = "\n".join(
    line(s, episode__success_rate=0.2 + s / 100, episode__length__mean=12.0 - s / 10, val__success_rate=0.1 + s / 100,
         actor__entropy_loss=0.4)
    for s in range(5, 36, 5)
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("训练成功率最高是哪一步？", "episode/success_rate"),
        ("what was the success rate at step 20?", "episode/success_rate"),
        ("Does the agent need fewer steps per episode now than at the beginning?", "episode/length/mean"),
    ],
)
def test_success_rate_and_steps_per_episode_are_known_by_plain_names(question: str, metric: str) -> None:
    assert metric in lead(f"{EPISODES}\n\n{question}")


def test_definition_of_a_plain_word_is_of_the_logs_own_key() -> None:
    first = lead(f"{ROLLOUT}\n截断率 44% 高吗，zero_std/count_0 是什么意思？")
    assert "response_length/clip_ratio" not in first


STAGES = (
    "{'timing/step': '400.0', 'timing/generate': '240.0', 'timing/policy_train': '120.0', 'timing/sync_weights': '8.0'}"
)


@pytest.mark.parametrize(
    ("question", "follow", "said"),
    [
        ("一步里生成占多少？", "那训练呢", ("timing/policy_train", "30.0%")),
        ("一步里生成占多少？", "权重同步呢", ("timing/sync_weights", "2.00%")),
        ("What share of the step is generation?", "and the training?", ("timing/policy_train", "30.0%")),
        ("What share of the step is generation?", "what about the weight sync?", ("timing/sync_weights", "2.00%")),
    ],
)
def test_share_of_another_stage_is_asked_for_in_few_words(question: str, follow: str, said: tuple[str, ...]) -> None:
    material = service().read([Source("paste.txt", f"{STAGES}\n{question}")])
    before = service().explain(material, "")
    assert "60.0%" in before.answer.answer.splitlines()[0]
    first = service().explain(material, follow, state=before.state).answer.answer.splitlines()[0]
    assert all(part in first for part in said)


@pytest.mark.parametrize(
    "question", ["actor/lr 显示 0.000，是学习率没设上吗？", "actor/lr is 0.000, did it not take effect?"]
)
def test_rate_printed_as_zero_beside_a_gradient_is_rounding(question: str) -> None:
    first = lead(f"{line(1, actor__lr='0.000', actor__grad_norm=0.04, critic__score__mean=0.5)}\n{question}")
    assert "actor/grad_norm" in first
    assert "打印" in first or "prints" in first


@pytest.mark.parametrize(
    "question",
    ["rollout/rewards is about 0, is the reward broken?", "为什么 rollout/rewards 一直是 0，raw_reward 却不是？"],
)
def test_reward_after_normalisation_is_no_score(question: str) -> None:
    rows = "\n".join(
        f"rollout {at}: {{'rollout/rewards': {value}, 'rollout/raw_reward': {raw}, 'rollout/response_lengths': 900.0}}"
        for at, value, raw in ((4, 1.5e-9, 0.31), (5, 0.0, 0.33), (6, -2e-9, 0.36))
    )
    first = lead(f"{rows}\n{question}")
    assert "0.31" in first
    assert "0.36" in first
    assert "归一化" in first or "taken off" in first


@pytest.mark.parametrize("question", ["critic 学到东西了吗？", "Is the critic learning?"])
def test_two_values_of_a_critic_loss_show_no_learning(question: str) -> None:
    rows = [line(step, critic__vf_loss=loss, critic__score__mean=0.1) for step, loss in ((0, 9.5), (1, 12.5))]
    first = lead("\n".join([*rows, question]))
    assert "点太少" in first or "Too few points" in first


def test_length_of_prompts_is_not_that_of_answers() -> None:
    text = "rollout 3: {'rollout/response_lengths': 811.5, 'rollout/raw_reward': 0.25, 'rollout/truncated': 0.1}"
    assert "811" not in lead(f"{text}\nwhat is the average prompt length?")


FOUR_STAGES = line(
    3, timing_s__gen=120.0, timing_s__old_log_prob=40.0, timing_s__ref=30.0, timing_s__update_actor=60.0,
    actor__pg_loss=0.01,
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("生成花了 120 秒，比 old_log_prob 慢多少倍？", ("timing_s/gen", "3 倍")),
        ("how many times as long as the reference does generation take?", ("timing_s/gen", "4 times")),
        ("timing_s/old_log_prob 和 timing_s/ref 加起来多少秒？", ("70",)),
        ("How long do timing_s/old_log_prob and timing_s/ref take together?", ("70",)),
        ("Is generation or the actor update slower, and by how many seconds?", ("timing_s/gen", "is slower", "60")),
        ("生成比更新慢多少秒？", ("timing_s/gen", "更慢", "60")),
    ],
)
def test_two_stages_of_one_step_are_set_against_each_other(question: str, said: tuple[str, ...]) -> None:
    first = lead(f"{FOUR_STAGES}\n{question}")
    assert all(part in first for part in said)


def test_pass_at_k_is_known_by_its_plain_name() -> None:
    text = (
        "reward/avg_pass_at_8: 0.625, reward/avg_raw_reward: -0.125, reward/mean_positive_reward: 0.4\n"
        "{'timing/step': '200.0', 'timing/generate': '50.0', 'timing/policy_train': '120.0'}"
    )
    assert "0.625" in paste(f"{text}\nwhat is pass@8?").answer


@pytest.mark.parametrize(
    ("question", "entropy", "said"),
    [
        ("entropy 只有 0.002，是不是已经熵崩了？", 0.002, ("0.002", "几乎没有随机性")),
        ("Is the model collapsed?", 0.002, ("0.002", "hardly varies")),
        ("has the entropy collapsed?", 0.4, ("No collapse to be seen", "1.49")),
    ],
)
def test_entropy_of_one_step_is_told_as_choices(question: str, entropy: float, said: tuple[str, ...]) -> None:
    first = lead(f"{line(5, actor__entropy=entropy, critic__score__mean=0.5, actor__grad_norm=0.1)}\n{question}")
    assert all(part in first for part in said)
    assert "nothing unusual" not in first


def test_sum_of_entropies_is_no_number_of_choices() -> None:
    first = lead(f"{line(5, actor__entropy=6900.0, critic__score__mean=0.5)}\nhas the entropy collapsed?")
    assert "choices" not in first


@pytest.mark.parametrize(
    "question", ["How long does generation take per step?", "how long does the actor update take?"]
)
def test_how_long_one_stage_takes_is_its_own_time(question: str) -> None:
    stage = "timing_s/gen" if "generation" in question else "timing_s/update_actor"
    first = lead(f"{line(3, timing_s__gen=30.0, timing_s__update_actor=50.0, timing_s__step=90.0)}\n{question}")
    assert first.startswith(f"**`{stage}`")
