"""The scorer of the diagnosis: its definitions on made outcomes, its cache, and the whole way for one mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis.diagnosis import Diagnosis
from assistant.model.fact import Severity
from evals.diagnosis import score, score_cases, score_peers
from evals.diagnosis.modes import MODES, NOT_SHOWN
from evals.diagnosis.score_cases import Labelled, cases, text_of
from evals.diagnosis.score_measure import Outcome, Report, confusions, figures, mode_precision, reports, wilson
from evals.diagnosis.score_oracle import differences
from evals.diagnosis.score_tables import by_healthy, by_mode, confused, misses, percent, summary
from tests.analysis.support import run_of


def outcome(label: str, *told: Report, strength: str | None = "strong", also: tuple[str, ...] = ()) -> Outcome:
    well = not label.startswith("FM-")
    return Outcome(label, well, None if well else strength, "verl", 1, None if well else 30, 100, also, told)


def report(mode: str, severity: str = "warning", onset: int | None = 30) -> Report:
    return Report(mode, severity, onset, "rule")


def diagnosis(mode: str, severity: Severity, onset: int | None) -> Diagnosis:
    return Diagnosis(mode, f"{severity}_{onset}", severity, onset, (), (), (), (), (), "failure/x")


def test_reports_info_is_none_and_each_mode_counts_once_at_its_gravest() -> None:
    made = [diagnosis("FM-01", "info", 1), diagnosis("FM-02", "warning", 5), diagnosis("FM-02", "critical", 9)]
    assert reports(made) == (Report("FM-02", "critical", 9, "critical_9"),)


def test_reports_of_equal_severity_take_the_earliest_onset() -> None:
    made = [diagnosis("FM-02", "warning", None), diagnosis("FM-02", "warning", 9), diagnosis("FM-02", "warning", 5)]
    assert reports(made)[0].onset == 5


def test_outcome_label_is_found_and_a_mode_that_holds_besides_is_no_false_alarm() -> None:
    one = outcome("FM-24", report("FM-24"), report("FM-23"), report("FM-01"), also=("FM-23",))
    assert one.found
    assert [false.mode for false in one.false] == ["FM-01"]
    assert not outcome("FM-24", report("FM-23"), also=("FM-23",)).found


def test_outcome_onset_error_is_a_share_of_the_run_and_needs_the_own_mode() -> None:
    assert outcome("FM-01", report("FM-01", onset=42)).onset_error == pytest.approx(0.12)
    assert outcome("FM-01", report("FM-01", onset=None)).onset_error is None
    assert outcome("FM-01", report("FM-02", onset=42)).onset_error is None
    assert outcome("healthy", report("FM-01")).onset_error is None


def test_figures_of_made_outcomes_follow_the_definitions() -> None:
    made = [
        outcome("FM-01", report("FM-01", onset=35)),
        outcome("FM-01", report("FM-02"), strength="mild"),
        outcome("FM-02", report("FM-02", onset=55), report("FM-01"), strength="mild"),
        outcome("steady"),
        outcome("steady", report("FM-01", "critical")),
        outcome("steady", report("FM-03")),
        outcome("curriculum", report("FM-37", "critical"), also=("FM-37",)),
    ]
    f = figures(made)
    assert f.recall == {"mild": 0.5, "strong": 1.0}
    assert f.counts == {"mild": 2, "strong": 1}
    assert (f.reported, f.precision) == (7, pytest.approx(3 / 7))
    assert (f.healthy, f.healthy_critical, f.healthy_any) == (4, 0.25, 0.5)
    assert (f.onsets, f.near) == (2, 0.5)
    assert confusions(made)[0] == ("FM-01", "FM-02", 1)
    assert mode_precision(made, "FM-01") == (1, 3)


@given(st.integers(1, 400), st.floats(0, 1))
def test_wilson_interval_holds_the_share_and_narrows_with_more(n: int, share: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    more = wilson(share, 4 * n)
    assert more[1] - more[0] < high - low


def test_wilson_of_none_among_twenty_is_as_published() -> None:
    assert wilson(0.0, 20) == (0.0, pytest.approx(0.1611, abs=1e-3))


def test_figures_of_nothing_are_none() -> None:
    f = figures([])
    assert (f.precision, f.healthy_critical, f.near, f.recall) == (None, None, None, {})


def test_tables_show_what_was_found_missed_and_imagined() -> None:
    made = [
        outcome("FM-01", report("FM-01")),
        outcome("FM-01", report("FM-02"), strength="mild"),
        outcome("steady", report("FM-03", "critical")),
    ]
    assert "| FM-01 | entropy collapse | 1 / 1 | 0 / 1 | 0 / 1 | 1 / 1 |" in by_mode(made)
    assert "| steady | 1 / 1 | FM-03 critical |" in by_healthy(made)
    assert "| FM-01 | FM-02 | 1 |" in confused(made)
    assert by_healthy(made[:1]) == confused(made[:1]) == "None."
    assert misses(made).count("missed") == 1
    assert misses(made).count("false ") == 2
    assert summary({"open half": made}).count("\n") == 8
    assert (percent(None), percent(0.125)) == ("—", "12.5%")


# --- cases on disk -------------------------------------------------------------------------------------------------


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    lines = [
        "[FM-33, strong, verl, 5, false]",
        "[FM-33, mild, verl, 6, true]",
        "[tiny_validation, null, TRL, 7, false]",
    ]
    body = "\n".join(f"  - {line}" for line in lines)
    path.write_text(f"fields: [label, strength, framework, seed, held]\ncases:\n{body}\n", encoding="utf-8")
    return path


def test_cases_halves_and_labels_are_chosen(suite: Path, tmp_path: Path) -> None:
    def labels(**chosen: object) -> list[tuple[str, str | None]]:
        return [(one.label, one.strength) for one in cases(suite=suite, cache=tmp_path, **chosen)]  # type: ignore[arg-type]

    assert labels() == [("FM-33", "strong"), ("FM-33", "mild"), ("tiny_validation", None)]
    assert labels(held=True) == [("FM-33", "mild")]
    assert labels(labels=["tiny_validation"]) == [("tiny_validation", None)]


def test_cases_second_time_are_read_and_not_made(suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = list(cases(suite=suite, cache=tmp_path))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("simulated or parsed again")

    monkeypatch.setattr(score_cases, "make", never)
    monkeypatch.setattr(score_cases, "parse_text", never)
    again = list(cases(suite=suite, cache=tmp_path))
    assert [(one.label, one.last, one.onset) for one in again] == [(one.label, one.last, one.onset) for one in first]
    assert again[0].runs[0].columns.keys() == first[0].runs[0].columns.keys()
    assert text_of(first[0], tmp_path)


def test_cases_damaged_file_is_made_anew(suite: Path, tmp_path: Path) -> None:
    first = next(iter(cases(suite=suite, cache=tmp_path)))
    for path in tmp_path.rglob("FM-33-strong*.pickle"):
        path.write_bytes(b"damaged")
    assert next(iter(cases(suite=suite, cache=tmp_path))).last == first.last


def test_judge_case_is_diagnosed_from_its_text(suite: Path, tmp_path: Path) -> None:
    found = {(one.label, one.strength): score.judge(one) for one in cases(suite=suite, cache=tmp_path)}
    assert found["FM-33", "strong"].found
    assert found["FM-33", "strong"].onset_error is not None
    assert found["tiny_validation", None].healthy


def test_command_line_unknown_label_names_the_known() -> None:
    with pytest.raises(SystemExit, match=r"FM-99.*FM-01"):
        score.main(["--open", "--modes", "FM-99"])


def test_command_line_held_half_is_never_shown_case_by_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score.main(["--held", "--modes", "FM-33", "--misses", "--cache", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "| held half |" in shown
    assert "missed" not in shown
    assert not any(str(entry["seed"]) in shown for entry in score.entries() if entry["label"] == "FM-33")


def test_put_replaces_what_stands_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- tables:begin -->\nold\n<!-- tables:end -->\nfoot\n", encoding="utf-8")
    score.put("new", page)
    assert page.read_text(encoding="utf-8") == "head\n<!-- tables:begin -->\n\nnew\n\n<!-- tables:end -->\nfoot\n"
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(SystemExit, match="needs"):
        score.put("new", page)


# --- the twin, and the peers ----------------------------------------------------------------------------------------


def test_differences_metric_moved_by_the_cause_comes_first() -> None:
    def rows(shift: float) -> dict[int, dict[str, float]]:
        return {s: {"a": 1 + 0.01 * (s % 3), "b": 2 + 0.01 * (s % 5) + shift * (s > 10)} for s in range(1, 31)}

    first = differences(run_of(rows(1.0)), run_of(rows(0.0)), 11)[0]
    assert first.metric == "b"
    assert first.errors > 4


def test_peers_checks_mean_modes_that_exist() -> None:
    for tool, table in score_peers.MEANS.items():
        for check in table:
            assert score_peers.means(tool, check) <= {*MODES, *NOT_SHOWN}
    assert score_peers.means("runmedic", "log:oom") == set()


def test_peers_rows_count_reports_and_not_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    make: Callable[..., Labelled] = lambda label, healthy: Labelled(  # noqa: E731
        label, healthy, None, None, "verl", 1, (), False, 9, ()
    )
    monkeypatch.setattr(score_peers, "PEERS", {"runmedic": "1"})
    found = {
        "0": {"runmedic": {"text": [["non_finite", "critical"]], "table": [["overfitting", "warning"]]}},
        "1": {"runmedic": {"table": [["non_finite", "info"]]}},
        "2": {"runmedic": {"table": [["slowdown", "critical"]]}},
    }
    shown = score_peers.rows([make("FM-15", False), make("FM-15", False), make("steady", True)], found)
    assert shown[0][1:] == ["1 of 3", "50.0%", "50.0%", "0.0%", "0.0%"]
    assert shown[1][1:] == ["3 of 3", "50.0%", "0.0%", "100.0%", "100.0%"]


def test_peers_table_of_a_run_holds_its_cells() -> None:
    text = score_peers.as_table(run_of({1: {"a": 0.5}, 2: {"a": float("nan")}}))
    assert text.splitlines() == ['{"step": 1, "a": 0.5}', '{"step": 2, "a": NaN}']
