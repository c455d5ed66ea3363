"""What a text lacks is said: rows and columns that do not fit, numbers that stop short, counters inside counters."""

import pytest

from assistant.model.run import Run
from assistant.parsing import parse_bytes, parse_text


def only(text: str) -> Run:
    (run,) = parse_text(text).runs
    return run


def rows(run: Run) -> list[tuple[int, int, dict[str, float | int]]]:
    return list(run.rows())


def test_csv_rows_of_another_width_are_named_and_the_table_goes_on() -> None:
    parsed = parse_text("step,loss,kl\n1,0.5,0.1\n2,0.4\nINFO saved\n3,0.3,0.2\n4,0.2,0.3,7\n5,0.1,0.4\n")
    (run,) = parsed.runs
    assert [(step, line) for step, line, _ in run.rows()] == [(1, 2), (3, 5), (5, 7)]
    assert parsed.doubtful == (3, 6)
    assert [(note.code, note.line) for note in run.warnings] == [("rows_left_out", 3)]


def test_csv_rows_end_where_no_row_like_them_follows() -> None:
    run = only("step,loss,kl\n1,0.5,0.1\n2,0.4,0.2\nAnd then 3, 4 others came.\nfor 0.5\n")
    assert (len(run.steps), run.warnings) == (2, ())


def test_csv_metric_with_one_bad_cell_keeps_the_others() -> None:
    run = only("step,loss,phase,kl\n1,0.5,7,0.1\n2,oops,b,0.2\n")
    assert rows(run) == [(1, 2, {"loss": 0.5, "kl": 0.1}), (2, 3, {"kl": 0.2})]
    assert [(gap.metric, gap.step, gap.reason, gap.detail) for gap in run.missing] == [
        ("loss", 2, "not_a_number", "oops")
    ]


def test_table_column_that_is_not_plain_numbers_is_named() -> None:
    run = only("| step | loss | reward |\n|---|---|---|\n| 10 | 0.5 | 0.1 ± 0.02 |\n| 20 | 0.4 | 0.2 ± 0.01 |\n")
    assert run.metrics == ("loss",)
    (note,) = run.warnings
    assert (note.code, note.line) == ("column_left_out", 3)
    assert "0.1 ± 0.02" in note.en


@pytest.mark.parametrize("end", ["0.", "1e", "1.5e-"])
def test_csv_last_number_that_stops_inside_is_missing(end: str) -> None:
    run = only(f"step,loss\n1,0.5\n2,0.4\n3,{end}")
    assert [values for _, _, values in run.rows()] == [{"loss": 0.5}, {"loss": 0.4}, {}]
    assert [(gap.metric, gap.step, gap.reason, gap.detail) for gap in run.missing] == [("loss", 3, "half_value", end)]


@pytest.mark.parametrize(("end", "whole"), [("701", False), ("701.", False), ("701.2", True)])
def test_verl_last_number_without_its_decimals_is_missing(end: str, whole: bool) -> None:
    lines = [f"step:{at} - actor/pg_loss:0.5 - perf/throughput:70{at}.25" for at in (1, 2)]
    run = only("\n".join([*lines, f"step:3 - actor/pg_loss:0.5 - perf/throughput:{end}"]))
    held = dict(rows(run)[-1][2])
    assert held == ({"actor/pg_loss": 0.5, "perf/throughput": 701.2} if whole else {"actor/pg_loss": 0.5})
    gaps = [(gap.metric, gap.step, gap.reason, gap.detail) for gap in run.missing]
    assert gaps == ([] if whole else [("perf/throughput", 3, "half_value", end)])


def test_verl_last_number_is_whole_where_the_metric_is_a_count_or_output_follows() -> None:
    counts = [f"step:{at} - actor/pg_loss:0.5 - training/epoch:{at}" for at in (1, 2, 3)]
    assert only("\n".join(counts)).missing == ()
    lines = [f"step:{at} - actor/pg_loss:{end}" for at, end in ((1, "0.5"), (2, "0.25"), (3, "1"))]
    assert only("\n".join([*lines, "(TaskRunner pid=7) Training Progress: 3/9"])).missing == ()


@pytest.mark.parametrize(
    ("end", "whole"), [("9", False), ("9.", False), ("9.7", True), ("9\nsaving", True), ("9.0e+00", True)]
)
def test_last_number_of_a_step_line_without_its_decimals_is_missing(end: str, whole: bool) -> None:
    lines = [f"step {at}: train loss 9.5000, val loss 9.7{at:03}" for at in (0, 250, 500)]
    run = only("\n".join([*lines, f"step 750: train loss 9.5000, val loss {end}"]))
    assert run.steps == (0, 250, 500, 750)
    assert ("val loss" in rows(run)[-1][2]) == whole
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == (
        [] if whole else [("val loss", 750, "half_value")]
    )


def test_json_cut_line_without_blanks_is_a_row_with_gaps() -> None:
    run = only('{"step":1,"loss":0.5}\n{"step":2,"loss":0.4}\n{"step":3,"lo')
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [
        (None, 3, "half_key"),
        ("loss", 3, "line_cut"),
    ]


@pytest.mark.parametrize(("first", "second"), [("第 100 步：", "第200步"), ("训练到第 100 步的时候：", "step 200：")])
def test_lists_below_headings_with_a_chinese_step(first: str, second: str) -> None:
    run = only(f"{first}\n- loss: 0.5\n- kl: 0.1\n\n{second}\n- loss: 0.4\n- kl: 0.2\n")
    assert (run.step_axis, run.warnings) == ("step", ())
    assert rows(run) == [(100, 2, {"loss": 0.5, "kl": 0.1}), (200, 6, {"loss": 0.4, "kl": 0.2})]


def test_lists_without_steps_are_said_to_be_counted() -> None:
    run = only("- loss: 0.5\n- kl: 0.1\n\nAnd later\n- loss: 0.4\n- kl: 0.2\n")
    assert (run.step_axis, run.steps) == ("index", (0, 1))
    assert [note.code for note in run.warnings] == ["rows_counted"]


COUNTED = ["Epoch {e}/3, Step {s}/100: loss={x}, acc=5%", "Epoch [{e}/3], Step [{s}/100], loss: {x}, acc: 5%"]


@pytest.mark.parametrize("form", COUNTED)
def test_counters_inside_counters_lose_no_value(form: str) -> None:
    again = [form.format(e=e, s=s, x=x) for e, s, x in ((1, 10, 0.5), (1, 20, 0.4), (2, 10, 0.3))]
    run = only("\n".join(again))
    assert (run.step_axis, run.steps) == ("step", (10, 20, 110))
    assert [(v["Epoch"], v["loss"], v["acc"]) for _, _, v in run.rows()] == [(1, 0.5, 5), (1, 0.4, 5), (2, 0.3, 5)]
    assert [note.code for note in run.warnings if note.code == "step_counted"] == ["step_counted"]
    assert run.extras["total_steps"] == (300, 3)
    run = only("\n".join(again[:2]))
    assert (run.step_axis, run.steps) == ("step", (10, 20))
    assert [(v["Epoch"], v["loss"]) for _, _, v in run.rows()] == [(1, 0.5), (1, 0.4)]


def test_log_emptied_while_it_was_written_is_text() -> None:
    text = b"step:1 - actor/pg_loss:0.5 - actor/entropy:0.25\n"
    (run,) = parse_bytes(b"\x00" * 5000 + text, name="train.log").runs
    assert rows(run) == [(1, 1, {"actor/pg_loss": 0.5, "actor/entropy": 0.25})]
