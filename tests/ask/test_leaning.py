"""Follow-ups that lean on what was told before: its step, its steps, its metric, its part of the run."""

from __future__ import annotations

import pytest

from assistant.ask.leaning import MOST_TOLD, told_steps
from tests.analysis.support import run_of

from .support import answerer

#: A KL with three tall steps; a held-out loss that is lowest at step 30; a loss that falls.
RUN = run_of(
    {
        step: {
            "kl": {12: 3.0, 25: 5.0, 40: 4.0}.get(step, 0.02 + 0.0001 * step),
            "reward": round(0.01 * step, 4),
            "loss": round(2.0 - 0.02 * step, 4),
            "entropy": round(0.9 - 0.005 * step, 4),
            "eval_loss": round(2.0 + abs(step - 30) / 100, 4),
        }
        for step in range(1, 61)
    }
)


def last(*turns: str):  # type: ignore[no-untyped-def]
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, [RUN], state=state)
    return made


def cells(made, metric: str) -> dict[int, float]:  # type: ignore[no-untyped-def]
    return {fact.step: fact.value for fact in made.facts if fact.kind == "value" and fact.metric == metric}


@pytest.mark.parametrize(
    "turns",
    [
        ("kl 最大的三步", "这三步的 reward"),
        ("kl 最大的 3 步", "那3步的reward是多少"),
        ("top 3 kl", "reward at those steps"),
        ("the three largest kl", "and the reward at those three steps"),
    ],
)
def test_steps_told_are_pointed_to_by_their_number(turns: tuple[str, ...]) -> None:
    assert cells(last(*turns), "reward") == {12: 0.12, 25: 0.25, 40: 0.4}


def test_another_number_of_steps_does_not_point_to_those_told() -> None:
    assert set(cells(last("kl 最大的三步", "那两步的 reward"), "reward")) != {12, 25, 40}


@pytest.mark.parametrize(
    ("turns", "metric", "pair"),
    [
        (("kl 最高是多少", "跟它前一步比呢"), "kl", (24, 25)),
        (("step 20 的 loss", "比上一步呢"), "loss", (19, 20)),
        (("loss at step 20", "compared to the step before"), "loss", (19, 20)),
    ],
)
def test_the_step_before_the_one_told_is_what_it_is_set_against(
    turns: tuple[str, ...], metric: str, pair: tuple[int, int]
) -> None:
    made = last(*turns)
    assert made.intent == "compare"
    assert any(fact.metric == metric and (fact.from_step, fact.to_step) == pair for fact in made.facts)


@pytest.mark.parametrize(
    "turns",
    [("loss 最后 20 步的平均", "比前 20 步低多少"), ("mean loss over the last 20 steps", "compared to the first 20")],
)
def test_a_window_told_is_set_against_the_first_steps(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    values = [fact.value for fact in made.facts if isinstance(fact.value, float)]
    assert any(value == pytest.approx(1.79) for value in values)  # of steps 1 to 20
    assert any(value == pytest.approx(0.99) for value in values)  # of steps 41 to 60


@pytest.mark.parametrize(
    ("turns", "metric"),
    [
        (("entropy 趋势", "为什么降"), "entropy"),
        (("reward 趋势", "那为什么会一直涨"), "reward"),
        (("trend of entropy", "why is it going down"), "entropy"),
        (("entropy 最近多少", "为什么掉了"), "entropy"),
    ],
)
def test_why_it_moves_is_asked_of_the_metric_told(turns: tuple[str, ...], metric: str) -> None:
    made = last(*turns)
    assert made.intent in {"explain", "health"}
    assert metric in made.slots.metrics
    assert not made.verdict.summary.startswith(("不是这样", "Not so"))
    assert metric in made.verdict.summary


@pytest.mark.parametrize(
    "turns",
    [
        ("eval_loss 最低是多少", "那时候 loss 呢", "之后 eval_loss 涨了多少"),
        ("which step has the lowest eval_loss", "and the loss there", "how much did eval_loss rise after that"),
    ],
)
def test_what_came_after_the_step_told_is_no_matter_of_the_whole_run(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    steps = {fact.step for fact in made.facts if fact.step is not None and fact.metric == "eval_loss"}
    steps |= {step for fact in made.facts for step in (fact.from_step, fact.to_step) if step is not None}
    assert steps
    assert min(steps) >= 30
    assert made.verdict.code != "improved"


@pytest.mark.parametrize("more", ["min?", "min there?", "and the min there?", "the lowest value there"])
def test_a_statistic_is_no_name_of_a_metric(more: str) -> None:
    made = last("loss since step 41", more)
    assert (made.slots.op, list(made.slots.metrics)) == ("min", ["loss"])
    assert any(fact.value == pytest.approx(0.8) and fact.step == 60 for fact in made.facts)


def test_that_step_after_a_plain_value_is_the_latest_one_told() -> None:
    made = last("loss 多少", "那一步的 entropy 呢")
    assert cells(made, "entropy") == {60: 0.6}


def test_steps_told_are_kept_where_they_are_few() -> None:
    assert told_steps([3, None, 3, 9]) == (3, 9)
    assert told_steps([3, 3, None]) == ()
    assert told_steps(range(MOST_TOLD + 1)) == ()


@pytest.mark.parametrize(
    "turns", [("显存现在占多少 GB", "主机的呢"), ("gpu memory now?", "and the host?"), ("显存多少", "cpu 呢")]
)
def test_the_other_memory_is_asked_for_by_where_it_is(turns: tuple[str, ...]) -> None:
    run = run_of(
        {
            step: {"perf/max_memory_allocated_gb": 50.0 + step, "perf/cpu_memory_used_gb": 200.0 + step, "loss": 0.1}
            for step in range(1, 9)
        },
        framework="verl",
    )
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, [run], state=state)
    assert list(made.slots.metrics) == ["perf/cpu_memory_used_gb"]
    assert any(fact.value == 208.0 for fact in made.facts)


@pytest.mark.parametrize("question", ["生成最快的一步用了几秒，第几步", "生成最快的一步是哪步"])
def test_the_fastest_step_of_a_stage_is_no_fastest_step(question: str) -> None:
    run = run_of(
        {step: {"timing_s/gen": 10.0 + abs(step - 5), "timing_s/step": 100.0 + abs(step - 2)} for step in range(1, 9)},
        framework="verl",
    )
    made, _ = answerer().ask(question, [run])
    assert any(fact.metric == "timing_s/gen" and fact.step == 5 for fact in made.facts)
