"""verl logs read from their bytes: the same runs, prose and counts as the careful way, whatever the text."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import verlforms
from assistant.parsing.counts import Lookalikes, count_lines
from assistant.parsing.feed import Feed, count_breaks, slices
from assistant.parsing.prose import SCAN, find_prose
from assistant.parsing.repair import prepare
from assistant.parsing.splitting import split_runs
from assistant.parsing.verl import VerlConsole
from assistant.parsing.verlbytes import BytesReading, read_bytes
from assistant.parsing.verlends import NeedsCare
from assistant.parsing.verlsigns import Signs
from tests.parsing.generators import verl_log as gen

NOISE = (
    "",
    "(WorkerDict pid=77) rollout text with 3 / 4 of it",
    "\x1b[36m(WorkerDict pid=77)\x1b[0m loading",
    "Training Progress:  10%|█         | 1/10 [00:01<00:09]\rTraining Progress:  20%|██        | 2/10",
    "{'train/loss': 0.5, 'train/kl': 0.1}",
    "loss: 0.5 reward: 0.25",
    "训练是否正常？ 请看这段日志",
    "local_global_step_folder: None",
    "the answer - as always - is 42 - and more",
    "123",
    "```",
    "len reward_extra_infos_dict['acc']: 900",
)


def flat(runs: Sequence[Run]) -> list[Any]:
    return [
        (
            repr(replace(run, columns={})),
            [(key, list(c.rows), list(map(repr, c.values)), list(c.lines)) for key, c in run.columns.items()],
        )
        for run in runs
    ]


def fast(text: str, chunk: int = 1 << 20) -> BytesReading:
    return read_bytes(slices(text.encode(), chunk), "x", thorough=True)


def assert_same(text: str, chunk: int = 1 << 20) -> bool:
    """Whether the fast way read the text at all; it must agree with the careful way if it did."""
    document = prepare("x", text)
    reading = VerlConsole().read(document)
    counts, doubtful = count_lines(document, reading)
    try:
        found = fast(text, chunk)
    except NeedsCare:
        return False
    with patch.object(verlforms, "WORTH", 3):  # each few lines are a block, and those before tell what they look like
        by_form = fast(text, 64)
    assert flat(by_form.runs) == flat(found.runs)
    assert flat(found.runs) == flat([replace(run, lines=counts) for run in split_runs(reading.runs)])
    assert found.prose == find_prose(document.lines, document.numbers, reading.taken)
    assert (found.text_lines, found.doubtful) == (document.text_lines, doubtful)
    return True


@pytest.mark.parametrize(
    ("front", "cell"),
    [("", "actor lr:0.5"), ("", "lr: 0.5"), ("训练 ", "a/b:1"), ("", f"a/b:{'1' * 450}"), ("", f"a/b:{'1' * 5000}")],
)
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("at", [1, 2])
def test_read_bytes_peculiar_cells_and_fronts_read_as_the_careful_way_does(
    front: str, cell: str, every: int, at: int
) -> None:
    lines = []
    for step in range(40):
        cells = ["critic/score/mean:0.25", "actor/entropy:0.5"]
        cells.insert(at, "a/b:1" if step % every else cell)
        lines.append(f"{front}step:{step} - " + " - ".join(cells))
    assert assert_same("\n".join(lines) + "\n")


@given(
    seed=st.integers(0, 10**6),
    how=st.fixed_dictionaries({name: st.booleans() for name in ("old", "ray", "colour", "crlf", "open")}),
    chunk=st.sampled_from([40, 700, 1 << 20]),
)
@settings(max_examples=150, deadline=None)
def test_read_bytes_any_generated_log_reads_as_the_careful_way_does(
    seed: int, how: dict[str, bool], chunk: int
) -> None:
    rng = random.Random(seed)
    log = gen.random_log(seed, rng.randrange(1, 9), val_every=rng.choice([0, 2]), old=how["old"])
    lines = [gen.ray(line, rng.choice([7, 7, 8]), colour=how["colour"]) if how["ray"] else line for line in log.lines]
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(lines) + 1)
        damage = rng.random()
        if damage < 0.1:
            lines.insert(at, rng.choice(lines))
        elif damage < 0.2 and lines[:at]:
            lines[at - 1] = lines[at - 1][: rng.randrange(10, 400)]
        elif damage < 0.3 and lines[:at]:
            lines[at - 1] = lines[at - 1].replace(":0.0", rng.choice([":nan", ":inf", ":-inf", ":None"]))
        else:
            lines.insert(at, rng.choice(NOISE))
    if rng.random() < 0.3:
        lines.insert(0, gen.validation_dict(gen.random_row(rng, 0, validate=True, train=False)))
    if rng.random() < 0.3:
        lines += gen.random_log(seed + 1, rng.randrange(1, 9), val_every=rng.choice([0, 2]), old=how["old"]).lines
    text = ("\r\n" if how["crlf"] else "\n").join(lines) + ("" if how["open"] else "\n")
    assert_same(text, chunk)


@given(
    seed=st.integers(0, 10**6),
    width=st.sampled_from([0, 0, 500, 900]),
    how=st.fixed_dictionaries(
        {name: st.booleans() for name in ("old", "ray", "nan", "copies", "restart", "another", "noise")}
    ),
)
@settings(max_examples=120, deadline=None)
def test_read_bytes_many_lines_in_a_row_read_as_the_careful_way_does(
    seed: int, width: int, how: dict[str, bool]
) -> None:
    """Blocks of whole records, all cut at one width, with copies, restarts, gaps and lines of equal length."""
    rng = random.Random(seed)
    lines = gen.random_log(seed, rng.randrange(8, 30), val_every=rng.choice([0, 5]), old=how["old"]).lines
    if how["nan"]:
        key = rng.choice(lines[-1].split(" - ")[1:]).partition(":")[0]
        broken = rng.choice(["nan", "np.float64(nan)", "-inf", "null", "1e400", "12345678901234567890123"])
        lines = [re.sub(rf"(?<= - {re.escape(key)}:)[^ ]+", broken, x) if rng.random() < 0.3 else x for x in lines]
    if how["restart"]:
        lines += lines[rng.randrange(len(lines)) :]
    if how["another"]:
        lines += gen.random_log(seed + 1, rng.randrange(3, 30), val_every=rng.choice([0, 5]), old=how["old"]).lines
    if how["copies"]:
        lines = [line for line in lines for _ in range(rng.choice([1, 1, 1, 2]))]
    if width:
        lines = [line[:width] for line in lines]
    if how["ray"]:
        lines = [gen.ray(line, 7, colour=seed % 2 == 0) for line in lines]
    if how["noise"]:
        lines.insert(rng.randrange(len(lines)), rng.choice(NOISE))
    assert_same("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "broken", ["actor/x:1", "actor/x:np.float64(0.5", "actor/x:0.5)", "actor/x:np.float64()1", "x"]
)
def test_read_bytes_one_odd_line_among_many_leaves_the_others_as_they_are(broken: str) -> None:
    rows = [f"step:{step} - actor/x:np.float64({step}.5) - actor/y:{step} - actor/z:0.25" for step in range(40)]
    rows[20] = f"step:20 - {broken} - actor/y:20 - actor/z:0.25"
    assert assert_same("\n".join(rows) + "\n")


@given(seed=st.integers(0, 10**6), edits=st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_read_bytes_damaged_characters_read_as_the_careful_way_does(seed: int, edits: int) -> None:
    rng = random.Random(seed)
    text = "\n".join(gen.random_log(seed, 4, old=seed % 2 == 0).lines) + "\n"
    for _ in range(edits):
        at = rng.randrange(len(text))
        new = rng.choice(
            [*" -:()[]{},.+e019\"'\\\t\r\n\x1b\u3000é", "", " - ", "nan", "null", "np.float64(", "step:2 - "]
        )
        text = text[:at] + new + text[at + rng.randrange(2) :]
    assert_same(text)


@pytest.mark.parametrize(
    "cell",
    [
        "a:1", "a:-0", "a:0.1", "a:1e-06", "a:18446744073709551615", "a:18446744073709551616", "a:-9223372036854775809",
        "a:99999999999999999999999", "a:1e400", "a:1e22", "a:nan", "a:inf", "a:-inf", "a:null", "a:true", "a:None",
        "a:01", "a:+1", "a:.5", "a:5.", "a:1_0", "a: 1", "a b/c:1", "a b:1", ":1", "a:b:1", "a:(1)", "a:np.float64(1)",
        "a:np.float64(1.5", "a:1.5)", "a:)1", "a:np.float64()1", "a:np.float64(1)5", "lr(1e-3):0.5", "a:np.int32(7)",
        "a:tensor(0.5)", "a:tensor(0.5, device='cuda:0')", "a:np.float64(nan)", 'a:"x"', "a:[1]", "a:{}", "a\\:1",
        "step:5", "é:1", "a:1\t", "a:0.1000000000000000055511151231257827", "a:5e-324", "a:123456789.123456789e-30",
        "a:" + "9" * 500, "a:0." + "1" * 500, "k" * 400 + ":1", "a:1 - a:2", "a:1 -", "a:1 - ", "a:nan - b:null",
        "a:inf - b:true",
    ],
)  # fmt: skip
def test_read_bytes_peculiar_cells_read_as_the_careful_way_does(cell: str) -> None:
    lines = [f"step:{step} - x/y:0.5 - {cell}{end}" for step in (1, 2, 3) for end in ("", " - z:1.5")]
    assert_same("\n".join(lines) + "\n")
    assert_same("\n".join([*lines, f"step:9 - {cell}"]))


def test_read_bytes_keeps_ints_and_every_bit() -> None:
    rng = random.Random(3)
    values = [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300) for _ in range(3000)]
    lines = [f"step:{n} - a:{value!r} - b:{n} - c:{value if n % 2 else n}" for n, value in enumerate(values)]
    (run,) = fast("\n".join(lines) + "\n").runs
    assert list(run.columns["a"].values) == values
    assert {type(value) for value in run.columns["b"].values} == {int}
    assert [type(value) for value in run.columns["c"].values[:4]] == [int, float, int, float]


def test_read_bytes_nan_and_infinities_are_values() -> None:
    lines = [f"step:{n} - a:nan - b:{'-inf' if n % 2 else 'inf'} - c:{n}" for n in range(50)]
    (run,) = fast("\n".join(lines) + "\n").runs
    assert all(math.isnan(value) for value in run.columns["a"].values)
    assert list(run.columns["b"].values[:2]) == [math.inf, -math.inf]


def test_read_bytes_most_lines_take_the_fast_way() -> None:
    log = gen.random_log(5, 200, val_every=10)
    (run,) = fast("\n".join(log.lines) + "\n").runs
    assert all(not isinstance(column.values, list) for column in run.columns.values())


def test_read_bytes_lines_cut_at_a_learnt_length_lose_their_last_number() -> None:
    rows = [" - ".join(f"k{n:02}/x:{(n * step) % 97 / 7!r}" for n in range(90)) for step in range(1, 40)]
    text = "\n".join(f"step:{step} - {row}"[:1500] for step, row in enumerate(rows, 1)) + "\n"
    assert_same(text)


@pytest.mark.parametrize(
    "text", ["", "no metrics\n", "step:1 - a:0.5", "\ufeffstep:1 - a:0.5\n", "a\x00b\nstep:1 - a:1\n"]
)
def test_read_bytes_what_it_cannot_judge_it_leaves(text: str) -> None:
    with pytest.raises(NeedsCare):
        fast(text)


def test_read_bytes_bytes_that_are_no_utf8_are_left() -> None:
    with pytest.raises(NeedsCare):
        read_bytes(slices(b"step:1 - a:0.5\nstep:2 - a:0.5 \xff\n"), "x")


def test_lookalikes_of_much_noise_are_sampled_unless_thorough() -> None:
    noise = ("a line of other output that holds nothing\n" * 200 + "loss: 0.5 reward: 0.25\n") * 400
    data = noise.encode()
    found = Lookalikes()
    found.look(data, 0, len(data), 1)
    everything = Lookalikes(thorough=True)
    everything.look(data, 0, len(data), 1)
    assert sorted(everything.numbers) == [201 * n for n in range(1, 401)]
    assert 0 < len(found.numbers) < 400
    assert found.numbers < everything.numbers
    assert found.skipped > 0
    assert everything.samples == {201 * n: "loss: 0.5 reward: 0.25" for n in (1, 2, 3)}


@pytest.mark.parametrize("chunk", [4000, 1 << 20])
@pytest.mark.parametrize("returns", [False, True], ids=["plain", "carriage-returns"])
@pytest.mark.parametrize(("before", "after"), [(0, 2 * SCAN), (2 * SCAN, 0), (2 * SCAN, 2 * SCAN), (SCAN - 3, 7)])
def test_read_bytes_much_text_around_the_log_gives_the_same_prose(
    before: int, after: int, returns: bool, chunk: int
) -> None:
    noise = "loading shard\rloading shards" if returns else "loading shards"
    text = ["Is this run healthy?", ""] + [noise] * before
    text += [*gen.random_log(3, 8).lines, *[noise] * after, "", "What about the last step?"]
    assert assert_same("\n".join(text), chunk)
    assert assert_same("\n".join(text) + "\n", chunk)


@pytest.mark.parametrize("at", [2, 3, 4, 5])
def test_read_bytes_head_broken_by_a_terminal_is_left_to_the_careful_way(at: int) -> None:
    lines = [f"step:{step} - actor/x:{step}.5 - actor/y:2" for step in range(1, 8)]
    lines[3:4] = [lines[3][:at], lines[3][at:]]
    assert_same("noise\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("inside", [True, False])
def test_read_bytes_record_inside_a_sample_is_left_to_the_careful_way(inside: bool) -> None:
    rows = [f"step:{step} - actor/x:{step}.5 - actor/y:2" for step in range(1, 8)]
    sample = ["[prompt] What is the loss?", "[response] It was", "[ground_truth] 3", "[score] 0.0"]
    sample.insert(2 if inside else 4, "step:99 - actor/x:1.0 - actor/y:3")
    assert assert_same("\n".join([*rows[:3], *sample, *rows[3:]]) + "\n") is not inside


@pytest.mark.parametrize("at", [3, 12, 20, 23])
def test_read_bytes_prefix_broken_by_a_terminal_is_left_to_the_careful_way(at: int) -> None:
    lines = [f"(TaskRunner pid=4242) step:{step} - actor/x:{step}.5 - actor/y:{'7' * 60}" for step in range(1, 8)]
    lines[3:4] = ["x" * 40 + " " + lines[3][:at], lines[3][at:]]
    assert_same("noise\n" + "\n".join(lines) + "\n")
    assert_same("noise\n" + "\n".join(lines) + "\n", chunk=64)


@pytest.mark.parametrize("cut", ["", "step:0 - actor/x:0.5 - actor/y\r"])
@pytest.mark.parametrize("before", [0, 3, 5, 6, 90])
def test_read_bytes_validation_dict_whose_first_cell_comes_late_reads_as_the_careful_way_does(
    before: int, cut: str
) -> None:
    rows = [f"step:{step} - actor/x:{step}.5 - actor/y:2" for step in range(1, 8)]
    printed = [f"{cut}(\"Initial validation metrics: {{'val/none': \"", *[" 'None, '"] * before, " \"'val/x': 0.25}\")"]
    assert assert_same("\n".join([*printed, *rows]) + "\n", chunk=64)


@given(
    st.lists(
        st.sampled_from(
            ["\n", ":", "p", "e", "t", "s", "tep:", "ep:", "\np:", "7", "123456789012345", " - ", " ", "-", "\r", "x"]
        ),
        max_size=12,
    ).map("".join),
    st.sampled_from(["", "noise\n"]),
)
def test_signs_look_head_without_its_beginning_is_found_on_any_line(text: str, before: str) -> None:
    data = (before + text + "\n").encode()
    broken = any(re.match(r"(tep|ep|p)?:[0-9]{1,15} - ", line) for line in text.split("\n"))
    try:
        Signs().look(data, len(before), len(data), 0)
    except NeedsCare:
        assert broken
    else:
        assert not broken


@given(st.lists(st.sampled_from([b"", b"\n", b"a\nb", b"ab", b"\n\n"])), st.integers(0, 9), st.integers(0, 99))
def test_feed_gives_all_bytes_and_ends_with_lines_where_it_can(parts: list[bytes], used: int, rest: int) -> None:
    text = b"".join(parts)
    feed = Feed(iter(parts), lambda fresh: None)
    seen = b""
    while not feed.ended:
        at = min(used, len(feed.data))
        seen += feed.data[:at]
        feed.more(at)
        assert feed.ended or feed.data.endswith(b"\n")
    assert seen + feed.data == text
    assert count_breaks(text * 4000, rest, len(text) * 4000) == (text * 4000)[rest:].count(b"\n")


def test_lookalikes_of_a_sampled_part_have_the_number_of_their_line() -> None:
    quiet = "a line of other output that holds nothing\n"
    data = ((quiet * 2 + "loss: 0.5 reward: 0.25\n") * 40_000).encode()
    found = Lookalikes()
    found.look(data, 0, len(data), 1)
    assert found.skipped > 0
    assert max(found.numbers) > 60_000
    assert all(number % 3 == 0 for number in found.numbers)
