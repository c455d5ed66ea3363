"""A step's time in parts of a run and under any key, the last of what was counted, epochs as parts, two forms named."""

from __future__ import annotations

import math
from functools import lru_cache

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.support import answerer


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, [run])[0]


def first(run: Run, question: str) -> str:
    return ask(run, question).answer.split("\n")[0].strip("*")


@lru_cache(maxsize=1)
def nano() -> Run:
    """An iteration takes 50 ms, 60 from 200 on; every 50th is slow."""
    table = {
        n: {
            "loss": round(4 - 0.005 * n, 4), "mfu": 5.0,
            "time": 5000.0 if n % 50 == 0 else 50.0 if n < 200 else 60.0,
        }
        for n in range(0, 401, 10)
    }  # fmt: skip
    return run_of(table, framework="nanoGPT", format="nanogpt", step_axis="iter")


@lru_cache(maxsize=4)
def timed(key: str) -> Run:
    table = {
        n: {"train/loss": 1 / n, key: 14.0 if n in {1, 17} else 6.0} for n in range(1, 31)
    }  # fmt: skip
    return run_of(table, framework="mine", format="csv")


@lru_cache(maxsize=1)
def scored() -> Run:
    table = {
        n: {
            "reward": round(-0.4 + 0.02 * n + (1.5 if n == 12 else 0.0), 3),
            "sp_ratio": 0.0 if n < 14 else 0.1 * (n - 13),
            "learning_rate": 1e-6 * (1 + math.cos(math.pi * (n - 1) / 39)) / 2,
        }
        for n in range(1, 41)
    }  # fmt: skip
    return run_of(table, framework="TRL", format="csv")


@pytest.mark.parametrize("question", ["how long does an iteration take", "how long does one step take"])
def test_a_mean_of_a_few_slow_steps_comes_with_the_median(question: str) -> None:
    said = first(nano(), question)
    assert "(`time`, 41 values)" in said
    assert "the median is 60" in said


def test_the_time_of_a_step_in_two_parts_is_told_of_both() -> None:
    said = first(nano(), "how long does an iteration take between 0 and 190 vs after 200")
    assert "50 at the median" in said
    assert "60 at the median" in said


@pytest.mark.parametrize("key", ["train/time(s)", "iter_time_s", "E2E latency"])
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what's the average step time excluding the first step", "is 6.28"),
        ("how many steps took longer than 10 seconds", "at 2 of 30 steps"),
    ],
)
def test_a_steps_time_is_known_under_its_own_key(key: str, question: str, told: str) -> None:
    said = first(timed(key), question)
    assert f"`{key}`" in said
    assert told in said


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many steps had a negative reward and when was the last one", "`reward` is last negative at step 19"),
        (
            "how many steps had a reward above 0.3, and when was the first one?",
            "`reward` is first above 0.3 at step 12",
        ),
        (
            "how many iterations ran with sp_ratio above 0, and when did it begin",
            "`sp_ratio` is first above 0 at step 14",
        ),
    ],
)
def test_the_last_one_is_of_what_was_counted(question: str, told: str) -> None:
    assert told in ask(scored(), question).answer


@pytest.mark.parametrize(
    "question",
    ["how many steps until the reward stayed above 0.2", "how long was it until reward stayed above 0.2"],
)
def test_until_it_stayed_is_for_good(question: str) -> None:
    assert "From step 31" in first(scored(), question)


@pytest.mark.parametrize(
    "question", ["at which steps is sp_ratio above 2.3", "when is sp_ratio above 2.3, list the steps"]
)
def test_steps_asked_for_in_the_plural_are_listed(question: str) -> None:
    answer = ask(scored(), question).answer
    assert all(str(step) in answer for step in (37, 38, 39, 40))


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("is the learning rate cosine or linear", "The decay is a cosine"),
        ("is the learning rate linear", "No. The decay is a cosine"),
        ("is the learning rate schedule a cosine", "Yes. The decay is a cosine"),
    ],
)
def test_of_two_forms_named_none_is_denied(question: str, start: str) -> None:
    assert first(scored(), question).startswith(start)


@lru_cache(maxsize=2)
def rounds(whole: bool = False) -> Run:
    """Three epochs of ten rows: the loss is 3, 2 and 1 in them, and 5 at the first row of each."""
    table = {}
    for n in range(1, 31):
        at = (n - 1) // 10
        table[10 * n] = {"loss": 5.0 if n % 10 == 1 else 3.0 - at, "epoch": at if whole else round(n / 10, 2)}
    return run_of(table, framework="HF Trainer", format="hf-dict")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("mean loss in the second epoch", "over steps 110 to 200 is 2.3"),
        ("what is the lowest loss in the last epoch", "The minimum of `loss` is 1, shared by 9 steps: 220–300"),
        ("mean loss in epoch 2", "over steps 110 to 200 is 2.3"),
        ("第 2 个 epoch 里 loss 平均多少", "step 110 到 200 的 10 个值上平均为 2.3"),
    ],
)
def test_a_statistic_in_an_epoch_is_over_its_steps(question: str, told: str) -> None:
    assert told in first(rounds(), question)


@pytest.mark.parametrize(
    "question",
    [
        "how much lower is the loss in the third epoch than in the first",
        "is the loss lower in the last epoch than in the first one",
    ],
)  # fmt: skip
def test_two_epochs_are_compared_by_their_means(question: str) -> None:
    said = first(rounds(), question)
    assert "is 1.4 over steps 210 to 300 (10 values), and 3.2 over steps 10 to 100 (10 values)" in said


def test_epochs_counted_from_zero_are_those_of_that_number_and_of_that_place() -> None:
    assert "over steps 210 to 300 is 1.4" in first(rounds(whole=True), "mean loss in epoch 2")
    assert "over steps 110 to 200 is 2.3" in first(rounds(whole=True), "mean loss in the second epoch")


def test_a_value_at_an_epoch_stays_that_of_one_step() -> None:
    assert "`loss` is 2 at step 200" in first(rounds(), "loss at epoch 2")


@pytest.mark.parametrize(
    "question",
    [
        "is reward at the end higher than at step 30, and by how many percent",
        "how many percent higher is reward at the end than at step 30",
        "by how much did reward change from step 30 to step 40 in percent",
        "by how many percent is the reward at step 40 above that at step 30",
    ],
)
def test_a_change_in_percent_is_told_in_percent(question: str) -> None:
    assert "relative change of +100%" in ask(scored(), question).answer


@lru_cache(maxsize=2)
def stable(*, loss: float = 0.0) -> Run:
    """Stable-Baselines3's PPO, whose updates do nothing in all rows but the fifth."""
    table = {
        50 * n: {
            "rollout/ep_rew_mean": -100.0, "train/approx_kl": 0.0 if n != 5 else 0.02, "train/loss": loss,
            "train/policy_gradient_loss": loss, "train/clip_fraction": 0.0 if n != 5 else 0.1,
            "train/learning_rate": 3e-4, "train/n_updates": 10 * n,
        }
        for n in range(1, 13)
    }  # fmt: skip
    return run_of(table, framework="Stable-Baselines3", format="csv")


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("question", ["why is approx_kl 0", "why is clip_fraction zero", "为什么 approx_kl 是 0"])
def test_an_idle_ppo_is_not_put_down_to_a_single_update(question: str, loss: float) -> None:
    answer = ask(stable(loss=loss), question).answer
    assert "with one update per batch" not in answer
    assert "每批样本只更新一次时" not in answer
    if not loss:
        assert "the loss is zero as well" in answer or "损失也恒为零" in answer
