"""Patterns kept between commands: they match as ever, hold nothing of a log, and are never needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant import kept_patterns
from assistant.cli.main import main
from assistant.kept_patterns import Kept, keep

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = [
    (r"(?i)\b(?:step|第)\s*(?P<number>\d+)(?:\s*步)?", 0, "at Step 12, 第 3 步"),
    (r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", 0, "0.5, a1, -3 and .7"),
    (r"(?P<left>[a-z]+) (?P<right>[a-z]+)", re.IGNORECASE, "Actor Loss x"),
    (r"^[\u4e00-\u9fff]+$", re.MULTILINE, "奖励\nKL\n熵"),
    (r"(a)(b)?(?(2)c|d)", 0, "abc ad abd"),
    (r"[äöü]+|ß", re.IGNORECASE, "ÄÖ ß"),
    (r"x(?s:.)y", 0, "x\ny"),
]


@pytest.fixture(autouse=True)
def compiling_as_before() -> Iterator[None]:
    compiler = re._compiler  # type: ignore[attr-defined]
    before = compiler.compile, compiler._code
    yield
    compiler.compile, compiler._code = before
    re.purge()


def compiled(kept: Kept) -> list[re.Pattern[str]]:
    """The patterns, as what is kept compiles them."""
    return [kept.compile(pattern, flags) for pattern, flags, _ in PATTERNS]


def learnt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """What a first process keeps of the patterns, as if they stood in a module."""
    monkeypatch.setattr(kept_patterns, "_shipped", lambda pattern, frame: True)
    monkeypatch.setattr(kept_patterns, "LEAST_NEW", 1)
    kept = keep(folder)
    assert kept is not None
    compiled(kept)
    kept.write()
    return kept


def test_kept_patterns_are_what_re_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [re.compile(pattern, flags) for pattern, flags, _ in PATTERNS]
    again = Kept(learnt(tmp_path, monkeypatch).path)
    found = compiled(again)
    assert len(again.entries) == len(PATTERNS)
    assert not again.new
    for one, other, (_, _, text) in zip(found, expected, PATTERNS, strict=True):
        assert one == other  # the same code, flags and text
        assert (one.groups, dict(one.groupindex)) == (other.groups, dict(other.groupindex))
        assert [m.span() for m in one.finditer(text)] == [m.span() for m in other.finditer(text)] != []
        assert [m.groupdict() for m in one.finditer(text)] == [m.groupdict() for m in other.finditer(text)]


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    path = learnt(tmp_path, monkeypatch).path
    content = path.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    path.write_bytes({"cut": content[:middle], "changed": changed, "empty": b"", "other": b"not ours"}[harm])
    kept = Kept(path)
    assert kept.entries == {}
    assert [p.pattern for p in compiled(kept)] == [pattern for pattern, _, _ in PATTERNS]


def test_what_is_compiled_from_data_is_not_kept(tmp_path: Path) -> None:
    kept = keep(tmp_path)
    assert kept is not None
    re.purge()
    word = "".join(["sec", "ret"])
    re.search(f"{word}_[0-9]+", "secret_1")
    re.search(r"only_here_\d", "only_here_1")
    assert [pattern for pattern, _ in kept.new] == [r"only_here_\d"]


def test_too_many_patterns_begin_the_file_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = learnt(tmp_path, monkeypatch).path
    monkeypatch.setattr(kept_patterns, "MOST", len(PATTERNS))
    kept = Kept(path)
    kept.compile("one more", 0)
    kept.write()
    assert list(Kept(path).entries) == [("one more", 0)]


def test_tables_are_modules_that_exist() -> None:
    for name in kept_patterns.TABLES:
        assert (ROOT / f"{name.replace('.', '/')}.py").is_file(), name


def test_main_called_by_a_program_compiles_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    before = re._compiler.compile  # type: ignore[attr-defined]
    assert main(["metric", "entropy"]) == 0
    assert capsys.readouterr().out
    assert re._compiler.compile is before  # type: ignore[attr-defined]


def command(cache: Path, log: Path) -> str:
    """What a command of its own says of a log."""
    line = [sys.executable, "-m", "assistant", "explain", str(log), "-q", "how did team_zebra/kl change?"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_second_command_takes_the_patterns_of_the_first(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(
        "".join(f"step:{i} - team_zebra/kl:{0.01 + i / 1000} - actor/entropy:{2 - i / 10}\n" for i in range(9))
    )
    first = command(tmp_path / "cache", log)
    (path,) = (tmp_path / "cache" / "metric-assistant").glob("patterns-*.bin")
    entries, written = Kept(path).entries, path.stat().st_mtime_ns
    assert len(entries) > 1000
    assert "team_zebra/kl" in first
    assert not any("zebra" in pattern for pattern, _ in entries)
    assert command(tmp_path / "cache", log) == first
    assert path.stat().st_mtime_ns == written


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    kept = learnt(blocked / "cache", monkeypatch)
    assert len(kept.new) == len(PATTERNS)
    assert not kept.path.exists()
