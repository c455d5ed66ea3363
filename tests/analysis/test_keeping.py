"""What is kept with a run: computed once, and let go with it."""

from __future__ import annotations

import weakref

from assistant.analysis.keeping import kept_with_run
from assistant.model import Run
from assistant.parsing import parse_text


def _run() -> Run:
    return parse_text("step:1 - actor/entropy:0.5\nstep:2 - actor/entropy:0.4\n").runs[0]


def test_kept_with_run_asked_twice_computes_once() -> None:
    calls: list[tuple[str, ...]] = []

    @kept_with_run
    def count(run: Run, *names: str) -> int:
        calls.append(names)
        return len(run.metrics)

    run, other = _run(), _run()
    assert [count(run, "a"), count(run, "a"), count(run, "b"), count(other, "a")] == [1, 1, 1, 1]
    assert calls == [("a",), ("b",), ("a",)]


def test_kept_with_run_does_not_keep_the_run() -> None:
    @kept_with_run
    def names(run: Run) -> tuple[str, ...]:
        return run.metrics

    run = _run()
    assert names(run) == ("actor/entropy",)
    whose = weakref.ref(run)
    del run
    assert whose() is None
