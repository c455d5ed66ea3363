"""In which of two runs a metric moved more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of

from .support import answerer


def run(name: str, slope: float, start: float) -> Run:
    return replace(
        run_of({step: {"reward": round(start + slope * step, 4)} for step in range(1, 41)}), name=name, id=name
    )


#: B begins lower and rises more; C falls.
A, B, C = run("a.log", 0.002, 0.6), run("b.log", 0.006, 0.3), run("c.log", -0.01, 0.9)


def last(runs: list[Run], *turns: str) -> Answer:
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, runs, state=state)
    return made


@pytest.mark.parametrize(
    ("turns", "name"),
    [
        (("两个 run 的 reward 哪个涨得更多",), "b.log"),
        (("which run's reward rose more",), "b.log"),
        (("两个 run 的 reward 谁变化大",), "b.log"),
        (("A 的 reward 最后是多少", "B 呢", "哪个涨得多"), "b.log"),
        (("final reward of both", "which one improved more"), "b.log"),
    ],
)
def test_the_run_that_rose_more_is_named_with_both_changes(turns: tuple[str, ...], name: str) -> None:
    made = last([A, B], *turns)
    assert made.intent == "compare"
    assert made.verdict.summary.index(f"{name}") < made.verdict.summary.index("0.602")
    assert {(f.from_value, f.to_value) for f in made.facts if f.kind == "change"} == {(0.602, 0.68), (0.306, 0.54)}


@pytest.mark.parametrize("question", ["两个 run 的 reward 谁掉得更狠", "which run's reward dropped more"])
def test_the_run_that_fell_more_is_named(question: str) -> None:
    made = last([A, C], question)
    assert "c.log" in made.verdict.summary.split("：" if made.language == "zh" else ":")[0]


@pytest.mark.parametrize("question", ["两个 run 的 reward 谁掉得更狠", "which run's reward dropped more"])
def test_where_none_fell_it_is_said(question: str) -> None:
    made = last([A, B], question)
    assert ("哪个 run 里都没有降" if made.language == "zh" else "None of the runs did so") in made.verdict.summary
