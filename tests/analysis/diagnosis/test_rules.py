"""The rules on policy, reward, length and mismatch: each fires on its signature and is silent on what looks like it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assistant.analysis.diagnosis import rules

from .made import Course, at, decay, diagnosed, made, plus, ramp, times

VAL = "val-core/math/acc/mean@4"
EVAL = "eval_rewards/accuracy_reward/mean"
Courses = Mapping[str, Course]

FIRES: list[tuple[str, str, str, Courses, dict[str, Any]]] = [
    ("entropy_collapse", "FM-01", "critical", {"actor/entropy": decay(0.01), "actor/grad_norm": ramp(0.3)}, {}),
    ("entropy_collapse", "FM-01", "warning", {"actor/entropy": decay(0.01)}, {}),
    ("entropy_collapse", "FM-01", "warning", {"entropy": decay(0.01)}, {"framework": "TRL"}),
    (
        "entropy_explosion",
        "FM-02",
        "critical",
        {"actor/entropy": ramp(8), "critic/score/mean": ramp(0.2), "response_length/mean": ramp(2.5)},
        {},
    ),
    (
        "entropy_explosion",
        "FM-02",
        "critical",
        {"entropy": ramp(8), "reward": ramp(0.2), "completions/clipped_ratio": plus(0.4)},
        {"framework": "TRL"},
    ),
    (
        "large_updates",
        "FM-12",
        "critical",
        {"actor/pg_clipfrac": ramp(15), "actor/ppo_kl": ramp(60), "actor/grad_norm": ramp(2)},
        {},
    ),
    (
        "large_updates_sudden",
        "FM-12",
        "critical",
        {"actor/pg_clipfrac": times(15), "actor/ppo_kl": times(60), "actor/grad_norm": times(2)},
        {},
    ),
    (
        "large_updates_sudden",
        "FM-12",
        "warning",
        {"clip_ratio/region_mean": times(12), "learning_rate": times(8)},
        {"framework": "TRL"},
    ),
    (
        "frozen_rate",
        "FM-13",
        "critical",
        {"actor/lr": at(0.0), "actor/pg_clipfrac": at(0.0), "actor/kl_loss": at(0.008)},
        {},
    ),
    (
        "no_gradient",
        "FM-13",
        "critical",
        {"actor/grad_norm": at(0.0), "actor/pg_clipfrac": at(0.0), "actor/kl_loss": at(0.008)},
        {},
    ),
    ("frozen_policy", "FM-13", "warning", {"actor/pg_clipfrac": times(0.004), "actor/kl_loss": at(0.008)}, {}),
    (
        "zero_signal_groups",
        "FM-03",
        "warning",
        {"frac_reward_zero_std": plus(0.7), "grad_norm": ramp(0.3)},
        {"framework": "TRL"},
    ),
    (
        "zero_signal_extremes",
        "FM-03",
        "warning",
        {"actor/grad_norm": ramp(0.2), "actor/pg_clipfrac": ramp(0.2), "critic/score/mean": plus(0.48, 0.8)},
        {},
    ),
    (
        "filter_starvation",
        "FM-04",
        "critical",
        {"train/num_gen_batches": lambda _v, t: 2 if t <= 0 else 8, "timing_s/gen": times(3)},
        {},
    ),
    (
        "tiny_reward_variance",
        "FM-14",
        "warning",
        {"reward_std": times(0.05), "frac_reward_zero_std": at(0.0)},
        {"framework": "TRL"},
    ),
    ("tiny_reward_variance", "FM-14", "warning", {"critic/score/min": at(0.45), "critic/score/max": at(0.55)}, {}),
    (
        "reward_hacking",
        "FM-16",
        "critical",
        {"critic/score/mean": plus(0.45), VAL: plus(-0.3), "actor/kl_loss": ramp(3, 0.3)},
        {},
    ),
    (
        "format_reward_plateau",
        "FM-17",
        "warning",
        {"rewards/format_reward/mean": lambda _v, t: min(1.0, 0.2 + 4 * t), "rewards/accuracy_reward/mean": at(0.02)},
        {"framework": "TRL", "onset": 1},
    ),
    (
        "constant_score",
        "FM-20",
        "critical",
        {
            "critic/score/mean": at(0.0),
            "critic/score/max": at(0.0),
            "critic/advantages/max": at(0.0),
            "critic/advantages/min": at(0.0),
        },
        {},
    ),
    (
        "constant_score_from_start",
        "FM-20",
        "critical",
        {
            "critic/score/mean": at(0.0),
            "critic/score/max": at(0.0),
            "critic/advantages/max": at(0.0),
            "critic/advantages/min": at(0.0),
        },
        {"onset": 1},
    ),
    ("score_jump", "FM-20", "warning", {"critic/score/mean": at(0.96), "actor/grad_norm": times(0.3)}, {}),
    ("score_drop", "FM-20", "warning", {"critic/score/mean": at(0.04), "actor/grad_norm": times(0.3)}, {}),
    (
        "length_bias",
        "FM-06",
        "warning",
        {
            "response_length/mean": ramp(3, 1.0),
            "response_length/clip_ratio": plus(0.3, 1.0),
            VAL: lambda _v, t: 0.44 - 0.1 * t,
        },
        {},
    ),
    ("truncation_rising", "FM-07", "warning", {"response_length/clip_ratio": plus(0.25, 0.2)}, {}),
    (
        "length_collapse",
        "FM-08",
        "critical",
        {"response_length/mean": decay(0.01), "response_length/min": decay(0.02), VAL: plus(-0.3)},
        {},
    ),
    (
        "eos_misconfigured",
        "FM-21",
        "warning",
        {"completions/clipped_ratio": at(0.95)},
        {"framework": "TRL", "onset": 1},
    ),
    (
        "prompt_mismatch",
        "FM-22",
        "warning",
        {
            "actor/entropy": lambda _v, t: 0.5 + 0.7 * max(0.0, 1 - 4 * t),
            "critic/score/mean": lambda _v, t: 0.2 + 0.4 * t,
        },
        {"onset": 1},
    ),
    ("rollout_mismatch", "FM-09", "critical", {"rollout_corr/k3_kl": decay(400), "actor/grad_norm": ramp(6, 1.0)}, {}),
    ("weight_sync_bug", "FM-10", "critical", {"rollout_corr/k3_kl": times(200), "critic/score/mean": times(0.3)}, {}),
    (
        "expert_imbalance",
        "FM-11",
        "critical",
        {
            "rollout/moe/max_vio/avg": lambda _v, t: 0.5 + 3 * min(1.0, 3 * max(t, 0)),
            "rollout/moe/min_vio/avg": lambda _v, t: -0.35 - 0.6 * min(1.0, 3 * max(t, 0)),
            "actor/pg_clipfrac": times(4),
        },
        {},
    ),
    (
        "kl_penalty_dominates",
        "FM-18",
        "critical",
        {
            "actor/reward_kl_penalty_coeff": lambda _v, t: 0.005 * 60 ** max(t, 0.0),
            "critic/rewards/mean": plus(-0.6, 1.0),
            "critic/score/mean": lambda v, _t: v,
            "actor/pg_clipfrac": ramp(0.1),
        },
        {},
    ),
    ("reference_drift", "FM-19", "critical", {"actor/kl_loss": lambda v, t: v * 200**t, VAL: plus(-0.2, 1.0)}, {}),
    (
        "reference_blow_up",
        "FM-19",
        "warning",
        {"kl": lambda _v, t: min(3.0, 0.002 + 30 * t)},
        {"framework": "TRL", "onset": 1},
    ),
]

LOOK_ALIKES: list[tuple[str, str, Courses, dict[str, Any]]] = [
    ("low entropy from the start", "entropy_collapse", {"actor/entropy": lambda _v, t: 0.09 - 0.02 * t}, {"onset": 1}),
    ("slow sharpening", "entropy_collapse", {"actor/entropy": decay(0.5)}, {}),
    ("exploration that pays", "entropy_explosion", {"actor/entropy": ramp(1.6), "critic/score/mean": plus(0.2)}, {}),
    ("strictly on-policy", "no_gradient", {"actor/ppo_kl": at(0.0), "actor/pg_clipfrac": at(0.0)}, {"onset": 1}),
    ("strictly on-policy", "frozen_policy", {"actor/ppo_kl": at(0.0), "actor/pg_clipfrac": at(0.0)}, {"onset": 1}),
    ("rate that decays to zero", "frozen_rate", {"actor/lr": lambda v, t: v * max(0.0, 1 - 1.1 * t)}, {}),
    ("rate that decays to zero", "frozen_policy", {"actor/lr": decay(0.01), "actor/pg_clipfrac": decay(0.01)}, {}),
    ("long warm-up", "large_updates", {"actor/pg_clipfrac": lambda v, t: v * (0.05 + t)}, {"onset": 1, "warmup": 60}),
    ("plateau", "zero_signal_groups", {"frac_reward_zero_std": plus(0.15)}, {"framework": "TRL"}),
    ("slow engine", "filter_starvation", {"train/num_gen_batches": at(2), "timing_s/gen": times(3)}, {}),
    (
        "saturated groups",
        "tiny_reward_variance",
        {"reward_std": ramp(0.2), "frac_reward_zero_std": plus(0.7)},
        {"framework": "TRL"},
    ),
    ("validation follows", "reward_hacking", {"critic/score/mean": plus(0.3), VAL: plus(0.2)}, {}),
    ("scores still vary", "constant_score", {"critic/score/mean": times(0.1)}, {}),
    ("steady learning", "score_jump", {"critic/score/mean": plus(0.45, 1.0)}, {}),
    (
        "harder data",
        "score_drop",
        {
            "critic/score/mean": times(0.15),
            "actor/grad_norm": times(0.5),
            "prompt_length/mean": lambda _v, t: 200.0 if t <= 0 else 300.0,
        },
        {},
    ),
    ("longer and better", "length_bias", {"response_length/mean": ramp(2.5, 1.0), VAL: plus(0.3, 1.0)}, {}),
    ("one of a small batch", "truncation_rising", {"response_length/clip_ratio": at(0.125)}, {"onset": 1}),
    ("verbosity trimmed", "length_collapse", {"response_length/mean": ramp(0.6), VAL: plus(0.05)}, {}),
    (
        "real truncation",
        "eos_misconfigured",
        {"completions/clipped_ratio": at(0.9), "completions/mean_length": at(3800.0)},
        {"framework": "TRL", "onset": 1},
    ),
    ("entropy falls evenly", "prompt_mismatch", {"actor/entropy": lambda _v, t: 0.9 - 0.4 * t}, {"onset": 1}),
    ("steady mismatch", "rollout_mismatch", {"rollout_corr/k3_kl": at(0.004)}, {"onset": 1}),
    ("gradual mismatch", "weight_sync_bug", {"rollout_corr/k3_kl": decay(100)}, {}),
    ("constant coefficient", "kl_penalty_dominates", {"actor/reward_kl_penalty_coeff": at(0.01)}, {"onset": 1}),
    ("even growth", "reference_drift", {}, {}),
]


@pytest.mark.parametrize(
    ("rule", "mode", "severity", "courses", "settings"), FIRES, ids=[f"{one[0]}-{one[2]}" for one in FIRES]
)
def test_rule_on_its_signature_fires(
    rule: str, mode: str, severity: str, courses: Courses, settings: dict[str, Any]
) -> None:
    found = diagnosed(made(courses, **settings))
    assert rule in found
    assert (found[rule].mode, found[rule].severity) == (mode, severity)
    onset = settings.get("onset", 30)
    assert found[rule].onset is not None
    assert abs(found[rule].onset - onset) <= 8  # a tenth of the run
    assert found[rule].facts
    if severity == "critical":
        assert len({fact.metric or fact.name for sign in found[rule].signs for _, fact in sign.facts}) >= 2


@pytest.mark.parametrize(
    ("what", "rule", "courses", "settings"), LOOK_ALIKES, ids=[f"{one[1]}-{one[0]}" for one in LOOK_ALIKES]
)
def test_rule_on_its_look_alike_is_silent(what: str, rule: str, courses: Courses, settings: dict[str, Any]) -> None:
    assert rule not in diagnosed(made(courses, **settings)), what


@pytest.mark.parametrize("framework", ["verl", "TRL"])
@pytest.mark.parametrize("seed", range(6))
def test_diagnose_healthy_run_is_silent(framework: str, seed: int) -> None:
    found = diagnosed(made(framework=framework, seed=seed))
    assert [one.rule for one in found.values() if one.severity in {"warning", "critical"}] == []


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_diagnose_few_steps_abstains(steps: int) -> None:
    run = made({"actor/entropy": decay(0.001), "critic/score/mean": decay(0.1)}, steps=20, onset=1)
    assert diagnosed(run, steps=range(1, steps + 1)) == {}


def test_diagnose_missing_role_leaves_a_sign_unknown() -> None:
    courses = {"actor/entropy": decay(0.01), "actor/grad_norm": ramp(0.3)}
    found = diagnosed(made(courses, without=("actor/grad_norm", "actor/pg_clipfrac")))
    assert found["entropy_collapse"].severity == "warning"


def test_diagnose_more_specific_rule_speaks_alone() -> None:
    collapse = diagnosed(made({"response_length/mean": decay(0.01), VAL: plus(-0.3), "critic/score/mean": plus(0.4)}))
    assert "length_collapse" in collapse
    assert "reward_hacking" not in collapse


def test_diagnose_look_alike_that_holds_is_named() -> None:
    courses = {"actor/entropy": ramp(5), "critic/score/mean": plus(0.3), "response_length/mean": ramp(2)}
    found = diagnosed(made(courses))["entropy_explosion"]
    assert found.severity == "warning"
    assert {one.id: one.ruled_out for one in found.lookalikes}["exploring"] is False


def test_rules_every_mode_up_to_22_but_15_has_a_rule() -> None:
    """FM-15 is seen in single steps."""
    modes = {rule.mode for rule in rules()}
    assert {f"FM-{number:02d}" for number in range(1, 23)} - modes == {"FM-15"}


def test_rules_critical_always_asks_for_two_signs() -> None:
    for rule in rules():
        if rule.critical is not None:
            assert len(rule.critical.need) + rule.critical.least >= 2, rule.rule


@pytest.mark.parametrize(
    ("way", "ruled_out"),
    [(0.2, False), (0.08, False), (-0.15, True), (-0.3, True)],
)
def test_sharpening_is_ruled_out_only_where_validation_no_longer_rises(way: float, ruled_out: bool) -> None:
    found = diagnosed(made({"actor/entropy": decay(0.01), VAL: plus(way)}))["entropy_collapse"]
    (other,) = [one for one in found.lookalikes if one.id == "still_learning"]
    assert other.ruled_out is ruled_out
    shown = {name.rsplit("_", 1)[1]: fact.value for name, fact in other.facts}
    assert (shown["end"] > shown["before"]) is not ruled_out


def test_sharpening_at_the_old_pace_of_validation_is_open() -> None:
    """Validation rises on as fast as before, no faster: that does not speak against sharpening."""
    found = diagnosed(made({"actor/entropy": decay(0.01)}))["entropy_collapse"]
    assert {one.id: one.ruled_out for one in found.lookalikes}["still_learning"] is False
