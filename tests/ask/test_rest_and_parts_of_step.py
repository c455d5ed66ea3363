"""What is left of a step without some stages, and whether a stage takes more or less than a part of it."""

from __future__ import annotations

import pytest

from assistant.ask.answer_share_put import limit_in
from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.support import answerer, first_line, holds

STEPS = range(1, 31)


def _of(step: int) -> dict[str, float]:
    gen, update, ref = 40.0 + step, 20.0, 6.0
    return {"timing_s/gen": gen, "timing_s/update_actor": update, "timing_s/ref": ref,
            "timing_s/step": gen + update + ref + 4.0, "actor/entropy": 0.5}  # fmt: skip


RUN = run_of({step: _of(step) for step in STEPS})
ROLL = run_of(
    {
        step: {"time/step_generate": 40.0 + step, "time/step_train": 25.0, "time/step_total": 70.0 + step}
        for step in STEPS
    },
    format="roll", framework="ROLL",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "step", "left"),
    [
        ("how much of step 7 was spent outside generation and the actor update?", 7, 10.0),
        ("第 7 步除了生成和 actor 更新之外还花了多少时间", 7, 10.0),
        ("what share of step 9's time is neither gen nor ref?", 9, 24.0),
        ("step 9 不算 gen 的话还剩多少秒", 9, 30.0),
        ("step 9 扣掉 rollout 之后还剩多少时间", 9, 30.0),
        ("what is left of step 12 after gen, ref and update_actor?", 12, 4.0),
        ("excluding the actor update, how long did step 12 take?", 12, 62.0),
        ("去掉 gen 和 ref，step 12 还有多少秒", 12, 24.0),
    ],
)
def test_rest_of_a_step_is_the_step_less_the_stages_named(question: str, step: int, left: float) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert answer.intent == "bottleneck"
    assert answer.slots.steps.values == (step,)
    assert holds(answer, left)
    assert holds(answer, left / _of(step)["timing_s/step"])


@pytest.mark.parametrize("question", ["what part of a step is not generation?", "除了生成之外一步平均还花多少时间"])
def test_rest_of_no_step_named_is_told_with_its_mean(question: str) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert holds(answer, sum(30 / _of(s)["timing_s/step"] for s in STEPS) / len(STEPS))


@pytest.mark.parametrize(
    ("question", "run", "stage"),
    [
        ("apart from generation, what takes the most time at step 5?", RUN, "timing_s/update_actor"),
        ("除了 rollout，最耗时的是哪个阶段", RUN, "timing_s/update_actor"),
        ("besides gen and update_actor, which stage is the slowest?", RUN, "timing_s/ref"),
        ("除了训练之外哪个阶段最慢", ROLL, "time/step_generate"),
    ],
)
def test_longest_stage_beside_those_named_is_another(question: str, run: Run, stage: str) -> None:
    answer, _ = answerer().ask(question, [run])
    assert f"`{stage}`" in first_line(answer)
    assert answer.slots.metrics[0] == stage


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("gen 占不到一半吧", False),
        ("生成是不是占了大头", True),
        ("does the actor update take more than a third of each step?", False),
        ("is the update less than 40% of step 3?", True),
        ("did generation take less than half of the step time at step 30?", False),
        ("update_actor 在第 20 步占了三成以上吗", False),
        ("gen takes most of the time, right?", True),
        ("ref 占一步的四分之一对吗", False),
        ("gen 超过 60% 吗，step 30", True),
    ],
)
def test_share_of_a_stage_against_a_part_says_yes_or_no_first(question: str, yes: bool) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert first_line(answer).lower().startswith(("yes:", "是：") if yes else ("no:", "不是："))
    assert answer.verdict.code == "answered"


@pytest.mark.parametrize(
    ("question", "op", "count"),
    [
        (
            "how many steps did generation take more than 65% of?",
            "count",
            sum((40 + s) / (70 + s) > 0.65 for s in STEPS),
        ),
        ("有几步 gen 占比超过六成", "count", sum((40 + s) / (70 + s) > 0.6 for s in STEPS)),
        ("gen 从哪一步开始占到 60% 以上", "first_crossing", 5),
    ],
)
def test_steps_at_which_a_stage_takes_more_than_a_part_are_counted(question: str, op: str, count: int) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert answer.slots.op == op
    if op == "count":
        assert holds(answer, count)
    else:
        assert f"step {count}" in first_line(answer)


@pytest.mark.parametrize(
    ("text", "kind", "low"),
    [
        ("占不到一半吧", "below", 0.5), ("more than a third of it", "above", 0.3333), ("占了大头", "above", 0.5),
        ("超过三成", "above", 0.3), ("is it a quarter of the step", "equal", 0.25),
        ("at least 20% of a step", "at_least", 0.2),
    ],
)  # fmt: skip
def test_limit_in_reads_parts_in_words(text: str, kind: str, low: float) -> None:
    found = limit_in(text)
    assert found is not None
    assert (found.kind, found.low) == (kind, pytest.approx(low, abs=1e-4))


@pytest.mark.parametrize(
    "text",
    ["前一半的步", "the second half of the run", "less than 10% of step 5 and more than 20% of it", "entropy above 3"],
)
def test_limit_in_gives_nothing_where_no_part_of_a_step_is_named(text: str) -> None:
    assert limit_in(text) is None
