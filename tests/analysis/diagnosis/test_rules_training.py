"""Losses that should fall: divergence and overfitting are told from noise, warm-up and a finished decline."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from assistant.model import Number, Run

from ..support import run_of
from .made import diagnosed


def training(
    loss: Callable[[float], float],
    *,
    held_out: Callable[[float], float] | None = None,
    gradient: Callable[[float], float] = lambda _: 1.0,
    steps: int = 100,
    noise: float = 0.03,
    framework: str = "HF Trainer",
) -> Run:
    """A supervised run; functions of the share of the run (0 … 1)."""
    dice = random.Random(9)
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, steps + 1):
        part = step / steps
        values: dict[str, Number] = {
            "loss": loss(part) * (1 + noise * dice.gauss(0, 1)),
            "grad_norm": gradient(part) * (1 + 0.1 * dice.gauss(0, 1)),
            "learning_rate": 2e-5 * (1 - part),
        }
        if held_out is not None and step % 10 == 0:
            values["eval_loss"] = held_out(part) * (1 + 0.003 * dice.gauss(0, 1))
        table[step] = values
    return run_of(table, framework=framework, format="made")


def falls(part: float) -> float:
    return 1.2 + 1.3 * math.exp(-5 * part)


def blows_up(part: float) -> float:
    return falls(part) if part < 0.6 else falls(part) + 12 * (part - 0.6)


@pytest.mark.parametrize("framework", ["HF Trainer", "LLaMA-Factory", "minimind", "nanoGPT"])
def test_loss_that_rises_for_good_is_a_divergence(framework: str) -> None:
    found = diagnosed(training(blows_up, framework=framework))["loss_divergence"]
    assert found.severity == "warning"
    assert found.onset is not None
    assert abs(found.onset - 60) <= 12


def test_loss_above_its_start_with_growing_gradients_is_critical() -> None:
    run = training(lambda p: falls(p) if p < 0.6 else 2 + 40 * (p - 0.6), gradient=lambda p: 1.0 if p < 0.6 else 9.0)
    assert diagnosed(run)["loss_divergence"].severity == "critical"


@pytest.mark.parametrize(
    ("what", "loss", "noise"),
    [
        ("falls", falls, 0.03),
        ("fifty noisy losses", lambda _: 2.0, 0.15),
        ("levels off", lambda p: max(1.4, falls(p)), 0.05),
        ("one spike", lambda p: falls(p) + (6.0 if 0.5 < p <= 0.52 else 0.0), 0.03),
        ("preference loss", lambda p: 0.69 - 0.1 * p, 0.06),
    ],
)
def test_loss_that_does_not_diverge_is_silent(what: str, loss: Callable[[float], float], noise: float) -> None:
    assert diagnosed(training(loss, noise=noise)) == {}, what


def test_loss_of_a_policy_is_not_judged() -> None:
    """A policy-gradient loss has no direction; only a language-modelling or preference loss should fall."""
    assert "loss_divergence" not in diagnosed(training(blows_up, framework="TRL"))


def test_held_out_loss_that_turns_while_training_falls_is_overfitting() -> None:
    found = diagnosed(training(falls, held_out=lambda p: 1.6 - 0.5 * p if p <= 0.5 else 1.35 + 0.5 * (p - 0.5)))
    one = found["held_out_loss_rises"]
    assert (one.mode, one.severity) == ("FM-35", "warning")
    assert one.onset is not None
    assert abs(one.onset - 50) <= 10


def test_held_out_loss_that_levels_off_is_silent() -> None:
    assert diagnosed(training(falls, held_out=lambda p: 1.35 + 0.6 * math.exp(-6 * p))) == {}


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"loss": math.nan, "rewards/margins": 0.1, "grad_norm": math.nan}, "not_finite"),
        ({"loss": 0.69, "rewards/margins": 0.0, "grad_norm": 0.0}, "zero_gradient"),
    ],
)
def test_preference_training_knows_the_single_step_rules(values: dict[str, Number], rule: str) -> None:
    assert rule in diagnosed(run_of({1: values}, framework="TRL"))


def test_held_out_loss_that_turns_while_training_goes_on_falling_is_told_with_the_turn() -> None:
    """A steep start of the training loss must not hide that it goes on falling."""
    table: dict[int, dict[str, Number]] = {
        100 * i: {
            "val loss": 1.8 + 5 * math.exp(-1.1 * i) + 0.02 * max(0, i - 7) + 0.001 * (7 - i) ** 2 * (i < 7),
            "train loss": 1.7 + 5 * math.exp(-1.1 * i) - 0.05 * i,
        }
        for i in range(21)
    }
    one = diagnosed(run_of(table, format="nanogpt", framework="nanoGPT"))["held_out_loss_rises"]
    facts = dict(one.facts)
    held = {step: row["val loss"] for step, row in table.items()}
    assert (facts["onset"].step, facts["onset"].value) == (700, min(held.values()))
    flat = {step: row | {"train loss": 1.6 + 0.01 * (step // 100 % 3)} for step, row in table.items()}
    assert "held_out_loss_rises" not in diagnosed(run_of(flat, format="nanogpt", framework="nanoGPT"))
