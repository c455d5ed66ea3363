"""Where a step's time goes: stages add up, parts of stages are never added."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import TOP_LEVEL, Ledger, time_shares
from assistant.model import Fact, Number

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
