import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text
from tests.parsing.generators import verl_log as gen


def only_run(text: str) -> Run:
    parsed = parse_text(text)
    assert len(parsed.runs) == 1
    run = parsed.runs[0]
    assert run.lines.taken + run.lines.ignored + run.lines.not_understood == parsed.text_lines
    return run


def table(run: Run) -> list[tuple[int, dict[str, int | float]]]:
    return [(step, values) for step, _, values in run.rows()]


def same(got: Run, rows: list[tuple[int, gen.Row]]) -> None:
    shown = [(step, {key: repr(value) for key, value in values.items()}) for step, values in table(got)]
    assert shown == [(step, {key: repr(value) for key, value in values.items()}) for step, values in rows]


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), old=st.booleans(), crlf=st.booleans())
@settings(max_examples=60, deadline=None)
def test_parse_text_generated_log_gives_the_same_cells(seed: int, steps: int, old: bool, crlf: bool) -> None:
    log = gen.random_log(seed, steps, val_every=2, old=old)
    run = only_run(("\r\n" if crlf else "\n").join(log.lines) + "\n")
    same(run, log.rows)
    assert run.row_lines == tuple(range(1, steps + 1))
    assert run.missing == ()
    assert (run.format, run.framework, run.step_axis) == ("verl", "verl", "step")


@given(
    seed=st.integers(0, 10**6),
    column=st.integers(40, 300),
    how=st.fixed_dictionaries({"prefix": st.booleans(), "strip": st.booleans(), "old": st.booleans()}),
    steps=st.integers(1, 4),
)
@settings(max_examples=300, deadline=None)
def test_parse_text_wrapped_at_any_column_gives_the_same_cells(
    seed: int, column: int, how: dict[str, bool], steps: int
) -> None:
    log = gen.random_log(seed, steps, val_every=2, old=how["old"])
    pieces: list[str] = []
    where: list[dict[str, int]] = []
    for line, (_, row) in zip(log.lines, log.rows, strict=True):
        whole = gen.ray(line) if how["prefix"] else line
        begin = len(pieces) + 1
        where.append({key: begin + (whole.index(f" - {key}:") + len(key) + 4) // column for key in row})
        pieces.extend(gen.wrap(whole, column, strip=how["strip"]))
    run = only_run("\n".join([*pieces, "", "What does this mean?"]))
    same(run, log.rows)
    for index, lines in enumerate(where):
        for key, line in lines.items():
            assert [cell.line for cell in run.cells(key) if cell.row == index] == [line]


@given(seed=st.integers(0, 10**6), cut=st.integers(30, 1200))
@settings(max_examples=300, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(seed: int, cut: int) -> None:
    log = gen.random_log(seed, 3, val_every=2)
    log.lines[1] = log.lines[1][:cut]
    run = only_run("\n".join(log.lines))
    held = dict(table(run)).get(2, {})
    full = log.rows[1][1]
    last = log.lines[1].rsplit(" - ", 1)[-1].partition(":")[0]
    for key, value in held.items():
        assert key == last or repr(value) == repr(full[key])
    for gap in run.missing:
        assert gap.step == 2
        assert gap.metric is None or gap.metric not in held


def at_limit(line: str, key: str, into: int) -> str:
    """Pads the line so that 4,096 characters end inside the value of a key."""
    room = 4096 - (line.index(f" - {key}:") + len(key) + 4 + into)
    pad = "".join(f"pad/{n:04d}:1 - " for n in range(room // 13 - 1))
    pad += f"pad/{'x' * (room - len(pad) - 9)}:1 - "
    return line.replace("step:2 - ", f"step:2 - {pad}", 1)[:4096]


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize(
    ("value", "into", "reason"),
    [
        ("0.33547412", 6, "half_value"),
        ("np.float64(0.33547412)", 3, "half_wrapper"),
        ("np.float64(0.33547412)", 15, "half_wrapper"),
        ("0.33547412", 0, "half_value"),
        ("0.33547412", -5, "half_key"),
    ],
)
def test_parse_text_line_of_4096_characters_leaves_the_last_value_out(
    prefix: bool, value: str, into: int, reason: str
) -> None:
    tail = f" - critic/score/mean:{value} - timing_s/step:12.5"
    lines = [f"step:{step} - actor/entropy:0.5{tail}" for step in (1, 2, 3)]
    lines[1] = at_limit(lines[1], "critic/score/mean", into)
    assert len(lines[1]) == 4096
    run = only_run("\n".join(gen.ray(line) if prefix else line for line in lines))
    assert run.value("critic/score/mean", 2) is None
    assert run.value("critic/score/mean", 1) == 0.33547412
    assert [gap.reason for gap in run.missing][:1] == [reason]
    gap = run.missing_at("timing_s/step", 2)
    assert gap is not None
    assert (gap.reason, gap.limit, gap.line) == ("line_cut", 4096, 2)
    assert {gap.step for gap in run.missing} == {2}


def test_parse_text_closed_wrapper_at_limit_is_taken() -> None:
    value = "np.float64(0.5)"
    lines = [f"step:{step} - actor/entropy:0.5 - critic/score/mean:{value} - timing_s/step:1.5" for step in (1, 2)]
    lines[1] = at_limit(lines[1], "critic/score/mean", len(value))
    run = only_run("\n".join(lines))
    assert run.value("critic/score/mean", 2) == 0.5
    assert [(gap.metric, gap.reason) for gap in run.missing if "pad" not in str(gap.metric)] == [
        ("timing_s/step", "line_cut")
    ]


def test_parse_text_validation_row_cut_lists_validation_and_training_keys_of_other_rows() -> None:
    rng = random.Random(7)
    rows = {step: gen.random_row(rng, step, validate=step in {2, 4}) for step in (1, 2, 3, 4)}
    lines = [gen.step_line(step, row) for step, row in rows.items()]
    stop = lines[1].index("val-aux/aime/reward/best@2/std")
    lines[1] = lines[1][:stop]
    run = only_run("\n".join(lines))
    lost = {gap.metric for gap in run.missing}
    held = set(dict(table(run))[2])
    assert lost == set(rows[2]) - held
    assert "critic/score/mean" in lost
    assert "val-core/aime/acc/mean@30" in lost


def test_parse_text_pure_validation_row_cut_lacks_no_training_keys() -> None:
    rng = random.Random(8)
    first = gen.step_line(0, gen.random_row(rng, 0, validate=True, train=False))
    lines = [first[:200]] + [gen.step_line(step, gen.random_row(rng, step, validate=step == 2)) for step in (1, 2)]
    run = only_run("\n".join(lines))
    assert run.missing
    assert all(gap.metric is None or gap.metric.startswith("val-") for gap in run.missing)


def test_parse_text_last_line_stops_early_leaves_the_last_number_out() -> None:
    log = gen.random_log(3, 3)
    log.lines[2] = log.lines[2][: log.lines[2].index(" - timing_s/step:")][:-2]
    assert not log.lines[2].endswith("(")
    run = only_run("\n".join(log.lines))
    key = "timing_s/agent_loop/generate_sequences/max"
    assert run.value(key, 3) is None
    assert run.missing_at("timing_s/step", 3) is not None


@pytest.mark.parametrize("gap", [0, 1])
def test_parse_text_initial_dict_and_cut_step_zero_make_one_row(gap: int) -> None:
    rng = random.Random(5)
    val = gen.random_row(rng, 0, validate=True, train=False)
    line = gen.step_line(0, val)[:230]
    printed = gen.validation_dict(val)
    assert printed.count("\n") > 5
    noise = ["Training Progress:   0%|          | 0/10 [00:00<?, ?it/s]"] * gap
    text = "\n".join([printed, *noise, line, gen.step_line(1, gen.random_row(rng, 1))])
    run = only_run(text)
    assert run.steps == (0, 1)
    assert {key: repr(value) for key, value in table(run)[0][1].items()} == {k: repr(v) for k, v in val.items()}
    assert run.missing == ()
    lines = text.split("\n")
    for key, value in val.items():
        cell = run.cell(key, 0)
        assert cell is not None
        assert repr(value) in lines[cell.line - 1]


def test_parse_text_initial_dict_alone_makes_step_zero() -> None:
    run = only_run("\"Initial validation metrics: {'val/test_score/x': 0.25}\"\nstep:1 - critic/score/mean:0.500")
    assert table(run) == [(0, {"val/test_score/x": 0.25}), (1, {"critic/score/mean": 0.5})]


def test_parse_text_dict_differs_from_line_keeps_the_line_and_notes_it() -> None:
    run = only_run("\"Initial validation metrics: {'val/x': 0.0076}\"\nstep:0 - val/x:0.008")
    assert run.value("val/x", 0) == 0.008
    assert "dict_differs" in [note.code for note in run.warnings]


def test_parse_text_mixed_scalars_keep_type_and_value() -> None:
    run = only_run(
        "step:3 - a/x:np.int32(2) - a/y:np.float32(0.1) - a/z:tensor(0.5, device='cuda:0') - a/n:nan"
        " - a/i:-inf - a/j:inf - a/k:7 - a/m:-3 - a/e:1e-06 - a/t:tensor(2.)"
    )
    values = run.at(3)
    assert (values["a/x"].value, type(values["a/x"].value)) == (2, int)
    assert values["a/y"].value == 0.1
    assert values["a/z"].value == 0.5
    assert math.isnan(values["a/n"].value)
    assert (values["a/i"].value, values["a/j"].value) == (-math.inf, math.inf)
    assert type(values["a/k"].value) is int
    assert (values["a/m"].value, values["a/e"].value, values["a/t"].value) == (-3, 1e-06, 2.0)


def test_parse_text_none_value_is_missing_not_a_number() -> None:
    run = only_run("step:3 - actor/a:1.0 - actor/b:None - actor/c:2.0")
    assert run.at(3).keys() == {"actor/a", "actor/c"}
    assert [(gap.metric, gap.reason, gap.detail) for gap in run.missing] == [("actor/b", "not_a_number", "None")]


@pytest.mark.parametrize(
    "line",
    [
        "\x1b[36m(TaskRunner pid=38606)\x1b[0m step:1 - actor/kl:0.5",
        "\x1b[2m\x1b[36m(main_task pid=64899)\x1b[0m step:1 - actor/kl:0.5",
        "(main_task pid=64899, ip=10.0.0.7) step:1 - actor/kl:0.5 [repeated 7x across cluster]",
        "[36m(TaskRunner pid=38606)[0m step:1 - actor/kl:0.5",
        "2025-01-02 03:04:05,678 INFO - step:1 - actor/kl:0.5",
        "  3/62 [00:22<07:00,  7.12s/it]step:1 - actor/kl:0.5",
        "Training:   1%|▏ | 3/62 [00:22<07:00,  7.12s/it]\rstep:1 - actor/kl:0.5",
        "train.log:17:step:1 - actor/kl:0.5",
        "> step:1 - actor/kl:0.5",
    ],
)
def test_parse_text_prefixed_line_is_read(line: str) -> None:
    run = only_run(line)
    assert table(run) == [(1, {"actor/kl": 0.5})]
    assert run.row_lines == (1,)


@pytest.mark.parametrize(
    "line",
    [
        'The model wrote "step:1 - actor/kl:0.5" in its answer.',
        '{"text": "step:1 - actor/kl:0.5"}',
        "grep 'step:1 - actor/kl:0.5' train.log",
        "  'lr': 1e-06, 'kl_coef': 0.001,",
        "step:1",
        "step:1 - ",
        "step:x - actor/kl:0.5",
    ],
)
def test_parse_text_quoted_or_foreign_line_is_not_read(line: str) -> None:
    assert parse_text(line).runs == ()


def test_parse_text_sft_line_behind_progress_bar_is_verl_sft() -> None:
    run = only_run("3/62 [00:22<07:00, 7.12s/it]step:128 - train/loss:0.18 - train/lr(1e-3):0.0083 - train/time(s):6.2")
    assert run.format == "verl-sft"
    assert run.at(128).keys() == {"train/loss", "train/lr(1e-3)", "train/time(s)"}


def test_parse_text_wrap_before_global_step_is_no_new_record() -> None:
    run = only_run("step:3 - actor/lr:1e-06 - training/global_\nstep:3 - training/epoch:0 - critic/score/mean:0.25")
    assert table(run) == [
        (3, {"actor/lr": 1e-06, "training/global_step": 3, "training/epoch": 0, "critic/score/mean": 0.25})
    ]


def test_parse_text_number_over_two_lines_is_one_number() -> None:
    run = only_run(
        "step:3 - actor/lr:1e-06 - critic/score/mean:0.12719726\n5625 - critic/score/max:1.0 -\ncritic/x:2.0\n"
    )
    assert run.at(3)["critic/score/mean"].value == 0.127197265625
    assert run.at(3)["critic/x"].line == 3


@pytest.mark.parametrize("after", ["What about step 3?", "第 3 步怎么样？", "42", "actor: fine", "- actor/kl: 0.3", ""])
def test_parse_text_text_behind_a_whole_record_is_not_glued_on(after: str) -> None:
    log = gen.random_log(1, 3)
    run = only_run("\n".join([*log.lines, "step:4 - actor/kl:0.5", after]))
    assert run.value("actor/kl", 4) == 0.5


def test_parse_text_step_goes_back_keeps_rows_and_notes_restart() -> None:
    run = only_run("\n".join(f"step:{step} - actor/kl:0.{n}" for n, step in enumerate((1, 2, 3, 2, 3))))
    assert run.steps == (1, 2, 3, 2, 3)
    assert [(note.code, note.line) for note in run.warnings] == [("restart", 4)]


def test_parse_text_identical_lines_are_one_row_and_noted() -> None:
    run = only_run("step:1 - actor/kl:0.5\nstep:1 - actor/kl:0.5\nstep:2 - actor/kl:0.5")
    assert run.steps == (1, 2)
    assert [note.code for note in run.warnings] == ["duplicate_lines"]
    assert run.lines.taken == 3


def test_parse_text_processes_that_contradict_each_other_are_separate_runs() -> None:
    lines = [gen.ray(f"step:{step} - actor/kl:0.{pid}{step}", pid) for step in (1, 2, 3) for pid in (11, 22)]
    parsed = parse_text("\n".join(lines))
    assert [run.id for run in parsed.runs] == ["r0", "r1"]
    assert [run.steps for run in parsed.runs] == [(1, 2, 3), (1, 2, 3)]
    assert parsed.runs[1].value("actor/kl", 2) == 0.222


def test_parse_text_process_changes_after_restart_is_one_run() -> None:
    lines = [gen.ray(f"step:{step} - actor/kl:0.{pid}", pid) for pid in (11, 22) for step in (1, 2)]
    assert only_run("\n".join(lines)).steps == (1, 2, 1, 2)


def test_parse_text_validation_sample_count_is_an_extra() -> None:
    run = only_run("len reward_extra_infos_dict['acc']: 900\nstep:0 - val-core/x/acc/mean@30:0.5")
    assert run.extras == {"validation_samples": (900, 1)}


def test_parse_text_metric_like_line_that_no_format_reads_is_counted() -> None:
    run = only_run("step:1 - actor/kl:0.5\n{'train/loss': 0.5, 'train/kl': 0.1}\nTraining Progress: 5%|")
    assert (run.lines.taken, run.lines.ignored, run.lines.not_understood) == (1, 1, 1)
    assert run.lines.samples == ("{'train/loss': 0.5, 'train/kl': 0.1}",)


def test_parse_text_prose_pairs_beside_a_log_are_not_cells() -> None:
    run = only_run("step:1 - actor/kl:0.5\n\npg_loss: 0.000212     Policy Gradient 损失\n- **actor/lr: 1e-6** - 学习率")
    assert run.metrics == ("actor/kl",)


def test_parse_validation_dict_blank_key_is_no_metric() -> None:
    text = (
        "(\"Initial validation metrics: {'val-core/x/acc/mean@4': np.float64(0.5), ' ': np.float64(0.25), '-': 1}\")\n"
    )
    assert parse_text(text).runs[0].metrics == ("val-core/x/acc/mean@4",)


@pytest.mark.parametrize("prefix", ["", "(TaskRunner pid=7) "])
def test_parse_text_line_of_4096_characters_beside_longer_ones_is_whole(prefix: str) -> None:
    def line(step: int, size: int) -> str:
        pairs = " - ".join(f"timing_s/part_{n:03}:{n + step / 8:.12f}" for n in range(100))
        text = f"step:{step} - {pairs} - perf/note:1{{}} - perf/throughput:{100 + step / 7:.12f}"
        return prefix + text.replace("{}", "0" * (size - len(text) + 2))

    sizes = [4090, 4096, 4200]
    run = only_run("\n".join(line(step, size) for step, size in enumerate(sizes, start=1)))
    assert run.value("perf/throughput", 2) == pytest.approx(100 + 2 / 7)
    assert run.missing == ()
    cut = only_run("\n".join(line(step, 4200)[: len(prefix) + 4096] for step in (1, 2, 3)))
    assert all(cut.value("perf/throughput", step) is None for step in (1, 2, 3))
