"""What the user can mend is said in one clear line, in the user's language, with status 2."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .figures import EXAMPLE
from .support import CJK, Completed, assert_language, assert_no_traceback, facts_of, read_answer, says

Ask = Callable[..., Completed]

ASKED = {"zh": "模型有改进吗", "en": "did the model improve?"}
WHAT_TO_DO = {
    "zh": r"请|试|可以|可用|例如|检查|改|用|需|应|粘贴|传入|指定|换成|metric-assistant",
    "en": r"please|\btry\b|check|pass|give|\buse\b|paste|need|e\.g\.|such as|instead|expect|export|point"
    r"|metric-assistant|choose|available|name|should|there (?:is|are)",
}
NO_METRICS = {
    "prose": "Starting the Ray cluster\nLoading checkpoint shards\nThe workers are ready\n",
    "stamped": "2025-10-02 11:40:27 INFO server started\n2025-10-02 11:40:29 INFO 3 workers joined\n",
    "mail": "Hi all,\n\nthe run finished last night, please have a look.\n\nThanks\n",
}
BOTH_LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


def assert_refused(done: Completed, language: str, *mentioned: str) -> None:
    """Check the status, and that the line says what was wrong and what to do, in the user's language."""
    assert_no_traceback(done)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 4, done.stderr
    message = "\n".join(lines)
    assert (re.search(CJK, message) is not None) is (language == "zh"), message
    for name in mentioned:
        assert name in message
    assert says(message, WHAT_TO_DO[language]), message


def folder_of_no_logs(tmp_path: Path) -> Path:
    folder = tmp_path / "no-logs-here"
    folder.mkdir()
    (folder / "notes.txt").write_text("nothing to see\n", encoding="utf-8")
    return folder


def binary(name: str, head: bytes) -> Callable[[Path], Path]:
    def make(tmp_path: Path) -> Path:
        path = tmp_path / name
        path.write_bytes(head + random.Random(0).randbytes(4096))
        return path

    return make


def file_holding(text: str) -> Callable[[Path], Path]:
    def make(tmp_path: Path) -> Path:
        path = tmp_path / "empty-looking.log"
        path.write_text(text, encoding="utf-8")
        return path

    return make


SOURCES = {
    "empty": file_holding(""),
    "blank": file_holding(" \n\n\t\n"),
    "random-bytes": binary("random.log", b"\x00"),
    "png": binary("screenshot.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    "folder-without-logs": folder_of_no_logs,
    "no-such-file": lambda tmp_path: tmp_path / "nowhere.log",
}


@BOTH_LANGUAGES
@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_explain_unusable_source_refused(ask: Ask, tmp_path: Path, kind: str, language: str) -> None:
    source = SOURCES[kind](tmp_path)
    assert_refused(ask("explain", source, "-q", ASKED[language]), language, source.name)


@BOTH_LANGUAGES
@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_explain_unusable_source_no_question_refused_in_chosen_language(
    ask: Ask, tmp_path: Path, kind: str, language: str
) -> None:
    source = SOURCES[kind](tmp_path)
    assert_refused(ask("explain", source, "--lang", language), language, source.name)


@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_parse_unusable_source_refused(ask: Ask, tmp_path: Path, kind: str) -> None:
    source = SOURCES[kind](tmp_path)
    done = ask("parse", source)
    assert_no_traceback(done)
    assert done.returncode == 2
    assert source.name in done.stderr


@BOTH_LANGUAGES
def test_explain_empty_standard_input_refused(ask: Ask, language: str) -> None:
    assert_refused(ask("explain", "-", "-q", ASKED[language], input=""), language)


@BOTH_LANGUAGES
@pytest.mark.parametrize("kind", sorted(NO_METRICS))
def test_explain_log_without_metrics_nothing_made_up(ask: Ask, tmp_path: Path, kind: str, language: str) -> None:
    source = tmp_path / "server.log"
    source.write_text(NO_METRICS[kind], encoding="utf-8")
    done = ask("explain", source, "-q", ASKED[language], "--format", "json")
    assert_refused(done, language)
    got = read_answer(done, statuses=(2,))
    assert got["verdict"]["code"] == "no_metrics"
    assert not facts_of(got, "value")
    assert_language(got, language)


@BOTH_LANGUAGES
def test_explain_question_alone_asks_for_the_log(ask: Ask, language: str) -> None:
    done = ask("explain", "-", input=ASKED[language] + "\n")
    assert_refused(done, language)
    assert says(done.stderr, r"日志|log")


@pytest.mark.parametrize(
    ("question", "language"),
    [("step 99 的 entropy 是多少", "zh"), ("What is the entropy at step 99?", "en")],
)
def test_explain_step_not_in_the_log_no_data(ask: Ask, question: str, language: str) -> None:
    done = ask("explain", EXAMPLE, "-q", question, "--format", "json")
    got = read_answer(done, statuses=(0, 2))
    assert_language(got, language)
    assert got["verdict"]["code"] == "no_data"
    assert not facts_of(got, "value", step=99)
    said = got["answer"] + done.stderr
    assert "99" in said
    assert says(said, r"(?<!\d)0\s*(?:-|–|—|~|～|到|至|to|\.\.|、|,|，|and)[^\n]{0,20}3(?!\d)"), said


@pytest.mark.parametrize(
    ("question", "language"),
    [("step 1 的 foo/bar_baz 是多少", "zh"), ("What is foo/bar_baz at step 1?", "en")],
)
def test_explain_metric_nobody_knows_unknown_metric(ask: Ask, question: str, language: str) -> None:
    done = ask("explain", EXAMPLE, "-q", question, "--format", "json")
    got = read_answer(done, statuses=(0, 2))
    assert_language(got, language)
    assert got["verdict"]["code"] == "unknown_metric"
    assert "foo/bar_baz" in got["answer"] + done.stderr
    assert not facts_of(got, "value", metric="foo/bar_baz")


@pytest.mark.parametrize(
    "args",
    [("explain", EXAMPLE, "--format", "pdf"), ("explain", EXAMPLE, "--lang", "fr"), ("nonsense",)],
)
def test_command_unknown_option_or_value_usage_error(ask: Ask, args: tuple[str, ...]) -> None:
    done = ask(*args)
    assert_no_traceback(done)
    assert done.returncode == 2
    assert done.stderr.strip()
