import random

import pytest

from assistant.parsing import parse_text
from tests.parsing.generators import damage
from tests.parsing.generators.small_trainers import PRINTERS, Line


def cells_of(lines: list[Line], places: list[int]) -> set[tuple[int, str, str, int]]:
    return {
        (step, key, repr(value), place)
        for (_, step, row), place in zip(lines, places, strict=True)
        for key, value in row.items()
    }


def read_cells(text: str) -> set[tuple[int, str, str, int]]:
    (run,) = parse_text(text).runs
    return {(cell.step, key, repr(cell.value), cell.line) for key in run.metrics for cell in run.cells(key)}


@pytest.mark.parametrize("name", PRINTERS)
@pytest.mark.parametrize("seed", range(6))
def test_small_trainers_lines_with_damage_are_read_exactly(name: str, seed: int) -> None:
    rng = random.Random(seed)
    printed = [line for step in range(1, 13) for line in PRINTERS[name](rng, step)]
    lines, places = damage.with_noise([line for line, _, _ in printed], rng)
    lines = [rng.choice([damage.ray, damage.colour, str])(line) for line in lines]
    text = "\n".join(lines)
    assert read_cells(text) == cells_of(printed, places)
    assert parse_text(text).runs[0].format == name


@pytest.mark.parametrize("name", ["llm.c", "mlx"])
@pytest.mark.parametrize("width", range(60, 130, 6))
def test_small_trainers_wrapped_lines_are_joined(name: str, width: int) -> None:
    rng = random.Random(width)
    printed = [line for step in range(1, 7) for line in PRINTERS[name](rng, step)]
    text = "\n".join(piece for line, _, _ in printed for piece in damage.wrap(line, width))
    assert {cell[:3] for cell in read_cells(text)} == {cell[:3] for cell in cells_of(printed, [0] * len(printed))}


#: nanochat's last number has nothing behind it: a cut inside it (fewer than eight characters) does not show.
CUTS = [(name, cut) for name in PRINTERS for cut in range(1, 60, 5) if name != "nanochat" or cut >= 8]


@pytest.mark.parametrize(("name", "cut"), CUTS)
def test_small_trainers_cut_line_gives_no_half_value(name: str, cut: int) -> None:
    rng = random.Random(7)
    printed = [line for step in range(1, 7) for line in PRINTERS[name](rng, step)]
    text = "\n".join(line for line, _, _ in printed)[:-cut]
    assert read_cells(text) <= cells_of(printed, list(range(1, len(printed) + 1)))


def test_nanogpt_iter_and_step_share_rows_and_units_are_noted() -> None:
    text = (
        "step 0: train loss 4.2, val loss 4.3\niter 0: loss 4.25 BPC, time 65940.03ms, mfu -100.00%\n"
        "iter 10: loss 4.0 BPC, time 52.57ms, mfu 7.09%\n"
    )
    (run,) = parse_text(text).runs
    assert (run.step_axis, run.steps, run.framework) == ("iter", (0, 10), "nanoGPT")
    assert run.cell("loss", 0).line == 2  # type: ignore[union-attr]
    assert "time (ms), mfu (%)" in run.warnings[0].en


def test_llmc_loose_validation_goes_to_the_step_before() -> None:
    text = (
        "val loss 11.01\nstep    1/100 | loss 11.009 (+nanz)| norm 15.3 (+nanz)| lr 8.57e-07 | 4.2 ms | 121 tok/s\n"
        "val loss 10.5\nHellaSwag: 2584/10042 = 0.257319\n"
    )
    (run,) = parse_text(text).runs
    assert (run.value("val loss", 0), run.value("val loss", 1), run.value("HellaSwag", 1)) == (11.01, 10.5, 0.257319)
    assert "step_before" in [note.code for note in run.warnings]


def test_small_trainers_unfinished_line_names_what_is_not_there() -> None:
    (run,) = parse_text("iter 5: loss 3.0, time 3.2ms, mfu 3.00%\niter 6: loss 2.0, time 4").runs
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("time", "half_value"), ("mfu", "line_cut")]
    assert run.at(6).keys() == {"loss"}


@pytest.mark.parametrize(
    "text",
    [
        "Step 3: John has 3 apples, then 4",
        "At step 250: train loss 2.1, val loss 2.2",
        "for iter 5: do(x)",
        'print(f"step:{step}/{n} train_loss:{loss:.4f}")',
        "| 0  NVIDIA A100  On | 0000:07:00.0 Off | 0 |\n| N/A  35C  P0  60W / 400W | 0MiB / 81920MiB | 0% |",
    ],
)
def test_small_trainers_prose_and_code_are_no_metrics(text: str) -> None:
    assert parse_text(text).runs == ()
