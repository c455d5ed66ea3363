"""What an answer owes the question: values of the metrics it names, and the value that denies what it states."""

from __future__ import annotations

import math

import pytest

from assistant.ask.answer_advice import FELL, ROSE, hypothetical
from assistant.ask.extremes import card_for, extremes, side_in
from assistant.model import Answer, Number
from tests.analysis.support import long_run, run_of, training_step

from .support import answerer

LONG = long_run()


def ask(question: str, run: object = LONG) -> Answer:
    return answerer().ask(question, [run])[0]  # type: ignore[list-item]


def last(metric: str) -> float:
    return float(LONG.series(metric)[1][-1])


@pytest.mark.parametrize(
    "question", ["should I lower the learning rate because of the entropy?", "要不要加大熵奖励，熵太低了吧"]
)
def test_advice_metric_named_has_its_values_in_the_answer(question: str) -> None:
    made = ask(question)
    assert made.intent == "advice"
    assert "actor/entropy" in made.slots.metrics
    assert any(f.metric == "actor/entropy" and f.value == last("actor/entropy") for f in made.facts)


def test_advice_supposition_is_said_to_be_one() -> None:
    assert "hypothetical" in ask("what should I do if grad_norm goes to 100?").answer
    assert "hypothetical" not in ask("should I lower the learning rate?").answer
    assert hypothetical("如果 loss 变成 NaN")


@pytest.mark.parametrize("text", ["since validation dropped", "奖励一直在跌", "熵掉到了 0"])
def test_fell_asserted_fall_is_seen(text: str) -> None:
    assert FELL.search(text)
    assert not ROSE.search(text)


def test_fell_asked_measure_is_no_assertion() -> None:
    assert not FELL.search("should I lower the learning rate?")
    assert not ROSE.search("要不要增大 batch")


def test_lookup_stated_value_that_is_not_the_logs_is_denied() -> None:
    made = ask("actor/entropy at step 5 was 0.9, right?")
    value = LONG.value("actor/entropy", 5)
    assert made.answer.startswith("**Not 0.9: ")
    assert any(f.value == value for f in made.facts)


def test_lookup_stated_value_that_is_the_logs_is_not_denied() -> None:
    value = LONG.value("actor/entropy", 5)
    assert not ask(f"actor/entropy at step 5 was {value:.2f}, right?").answer.startswith("**Not")


def test_lookup_limit_never_reached_gives_the_nearest_value() -> None:
    made = ask("when did actor/entropy first exceed 50?")
    top = max(float(v) for v in LONG.series("actor/entropy")[1])
    assert "never above 50" in made.answer
    assert any(f.metric == "actor/entropy" and f.value == top for f in made.facts)


def test_lookup_two_operations_are_both_answered() -> None:
    made = ask("max and min of actor/entropy")
    values = [float(v) for v in LONG.series("actor/entropy")[1]]
    held = {f.value for f in made.facts if f.metric == "actor/entropy"}
    assert {max(values), min(values)} <= held


def test_lookup_values_not_finite_are_counted() -> None:
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, 11):
        table[step] = dict(training_step(step))
        if step > 6:
            table[step]["actor/grad_norm"] = math.nan
    made = ask("how many steps have a NaN grad_norm?", run_of(table))
    assert made.slots.op == "count"
    assert next(f for f in made.facts if f.name == "values not finite").value == 4
    assert "steps 7, 8, 9, 10" in made.answer


def test_same_metrics_that_differ_show_where_most() -> None:
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, 8):
        table[step] = {**training_step(step), "critic/score/mean": 0.5, "critic/rewards/mean": 0.5 - 0.01 * step}
    made = ask("are critic/score/mean and critic/rewards/mean the same in this run?", run_of(table))
    gap = next(f for f in made.facts if str(f.name).startswith("largest difference"))
    assert gap.value == pytest.approx(0.07)


def test_share_of_a_stage_is_its_time_over_the_steps() -> None:
    made = ask("what share of the step does timing_s/gen take?")
    step = LONG.distinct_steps[-1]
    part, whole = LONG.value("timing_s/gen", step), LONG.value("timing_s/step", step)
    assert part is not None
    assert whole is not None
    share = next(f for f in made.facts if f.kind == "share" and f.name == "timing_s/gen" and f.step == step)
    assert share.value == pytest.approx(part / whole)
    assert made.slots.metrics == ("timing_s/gen",)


def test_on_policy_zero_kl_and_clip_fraction_mean_one_update() -> None:
    table: dict[int, dict[str, Number]] = {
        step: {**training_step(step), "actor/ppo_kl": 0.0, "actor/pg_clipfrac": 0.0} for step in range(1, 8)
    }
    assert ask("is it on-policy?", run_of(table)).answer.startswith("**Yes, on-policy")
    moved = {step: {**values, "actor/pg_clipfrac": 0.002} for step, values in table.items()}
    assert ask("is it on-policy?", run_of(moved)).answer.startswith("**Not strictly on-policy")


def test_length_limit_is_told_where_responses_are_cut_at_it() -> None:
    table: dict[int, dict[str, Number]] = {
        step: {**training_step(step), "response_length/max": 2048.0, "response_length/clip_ratio": 0.1}
        for step in range(1, 8)
    }
    assert "limit is 2,048 tokens" in ask("what is the max response length setting", run_of(table)).answer


def test_extremes_cards_are_held_by_the_library() -> None:
    library = answerer().resolver.library
    assert all(library.get(one.card) is not None for one in extremes())


@pytest.mark.parametrize(
    ("text", "side"), [("熵太低会怎样", "low"), ("entropy explodes", "high"), ("entropy 是什么", None)]
)
def test_side_in_words_for_too_low_and_too_high(text: str, side: str | None) -> None:
    assert side_in(text) == side


def test_card_for_low_entropy_is_its_collapse() -> None:
    assert card_for("熵太低会怎样", ("actor/entropy",)) == "failure/entropy-collapse"
    assert card_for("熵是什么", ("actor/entropy",)) is None
