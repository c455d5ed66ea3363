"""Whole pastes that ask whether a value is large, or state one: told from few values, and not denied falsely."""

from __future__ import annotations

import pytest

from tests.ask.test_pasted_logs import lead, line, paste

JUMP = "\n".join(
    line(step, actor__grad_norm=norm, actor__kl_loss=kl, actor__entropy=0.7 - step / 100, critic__score__mean=0.4)
    for step, norm, kl in ((5, 0.22, 0.004), (6, 0.18, 0.006), (7, 5.6, 0.04))
)


@pytest.mark.parametrize(
    "question", ["Is grad_norm 5.6 too high?", "grad_norm 大吗？", "is the grad_norm at step 7 normal?"]
)
def test_value_is_set_against_the_few_others(question: str) -> None:
    said = paste(f"{JUMP}\n{question}").answer
    first = said.split("\n", 1)[0] if "step 7 normal" not in question else said
    assert "28" in first  # 5.6 against 0.2
    assert "`actor/kl_loss`" in said
    assert "`actor/entropy` 0" not in said.split("| ")[0]


@pytest.mark.parametrize(
    ("question", "said"), [("entropy 偏小吗？", "并不突出"), ("Is the entropy too low?", "does not stand out")]
)
def test_value_like_the_others_does_not_stand_out(question: str, said: str) -> None:
    assert said in lead(f"{JUMP}\n{question}")


ROW = "{{'kl/divergence_max': {0}, 'kl/divergence_mean': {1}, 'loss': 0.02, 'reward': 0.4}}"


def test_extreme_is_set_against_its_mean() -> None:
    first = lead(f"{ROW.format(4321.87, 1.25)}\nkl divergence_max 是 4321，是不是太大了？")
    assert "3,457" in first
    assert "不是这样" not in first


def test_extreme_near_its_mean_is_not_called_far() -> None:
    assert "相对均值很大" not in lead(f"{ROW.format(4.5, 1.25)}\nkl divergence_max 是不是太大了？")


@pytest.mark.parametrize("question", ["but the grad_norm is unexpectedly large.", "grad_norm 是不是太大了？"])
def test_gradient_beyond_any_threshold_is_large_from_the_first(question: str) -> None:
    log = "\n".join(f"step {n}: {{'train/loss': 0.1{n}, 'train/grad_norm': {v}}}" for n, v in ((1, 2.9e9), (9, 2.1e9)))
    first = lead(f"{log}\nThe loss seems normal, {question}" if question.startswith("but") else f"{log}\n{question}")
    assert first.lstrip("*").startswith(("Yes", "是"))
    assert "2,900,000,000" in first


@pytest.mark.parametrize(
    "question", ["pass@4 is 0.62 but the reward only 0.31, is that normal?", "pass@4 是 0.62，reward 才 0.31，正常吗？"]
)
def test_number_of_another_metric_denies_nothing(question: str) -> None:
    row = "{'generate/avg_tokens_non_zero_rewards': 512.5, 'reward/avg_pass_at_4': 0.62, 'reward/avg_raw_reward': 0.31}"
    said = paste(f"{row}\n{question}").answer
    assert "Not so" not in said
    assert "不是这样" not in said
    assert "512" not in said.split("\n", 1)[0]


BARS = """Train epoch [1/1]:  50%|█████     | 8/16 [01:10<01:10, 4.4s/it, pg=-0.02, rm=0.31, ret=0.29, kl=0.01]
Train epoch [1/1]: 100%|██████████| 16/16 [02:21<00:00,  4.4s/it, pg=-0.01, rm=0.36, ret=0.33, kl=0.02]"""


@pytest.mark.parametrize(
    ("question", "penalty"),
    [("reward 和 return 差多少？", "KL 惩罚"), ("How far apart are reward and return?", "KL penalty")],
)
def test_reward_and_return_of_bars_differ_by_the_penalty(question: str, penalty: str) -> None:
    said = paste(f"{BARS}\n{question}").answer
    assert "0.36" in said
    assert "0.33" in said
    assert penalty in said


def test_second_clause_without_an_answer_is_said_to_be_open() -> None:
    said = paste(f"{BARS}\nreward 和 return 差多少？差的是什么？").answer
    assert "差的是什么" in said
    assert "超出范围" not in said


def test_question_that_names_its_step_is_not_led_by_a_story() -> None:
    table = "\n".join(f"| {step} | {acc} |" for step, acc in ((10, 31.5), (50, 12.0), (90, 25.5)))
    said = lead(
        "We tried to reproduce the result, but validation does not converge by step 50.\n\n"
        f"| Step | AIME24 mean@32 |\n|---|---|\n{table}\n\nAIME24 在第 90 步是多少？"
    )
    assert "25.5" in said
    assert "12" not in said


def test_truncated_share_of_slime_is_judged() -> None:
    said = lead("rollout 3: {'rollout/response_lengths': 900.0, 'rollout/truncated': 0.4}\ntruncated 0.4 大吗？")
    assert "不正常" in said


SIDES = "{'generate/avg_tokens_non_zero_rewards': 500.0, 'generate/avg_tokens_zero_rewards': 930.0, 'loss': 0.1}"


@pytest.mark.parametrize(
    "question",
    ["正确的回答和错误的回答哪个更长？差多少 token", "Are the correct and the wrong answers of the same length?"],
)
def test_two_sides_of_one_step_are_set_against_each_other(question: str) -> None:
    said = paste(f"{question}\n{SIDES}").answer
    assert "500" in said.split("\n", 1)[0]
    assert "930" in said.split("\n", 1)[0]
    assert "没有可以比较的对象" not in said
    assert "没有记录 token" not in said


def test_preferred_and_rejected_are_subtracted() -> None:
    row = "{'loss': 0.5, 'rewards/chosen': 0.75, 'rewards/rejected': -0.5, 'rewards/margins': 1.25, 'epoch': 0.1}"
    assert "+1.25" in lead(f"{row}\nchosen 和 rejected 的 reward 差多少？")


def test_value_set_against_the_return_where_over_or_under_is_asked() -> None:
    said = paste(
        f"{line(9, critic__values__mean=0.25, critic__returns__mean=0.5, actor__pg_loss=0.1)}\n价值低估了还是高估了？"
    )
    assert "0.25" in said.answer
    assert "0.5" in said.answer
