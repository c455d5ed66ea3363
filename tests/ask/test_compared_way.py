"""Of two steps the one that is named before "than" is what is said to be higher, whichever comes first."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of
from tests.ask.support import answerer, first_line

#: Falls and rises by a hundredth a step.
RUN = run_of({step: {"actor/entropy": 1.0 - 0.01 * step, "critic/score/mean": 0.01 * step} for step in range(1, 61)})


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("entropy 在 step 10 比 step 50 高多少", "step 10 比 step 50 高 0.4"),
        ("how much higher is entropy at step 10 than at step 50?", "Step 10 is 0.4"),
        ("step 10 的 score 比 step 50 低多少", "step 10 比 step 50 低 0.4"),
        ("how much lower is the score at step 10 than at step 50?", "Step 10 is 0.4"),
        ("entropy 在 step 10 比 step 50 低多少", "step 10 不比 step 50 低，而是高 0.4"),
        ("how much higher is the score at step 10 than at step 50?", "Step 10 is not above step 50 but 0.4"),
        ("entropy 在 step 50 比 step 10 高多少", "并没有变高"),
        ("how much higher is entropy at step 50 than at step 10?", "Not higher but lower"),
    ],
)
def test_how_much_higher_is_said_of_the_step_named_before_than(question: str, start: str) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert first_line(answer).startswith(start)
    assert answer.slots.steps.values == (10, 50)


@pytest.mark.parametrize("question", ["score 在 step 50 比 step 10 高多少", "how much did entropy fall from 10 to 50?"])
def test_what_is_so_of_the_later_step_is_told_as_a_change(question: str) -> None:
    answer, _ = answerer().ask(question, [RUN])
    assert not first_line(answer).startswith(("并没有", "Not", "step 10", "Step 10"))
