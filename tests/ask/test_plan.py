"""Several values asked for at once: parts of the run, metrics and statistics side by side, limits met together."""

from __future__ import annotations

import math
from statistics import mean, median

import pytest

from assistant.ask.plan.tags import tagged
from assistant.model import Run
from tests.analysis.support import run_of

from .support import conversation, first_line, holds

STEPS = range(1, 61)
SCORE = {step: round(0.2 + 0.01 * step + 0.02 * ((step * 7) % 5), 4) for step in STEPS}
LENGTH = {step: 400.0 + 3 * step + (step % 4) for step in STEPS}
KL = {step: round(0.002 * step, 4) for step in STEPS}
NORM = {step: round(0.5 + 0.1 * ((step * 11) % 13) + (4.0 if step == 37 else 0.0), 4) for step in STEPS}
RUN: Run = run_of(
    {
        step: {
            "critic/score/mean": SCORE[step],
            "response_length/mean": LENGTH[step],
            "actor/kl_loss": KL[step],
            "actor/grad_norm": NORM[step],
        }
        for step in STEPS
    }
)


def of(values: dict[int, float], first: int, last: int) -> list[float]:
    return [values[step] for step in range(first, last + 1)]


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("头 20 步和尾 20 步的平均回答长度，差几个 token", LENGTH),
        ("early 20 steps vs last 20 steps 的 score mean", SCORE),
        ("the mean kl_loss over the first 20 steps and over the last 20: how far apart?", KL),
        ("grad_norm：前 20 步的平均和最后 20 步的平均差多少", NORM),
        ("ratio of the average score over the final 20 steps to that over the initial 20", SCORE),
    ],
)
def test_two_parts_are_told_and_set_against_each_other(asked: str, values: dict[int, float]) -> None:
    made = conversation(RUN, asked)
    assert holds(made, math.fsum(of(values, 1, 20)) / 20)
    assert holds(made, math.fsum(of(values, 41, 60)) / 20)


@pytest.mark.parametrize(
    ("asked", "values", "share"),
    [
        ("grad_norm max / median ratio", NORM, None),
        ("Ratio of grad_norm max to its median?", NORM, None),
        ("grad_norm 的最大值是中位数的几倍", NORM, None),
        ("kl_loss max / mean ratio", KL, "mean"),
    ],
)
def test_two_statistics_of_one_metric_are_divided(asked: str, values: dict[int, float], share: str | None) -> None:
    made = conversation(RUN, asked)
    usual = mean(values.values()) if share else median(values.values())
    ratios = [fact.value for fact in made.facts if fact.kind == "derived" and isinstance(fact.value, float)]
    assert any(value == pytest.approx(max(values.values()) / usual, rel=1e-6) for value in ratios)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("response length 低于 460 且 score 超过 0.4 的有几步", sum(LENGTH[s] < 460 and SCORE[s] > 0.4 for s in STEPS)),
        ("how many steps have score above 0.5 and kl_loss below"
        " 0.1?", sum(SCORE[s] > 0.5 and KL[s] < 0.1 for s in STEPS)),
        ("kl_loss 大于 0.05 而 grad_norm 低于 0.8 的步有哪些", sum(KL[s] > 0.05 and NORM[s] < 0.8 for s in STEPS)),
    ],
)  # fmt: skip
def test_limits_are_met_together(asked: str, count: int) -> None:
    made = conversation(RUN, asked)
    assert holds(made, count)
    assert len(made.slots.metrics) == 2


@pytest.mark.parametrize(
    "asked",
    ["kl_loss 低于 0.05 的记录有几条，占全部多少", "kl_loss below 0.05: how many steps, and what share of steps?"],
)
def test_a_count_with_its_share(asked: str) -> None:
    made = conversation(RUN, asked)
    met = sum(value < 0.05 for value in KL.values())
    assert holds(made, met)
    assert holds(made, met / len(KL))


@pytest.mark.parametrize(
    "asked",
    [
        "kl_loss 超过 0.06 之前和之后，score 均值各是多少",
        "kl_loss 破 0.06 之前 score 均值，之后均值",
        "mean score before and after kl_loss exceeds 0.06",
    ],
)
def test_both_sides_of_the_first_step_that_meets_a_limit(asked: str) -> None:
    made = conversation(RUN, asked)
    at = next(step for step in STEPS if KL[step] > 0.06)
    assert holds(made, math.fsum(of(SCORE, 1, at - 1)) / (at - 1))
    assert holds(made, math.fsum(of(SCORE, at, 60)) / (61 - at))
    assert f"step {at}" in made.answer


@pytest.mark.parametrize(
    ("turns", "parts"),
    [
        (("grad_norm 最高是哪步", "前后各 5 步的平均呢"), ((32, 36), (38, 42))),
        (("grad_norm 最高的一步前后各 3 步的平均呢",), ((34, 36), (38, 40))),
    ],
)
def test_the_steps_around_an_extreme(turns: tuple[str, ...], parts: tuple[tuple[int, int], ...]) -> None:
    made = conversation(RUN, *turns)
    for first, last in parts:
        assert holds(made, math.fsum(of(NORM, first, last)) / (last - first + 1))


@pytest.mark.parametrize(
    "turns",
    [
        ("score 最近 5 步平均", "最早 5 步呢", "快了还是慢了"),
        ("mean score steps 1-5", "same for the last 5", "and the difference"),
        ("score 最近 5 步平均", "最早 5 步呢", "哪个高"),
        ("mean score steps 1-5", "same for the last 5", "significant?"),
    ],
)
def test_the_two_parts_told_are_set_against_each_other(turns: tuple[str, ...]) -> None:
    made = conversation(RUN, *turns)
    assert holds(made, math.fsum(of(SCORE, 1, 5)) / 5)
    assert holds(made, math.fsum(of(SCORE, 56, 60)) / 5)


def test_the_part_before_the_one_told() -> None:
    made = conversation(RUN, "最近 20 步 score 均值", "之前的 20 步")
    assert holds(made, math.fsum(of(SCORE, 21, 40)) / 20)
    assert "step 40" in conversation(RUN, "最近 20 步 score 均值", "之前的 20 步", "哪个高").answer.replace(
        "21 到 40", "step 40"
    )


@pytest.mark.parametrize("asked", ["average of those three", "这三个的平均", "avg of these"])
def test_the_mean_of_the_values_told(asked: str) -> None:
    made = conversation(RUN, "kl_loss at 10", "20", "30", asked)
    assert holds(made, math.fsum(KL[step] for step in (10, 20, 30)) / 3)


def test_a_metric_in_a_second_clause_is_at_the_same_step() -> None:
    made = conversation(RUN, "grad_norm 在 step 56 是多少，score 呢")
    assert holds(made, NORM[56])
    assert holds(made, SCORE[56])


@pytest.mark.parametrize("asked", ["grad_norm 的第 90 百分位是多少", "90th percentile of grad_norm"])
def test_a_percentile(asked: str) -> None:
    ordered = sorted(NORM.values())
    place = (len(ordered) - 1) * 0.9
    low = math.floor(place)
    value = ordered[low] + (ordered[low + 1] - ordered[low]) * (place - low)
    made = conversation(RUN, asked)
    assert any(fact.value == pytest.approx(value, abs=0.2) for fact in made.facts if isinstance(fact.value, float))
    assert "90" in first_line(made)


@pytest.mark.parametrize(
    "text",
    ["XX over the last 20 steps of the second epoch", "XX 前 20 步的斜率", "why is XX lower in the last 20 steps"],
)
def test_a_question_with_a_word_that_is_not_read_has_no_tags(text: str) -> None:
    assert tagged(text, [(text.index("XX"), text.index("XX") + 2, "loss")]) is None


@pytest.mark.parametrize(
    ("turns", "steps", "value"),
    [
        (("grad_norm at 10", "20 and 30", "highest of the three"), (10, 20, 30), NORM),
        (("step 10 的 grad_norm", "那 20 和 30 呢", "三个里最高的"), (10, 20, 30), NORM),
        (("kl_loss at 7", "the one before", "and after"), (8,), KL),
        (("lowest grad_norm after step 40", "the one before and after"), None, NORM),
        (("score at step 20", "step 30", "kl_loss at both"), (20, 30), KL),
    ],
)
def test_points_told_are_asked_about(
    turns: tuple[str, ...], steps: tuple[int, ...] | None, value: dict[int, float]
) -> None:
    made = conversation(RUN, *turns)
    if steps is None:
        low = min((step for step in STEPS if step > 40), key=lambda step: NORM[step])
        steps = (low - 1, low + 1)
    for step in steps:
        assert any(fact.step == step and fact.value == value[step] for fact in made.facts)
    if turns[-1].startswith(("highest", "三个")):
        assert str(max(steps, key=lambda step: value[step])) in first_line(made).split("。")[0].split(".`")[0]


@pytest.mark.parametrize("asked", ["difference between those two", "这两个相差多少"])
def test_the_difference_of_two_points_told(asked: str) -> None:
    made = conversation(RUN, "score at step 5", "step 50", asked)
    assert holds(made, abs(SCORE[50] - SCORE[5]))


@pytest.mark.parametrize("asked", ["ratio of the last two", "后两个的比值"])
def test_the_ratio_of_the_last_two_told(asked: str) -> None:
    made = conversation(RUN, "kl_loss at 10", "20", "50", asked)
    assert holds(made, KL[50] / KL[20]) or holds(made, KL[20] / KL[50])


@pytest.mark.parametrize(
    ("turns", "values", "yes"),
    [
        (("score 前 10 步平均", "后 10 步平均", "变高了吗"), SCORE, True),
        (("回答长度 前 10 步平均", "后 10 步平均", "变短了吗"), LENGTH, False),
        (("mean score of the first 10 steps", "the last 10", "did it go down?"), SCORE, False),
    ],
)
def test_whether_it_moved_between_two_parts_told(turns: tuple[str, ...], values: dict[int, float], yes: bool) -> None:
    made = conversation(RUN, *turns)
    assert holds(made, math.fsum(of(values, 1, 10)) / 10)
    assert holds(made, math.fsum(of(values, 51, 60)) / 10)
    assert first_line(made).strip("*").startswith(("是", "Yes") if yes else ("没有", "No"))


@pytest.mark.parametrize(
    ("asked", "factor"),
    [("翻了几倍", False), ("缩小了多少倍", True), ("涨了几成", None), ("by how many percent", None)],
)
def test_two_parts_told_by_their_ratio(asked: str, factor: bool | None) -> None:
    made = conversation(RUN, "kl_loss 前 10 步平均", "后 10 步平均", asked)
    early, late = math.fsum(of(KL, 1, 10)) / 10, math.fsum(of(KL, 51, 60)) / 10
    assert holds(made, (late - early) / early if factor is None else early / late if factor else late / early)


@pytest.mark.parametrize(
    "turns",
    [
        ("kl_loss 破 0.06 是哪步", "之前的均值", "之后的均值"),
        ("when is kl_loss first above 0.06", "mean before that", "and the mean after"),
    ],
)
def test_the_part_on_the_other_side(turns: tuple[str, ...]) -> None:
    made = conversation(RUN, *turns)
    at = next(step for step in STEPS if KL[step] > 0.06)
    assert holds(made, math.fsum(of(KL, at, 60)) / (61 - at))


def test_the_five_before() -> None:
    made = conversation(RUN, "score last 5 steps mean", "the 5 before")
    assert holds(made, math.fsum(of(SCORE, 51, 55)) / 5)


@pytest.mark.parametrize(
    ("turns", "nth"),
    [
        (("kl_loss 最大的三步", "第二大那步的 score"), 2),
        (("kl_loss 最大的三步", "第三名那一步的 score"), 3),
        (("kl_loss 最大是哪步", "它的 score"), 1),
    ],
)
def test_another_metric_where_one_ranks(turns: tuple[str, ...], nth: int) -> None:
    made = conversation(RUN, *turns)
    step = sorted(STEPS, key=lambda one: -KL[one])[nth - 1]
    assert any(fact.step == step and fact.value == SCORE[step] for fact in made.facts)
    assert "critic/score/mean" in first_line(made)


@pytest.mark.parametrize(
    ("asked", "values", "steps"),
    [
        ("kl_loss 超过 0.1 时 score 平均多少", SCORE, [s for s in STEPS if KL[s] > 0.1]),
        ("mean score while kl_loss is below 0.03 and grad_norm above"
         " 0.8", SCORE, [s for s in STEPS if KL[s] < 0.03 and NORM[s] > 0.8]),
        ("grad_norm mean excluding spikes above 3", NORM, [s for s in STEPS if NORM[s] <= 3]),
        ("剔除大于 3 的值后 grad_norm 的均值", NORM, [s for s in STEPS if NORM[s] <= 3]),
    ],
)  # fmt: skip
def test_a_metric_over_the_steps_that_meet_a_limit(asked: str, values: dict[int, float], steps: list[int]) -> None:
    made = conversation(RUN, asked)
    assert holds(made, math.fsum(values[step] for step in steps) / len(steps))
    assert holds(made, len(steps))


@pytest.mark.parametrize("asked", ["kl_loss 突破 0.05 时的 score", "score when kl_loss first went above 0.05"])
def test_a_metric_where_another_crosses_a_limit(asked: str) -> None:
    at = next(step for step in STEPS if KL[step] > 0.05)
    made = conversation(RUN, asked)
    assert any(fact.step == at and fact.value == SCORE[at] for fact in made.facts)
    assert f"step {at}" in first_line(made)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("rows with kl_loss between 0.05 and 0.08", sum(0.05 <= v <= 0.08 for v in KL.values())),
        ("kl_loss 低于 0.05 的步有几成", sum(v < 0.05 for v in KL.values())),
    ],
)
def test_rows_within_limits(asked: str, count: int) -> None:
    made = conversation(RUN, asked)
    assert holds(made, count)
    assert holds(made, count / 60)


@pytest.mark.parametrize("asked", ["score 在 step 10-20 的均值 vs 30-40", "之前(step 10–20)和之后(30–40)的 score 平均"])
def test_a_second_part_told_by_its_ends_alone(asked: str) -> None:
    made = conversation(RUN, asked)
    assert holds(made, math.fsum(of(SCORE, 10, 20)) / 11)
    assert holds(made, math.fsum(of(SCORE, 30, 40)) / 11)


def test_words_that_say_nothing_have_no_tags() -> None:
    assert tagged("为什么", ()) in (None, [])
    assert tagged("那", ()) == []


def test_what_lies_before_the_extreme_after_what_lies_behind_it_was_told() -> None:
    made = conversation(RUN, "grad_norm 最高是哪步", "之后呢", "之前平均")
    assert holds(made, math.fsum(of(NORM, 1, 36)) / 36)


@pytest.mark.parametrize("asked", ["max 和 min 呢", "and the max and the min?"])
def test_members_of_a_family_are_those_of_the_step_told(asked: str) -> None:
    run = run_of(
        {
            step: {
                "critic/score/mean": 0.5 + 0.001 * step,
                "critic/score/max": 1.0 + step,
                "critic/score/min": -1.0 - step,
            }
            for step in range(1, 31)
        }
    )
    made = conversation(run, "step 20 的 score mean", asked)
    assert holds(made, 21.0)
    assert holds(made, -21.0)
