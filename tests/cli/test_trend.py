"""``metric-assistant trend``: the sentence, the picture, JSON, and what it says when it cannot."""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import assistant
from assistant.cli.main import main
from assistant.cli.plot import picture, thinned
from assistant.service import Material, service
from assistant.service.trends import trend, usual_scale
from tests.analysis.support import run_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((Path(assistant.__file__).parent / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
EXAMPLE = str(ROOT / "examples" / "verl-retool-steps-0-3.log")


def write_log(path: Path, columns: dict[str, Sequence[float]]) -> str:
    """A verl console log with the given metrics at steps 1, 2 …"""
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    lines = [
        f"step:{i} - " + " - ".join(f"{name}:{value:.6g}" for name, value in zip(names, row, strict=True))
        for i, row in enumerate(rows, 1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    dice = random.Random(3)
    return write_log(
        tmp_path / "train.log",
        {
            "actor/entropy": [0.5 - 0.004 * i + dice.gauss(0, 0.02) for i in range(80)],
            "critic/rewards/mean": [0.2 + (0.4 if i >= 50 else 0.0) + dice.gauss(0, 0.05) for i in range(80)],
            "actor/grad_norm": [1 + dice.gauss(0, 0.1) for _ in range(80)],
            "actor/ppo_kl": [1e-4 * math.exp(0.03 * i + dice.gauss(0, 0.1)) for i in range(80)],
            "actor/lr": [1e-6] * 80,
        },
    )


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["trend", *arguments]) == 0
    return capsys.readouterr().out


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output(capsys, *arguments, "--format", "json"))
    return found


# --- what is said ----------------------------------------------------------------------------------------


def test_trend_falling_metric_says_slope_interval_and_p(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, log, "actor/entropy", "--lang", "en")
    assert text.startswith("**`actor/entropy` is falling: -0.00")
    assert "80 points from step 1 to 80 (confidence interval -0.00" in text
    assert "p < 0.001" in text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_trend_direction_without_an_interval_names_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str
) -> None:
    values = [0.7, 0.7, 0.85, 0.05, -0.01, -0.03, -0.39, -0.75, -1.33, -1.15, -0.56, -0.66]
    text = output(
        capsys, write_log(tmp_path / "log", {"critic/score/mean": values}), "critic/score/mean", "--lang", lang
    )
    first = text.split("\n")[0]
    assert ("is falling: -0.1" if lang == "en" else "在下降") in first
    assert ("for a confidence interval" if lang == "en" else "给不出斜率的置信区间") in first
    assert " to " not in first.split("p = ")[-1]


def test_trend_in_chinese_says_the_same_numbers(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    english = output(capsys, log, "actor/entropy", "--lang", "en").split("\n")[0]
    chinese = output(capsys, log, "actor/entropy", "--lang", "zh").split("\n")[0]
    assert "在下降" in chinese
    assert sorted(re.findall(r"-?\d+\.\d+", chinese)) == sorted(re.findall(r"-?\d+\.\d+", english))


def test_trend_jump_is_told_as_a_change_point(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(capsys, log, "critic/rewards/mean", "--lang", "en")
    assert "rose by a jump" in said["verdict"]["summary"]
    assert said["verdict"]["code"] == "rising"
    [change] = said["change_points"]
    assert (change["kind"], change["step"]) == ("level", 51)
    assert change["before"] == pytest.approx(0.2, abs=0.03)
    assert change["after"] == pytest.approx(0.6, abs=0.03)


def test_trend_noise_is_told_as_noise(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(capsys, log, "actor/grad_norm", "--lang", "en")
    assert said["verdict"]["code"] == "fluctuating"
    assert "no trend" in said["verdict"]["summary"]


def test_trend_log_scale_says_growth_a_step(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(capsys, log, "actor/ppo_kl", "--log", "--lang", "en")
    [fact] = [fact for fact in said["facts"] if fact["kind"] == "trend"]
    assert fact["growth_per_step"] == pytest.approx(math.expm1(0.03), rel=0.2)
    assert fact["growth_low"] < fact["growth_per_step"] < fact["growth_high"]
    assert "rising by factors: +3." in said["verdict"]["summary"]


def test_trend_constant_metric_is_flat_and_drawn_all_the_same(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, log, "actor/lr", "--lang", "en")
    assert "does not change" in text
    assert "┌" in text


@pytest.mark.parametrize(
    ("window", "first", "last"),
    [(["--steps", "10:30"], 10, 30), (["--steps", "70:"], 70, 80), (["--steps=:9"], 1, 9), (["--last", "12"], 69, 80)],
)
def test_trend_window_looks_at_those_steps_alone(
    log: str, capsys: pytest.CaptureFixture[str], window: list[str], first: int, last: int
) -> None:
    said = report(capsys, log, "actor/entropy", *window)
    [fact] = [fact for fact in said["facts"] if fact["kind"] == "trend"]
    assert (fact["first_step"], fact["last_step"], fact["n"]) == (first, last, last - first + 1)
    assert said["charts"][0]["series"][0]["steps"] == list(range(first, last + 1))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("metric", ["actor/entropy", "critic/rewards/mean", "actor/grad_norm", "actor/ppo_kl"])
def test_trend_json_is_an_answer_whose_every_number_is_traced(
    log: str, capsys: pytest.CaptureFixture[str], metric: str, language: str
) -> None:
    said = report(capsys, log, metric, "--lang", language)
    Draft202012Validator(SCHEMA).validate({k: v for k, v in said.items() if k not in {"metric", "change_points"}})
    assert said["grounding"]["numbers"] == said["grounding"]["supported"] > 3
    assert said["intent"] == "trend"


def test_trend_few_points_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    said = report(capsys, EXAMPLE, "actor/entropy")
    assert said["verdict"]["code"] == "inconclusive"


# --- ahead -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_trend_forecast_says_value_and_interval_as_a_fact(
    log: str, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    said = report(capsys, log, "actor/entropy", "--at", "100", "--until", "0.13", "--lang", language)
    facts = {fact.get("name"): fact for fact in said["facts"]}
    ahead, reached = facts["forecast/actor/entropy"], facts["reach/actor/entropy"]
    assert ahead["low"] < 0.5 - 0.004 * 99 < ahead["high"]
    assert reached["low"] <= 93 <= reached.get("high", math.inf)  # no latest step where the line may still bend
    assert said["grounding"]["numbers"] == said["grounding"]["supported"]
    assert said["warnings"] == []


@pytest.mark.parametrize(
    ("metric", "arguments", "words"),
    [
        ("actor/entropy", ["--at", "500"], "further ahead"),
        ("actor/entropy", ["--at", "5"], "not ahead of the log"),
        ("actor/grad_norm", ["--at", "90"], "no trend to continue"),
        ("actor/entropy", ["--until", "0.9"], "will not reach 0.9: it moves away"),
        ("actor/entropy", ["--until", "0.4"], "has reached 0.4 already"),
        ("actor/entropy", ["--until=-3"], "-3 will not be reached: the metric cannot have that value"),
    ],
)
def test_trend_forecast_that_cannot_be_made_says_why(
    log: str, capsys: pytest.CaptureFixture[str], metric: str, arguments: list[str], words: str
) -> None:
    assert words in output(capsys, log, metric, *arguments, "--lang", "en")


# --- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["actor/entropy", "entropy", "熵", "policy entropy"])
def test_trend_metric_by_key_alias_or_words(log: str, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert report(capsys, log, name)["metric"] == "actor/entropy"


def test_trend_misspelt_metric_names_the_nearest_in_one_line(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trend", log, "actor/entrpy", "--lang", "en"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "actor/entrpy" in err
    assert "Nearest: actor/entropy" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["actor/entropy", "--steps", "500:600"], "no finite value in that range; the log has step 1–80"),
        (["actor/grad_norm", "--run", "r7"], "no run “r7”; there are: r0"),
    ],
)
def test_trend_nothing_there_says_what_is(
    log: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["trend", log, *arguments, "--lang", "en"]) == 2
    assert message in capsys.readouterr().err


def test_trend_log_scale_of_values_not_positive_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_log(tmp_path / "a.log", {"actor/pg_loss": [0.1, -0.2, 0.3, 0.1, 0.2, 0.4], "actor/lr": [1e-6] * 6})
    assert main(["trend", path, "actor/pg_loss", "--log", "--lang", "en"]) == 2
    assert "not positive" in capsys.readouterr().err


def test_trend_text_without_metrics_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("nothing to see here\n", encoding="utf-8")
    assert main(["trend", str(path), "loss", "--lang", "en"]) == 2
    assert "no metric" in capsys.readouterr().err


@pytest.mark.parametrize("window", ["5", "a:b", "9:3", ":", "-:4"])
def test_trend_range_that_is_none_is_refused(log: str, capsys: pytest.CaptureFixture[str], window: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["trend", log, "actor/entropy", f"--steps={window}"])
    assert stop.value.code == 2
    assert "--steps" in capsys.readouterr().err


def test_trend_values_not_finite_are_counted() -> None:
    run = run_of({i: {"actor/grad_norm": math.nan if i == 4 else 1.0 + i % 3} for i in range(12)})
    said = trend(Material((run,), "", ()), "actor/grad_norm", resolver=service().resolver)
    assert "1 further value is not finite" in said.answer.answer
    assert len(said.steps) == 11


# --- the picture -----------------------------------------------------------------------------------------


def test_trend_in_a_pipe_has_a_picture_of_eighty_columns_without_colours(
    log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output(capsys, log, "actor/entropy")
    assert "\x1b" not in text
    drawn = [line for line in text.splitlines() if line.endswith(("│", "┐", "┘"))]
    assert {len(line) for line in drawn} == {80}
    assert any(line.strip() == "actor/entropy" for line in text.splitlines())
    assert text.splitlines()[-1].strip() == "step"
    assert re.search(r"\n +1 .* 80\n", text)


def test_trend_on_a_terminal_has_colours_and_its_width(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    assert main(["trend", log, "actor/entropy"]) == 0
    text = screen.getvalue()
    assert "\x1b[" in text
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
    box = [line for line in bare.splitlines() if "┌" in line or "└" in line]
    assert box
    assert max(map(len, box)) <= 60


def test_picture_ascii_output_holds_no_other_character() -> None:
    drawn = picture(range(30), [i % 7 for i in range(30)], title="loss", unicode=False, levels=[([0, 29], [1.0, 5.0])])
    assert drawn.isascii()
    assert "*" in drawn


def test_picture_log_axis_shows_values_not_logarithms() -> None:
    drawn = picture(range(5), [1.0, 10.0, 100.0, 1000.0, 10000.0], title="kl", log=True, label="{:.0f}".format)
    assert "10000" in drawn
    assert re.search(r"^ *1┤", drawn, re.MULTILINE)


def test_picture_of_one_point_is_empty() -> None:
    assert picture([1], [2.0], title="loss") == ""


def test_thinned_long_series_keeps_its_ends_and_its_spike() -> None:
    values = [0.0] * 10_000
    values[4321] = 9.0
    xs, ys = thinned(range(10_000), values, 160)
    assert len(xs) <= 160
    assert xs == sorted(xs)
    assert (xs[0], max(ys)) == (0, 9.0)


def test_plain_commands_do_not_load_the_plotter() -> None:
    code = (
        "import sys, assistant.cli.main as m; m.build_parser(); "
        "sys.exit('plotext' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


# --- forms, several metrics ------------------------------------------------------------------------------


@pytest.fixture
def forms(tmp_path: Path) -> str:
    dice = random.Random(5)
    courses: dict[str, list[float]] = {
        "until": [0.5 * min(i / 25, 1) for i in range(80)],
        "since": [0.5 * max((i - 40) / 40, 0) for i in range(80)],
        "ramp": [0.5 * min(max((i - 30) / 20, 0), 1) for i in range(80)],
        "peak": [0.5 * (i / 40 if i < 40 else 1 - 0.4 * (i - 40) / 40) for i in range(80)],
        "spike": [0.2] * 78 + [40.0, 90.0],
        "collapse": [0.6] + [0.01] * 79,
    }
    noisy = {name: [v + dice.gauss(0, 0.012) for v in course] for name, course in courses.items()}
    return write_log(tmp_path / "forms.log", noisy)


@pytest.mark.parametrize(
    ("metric", "code", "words"),
    [
        ("until", "rising", ("with no clear change since", "先升后平")),
        ("since", "rising", ("has been rising since", "先平后升")),
        ("ramp", "rising", ("rose over some steps", "分段上升")),
        ("peak", "rising", ("rose, then fell", "先升后降")),
        ("spike", "fluctuating", ("no trend but for its end", "只在末尾突变")),
        ("collapse", "falling", ("fell by a jump", "跳变")),
    ],
)
def test_trend_head_names_the_form_and_carries_p(
    forms: str, capsys: pytest.CaptureFixture[str], metric: str, code: str, words: tuple[str, str]
) -> None:
    english, chinese = words
    said = report(capsys, forms, metric, "--lang", "en")
    assert said["verdict"]["code"] == code
    assert english in said["verdict"]["summary"]
    assert re.search(r"\bp [<=] 0\.\d+", said["verdict"]["summary"])
    assert "cannot be told from noise" not in said["answer"]
    assert chinese in output(capsys, forms, metric, "--lang", "zh").split("\n")[0]


def test_trend_several_keys_are_each_told(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, log, "actor/entropy", "critic/rewards/mean", "--lang", "en")
    assert "`actor/entropy` is falling" in text
    assert "`critic/rewards/mean` rose by a jump" in text
    assert main(["trend", log, "actor/entropy", "critic/rewards/mean", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["metric"] for one in told] == ["actor/entropy", "critic/rewards/mean"]


def test_trend_several_keys_one_unknown_names_it(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trend", log, "actor/entropy", "nonsense", "--lang", "en"]) != 0
    captured = capsys.readouterr()
    assert "nonsense" in captured.err + captured.out


@pytest.mark.parametrize(
    ("metric", "values", "scale"),
    [
        ("actor/kl_loss", [0.001, 0.01, 0.1], "log"),
        ("kl", [0.001, 0.5], "log"),
        ("actor/lr", [1e-7, 1e-5], "log"),
        ("learning_rate", [1e-6, 2e-6], "linear"),
        ("actor/lr", [0.0, 1e-5], "linear"),
        ("actor/ppo_kl", [-1e-5, 1e-3], "linear"),
        ("critic/score/mean", [0.001, 0.9], "linear"),
        ("actor/clr", [0.001, 0.9], "linear"),
    ],
)
def test_usual_scale_is_log_for_what_moves_by_factors(metric: str, values: list[float], scale: str) -> None:
    assert usual_scale(metric, values) == scale


# --- what a tester caught --------------------------------------------------------------------------------


def test_trend_of_an_accuracy_gives_no_value_that_is_impossible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(1)
    log = write_log(tmp_path / "a.log", {"train/accuracy": [0.5 + 0.01 * i + dice.gauss(0, 0.01) for i in range(40)]})
    said = output(capsys, log, "train/accuracy", "--at", "58", "--until", "1.2", "--lang", "en")
    assert "No value is given for step 58" in said
    assert re.search(r"\(bound 1(\.00)?\) around step 5\d", said)
    assert "1.2 will not be reached" in said


@pytest.mark.parametrize(("language", "words"), [("en", "he last 20 values, from step 41 on"), ("zh", "最后 20 个值")])
def test_trend_whose_last_values_are_nan_says_so_and_foresees_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, words: str
) -> None:
    values = [1 + 0.02 * i if i < 40 else math.nan for i in range(60)]
    log = write_log(tmp_path / "a.log", {"critic/rewards/mean": values})
    said = output(capsys, log, "critic/rewards/mean", "--at", "70", "--lang", language)
    assert said.count(words) == 2
    assert "If the trend holds" not in said
    assert "如果趋势不变" not in said


@pytest.mark.parametrize(("language", "words"), [("en", "50 at step 26"), ("zh", "step 26 的 50")])
def test_trend_names_a_single_spike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, words: str
) -> None:
    dice = random.Random(2)
    values = [50.0 if i == 25 else 1 + dice.gauss(0, 0.05) for i in range(50)]
    log = write_log(tmp_path / "a.log", {"actor/grad_norm": values})
    assert words in output(capsys, log, "actor/grad_norm", "--lang", language)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_trend_of_values_that_differ_in_the_fifth_digit_prints_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    log = write_log(tmp_path / "a.log", {"critic/rewards/mean": [0.5] * 29 + [0.50001]})
    said = report(capsys, log, "critic/rewards/mean", "--lang", language)
    assert "0.50001" in said["answer"]
    assert said["warnings"] == []


def test_trend_that_bends_twice_tells_its_last_pace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(3)
    falls = [0.1] * 40 + [0.05] * 40 + [0.02] * 40
    values = [8 - sum(falls[:i]) + dice.gauss(0, 0.05) for i in range(120)]
    log = write_log(tmp_path / "a.log", {"actor/entropy": values})
    said = report(capsys, log, "actor/entropy", "--lang", "en")
    assert len(said["change_points"]) > 1
    last = said["change_points"][-1]
    assert f"since step {last['step']}" in said["verdict"]["summary"]


def test_trend_that_jumped_up_and_down_names_the_first_step_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(4)
    values = [(2 if 20 <= i < 40 else 1) + dice.gauss(0, 0.05) for i in range(60)]
    log = write_log(tmp_path / "a.log", {"critic/rewards/mean": values})
    summary = report(capsys, log, "critic/rewards/mean", "--lang", "en")["verdict"]["summary"]
    assert "step 21" in summary
    assert "at step 41" in summary
