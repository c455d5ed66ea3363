"""Two runs in one question, and when the same key does not mean the same in two logs."""

import dataclasses
import random

import pytest

from assistant.analysis import Ledger
from assistant.analysis.compare_model import Reason
from assistant.ask.comparing import definition_changes, knowledge_of
from assistant.ask.context import Context
from assistant.ask.understand import Query
from assistant.model.run import Version
from assistant.service import Source, service
from tests.analysis.support import run_of


def text(level, seed):
    dice = random.Random(seed)
    return "\n".join(
        f"step:{step} - actor/entropy:{0.5 - 0.002 * step + dice.gauss(0, 0.01):.5f} - actor/pg_loss:0.001 - "
        f"critic/score/mean:{level + 0.004 * step + dice.gauss(0, 0.02):.5f} - training/global_step:{step}"
        for step in range(1, 61)
    )


@pytest.fixture(scope="module")
def both():
    return service().read([Source("first.log", text(0.2, 1)), Source("second.log", text(0.5, 2))])


@pytest.mark.parametrize(
    ("question", "language"),
    [("which is better?", "en"), ("compare the two runs", "en"), ("哪个 run 更好？", "zh"), ("比较这两个实验", "zh")],
)
def test_explain_of_two_runs_answers_about_both(both, question, language):
    answer = service().explain(both, question).answer
    assert (answer.intent, answer.verdict.code, answer.language) == ("compare", "improved", language)
    assert "`first.log`" in answer.answer
    assert "`second.log`" in answer.answer
    assert answer.grounding.unsupported == ()
    assert not any("answers about" in warning or "这里回答的是" in warning for warning in answer.warnings)
    assert {line.run for chart in answer.charts for line in chart.series} == {"r0", "r1"}


def test_explain_of_two_runs_by_a_named_metric_compares_that_alone(both):
    answer = service().explain(both, "compare the entropy of the two runs").answer
    assert answer.slots.metrics == ("actor/entropy",)
    assert answer.verdict.code == "inconclusive"


def counterpart(a, b, metric):
    context = Context(Query("", "en", "compare"), (a, b), service().resolver, Ledger([a, b]))
    return knowledge_of(context, a, b)["counterpart"](metric)


def versioned(since, until, **fields):
    run = run_of({1: {"actor/pg_loss": 0.1, "actor/entropy": 0.2, "reward": 0.3}}, **fields)
    return dataclasses.replace(run, version=Version(since, until, ()))


def test_counterpart_across_a_changed_definition_is_refused():
    old, new = versioned(None, "2025-06-01"), versioned("2025-09-01", None)
    for pair in ((old, new), (new, old)):
        found = counterpart(*pair, "actor/pg_loss")
        assert isinstance(found, Reason)
        assert found.code == "changed_definition"
        assert counterpart(*pair, "actor/entropy") == "actor/entropy"


def test_counterpart_where_a_change_is_not_certain_is_the_same_key():
    assert counterpart(versioned(None, "2025-09-01"), versioned("2025-06-01", None), "actor/pg_loss") == "actor/pg_loss"
    unknown = run_of({1: {"actor/pg_loss": 0.1}})
    assert counterpart(unknown, versioned("2026-06-01", None), "actor/pg_loss") == "actor/pg_loss"


def test_counterpart_in_another_framework_follows_the_cards():
    verl = run_of({1: {"actor/ppo_kl": 0.1, "actor/pg_loss": 0.1}})
    other = run_of({1: {"ppo_kl": 0.1, "actor/pg_loss": 0.2}}, framework="OpenRLHF")
    found = counterpart(verl, other, "actor/ppo_kl")
    assert isinstance(found, Reason)  # "also k1, same sign" cannot be quoted as no difference
    assert found.code in {"other_meaning", "other_framework"}
    assert counterpart(verl, other, "actor/pg_loss").code in {"other_framework", "other_meaning"}


def test_definition_changes_are_dated_and_bilingual():
    for change in definition_changes():
        assert len(change.on) == 10
        assert set(change.texts) == {"zh", "en"}
        assert not any(ch.isdigit() for text in change.texts.values() for ch in text)
