"""``triage``: what counts as a log, the order, processes that die, going on where it stopped."""

import json
import os
import sys
import types

import pytest

from assistant.cli.main import main
from assistant.service import triage


def row(step, kl):
    return f"step:{step} - actor/ppo_kl:{kl:.4f} - actor/entropy:0.5 - actor/grad_norm:0.1\n"


@pytest.fixture
def logs(tmp_path):
    """A breach, nothing wrong, no metric, no text; and what is no log."""
    (tmp_path / "runs" / "b").mkdir(parents=True)
    held = tmp_path / "runs"
    (held / "bad.log").write_text("".join(row(s, 0.001 * s) for s in range(1, 9)), encoding="utf-8")
    (held / "b" / "good.log").write_text("".join(row(s, 0.001) for s in range(1, 9)), encoding="utf-8")
    (held / "empty.log").write_text("nothing to see here\n" * 3, encoding="utf-8")
    (held / "zero.log").write_text("", encoding="utf-8")
    (held / "model.safetensors").write_bytes(b"\0" * 10)
    return held


BREACH = ["-t", "actor/ppo_kl<0.0045"]


def runs(capsys):
    return json.loads(capsys.readouterr().out)["runs"]


def test_triage_of_a_folder_tells_each_log_worst_first(logs, capsys):
    assert main(["triage", str(logs), "--jobs", "1", "--format", "json", *BREACH]) == 0
    found = runs(capsys)
    names = [os.path.relpath(row["source"], logs) for row in found]
    assert names == ["bad.log", "b/good.log", "empty.log", "zero.log"]
    assert [row["verdict"] for row in found] == ["warning", "healthy", "no_metrics", "unreadable"]
    assert found[0]["findings"][0]["line"] == 5


def test_triage_table_names_what_is_worst(logs, capsys):
    assert main(["triage", str(logs), "--jobs", "1", "--lang", "zh", "--fail-on", "warning", *BREACH]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "**2 个 run，来自 2 份日志：1 警告、1 未见问题；另有 2 个文件没有读出 run**"
    assert lines[4].startswith("| 警告 | bad.log | 1–8 | actor/ppo_kl 不满足阈值，首见于 step 5")


def test_triage_in_processes_is_the_same(logs, capsys):
    main(["triage", str(logs), "--jobs", "1", "--format", "json", *BREACH])
    alone = runs(capsys)
    main(["triage", str(logs), "--jobs", "2", "--format", "json", *BREACH])
    assert runs(capsys) == alone


def test_triage_goes_on_where_it_stopped(logs, tmp_path, monkeypatch, capsys):
    results = tmp_path / "results.jsonl"
    arguments = ["triage", str(logs), "--jobs", "1", "--results", str(results), "--format", "json", *BREACH]
    main(arguments)
    first = runs(capsys)
    kept = results.read_bytes()
    results.write_bytes(kept[: kept.rfind(b"\n", 0, -1) + 30])  # it was stopped in the midst of a line
    looked = []
    look_at = triage.look_at
    monkeypatch.setattr(triage, "look_at", lambda path, *rest: looked.append(path) or look_at(path, *rest))
    main(arguments)
    assert runs(capsys) == first
    assert len(looked) == 1
    (logs / "bad.log").write_text(row(1, 0.1), encoding="utf-8")
    main(arguments)
    assert looked[1:] == [str(logs / "bad.log")]


def test_triage_patterns_and_files_count_once(logs):
    found = triage.sources_of([str(logs / "**" / "*.log"), str(logs / "bad.log"), str(logs)])
    assert len(found) == 4


def test_triage_of_nothing_is_bad_input(tmp_path, capsys):
    assert main(["triage", str(tmp_path / "*.log")]) == 2
    assert "holds no log" in capsys.readouterr().err


def test_triage_as_lines_tells_each_as_it_is_done(logs, capsys):
    main(["triage", str(logs), "--jobs", "1", "--format", "jsonl"])
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == 4


# --- Ray -------------------------------------------------------------------------------------------------


def test_triage_without_ray_says_how_to_get_it(logs, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    triage._ray.cache_clear()
    assert main(["triage", str(logs), "--ray", "auto"]) == 2
    assert "pip install ray" in capsys.readouterr().err


@pytest.fixture
def ray(monkeypatch):
    """The part of Ray's interface that is used, in this process."""
    held = types.ModuleType("ray")
    held.calls = []
    held.init = lambda **options: held.calls.append(options["address"])
    held.shutdown = lambda: held.calls.append("shutdown")
    held.cluster_resources = lambda: {"CPU": 2.0}
    held.remote = lambda function: types.SimpleNamespace(remote=lambda *given: (function, given))
    held.wait = lambda running, num_returns: (running[:1], running[1:])
    held.get = lambda task: task[0](task[1][0], tuple(task[1][1]), task[1][2])
    monkeypatch.setitem(sys.modules, "ray", held)
    # A task stands for its result until it is got; lists cannot be keys.
    held.remote = lambda function: types.SimpleNamespace(
        remote=lambda path, thresholds, language: (function, (path, tuple(thresholds), language))
    )
    triage._ray.cache_clear()
    yield held
    triage._ray.cache_clear()


def test_triage_on_ray_hands_out_each_log_and_leaves(logs, ray, capsys):
    main(["triage", str(logs), "--ray", "auto", "--format", "json", *BREACH])
    assert [row["verdict"] for row in runs(capsys)] == ["warning", "healthy", "no_metrics", "unreadable"]
    assert ray.calls == ["auto", "shutdown"]


def test_triage_on_ray_that_does_not_answer_exits_three(logs, ray, capsys):
    def refuse(**_options):
        raise ConnectionError("no such cluster")

    ray.init = refuse
    assert main(["triage", str(logs), "--ray", "ray://nowhere:1"]) == 3
    assert "ray://nowhere:1" in capsys.readouterr().err
