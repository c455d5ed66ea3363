"""``watch`` over files that grow, in lines, JSON lines and on a terminal's table."""

import io
import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from rich.console import Console

from assistant.cli.main import main
from assistant.cli.watch_table import Table
from assistant.cli.watch_views import BARS, progress_text, sparkline
from assistant.service import service
from assistant.service.watching import Progress, Watcher
from tests.service.test_webhooks import Receiver


def row(step):
    return f"step:{step} - actor/ppo_kl:{0.001 * step:.4f} - actor/entropy:0.5 - actor/grad_norm:0.1\n"


LOG = "".join(map(row, range(1, 9)))
BREACH = ["-t", "actor/ppo_kl<0.0045"]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOG, encoding="utf-8")
    return path


def events(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(("level", "status"), [(None, 0), ("warning", 1), ("critical", 0)])
def test_watch_once_says_what_is_there_and_exits_by_the_level(log, level, status, capsys):
    more = ["--fail-on", level] if level else []
    assert main(["watch", str(log), "--once", *BREACH, *more]) == status
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "read train.log: verl, step 1–8, 3 metrics"
    assert out[2].startswith("! warning · step 5: ")
    assert out[-1] == "ended at step 8; 1 warning"


def test_watch_in_chinese_speaks_chinese(log, capsys):
    main(["watch", str(log), "--once", "--lang", "zh", *BREACH])
    out = capsys.readouterr().out
    assert "! 警告 · step 5:" in out
    assert "结束：step 8；1 条警告" in out


def test_watch_once_without_a_file_is_bad_input(tmp_path, capsys):
    assert main(["watch", str(tmp_path / "none.log"), "--once"]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_watch_unreadable_threshold_is_refused_before_there_is_a_log(tmp_path, capsys):
    assert main(["watch", str(tmp_path / "none.log"), "-t", "actor/ppo_kl <"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_watch_as_json_lines_tells_each_step_and_each_finding_once(log, capsys):
    """The file grows by a step whenever the watch has told the one before; it ends by itself when nothing comes."""
    log.write_text("".join(map(row, range(1, 4))), encoding="utf-8")

    def grow():
        for step in range(4, 9):
            with log.open("a", encoding="utf-8") as handle:
                handle.write(row(step))
            time.sleep(0.05)

    writer = threading.Thread(target=grow)
    writer.start()
    assert main(["watch", str(log), "--format", "jsonl", "--every", "0.01", "--idle", "1.5", *BREACH]) == 0
    writer.join()
    found = events(capsys)
    told = [event["step"] for event in found if event["event"] == "step"]
    first = found[0]["run"]["steps"][1]
    assert found[0]["event"] == "read"
    assert told == list(range(first + 1, 9))
    assert [event["rule"] for event in found if event["event"] == "finding"] == ["threshold"]
    assert found[-1]["event"] == "end"
    assert len(found[-1]["findings"]) == 1


def test_watch_stops_at_the_first_finding_if_asked(log, capsys):
    assert main(["watch", str(log), "--stop-on", "warning", "--fail-on", "warning", *BREACH]) == 1
    assert "ended at step 8" in capsys.readouterr().out


def test_watch_reads_a_pipe_to_its_end(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode()), encoding="utf-8"))
    assert main(["watch", "-", "--format", "jsonl", "--every", "0.01"]) == 0
    assert events(capsys)[-1]["event"] == "end"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_watch_interrupted_ends_cleanly(log):
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may have it ignored
    )
    code += "from assistant.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "watch", str(log), "--every", "0.05", "--fail-on", "warning"]
    process = subprocess.Popen(
        [*command, *BREACH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    while not process.stdout.readline().startswith("! "):
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, "")
    assert out.splitlines()[-1].startswith("ended at step 8")


# --- the table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_table_fits_eighty_columns_and_shows_course_and_findings(log, language):
    run = service().read([_source(log)]).runs
    watcher = Watcher(service().resolver, str(log), language=language, thresholds=["actor/ppo_kl<0.0045"])
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=False)
    table = Table("train.log", language, console=console)
    table._snapshot = watcher.observe(run)
    console.print(table.render())
    text = out.getvalue()
    assert "actor/ppo_kl" in text
    assert BARS in text
    assert all(len(line) <= 80 for line in text.splitlines())


def _source(path):
    from assistant.service import Source

    return Source(path.name, path.read_bytes())


def test_watcher_tells_a_finding_once_while_it_grows(log):
    watcher = Watcher(service().resolver, str(log), thresholds=["actor/ppo_kl<0.0045"], clock=lambda: 0.0)
    counts = []
    for last in range(3, 9):
        log.write_text("".join(map(row, range(1, last + 1))), encoding="utf-8")
        counts.append(len(watcher.observe(service().read([_source(log)]).runs).fresh))
    assert counts == [0, 0, 1, 0, 0, 0]


def test_sparkline_spans_lowest_to_highest_with_blanks_for_gaps():
    assert sparkline([0.0, None, 1.0]) == "▁ █"
    assert sparkline([2.0, 2.0]) == "▁▁"
    assert sparkline([None]) == " "


def test_progress_too_vague_is_not_told():
    sure = Progress(5, "step", 10, 3600.0, 3000.0, 4200.0)
    assert progress_text(sure, "en") == "step 5 of 10 · about 60 min left (50–70 min)".replace(
        "50–70 min", "50 min–70 min"
    )
    assert "left" not in progress_text(Progress(5, "step", 10, 3600.0, 0.0, 9e9), "en")


# --- --notify --------------------------------------------------------------------------------------------


@pytest.fixture
def receiver(monkeypatch):
    held = Receiver()
    monkeypatch.setenv("ASSISTANT_WEBHOOK_URL", held.url)
    yield held
    held.close()


@pytest.mark.parametrize("command", [["check"], ["watch", "--once"]])
def test_notify_sends_new_findings_once(log, receiver, command, capsys):
    arguments = [command[0], str(log), *command[1:], *BREACH, "--notify", "json"]
    main(arguments)
    main(arguments)
    assert [len(document["alerts"]) for document in receiver.documents] == [1]
    main([*arguments, "--notify-again"])
    assert len(receiver.got) == 2
    assert "step:5" not in receiver.got[0][2].decode()  # nothing of the log's own text


@pytest.mark.parametrize(("more", "status"), [([], 0), (["--notify-required"], 3)])
def test_notify_that_fails_is_told_and_counts_only_where_it_is_required(log, receiver, more, status, capsys):
    receiver.answers = [(400, {}, "")]
    assert main(["check", str(log), *BREACH, "--fail-on", "critical", "--notify", "json", *more]) == status
    assert "was not delivered: HTTP 400" in capsys.readouterr().err


def test_notify_without_an_address_is_bad_input(log, capsys):
    assert main(["check", str(log), "--notify", "feishu"]) == 2
    assert "ASSISTANT_WEBHOOK_FEISHU_URL" in capsys.readouterr().err
