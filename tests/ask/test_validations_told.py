"""What is said of validations: their latest values in order, one turn, best and latest as the log has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of

from .support import conversation, first_line

SINKING = [0.516, 0.512, 0.578, 0.540, 0.552, 0.566, 0.538, 0.508, 0.506, 0.496, 0.476, 0.456]


def trl(metric: str, values: Sequence[float], *, every: int = 5) -> Run:
    """A TRL run whose reward rises; a further metric beside it, within the first epoch."""
    table: dict[int, dict[str, Number]] = {
        every * place: {
            "reward": 0.5 + 0.02 * place, "grad_norm": 0.4 + 0.01 * (place % 3), "kl": 0.01, "entropy": 0.6,
            "loss": 0.01, metric: value, "epoch": 0.02 * place,
        }
        for place, value in enumerate(values, 1)
    }  # fmt: skip
    return run_of(table, format="trl-dict", framework="TRL")


@pytest.mark.parametrize(
    ("metric", "question"),
    [
        ("eval_reward", "how is eval_reward developing?"),
        ("eval_reward", "eval_reward 走势如何"),
        ("completions/mean_length", "how does completions/mean_length develop?"),
        ("completions/mean_length", "completions/mean_length 的走势"),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_latest_values_in_order_are_told_with_both_ends(metric: str, question: str, sign: int) -> None:
    values = [round(1 + sign * value, 3) for value in SINKING]
    answer = conversation(trl(metric, values), question)
    head = first_line(answer)
    assert re.search(r"not (?:risen|fallen) once|没有一次回[升落]", head)
    for text in (f"{values[5]:.3g}".ljust(4, "0"), f"{values[-1]:.3g}".ljust(4, "0"), "step 30", "step 60", "7"):
        assert text in head
    assert not re.search(r"without a trend|没有可辨的趋势|drown in the|淹没", answer.answer)
    assert answer.verdict.code == "fluctuating"


def test_scatter_without_order_is_still_without_a_trend() -> None:
    values = [0.51, 0.55, 0.52, 0.56, 0.50, 0.54, 0.53, 0.56, 0.51, 0.55, 0.52, 0.54]
    head = first_line(conversation(trl("eval_reward", values), "how is eval_reward developing?"))
    assert "without a trend" in head


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([1.219, 1.084, 1.025, 1.0116, 1.0125, 1.0197], "fell, then rose"),
        ([0.20, 0.31, 0.40, 0.42, 0.41, 0.36], "rose, then fell"),
    ],
)
def test_course_of_one_turn_is_no_random_walk(values: list[float], word: str) -> None:
    head = first_line(conversation(trl("eval_loss", values), "how is eval_loss developing?"))
    assert word in head
    assert "random walk" not in head
    assert "step 20" in head


@pytest.mark.parametrize(("metric", "said"), [("eval_reward", False), ("completions/mean_length", True)])
def test_other_data_every_step_is_said_of_training_alone(metric: str, said: bool) -> None:
    values = [0.51, 0.55, 0.52, 0.56, 0.50, 0.54, 0.53, 0.56, 0.51, 0.55, 0.52, 0.54]
    answer = conversation(trl(metric, values), f"how is {metric} developing?").answer
    assert ("first epoch" in answer) is said


def hacked() -> Run:
    """Validation highest at one step between lower ones, then far below, while the score goes to the top."""
    validations = [0.500, 0.540, 0.572, 0.552, 0.568, 0.550, 0.50, 0.42, 0.36, 0.30, 0.26, 0.23, 0.202, 0.222, 0.254]
    table: dict[int, dict[str, Number]] = {}
    for step in range(71):
        row: dict[str, Number] = {}
        if step:
            rise = min(1.0, max(0.0, (step - 14) / 28))
            row |= {
                "critic/score/mean": 0.57 + 0.42 * rise + 0.004 * (step % 4), "actor/kl_loss": 0.0002 * step,
                "response_length/mean": 600.0 + 3 * step + step % 5, "actor/grad_norm": 0.2 + 0.01 * (step % 3),
                "actor/entropy": 0.6, "actor/pg_clipfrac": 0.001,
            }  # fmt: skip
        if step % 5 == 0:
            row["val-core/math500/acc/mean@1"] = validations[step // 5]
        table[step] = row
    return run_of(table)


@pytest.mark.parametrize("question", ["should I stop this run?", "该早停吗", "health check", "体检一下"])
def test_best_validation_is_one_that_the_log_holds(question: str) -> None:
    """57.2 % at step 10, whose median with its neighbours is 55.2 %."""
    answer = conversation(hacked(), question)
    assert answer.verdict.code in {"warning", "critical"}
    head = first_line(answer)
    assert "57.2%" in head
    assert "step 10" in head
    assert "25.4%" in head
    assert "step 70" in head
    assert re.search(r"22\.2% (?:over its last three)|中位数是 22\.2%", head)


@pytest.mark.parametrize("question", ["health check", "体检一下"])
def test_health_tells_a_validation_that_only_falls(question: str) -> None:
    answer = conversation(trl("eval_reward", SINKING), question)
    assert answer.verdict.code == "warning"
    assert "0.578" in answer.answer
    assert "0.456" in first_line(answer)


def validated(*scores: float) -> Run:
    """A verl run of forty steps, validated every ten on five hundred problems."""
    table: dict[int, dict[str, Number]] = {
        step: {"critic/score/mean": 0.5 + 0.01 * (step % 3), "actor/entropy": 0.5, "actor/grad_norm": 0.3}
        for step in range(1, 10 * len(scores) + 1)
    }
    for place, score in enumerate(scores, 1):
        table[10 * place]["val-core/math500/acc/mean@1"] = score
    return run_of(table)


@pytest.mark.parametrize(
    ("scores", "question", "lead"),
    [
        ((0.60, 0.726, 0.694, 0.70), "Did val accuracy drop from step 20 to 30?", "Yes, the value is lower:"),
        ((0.60, 0.726, 0.794, 0.70), "Did val accuracy drop from step 20 to 30?", "No, the value is higher:"),
        ((0.60, 0.726, 0.794, 0.70), "step 20 到 30 验证掉了吗", "没有，数值更高了："),
        ((0.60, 0.726, 0.694, 0.70), "step 20 到 30 验证掉了吗", "是，数值更低了："),
        ((0.60, 0.726, 0.694, 0.70), "step 20 到 30 验证涨了没", "没有，数值更低了："),
        ((0.60, 0.726, 0.726, 0.70), "did math500 go down between step 20 and 30?", "No, the value is the same:"),
    ],
)
def test_two_validations_are_answered_with_yes_or_no_and_judged(
    scores: tuple[float, ...], question: str, lead: str
) -> None:
    head = first_line(conversation(validated(*scores), question))
    assert lead in head
    for score in scores[1:3]:
        assert f"{100 * score:.1f}%" in head
    assert "too few points" not in head.lower()
    if scores[1] != scores[2] and abs(scores[1] - scores[2]) < 0.05:
        assert re.search(r"inconclusive|不能下结论", head)


@pytest.mark.parametrize("question", ["eval 怎么样", "how is eval"])
def test_how_a_validation_stands_tells_that_it_only_falls(question: str) -> None:
    head = first_line(conversation(trl("eval_reward", SINKING), question))
    assert re.search(r"not risen once over its last 7|最近 7 个值没有一次回升", head)
    assert "0.578" in head
