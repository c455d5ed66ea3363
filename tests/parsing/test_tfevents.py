import random
import struct

import pytest

from assistant.parsing.tfevents import is_tfevents, read_tfevents
from tests.parsing.generators import tables


def float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def test_read_tfevents_scalars_of_all_kinds() -> None:
    data = tables.version()
    data += tables.event(5, tables.simple("train/loss", 0.1) + tables.simple("train/kl", float("inf")))
    data += tables.event(5, tables.tensor("val/acc", 1, struct.pack("<f", 0.7)))
    data += tables.event(10, tables.tensor("train/loss", 2, struct.pack("<d", 0.1)))
    data += tables.event(10, tables.tensor("count", 9, struct.pack("<q", -3)))
    data += tables.event(10, tables.tensor("note", 7, b"text", plugin="text"))
    data += tables.event(10, tables.tensor("hist", 1, struct.pack("<f", 1.0), plugin="histograms"))
    assert is_tfevents(data)
    (run,) = read_tfevents(data, "events")
    assert list(run.rows()) == [
        (5, 2, {"train/loss": float32(0.1), "train/kl": float("inf"), "val/acc": float32(0.7)}),
        (10, 4, {"train/loss": 0.1, "count": -3}),
    ]
    assert run.cell("val/acc", 5).line == 3  # type: ignore[union-attr]
    assert (run.format, run.step_axis, run.warnings[0].code) == ("tfevents", "step", "records")


@pytest.mark.parametrize("seed", range(10))
def test_read_tfevents_cut_or_damaged_never_raises(seed: int) -> None:
    rng = random.Random(seed)
    values = [(step, rng.gauss(0, 1)) for step in range(40)]
    data = tables.version() + b"".join(tables.event(step, tables.simple("loss", value)) for step, value in values)
    cut = rng.randrange(60, len(data))
    for run in read_tfevents(data[:cut], "x"):
        assert [cell.value for cell in run.cells("loss")] == [float32(v) for _, v in values][: len(run.steps)]
        assert len(run.steps) < len(values)
    broken = bytearray(data)
    for _ in range(20):
        broken[rng.randrange(len(broken))] = rng.randrange(256)
    read_tfevents(bytes(broken), "x")
    is_tfevents(bytes(broken))


def test_read_tfevents_truncated_record_is_noted() -> None:
    data = tables.version() + tables.event(1, tables.simple("loss", 1.0)) + tables.event(2, tables.simple("loss", 2.0))
    (run,) = read_tfevents(data[:-12], "x")
    assert run.steps == (1,)
    assert "text_cut" in [note.code for note in run.warnings]


@pytest.mark.parametrize(
    "data", [b"", b"step:1 - loss:2\n" * 9, b"\x09" * 99, bytes(99), b"\x89PNG\r\n\x1a\n" + bytes(99)]
)
def test_is_tfevents_other_bytes_are_none(data: bytes) -> None:
    assert not is_tfevents(data)
    assert read_tfevents(data, "x") == ()
