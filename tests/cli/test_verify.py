"""``metric-assistant verify``: marks, the truth beneath what is not so, JSON, and clear errors."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.cli.verify import WIDTH, columns

LOG = Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log"
TEXT = """At step 2 the mean reward was 0.160. Entropy was 0.156. If it falls, wait.

step 2 的吞吐是 999 tokens/s，比 step 1 高。
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "answer.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_verify_marks_each_sentence_and_tells_the_truth(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(LOG), "--text", str(text), "--lang", "en"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0].startswith("**4 sentences: 1 supported, 2 contradicted")
    assert "✗ At step 2 the mean reward was 0.160." in lines
    assert "✓ Entropy was 0.156." in lines
    assert "· If it falls, wait." in lines
    assert "0.1504" in shown
    assert all(columns(line) <= WIDTH for line in lines[1:])


def test_verify_text_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.TextIOWrapper(io.BytesIO("step 2 的奖励是 0.150。".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", piped)
    assert main(["verify", str(LOG)]) == 0
    assert "✓ step 2 的奖励是 0.150。" in capsys.readouterr().out


def test_verify_json_is_the_contracts_object(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(LOG), "--text", str(text), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"sentences", "summary", "facts"} <= set(document)
    assert set(document["summary"]) == {"supported", "contradicted", "unsupported", "no_claim"}
    claim = document["sentences"][0]["claims"][0]
    assert {"text", "status", "reason", "fact"} <= set(claim)
    assert claim["fact"] in {fact["id"] for fact in document["facts"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-", "--text", "-"], "cannot both come from standard input"),
        ([str(LOG), "--text", "/no/such/file"], "/no/such/file"),
        (["/no/such/log", "--text", str(LOG)], "/no/such/log"),
    ],
)
def test_verify_bad_input_is_one_clear_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *arguments, "--lang", "en"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error


def test_verify_log_without_metrics_is_bad_input(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.txt"
    log.write_text("hello there\n", encoding="utf-8")
    assert main(["verify", str(log), "--text", str(text), "--lang", "en"]) == 2
    assert "holds no metric" in capsys.readouterr().err
