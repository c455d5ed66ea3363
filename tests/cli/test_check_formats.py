"""``check --format github|sarif|junit|line`` as a CI job runs it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from assistant.cli.main import main

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-reduced.json").read_text(encoding="utf-8"))
ROWS = [f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:0.5" for s in range(1, 9)]


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Two logs of one name; in the second the first step beyond 0.005 (5) stands on line 7."""
    monkeypatch.chdir(tmp_path)
    for folder, before in (("a", 0), ("b", 2)):
        (tmp_path / folder).mkdir()
        text = "\n".join(["starting"] * before + ROWS)
        (tmp_path / folder / "train.log").write_text(text, encoding="utf-8")
    return ["a/train.log", "b/train.log"]


def test_check_as_lines_names_each_file_and_the_line_of_the_onset(logs, capsys):
    assert main(["check", *logs, "-t", "actor/ppo_kl<0.0045", "--format", "line", "--lang", "en"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("a/train.log:5:1: warning: ")
    assert second.startswith("b/train.log:7:1: warning: ")


def test_check_as_annotations_names_file_and_line(logs, capsys):
    assert main(["check", logs[1], "-t", "actor/ppo_kl<0.0045", "--format", "github", "--fail-on", "critical"]) == 0
    assert capsys.readouterr().out.startswith("::warning file=b/train.log,line=7,title=threshold (")


def test_check_as_sarif_keeps_the_schema(logs, capsys):
    arguments = ["-t", "actor/ppo_kl<0.0045", "-t", "actor/entropy < 1 @ 400:", "--format", "sarif"]
    assert main(["check", *logs, *arguments]) == 1
    log = json.loads(capsys.readouterr().out)
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    assert len(log["runs"][0]["results"]) == 2
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert any("actor/entropy < 1" in note["message"]["text"] for note in notes)


def test_check_as_junit_has_a_suite_for_each_run(logs, capsys):
    assert main(["check", *logs, "-t", "actor/ppo_kl<0.0045", "--format", "junit"]) == 1
    suites = ElementTree.fromstring(capsys.readouterr().out)
    assert [suite.get("failures") for suite in suites] == ["1", "1"]
    assert [case.get("file") for case in suites.iter("testcase")] == logs


@pytest.mark.parametrize("format", ["github", "line"])
def test_check_with_nothing_found_prints_nothing(logs, format, capsys):
    assert main(["check", *logs, "--format", format]) == 0
    assert capsys.readouterr().out == ""
