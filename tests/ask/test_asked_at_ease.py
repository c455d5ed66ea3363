"""Stories before a question, extremes on a side, totals of a part and of each run, families, penalties, points."""

from __future__ import annotations

import math

import pytest

from assistant.ask.story import without_story
from assistant.model import Answer
from tests.analysis.support import run_of

from .support import answerer

N = 40
CLIP = {s: 0.01 if s < 25 else round(0.2 + 0.01 * (s * 3 % 7), 4) for s in range(1, N + 1)}
ACC = {s: round(0.4 + 0.006 * s - (0.1 if s > 30 else 0.0), 4) for s in range(5, N + 1, 5)}
ROWS = {
    s: {
        "response_length/mean": 500.0 + 6.0 * s, "response_length/clip_ratio": CLIP[s], "timing_s/step": 50.0 + s,
        "timing_s/gen": 30.0 + s, "timing_s/agent_loop/tool_calls/mean": 1.0 + 0.01 * (s * 7 % 11),
        "num_turns/mean": 4.0 + 0.1 * (s % 5), "critic/score/mean": 0.3 + 0.01 * s, "actor/entropy": 0.6 - 0.01 * s,
        "critic/grad_norm": 9.0 + 0.1 * (s * 5 % 9), "actor/grad_norm": 0.4 + 0.01 * (s % 4),
        "perf/cpu_memory_used_gb": 100.0 + 5.0 * s,
    } | ({"val-core/math500/acc/mean@4": ACC[s]} if s in ACC else {})
    for s in range(1, N + 1)
}  # fmt: skip
RUN = run_of(ROWS)
BROKEN = run_of({s: row | ({"actor/grad_norm": math.nan} if s >= 26 else {}) for s, row in ROWS.items()})


def last(*turns: str, runs: list | None = None) -> Answer:  # type: ignore[type-arg]
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, runs or [RUN], state=state)
    return made


def values(made: Answer) -> set[float]:
    return {round(f.value, 4) for f in made.facts if isinstance(f.value, (int, float))}


def slots(made: Answer) -> dict[str, object]:
    return dict(made.to_json()["slots"])


@pytest.mark.parametrize(
    "story",
    [
        "我昨天把上限从 4k 改成 2k 之后跑的这个。",
        "刚接手这个任务，老板说奖励刷满了。",
        "同事上周换了数据，前面都好好的。",
    ],
)
@pytest.mark.parametrize(
    ("question", "metric"),
    [("现在截断率多少？", "response_length/clip_ratio"), ("最后一步的熵多少？", "actor/entropy")],
)
def test_a_story_before_a_question_is_no_part_of_it(story: str, question: str, metric: str) -> None:
    alone, told = last(question), last(story + question)
    assert told.intent == alone.intent == "lookup"
    assert metric in slots(told)["metrics"]  # type: ignore[operator]
    assert told.verdict.summary == alone.verdict.summary


@pytest.mark.parametrize(
    "text",
    [
        "我昨天把学习率调小了，这样合理吗？", "奖励从 0.2 涨到 0.6。熵呢？", "我把 batch 加倍了。为什么奖励掉了？",
        "第 20 步截断率多少？", "我们用的是 GRPO。", "最后一步的熵多少",
    ],
)  # fmt: skip
def test_what_a_question_leans_on_is_kept(text: str) -> None:
    assert without_story(text) == text


@pytest.mark.parametrize(
    ("question", "step", "side"),
    [
        ("得分最低是在第 20 步之前还是之后", 1, "之前"), ("熵最小值在 step 30 之后还是之前", N, "之后"),
        ("did response_length/mean peak before or after step 12", N, "After"),
        ("验证最好成绩出现在第 35 步之前还是之后", 30, "之前"),
    ],
)  # fmt: skip
def test_the_side_of_a_step_on_which_an_extreme_lies(question: str, step: int, side: str) -> None:
    made = last(question)
    assert side in made.verdict.summary.split("：")[0].split(":")[0]
    assert str(step) in made.verdict.summary
    assert made.intent == "lookup"


@pytest.mark.parametrize("question", ["出 NaN 之前一共跑了多久", "从第 1 步到出 NaN 为止跑了多久"])
def test_time_until_a_break_is_of_the_steps_before_it(question: str) -> None:
    made = last(question, runs=[BROKEN])
    assert float(sum(50 + s for s in range(1, 26))) in values(made)
    assert float(sum(50 + s for s in range(1, N + 1))) not in values(made)


@pytest.mark.parametrize("question", ["哪个训得更久", "谁跑得更久", "which run has the longer total time"])
def test_total_times_are_told_of_each_run(question: str) -> None:
    longer = run_of({s: {"timing_s/step": 80.0, "critic/score/mean": 0.1 * s} for s in range(1, 61)})
    made = last(question, runs=[RUN, longer])
    assert {float(sum(50 + s for s in range(1, N + 1))), 4800.0} <= values(made)


@pytest.mark.parametrize("asked", ["是几倍", "翻了几倍", "差几倍"])
def test_a_factor_is_of_the_two_steps_asked_about(asked: str) -> None:
    made = last("第 10 步主机内存多少", "第 30 步呢", asked)
    ratio = ROWS[30]["perf/cpu_memory_used_gb"] / ROWS[10]["perf/cpu_memory_used_gb"]
    assert any(abs(v - ratio) < 1e-3 for v in values(made))
    assert slots(made)["steps"] == {"kind": "pair", "values": [10, 30]}


@pytest.mark.parametrize("asked", ["哪个高", "谁大", "which one is higher"])
def test_which_is_higher_after_each_run_was_asked(asked: str) -> None:
    other = run_of({s: row | {"actor/entropy": 0.9} for s, row in ROWS.items()})
    made = last("A 最后的熵", "B 的呢", asked, runs=[RUN, other])
    assert {round(0.6 - 0.01 * N, 4), 0.9} <= values(made)


@pytest.mark.parametrize("step", [7, 19])
@pytest.mark.parametrize(
    ("tail", "metric"),
    [("等工具平均几秒", "timing_s/agent_loop/tool_calls/mean"), ("回答平均多长", "response_length/mean")],
)
def test_a_mean_behind_a_step_is_of_that_step(step: int, tail: str, metric: str) -> None:
    made = last(f"第 {step} 步 gen 多少秒、{tail}")
    assert {(f.metric, f.step) for f in made.facts if f.kind == "value"} >= {("timing_s/gen", step), (metric, step)}


@pytest.mark.parametrize("question", ["验证能到 80 分吗", "再训训 math500 能上 80 分不"])
def test_points_of_an_examination_are_no_minutes(question: str) -> None:
    made = last(question)
    assert made.intent == "forecast"
    assert "80.0%" in made.answer
    assert "不可能取这个值" not in made.answer


@pytest.mark.parametrize("name", ["长度惩罚", "超长惩罚", "重复惩罚"])
def test_a_penalty_that_is_not_logged_is_no_length(name: str) -> None:
    made = last(f"{name}项第 30 步是几")
    assert made.verdict.code == "no_data"
    assert not values(made)


@pytest.mark.parametrize("setting", ["entropy_coeff", "熵系数"])
def test_the_coefficient_of_the_entropy_is_a_setting(setting: str) -> None:
    made = last(f"{setting} 设多少")
    assert (made.intent, made.verdict.code) == ("lookup", "no_data")


@pytest.mark.parametrize("words", ["把这份日志翻译成人话", "给我说成大白话"])
def test_plain_words_are_no_translation(words: str) -> None:
    assert last(words).intent in {"explain", "health"}


@pytest.mark.parametrize("asked", ["num_turns/mean 的均值分别是多少", "轮数均值各是多少"])
def test_each_mean_is_no_mean_of_all(asked: str) -> None:
    assert slots(last(asked))["op"] is None


def test_an_operation_goes_on_where_a_step_is_left_out() -> None:
    made = last("主机内存最大多少", "除了最后一步呢")
    assert slots(made)["op"] == "max"
    assert ROWS[N - 1]["perf/cpu_memory_used_gb"] in values(made)
    assert f"step {N - 1}" in made.verdict.summary


@pytest.mark.parametrize("question", ["critic 的预测是在变准吗", "价值网络的预测越来越准了吗"])
def test_what_a_critic_predicts_is_no_forecast(question: str) -> None:
    learnt = run_of({s: {"critic/vf_explained_var": 1 - 1 / s, "critic/vf_loss": 1.0 / s} for s in range(1, 41)})
    made = last(question, runs=[learnt])
    assert made.intent != "forecast"
    assert "critic/vf_explained_var" in slots(made)["metrics"]  # type: ignore[operator]


@pytest.mark.parametrize("question", ["loss 到最后都没降", "loss 全程没降"])
def test_a_plain_statement_that_nothing_moved_is_checked(question: str) -> None:
    falling = run_of({s: {"loss": 2.0 - 0.03 * s, "grad_norm": 1.0} for s in range(1, 41)})
    made = last(question, runs=[falling])
    assert {2.0 - 0.03, 2.0 - 0.03 * 40} <= {round(v, 2) for v in values(made)}
    assert made.intent in {"explain", "health", "trend"}


def test_best_answers_far_above_the_mean_are_nothing_wrong() -> None:
    made = last(
        "best@4 和 mean@4 差这么多正常吗",
        runs=[run_of({s: {"val-core/m/acc/mean@4": 0.3, "val-core/m/acc/best@4/mean": 0.6} for s in (0, 5, 10)})],
    )
    assert made.intent == "define"
    assert "不算异常" in made.answer
