"""What sets in with a more fundamental finding, or after it, is its consequence and asks for nothing by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assistant.analysis import Ledger
from assistant.analysis.checks import Check, check_all
from assistant.analysis.consequences import table
from assistant.analysis.diagnosis.rules import rules
from assistant.analysis.diagnosis.single import single_rules
from assistant.ask.context import Context
from assistant.ask.query import Query
from assistant.model import Number, Run
from assistant.write.document import unmark
from tests.analysis.support import run_of
from tests.ask.support import answerer

NAN = math.nan
KEYS = {
    "verl": ("actor/grad_norm", "actor/pg_loss", "critic/score/mean", "response_length/mean",
             "response_length/clip_ratio", "critic/score/min", "critic/score/max"),
    "ROLL": ("actor/grad_norm", "actor/pg_loss", "critic/score/mean", "token/response_length/mean",
             "token/response_length/clip_ratio", "critic/score/min", "critic/score/max"),
}  # fmt: skip


def broken_run(at: int, *, n: int = 50, back: int | None = None, framework: str = "verl", early: bool = False) -> Run:
    """NaN from a step on; from the next on answers run to the limit and score the minimum."""
    noise = np.random.default_rng(at)
    gradient, loss, score, length, cut, low, high = KEYS[framework]
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, n + 1):
        spoilt = step > at and (back is None or step < back)
        truncated = spoilt or (early and step > at // 2)
        rows[step] = {
            gradient: NAN if spoilt or step == at else 0.4 + 0.02 * noise.normal(),
            loss: NAN if spoilt or step == at else 0.01 * noise.normal(),
            score: -1.0 if spoilt else 0.2 + 0.02 * noise.normal(),
            low: -1.0,
            high: -1.0 if spoilt else 1.0,
            length: 2048.0 if truncated else 400 + 10 * noise.normal(),
            cut: 1.0 if truncated else 0.002,
        }
    return run_of(rows, framework=framework, format=framework.lower())


def found(run: Run) -> dict[str, Check]:
    return {one.rule: one for one in check_all(Ledger([run]), list(run.steps), run)}


@pytest.mark.parametrize("framework", KEYS)
@pytest.mark.parametrize("at", [18, 26, 33])
def test_after_lasting_nan_all_that_breaks_later_is_its_consequence(at: int, framework: str) -> None:
    checks = found(broken_run(at, framework=framework))
    assert checks["not_finite"].severity == "critical"
    others = [one for rule, one in checks.items() if rule != "not_finite"]
    assert others
    for one in others:
        assert (one.severity, one.phrase) == ("info", "finding.follows_not_finite"), one.rule
        facts = dict(one.facts)
        assert facts["cause"].step == at
        assert facts["before"].step <= at < facts["last"].step


def test_what_was_broken_before_the_nan_remains_a_finding_of_its_own() -> None:
    checks = found(broken_run(30, early=True))
    assert any(rule.startswith("truncation") and one.severity == "warning" for rule, one in checks.items())


def test_nan_that_passes_explains_nothing() -> None:
    checks = found(broken_run(20, back=32))
    assert checks["not_finite"].phrase == ""
    assert all(one.phrase != "finding.follows_not_finite" for one in checks.values())


@pytest.mark.parametrize("language", ["zh", "en"])
def test_lasting_nan_names_the_checkpoint_before_it_and_no_other_remedy(language: str) -> None:
    run = broken_run(26)
    context = Context(Query("", language, "health"), (run,), answerer().resolver, Ledger((run,)))
    told = [unmark(context.finding(one)) for one in check_all(context.ledger, list(run.steps), run)]
    before = {"zh": "step 26 之前最后一个正常的检查点", "en": "last good checkpoint before step 26"}[language]
    assert sum(before in one for one in told) == 1
    wrong = {"zh": ("先核对奖励函数", "放宽长度上限"), "en": ("check the reward function", "Raise the length limit")}
    assert not [one for one in told if any(word in one for word in wrong[language])]


def alike_run(at: int, n: int = 60) -> Run:
    """Scores of every step alike from a step on: no advantage, no gradient."""
    noise = np.random.default_rng(at)
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, n + 1):
        alike = step >= at
        rows[step] = {
            "critic/score/mean": 0.0 if alike else 0.6 + 0.03 * noise.normal(),
            "critic/score/min": 0.0,
            "critic/score/max": 0.0 if alike else 1.0,
            "actor/grad_norm": 0.0 if alike else 0.45 + 0.03 * noise.normal(),
            "actor/entropy": 0.3 + 0.005 * noise.normal(),
            "response_length/mean": 900 + 20 * noise.normal(),
        }
    return run_of(rows)


@pytest.mark.parametrize("at", [20, 23, 35])
def test_no_gradient_follows_from_scores_that_are_all_alike(at: int) -> None:
    checks = found(alike_run(at))
    assert checks["constant_score"].severity in {"warning", "critical"}
    assert checks["zero_gradient"].severity == "info"
    assert checks["zero_gradient"].phrase == "finding.follows_constant_score"
    assert dict(checks["zero_gradient"].facts)["before"].step == at - 1


def test_every_rule_of_the_table_is_a_rule() -> None:
    known = {one.rule for one in rules()} | {one.rule for one in single_rules()}
    known |= {"not_finite", "unaccounted", "imbalance"}
    for entry in table():
        assert {entry.cause, *entry.follow, *entry.apart} - {"all"} <= known


@pytest.mark.parametrize(
    ("zero", "phrase", "count"),
    [
        (range(30, 41), "finding.zero_advantage_since", 11),
        ((5, 12, 40), "finding.zero_advantage_often", 3),
        ((40,), "", None),
    ],
)
def test_advantages_of_zero_are_told_with_all_their_steps(
    zero: range | tuple[int, ...], phrase: str, count: int | None
) -> None:
    rows: dict[int, dict[str, Number]] = {
        step: dict.fromkeys(("critic/advantages/min", "critic/advantages/max"), 0.0)
        if step in zero
        else {"critic/advantages/min": -1.5, "critic/advantages/max": 1.2}
        for step in range(1, 41)
    }
    run = run_of(rows)
    (one,) = [one for one in check_all(Ledger([run]), list(run.steps), run) if one.rule == "zero_advantage"]
    facts = dict(one.facts)
    assert one.phrase == phrase
    assert (facts["count"].value if count else None) == count
    assert facts.get("first", facts["low"]).step == zero[0]
