"""Completion as bash itself does it, over the script that is printed."""

import shutil
import subprocess

import pytest

from assistant.cli.completion import commands_of, script
from assistant.cli.main import build_parser, main

BASH = shutil.which("bash") or "bash"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """What bash offers for words of a command line, the last of which is being typed."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "train.log").write_text("x", encoding="utf-8")
    (folder / "source.sh").write_text(script(build_parser(), "bash"), encoding="utf-8")

    def run(*words):
        quoted = " ".join(f"'{word}'" for word in ("metric-assistant", *words))
        code = f"source ./source.sh; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _metric_assistant; "
        code += 'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run([BASH, "--norc", "-c", code], cwd=folder, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    return run


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ch"], {"chat", "check"}),
        (["check", "--form"], {"--format"}),
        (["check", "--format", "s"], {"sarif"}),
        (["check", "--fail-on", ""], {"warning", "critical"}),
        (["check", "tr"], {"train.log"}),
        (["explain", "train.log", "--lang", "z"], {"zh"}),
        (["index", "ad"], {"add"}),
        (["completion", "f"], {"fish"}),
        (["check", "--thresholds", "tr"], {"train.log"}),
    ],
)
def test_bash_offers_what_may_stand_there(complete, words, offered):
    assert set(complete(*words)) == offered


@pytest.mark.needs("bash")
def test_bash_offers_every_command(complete):
    assert set(complete("")) >= {command.path[0] for command in commands_of(build_parser()) if command.path}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_of_each_shell_names_every_option(shell, capsys):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for command in commands_of(build_parser()):
        for option in command.options:
            for name in option.names:
                assert name in text or f"-l {name[2:]}" in text or f"-s {name[1:]}" in text


@pytest.mark.needs("bash")
def test_script_is_sound_to_bash(tmp_path):
    for shell in ("bash", "zsh"):
        path = tmp_path / shell
        path.write_text(script(build_parser(), shell), encoding="utf-8")
        assert subprocess.run([BASH, "-n", str(path)], capture_output=True, check=False).returncode == 0
