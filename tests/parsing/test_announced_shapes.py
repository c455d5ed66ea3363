"""What people paste around and of a log: a line behind its announcement, rows of a table, shares, an evaluation."""

from __future__ import annotations

import random

import pytest

from assistant.parsing import parse_text


@pytest.mark.parametrize("words", ["Here is my results：", "结果如下：", "This is what I get: ", "log: result: "])
@pytest.mark.parametrize("front", ["", "model.py:660 - ", "(TrainActor pid=7) [2026-01-05 12:20:29] model.py:66 - "])
def test_parse_dict_behind_words_that_announce_it_is_read(words: str, front: str) -> None:
    (run,) = parse_text(f"{words}{front}step 3: {{'train/loss': 0.25, 'train/kl_loss': 0.5}}\nIs it high?").runs
    assert run.series("train/kl_loss") == ([3], [0.5])


@pytest.mark.parametrize("text", ["The model wrote step 1: {'train/loss': 0.1}", "note step 1: {'train/loss': 0.1}"])
def test_parse_dict_within_a_sentence_is_not_read(text: str) -> None:
    assert not [run for run in parse_text(text).runs if run.format == "slime"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pairs", [1, 4])
def test_parse_rows_of_a_table_without_its_heading_and_edges_are_one_row(seed: int, pairs: int) -> None:
    rng = random.Random(seed)
    values = {f"ppo_actor/part_{n}/avg": round(rng.uniform(-1, 1), 4) for n in range(8)}
    cells = [f"{key} │ {value:.4e}" for key, value in values.items()]
    lines = [f"(MasterWorker pid=9) │ {' │ '.join(cells[at : at + pairs])} │" for at in range(0, 8, pairs)]
    (run,) = parse_text("\n".join(["统计如下：", *lines, "正常吗？"])).runs
    assert (run.format, run.steps) == ("areal", (0,))
    assert {key: run.value(key, 0) for key in run.metrics} == pytest.approx(values)


@pytest.mark.parametrize("seed", range(3))
def test_parse_message_behind_a_logger_name_and_a_dash_is_read(seed: int) -> None:
    rng = random.Random(seed)
    rewards = [round(rng.uniform(0, 2), 4) for _ in range(5)]
    lines = [
        f"[rank0]:[name] 2025-06-13 12:17:5{n},593 - name - INFO - Step: {n + 7}/4725, Loss: -0.02344, "
        f"Iteration time: 79.064s, Completion length: 352, Reward: {reward}"
        for n, reward in enumerate(rewards)
    ]
    (run,) = parse_text("\n".join(lines)).runs
    assert run.series("Reward") == ([7, 8, 9, 10, 11], rewards)
    assert run.extras["total_steps"][0] == 4725


@pytest.mark.parametrize("bold", ["", "**"])
@pytest.mark.parametrize("seed", range(2))
def test_parse_markdown_columns_of_shares_hold_the_numbers(seed: int, bold: str) -> None:
    rng = random.Random(seed)
    values = [round(rng.uniform(1, 90), 1) for _ in range(4)]
    rows = [f"| {10 * n} | {bold}{value}%{bold} | 0.{n} |" for n, value in enumerate(values, 1)]
    (run,) = parse_text("\n".join(["| Step | AIME24 mean@32 | entropy |", "|---|---|---|", *rows])).runs
    assert run.series("AIME24 mean@32") == ([10, 20, 30, 40], values)
    assert any(note.code == "units" and "AIME24 mean@32 (%)" in note.en for note in run.warnings)


@pytest.mark.parametrize("epochs", [1, 3])
def test_parse_evaluations_of_a_reward_model_are_rows_by_epoch(epochs: int) -> None:
    lines = ["***** Running training *****"]
    for epoch in range(epochs + 1):
        lines += [f"Epoch {epoch}/{epochs} with loss 0.{70 - epoch}"] if epoch else []
        lines += [
            f"***** Evaluating reward, Epoch {epoch}/{epochs} *****",
            f"chosen_last_scores (higher is better) : {epoch - 2.5}, acc (higher is better) : 0.5{epoch}",
        ]
    (run,) = parse_text("\n".join(lines)).runs
    assert (run.framework, run.step_axis) == ("DeepSpeed-Chat", "epoch")
    assert run.series("eval/acc") == (list(range(epochs + 1)), [float(f"0.5{n}") for n in range(epochs + 1)])
    assert run.series("loss") == (list(range(1, epochs + 1)), [float(f"0.{70 - n}") for n in range(1, epochs + 1)])
