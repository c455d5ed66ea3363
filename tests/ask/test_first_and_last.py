"""Two sides set against each other, the latest stretch against the run, a score with its error, what is yet to come."""

from __future__ import annotations

import math
import random

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of, training_step
from tests.ask.computed_support import ask, has
from tests.ask.support import answerer, example_runs

STEPS = range(1, 61)
VAL = "val-core/math500/acc/mean@4"


def _run(*, rising_to: int = 60, broken: int = 0, **fields: object) -> Run:
    """Validation every fifth step, rising up to a step and level after it; gradients of NaN from a step on."""
    dice = random.Random(5)
    table: dict[int, dict[str, Number]] = {}
    for step in STEPS:
        row = training_step(step) | {"actor/kl_loss": 0.001 * 1.05**step}
        row["response_length/max"] = 9000.0 + step
        if broken and step >= broken:
            row |= {"actor/grad_norm": math.nan, "actor/pg_loss": math.nan, "critic/score/mean": -1.0}
        if step % 2 == 0:
            level = 0.4 + 0.005 * min(step, rising_to) + dice.uniform(-0.008, 0.008)
            row[VAL] = 0.0 if broken and step >= broken else round(level, 4)
        table[step] = row
    return run_of(table, **fields)


def _rows(**named: list[float]) -> Run:
    """TRL's rows, one each tenth step."""
    length = len(next(iter(named.values())))
    return run_of({10 * (k + 1): {m: v[k] for m, v in named.items()} for k in range(length)}, framework="TRL")


@pytest.mark.parametrize("question", ["kl_loss step 10 vs step 50 翻了几倍", "kl_loss step 10 和 step 50 相差几倍"])
def test_factor_of_two_steps_is_above_one(question: str) -> None:
    assert f"{1.05**40:.2f}" in ask(question, _run()).answer


@pytest.mark.parametrize(
    "question",
    ["第一次跟最后一次 validation 比，模型进步了吗", "第一次和最后一次验证比，涨了吗", "first vs last validation"],
)
def test_first_validation_is_set_against_the_last(question: str) -> None:
    answer = ask(question, _run())
    first, last = (f"{100 * float(_run().value(VAL, step) or 0):.1f}%" for step in (2, 60))
    has(answer, first, last)
    assert answer.intent in {"compare", "lookup", "validation", "trend"}


@pytest.mark.parametrize(
    "question",
    ["train reward vs validation: do they agree?", "训练 reward 和验证走势一致吗", "do validation and training agree"],
)
def test_training_and_validation_are_set_against_each_other_by_their_courses(question: str) -> None:
    rows = {step: _run().at(step) for step in STEPS}
    table = {step: {metric: cell.value for metric, cell in row.items()} for step, row in rows.items()}
    for step, row in table.items():
        if VAL in row:
            row[VAL] = 0.8 - 0.008 * step
    answer = ask(question, run_of(table))
    assert answer.answer.lstrip("*").startswith(("No:", "不一致"))
    has(answer, VAL)


@pytest.mark.parametrize("question", ["kl_loss 与 grad_norm 哪个变化更大", "which changed more, grad_norm or kl_loss?"])
def test_which_metric_changed_more_goes_by_factors(question: str) -> None:
    first = ask(question, _run()).answer.split("\n")[0]
    start, end = (sum(1.05**s for s in steps) / 5 for steps in (range(1, 6), range(56, 61)))
    assert first.lstrip("*").startswith(("变化更大的是 `actor/kl_loss`", "`actor/kl_loss` changed more"))
    assert f"{end / start:.1f}" in first


@pytest.mark.parametrize(
    "question", ["response length 的 mean 和 max，step 20 对比 step 40", "mean and max response length, step 20 vs 40"]
)
def test_both_statistics_that_are_named_are_compared(question: str) -> None:
    answer = ask(question, _run())
    assert {"response_length/mean", "response_length/max"} <= set(answer.slots.metrics)
    has(answer, "9,020", "9,040")


@pytest.mark.parametrize("question", ["step 8 和 step 9 差在哪", "what differs between step 8 and step 9"])
def test_what_differs_leads_with_the_largest_changes(question: str) -> None:
    table = {s: {m: c.value for m, c in _run().at(s).items()} for s in STEPS}
    table[9]["actor/grad_norm"] = 40.0
    first = ask(question, run_of(table)).answer.split("\n")[0]
    assert "`actor/grad_norm`" in first
    assert "40" in first


@pytest.mark.parametrize("question", ["哪个 run 的 entropy 更高", "which run has the higher entropy?"])
def test_which_run_is_higher_names_the_run_first(question: str) -> None:
    low = _run()
    table = {s: {m: c.value for m, c in low.at(s).items()} | {"actor/entropy": 0.9} for s in STEPS}
    high = run_of(table, id="r1", name="high")
    first = answerer().ask(question, (low, high))[0].answer.split("\n")[0]
    assert "high" in first.split("lowest")[0].split("最低")[0]
    assert "0.9" in first


@pytest.mark.parametrize("question", ["Is validation still improving?", "验证还在涨吗"])
@pytest.mark.parametrize(("until", "of_late"), [(60, False), (32, True)])
def test_still_is_answered_by_the_latest_stretch(question: str, until: int, of_late: bool) -> None:
    first = ask(question, _run(rising_to=until)).answer.split("\n")[0]
    assert any(words in first for words in ("of late", "最近", "but not since", "之后不再")) is of_late
    assert first.lstrip("*").startswith(("Yes", "是的")) is not of_late


@pytest.mark.parametrize("question", ["did eval get worse?", "eval 变差了吗"])
def test_evaluations_that_agree_are_one(question: str) -> None:
    values = [0.6 - 0.03 * k for k in range(12)]
    run = _rows(
        eval_reward=values, **{"eval_rewards/accuracy/mean": values}, reward=[0.5 + 0.01 * k for k in range(12)]
    )
    answer = ask(question, run)
    assert answer.verdict.code == "falling"
    assert answer.answer.lstrip("*").startswith("`eval_reward`")


@pytest.mark.parametrize(
    "question", ["what's the error bar on the accuracy?", "aime 准确率的误差多大", "置信区间多大，aime"]
)
def test_error_of_a_score_comes_first(question: str) -> None:
    answer = answerer().ask(question, example_runs())[0]
    first = answer.answer.split("\n")[0]
    assert "0.946" in first
    assert "1.85" in first


@pytest.mark.parametrize("question", ["why is val acc 0 at the end", "validation 后面为什么是 0"])
def test_score_of_zero_is_led_back_to_values_that_are_no_numbers(question: str) -> None:
    answer = ask(question, _run(broken=31))
    assert "NaN" in answer.answer
    assert answer.verdict.code == "critical"


@pytest.mark.parametrize(
    "question", ["val acc 能到 0.9 吗", "验证能涨到 90% 吗", "how many steps until val acc hits 0.9"]
)
def test_what_has_not_been_reached_is_forecast(question: str) -> None:
    assert ask(question, _run(rising_to=20)).intent == "forecast"


@pytest.mark.parametrize(
    "question",
    ["response length 到 10240 上限大概还要几步", "how many steps until response length hits the 10240 limit"],
)
def test_limit_yet_to_come_is_the_target(question: str) -> None:
    answer = ask(question, _run())
    assert answer.intent == "forecast"
    assert "10,240" in answer.answer.split("\n")[0]


@pytest.mark.parametrize("question", ["什么时候会 OOM", "when will it run out of memory?"])
def test_running_out_of_a_memory_of_unknown_size_cannot_be_told(question: str) -> None:
    table = {s: {m: c.value for m, c in _run().at(s).items()} for s in STEPS}
    for step, row in table.items():
        row["perf/max_memory_reserved_gb"] = 40.0 + 0.5 * step + 0.02 * (step % 3)
    answer = ask(question, run_of(table))
    assert answer.answer.lstrip("*").startswith(("何时 OOM 算不出来", "When it runs out cannot be told"))
    assert "perf/max_memory_reserved_gb" in answer.slots.metrics


@pytest.mark.parametrize("question", ["is there a KL loss in this one?", "有 KL loss 吗"])
def test_whether_a_part_is_there_is_answered(question: str) -> None:
    assert ask(question, _run()).answer.lstrip("*").startswith(("Yes", "开着"))


@pytest.mark.parametrize("question", ["val score 最近三次", "最近 3 次验证", "last 3 validation scores"])
def test_last_three_validations_are_listed(question: str) -> None:
    answer = ask(question, _run())
    has(answer, *(f"{100 * float(_run().value(VAL, step) or 0):.1f}%" for step in (56, 58, 60)))


@pytest.mark.parametrize("question", ["reward first 50% vs last 50%", "reward 前 50% vs 后 50%"])
def test_share_of_the_run_is_no_step(question: str) -> None:
    assert ask(question, _run()).slots.steps.values != (1, 50)


@pytest.mark.parametrize(
    "question", ["entropy 第一步和最后一步差多少", "entropy 第一次和最后一次差多少", "entropy first vs last"]
)
def test_last_one_is_not_the_one_after_the_first(question: str) -> None:
    answer = ask(question, _run())
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("pair", (1, 60))
    has(answer, f"{float(_run().value('actor/entropy', 1) or 0):.3f}")


@pytest.mark.parametrize(
    "question", ["first eval 和 last eval 比 improve 了吗", "eval first vs last", "eval 第一次和最后一次比，涨了吗"]
)
def test_first_evaluation_against_the_last_is_a_comparison(question: str) -> None:
    run = _rows(eval_reward=[0.4 + 0.03 * k for k in range(12)], reward=[0.5 + 0.01 * k for k in range(12)])
    answer = ask(question, run)
    assert answer.intent == "compare"
    has(answer, "0.4", "0.73")


@pytest.mark.parametrize(
    "question", ["训练分涨、评测分跌，谁说了算", "training reward goes up while eval drops, which one counts?"]
)
def test_training_up_and_evaluation_down_sets_both_against_each_other(question: str) -> None:
    run = _rows(eval_reward=[0.6 - 0.03 * k for k in range(12)], reward=[0.5 + 0.01 * k for k in range(12)])
    answer = ask(question, run)
    assert {"eval_reward", "reward"} <= set(answer.slots.metrics)


@pytest.mark.parametrize("question", ["有没有熵爆炸", "有没有熵坍缩", "有没有熵崩了"])
def test_trouble_asked_after_is_not_a_part_that_is_on(question: str) -> None:
    assert not ask(question, _run()).answer.lstrip("*").startswith(("有：日志里有", "开着"))


@pytest.mark.parametrize("question", ["有没有 KL loss", "有 KL loss 吗"])
def test_a_part_asked_after_is_still_told(question: str) -> None:
    has(ask(question, _run()), "kl_loss")


@pytest.mark.parametrize("question", ["is there an entropy bonus?", "is there an entropy loss?", "有没有熵损失"])
def test_entropy_printed_is_no_entropy_bonus(question: str) -> None:
    assert not ask(question, _run()).answer.lstrip("*").startswith(("Yes", "开着", "有：日志里有"))


@pytest.mark.parametrize("question", ["is the reward still rising?", "reward 还在涨吗"])
def test_still_is_denied_of_a_course_that_has_levelled(question: str) -> None:
    values = [round(min(step, 20) * 0.03 + 0.001 * (step % 3), 4) for step in range(1, 101)]
    answer = ask(question, run_of({step: {"critic/rewards/mean": value} for step, value in enumerate(values, 1)}))
    first = answer.answer.lstrip("*")
    assert first.startswith(("It did rise, but not since", "先前是升的，但"))


@pytest.mark.parametrize("question", ["is the loss still falling?", "loss 还在降吗"])
def test_still_is_denied_of_a_course_that_turned(question: str) -> None:
    values = [2 - 0.03 * step if step <= 30 else 1.1 + 0.02 * (step - 30) for step in range(1, 101)]
    answer = ask(question, run_of({step: {"train/loss": round(value, 4)} for step, value in enumerate(values, 1)}))
    assert answer.answer.lstrip("*").startswith(("No, the last", "没有，最近"))
