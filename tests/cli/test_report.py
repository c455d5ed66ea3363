import pytest

from assistant.cli.main import main

LOG = "\n".join(f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:{0.5 - 0.01 * s}" for s in range(1, 13))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOG, encoding="utf-8")
    return str(path)


def test_report_writes_a_page_with_the_overview_and_each_question(log, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", log, "-o", str(page), "-q", "entropy at step 3", "--lang", "en"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.count('class="verdict') == 2
    assert "entropy at step 3" in text
    assert capsys.readouterr().out == ""


def test_explain_as_html_is_the_same_page_on_standard_output(log, capsys):
    assert main(["explain", log, "-q", "熵是多少", "--format", "html"]) == 0
    assert '<html lang="zh-CN">' in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "no numbers here"])
def test_report_of_a_text_without_metrics_exits_two(tmp_path, capsys, text):
    path = tmp_path / "empty.log"
    path.write_text(text, encoding="utf-8")
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


def test_report_into_a_folder_that_is_not_there_exits_two(log, tmp_path, capsys):
    assert main(["report", log, "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "page.html" in capsys.readouterr().err
