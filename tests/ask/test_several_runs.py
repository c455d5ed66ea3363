"""One log that holds two runs: which of them a question names, and what an answer says of it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from assistant.ask.runs_named import runs_named
from assistant.cli.main import main
from assistant.parsing import parse_text
from assistant.service import Source, service


def text_of(*lengths: int) -> str:
    rng = random.Random(4)
    rows = [
        f"step:{step} - actor/entropy:{rng.random():.5f} - critic/rewards/mean:{rng.random():.5f} - timing_s/step:9.5"
        for length in lengths
        for step in range(1, length + 1)
    ]
    return "\n".join(rows) + "\n"


RUNS = parse_text(text_of(30, 20), name="logs/train.log").runs


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("#2 的 entropy", (1,)),
        ("train.log #2 step 10 的 entropy", (1,)),
        ("entropy of train.log#1", (0,)),
        ("train.log 正常吗", (0, 1)),
        ("第二个 run 的 reward 怎么样", (1,)),
        ("第 2 段日志怎么样", (1,)),
        ("第一次训练和第二次训练哪个好", (0, 1)),
        ("compare run 2 with run 1", (1, 0)),
        ("is it healthy?", ()),
    ],
)
def test_runs_named_of_one_file_are_told_by_their_places(question: str, places: tuple[int, ...]) -> None:
    assert runs_named(question, RUNS)[1] == places


def test_explain_text_with_two_runs_says_where_they_part() -> None:
    engine = service()
    material = engine.read([Source("train.log", text_of(30, 20))])
    answer = engine.explain(material, "What happened at step 12?").answer
    told = [warning for warning in answer.warnings if "Line 31" in warning]
    assert told == ["Line 31: the step goes back from 30 to 1: taken as another run."]
    answer = engine.explain(material, "#2 正常吗").answer
    assert [run["name"] for run in answer.runs] == ["train.log #2"]
    assert "第 31 行：步数从 30 退回到 1，算作另一个 run。" in answer.warnings


def test_trend_of_a_log_with_two_runs_says_which_it_is_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.log"
    path.write_text(text_of(30, 20))
    assert main(["trend", str(path), "actor/entropy", "--lang", "en"]) == 0
    shown = capsys.readouterr().out
    assert "The input holds 2 runs; this answers about train.log #1." in shown
    assert main(["trend", str(path), "actor/entropy", "--run", "r1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not any("The input holds" in warning for warning in told["warnings"])
    assert told["runs"][0]["steps"] == [1, 20]


def test_commands_take_both_runs_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.log"
    path.write_text(text_of(30, 20))
    assert main(["parse", str(path), "--strict"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["id"], run["name"], len(run["rows"])) for run in runs] == [
        ("r0", "train.log #1", 30),
        ("r1", "train.log #2", 20),
    ]
    assert all(run["lines"] == {"taken": 50, "ignored": 0, "not_understood": 0, "samples": []} for run in runs)
    assert main(["compare", f"{path}#1", f"{path}#2", "--lang", "en"]) == 0
    assert "`train.log #2`" in capsys.readouterr().out
    assert main(["check", str(path), "--format", "json"]) in {0, 1}
    assert [run["name"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["train.log #1", "train.log #2"]
    page = tmp_path / "page.html"
    assert main(["report", str(path), "-o", str(page)]) == 0
    assert "train.log #2" in page.read_text(encoding="utf-8")
