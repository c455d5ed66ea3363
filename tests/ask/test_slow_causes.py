"""What a slow-down is put down to: the stages that became slower, and what else the log holds; memory by what it is."""

from __future__ import annotations

import math

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

LAST, AT = 60, 31


def _noise(step: int) -> float:
    return 1 + 0.02 * math.sin(5.1 * step)


def slow(side: str, *, tokens: float = 1.0, mfu: bool = True, tools: float = 0.0) -> Run:
    """A run whose training, generation or both take thrice as long for each token from one step on."""
    rows = {}
    for step in range(1, LAST + 1):
        late, n = step >= AT, _noise(step)
        work = tokens if late else 1.0
        gen = 60.0 * n * work * (3 if late and side in {"generation", "both"} else 1)
        train = 30.0 * n * work * (3 if late and side in {"training", "both"} else 1)
        rows[step] = {
            "timing_s/gen": gen, "timing_s/update_actor": train, "timing_s/old_log_prob": train / 3,
            "timing_s/step": gen + train + train / 3 + 0.1, "perf/total_num_tokens": 100_000 * n * work,
            "response_length/mean": 500.0 * n * work, "prompt_length/mean": 100.0 * n * work,
            "timing_s/agent_loop/num_preempted/mean": 0.0, "timing_s/agent_loop/tool_calls/mean": tools,
            **({"perf/mfu/actor": 0.4 / (3 if late and side != "generation" else 1)} if mfu else {}),
        }  # fmt: skip
    return run_of(rows, framework="verl")


TRAINING = {
    "en": "offloading, recomputation, micro-batch size, parallelism",
    "zh": "查参数或优化器卸载、重计算、微批大小",
}
ENGINE = {"en": "look at the engine's concurrency", "zh": "查推理引擎的并发与 KV 缓存抢占、同机争用"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("side", ["training", "generation", "both"])
def test_causes_are_those_of_the_stages_that_became_slower(side: str, language: str) -> None:
    question = "why did it get slower?" if language == "en" else "为什么后面变慢了"
    said = ask(question, slow(side)).answer
    assert (TRAINING[language] in said) is (side == "training")
    assert (ENGINE[language] in said) is (side == "generation")
    assert ("both became slower" in said or "都变慢了" in said) is (side == "both")


@pytest.mark.parametrize(
    ("side", "en", "zh"),
    [
        ("training", "Training rather than generation", "主要是训练变慢，不是生成"),
        ("generation", "Generation rather than training", "主要是生成变慢，不是训练"),
        ("both", "Both:", "生成和训练都变慢了"),
    ],
)
def test_rollout_or_training_is_answered_first(side: str, en: str, zh: str) -> None:
    run = slow(side)
    assert ask("what slowed down, rollout or training?", run).answer.startswith(f"**{en}")
    assert ask("变慢的是 rollout 还是训练", run).answer.startswith(f"**{zh}")


def test_use_of_the_hardware_is_told_where_training_slowed() -> None:
    assert "`perf/mfu/actor` went from 40.0% to 13.3%" in ask("why did it get slower?", slow("training")).answer
    assert "perf/mfu" not in ask("why did it get slower?", slow("training", mfu=False)).answer


def test_what_the_log_excludes_is_said_of_a_slower_generation() -> None:
    idle = ask("why did it get slower?", slow("generation")).answer
    assert "num_preempted/mean`, `timing_s/agent_loop/tool_calls/mean` was 0 throughout" in idle
    busy = ask("why did it get slower?", slow("generation", tools=2.0)).answer
    assert "tool_calls/mean` was 0" not in busy


@pytest.mark.parametrize(("tokens", "said"), [(1.0, "about as many tokens"), (1.06, "changed by +6")])
def test_tokens_are_as_many_only_where_they_are(tokens: float, said: str) -> None:
    answer = ask("why did it get slower?", slow("training", tokens=tokens)).answer
    assert said in answer
    assert "tokens are as many" not in answer


@pytest.mark.parametrize(
    ("question", "said"),
    [("为什么后面变慢了", f"step {AT} 一次跳变"), ("why did it get slower?", f"one jump at step {AT}")],
)
def test_a_jump_of_the_main_stage_is_told_and_no_slope_of_the_step(question: str, said: str) -> None:
    answer = ask(question, slow("training")).answer
    assert said in answer
    assert "a step, p" not in answer
    assert "每步约" not in answer


def test_times_of_two_steps_are_no_rewards() -> None:
    rows = {
        step: {"timing_s/step": 50.0 + step, "timing_s/gen": 45.0 + step, "timing_s/reward": 0.002, "actor/lr": 1e-6}
        for step in range(1, 41)
    }
    said = ask("compare timing of step 20 and step 40", run_of(rows, framework="verl")).answer
    assert "reward on training prompts" not in said


def test_one_verdict_for_the_times_of_two_steps() -> None:
    answer = ask("compare timing of step 10 and step 50", slow("training"))
    assert answer.verdict.code == "regressed"
    assert f"one jump at step {AT}" in answer.answer


# -- memory ------------------------------------------------------------------------------------------------------------
def memories(host: float, card: float) -> Run:
    """Memory of the host, which grows by so much and then less and less, and of a card, by so much a step."""
    return run_of(
        {
            step: {
                "perf/cpu_memory_used_gb": 120.0 + host * (1 - math.exp(-step / 15)) + 0.05 * (step % 3),
                "perf/max_memory_allocated_gb": 60.0 + card * step, "perf/max_memory_reserved_gb": 70.0 + card * step,
            }
            for step in range(1, 61)
        },
        framework="verl",
    )  # fmt: skip


@pytest.mark.parametrize("question", ["Is memory usage growing?", "OOM risk?", "内存占用涨了吗", "会不会 OOM"])
def test_memory_is_any_memory(question: str) -> None:
    first = ask(question, memories(90.0, 0.001)).answer.split("\n", 1)[0]
    assert "`perf/cpu_memory_used_gb`" in first
    assert "hardly" not in first
    assert "几乎没涨" not in first


@pytest.mark.parametrize("question", ["is GPU memory growing?", "显存在涨吗"])
def test_memory_of_cards_is_theirs_alone(question: str) -> None:
    first = ask(question, memories(90.0, 0.001)).answer.split("\n", 1)[0]
    assert "cpu_memory" not in first


def test_which_grew_most_is_said_of_several_only() -> None:
    run = memories(0.0, 0.002)
    one = ask("is perf/max_memory_allocated_gb growing, OOM?", run).answer.split("\n", 1)[0]
    assert "grew most" not in one
    several = ask("OOM risk?", run).answer.split("\n", 1)[0]
    assert "grew most" in several


@pytest.mark.parametrize(
    "question",
    [
        "what's the gpu model?",
        "which GPU is it?",
        "what type of GPU?",
        "用的是什么型号的显卡",
        "显卡型号是什么",
        "什么显卡跑的",
    ],
)
def test_kind_of_card_is_not_in_the_log(question: str) -> None:
    answer = ask(question, slow("training"))
    assert answer.verdict.code == "no_data"
    assert any(text in answer.answer for text in ("kind of card", "model of the GPUs", "型号"))


@pytest.mark.parametrize("question", ["how many GPUs?", "what GPU memory usage is there?", "多少张卡"])
def test_other_questions_about_cards_are_none_about_their_kind(question: str) -> None:
    said = ask(question, memories(90.0, 0.001)).answer
    assert "kind of card" not in said
    assert "型号" not in said
