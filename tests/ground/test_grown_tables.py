"""Tables grown from a grammar: the true ones are supported, and a twin with one false cell is refused."""

# ruff: noqa: E501 (tables stay on one line)

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from tests.ground.grown_cells import run_of
from tests.ground.laid_out import MARKUPS, grown

RESOLVER = Resolver(library())
SHAPES = ("metrics×steps", "steps×metrics", "statistics", "stages", "one step", "parts")
BAD = {"contradicted", "unsupported"}
FALSE_PASSING = 0.02


@lru_cache(maxsize=16)
def auditor(seeds: tuple[int, ...]) -> Auditor:
    return Auditor([run_of(seed) for seed in seeds], RESOLVER)


def refused(text: str, seeds: tuple[int, ...]) -> bool:
    return bool({sentence.status for sentence in auditor(seeds).audit(text).sentences} & BAD)


def measured(numbers: Sequence[int], *, shape: str = "", markup: str = "", two: bool = False) -> tuple[list[str], int]:
    """The texts that are judged wrongly, and how many there are."""
    wrong, count = [], 0
    for number in numbers:
        first = number % 6
        seeds = (first, (first + 1) % 6) if two else (first,)
        other = run_of((first + 1) % 6) if two else None
        for text in grown(run_of(first), number, other, shape="" if two else shape, markup=markup):
            count += 1
            if refused(text.text, seeds) == text.true:
                wrong.append(f"{'true' if text.true else text.falsehood}: {number}\n{text.text}")
    return wrong, count


@pytest.mark.parametrize("shape", SHAPES)
def test_table_of_any_shape_is_judged_by_its_cells(shape: str) -> None:
    wrong, count = measured(range(5000, 5016), shape=shape)
    true = [text for text in wrong if text.startswith("true")]
    assert len(true) <= 1, "\n\n".join(true)
    assert len(wrong) - len(true) <= FALSE_PASSING * (count - 16), "\n\n".join(set(wrong) - set(true))


@pytest.mark.parametrize("markup", sorted(set(MARKUPS)))
def test_table_in_any_markup_is_judged_by_its_cells(markup: str) -> None:
    wrong, count = measured(range(6000, 6014), markup=markup)
    true = [text for text in wrong if text.startswith("true")]
    assert len(true) <= 1, "\n\n".join(true)
    assert len(wrong) - len(true) <= FALSE_PASSING * (count - 16), "\n\n".join(set(wrong) - set(true))


def test_table_of_two_runs_is_judged_by_its_columns() -> None:
    wrong, count = measured(range(7000, 7016), two=True, markup="pipes")
    assert len(wrong) <= 0.03 * count, "\n\n".join(wrong)


PAIRS = [
    # drawn with lines, in HTML
    ("┌──────┬────────┐\n│ step │ entropy │\n├──────┼────────┤\n│ 4 │ {e4} │\n└──────┴────────┘", {"e4": 4}, {"e4": 5}),
    ("+------+---------+\n| step | entropy |\n+------+---------+\n| 4 | {e4} |\n+------+---------+", {"e4": 4}, {"e4": 5}),
    ("<table><tr><th>step</th><th>entropy</th></tr><tr><td>4</td><td><b>{e4}</b></td></tr></table>", {"e4": 4}, {"e4": 5}),
    # steps above columns, sides of a comparison
    ("| Metric | @4 | @6 |\n|---|---|---|\n| entropy | {a} | {b} |", {"a": 4, "b": 6}, {"a": 6, "b": 4}),
    ("Comparison of step 4 and step 6:\n\n| Metric | Before | After |\n|---|---|---|\n| entropy | {a} | {b} |", {"a": 4, "b": 6}, {"a": 6, "b": 4}),
    # a list that is a table
    ("- entropy\n  - @4: {a}\n  - @6: {b}", {"a": 4, "b": 6}, {"a": 6, "b": 4}),
    ("- entropy: @4 {a}, @6 {b}", {"a": 4, "b": 6}, {"a": 6, "b": 4}),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "true", "false"), PAIRS)
def test_cells_under_steps_are_those_steps(layout: str, true: dict[str, int], false: dict[str, int]) -> None:
    def text(steps: dict[str, int]) -> str:
        return layout.format(**{name: f"{run_of(0).value('actor/entropy', step):.4f}" for name, step in steps.items()})

    assert not refused(text(true), (0,))
    assert refused(text(false), (0,))


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("| Metric | Unit | Range |\n|---|---|---|\n| Step time | s | {low:.1f} – {high:.1f} |", (1.0, 1.3)),
        ("| 指标 | 范围 |\n|---|---|\n| 单步耗时 | {low:.1f} ~ {high:.1f} |", (0.8, 1.0)),
        ("| Metric | Min | Max |\n|---|---|---|\n| Step time | {low:.1f} | {high:.1f} |", (1.0, 1.2)),
    ],
)
def test_range_of_a_metric_is_its_extremes(true: str, false: tuple[float, float]) -> None:
    values = [float(v) for v in run_of(0).series("timing_s/step")[1]]
    low, high = min(values), max(values)
    assert not refused(true.format(low=low, high=high), (0,))
    assert refused(true.format(low=low * false[0], high=high * false[1]), (0,))


def _value(key: str, step: int) -> float:
    return float(run_of(0).value(key, step) or 0.0)


@pytest.mark.parametrize("step", [4, 8])
def test_rest_of_a_step_is_what_the_stages_leave(step: int) -> None:
    whole, gen, update = (_value(f"timing_s/{name}", step) for name in ("step", "gen", "update_actor"))
    text = "**Time at step {step}**\n\n| Phase | Seconds |\n|---|---|\n| gen | {gen:.2f} |\n| update_actor | {update:.2f} |\n| Other | {rest:.2f} |"
    rest = whole - gen - update
    assert not refused(text.format(step=step, gen=gen, update=update, rest=rest), (0,))
    assert refused(text.format(step=step, gen=gen, update=update, rest=rest * 1.3), (0,))


def test_final_value_and_number_of_steps_are_the_run_s() -> None:
    steps = run_of(0).distinct_steps
    text = "| Item | Value |\n|---|---|\n| Steps logged | {steps} |\n| Final entropy | {last:.4f} |"
    assert not refused(text.format(steps=len(steps), last=_value("actor/entropy", steps[-1])), (0,))
    assert refused(text.format(steps=len(steps) + 3, last=_value("actor/entropy", steps[-1])), (0,))
    assert refused(text.format(steps=len(steps), last=_value("actor/entropy", steps[2])), (0,))


def test_step_beside_an_extreme_is_its_own() -> None:
    values = dict(zip(*run_of(0).series("actor/grad_norm"), strict=True))
    top = max(values, key=lambda step: values[step])
    for text in ("| Signal | Value |\n|---|---|\n| Grad norm | {value:.3f} peak at step {step} |",
                 "| 指标 | 数值 | 说明 |\n|---|---|---|\n| 最高梯度范数 | {value:.3f} | 出现在第 {step} 步 |"):  # fmt: skip
        assert not refused(text.format(value=float(values[top]), step=top), (0,))
        assert refused(text.format(value=float(values[top]), step=top + 2), (0,))


def test_named_stretches_are_those_of_the_column_behind() -> None:
    mean = sum(_value("actor/entropy", step) for step in (4, 5, 6)) / 3
    text = "| Phase | Steps | Mean entropy |\n|---|---|---|\n| early | 4–6 | {mean:.3f} |"
    assert not refused(text.format(mean=mean), (0,))
    assert refused(text.format(mean=mean * 1.2), (0,))


def test_number_under_no_title_that_is_read_is_unsupported() -> None:
    assert refused("| Metric | Kurtosis |\n|---|---|\n| Entropy | 3.17 |", (0,))
    assert not refused("| Metric | Target |\n|---|---|\n| Entropy | 3.17 |", (0,))


@pytest.mark.parametrize("text", ["<table><tr>" * 4000, "<td>" * 9000, "- a: " + "x 1, " * 900, "│ " * 20000])
def test_hostile_table_is_read_in_time(text: str) -> None:
    auditor((0,)).audit(text)
