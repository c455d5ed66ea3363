import io

import pytest

from assistant.cli.chat import Chat
from assistant.cli.main import main

LINES = [f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:{0.5 - 0.01 * s}" for s in range(1, 13)]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return str(path)


def talk(*lines, language="en"):
    said = []
    chat = Chat(language, "en", said.append)
    for line in lines:
        if not chat.take(line):
            break
    return said, chat


def test_chat_reads_a_log_and_answers_about_it(log):
    said, chat = talk(f"/load {log}", "entropy at step 3?", "and step 4?")
    assert "steps 1–12 (12)" in said[0]
    assert "0.47" in said[1]
    assert "0.46" in said[2]
    assert len(chat.answers) == 2


def test_chat_with_a_pasted_line_takes_it_as_a_log():
    said, _ = talk(LINES[0], "what is the entropy?")
    assert said[0].startswith("Read r0")
    assert "0.49" in said[1]


def test_chat_paste_of_several_lines_ends_with_a_dot():
    said, chat = talk("/paste", *LINES, ".", "/runs")
    assert "steps 1–12" in said[1]
    assert said[-1].startswith("- r0")
    assert len(chat.material.runs[0].steps) == 12


def test_chat_with_a_wrong_file_or_command_tells_it_and_goes_on(log):
    said, chat = talk("/load no-such-file", "/nonsense", "/save x.md", f"/load {log}", "/lang fr", "entropy at step 1?")
    assert "no-such-file" in said[0]
    assert "/load FILE" in said[1]
    assert "no answer" in said[2]
    assert "/load FILE" in said[4]
    assert len(chat.answers) == 1


def test_chat_saves_answers_as_page_or_markdown(log, tmp_path):
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    talk(f"/load {log}", "entropy at step 3?", f"/save {page}", f"/save {text}")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert text.read_text(encoding="utf-8").startswith("## entropy at step 3?")


def test_chat_language_is_kept_until_changed(log):
    _, chat = talk(f"/load {log}", "/lang zh", "entropy at step 3?", "/lang en", "step 3 的熵是多少")
    assert [answer.language for answer in chat.answers] == ["zh", "en"]


def test_chat_command_reads_questions_from_a_pipe(log, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("entropy at step 3?\n/quit\nentropy at step 4?\n"))
    assert main(["chat", log, "--lang", "en"]) == 0
    shown = capsys.readouterr().out
    assert "0.47" in shown
    assert "0.46" not in shown
