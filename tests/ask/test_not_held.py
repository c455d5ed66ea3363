"""A quantity that the log does not hold is said to be absent by its name: never another metric in its place."""

from __future__ import annotations

import time

import pytest

from assistant.ask.not_held import words
from assistant.model import Answer, Run
from tests.analysis.support import run_of, training_step

from .support import answerer, first_line


def run(**beside: float) -> Run:
    return run_of({step: {**training_step(step), **beside} for step in range(1, 31)})


def trl() -> Run:
    rows = {
        step: {"loss": 0.1 / step, "reward": 0.01 * step, "grad_norm": 0.5, "entropy": 0.3, "kl": 0.001 * step}
        for step in range(1, 31)
    }
    return run_of(rows)


def ask(question: str, log: Run | None = None) -> Answer:
    return answerer().ask(question, (log or run(),))[0]


ENGLISH = [
    "what is the {} at step 3?",
    "how did {} change over training?",
    "what is the highest {}",
    "which step had the lowest {}?",
    "trend of {}",
]
CHINESE = ["第 3 步的{}是多少", "{}的趋势", "{}最大是多少", "{}在涨吗"]


@pytest.mark.parametrize("wording", ENGLISH)
@pytest.mark.parametrize(
    "name",
    ["reward entropy", "COMET score", "router z-loss", "attention entropy", "entropy of expert 5", "hallucination rate",
     "toxicity", "val entropy", "forward KL", "language consistency reward"],
)  # fmt: skip
@pytest.mark.parametrize("log", [run(), trl()], ids=["verl", "trl"])
def test_an_english_name_that_no_key_answers_to_is_said_to_be_absent(wording: str, name: str, log: Run) -> None:
    answer = ask(wording.format(name), log)
    assert answer.verdict.code == "no_data"
    assert f"`{name}" in first_line(answer) or name.split(maxsplit=1)[0] in first_line(answer)
    assert not any(fact.kind in {"value", "trend", "change"} for fact in answer.facts)


@pytest.mark.parametrize("wording", CHINESE)
@pytest.mark.parametrize(
    "name", ["优势的熵", "COMET 分数", "路由损失", "注意力熵", "缓存命中率", "验证集的熵", "前向 KL"]
)
def test_a_chinese_name_that_no_key_answers_to_is_said_to_be_absent(wording: str, name: str) -> None:
    answer = ask(wording.format(name))
    assert answer.verdict.code == "no_data"
    assert f"`{name}`" in first_line(answer)
    assert not any(fact.kind in {"value", "trend", "change"} for fact in answer.facts)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("what is the policy entropy at step 3?", "actor/entropy"),
        ("how did the average reward change over training?", "critic/rewards/mean"),
        ("how did the training reward change over time?", "critic/"),
        ("what is the actor's gradient norm at step 3?", "actor/grad_norm"),
        ("what is the learning rate of the actor at step 3?", "actor/lr"),
        ("第 3 步的平均回答长度是多少", "response_length/mean"),
        ("策略熵的趋势", "actor/entropy"),
        ("第 3 步的 actor 学习率是多少", "actor/lr"),
        ("训练奖励的趋势", "critic/"),
        ("梯度范数最大是多少", "actor/grad_norm"),
    ],
)
def test_a_metric_of_the_log_by_a_fuller_name_is_answered(question: str, key: str) -> None:
    answer = ask(question)
    assert answer.verdict.code != "no_data"
    assert key in answer.answer


@pytest.mark.parametrize(
    "question", ["how did the training change over time?", "how did things go", "训练的趋势", "整体表现怎么样"]
)
def test_the_run_as_a_whole_is_no_name(question: str) -> None:
    assert ask(question).verdict.code != "no_data"


def test_the_nearest_metric_is_named_as_another_quantity() -> None:
    assert "does not stand for it" in ask("what is the attention entropy at step 3?").answer
    assert "不能代替" in ask("第 3 步的注意力熵是多少").answer


def test_every_frame_names_the_quantity_and_is_read_in_no_time() -> None:
    frames = (*words().frames, *words().loose)
    started = time.perf_counter()
    for frame in frames:
        assert "x" in frame.groupindex
        for text in ("what is the " + "a " * 54, "第 3 步的" + "的" * 110, "show me the trend of " + "of the " * 14):
            frame.match(text)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "question",
    [
        "熵涨了多少", "熵一共下降了多少", "最近三次的 kl 有提升吗", "entropy 偏小吗？", "entropy 的波动变小了吗",
        "reward 的二阶导数是多少", "average reward per epoch", "what is the reward in the second half",
        "mean response length excluding the first", "has entropy continued to fall after the first 20 steps",
        "如果 gen 快一倍能省多少", "前面所有步的平均 grad_norm 是多少", "step 5 整个集群吞吐多少",
        "what was the biggest one-step fall of critic/score/mean", "Show me ppo_kl over time",
    ],
)  # fmt: skip
def test_what_is_said_of_a_metric_is_no_part_of_its_name(question: str) -> None:
    log = run(**{"perf/throughput": 600.0, "timing_s/gen": 30.0, "perf/total_num_tokens": 2e5})
    said = ask(question, log).answer
    assert "under a key of its own" not in said
    assert "单独记成一个指标" not in said


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("maj@8 趋势", "acc/maj@8/mean"),
        ("what is maj@8 at the end", "acc/maj@8/mean"),
        ("reward mean@30 最近多少", "reward/mean@30"),
        ("what is the mean@30 reward at the end?", "reward/mean@30"),
    ],
)
def test_a_statistic_of_several_answers_is_the_one_that_is_named(question: str, key: str) -> None:
    rows = {step: training_step(step) for step in range(1, 31)}
    for step in (10, 20, 30):
        for at, name in enumerate(("acc/mean@30", "acc/maj@8/mean", "acc/maj@30/mean", "reward/mean@30")):
            rows[step][f"val-{'core' if '30' in name and 'acc' in name else 'aux'}/aime/{name}"] = (
                0.01 * step + 0.1 * at
            )
    answer = ask(question, run_of(rows))
    assert answer.slots.metrics[0].endswith(key)


@pytest.mark.parametrize(
    ("question", "said"), [("pass@1 多少", "pass@1 的估计"), ("is pass@1 logged?", "estimate of pass@1")]
)
def test_pass_at_one_is_estimated_by_the_mean(question: str, said: str) -> None:
    rows = {step: training_step(step) for step in range(1, 31)}
    for step in (10, 20, 30):
        rows[step]["val-core/aime/acc/mean@16"] = 0.01 * step
    assert said in ask(question, run_of(rows)).answer


@pytest.mark.parametrize("question", ["pass@30 在最后一次是多少", "what is pass@30 at the end", "pass@30 多少"])
def test_pass_at_k_is_the_best_of_k_where_that_is_logged(question: str) -> None:
    rows = {step: training_step(step) for step in range(1, 31)}
    for step in (10, 20, 30):
        rows[step]["val-core/aime/acc/best@30/mean"] = 0.01 * step
        rows[step]["val-core/aime/acc/mean@30"] = 0.005 * step
    answer = ask(question, run_of(rows))
    assert answer.verdict.code == "answered"
    assert "best@30/mean" in answer.answer
    assert "pass-at-k" not in answer.answer


@pytest.mark.parametrize("question", ["验证结果怎么样", "how did the validation go?"])
def test_validations_of_a_loss_alone_are_no_missing_validations(question: str) -> None:
    rows = {step: {"train_loss": 3.0 / step} for step in range(1, 31)}
    for step in range(5, 31, 5):
        rows[step]["val_loss"] = 2.0 + 1.0 / step
    answer = ask(question, run_of(rows))
    assert answer.verdict.code != "no_data"
    assert "`val_loss`" in answer.answer


@pytest.mark.parametrize(
    "question", ["which step had the lowest loss?", "哪一步的 loss 最低", "when did entropy first exceed 0.5"]
)
def test_a_step_is_not_defined_where_there_is_no_log(question: str) -> None:
    answer, _ = answerer().ask(question, ())
    assert answer.verdict.code == "no_metrics"
