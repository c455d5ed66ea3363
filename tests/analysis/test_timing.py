"""Where a step's time goes: stages add up, parts of stages are never added."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import TOP_LEVEL, Ledger, time_shares
from assistant.analysis.identities import derive_run
from assistant.analysis.slowdown import Slowdown, log_mean
from assistant.analysis.timing import inside_step, rates, read_layouts, slowdown
from assistant.model import Fact, KnowledgeError, Number, Run

from .made_logs import made_runs, roll_rows, verl_rows
from .support import run_of, training_step


def shares_of(**stages: float) -> tuple[dict[str, float], Fact | None]:
    values: dict[str, Number] = {"timing_s/" + name.replace("__", "/"): value for name, value in stages.items()}
    shares, rest = time_shares(Ledger([run_of({1: values})]), 1)
    return {str(fact.name).removeprefix("timing_s/"): float(fact.value or 0) for fact in shares}, rest


def test_time_shares_add_up_with_the_remainder() -> None:
    run = run_of({1: training_step(1)})
    shares, rest = time_shares(Ledger([run]), 1)
    total = run.value("timing_s/step", 1)
    assert total is not None
    assert rest is not None
    assert sum(float(s.value or 0) for s in shares) + float(rest.value or 0) / total == pytest.approx(1, rel=1e-12)
    assert (rest.name, rest.unit) == ("unaccounted_time", "s")
    assert rest.value == pytest.approx(2.0)


def test_time_shares_are_largest_first() -> None:
    shares, _ = shares_of(step=100, adv=1, update_actor=60, gen=30)
    assert list(shares) == ["update_actor", "gen", "adv"]
    assert shares == {"update_actor": 0.6, "gen": 0.3, "adv": 0.01}


@pytest.mark.parametrize(
    "nested",
    [
        "agent_loop__generate_sequences__max", "agent_loop__tool_calls__max", "generate_sequences", "reshard",
        "generation_timing__max", "start_profile", "stop_profile", "agent_loop__slowest__prompt_length",
    ],
)  # fmt: skip
def test_time_shares_parts_of_stages_are_not_counted(nested: str) -> None:
    plain, rest = shares_of(step=100, gen=60, update_actor=30)
    more, same = shares_of(step=100, gen=60, update_actor=30, **{nested: 55})
    assert more == plain
    assert rest is not None
    assert same is not None
    assert same.value == rest.value == pytest.approx(10)


def test_time_shares_gen_max_is_counted_only_without_gen() -> None:
    assert "gen_max" not in shares_of(step=100, gen=50, gen_max=40)[0]
    assert shares_of(step=100, gen_max=40)[0] == {"gen_max": 0.4}


@pytest.mark.parametrize(("testing", "counted"), [(20.0, True), (60.0, False)])
def test_time_shares_validation_counts_only_where_it_fits(testing: float, counted: bool) -> None:
    shares, rest = shares_of(step=100, gen=50, testing=testing)
    assert ("testing" in shares) is counted
    assert rest is not None
    assert rest.value == pytest.approx(100 - 50 - (testing if counted else 0))


def test_time_shares_overlapping_stages_have_no_remainder() -> None:
    shares, rest = shares_of(step=100, gen=90, update_actor=80)
    assert rest is None
    assert shares == {"gen": 0.9, "update_actor": 0.8}


@pytest.mark.parametrize("stages", [{"gen": 5.0}, {"step": 0.0, "gen": 5.0}, {"step": -1.0, "gen": 5.0}])
def test_time_shares_no_total_gives_nothing(stages: dict[str, float]) -> None:
    assert shares_of(**stages) == ({}, None)


def test_time_shares_no_stage_gives_nothing() -> None:
    assert shares_of(step=100.0, agent_loop__tool_calls__max=3.0) == ({}, None)


@given(st.dictionaries(st.sampled_from(TOP_LEVEL), st.floats(0.001, 1e4), min_size=1), st.floats(0, 1e4))
def test_time_shares_any_stages_add_up(stages: dict[str, float], rest_of_step: float) -> None:
    if "gen" in stages:
        stages.pop("gen_max", None)
    total = sum(stages.values()) + rest_of_step
    shares, rest = shares_of(step=total, **stages)
    assert set(shares) == set(stages)
    assert rest is not None
    assert sum(shares.values()) * total + float(rest.value or 0) == pytest.approx(total, rel=1e-9)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


# --- validation inside or outside the step -------------------------------------------------------------------


def with_validation(n: int, *, inside: bool, testing: float = 30.0) -> Run:
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, 13):
        row: dict[str, Number] = {"timing_s/gen": 60.0 + step, "timing_s/update_actor": 30.0}
        total = 91.0 + step
        if step % n == 0:
            row["timing_s/testing"] = testing
            total += testing if inside else 0.0
        rows[step] = {**row, "timing_s/step": total}
    return run_of(rows)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("testing", [2.5, 30.0, 200.0])
def test_inside_step_both_ways_are_told_apart(inside: bool, n: int, testing: float) -> None:
    run = with_validation(n, inside=inside, testing=testing)
    assert inside_step(run, "timing_s/testing") is inside
    shares, rest = time_shares(Ledger([run]), 12)
    assert ("timing_s/testing" in {share.name for share in shares}) is inside
    assert rest is not None
    assert rest.value == pytest.approx(1.0)
    found = derive_run(Ledger([run]))
    assert found["validation_inside_step"].value is inside


def test_inside_step_without_the_key_cannot_tell() -> None:
    assert inside_step(run_of({1: {"timing_s/step": 5.0, "timing_s/gen": 4.0}}), "timing_s/testing") is None


# --- other frameworks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("framework", "row", "shares", "rest"),
    [
        ("slime", {"perf/step_time": 80.0, "perf/train_wait_time": 50.0, "perf/train_time": 30.0,
                   "perf/rollout_time": 45.0},
         {"perf/train_wait_time": 0.625, "perf/train_time": 0.375}, 0.0),
        ("NeMo-RL", {"timing/train/total_step_time": 100.0, "timing/train/generation": 60.0,
                     "timing/train/policy_training": 30.0, "timing/train/valid_tokens_per_sec_per_gpu": 900.0},
         {"timing/train/generation": 0.6, "timing/train/policy_training": 0.3}, 10.0),
        ("OpenRLHF", {"timing/step_total": 50.0, "timing/generation": 30.0, "timing/ppo_train": 20.0},
         {"timing/generation": 0.6, "timing/ppo_train": 0.4}, None),
        ("ROLL", {"time/step_total": 50.0, "time/step_generate": 30.0, "time/step_train": 15.0, "time/adv": 1.0},
         {"time/step_generate": 0.6, "time/step_train": 0.3, "time/adv": 0.02}, 4.0),
        ("DeepSpeed-Chat", {"E2E latency": 10.0, "Gather latency": 0.5, "Generate time": 6.0, "Training time": 3.0,
                            "Others": 1.0},
         {"Generate time": 0.6, "Training time": 0.3, "Others": 0.1}, 0.0),
        ("TRL", {"step_time": 12.0}, {}, None),
        ("AReaL", {"timeperf/rollout": 30.0, "timeperf/train_step": 12.0}, {}, None),
    ],
)  # fmt: skip
def test_time_shares_of_other_frameworks(
    framework: str, row: dict[str, Number], shares: dict[str, float], rest: float | None
) -> None:
    found, left = time_shares(Ledger([run_of({1: row}, framework=framework)]), 1)
    assert {str(fact.name): fact.value for fact in found} == pytest.approx(shares)
    assert (None if left is None else left.value) == (None if rest is None else pytest.approx(rest, abs=1e-9))


def test_time_shares_roll_total_that_comes_a_row_later_is_aligned() -> None:
    run = run_of(roll_rows(), framework="ROLL")
    for step in (0, 5):
        shares, rest = time_shares(Ledger([run]), step)
        assert rest is not None
        assert rest.value == pytest.approx(1.0)
        total = run.value("time/step_total", step + 1)
        generated = run.value("time/step_generate", step)
        assert total is not None
        assert generated is not None
        assert {str(s.name): s.value for s in shares}["time/step_generate"] == pytest.approx(generated / total)
    assert time_shares(Ledger([run]), 13) == ([], None)  # the last step's time was never printed


def test_rates_are_per_gpu() -> None:
    found = rates(Ledger([run_of(verl_rows(3))]), 2)
    run = run_of(verl_rows(3))
    tokens, seconds = run.value("perf/total_num_tokens", 2), run.value("timing_s/update_actor", 2)
    assert tokens is not None
    assert seconds is not None
    assert found["training"].value == pytest.approx(tokens / seconds / 16)
    assert set(found) == {"generation", "training"}


@pytest.mark.parametrize(
    ("table", "word"),
    [({"total": []}, "fields"), ({"total": [], "stages": [], "odd": 1}, "odd"),
     ({"total": [], "stages": [], "stage_tokens": {"all": ["x"]}}, "stage_tokens")],
)  # fmt: skip
def test_read_layouts_broken_file_raises_naming_file_and_key(
    tmp_path: Path, table: dict[str, object], word: str
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(yaml.safe_dump({"mine": table}), encoding="utf-8")
    with pytest.raises(KnowledgeError, match=rf"made\.yaml: mine.*{word}"):
        read_layouts(path)


# --- slowdown ----------------------------------------------------------------------------------------------------


def slowing(
    *, tokens: float = 1.0, engine: float = 1.0, tail: float = 1.0, update: float = 1.0, noise: float = 0.01,
    seed: int = 3,
) -> Run:  # fmt: skip
    """Twenty steps, the last ten with so many times the tokens, seconds per token, tail, or update time per token."""
    dice = random.Random(seed)
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, 21):
        late = step > 10
        length = 1000 * (tokens if late else 1.0) * (1 + noise * dice.uniform(-1, 1))
        mean = length * 0.02 * (engine if late else 1.0)
        gen = mean * 1.5 * (tail if late else 1.0)
        spent = 256 * (length + 200)
        update_actor = spent * 1e-4 * (update if late else 1.0)
        total = gen + update_actor + 2
        rows[step] = {
            "response_length/mean": length, "prompt_length/mean": 200.0, "perf/total_num_tokens": spent,
            "timing_s/gen": gen, "timing_per_token_ms/gen": gen * 1000 / (256 * length), "timing_s/step": total,
            "timing_s/update_actor": update_actor, "timing_s/agent_loop/generate_sequences/mean": mean,
        }  # fmt: skip
    return run_of(rows)


A, B = (1, 10), (11, 20)


def compared(run: Run) -> Slowdown:
    found = slowdown(Ledger([run]), run, A, B)
    assert found is not None
    return found


def number_of(fact: Fact | None) -> float:
    assert fact is not None
    assert isinstance(fact.value, (int, float))
    return float(fact.value)


@pytest.mark.parametrize(
    ("change", "stage", "cause"),
    [
        ({"tokens": 1.4}, "timing_s/gen", "more_tokens"), ({"engine": 2.0}, "timing_s/gen", "slower_tokens"),
        ({"tail": 2.0}, "timing_s/gen", "tail"), ({"update": 1.5}, "timing_s/update_actor", "slower_tokens"),
    ],
)  # fmt: skip
def test_slowdown_names_stage_and_cause(change: dict[str, float], stage: str, cause: str) -> None:
    found = compared(slowing(**change))
    assert (found.slower, found.faster) == (True, False)
    assert found.carrier is not None
    assert (found.carrier.stage, found.carrier.cause) == (stage, cause)
    share = {"more_tokens": found.carrier.tokens, "slower_tokens": found.carrier.engine, "tail": found.carrier.tail}[
        cause
    ]
    assert number_of(share) == pytest.approx(number_of(found.carrier.change), rel=0.1)


def test_slowdown_parts_add_up_exactly() -> None:
    found = compared(slowing(tokens=1.3, engine=0.9, tail=1.2, update=1.1))
    total = number_of(found.rest)
    for stage in found.stages:
        parts = [fact for fact in (stage.tokens, stage.engine, stage.tail) if fact is not None]
        assert sum(map(number_of, parts)) == pytest.approx(number_of(stage.change), rel=1e-12)
        assert number_of(stage.after) - number_of(stage.before) == pytest.approx(number_of(stage.change))
        total += number_of(stage.change)
    assert total == pytest.approx(number_of(found.change), rel=1e-12)
    assert number_of(found.relative) == pytest.approx(number_of(found.change) / number_of(found.before))


def test_slowdown_nothing_changed_is_seldom_either() -> None:
    found = [compared(slowing(noise=0.1, seed=seed)) for seed in range(120)]
    assert sum(bool(one.slower or one.faster) for one in found) <= 4  # one in a hundred, and some luck
    assert all(one.slower is False or one.faster is False for one in found)


def test_slowdown_a_tenth_is_seen_through_noise_of_a_twentieth() -> None:
    found = [compared(slowing(engine=1.25, noise=0.05, seed=seed)) for seed in range(40)]
    assert sum(bool(one.slower) for one in found) >= 36


def test_slowdown_a_faster_run_is_faster() -> None:
    found = compared(slowing(engine=0.5))
    assert (found.slower, found.faster) == (False, True)
    assert found.carrier is not None
    assert (found.carrier.stage, found.carrier.cause) == ("timing_s/gen", "slower_tokens")


def test_slowdown_two_steps_a_side_cannot_tell() -> None:
    run = slowing(engine=2.0)
    found = slowdown(Ledger([run]), run, (9, 10), (11, 12))
    assert found is not None
    assert found.slower is None
    assert number_of(found.change) > 0


def test_slowdown_without_times_or_steps_gives_nothing() -> None:
    run = run_of({s: {"loss": 1.0} for s in range(9)})
    assert slowdown(Ledger([run]), run, (0, 3), (4, 8)) is None
    assert slowdown(Ledger([slowing()]), slowing(), (1, 10), (50, 60)) is None


def test_slowdown_facts_name_windows_and_hold_inputs() -> None:
    run = slowing(engine=2.0)
    ledger = Ledger([run])
    found = slowdown(ledger, run, A, B)
    assert found is not None
    facts = [found.before, found.after, found.change, found.relative]
    facts += [fact for s in found.stages for fact in (s.before, s.after, s.change, s.tokens, s.engine, s.tail) if fact]
    for fact in facts:
        assert ledger.get(fact.id) is fact
        assert fact.inputs
        assert fact.formula
    assert "steps 1 to 10 (10)" in str(found.before.formula)


@pytest.mark.parametrize("kind", ["ROLL", "slime", "NeMo-RL", "AReaL", "OpenRLHF"])
def test_slowdown_of_other_frameworks_splits_the_step(kind: str) -> None:
    run = made_runs()[kind]
    first, last = run.distinct_steps[0], run.distinct_steps[-1]
    found = slowdown(Ledger([run]), run, (first, first + 5), (first + 6, last))
    assert found is not None
    assert found.stages
    assert found.slower is False
    parts = sum(number_of(stage.change) for stage in found.stages)
    rest = 0.0 if found.rest is None else number_of(found.rest)
    assert parts + rest == pytest.approx(number_of(found.change), abs=1e-9)


def test_slowdown_log_without_a_total_sums_its_stages() -> None:
    rows: dict[int, dict[str, Number]] = {
        s: {
            "timing/gen": 20.0 + 5 * (s > 6),
            "timing/update_actor": 10.0 + 0.1 * (s % 2),
            "response_length/mean": 200.0,
        }
        for s in range(1, 13)
    }
    run = run_of(rows)
    found = slowdown(Ledger([run]), run, (1, 6), (7, 12))
    assert found is not None
    assert (found.slower, number_of(found.before), number_of(found.change)) == (
        True,
        pytest.approx(30.05),
        pytest.approx(5),
    )
    assert found.carrier is not None
    assert (found.carrier.stage, found.carrier.cause) == ("timing/gen", "slower_tokens")
    assert time_shares(Ledger([run]), 3) == ([], None)


def test_slowdown_trl_has_the_step_alone() -> None:
    rows: dict[int, dict[str, Number]] = {
        s: {"step_time": 10.0 + (s > 6) + 0.01 * s, "completions/mean_length": 100.0 + 10 * (s > 6)}
        for s in range(1, 13)
    }
    run = run_of(rows, framework="TRL")
    found = slowdown(Ledger([run]), run, (1, 6), (7, 12))
    assert found is not None
    assert found.slower is True
    assert [stage.stage for stage in found.stages] == ["step_time"]
    assert found.stages[0].cause == "more_tokens"


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_log_mean_lies_between_and_splits_exactly(a: float, b: float) -> None:
    mean = log_mean(a, b)
    assert min(a, b) * (1 - 1e-9) <= mean <= max(a, b) * (1 + 1e-9)
    assert mean * math.log(b / a) == pytest.approx(b - a, rel=1e-6, abs=1e-9)
