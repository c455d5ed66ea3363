"""By which metric a run of any trainer tells whether it learns, and what is said of its steps."""

from __future__ import annotations

from random import Random

import pytest

from assistant.ask import outcomes
from assistant.model import Run
from assistant.parsing import parse_text
from assistant.service.facade import Source, service


def one_run(text: str) -> Run:
    return parse_text(text).runs[0]


def noisy(values: list[float], seed: int = 1) -> list[float]:
    chance = Random(seed)
    return [round(v + chance.uniform(-0.02, 0.02), 3) for v in values]


MLAGENTS = "\n".join(
    f"INFO:mlagents.trainers: run-1: Walker: Step: {1000 * i}. Time Elapsed: {3.5 * i:.3f} s Mean Reward: {r}. "
    "Std of Reward: 0.400. Training."
    for i, r in enumerate(noisy([0.1 * i for i in range(1, 13)]), 1)
)
MLX_GRPO = "\n".join(
    [
        "Iter 1: Val loss -0.010, Val total_rewards_mean 0.300, Val kl 0.000, Val took 20.100s",
        *(
            f"Iter {i}: Train loss 0.{i:03d}, Total rewards mean {r}, Total rewards std 0.100, KL 0.010, "
            "Learning Rate 1.000e-05, It/sec 0.034"
            for i, r in enumerate(noisy([0.3 + 0.05 * i for i in range(12)]), 1)
        ),
    ]
)
FRENCH = "\n".join(
    f"Episode {50 * i}/600 | Reward moyen (100 ep): {r} | Epsilon: {0.9**i:.3f}"
    for i, r in enumerate(noisy([22.6 - 0.8 * i for i in range(12)]), 1)
)
TORCHTUNE = "\n".join(
    f"Step {i} | loss:{v} lr:2e-05 tokens_per_second_per_gpu:400.5"
    for i, v in enumerate(noisy([2.1 - 0.1 * i for i in range(12)]), 1)
)
TABLES = "\n".join(
    f"| % time spent exploring  | 1        |\n| episodes                | {7600 + 100 * i}     |\n"
    f"| mean 100 episode reward | {r}      |\n| steps                   | {5931155 + 78000 * i}  |\n{'-' * 38}"
    for i, r in enumerate(noisy([-21 + i for i in range(8)]))
)
EPOCHS = "\n".join(
    f"2024-05-20 01:{i:02d}:52,427 | INFO : Epoch {10 * i}  | loss: {v}     | time took: 32.9s | validation loss: {w}"
    for i, (v, w) in enumerate(zip(noisy([1 - 0.03 * i for i in range(12)]), [2.9, 2.8, 2.6, 2.5, 2.6, 2.7, 2.8, 2.9,
                                                                            3.0, 3.1, 3.2, 3.3], strict=True), 1)
)  # fmt: skip


@pytest.mark.parametrize(
    ("log", "training", "validation"),
    [
        (MLAGENTS, "Mean Reward", None),
        (MLX_GRPO, "Total rewards mean", "Val total_rewards_mean"),
        (FRENCH, "Reward moyen (100 ep)", None),
        (TORCHTUNE, "loss", None),
        (TABLES, "mean 100 episode reward", None),
        (EPOCHS, "loss", "validation loss"),
    ],
    ids=["ml-agents", "mlx-grpo", "french", "torchtune", "baselines", "epochs"],
)
def test_outcome_any_trainer_found_by_name(log: str, training: str, validation: str | None) -> None:
    run = one_run(log)
    trained, validated = outcomes.trained(run), outcomes.validated(run)
    assert trained is not None
    assert trained.metrics == (training,)
    assert (None if validated is None else validated.metrics[0]) == validation


@pytest.mark.parametrize(
    ("log", "begins", "code"),
    [
        (MLAGENTS, "The training reward rises", "healthy"),
        (FRENCH, "The training reward falls", "warning"),
        (TORCHTUNE, "The training loss falls", "healthy"),
        (TABLES, "The training reward rises", "healthy"),
    ],
    ids=["ml-agents", "french", "torchtune", "baselines"],
)
def test_learning_any_trainer_told_by_reward_or_loss(log: str, begins: str, code: str) -> None:
    material = service().read([Source("paste.txt", f"{log}\nIs the agent learning anything?")])
    answer = service().explain(material).answer
    assert answer.verdict.code == code, answer.answer
    assert answer.verdict.summary.startswith(begins)
    assert "no validation, reward or loss" not in answer.answer
    assert "prompts" not in answer.answer


def test_report_held_out_loss_counts_as_validations() -> None:
    answer = service().explain(service().read([Source("paste.txt", EPOCHS)])).answer
    assert "0 validations" not in answer.answer
    assert "lowest at step 40" in answer.verdict.summary


@pytest.mark.parametrize(
    ("log", "word"), [(TABLES[: 3 * 130], "episodes differ"), (TORCHTUNE[:190], "change of batches")]
)
def test_few_steps_reason_is_of_the_kind_of_run(log: str, word: str) -> None:
    answer = service().explain(service().read([Source("paste.txt", log)])).answer.answer
    assert word in answer
    assert "change of prompts" not in answer
