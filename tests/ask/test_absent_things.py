"""What no metric holds is said to be absent, by its name; what a run does beside training is told from what it logs."""

from __future__ import annotations

import pytest

from assistant.ask.answer_absent import thing_in, things
from assistant.model import Answer, Run
from tests.analysis.support import run_of, training_step

from .support import answerer

TOOL = "timing_s/agent_loop/tool_calls/"


def run(**beside: float) -> Run:
    return run_of({step: {**training_step(step), **beside} for step in range(1, 31)})


def ask(question: str, log: Run | None = None) -> Answer:
    return answerer().ask(question, (log or run(),))[0]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which lora rank was used?", "`lora rank`"),
        ("is gae lambda 0.95 here?", "`gae lambda`"),
        ("what seed did I set", "`seed`"),
        ("temperature 设的多少", "`temperature`"),
        ("clip range epsilon 设的 0.2 吗", "epsilon"),
        ("用的 bf16 吗", "`bf16`"),
        ("mini batch size 多大", "`mini batch size`"),
        ("checkpoint 存在哪个路径", "路径"),
        ("where are the checkpoints saved?", "where files are saved"),
        ("git commit hash 是啥", "版本"),
        ("what version of vllm is this", "versions"),
        ("how much did this run cost in dollars", "money"),
        ("这次训练花了多少钱", "费用"),
        ("为什么选 GRPO 不选 PPO", "理由"),
        ("why did you choose GRPO?", "reasons"),
        ("训练集有多少条数据", "训练集的大小"),
        ("how big is the training set", "size of the training set"),
        ("base model 是 Qwen 吗", "模型的名字"),
        ("is this a llama model?", "name of the model"),
        ("when was the run started?", "date and time"),
        ("几点开始跑的", "钟点"),
        ("who launched this run", "who started"),
        ("在哪台机器上跑的", "机器"),
        ("奖励函数是怎么写的", "奖励函数"),
        ("几层 transformer", "几层"),
        ("用了哪些工具，名字", "工具的名字"),
        ("what is the critic architecture", "architecture"),
        ("run name on wandb?", "name"),
        ("启动命令是啥", "启动命令"),
        ("prompt 模板是什么样的", "提示词模板"),
        ("how many epochs are planned in total", "epochs are planned"),
        ("how many parameters does the model have", "how many parameters"),
        ("context length 多大", "context length"),
        ("环境是哪个 gym", "环境"),
    ],
)
def test_thing_that_no_metric_holds_is_named_and_said_to_be_absent(question: str, said: str) -> None:
    answer = ask(question)
    assert answer.verdict.code == "no_data"
    first = answer.answer.split("\n")[0]
    assert said in first
    assert "不读启动配置" in first or "no launch configuration" in first
    assert not answer.slots.metrics


@pytest.mark.parametrize(
    "question",
    [
        "should I lower the temperature?", "what is gae?", "what does lambda mean in GAE", "lora rank 怎么调",
        "actor/lr 是多少", "what is the learning rate", "how long does a step take", "entropy at step 3",
        "why is the entropy falling", "how many steps were run", "一步花多少秒", "when did the score start to rise?",
        "哪一步最慢", "mean response length",
    ],
)  # fmt: skip
def test_question_that_metrics_or_meanings_answer_is_none_after_a_setting(question: str) -> None:
    assert "launch configuration" not in ask(question).answer.split("\n")[0]
    assert "启动配置" not in ask(question).answer.split("\n")[0]


def test_setting_that_the_log_has_as_a_metric_is_looked_up() -> None:
    log = run(**{"rollout/temperature": 0.7})
    answer = ask("what temperature was used", log)
    assert answer.verdict.code == "answered"
    assert "0.7" in answer.answer


def test_every_thing_has_its_words_and_says_where_it_stands() -> None:
    assert {"setting", "model", "path", "cost"} <= set(things())
    assert thing_in("which model is this") == "model"
    assert thing_in("entropy at step 3") is None
    assert thing_in("x" * 100_000) is None


# -- tools and saves ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("question", ["does this run use tools?", "用了工具吗", "有没有调用工具"])
def test_whether_tools_are_used_is_told_from_calls_time_or_not_at_all(question: str) -> None:
    calls = ask(question, run(**{"tool_call_counts/mean": 2.5, f"{TOOL}max": 9.0}))
    assert "2.5" in calls.answer.split("\n")[0]
    time = ask(question, run(**{f"{TOOL}max": 9.0, f"{TOOL}mean": 1.0}))
    assert "`timing_s/agent_loop/tool_calls/max`" in time.answer.split("\n")[0]
    assert time.answer.startswith(("**Yes", "**用了工具"))
    none = ask(question, run(**{f"{TOOL}max": 0.0, f"{TOOL}mean": 0.0}))
    assert none.answer.startswith(("**No sign of tools", "**没有用工具"))
    unknown = ask(question, run_of({step: {"loss": 1.0 / step} for step in range(1, 9)}, framework=None))
    assert unknown.verdict.code == "no_data"


@pytest.mark.parametrize(
    "question", ["which steps were checkpoints saved at?", "哪些步存了 checkpoint", "多久存一次检查点"]
)
def test_steps_of_saves_are_told_where_their_time_is_logged(question: str) -> None:
    table = {step: {**training_step(step)} for step in range(1, 31)}
    for step in (10, 20, 30):
        table[step]["timing_s/save_checkpoint"] = 30.0 + step / 10
    first = ask(question, run_of(table)).answer.split("\n")[0]
    assert "10" in first
    assert "20" in first
    assert "30" in first
    assert ask(question).verdict.code == "no_data"


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("mean generate_sequences time at step 5", "generate_sequences/mean"),
        ("max generate_sequences time at step 5", "generate_sequences/max"),
        ("第 5 步 generate_sequences 平均几秒", "generate_sequences/mean"),
        ("slowest generate_sequences at step 5", "slowest/generate_sequences"),
        ("how long did the slowest tool call take in step 5", "tool_calls/max"),
    ],
)
def test_name_of_a_family_means_all_trajectories_and_not_the_slowest(question: str, part: str) -> None:
    head = "timing_s/agent_loop/"
    log = run(**{f"{head}slowest/generate_sequences": 299.0, f"{head}slowest/tool_calls": 0.2, f"{TOOL}max": 9.0,
                 f"{TOOL}mean": 1.0, f"{head}generate_sequences/min": 3.0})  # fmt: skip
    answer = ask(question, log)
    assert [metric.removeprefix(head) for metric in answer.slots.metrics] == [part]


def test_count_under_a_prefix_of_times_takes_no_share_of_a_step() -> None:
    log = run(**{"timing_s/agent_loop/num_preempted/mean": 0.0})
    assert "% of the step" not in ask("what fraction of the step is num_preempted/mean", log).answer


@pytest.mark.parametrize("question", ["max grad norm?", "max grad norm in the last 20 steps"])
def test_largest_value_of_a_metric_is_no_setting(question: str) -> None:
    assert ask(question).slots.metrics == ("actor/grad_norm",)


@pytest.mark.parametrize(
    "question", ["eval reward at step 10", "validation accuracy?", "验证集准确率", "测试集得分多少"]
)
def test_log_without_evaluations_says_so_and_gives_no_training_value(question: str) -> None:
    log = run_of({step: {"reward": 0.5, "accuracy": 1.0, "loss": 0.3} for step in range(1, 31)}, framework="TRL")
    answer = ask(question, log)
    assert answer.verdict.code == "no_data"
    assert "0.5" not in answer.answer


def test_extreme_of_a_key_at_the_top_is_not_the_validations() -> None:
    table = {step: {**training_step(step)} for step in range(1, 31)}
    log = run_of({0: {"val-aux/num_turns/max": 9, "val-core/x/acc/mean@1": 0.5}, **table})
    assert ask("num_turns 的 max 在 step 12", log).slots.metrics == ("num_turns/max",)


@pytest.mark.parametrize(
    ("question", "key"), [("工具从哪步开始变慢", f"{TOOL}mean"), ("吞吐从哪步开始变慢的", "perf/throughput")]
)
def test_step_from_which_something_is_slow_is_told(question: str, key: str) -> None:
    table = {}
    for step in range(1, 61):
        slow = step >= 30
        table[step] = {**training_step(step), f"{TOOL}mean": (90.0 if slow else 2.0) + 0.01 * step,
                       "perf/throughput": (60.0 if slow else 300.0) + 0.1 * (step % 5)}  # fmt: skip
    answer = ask(question, run_of(table))
    assert key in answer.slots.metrics
    assert "step 30" in answer.answer.split("\n")[0]
