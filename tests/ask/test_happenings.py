"""Questions that name a step by what happened there, put to runs of which every number is known."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

KL, SCORE, GRAD, LENGTH = "actor/kl_loss", "critic/score/mean", "actor/grad_norm", "response_length/mean"
VGRAD, ENTROPY, CLIPPED = "critic/grad_norm", "actor/entropy", "response_length/clip_ratio"
PENALTY = "actor/reward_kl_penalty"
STEPS = range(1, 41)
PEAK, BACK = 12, 19


def _kl(step: int) -> float:
    """Below 0.04 at first, highest at step 12, below 0.04 again from step 19 on but for step 30."""
    if step == 30:
        return 0.05
    return round(0.02 + 0.006 * step if step <= PEAK else max(0.03, 0.092 - 0.008 * (step - PEAK)), 4)


def _score(step: int) -> float:
    """Lowest at step 5, highest at step 33."""
    return round(0.1 if step == 5 else 0.9 if step == 33 else 0.3 + 0.01 * step, 4)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                KL: _kl(step), SCORE: _score(step), GRAD: 1.0 + 0.1 * (step % 7), VGRAD: 3.0 + 0.2 * (step % 5),
                LENGTH: 800.0 - 5 * step, ENTROPY: round(0.9 - 0.02 * step, 4), CLIPPED: 0.001 * step,
            }
            for step in STEPS
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "did the KL ever go back under 0.04 after its peak, and how many steps later?",
        "after its peak, did the kl drop back below 0.04, and how many steps later?",
        "KL 峰值之后有没有回到 0.04 以下，隔了多少步？",
    ],
)
def test_back_under_a_limit_after_the_peak_gives_first_step_and_distance(question: str) -> None:
    answer = ask(question, made())
    first = next(step for step in STEPS if step > PEAK and _kl(step) < 0.04)
    assert first == BACK
    has(answer, KL, f"step {PEAK}", f"step {BACK}")
    lead = answer.answer.split("\n", 1)[0]
    assert str(BACK) in lead
    assert lead.startswith(("**Yes", "**有"))
    assert any(fact.name == "steps up to there" and fact.value == BACK - PEAK for fact in answer.facts)


def test_back_under_a_limit_that_never_holds_again_says_no() -> None:
    answer = ask("did the KL go back under 0.02 after its peak?", made())
    assert answer.answer.startswith("**No:")
    has(answer, f"step {PEAK}")


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("mean score after the KL peak", PEAK + 1, 40),
        ("average score before the kl peaked", 1, PEAK - 1),
        ("KL 最高点之后 score 的平均值", PEAK + 1, 40),
    ],
)
def test_part_told_by_another_metrics_peak_is_that_part(question: str, first: int, last: int) -> None:
    answer = ask(question, made())
    steps = [step for step in STEPS if first <= step <= last]
    mean = sum(_score(step) for step in steps) / len(steps)
    assert any(fact.kind == "derived" and fact.value == pytest.approx(mean) for fact in answer.facts)
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("range", (first, last))


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("how many steps between the lowest score and the kl peak?", PEAK - 5),
        ("how long between the best score and the end of the run", 40 - 33),
        ("score 最低点到 KL 峰值隔了多少步", PEAK - 5),
    ],
)
def test_distance_of_two_happenings_is_counted_in_steps(question: str, gap: int) -> None:
    answer = ask(question, made())
    assert next(fact.value for fact in answer.facts if fact.name == "steps between") == gap
    assert str(gap) in answer.answer.split("\n", 1)[0]


@pytest.mark.parametrize(
    ("question", "name", "value"),
    [
        ("when did the score first go over 0.5 and how many steps did that take", "steps up to there", 20),
        ("when was the score first above 0.4, and how many steps later did it reach 0.6?", "steps up to there", 19),
    ],
)
def test_how_much_later_is_told_of_the_crossing(question: str, name: str, value: int) -> None:
    answer = ask(question, made())
    assert next(fact.value for fact in answer.facts if fact.name == name) == value
    assert answer.slots.op == "first_crossing"


def test_share_of_what_is_a_share_itself_is_never_told() -> None:
    answer = ask("what share of responses was truncated in the first 5 steps on average", made())
    assert f"share of `{LENGTH}` in `{CLIPPED}`" not in answer.answer
    assert any(fact.value == pytest.approx(0.003) for fact in answer.facts)


def test_first_steps_on_average_are_the_first_steps() -> None:
    answer = ask("what % of responses were truncated in the first 5 steps on average", made())
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("range", (1, 5))
    assert any(fact.value == pytest.approx(0.003) for fact in answer.facts if fact.kind == "derived")


# -- what a question takes to be so ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("the entropy kept falling over the run, didn't it?", True),
        ("entropy went up, right?", False),
        ("the learning rate was decayed during training, right?", False),
        ("the response length never went above 1000, correct?", True),
        ("the response length never dropped below 700, correct?", False),
        ("score 从来没低于 0.05，对吧？", True),
    ],
)
def test_statement_with_a_question_behind_it_gets_yes_or_no_first(question: str, yes: bool) -> None:
    run = run_of({step: {ENTROPY: 0.9 - 0.02 * step, LENGTH: 800.0 - 5 * step, SCORE: _score(step), "actor/lr": 1e-6}
                  for step in STEPS})  # fmt: skip
    answer = ask(question, run)
    assert answer.answer.startswith(("**Yes:", "**对") if yes else ("**No:", "**不")), answer.answer[:200]


def test_zero_everywhere_asked_whether_it_is_a_bug_is_not_answered_with_yes() -> None:
    run = run_of({step: {"actor/pg_clipfrac": 0.0, SCORE: _score(step)} for step in STEPS})
    answer = ask("pg_clipfrac sits at exactly 0 in every step. bug?", run)
    assert not answer.answer.startswith("**Yes")
    has(answer, "actor/pg_clipfrac")


# -- metrics ----------------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def pairs() -> Run:
    """A log of preference pairs."""
    names = (
        "logits/chosen",
        "logits/rejected",
        "rewards/chosen",
        "rewards/rejected",
        "rewards/margins",
        "rewards/accuracies",
    )
    return run_of(
        {step: {name: round(place + step / 100, 4) for place, name in enumerate(names)} for step in STEPS},
        framework="TRL", format="trl-dict",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("chosen reward at step 20", "rewards/chosen"),
        ("what is the rejected reward at step 20?", "rewards/rejected"),
        ("the reward of the chosen responses at step 20", "rewards/chosen"),
        ("reward margin at step 20", "rewards/margins"),
        ("margins, step 20", "rewards/margins"),
    ],
)
def test_preference_rewards_are_their_own_keys(question: str, metric: str) -> None:
    assert ask(question, pairs()).slots.metrics == (metric,)


def test_value_at_start_middle_and_end_gives_three() -> None:
    answer = ask("reward margin at the start, middle and end", pairs())
    assert answer.slots.steps.values == (1, 20, 40)


def test_ratio_of_two_gradient_norms_at_the_last_step_names_both() -> None:
    answer = ask("ratio of critic grad norm to actor grad norm at the last step", made())
    assert answer.slots.metrics == (VGRAD, GRAD)
    assert any(fact.value == pytest.approx((3 + 0.2 * 0) / (1 + 0.1 * 5)) for fact in answer.facts)


def test_entropy_and_length_falling_together_is_a_correlation_and_no_sum() -> None:
    answer = ask("entropy and response length: do they fall together", made())
    has(answer, "ρ", ENTROPY, LENGTH)
    assert "sum of" not in answer.answer


def test_reward_on_the_lowest_one_is_at_the_step_of_the_lowest_value_counted() -> None:
    question = "on how many of the last 10 steps was the entropy below 0.25, and what was the score on the lowest one?"
    answer = ask(question, made())
    low = 40  # entropy falls at every step
    has(answer, "8 of 10")
    fact = next(fact for fact in answer.facts if fact.metric == SCORE and fact.kind == "value")
    assert (fact.step, fact.value) == (low, _score(low))


def test_kl_in_the_reward_while_the_penalty_is_zero_is_not_denied() -> None:
    table = {
        step: {f"critic/{name}/{part}": 0.5 - (0.001 if name == "rewards" and step > 1 else 0.0)
               for name in ("score", "rewards") for part in ("mean", "max", "min")}
        | {PENALTY: 0.0 if step == 1 else 0.01}
        for step in STEPS
    }  # fmt: skip
    answer = ask("is there kl in the reward?", run_of(table))
    assert "**KL in the reward**: no" not in answer.answer
    has(answer, "a penalty is there")


def test_explained_variance_that_moves_by_a_millionth_is_no_improvement() -> None:
    table = {step: {"critic/vf_explained_var": 0.9 + 1e-6 * (step > 20), SCORE: _score(step)} for step in STEPS}
    answer = ask("did the explained variance improve from step 10 to step 35?", run_of(table))
    assert answer.verdict.code != "improved"
    assert "improved" not in answer.answer.split("\n", 1)[0]


def test_share_on_the_slowest_step_is_of_that_step() -> None:
    table = {
        step: {"timing_s/gen": 40.0 + step, "timing_s/step": 100.0 + (60 if step == 9 else step)} for step in STEPS
    }
    answer = ask("gen time as % of step time on the slowest step?", run_of(table))
    assert any(fact.value == pytest.approx(49 / 160) for fact in answer.facts)
    has(answer, "step 9", "160 s")


@pytest.mark.parametrize(
    "question", ["is the score higher in the second half?", "is the score higher after step 20 than before?"]
)
def test_higher_in_one_part_compares_both_parts(question: str) -> None:
    answer = ask(question, made())
    assert answer.intent == "compare"
    change = next(fact for fact in answer.facts if fact.kind == "change" and fact.metric == SCORE)
    late = [_score(step) for step in STEPS if step > 20]
    assert change.to_value == pytest.approx(sum(late) / len(late), rel=0.02)


# -- values, records, several limits -----------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def sparse() -> Run:
    """A log that prints every 20th step and validates every 100th."""
    table: dict[int, dict[str, float]] = {}
    for step in range(20, 2001, 20):
        row = {"loss": round(3 - step / 1000, 4), "iter_time_s": 90.0}
        if step % 100 == 0:
            row["val-core/math/acc/mean@8"] = round(0.2 + step / 10000 - (0.1 if step == 700 else 0), 4)
        table[step] = row
    return run_of(table, framework="verl")


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("at which step was the loss closest to 2.4?", ("step 600",)),
        ("loss 最接近 2.4 的是哪一步", ("step 600",)),
        ("what was the val acc at the step closest to 560?", ("step 600", "26.0%")),
        ("when did loss get below 2.5, 2 and 1.5?", ("step 520", "step 1020", "step 1520")),
        ("how many times did the val acc set a new record?", ("18 times", "step 2000")),
        ("how many evals were worse than the one before?", ("1 time",)),
        ("gain in val acc between eval 2 and eval 5", ("step 200", "step 500", "3.00 pp")),
        ("iter time total in hours", ("9,000 s", "2.5 h")),
    ],
)
def test_question_of_a_colleague_is_answered_to_the_point(question: str, texts: tuple[str, ...]) -> None:
    has(ask(question, sparse()), *texts)


def test_first_steps_of_a_log_that_prints_every_nth_are_counted_by_number() -> None:
    answer = ask("lowest loss in the first 1000 steps", sparse())
    assert answer.slots.steps.values == (20, 1000)
    has(answer, "step 1000")


def test_running_total_that_was_set_back_once_is_not_summed() -> None:
    run = run_of(
        {step: {"train_time": 100.0 * step if step > 2 else 900.0, "loss": 1 / step} for step in range(1, 201)}
    )
    has(ask("total train_time", run), "running total", "20,000")


def test_mean_without_the_first_leaves_it_out() -> None:
    run = run_of({step: {LENGTH: 9000.0 if step == 1 else 500.0} for step in STEPS})
    answer = ask("mean response length excluding the first", run)
    assert any(fact.value == 500.0 for fact in answer.facts if fact.kind == "derived")


def test_part_told_by_another_metrics_crossing_compares_before_and_after() -> None:
    answer = ask("mean score before and after the kl passed 0.08", made())
    crossed = next(step for step in STEPS if _kl(step) > 0.08)
    assert f"step {crossed}" in answer.answer
    assert answer.slots.metrics == (SCORE,)


def test_ratio_of_responses_is_no_length() -> None:
    assert ask("clip ratio of the responses at step 10", made()).slots.metrics == (CLIPPED,)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("score at step 7: avg, max and min", ("mean", "max", "min")),
        ("score stats in step 7 - mean / max", ("mean", "max")),
        ("step 7 的 score：均值、最大值、最小值", ("mean", "max", "min")),
    ],
)
def test_list_of_statistics_at_a_step_gives_each_key(question: str, names: tuple[str, ...]) -> None:
    every = ("mean", "max", "min")
    run = run_of({step: {f"critic/score/{name}": at + step / 100 for at, name in enumerate(every)} for step in STEPS})
    answer = ask(question, run)
    assert set(answer.slots.metrics) == {f"critic/score/{name}" for name in names}
    values = {fact.metric: fact.value for fact in answer.facts if fact.kind == "value"}
    assert values == {f"critic/score/{name}": ("mean", "max", "min").index(name) + 0.07 for name in names}


# -- what these words must not be taken for ----------------------------------------------------------------------------
def test_steps_between_two_numbers_with_a_condition_are_counted() -> None:
    answer = ask("how many steps between step 10 and step 30 had score above 0.5?", made())
    expected = sum(_score(step) > 0.5 for step in STEPS if 10 <= step <= 30)
    has(answer, f"{expected} ")
    assert "apart" not in answer.answer


def test_why_after_the_peak_is_not_told_by_the_peaks_own_step() -> None:
    answer = ask("why did the score drop after its peak?", made())
    assert "other way round" not in answer.answer


def test_length_at_the_slowest_step_is_the_length_there() -> None:
    table = {step: {LENGTH: 800.0 - 5 * step, "timing_s/step": 100.0 + (60 if step == 9 else step)} for step in STEPS}
    answer = ask("response length at the slowest step", run_of(table))
    has(answer, "755 tokens", "step 9")
    assert answer.slots.steps.values == (9,)


def test_margin_question_means_the_rewards_of_both_sides() -> None:
    question = "is the margin growing because chosen goes up or because rejected goes down?"
    assert set(ask(question, pairs()).slots.metrics) == {"rewards/margins", "rewards/chosen", "rewards/rejected"}


def test_second_clause_with_a_pronoun_is_about_the_first_clauses_metric() -> None:
    table = {step: {"timing_s/step": 100.0 + step, "critic/advantages/mean": 0.01 * (step % 3)} for step in STEPS}
    answer = ask("how long does one step take on average, and is that getting worse?", run_of(table))
    has(answer, "120")
    assert "critic/advantages" not in answer.answer


def test_how_long_that_takes_of_what_is_to_come_is_a_forecast() -> None:
    answer = ask("when will the score reach 0.95 and how long does that take?", made())
    assert answer.intent == "forecast"


def test_share_of_the_first_steps_above_a_limit_is_counted_over_them() -> None:
    answer = ask("what share of the first 10 steps had a score above 0.35?", made())
    expected = sum(_score(step) > 0.35 for step in range(1, 11))
    assert any(fact.value == expected for fact in answer.facts if fact.kind == "derived")
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("range", (1, 10))


def test_seconds_per_step_finds_the_trainers_own_key() -> None:
    run = run_of({step: {"train/loss": 1 / step, "train/time(s)": 7.0 + step % 2} for step in STEPS}, framework="verl")
    answer = ask("secs per step on average?", run)
    assert answer.slots.metrics == ("train/time(s)",)
    assert any(fact.value == 7.5 for fact in answer.facts if fact.kind == "derived")
