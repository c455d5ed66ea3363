"""Follow-ups that lean on the values told in the turns before: which, how far from it, times, the part before."""

from __future__ import annotations

import pytest

from assistant.ask.carried import state_from_json, state_to_json
from assistant.ask.recalled import asked
from tests.analysis.support import run_of
from tests.ask.support import answerer, conversation, first_line, holds

STEPS = range(1, 41)


def _row(step: int) -> dict[str, float]:
    row = {
        "actor/entropy": abs(step - 30) / 10 + 0.5, "critic/score/mean": 0.2 + 0.01 * step,
        "critic/vf_loss": 0.1 if step <= 20 else 0.3, "timing_s/step": 90.0 + step, "timing_s/gen": 60.0 + step,
        "perf/max_memory_allocated_gb": 40.0 + step / 4, "perf/cpu_memory_used_gb": 100.0 + 5 * step,
    }  # fmt: skip
    return row | ({"val-core/math500/acc/mean@4": 0.3 + 0.005 * step} if step % 10 == 0 else {})


RUN = run_of({step: _row(step) for step in STEPS})


@pytest.mark.parametrize(
    ("turns", "gap", "above"),
    [
        (("what was the minimum entropy?", "how much higher is the last one than it?"), 1.0, True),
        (("entropy 最低是多少", "step 10 比它高多少"), 2.0, True),
        (("score at step 10", "how much lower is it than the mean?"), 0.105, False),
        (("第 10 步的 score", "比全程均值低多少"), 0.105, False),
        (("vf_loss 在第 30 步是多少", "最后 vf_loss 比这个高还是低"), 0.0, None),
        (("timing_s/gen at step 5", "and how much higher is it at the end than that?"), 35.0, True),
        (("entropy max?", "比第一次高多少"), 0.0, None),
    ],
)
def test_how_far_from_the_value_told_is_their_difference(
    turns: tuple[str, ...], gap: float, above: bool | None
) -> None:
    answer = conversation(RUN, *turns)
    assert answer.intent in {"lookup", "compare"}
    said = first_line(answer)
    if above is None:
        assert "一样" in said or "The same" in said or not holds(answer, 1.0)
    else:
        gaps = [f.value if f.delta is None else f.delta for f in answer.facts]
        assert any(isinstance(one, float) and abs(abs(one) - gap) < 1e-9 for one in gaps)
        higher = any(word in said for word in ("above", "高", "went from")) and not said.startswith("Not ")
        assert higher == above


@pytest.mark.parametrize(("question", "within"), [("is that within 10% of the average?", True),
                                                  ("is that within 1% of the average?", False)])  # fmt: skip
def test_within_so_many_per_cent_of_the_mean_says_yes_or_no_first(question: str, within: bool) -> None:
    answer = conversation(RUN, "score at step 22", question)
    assert first_line(answer).startswith("Yes" if within else "No")


@pytest.mark.parametrize(
    ("turns", "step"),
    [
        (("vf_loss at step 10", "and at 30?", "which of the two is lowest"), 10),
        (("entropy at step 10", "20?", "和 28", "三个里哪个最低"), 28),
        (("entropy 最低多少", "最高呢", "哪个出现得更晚"), 30),
        (("entropy max", "and the min", "which came first?"), 1),
    ],
)
def test_which_of_the_values_told_names_its_step(turns: tuple[str, ...], step: int) -> None:
    said = first_line(conversation(RUN, *turns))
    assert f"step {step}" in said.split("（")[0].split("(")[0] + said[: len(said) // 2]


@pytest.mark.parametrize(
    ("turns", "metric"),
    [
        (("显存峰值最后多少？", "那主机内存呢", "两个相比谁涨得凶"), "perf/cpu_memory_used_gb"),
        (("critic/vf_loss at 10 and 30", "and critic/score/mean?", "which changed more?"), "critic/vf_loss"),
    ],
)
def test_which_of_the_metrics_told_moved_more_is_named(turns: tuple[str, ...], metric: str) -> None:
    said = first_line(conversation(RUN, *turns))
    assert f"`{metric}`" in said[: said.index("`", said.index("`") + 1) + 1]


def test_same_metrics_at_another_step_are_all_told() -> None:
    answer = conversation(RUN, "entropy at step 10", "and vf_loss?", "score too", "same three at 30")
    assert answer.slots.steps.values == (30,)
    assert {"actor/entropy", "critic/vf_loss", "critic/score/mean"} <= set(answer.slots.metrics)


@pytest.mark.parametrize(
    ("turns", "first", "last"),
    [
        (("mean score over the last 10 steps", "and before that 10"), 21, 30),
        (("score 最后 5 步的平均", "再往前 5 步呢"), 31, 35),
    ],
)
def test_the_part_before_has_as_many_steps(turns: tuple[str, ...], first: int, last: int) -> None:
    answer = conversation(RUN, *turns)
    assert answer.slots.steps.values == (first, last)
    assert holds(answer, sum(0.2 + 0.01 * s for s in range(first, last + 1)) / (last - first + 1))


@pytest.mark.parametrize(
    ("turns", "seconds"),
    [
        (("timing_s/step at step 10", "times 100, in hours?"), 10000.0),
        (("第 10 步花了多少秒", "乘以 36 一共几分钟"), 3600.0),
        (("timing_s/gen at step 30", "in minutes please"), 90.0),
    ],
)
def test_what_was_told_times_a_number_or_in_another_unit(turns: tuple[str, ...], seconds: float) -> None:
    answer = conversation(RUN, *turns)
    assert any(isinstance(f.value, float) and abs(f.value - seconds) < 1e-6 for f in answer.facts)
    assert any(unit in first_line(answer) for unit in (" h", "分钟", " min"))


def test_the_validation_before_is_that_of_the_metric() -> None:
    answer = conversation(RUN, "val at 30?", "上一个 val 呢")
    assert answer.slots.steps.values == (20,)


def test_highest_after_a_comparison_of_two_steps_is_of_the_run() -> None:
    answer = conversation(RUN, "entropy at step 20 and 40", "and the highest?")
    assert holds(answer, 3.4)


@pytest.mark.parametrize(
    "text",
    ["why is it higher than the score", "how is it going", "what about step 30", "which metrics rose", "它正常吗"],
)
def test_asked_gives_nothing_for_other_follow_ups(text: str) -> None:
    found = asked(text)
    assert found is None or found.kind not in {"times", "unit", "between"}


def test_state_keeps_what_was_told_through_json() -> None:
    _, state = answerer().ask("entropy at step 10", [RUN])
    _, state = answerer().ask("and at step 20", [RUN], state=state)
    assert [one.steps for one in state.cells] == [(10,), (20,)]
    assert state_from_json(state_to_json(state), lambda _: None).cells == state.cells
