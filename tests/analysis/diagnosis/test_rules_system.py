"""Rules on the critic, agents and tools, hardware, data and bookkeeping, on runs made here (not by the simulator)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.analysis.diagnosis import Diagnosis, diagnose, load_rules
from assistant.analysis.diagnosis.breaks import drop_to_zero, rebound, restart, upturn
from assistant.analysis.diagnosis.roles import RoleSeries, role
from assistant.analysis.diagnosis.statistics import View, known
from assistant.analysis.ledger import Ledger
from assistant.model import Number, Run
from assistant.write.document import Document, render
from tests.analysis.support import run_of

STEPS = 60
ONSET = 30
OWN = {f"FM-{number}" for number in range(23, 41)}
Row = dict[str, Number]
Cause = Callable[[int, Row], None]
"""(steps since the onset, the row); changes the row."""


def near(dice: random.Random, value: float, share: float = 0.03) -> float:
    return value * (1 + share * dice.gauss(0, 1))


def healthy(step: int, seed: int = 3) -> Row:
    """One step of a verl run with a critic, tools and everything that the rules read; nothing happens in it."""
    dice = random.Random(f"{seed}/{step}")
    tokens = near(dice, 8e5)
    mean = -0.04 + 0.01 * dice.gauss(0, 1)
    return {
        "actor/entropy": near(dice, 0.5 - 0.001 * step),
        "actor/grad_norm": near(dice, 0.2, 0.1),
        "actor/pg_clipfrac": near(dice, 0.002, 0.1),
        "actor/ppo_kl": near(dice, 2e-5, 0.3),
        "actor/kl_loss": near(dice, 0.0002 * step),
        "actor/pg_loss": -mean * near(dice, 1.0, 0.01),
        "actor/lr": 1e-6 * (1 + math.cos(math.pi * step / 100)) / 2,
        "critic/score/mean": 0.4 + 0.002 * step + 0.02 * dice.gauss(0, 1),
        "critic/score/max": 1.0,
        "critic/score/min": 0.0,
        "critic/advantages/mean": mean,
        "critic/advantages/max": near(dice, 2.4, 0.01),
        "critic/advantages/min": near(dice, -2.4, 0.01),
        "critic/returns/mean": near(dice, 0.4),
        "critic/returns/max": 1.0,
        "critic/values/mean": near(dice, 0.42),
        "critic/vf_loss": near(dice, 0.02, 0.1),
        "critic/vf_explained_var": 0.9 + 0.01 * dice.gauss(0, 1),
        "critic/vf_clipfrac": 0.001,
        "critic/grad_norm": near(dice, 5.0, 0.1),
        "training/off_policy/trajectory_staleness/mean": near(dice, 0.3),
        "rollout_corr/rollout_is_mean": 0.987 + 0.002 * dice.gauss(0, 1),
        "rollout_corr/rollout_is_eff_sample_size": 0.96 + 0.003 * dice.gauss(0, 1),
        "rollout_corr/k3_kl": near(dice, 4e-4, 0.1),
        "tool_call_counts/mean": near(dice, 2.4),
        "num_turns/mean": near(dice, 6.8, 0.02),
        "timing_s/agent_loop/tool_calls/mean": near(dice, 3.0, 0.1),
        "timing_s/agent_loop/generate_sequences/mean": near(dice, 20.0),
        "timing_s/agent_loop/generate_sequences/max": near(dice, 60.0),
        "timing_s/agent_loop/slowest/response_length": near(dice, 3000),
        "timing_s/agent_loop/num_preempted/mean": 0.0,
        "timing_s/gen": near(dice, 65.0),
        "timing_s/step": near(dice, 90.0),
        "timing_s/update_actor": near(dice, 15.0, 0.01),
        "timing_s/old_log_prob": near(dice, 4.0, 0.01),
        "timing_per_token_ms/update_actor": near(dice, 0.02, 0.01),
        "response_length/mean": near(dice, 1000.0),
        "response_length/clip_ratio": max(0.0, 0.01 + 0.003 * dice.gauss(0, 1)),
        "prompt_length/mean": near(dice, 200.0, 0.02),
        "perf/total_num_tokens": tokens,
        "perf/throughput": near(dice, 1100.0),
        "perf/mfu/actor": near(dice, 0.3, 0.01),
        "perf/max_memory_allocated_gb": 40.0,
        "perf/cpu_memory_used_gb": 120 + 80 * (1 - math.exp(-step / 8)) + 0.5 * dice.gauss(0, 1),
        "global_seqlen/mean": tokens / 8,
        "global_seqlen/balanced_max": tokens / 8 * 1.001,
        "training/epoch": step // 100,
    }


def made(cause: Cause | None = None, *, epoch: int = 0) -> Run:
    """A run of ``STEPS`` steps in which a cause acts from ``ONSET`` on."""
    table = {}
    for step in range(1, STEPS + 1):
        row = healthy(step)
        row["training/epoch"] = epoch * (step // 20)
        if step % 5 == 0:
            row["val-core/math500/acc/mean@4"] = 0.4 + 0.002 * step + 0.003 * random.Random(step).gauss(0, 1)
        if cause is not None and step >= ONSET:
            cause(step - ONSET, row)
        table[step] = row
    return run_of(table)


def scaled(factors: Mapping[str, float], *, ramp: float = 0) -> Cause:
    """Metrics times a factor: at once, or along a ramp of so many steps (geometric)."""

    def cause(since: int, row: Row) -> None:
        part = min(1.0, (since + 1) / ramp) if ramp else 1.0
        for key, factor in factors.items():
            row[key] *= factor**part

    return cause


def critic_fails(since: int, row: Row) -> None:
    row["critic/vf_explained_var"] = 0.9 - 0.06 * since
    row["critic/vf_loss"] *= 1.12**since
    row["critic/values/mean"] += 0.04 * since


def clipped_values(since: int, row: Row) -> None:
    row["critic/returns/max"] = row["critic/score/max"] = 12.0
    row["critic/returns/mean"] *= 12
    row["critic/score/mean"] *= 12
    row["critic/vf_clipfrac"] = 0.6 + 0.01 * (since % 3)
    row["critic/vf_loss"] = 20.0 / (1 + 0.1 * since)


def stale(since: int, row: Row) -> None:
    row["training/off_policy/trajectory_staleness/mean"] += min(3.0, 0.5 * since)
    row["rollout_corr/rollout_is_mean"] -= min(0.15, 0.02 * since)
    row["rollout_corr/rollout_is_eff_sample_size"] -= min(0.3, 0.04 * since)


def multi_turn(since: int, row: Row) -> None:
    for key, factor in {"rollout_corr/k3_kl": 1.25, "actor/grad_norm": 1.1, "tool_call_counts/mean": 1.03}.items():
        row[key] *= factor**since
    row["critic/score/mean"] -= 0.012 * since


def repeating(since: int, row: Row) -> None:
    row["actor/entropy"] *= 0.95**since
    row["response_length/clip_ratio"] += 0.015 * since
    row["response_length/mean"] *= 1 + 0.03 * since


def leaking(since: int, row: Row) -> None:
    row["perf/cpu_memory_used_gb"] += 3.0 * since
    row["perf/max_memory_allocated_gb"] += 0.4 * since


def by_heart(since: int, row: Row) -> None:
    row["critic/score/mean"] += 0.015 * since
    row["actor/entropy"] *= 0.98**since
    if "val-core/math500/acc/mean@4" in row:
        row["val-core/math500/acc/mean@4"] -= 0.005 * since


def other_prompts(_: int, row: Row) -> None:
    row["prompt_length/mean"] *= 1.4
    row["critic/score/mean"] -= 0.25


def negative(since: int, row: Row) -> None:
    row["critic/advantages/mean"] -= 0.15
    row["actor/pg_loss"] += 0.15
    row["critic/advantages/max"] *= 0.5
    row["actor/entropy"] *= 1.03**since


def resumed(since: int, row: Row) -> None:
    row["actor/kl_loss"] = 0.0002 * since
    row["actor/lr"] = 1e-6 * (1 + math.cos(math.pi * since / 100)) / 2
    row["actor/grad_norm"] *= 1 + 4 * 0.5**since


def rescaled(_: int, row: Row) -> None:
    row["actor/pg_loss"] *= 4
    row["actor/kl_loss"] *= 4


CAUSES: dict[str, Cause] = {
    "critic_failure": critic_fails,
    "value_clip_starvation": clipped_values,
    "staleness_drift": stale,
    "multi_turn_collapse": multi_turn,
    "tool_outage": scaled({"timing_s/agent_loop/tool_calls/mean": 20, "timing_s/step": 2}),
    "tool_abandonment": scaled({"tool_call_counts/mean": 0.02, "timing_s/agent_loop/tool_calls/mean": 0.02}, ramp=10),
    "repetition_loops": repeating,
    "long_tail_rollout": scaled({
        "timing_s/agent_loop/generate_sequences/max": 3, "timing_s/gen": 3, "timing_s/step": 2.4,
        "perf/throughput": 0.42,
    }),
    "engine_saturation": lambda _, row: row.update({
        "timing_s/agent_loop/num_preempted/mean": 0.6,
        "timing_s/agent_loop/generate_sequences/mean": row["timing_s/agent_loop/generate_sequences/mean"] * 3.5,
        "timing_s/agent_loop/generate_sequences/max": row["timing_s/agent_loop/generate_sequences/max"] * 1.3,
    }),
    "slow_update": scaled({
        "timing_per_token_ms/update_actor": 2, "timing_s/update_actor": 2, "perf/mfu/actor": 0.5,
        "timing_s/old_log_prob": 2,
    }),
    "load_imbalance": scaled({"global_seqlen/balanced_max": 1.2, "timing_per_token_ms/update_actor": 1.15}),
    "memory_growth": leaking,
    "overfitting": by_heart,
    "data_order": other_prompts,
    "negative_dominated_updates": negative,
    "reference_reset": resumed,
    "loss_rescaled": rescaled,
}  # fmt: skip
"""Rule → what makes it fire."""


def found(run: Run) -> dict[str, Diagnosis]:
    """The diagnoses by rule."""
    return {one.rule: one for one in diagnose(Ledger([run]), run)}


def own(run: Run) -> set[str]:
    """Modes of this module's rules at warning or critical."""
    return {one.mode for one in diagnose(Ledger([run]), run) if one.severity in {"warning", "critical"}} & OWN


def test_diagnose_healthy_run_reports_none_of_these_modes() -> None:
    assert own(made()) == set()


@pytest.mark.parametrize("rule", sorted(CAUSES))
def test_diagnose_cause_is_reported_from_its_onset_on(rule: str) -> None:
    run = made(CAUSES[rule], epoch=1 if rule == "overfitting" else 0)
    one = found(run)[rule]
    assert one.severity in {"warning", "critical"}
    assert one.onset is not None
    assert abs(one.onset - ONSET) <= 0.1 * STEPS
    assert own(run) <= {one.mode, "FM-23"} if rule == "value_clip_starvation" else own(run) == {one.mode}


@pytest.mark.parametrize("rule", sorted(CAUSES))
def test_diagnose_critical_rests_on_two_metrics(rule: str) -> None:
    one = found(made(CAUSES[rule], epoch=1 if rule == "overfitting" else 0))[rule]
    if one.severity == "critical":
        assert len(one.signs) >= 2
        assert len(set(one.metrics)) >= 2


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("rule", sorted(CAUSES))
def test_phrase_of_a_finding_takes_all_its_numbers_from_facts(rule: str, language: str) -> None:
    one = found(made(CAUSES[rule], epoch=1 if rule == "overfitting" else 0))[rule]
    rendered = render(Document(language, lambda _: "number").say(f"finding.{rule}", **dict(one.facts)))
    assert rendered.mentions
    outside = "".join(
        char
        for place, char in enumerate(rendered.text)
        if not any(mention.start <= place < mention.end for mention in rendered.mentions)
    )
    assert not any(char.isdigit() for char in outside)
    hedges = ["consistent with", "looks like"] if language == "en" else ["相符", "像是", "一致", "典型表现"]
    assert any(hedge in rendered.text for hedge in hedges)  # a log is like a failure's, it is never proof of one


def test_rules_of_these_modes_have_a_phrase_and_a_card() -> None:
    from assistant import resources
    from assistant.write.phrases import phrases

    for rule in load_rules():
        if rule.mode in OWN:
            assert f"finding.{rule.rule}" in phrases()
            family, name = rule.card.split("/")
            assert family == "failure"
            assert (resources.data_folder("knowledge") / "failures" / f"{name}.md").exists()


def test_validation_noise_is_information_only() -> None:
    assert {rule.rule for rule in load_rules() if rule.mode == "FM-36"} == {"validation_noise"}
    table = {step: {"val-core/x/acc/mean@4": 0.5 + 0.02 * (-1) ** step} for step in range(10, 110, 10)}
    assert found(run_of(table))["validation_noise"].severity == "info"


def test_memory_that_grows_in_a_line_from_the_first_step_is_a_leak() -> None:
    table = {s: {"perf/cpu_memory_used_gb": 120 + 4.0 * s + 0.5 * random.Random(s).gauss(0, 1)} for s in range(1, 61)}
    one = found(run_of(table))["memory_growth_from_start"]
    assert (one.severity, one.onset) == ("warning", 1)


# --- look-alikes ----------------------------------------------------------------------------------------------------


def test_tool_outage_with_exploding_gradients_is_silent() -> None:
    both = scaled({"timing_s/agent_loop/tool_calls/mean": 20, "actor/grad_norm": 10})
    assert "tool_outage" not in found(made(both))


def test_long_tail_when_all_trajectories_are_slower_is_silent() -> None:
    slower = scaled({f"timing_s/agent_loop/generate_sequences/{part}": 3 for part in ("mean", "max")})
    assert "long_tail_rollout" not in found(made(slower))


def test_overfitting_in_the_first_epoch_is_silent() -> None:
    assert "overfitting" not in found(made(by_heart, epoch=0))


def test_overfitting_while_validation_rises_is_silent() -> None:
    def better(since: int, row: Row) -> None:
        row["critic/score/mean"] += 0.015 * since
        if "val-core/math500/acc/mean@4" in row:
            row["val-core/math500/acc/mean@4"] += 0.004 * since

    assert "FM-35" not in own(made(better, epoch=1))


def test_negative_updates_by_truncation_with_balanced_advantages_are_silent() -> None:
    def longer(_: int, row: Row) -> None:
        row["critic/advantages/mean"] -= 0.15
        row["actor/pg_loss"] += 0.15

    assert "FM-39" not in own(made(longer))


def test_reference_kl_with_one_low_step_is_no_reset() -> None:
    def dip(since: int, row: Row) -> None:
        if since == 0:
            row["actor/kl_loss"] *= 0.1

    assert "FM-38" not in own(made(dip))


def test_memory_that_levels_off_is_no_leak() -> None:
    run = made()
    assert upturn(series_of(run, "host_memory")) is None
    assert "FM-34" not in own(run)


@settings(max_examples=25, deadline=None)
@given(st.floats(5, 30), st.floats(50, 300))
def test_memory_that_saturates_within_the_run_is_no_leak(pace: float, size: float) -> None:
    dice = random.Random(f"{pace}{size}")
    table = {s: {"perf/cpu_memory_used_gb": 100 + size * (1 - math.exp(-s / pace)) + dice.gauss(0, 0.5)}
             for s in range(1, 61)}  # fmt: skip
    assert "FM-34" not in own(run_of(table))


def test_critic_with_constant_returns_is_silent() -> None:
    def constant(since: int, row: Row) -> None:
        critic_fails(since, row)
        row["critic/score/min"] = row["critic/score/max"]

    assert "FM-23" not in own(made(constant))


# --- places where a log breaks --------------------------------------------------------------------------------------


def series_of(run: Run, name: str) -> RoleSeries:
    read = role(run, name)
    assert read is not None
    return read


def test_restart_step_numbers_that_go_back_are_found() -> None:
    rows = [(step, {"actor/pg_loss": 0.1 * step}) for step in [*range(1, 11), *range(8, 21)]]
    steps = tuple(step for step, _ in rows)
    run = run_of({index: values for index, (_, values) in enumerate(rows)})
    run = Run(**{**{f: getattr(run, f) for f in ("id", "name", "format", "framework", "step_axis", "row_lines",
                                                 "columns")}, "steps": steps})  # fmt: skip
    assert restart(series_of(run, "printed_loss")) == 8


def test_restart_falling_peak_of_memory_is_one() -> None:
    table = {s: {"actor/pg_loss": 0.1, "perf/max_memory_allocated_gb": 40.0 + (s < 7)} for s in range(1, 15)}
    assert restart(series_of(run_of(table), "printed_loss")) == 7


def test_restart_validation_row_at_the_same_step_is_none() -> None:
    table: dict[int, Mapping[str, Number]] = {step: {"actor/pg_loss": 0.1} for step in range(1, 15)}
    assert restart(series_of(run_of(table), "printed_loss")) is None


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(10, 80), st.floats(1e-7, 1e-3))
def test_rebound_warm_up_then_decay_has_none(warm: int, length: int, top: float) -> None:
    values = [top * (i + 1) / warm for i in range(warm)]
    values += [top * (1 + math.cos(math.pi * i / length)) / 2 for i in range(length)]
    run = run_of({step: {"actor/lr": value} for step, value in enumerate(values, 1)})
    assert rebound(series_of(run, "learning_rate")) is None


@settings(deadline=None)
@given(st.integers(5, 40))
def test_rebound_schedule_that_begins_anew_is_found(place: int) -> None:
    values = [1e-6 * (1 - i / 60) for i in range(place)] + [1e-6 * (1 - i / 60) for i in range(20)]
    run = run_of({step: {"actor/lr": value} for step, value in enumerate(values, 1)})
    assert rebound(series_of(run, "learning_rate")) == place + 1


@settings(deadline=None)
@given(st.lists(st.floats(0.5, 1.5), min_size=6, max_size=40))
def test_drop_to_zero_small_changes_are_none(factors: list[float]) -> None:
    values = 0.01 * np.exp(np.cumsum(0.4 * np.log(np.asarray(factors))))
    run = run_of({step: {"actor/kl_loss": float(value)} for step, value in enumerate(values, 1)})
    assert drop_to_zero(series_of(run, "ref_kl")) is None


@settings(max_examples=40, deadline=None)
@given(st.floats(0.04, 0.4), st.floats(50, 500))
def test_upturn_saturating_curve_has_none(pace: float, size: float) -> None:
    dice = random.Random(f"{pace}{size}")
    table = {s: {"perf/cpu_memory_used_gb": 100 + size * (1 - math.exp(-pace * s)) + dice.gauss(0, 0.5)}
             for s in range(1, 61)}  # fmt: skip
    assert upturn(series_of(run_of(table), "host_memory")) is None


# --- statistics ------------------------------------------------------------------------------------------------------


def measured(name: str, values: list[float], at: int, **fields: float) -> float:
    view = View(np.arange(len(values)), np.asarray(values, dtype=np.float64), at, **fields)  # type: ignore[arg-type]
    result = known()[name](view)
    assert result is not None
    return result.value


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=12, max_size=60), st.integers(0, 60))
def test_statistics_of_any_series_give_a_number_or_none(values: list[float], at: int) -> None:
    view = View(np.arange(len(values)), np.asarray(values, dtype=np.float64), min(at, len(values)))
    for name in ("step_ratio", "step_shift", "step_size", "spike", "reset", "size_ratio", "new_high", "stays",
                 "trend_errors", "exceeding", "keeps_pace"):  # fmt: skip
        result = known()[name](view)
        assert result is None or (isinstance(result.value, float) and not math.isnan(result.errors))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("step_ratio", [2.0] * 10 + [5.0] * 10, 2.5),
        ("step_shift", [2.0] * 10 + [5.0] * 10, 3.0),
        ("step_size", [5.0] * 10 + [2.0] * 10, 2.5),
        ("spike", [1.0] * 10 + [7.0] + [1.0] * 9, 7.0),
        ("reset", [4.0] * 10 + [1.0, 2.0] + [4.0] * 8, 0.25),
        ("size_ratio", [1.0, -1.0] * 5 + [3.0, -3.0] * 5, 3.0),
        ("new_high", [1.0] * 14 + [2.0] * 6, 1.0),
        ("stays", [2.0] * 10 + [2.0] * 5 + [3.0] * 5, 0.5),
        ("exceeding", [1.0] * 10 + [1.0, 9.0] * 5, 0.5),
    ],
)
def test_statistic_of_a_plain_series_is_as_defined(name: str, values: list[float], expected: float) -> None:
    assert measured(name, values, 10) == pytest.approx(expected)


# --- words that say what a condition has to hold ---------------------------------------------------------------------
def kl_after(values: list[float]) -> set[str]:
    """Rules on a run whose KL to the reference goes so; everything else stays healthy."""
    rows = {step: healthy(step) for step in range(1, len(values) + 1)}
    for step, value in enumerate(values, 1):
        rows[step]["actor/kl_loss"] = value
    return set(found(run_of(rows)))


def test_reference_reset_needs_a_fall_below_all_that_was_there() -> None:
    """The KL that goes back from a high stretch to where it mostly is: no checkpoint was taken for a reference."""
    dice = random.Random(1)
    calm = [near(dice, 0.006, 0.5) for _ in range(30)]
    high = [0.04, 0.008, 0.04, 0.035, 0.007, 0.06]
    bouncing = [*calm, *high, 0.0025, 0.005, 0.015, 0.007, *(near(dice, 0.01, 0.4) for _ in range(30))]
    assert "reference_reset" not in kl_after(bouncing)
    grown = [0.0002 * step for step in range(1, 41)]
    assert "reference_reset" in kl_after([*grown, 0.0, *(0.0002 * step for step in range(1, 40))])


@pytest.mark.parametrize(("ends", "share"), [(5.0, 1.0), (3.0, 0.0), (4.6, 0.8)])
def test_statistic_kept_is_the_share_of_a_jump_that_the_later_level_keeps(ends: float, share: float) -> None:
    values = [3.0] * 20 + [5.0] * 5 + [ends] * 30
    assert measured("kept", values, 20) == pytest.approx(share)


def test_statistic_under_all_tells_a_level_that_was_left_from_a_spike_that_ended() -> None:
    left = [0.1 + 0.01 * (i % 3) for i in range(20)] + [0.01] * 5
    ended = [0.1 + 0.01 * (i % 3) for i in range(20)] + [3.0, 3.0, 0.11, 0.1, 0.12]
    assert measured("under_all", left, 20) < 1
    assert measured("under_all", ended, 22) > 1


def test_loss_shown_as_lowest_is_the_lowest_of_the_log() -> None:
    from assistant.analysis.diagnosis.onset import lowest

    values = np.array([5.0, 3.0, 2.4, 2.2, 2.1, 2.05, 2.02, 2.0, 2.03, 2.04, 2.07, 2.1])
    assert values[lowest(values)] == values.min()
    assert lowest(values[:4]) is None
