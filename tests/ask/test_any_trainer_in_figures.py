"""Times, rates, firsts and gains of logs that no framework's own keys describe, put to runs of which all is known."""

from __future__ import annotations

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has


def _rounds() -> Run:
    """A trainer of one's own: seconds of an iteration that jump, evaluations every fifth, with a count beside them."""
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, 31):
        row: dict[str, Number] = {
            "iter_time_s": (100.0 if step < 15 else 300.0) + step % 4, "mean_reward": 0.5 + 0.002 * (step % 7),
            "left": 0.01 * step, "right": 0.02 * step,
        }  # fmt: skip
        if step % 5 == 0:
            row |= {"eval_combined": 0.7 + 0.001 * step, "eval_format": 0.9, "eval_n_scored": 150}
        table[step] = row
    return run_of(table, framework=None, format="csv")


def _deepspeed() -> Run:
    table: dict[int, dict[str, Number]] = {}
    for step in range(20):
        seconds = 4.0 + (step % 3) / 10 + (3 if step == 4 else 0)
        table[step] = {
            "E2E latency": seconds, "Generate time": 0.6 * seconds, "Training time": 0.35 * seconds,
            "Others": 0.05 * seconds, "CurSamplesPerSec": round(64 / seconds, 2), "act_loss": 0.1,
        }  # fmt: skip
    return run_of(table, framework="DeepSpeed-Chat", format="deepspeed-chat")


def _spiked() -> Run:
    table: dict[int, dict[str, Number]] = {}
    for step in range(20, 1220, 20):
        table[step] = {
            "reward": 0.6 + 0.01 * (step // 20 % 3), "loss": 0.02 + 0.001 * (step // 20 % 4),
            "grad_norm": 1900.0 if step == 800 else 5.0 + step // 20 % 5, "kl": 0.02,
        }  # fmt: skip
    return run_of(table, framework="TRL", format="hf-dict")


@pytest.mark.parametrize("question", ["一共跑了多长时间", "how long did the whole run take?"])
def test_total_time_is_the_sum_of_an_iterations_own_seconds(question: str) -> None:
    has(ask(question, _rounds()), f"{sum((100 if s < 15 else 300) + s % 4 for s in range(1, 31)):,}")


@pytest.mark.parametrize("question", ["did iterations get slower, and by how much?", "iter_time_s 变慢了吗"])
def test_slower_of_a_log_that_times_iterations_alone_is_their_course(question: str) -> None:
    first = ask(question, _rounds()).answer.split("\n")[0]
    assert "`iter_time_s`" in first
    assert "step 15" in first


@pytest.mark.parametrize("question", ["每隔几轮评估一次", "每隔几步评估一次"])
def test_interval_of_evaluations_in_rounds(question: str) -> None:
    answer = ask(question, _rounds())
    assert answer.verdict.code == "answered"
    assert answer.answer.lstrip("*").startswith("每 5 步")


@pytest.mark.parametrize("question", ["How is eval doing?", "eval 怎么样"])
def test_evaluations_are_told_without_their_counts(question: str) -> None:
    answer = ask(question, _rounds())
    assert "eval_combined" in answer.slots.metrics
    assert "eval_n_scored" not in answer.slots.metrics


@pytest.mark.parametrize("question", ["left 和 right 哪个先到 0.2", "which reaches 0.2 first, left or right?"])
def test_first_of_two_to_a_value_goes_by_that_value(question: str) -> None:
    first = ask(question, _rounds()).answer.split("\n")[0]
    assert first.lstrip("*").startswith("`right`")
    assert "step 10" in first
    assert "step 20" in first


@pytest.mark.parametrize("question", ["slowest step?", "最慢的是哪一步"])
def test_slowest_step_where_the_whole_has_another_name(question: str) -> None:
    first = ask(question, _deepspeed()).answer.split("\n")[0]
    assert "E2E latency" in first
    assert "step 4" in first


@pytest.mark.parametrize("question", ["batch size 多大", "每步多少条样本", "how big is the batch?"])
def test_batch_is_the_rate_times_the_seconds(question: str) -> None:
    answer = ask(question, _deepspeed())
    assert answer.verdict.code == "answered"
    has(answer, "64")


@pytest.mark.parametrize("question", ["what happened around step 800", "step 800 左右发生了什么"])
def test_spike_within_a_stretch_is_told_first(question: str) -> None:
    first = ask(question, _spiked()).answer.split("\n")[0]
    assert "grad_norm" in first
    assert "1,900" in first


@pytest.mark.parametrize(
    ("question", "yes"), [("loss 还在降吗", True), ("is loss still falling?", True), ("loss 还在升吗", False)]
)
def test_still_is_answered_of_the_latest_values(question: str, yes: bool) -> None:
    falling = run_of({s: {"loss": 3 - 0.02 * s + 0.01 * (s % 3)} for s in range(1, 61)}, framework=None, format="csv")
    assert ask(question, falling).answer.lstrip("*").startswith(("是的", "Yes")) is yes


@pytest.mark.parametrize("question", ["哪个 benchmark 提升最多", "which benchmark improved most?"])
def test_benchmark_that_gained_most_is_told_by_its_gain(question: str) -> None:
    table: dict[int, dict[str, Number]] = {}
    for step in range(0, 60, 10):
        table[step] = {
            "val-core/aime/acc/mean@4": 0.2 + 0.001 * step, "val-core/gsm8k/acc/mean@4": 0.6 + 0.004 * step,
            "critic/score/mean": 0.1,
        }  # fmt: skip
    first = ask(question, run_of(table)).answer.split("\n")[0]
    assert "gsm8k" in first
    assert "20.0" in first


@pytest.mark.parametrize("question", ["每秒多少样本", "samples per second?", "train 用了多久，每秒多少样本"])
def test_rate_of_samples_is_the_trainers_own(question: str) -> None:
    from assistant.parsing import parse_text

    lines = [str({"loss": 2 - 0.03 * n, "epoch": n / 10}) for n in range(1, 31)]
    lines.append(str({"train_runtime": 3000.0, "train_samples_per_second": 20.5, "epoch": 3.0}))
    (run,) = parse_text("\n".join(lines) + "\n").runs
    has(ask(question, run), "20.5", "3,000")
