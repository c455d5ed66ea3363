"""The ledger: each fact once, ids that stay, and only what is used in the answer."""

from __future__ import annotations

import pytest

from assistant.analysis import Ledger
from assistant.model import Missing, Run

from .support import run_of


@pytest.fixture
def run() -> Run:
    gap = Missing("grad_norm", 2, 7, "line_cut", limit=4096)
    half = Missing("entropy", 2, 7, "half_value", detail="0.1")
    return run_of({1: {"loss": 2.0, "grad_norm": 0.5}, 2: {"loss": 1.0}}, missing=(gap, half))


def test_ledger_value_asked_twice_is_one_fact(run: Run) -> None:
    ledger = Ledger([run])
    first, again = ledger.value("loss", 1), ledger.value("loss", 1)
    assert first is again
    assert first is not None
    assert (first.id, first.kind, first.run, first.value, first.line) == ("E1", "value", "r0", 2.0, 1)
    assert len(ledger.facts) == 1


def test_ledger_two_values_of_one_name_are_two_facts(run: Run) -> None:
    ledger = Ledger([run])
    whole = ledger.derived("mean(reward)", 0.5, formula="mean", inputs=[])
    part = ledger.derived("mean(reward)", 0.75, formula="mean", inputs=[])
    assert (whole.value, part.value) == (0.5, 0.75)
    assert ledger.derived("mean(reward)", 0.5, formula="mean", inputs=[]) is whole
    shares = [ledger.share("timing_s/gen", "timing_s/step", 1, value, inputs=[]).value for value in (0.25, 0.5)]
    assert shares == [0.25, 0.5]


def test_ledger_value_not_in_the_log_gives_nothing(run: Run) -> None:
    ledger = Ledger([run])
    assert ledger.value("grad_norm", 2) is None
    assert ledger.value("loss", 9) is None
    assert ledger.facts == ()


def test_ledger_missing_says_the_parsers_reason(run: Run) -> None:
    ledger = Ledger([run])
    cut, half, never = (ledger.missing(metric, 2) for metric in ("grad_norm", "entropy", "mfu"))
    assert (cut.reason, cut.limit, cut.line) == ("line cut at 4096 characters", 4096, 7)
    assert half.reason == "line cut in the middle of the value"
    assert (never.reason, never.line) == ("not in the log at this step", None)


def test_ledger_without_run_raises() -> None:
    with pytest.raises(LookupError):
        Ledger([]).value("loss", 1)


def test_ledger_used_keeps_inputs_and_renumbers(run: Run) -> None:
    ledger = Ledger([run])
    ledger.value("grad_norm", 1)
    change = ledger.change("loss", 1, 2)
    assert change is not None
    total = ledger.derived("sum", 3.0, formula="a + b", inputs=[change])
    facts, names = ledger.used([total.id])
    assert [fact.id for fact in facts] == ["E1", "E2", "E3", "E4"]
    assert [fact.kind for fact in facts] == ["derived", "change", "value", "value"]
    assert names[total.id] == "E1"
    assert facts[0].inputs == ("E2",)
    assert set(facts[1].inputs or ()) == {"E3", "E4"}
    assert all(fact.metric != "grad_norm" for fact in facts)


def test_ledger_used_unknown_id_is_left_out(run: Run) -> None:
    ledger = Ledger([run])
    assert ledger.used(["E99", "K1"]) == ((), {})


def test_ledger_with_noise_keeps_both_changes(run: Run) -> None:
    ledger = Ledger([run])
    change = ledger.change("loss", 1, 2)
    assert change is not None
    other = ledger.with_noise(change, 0.1, "resampling", [])
    assert other.id != change.id
    assert (other.noise, other.noise_basis, other.significant) == (0.1, "resampling", True)
    assert ledger.change("loss", 1, 2) is change
    unknown = ledger.with_noise(change, None, "none", [])
    assert (unknown.noise, unknown.noise_basis, unknown.significant) == (None, None, None)


def test_ledger_restarted_step_takes_its_last_value() -> None:
    run = run_of({1: {"loss": 2.0}, 2: {"loss": 1.0}})
    again = Run(
        "r0", "made", "verl", "verl", "step", (1, 2, 1), (1, 2, 3),
        {"loss": type(run.columns["loss"])((0, 1, 2), (2.0, 1.0, 1.5), (1, 2, 3))},
    )  # fmt: skip
    fact = Ledger([again]).value("loss", 1)
    assert fact is not None
    assert (fact.value, fact.line) == (1.5, 3)
