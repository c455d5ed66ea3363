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
