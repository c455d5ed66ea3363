"""What a question consists of: the framework it asks for, rates spelt out."""

from __future__ import annotations

import pytest

from assistant.knowledge.questions import (
    asked_of_two,
    asks_counterpart,
    brackets_apart,
    known_wordings,
    spelt_out,
    without_asking,
)
from assistant.knowledge.terms import fold


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("verl's name for TRL's kl", ("verl", "TRL")),
        ("which verl metric corresponds to NeMo's gen_kl_error", ("verl", "NeMo-RL")),
        ("what is OpenRLHF's version of actor/lr in verl", ("OpenRLHF", "verl")),
        ("NeMo logs values. What's the verl one called", ("verl", "NeMo-RL")),
        ("ROLL 的 critic/loss 换到 verl 叫什么", ("verl", "ROLL")),
        ("slime 的 raw_reward 在 TRL 里叫什么", ("TRL", "slime")),
        ("TRL 里有没有 verl perf/throughput 的 counterpart", ("TRL", "verl")),
        ("verl's actor/kl_loss in TRL terms", ("TRL", "verl")),
        ("I come from verl. Where does TRL log step?", ("TRL", "verl")),
        ("从 verl 迁移到 TRL，actor/entropy 看哪个", ("TRL", "verl")),
        ("想在 ROLL 找 verl 的 perf/throughput", ("ROLL", "verl")),
        ("verl: what is the kl of slime there", ("verl", "slime")),
        ("step_time in TRL, what is it in verl?", ("verl", "TRL")),
        ("perf/mfu exists in verl, which key has it in slime", ("slime", "verl")),
        ("verl: actor/ppo_kl. OpenRLHF: ?", ("OpenRLHF", "verl")),
        ("在 ROLL 里有 critic/value，在 verl 里呢", ("verl", "ROLL")),
    ],
)
def test_asked_of_two_wording_tells_which(question: str, asked: tuple[str, str]) -> None:
    assert asked_of_two(fold(question)) == asked


@pytest.mark.parametrize("question", ["kl: verl or TRL", "verl 和 TRL 的 entropy 有何不同", "verl's name for kl", "kl"])
def test_asked_of_two_wording_that_does_not_tell_is_none(question: str) -> None:
    assert asked_of_two(fold(question)) is None


@pytest.mark.parametrize(
    ("question", "apart"),
    [
        ("actor/kl_loss(verl) 是啥", "actor/kl_loss (verl) 是啥"),
        ("critic/score/mean（ROLL）换成 verl", "critic/score/mean (ROLL) 换成 verl"),
        ("train/total_tokens(B) and mfu(actor)", "train/total_tokens(B) and mfu(actor)"),
    ],
)
def test_brackets_apart_only_around_frameworks(question: str, apart: str) -> None:
    assert brackets_apart(question) == apart


@pytest.mark.parametrize(
    ("question", "counterpart"),
    [("verl equivalent of step_time", True), ("return 对应 verl 的哪个 key", True), ("what is step_time", False)],
)
def test_asks_counterpart(question: str, counterpart: bool) -> None:
    assert asks_counterpart(fold(question)) is counterpart


@pytest.mark.parametrize(
    ("question", "spelt"),
    [
        ("tok/s/gpu", "tokens per second per gpu"),
        ("why so few tokens/s", "why so few tokens per second"),
        ("perf/tok/s", "perf/tok/s"),
        ("train_speed(iter/s)", "train_speed(iter/s)"),
        ("tok/gpu/sec, tok/sec/device", "tokens per second per gpu, tokens per second per device"),
        ("samples/s, it/s", "samples per second, steps per second"),
        ("ms/token or secs/step", "milliseconds per token or seconds per step"),
        ("pass8 and bo16 and avg@32", "pass@8 and best@16 and avg@32"),
        ("val/mean8 of a mean 8", "val/mean8 of a mean 8"),
    ],
)
def test_spelt_out_rates_only(question: str, spelt: str) -> None:
    assert spelt_out(question) == spelt


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("fwd bwd 耗时", "forward backward 耗时"),
        ("MBS vs gbs", "micro batch size vs global batch size"),
        ("critic/rew/mean", "critic/rew/mean"),
        ("resp_len, resp.", "resp_len, response."),
        ("看下tput高不高", "看下throughput高不高"),
    ],
)
def test_spelt_out_abbreviation_that_stands_alone_is_in_words(question: str, plain: str) -> None:
    assert spelt_out(question) == plain


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("what does trl call verl's kl", "what does trl verl's kl"),
        ("i come from verl. where does slime log log_probs?", "  verl. where does slime log_probs?"),
        ("tools call frequency", "tools call frequency"),
    ],
)
def test_without_asking_leaves_out_the_verbs_beside_a_framework(question: str, rest: str) -> None:
    assert without_asking(question) == rest


@pytest.mark.parametrize(
    ("text", "wordings"),
    [
        ("rollouts out of memory", ["rollout", "out of memory"]),
        ("gpu memory or memory", ["gpu memory", "memory"]),
        ("tokens per second", ["tokens per second"]),
        ("tokens per", ["tokens"]),
        ("权重同步耗时", ["权重同步", "耗时"]),
        ("权的重", []),
    ],
)
def test_known_wordings_longest_at_each_place(text: str, wordings: list[str]) -> None:
    assert known_wordings(text) == wordings
