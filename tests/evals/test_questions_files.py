"""The files of questions: their fields, and their expected values against the parsed logs."""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assistant.model import Run
from assistant.parsing import parse_text
from evals.questions import logs
from evals.questions.entries import Entry, entries, expression, files, load, problems, says, several

FILES = files()
ALL = entries()
CLOSE = 1e-6


@cache
def parsed(run_id: str) -> Run | None:
    runs = parse_text(logs.text(run_id), name=f"{run_id}.log").runs
    assert len(runs) <= 1, f"{run_id} is parsed into {len(runs)} runs"
    return runs[0] if runs else None


def runs_of(entry: Entry) -> list[Run]:
    return [run for name in several(entry["run"]) if (run := parsed(name)) is not None]


def same(one: Any, other: Any) -> bool:
    one, other = float(one), float(other)
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-12)


def label(entry: Entry) -> str:
    return str(entry["id"])


def alternatives(entry: Entry) -> list[str]:
    """Keys that the slots name, each alternative by itself."""
    return [key for metric in entry.get("slots", {}).get("metrics", []) for key in several(metric)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_load_of_each_file_finds_nothing_wrong(path: Path) -> None:
    assert len(load(path)) > 10


def test_files_hold_two_halves_of_each_author() -> None:
    authors = {path.stem.rpartition("_")[0] for path in FILES}
    assert {"zh", "mixed", "en"} <= authors
    for author in authors:
        sizes = {
            half: sum(len(load(p)) for p in files(half) if p.stem == f"{author}_{half}") for half in ("open", "held")
        }
        assert abs(sizes["open"] - sizes["held"]) <= 1, (author, sizes)


def test_ids_are_unique_and_even_ones_are_held() -> None:
    seen = [entry["id"] for entry in ALL]
    assert len(seen) == len(set(seen))
    for half, parity in (("held", 0), ("open", 1)):
        assert all(int(entry["id"].rpartition("-")[2]) % 2 == parity for entry in entries(half))


def test_held_questions_are_not_asked_in_the_open_half() -> None:
    asked = {
        half: {
            (str(e["run"]), *(turn.strip().lower() for turn in e.get("turns", [e.get("q", "")]))) for e in entries(half)
        }
        for half in ("open", "held")
    }
    assert not asked["open"] & asked["held"]


def test_each_author_gives_full_expectations_for_two_fifths_or_more() -> None:
    for author in {path.stem.rpartition("_")[0] for path in FILES}:
        own = [entry for path in FILES if path.stem.rpartition("_")[0] == author for entry in load(path)]
        full = [entry for entry in own if entry.get("facts") and entry.get("forbidden")]
        assert len(full) >= 0.4 * len(own), author


@pytest.mark.parametrize("name", sorted(logs.runs()))
def test_log_of_each_run_is_parsed_and_the_same_again(name: str) -> None:
    text = logs.text(name)
    logs.text.cache_clear()
    assert logs.text(name) == text
    run = parsed(name)
    assert (run is None) == (logs.runs()[name]["kind"] == "prose")
    if run is not None:
        assert len(run.distinct_steps) >= 3


def test_each_run_is_asked_about() -> None:
    assert set(logs.runs()) == {name for entry in ALL for name in several(entry["run"])}


@pytest.mark.parametrize("entry", [e for e in ALL if any("metric" in fact for fact in e.get("facts", []))], ids=label)
def test_expected_cells_are_those_of_the_log(entry: Entry) -> None:
    for fact in entry["facts"]:
        if "metric" not in fact:
            continue
        found = runs_of(entry)
        if "run" in fact:
            found = [found[int(fact["run"].removeprefix("r"))]]
        for metric in several(fact["metric"]):
            values = [value for run in found if (value := run.value(metric, fact["step"])) is not None]
            assert any(same(value, fact["value"]) for value in values), (metric, fact, values)


@pytest.mark.parametrize(
    "entry", [e for e in ALL if any(fact.get("name") == "n_gpus" for fact in e.get("facts", []))], ids=label
)
def test_expected_number_of_gpus_follows_from_the_log(entry: Entry) -> None:
    (run,) = runs_of(entry)
    for fact in entry["facts"]:
        if fact.get("name") != "n_gpus":
            continue
        steps, tokens = run.series("perf/total_num_tokens")
        rates = [(run.value("perf/throughput", step), run.value("perf/time_per_step", step)) for step in steps]
        assert tokens
        for total, (rate, seconds) in zip(tokens, rates, strict=True):
            assert rate is not None
            assert seconds is not None
            assert total / (rate * seconds) == pytest.approx(fact["value"], rel=1e-6)


def answerable(entry: Entry) -> bool:
    """Whether the log holds what is asked for."""
    return bool(entry["run"]) and not {"no_data", "unknown_metric", "no_metrics"} & set(several(entry.get("verdict")))


@pytest.mark.parametrize("entry", [e for e in ALL if alternatives(e) and answerable(e)], ids=label)
def test_metrics_of_the_slots_are_keys_of_the_log(entry: Entry) -> None:
    known = {key for run in runs_of(entry) for key in run.metrics} | {
        gap.metric for run in runs_of(entry) for gap in run.missing if gap.metric
    }
    for metric in entry["slots"]["metrics"]:
        assert set(several(metric)) <= known, metric


def window(run: Run, metric: str, entry: Entry) -> list[tuple[int, float]]:
    """The cells that an operation is over: of the first of the alternative windows, numbers alone."""
    asked = (several(entry["slots"].get("steps")) or [{"kind": "all"}])[0]
    values = asked.get("values", [])
    steps, cells = run.series(metric)
    every = list(run.distinct_steps)
    kept = {
        "all": set(every),
        "none": set(every),
        "last_n": set(every[-values[0] :] if values else []),
        "first": set(steps[: values[0]] if values else []),
        "range": {step for step in every if values and values[0] <= step <= values[-1]},
        "single": set(values),
        "pair": set(values),
        "last": {every[-1]},
    }[asked["kind"]]
    return [(s, float(v)) for s, v in zip(steps, cells, strict=True) if s in kept and math.isfinite(float(v))]


def outcomes(entry: Entry, run: Run, metric: str) -> list[tuple[int | None, float]]:
    """(step, value) of each operation that the entry accepts; a mean and a count have no step."""
    cells = window(run, metric, entry)
    bound = entry.get("threshold", {})
    found: list[tuple[int | None, float]] = []
    for op in several(entry["slots"]["op"]):
        if op in ("max", "argmax"):
            found.append(max(cells, key=lambda cell: cell[1]))
        elif op in ("min", "argmin"):
            found.append(min(cells, key=lambda cell: cell[1]))
        elif op == "mean":
            found.append((None, math.fsum(value for _, value in cells) / len(cells)))
        elif bound:
            limit = next(iter(bound.values()))
            beyond = [(s, v) for s, v in cells if (v > limit if "above" in bound else v < limit)]
            found.append(beyond[0] if op == "first_crossing" else (None, float(len(beyond))))
    return found


def operated(entry: Entry) -> bool:
    slots = entry.get("slots", {})
    counted = {"count", "first_crossing"} & set(several(slots.get("op")))
    return bool(
        slots.get("op")
        and slots.get("metrics")
        and len(several(entry["run"])) == 1
        and entry.get("facts")
        and (not counted or "threshold" in entry)
    )


@pytest.mark.parametrize("entry", [entry for entry in ALL if operated(entry)], ids=label)
def test_expected_result_of_an_operation_is_what_the_log_gives(entry: Entry) -> None:
    (run,) = runs_of(entry)
    for metric in entry["slots"]["metrics"]:
        for step, value in outcomes(entry, run, several(metric)[0]):
            assert any(gives(fact, step, value) for fact in entry["facts"]), (metric, step, value)


def gives(fact: dict[str, Any], step: int | None, value: float) -> bool:
    """Whether an expected fact is the cell at ``step``, or says its value or (where it has one) its step."""
    if "says" in fact:
        return same(fact["says"], value) or fact["says"] == step
    if "text" in fact:
        return str(step) in map(str, several(fact["text"]))
    return step is not None and "metric" in fact and fact["step"] == step and same(fact["value"], value)


def test_claims_spare_honest_denials_and_find_the_claims() -> None:
    cases = {
        "zh_stop": ("建议立即停止训练", "不建议停止训练"),
        "zh_gain": ("模型显著提升", "没有显著提升"),
        "zh_range": ("熵的正常范围是 0.4–0.6", "它没有通用的正常范围"),
        "zh_fine": ("训练正常。", "不能说训练正常与否"),
        "zh_collapsed_or_diverged": ("熵已经坍缩", "没有出现坍缩"),
        "diverged": ("No. The run diverged at step 5.", "there is no sign in the log that the run diverged"),
        "collapsed": ("The entropy collapsed.", "it does not look as if the entropy (0.20) collapsed"),
        "improved": ("a significant improvement", "not a statistically significant improvement"),
        "hacking": ("this is reward hacking", "no evidence of reward hacking"),
        "all_fine": ("everything is fine", "not everything is fine"),
        "zero": ("timing_s/gen = 0", "the value is missing, not 0"),
    }
    for name, (claim, denial) in cases.items():
        assert re.search(expression(f"${name}"), claim), name
        assert not re.search(expression(f"${name}"), denial), name


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("模型非常显著提升", True),
        ("没有证据表明模型显著提升", False),
        ("没有异常，模型显著提升", True),
        ("如果显著提升", False),
    ],
)
def test_expression_with_a_tilde_looks_for_a_denial_in_the_clause(text: str, claimed: bool) -> None:
    assert bool(re.search(expression("~显著提升"), text)) is claimed


@pytest.mark.parametrize(
    ("text", "number", "stated"),
    [
        ("第41步最大", 41, True),
        ("第 141 步", 41, False),
        ("约 0.31", 0.3127, True),
        ("约 0.3", 0.3127, False),
        ("31.3%", 0.3127, True),
        ("2,349 万个 token", 23487497, True),
        ("2.39×10⁻⁵", 2.394e-5, True),
        ("2.4e-05", 2.394e-5, True),
        ("下降 0.0232", -0.02316, True),
        ("72.2 分钟", 4334.2, True),
        ("0.0045", 0.00442, False),
    ],
)
def test_says_accepts_a_number_as_people_round_it(text: str, number: float, stated: bool) -> None:
    assert says(text, number) is stated


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"run": "nowhere"}, "runs.yaml"),
        ({"intent": "gossip"}, "intent"),
        ({"verdict": "splendid"}, "verdict"),
        ({"lang": ["zh", "fr"]}, "lang"),
        ({"lang": []}, "lang"),
        ({"forbidden": ["("]}, "forbidden"),
        ({"forbidden": ["$no_such_claim"]}, "no_such_claim"),
        ({"facts": [{"metric": "actor/entropy"}]}, "facts"),
        ({"slots": {"steps": {"kind": "some"}}}, "steps"),
        ({"slots": {"op": "median"}}, "op"),
        ({"turns": ["one"]}, "one of q and turns"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_problems_of_a_wrong_entry_are_named(change: dict[str, Any], complaint: str) -> None:
    right = {"id": "zh-000", "run": "example", "q": "正常吗", "lang": "zh", "intent": "health"}
    assert not list(problems(right))
    assert any(complaint in problem for problem in problems(right | change))
