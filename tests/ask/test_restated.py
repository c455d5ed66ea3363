"""Follow-ups that change one thing of the question before: a statistic, a part of the run, a metric, the steps."""

from __future__ import annotations

from statistics import median, stdev

import pytest

from assistant.model import Answer
from tests.analysis.support import run_of

from .support import answerer, conversation

#: Sixty steps; the lengths and scores differ from step to step, the evaluation gap is widest at step 20.
LENGTH = {step: 200.0 + 7.0 * (step * 7 % 13) + step for step in range(1, 61)}
SCORE = {step: round(0.2 + 0.005 * step + 0.01 * (step * 5 % 7), 4) for step in range(1, 61)}
RUN = run_of(
    {
        step: {
            "response_length/mean": LENGTH[step], "critic/score/mean": SCORE[step],
            "eval_loss": round(2.0 - 0.01 * step + (0.9 if step == 20 else 0.0), 4),
            "loss": round(1.9 - 0.02 * step, 4),
            "actor/grad_norm": 3.0 if 30 <= step <= 36 else 0.4 + 0.001 * step,
        }
        for step in range(1, 61)
    }
)  # fmt: skip


def last(*turns: str) -> Answer:
    return conversation(RUN, *turns)


def over(values: dict[int, float], first: int, final: int) -> list[float]:
    return [value for step, value in values.items() if first <= step <= final]


def derived(made: Answer) -> list[float]:
    return [fact.value for fact in made.facts if fact.kind == "derived" and isinstance(fact.value, float)]


MEDIANS = {
    (1, 10): median(over(LENGTH, 1, 10)), (41, 60): median(over(LENGTH, 41, 60)),
    (21, 40): median(over(LENGTH, 21, 40)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("turns", "value"),
    [
        (("前 10 步的 response length 平均", "换成中位数"), MEDIANS[1, 10]),
        (("最后 20 步 response_length 的平均", "median?"), MEDIANS[41, 60]),
        (("mean response length over the first 10 steps", "the median instead"), MEDIANS[1, 10]),
        (("response length 的中位数", "最后 20 步的呢"), MEDIANS[41, 60]),
        (("response length 的中位数", "step 21 到 40 呢", "前 10 步的"), MEDIANS[1, 10]),
        (("median response length", "over steps 21 to 40?"), MEDIANS[21, 40]),
        (("最后 20 步 response length 的中位数", "same for score"), median(over(SCORE, 41, 60))),
        (("最后 20 步 response length 的中位数", "那 score 呢"), median(over(SCORE, 41, 60))),
        (("前 10 步 response length 的标准差", "最后 20 步呢"), stdev(over(LENGTH, 41, 60))),
        (("前 10 步 response length 的中位数", "标准差呢"), stdev(over(LENGTH, 1, 10))),
        (("sum of response length over the first 10 steps", "and the last 20?"), sum(over(LENGTH, 41, 60))),
    ],
)
def test_one_thing_changed_keeps_the_statistic_and_the_part(turns: tuple[str, ...], value: float) -> None:
    assert derived(last(*turns)) == pytest.approx([value])


@pytest.mark.parametrize(
    "turns",
    [
        ("response length 的中位数", "最后 20 步的", "前 10 步呢", "哪个更大"),
        ("response length 的中位数", "最后 20 步的", "前 10 步呢", "差多少"),
        ("response length 前 10 步的中位数", "最后 20 步呢", "which is larger"),
    ],
)
def test_two_parts_asked_one_after_the_other_are_compared_by_their_statistic(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    assert {round(value, 3) for value in derived(made)} >= {round(MEDIANS[1, 10], 3), round(MEDIANS[41, 60], 3)}


@pytest.mark.parametrize(
    ("turns", "step"),
    [
        (("step 10 的 score", "20 呢", "then at 37?", "哪个最高"), max((10, 20, 37), key=SCORE.__getitem__)),
        (("score at step 10", "and 20?", "and 37?", "which is the lowest"), min((10, 20, 37), key=SCORE.__getitem__)),
        (("step 10 的 score", "20 呢", "整个 run 里最高的是哪步"), max(SCORE, key=SCORE.__getitem__)),
    ],
)
def test_the_highest_is_of_the_steps_asked_about(turns: tuple[str, ...], step: int) -> None:
    made = last(*turns)
    assert f"step {step}" in made.verdict.summary
    assert SCORE[step] in {fact.value for fact in made.facts if fact.step == step}


@pytest.mark.parametrize(
    ("turns", "share"),
    [
        (("compare score at step 10 and step 40", "by what percent"), SCORE[40] / SCORE[10] - 1),
        (("score 从 step 10 到 step 40 变化", "百分之多少"), SCORE[40] / SCORE[10] - 1),
        (("response length: first vs last", "百分之多少"), LENGTH[60] / LENGTH[1] - 1),
    ],
)
def test_a_change_is_told_in_per_cent(turns: tuple[str, ...], share: float) -> None:
    assert share in [pytest.approx(value) for value in derived(last(*turns))]


@pytest.mark.parametrize(
    "turns",
    [("grad norm 第一次超过 1", "持续了多久"), ("when did grad norm first exceed 1", "how long did it stay")],
)
def test_how_long_it_stayed_is_the_longest_stretch(turns: tuple[str, ...]) -> None:
    made = last(*turns)
    assert "7" in made.verdict.summary
    assert {30, 36} <= {fact.step for fact in made.facts}


def test_the_widest_gap_is_of_the_two_metrics_before() -> None:
    made = last("eval loss 和 loss 在 step 40 差多少", "那 gap 最大的时候呢")
    assert "step 20" in made.verdict.summary


def test_less_than_at_the_start_is_of_the_step_told() -> None:
    made = last("step 40 的 response length", "比最开始长了多少")
    change = next(fact for fact in made.facts if fact.kind == "change")
    assert (change.from_step, change.to_step) == (1, 40)


def test_another_statistic_of_one_step_is_not_asked() -> None:
    """A statistic of the whole run is not invented for a single step's follow-up about another metric."""
    made = last("step 10 的 score", "loss 呢")
    assert [fact.value for fact in made.facts if fact.kind == "value"] == [1.7]


#: A metric that falls to a floor at step 31; a log with epochs.
FLOOR = run_of(
    {
        step: {
            "score": round(0.4 + 0.001 * step, 4) if step <= 30 else -1.0,
            "epoch": round(step / 20, 2), "kl": round(0.01 * step, 2),
        }
        for step in range(1, 61)
    }
)  # fmt: skip


def of_floor(*turns: str) -> Answer:
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, [FLOOR], state=state)
    return made


@pytest.mark.parametrize(
    ("turns", "step", "value"),
    [
        (("score 什么时候掉到 -1 的", "掉之前是多少"), 30, 0.43),
        (("when is score first below 0", "what was it just before that"), 30, 0.43),
        (("score 最高多少", "epoch 几"), 30, 1.5),
        (("highest score", "which epoch was it"), 30, 1.5),
    ],
)
def test_the_step_told_is_pointed_to(turns: tuple[str, ...], step: int, value: float) -> None:
    assert {fact.step: fact.value for fact in of_floor(*turns).facts if fact.kind == "value"} == {step: value}


@pytest.mark.parametrize(
    "turns",
    [("score 什么时候掉到 -1 的", "之前 10 步的平均"), ("when is score first below 0", "mean of the 10 steps before")],
)
def test_the_steps_before_the_one_told_are_averaged(turns: tuple[str, ...]) -> None:
    assert pytest.approx(0.4255) in derived(of_floor(*turns))


def test_a_limit_is_not_carried_to_another_metric_at_the_step_told() -> None:
    made = of_floor("score first below 0", "how long did it stay there", "kl at that time")
    assert [fact.value for fact in made.facts if fact.kind == "value"] == [0.31]


@pytest.mark.parametrize(
    ("turns", "ends"),
    [
        (("step 40 的 kl", "涨了多少 since step 5"), (5, 40)),
        (("step 40 的 kl", "从 step 5 涨了多少"), (5, 40)),
        (("kl at step 40", "how much has it risen since step 5"), (5, 40)),
        (("kl 最后一次", "比第一次高多少"), (1, 60)),
    ],
)
def test_a_change_since_a_step_ends_at_the_one_told(turns: tuple[str, ...], ends: tuple[int, int]) -> None:
    change = next(fact for fact in of_floor(*turns).facts if fact.kind == "change")
    assert (change.from_step, change.to_step) == ends


def test_times_of_two_parts_are_of_their_statistic() -> None:
    made = last("response length 的中位数", "前 10 步", "最后 20 步呢", "大了几倍")
    assert pytest.approx(MEDIANS[41, 60] / MEDIANS[1, 10]) in derived(made)


@pytest.mark.parametrize(
    ("turns", "value"),
    [(("step 12 的平均 response length", "max 呢"), 900.0), (("mean length at step 12", "and the min?"), 8.0)],
)
def test_the_largest_after_a_mean_at_a_step_is_of_that_step(turns: tuple[str, ...], value: float) -> None:
    run = run_of(
        {
            step: {
                "response_length/mean": 100.0, "response_length/max": 888.0 + step, "response_length/min": step - 4.0,
            }
            for step in range(5, 30)
        }
    )  # fmt: skip
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, [run], state=state)
    assert [fact.value for fact in made.facts if fact.kind == "value"] == [value]


@pytest.mark.parametrize(
    ("turns", "ends"),
    [
        (("eval loss 最高多少", "之后降了多少"), (20, 60)),
        (("highest eval loss", "how much has it dropped since"), (20, 60)),
    ],
)
def test_what_followed_an_extreme_is_of_the_same_metric(turns: tuple[str, ...], ends: tuple[int, int]) -> None:
    change = next(fact for fact in last(*turns).facts if fact.kind == "change")
    assert (change.metric, change.from_step, change.to_step) == ("eval_loss", *ends)


def test_two_parts_are_compared_for_another_metric() -> None:
    made = last("response length 的中位数", "前 10 步", "最后 20 步呢", "差多少", "same for score")
    assert pytest.approx(median(over(SCORE, 1, 10))) in derived(made)
    assert pytest.approx(median(over(SCORE, 41, 60))) in derived(made)
