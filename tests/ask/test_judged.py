"""Validations of a benchmark of unknown size: a change beyond what its printed values allow is called one."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.support import conversation, first_line

KEY = "val-core/own_tasks/acc/mean@2"


def made(*values: float) -> Run:
    rows: dict[int, dict[str, float | int]] = {
        20 * place: {KEY: value, "critic/rewards/mean": 0.3} for place, value in enumerate(values)
    }
    return run_of(rows)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("验证集变差了吗", "变差"),
        ("验证集准确率提升了没", "变差"),
        ("did validation get worse", "regressed"),
        ("Has the validation accuracy improved?", "regressed"),
        ("did validation change from step 0 to step 60", "regressed"),
        ("step 60 的验证比 step 0 好吗", "变差"),
    ],
)
def test_fall_beyond_any_noise_is_told_of_few_validations(question: str, word: str) -> None:
    answer = conversation(made(41 / 64, 39 / 64, 26 / 64, 3 / 64), question)
    assert word in first_line(answer), answer.answer
    assert "≤" in answer.answer
    assert "不能判断" not in answer.answer
    assert "cannot tell" not in answer.answer


@pytest.mark.parametrize("question", ["验证集变差了吗", "did validation improve", "step 60 的验证比 step 0 好吗"])
@pytest.mark.parametrize("values", [(41 / 64, 83 / 128, 41 / 64, 42 / 64), (0.5, 0.25, 0.5, 0.25)])
def test_what_noise_may_do_or_nobody_knows_is_no_change(question: str, values: tuple[float, ...]) -> None:
    answer = conversation(made(*values), question)
    assert not {"变差", "变好", "改进", "regressed", "improved"} & set(first_line(answer).replace("：", " ").split()), (
        answer
    )
    assert answer.verdict.code in {"answered", "inconclusive"}


def test_table_of_a_validation_speaks_of_no_batches() -> None:
    for values in ((41 / 64, 3 / 64), (0.5, 0.25)):
        answer = conversation(made(*values), "did validation change from step 0 to step 20?")
        assert "batches" not in answer.answer
