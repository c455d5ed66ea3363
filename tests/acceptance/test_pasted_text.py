"""Text as people paste it: question around the log, mojibake, hard wraps, cut lines, Markdown bullets."""

from collections.abc import Callable
from typing import Any

import pytest

from . import figures
from .audit import shows
from .figures import EXAMPLE, example_rows, example_text, read_rows
from .questions import QUESTIONS
from .support import (
    Answer,
    Completed,
    assert_language,
    assert_says,
    cut_validation_step,
    cut_within_number,
    facts_of,
    hard_wrap,
    log_of,
    mojibake,
    parsed_rows,
    read_answer,
    value_cells,
)

Ask = Callable[..., Completed]

IMPROVED = QUESTIONS["improved-zh"].text
CUT_STEP = 2
CUT_METRIC = "critic/rewards/mean"


def explain_pasted(ask: Ask, text: str, *args: str) -> Answer:
    return read_answer(ask("explain", "-", *args, "--format", "json", input=text))


# --- a question within the text -----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lambda: f"{example_text()}\n\n{IMPROVED}\n", id="after"),
        pytest.param(lambda: f"{example_text().rstrip()}\n{IMPROVED}", id="after-with-no-blank-line"),
        pytest.param(lambda: f"{IMPROVED}\n\n{example_text()}", id="before"),
        pytest.param(lambda: f"{IMPROVED}:\n{example_text()}", id="before-with-a-colon"),
    ],
)
def test_paste_question_beside_the_log_recognised(
    ask: Ask, answer_to: Callable[[str], Answer], text: Callable[[], str]
) -> None:
    got = explain_pasted(ask, text())
    assert IMPROVED in got["question"]
    assert_language(got, "zh")
    assert got["intent"] == "compare"
    assert got["verdict"]["code"] == "not_comparable"
    assert value_cells(got) == value_cells(answer_to("improved-zh"))


def test_paste_english_question_after_one_step_recognised(ask: Ask) -> None:
    got = explain_pasted(ask, f"{log_of(3)}\nWhat about step 3?\n")
    assert_language(got, "en")
    assert got["question"].startswith("What about step 3")
    assert shows(got["answer"], figures.logged("actor/ppo_kl", 3))


def test_paste_question_option_given_wins_over_the_text(ask: Ask) -> None:
    got = explain_pasted(ask, f"{example_text()}\n\n{IMPROVED}\n", "-q", "how many GPUs were used?")
    assert got["question"] == "how many GPUs were used?"
    assert figures.N_GPUS in [fact["value"] for fact in facts_of(got, "derived")]


# --- mojibake -----------------------------------------------------------------------------------


def test_mojibake_question_and_log_read_as_meant(ask: Ask, answer_to: Callable[[str], Answer]) -> None:
    got = explain_pasted(ask, mojibake(f"{example_text()}\n\n{IMPROVED}\n"))
    assert_language(got, "zh")
    assert got["intent"] == "compare"
    assert got["verdict"]["code"] == "not_comparable"
    assert value_cells(got) == value_cells(answer_to("improved-zh"))


def test_mojibake_text_parsed_cells_equal(ask: Ask) -> None:
    text = mojibake(f"{example_text()}\n如何解读 step 1，逐条\n")
    rows = parsed_rows(ask("parse", "-", "--to", "json", input=text))
    assert {step: row["values"] for step, row in rows.items()} == {
        step: row.cells for step, row in example_rows().items()
    }


# --- hard wraps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strip", [False, True], ids=["blanks-kept", "blanks-lost"])
@pytest.mark.parametrize("width", [211, 238])
def test_hard_wrapped_step_parsed_cells_equal(ask: Ask, width: int, strip: bool) -> None:
    rows = parsed_rows(ask("parse", "-", "--to", "json", input=hard_wrap(log_of(3), width, strip=strip)))
    assert rows[3]["values"] == example_rows()[3].cells


def test_hard_wrapped_step_then_question_answered(ask: Ask) -> None:
    got = explain_pasted(ask, f"{hard_wrap(log_of(3), 211, strip=True)}\nWhat about step 3?\n")
    assert_language(got, "en")
    assert all(value == example_rows()[3].cells[metric] for metric, _, value in value_cells(got))
    assert value_cells(got)


# --- a line cut at 4096 characters --------------------------------------------------------------


@pytest.mark.parametrize("columns", [*range(4090, 4102), 4110, 4123])
def test_cut_line_no_value_made_up(ask: Ask, columns: int) -> None:
    # at every place a cut can fall: within a number, a wrapper, a key, between two cells
    text = cut_validation_step(CUT_STEP, columns)
    rows = parsed_rows(ask("parse", "-", "--to", "json", input=text))
    whole = example_rows()[0].cells | example_rows()[CUT_STEP].cells
    held = {key: value for key, value in rows[CUT_STEP]["values"].items() if value is not None}
    assert held
    wrong = {key: value for key, value in held.items() if whole.get(key) != value}
    assert not wrong
    assert rows[1]["values"] == example_rows()[1].cells
    assert rows[3]["values"] == example_rows()[3].cells


@pytest.mark.parametrize("prefixed", [True, False], ids=["ray-prefix", "no-prefix"])
@pytest.mark.parametrize("digits", [1, 3, 6, 12])
def test_cut_line_half_a_bare_number_not_taken_for_one(ask: Ask, digits: int, prefixed: bool) -> None:
    # "…/mean:0.15" cut from "…/mean:0.1503…" looks whole; only the line's length, 4096, tells
    text = cut_within_number(CUT_STEP, CUT_METRIC, digits, prefixed=prefixed)
    rows = parsed_rows(ask("parse", "-", "--to", "json", input=text))
    assert rows[CUT_STEP]["values"].get(CUT_METRIC) is None
    assert rows[CUT_STEP]["values"]["actor/entropy"] == figures.logged("actor/entropy", CUT_STEP)


def test_cut_line_metrics_after_the_cut_missing(ask: Ask) -> None:
    done = ask("parse", "-", "--to", "json", input=cut_validation_step(CUT_STEP))
    values = parsed_rows(done)[CUT_STEP]["values"]
    after = [key for key in example_rows()[CUT_STEP].cells if values.get(key) is not None]
    assert not after
    assert '"missing": []' not in done.stdout


@pytest.mark.parametrize(
    ("question", "language", "cut"),
    [
        (f"step {CUT_STEP} 的 {CUT_METRIC} 是多少", "zh", r"截断|截去|截掉|切断|4096"),
        (f"What is {CUT_METRIC} at step {CUT_STEP}?", "en", r"\bcut\b|truncat|4096"),
    ],
    ids=["zh", "en"],
)
def test_cut_line_missing_metric_asked_says_so(ask: Ask, question: str, language: str, cut: str) -> None:
    done = ask("explain", "-", "-q", question, "--format", "json", input=cut_validation_step(CUT_STEP))
    got = read_answer(done, statuses=(0, 2))
    assert_language(got, language)
    assert got["verdict"]["code"] == "no_data"
    assert_says(got, cut=cut, metric=CUT_METRIC)
    assert facts_of(got, "missing", metric=CUT_METRIC, step=CUT_STEP)
    assert not facts_of(got, "value", metric=CUT_METRIC, step=CUT_STEP)


def test_cut_line_of_a_validation_step_missing_statistic_asked_says_so(ask: Ask) -> None:
    text = log_of(0).rstrip("\n")[:4096] + "\n" + log_of(1)
    assert f"{figures.ACC}/best@30/mean" not in "".join(read_text_cells(text[:4096]))
    done = ask("explain", "-", "-q", "step 0 的 best@30 准确率是多少", "--format", "json", input=text)
    got = read_answer(done, statuses=(0, 2))
    assert got["verdict"]["code"] == "no_data"
    assert_says(got, cut=r"截断|截去|截掉|切断|4096")
    assert not shows(got["answer"], figures.logged(f"{figures.ACC}/best@30/mean", 0))


def read_text_cells(line: str) -> list[str]:
    """Name the cells of a line that may be cut: its last part may be half a cell and is left out."""
    return list(read_rows(line.rpartition(" - ")[0])[0].cells)


# --- notes, not logs: bullets and plain lines ----------------------------------------------------

BULLETS = {
    "actor/entropy": ("0.1704", 0.1704, "策略熵，衡量策略随机性"),
    "actor/ppo_kl": ("0.00036", 0.00036, "PPO 的 KL 散度"),
    "actor/pg_loss": ("-7.62e-05", -7.62e-05, "策略梯度损失（负值）"),
    "actor/lr": ("1e-06", 1e-06, "学习率"),
    "critic/score/mean": ("0.935", 0.935, "平均奖励分数"),
    "response_length/clip_ratio": ("0.0207", 0.0207, "被裁剪的响应比例（约2%）"),
    "timing_s/step": ("1352.6", 1352.6, "单步总耗时（约22.5分钟）"),
    "perf/total_num_tokens": ("13,202,040", 13202040.0, "总token数"),
    "training/global_step": ("1", 1.0, "全局步数（第1步）"),
}
PLAIN = {"mean_ratio": 1.0234, "policy_loss": -0.0153, "kl_penalty": 0.00042, "mean_reward": 0.625}


def bullets() -> str:
    lines = (f"- **{key}: {shown}** - {note}" for key, (shown, _, note) in BULLETS.items())
    return "## 训练指标\n\n" + "\n".join(lines) + "\n"


def plain_lines() -> str:
    return "".join(f"{key}: {value}\n" for key, value in PLAIN.items())


def only_row(done: Completed) -> dict[str, Any]:
    (row,) = parsed_rows(done).values()
    return row["values"]


def test_bullets_parsed_cells_equal(ask: Ask) -> None:
    values = only_row(ask("parse", "-", "--to", "json", input=bullets()))
    wanted = {key: value for key, (_, value, _) in BULLETS.items()}
    assert {key: values.get(key) for key in wanted} == wanted


def test_plain_lines_parsed_cells_equal(ask: Ask) -> None:
    values = only_row(ask("parse", "-", "--to", "json", input=plain_lines()))
    assert {key: values.get(key) for key in PLAIN} == PLAIN


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [(bullets, "actor/entropy", 0.1704), (plain_lines, "mean_ratio", 1.0234)],
    ids=["bullets", "plain-lines"],
)
def test_notes_explained_values_shown(ask: Ask, text: Callable[[], str], key: str, value: float) -> None:
    got = explain_pasted(ask, text(), "-q", "解读这些指标")
    assert_language(got, "zh")
    assert key in got["answer"]
    assert shows(got["answer"], value, digits=3)
    assert got["grounding"]["unsupported"] == []


def test_paste_example_path_and_standard_input_same_facts(ask: Ask) -> None:
    question = QUESTIONS["gpus"].text
    piped = explain_pasted(ask, example_text(), "-q", question)
    from_file = read_answer(ask("explain", EXAMPLE, "-q", question, "--format", "json"))
    assert value_cells(piped) == value_cells(from_file)
    assert piped["verdict"] == from_file["verdict"]
