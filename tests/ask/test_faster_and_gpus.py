"""Which of two runs is faster, how many GPUs without a throughput, and why one step's generation is long."""

from __future__ import annotations

import math

import pytest

from assistant.model import Answer, Run
from assistant.model.run import Version
from tests.analysis.support import run_of
from tests.ask.computed_support import ask
from tests.ask.support import answerer


def _noise(step: int, seed: float) -> float:
    return 1 + 0.03 * math.sin(step * seed)


def paced(name: str, seconds: float, tokens: float, gpus: int) -> Run:
    """A run whose steps take so long for so many tokens on so many GPUs."""
    rows = {}
    for step in range(1, 41):
        whole, work = seconds * _noise(step, 7.1), round(tokens * _noise(step, 5.3))
        rows[step] = {
            "timing_s/step": whole, "timing_s/gen": 0.9 * whole, "perf/time_per_step": whole,
            "perf/total_num_tokens": work, "perf/throughput": work / whole / gpus,
        }  # fmt: skip
    return run_of(rows, id=name, name=name, framework="verl")


def both(question: str, a: Run, b: Run) -> Answer:
    return answerer().ask(question, (a, b))[0]


@pytest.mark.parametrize(
    ("question", "step", "token", "gpu"),
    [
        ("which run is faster?", "By the step `short` is", "by the token `long` is faster:", "`long` is the cheaper"),
        ("哪个跑得快", "按步算 `short` 更快", "按 token 算 `long` 更快", "`long` 更省"),
    ],
)  # fmt: skip
def test_faster_run_is_named_by_step_token_and_card(question: str, step: str, token: str, gpu: str) -> None:
    answer = both(question, paced("long", 60, 300_000, 8), paced("short", 40, 100_000, 16))
    first = answer.answer.split("\n", 1)[0]
    assert all(text in first for text in (step, token, gpu))
    ratio = (40 * 16 / 100_000) / (60 * 8 / 300_000)
    assert any(
        fact.name == "faster.gpu ratio" and fact.value == pytest.approx(ratio, rel=0.02) for fact in answer.facts
    )


def test_a_run_that_is_faster_both_ways_is_not_set_against_itself() -> None:
    first = both("which run is faster?", paced("a", 60, 100_000, 8), paced("b", 40, 300_000, 8)).answer.split("\n", 1)[
        0
    ]
    assert "by the token `b` is faster, too" in first
    assert "cheaper" not in first  # as many GPUs


# -- GPUs --------------------------------------------------------------------------------------------------------------
def split(parts: int, *, until: str | None, whole: bool = True) -> Run:
    """A run without a throughput whose tokens are split into so many parts."""
    batch, rows = 256, {}
    for step in range(1, 31):
        prompt, response = 240 * _noise(step, 3.1), 1800 * _noise(step, 2.3)
        tokens, gen = batch * (prompt + response), 90 * _noise(step, 1.7)
        rows[step] = {
            "prompt_length/mean": prompt, "response_length/mean": response,
            "global_seqlen/mean": tokens / parts * (1 if whole else _noise(step, 9.7)), "timing_s/gen": gen,
            "timing_per_token_ms/gen": 1000 * gen / (batch * response) * (1 + 0.001 * math.sin(step)),
        }  # fmt: skip
    version = None if until is None else Version(None, until, ("response_length/mean",))
    return run_of(rows, framework="verl", version=version)


@pytest.mark.parametrize("question", ["how many gpus", "用了几张卡"])
@pytest.mark.parametrize("parts", [8, 24])
def test_gpus_of_an_early_log_follow_from_its_parts(question: str, parts: int) -> None:
    answer = ask(question, split(parts, until="2025-08-13"))
    assert any(fact.name == "actor_gpus" and fact.value == parts for fact in answer.facts)
    assert str(parts) in answer.answer.split("\n", 1)[0]


def test_parts_of_a_later_log_are_ranks() -> None:
    answer = ask("how many gpus", split(8, until=None))
    assert "8 data-parallel ranks (the GPUs are unknown)" in answer.answer.split("\n", 1)[0]
    assert not any(fact.name == "actor_gpus" for fact in answer.facts)


def test_parts_that_are_not_whole_tell_nothing() -> None:
    assert ask("how many gpus", split(8, until="2025-08-13", whole=False)).verdict.code == "no_data"


def test_shown_division_gives_the_gpus_but_for_rounding() -> None:
    said = ask("how many GPUs?", paced("one", 63.37, 309_842, 32)).answer
    tokens, rate, seconds = (float(text.replace(",", "")) for text in _terms(said))
    assert tokens / (rate * seconds) == pytest.approx(32, rel=1e-3)
    assert "a whole number" not in said


def _terms(said: str) -> tuple[str, str, str]:
    head, _, tail = said.partition(" tokens ÷ (")
    rate, _, rest = tail.partition(" tokens/s/GPU × ")
    return head.rsplit(" ", 1)[-1], rate, rest.split(" s)", 1)[0]


# -- one step ----------------------------------------------------------------------------------------------------------
SLOW = (4, 9, 17, 23, 31)


def stragglers(slow: tuple[int, ...] = SLOW) -> Run:
    """A run at some steps of which one trajectory runs to the limit."""
    rows = {}
    for step in range(1, 41):
        length = 8192 if step in slow else 1500 + 20 * (step % 7)
        own = length / 40
        rows[step] = {
            "timing_s/gen": own + 3,
            "timing_s/update_actor": 5.0,
            "timing_s/step": own + 8.1,
            "timing_s/agent_loop/slowest/response_length": length,
            "timing_s/agent_loop/slowest/generate_sequences": own,
            "timing_s/agent_loop/slowest/tool_calls": 0.0,
        }
    return run_of(rows, framework="verl")


@pytest.mark.parametrize(
    ("question", "waited", "shared"),
    [
        ("why is step 9 so slow?", "waited for its slowest trajectory: a response of 8,192 tokens", "of the 5 whose"),
        ("step 9 为什么这么慢", "等的是最慢的一条轨迹：回答 8,192 token", "5 个步的生成达到"),
    ],
)
def test_slow_step_is_put_down_to_its_slowest_trajectory(question: str, waited: str, shared: str) -> None:
    said = ask(question, stragglers()).answer
    assert waited in said
    assert shared in said
    assert "4, 9, 17, 23, 31" in said or "4、9、17、23、31" in said


def test_usual_step_is_said_to_be_usual() -> None:
    said = ask("why is step 8 slow?", stragglers()).answer
    assert "not unusually long" in said
    assert "waited for" not in said


def test_a_length_that_other_steps_have_too_is_no_common_cause() -> None:
    rows = stragglers()
    table = {step: {metric: rows.value(metric, step) or 0.0 for metric in rows.columns} for step in rows.distinct_steps}
    for row in table.values():
        row["timing_s/agent_loop/slowest/response_length"] = 8192
    said = ask("why is step 9 so slow?", run_of(table, framework="verl")).answer
    assert "of the 5 whose" not in said


def test_in_flight_follows_from_the_numbers_shown() -> None:
    base = {"timing_s/gen": 60.0, "timing_s/update_actor": 5.0, "timing_s/step": 65.1}
    loop = "timing_s/agent_loop/"
    cells = {
        f"{loop}generate_sequences/mean": 9.0, f"{loop}generate_sequences/max": 46.0, f"{loop}tool_calls/mean": 3.0,
        f"{loop}slowest/generate_sequences": 46.0, f"{loop}slowest/tool_calls": 12.0,
    }  # fmt: skip
    run = run_of({step: {**base, **cells} for step in range(1, 13)}, framework="verl")
    said = ask("bottleneck at step 7?", run).answer
    assert "(46 s, and 12 s in tools); one takes 9 s, and 3 s in tools on average, so on average 20.0%" in said
    short = {**cells, f"{loop}slowest/generate_sequences": 30.0, f"{loop}generate_sequences/max": 30.0}
    run = run_of({step: {**base, **short} for step in range(1, 13)}, framework="verl")
    said = ask("bottleneck at step 7?", run).answer
    assert "about as long as" not in said
    assert "20.0% of the batch is in flight" in said
