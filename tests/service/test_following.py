"""A log that grows: what was read step by step is what reading it at once gives, at a bounded cost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_bytes
from assistant.service.following import GrowingLog


def verl(step, more=0.0):
    values = f"actor/entropy:{1 / step + more:.4f} - critic/score/mean:{step / 100 + more:.3f} - a/b:{step}"
    return f"(TaskRunner pid=7) step:{step} - {values}"


def lines_of(kind, rows):
    """A log of a kind with some rows, and output between them that is no metric."""
    if kind == "csv":
        return ["step,loss,reward", *(f"{s},{1 / s:.4f},{s / 10:.2f}" for s in range(1, rows + 1))]
    if kind == "jsonl":
        return [json.dumps({"step": s, "loss": 1 / s, "reward": s / 10}) for s in range(1, rows + 1)]
    if kind == "nanogpt":
        return [f"iter {s}: loss {1 / s:.4f}, time {100 + s}.00ms, mfu 10.{s:02d}%" for s in range(1, rows + 1)]
    if kind == "two runs":
        return [verl(s) for s in range(1, rows // 2)] + ["starting again"] + [verl(s, 0.3) for s in range(1, rows // 2)]
    if kind == "resumed":
        return [verl(s) for s in range(1, rows)] + [verl(s, 0.3) for s in range(rows // 2, rows + 5)]
    found = []
    for s in range(1, rows + 1):
        found += [f"INFO worker {s % 3} ready"] * (s % 4) + [verl(s)]
    return found


def table(runs):
    return [
        (run.id, run.format, run.step_axis, run.steps, tuple(run.row_lines),
         {m: (tuple(c.rows), tuple(c.values), tuple(c.lines)) for m, c in run.columns.items()})
        for run in runs
    ]  # fmt: skip


def fed(data, cuts, whole):
    """The log after bytes came in parts cut at some places."""
    position = [0]
    log = GrowingLog("train.log", reread=lambda: data[: position[0]], whole=whole)
    for end in [*sorted(cut for cut in cuts if cut < len(data)), len(data)]:
        part, position[0] = data[position[0] : end], end
        log.take(part)
    log.take(b"", final=True)
    return log


KINDS = ["verl", "csv", "jsonl", "nanogpt", "two runs", "resumed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [400, 1500, 1 << 20])
def test_growing_log_fed_in_small_parts_is_the_whole_reading(kind, whole):
    data = "\n".join(lines_of(kind, 60)).encode()
    log = fed(data, range(0, len(data), 97), whole)
    assert table(log.runs) == table(parse_bytes(data, name="train.log").runs)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.integers(1, 4000), max_size=12), st.integers(20, 80))
def test_growing_log_cut_anywhere_is_the_whole_reading(kind, cuts, rows):
    data = ("\n".join(lines_of(kind, rows)) + "\n").encode()
    assert table(fed(data, cuts, 600).runs) == table(parse_bytes(data, name="train.log").runs)


def test_growing_log_parses_no_more_than_what_is_new_and_a_bounded_part():
    """Of a long log, the cost of another step does not depend on what came before."""
    begin = ("\n".join(verl(s) for s in range(1, 3001)) + "\n").encode()
    log = GrowingLog("train.log", whole=10_000)
    log.take(begin)
    before = log.readings
    for step in range(3001, 3051):
        log.take((verl(step) + "\n").encode())
    assert log.runs[0].steps[-1] == 3050
    assert log.readings - before < 50 * 40 * len(verl(3000))


def test_growing_log_waits_for_the_end_of_a_line():
    log = GrowingLog("train.log")
    assert log.take(b"step:1 - loss:0.5\nstep:2 - loss:0.1") is True
    assert log.runs[0].steps == (1,)
    assert log.take(b"56\n") is True
    assert log.runs[0].value("loss", 2) == 0.156


def test_growing_log_with_far_apart_rows_keeps_little():
    noise = b"INFO nothing to see here, really nothing at all, just a line of output\n" * 20_000
    log = GrowingLog("train.log", whole=5000)
    for step in range(1, 15):
        log.take((verl(step) + "\n").encode() + noise)
    assert log.runs[0].steps == tuple(range(1, 15))
    assert sum(len(piece.data) for piece in log._pieces) < 3 << 20
    lines = [1 + 20_001 * n for n in range(14)]
    assert list(log.runs[0].row_lines) == lines


def test_growing_log_that_began_as_a_large_file_goes_on_from_its_end(tmp_path):
    path = tmp_path / "train.log"
    begin = "\n".join(lines_of("verl", 400)) + "\n"
    path.write_text(begin, encoding="utf-8")
    log = GrowingLog("train.log", whole=100)
    log.start(path)
    more = "\n".join(verl(s) for s in range(401, 405)) + "\n"
    assert log.take(more.encode()) is True
    whole = parse_bytes((begin + more).encode(), name="train.log").runs
    assert [run[3:5] for run in table(log.runs)] == [run[3:5] for run in table(whole)]
    assert log.runs[0].value("a/b", 404) == 404
