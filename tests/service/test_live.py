"""Where a growing log comes from: appended to, rotated, cut, written anew, or a pipe."""

import io

import pytest

from assistant.service.live import LiveFile, LivePipe


def rows(first, last):
    return "".join(
        f"step:{s} - actor/entropy:{1 / s:.4f} - critic/score/mean:{s / 100:.3f}\n" for s in range(first, last)
    )


@pytest.fixture
def live(tmp_path):
    log = LiveFile(tmp_path / "train.log")
    yield log
    log.close()


def steps(log):
    return [run.steps for run in log.runs]


def test_file_that_is_not_there_yet_is_waited_for(live):
    assert live.poll().waiting
    live.path.write_text(rows(1, 3), encoding="utf-8")
    assert live.poll().grew
    assert steps(live) == [(1, 2)]


def test_file_that_is_appended_to_grows(live):
    live.path.write_text(rows(1, 3), encoding="utf-8")
    live.poll()
    assert not live.poll().grew
    with live.path.open("a", encoding="utf-8") as handle:
        handle.write(rows(3, 5) + "step:5 - actor/ent")
    assert live.poll().grew
    assert steps(live) == [(1, 2, 3, 4)]


def test_last_line_without_an_end_is_read_when_it_is_over(live):
    live.path.write_text(rows(1, 3).rstrip("\n"), encoding="utf-8")
    live.poll()
    assert steps(live) == [(1,)]
    assert live.finish()
    assert steps(live) == [(1, 2)]


def test_file_that_was_rotated_is_read_to_its_end_and_gone_on_from(live):
    live.path.write_text(rows(1, 5), encoding="utf-8")
    live.poll()
    with live.path.open("a", encoding="utf-8") as handle:
        handle.write(rows(5, 7))
    live.path.rename(live.path.with_suffix(".1"))
    live.path.write_text(rows(7, 9), encoding="utf-8")
    change = live.poll()
    assert (change.grew, change.began_anew) == (True, False)
    assert steps(live) == [tuple(range(1, 9))]


def test_file_that_was_cut_to_nothing_is_gone_on_from(live):
    live.path.write_text(rows(1, 5), encoding="utf-8")
    live.poll()
    live.path.write_text("", encoding="utf-8")
    live.poll()
    with live.path.open("a", encoding="utf-8") as handle:
        handle.write(rows(5, 7))
    live.poll()
    assert steps(live) == [tuple(range(1, 7))]


def test_file_that_was_begun_anew_holds_another_log(live):
    live.path.write_text(rows(1, 9), encoding="utf-8")
    live.poll()
    live.path.write_text(rows(1, 3), encoding="utf-8")
    assert live.poll().began_anew
    assert steps(live) == [(1, 2)]


def test_file_that_is_written_again_as_a_whole_is_the_same_log(live):
    """As a trainer's state in JSON is: all of it each time, with more at its end."""
    live.path.write_text(rows(1, 4) + "end 1\n", encoding="utf-8")
    live.poll()
    beside = live.path.with_suffix(".tmp")
    beside.write_text(rows(1, 6) + "end 2\n", encoding="utf-8")
    beside.replace(live.path)
    change = live.poll()
    assert (change.grew, change.began_anew) == (True, False)
    assert steps(live) == [(1, 2, 3, 4, 5)]


def test_pipe_is_read_to_its_end():
    pipe = LivePipe(io.BytesIO(rows(1, 30).encode()), whole=300)
    try:
        pipe.read_all()
        pipe.finish()
        assert steps(pipe) == [tuple(range(1, 30))]
        assert pipe.poll().ended
    finally:
        pipe.close()
