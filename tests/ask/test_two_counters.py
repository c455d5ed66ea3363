"""slime counts rollouts and train steps apart: questions about either are answered from the one log."""

from __future__ import annotations

import re

import pytest

from assistant.service.facade import Material, Source, service
from tests.ask.support import answerer


def log(per: int, rollouts: int = 40) -> str:
    lines = []
    entropy = [0.5 - 0.004 * s / per for s in range(rollouts * per)]
    for n in range(rollouts):
        lines.append(
            f"rollout {n}: {{'rollout/raw_reward': {0.2 + 0.01 * n + 0.004 * (n % 3)}, 'rollout/truncated': 0.05}}"
        )
        lines.append(f"perf {n}: {{'perf/rollout_time': {30 + n % 2}.0, 'perf/train_time': 20.0}}")
        lines += [
            f"step {s}: {{'train/loss': 0.01, 'train/entropy_loss': {entropy[s]}, 'train/kl_loss': {0.001 * s}}}"
            for s in range(n * per, n * per + per)
        ]
        if n % 10 == 9:
            lines.append(f"eval {n}: {{'eval/aime': {0.2 + 0.002 * n}, 'eval/aime-truncated_ratio': 0.125}}")
    return "\n".join(lines) + "\n"


def material(per: int) -> Material:
    return service().read([Source("train.log", log(per))])


@pytest.mark.parametrize("per", [1, 2])
@pytest.mark.parametrize(
    ("question", "key", "code"),
    [
        ("raw reward 涨了吗", "rollout/raw_reward", "rising"),
        ("is the entropy falling?", "train/entropy_loss", "falling"),
        ("how long does a rollout take?", "perf/rollout_time", "answered"),
        ("KL 涨到多少了", "train/kl_loss", "answered"),
        ("验证最后多少", "eval/aime", "answered"),
    ],
)
def test_a_question_about_either_counter_finds_its_metric(per: int, question: str, key: str, code: str) -> None:
    answer, _ = answerer().ask(question, material(per).runs)
    assert list(answer.slots.metrics)[:1] == [key]
    assert answer.verdict.code == code


@pytest.mark.parametrize("per", [1, 2])
def test_the_whole_run_is_one_report(per: int) -> None:
    runs = material(per).runs
    assert [run.name for run in runs] == ["train.log"]
    answer, _ = answerer().ask("is it healthy?", runs)
    assert answer.verdict.code == "healthy"
    assert "`rollout/raw_reward`" in answer.answer
    assert "`train/kl_loss`" in answer.answer


def test_a_validation_that_the_log_lacks_is_said_to_be_lacking() -> None:
    rows = "\n".join(f"rollout {n}: {{'rollout/raw_reward': {0.2 + 0.01 * n}}}" for n in range(12))
    runs = service().read([Source("train.log", rows)]).runs
    for question in ("验证有提升吗", "is validation improving?", "does the eval score go up?"):
        answer, _ = answerer().ask(question, runs)
        assert answer.verdict.code == "no_data"
        assert not re.search(r"0\.\d", answer.verdict.summary)  # no value of the training's in its place
