import random
from collections.abc import Callable

import pytest

from assistant.parsing import parse_text
from tests.parsing.generators import damage, tables

Printer = Callable[[random.Random, int], tuple[list[str], tables.Row]]
PRINTERS: dict[str, tuple[Printer, str, str]] = {
    "Stable-Baselines3": (tables.sb3_table, "time/total_timesteps", "box-table"),
    "Spinning Up": (tables.spinning_up_table, "Epoch", "box-table"),
    "rsl_rl": (tables.rsl_rl_block, "iteration", "rsl-rl"),
}


@pytest.mark.parametrize("framework", PRINTERS)
@pytest.mark.parametrize("seed", range(6))
def test_tables_with_damage_are_read_exactly(framework: str, seed: int) -> None:
    rng = random.Random(seed)
    printer, axis, name = PRINTERS[framework]
    printed = [printer(rng, step) for step in range(1, 9)]
    change = rng.choice([damage.ray, damage.colour, str])
    lines = [change(line) for block, _ in printed for line in [*block, rng.choice(damage.NOISE[:6])]]
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.format, run.framework, run.step_axis) == (name, framework, axis)
    assert [(step, repr(values)) for step, _, values in run.rows()] == [
        (step, repr(row)) for step, (_, row) in enumerate(printed, 1)
    ]
    for key in run.metrics:
        for cell in run.cells(key):
            assert key.rpartition("/")[2] in lines[cell.line - 1]


@pytest.mark.parametrize("framework", PRINTERS)
@pytest.mark.parametrize("cut", range(1, 400, 23))
def test_tables_cut_anywhere_give_no_half_value(framework: str, cut: int) -> None:
    printer = PRINTERS[framework][0]
    rng = random.Random(3)
    printed = [printer(rng, step) for step in range(1, 4)]
    (run,) = parse_text("\n".join(line for block, _ in printed for line in block)[:-cut]).runs
    for step, _, values in run.rows():
        assert {k: repr(v) for k, v in values.items()}.items() <= {
            k: repr(v) for k, v in printed[step - 1][1].items()
        }.items()


def test_box_table_of_stable_baselines_2() -> None:
    text = (
        "-----------------------\n| ep_rewmean  | nan   |\n| approxkl    | 0.01  |\n| total_timesteps | 128 |\n"
        + "-" * 23
    )
    (run,) = parse_text(text).runs
    assert (run.framework, run.step_axis, run.steps) == ("Stable-Baselines", "total_timesteps", (128,))
    assert run.value("approxkl", 128) == 0.01


@pytest.mark.parametrize(
    "text",
    [
        "+-------------+-------+\n| lr          | 0.001 |\n| gamma       | 0.99  |\n+-------------+-------+",
        "-----\n| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13 |\n|---+---+---|\n| 0 | 35 | 12 |\n",
        "Learning iteration is 5 of 10\nMean reward: good",
    ],
)
def test_tables_of_settings_and_devices_are_no_metrics(text: str) -> None:
    assert parse_text(text).runs == ()


def test_box_table_without_its_beginning_is_left_out_and_named() -> None:
    whole = (
        "--------\n| time/              |      |\n|    total_timesteps | 2048 |\n| train/             |      |\n"
        "|    loss            | 0.5  |\n----------------\n"
    )
    parsed = parse_text("|    loss            | 0.7  |\n|    kl_loss         | 0.7  |\n----------------\n" + whole)
    (run,) = parsed.runs
    assert (run.step_axis, run.steps, list(run.columns["train/loss"].values)) == (
        "time/total_timesteps",
        (2048,),
        [0.5],
    )
    assert "table_cut" in {note.code for note in run.warnings}
    assert set(parsed.doubtful) == {1, 2}
