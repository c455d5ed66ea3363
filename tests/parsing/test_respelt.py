"""Lines of PyTorch examples and of loops that name themselves."""

import random

import pytest

from assistant.parsing import parse_text

_RNG = random.Random(11)
_LOSSES = [round(_RNG.uniform(0.1, 3), 6) for _ in range(6)]
_PLACES = [(epoch, place) for epoch in (1, 2) for place in (0, 640, 1280)]


@pytest.mark.parametrize(
    "line",
    [
        "Train Epoch: {epoch} [{place}/1920 (33%)]\tLoss: {loss}",
        "2020-10-26 13:24:36.%f train.py:215[27649] INFO Train epoch: {epoch} [{place}/1920]\tLoss: {loss}",
        "Epoch: [{epoch}][{place:5d}/1920]\tTime  0.299 (  1.2)\tLoss {loss} (9.0e+00)",
        "Epoch: [{epoch}]  [{place:4d}/1920]  eta: 0:31:57  lr: 0.000100  Loss: {loss} (9.0)  max mem: 3231",
        "2021-10-18 20:46:28 | INFO     | yolox.core.trainer:246 - epoch: {epoch}/40, iter: {place}/1920, "
        "mem: 34235Mb, Loss: {loss}, ETA: 1 day, 0:07:51",
    ],
)
def test_an_epoch_and_a_place_in_it_are_the_step(line: str) -> None:
    told = zip(_PLACES, _LOSSES, strict=True)
    text = "\n".join(line.format(epoch=epoch, place=place, loss=loss) for (epoch, place), loss in told)
    (run,) = parse_text(text).runs
    assert run.steps == tuple((epoch - 1) * 1920 + place for epoch, place in _PLACES)
    assert list(run.columns["Loss"].values) == _LOSSES
    assert list(run.columns["epoch"].values) == [epoch for epoch, _ in _PLACES]
    assert not {"eta", "ETA"} & set(run.columns)


def test_a_test_line_below_training_lines_is_apart_from_training() -> None:
    text = (
        "Train Epoch: 1 [0/60 (0%)]\tLoss: 2.5\nTrain Epoch: 1 [30/60 (50%)]\tLoss: 2.25\n\n"
        "Test set: Average loss: 0.75, Accuracy: 49/50 (98%)\n\n"
        "Train Epoch: 2 [0/60 (0%)]\tLoss: 1.5\n"
    )
    (run,) = parse_text(text).runs
    assert list(run.columns["Loss"].values) == [2.5, 2.25, 1.5]
    assert list(run.columns["test/Average loss"].values) == [0.75]
    assert list(run.columns["test/Accuracy"].values) == [98]
    assert run.cells("test/Average loss")[0].step == 30


def test_averages_of_an_epoch_are_of_the_epoch_above() -> None:
    text = "\n".join(
        f"Epoch: [{epoch}/80] Total time: 1:01:24 (0.4984 s / it)\n"
        f"Averaged stats: lr: 0.000013  loss: {loss} (31.69)  loss_bbox: 0.25 (0.18)"
        for epoch, loss in ((33, 31.5), (34, 30.5))
    )
    (run,) = parse_text(text).runs
    assert run.steps == (33, 34)
    assert list(run.columns["loss"].values) == [31.5, 30.5]


def test_an_average_without_an_epoch_above_is_not_read() -> None:
    assert not parse_text("Averaged stats: lr: 0.000013  loss: 31.4 (31.69)\n").runs


def test_a_printed_tuple_is_names_and_numbers() -> None:
    told = "('Episode #', {}, '\\tfinished with reward', {}, '\\tAverage Noisy Weights', 0.02)"
    text = "\n".join(told.format(100 * at, loss) for at, loss in enumerate(_LOSSES))
    (run,) = parse_text(text).runs
    assert run.steps == tuple(100 * at for at in range(6))
    assert list(run.columns["finished with reward"].values) == _LOSSES


def test_a_key_with_its_place_in_brackets() -> None:
    told = zip([(32, 100), (32, 200), (33, 100), (33, 200), (34, 100), (34, 200)], _LOSSES, strict=True)
    text = "\n".join(f"Loss [{epoch}, {place}](epoch, minibatch):  {loss}" for (epoch, place), loss in told)
    (run,) = parse_text(text).runs
    assert list(run.columns["Loss"].values) == _LOSSES
    assert run.steps == (6300, 6400, 6500, 6600, 6700, 6800)


def test_lines_numbered_as_a_list_are_read() -> None:
    line = (
        "{}.  39160/50000: episode: {}, duration: 0.073s, episode reward: 13.000, mean reward: 1.0 [1.0, 1.0], loss: {}"
    )
    text = "_" + "\n".join(line.format(at + 1, 569 + at, loss) for at, loss in enumerate(_LOSSES))
    (run,) = parse_text(text).runs
    assert run.steps == tuple(range(569, 575))
    assert list(run.columns["loss"].values) == _LOSSES


@pytest.mark.parametrize(
    "prefix", ["", "I0925 18:52:10.536827 140563283464576 terminal.py:91] "], ids=["plain", "absl"]
)
def test_loops_that_name_themselves_count_steps_of_their_own(prefix: str) -> None:
    lines = [f"{prefix}[Environment Loop] Episode Return = -21.0 | Episodes = 2 | Steps = 1528"]
    lines += [
        f"{prefix}[Learner] Loss = {loss} | Steps = {70 + at} | Walltime = 4.2" for at, loss in enumerate(_LOSSES)
    ]
    lines.append(f"{prefix}[Environment Loop] Episode Return = -20.0 | Episodes = 3 | Steps = 2404")
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.steps, list(run.columns["Loss"].values)) == (tuple(range(70, 76)), _LOSSES)
    returns = run.cells("Environment Loop/Episode Return")
    assert [(cell.step, cell.value) for cell in returns] == [(70, -21.0), (75, -20.0)]
    assert list(run.columns["Environment Loop/Steps"].values) == [1528, 2404]
    assert "loops" in {note.code for note in run.warnings}


@pytest.mark.parametrize(
    "text",
    [
        "[Config] Batch = 32 | Learning = 0.1\n[Config] Batch = 32 | Learning = 0.1\n",
        "see [Learner] Loss = 0.1\n",
        "Epoch: [34/80] Total time: 1:01:24 (0.4984 s / it)\n",
        "('a', 1)\n('b', 2)\n",
    ],
)
def test_lines_that_hold_no_metric_are_no_run(text: str) -> None:
    assert not parse_text(text).runs
