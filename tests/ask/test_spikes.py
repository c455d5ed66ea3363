from __future__ import annotations

import pytest

from assistant.model import Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

GRAD = "actor/grad_norm"


def made(spikes: dict[int, float], length: int = 60) -> Run:
    rows = {s: {GRAD: spikes.get(s, 0.5 + 0.01 * (s % 7)), "actor/entropy": 0.4} for s in range(1, length + 1)}
    return run_of(rows)


@pytest.mark.parametrize(
    ("question", "yes"),
    [("grad norm 有没有尖刺", "有尖峰"), ("any spikes in the grad norm?", "Yes"), ("grad norm 有毛刺吗", "有尖峰")],
)
def test_spikes_are_told_with_the_highest(question: str, yes: str) -> None:
    answer = ask(question, made({20: 12.0, 41: 30.0}))
    assert answer.verdict.summary.startswith(yes)
    assert "step 41" in answer.verdict.summary
    assert "step 20" in answer.answer
    assert answer.slots.metrics == (GRAD,) or list(answer.slots.metrics) == [GRAD]


@pytest.mark.parametrize("question", ["grad norm 有没有尖刺", "does the grad norm spike?"])
def test_a_quiet_metric_has_no_spikes_and_its_highest_is_shown(question: str) -> None:
    answer = ask(question, made({33: 0.9}))
    assert answer.verdict.summary.startswith(("没有尖峰", "No spikes"))
    assert "step 33" in answer.verdict.summary
    assert "0.9" in answer.verdict.summary


def test_few_values_are_too_few_for_spikes() -> None:
    assert ask("does the grad norm spike?", made({5: 30.0}, length=12)).verdict.code == "insufficient_data"


def test_all_metrics_of_a_step_are_listed() -> None:
    answer = ask("step 10 的指标都给我看看", made({}))
    assert answer.intent == "explain"
    assert all(f"`{key}`" in answer.answer for key in (GRAD, "actor/entropy"))


def test_a_trainer_total_is_told_where_it_is_printed() -> None:
    rows = "\n".join(
        f"{{'loss': {1 / s:.3f}, 'grad_norm': 1.5, 'learning_rate': 1e-06, 'epoch': {s / 10}}}" for s in range(1, 9)
    )
    (run,) = parse_text(
        rows + "\n{'train_runtime': 7992.25, 'train_samples_per_second': 0.202, 'train_loss': 0.3, 'epoch': 0.8}\n"
    ).runs
    for question in ("训练总共花了多久", "how long did the training take?"):
        answer = ask(question, run)
        assert "7,992" in answer.answer
        assert "train_runtime" in answer.answer


@pytest.mark.parametrize(
    "question",
    [
        "between steps 20 and 40, on which step was the grad norm highest, and what was the entropy there?",
        "20 到 40 步之间，哪一步 grad norm 最高，那一步 entropy 多少？",
    ],
)
def test_a_part_named_before_two_clauses_holds_for_the_first(question: str) -> None:
    answer = ask(question, made({5: 30.0, 33: 2.5}))
    assert "2.5" in answer.verdict.summary
    assert "33" in answer.verdict.summary


@pytest.mark.parametrize(
    "question",
    ["有没有哪一步 grad norm 特别大", "哪一步的 grad norm 异常大", "which step has an unusually large grad norm?"],
)
def test_a_step_that_stands_out_is_the_one_of_the_extreme(question: str) -> None:
    answer = ask(question, made({33: 30.0}))
    assert "30" in answer.verdict.summary
    assert "step 33" in answer.verdict.summary
