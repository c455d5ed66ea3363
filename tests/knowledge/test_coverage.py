"""Every metric of the logs that are generated for the parsers has a card, of its framework or a general one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

import pytest

from assistant.knowledge import library
from assistant.knowledge.resolver import GENERAL, Resolver
from assistant.parsing import parse_text
from tests.parsing.generators import (
    areal_log,
    headed_trainers,
    line_logs,
    megatron,
    nemo_rl_log,
    openrlhf_log,
    roll_log,
    slime_log,
    small_trainers,
    tables,
    trainer_log,
    verl_log,
)

#: Names that stand in no trainer's source, for which no card can exist, and why.
FREE = {
    "ppo_actor/update/metric_*/avg": "the generator invents names to fill the box that AReaL prints",
    "val-core/*/acc/std@*": "the generator shows the spread among the core statistics, verl only under val-aux",
}


def numbered(print_row: Callable[[random.Random, int], tuple[object, object]]) -> str:
    """Five rows of a printer that takes a step."""
    rng = random.Random(1)
    rows = [print_row(rng, step)[0] for step in range(1, 6)]
    return "\n".join(line for row in rows for line in (row if isinstance(row, list) else [str(row)]))


def printed(print_step: Callable[[random.Random, int], Iterable[tuple[str, object, object]]]) -> str:
    """Eight steps of a printer of lines."""
    rng = random.Random(1)
    return "\n".join(line for step in range(1, 9) for line, _, _ in print_step(rng, step))


NEMO = (
    "Training epoch 0, iteration {0}/149 | lr: 3e-05 | global_batch_size: 4 | consumed_samples: {0} | global_step: {0} "
    "| reduced_train_loss: 1.5 | train_step_timing in s: 2.5 | val_loss: 0.5"
)
KERAS = "60/60 [====] - 5s 87us/step - loss: 0.5 - accuracy: 0.4 - val_loss: 0.3 - val_accuracy: 0.2 - lr: 0.001"
RAY = (
    "Result for PPO_1:\n  episode_len_mean: 20.5\n  episode_reward_mean: 1.5\n  episodes_this_iter: 9\n  info:\n"
    "    learner:\n      default_policy:\n        learner_stats:\n          cur_kl_coeff: 0.2\n          entropy: 0.6\n"
    "          kl: 0.02\n          policy_loss: -0.1\n          vf_explained_var: 0.3\n          vf_loss: 9.5\n"
    "  time_this_iter_s: 3.5\n  timesteps_total: 4000\n  training_iteration: {}\n\n"
)
SB3 = (
    "-----------------------------------\n| rollout/                |       |\n"
    + "".join(
        f"|    {key:<20} | 1.5   |\n" for key in ("ep_len_mean", "ep_rew_mean", "exploration_rate", "success_rate")
    )
    + "| time/                   |       |\n"
    + "".join(f"|    {key:<20} | {{0}}   |\n" for key in ("fps", "iterations", "time_elapsed", "total_timesteps"))
    + "| train/                  |       |\n"
    + "".join(
        f"|    {key:<20} | 0.5   |\n"
        for key in (
            "actor_loss",
            "approx_kl",
            "clip_fraction",
            "clip_range",
            "critic_loss",
            "ent_coef",
            "entropy_loss",
            "explained_variance",
            "learning_rate",
            "loss",
            "n_updates",
            "policy_gradient_loss",
            "std",
            "value_loss",
        )
    )
    + "-----------------------------------\n"
)
SB2 = (
    "-----------------------------\n"
    + "".join(
        f"| {key:<18} | {{0}} |\n"
        for key in (
            "approxkl",
            "clipfrac",
            "ep_len_mean",
            "ep_reward_mean",
            "explained_variance",
            "fps",
            "n_updates",
            "policy_entropy",
            "policy_loss",
            "serial_timesteps",
            "time_elapsed",
            "total_timesteps",
            "value_loss",
        )
    )
    + "-----------------------------\n"
)
SPINNING_UP = (
    "---------------------------------------\n"
    + "".join(
        f"| {key:>15} | {{0}} |\n"
        for key in (
            "Epoch",
            "AverageEpRet",
            "StdEpRet",
            "MaxEpRet",
            "MinEpRet",
            "EpLen",
            "AverageVVals",
            "TotalEnvInteracts",
            "LossPi",
            "LossV",
            "DeltaLossPi",
            "DeltaLossV",
            "Entropy",
            "KL",
            "ClipFrac",
            "StopIter",
            "Time",
        )
    )
    + "---------------------------------------\n"
)
LLMC = "s:0 tel:11.0\ns:10 eval:0.25\ns:10 trl:10.5 lr:0.0001 norm:2.5\ns:20 trl:9.5 lr:0.0002 norm:2.0\n"


def repeated(text: str) -> str:
    """A block for three steps."""
    return "".join(text.replace("{0}", str(step)).replace("{}", str(step)) for step in (1, 2, 3))


def joined(lines: Iterable[str]) -> str:
    """The lines as a text."""
    return "\n".join(lines)


LOGS: dict[str, str] = {
    **{name: printed(printer) for name, printer in {**headed_trainers.PRINTERS, **small_trainers.PRINTERS}.items()},
    "llm.c main.log": LLMC,
    "deepspeed-chat": joined(line_logs.deepspeed(1, 4).lines),
    "deepspeed-chat, new": joined(line_logs.deepspeed(1, 4, new=True).lines),
    "minimind": joined(line_logs.minimind(1, 4).lines),
    "minimind, old": joined(line_logs.minimind(1, 4, old=True).lines),
    "minimind, first": joined(line_logs.minimind_first(1, 4).lines),
    "prime-rl": joined(line_logs.prime(1, 4).lines),
    "prime-rl, trainer": joined(line_logs.prime(1, 4, trainer=True).lines),
    "prime-rl, first": joined(line_logs.prime_first(1, 4).lines),
    "prime-rl, first trainer": joined(line_logs.prime_first(1, 4, trainer=True).lines),
    "prime-rl, bars": joined(line_logs.prime_first(1, 4, bars=True).lines),
    "megatron": numbered(megatron.random_row) + "\n" + joined(megatron.validation(5, "1.0E+00", "2.7E+00")),
    "nanotron": numbered(megatron.nanotron_line),
    "nemo": joined(NEMO.format(step) for step in range(1, 4)),
    "stable-baselines3": numbered(tables.sb3_table),
    "stable-baselines3, all keys": repeated(SB3),
    "stable-baselines": repeated(SB2),
    "spinning-up": numbered(tables.spinning_up_table),
    "spinning-up, ppo": repeated(SPINNING_UP),
    "rsl_rl": numbered(tables.rsl_rl_block),
    "rllib": repeated(RAY),
    "keras": joined(f"Epoch {epoch}/9\n{KERAS}" for epoch in range(1, 4)),
    "llama-factory": trainer_log.llama_factory(1, 5).text,
    "ms-swift": trainer_log.swift(1, 5).text,
    "hf sft": trainer_log.console(1, trainer_log.SFT_KEYS, 5, eval_every=2).text,
    "trl grpo": trainer_log.console(1, trainer_log.GRPO_KEYS, 5, eval_every=2).text,
    "trl dpo": trainer_log.console(1, trainer_log.DPO_KEYS, 5, eval_every=2).text,
    "trl ppo": trainer_log.console(1, trainer_log.PPO_KEYS, 5).text,
    "trainer state": trainer_log.trainer_state(1, 5, eval_every=2).text,
    "notebook": trainer_log.notebook_tsv(trainer_log.notebook_rows(1, 5)),
    "areal": joined(areal_log.random_log(1, 3).lines),
    "nemo-rl": joined(nemo_rl_log.random_log(1, 3).lines),
    "openrlhf": joined(openrlhf_log.random_log(1, 3).lines),
    "roll": joined(roll_log.random_log(1, 3).lines),
    "slime": joined(slime_log.random_log(1, 3).lines),
    "verl": joined(verl_log.random_log(1, 3, val_every=2).lines),
}


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(library())


@pytest.mark.parametrize("name", LOGS)
def test_every_metric_of_a_log_has_a_card(resolver: Resolver, name: str) -> None:
    runs = parse_text(LOGS[name]).runs
    assert runs
    lacking = {
        (run.framework, key)
        for run in runs
        for key in run.metrics
        if not any(fnmatchcase(key, free) for free in FREE)
        and ((found := resolver.key(key, run.framework)) is None or found.foreign)
    }
    assert lacking == set()


@pytest.mark.parametrize("key", ["loss", "val_loss", "lr", "grad_norm", "tok/s", "mfu", "ppl", "epoch"])
def test_a_key_that_means_the_same_everywhere_has_a_card_in_every_log(resolver: Resolver, key: str) -> None:
    for framework in (None, "some trainer"):
        found = resolver.key(key, framework)
        assert found is not None
        assert found.card.framework == GENERAL
        assert not found.foreign


def test_a_general_card_gives_way_to_the_framework_s_own(resolver: Resolver) -> None:
    found = resolver.key("loss", "nanoGPT")
    assert found is not None
    assert found.card.id == "nanogpt/loss"
