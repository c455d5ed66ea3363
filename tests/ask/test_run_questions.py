"""Questions about a run that have a writer of their own, put to runs made for them."""

from __future__ import annotations

import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from assistant import resources
from assistant.ask import computed, run_questions
from assistant.model import KnowledgeError, Missing, Number, Run
from tests.analysis.support import run_of, training_step
from tests.ask.computed_support import ask, has


def _losses(evaluated: list[float], trained: list[float], *, every: int = 100) -> Run:
    table: dict[int, dict[str, Number]] = {}
    for place, (a, b) in enumerate(zip(evaluated, trained, strict=True)):
        table[place * every] = {"eval_loss": a, "loss": b}
    return run_of(table, framework="TRL", format="hf-dict")


FALLING = [2.0 - 0.1 * k for k in range(12)]
TURNS = [2.0, 1.8, 1.6, 1.5, 1.45, 1.5, 1.56, 1.63, 1.7, 1.78, 1.85, 1.93]
OVERFIT = (
    "is it overfitting?",
    "过拟合了吗",
    "does the model overfit",
    "有没有过拟合",
    "is this run overfitted?",
    "看看是不是过拟合了",
    "overfitting?",
    "训练过拟合没有",
    "did it start to overfit",
    "模型是不是过拟合",
)


@pytest.mark.parametrize("question", OVERFIT)
def test_overfit_eval_turns_up_is_yes_with_its_step(question: str) -> None:
    answer = ask(question, _losses(TURNS, FALLING))
    assert answer.answer.lstrip("*").startswith(("是", "Yes"))
    assert (answer.intent, answer.verdict.code) == ("health", "warning")
    has(answer, "step 400", "1.45", "1.93")


@pytest.mark.parametrize("question", OVERFIT)
def test_overfit_eval_still_falls_is_no(question: str) -> None:
    answer = ask(question, _losses([v + 0.1 for v in FALLING], FALLING))
    assert answer.answer.lstrip("*").startswith(("目前没有过拟合", "No sign"))
    assert answer.verdict.code == "healthy"


@pytest.mark.parametrize("question", OVERFIT)
def test_overfit_without_evaluation_cannot_be_told(question: str) -> None:
    made = run_of({s: {"loss": v} for s, v in enumerate(FALLING)}, framework="TRL", format="hf-dict")
    answer = ask(question, made)
    assert answer.answer.lstrip("*").startswith(("看不出来", "It cannot be told"))
    assert answer.verdict.code == "insufficient_data"


def test_overfit_both_losses_rise_is_another_picture() -> None:
    rising = [1.0 + 0.05 * k for k in range(12)]
    assert "training itself" in ask("is it overfitting?", _losses(TURNS, rising)).answer


def test_overfit_noisy_evaluation_is_not_called_overfitting() -> None:
    noisy = [2.0, 1.6, 1.50, 1.53, 1.49, 1.52, 1.50, 1.53, 1.51, 1.52, 1.50, 1.52]
    assert ask("is it overfitting?", _losses(noisy, FALLING)).verdict.code == "insufficient_data"


@pytest.mark.parametrize(
    "question",
    [
        "what is the eval loss?",
        "验证集 loss 多少",
        "eval loss at the end",
        "验证损失是多少",
        "what's the validation loss now",
    ],
)
def test_eval_loss_absent_is_not_the_training_loss(question: str) -> None:
    made = run_of({s: {"loss": v} for s, v in enumerate(FALLING)}, framework="TRL", format="hf-dict")
    answer = ask(question, made)
    assert answer.verdict.code == "no_data"
    assert not re.search(r"\b(?:2|0\.9)\b", answer.answer)


FINISHED = (
    "did the run finish?",
    "跑完了吗",
    "is the training done?",
    "训练结束了吗",
    "has the run completed?",
    "训练跑完没有",
    "did it run to completion?",
    "有没有正常跑完",
    "is it finished",
    "这个实验结束了没",
)


@pytest.mark.parametrize("question", FINISHED)
@pytest.mark.parametrize(
    ("total", "starts"), [(20, ("跑完了", "Yes")), (50, ("没有跑完", "No")), (0, ("看不出来", "It cannot be told"))]
)
def test_finished_compares_the_last_step_with_the_total(question: str, total: int, starts: tuple[str, str]) -> None:
    made = run_of({s: training_step(s) for s in range(1, 21)}, extras={"total_steps": (total, 1)} if total else {})
    answer = ask(question, made)
    assert answer.answer.lstrip("*").startswith(starts)
    has(answer, "step 20")


def test_finished_rows_too_far_apart_is_left_open() -> None:
    made = run_of({s: {"loss": 1.0 / s} for s in range(20, 921, 20)}, framework="TRL", extras={"total_steps": (936, 1)})
    has(ask("did the run finish?", made), "cannot be told", "920", "936")


@pytest.mark.parametrize(
    "question",
    [
        "how long will the run still take?",
        "还要跑多久",
        "how much longer?",
        "还剩多少时间",
        "what is the remaining time",
        "how long is left until it is done",
    ],
)
def test_time_left_is_no_forecast_of_a_metric(question: str) -> None:
    made = run_of({s: training_step(s) for s in range(1, 21)}, extras={"total_steps": (20, 1)})
    answer = ask(question, made)
    assert answer.intent == "forecast"
    assert "20" in answer.answer
    assert "critic" not in answer.answer.split("\n")[0]


SLOWEST = (
    "which step took longest and why?",
    "哪一步最慢，为什么",
    "why was the slowest step so slow?",
    "最慢的一步慢在哪",
    "what made the slowest step slow",
    "哪步最耗时，原因是什么",
    "which step was slowest, and what is the reason",
    "最慢的那步为什么慢",
)


@pytest.mark.parametrize("question", SLOWEST)
def test_slowest_step_names_the_stage_that_took_longer(question: str) -> None:
    table = {s: training_step(s) for s in range(1, 21)}
    table[13] |= {
        "timing_s/gen": 900.0,
        "timing_s/step": float(table[13]["timing_s/step"]) + 900.0 - float(table[13]["timing_s/gen"]),
    }
    answer = ask(question, run_of(table))
    usual = statistics.median(float(row["timing_s/step"]) for row in table.values())
    assert usual < 700
    has(answer, "13", "`timing_s/gen`", "900")


@pytest.mark.parametrize(
    "question",
    [
        "does the batch change?",
        "batch 变过吗",
        "is the batch size constant?",
        "batch size 一直不变吗",
        "did the batch ever change",
        "批次大小有没有变化",
    ],
)
def test_batch_changed_tells_the_derived_batch(question: str) -> None:
    made = run_of({s: training_step(s) for s in range(1, 21)})
    answer = ask(question, made)
    assert answer.answer.lstrip("*").startswith(("没变", "No"))
    has(answer, "256")


ONSET = (
    "response_length/mean 什么时候崩的",
    "when did response_length/mean collapse?",
    "response_length/mean 从哪一步开始塌的",
    "which step did response_length/mean crash at?",
    "response_length/mean 哪一步暴跌",
    "when does response_length/mean plummet",
    "response_length/mean 崩是在什么时候",
    "at which step did response_length/mean fall apart",
    "response_length/mean 骤降在哪步",
    "when did the collapse of response_length/mean happen? which step",
)


def _collapsing() -> Run:
    table = {s: training_step(s) for s in range(1, 41)}
    for s in range(26, 41):
        table[s]["response_length/mean"] = {26: 400.0, 27: 60.0}.get(s, 20.0 + s / 10)
    return run_of(table)


@pytest.mark.parametrize("question", ONSET)
def test_onset_names_the_steepest_fall(question: str) -> None:
    answer = ask(question, _collapsing())
    steps = [int(a or b) for a, b in re.findall(r"step (\d+)|(?<=\d 到 )(\d+)(?=：)", answer.answer.split("\n")[0])]
    assert len(steps) == 2
    assert 24 <= steps[0] <= 26
    assert 27 <= steps[1] <= 29
    assert "没有恢复" in answer.answer or "not come back" in answer.answer


def test_onset_steady_metric_is_not_called_sudden() -> None:
    made = run_of({s: {**training_step(s), "actor/entropy": 1.0 + 0.01 * ((s * 7) % 5)} for s in range(1, 41)})
    assert "No sudden fall" in ask("when did actor/entropy collapse?", made).answer


def test_onset_metric_that_only_rises_never_falls() -> None:
    made = run_of({s: {"actor/lr": 1e-6 * s} for s in range(1, 41)})
    assert "never falls" in ask("when did actor/lr collapse?", made).answer


@pytest.mark.parametrize(
    "question",
    [
        "step 20 到 step 30 发生了什么",
        "what happened between step 20 and step 30?",
        "第 20 步到第 30 步怎么了",
        "anything unusual between step 20 and step 30?",
        "20 到 30 步出了什么",
    ],
)
def test_happened_tells_of_the_stretch_alone(question: str) -> None:
    answer = ask(question, _collapsing())
    first = answer.answer.split("\n")[0]
    assert "20" in first
    assert "30" in first
    assert "`response_length/mean`" in first


def test_cut_lines_are_listed_by_step() -> None:
    whole = run_of({s: training_step(s) for s in range(1, 21)})
    cut = tuple(Missing("actor/grad_norm", s, s, "line_cut", limit=4096) for s in (5, 12))
    for question in (
        "Which steps have a cut line?",
        "哪些步的行被截断了",
        "which lines are truncated?",
        "哪些行不完整",
        "list the cut lines",
    ):
        answer = ask(question, replace(whole, missing=cut))
        has(answer, "5", "12")
        assert answer.intent == "lookup"
    assert "没有缺失" in ask("哪些步的行被截断了", whole).answer


def test_one_value_has_no_first_to_last() -> None:
    made = run_of(
        {s: {**training_step(s), **({"val-core/aime/acc/mean@8": 0.2} if s == 1 else {})} for s in range(1, 21)}
    )
    answer = ask("did val-core/aime/acc/mean@8 improve from first to last?", made)
    assert answer.verdict.code == "no_data" or "nothing to compare" in answer.answer


def test_plain_questions_keep_their_writers() -> None:
    made = run_of({s: training_step(s) for s in range(1, 21)})
    for question, intent in (
        ("actor/entropy at step 3", "lookup"),
        ("is training healthy?", "health"),
        ("what is ppo_kl?", "define"),
    ):
        assert ask(question, made).intent == intent


@pytest.mark.parametrize("module", [computed, run_questions])
def test_words_file_broken_is_refused_by_name(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    load = computed.words if module is computed else run_questions.kinds
    good = dict(resources.yaml_table(Path(str(module.__file__)).with_suffix(".yaml")))  # type: ignore[attr-defined]
    name = next(iter(good))
    broken = good | {name: "(" if module is computed else {**good[name], "re": "("}}
    monkeypatch.setattr(resources, "yaml_table", lambda _: broken)
    load.cache_clear()
    with pytest.raises(KnowledgeError, match=name):
        load()
    load.cache_clear()
