"""The command line in-process: follow-ups, languages, and what it returns when something is amiss."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from assistant.cli.main import build_parser, main, markdown
from assistant.service import Source, service
from tests.analysis.support import run_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "examples" / "verl-retool-steps-0-3.log")
CHINESE = re.compile(r"[\u3400-\u9fff]")


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


# --- explain ---------------------------------------------------------------------------------------------


def test_explain_one_question_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", EXAMPLE, "-q", "用了多少张卡", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["intent"], answer["language"]) == ("derive", "zh")


def test_explain_questions_in_a_row_share_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    questions = ["-q", "actor/grad_norm 在 step 2 是多少", "-q", "那 step 3 呢", "-q", "那 actor/entropy 呢"]
    assert main(["explain", EXAMPLE, *questions, "--format", "json"]) == 0
    first, second, third = json.loads(capsys.readouterr().out)
    assert first["slots"]["metrics"] == second["slots"]["metrics"] == ["actor/grad_norm"]
    assert second["slots"]["steps"]["values"] == third["slots"]["steps"]["values"] == [3]
    assert third["slots"]["metrics"] == ["actor/entropy"]


def test_explain_markdown_ends_with_what_the_check_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", EXAMPLE, "-q", "step 3"]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    found = re.fullmatch(r"\*(\d+) of (\d+) numbers traced\*", last)
    assert found
    assert found[1] == found[2]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_explain_language_wish_is_followed(capsys: pytest.CaptureFixture[str], lang: str) -> None:
    main(["explain", EXAMPLE, "-q", "actor/entropy", "--lang", lang, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["language"] == lang


def test_explain_log_from_standard_input_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, Path(EXAMPLE).read_bytes())
    assert main(["explain", "-", "-q", "batch 多大", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["code"] == "answered"


@pytest.mark.parametrize(
    ("question", "code"),
    [("step 99 的 actor/entropy 是多少", "no_data"), ("actor/no_such_thing 是什么意思", "unknown_metric")],
)
def test_explain_what_the_log_lacks_exits_2_with_one_line(
    capsys: pytest.CaptureFixture[str], question: str, code: str
) -> None:
    assert main(["explain", EXAMPLE, "-q", question, "--format", "json"]) == 2
    output = capsys.readouterr()
    assert json.loads(output.out)["verdict"]["code"] == code
    assert len(output.err.strip().splitlines()) == 1
    assert "`" not in output.err


def test_explain_one_of_two_questions_amiss_still_prints_both(capsys: pytest.CaptureFixture[str]) -> None:
    questions = ["-q", "用了多少张卡", "-q", "step 99 的 actor/entropy 是多少"]
    assert main(["explain", EXAMPLE, *questions, "--format", "json"]) == 2
    assert len(json.loads(capsys.readouterr().out)) == 2


# --- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "lang", "chinese"),
    [
        (["explain", "no-such.log", "-q", "为什么"], "auto", True),
        (["explain", "no-such.log", "-q", "why"], "auto", False),
        (["explain", "no-such.log", "-q", "why"], "zh", True),
        (["explain", "no-such.log"], "auto", False),
        (["parse", "no-such.log"], "zh", True),
        (["metric", "xyzzy_plugh"], "auto", False),
        (["metric", "没有这种指标"], "auto", True),
    ],
)
def test_main_input_to_mend_exits_2_in_the_users_language(
    capsys: pytest.CaptureFixture[str], arguments: list[str], lang: str, chinese: bool
) -> None:
    assert main([*arguments, "--lang", lang]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    assert bool(CHINESE.search(output.err.replace("没有这种指标", ""))) is chinese


def test_main_language_of_errors_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSISTANT_LANG", "zh")
    assert main(["parse", "no-such.log"]) == 2
    assert CHINESE.search(capsys.readouterr().err)


@pytest.mark.parametrize("content", [b"", b" \n \n"])
def test_main_empty_input_exits_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    piped(monkeypatch, content)
    assert main(["explain"]) == 2
    assert capsys.readouterr().err.strip()


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["explain", "--format", "pdf"], ["parse"], ["metric"]])
def test_main_usage_error_exits_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_main_version_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert re.fullmatch(r"metric-assistant \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_serve_host_that_is_not_loopback_exits_2(capsys: pytest.CaptureFixture[str], host: str) -> None:
    assert main(["serve", "--host", host]) == 2
    assert host in capsys.readouterr().err


def test_main_pipe_closed_early_exits_0(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main(["metric", "actor/entropy", "--format", "json"]) == 0


def test_main_interrupted_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("assistant.service.service", interrupted)
    assert main(["metric", "actor/entropy"]) == 130


# --- parse -----------------------------------------------------------------------------------------------


def test_parse_json_holds_the_contracts_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", EXAMPLE]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert set(run) >= {"id", "name", "format", "framework", "step_axis", "rows", "missing", "warnings"}
    assert run["rows"][3]["values"]["perf/throughput"] == 667.2285752891935


def test_parse_csv_is_one_row_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", EXAMPLE, "--to", "csv"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0].split(",")[:2] == ["step", "line"]
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2", "3"]


def test_parse_to_a_file_writes_there_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "run.json"
    assert main(["parse", EXAMPLE, "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text(encoding="utf-8"))["runs"][0]["format"] == "verl"


def test_parse_parquet_without_a_file_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", EXAMPLE, "--to", "parquet"]) == 2
    assert "-o FILE" in capsys.readouterr().err


def test_parse_text_without_metrics_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prose.txt"
    path.write_text("Once upon a time.\n", encoding="utf-8")
    assert main(["parse", str(path)]) == 2
    assert "prose.txt" in capsys.readouterr().err


# --- metric ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["actor/ppo_kl"], ["ppo", "kl"], ["PPO_KL"]])
def test_metric_name_of_one_or_more_words_prints_the_card(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["metric", *words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["card"] == "verl/actor/ppo_kl"


@pytest.mark.parametrize(("lang", "heading"), [("zh", "## 是什么"), ("en", "## What it is")])
def test_metric_markdown_is_in_the_language(capsys: pytest.CaptureFixture[str], lang: str, heading: str) -> None:
    assert main(["metric", "actor/ppo_kl", "--lang", lang]) == 0
    output = capsys.readouterr().out
    assert heading in output
    assert "masked_mean(old_log_prob − log_prob)" in output


# --- pieces ----------------------------------------------------------------------------------------------


def test_build_parser_lists_every_command_in_both_languages() -> None:
    text = build_parser().format_help()
    for command in ("explain", "parse", "metric", "serve"):
        assert re.search(rf"^\s+{command}\s+.*[a-z].*/ .*[\u3400-\u9fff]", text, re.MULTILINE)


def test_markdown_shows_warnings_as_quotations() -> None:
    material = service().read([Source("a.log", Path(EXAMPLE).read_bytes())])
    explained = service().explain(material, "step 3", engine="llm")
    assert "\n\n> No model is configured" in markdown(explained.answer)


def test_markdown_without_numbers_says_nothing_of_tracing() -> None:
    answer, _ = service().answerer.ask("what is the weather like?", [run_of({1: {"loss": 0.5}})])
    assert "traced" not in markdown(answer)


def test_parse_csv_counter_that_is_a_metric_too_stands_in_both_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "progress.csv"
    log.write_text("time/total_timesteps,train/loss\n2048,0.5\n4096,0.4\n", encoding="utf-8")
    assert main(["parse", str(log), "--to", "csv"]) == 0
    head, first, _ = capsys.readouterr().out.splitlines()
    assert (head, first) == ("step,line,time/total_timesteps,train/loss", "2048,2,2048,0.5")


def test_parse_of_nothing_understood_shows_the_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "odd.log"
    log.write_text("我的日志：loss=0.5，reward=0.25 请问正常吗？\n", encoding="utf-8")
    assert main(["parse", str(log)]) == 2
    assert "loss=0.5，reward=0.25" in capsys.readouterr().err


@pytest.mark.parametrize(("set_to", "then"), [(None, "1"), ("4", "4")])
def test_main_matrices_get_one_thread_unless_set_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], set_to: str | None, then: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", set_to or "")
    if set_to is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    main(["parse", EXAMPLE])
    assert os.environ["OPENBLAS_NUM_THREADS"] == then
