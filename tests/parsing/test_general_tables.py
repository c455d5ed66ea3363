"""CSV, JSON, Markdown tables and the lines of no framework."""

import csv
import io
import json
import random
from typing import Any

import pytest

from assistant.parsing import parse_text
from tests.timing import assert_in_proportion, once


def read_rows(text: str) -> list[tuple[int, int, dict[str, float | int]]]:
    (run,) = parse_text(text).runs
    return list(run.rows())


@pytest.mark.parametrize("seed", range(12))
def test_csv_any_table_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    names = ["loss", "train/kl", "ep rew mean", "phase", "acc, top"]
    out = io.StringIO()
    axis = rng.choice(["step", "iteration", "time/total_timesteps", "total timesteps", "Step"])
    writer = csv.writer(out, delimiter=rng.choice(",\t;"), lineterminator=rng.choice(["\n", "\r\n"]))
    columns = [axis, *names]
    rng.shuffle(columns)
    writer.writerow(columns)
    expected = []
    for step in range(10, 200, 10):
        row: dict[str, Any] = {name: rng.choice(["", rng.gauss(0, 1), rng.randrange(99), "nan"]) for name in names}
        row[axis], row["phase"], row["loss"] = step, rng.choice("ab"), rng.gauss(0, 1)
        writer.writerow([row[name] for name in columns])
        keep = {k: float(v) if v == "nan" else v for k, v in row.items() if k != "phase" and v != ""}
        if "/" not in axis:
            del keep[axis]
        expected.append((step, {name: repr(keep[name]) for name in sorted(keep)}))
    text = rng.choice(["", "为什么 reward 不涨？\n\n"]) + out.getvalue() + rng.choice(["", "\nIs this normal?\n"])
    (run,) = parse_text(text).runs
    assert (run.format in {"csv", "tsv"}, run.step_axis) == (True, axis)
    assert [(s, {k: repr(values[k]) for k in sorted(values)}) for s, _, values in run.rows()] == expected


def test_csv_cut_last_row_and_words_for_no_value() -> None:
    (run,) = parse_text("step,loss,kl\n1,0.5,0.1\n2,None,0.2\n3,0.4,0.3\n4,0.3").runs
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [
        ("loss", 2, "not_a_number"),
        ("loss", 4, "half_value"),
        ("kl", 4, "line_cut"),
    ]


HISTORY = [{"step": at * 10, "train": {"loss": 1 / (at + 1), "kl": 0.1}, "ok": True, "phase": "x"} for at in range(4)]


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize("shape", ["list", "history", "lines", "prefixed"])
def test_json_histories_of_all_shapes(indent: int | None, shape: str) -> None:
    if shape == "lines":
        text = "\n".join(json.dumps(item, indent=indent) for item in HISTORY)
    elif shape == "prefixed":
        text = "\n".join("2024-01-01 12:00:00,123 INFO trainer.py:33 - " + json.dumps(item) for item in HISTORY)
    else:
        text = json.dumps(HISTORY if shape == "list" else {"args": {"lr": 1e-5}, "log": HISTORY}, indent=indent)
    (run,) = parse_text(text).runs
    assert run.step_axis == "step"
    assert [(step, values) for step, _, values in run.rows()] == [
        (at * 10, {"train/loss": 1 / (at + 1), "train/kl": 0.1}) for at in range(4)
    ]
    lines = text.split("\n")
    assert all("loss" in lines[cell.line - 1] for cell in run.cells("train/loss"))


def test_json_object_of_lists_and_null() -> None:
    (run,) = parse_text('{"step": [1, 2, 3], "loss": [0.5, null, NaN]}').runs
    assert [(step, repr(values)) for step, _, values in run.rows()] == [
        (1, "{'loss': 0.5}"),
        (2, "{}"),
        (3, "{'loss': nan}"),
    ]
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [("loss", 2, "not_a_number")]


@pytest.mark.parametrize("cut", range(5, 300, 11))
def test_json_cut_history_keeps_whole_objects(cut: int) -> None:
    text = json.dumps(HISTORY, indent=2)[:-cut]
    for run in parse_text(text).runs:
        assert run.format == "json"
        for step, _, values in run.rows():
            assert values == {"train/loss": 1 / (step // 10 + 1), "train/kl": 0.1}


def test_markdown_tables_of_three_kinds() -> None:
    assert read_rows("| step | loss | kl |\n|---|:--:|--:|\n| 0 | 0.5 | `0.1` |\n| 10 | **0.4** | nan |\n")[0] == (
        0,
        3,
        {"loss": 0.5, "kl": 0.1},
    )
    assert read_rows(
        "| 指标 | step 0 | step 10 |\n|---|---|---|\n| actor/entropy | 0.17 | 0.2 |\n| reward | 1 | 2 |"
    ) == [
        (0, 3, {"actor/entropy": 0.17, "reward": 1}),
        (10, 3, {"actor/entropy": 0.2, "reward": 2}),
    ]
    assert read_rows("| metric | value | note |\n|---|---|---|\n| `actor/entropy` | 0.17 | low |\n") == [
        (0, 3, {"actor/entropy": 0.17})
    ]


def test_lines_of_no_framework() -> None:
    assert read_rows("[5000] a 0.5 / b 2 / c 1.2\n[6000] a 0.0 / b 1 / c 1.3\n") == [
        (5000, 1, {"a": 0.5, "b": 2, "c": 1.2}),
        (6000, 2, {"a": 0.0, "b": 1, "c": 1.3}),
    ]
    block = "-------\nIteration: \t 5\nMeanRew: \t -257.5 +- 63.2\nElapsed time\t 12.3 seconds\n-------\n"
    assert read_rows(block) == [(5, 2, {"MeanRew": -257.5, "MeanRew +-": 63.2, "Elapsed time": 12.3})]
    assert read_rows("16:43:08 SUCCESS Step 5 | Time: 5.23s | Reward: 0.35") == [(5, 1, {"Time": 5.23, "Reward": 0.35})]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4\n",
        "Hello, how are you\n1, 2\n3, 4\n",
        "timestamp, name, utilization.gpu [%]\n2024/01/01, A100, 98 %\n2024/01/01, A100, 97 %\n",
        "sepal_length,sepal_width,species\n5.1,3.5,setosa\n4.9,3.0,setosa\n",
        "prompt,answer,reward\nabc,def,1\nx,y,2\n",
        'config: {"lr": 1e-5, "loss": 3, "step": 4}',
        '{"learning_rate": 1e-05, "batch_size": 3, "kl_coef": 0.1}',
        '{"prompt": "hi", "response": "x", "reward": 1.0, "step": 1}\n' * 3,
        '{\n  "learning_rate": 1e-05,\n  "kl_coef": 0.1\n}',
        "| parameter | value |\n|---|---|\n| kl_loss_coef | 0.1 |\n",
        "| 参数 | 值 |\n|---|---|\n| kl_coef | 0.1 |\n",
        "| Model | Accuracy |\n|---|---|\n| A | 0.5 |\n| B | 0.6 |\n",
        "[1] Smith 2020 / Jones 3\n",
        "[12] see also page 3",
    ],
)
def test_tables_and_objects_of_other_things_are_no_metrics(text: str) -> None:
    assert parse_text(text).runs == ()


@pytest.mark.parametrize(
    "unit",
    [
        "iteration 1/ 2 | a: 1 | ",
        "step 1: loss 2, ",
        "| a | 1 |\n",
        "step,loss\n1,2\n",
        '{"a":1}\n',
        "[\n",
        "{",
        '["a",\n',
        "1,",
    ],
)
def test_general_formats_megabyte_of_one_pattern_is_quick(unit: str) -> None:
    from assistant.parsing.lazy import FORMATS
    from assistant.parsing.repair import prepare

    documents = once(lambda size: prepare("x", unit * (size // len(unit))))
    for known in FORMATS:
        assert_in_proportion(known.read, documents, 1_000_000, label=known.name)


def test_json_lines_with_quoted_numbers_are_numbers() -> None:
    text = (
        '{"epoch": 1, "loss": "3.097", "ppl": "nan", "clip": "100%", "version": "1.2", "run_id": "77"}\n'
        '{"epoch": 2, "loss": "3.095", "ppl": "2.50", "clip": "99%", "version": "1.2", "run_id": "77"}\n'
    )
    (run,) = parse_text(text).runs
    assert sorted(run.columns) == ["loss", "ppl"]
    assert list(run.columns["loss"].values) == [3.097, 3.095]


@pytest.mark.parametrize("cut", range(12, 70))
def test_json_lines_cut_in_the_last_object_hold_no_half_value(cut: int) -> None:
    last = '{"step": 30, "loss": 0.123456, "reward/mean": 0.75125, "kl": 0.0112}'
    lines = [last.replace("30", str(step)) for step in (10, 20)]
    (run,) = parse_text("\n".join([*lines, last[:cut]])).runs
    true = {"loss": 0.123456, "reward/mean": 0.75125, "kl": 0.0112}
    held = {key: value for _, (step, _, row) in enumerate(run.rows()) if step == 30 for key, value in row.items()}
    assert held.items() <= true.items()
    if 30 in run.steps and cut < len(last):
        assert {gap.metric for gap in run.missing if gap.step == 30} | set(held) >= set(true)


def test_json_log_with_a_short_message_is_no_sample() -> None:
    line = '{"level": "info", "message": "train step", "step": %d, "loss": 2.5, "reward": NaN}\n'
    (run,) = parse_text(line % 1 + line % 2).runs
    assert (run.steps, sorted(run.columns)) == ((1, 2), ["loss", "reward"])


def test_json_summary_of_wandb_leaves_out_its_bookkeeping() -> None:
    text = '{"_timestamp": 1.5, "_runtime": 36, "_step": 500, "train/loss": 0.31, "_wandb": {"runtime": 36}}'
    (run,) = parse_text(text).runs
    assert (run.steps, sorted(run.columns)) == ((500,), ["train/loss"])


def test_markdown_table_and_list_of_one_answer_are_both_read() -> None:
    text = (
        "训练到 step 200 了：\n\n- **actor/entropy**: 0.31\n- actor/grad_norm：0.45\n\n"
        "| 指标 | step 100 | step 200 |\n|---|---|---|\n| actor/kl_loss | 0.001 | 0.002 |\n\n请问正常吗？\n"
    )
    values, table = parse_text(text).runs
    assert (values.format, sorted(values.columns)) == ("markdown-list", ["actor/entropy", "actor/grad_norm"])
    assert (table.steps, sorted(table.columns)) == ((100, 200), ["actor/kl_loss"])


def test_markdown_table_of_scalars_is_read() -> None:
    text = "| TensorBoard scalar | Value |\n|---|---:|\n| `rewards/step` | `3189.34` |\n| `losses/kl` | `0.5` |\n"
    (run,) = parse_text(text).runs
    assert {key: column.values[0] for key, column in run.columns.items()} == {"rewards/step": 3189.34, "losses/kl": 0.5}


def test_bare_step_before_bars_is_a_row() -> None:
    text = "490 | loss 5.7543 | lr 4.9e-05 | 8060.78ms | mfu 0.21%\nstep 500: train loss 5.7373, val loss 5.9544\n"
    text += "500 | loss 6.0091 | lr 5.0e-05 | 870067.53ms | mfu 0.19%\n"
    (run,) = parse_text(text).runs
    assert (run.steps, list(run.columns["loss"].values)) == ((490, 500), [5.7543, 6.0091])


def test_tabbed_blocks_with_padded_names_are_read() -> None:
    text = "Iteration: \t 0\nLoss:     \t 0.12\nMeanRew: \t -257 +- 63\nMeanEntropy \t 2.39\n-----------------\n"
    (run,) = parse_text(text).runs
    assert {key: column.values[0] for key, column in run.columns.items()} == {
        "Loss": 0.12, "MeanRew": -257, "MeanRew +-": 63, "MeanEntropy": 2.39,
    }  # fmt: skip
