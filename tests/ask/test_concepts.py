"""Plain words find the log's own key for a quantity, whatever the trainer calls it."""

from __future__ import annotations

import pytest

from assistant.ask.concepts import concepts, keys_of, spelt_out
from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

KEYS = {
    "minimind": ("Reward", "KL_ref", "Adv Std", "Avg Response Len", "Learning Rate"),
    "deepspeed": ("act_loss", "cri_loss", "average reward score", "E2E latency", "Generate time", "CurSamplesPerSec"),
    "nemo": ("Loss", "Generation KL Error", "Avg Reward", "Mean Generation Length", "Timing/Total step time"),
    "megatron": ("lm loss", "learning rate", "grad norm", "throughput per GPU (TFLOP/s/GPU)", "loss scale"),
    "prime": ("Time", "Mismatch KL", "Grad. Norm", "LR", "Throughput", "Peak Mem.", "Seq. Length"),
    "spinning up": ("AverageEpRet", "EpLen", "MaxEpRet", "StdEpRet"),
    "llm.c": ("loss", "norm", "lr", "ms", "tok/s"),
    "roll": ("actor/pg_loss@sum", "actor/kl_loss@sum", "critic/score/mean", "token/response_length/mean"),
}
ASKED = [
    ("minimind", "KL 现在多大", "KL_ref"),
    ("minimind", "回答长度平均多少", "Avg Response Len"),
    ("minimind", "what is the learning rate at the end?", "Learning Rate"),
    ("deepspeed", "最后一步的 loss 是多少", "act_loss"),
    ("deepspeed", "critic 的 loss 最后多少", "cri_loss"),
    ("deepspeed", "how long does one step take?", "E2E latency"),
    ("deepspeed", "吞吐多少", "CurSamplesPerSec"),
    ("nemo", "KL 现在多大", "Generation KL Error"),
    ("nemo", "回答长度平均多少", "Mean Generation Length"),
    ("nemo", "一步要多久", "Timing/Total step time"),
    ("megatron", "学习率是多少", "learning rate"),
    ("megatron", "what's the throughput at step 5?", "throughput per GPU (TFLOP/s/GPU)"),
    ("megatron", "最后的 loss", "lm loss"),
    ("prime", "显存用了多少", "Peak Mem."),
    ("prime", "how is the grad norm?", "Grad. Norm"),
    ("prime", "回答多长", "Seq. Length"),
    ("spinning up", "reward 涨了吗", "AverageEpRet"),
    ("spinning up", "which step has the highest return?", "AverageEpRet"),
    ("llm.c", "梯度范数多少", "norm"),
    ("llm.c", "一步要多久", "ms"),
    ("roll", "KL 现在多大", "actor/kl_loss@sum"),
]


def made(name: str) -> Run:
    rows = {step: {key: 1.0 + 0.1 * step + at for at, key in enumerate(KEYS[name])} for step in range(1, 13)}
    return run_of(rows, framework=None, format="jsonl")


@pytest.mark.parametrize(("log", "question", "key"), ASKED)
def test_plain_words_find_the_key_of_any_trainer(log: str, question: str, key: str) -> None:
    answer = ask(question, made(log))
    assert list(answer.slots.metrics[:1]) == [key]
    assert f"`{key}`" in answer.answer


@pytest.mark.parametrize(
    ("log", "question", "word"),
    [
        ("spinning up", "KL 现在多大", "KL"),
        ("megatron", "how is the entropy?", "entropy"),
        ("llm.c", "显存用了多少", "显存"),
        ("megatron", "reward 涨了吗", "reward"),
        ("deepspeed", "how is the grad norm?", "grad norm"),
    ],
)
def test_a_quantity_that_the_log_lacks_is_said_to_be_lacking(log: str, question: str, word: str) -> None:
    answer = ask(question, made(log))
    assert word.lower() in answer.verdict.summary.lower()
    assert "没有" in answer.answer or "holds no" in answer.answer


@pytest.mark.parametrize(
    ("concept", "key"),
    [("kl", "kl_coef"), ("reward", "reward_std"), ("length", "prompt_length/mean"), ("loss", "loss scale")],
)
def test_a_name_that_only_shares_a_word_is_not_the_quantity(concept: str, key: str) -> None:
    assert keys_of(concepts()[concept], run_of({1: {key: 1.0}}, framework=None)) == []


def test_a_time_that_runs_on_is_no_step_time() -> None:
    rising = run_of({step: {"Time": 10.0 * step} for step in range(1, 6)}, framework=None)
    assert keys_of(concepts()["step_time"], rising) == []
    own = run_of({step: {"Time": 10.0 + step % 2} for step in range(1, 6)}, framework=None)
    assert keys_of(concepts()["step_time"], own) == ["Time"]


def test_spelt_out_parts_the_words_of_a_key() -> None:
    assert spelt_out("AverageEpRet") == "average ep ret"
    assert spelt_out("train/critic-value_loss") == "train critic value loss"


def test_a_rate_of_no_tokens_is_not_told_in_tokens() -> None:
    for log, question in (("deepspeed", "吞吐多少"), ("megatron", "throughput?")):
        assert "tokens/s" not in ask(question, made(log)).answer


@pytest.mark.parametrize("question", ["学习率是多少", "what is the learning rate?"])
def test_a_unit_in_a_key_is_worked_out(question: str) -> None:
    rows = {step: {"actor/lr(1e-4)": 0.01, "critic/score/mean": 0.1 * step} for step in range(1, 9)}
    answer = ask(question, run_of(rows))
    assert "1e-06" in answer.answer
    assert "0.01" in answer.answer
