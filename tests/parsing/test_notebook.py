from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text

from .generators.trainer_log import NOTEBOOK_KEYS, notebook_html, notebook_rows, notebook_tsv


def only_run(text: str) -> Run:
    (run,) = parse_text(text).runs
    return run


def assert_table(run: Run, rows: list[tuple[int, dict[str, str]]]) -> None:
    assert run.framework == "TRL"
    assert [(step, values) for step, _, values in run.rows()] == [
        (step, {key: float(text) for key, text in cells.items() if text != "No Log"}) for step, cells in rows
    ]
    assert [(gap.metric, gap.step, gap.reason, gap.detail) for gap in run.missing] == [
        ("Training Loss", 1, "not_a_number", "No Log")
    ]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), events=st.integers(2, 20))
def test_parse_text_copied_table_gives_every_cell(seed: int, events: int) -> None:
    rows = notebook_rows(seed, events)
    run = only_run("训练结果：\n\n" + notebook_tsv(rows) + "\n这个 reward 正常吗？\n")
    assert_table(run, rows)
    assert (run.format, run.step_axis) == ("notebook-tsv", "Step")
    assert run.row_lines == tuple(range(4, events + 4))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), events=st.integers(2, 20), cell=st.booleans())
def test_parse_text_html_table_gives_every_cell(seed: int, events: int, cell: bool) -> None:
    rows = notebook_rows(seed, events)
    text = notebook_html(rows)
    if cell:
        text = json.dumps({"text/html": [line + "\n" for line in text.split("\n")]}, indent=1)
    run = only_run(text)
    assert_table(run, rows)
    assert run.format == "notebook-html"
    for metric in NOTEBOOK_KEYS:
        for found in run.cells(metric):
            assert f"{found.value:.6f}" in text.split("\n")[found.line - 1]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.3, 1))
def test_parse_text_cut_table_gives_no_wrong_cell(seed: int, share: float) -> None:
    rows = notebook_rows(seed, 6)
    text = notebook_tsv(rows).rstrip("\n")
    runs = parse_text(text[: int(share * len(text))]).runs
    truth = dict(rows)
    for run in (run for run in runs if run.format == "notebook-tsv"):
        last = run.steps[-1]
        for step, _, values in run.rows():
            if step == last and step not in truth:
                continue
            assert all(float(truth[step][key]) == value for key, value in values.items())


def test_parse_text_epoch_table_counts_in_epochs() -> None:
    run = only_run("Epoch\tTraining Loss\tValidation Loss\tAccuracy\n1\tNo log\t0.5\t0.75\n2\t0.4\t0.3\t0.8\n")
    assert (run.step_axis, run.steps, run.framework) == ("Epoch", (1, 2), "HF Trainer")
    assert run.series("Validation Loss") == ([1, 2], [0.5, 0.3])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), events=st.integers(2, 12), style=st.sampled_from(["|", "||", "  ", " ", "\\"]))
def test_parse_text_table_pasted_in_other_shapes_gives_every_cell(seed: int, events: int, style: str) -> None:
    rows = notebook_rows(seed, events)
    lines = [line.split("\t") for line in notebook_tsv(rows).strip().split("\n")]
    if style in {"|", "||"}:
        lines.insert(1, ["--"] * len(lines[0]))
        shown = [" | ".join(cells) for cells in lines]
        shown = [f"| {line} |" for line in shown] if style == "||" else shown
    elif style == "  ":
        shown = ["   ".join(f"{cell:<22}" for cell in cells) for cells in lines]
    else:
        shown = [" ".join(cells) + ("\\" if style == "\\" else "") for cells in lines]
    run = only_run("训练结果：\n\n" + "\n".join(shown) + "\n\n这正常吗？\n")
    assert_table(run, rows)
    assert run.row_lines == tuple(range(5, events + 5) if "|" in style else range(4, events + 4))


def test_parse_text_cut_row_between_bars_is_told() -> None:
    run = only_run("Step | Training Loss | reward | kl\n-- | -- | -- | --\n1 | 0.5 | 0.25 | 0.1\n2 | 0.4 | 0.2")
    assert list(run.rows()) == [
        (1, 3, {"Training Loss": 0.5, "reward": 0.25, "kl": 0.1}),
        (2, 4, {"Training Loss": 0.4}),
    ]
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("reward", "half_value"), ("kl", "line_cut")]


def test_parse_text_averages_behind_a_table_are_no_row() -> None:
    table = notebook_tsv(notebook_rows(3, 3))
    output = "TrainOutput(global_step=3, training_loss=0.5, metrics={'train_runtime': 16.5, 'train_loss': 0.5})"
    run = only_run(table + "\n" + output + "\n")
    assert len(run.steps) == 3
    assert run.extras == {"train_runtime": (16.5, 6), "train_loss": (0.5, 6)}


def test_parse_text_two_tables_are_two_runs() -> None:
    rows = notebook_rows(1, 3)
    runs = parse_text(notebook_tsv(rows) + "\nafter tuning:\n\n" + notebook_tsv(rows)).runs
    assert [run.id for run in runs] == ["r0", "r1"]


@pytest.mark.parametrize(
    "text",
    [
        "Step\tTraining Loss\n",
        "Step\tTraining Loss\nfoo\tbar\n",
        "<table><tr><th>Step</th><th>Training Loss</th></tr></table>",
        "<td>1</td><td>0.5</td>",
        "Step 1: look at the Training Loss\n1 apple\n2 pears",
        "Step | Training Loss\na | b\n",
        "In the table, Step and Training Loss are columns.",
    ],
)
def test_parse_text_no_rows_give_no_run(text: str) -> None:
    assert not [run for run in parse_text(text).runs if run.format.startswith("notebook")]
