"""Several metrics at one's extreme, several limits, how long it was until a limit, and what a step took by a clock."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Answer, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of
from tests.ask.support import answerer


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, [run])[0]


def first(run: Run, question: str) -> str:
    return ask(run, question).answer.split("\n")[0].strip("*")


@lru_cache(maxsize=1)
def trl() -> Run:
    """KL is highest at step 70, the reward at 190, the gradient at 40; KL crosses 0.5 at 60 and stays above 0.4."""
    table = {
        step: {
            "reward": 0.2 + 0.004 * step, "grad_norm": 3.0 + (9.0 if step == 40 else 0.0) + 0.01 * (step % 30),
            "kl": round(0.01 * step if step < 80 else 0.45 + 0.0001 * step, 4), "loss": 2.0 - 0.005 * step,
            "completion_length": 300.0 - step, "learning_rate": 1e-6 * (200 - step),
        }
        for step in range(10, 200, 10)
    }  # fmt: skip
    return run_of(table, framework="TRL", format="trl-dict", step_axis="step")


@lru_cache(maxsize=1)
def clocked() -> Run:
    lines = [
        f"step:{step}/400 val_loss:{4.0 - 0.0031 * step:.4f} train_time:{step * 250}ms step_avg:250.00ms"
        for step in range(0, 401, 40)
    ]
    return parse_text("\n".join(lines)).runs[0]


def barred(*, spent: str = "1:40:00", pace: str = "60.00s/it", runtime: str = "") -> Run:
    rows = [
        f"{{'loss': {2 - 0.01 * n:.3f}, 'learning_rate': 1e-06, 'epoch': {n / 100:.2f}}}" for n in range(10, 101, 10)
    ]
    bars = [
        f" {n}%|██        | {n}/100 [{spent if n == 100 else '10:00'}<00:00, {pace}]{row}"
        for n, row in zip(range(10, 101, 10), rows, strict=True)
    ]
    return parse_text("\n".join([*bars, *([runtime] if runtime else [])])).runs[0]


@pytest.mark.parametrize(
    "question",
    [
        "what were reward and grad_norm at the step with the highest kl",
        "reward and grad_norm where kl peaked?",
        "when kl was highest, what were the reward and the grad_norm",
        "kl 最大的那步 reward 和 grad_norm 分别是多少",
    ],
)
def test_several_metrics_at_the_extreme_of_another_are_told_there(question: str) -> None:
    said = first(trl(), question)
    assert "step 70" in said
    assert "0.7" in said
    assert "`reward` is 0.48" in said or "`reward` 是 0.48" in said
    assert "`grad_norm` is 3.1" in said or "`grad_norm` 是 3.1" in said


def test_each_at_its_own_extreme_stays_so() -> None:
    answer = ask(trl(), "what are the max kl and the max reward and grad_norm").answer
    assert "The maximum of `grad_norm` is 12.1" in answer
    assert "The maximum of `reward` is 0.96" in answer


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("at what learning rate was the gradient norm the largest", "`learning_rate` is 0.00016"),
        ("at which completion_length was the kl the highest", "`completion_length` is 230 tokens"),
    ],
)
def test_a_metric_asked_for_by_the_extreme_of_another(question: str, told: str) -> None:
    assert told in first(trl(), question)


@pytest.mark.parametrize(
    "question",
    [
        "what was the highest kl and where, and what were reward and grad_norm there",
        "what was the highest kl, at which step, and what was the reward there",
        "which step has the highest kl, and what is the reward there",
    ],
)
def test_where_alone_belongs_to_the_extreme_and_there_is_its_step(question: str) -> None:
    answer = ask(trl(), question).answer
    assert "0.7" in answer.split("\n")[0]
    assert "`reward` is 0.48" in answer
    assert "How to read" not in answer


def test_there_is_the_best_step() -> None:
    answer = ask(trl(), "which step has the best reward, and what is completion_length there").answer
    assert "`completion_length` is 110 tokens at step 190" in answer


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "at which step did kl first exceed 0.3, and first exceed 0.6",
            ("0.3 at step 40 (0.4)", "0.6 at step 70 (0.7)"),
        ),
        ("when did kl first go over 0.2, 0.4 and 0.9", ("0.2 at step 30", "0.4 at step 50", "never above 0.9")),
        ("which step did the loss first drop below 1.5 and 1.2", ("1.5 at step 110 (1.45)", "1.2 at step 170 (1.15)")),
        ("kl 什么时候第一次超过 0.3、0.6", ("0.3 在 step 40", "0.6 在 step 70")),
    ],
)
def test_several_limits_are_each_told_with_their_first_step(question: str, told: tuple[str, ...]) -> None:
    said = first(trl(), question)
    assert all(piece in said for piece in told), said


@pytest.mark.parametrize(
    "question",
    [
        "when does kl first go above 0.6 and does it ever go back below 0.4 afterwards",
        "when does kl first go above 0.6 and does it ever go below 0.4 again",
        "did kl ever exceed 0.6 and then come back below 0.4?",
    ],
)
def test_whether_it_came_back_counts_from_the_first_crossing(question: str) -> None:
    answer = ask(trl(), question).answer
    assert answer.startswith("**No: `kl` is first above 0.6 at step 70 (0.7), and never below 0.4 after that")
    assert "Yes" not in answer


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many minutes to get val_loss below 3.5", "50 s up to step 200"),
        ("how long did it take until val_loss fell below 3.1", "80 s up to step 320"),
        ("val_loss 降到 3.1 以下用了多少秒", "到 step 320 为止共 80 秒"),
    ],
)
def test_the_time_until_a_limit_is_read_from_the_running_clock(question: str, told: str) -> None:
    assert told in first(clocked(), question)


def test_the_time_until_a_limit_is_summed_from_step_times() -> None:
    table = {step: {"timing_s/step": 30.0, "actor/entropy": 1.0 - 0.02 * step} for step in range(1, 31)}
    said = first(run_of(table), "how long did it take until entropy dropped below 0.61")
    assert said.startswith("600 s (10.0 min) up to step 20")


def test_without_any_time_the_step_is_told_and_that_no_time_is() -> None:
    answer = ask(trl(), "how many minutes did it take until kl exceeded 0.5").answer
    assert answer.startswith("**`kl` is first above 0.5 at step 60")
    assert "cannot be told as a time" in answer


def test_by_a_bar_the_time_until_a_limit_is_about_so_long() -> None:
    answer = ask(barred(), "how long did it take until the loss fell below 1.55").answer
    assert answer.startswith("**About 3,000 s (50.0 min) to step 50")
    assert "`loss` is first below 1.55 at step 50" in answer


def test_another_metric_at_a_first_crossing() -> None:
    assert "`grad_norm` is 3 at step 60" in first(trl(), "what was grad_norm when kl first exceeded 0.5")
    assert "`train_time` is 50,000 ms at step 200" in first(
        clocked(), "at what train_time did val_loss first fall below 3.5"
    )


@pytest.mark.parametrize("question", ["how long is one step on average", "how many seconds per step", "一步平均多少秒"])
def test_a_step_is_timed_by_the_bars_clock(question: str) -> None:
    assert first(barred(), question).lstrip("平均每步 ").startswith(("60 s a step", "60 秒"))


def test_a_bar_that_began_with_steps_done_tells_no_mean() -> None:
    said = first(barred(spent="10:00"), "how long is one step on average")
    assert "60 s" in said
    assert "progress bar" in said


def test_a_trainers_total_goes_before_the_bar() -> None:
    runtime = "{'train_runtime': 5000.0, 'train_steps_per_second': 0.02, 'train_loss': 1.5, 'epoch': 1.0}"
    assert first(barred(runtime=runtime), "how long does one step take").startswith("50 s a step on average")


def test_the_time_so_far_is_the_one_printed_last() -> None:
    rows = [
        f'{{"current_steps": {n}, "total_steps": 900, "loss": {1 - n / 1000}, "lr": 1e-06, "epoch": {n / 900}, '
        f'"percentage": {n / 9:.2f}, "elapsed_time": "0:{n // 2:02d}:30", "remaining_time": "4:00:00"}}'
        for n in range(10, 101, 10)
    ]
    run = parse_text("\n".join(rows)).runs[0]
    assert first(run, "how long did the run take so far").startswith("3,030 s (50.5 min) by step 100")
    assert first(run, "how many seconds per step").startswith("30.3 s a step on average")


@pytest.mark.parametrize(
    ("value", "side", "shown"),
    [(0.4996, "below", "0.4996"), (0.49998, "under", "0.49998"), (0.50004, "above", "0.50004")],
)
def test_a_value_next_to_its_limit_is_told_apart_from_it(value: float, side: str, shown: str) -> None:
    table = {step: {"kl": (0.1 if side == "above" else 0.9) if step < 9 else value} for step in range(1, 12)}
    assert first(run_of(table), f"when did kl first go {side} 0.5").startswith(
        f"`kl` is first {'above' if side == 'above' else 'below'} 0.5 at step 9 ({shown})."
    )
