import pytest

from assistant.analysis.together import is_one_training, together
from assistant.parsing import parse_text


def log(rollouts: int, per: int, *, first: int = 0, ends_within: bool = False, scale: float = 1.0) -> str:
    lines = []
    for rollout in range(first, first + rollouts):
        lines.append(
            f"rollout {rollout}: {{'rollout/raw_reward': {scale * rollout / 8}, 'rollout/response_lengths': 98.0}}"
        )
        lines.append(f"perf {rollout}: {{'perf/rollout_time': {scale * (30.5 + rollout)}, 'perf/step_time': 52.0}}")
        for step in range(rollout * per, rollout * per + per):
            lines.append(f"step {step}: {{'train/loss': {scale * step / 16}, 'train/grad_norm': 1.5}}")
    return "\n".join(lines[:-1] if ends_within else lines) + "\n"


@pytest.mark.parametrize("per", [1, 2, 3, 8])
@pytest.mark.parametrize("ends_within", [False, True])
@pytest.mark.parametrize("first", [0, 5])
def test_together_rollouts_stand_at_the_first_of_their_train_steps(per: int, ends_within: bool, first: int) -> None:
    parsed = parse_text(log(6, per, first=first, ends_within=ends_within)).runs
    (run,) = together(parsed)
    assert run.name == "pasted text"
    assert run.series("rollout/raw_reward") == (
        [rollout * per for rollout in range(first, first + 6)],
        [rollout / 8 for rollout in range(first, first + 6)],
    )
    steps, losses = run.series("train/loss")
    assert losses == [step / 16 for step in steps]
    assert len(steps) == 6 * per - ends_within
    cells = {(name, cell.value, cell.line) for part in parsed for name in part.metrics for cell in part.cells(name)}
    assert cells == {(name, cell.value, cell.line) for name in run.metrics for cell in run.cells(name)}


def test_together_a_log_that_does_not_tell_the_steps_of_a_rollout_stays_apart() -> None:
    uneven = log(3, 2) + "rollout 3: {'rollout/raw_reward': 0.5}\nstep 17: {'train/loss': 0.5}\n"
    parsed = parse_text(uneven).runs
    assert together(parsed) == parsed
    assert is_one_training(*parsed)


def test_together_other_runs_stay_as_they_are() -> None:
    runs = parse_text("step:1 - actor/entropy:0.5 - critic/score/mean:0.25\nstep:2 - actor/entropy:0.4\n").runs
    assert together(runs) == runs
    assert together(()) == ()


def test_together_a_restart_keeps_both_values_of_a_step() -> None:
    parsed = parse_text(log(4, 1) + log(3, 1, first=2, scale=2)).runs
    (run,) = together(parsed)
    assert [cell.value for cell in run.cells("train/loss")] == [value / 16 for value in (0, 1, 2, 3, 4, 6, 8)]
    assert [cell.step for cell in run.cells("rollout/raw_reward")] == [0, 1, 2, 3, 2, 3, 4]
