"""Tables and records beside a log: unmistakable ones are runs, others are told, and rollouts are neither."""

import json

import pytest

from assistant.parsing import parse_bytes, parse_text

VERL = "".join(f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 9))
CSV = "step,loss,kl\n" + "".join(f"{n},0.{n},0.0{n}\n" for n in range(1, 6))
JSONL = "".join(json.dumps({"step": n, "loss": n / 10, "reward": 0.5}) + "\n" for n in range(1, 6))
TABLE = "\n| step | loss |\n| --- | --- |\n" + "".join(f"| {n} | 0.{n} |\n" for n in range(1, 6)) + "\n"
TRAINER = "".join(
    json.dumps({"current_steps": n, "total_steps": 50, "loss": n / 10, "epoch": n / 50, "elapsed_time": "0:01:03"})
    + "\n"
    for n in range(1, 9)
)


@pytest.mark.parametrize("log", [VERL, TRAINER])
@pytest.mark.parametrize(("block", "kind"), [(CSV, "csv"), (JSONL, "jsonl"), (TABLE, "markdown-table")])
@pytest.mark.parametrize("first", [True, False])
def test_parse_text_log_and_block_are_two_runs_with_notes_on_both(log: str, block: str, kind: str, first: bool) -> None:
    parsed = parse_text(block + log if first else log + block)
    (alone,) = parse_text(log).runs
    own, other = parsed.runs if first else parsed.runs[::-1]
    assert own.format == kind
    assert (own.step_axis, own.steps) == ("step", (1, 2, 3, 4, 5))
    assert own.series("loss")[1] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert (other.format, other.steps) == (alone.format, alone.steps)
    assert {key: column.values for key, column in other.columns.items()} == {
        key: column.values for key, column in alone.columns.items()
    }
    assert all([note.code for note in run.warnings].count("another_run") == 1 for run in parsed.runs)
    assert parsed.doubtful == ()


def test_parse_text_tables_around_a_log_are_three_runs_in_order() -> None:
    parsed = parse_text(CSV + TRAINER + CSV.replace("step", "iteration"))
    assert [run.format for run in parsed.runs] == ["csv", "llamafactory-jsonl", "csv"]
    assert [run.id for run in parsed.runs] == ["r0", "r1", "r2"]
    assert [note.code for note in parsed.runs[1].warnings if note.code == "another_run"] == ["another_run"] * 2


def test_parse_text_csv_between_rows_of_one_log_is_told_and_no_run() -> None:
    lines = VERL.splitlines(keepends=True)
    parsed = parse_text("".join(lines[:4]) + CSV + "".join(lines[4:]))
    assert [run.format for run in parsed.runs] == ["verl"]
    assert parsed.doubtful == (5, 6, 7, 8, 9, 10)
    (note,) = parsed.notes
    assert (note.code, note.line) == ("block_not_understood", 5)
    assert parsed.runs[0].lines.not_understood == 6


def test_parse_text_csv_between_two_runs_is_a_run() -> None:
    parsed = parse_text(VERL + CSV + VERL.replace("score/mean:0.5", "score/mean:0.75").replace(":0.", ":1."))
    assert [run.format for run in parsed.runs] == ["verl", "csv", "verl"]


def test_parse_text_table_of_unknown_columns_beside_a_log_is_told() -> None:
    parsed = parse_text(VERL + "step,foo\n1,5\n2,7\n3,9\n")
    assert [run.format for run in parsed.runs] == ["verl"]
    assert parsed.doubtful == (9, 10, 11, 12)


@pytest.mark.parametrize(
    "block",
    [
        '{"step": 3, "prompt": "2+2?", "response": "4", "score": 1.0}\n' * 9,
        '{"lr": 1e-6, "batch_size": 64, "max_steps": 100}\n',
        "name,age\nAnn,3\nBob,4\nCat,5\n",
        "```python\nstep,loss\n1,0.5\n2,0.4\n3,0.3\n```\n",
        "step,loss\n1,0.5\n",
        "The table has a step, a loss, and 3 rows.\nIt ends at step 4, loss 2.\n",
    ],
    ids=["rollouts", "settings", "people", "program", "one row", "prose"],
)
def test_parse_text_what_is_no_log_beside_a_log_is_neither_run_nor_told(block: str) -> None:
    parsed = parse_text(VERL + block)
    assert [run.format for run in parsed.runs] == ["verl"]
    assert (parsed.doubtful, parsed.notes) == ((), ())


def test_parse_text_short_log_behind_a_long_one_is_a_run() -> None:
    long = "".join(f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 90))
    trainer = "".join(
        f"{{'loss': 0.{n}, 'grad_norm': 1.5, 'learning_rate': 1e-06, 'epoch': 0.{n}, 'step': {n}}}\n"
        for n in range(1, 5)
    )
    parsed = parse_text(long + trainer)
    assert [len(run.steps) for run in parsed.runs] == [89, 4] or parsed.doubtful


def test_parse_text_json_metrics_of_any_name_beside_a_step() -> None:
    (run,) = parse_text('{"step": 1, "foo": 0.1}\n{"step": 2, "foo": 0.2}\n{"step": 3, "foo": 0.3}\n').runs
    assert (run.step_axis, run.series("foo")) == ("step", ([1, 2, 3], [0.1, 0.2, 0.3]))
    assert parse_text('{"foo": 0.1}\n{"foo": 0.2}\n{"foo": 0.3}\n').runs == ()


def test_trainer_json_times_in_words_are_told() -> None:
    (run,) = parse_text(TRAINER).runs
    assert [note.code for note in run.warnings] == ["times_in_words"]


@pytest.mark.parametrize("block", [CSV, JSONL, TABLE])
@pytest.mark.parametrize("first", [True, False])
def test_parse_bytes_large_verl_log_and_block_are_two_runs(block: str, first: bool) -> None:
    noise = "INFO: a line of noise, with commas, and words\n" * 40
    log = "".join(noise + f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 200))
    assert len(log) > 1 << 18
    parsed = parse_bytes((block + log if first else log + block).encode(), name="x.log")
    assert sorted(len(run.steps) for run in parsed.runs) == [5, 199]
    assert [run.format for run in parsed.runs].index("verl") == int(first)


def test_parse_text_json_lines_of_two_counters_are_two_runs() -> None:
    parsed = parse_text(JSONL + JSONL.replace("step", "iteration").replace("loss", "kl"))
    assert [(run.step_axis, len(run.steps)) for run in parsed.runs] == [("step", 5), ("iteration", 5)]


def test_parse_text_json_settings_before_the_lines_do_not_take_their_steps() -> None:
    (run,) = parse_text('{"lr": 1e-6, "batch_size": 8}\n' + JSONL).runs
    assert (run.step_axis, run.steps) == ("step", (1, 2, 3, 4, 5))
