"""What a run cost and worked off, and what of it the log does not imply, put to runs of which all is known."""

from __future__ import annotations

import math

import pytest

from assistant.model import Run
from tests.analysis.support import run_of, training_step
from tests.ask.computed_support import ask, has

STEPS = range(1, 13)


def _run() -> Run:
    return run_of({step: training_step(step) for step in STEPS})


def _seconds() -> float:
    return math.fsum(float(training_step(step)["timing_s/step"]) for step in STEPS)


def _rows() -> Run:
    """What HF's Trainer prints: no step, ten rows an epoch, its own rate and time at the end."""
    from assistant.parsing import parse_text

    lines = [str({"loss": 2 - 0.03 * n, "grad_norm": 1.0 + 0.01 * (n % 3), "epoch": n / 10}) for n in range(1, 31)]
    lines.append(str({"train_runtime": 3000.0, "train_samples_per_second": 20.0, "epoch": 3.0}))
    (run,) = parse_text("\n".join(lines) + "\n").runs
    return run


@pytest.mark.parametrize(
    "question",
    [
        "how many GPU hours did this take?",
        "total gpu-hours so far",
        "GPU 小时一共多少",
        "花了多少卡时",
        "total GPU 小时",
    ],
)
def test_gpu_hours_are_gpus_times_the_step_times(question: str) -> None:
    answer = ask(question, _run())
    (gpus,) = {fact.value for fact in answer.facts if fact.name == "n_gpus"}
    hours = next(fact.value for fact in answer.facts if fact.name == "gpu_hours")
    assert hours == pytest.approx(float(gpus) * _seconds() / 3600)
    has(answer, f"{hours:.1f}")
    assert (answer.intent, answer.verdict.code) == ("derive", "answered")


@pytest.mark.parametrize("question", ["gpu hours?", "一共多少卡时"])
def test_gpu_hours_without_gpus_are_said_to_be_unknown_beside_the_time(question: str) -> None:
    bare = run_of({step: {"timing_s/step": 100.0, "loss": 1.0 / step} for step in STEPS})
    answer = ask(question, bare)
    assert answer.answer.lstrip("*").startswith(("GPU hours cannot be told", "GPU 小时算不出来"))
    has(answer, "1,200")
    assert not any(fact.name == "gpu_hours" for fact in answer.facts)


@pytest.mark.parametrize(
    "question", ["step 5 一共采样了多少条回答", "how many rollouts were generated in total at step 5"]
)
def test_samples_of_one_step_are_its_batch_and_no_sum(question: str) -> None:
    answer = ask(question, _run())
    batch = next(fact.value for fact in answer.facts if fact.name == "trajectories_per_step" and fact.step == 5)
    has(answer, f"{batch:,}")
    assert not any("× steps" in (fact.name or "") for fact in answer.facts)


@pytest.mark.parametrize("question", ["samples processed in total?", "一共处理了多少条样本"])
def test_samples_of_a_trainer_are_its_rate_times_its_time(question: str) -> None:
    has(ask(question, _rows()), "60,000")


@pytest.mark.parametrize("question", ["samples processed in total?", "一共处理了多少条样本"])
def test_samples_that_nothing_implies_are_said_to_be_unknown(question: str) -> None:
    answer = ask(question, run_of({step: {"critic/score/mean": 0.1 * step} for step in STEPS}))
    assert (answer.intent, answer.verdict.code) == ("derive", "no_data")


@pytest.mark.parametrize("question", ["how many steps per epoch?", "一个 epoch 多少步"])
def test_steps_of_an_epoch_where_the_log_prints_none_are_rows(question: str) -> None:
    answer = ask(question, _rows())
    has(answer, "10")
    assert "logging_steps" in answer.answer
    assert answer.verdict.code == "answered"


@pytest.mark.parametrize("question", ["how many gradient steps is one logged row?", "一条记录是多少步"])
def test_steps_of_a_row_are_said_not_to_be_in_the_log(question: str) -> None:
    answer = ask(question, _rows())
    assert (answer.intent, answer.verdict.code) == ("derive", "no_data")
    assert "logging_steps" in answer.answer
    assert "grad_norm" not in answer.answer


@pytest.mark.parametrize("question", ["Which cluster size do these numbers imply?", "集群规模是多少"])
def test_cluster_size_is_the_number_of_gpus(question: str) -> None:
    answer = ask(question, _run())
    assert answer.intent == "derive"
    assert any(fact.name == "n_gpus" for fact in answer.facts)


@pytest.mark.parametrize(
    "question",
    ["每张卡每秒多少 token，整个集群呢", "tokens/s per GPU and for the whole cluster", "throughput across all GPUs"],
)
def test_throughput_of_the_cluster_stands_beside_that_of_a_gpu(question: str) -> None:
    answer = ask(question, _run())
    rate = next(fact for fact in answer.facts if fact.name == "cluster_throughput")
    has(answer, f"{rate.value:,.0f}")


@pytest.mark.parametrize("question", ["平均每步吞吐 tokens/s", "平均吞吐是多少 tokens/s"])
def test_tokens_per_second_are_no_tokens(question: str) -> None:
    assert ask(question, _run()).slots.metrics == ("perf/throughput",)


@pytest.mark.parametrize("question", ["number of responses per prompt", "how many responses per prompt?"])
def test_responses_that_are_counted_name_no_length(question: str) -> None:
    assert "response_length/mean` " not in ask(question, _run()).answer.replace("response_length/mean`,", "")


@pytest.mark.parametrize(
    "question", ["每步更新几次，是 off-policy 吗（mini batch 数）", "how many mini-batches per step, is it off-policy?"]
)
def test_updates_of_a_step_are_said_not_to_be_in_the_log(question: str) -> None:
    assert "ppo_mini_batch_size" in ask(question, _run()).answer


@pytest.mark.parametrize("question", ["is it an 80GB card?", "显存 80G 的卡吗，什么型号", "which GPUs, 80GB ones?"])
def test_card_and_its_memory_are_said_not_to_be_in_the_log(question: str) -> None:
    answer = ask(question, _run())
    assert answer.verdict.code == "no_data"
    assert answer.answer.lstrip("*").startswith(("It cannot be told", "看不出来"))
    has(answer, "76.2")


@pytest.mark.parametrize("question", ["what share of tokens are response tokens", "回答 token 占多少"])
def test_share_of_response_tokens_is_derived(question: str) -> None:
    answer = ask(question, _run())
    share = next(fact.value for fact in answer.facts if fact.name == "response_token_share")
    has(answer, f"{100 * float(share or 0):.1f}%")


@pytest.mark.parametrize("question", ["how many gpus and nodes?", "用了几张卡，几个节点"])
def test_nodes_are_said_not_to_be_in_the_log(question: str) -> None:
    answer = ask(question, _run())
    assert any(fact.name == "n_gpus" for fact in answer.facts)
    has(answer, "日志里没有" if answer.language == "zh" else "not in the log")


@pytest.mark.parametrize(
    "question", ["is the KL penalty in the reward or in the loss?", "KL 加在 reward 里还是 loss 里"]
)
def test_kl_in_the_loss_is_told_beside_that_in_the_reward(question: str) -> None:
    rows = {step: training_step(step) | {"actor/kl_loss": 0.001 * step} for step in STEPS}
    has(ask(question, run_of(rows)), "actor/kl_loss")


@pytest.mark.parametrize("question", ["step 5 整个集群吞吐多少", "tokens per second of the whole cluster at step 5"])
def test_throughput_of_the_cluster_at_a_step(question: str) -> None:
    answer = ask(question, _run())
    rate = next(fact for fact in answer.facts if fact.name == "cluster_throughput" and fact.step == 5)
    has(answer, f"{rate.value:,.0f}")
