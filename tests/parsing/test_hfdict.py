from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text
from tests.timing import assert_in_proportion

from .generators.trainer_log import (
    DPO_KEYS,
    EVAL_KEYS,
    GRPO_KEYS,
    PPO_KEYS,
    SFT_KEYS,
    Log,
    bar,
    console,
    final,
    plain,
    random_event,
)
from .generators.verl_log import wrap

KEYS = [SFT_KEYS, GRPO_KEYS, DPO_KEYS]


def only_run(text: str) -> Run:
    (run,) = parse_text(text).runs
    return run


def rows_of(run: Run) -> list[tuple[int, int, dict[str, int | float]]]:
    return list(run.rows())


def assert_rows(run: Run, log: Log) -> None:
    assert [(step, line, repr(values)) for step, line, values in run.rows()] == [
        (step, line, repr(values)) for step, line, values in log.rows
    ]


# --- whole logs ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    keys=st.sampled_from(KEYS),
    events=st.integers(1, 12),
    every=st.sampled_from([1, 2, 10]),
    bars=st.booleans(),
    eval_every=st.sampled_from([0, 2, 3]),
    text5=st.booleans(),
)
def test_parse_text_console_of_a_trainer_gives_every_cell(
    *, seed: int, keys: tuple[str, ...], events: int, every: int, bars: bool, eval_every: int, text5: bool
) -> None:
    log = console(seed, keys, events, every=every, bars=bars, eval_every=eval_every, text5=text5)
    run = only_run(log.text)
    assert_rows(run, log)
    assert run.step_axis == ("step" if bars else "index")
    assert run.warnings[0].code == ("steps_from_progress_bar" if bars else "no_step")
    assert run.missing == ()


@pytest.mark.parametrize(
    ("keys", "format", "framework"),
    [(SFT_KEYS, "hf-dict", "HF Trainer"), (GRPO_KEYS, "trl-dict", "TRL"), (DPO_KEYS, "trl-dict", "TRL")],
)
def test_parse_text_keys_tell_format_and_framework(keys: tuple[str, ...], format: str, framework: str) -> None:
    run = only_run(console(1, keys, 3).text)
    assert (run.format, run.framework) == (format, framework)


def test_parse_text_ppo_dicts_count_in_episodes() -> None:
    rng = random.Random(5)
    events = [random_event(rng, PPO_KEYS) | {"episode": 816 * at, "epoch": at / 9} for at in (1, 2, 3)]
    run = only_run("\n".join(map(plain, events)))
    assert (run.format, run.framework, run.step_axis, run.steps) == ("trl-ppo", "TRL", "episode", (816, 1632, 2448))
    assert [values for _, _, values in run.rows()] == [
        {key: value for key, value in event.items() if key != "episode"} for event in events
    ]


def test_parse_text_ms_swift_console_takes_the_step_from_its_text() -> None:
    text = (
        "Train:   2%|▏         | 1/60 [00:42<41:47, 42.51s/it]{'loss': '0.3713', 'token_acc': '0.921', "
        "'epoch': '0.08602', 'global_step/max_steps': '1/60', 'elapsed_time': '43s', 'memory(GiB)': '14.3'}\n"
        "Train:   8%|▊         | 5/60 [03:52<43:40, 47.64s/it]{'loss': '0.2992', 'token_acc': '0.9285', "
        "'epoch': '0.4301', 'global_step/max_steps': '5/60', 'elapsed_time': '3m 53s', 'memory(GiB)': '14.3'}\n"
        "{'eval_loss': '0.80', 'global_step/max_steps': '5/60'}\n"
    )
    run = only_run(text)
    assert (run.framework, run.step_axis) == ("ms-swift", "global_step/max_steps")
    assert rows_of(run) == [
        (1, 1, {"loss": 0.3713, "token_acc": 0.921, "epoch": 0.08602, "memory(GiB)": 14.3}),
        (5, 2, {"loss": 0.2992, "token_acc": 0.9285, "epoch": 0.4301, "memory(GiB)": 14.3, "eval_loss": 0.8}),
    ]
    cell = run.cell("eval_loss", 5)
    assert cell is not None
    assert cell.line == 3
    assert run.missing == ()


# --- values -------------------------------------------------------------------------------------


def test_parse_text_odd_values_kept_or_missing() -> None:
    text = (
        "{'loss': nan, 'grad_norm': inf, 'reward': None, 'rewards/a': np.float64(0.5), 'rewards/b': tensor(-2., "
        "device='cuda:0'), 'kl': '-inf', 'rewards/c': 'None', 'note': \"it's\", 'epoch': 0.5}\n"
    )
    run = only_run(text)
    assert repr(rows_of(run)[0][2]) == (
        "{'loss': nan, 'grad_norm': inf, 'rewards/a': 0.5, 'rewards/b': -2.0, 'kl': -inf, 'epoch': 0.5}"
    )
    assert [(gap.metric, gap.reason, gap.detail) for gap in run.missing] == [
        ("reward", "not_a_number", "None"),
        ("rewards/c", "not_a_number", "None"),
        ("note", "not_a_number", "it's"),
    ]


def test_parse_text_final_dict_is_no_row() -> None:
    log = console(3, GRPO_KEYS, 4)
    closing = final(random.Random(1))
    run = only_run(log.text + plain(closing) + "\n")
    assert_rows(run, log)
    told = {key: value for key, (value, _) in run.extras.items()}
    assert told.pop("total_steps") == 50  # the bar's
    assert told.pop("seconds_per_step") == 12.34  # the bar's, too
    of_bar = {"total_steps", "seconds_per_step", "seconds_elapsed", "seconds_elapsed_at"}
    assert {key: value for key, value in told.items() if key not in of_bar} == closing
    assert {line for key, (_, line) in run.extras.items() if key not in of_bar} == {len(log.lines) + 1}
    assert "run_average" in {note.code for note in run.warnings}


def test_parse_text_training_after_a_final_dict_is_another_run() -> None:
    one, other = console(3, SFT_KEYS, 4, bars=False), console(4, GRPO_KEYS, 4, bars=False)
    runs = parse_text(one.text + plain(final(random.Random(1))) + "\n" + other.text).runs
    assert [(run.id, run.format, len(run.steps)) for run in runs] == [("r0", "hf-dict", 4), ("r1", "trl-dict", 4)]


def test_parse_text_eval_at_another_epoch_is_a_row_of_its_own() -> None:
    text = (
        "{'loss': 0.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.9}\n{'eval_loss': 0.4, 'epoch': 1.0}\n"
        "{'loss': 0.4, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 1.1}\n"
    )
    assert [sorted(values) for _, _, values in only_run(text).rows()] == [
        ["epoch", "grad_norm", "learning_rate", "loss"],
        ["epoch", "eval_loss"],
        ["epoch", "grad_norm", "learning_rate", "loss"],
    ]


# --- steps --------------------------------------------------------------------------------------


def test_parse_text_dicts_in_bursts_are_counted() -> None:
    log = console(3, GRPO_KEYS, 6, bars=False)
    text = bar(30, 70) + "\n" + "\n".join(log.lines[:3]) + "\n" + bar(60, 70) + "\n" + "\n".join(log.lines[3:])
    run = only_run(text)
    assert (run.step_axis, run.steps) == ("index", (0, 1, 2, 3, 4, 5))


def test_parse_text_bar_drawn_late_gives_the_step_after_the_dict() -> None:
    lines = []
    for at, seen in ((10, 9), (20, 18), (30, 30), (40, 37)):
        event = {"loss": at / 7, "grad_norm": 1.0, "learning_rate": 1e-5, "epoch": at / 100}
        lines.append(f"\r{bar(seen, 100)}\r      \r{event}")
        lines.append(f"\r{bar(at, 100)}")
    assert only_run("\n".join(lines)).steps == (10, 20, 30, 40)


def test_parse_text_bars_of_other_work_give_no_step() -> None:
    log = console(3, SFT_KEYS, 3, bars=False)
    text = "\n".join(f"{bar(at, 3, 'Loading checkpoint shards: ')}\n{line}" for at, line in enumerate(log.lines, 1))
    assert only_run(text).step_axis == "index"


# --- damage -------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(30, 240), strip=st.booleans(), text5=st.booleans())
def test_parse_text_hard_wrapped_dicts_give_every_cell(seed: int, width: int, strip: bool, text5: bool) -> None:
    log = console(seed, GRPO_KEYS, 4, bars=False, text5=text5)
    wrapped = [piece for line in log.lines for piece in wrap(line, width, strip=strip)]
    run = only_run("\n".join(wrapped))
    assert [repr(values) for _, _, values in run.rows()] == [repr(row) for _, _, row in log.rows]
    assert run.missing == ()


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    where=st.integers(0, 3),
    share=st.floats(0, 1),
    text5=st.booleans(),
    follow=st.booleans(),
)
def test_parse_text_cut_dict_gives_no_wrong_cell(
    seed: int, where: int, share: float, text5: bool, follow: bool
) -> None:
    log = console(seed, GRPO_KEYS, 4, bars=False, text5=text5)
    line = log.lines[where]
    kept = line[: int(share * len(line))]
    log.lines[where] = kept + (bar(3, 9) if follow else "")
    (run,) = parse_text(log.text).runs
    truth = {line: row for _, line, row in log.rows}
    for _, at, values in run.rows():
        assert all(repr(truth[at][key]) == repr(value) for key, value in values.items())
    seen = {at for _, at, _ in run.rows()}
    assert seen >= truth.keys() - {where + 1}
    if where + 1 in seen and kept != line:
        got = next(values for _, at, values in run.rows() if at == where + 1)
        gaps = {gap.metric for gap in run.missing if gap.line == where + 1}
        half = {gap.detail for gap in run.missing if gap.reason == "half_key"}
        assert gaps | set(got) >= truth[where + 1].keys() - {key for key in truth[where + 1] if key in half}
        assert "line_cut" in {note.code for note in run.warnings}


def test_parse_text_cut_value_is_half_and_the_rest_missing() -> None:
    text = (
        "{'loss': 0.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.9}\n"
        "{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 9.9"
    )
    run = only_run(text)
    assert rows_of(run)[1] == (1, 2, {"loss": 0.5, "grad_norm": 1.25})
    assert [(gap.metric, gap.step, gap.line, gap.reason, gap.detail) for gap in run.missing] == [
        ("learning_rate", 1, 2, "half_value", "9.9"),
        ("epoch", 1, 2, "line_cut", ""),
    ]


@pytest.mark.parametrize(
    "front",
    [
        "\x1b[36m(TrainTrainable pid=4711)\x1b[0m ",
        "[rank0]: ",
        "[default0]:",
        "2025-01-01 12:00:00,123 - INFO - ",
        "[INFO|2025-01-01 12:00:00] trainer.callbacks:143 >> ",
        "train.log:12:",
        "> ",
        "worker-1  | ",
    ],
)
def test_parse_text_launcher_prefix_is_no_obstacle(front: str) -> None:
    log = console(8, DPO_KEYS, 5, bars=False)
    assert_rows(only_run("\n".join(front + line for line in log.lines)), log)


def test_parse_text_clock_behind_a_dict_is_ignored() -> None:
    log = console(8, SFT_KEYS, 5, bars=False)
    log.lines[0] += " " * 90 + "03:42:13 [116/1934]"
    assert_rows(only_run(log.text), log)


def test_parse_text_two_dicts_on_a_line_are_two_events() -> None:
    log = console(8, DPO_KEYS, 4, bars=False)
    run = only_run(log.lines[0] + log.lines[1] + "\n" + log.lines[2] + " " + log.lines[3])
    assert [(line, values) for _, line, values in run.rows()] == [
        (1, log.rows[0][2]),
        (1, log.rows[1][2]),
        (2, log.rows[2][2]),
        (2, log.rows[3][2]),
    ]


@pytest.mark.parametrize("keys", [SFT_KEYS, GRPO_KEYS])
def test_parse_text_same_dict_of_several_ranks_is_one_row(keys: tuple[str, ...]) -> None:
    log = console(8, keys, 4, bars=False)
    run = only_run("\n".join(line for line in log.lines for _ in range(4)))
    assert [values for _, _, values in run.rows()] == [values for _, _, values in log.rows]
    assert "duplicate_lines" in {note.code for note in run.warnings}


def test_parse_text_equal_dicts_of_a_dead_run_stay_rows() -> None:
    dead = "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.01}"
    lines = ["{'loss': 1.5, 'grad_norm': 2.0, 'learning_rate': 1e-05, 'epoch': 0.0}", dead, dead, dead]
    assert len(only_run("\n".join(lines)).steps) == 4


def test_parse_text_epoch_going_back_is_noted() -> None:
    log = console(8, SFT_KEYS, 4, bars=False)
    run = only_run("\n".join(log.lines + log.lines[:2]))
    assert "restart" in {note.code for note in run.warnings} or "duplicate_lines" in {n.code for n in run.warnings}


def test_parse_text_question_behind_a_dict_is_prose() -> None:
    line = "{'loss': 0.5, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.9}"
    parsed = parse_text(f"看一下 {line} 这正常吗？")
    assert len(parsed.runs) == 1
    assert "正常吗" in parsed.prose[-1].text


def test_parse_text_cut_key_is_told() -> None:
    (gap,) = only_run("{'loss': 0.0123, 'grad_norm': 0.5, 'rewar").missing
    assert (gap.metric, gap.reason, gap.detail) == (None, "half_key", "rewar")


def test_parse_text_dicts_of_a_callback_join_their_row() -> None:
    log = console(8, SFT_KEYS, 3)
    lines = []
    for line in log.lines:
        lines.append(line)
        if "{" in line:
            lines.append(f"{{'answer_length': {len(lines)}.5, 'epoch': {line.split()[-1].rstrip('}')}}}")
    run = only_run("\n".join(lines))
    assert (run.step_axis, run.steps) == ("step", (10, 20, 30))
    assert len(run.cells("answer_length")) == 3


# --- as people paste it -------------------------------------------------------------------------


def test_parse_text_host_prefixes_tell_copies() -> None:
    log = console(8, SFT_KEYS, 3, bars=False)
    lines = [f"10.96.202.{host}: {line}" for line in log.lines for host in (43, 17, 16)]
    run = only_run("\n".join(lines))
    assert [values for _, _, values in run.rows()] == [values for _, _, values in log.rows]
    assert run.row_lines == (1, 4, 7)
    assert run.lines.taken == 9


@pytest.mark.parametrize("front", ["# ", "// ", "[rank0]: ", "(Trainer pid=12) ", "node-3: "])
@pytest.mark.parametrize("width", [60, 100])
def test_parse_text_prefix_on_every_piece_of_a_broken_dict(front: str, width: int) -> None:
    log = console(8, DPO_KEYS, 3, bars=False)
    pieces = [front + piece for line in log.lines for piece in wrap(line, width)]
    run = only_run("\n".join(pieces))
    assert [repr(values) for _, _, values in run.rows()] == [repr(row) for _, _, row in log.rows]
    assert run.lines.taken == len(pieces)


def test_parse_text_dict_printed_one_key_a_line() -> None:
    log = console(8, GRPO_KEYS, 2, bars=False)
    text = "日志：\n```\n" + "\n".join(line.replace(", ", ",\n ") for line in log.lines) + "\n```\n"
    run = only_run(text)
    assert [repr(values) for _, _, values in run.rows()] == [repr(row) for _, _, row in log.rows]
    for metric in run.metrics:
        assert all(f"'{metric}': {cell.value!r}" in text.split("\n")[cell.line - 1] for cell in run.cells(metric))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), keys=st.sampled_from(KEYS), share=st.floats(0.1, 0.999))
def test_parse_text_last_dict_cut_early_keeps_its_whole_cells(seed: int, keys: tuple[str, ...], share: float) -> None:
    log = console(seed, keys, 3, bars=False)
    kept = log.lines[-1][: int(share * len(log.lines[-1]))]
    run = only_run("\n".join([*log.lines[:-1], kept]))
    whole = [key for key in log.rows[-1][2] if f"'{key}': {log.rows[-1][2][key]!r}," in kept]
    if whole:
        assert run.row_lines[-1] == 3
        assert list(list(run.rows())[-1][2]) == whole
        gaps = {gap.metric for gap in run.missing}
        assert gaps | set(whole) >= set(log.rows[-1][2])


def test_parse_text_cut_inside_a_broken_line_keeps_the_value_before() -> None:
    log = console(8, SFT_KEYS, 1, bars=False)
    run = only_run(log.text + "{'loss': 0.5, 'grad_norm': 1.2\n5, 'learning_rate': 1e-0")
    assert list(run.rows())[1] == (1, 2, {"loss": 0.5, "grad_norm": 1.25})
    assert [(gap.metric, gap.line, gap.reason) for gap in run.missing] == [
        ("learning_rate", 3, "half_value"),
        ("epoch", 3, "line_cut"),
    ]


@pytest.mark.parametrize("more", ["", ", 'throughput': 1523.33"])
def test_parse_text_rounded_dict_of_a_logger_is_one_event_with_the_whole_one(more: str) -> None:
    lines = []
    for at in (1, 2, 3):
        rate = 5e-05 - at * 1.23456789e-07
        lines += [
            f"0{at}/12/2024 11:24:33 - INFO - callbacks - {{'loss': {at / 7:.4f}, 'learning_rate': {rate:.4e}, "
            f"'epoch': 0.0{at}{more}}}",
            f"{{'loss': {at / 7:.4f}, 'grad_norm': nan, 'learning_rate': {rate!r}, 'epoch': 0.0{at}}}",
        ]
    run = only_run("\n".join(lines))
    assert run.row_lines == (2, 4, 6)
    assert run.lines.taken == 6
    assert run.series("learning_rate")[1] == [5e-05 - at * 1.23456789e-07 for at in (1, 2, 3)]
    assert ("throughput" in run.metrics) is bool(more)
    if more:
        assert [cell.line for cell in run.cells("throughput")] == [1, 3, 5]


def test_parse_text_logger_alone_is_read() -> None:
    lines = [f"03/12/2024 11:24:3{at} - INFO - callbacks - {{'loss': 1.{at}, 'epoch': 0.0{at}}}" for at in (1, 2, 3)]
    assert only_run("\n".join(lines)).series("loss")[1] == [1.1, 1.2, 1.3]


def buffered(every: int, bursts: list[int], total: int) -> tuple[str, list[int]]:
    """A redirected log: the bar is drawn again at each logged step, the dictionaries come later, several at once."""
    entries, waiting, steps = [], [], []
    for step in range(1, total + 1):
        entries.append(bar(step, total))
        if step % every == 0:
            steps.append(step)
            waiting.append(f"{{'loss': {step / 7}, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {step / 50}}}")
            entries += [" " * 60, bar(step, total)]
        if step in bursts:
            entries.append("\n" + "\n".join(waiting) + "\n" + bar(step, total))
            waiting = []
    return "\r".join(entries) + "\n" + "\n".join(waiting), steps


@pytest.mark.parametrize(("every", "bursts"), [(10, [55, 99]), (7, [30, 77]), (5, [])])
def test_parse_text_buffered_dicts_take_the_steps_at_which_the_bar_was_drawn_twice(
    every: int, bursts: list[int]
) -> None:
    text, steps = buffered(every, bursts, 99)
    run = only_run(text)
    assert (run.step_axis, list(run.steps)) == ("step", steps)
    assert run.series("loss")[1] == [step / 7 for step in steps]
    assert "buffered" in run.warnings[0].en


def test_parse_text_redrawn_bars_that_contradict_the_epochs_give_no_step() -> None:
    text, _ = buffered(10, [55, 99], 99)
    assert only_run(text.replace("0.4}", "0.9}")).step_axis == "index"


def test_parse_text_first_dict_before_its_bar_is_dated_by_the_bar_behind_it() -> None:
    lines = []
    for step in (6, 7, 8, 9):
        lines += [f"{{'loss': {step}.5, 'grad_norm': 0.0, 'epoch': {step / 40}}}", "", bar(step, 390)]
        lines.append(bar(step + 1, 390))
    run = only_run("\n".join(lines[:-2]))
    assert (run.step_axis, run.steps) == ("step", (6, 7, 8, 9))


def test_parse_text_only_the_closing_averages_are_one_row() -> None:
    run = only_run("{'train_runtime': '2219', 'train_loss': '0.7228', 'epoch': '3'}\n***** train metrics *****\n")
    assert list(run.rows()) == [(0, 1, {"train_runtime": 2219, "train_loss": 0.7228, "epoch": 3})]
    assert "run_average" in {note.code for note in run.warnings}


def test_parse_text_averages_returned_by_train_are_no_row() -> None:
    log = console(8, SFT_KEYS, 3)
    run = only_run(log.text + "TrainOutput(global_step=30, training_loss=0.5, metrics={'train_runtime': 9.5})\n")
    assert_rows(run, log)
    assert run.extras["train_runtime"] == (9.5, len(log.lines) + 1)


def test_parse_text_evaluations_of_two_sets_lack_only_their_own_metrics() -> None:
    text = (
        "{'eval_a_loss': 0.5, 'eval_a_runtime': 1.5, 'epoch': 0.1}\n"
        "{'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 0.2}\n"
        "{'eval_b_loss': 0.25, 'eval_b_f1': 0.5, 'eval_b_acc':"
    )
    assert {gap.metric for gap in only_run(text).missing} == {"eval_b_acc"}


def test_parse_text_evaluation_under_the_names_of_training_is_told() -> None:
    text = (
        "{'loss': 0.5, 'reward': 0.25, 'completions/mean_length': 9.5, 'epoch': 0.1}\n"
        "{'eval_loss': 0.5, 'eval_runtime': 1.5, 'completions/mean_length': 7.5, 'epoch': 0.1}\n"
    )
    run = only_run(text)
    assert run.series("completions/mean_length")[1] == [9.5, 7.5]
    assert [note.line for note in run.warnings if note.code == "evaluation_names"] == [2]


def test_parse_text_evaluations_in_a_block_of_their_own_are_no_restart() -> None:
    lines = [f"{{'loss': {at}.5, 'learning_rate': 1e-05, 'epoch': {at}.5}}" for at in (1, 2)]
    lines += [f"{{'eval_loss': {at}.25, 'epoch': {at}.0}}" for at in (1, 2)]
    assert "restart" not in {note.code for note in only_run("\n".join(lines)).warnings}


# --- what is no log -----------------------------------------------------------------------------

FAKE = "{'loss': 0.123, 'grad_norm': 9.5, 'reward': 0.75, 'epoch': 7.0}"


@pytest.mark.parametrize(
    "noise",
    [
        f'completion: "the log says {FAKE} so we stop"',
        f"│ {FAKE} │ 0.50 │",
        f"The answer is {FAKE}",
        f"print({FAKE})",
        f"x = {FAKE}",
        f"[{FAKE}, {FAKE}]",
        f"{{'sample': {FAKE}}}",
        "{'loss': 'dpo', 'epoch': 3, 'learning_rate': 1e-06, 'bf16': True}",
        "{'num_train_epochs': 3, 'learning_rate': 1e-06, 'batch_size': 8, 'epoch': 3}",
        "Updated tokens: {'eos_token_id': 151645, 'bos_token_id': None, 'pad_token_id': 151643}.",
        "{'train_dataset': 'size=16'}",
        "reward: 0.5",
        "step 5: " + FAKE,
        "{\n  'loss': 0.9,   # the loss\n  'reward': 0.7,  # its mean\n  'epoch': 7.0\n}",
        "{'score': 0.5, 'epoch': 7.0}",
        "{'loss': 0.9, 'reward': 0.75, 'epoch': 7.0}",
    ],
)
def test_parse_text_noise_between_dicts_gives_no_cell(noise: str) -> None:
    log = console(8, GRPO_KEYS, 8, bars=False)
    lines = list(log.lines)
    lines.insert(4, noise)
    run = only_run("\n".join(lines))
    assert [values for _, _, values in run.rows()] == [values for _, _, values in log.rows]


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1, 'b': 2}",
        "{'learning_rate': 1e-06, 'epoch': 3}",
        "{'loss': 'dpo', 'epoch': 3, 'learning_rate': 1e-06, 'bf16': True}",
        "{'actor': {'loss': 0.5, 'grad_norm': 1.0, 'epoch': 1}}",
        "config = {'loss': 0.5,\n  'epoch': 3,\n 'max_steps': 7}\n" + "train(config)\n" * 9,
        "step 1: {'train/loss': 0.5, 'train/kl_loss': 0.1}\n" * 9,
    ],
)
def test_parse_text_other_dicts_give_no_trainer_run(text: str) -> None:
    assert not [run for run in parse_text(text).runs if run.format in {"hf-dict", "trl-dict", "trl-ppo"}]


@settings(max_examples=200, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            ["{'", "'loss'", "{'loss': 0.5", ": ", "0.5", "nan", ", 'epoch': 1", "}", "\n", "\r", "50%|#| 1/2 [", "]",
             "{'eval_loss': '", "np.float64(", ")", "'", '"', "\\", " ", "{'loss': 1, 'kl': 2, 'epoch': 3}", "é"]
        ),
        max_size=60,
    ).map("".join)
)  # fmt: skip
def test_parse_text_any_text_raises_nothing(text: str) -> None:
    parse_text(text)


@pytest.mark.parametrize(
    "unit",
    ["{'", "{'loss': ", "{'loss': 0.5, 'kl': 1, ", "{'loss': '", "50%|##| 1/2 [", "{'loss': 1, 'epoch': 1}", "{'a': ["],
)
def test_parse_text_long_line_is_read_in_linear_time(unit: str) -> None:
    head = "{'loss': 0.5, 'grad_norm': 1.0, 'epoch': 1}\n"
    assert_in_proportion(parse_text, lambda size: head + unit * (size // len(unit)), 1_000_000, limit=4.0)


def test_eval_keys_are_told_from_training_keys() -> None:
    text = plain(random_event(random.Random(1), EVAL_KEYS) | {"epoch": 1.0})
    assert only_run(text).metrics == (*EVAL_KEYS, "epoch")
