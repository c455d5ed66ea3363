"""Files that a remote caller may name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.model import InputError
from assistant.service.roots import allowed_path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "logs"
    inside.mkdir()
    (inside / "a.log").write_text("step:1 - a/b:1", encoding="utf-8")
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "logs2").mkdir()
    (tmp_path / "logs2" / "b.log").write_text("x", encoding="utf-8")
    monkeypatch.setenv("ASSISTANT_ALLOWED_ROOTS", str(inside))
    return inside


def test_allowed_path_file_and_folder_inside_are_given(root: Path) -> None:
    assert allowed_path(str(root / "a.log")) == (root / "a.log").resolve()
    assert allowed_path("a.log") == (root / "a.log").resolve()
    assert allowed_path(str(root)) == root.resolve()


def test_allowed_path_without_roots_nothing_is_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSISTANT_ALLOWED_ROOTS")
    with pytest.raises(InputError, match="ASSISTANT_ALLOWED_ROOTS"):
        allowed_path(str(root / "a.log"))


@pytest.mark.parametrize(
    "text",
    [
        "../secret",
        "a.log/../../secret",
        "/etc/passwd",
        "~/a.log",
        "",
        " ",
        "a\x00b",
        "../logs2/b.log",
        "x" * 5000,
        "//",
    ],
)
def test_allowed_path_outside_is_refused(root: Path, text: str) -> None:
    with pytest.raises(InputError, match="not in an allowed folder"):
        allowed_path(text)


def test_allowed_path_symbolic_link_to_the_outside_is_refused(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "secret")
    (root / "up").symlink_to(root.parent)
    for text in ("link", "up/secret", str(root / "up" / "logs2" / "b.log")):
        with pytest.raises(InputError, match="not in an allowed folder"):
            allowed_path(text)


def test_allowed_path_symbolic_link_within_is_followed(root: Path) -> None:
    (root / "latest").symlink_to(root / "a.log")
    assert allowed_path("latest") == (root / "a.log").resolve()


def test_allowed_path_root_that_is_a_link_is_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shown").symlink_to(root)
    assert allowed_path("a.log", [tmp_path / "shown"]) == (root / "a.log").resolve()


def test_allowed_path_loop_of_links_or_missing_file_is_refused(root: Path) -> None:
    (root / "loop").symlink_to(root / "loop")
    for text in ("loop", "absent.log"):
        with pytest.raises(InputError):
            allowed_path(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_allowed_path_pipe_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(InputError, match="neither a regular file"):
        allowed_path("pipe")
