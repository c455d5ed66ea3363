"""How many steps a run will have, from all that logs print about it."""

import pytest

from assistant.model import Run
from assistant.parsing import parse_text

VERL = "".join(f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 9))


def total(run: Run) -> int | float | None:
    held = run.extras.get("total_steps")
    return None if held is None else held[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("".join(f'{{"current_steps": {n}, "total_steps": 5100, "loss": 0.{n}}}\n' for n in range(1, 6)), 5100),
        ("".join(f"step:{n}/6200 train_loss:5.{n} train_time:{n}0ms step_avg:9.5ms\n" for n in range(1, 8)), 6200),
        ("Training Progress:   3%|▎         | 19/27995 [09:10<9:11:22, 1.0s/it]\n" + VERL, 27995),
        ("Total training steps: 435\n" + VERL, 435),
        (VERL, None),
        ("Total training steps: 4\n" + VERL, None),  # the run is past it
        ("Total training steps: 435\nTotal training steps: 500\n" + VERL, None),
        ("Loading shards:   3%|▎         | 19/27995 [09:10<9:11:22, 1.0s/it]\n" + VERL, None),
    ],
)
def test_parse_text_total_is_what_the_log_tells(text: str, expected: int | None) -> None:
    (run,) = parse_text(text).runs
    assert total(run) == expected


def test_parse_text_total_of_two_runs_is_each_ones_own() -> None:
    other = VERL.replace("score/mean:0.5", "score/mean:0.75").replace("entropy:0", "entropy:1")
    parsed = parse_text("Total training steps: 435\n" + VERL + "Total training steps: 99\n" + other)
    assert [total(run) for run in parsed.runs] == [435, 99]


def test_counted_lines_steps_that_begin_anew_each_epoch_run_on() -> None:
    text = "".join(
        f"Epoch [{epoch}/4] Step [{step}/100] loss: {epoch}.{step:02d}\n"
        for epoch in range(1, 5)
        for step in range(0, 100, 10)
    )
    (run,) = parse_text(text).runs
    assert (run.step_axis, run.steps) == ("step", tuple(range(0, 400, 10)))
    assert len(run.series("loss")[0]) == 40
    assert total(run) == 400
    assert [note.code for note in run.warnings] == ["step_counted"]


def test_counted_lines_epochs_without_a_total_show_their_length() -> None:
    text = "".join(f"epoch {e} step {s} loss {2 - e / 10 - s / 100:.3f} lr 1e-4\n" for e in range(3) for s in range(5))
    (run,) = parse_text(text).runs
    assert (run.step_axis, run.steps) == ("step", tuple(range(15)))
    assert run.value("loss", 6) == 1.89
    assert "5 steps an epoch" in run.warnings[0].en


def test_counted_lines_epochs_of_other_lengths_stay_epochs() -> None:
    text = "".join(f"epoch {e} step {s} loss 1.{e}{s}\n" for e, n in ((0, 5), (1, 3), (2, 4)) for s in range(n))
    (run,) = parse_text(text).runs
    assert run.step_axis == "epoch"


def test_parse_text_prose_with_pairs_is_no_log() -> None:
    assert parse_text("epoch 3 was bad\nstep 4 took long\nstep 5 and loss 3 apples\n").runs == ()


def test_parse_text_ranks_with_other_values_are_told_with_the_count() -> None:
    text = "".join(f'{{"step": {n}, "rank": {r}, "loss": {r + n / 100}}}\n' for n in range(1, 21) for r in range(4))
    (run,) = parse_text(text).runs
    (note,) = run.warnings
    assert note.code == "several_values_a_step"
    assert "20 steps have 80 rows" in note.en
    assert "60 other values are not used; those that count are of rank 3" in note.en


def test_parse_text_ranks_with_the_same_values_and_restarts_are_not_told() -> None:
    same = "".join(f'{{"step": {n}, "rank": {r}, "loss": {n / 100}}}\n' for n in range(1, 21) for r in range(4))
    again = "".join(
        f'{{"step": {n}, "loss": {k + n / 100}}}\n' for k, m in ((0, 30), (1, 30)) for n in range(10, 10 + m)
    )
    for text in (same, again):
        codes = {note.code for run in parse_text(text).runs for note in run.warnings}
        assert "several_values_a_step" not in codes
