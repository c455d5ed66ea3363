import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators.line_logs import deepspeed


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 5), epochs=st.integers(1, 3), new=st.booleans())
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_one_row_a_step(seed: int, steps: int, epochs: int, new: bool) -> None:
    log = deepspeed(seed, steps, epochs=epochs, new=new)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert run.steps == tuple(range(steps * epochs))
    assert (run.format, run.framework, run.step_axis) == ("deepspeed-chat", "DeepSpeed-Chat", "step")
    assert ("epochs" in [note.code for note in run.warnings]) == (epochs > 1)
    assert run.missing == ()


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 120), which=st.integers(0, 100))
@settings(max_examples=200, deadline=None)
def test_parse_text_line_of_losses_cut_anywhere_takes_no_value_that_is_not_there(
    seed: int, cut: int, which: int
) -> None:
    log = deepspeed(seed, 5)
    losses = [at for at, line in enumerate(log.lines) if line.startswith("epoch: ")]
    at = losses[which % len(losses)]
    lines = [*log.lines]
    lines[at] = lines[at][: min(cut, lines[at].index("|unsuper_loss"))]
    run = harm.read_one(lines)
    kept = {cell for cell in harm.cells(run) if cell[1].endswith("_loss")}
    assert kept <= harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 60), which=st.integers(0, 100), new=st.booleans())
@settings(max_examples=300, deadline=None)
def test_parse_text_step_line_cut_anywhere_gives_no_other_step_its_values(
    seed: int, cut: int, which: int, new: bool
) -> None:
    log = deepspeed(seed, 5, new=new)
    heads = [at for at, line in enumerate(log.lines) if "poch: " in line]
    at = heads[which % len(heads)]
    step = which % len(heads)
    lines = [*log.lines]
    lines[at] = lines[at][:cut]
    run = harm.read_one(lines)
    kept = {cell for cell in harm.cells(run) if cell[0] != step or not cell[1].lower().endswith("loss")}
    assert kept <= harm.truth(log.rows)
    assert harm.truth([row for row in log.rows if row[0] != step]) <= harm.cells(run)


@pytest.mark.parametrize("cut", ["epoch: 0|step: 2|ppo_", "epoch: 0|step: 2|", "epoch: 0|step: 2|ppo_ep: 1|act"])
def test_parse_text_step_line_cut_behind_its_number_keeps_what_follows(cut: str) -> None:
    head = "epoch: 0|step: 1|ppo_ep: 1|act_loss: 0.15|cri_loss: 0.25"
    run = harm.read_one([head, "average reward score: 1.125", cut, "average reward score: 2.125"])
    rewards = {(step, repr(run.value("average reward score", step))) for step in run.steps}
    assert rewards == {(1, "1.125"), (2, "2.125")}
    assert run.at(2).keys() == {"average reward score"}
    gaps = {(gap.metric, gap.step, gap.reason) for gap in run.missing if gap.metric}
    assert gaps == {("act_loss", 2, "line_cut"), ("cri_loss", 2, "line_cut")}


@pytest.mark.parametrize("cut", ["epoch: 0|step: 2", "epoch: 0|st", "epoch: 0|", "epoch: 0", "epo", ""])
def test_parse_text_step_line_cut_in_its_number_leaves_what_follows_unplaced(cut: str) -> None:
    head = "epoch: 0|step: {}|ppo_ep: 1|act_loss: 0.15|cri_loss: 0.25"
    reward, times = "average reward score: {}.125", "|E2E latency={}.99s |Others=0.11 (5.09%)"
    lines = [head.format(1), reward.format(1), times.format(1), cut, reward.format(2), times.format(2)]
    run = harm.read_one([*lines, head.format(3), reward.format(3), times.format(3)])
    assert run.steps == (1, 3)
    assert [run.value("average reward score", step) for step in (1, 3)] == [1.125, 3.125]
    assert [run.value("E2E latency", step) for step in (1, 3)] == [1.99, 3.99]
    assert run.lines.not_understood == 2 + cut.startswith("epoch")
    assert [note.line for note in run.warnings if note.code == "step_unknown"] == [5]


def test_parse_text_prefixed_and_coloured_lines_are_read() -> None:
    log = deepspeed(4, 3)
    for damaged in (
        [f"worker-0: {line}" for line in log.lines],
        [harm.ray(line, colour=True) for line in log.lines],
        [f"\x1b[32m{line}\x1b[0m" for line in log.lines],
    ):
        assert harm.cells(harm.read_one(damaged)) == harm.truth(log.rows)


def test_parse_text_loss_cut_at_the_end_is_missing() -> None:
    log = deepspeed(7, 3)
    lines = log.lines[: 1 + 4 * 2 + 1]
    lines[-1] = lines[-1][: lines[-1].index("cri_loss: ") + 12]
    run = harm.read_one(lines)
    assert run.at(2).keys() == {"act_loss"}
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [
        ("cri_loss", 2, "half_value"),
        ("unsuper_loss", 2, "line_cut"),
    ]


def test_parse_text_reward_without_a_step_before_it_is_not_a_cell() -> None:
    run = harm.read_one(["average reward score: 0.5", "epoch: 0|step: 1|ppo_ep: 1|act_loss: 0.5|cri_loss: 0.25"])
    assert run.metrics == ("act_loss", "cri_loss")


@pytest.mark.parametrize(
    "text",
    ["average reward score: 0.5 is good", "step: 3|ppo_ep", "epoch: 0|step: 1|ppo_ep: 1|", "|E2E latency=1.0s |"],
)
def test_parse_text_foreign_line_is_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "deepspeed-chat"] == []


@given(seed=st.integers(0, 10**6), column=st.integers(70, 200), strip=st.booleans(), new=st.booleans())
@settings(max_examples=200, deadline=None)
def test_parse_text_wrapped_lines_give_the_same_cells(seed: int, column: int, strip: bool, new: bool) -> None:
    log = deepspeed(seed, 4, new=new)
    run = harm.read_one(harm.wrap(log.lines, column, strip=strip))
    assert harm.cells(run) == harm.truth(log.rows)


def test_parse_text_inline_code_is_read() -> None:
    lines = ["`epoch: 0|step: 1|ppo_ep: 1|act_loss: 0.5|cri_loss: 0.25", "average reward score: 0.75`"]
    run = harm.read_one(lines)
    row: dict[str, harm.Value] = {"act_loss": 0.5, "cri_loss": 0.25, "average reward score": 0.75}
    assert harm.cells(run) == harm.truth([(1, row)])
    assert run.lines.not_understood == 0


def test_parse_text_times_before_the_first_step_belong_to_the_step_before() -> None:
    lines = ["|E2E latency=2.12s |Others=0.11 (5.09%)", "epoch: 0|step: 7|ppo_ep: 1|act_loss: inf|cri_loss: 0.25"]
    run = harm.read_one(lines)
    rows: list[tuple[int, dict[str, harm.Value]]] = [
        (6, {"E2E latency": 2.12, "Others": 0.11}),
        (7, {"act_loss": float("inf"), "cri_loss": 0.25}),
    ]
    assert harm.cells(run) == harm.truth(rows)
    assert "steps_inferred" in [note.code for note in run.warnings]


def test_parse_text_tensors_and_blanks_are_read() -> None:
    loss = "tensor(0.0254, device='cuda:0', grad_fn=<DivBackward0>)"
    lines = [
        f"epoch: 0|step: 0|ppo_ep: 1|          act_loss: {loss} |cri_loss: 0.25",
        "average reward score: tensor(0.5, device='cuda:0')",
    ]
    row: dict[str, harm.Value] = {"act_loss": 0.0254, "cri_loss": 0.25, "average reward score": 0.5}
    assert harm.cells(harm.read_one(lines)) == harm.truth([(0, row)])
