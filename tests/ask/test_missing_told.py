"""What a cut line or a log's interval leaves out is said to be missing, with what stands nearest."""

from __future__ import annotations

import pytest

from assistant.model import Answer
from assistant.service import Source, service
from assistant.service.facade import Material
from tests.analysis.support import run_of

from .support import answerer

STEPS = 30
LIMIT = 4096
LONG = " - ".join(f"training/part_{place}:1.0" for place in range(220))


def material(*, every: int = 1) -> Material:
    """A verl log of which every so many lines, the validation among them, end where a console cuts them."""
    lines = [f"step:0 - val-aux/math500/reward/mean@4:-0.2 - {LONG} - val-core/math500/acc/mean@4:0.4"[:LIMIT]]
    for step in range(1, STEPS + 1):
        head = f"step:{step} - actor/entropy:{0.5 - 0.005 * step:.4f} - critic/score/mean:{0.2 + 0.01 * step:.4f}"
        tail = (
            f"timing_s/gen:{20 + step}.0 - timing_s/update_actor:9.0 - timing_s/step:{40 + step}.0"
            f" - perf/throughput:{500 + step}.0"
        )
        lines.append(f"{head} - {LONG} - {tail}"[: LIMIT if step % every == 0 else None])
    return service().read([Source("cut.log", "\n".join(lines))])


def ask(question: str, log: Material) -> Answer:
    return service().explain(log, question).answer


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("step 3 的 tokens/s/gpu？", "perf/throughput"),
        ("tok/s at step 3", "perf/throughput"),
        ("一个训练步要跑多少分钟", "timing_s/step"),
        ("how many seconds for one step", "timing_s/step"),
        ("update actor 几秒", "timing_s/update_actor"),
        ("how long did step 2 take", "timing_s/step"),
    ],
)
def test_metric_that_every_line_lost_is_missing_under_any_name(question: str, key: str) -> None:
    answer = ask(question, material())
    assert answer.verdict.code == "no_data"
    first = answer.answer.split("\n")[0]
    assert f"`{key}`" in first
    assert "截断" in first or "cut" in first


@pytest.mark.parametrize(
    "question", ["val accuracy at step 0", "val-core/math500/acc/mean@4 step 0", "验证 accuracy 在 step 0"]
)
def test_accuracy_behind_a_cut_is_not_replaced_by_the_reward(question: str) -> None:
    answer = ask(question, material())
    assert answer.verdict.code == "no_data"
    assert "-0.2" not in answer.answer


@pytest.mark.parametrize("question", ["mean throughput over the last 10 steps", "最近 10 步平均吞吐"])
def test_last_steps_of_a_cut_log_are_the_runs_and_not_the_values(question: str) -> None:
    first = ask(question, material(every=5)).answer.split("\n")[0]
    held = [500 + step for step in range(21, 31) if step % 5]
    assert f"{sum(held) / len(held):.0f}" in first
    assert "21" in first
    assert "25" in first
    assert "30" in first


@pytest.mark.parametrize(
    ("question", "denied"),
    [("is this log complete?", "Values are missing"), ("which steps were cut?", "Values are missing")],
)
def test_cut_lines_are_told_in_words_that_fit_any_question(question: str, denied: str) -> None:
    assert ask(question, material(every=5)).answer.startswith(f"**{denied}")


@pytest.mark.parametrize("question", ["entropy at step 12?", "第 12 步的熵"])
def test_step_between_two_rows_is_missing_and_its_neighbours_are_told(question: str) -> None:
    log = run_of({step: {"actor/entropy": 0.5 - 0.004 * step, "actor/lr": 1e-6} for step in range(5, 65, 5)})
    answer = answerer().ask(question, (log,))[0]
    assert answer.verdict.code == "no_data"
    assert "step 10" in answer.answer or "steps 10 and 15" in answer.answer
    assert "0.46" in answer.answer
    assert "0.44" in answer.answer


def test_step_after_the_last_has_no_neighbours() -> None:
    log = run_of({step: {"actor/entropy": 0.5} for step in range(1, 20)})
    assert "1 to 19" in answerer().ask("entropy at step 500", (log,))[0].answer


@pytest.mark.parametrize("question", ["step 3 的 entropy 和 throughput", "entropy and throughput at step 3"])
def test_metric_that_every_line_lost_is_named_beside_one_that_is_there(question: str) -> None:
    answer = ask(question, material())
    assert "0.485" in answer.answer
    assert "`perf/throughput`" in answer.answer
    assert "截断" in answer.answer or "cut" in answer.answer


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("was update_actor slower at step 3 than at step 2?", "timing_s/update_actor"),
        ("三步的 gen 耗时分别是多少", "timing_s/gen"),
        ("step 2 和 step 3 的生成时间差多少", "timing_s/gen"),
        ("trend of the step time", "timing_s/step"),
        ("how many tokens in all three steps", "perf/total_num_tokens"),
    ],
)
def test_every_step_that_lost_a_value_is_named_under_the_logs_own_key(question: str, key: str) -> None:
    answer = ask(question, material())
    first = answer.answer.split("\n")[0]
    assert answer.verdict.code == "no_data"
    assert f"`{key}`" in first
    assert "2" in first.replace("step 2 ", "")
    assert "3" in first


@pytest.mark.parametrize(
    "question",
    ["step 6 的 gen 占一步多少", "what share of the step is generation at step 6", "gen time / step time @6"],
)
def test_share_behind_a_cut_is_not_answered_by_another_step(question: str) -> None:
    answer = ask(question, material(every=3))
    assert answer.verdict.code == "no_data"
    assert "缺失" in answer.answer or "missing" in answer.answer


def test_of_two_shares_the_one_behind_a_cut_is_said_to_be_missing() -> None:
    answer = ask("step 6 和 step 7 生成各占多少", material(every=3))
    assert answer.verdict.code == "answered"
    assert "缺失" in answer.answer
    assert "step 7" in answer.answer


def unstaged() -> Material:
    """A trainer's log with one time for a whole step and none for its stages."""
    lines = [
        str({"loss": 0.1 + 0.001 * step, "reward": 0.3 + 0.01 * step, "grad_norm": 0.5,
             "completions/mean_length": 300.0, "step_time": 60.0 + step, "eval_runtime": 9.0})
        for step in range(1, STEPS + 1)
    ]  # fmt: skip
    return service().read([Source("trainer.log", "\n".join(lines))])


@pytest.mark.parametrize(
    "question",
    [
        "生成花了几秒", "rollout 用了几秒", "更新参数那一段花了几秒", "update actor 几秒", "参考模型前向花了多少秒",
        "generation time at row 3", "how many seconds does the actor update take", "工具花了几秒", "权重同步花了几秒",
    ],
)  # fmt: skip
def test_a_stage_that_is_not_timed_is_not_told_as_another_time(question: str) -> None:
    answer = ask(question, unstaged())
    assert answer.verdict.code == "no_data"
    assert not {"step_time", "eval_runtime", "completions/mean_length"} & set(answer.slots.metrics)


@pytest.mark.parametrize(
    "question",
    ["工具调用成功率多少", "tool success rate at step 3", "how many tool calls failed", "工具调用失败了几次"],
)
def test_whether_tools_succeed_is_not_told_as_their_time(question: str) -> None:
    rows = {step: {"actor/entropy": 0.4, "tool_call_counts/mean": 2.0, "timing_s/agent_loop/tool_calls/mean": 3.0}
            for step in range(1, 12)}  # fmt: skip
    answer = answerer().ask(question, (run_of(rows),))[0]
    assert answer.verdict.code == "no_data"


@pytest.mark.parametrize("question", ["KL loss 在 step 5 多少", "kl loss at step 5", "第 5 步的 KL 损失"])
def test_penalty_in_the_reward_is_not_told_as_the_loss(question: str) -> None:
    rows = {step: {"actor/entropy": 0.4, "actor/reward_kl_penalty": 0.01 * step} for step in range(1, 12)}
    answer = answerer().ask(question, (run_of(rows),))[0]
    assert answer.verdict.code == "no_data"


@pytest.mark.parametrize("question", ["what's the entropy and the throughput at step 5?", "step 5 的熵，还有吞吐"])
def test_the_absent_one_of_two_is_said_to_be_absent(question: str) -> None:
    rows = {step: {"actor/entropy": 0.4 + 0.01 * step, "critic/score/mean": 0.1} for step in range(1, 12)}
    answer = answerer().ask(question, (run_of(rows),))[0]
    assert "0.45" in answer.answer
    assert "throughput" in answer.answer or "吞吐" in answer.answer
