"""Why a quantity stands at zero or does not rise: causes that a log shows, and questions that ask for none."""

from __future__ import annotations

import pytest

from assistant.ask.causes import asked
from assistant.service.facade import Source, service
from tests.analysis.support import run_of, training_step
from tests.ask.support import answerer


def line(**values: float) -> str:
    """A record of a GRPO trainer; keys are spelt with ``__`` for a slash."""
    usual = {
        "loss": 0.0, "grad_norm": 0.1, "learning_rate": 1e-6, "completions__mean_length": 200.0,
        "completions__clipped_ratio": 0.0, "reward": 0.5, "reward_std": 0.4, "frac_reward_zero_std": 0.0, "kl": 0.0005,
    }  # fmt: skip
    return str({name.replace("__", "/"): value for name, value in (usual | values).items()})


def log(n: int = 4, **values: float) -> str:
    """Records that differ in what moves anyway, with some values the same in each."""
    moving = [
        {"reward": 0.5 + 0.03 * (-1) ** i * i, "reward_std": 0.4 + 0.01 * i, "grad_norm": 0.1 + 0.01 * i}
        for i in range(n)
    ]
    return "\n".join(line(**(some | values)) for some in moving)


def answer(text: str, question: str):  # type: ignore[no-untyped-def]
    """What is answered of a log."""
    return service().explain(service().read([Source("train.log", text)]), question).answer


@pytest.mark.parametrize(
    ("text", "question", "said"),
    [
        (log(), "Why does the loss stay at 0 although grad_norm is not zero?", "advantages of a group add up to zero"),
        (log(), "loss 一直是 0 正常吗", "组内优势相加为零"),
        (log(grad_norm=0.0), "why is grad_norm 0?", "does not reach trainable parameters"),
        (log(grad_norm=0.0), "为什么 grad_norm = 0？", "没传到可训练的参数"),
        (log(grad_norm=0.0, reward_std=0.0, frac_reward_zero_std=1.0), "why is grad_norm 0?", "Rewards do not differ"),
        (log(grad_norm=0.0, completions__clipped_ratio=1.0, reward_std=0.0), "为什么梯度为 0", "奖励没有差别"),
        (log(reward=0.0, reward_std=0.0, completions__clipped_ratio=0.98), "为什么 reward 全是 0", "几乎都被截断"),
        (log(reward=0.0, reward_std=0.0), "why is the reward always 0?", "Feed the reference answer"),
        (log(kl=0.0, grad_norm=0.0), "why is kl zero", "The gradient norm is zero too"),
        (log(kl=0.0), "kl 为什么一直是 0", "KL 项没有启用"),
        (log(learning_rate=0.0), "why is the learning rate 0", "too few digits"),
        (log(12, frac_reward_zero_std=0.7), "reward 为什么不涨", "多数组的奖励没有组内差别"),
    ],
)
def test_cause_that_the_log_shows_is_told(text: str, question: str, said: str) -> None:
    found = answer(text, question)
    assert said in found.answer
    assert not found.grounding.unsupported


def test_scores_that_differ_between_prompts_alone_leave_no_advantage() -> None:
    rows = [
        f"step:{i} - actor/grad_norm:0.006 - critic/score/mean:{0.9 + 0.002 * i} - critic/score/max:1.0 "
        "- critic/score/min:0.0 - critic/advantages/mean:0.0 - critic/advantages/max:0.0 "
        "- critic/advantages/min:0.0 - actor/pg_loss:0.0"
        for i in range(1, 7)
    ]
    found = answer("\n".join(rows), "why are the advantages 0?").answer
    assert "they differ between prompts" in found.partition("\n")[0]


def test_a_loss_that_rises_with_its_kl_is_expected() -> None:
    rows = [
        line(loss=0.04 * 0.002 * i, kl=0.002 * i + 0.0001 * (i % 3), reward=0.5 + 0.02 * (i % 2)) for i in range(1, 30)
    ]
    found = answer("\n".join(rows), "why is the loss increasing?")
    assert "the value of the loss is about β × KL" in found.answer
    assert found.verdict.code == "healthy"


def test_a_loss_that_does_not_rise_is_not_explained_as_rising() -> None:
    rows = [line(loss=0.01 * (-1) ** i, kl=0.002 * i) for i in range(1, 30)]
    assert "β × KL" not in answer("\n".join(rows), "why is the loss increasing?").answer


def test_negative_policy_loss_is_counted_and_expected() -> None:
    rows = [line(loss=-0.02 if i % 4 else 0.01, reward=0.5 + 0.02 * (i % 2)) for i in range(20)]
    found = answer("\n".join(rows), "loss 为什么是负的").answer
    assert "20 个值里有 15 个为负" in found
    assert "没有零这个下限" in found


def test_causes_that_values_deny_are_ruled_out_with_them() -> None:
    found = answer(log(grad_norm=0.0), "为什么 grad_norm = 0？").answer
    assert "**排除**：不是因为组内奖励全相同：`frac_reward_zero_std` 为 0%" in found
    assert "**排除**：不是因为回答全被截断：`completions/clipped_ratio` 为 0%" in found


def test_of_some_records_it_is_said_how_many_stand_so() -> None:
    text = log(3) + "\n" + line(grad_norm=0.0, reward=0.0, reward_std=0.0, frac_reward_zero_std=1.0)
    found = answer(text, "reward_std 一直是 0 正常吗").answer
    assert "4 个值里有 1 个为 0" in found
    assert "全为 0" not in found.partition("\n")[0]


def test_a_rise_that_went_over_into_a_level_is_asked_about_from_there_on() -> None:
    rows = [line(reward=min(0.2 + 0.02 * i, 0.7) + 0.004 * (-1) ** (i * i // 3), frac_reward_zero_std=0.8)
            for i in range(80)]  # fmt: skip
    found = answer("\n".join(rows), "why is the reward not increasing any more?").answer
    assert "Most groups have no differing rewards" in found
    assert "has not stopped" not in found


@pytest.mark.parametrize("question", ["why is grad_norm 0?", "why is the loss 0?"])
def test_a_state_that_the_log_lacks_is_not_explained(question: str) -> None:
    found = answer(log(loss=0.7, grad_norm=0.3), question).answer
    assert "expected" not in found
    assert "does not reach" not in found


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("why is the loss 0.0", "zero"),
        ("loss 为什么 接近 0", "small"),
        ("reward 上不去，怎么办", "flat"),
        ("why is entropy constant", "constant"),
        ("loss 怎么越来越大", "rising"),
        ("why is pg_loss negative", "negative"),
        ("奖励在 0 到 1 之间正常吗", None),
        ("is a reward between 0 and 1 normal?", None),
        ("why is the loss not zero", None),
        ("why did the reward fall at step 0", None),
        ("loss at step 0?", None),
        ("奖励是不是大于 0", None),
    ],
)
def test_state_asked_about(question: str, state: str | None) -> None:
    assert asked(question) == state


def pairs(n: int = 6, **values: float) -> str:
    """Records of preference training: implicit rewards of preferred and rejected answers."""
    usual = [
        {"loss": 0.4 - 0.01 * i, "grad_norm": 2.0 + 0.1 * i, "learning_rate": 1e-6, "rewards/chosen": -0.2 - 0.05 * i,
         "rewards/rejected": -1.5 - 0.2 * i, "rewards/margins": 1.3 + 0.15 * i, "rewards/accuracies": 0.8}
        for i in range(n)
    ]  # fmt: skip
    return "\n".join(str(row | {name.replace("__", "/"): value for name, value in values.items()}) for row in usual)


def spread(**values: float) -> str:
    """Summaries of ML-Agents."""
    row = "INFO:mlagents.trainers: a: L: Step: {}000. Mean Reward: {:.3f}. Std of Reward: {:.3f}. Training."
    return "\n".join(row.format(19 + i, -57.0 + 5 * i, values.get("std", 0.0)) for i in range(6))


@pytest.mark.parametrize(
    ("text", "question", "said"),
    [
        (pairs(), "rewards/chosen and rewards/rejected are both negative, is that normal?", "That is normal"),
        (pairs(), "rewards/chosen 全程是负数正常吗", "差为正"),
        (pairs(rewards__margins=-0.4), "why is rewards/chosen negative?", "rejected answers are favoured"),
        (pairs(kl=0.0), "KTO: the KL drops to 0, is this normal?", "clamps at zero"),
        (
            log(rewards__format_reward=0.0005),
            "Why is the format reward almost zero?",
            "Hardly any answer matches",
        ),
        (log(rewards__format_reward=0.0), "format reward 为什么一直是 0", "几乎没有一条回答符合"),
        (spread(), "Std of Reward is always 0, why?", "with a single episode there"),
        (log(loss=0.0, grad_norm=float("nan")), "loss 0 and grad nan - why?", "numbers overflowed"),
    ],
)
def test_state_of_a_kind_of_training_is_told_by_what_it_means_there(text: str, question: str, said: str) -> None:
    found = answer(text, question)
    assert said in found.answer.split("**")[1]
    assert not found.grounding.unsupported
    assert "NaN to NaN" not in found.answer


def test_kl_of_a_group_method_is_not_told_by_what_it_means_for_kto() -> None:
    assert "KTO" not in answer(log(kl=0.0), "kl is 0, is this normal?").answer


@pytest.mark.parametrize("question", ["pg_clipfrac 为什么是 0", "why is the clip fraction zero?"])
def test_zero_that_set_in_later_is_no_single_update_per_batch(question: str) -> None:
    table = {
        s: {**training_step(s), "actor/pg_clipfrac": 0.002 + 0.0001 * (s % 3) if s < 15 else 0.0} for s in range(1, 31)
    }
    text = answerer().ask(question, [run_of(table)])[0].answer
    assert "这是正常的" not in text
    assert "That is expected" not in text
    always = run_of({s: {**training_step(s), "actor/pg_clipfrac": 0.0} for s in range(1, 31)})
    text = answerer().ask(question, [always])[0].answer
    assert "这是正常的" in text or "That is expected" in text
