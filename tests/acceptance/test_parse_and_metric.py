"""``parse`` gives the log's cells exactly; ``metric`` gives definitions by any spelling."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .figures import EXAMPLE, STEPS, example_rows, example_text
from .support import CJK, Completed, assert_no_traceback, parsed_rows, says, strict_json

Ask = Callable[..., Completed]


def test_parse_json_shape_as_contracted(ask: Ask) -> None:
    (run,) = strict_json(ask("parse", EXAMPLE, "--to", "json").stdout)["runs"]
    assert {"id", "name", "format", "framework", "step_axis", "rows", "missing", "warnings"} <= run.keys()
    assert run["format"] == run["framework"] == "verl"
    assert isinstance(run["missing"], list)
    assert isinstance(run["warnings"], list)
    assert all({"step", "line", "values"} <= row.keys() for row in run["rows"])


@pytest.mark.parametrize("step", STEPS)
def test_parse_json_cells_equal_the_text(ask: Ask, step: int) -> None:
    row, wanted = parsed_rows(ask("parse", EXAMPLE, "--to", "json"))[step], example_rows()[step]
    assert row["values"] == wanted.cells
    assert row["line"] == wanted.line


def test_parse_json_steps_each_once_in_order(ask: Ask) -> None:
    (run,) = strict_json(ask("parse", EXAMPLE, "--to", "json").stdout)["runs"]
    assert [row["step"] for row in run["rows"]] == list(STEPS)


def test_parse_standard_input_same_rows_as_file(ask: Ask) -> None:
    piped = parsed_rows(ask("parse", "-", "--to", "json", input=example_text()))
    assert piped == parsed_rows(ask("parse", EXAMPLE, "--to", "json"))


def test_parse_output_file_written(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    done = ask("parse", EXAMPLE, "--to", "json", "-o", out)
    assert done.returncode == 0, done.stderr
    printed = strict_json(ask("parse", EXAMPLE, "--to", "json").stdout)
    assert strict_json(out.read_text(encoding="utf-8")) == printed


def test_parse_csv_cells_equal_the_text(ask: Ask) -> None:
    done = ask("parse", EXAMPLE, "--to", "csv")
    assert_no_traceback(done)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    cells: dict[int, dict[str, float]] = {step: {} for step in STEPS}
    for row in rows:
        step = int(float(row["step"]))
        if "metric" in row:  # one line a cell
            cells[step][row["metric"]] = float(row["value"])
        else:  # one line a step
            known = {key for wanted in example_rows().values() for key in wanted.cells}
            cells[step] |= {key: float(text) for key, text in row.items() if key in known and text}
    assert cells == {step: wanted.cells for step, wanted in example_rows().items()}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("ppo_kl", "actor/ppo_kl"),
        ("actor/ppo_kl", "actor/ppo_kl"),
        ("熵", "actor/entropy"),
        ("clip ratio", "response_length/clip_ratio"),
    ],
)
def test_metric_any_spelling_defined(ask: Ask, name: str, key: str) -> None:
    done = ask("metric", name)
    assert_no_traceback(done)
    assert done.returncode == 0, done.stderr
    assert key in done.stdout


def test_metric_ppo_kl_estimator_and_source_given(ask: Ask) -> None:
    text = ask("metric", "ppo_kl", "--lang", "en").stdout
    assert says(text, r"(?<!\w)k1(?!\w)")
    assert "core_algos" in text


def test_metric_ambiguous_name_not_taken_for_one_thing(ask: Ask) -> None:
    assert says(ask("metric", "clip ratio", "--lang", "en").stdout, r"clipfrac|PPO")


@pytest.mark.parametrize(("lang", "chinese"), [("zh", True), ("en", False)])
def test_metric_language_chosen_definition_in_it(ask: Ask, lang: str, chinese: bool) -> None:
    text = ask("metric", "actor/entropy", "--lang", lang).stdout
    share = len(re.findall(CJK, text)) / len(text)
    assert (share > 0.15) is chinese


def test_metric_json_both_languages(ask: Ask) -> None:
    done = ask("metric", "actor/entropy", "--format", "json")
    assert done.returncode == 0, done.stderr
    card = strict_json(done.stdout)
    assert isinstance(card, dict)
    dumped = json.dumps(card, ensure_ascii=False)
    assert "actor/entropy" in dumped
    assert says(dumped, rf"{CJK}{{4}}")
    assert says(dumped, r"[a-z]{3,} [a-z]{2,} [a-z]{2,}")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("ppo_kll", "ppo_kl"), ("actor/entropi", "actor/entropy"), ("grad_nrom", "grad_norm")],
)
def test_metric_misspelt_refused_with_nearest_names(ask: Ask, name: str, nearest: str) -> None:
    done = ask("metric", name)
    assert_no_traceback(done)
    assert done.returncode == 2
    assert name in done.stderr
    assert nearest in done.stderr.replace(name, "")


def test_metric_unheard_of_refused(ask: Ask) -> None:
    done = ask("metric", "zzz/qqq_xyzzy", "--lang", "en")
    assert_no_traceback(done)
    assert done.returncode == 2
    assert "zzz/qqq_xyzzy" in done.stderr
