"""The reference reading of `evals.parsing`: what it reads, what it leaves open, and what the comparison makes of it."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from assistant.parsing import parse_text
from evals.parsing import Reference, Result, evaluate, main, read_reference
from evals.parsing.compare import compare
from evals.parsing.verl_lines import VALIDATION


def read(text: str, name: str = "a.log") -> Reference:
    return read_reference(text.encode(), name)


def values(reference: Reference) -> list[tuple[int, int | None, str, float]]:
    return [(cell.first, cell.step, cell.key, cell.value) for cell in reference.cells]


def compared(text: str, reference: Reference) -> Result:
    result = Result("a.log", "", [], 0, 0, 0, 0.0, 0, 0)
    compare(parse_text(text).runs, reference, result)
    return result


LINE = "step:{} - actor/entropy:0.5 - actor/lr:np.float64(1e-06) - perf/throughput:{}\n"


def test_verl_line_gives_every_pair_with_its_step() -> None:
    reference = read(LINE.format(1, 7.5) + "noise\n" + LINE.format(2, 8))
    assert values(reference) == [
        (1, 1, "actor/entropy", 0.5),
        (1, 1, "actor/lr", 1e-06),
        (1, 1, "perf/throughput", 7.5),
        (3, 2, "actor/entropy", 0.5),
        (3, 2, "actor/lr", 1e-06),
        (3, 2, "perf/throughput", 8),
    ]
    assert reference.open == set()


def test_verl_last_pair_that_may_be_half_is_open() -> None:
    reference = read("step:1 - actor/entropy:0.5 - actor/lr:0.1")
    assert [cell.key for cell in reference.cells] == ["actor/entropy"]
    assert reference.open == {1}


@pytest.mark.parametrize(
    "front", ["(TaskRunner pid=7) ", "\x1b[36m(main_task pid=7)\x1b[0m ", "3/62 [00:22<07:00, 7.12s/it]"]
)
def test_verl_line_behind_a_prefix_is_read(front: str) -> None:
    text = "".join(front + LINE.format(step, step) for step in (1, 2))
    assert len(read(text).cells) == 6


def test_verl_line_quoted_in_a_sentence_is_not_read() -> None:
    assert read("it says step:1 - actor/lr:0.1 - actor/entropy:0.5 somewhere\n").events == []
    assert read("training/global_step:1 - actor/lr:0.1 - actor/entropy:0.5\n").events == []


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("width", range(41, 120, 3))
def test_verl_wrapped_line_is_read_whole_or_left_open(width: int, strip: bool) -> None:
    pairs = {f"critic/score/number_{index}": index + 0.125 for index in range(20)}
    line = "step:3 - " + " - ".join(f"{key}:{value}" for key, value in pairs.items())
    pieces = [line[at : at + width] for at in range(0, len(line), width)]
    reference = read("\n".join(piece.rstrip() if strip else piece for piece in pieces) + "\n\n")
    got = {cell.key: cell.value for cell in reference.cells}
    assert got.items() <= pairs.items()
    assert got == pairs or reference.open
    for cell in reference.cells:
        assert str(cell.value)[0] in "".join(pieces[cell.first - 1 : cell.last])


def test_verl_lines_broken_at_no_fixed_width_are_open_behind_the_first() -> None:
    text = "step:3 - critic/score/mean:0.125 - critic/score/max:1.0 - cri\ntic/score/min:-1.0 - act\nor/lr:0.1\n"
    reference = read(text)
    assert {cell.key for cell in reference.cells} <= {"critic/score/mean", "critic/score/max"}
    assert {1, 2, 3} <= reference.open


def test_validation_dict_of_old_verl_is_called_as_the_step_lines_call_it() -> None:
    text = "\"Initial validation metrics: {'test_score/a': 0.5}\"\n"
    for step, value in enumerate(("", " - val/test_score/a:0.25")):
        text += f"step:{step}{value} - actor/entropy:0.5 - actor/lr:1.5\n"
    for value, key in ((0.25, "val/test_score/a"), (0.75, "test_score/a")):
        reference = read(text + f"\"Final validation metrics: {{'test_score/a': {value}}}\"\n")
        found = [cell.key for event in reference.events if event.kind == VALIDATION for cell in event.cells]
        assert found == ["val/test_score/a", key]
        assert compared(text + f"\"Final validation metrics: {{'test_score/a': {value}}}\"\n", reference).wrong == []


def test_validation_dict_of_literals_side_by_side_is_read() -> None:
    text = (
        "(\"Initial validation metrics: {'val-core/aime/acc/mean@30': \"\n"
        " \"np.float64(0.23), 'val-aux/num_turns/min': np.int32(2), \"\n"
        " \"'val-aux/x': nan}\")\n"
    )
    cells = read(text).cells
    assert [(cell.key, cell.first, cell.last) for cell in cells] == [
        ("val-core/aime/acc/mean@30", 1, 2),
        ("val-aux/num_turns/min", 2, 2),
        ("val-aux/x", 3, 3),
    ]
    assert cells[0].value == 0.23
    assert math.isnan(cells[2].value)


def test_trainer_dicts_are_events_and_their_summary_is_told() -> None:
    text = (
        "  1%|          | 20/1875 [25:47<33:52:52, 65.75s/it]{'loss': 0.5, 'grad_norm': nan, 'epoch': 0.1}\n"
        "{'loss': '0.25', 'reward': 'None', 'epoch': '0.2'}\n"
        "{'train_runtime': 12.5, 'train_loss': 0.375, 'epoch': 1.0}\n"
    )
    reference = read(text)
    assert [(event.first, event.summary) for event in reference.events] == [(1, False), (2, False), (3, True)]
    assert [cell.key for cell in reference.events[1].cells] == ["loss", "epoch"]
    assert reference.events[1].cells[0].value == 0.25


@pytest.mark.parametrize(
    ("front", "step"),
    [
        ("[2025-01-01 00:00:00] rollout.py:1193 - rollout 3: ", 3),
        ("step 4: ", 4),
        ("✨ Global step 5: ", 5),
        ("Evaluation completed in 0:00:05, global_step 6, eval_metrics: ", 6),
    ],
)
def test_heading_in_front_of_a_dict_names_the_step(front: str, step: int) -> None:
    assert values(read(front + "{'rollout/reward': 0.5, 'x': np.float32(2.0)}\n")) == [
        (1, step, "rollout/reward", 0.5),
        (1, step, "x", 2.0),
    ]


def test_roll_objects_are_events_where_the_pipeline_says_so() -> None:
    line = '{"actor/loss": 0.5, "system/tps": NaN}\n'
    assert read(line + "noise\n" * 3).events == []
    assert len(read(line + "pipeline step 0 finished\n" * 3).cells) == 2


@pytest.mark.parametrize(
    "text",
    [
        "{'lr': 0.1, 'epoch': 3, 'loss': True}",
        "{'epoch': 3, 'loss': 0.5, 'model': {'size': 7}}",
        "{'epoch': 3, 'loss': 0.5, 'name': 'a', 'path': 'b', 'kind': 'c'}",
    ],
)
def test_dict_that_is_a_configuration_is_refused(text: str) -> None:
    reference = read(text)
    assert reference.events == []
    assert reference.refused == {1}


@pytest.mark.parametrize(
    "text", ["{'loss': 0.5, 'lr': 0.1}", "{'loss': 0.5, 'epoch': <x>}", "as {'loss': 0.5, 'epoch': 1}"]
)
def test_dict_in_doubt_is_open(text: str) -> None:
    reference = read(text)
    assert (reference.events, reference.refused, reference.open) == ([], set(), {1})


def test_dict_over_lines_keeps_the_lines_of_its_values() -> None:
    reference = read("{'loss': 0.5,\n 'reward': 1.5,\n 'epoch': 0.1}\n")
    assert [(cell.key, cell.first) for cell in reference.cells] == [("loss", 1), ("reward", 2), ("epoch", 3)]


@pytest.mark.parametrize("indent", [None, 2])
def test_trainer_state_is_read_with_lines_and_steps(indent: int | None) -> None:
    history = [{"step": 10, "loss": 0.5}, {"step": 20, "loss": float("nan")}, {"step": 20, "train_runtime": 3.0}]
    text = json.dumps({"step": 99, "loss": 1, "log_history": history, "max_steps": 20}, indent=indent)
    reference = read(text, "trainer_state.json")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if '"loss"' in line][-2:] if indent else [1, 1]
    assert [cell.first for cell in reference.cells[:2]] == lines
    assert [(cell.step, cell.key) for cell in reference.cells] == [(10, "loss"), (20, "loss"), (20, "train_runtime")]
    assert [event.summary for event in reference.events] == [False, False, True]


def test_json_lines_sample_is_refused_and_a_quoted_number_optional() -> None:
    text = (
        '{"current_steps": 1, "loss": 0.5, "speed": "1.5", "at": {"x": 2}}\n{"text": "'
        + "a" * 300
        + '", "score": 1}\n...\n'
    )
    reference = read(text, "a.jsonl")
    assert values(reference) == [(1, 1, "loss", 0.5), (1, 1, "at/x", 2)]
    assert [cell.key for cell in reference.events[0].cells if cell.optional] == ["speed"]
    assert (reference.refused, reference.open) == ({2}, {3})


def test_table_blank_and_text_are_no_cells_and_the_last_number_may_be_half() -> None:
    assert values(read("step,loss,phase\n1,0.5,a\n2,,b\n3,nan,c\n", "a.csv"))[0] == (2, 1, "loss", 0.5)
    assert len(read("step\tloss\n1\t0.5\n2\t0.25", "a.tsv").cells) == 1
    assert read("step\tloss\n1\t0.5\n", "a.txt").events == []


def test_reward_line_is_of_the_step_above_it_even_if_that_line_is_cut() -> None:
    whole = (
        "epoch: 0|step: {0}|ppo_ep: 1|act_loss: 0.5|cri_loss: 0.25|unsuper_loss: 0.0\naverage reward score: {0}.125\n"
    )
    text = "".join(map(whole.format, range(4)))
    cut = text.replace("step: 2|ppo_ep: 1|act_loss: 0.5|cri_loss: 0.25|unsuper_loss: 0.0", "step: 2|ppo_")
    for given in (text, cut):
        rewards = [cell for cell in read(given + "\n").cells if cell.key == "average reward score"]
        assert [(cell.step, cell.value) for cell in rewards] == [(step, step + 0.125) for step in range(4)]


def test_packed_text_is_read() -> None:
    text = LINE.format(1, 1) + LINE.format(2, 2)
    assert len(read_reference(gzip.compress(text.encode()), "a.log.gz").cells) == 6
    assert len(read_reference(text.encode("utf-16"), "a.log").cells) == 6


def test_what_is_printed_twice_need_be_there_once() -> None:
    assert len(read(LINE.format(1, 1) * 2).cells) == 3


def test_compare_right_cells_agree() -> None:
    text = LINE.format(1, 1) + LINE.format(2, 2)
    result = compared(text, read(text))
    assert (result.reference, result.agreeing, result.wrong, result.phantom) == (6, 6, [], [])


def test_compare_other_value_other_step_and_lost_cell_are_wrong() -> None:
    text = LINE.format(1, 1) + LINE.format(2, 2)
    for other in (
        text.replace("0.5", "0.25"),
        text.replace("step:2", "step:3"),
        text.replace("actor/lr", "actor/rate"),
    ):
        result = compared(other, read(text))
        assert result.agreeing < result.reference
        assert result.wrong


def test_compare_cell_that_the_text_does_not_hold_is_phantom() -> None:
    text = LINE.format(1, 1) + LINE.format(2, 2)
    more = text.replace("actor/lr", "actor/kl:0.5 - actor/lr")
    result = compared(more, read(text))
    assert (result.agreeing, result.wrong, len(result.phantom)) == (6, [], 2)


def test_evaluate_file_without_metrics_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing to see\n")
    assert evaluate(tmp_path / "a.txt") is None


def test_main_prints_a_table_that_names_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secret.log").write_text(LINE.format(1, 1) + LINE.format(2, 2))
    assert main([str(tmp_path), "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert "secret" not in shown
    assert "| verl, steps 1–2 | 2 | 6 | 6 | 6 | 0 | 0 | 0 | 0 |" in shown
    assert main([str(tmp_path)]) == 0
    assert "secret.log" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="there is no"):
        main([str(tmp_path / "none")])
