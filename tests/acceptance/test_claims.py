"""No answer asserts what careless readings of the log assert."""

from collections.abc import Callable

import pytest

from .claims import FORBIDDEN, asserted
from .support import Answer


def test_answer_any_free_of_forbidden_claims(answer_to: Callable[[str], Answer], asked: str) -> None:
    got = answer_to(asked)
    statements = "\n".join(finding["statement"] for finding in got["findings"])
    assert not asserted(f"{got['answer']}\n{got['verdict']['summary']}\n{statements}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1024 samples", "每步使用 1024 个样本"),
        ("1024 samples", "a batch of 1,024 samples"),
        ("value clipping", "pg_clipfrac_lower is value clipping"),
        ("policy frozen", "The policy is almost frozen."),
        ("policy frozen", "策略几乎冻结"),
        ("collapse", "KL 散度崩溃到 4.6e-7"),
        ("collapse", "ppo_kl collapsed by 97 %"),
        ("per-GPU throughput as the cluster's", "677 tokens/s across 8 workers"),
        ("per-GPU throughput as the cluster's", "集群吞吐 677 tokens/s"),
        ("throughput divided by the GPUs once more", "85 tokens/s per GPU"),
        ("training reward as accuracy", "准确率只有 4.7%"),
        ("training reward as accuracy", "accuracy rose to 15.0 %"),
        ("critic is accurate", "Critic estimates are accurate"),
        ("critic is accurate", "Critic 估计准确"),
        ("std as an error bar", "`std@30` = 0.211 is the error bar"),
        ("std as an error bar", "准确率 23.0% ± 21.1%"),
        ("InstructGPT", "as InstructGPT did"),
        ("learning is slow", "KL 太小，学习速度慢"),
        ("learning is slow", "so learning is too slow"),
    ],
)
def test_claim_asserted_found(name: str, text: str) -> None:
    assert name in asserted(text)


@pytest.mark.parametrize(
    "text",
    [
        "This is not a collapse.",
        "ppo_kl 变小不是崩溃，是抽样噪声",
        "`perf/throughput` 677.4 tokens/s 是每张 GPU 的，集群为 5,419 tokens/s",
        "677 tokens/s per GPU, 5,419 tokens/s for the cluster",
        "677 tokens/s per GPU × 8 = 5,419 tokens/s across the cluster",
        "std@30 不是误差棒",
        "`std@30` is not an error bar.",
        "准确率 mean@30 为 23.0%",
        "没有 critic，谈不上估计准确",
        "ppo_kl 小不说明学习速度慢",
        "If reward and entropy both fall to 0, that would be a collapse.",
    ],
)
def test_claim_denied_or_absent_passes(text: str) -> None:
    assert not asserted(text)


def test_claims_names_unique() -> None:
    assert len({claim.name for claim in FORBIDDEN}) == len(FORBIDDEN)
