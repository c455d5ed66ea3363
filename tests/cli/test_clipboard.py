"""``--clipboard``: which program is asked, and what is said where there is none."""

import json
import os
import sys

import pytest

from assistant.cli import clipboard
from assistant.cli.main import main

LOG = "\n".join(f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:0.5" for s in range(1, 9))


@pytest.fixture
def desktop(tmp_path, monkeypatch):
    """A machine with no clipboard program; the fixture installs one that prints a text or fails."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("WAYLAND_DISPLAY", "DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(folder))

    def install(name, text="", fails=""):
        held = tmp_path / f"{name}.txt"
        held.write_text(text, encoding="utf-8")
        script = folder / name
        ending = f"echo '{fails}' >&2\nexit 1\n" if fails else ""
        script.write_text(f"#!/bin/sh\n/bin/cat '{held}'\n{ending}", encoding="utf-8")
        script.chmod(0o755)

    return install


@pytest.mark.parametrize(
    ("platform", "environment", "programs"),
    [
        ("darwin", {}, ["pbpaste"]),
        ("win32", {}, ["powershell", "pwsh"]),
        ("linux", {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, ["wl-paste", "xclip", "xsel"]),
        ("linux", {"DISPLAY": ":0"}, ["xclip", "xsel"]),
        ("linux", {"WSL_DISTRO_NAME": "Ubuntu"}, ["powershell.exe"]),
        ("linux", {}, []),
    ],
)
def test_commands_are_those_of_the_desktop(platform, environment, programs):
    assert [command[0] for command in clipboard.commands(platform, environment)] == programs


@pytest.mark.parametrize("program", ["xclip", "xsel"])
def test_parse_reads_the_clipboard_with_what_is_installed(desktop, monkeypatch, program, capsys):
    monkeypatch.setenv("DISPLAY", ":0")
    desktop(program, LOG)
    assert main(["parse", "--clipboard"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["name"], len(run["rows"])) == ("clipboard", 8)


def test_explain_answers_the_question_on_the_clipboard(desktop, monkeypatch, capsys):
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    desktop("wl-paste", f"{LOG}\n\nstep 3 的 actor/ppo_kl 是多少？\n")
    assert main(["explain", "--clipboard", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["language"], answer["slots"]["steps"]["values"]) == ("zh", [3])


def test_check_reads_the_clipboard_beside_a_file(desktop, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DISPLAY", ":0")
    desktop("xclip", LOG)
    file = tmp_path / "train.log"
    file.write_text(LOG, encoding="utf-8")
    assert main(["check", "--clipboard", str(file), "-t", "actor/ppo_kl<0.0045", "--format", "line"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["clipboard", str(file)]


@pytest.mark.parametrize(
    ("environment", "words"),
    [({"WAYLAND_DISPLAY": "w"}, "wl-clipboard"), ({"DISPLAY": ":0"}, "xclip"), ({}, "no desktop")],
)
def test_clipboard_without_a_program_names_what_to_do(desktop, monkeypatch, environment, words, capsys):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["explain", "--clipboard"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.parametrize(("text", "fails"), [("", ""), (" \n", ""), ("", "Nothing is copied")])
def test_clipboard_with_nothing_on_it_is_said_to_be_empty(desktop, monkeypatch, text, fails, capsys):
    monkeypatch.setenv("WAYLAND_DISPLAY", "w")
    desktop("wl-paste", text, fails)
    assert main(["check", "--clipboard", "--lang", "zh"]) == 2
    assert capsys.readouterr().err.startswith("剪贴板里没有文本")


def test_clipboard_program_that_fails_is_told_with_its_reason(desktop, monkeypatch, capsys):
    monkeypatch.setenv("DISPLAY", ":9")
    desktop("xclip", fails="Error: Cannot open display: :9")
    assert main(["parse", "--clipboard"]) == 2
    assert "Cannot open display" in capsys.readouterr().err


def test_clipboard_program_that_hangs_is_given_up(desktop, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(clipboard, "PATIENCE_S", 0.2)
    script = tmp_path / "bin" / "xclip"
    script.write_text("#!/bin/sh\nexec /bin/sleep 60\n", encoding="utf-8")
    script.chmod(0o755)
    assert os.access(script, os.X_OK)
    assert main(["parse", "--clipboard"]) == 2
    assert "xclip gave no clipboard" in capsys.readouterr().err
