import random

import pytest

from assistant.parsing import parse_text
from tests.parsing.generators import damage, megatron


def rows_of(text: str) -> list[tuple[int, dict[str, float | int]]]:
    (run,) = parse_text(text).runs
    return [(step, values) for step, _, values in run.rows()]


@pytest.mark.parametrize("seed", range(20))
def test_megatron_lines_with_damage_are_read_exactly(seed: int) -> None:
    rng = random.Random(seed)
    printed = [megatron.random_row(rng, at) for at in range(1, 12)]
    lines, places = damage.with_noise([line for line, _ in printed], rng)
    lines = [damage.ray(line) if rng.random() < 0.3 else damage.colour(line) for line in lines]
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.format, run.framework, run.step_axis) == ("megatron", "Megatron-LM", "iteration")
    assert list(run.rows()) == [
        (at, place, row) for at, (place, (_, row)) in enumerate(zip(places, printed, strict=True), 1)
    ]


@pytest.mark.parametrize("width", range(70, 200, 7))
def test_megatron_wrapped_lines_are_joined(width: int) -> None:
    rng = random.Random(width)
    printed = [megatron.random_row(rng, at) for at in range(1, 5)]
    text = "\n".join(piece for line, _ in printed for piece in damage.wrap(line, width))
    assert rows_of(text) == [(at, row) for at, (_, row) in enumerate(printed, 1)]


def test_megatron_nan_loss_is_missing_where_nan_iterations_are_counted() -> None:
    rng = random.Random(1)
    lines = [megatron.random_row(rng, at, nan=at == 3)[0] for at in range(1, 6)]
    (run,) = parse_text("\n".join(lines)).runs
    assert [(gap.metric, gap.step, gap.line, gap.reason) for gap in run.missing] == [("lm loss", 3, 3, "not_a_number")]
    silent = lines[2].replace("nan iterations:   1", "nan iterations:   0")
    assert parse_text("\n".join([*lines[:2], silent, *lines[3:]])).runs[0].missing == ()


def test_megatron_validation_joins_its_iteration() -> None:
    line, row = megatron.random_row(random.Random(1), 1000)
    text = "\n".join([line, *megatron.validation(1000, "2.123456E+00", "8.359994E+00")])
    (run,) = parse_text(text).runs
    assert list(run.rows()) == [(1000, 1, {**row, "lm loss value": 2.123456, "lm loss PPL": 8.359994})]
    assert run.cell("lm loss value", 1000).line == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("cut", range(10, 250, 9))
def test_megatron_cut_line_gives_no_half_value(cut: int) -> None:
    rng = random.Random(5)
    printed = [megatron.random_row(rng, at) for at in range(1, 4)]
    text = "\n".join(line for line, _ in printed)[:-cut]
    (run,) = parse_text(text).runs
    for step, _, values in run.rows():
        assert values.items() <= printed[step - 1][1].items()
    lost = set(printed[2][1]) - set(run.at(3))
    if run.at(3):
        assert {gap.metric for gap in run.missing} - {None} == lost


@pytest.mark.parametrize("seed", range(5))
def test_nanotron_lines_are_scaled(seed: int) -> None:
    rng = random.Random(seed)
    printed = [megatron.nanotron_line(rng, at) for at in range(1, 9)]
    lines, _ = damage.with_noise([line for line, _ in printed], rng)
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.format, [note.code for note in run.warnings]) == ("nanotron", ["scaled"])
    assert [(step, values) for step, _, values in run.rows()] == [(at, row) for at, (_, row) in enumerate(printed, 1)]


@pytest.mark.parametrize("seed", range(4))
def test_nemo_lines_without_a_closing_bar_keep_their_last_cell(seed: int) -> None:
    rng = random.Random(seed)
    lines, expected = [], []
    for step in range(120, 128):
        loss, time, val = f"{rng.uniform(0, 9):.4g}", f"{rng.uniform(0, 1):.4g}", rng.choice(["nan", "4.106"])
        lines.append(
            f"Training epoch 0, iteration {step}/149 | lr: 3e-05 | consumed_samples: {step} | global_step: {step} | "
            f"reduced_train_loss: {loss} | train_step_timing in s: {time} | val_loss: {val}"
        )
        expected.append((step, repr(float(loss)), repr(float(val))))
    (run,) = parse_text("\n".join(lines)).runs
    read = [(row[0], repr(float(row[2]["reduced_train_loss"])), repr(float(row[2]["val_loss"]))) for row in run.rows()]
    assert (run.format, run.framework, read) == ("nemo", "NeMo", expected)
