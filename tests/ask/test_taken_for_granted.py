"""What a question takes to be so is looked up before it is answered: falls from a peak, counts, sizes, steps."""

from __future__ import annotations

import pytest

from assistant.ask.answer_confirmed import claim_in
from assistant.model import Answer, Run
from tests.analysis.support import run_of, training_step

from .support import answerer

STEPS = 60
SCORE, VAL, LENGTH = "critic/score/mean", "val-core/math500/acc/mean@1", "response_length/mean"
CALLS, TOOLS, SLOWEST = (
    "tool_call_counts/mean",
    "timing_s/agent_loop/tool_calls/mean",
    "timing_s/agent_loop/tool_calls/max",
)


def run() -> Run:
    """A score and a validation that climb to step 30 and lie near zero at the end, and tools that take ever longer
    while they are called as often as before."""
    table = {}
    for step in range(1, STEPS + 1):
        wobble = 0.004 * (step % 3 - 1)
        level = 0.3 + 0.013 * step if step <= STEPS // 2 else max(0.05, 0.69 - 0.04 * (step - 30))
        table[step] = {
            **training_step(step), SCORE: level + wobble, "critic/rewards/mean": level + wobble,
            "critic/score/max": 1.0, "critic/score/min": 0.0, LENGTH: 400.0 + 0.4 * step,
            CALLS: 2.5 + 5 * wobble, "tool_call_counts/max": 7.0, "tool_call_counts/min": 0.0,
            TOOLS: 1.0 + 0.5 * step, SLOWEST: 4.0 + step, "num_turns/mean": 6.5, "num_turns/max": 16.0,
            "timing_s/gen": 40.0 + step, "timing_s/update_actor": 10.0, "timing_s/step": 55.0 + step,
        }  # fmt: skip
        if step % 5 == 0:
            table[step][VAL] = level
    return run_of(table)


def ask(question: str, log: Run | None = None) -> Answer:
    return answerer().ask(question, (log or run(),))[0]


def first(question: str, log: Run | None = None) -> str:
    return ask(question, log).answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("why did the score fall so much", ["0.68", "0.0"]),
        ("奖励得分为什么跌成这样", ["0.68", "0.0"]),
        ("why did the validation accuracy drop", ["69", "5"]),
        ("验证准确率怎么掉了这么多", ["69", "5"]),
    ],
)
def test_fall_from_a_peak_is_not_denied(question: str, values: list[str]) -> None:
    said = first(question)
    assert "does not show" not in said
    assert "没有显示" not in said
    assert all(value in said for value in values)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("are there more tool calls at the end?", CALLS),
        ("工具调用变多了吗", CALLS),
        ("fewer tools are called later, right?", CALLS),
        ("most tool calls in one trajectory at step 12", "tool_call_counts/max"),
        ("第 12 步工具调用最多的一条轨迹是几次", "tool_call_counts/max"),
        ("slowest tool call at step 12", SLOWEST),
        ("did any trajectory hit the turn limit at step 12", "num_turns/max"),
        ("第 12 步有轨迹打满轮数上限吗", "num_turns/max"),
    ],
)
def test_counts_times_and_limits_of_tools_are_told_apart(question: str, key: str) -> None:
    assert f"`{key}`" in first(question)


@pytest.mark.parametrize(
    ("question", "denied", "borne_out"),
    [
        ("tool calls 变多了所以 step time 变长，对吗", None, "timing_s/step"),
        ("工具变慢导致 step 变慢了吧", None, "timing_s/step"),
        ("answers got longer so the steps got slower, right?", None, "timing_s/step"),
        ("answers got shorter so the steps got slower, right?", LENGTH, "timing_s/step"),
        ("回答变短了所以每步变慢，对吧", LENGTH, "timing_s/step"),
    ],
)
def test_steps_that_got_slower_are_a_statement_of_their_own(question: str, denied: str | None, borne_out: str) -> None:
    said = first(question)
    assert f"`{borne_out}`" in said
    assert denied is None or said.startswith(("**Only in part", "**只对一部分"))
    assert denied is None or f"`{denied}`" in said


@pytest.mark.parametrize(
    ("text", "factor"),
    [("涨了一半", 1.5), ("rose by half", 1.5), ("跌了一半", 0.5), ("fell by half", 0.5), ("翻了一倍", 2.0)],
)
def test_half_more_and_half_less_are_not_confused(text: str, factor: float) -> None:
    claim = claim_in(text)
    assert claim is not None
    assert claim.factor == pytest.approx(factor)


@pytest.mark.parametrize(
    "question",
    ["the score fell at step 10", "得分在第 10 步跌了", "the score dropped at step 50", "得分在第 50 步掉了"],
)
def test_a_move_at_a_step_is_held_against_that_step(question: str) -> None:
    said = first(question)
    assert not said.startswith(("**So it is", "**与所述一致"))
    assert "step 9" in said or "step 49" in said


@pytest.mark.parametrize(
    "question", ["the score rose at step 10, a 10x increase - is that fine?", "得分涨了十倍，正常吗"]
)
def test_a_size_that_is_wrong_is_denied(question: str) -> None:
    assert first(question).startswith(("**Not so", "**No", "**不是这样", "**不对"))


@pytest.mark.parametrize("question", ["explain step 45", "what happened at step 45", "第 45 步怎么了"])
def test_a_step_is_told_with_what_had_set_in_before(question: str) -> None:
    log = run()
    table = {step: {name: cell.value for name, cell in log.at(step).items()} for step in log.distinct_steps}
    for step, row in table.items():
        row["actor/entropy"] = 0.5 if step < 20 else max(0.002, 0.5 * 0.7 ** (step - 20)) + 0.0001 * (step % 3)
    sick = run_of(table)
    answer = ask(question, sick)
    assert answer.verdict.code in {"warning", "critical"}
    assert ask(question.replace("45", "10"), sick).verdict.code == "healthy"


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("math500 从 0.3 涨到 0.9 了，可以上线吗", "5"),
        ("得分从 0.3 升到 0.9，是好事吗", "0.31"),
        ("回答越来越短，是不是奖励压的", LENGTH),
        ("since the score rose from 0.3 to 0.9, which checkpoint is best?", "0.31"),
        ("回答变长了，说明得分也涨了吧", SCORE),
        ("answers got longer, which shows that the score rose, right?", SCORE),
    ],
)
def test_what_is_taken_for_granted_is_denied_first(question: str, value: str) -> None:
    said = first(question)
    assert said.startswith(("**Not so", "**No", "**Only in part", "**不是这样", "**不对", "**只对一部分"))
    assert value in said


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("写个 brief report", "explain"), ("出一份小结", "explain"), ("解释下这几步", "explain"),
        ("what went on around step 30?", "explain"), ("can this run still be saved?", "advice"),
        ("step time 越来越长，要 early stop 吗", "advice"), ("得分在掉，该早停吗", "advice"),
        ("how many responses per step", "derive"), ("第 12 步有几条 response 撞到 limit", "lookup"),
        ("is a KL term used in the loss?", "lookup"), ("得分为什么变 0", "explain"),
    ],
)  # fmt: skip
def test_ways_to_ask_for_a_report_a_rescue_or_a_size(question: str, intent: str) -> None:
    answer = ask(question)
    assert answer.intent == intent or (intent == "explain" and answer.intent == "health")
    assert answer.verdict.code not in {"unknown_metric", "out_of_scope"}
