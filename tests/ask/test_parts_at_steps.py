"""The parts of a reward at steps and in sum, parts of a step in plain words, shares of a run, steps left by a bar."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Answer, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of
from tests.ask.support import answerer


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, [run])[0]


def first(run: Run, question: str) -> str:
    return ask(run, question).answer.split("\n")[0].strip("*")


@lru_cache(maxsize=2)
def parted(weight: float = 1.0) -> Run:
    table = {}
    for step in range(1, 41):
        parts = {
            "rewards/format/mean": 0.5 + 0.01 * step,
            "rewards/answer/mean": 0.025 * step,
            "rewards/length/mean": 0.1,
        }
        table[step] = {**parts, "reward": round(weight * sum(parts.values()), 6), "kl": 0.1 * step}
    return run_of(table, framework="TRL", format="trl-dict")


@lru_cache(maxsize=1)
def deepspeed() -> Run:
    lines = []
    for step in range(20):
        lines += [
            f"epoch: 0|step: {step}|ppo_ep: 1|act_loss: 0.1|cri_loss: 0.2|unsuper_loss: 0.0",
            f"|E2E latency={4 + 0.1 * step:.2f}s |Gather latency=0.00s (0.00%) |Generate time={3.0:.2f}s (75.00%) "
            f"|Training time={0.8 + 0.1 * step:.2f}s (20.00%) |Others=0.20 (5.00%)|CurSamplesPerSec=16.0 "
            "|AvgSamplesPerSec=16.0",
            f"average reward score: {0.1 * step:.3f}",
            "-------------------------------------------------------------------------------------",
        ]
    return parse_text("\n".join(lines)).runs[0]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which reward component contributes most to the total reward at step 10", "`rewards/format/mean`: 0.6"),
        ("which reward function is the highest at step 40", "`rewards/answer/mean`: 1"),
        ("which reward component is lowest at the last step", "`rewards/length/mean`: 0.1"),
        ("第 40 步哪个奖励分项最高", "`rewards/answer/mean`：1"),
    ],
)
def test_the_largest_part_is_that_of_the_step_asked_for(question: str, told: str) -> None:
    assert told in first(parted(), question)


def test_parts_that_are_level_are_all_named() -> None:
    said = first(parted(), "which reward component is the lowest at step 4")
    assert "`rewards/answer/mean`" in said
    assert "`rewards/length/mean`" in said


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("sum of the three reward components at step 10, does it equal reward?", "They agree", "They differ"),
        ("do the reward components add up to reward", "Yes: at all 40 steps", "at 0 of 40 steps"),
        ("各奖励分项加起来等于总奖励吗", "是：40 个 step", "不是：40 个 step 里只有 0 个"),
    ],
)
def test_whether_the_parts_add_up_is_told_from_their_sum(question: str, one: str, other: str) -> None:
    assert one in first(parted(), question)
    assert other in first(parted(2.0), question)


def test_the_sum_of_one_reward_over_steps_stays_one() -> None:
    assert "The sum of `reward` is" in first(parted(), "what is the sum of reward over the last 10 steps")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how much of the end-to-end latency is generation at step 10?", "`Generate time` in `E2E latency` is 60.0%"),
        ("how much of e2e latency is training time at step 10", "`Training time` in `E2E latency` is 36.0%"),
        ("how much of the latency goes to generation", "the share of `Generate time` in `E2E latency` is 6"),
        ("what share of the E2E latency is training at step 0", "`Training time` in `E2E latency` is 20.0%"),
    ],
)
def test_a_part_of_a_step_in_plain_words_is_set_against_the_whole(question: str, told: str) -> None:
    assert told in first(deepspeed(), question)


@pytest.mark.parametrize(
    "question",
    [
        "how much of the run had kl above 3, in percent", "what percentage of the run had kl above 3",
        "how many steps have kl above 3 in percent", "how much of the training was kl above 3",
    ],
)  # fmt: skip
def test_so_much_of_a_run_is_a_share_of_its_steps(question: str) -> None:
    assert "above 3 at 25.0% of the steps: 10" in first(parted(), question)


@pytest.mark.parametrize("question", ["how many steps were left when it was killed?", "how many steps are left"])
def test_steps_left_are_counted_from_where_the_bar_got_to(question: str) -> None:
    rows = [
        f" {n}%|██        | {n}/100 [{n:02d}:00<10:00, 60.00s/it]{{'loss': {2 - 0.01 * n:.3f}, 'epoch': {n / 100:.2f}}}"
        for n in range(10, 91, 10)
    ]
    run = parse_text("\n".join([*rows, " 97%|██        | 97/100 [1:37:00<03:00, 60.00s/it]"])).runs[0]
    said = first(run, question)
    assert "3 of 100 steps are left after step 97" in said
    assert said.startswith("About 180 s")
