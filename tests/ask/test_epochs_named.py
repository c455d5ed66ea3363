"""Places that a question names by epochs in other words than "epoch 1.5"."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import answerer


def made() -> Run:
    """Forty rows of a tenth of an epoch each; the loss is the row's number in hundredths off 2."""
    table = {
        row: {"loss": 2 - row / 100, "learning_rate": 1e-4 * row, "epoch": round((row + 1) / 10, 1)}
        for row in range(40)
    }
    return run_of(table, format="hf_trainer", framework="HF Trainer", step_axis="index")


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("loss when epoch was 1.5", 14), ("the loss when the epoch counter reads 2.0?", 19),
        ("loss after one and a half epochs", 14), ("half an epoch in: loss?", 4),
        ("loss halfway: half of the first epoch", 4),
        ("loss 1.5 epochs in", 14), ("loss 2 epochs into training", 19), ("loss as epoch reached 3.0", 29),
        ("epoch 走到 1.5 时 loss 多少", 14), ("loss，epoch 为 2.0 的时候", 19),
    ],
)  # fmt: skip
def test_epoch_in_other_words_is_the_row_nearest(question: str, row: int) -> None:
    answer = answerer().ask(question, (made(),))[0]
    assert answer.slots.steps.values == (row,), answer.slots
    assert answer.slots.metrics == ("loss",)
    assert f"{2 - row / 100:.2f}" in answer.answer.split("\n")[0]
    assert not answer.answer.startswith("**Not")
