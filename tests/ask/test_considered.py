import pytest

from assistant.analysis import Ledger
from assistant.analysis.checks import check_all
from assistant.ask.considered import others, signs
from assistant.ask.context import Context
from assistant.ask.understand import Query
from assistant.parsing import parse_text
from assistant.service import service
from assistant.write.document import unmark
from evals.diagnosis.cases import make


@pytest.fixture(scope="module")
def exploding():
    return parse_text(make("FM-02", 7, "verl", "strong").text).runs[0]


def context_of(run, language):
    return Context(Query("", language, "health"), (run,), service().resolver, Ledger([run]))


@pytest.mark.parametrize(("language", "out"), [("zh", "日志不支持的其他解释"), ("en", "that the log speaks against")])
def test_diagnosis_of_several_signs_tells_them_and_what_was_ruled_out(exploding, language, out):
    context = context_of(exploding, language)
    checks = check_all(context.ledger, context.train_steps, exploding)
    gravest = next(check for check in checks if check.rule == "entropy_explosion")
    told = unmark(signs(context, gravest))
    assert "`actor/entropy`" in told
    assert told.count("→") >= 3
    assert out in unmark(others(context, gravest))


def test_finding_of_a_diagnosis_carries_mode_onset_card_and_what_was_considered(exploding):
    context = context_of(exploding, "en")
    for check in check_all(context.ledger, context.train_steps, exploding):
        context.finding(check)
    found = next(f.to_json() for f in context.findings if f.rule == "entropy_explosion")
    assert found["mode"] == "FM-02"
    assert found["onset"] in exploding.steps
    assert context.resolver.library.get(found["card"]) is not None
    assert set(found["considered"].values()) <= {True, False, None}


def test_check_without_a_diagnosis_tells_no_signs():
    run = parse_text("step:1 - actor/grad_norm:0.0 - actor/entropy:0.5").runs[0]
    context = context_of(run, "en")
    for check in check_all(context.ledger, [1], run):
        if check.diagnosis is None:
            assert signs(context, check) == ""
            assert others(context, check) == ""
