"""What comparisons conclude, and what they refuse to compare."""

import dataclasses
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.analysis.checks import Check
from assistant.analysis.compare import compare_runs, compare_sides, compare_steps, compare_windows
from assistant.analysis.compare_findings import weighed
from assistant.analysis.compare_model import Comparison, Lone, Reason, Side, holm
from tests.analysis.support import long_run, run_of, series_run, validation_step

SIZES = {"aime_2025": 30, "gsm8k": 1319}
ACC = "val-core/aime_2025/acc/mean@30"


def way(metric: str) -> str:
    if "loss" in metric or "clip_ratio" in metric:
        return "lower_better"
    return "higher_better" if any(word in metric for word in ("acc", "reward", "score")) else "context"


def codes(comparison: Comparison) -> list[str]:
    return [reason.code for reason in comparison.reasons]


def noisy(level: float, n: int, seed: int, scatter: float = 0.02) -> list[float]:
    dice = random.Random(seed)
    return [level + dice.gauss(0, scatter) for _ in range(n)]


# -- validations ------------------------------------------------------------------------------------------------------
def aime(mean: float) -> Comparison:
    run = run_of({0: validation_step(207 / 900), 20: validation_step(round(mean * 900) / 900)})
    return compare_steps(Ledger([run]), 0, 20, direction=way, sizes=SIZES)


def test_compare_steps_of_aime_gives_the_worked_example():
    """0.230 → 0.262 on 30 problems with 30 samples: SE 0.0134, z = 2.4, p ≈ 0.017, interval [0.006, 0.058]."""
    found = aime(0.262)
    row = found.rows[0]
    assert row.metric == ACC
    assert row.basis == "resampling"
    assert row.change.noise == pytest.approx(0.0134, abs=1e-4)
    assert row.change.delta / row.change.noise == pytest.approx(2.41, abs=0.01)
    assert row.p == pytest.approx(0.016, abs=0.002)
    assert row.change.delta - row.half.value == pytest.approx(0.006, abs=5e-4)
    assert row.change.delta + row.half.value == pytest.approx(0.058, abs=1e-3)
    assert found.verdict == "improved"
    assert "same_problems" in codes(found)


def test_compare_steps_of_aime_within_resampling_noise_is_inconclusive():
    assert aime(0.250).verdict == "inconclusive"
    assert aime(0.200).verdict == "regressed"


def test_compare_steps_of_the_best_of_many_validations_corrects_for_their_number():
    table = {20 * i: validation_step((207 + d) / 900) for i, d in enumerate((0, 5, 29, 9, 3, 6))}
    found = compare_steps(Ledger([run := run_of(table)]), 0, 40, direction=way, sizes=SIZES)
    assert found.rows[0].p == pytest.approx(5 * 0.016, abs=0.01)
    assert found.verdict == "inconclusive"
    assert "one_of_many" in codes(found)
    sides = Side(run, 0, 0), Side(run, 40, 40, best_of=6)
    assert "best_of_many" in codes(compare_sides(Ledger([run]), *sides, direction=way, sizes=SIZES))


def test_compare_steps_of_a_share_with_known_problems_uses_the_binomial_bound():
    key = "val/test_score/openai/gsm8k"
    run = run_of({0: {key: 0.5}, 10: {key: 0.6}, 20: {key: 0.61}})
    found = compare_steps(Ledger([run]), 0, 10, direction=way, sizes=SIZES)
    assert found.rows[0].basis == "share_bound"
    assert found.rows[0].change.noise == pytest.approx(((0.25 + 0.24) / 1319) ** 0.5, rel=1e-4)
    assert found.verdict == "improved"
    assert compare_steps(Ledger([run]), 10, 20, direction=way, sizes=SIZES).verdict == "inconclusive"


def test_compare_steps_of_a_validation_without_known_size_says_nothing():
    run = run_of({0: {"val/test_score/ours": 0.5}, 10: {"val/test_score/ours": 0.9}})
    found = compare_steps(Ledger([run]), 0, 10, direction=way)
    assert (found.verdict, found.confidence) == ("inconclusive", "low")
    assert "row_unknown" in codes(found)


def test_compare_steps_of_a_validation_with_a_training_step_is_refused():
    found = compare_steps(Ledger([long_run()]), 0, 19, direction=way, sizes=SIZES)
    assert found.verdict == "not_comparable"
    assert codes(found) == ["validation_against_training"]


def test_compare_steps_a_clear_trend_between_two_validations_settles_what_the_ends_do_not():
    key = "val/test_score/ours"
    values = noisy(0.0, 16, 4, 0.06)
    run = run_of({10 * i: {key: 0.2 + 0.02 * i + v} for i, v in enumerate(values)})
    found = compare_steps(Ledger([run]), 0, 150, direction=way)
    assert found.verdict == "improved"
    assert codes(found)[0] == "row_trend"


def test_compare_validation_decides_before_reward():
    table = {}
    for step, reward in enumerate(noisy(0.3, 60, 1)):
        table[step] = {"critic/rewards/mean": reward + 0.01 * step}
    table[5] |= validation_step(207 / 900)
    table[55] |= validation_step(210 / 900)
    found = compare_windows(Ledger([run_of(table)]), (0, 9), (50, 59), direction=way, sizes=SIZES)
    assert found.verdict == "inconclusive"
    assert found.row("critic/rewards/mean").code == "improved"
    assert "also_improved" in codes(found)


# -- windows ----------------------------------------------------------------------------------------------------------
def test_compare_windows_of_a_learning_run_improves():
    values = [v + 0.3 * i / 100 for i, v in enumerate(noisy(0.1, 100, 2))]
    found = compare_windows(Ledger([series_run("reward", values)]), (1, 10), (91, 100), direction=way)
    assert found.verdict == "improved"
    row = found.rows[0]
    assert row.points == (10, 10)
    assert row.change.delta == pytest.approx(sum(values[90:]) / 10 - sum(values[:10]) / 10)
    assert "reward_is_training" in codes(found)


def test_compare_windows_unchanged_needs_the_interval_within_the_band():
    still = noisy(10.0, 100, 3, 0.05)
    found = compare_windows(Ledger([series_run("reward", still)]), (1, 20), (81, 100), direction=way)
    assert found.verdict == "unchanged"
    row = found.rows[0]
    assert row.band is not None
    assert abs(row.change.delta) + row.half.value <= row.band.value == pytest.approx(0.02 * row.change.from_value)
    rough = noisy(0.5, 100, 3, 0.2)
    found = compare_windows(Ledger([series_run("reward", rough)]), (1, 20), (81, 100), direction=way)
    assert found.verdict == "inconclusive"


def test_compare_windows_of_a_neutral_metric_has_no_better():
    values = [v + 0.3 * i / 100 for i, v in enumerate(noisy(0.1, 100, 2))]
    found = compare_windows(Ledger([series_run("actor/entropy", values)]), (1, 10), (91, 100), direction=way)
    assert found.rows[0].code == "changed"
    assert found.verdict == "inconclusive"
    assert "no_direction" in codes(found)


def test_compare_windows_two_rewards_that_disagree_are_mixed():
    up = [v + 0.5 * i / 100 for i, v in enumerate(noisy(0.1, 100, 2))]
    down = [v - 0.5 * i / 100 for i, v in enumerate(noisy(0.9, 100, 5))]
    table = {i: {"rewards/format": a, "rewards/answer": b} for i, (a, b) in enumerate(zip(up, down, strict=True))}
    found = compare_windows(Ledger([run_of(table)]), (0, 9), (90, 99), direction=way)
    assert found.verdict == "mixed"
    assert {row.code for row in found.decisive} == {"improved", "regressed"}


@pytest.mark.parametrize(("a", "b"), [((1, 10), (10, 20)), ((1, 5), (1, 5)), ((500, 600), (1, 5))])
def test_compare_windows_that_overlap_or_are_empty_are_refused(a, b):
    run = series_run("reward", noisy(0.1, 30, 2))
    with pytest.raises(ValueError, match=r"overlap|no step"):
        compare_windows(Ledger([run]), a, b, direction=way)


def test_compare_steps_of_few_steps_falls_back_to_what_the_batch_allows():
    found = compare_steps(Ledger([long_run(2, validations=())]), 1, 2, direction=way)
    assert found.row("critic/score/mean").basis == "bound"
    assert found.row("response_length/clip_ratio").basis == "fraction_bound"


# -- runs -------------------------------------------------------------------------------------------------------------
def two(a: list[float], b: list[float], metric: str = "reward", **fields: str):
    first = series_run(metric, a)
    second = dataclasses.replace(series_run(metric, b), id="r1", name="other", **fields)
    return Ledger([first, second]), first, second


def test_compare_runs_that_learn_alike_are_not_told_apart():
    ledger, a, b = two(noisy(0.5, 80, 1), noisy(0.5, 80, 2))
    found = compare_runs(ledger, a, b, direction=way)
    assert found.verdict == "inconclusive"
    assert "one_run_each" in codes(found)


def test_compare_runs_with_a_clear_difference_says_which_is_better():
    ledger, a, b = two(noisy(0.5, 80, 1), noisy(0.7, 60, 2))
    found = compare_runs(ledger, a, b, direction=way)
    assert found.verdict == "improved"
    assert (found.a.first, found.a.last) == (46, 60)
    assert "beyond_shared" in codes(found)
    assert found.rows[0].change.run == "r1"
    assert {ledger.get(name).run for name in found.rows[0].change.inputs} == {"r0", "r1"}


def test_compare_runs_swapped_turns_the_verdict():
    ledger, a, b = two(noisy(0.5, 80, 1), noisy(0.7, 80, 2))
    assert compare_runs(ledger, b, a, direction=way).verdict == "regressed"


def test_compare_runs_of_two_frameworks_compares_nothing_by_itself():
    ledger, a, b = two(noisy(0.5, 80, 1), noisy(0.7, 80, 2), framework="TRL")
    found = compare_runs(ledger, a, b, direction=way)
    assert found.verdict == "not_comparable"
    assert [reason.code for reason in found.not_comparable] == ["other_framework"]


def test_compare_runs_counterpart_names_the_other_key_or_the_reason():
    first = series_run("reward", noisy(0.5, 80, 1))
    second = dataclasses.replace(series_run("mean_reward", noisy(0.7, 80, 2)), id="r1")
    found = compare_runs(Ledger([first, second]), first, second, direction=way, counterpart=lambda m: "mean_reward")
    assert found.rows[0].other == "mean_reward"
    refused = compare_runs(
        Ledger([first, second]), first, second, direction=way,
        counterpart=lambda m: Reason("other_meaning", {"metric": m, "other": "mean_reward", "differs": "scale"}),
    )  # fmt: skip
    assert refused.verdict == "not_comparable"
    assert refused.not_comparable[0].code == "other_meaning"


def test_compare_runs_on_tokens_uses_the_shared_range_of_tokens():
    def run(tokens: int, level: float, n: int, seed: int, name: str):
        values = noisy(level, n, seed)
        table = {i + 1: {"reward": v, "perf/total_num_tokens": tokens} for i, v in enumerate(values)}
        return run_of(table, id=name, name=name)

    a, b = run(100, 0.5, 80, 1, "r0"), run(200, 0.5, 80, 2, "r1")
    found = compare_runs(Ledger([a, b]), a, b, direction=way, align="tokens")
    assert (found.a.last, found.b.last) == (80, 40)
    assert "aligned_tokens" in codes(found)
    nothing = compare_runs(Ledger([a, b]), a, b, direction=way, align="time")
    assert (nothing.verdict, codes(nothing)) == ("not_comparable", ["no_axis"])


def test_compare_runs_without_a_shared_range_are_refused():
    a = series_run("reward", noisy(0.5, 20, 1))
    b = dataclasses.replace(series_run("reward", noisy(0.5, 20, 2), first=100), id="r1")
    assert codes(compare_runs(Ledger([a, b]), a, b, direction=way)) == ["no_overlap"]


def test_compare_runs_with_other_batches_and_settings_says_so():
    def run(prompts: int, coefficient: float, name: str):
        from tests.analysis.support import geometry, training_step

        table = {}
        for step in range(1, 31):
            row = training_step(step, seed=prompts)
            row |= geometry(prompts=prompts, response_length=float(row["response_length/mean"]))
            table[step] = row | {"actor/kl_coef": coefficient}
        return run_of(table, id=name, name=name)

    a, b = run(32, 0.001, "r0"), run(64, 0.01, "r1")
    found = compare_runs(Ledger([a, b]), a, b, direction=way)
    assert "differs_prompts_per_step" in codes(found)
    assert "setting_differs" in codes(found)
    # Twice the tokens a step: a longer time is not called worse.
    assert "tokens_differ" in codes(found)
    assert not any(row.directed for row in found.rows if row.metric.startswith("timing"))


def test_compare_runs_takes_the_last_validations_of_each():
    first = run_of({0: validation_step(207 / 900), 10: validation_step(230 / 900), 30: {"reward": 1.0}})
    second = dataclasses.replace(
        run_of({0: validation_step(207 / 900), 12: validation_step(300 / 900), 30: {"reward": 1.0}}), id="r1"
    )
    found = compare_runs(Ledger([first, second]), first, second, direction=way, sizes=SIZES)
    row = found.row(ACC)
    assert (row.change.from_value, row.change.to_value) == (230 / 900, 300 / 900)
    assert found.verdict == "improved"
    assert "validated_at" in codes(found)


# -- what a comparison must not miss -----------------------------------------------------------------------------------
def collapsed(seed: int = 1):
    """A run whose answers shrink to a few tokens between two quiet stretches, each with a spread of its own."""
    dice = random.Random(seed)
    table = {}
    for step in range(60):
        length = 955 if step < 30 else 955 * (9 / 955) ** ((step - 29) / 9) if step < 38 else 9
        length *= 1 + dice.gauss(0, 0.04)
        table[step] = {
            "response_length/mean": length,
            "response_length/max": 3 * length,
            "response_length/min": length / 3,
            "response_length/clip_ratio": 0.0,
            "actor/entropy": 0.4 + dice.gauss(0, 0.01),
            "critic/score/mean": 0.4 + dice.gauss(0, 0.02),
            "perf/total_num_tokens": round(512 * (length + 200)),
            "timing_s/step": 20 + length / 6,
        }
    return run_of(table)


def test_compare_windows_a_collapse_is_called_and_short_answers_are_not_fast():
    found = compare_windows(Ledger([collapsed()]), (0, 9), (50, 59), direction=timed)
    assert found.row("response_length/mean").code == "changed"
    assert found.row("timing_s/step").code == "changed"
    assert {"also_changed", "tokens_differ", "time_per_token"} <= set(codes(found))
    fast = next(reason for reason in found.reasons if reason.code == "time_per_token")
    assert fast.values["a"].value == pytest.approx(1000 * (20 + 955 / 6) / (512 * 1155), rel=0.02)


def timed(metric: str) -> str:
    return "lower_better" if metric.startswith("timing") else way(metric)


def test_compare_windows_a_diagnosis_of_one_side_alone_is_kept_and_weighs():
    found = compare_windows(Ledger([collapsed()]), (0, 9), (50, 59), direction=timed)
    grave = [one for one in found.lone if one.check.severity == "critical"]
    assert [(one.side, one.check.rule) for one in grave] == [("b", "length_collapse")]
    assert found.verdict == "regressed"
    alone = compare_windows(Ledger([collapsed()]), (0, 9), (50, 59), direction=timed, metrics=["critic/score/mean"])
    assert alone.verdict in {"inconclusive", "unchanged"}
    assert alone.lone
    before = compare_windows(Ledger([collapsed()]), (0, 9), (15, 24), direction=timed)
    assert before.lone == ()


@pytest.mark.parametrize(
    ("code", "sides", "expected"),
    [
        ("improved", "b", "mixed"), ("improved", "a", "improved"), ("inconclusive", "b", "regressed"),
        ("unchanged", "a", "improved"), ("mixed", "b", "mixed"), ("improved", "ab", "improved"),
        ("not_comparable", "b", "not_comparable"), ("regressed", "", "regressed"),
    ],
)  # fmt: skip
def test_weighed_critical_diagnoses_of_one_side_stand_against_a_better_mark(code, sides, expected):
    check = Check("length_collapse", "critical", (), (), ())
    assert weighed(code, tuple(Lone(side, check) for side in sides)) == expected


def test_compare_windows_of_a_constant_is_unchanged_and_a_metric_that_moves_heads_the_report():
    still = {i: {"actor/ppo_kl": 0.0, "reward_model/x": v} for i, v in enumerate(noisy(0.5, 40, 1, 0.1))}
    alone = compare_windows(Ledger([run_of(still)]), (0, 9), (30, 39), direction=way, metrics=["actor/ppo_kl"])
    assert (alone.verdict, alone.rows[0].code) == ("unchanged", "unchanged")
    both = compare_windows(Ledger([run_of(still)]), (0, 9), (30, 39), direction=lambda metric: "context")
    assert both.reasons[0].values["metric"] == "reward_model/x"


def test_compare_windows_a_negligible_share_is_unchanged_however_significant():
    dice = random.Random(1)
    table = {i: {"actor/pg_clipfrac": (9e-8 if i < 20 else 2e-8) * (1 + dice.gauss(0, 0.1))} for i in range(40)}
    found = compare_windows(Ledger([run_of(table)]), (0, 9), (30, 39), direction=lambda metric: "lower_better")
    assert found.row("actor/pg_clipfrac").code == "unchanged"


def test_compare_runs_a_reward_with_the_penalty_inside_is_on_another_scale_where_the_coefficient_differs():
    def run(coefficient: float, level: float, name: str):
        rows = {i: {"critic/rewards/mean": v, "actor/kl_coef": coefficient} for i, v in enumerate(noisy(level, 40, 1))}
        return run_of(rows, id=name, name=name)

    a, b = run(0.0005, -0.4, "r0"), run(0.05, -1.7, "r1")
    found = compare_runs(Ledger([a, b]), a, b, direction=lambda m: "higher_better", metrics=["critic/rewards/mean"])
    assert (found.verdict, codes(found)[0]) == ("inconclusive", "row_other_scale")
    same = compare_runs(
        Ledger([a, c := run(0.0005, -1.7, "r2")]), a, c, direction=lambda m: "higher_better",
        metrics=["critic/rewards/mean"],
    )  # fmt: skip
    assert same.verdict == "regressed"


def test_compare_runs_other_numbers_of_samples_a_problem_are_said():
    a = run_of({i: {"val-core/aime/acc/mean@16": 0.2, "reward": 0.1 * i} for i in range(9)})
    b = run_of({i: {"val-core/aime/acc/mean@30": 0.2, "reward": 0.1 * i} for i in range(9)}, id="r1", name="r1")
    found = compare_runs(Ledger([a, b]), a, b, direction=way)
    said = [reason for reason in found.reasons if reason.code == "differs_samples"]
    assert [(r.values["a"].value, r.values["b"].value) for r in said] == [(16, 30)]


def test_compare_windows_few_validations_of_unknown_noise_leave_the_verdict_to_the_reward():
    table = {i: {"critic/score/mean": v} for i, v in enumerate(noisy(0.6, 60, 1))}
    for i in range(30, 60):
        table[i]["critic/score/mean"] -= 0.3
    for i, step in enumerate(range(5, 60, 10)):
        table[step]["val/test_score/ours"] = 0.4 + (0.02, -0.03, 0.01, -0.02, 0.03, -0.01)[i]
    found = compare_windows(Ledger([run_of(table)]), (0, 9), (50, 59), direction=way)
    assert (found.verdict, found.decisive[0].metric) == ("regressed", "critic/score/mean")
    assert "validation_open" in codes(found)


# -- properties -------------------------------------------------------------------------------------------------------
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=12))
def test_holm_adjusted_p_is_never_smaller_and_keeps_the_order(pairs):
    raw, weights = [p for p, _ in pairs], [w for _, w in pairs]
    adjusted = holm(raw, weights)
    assert all(b >= a - 1e-12 and b <= 1 for a, b in zip(raw, adjusted, strict=True))
    order = sorted(range(len(raw)), key=lambda i: raw[i] / weights[i])
    assert all(adjusted[i] <= adjusted[j] for i, j in itertools.pairwise(order))


def test_holm_of_equal_weights_is_holms_table():
    assert holm([0.01, 0.04, 0.03, 0.005], [1, 1, 1, 1]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.integers(0, 29), st.integers(0, 29))
def test_compare_steps_is_the_difference_of_the_cells(values, i, j):
    i, j = i % len(values), j % len(values)
    if i == j:
        return
    found = compare_steps(Ledger([series_run("x", values)]), i + 1, j + 1, direction=way)
    change = found.rows[0].change
    assert change.delta == values[j] - values[i]
    assert (change.delta == 0) == (found.rows[0].code == "unchanged" and found.rows[0].band is None) or change.noise


def test_compare_every_number_of_a_row_is_a_fact_of_the_ledger():
    ledger = Ledger([long_run(40)])
    found = compare_windows(ledger, (1, 10), (31, 40), direction=way, sizes=SIZES)
    for row in found.rows:
        for fact in (row.change, row.half, row.p_corrected, row.band):
            assert fact is None or ledger.get(fact.id) == fact
        for name in row.change.inputs:
            assert ledger.get(name) is not None
    for reason in (*found.reasons, *found.not_comparable):
        assert all(ledger.get(fact.id) == fact for fact in reason.facts)


# -- what a tester caught ----------------------------------------------------------------------------------------------
def test_compare_runs_validated_only_before_training_does_not_call_either_better():
    tables = [
        {0: validation_step(score), **{i: {"critic/rewards/mean": 0.4 + 0.01 * (i % 3)} for i in range(1, 21)}}
        for score in (720 / 900, 270 / 900)
    ]
    first, second = run_of(tables[0]), dataclasses.replace(run_of(tables[1]), id="r1")
    found = compare_runs(Ledger([first, second]), first, second, direction=way, sizes=SIZES)
    assert found.verdict not in {"improved", "regressed", "mixed"}
    assert "validation_at_start" in codes(found)


def test_compare_windows_whose_values_are_all_nan_name_the_metric():
    run = run_of({i: {"critic/rewards/mean": 0.1 * (i % 4) if i <= 20 else float("nan")} for i in range(1, 41)})
    found = compare_windows(Ledger([run]), (1, 20), (25, 40), direction=way)
    assert found.verdict == "not_comparable"
    reason = next(r for r in found.reasons if r.code == "not_finite_side")
    assert reason.values == {"metric": "critic/rewards/mean", "first": 25, "last": 40}


def test_compare_steps_interval_wider_than_all_the_metric_did_is_kept_back() -> None:
    """Two of ten steps: the bound is there for the test, but as an estimate it would be absurd."""
    run = series_run("loss", [1.0, 1.3, 0.8, 1.1, 0.7, 1.2, 0.9, 1.15, 0.85, 1.02])
    result = compare_steps(Ledger([run]), 1, 10, direction=lambda metric: "lower_better")
    (row,) = result.rows
    assert row.wide
    assert row.half is not None
    assert row.half.value > 0.6
    assert result.verdict == "inconclusive"
    assert codes(result)[0] == "row_wide"
    assert "basis_too_wide" in codes(result)
    equal = series_run("loss", [1.0, 1.3, 0.8, 1.1, 0.7, 1.2, 0.9, 1.15, 0.85, 1.0])
    said = compare_steps(Ledger([equal]), 1, 10, direction=lambda metric: "lower_better")
    assert (said.verdict, codes(said)[0]) == ("unchanged", "row_equal")


def hacked(hack, seed):
    """The score goes to the top while validation falls, or both rise a little."""
    dice = random.Random(seed)
    table = {}
    for step in range(1, 61):
        part = max(0, step - 20) / 40 if hack else 0.0
        table[step] = {
            "critic/score/mean": 0.55 + 0.44 * part + dice.gauss(0, 0.012),
            "actor/entropy": 0.6 - 0.1 * part + dice.gauss(0, 0.01),
            "actor/kl_loss": 0.002 + 0.04 * part + dice.gauss(0, 0.0002),
            "actor/grad_norm": 0.3 + dice.gauss(0, 0.02),
            "response_length/mean": 660 + 160 * part + dice.gauss(0, 10),
        }
        if step % 5 == 0:
            table[step]["val-core/math500/acc/mean@1"] = 0.56 - 0.34 * part + dice.gauss(0, 0.008)
    return run_of(table)


@pytest.mark.parametrize("second", [True, False])
def test_compare_runs_a_score_won_by_hacking_is_not_called_better(second):
    pair = [dataclasses.replace(hacked(second is not bool(place), 3 + place), id=f"r{place}") for place in (1, 0)]
    found = compare_runs(Ledger(pair), *pair, direction=way)
    assert {one.check.rule for one in found.lone} >= {"reward_hacking"}
    row = found.row("critic/score/mean")
    assert row.significant
    assert row.code == "changed"
    assert "also_doubted" in codes(found)
    judged = {"also_improved", "also_regressed", "row_improved", "row_regressed"}
    assert not [one for one in found.reasons if one.code in judged and one.values["metric"] == "critic/score/mean"]
    assert found.verdict == ("regressed" if second else "improved")
