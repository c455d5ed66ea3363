"""What one step shows: numbers that are not finite, keys that vanish, zero gradients, constant rewards, odd ratios."""

from __future__ import annotations

import math

import pytest

from assistant.analysis import Ledger
from assistant.analysis.diagnosis import diagnose
from assistant.analysis.diagnosis.single import broken, single_rules
from assistant.model import KnowledgeError, Missing, Number

from ..support import run_of
from .made import VERL, made

NAN = math.nan
FAR_APART: dict[str, Number] = {"mean_log_prob_current": -9e5, "mean_log_prob_ref": -1e6}
RULE = "- {rule: x, mode: FM-01, card: c, severity: warning, "


def of_step(values: dict[str, Number], **fields: str | None) -> dict[str, str]:
    """Rule → severity, for a log of one step."""
    run = run_of({7: values}, **fields)
    return {one.rule: one.severity for one in diagnose(Ledger([run]), run)}


@pytest.mark.parametrize(
    ("rule", "severity", "values", "framework"),
    [
        ("not_finite", "critical", {"actor/grad_norm": NAN, "actor/pg_loss": NAN}, "verl"),
        ("not_finite", "warning", {"loss": math.inf, "epoch": 1.0}, "HF Trainer"),
        ("zero_gradient", "warning", {"grad_norm": 0.0, "loss": 0.4}, "TRL"),
        ("zero_gradient", "warning", {"train/grad_norm": 0.0}, "slime"),
        ("constant_reward", "warning", {"critic/score/min": -1.0, "critic/score/max": -1.0}, "ROLL"),
        ("constant_reward", "warning", {"critic/rewards/min": 0.0, "critic/rewards/max": 0.0}, "verl"),
        ("no_mixed_groups", "warning", {"batch/solve_partial": 0.0, "batch/solve_none": 8.0}, "verl"),
        ("alike_groups", "warning", {"frac_reward_zero_std": 1.0, "reward": 0.0}, "TRL"),
        ("exploding_ratio", "critical", {"mean_ratio": 4.8e8, **FAR_APART}, None),
        ("truncation", "warning", {"completions/clipped_ratio": 0.4}, "TRL"),
        ("large_step", "warning", {"train/approx_kl": 0.3}, "Stable-Baselines3"),
    ],
)
def test_diagnose_single_step_is_recognised(
    rule: str, severity: str, values: dict[str, Number], framework: str | None
) -> None:
    assert of_step(values, framework=framework)[rule] == severity


@pytest.mark.parametrize(
    "values",
    [
        {"grad_norm": 0.2, "loss": 0.0},  # GRPO's loss is about zero while it learns
        {"actor/ppo_kl": 0.0, "actor/pg_clipfrac": 0.0, "actor/grad_norm": 0.3},  # strictly on-policy
        {"frac_reward_zero_std": 0.9, "grad_norm": 0.1},
        {"val-core/math/acc/mean@4": NAN, "timing_s/gen": NAN, "perf/mfu/actor": NAN, "actor/grad_norm": 0.2},
    ],
)
def test_diagnose_harmless_step_is_silent(values: dict[str, Number]) -> None:
    assert of_step(values, framework="verl") == {}


def test_broken_value_outside_the_optimisation_is_only_information() -> None:
    (found,) = broken(run_of({1: {"rewards/format/mean": NAN, "grad_norm": 0.2}}, framework="TRL"))
    assert (found.rule, dict(found.severity)) == ("not_finite", {1: "info"})


def test_broken_names_the_first_key_that_is_optimised() -> None:
    run = run_of({1: {"critic/score/mean": NAN, "actor/grad_norm": NAN, "actor/entropy": NAN}})
    (found,) = broken(run)
    assert found.keys is not None
    assert found.keys[1][0] == "actor/grad_norm"
    ((name, fact),) = found.facts(Ledger([run]), run, 1)
    assert (name, fact.metric, fact.line) == ("value", "actor/grad_norm", 1)


def test_broken_step_printed_again_after_a_restart_counts_as_mended() -> None:
    run = run_of({1: {"loss": NAN, "grad_norm": 1.0}, 2: {"loss": 0.5, "grad_norm": 1.0}})
    again = run_of({1: {"loss": NAN}, 2: {"loss": 0.4}})
    mended = type(run)(**{**{f: getattr(again, f) for f in again.__dataclass_fields__}, "steps": (1, 1)})
    assert [one.rule for one in broken(run)] == ["not_finite"]
    assert broken(mended) == ()


def test_diagnose_a_nan_in_a_long_run_is_kept_with_its_first_step() -> None:
    run = made({"actor/grad_norm": lambda v, t: NAN if 0.2 < t < 0.3 else v})
    (found,) = [one for one in diagnose(Ledger([run]), run) if one.mode == "FM-15"]
    first = next(step for step in range(1, 81) if math.isnan(run.value("actor/grad_norm", step) or 0))
    assert (found.rule, found.onset) == ("not_finite", first)


def vanishing(*gone: int, missing: tuple[Missing, ...] = ()) -> dict[int, tuple[str, ...]]:
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, 13):
        values: dict[str, Number] = {key: level for key, (level, _) in VERL.items()}
        if step in gone:
            del values["actor/grad_norm"]
        table[step] = values
    found = {one.rule: one for one in broken(run_of(table, missing=missing))}
    return dict(found["vanished_key"].keys or {}) if "vanished_key" in found else {}


def test_broken_key_that_vanishes_in_one_step_is_named() -> None:
    assert vanishing(9) == {9: ("actor/grad_norm",)}


def test_broken_key_that_was_never_steady_or_was_cut_is_not_named() -> None:
    assert vanishing() == {}
    assert vanishing(3) == {}  # five rows before must hold it
    assert vanishing(9, missing=(Missing(None, 9, 9, "line_cut", limit=4096),)) == {}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (RULE + "when: [{of: grad_norm, is: 0}], shown: {}, odd: 1}", "odd"),
        (RULE + "when: [{of: no_role, is: 0}], shown: {}}", "no_role"),
        (RULE + "when: [{of: grad_norm}], shown: {}}", "bound"),
        ("- {rule: x, mode: FM-01, severity: warning, when: [{of: grad_norm, is: 0}], shown: {}}", "card"),
    ],
)
def test_single_rules_broken_file_names_the_place(tmp_path, text: str, what: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "single.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=what):
        single_rules(path)
