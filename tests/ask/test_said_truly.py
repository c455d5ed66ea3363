"""Sentences agree with the log's own values: knots of a course, extremes beside cut lines, what rules a thing out."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.analysis import Ledger
from assistant.analysis.diagnosis import Diagnosis, LookAlike
from assistant.ask.considered import others
from assistant.ask.context import Context
from assistant.ask.understand import Query
from assistant.model import Run
from assistant.parsing import parse_text
from assistant.service import service
from assistant.write.document import unmark
from tests.analysis.support import run_of, training_step

from .support import answerer


def ask(question: str, *runs: Run) -> str:
    return answerer().ask(question, runs)[0].answer


def lossy(values: list[float], metric: str = "critic/vf_loss") -> Run:
    return run_of({step: {**training_step(step), metric: value} for step, value in enumerate(values, 1)})


def noisy(values: np.ndarray, size: float) -> list[float]:
    return (values + np.random.default_rng(7).normal(0, size, len(values))).tolist()


def test_course_that_falls_to_almost_nothing_is_level_only_where_the_values_are() -> None:
    steps = np.arange(80)
    decay = 0.004 + 0.43 / (1 + np.exp((steps - 33) / 3.0))
    run = lossy((decay * np.random.default_rng(3).normal(1, 0.01, 80)).tolist())
    trend = Ledger([run]).trend_detail("critic/vf_loss")
    assert trend is not None
    assert trend.form == "ramp"
    step, level = trend.knots[2]
    assert run.value("critic/vf_loss", step) == pytest.approx(level, rel=0.3)


def test_course_that_first_falls_then_rises_far_higher_is_not_called_level_before() -> None:
    steps = np.arange(100)
    values = 0.012 + 0.15 * np.exp(-steps / 8) + np.where(steps > 45, (steps - 45) * 0.06, 0)
    text = ask("trend of critic/vf_loss", lossy(noisy(values, 0.0004)))
    assert "no clear change before" not in text
    assert "first fell" in text


def test_loss_that_rises_is_said_not_to_converge() -> None:
    values = noisy(np.linspace(0.1, 2, 40), 0.02)
    assert ask("is critic/vf_loss converging?", lossy(values)).startswith("**No: ")
    assert ask("critic/vf_loss 收敛了吗", lossy(values)).startswith("**没有：")


def cut_log() -> Run:
    rows = [
        f"step:{step} - actor/entropy:0.{step} - timing_s/step:{step}.5 - perf/throughput:100.0" for step in (1, 2, 3)
    ]
    rows[1] = rows[1][: rows[1].index("timing_s/step")] + "timing_s/st…"
    return parse_text("\n".join(rows)).runs[0]


def test_extreme_beside_a_step_without_its_value_says_that_it_may_be_there() -> None:
    run = cut_log()
    assert run.missing_at("timing_s/step", 2) is not None
    assert "may be there" in ask("max timing_s/step", run)
    assert "may be there" not in ask("max actor/entropy", run)
    assert "left out" in ask("average timing_s/step", run)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_explanation_that_is_ruled_out_stands_with_what_the_log_shows(language: str) -> None:
    run = lossy([1.0, 2.0, 3.0])
    context = Context(Query("", language, "health"), (run,), service().resolver, Ledger([run]))
    metric = "val-core/math500/acc/mean@1"
    ends = [
        context.ledger.derived(f"{end}/x", value, step=1, inputs=(), formula="x")
        for end, value in (("before", 0.6), ("end", 0.2))
    ]
    ends = [
        context.ledger.add(("t", end.id), kind="derived", run=run.id, name=end.name, value=end.value, metric=metric)
        for end in ends
    ]
    pair = (("trimmed_before", ends[0]), ("trimmed_end", ends[1]))
    shown, bare = LookAlike("trimmed", True, pair), LookAlike("followed", True)
    said = unmark(others(context, _check(shown, bare)))
    assert "60.0% → 20.0%" in said
    assert ("real progress" in said) is ("真实的进步" in said) is False  # nothing to show for it: not said
    assert unmark(others(context, _check(bare))) == ""


def _check(*lookalikes: LookAlike):  # type: ignore[no-untyped-def]
    from assistant.analysis.checks import Check

    found = Diagnosis("FM-08", "length_collapse", "warning", 1, (), (1,), (), (), lookalikes, "failure/length-collapse")
    return Check("length_collapse", "warning", (), (1,), (), found)


def test_step_against_step_is_told_by_its_difference_first() -> None:
    run = run_of({step: {**training_step(step), "timing_s/step": 100.0 + 10 * step} for step in (1, 2, 3)})
    text = ask("by how much is step 3 slower than step 1", run)
    assert text.startswith("**Step 3 took 20 s (+18.2%) longer than step 1: ")


def test_sources_are_told_by_title_and_only_where_cited() -> None:
    run = lossy([0.3, 0.2, 0.1])
    assert "Sources" not in ask("actor/grad_norm at step 2", run)
    text = ask("what does actor/grad_norm mean?", run)
    assert "Sources: [K1] " in text
    assert "[K1] verl/" not in text
