import json

import pytest

from assistant.cli.main import main

LOG = "\n".join(f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:0.5" for s in range(1, 9))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOG, encoding="utf-8")
    return str(path)


def test_check_with_nothing_found_exits_zero(log, capsys):
    assert main(["check", log, "--lang", "en"]) == 0
    assert "No rule fired" in capsys.readouterr().out


def test_check_with_a_breach_exits_one_and_at_a_higher_level_zero(log, capsys):
    assert main(["check", log, "-t", "actor/ppo_kl<0.005"]) == 1
    assert main(["check", log, "-t", "actor/ppo_kl<0.005", "--fail-on", "critical"]) == 0
    assert main(["check", log, "-t", "actor/ppo_kl<0.005 => critical", "--fail-on", "critical"]) == 1
    assert "`actor/ppo_kl<0.005`" in capsys.readouterr().out


def test_check_as_json_is_the_contracts_object(log, capsys):
    main(["check", log, "-t", "actor/ppo_kl<0.005", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {"verdict", "findings", "facts", "runs"} <= set(found)
    assert found["verdict"]["code"] == "warning"
    assert found["findings"][0]["steps"] == [5, 6, 7, 8]


def test_check_with_a_file_of_conditions_reads_each_line(log, tmp_path, capsys):
    file = tmp_path / "conditions"
    file.write_text("# ours\nactor/ppo_kl<0.005\n\nactor/entropy > 1\n", encoding="utf-8")
    assert main(["check", log, "--thresholds", str(file), "--format", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [["-t", "actor/ppo_kl <"], ["-t", "nonsense_metric < 1"], ["--thresholds", "no-such-file"]],
)
def test_check_with_bad_input_exits_two_with_one_line(log, arguments, capsys):
    assert main(["check", log, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
