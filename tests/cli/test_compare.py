"""The command ``compare``: what it prints, in both languages, and how it fails."""

import json
import random

import pytest

from assistant.cli.main import main


def verl_line(step, values):
    return f"step:{step} - " + " - ".join(f"{key}:{value}" for key, value in values.items())


def log_text(seed, level=0.0, n=60):
    dice = random.Random(seed)
    lines = []
    for step in range(1, n + 1):
        values = {
            "actor/entropy": round(0.5 - 0.003 * step + dice.gauss(0, 0.01), 6),
            "actor/pg_loss": round(dice.gauss(0, 0.001), 6),
            "actor/ppo_kl": round(dice.gauss(0, 1e-4), 8),
            "critic/score/mean": round(0.2 + level + 0.004 * step + dice.gauss(0, 0.02), 6),
            "response_length/mean": round(800 + dice.gauss(0, 20), 3),
            "perf/total_num_tokens": 100_000 + dice.randrange(1000),
            "timing_s/step": round(100 + dice.gauss(0, 2), 3),
            "training/global_step": step,
        }
        if step in {20, 40, 60}:
            mean = {20: 207, 40: 236, 60: 231}[step] / 900
            values |= {
                "val-core/aime_2025/acc/mean@30": round(mean, 6),
                "val-aux/aime_2025/acc/best@2/mean": round(mean + 0.0778, 6),
                "val-aux/aime_2025/acc/worst@2/mean": round(mean - 0.0778, 6),
            }
        lines.append(verl_line(step, values))
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_STRICT_GROUNDING", "1")
    (tmp_path / "a.log").write_text(log_text(1), encoding="utf-8")
    (tmp_path / "b.log").write_text(log_text(2, level=0.3, n=50), encoding="utf-8")


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(
    "sides",
    [
        ("a.log@20", "a.log@40"), ("a.log@3", "@4"), ("a.log@first10", "@last10"), ("a.log@1:10", "a.log@50:60"),
        ("a.log@20", "@best"), ("a.log", "b.log"), ("a.log@10", "b.log@10"), ("a.log@last10", "b.log@last10"),
    ],
)  # fmt: skip
def test_compare_every_kind_of_sides_is_written_and_traced(sides, language, capsys):
    assert main(["compare", *sides, "--lang", language]) == 0
    text = capsys.readouterr().out
    assert text.startswith("**")
    assert ("| 指标 |" if language == "zh" else "| Metric |") in text


def compared(capsys, *arguments):
    assert main(["compare", *arguments, "--format", "json", "--lang", "en"]) == 0
    return json.loads(capsys.readouterr().out)


def test_compare_as_json_holds_verdict_rows_facts_and_runs(capsys):
    found = compared(capsys, "a.log@20", "a.log@40", "-m", "val-core/aime_2025/acc/mean@30")
    assert found["verdict"]["code"] in {"improved", "inconclusive"}
    row = found["rows"][0]
    facts = {fact["id"]: fact for fact in found["facts"]}
    fact = facts[row["fact"]]
    assert (fact["kind"], fact["from"], fact["to"]) == ("change", 0.23, row["to"])
    assert row["basis"] == fact["noise_basis"] == "resampling"
    assert row["half_width"] == pytest.approx(0.0262, abs=2e-4)
    assert all(name in facts for name in fact["inputs"])
    assert [side["steps"] for side in found["sides"]] == [[20, 20], [40, 40]]
    assert found["grounding"]["unsupported"] == []
    assert found["runs"][0]["name"] == "a.log"


def test_compare_runs_finds_the_better_one_and_draws_both(capsys):
    found = compared(capsys, "a.log", "b.log", "-m", "critic/score/mean")
    assert found["verdict"]["code"] == "improved"
    assert [line["run"] for line in found["charts"][0]["series"]] == ["r0", "r1"]
    assert main(["compare", "a.log", "b.log", "-m", "critic/score/mean", "--lang", "en"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    title = next(place for place, line in enumerate(lines) if "critic/score/mean: A" in line)
    assert "B ·" in lines[title]
    assert len(lines) - title > 10
    assert all(len(line) <= 80 for line in lines[title:])


@pytest.mark.parametrize("axis", ["tokens", "time"])
def test_compare_runs_aligned_on_another_axis_says_so(axis, capsys):
    found = compared(capsys, "a.log", "b.log", "--align", axis)
    assert found["align"] == axis
    assert any(reason["code"] == f"aligned_{axis}" for reason in found["reasons"])


def test_compare_prints_the_corrected_p_that_each_mark_follows(capsys):
    assert main(["compare", "a.log@first10", "@last10", "--lang", "en"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("| Metric"))
    place = [cell.strip() for cell in head.split("|")].index("p (corrected)")
    seen = 0
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `") and cells[place] != "—" and cells[-2] != "unchanged":
            beyond = cells[place].startswith("<") or float(cells[place]) < 0.05
            assert beyond == (cells[-2] != "cannot tell"), line
            seen += 1
    assert seen > 3


def test_compare_tells_a_critical_diagnosis_of_one_side_first(tmp_path, capsys):
    dice = random.Random(5)
    lines = []
    for step in range(1, 61):
        length = (900 if step < 30 else 900 * 0.01 ** (min(step - 29, 9) / 9)) * (1 + dice.gauss(0, 0.04))
        values = {
            "actor/entropy": round(0.4 + dice.gauss(0, 0.01), 5), "actor/pg_loss": round(dice.gauss(0, 0.001), 6),
            "critic/score/mean": round(0.4 + dice.gauss(0, 0.02), 5), "response_length/mean": round(length, 3),
            "response_length/max": round(3 * length, 1), "response_length/min": round(length / 3, 1),
            "training/global_step": step,
        }  # fmt: skip
        lines.append(verl_line(step, values))
    (tmp_path / "c.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = compared(capsys, "c.log@first10", "@last10")
    assert found["verdict"]["code"] == "regressed"
    assert [(one["rule"], one["side"]) for one in found["findings"]] == [("length_collapse", "b")]
    assert found["answer"].startswith(
        "**B is worse than A. Diagnosed when the log is read from its start to step 60, but not to step 10:"
    )


def test_compare_best_says_that_the_best_was_picked(capsys):
    found = compared(capsys, "a.log@20", "a.log@best")
    assert found["sides"][1]["steps"] == [40, 40]
    assert any(reason["code"] == "best_of_many" for reason in found["reasons"])
    assert found["verdict"]["code"] == "inconclusive"


def test_compare_a_run_that_the_file_does_not_hold_exits_two(capsys):
    assert main(["compare", "a.log#2", "a.log#1", "--lang", "en"]) == 2
    assert "no run “2”. There are: #1 a.log" in capsys.readouterr().err


def test_compare_is_the_same_whatever_the_file_is_called(tmp_path, capsys):
    (tmp_path / "2026-11-21 run@7.log").write_text(log_text(2, level=0.3, n=50), encoding="utf-8")
    one = compared(capsys, "a.log", "b.log")
    other = compared(capsys, "a.log", "2026-11-21 run@7.log")
    assert one["verdict"]["code"] == other["verdict"]["code"]
    assert other["grounding"]["unsupported"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.log@99", "a.log@3"], "no step 99"),
        (["a.log@x", "a.log@3"], "Cannot read"),
        (["nothing.log", "a.log"], "no file nothing.log"),
        (["a.log", "a.log"], "compared with itself"),
        (["a.log@3", "a.log"], "compared with itself"),
        (["a.log@1:10", "@5:20"], "overlap"),
        (["a.log@3", "@3"], "overlap"),
        (["a.log@3", "b.log"], "both or neither"),
        (["a.log@1", "@2", "-m", "no_such_metric"], "no metric"),
    ],
)
def test_compare_with_bad_input_exits_two_with_one_line(arguments, said, capsys):
    assert main(["compare", *arguments, "--lang", "en"]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_compare_second_side_of_steps_alone_is_of_the_run_named_first(tmp_path, capsys):
    """``x.jsonl#2@first5 @last5``: both sides are of the second run, as if it were named twice."""
    rows = [(step, 0.2 + 0.01 * step) for step in range(1, 21)] + [(step, 0.7 - 0.02 * step) for step in range(1, 21)]
    text = "".join(json.dumps({"step": step, "reward": reward, "loss": reward / 2}) + "\n" for step, reward in rows)
    (tmp_path / "two.jsonl").write_text(text, encoding="utf-8")
    assert main(["compare", "two.jsonl#2@first5", "@last5", "--format", "json"]) == 0
    short = json.loads(capsys.readouterr().out)
    assert main(["compare", "two.jsonl#2@first5", "two.jsonl#2@last5", "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    for made in (short, whole):
        made.pop("usage", None)
    assert short["rows"] == whole["rows"]
    assert short["rows"]


def test_compare_of_two_parts_of_a_run_tells_how_far_a_diagnosis_was_read(tmp_path, capsys):
    """Either part is read with what went before it, so a diagnosis is of the log up to its end, not of that part."""
    path = tmp_path / "run.log"
    path.write_text(
        "".join(
            f"step:{s} - actor/entropy:{max(0.6 * 0.9**s, 0.01):.5f} - critic/score/mean:{0.3 + 0.001 * (s % 7):.4f} "
            f"- actor/grad_norm:{max(1.0 * 0.95**s, 0.1):.4f}\n"
            for s in range(1, 81)
        ),
        encoding="utf-8",
    )
    main(["compare", f"{path}@first10", f"{path}@last10", "--lang", "en"])
    told = capsys.readouterr().out
    assert "Diagnosed when the log is read from its start to step 80, but not to step 10: The policy entropy" in told
    assert "alone" not in told.split("Diagnosed when")[1].splitlines()[0]
