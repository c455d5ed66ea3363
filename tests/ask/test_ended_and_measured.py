"""Why a run stopped, steps without a row, the steadier metric, epochs of extremes, targets, what is switched on."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import lru_cache

import pytest

from assistant.ask.answer_ended import complete
from assistant.ask.answer_log import skipped
from assistant.model import Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

LOSS, VAL, GRAD, ENTROPY = "loss", "val_loss", "grad_norm", "actor/entropy"


def log(*tail: str, steps: range = range(1, 13), total: int | None = None) -> Run:
    bar = [] if total is None else [f"Total training steps: {total}"]
    rows = [f"step:{n} - actor/entropy:{0.5 - 0.01 * n:.3f} - critic/score/mean:{0.4 + 0.002 * n:.4f}" for n in steps]
    (run,) = parse_text("\n".join([*bar, *rows, *tail])).runs
    return run


@lru_cache(maxsize=1)
def made() -> Run:
    """Losses that fall, one of them in larger steps, and an epoch."""
    table = {
        step: {
            LOSS: round(3 - 0.02 * step + 0.05 * (step % 2), 4), VAL: round(3.2 - 0.02 * step, 4),
            GRAD: round(40 + 8 * (step % 2), 3), "epoch": step / 50,
        }
        for step in range(1, 61)
    }  # fmt: skip
    return run_of(table, framework=None, format="jsonl")


@pytest.mark.parametrize(
    "question", ["训练为什么停了？", "这个任务怎么断了", "why did the run stop?", "what killed it?", "was it killed?"]
)
def test_stopped_with_a_signal_in_the_log_tells_it_and_its_line(question: str) -> None:
    run = log("Process 7 got signal: 1", total=40)
    answer = ask(question, run)
    has(answer, "SIGHUP", "14", "40")
    assert answer.verdict.code == "answered"


def test_stopped_without_a_sign_says_that_it_cannot_be_told() -> None:
    answer = ask("why did the run stop?", log(total=40))
    has(answer, "does not tell why")
    assert answer.verdict.code == "no_data"


def test_stopped_at_the_planned_end_says_that_it_finished() -> None:
    assert "跑完了" in ask("训练为什么停了？", log(total=12)).answer


def test_finished_of_a_killed_run_tells_the_cause() -> None:
    assert "memory" in ask("did it finish?", log("CUDA out of memory", total=40)).answer


def test_stopped_of_a_reward_is_no_question_about_the_process() -> None:
    assert "SIGHUP" not in ask("为什么 score 停止上涨了？", log("got signal: 1")).answer


@pytest.mark.parametrize(("steps", "total", "whole"), [((0, 1, 2), 3, True), ((1, 2), 3, False), ((1, 2, 3), 3, True)])
def test_complete_counts_from_zero_or_one(steps: tuple[int, ...], total: int, whole: bool) -> None:
    assert complete(steps, total) is whole


@pytest.mark.parametrize("question", ["中间缺了哪些 step？", "which steps are missing?"])
def test_gaps_of_whole_steps_are_told(question: str) -> None:
    run = run_of({step: {LOSS: 1 / (step + 1)} for step in [*range(1, 8), *range(30, 40)]})
    has(ask(question, run), "step 7", "step 30", "22")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([1, 2, 3, 4, 9, 10, 11, 12], [(4, 9)]),
        ([20, 40, 60, 80, 100], []),
        ([20, 40, 60, 80, 140, 160, 180], [(80, 140)]),
        ([1, 2, 4, 8, 16, 32], []),
        ([1, 9], []),
    ],
)
def test_skipped_finds_leaps_among_even_steps_only(steps: list[int], expected: list[tuple[int, int]]) -> None:
    assert skipped(steps) == expected


@pytest.mark.parametrize("question", ["loss 和 grad_norm 哪个更不稳定？", "which is noisier, loss or grad_norm?"])
def test_steadier_of_two_metrics_sets_each_against_its_own_level(question: str) -> None:
    answer = ask(question, made())
    first = answer.answer.split("\n\n")[0]
    assert "grad_norm" in first
    assert answer.verdict.code == "answered"
    has(answer, "%")


def test_steadier_where_one_crosses_zero_gives_no_share_of_its_level() -> None:
    table = {step: {"act_loss": (-1) ** step * 0.1, "cri_loss": 0.01 + 0.002 * (step % 2)} for step in range(20)}
    text = ask("act_loss 和 cri_loss 哪个波动更大？", run_of(table, framework=None)).answer
    assert "act_loss" in text.split("\n\n")[0]
    assert "—" in text


@pytest.mark.parametrize(
    ("question", "epoch"), [("loss 最低在第几个 epoch？", "1.2"), ("at which epoch is loss lowest?", "1.2")]
)
def test_extreme_epoch_names_the_epoch_of_the_extreme(question: str, epoch: str) -> None:
    has(ask(question, made()), epoch)


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("was the 2.5 target reached?", "35"),
        ("有没有达到 2.5 的目标", "35"),
        ("did val_loss hit the goal of 2.8?", "20"),
    ],
)
def test_target_of_a_falling_loss_is_reached_from_above(question: str, step: str) -> None:
    has(ask(question, made()), step)


def test_target_never_reached_tells_the_nearest_value() -> None:
    answer = ask("did val_loss meet the 1.5 target?", made())
    assert answer.answer.startswith("**No")
    has(answer, "2", "step 60")


@pytest.mark.parametrize("question", ["loss 最后 5 个点的均值？", "mean loss over the last 5 data points"])
def test_last_points_are_a_window(question: str) -> None:
    values = made().series(LOSS)[1][-5:]
    has(ask(question, made()), f"{math.fsum(values) / len(values):.3g}")


@pytest.mark.parametrize("question", ["有没有开 KL loss？", "is KL loss enabled?"])
def test_enabled_of_a_metric_that_the_log_lacks_is_not_answered_by_its_relative(question: str) -> None:
    table = {step: {"actor/reward_kl_penalty": 0.2, ENTROPY: 0.3} for step in range(1, 9)}
    first = ask(question, run_of(table)).answer.split("\n\n")[0]
    assert "actor/kl_loss" in first
    assert "actor/reward_kl_penalty" in first
    assert "没有" in first or "no sign" in first


def test_enabled_of_a_metric_in_the_log_is_yes() -> None:
    table = {step: {"actor/kl_loss": 0.2, ENTROPY: 0.3} for step in range(1, 9)}
    assert "Yes" in ask("is KL loss enabled?", run_of(table)).answer


def test_total_time_without_step_times_adds_up_the_stages() -> None:
    table = {step: {"timing/gen": 10.0, "timing/update_actor": 20.0, ENTROPY: 0.3} for step in range(1, 11)}
    answer = ask("how much time did the 10 steps take in total?", run_of(table))
    has(answer, "300")
    assert answer.verdict.code == "answered"


def test_compare_of_a_metric_not_finite_at_the_start_takes_its_first_finite_value() -> None:
    table = {step: {"train/explained_variance": float("nan") if step < 5 else 0.01 * step} for step in range(1, 31)}
    run = replace(run_of(table, framework="Stable-Baselines3"), format="csv")
    has(ask("explained variance 有没有变好", run), "0.05")


# -- further everyday questions ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        "the mean loss at step 40 is lower than at step 3, can I say it improved?",
        "能说 step 40 比 step 3 的 loss 变好了吗",
    ],
)
def test_claimed_improvement_is_compared_and_not_averaged(question: str) -> None:
    answer = ask(question, made())
    assert answer.intent == "compare"
    has(answer, "step 3", "step 40")


@pytest.mark.parametrize("question", ["learning rate 什么时候降到一半", "lr 哪一步降到了初始的一半"])
def test_half_is_of_the_first_value(question: str) -> None:
    run = run_of({step: {"lr": 1e-5 * (1 - step / 41), "loss": 1 / step} for step in range(1, 41)}, framework=None)
    has(ask(question, run), "step 21")


def test_fifty_percent_of_a_share_is_a_level() -> None:
    run = run_of({step: {"response_length/clip_ratio": 0.9 - 0.01 * step} for step in range(1, 61)})
    has(ask("response_length/clip_ratio 什么时候降到 50%", run), "step 40")


@pytest.mark.parametrize("question", ["list all metrics about memory", "有哪些内存相关的指标"])
def test_metrics_about_a_word_lists_them_all(question: str) -> None:
    names = ["perf/max_memory_allocated_gb", "perf/max_memory_reserved_gb", "perf/cpu_memory_used_gb"]
    run = run_of({step: dict.fromkeys(names, 40.0 + step) | {ENTROPY: 0.5} for step in range(1, 6)})
    answer = ask(question, run)
    has(answer, *names)
    assert ENTROPY not in answer.answer


@pytest.mark.parametrize("question", ["KL 系数是多少", "what is the KL coefficient?"])
def test_penalty_that_is_logged_is_told(question: str) -> None:
    run = run_of({step: {"actor/reward_kl_penalty_coeff": 0.0005, ENTROPY: 0.5} for step in range(1, 6)})
    has(ask(question, run), "0.0005")


def test_values_cut_at_both_steps_asked_for_are_both_told() -> None:
    long = " - ".join(f"m{n}/x:{n}.123456" for n in range(400))
    rows = [f"step:{n} - {long} - critic/score/mean:0.5"[: 4096 if n in (2, 4) else None] for n in range(1, 7)]
    (run,) = parse_text("\n".join(rows)).runs
    answer = ask("step 2 和 step 4 的 critic/score/mean 是多少？", run)
    assert answer.verdict.code == "no_data"
    has(answer, "2、4")


def test_slower_of_a_named_speed_is_its_trend() -> None:
    run = run_of(
        {step: {"time/fps": 100 - step + (step % 3) * 0.1} for step in range(1, 31)}, framework="Stable-Baselines3"
    )
    answer = ask("fps 有没有变慢", run)
    assert (answer.intent, answer.verdict.code) == ("trend", "falling")


def test_counted_steps_are_named_where_they_are_few() -> None:
    has(
        ask("grad_norm 大于 47 的有几步", run_of({s: {GRAD: 40.0 + (9 if s in (5, 17) else 0)} for s in range(1, 31)})),
        "5、17",
    )


@pytest.mark.parametrize("question", ["kl 超过 1 之后 score 还有提升吗", "did score improve after kl exceeded 1?"])
def test_after_a_crossing_the_other_metric_is_followed(question: str) -> None:
    table = {
        step: {"actor/kl_loss": 0.1 * step, "critic/score/mean": 0.2 + 0.01 * min(step, 12) + 0.001 * (step % 3)}
        for step in range(1, 41)
    }
    answer = ask(question, run_of(table))
    has(answer, "step 11", "1.1")
    assert answer.intent == "trend"
    assert answer.charts


@pytest.mark.parametrize("question", ["score 什么时候开始为正", "when did the score turn positive?"])
def test_turning_positive_is_a_first_crossing(question: str) -> None:
    run = run_of({step: {"critic/score/mean": -1 + 0.1 * step - 0.05} for step in range(1, 31)})
    has(ask(question, run), "step 11")


@pytest.mark.parametrize("question", ["每隔多少步验证一次", "how many steps per validation?"])
def test_interval_of_evaluations_of_an_unknown_framework_is_told(question: str) -> None:
    table = {
        step: {"train loss": 2 / step} | ({"val loss": 3 / step} if step % 5 == 0 else {}) for step in range(1, 41)
    }
    answer = ask(question, run_of(table, framework=None))
    has(answer, "5", "8")
    assert answer.verdict.code == "answered"


@pytest.mark.parametrize("question", ["还剩多少步", "how many steps are left?"])
def test_steps_left_are_told_of_the_total(question: str) -> None:
    has(ask(question, log(total=40)), "28")


def test_two_accuracies_without_cards_may_be_subtracted() -> None:
    run = run_of({s: {"batch_accuracy": 0.9, "grounded_acc": 0.8 + 0.001 * s} for s in range(1, 11)}, framework=None)
    has(ask("batch_accuracy 和 grounded_acc 差多少", run), "0.09")


@pytest.mark.parametrize("question", ["1" * 3000, "entropy " + "9" * 3000 + " 以上的 step", "step " + "7" * 3000])
def test_thousands_of_digits_cost_no_time(question: str) -> None:
    began = time.process_time()
    assert ask(question, made()).answer
    assert time.process_time() - began < 5


def test_enabled_is_not_read_into_the_value_on_a_step() -> None:
    table = {s: {"critic/rewards/mean": 0.1 * s, ENTROPY: 0.5 - 0.01 * s} for s in range(1, 21)}
    for question in ("what was the reward on the lowest one?", "is the reward on?"):
        assert "printed only where" not in ask(question, run_of(table)).answer
