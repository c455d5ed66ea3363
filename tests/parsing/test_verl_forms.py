"""What becomes of verl's lines on their way: launchers' prefixes, broken heads, lists, lost line breaks, web pages."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text
from tests.parsing.generators import verl_log as gen
from tests.parsing.test_verl import only_run, same, table

RECORD = "step:3 - actor/kl:0.5 - critic/score/mean:np.float64(0.25) - timing_s/step:12.75"
VALUES = {"actor/kl": 0.5, "critic/score/mean": 0.25, "timing_s/step": 12.75}
FRONTS = (
    "0: ",
    "12: (TaskRunner pid=38606) ",
    "[rank0]: ",
    "[rank0]:[trainer] 2025-11-25 19:44:58,838 - root - INFO - ",
    "[default0]:",
    "[1,0]<stdout>:(TaskRunner pid=3) ",
    "2025-05-01 12:00:01,123 INFO verl.utils.tracking - ",
    "[2025-05-01 12:00:01,123][root][INFO] - ",
    "2025-02-21 22:59:11.882 | INFO     | verl.trainer:fit:182 - ",
    "2025-05-01T12:00:01.123456789Z (TaskRunner pid=1) ",
    "2025-05-01T12:00:01.123456789+08:00 stdout F ",
    "2025-05-01 12:00:01.123\t",
    "May 01 12:00:01 gpu-node-3 python[4242]: ",
    "[pod/verl-head-abc/ray-head] (TaskRunner pid=77, ip=10.2.3.4) ",
    "verl-head-0 ray-head (TaskRunner pid=1) ",
    "(head, rank=0, pid=3456) (TaskRunner pid=77) ",
    "node01: (TaskRunner pid=1) ",
    "worker-0  | (TaskRunner pid=1) ",
    "^[[36m(TaskRunner pid=1)^[[0m ",
    "\\x1b[36m(TaskRunner pid=1)\\x1b[0m ",
    "\\u001b[36m(TaskRunner pid=1)\\u001b[0m ",
    "[2m[36m(main_task pid=64899)[0m ",
    "(TaskRunnerV1) ",
    "INFO:root:",
    "INFO 05-01 12:00:01 [tracking.py:44] ",
    "Training Progress:   1%|# | 3/62 [00:22<07:00,  7.12s/it](TaskRunner pid=1) ",
    "> (main_task pid=144783) ",
    "  1021\t(TaskRunner pid=1) ",
    "train.log:17:(TaskRunner pid=1) ",
    "1. ",
    "- ",
    "我的训练日志如下：",
    "Here is what it prints: ",
    "训练 ",
    "训练：",
    "Training ",
)
ENDS = (
    " What does this mean?",
    "，这个正常吗？",
    "`",
    '"',
    "<br>",
    "\\n",
    "[0m",
    "^[[0m",
    "Training Progress:   2%|# | 4/62 [00:22<07:00,  7.12s/it]",
    "(WorkerDict pid=3) INFO: saved",
    " [repeated 7x across cluster]",
)


@pytest.mark.parametrize("front", FRONTS)
def test_parse_text_launcher_prefix_is_read_over(front: str) -> None:
    run = only_run(f"{front}{RECORD}\n")
    assert table(run) == [(3, VALUES)]


@pytest.mark.parametrize("end", ENDS)
def test_parse_text_text_behind_the_last_value_leaves_it_whole(end: str) -> None:
    run = only_run(f"{RECORD}{end}\n{RECORD.replace('step:3', 'step:4')}\n")
    assert table(run) == [(3, VALUES), (4, VALUES)]
    assert run.missing == ()


@pytest.mark.parametrize("front", ["She said: '", "grep 'x' | ", "the run printed ", '{"log":"', "assert f('"])
def test_parse_text_record_in_a_sentence_or_a_program_is_not_read(front: str) -> None:
    assert parse_text(f"{front}{RECORD}'\n").runs == ()


@pytest.mark.parametrize(
    "text", ["训练 step:7 - a:1 这样", "训练 step:7 - a:1", "如果 step:7 - a:1 - b:2", "training step:7 - a"]
)
def test_parse_text_record_behind_words_that_may_be_a_sentence_is_not_read(text: str) -> None:
    assert parse_text(text).runs == ()


@pytest.mark.parametrize(
    ("cell", "key"),
    [("actor lr:1e-06", "actor lr"), ("lr: 1e-06", "lr"), ("mean lr (warm up): 1e-06", "mean lr (warm up)")],
)
@pytest.mark.parametrize("at", [1, 2, 4])
def test_parse_text_key_of_words_among_paths_is_read(cell: str, key: str, at: int) -> None:
    segments = RECORD.split(" - ")
    run = only_run(" - ".join([*segments[:at], cell, *segments[at:]]) + "\n")
    assert table(run) == [(3, {**VALUES, key: 1e-06})]
    assert list(run.columns)[at - 1] == key
    assert run.missing == ()


@pytest.mark.parametrize(
    "line",
    [
        "step:3 - actor/kl:0.5 - WARNING took 3: 5 - timing_s/step:12.75",
        "step:3 - actor/kl:0.5 - saved: 5 files - actor lr:1 - timing_s/step:12.75",
        "step:3 - actor/kl:0.5 - the mean of all that was seen so far is: 5 - timing_s/step:12.75",
        "step:3 - actor/kl:0.5 - the rest: 5",
    ],
)
def test_parse_text_words_before_a_number_that_are_no_key_are_not_read(line: str) -> None:
    assert set(only_run(line + "\n").columns) <= {"actor/kl", "timing_s/step"}


def test_parse_text_number_too_long_to_be_one_is_told_and_the_line_is_not_cut() -> None:
    lines = [f"step:{step} - actor/kl:0.5 - critic/score/max:{'1' * (450 if step == 2 else 1)}" for step in (1, 2, 3)]
    run = only_run("\n".join(lines) + "\n")
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [("critic/score/max", 2, "not_a_number")]
    assert run.warnings == ()


DICT = "\"{} validation metrics: {{'test_score/gsm8k': {}}}\""


def test_parse_text_dict_of_old_verl_is_the_metric_of_the_step_lines() -> None:
    first, last = DICT.format("Initial", 0.0625), DICT.format("Final", 0.875)
    plain = [f"step:{step} - critic/kl:0.5" for step in (0, 2)]
    lines = [first, plain[0], "step:1 - val/test_score/gsm8k:0.125 - critic/kl:0.5", plain[1], last]
    run = only_run("\n".join(lines) + "\n")
    assert set(run.columns) == {"val/test_score/gsm8k", "critic/kl"}
    assert [(cell.step, cell.value, cell.line) for cell in run.cells("val/test_score/gsm8k")] == [
        (0, 0.0625, 1),
        (1, 0.125, 3),
        (2, 0.875, 5),
    ]


def test_parse_text_dict_of_old_verl_alone_keeps_its_name() -> None:
    run = only_run(DICT.format("Initial", 0.0625) + "\nstep:0 - critic/kl:0.5\n")
    assert run.value("test_score/gsm8k", 0) == 0.0625


def test_parse_text_dict_of_old_verl_with_another_value_than_the_line_stays_beside_it() -> None:
    run = only_run(f"step:9 - val/test_score/gsm8k:0.125 - critic/kl:0.5\n{DICT.format('Final', 0.25)}\n")
    assert (run.value("val/test_score/gsm8k", 9), run.value("test_score/gsm8k", 9)) == (0.125, 0.25)


@given(seed=st.integers(0, 10**6), beyond=st.integers(0, 24), strip=st.booleans(), width=st.integers(60, 140))
@settings(max_examples=150, deadline=None)
def test_parse_text_wrapped_inside_the_head_gives_the_same_cells(
    seed: int, beyond: int, strip: bool, width: int
) -> None:
    log = gen.random_log(seed, 3)
    pieces: list[str] = []
    where: list[int] = []
    for step, line in enumerate(log.lines, 1):
        front = gen.bar(width, step, 62)
        where.append(len(pieces) + 1 + (beyond == 0))
        pieces += gen.wrap(front + line, width + beyond, strip=strip)
    run = only_run("\n".join([*pieces, ""]))
    same(run, log.rows)
    assert list(run.row_lines) == where


@given(
    seed=st.integers(0, 10**6),
    dashed=st.booleans(),
    indent=st.sampled_from(["", " ", "    ", "         "]),
    ray=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_parse_text_record_broken_into_a_list_gives_the_same_cells(
    seed: int, dashed: bool, indent: str, ray: bool
) -> None:
    rng = random.Random(seed)
    log = gen.random_log(seed, 3, val_every=2)
    lines: list[str] = []
    for line in log.lines:
        lines += gen.listed(rng, gen.ray(line) if ray else line, dashed=dashed, indent=indent)
    text = "\n".join([*lines, "", "- actor/kl: 0.3 is what I expected"])
    run = only_run(text)
    same(run, log.rows)
    shown = text.split("\n")
    for key in run.metrics:
        for cell in run.cells(key):
            assert f"{key}:" in shown[cell.line - 1]


@given(
    seed=st.integers(0, 10**6),
    glue=st.sampled_from([" ", "  ", "", " (TaskRunner pid=7) ", "\x1b[36m(T pid=7)\x1b[0m "]),
)
@settings(max_examples=150, deadline=None)
def test_parse_text_records_whose_line_breaks_were_lost_are_kept_apart(seed: int, glue: str) -> None:
    log = gen.random_log(seed, 4, val_every=2)
    run = only_run(glue.join(log.lines) + "\n")
    same(run, log.rows)
    assert set(run.row_lines) == {1}


@given(seed=st.integers(0, 10**6), column=st.integers(60, 200), quote=st.sampled_from(["> ", "    ", "\t"]))
@settings(max_examples=150, deadline=None)
def test_parse_text_wrapped_text_that_is_quoted_or_indented_gives_the_same_cells(
    seed: int, column: int, quote: str
) -> None:
    log = gen.random_log(seed, 3)
    pieces = [piece for line in log.lines for piece in gen.wrap(line, column)]
    same(only_run("\n".join(quote + piece for piece in pieces) + "\n"), log.rows)


@given(
    seed=st.integers(0, 10**6),
    column=st.integers(60, 200),
    tag=st.sampled_from(["", "(TaskRunner pid=7) "]),
    prefix=st.sampled_from(["2025-05-01T12:00:0{}Z ", "[rank{}]: ", "{}: ", "2025-05-01 12:00:0{},123 INFO "]),
)
@settings(max_examples=100, deadline=None)
def test_parse_text_wrapped_text_with_a_prefix_before_each_piece_gives_the_same_cells(
    seed: int, column: int, tag: str, prefix: str
) -> None:
    log = gen.random_log(seed, 3)
    pieces = [piece for line in log.lines for piece in gen.wrap(tag + line, column)]
    text = "\n".join(prefix.format(at % 10) + piece for at, piece in enumerate(pieces))
    same(only_run(text + "\n"), log.rows)


def test_parse_text_list_of_cells_behind_a_record_makes_no_key_of_two() -> None:
    run = only_run("step:9 - batch/none:8 - batch/part:0\ncritic/x:0.0 - critic/y:1.5\nNext: gen:3.6 wait:2\n")
    assert table(run) == [(9, {"batch/none": 8, "batch/part": 0, "critic/x": 0.0, "critic/y": 1.5})]


@pytest.mark.parametrize("after", ["- bad?", "- actor/grad_norm: 484.7", "actor/kl:0.7", "- actor/kl:0.7", "note: 3"])
def test_parse_text_remark_behind_a_record_changes_nothing(after: str) -> None:
    run = only_run(f"step:4 - actor/kl:0.5 - critic/x:1.0\n{after}\n")
    assert table(run) == [(4, {"actor/kl": 0.5, "critic/x": 1.0})]
    assert run.missing == ()


def test_parse_text_line_copied_by_a_model_into_its_answer_is_not_read() -> None:
    answer = ["[prompt] Show a log.", "[response] Sure:", "step:9 - actor/kl:99.0 - critic/x:7.0", "[ground_truth] 4"]
    real = ["[score] 0.0", "step:1 - actor/kl:0.5 - critic/x:1.0", "[response] cut", "step:2 - actor/kl:0.6"]
    run = only_run("\n".join(gen.ray(line) for line in [*answer, *real]))
    assert run.steps == (1, 2)


def test_parse_text_line_on_the_line_of_a_response_is_not_read() -> None:
    lines = ["[response] step:9 - actor/kl:99.0 - critic/x:7.0", "step:1 - actor/kl:0.5 - critic/x:1.0"]
    assert only_run("\n".join(gen.ray(line) for line in lines)).steps == (1,)


@pytest.mark.parametrize("value", ["1,234.5", "3.2万", "50%", "50 %", "0.5±0.1", "2^10"])
def test_parse_text_last_value_in_another_notation_is_not_cut_down_to_its_beginning(value: str) -> None:
    run = only_run(f"step:1 - actor/kl:0.5 - critic/x:{value}\n")
    assert table(run) == [(1, {"actor/kl": 0.5})]
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("critic/x", "not_a_number")]


def test_parse_text_values_left_out_by_an_author_are_no_cells() -> None:
    text = (
        "step:2 - actor/kl:... - critic/x:...\n"
        "\"Final validation metrics: {'val-aux/.../acc': 0.5, 'val-core/.../acc': 0.5}\"\n"
    )
    assert parse_text(text).runs == ()


def test_parse_text_blank_behind_a_colon_is_read_on_the_records_line_only() -> None:
    run = only_run("step:1 - actor/kl: 0.5 - critic/x: 1.0\n- actor/lr: 0.1\n")
    assert table(run) == [(1, {"actor/kl": 0.5, "critic/x": 1.0})]


@pytest.mark.parametrize("wrong", ["0.5abc", "...", "0.5.1", "--3", "0x1f", "1e", "-", "np."])
def test_parse_text_last_value_that_is_no_number_is_missing(wrong: str) -> None:
    run = only_run(f"step:1 - actor/kl:0.5 - critic/x:{wrong}\n")
    assert table(run) == [(1, {"actor/kl": 0.5})]
    assert [gap.metric for gap in run.missing] == ["critic/x"]


def dict_run(lines: list[str]) -> Run:
    return only_run("\n".join([*lines, "step:1 - critic/x:1.0"]))


@pytest.mark.parametrize(
    "lines",
    [
        [
            "(&quot;Initial validation metrics: {&#39;val/a&#39;: &quot;",
            " &quot;np.float64(0.25), &#39;val/b&#39;: 2}&quot;)",
        ],
        [
            "2025-05-01T12:00:01Z (T pid=7) (\"Initial validation metrics: {'val/a': \"",
            "2025-05-01T12:00:02Z (T pid=7)  \"np.float64(0.25), 'val/b': 2}\")",
        ],
        ["[2025-07-31 14:50:14,935][root][INFO] - Initial validation metrics: {'val/a': 0.25,", " 'val/b': 2}"],
        ["> (T pid=7) \"Initial validation metrics: {'val/a': 0.25, 'val/b': 2}\""],
    ],
)
def test_parse_text_dict_behind_prefixes_or_from_a_web_page_is_read(lines: list[str]) -> None:
    run = dict_run(lines)
    assert table(run) == [(0, {"val/a": 0.25, "val/b": 2}), (1, {"critic/x": 1.0})]


@given(seed=st.integers(0, 10**6), at=st.integers(1, 4), wide=st.integers(20, 60))
@settings(max_examples=60, deadline=None)
def test_parse_text_every_head_broken_by_the_terminal_gives_the_same_cells(seed: int, at: int, wide: int) -> None:
    log = gen.random_log(seed, 3)
    front = f"[pod/{'verl-head'.ljust(wide, 'x')}/ray-head] (TaskRunner pid=77) "
    broken = [piece for line in log.lines for piece in gen.wrap(front + line, len(front) + at)]
    assert not any("step:" in piece and "/" not in piece for piece in broken)
    same(only_run("\n".join(broken)), log.rows)


@pytest.mark.parametrize("task", ["master_worker/0", "model_worker/12", "Actor[3]", "ns/a:b@c", "fn<locals>.x=1"])
def test_parse_text_process_named_with_signs_is_kept(task: str) -> None:
    lines = [
        gen.ray(f"step:{step} - actor/kl:0.{5 + pid}{step} - critic/score/mean:0.25", pid, task=task)
        for step in (1, 2, 3)
        for pid in (1, 2)
    ]
    runs = parse_text("\n".join(lines)).runs
    assert [run.name for run in runs] == [f"pasted text ({task} pid={pid})" for pid in (1, 2)]
    assert all(run.steps == (1, 2, 3) for run in runs)
