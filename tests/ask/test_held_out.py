"""Why held-out figures are better than those of training, and which part of a loss is the largest."""

from __future__ import annotations

import pytest

from assistant.service.facade import Source, service

_KERAS = (
    "Epoch {n}/15\n20000/20000 [==============================] - 42s - loss: {loss} - acc: {acc} "
    "- val_loss: {val} - val_acc: {held}\n"
)


def keras(*, better: bool = True, epochs: int = 2) -> str:
    """Epochs of Keras whose validation is better than training, or worse."""
    by = 1 if better else -1
    rows = [
        {"n": n + 1, "loss": round(0.58 - 0.05 * n, 4), "acc": round(0.68 + 0.02 * n, 4),
         "val": round(0.58 - 0.05 * n - by * 0.1, 4), "held": round(0.68 + 0.02 * n + by * 0.08, 4)}
        for n in range(epochs)
    ]  # fmt: skip
    return "".join(_KERAS.format(**row) for row in rows)


def answer(text: str, question: str):  # type: ignore[no-untyped-def]
    """What is answered of a log."""
    return service().explain(service().read([Source("train.log", text)]), question).answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Why can the validation loss be less than the training loss?", "usually normal: at step 2 `val_loss` is 0.43"),
        ("val_loss is lower than loss in training, is that right?", "usually normal: at step 2 `val_loss` is 0.43"),
        ("The validation accuracy is better than the training one, is that normal?", "`val_acc` is 0.78"),
        ("为什么验证集的 loss 比训练集还低？", "这通常正常：step 2 的 `val_loss` 为 0.43"),
        ("训练 loss 大于验证 loss 正常吗", "这通常正常：step 2 的 `val_loss` 为 0.43"),
    ],
)
def test_better_on_held_out_data_is_told_why(question: str, said: str) -> None:
    found = answer(keras(), question)
    assert said in found.answer.split("**")[1]
    assert not found.grounding.unsupported


def test_premise_that_the_log_denies_is_said() -> None:
    found = answer(keras(better=False), "Why is the validation loss lower than the training loss?")
    assert "The log does not show that: at step 2 `val_loss` is 0.63" in found.answer.split("**")[1]


@pytest.mark.parametrize(
    "question", ["Is val_loss lower at the end?", "what is the training loss?", "is it overfitting?"]
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert "dropout" not in answer(keras(), question).answer


def parts(n: int = 5) -> str:
    """Iterations of a detector with the parts of its loss."""
    line = "epoch: 8/40, iter: {}/1816, total_loss: {}, iou_loss: 4.8, conf_loss: {}, cls_loss: 0.5, lr: 9.4e-03"
    return "\n".join(line.format(10 * i + 10, 45.3 + i, 40.0 + i) for i in range(n))


@pytest.mark.parametrize("question", ["which part of the loss is the largest?", "哪个 loss 分项最大？"])
def test_largest_part_of_a_loss_is_ranked(question: str) -> None:
    assert "`conf_loss`" in answer(parts(), question).answer.split("**")[1]


def test_step_of_the_largest_loss_is_no_part_of_it() -> None:
    assert "highest part" not in answer(parts(), "which step has the largest loss?").answer


def test_a_single_step_time_tells_the_time_left_without_an_interval() -> None:
    line = "step:66 - critic/score/mean:0.2 - timing_s/step:0.24"
    found = answer(line, "total 30000 steps, how long will it still take?")
    assert "the 29,934 steps left take 7,184 s" in found.answer.split("**")[1]
    assert "No interval is given" in found.answer


def epochs(values: list[float]) -> str:
    """Epochs with a held-out loss."""
    return "\n".join(
        f"Epoch: {at + 1} \tTraining Loss: {0.18 - 0.003 * at:.4f} \tValidation Loss: {value}"
        for at, value in enumerate(values)
    )


@pytest.mark.parametrize(
    "question",
    [
        "best epoch?",
        "what is the ideal number of epochs?",
        "How many epochs should I train?",
        "Validation loss does not decrease. What then should be the ideal number of epochs to stop training?",
        "哪个 epoch 最好？",
        "训练多少个 epoch 最好？",
    ],
)
def test_best_epoch_is_where_the_held_out_loss_is_lowest(question: str) -> None:
    found = answer(epochs([0.072, 0.071, 0.069, 0.073, 0.074, 0.0735]), question)
    assert "step 3" in found.answer.split("**")[1]
    assert not found.grounding.unsupported


def test_best_epoch_may_be_the_last() -> None:
    found = answer(epochs([0.08, 0.075, 0.071, 0.069]), "best epoch?")
    assert "The last one: `Validation Loss` is lowest at step 4" in found.answer


def test_plateau_without_a_metric_is_told_of_the_reward() -> None:
    text = "\n".join(f"Episode {10 * at}\tAverage reward: {40 + 12 * at + (at % 2)}.5" for at in range(1, 11))
    assert "`Average reward` is rising" in answer(text, "Has it plateaued?").answer.split("**")[1]


def test_longest_episode_is_told_by_its_steps() -> None:
    line = "{}/50000: episode: {}, duration: 1.0s, episode steps: {}, episode reward: {}, mean reward: 1.000, loss: 5.1"
    text = "\n".join(
        line.format(1000 + at, 569 + at, steps, 500 - steps) for at, steps in enumerate((13, 337, 446, 393))
    )
    assert "`episode steps` is 446, at step 571" in answer(text, "which episode was the longest?").answer
