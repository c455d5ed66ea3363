"""A question that a log answers by itself is answered for each of two runs, under its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of

from .support import answerer


def run(name: str, *, broken: bool = False) -> Run:
    rows = {
        step: {
            "critic/score/mean": 0.5 + 0.001 * step, "actor/entropy": 0.4,
            "actor/grad_norm": float("nan") if broken and step > 9 else 0.5,
        }
        for step in range(1, 15)
    }  # fmt: skip
    return replace(run_of(rows, framework="verl"), id=name, name=name)


def ask(question: str, *runs: Run) -> Answer:
    return answerer().ask(question, runs)[0]


@pytest.mark.parametrize("question", ["which one has NaN?", "哪个 run 有 nan", "any NaN in either?"])
@pytest.mark.parametrize("turned", [False, True])
def test_nan_is_looked_for_in_every_run(question: str, *, turned: bool) -> None:
    runs = (run("sound"), run("broken", broken=True))
    answer = ask(question, *(runs[::-1] if turned else runs))
    lines = [line for line in answer.answer.split("\n") if line.startswith("**`")]
    (sick,) = [line for line in lines if line.startswith("**`broken`")]
    (well,) = [line for line in lines if line.startswith("**`sound`")]
    assert "step 10" in sick
    assert "step 10" not in well
    alone = ask("any NaN?", run("broken", broken=True))
    assert answer.verdict is not None
    assert alone.verdict is not None
    assert answer.verdict.code == alone.verdict.code != "healthy"


@pytest.mark.parametrize("question", ["哪个重启过", "did either of them restart?"])
def test_restarts_are_told_of_every_run(question: str) -> None:
    answer = ask(question, run("one"), run("two")).answer
    assert "**`one`" in answer
    assert "**`two`" in answer
