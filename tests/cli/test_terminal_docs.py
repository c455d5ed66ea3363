"""What docs/terminal.md tells people to paste does what it says."""

import json
import re
from pathlib import Path

import yaml

from assistant.cli.completion import commands_of
from assistant.cli.main import build_parser, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_problem_matcher_reads_each_finding(tmp_path, capsys):
    (tasks,) = map(json.loads, blocks("json"))
    (task,) = tasks["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    rows = [f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:0.5\n" for s in range(1, 9)]
    log = tmp_path / "a log: one.log"
    log.write_text("".join(rows), encoding="utf-8")
    arguments = [argument.replace("${file}", str(log)) for argument in task["args"]]
    limits = ["-t", "actor/ppo_kl<0.0045", "-t", "actor/entropy<0.1 => critical"]
    for language in ("zh", "en"):
        main([*arguments, *limits, "--lang", language])
        lines = capsys.readouterr().out.splitlines()
        found = [re.fullmatch(pattern["regexp"], line) for line in lines]
        assert [
            (m[pattern["file"]], int(m[pattern["line"]]), m[pattern["severity"]], m[pattern["code"]]) for m in found
        ] == [(str(log), 1, "error", "threshold"), (str(log), 5, "warning", "threshold")]


def test_hook_runs_a_command_that_there_is():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *words = hook["entry"].split()
    assert program == build_parser().prog
    assert build_parser().parse_args([*words, "train.log"]).format == "line"
    assert hook["id"] in PAGE
    assert re.search(hook["files"], "logs/train.log")


def test_page_names_only_options_that_there_are():
    known = {command.path[0]: command for command in commands_of(build_parser()) if command.path}
    for line in (line for block in blocks("console") for line in block.splitlines()):
        for name, rest in re.findall(r"metric-assistant (\w+)([^|]*)", line.partition("  #")[0]):
            options = {spelling for option in known[name].options for spelling in option.names}
            assert set(re.findall(r"(?<= )--?[a-z][\w-]*", rest)) <= options
