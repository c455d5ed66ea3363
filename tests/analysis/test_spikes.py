"""Spikes: what stands ten times above its neighbours and goes back, told with the largest named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.analysis.checks import check_all, check_step
from assistant.analysis.spikes import BACK, MOST, NEAREST, TIMES, WITHIN, spikes
from assistant.model import Run
from tests.analysis.support import run_of


def kl_run(values: np.ndarray) -> Run:
    table = {i + 1: {"kl": float(v), "reward": 0.5, "grad_norm": 0.4, "loss": 0.001} for i, v in enumerate(values)}
    return run_of(table, format="trl-dict", framework="TRL")


def level(n: int, spiked: dict[int, float]) -> np.ndarray:
    values = 0.02 * np.exp(0.3 * np.random.default_rng(4).normal(size=n))
    for step, value in spiked.items():
        values[step - 1] = value
    return values


def told(run: Run, steps: list[int] | None = None) -> list[tuple[str, str, tuple[int, ...]]]:
    found = check_all(Ledger([run]), steps or list(run.steps), run)
    return [(c.rule, c.severity, c.steps) for c in found if "spike" in c.rule]


def test_spikes_of_a_kl_are_a_warning_that_names_the_three_largest() -> None:
    run = kl_run(level(200, {60: 2.6, 90: 0.4, 130: 1.7, 170: 1.8}))
    (check,) = [c for c in check_all(Ledger([run]), list(run.steps), run) if c.rule == "spikes"]
    facts = dict(check.facts)
    assert check.severity == "warning"
    assert check.steps == (60, 90, 130, 170)
    assert [(facts[name].step, facts[name].value) for name in ("value", "second", "third")] == [
        (60, 2.6), (170, 1.8), (130, 1.7),
    ]  # fmt: skip
    assert facts["count"].value == 4
    assert facts["level"].value == pytest.approx(0.02, rel=0.3)
    assert facts["after"].step == 61


@pytest.mark.parametrize(("step", "rule"), [(60, "spike_largest"), (130, "spike_of_many")])
def test_spikes_asked_of_one_step_tell_that_one_and_how_many_there_are(step: int, rule: str) -> None:
    run = kl_run(level(200, {60: 2.6, 130: 1.7, 170: 1.8}))
    for checks in (check_all(Ledger([run]), [step], run), check_step(Ledger([run]), step, run)):
        (check,) = [c for c in checks if "spike" in c.rule]
        facts = dict(check.facts)
        assert (check.rule, check.steps, facts["count"].value) == (rule, (step,), 3)
        assert facts["value"].step == step
    assert not [c for c in check_step(Ledger([run]), 61, run) if "spike" in c.rule]


def test_spikes_two_name_both() -> None:
    assert told(kl_run(level(200, {60: 2.6, 130: 1.7}))) == [("spikes_two", "warning", (60, 130))]


def test_spikes_small_ones_of_a_kl_are_information() -> None:
    assert told(kl_run(level(200, {60: 0.4, 130: 0.45}))) == [("spikes_two", "info", (60, 130))]


def test_spikes_a_level_that_stays_is_no_spike() -> None:
    values = level(200, {})
    values[100:] *= 50
    assert spikes(values)[0] == []


def test_spikes_a_series_that_scatters_so_has_none() -> None:
    values = np.exp(3 * np.random.default_rng(1).normal(size=300))
    assert spikes(values)[0] == []


@given(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=80))
def test_spikes_any_values_meet_their_definition(values: list[float]) -> None:
    data = np.asarray(values, dtype=np.float64)
    found, around = spikes(data)
    assert len(found) <= MOST * len(data)
    assert not found or len(data) > NEAREST
    for at in found:
        assert abs(data[at]) > TIMES * around[at] > 0
        assert (np.abs(data[at + 1 : at + 1 + WITHIN]) < BACK * around[at]).any()


@pytest.mark.parametrize("gone", [0.0, 1e-9])
def test_last_values_of_a_level_that_falls_away_are_no_spikes(gone: float) -> None:
    values = np.concatenate([level(23, {}), np.full(38, gone)])
    assert spikes(values)[0] == []


def test_spike_before_a_level_that_falls_away_is_one() -> None:
    values = np.concatenate([level(23, {21: 2.0}), np.full(38, 0.0)])
    assert spikes(values)[0] in ([20], [])  # the level around it may be that of the zeros, and then nothing is told
    values = np.concatenate([level(40, {21: 2.0}), np.full(38, 0.0)])
    assert spikes(values)[0] == [20]


def test_small_value_of_a_signed_loss_that_was_larger_before_is_no_spike() -> None:
    signed = 0.02 * np.random.default_rng(2).normal(size=30)
    quiet = 2e-4 * np.random.default_rng(3).normal(size=40)
    quiet[20] = 0.0157
    assert spikes(np.concatenate([signed, quiet]))[0] == []
    quiet[20] = 0.4
    assert spikes(np.concatenate([signed, quiet]))[0] == [50]
