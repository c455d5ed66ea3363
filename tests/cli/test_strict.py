"""``parse --strict`` and the progress bar."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.cli.progress import Bar
from assistant.service import Source, read_source, service

LOG = "step:1 - actor/kl:0.5\n" + "metrics 'train/loss': 0.5, 'train/kl': 0.1 of another program\n" * 4


def test_parse_strict_unread_metrics_are_an_error_with_lines_and_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOG)
    assert main(["parse", str(path), "--lang", "en"]) == 0
    capsys.readouterr()
    assert main(["parse", str(path), "--strict", "--lang", "en"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4 lines look like metrics and were not understood (lines 2, 3, 4, 5)" in shown.err
    assert [line.split(":")[0].strip() for line in shown.err.splitlines()[1:]] == ["2", "3", "4"]
    assert main(["parse", str(path), "--strict", "--lang", "zh"]) == 2
    assert "第 2, 3, 4, 5 行" in capsys.readouterr().err


def test_parse_strict_log_that_was_understood_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOG.splitlines()[0] + "\nsome output\n")
    assert main(["parse", str(path), "--strict"]) == 0
    assert '"actor/kl": 0.5' in capsys.readouterr().out


def test_parse_strict_looks_at_all_noise_of_a_large_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    noise = "other output of a worker that holds nothing at all\n" * 60_000
    path.write_text("step:1 - actor/kl:0.5\n" + noise + LOG.splitlines()[1] + "\n" + "end\n" * 30_000)
    assert main(["parse", str(path)]) == 0
    capsys.readouterr()
    assert main(["parse", str(path), "--strict", "--lang", "en"]) == 2
    assert "lines 60002" in capsys.readouterr().err


def test_read_source_large_file_is_named_and_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.service.sources.LARGE", 1 << 19)
    path = tmp_path / "a.log"
    path.write_text("".join(f"step:{n} - actor/kl:{n / 3!r}\n" for n in range(30_000)))
    name, content = read_source(str(path))
    assert (name, content) == ("a.log", path)
    told: list[int] = []
    (run,) = service().read([Source(name, content)], progress=told.append).runs
    assert run.value("actor/kl", 7) == 7 / 3
    assert told[-1] == path.stat().st_size


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bar_shows_itself_after_a_second_on_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 1000)
    now = [0.0]
    monkeypatch.setattr("assistant.cli.progress.time.monotonic", lambda: now[0])
    sources = [Source("a", path), Source("b", b"text")]
    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        now[0] = 0.0
        with Bar(sources, stream) as bar:
            now[0] = 0.9
            bar.show(100)
            assert stream.getvalue() == ""
            now[0] = 1.1
            bar.show(500)
            assert ("50%" in stream.getvalue()) == drawn
        assert stream.getvalue().endswith("\r\x1b[K") == drawn
