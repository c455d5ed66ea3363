"""Where time goes, asked of parts: two stages, the tools, the slowest trajectory, all the time, before and after."""

from __future__ import annotations

import math

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of, training_step
from tests.ask.computed_support import ask, has

STEPS = range(1, 25)
SLOW = 13
LOOP = "timing_s/agent_loop/"


def _step(step: int) -> dict[str, Number]:
    """A step whose trajectories wait for tools ever longer from one step on; a validation every sixth."""
    row = training_step(step)
    tools = 4.0 if step < SLOW else 300.0
    own = float(row[f"{LOOP}generate_sequences/mean"])
    row["timing_s/gen"] = float(row["timing_s/gen"]) + 1.5 * tools
    row["timing_s/step"] = float(row["timing_s/step"]) + 1.5 * tools
    row["timing_s/update_critic"] = 50.0 + step
    row["timing_s/step"] = float(row["timing_s/step"]) + 50.0 + step
    row |= {f"{LOOP}tool_calls/mean": tools, f"{LOOP}tool_calls/max": 2 * tools}
    row |= {f"{LOOP}slowest/generate_sequences": own + 100, f"{LOOP}slowest/tool_calls": 2 * tools}
    row |= {f"{LOOP}slowest/prompt_length": 300 + step, f"{LOOP}slowest/response_length": 9000 + step}
    if step % 6 == 0:
        row["timing_s/testing"] = 700.0
        row["val-core/math500/acc/mean@1"] = 0.4 + 0.001 * step
    return row


def _run() -> Run:
    return run_of({step: _step(step) for step in STEPS})


def _mean(metric: str) -> float:
    return math.fsum(float(_step(step)[metric]) for step in STEPS) / len(STEPS)


def _roll(step: int, before: int | None) -> dict[str, Number]:
    """A row of ROLL's pipeline, which prints the whole time of a step in the row of the next."""

    def generate(at: int) -> float:
        return 60.0 + 7 * (at % 5)

    row: dict[str, Number] = {
        "time/step_generate": generate(step), "time/step_train": 5.0, "time/step_model_update": 2.0,
        "time/step_total": 0.0 if before is None else generate(before) + 7.0,
        "scheduler/math/time/generate/mean": 20.0, "scheduler/math/time/generate/max": generate(step) - 1,
        "critic/score/mean": 0.4 + 0.01 * step, "system/batch_size": 512,
    }  # fmt: skip
    return row


def _shifted() -> Run:
    rows = {step: _roll(step, None if step == 0 else step - 1) for step in range(20)}
    return run_of(rows, framework="ROLL", format="roll")


@pytest.mark.parametrize(
    "question",
    [
        "update_critic vs update_actor 哪个慢",
        "update_actor 和 update_critic 哪个更花时间",
        "which takes longer, update_critic or update_actor?",
    ],
)
def test_two_stages_are_set_against_each_other(question: str) -> None:
    answer = ask(question, _run())
    first = answer.answer.split("\n")[0]
    assert "update_actor` 更久" in first or "update_actor` takes longer" in first
    assert "timing_s/gen" not in first
    has(answer, f"{_mean('timing_s/update_actor'):.0f}", f"{_mean('timing_s/update_critic'):.1f}")


@pytest.mark.parametrize("question", ["瓶颈在哪，工具还是生成", "is it the tools or generation that takes longer?"])
def test_tools_are_set_against_generation_by_a_trajectorys_own_time(question: str) -> None:
    answer = ask(question, _run())
    assert answer.answer.lstrip("*").startswith(("生成更久", "Generation takes longer"))
    has(answer, f"{_mean(LOOP + 'tool_calls/mean'):.0f}", f"{_mean(LOOP + 'generate_sequences/mean'):.0f}")


@pytest.mark.parametrize(
    "question", ["step 20 工具和生成哪个更花时间", "at step 20, which takes longer, tools or generation?"]
)
def test_tools_are_set_against_generation_at_the_step_named(question: str) -> None:
    answer = ask(question, _run())
    assert answer.answer.lstrip("*").startswith(("工具更久", "The tools take longer"))
    has(answer, "300", "step 20")


@pytest.mark.parametrize("question", ["tool calls 占 gen 的多少", "what share of generation are tool calls"])
def test_share_of_tools_in_generation_is_of_their_time_and_not_their_number(question: str) -> None:
    counted = run_of({step: _step(step) | {"tool_call_counts/mean": 3.0} for step in STEPS})
    assert "tool_call_counts" not in ask(question, counted).answer


@pytest.mark.parametrize(
    "question",
    [f"why did steps get slower after step {SLOW}", f"为什么 {SLOW} 步以后变慢了", f"why slower since step {SLOW}"],
)
def test_slower_after_a_step_sets_all_after_it_against_all_before(question: str) -> None:
    first = ask(question, _run()).answer.split("\n")[0]
    assert "Yes, slower" in first or "确实变慢了" in first
    assert f"{SLOW}–{max(STEPS)}" in first
    assert "tools" in first or "工具" in first
    assert "each token" not in first
    assert "每个 token" not in first


@pytest.mark.parametrize("question", ["steps take longer: which part", "一步越来越久，哪个阶段"])
def test_longer_steps_are_told_by_what_changed(question: str) -> None:
    first = ask(question, _run()).answer.split("\n")[0]
    assert "Yes, slower" in first or "确实变慢了" in first


@pytest.mark.parametrize(
    "question", ["slowest trajectory: how long and how many tokens", "最慢的那条轨迹用了多久，多少 token"]
)
def test_slowest_trajectory_is_told_with_its_tokens(question: str) -> None:
    answer = ask(question, _run())
    has(answer, f"{float(_step(24)[LOOP + 'slowest/generate_sequences']):.0f}", "9,024", "324", "600")
    assert "perf/total_num_tokens" not in answer.answer


@pytest.mark.parametrize("question", ["有没有长尾", "long tail 严重吗", "any stragglers?"])
@pytest.mark.parametrize("made", [_run, _shifted])
def test_tail_is_the_slowest_against_the_mean_trajectory(question: str, made: object) -> None:
    run = made()  # type: ignore[operator]
    longest, mean = (
        f"{LOOP}generate_sequences/max" if made is _run else "scheduler/math/time/generate/max",
        f"{LOOP}generate_sequences/mean" if made is _run else "scheduler/math/time/generate/mean",
    )
    last = run.distinct_steps[-1]
    times = float(run.value(longest, last)) / float(run.value(mean, last))
    first = ask(question, run).answer.split("\n")[0]
    assert f"{times:.2f}" in first


@pytest.mark.parametrize("question", ["generate 占 step 时间多少", "what share of the step is generation"])
def test_share_takes_the_whole_time_from_the_row_that_prints_it(question: str) -> None:
    first = ask(question, _shifted()).answer.split("\n")[0]
    cell = 60.0 + 7 * (18 % 5)
    assert "step 18" in first
    assert f"{100 * cell / (cell + 7):.1f}%" in first


@pytest.mark.parametrize("question", ["validation time as a share of total run time", "验证占总时长多少"])
def test_share_of_all_the_time_counts_what_lies_beside_the_steps(question: str) -> None:
    steps = math.fsum(float(_step(step)["timing_s/step"]) for step in STEPS)
    has(ask(question, _run()), f"{100 * 2800 / (2800 + steps):.1f}%")


@pytest.mark.parametrize(
    "question",
    [
        "step 20 的 update_critic 多少秒？比 step 5 慢几倍",
        "update_critic at step 20? how many times slower than step 5?",
    ],
)
def test_second_question_sets_the_value_told_against_another_step(question: str) -> None:
    answer = ask(question, _run())
    has(answer, f"{70 / 55:.2f}", "70", "55")
    assert "timing_s/gen" not in answer.answer


@pytest.mark.parametrize(
    "question", ["update_critic takes long 吗", "does update_critic take long?", "update_critic 很耗时吗"]
)
def test_whether_a_stage_takes_long_is_its_share(question: str) -> None:
    answer = ask(question, _run())
    last = _step(max(STEPS))
    share = 100 * float(last["timing_s/update_critic"]) / float(last["timing_s/step"])
    assert f"{share:.2f}" in answer.answer.split("\n")[0]
    assert set(answer.slots.metrics) == {"timing_s/update_critic"}


@pytest.mark.parametrize(
    "question",
    ["critic update 花的时间多吗", "what fraction of a step is the critic's update", "critic 更新占一步多少"],
)
def test_one_stage_meant_in_words_is_told_by_its_share(question: str) -> None:
    answer = ask(question, _run())
    last = _step(max(STEPS))
    share = 100 * float(last["timing_s/update_critic"]) / float(last["timing_s/step"])
    assert f"{share:.2f}" in answer.answer.split("\n")[0]
    assert set(answer.slots.metrics) == {"timing_s/update_critic"}


@pytest.mark.parametrize(
    "question", ["哪些 step 特别慢", "which steps are unusually slow?", "有没有特别慢的步，哪些步很慢"]
)
def test_slow_steps_are_told_beside_the_median(question: str) -> None:
    table = {step: dict(_step(step)) for step in STEPS}
    table[7]["timing_s/step"] = 4321.0
    first = ask(question, run_of(table)).answer.split("\n")[0]
    assert "step 7" in first
    assert "4,321" in first


@pytest.mark.parametrize("question", ["step 20 为啥要 1000 多秒", "第 20 步怎么那么久"])
def test_why_a_step_takes_so_long_is_where_its_time_goes(question: str) -> None:
    answer = ask(question, _run())
    assert answer.intent == "bottleneck"
    assert answer.slots.steps.values == (20,)


@pytest.mark.parametrize("question", ["finish time if we train to 100 steps", "completion time at 100 steps?"])
def test_finish_time_is_what_is_left(question: str) -> None:
    answer = ask(question, _run())
    assert answer.intent == "forecast"
    assert "timing_s/gen" not in answer.slots.metrics
