"""Clipped follow-ups that set what was just told against something else, or ask the same of its counterpart."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Answer, Number, Run
from tests.analysis.support import run_of
from tests.ask.support import answerer, conversation

ENTROPY, KL, REWARD, VAL = "actor/entropy", "actor/kl_loss", "critic/rewards/mean", "val-core/aime/acc/mean@8"
STEP, GEN, UPDATE = "timing_s/step", "timing_s/gen", "timing_s/update_actor"
LAST, LOWEST = 40, 20


@lru_cache(maxsize=1)
def made() -> Run:
    """An entropy that is lowest at step 20, a validation every tenth step."""
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, LAST + 1):
        rows[step] = {
            ENTROPY: round(0.3 + 0.004 * abs(step - LOWEST), 4), KL: 0.001 * step, REWARD: round(0.2 + 0.01 * step, 4),
            "critic/rewards/std": 0.4, STEP: 100.0 + step, GEN: 60.0 + step, UPDATE: 20.0, "timing_s/reward": 1.0,
            "actor/ppo_kl": 0.0001,
        }  # fmt: skip
        if step % 10 == 0:
            rows[step][VAL] = round(0.3 + step / 1000, 4)
    return run_of(rows)


def ask(*turns: str) -> Answer:
    return conversation(made(), *turns)


@pytest.mark.parametrize(
    ("turns", "steps"),
    [
        (("最后 entropy 多少", "跟 step 1 比呢"), (1, LAST)),
        (("step 20 的 entropy", "比 step 2 呢"), (2, 20)),
        (("step 20 的 entropy", "和最后比呢"), (20, LAST)),
        (("entropy at step 20", "vs last"), (20, LAST)),
        (("entropy at the last step", "compared to step 5?"), (5, LAST)),
        (("step 20 的 entropy", "step 30?", "哪个更低"), (20, 30)),
        (("entropy at step 20", "and step 30?", "which is higher?"), (20, 30)),
    ],
)
def test_step_told_is_held_against_the_one_named_next(turns: tuple[str, ...], steps: tuple[int, int]) -> None:
    answer = ask(*turns)
    assert (answer.intent, list(answer.slots.metrics)) == ("compare", [ENTROPY])
    assert (answer.slots.steps.kind, tuple(answer.slots.steps.values)) == ("pair", steps)
    assert {made().value(ENTROPY, step) for step in steps} <= {fact.value for fact in answer.facts}


def test_which_of_two_metrics_gives_both_values() -> None:
    answer = ask("step 20 的 entropy", "kl_loss 呢", "哪个更大")
    assert set(answer.slots.metrics) == {ENTROPY, KL}
    assert {made().value(ENTROPY, 20), made().value(KL, 20)} <= {fact.value for fact in answer.facts}


@pytest.mark.parametrize("said", ["最开始呢", "一开始呢？", "开始呢"])
def test_beginning_named_alone_is_the_first_step(said: str) -> None:
    answer = ask("entropy 最后多少", said)
    assert answer.slots.steps.kind == "first"
    assert made().value(ENTROPY, 1) in [fact.value for fact in answer.facts]


@pytest.mark.parametrize("said", ["英文", "英语"])
def test_name_of_a_language_alone_repeats_the_answer_in_it(said: str) -> None:
    before, answer = ask("step 20 的 entropy"), ask("step 20 的 entropy", said)
    assert (answer.language, answer.slots) == ("en", before.slots)


@pytest.mark.parametrize("said", ["只要结论", "结论就行", "直接说结论"])
def test_conclusion_alone_is_the_first_sentence(said: str) -> None:
    whole, answer = ask("训练健康吗"), ask("训练健康吗", said)
    assert answer.answer.split("\n\n")[0] == whole.answer.split("\n\n")[0]
    assert len([part for part in answer.answer.split("\n\n") if not part.startswith("来源")]) == 1


@pytest.mark.parametrize("said", ["跟 ppo_kl 有啥区别", "和 ppo_kl 有什么不同"])
def test_difference_from_another_metric_defines_both(said: str) -> None:
    answer = ask("kl_loss 是什么", said)
    assert (answer.intent, list(answer.slots.metrics)) == ("define", [KL, "actor/ppo_kl"])


@pytest.mark.parametrize(
    ("turns", "metric", "step"),
    [
        (("最后验证多少", "训练呢"), REWARD, LAST),
        (("val acc at the last step", "and training?"), REWARD, LAST),
        (("step 10 的 reward", "std 呢"), "critic/rewards/std", 10),
        (("step 10 花了多久", "其中生成呢"), GEN, 10),
        (("step 10 花了多久", "其中生成呢", "训练呢"), UPDATE, 10),
    ],
)
def test_counterpart_of_what_was_told_is_told_at_the_same_step(turns: tuple[str, ...], metric: str, step: int) -> None:
    answer = ask(*turns)
    assert [(f.metric, f.step, f.value) for f in answer.facts if f.kind == "value"] == [
        (metric, step, made().value(metric, step))
    ]


@pytest.mark.parametrize("said", ["之后呢", "后来怎么样", "and afterwards?"])
def test_what_came_after_an_extreme_is_its_course_from_there(said: str) -> None:
    answer = ask("entropy 最低在哪步", said)
    assert answer.intent == "trend"
    assert (answer.slots.steps.kind, tuple(answer.slots.steps.values)) == ("range", (LOWEST, LAST))
    assert answer.verdict.code == "rising"


@lru_cache(maxsize=1)
def evaluated() -> Run:
    """A log with a total and a stage under names of their own; its evaluation falls while the reward rises."""
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, LAST + 1):
        rows[step] = {
            "reward": round(0.2 + 0.01 * step, 4), "time/step_total": 130.0 if step == LOWEST else 100.0,
            "time/step_generate": 90.0 if step == LOWEST + 1 else 60.0 + step % 3,
        }  # fmt: skip
        if step % 4 == 0:
            rows[step] |= {"eval_reward": round(0.6 - 0.01 * step, 4)}
    return run_of(rows)


@pytest.mark.parametrize(("question", "step"), [("生成最慢的是哪步", LOWEST + 1), ("最慢的是哪步", LOWEST)])
def test_slowest_of_a_stage_is_the_step_of_that_stage(question: str, step: int) -> None:
    answer, _ = answerer().ask(question, (evaluated(),), state=None)
    assert [fact.step for fact in answer.facts if fact.kind == "value"] == [step]


@pytest.mark.parametrize(
    "question", ["训练分涨、评测分跌，谁说了算", "train 涨 eval 跌，信哪个", "训练在涨，评测却掉了"]
)
def test_training_up_and_evaluation_down_sets_the_two_against_each_other(question: str) -> None:
    answer, _ = answerer().ask(question, (evaluated(),), state=None)
    assert answer.intent == "compare"
    assert "eval_reward" in answer.slots.metrics
