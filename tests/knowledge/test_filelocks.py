"""Locks on files: one at a time, and what another process uses counts as in use until that process ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from assistant.knowledge.filelocks import alone, held, hold

pytest.importorskip("fcntl", reason="the system has no such locks")


class Owner:
    """Somebody who uses a file."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "meta.json"
    path.write_text("{}")
    return path


def test_hold_counts_until_released_by_all(file: Path) -> None:
    one, other = hold(Owner, file), hold(Owner, file)
    one()
    assert held(file)
    other()
    assert not held(file)
    other()  # a second time does nothing


def test_hold_ends_with_its_owner(file: Path) -> None:
    owner = Owner()
    hold(owner, file)
    assert held(file)
    del owner
    assert not held(file)


def test_held_file_that_is_gone_is_not(tmp_path: Path) -> None:
    assert not held(tmp_path / "gone")


def test_hold_of_a_killed_process_ends(file: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from assistant.knowledge.filelocks import hold\n"
        "hold(sys, Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert held(file)
        process.kill()
    assert not held(file)


def test_alone_lets_others_wait(tmp_path: Path) -> None:
    lock = tmp_path / "folder" / ".lock"
    waiting, order = Event(), []

    def other() -> None:
        waiting.set()
        with alone(lock):
            order.append("other")

    thread = Thread(target=other)
    with alone(lock):
        thread.start()
        assert waiting.wait(60)
        assert held(lock)
        order.append("first")
    thread.join(60)
    assert order == ["first", "other"]
    assert not held(lock)


def test_alone_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), alone(tmp_path / ".lock"):
        raise ValueError("inside")
    assert not held(tmp_path / ".lock")
