"""Answers: the same facts in both languages, valid, traced; follow-ups; what cannot be traced is not shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import assistant
from assistant.ask import Answerer, State
from assistant.ask.engine import strict_grounding
from assistant.knowledge import Resolver, library
from assistant.model import Answer, GroundingError, Run
from assistant.model.run import Missing
from assistant.write.phrases import phrases
from tests.analysis.support import long_run, run_of, training_step
from tests.analysis.test_checks import FIRES

from .support import PAIRS, answerer, example_runs

SCHEMA = json.loads((Path(assistant.__file__).parent / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
LONG = (long_run(),)
LOGS = {"example": example_runs(), "long": LONG}
TRENDS = {"rising", "falling", "flat", "fluctuating", "inconclusive"}
STATES = {"healthy", "warning", "critical", "insufficient_data"}
REPLIES = {"answered", "no_data", "unknown_metric"}
CODES = {
    "compare": {"improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"},
    "trend": TRENDS, "forecast": TRENDS, "health": STATES, "explain": STATES, "advice": STATES,
    "define": REPLIES, "lookup": REPLIES, "bottleneck": REPLIES, "validation": REPLIES, "derive": REPLIES,
    "out_of_scope": {"out_of_scope", "no_metrics"},
}  # fmt: skip


def ask(question: str, runs: Sequence[Run] = LONG, **options: Any) -> Answer:
    return answerer().ask(question, runs, **options)[0]


def facts_of(answer: Answer) -> set[tuple[Any, ...]]:
    return {
        (f.kind, f.metric or f.name, f.step, f.from_step, f.to_step, f.first_step, f.last_step, repr(f.value),
         repr(f.delta), f.direction, f.significant, f.card)
        for f in answer.facts
    }  # fmt: skip


def pairs() -> list[Any]:
    return [pytest.param(log, *pair, id=f"{log}-{pair[1]}") for log in LOGS for pair in PAIRS]


# --- one fact set, two languages -------------------------------------------------------------------------


@pytest.mark.parametrize(("log", "chinese", "english"), pairs())
def test_ask_question_in_both_languages_gives_the_same_facts(log: str, chinese: str, english: str) -> None:
    zh, en = ask(chinese, LOGS[log]), ask(english, LOGS[log])
    assert (zh.language, en.language) == ("zh", "en")
    assert facts_of(zh) == facts_of(en)
    assert (zh.intent, zh.verdict.code) == (en.intent, en.verdict.code)
    assert (zh.slots.metrics, zh.slots.op, zh.slots.steps.kind) == (en.slots.metrics, en.slots.op, en.slots.steps.kind)
    assert sorted(zh.slots.steps.values) == sorted(en.slots.steps.values)
    assert [c.card for c in zh.citations] == [c.card for c in en.citations]
    assert [(f.rule, f.severity, f.steps) for f in zh.findings] == [(f.rule, f.severity, f.steps) for f in en.findings]
    assert bool(zh.problem) == bool(en.problem)


@pytest.mark.parametrize(("log", "chinese", "english"), pairs())
def test_ask_same_question_told_to_answer_in_the_other_language_says_the_same(
    log: str, chinese: str, english: str
) -> None:
    for question in (chinese, english):
        zh, en = ask(question, LOGS[log], language="zh"), ask(question, LOGS[log], language="en")
        assert facts_of(zh) == facts_of(en)
        assert re.search(r"[\u3400-\u9fff]", zh.answer)
        prose = re.sub(r"`[^`]*`", "", en.answer.replace(chinese, ""))
        assert not re.search(r"[\u3400-\u9fff]", prose)


# --- the object ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("log", "chinese", "english"), pairs())
def test_ask_answer_is_valid_and_every_number_is_traced(log: str, chinese: str, english: str) -> None:
    for question in (chinese, english):
        answer = ask(question, LOGS[log])
        document = json.loads(json.dumps(answer.to_json(), allow_nan=False))
        assert [error.message for error in VALIDATOR.iter_errors(document)] == []
        assert answer.verdict.code in CODES[answer.intent] | {"no_metrics"}
        assert answer.grounding.supported == answer.grounding.numbers
        assert answer.grounding.unsupported == ()
        known = {f.id for f in answer.facts} | {c.id for c in answer.citations}
        for mention in answer.mentions:
            assert mention.fact in known or mention.fact.startswith("step:")
            assert 0 <= mention.start < mention.end <= len(answer.answer)
        for fact in answer.facts:
            assert set(fact.inputs or ()) <= known
        for finding in answer.findings:
            assert set(finding.evidence) <= known
        assert "\x02" not in answer.answer + answer.verdict.summary
        assert "{" not in re.sub(r"`[^`]*`", "", answer.answer)


@pytest.mark.parametrize("question", ["", "解读", "explain everything that matters"])
def test_ask_nothing_in_particular_explains_the_run(question: str) -> None:
    answer = ask(question)
    assert answer.intent == "explain"
    assert answer.facts
    assert answer.verdict.code in CODES["explain"]


def test_ask_no_run_says_that_there_is_no_metric() -> None:
    answer = ask("训练正常吗", ())
    assert (answer.verdict.code, answer.facts, answer.runs) == ("no_metrics", (), ())
    assert answer.problem
    assert not any(VALIDATOR.iter_errors(answer.to_json()))


def test_ask_definition_without_a_log_is_given() -> None:
    answer = ask("ppo_kl 怎么理解", ())
    assert (answer.intent, answer.verdict.code, answer.problem) == ("define", "answered", None)
    assert answer.citations[0].card == "verl/actor/ppo_kl"


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("step 99 的 actor/entropy 是多少", "no_data"),
        ("compare step 1 and step 99", "not_comparable"),
        ("analyze step 99", "insufficient_data"),
        ("actor/no_such_thing 是什么意思", "unknown_metric"),
    ],
)
def test_ask_what_the_log_lacks_is_a_problem_said_in_one_line(question: str, code: str) -> None:
    answer = ask(question)
    assert answer.verdict.code == code
    assert answer.problem
    assert "\n" not in answer.problem


def test_ask_value_of_a_step_gives_the_value_and_its_line() -> None:
    (run,) = example_runs()
    answer = ask("actor/grad_norm 在 step 2 是多少", [run])
    (fact,) = [f for f in answer.facts if f.kind == "value"]
    cell = run.cell("actor/grad_norm", 2)
    assert cell is not None
    assert (fact.metric, fact.step, fact.value, fact.line) == ("actor/grad_norm", 2, cell.value, cell.line)
    assert "0.147" in answer.answer


def test_ask_step_zero_against_a_training_step_is_not_comparable() -> None:
    answer = ask("跟 step 0 相比，step 2 有改进吗", example_runs())
    assert answer.verdict.code == "not_comparable"


@pytest.mark.parametrize(
    "question", ["did the reward improve from step 1 to step 2?", "step 2 的 reward 比 step 1 高还是低？"]
)
def test_ask_comparison_of_what_a_cut_line_lost_names_no_other_metric(question: str) -> None:
    rows = {n: {"actor/entropy": 0.2, "critic/rewards/mean": n / 10} for n in (1, 3)} | {2: {"actor/entropy": 0.3}}
    run = replace(run_of(rows), missing=(Missing("critic/rewards/mean", 2, 2, "line_cut", "", 4096),))
    answer = ask(question, [run])
    assert answer.verdict.code == "not_comparable"
    assert {fact.metric for fact in answer.facts if fact.kind in {"value", "missing"}} == {"critic/rewards/mean"}


def test_ask_two_validations_are_compared_with_their_error() -> None:
    table = {0: {"val-core/aime_2025/acc/mean@30": 0.23}, 10: {"val-core/aime_2025/acc/mean@30": 0.26}}
    for values in table.values():
        mean = values["val-core/aime_2025/acc/mean@30"]
        values["val-aux/aime_2025/acc/best@2/mean"] = mean + 0.0778
        values["val-aux/aime_2025/acc/worst@2/mean"] = mean - 0.0778
    answer = ask("step 10 比 step 0 好吗", [run_of(table)])
    (change,) = [f for f in answer.facts if f.kind == "change"]
    assert change.noise_basis == "resampling"
    assert change.noise == pytest.approx(2**0.5 * 0.0095, rel=0.01)
    assert change.significant is True
    assert answer.verdict.code == "improved"


def test_ask_several_runs_value_is_given_for_each_and_no_run_is_left_out() -> None:
    answer = ask("step 3 的 actor/entropy 是多少", [long_run(name="a.log"), long_run(id="r1", name="b.log")])
    assert "a.log" in answer.answer
    assert "b.log" in answer.answer
    assert {fact.run for fact in answer.facts if fact.metric == "actor/entropy"} == {"r0", "r1"}
    assert not answer.warnings


def test_ask_several_runs_says_which_one_is_answered_where_only_one_is() -> None:
    answer = ask("时间花在哪里", [long_run(name="a.log"), long_run(id="r1", name="b.log")])
    assert any("a.log" in warning for warning in answer.warnings)
    assert [run["id"] for run in answer.runs] == ["r0", "r1"]


def test_ask_twice_gives_the_same_answer() -> None:
    first, second = ask("训练正常吗"), ask("训练正常吗")
    assert first.answer == second.answer
    assert first.facts == second.facts


def test_ask_text_shows_no_metric_that_is_not_in_the_log_or_a_card() -> None:
    answer = ask("如何解读 step 1，逐条", example_runs())
    (run,) = example_runs()
    names = set(run.metrics) | {key for card in library() for key in (*card.keys, card.id)}
    rows = re.findall(r"^\| `([^`]+)` \|", answer.answer, re.MULTILINE)
    assert len(rows) >= len(run.at(1))
    assert set(rows) <= names


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("rule", "severity", "values"), FIRES)
def test_ask_step_that_breaks_a_rule_says_so_with_evidence(
    rule: str, severity: str, values: dict[str, float], language: str
) -> None:
    answer = ask("step 1 有什么问题吗", [run_of({1: values})], language=language)
    (finding,) = answer.findings
    assert (finding.rule, finding.severity, finding.steps) == (rule, severity, (1,))
    assert finding.statement
    assert finding.evidence
    assert finding.statement in answer.answer.replace("**", "") or severity == "info"
    if severity in {"warning", "critical"}:
        assert answer.verdict.code == severity


# --- follow-ups ------------------------------------------------------------------------------------------


def conversation(*questions: str, runs: Sequence[Run] = LONG) -> list[Answer]:
    answers, state = [], None
    for question in questions:
        answer, state = answerer().ask(question, runs, state=state)
        answers.append(answer)
    return answers


@pytest.mark.parametrize(
    ("first", "second"),
    [("actor/grad_norm 在 step 3 是多少", "那 step 5 呢"), ("what is actor/grad_norm at step 3?", "and at step 5?")],
)
def test_ask_follow_up_with_another_step_keeps_the_metric(first: str, second: str) -> None:
    _, answer = conversation(first, second)
    assert answer.intent == "lookup"
    assert answer.slots.metrics == ("actor/grad_norm",)
    assert answer.slots.steps.values == (5,)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("actor/grad_norm 在 step 3 是多少", "那 actor/entropy 呢"),
        ("what is actor/grad_norm at step 3?", "what about actor/entropy?"),
    ],
)
def test_ask_follow_up_with_another_metric_keeps_the_step(first: str, second: str) -> None:
    _, answer = conversation(first, second)
    assert answer.slots.metrics == ("actor/entropy",)
    assert answer.slots.steps.values == (3,)
    assert any(f.metric == "actor/entropy" and f.step == 3 for f in answer.facts)


def test_ask_follow_up_without_words_keeps_the_language() -> None:
    _, answer = conversation("actor/grad_norm 是多少", "actor/entropy")
    assert answer.language == "zh"


def test_ask_new_question_forgets_the_metric() -> None:
    _, answer = conversation("actor/grad_norm 在 step 3 是多少", "训练正常吗")
    assert answer.intent == "health"
    assert answer.slots.steps.kind == "none"


def test_ask_state_carries_what_was_understood() -> None:
    _, state = answerer().ask("actor/grad_norm 在 step 3 是多少", LONG)
    assert isinstance(state, State)
    assert (state.intent, state.language, state.steps.values) == ("lookup", "zh", (3,))
    assert [m.key for m in state.mentions] == ["actor/grad_norm"]


# --- what cannot be traced -------------------------------------------------------------------------------


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> Answerer:
    """An answerer one of whose phrases states a number that no fact holds."""
    table = phrases().table
    liar = {language: f"{text} 0.7391." for language, text in table["advice.condition"].items()}
    monkeypatch.setitem(table, "advice.condition", liar)
    return Answerer(Resolver(library()))


@pytest.mark.parametrize("question", ["接下来该怎么调参", "what should I change?"])
def test_ask_untraceable_number_in_development_raises(lying: Answerer, question: str) -> None:
    with pytest.raises(GroundingError, match=r"0\.7391"):
        lying.ask(question, LONG)


@pytest.mark.parametrize("wish", [None, "0"])
@pytest.mark.parametrize("question", ["接下来该怎么调参", "what should I change?"])
def test_ask_untraceable_number_in_production_is_withheld_and_counted(
    lying: Answerer, monkeypatch: pytest.MonkeyPatch, question: str, wish: str | None
) -> None:
    if wish is None:
        monkeypatch.delenv("ASSISTANT_STRICT_GROUNDING")
    else:
        monkeypatch.setenv("ASSISTANT_STRICT_GROUNDING", wish)
    answer, _ = lying.ask(question, LONG)
    assert "0.7391" not in answer.answer
    assert answer.answer
    assert len(answer.grounding.unsupported) == 1
    assert answer.grounding.supported == answer.grounding.numbers - 1
    assert any("1" in warning for warning in answer.warnings)
    for mention in answer.mentions:
        assert 0 <= mention.start < mention.end <= len(answer.answer)


def test_strict_grounding_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert strict_grounding()
    for value in ("", "0"):
        monkeypatch.setenv("ASSISTANT_STRICT_GROUNDING", value)
        assert not strict_grounding()


# --- runs of every kind ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        {1: {"loss": 0.5}},
        {s: {"train/loss": 2.0 / s, "train/lr": 1e-5} for s in range(1, 12)},
        {0: {"val-core/x/acc/mean@4": 0.5}},
        {0: {"val/test_score/openai/gsm8k": 0.41}, 10: {"val/test_score/openai/gsm8k": 0.47}},
        {s: {"mean_reward": 0.4, "loss": 1.0, "mean_ratio": 1.0} for s in range(1, 4)},
        {s: training_step(s) for s in range(100, 103)},
        {s: {"my/own_thing": s * 1e9, "other": -0.001 * s} for s in (1, 5, 9, 20, 40, 80)},
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "",
        "训练正常吗",
        "explain the last step",
        "有改进吗",
        "loss 的趋势",
        "时间花在哪了",
        "测试结果",
        "用了多少张卡",
        "怎么调参",
    ],
)
def test_ask_any_run_gives_a_traced_answer(table: dict[int, dict[str, float]], question: str) -> None:
    answer = ask(question, [run_of(table)])
    assert answer.answer
    assert answer.grounding.supported == answer.grounding.numbers
    assert not list(VALIDATOR.iter_errors(json.loads(json.dumps(answer.to_json(), allow_nan=False))))
