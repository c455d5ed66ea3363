"""Large texts read in segments: the same runs, prose and counts as the whole reading, whatever the format."""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import large, parse_bytes, parse_file, registry
from assistant.parsing.feed import slices
from assistant.parsing.large import LargeReading, read_large
from assistant.parsing.largecut import NeedsWhole, Sizes
from assistant.parsing.largelines import LineSet
from assistant.parsing.reading import Parsed, read_text
from tests.parsing.generators import openrlhf_log, trainer_log
from tests.parsing.generators.harm import NOISE
from tests.parsing.generators.makers import MAKERS, UNBROKEN, Lines, csv

TINY = Sizes(least=1, segment=6000, context=120, context_size=20_000, head=30)


def flat(runs: Sequence[Run]) -> list[Any]:
    return [
        (
            repr(replace(run, columns={})),
            [(key, list(c.rows), list(map(repr, c.values)), list(c.lines)) for key, c in run.columns.items()],
        )
        for run in runs
    ]


def in_segments(text: str, sizes: Sizes = TINY) -> LargeReading:
    return read_large(registry, slices(text.encode()), "x", sizes)


def assert_same(found: LargeReading | Parsed, whole: Parsed) -> None:
    assert flat(found.runs) == flat(whole.runs)
    assert found.prose == whole.prose
    assert found.notes == whole.notes
    assert (found.text_lines, found.doubtful, found.samples) == (whole.text_lines, whole.doubtful, whole.samples)


@pytest.mark.parametrize("kind", MAKERS)
@given(seed=st.integers(0, 10**6), noise=st.booleans(), segment=st.sampled_from([3000, 9000]), end=st.booleans())
@settings(max_examples=12, deadline=None)
def test_read_large_any_generated_log_reads_as_the_whole_does(
    kind: str, seed: int, noise: bool, segment: int, end: bool
) -> None:
    rng = random.Random(seed)
    lines = MAKERS[kind](seed, rng.randrange(80, 160))
    if noise and kind not in UNBROKEN:
        lines = [part for line in lines for part in [*rng.choices(NOISE, k=rng.choice([0, 0, 3])), line]]
    text = "\n".join(lines) + "\n" * end
    assert_same(in_segments(text, replace(TINY, segment=segment)), read_text(registry, text, "x"))


def whole(text: str) -> Parsed:
    return read_text(registry, text, "x")


def trl(seed: int, count: int) -> Lines:
    return MAKERS["trl"](seed, count)


FAR: Final = frozenset({"csv", "nemo-rl", "trl bars"})
"""Of several runs, what is far away is needed: the header, the blocks' order, or each training's own bars."""


@pytest.mark.parametrize("kind", sorted(MAKERS.keys() - FAR))
def test_read_large_runs_that_follow_each_other_read_as_the_whole_does(kind: str) -> None:
    parts = [MAKERS[kind](seed, count) for seed, count in ((1, 90), (2, 60), (3, 70))]
    text = "\n".join(line for part in parts for line in part) + "\n"
    found = in_segments(text)
    assert_same(found, whole(text))
    assert len(found.runs) == 3 * len(whole("\n".join(parts[0]) + "\n").runs)


@pytest.mark.parametrize("kind", ["hf", "megatron", "jsonl", "nanogpt", "verl"])
def test_read_large_log_taken_up_again_twice_reads_as_the_whole_does(kind: str) -> None:
    first, again, last = (MAKERS[kind](seed, 120) for seed in (1, 2, 3))
    half, most = len(again) // 2, 3 * len(last) // 4
    text = "\n".join([*first, *again[half:], *last[most:]]) + "\n"
    found = in_segments(text)
    assert_same(found, whole(text))
    assert len(found.runs) == 1
    assert any(note.code == "restart" for note in found.runs[0].warnings)


@pytest.mark.parametrize("kind", ["hf", "openrlhf", "verl"])
def test_read_large_copies_by_several_processes_are_counted_once(kind: str) -> None:
    lines = [copy for line in MAKERS[kind](4, 100) for copy in (line, line)]
    text = "\n".join(lines) + "\n"
    assert_same(in_segments(text, replace(TINY, context=40)), whole(text))


def test_read_large_processes_that_contradict_each_other_are_two_runs() -> None:
    one, other = (openrlhf_log.random_log(seed, 90, prefix=False).lines for seed in (1, 2))
    lines = [
        f"({task}) {line}"
        for pair in zip(one, other, strict=True)
        for task, line in zip(("A pid=1", "A pid=2"), pair, strict=True)
    ]
    text = "\n".join(lines) + "\n"
    assert len(whole(text).runs) == 2
    assert_same(in_segments(text), whole(text))


def test_read_large_two_trainings_after_each_other_are_two_runs() -> None:
    rng = random.Random(3)
    lines = [*trl(1, 80), str(trainer_log.final(rng)), *trl(2, 90), str(trainer_log.final(rng))]
    text = "\n".join(lines) + "\n"
    assert len(whole(text).runs) == 2
    assert_same(in_segments(text), whole(text))


def test_read_large_two_formats_in_one_text_are_both_read() -> None:
    text = "\n".join([*trl(1, 80), *MAKERS["megatron"](1, 90)]) + "\n"
    assert len(whole(text).runs) == 2
    assert_same(in_segments(text), whole(text))


def test_read_large_noise_before_the_log_that_looks_like_metrics_is_not_understood() -> None:
    noise = [f"loss: 0.{n} reward: 0.{n}" for n in range(400)]
    text = "\n".join([*noise, *trl(1, 80), *noise, "Is this training all right?"]) + "\n"
    found = in_segments(text)
    assert len(found.doubtful) == 800
    assert_same(found, whole(text))


def test_read_large_bytes_that_are_no_text_are_lost_as_in_the_whole() -> None:
    data = "\n".join(f"{line}\n训练日志" for line in trl(1, 90)).encode()
    data = data[:9000] + b"\xe8" + data[9000:]
    found = read_large(registry, slices(data), "x", TINY)
    known = parse_bytes(data, name="x")
    assert [note.code for note in found.notes] == ["bytes_lost"]
    assert_same(found, known)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n".join([b"no end"] * 3000).replace(b"\n", b" "),
        json.dumps({"a": 1, "log_history": [{"step": n, "loss": 0.5} for n in range(900)]}).encode() + b"\n\n",
        json.dumps([{"step": n, "loss": n / 7} for n in range(900)], indent=1).encode(),
        "\n".join(f"第 {n} 步 loss: 0.5" for n in range(900)).encode("gb18030"),
        "step,loss\n".encode("utf-16") + b"1,2\n" * 900,
        b"\x1f\x8b" + b"abc\n" * 4000,
    ],
    ids=["empty", "one line", "trainer state", "indented list", "gb18030", "utf-16", "gzip"],
)
def test_read_large_text_that_cannot_be_cut_needs_the_whole(data: bytes) -> None:
    with pytest.raises(NeedsWhole):
        read_large(registry, slices(data), "x", replace(TINY, longest=9000))


def test_read_large_table_whose_header_is_far_away_needs_the_whole() -> None:
    text = "\n".join(["loading"] * 300 + csv(1, 900)) + "\n"
    with pytest.raises(NeedsWhole):
        in_segments(text)


def test_read_large_small_text_needs_the_whole() -> None:
    with pytest.raises(NeedsWhole):
        in_segments("\n".join(trl(1, 9)), Sizes())


@pytest.mark.parametrize("packed", [False, True])
def test_parse_file_large_log_is_cut_and_the_progress_told(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join(trl(1, 900)) + "\n"
    path = tmp_path / "train.log"
    data = gzip.compress(text.encode()) if packed else text.encode()
    path.write_bytes(data)
    expected = whole(text)
    read: list[int] = []
    told: list[int] = []
    monkeypatch.setattr(large, "SIZES", replace(TINY, segment=1 << 16))
    monkeypatch.setattr(large._Joiner, "finish", counting(large._Joiner.finish, read))
    found = parse_file(path, name="x", thorough=True, progress=told.append)
    assert len(read) == 1
    assert told[-1] == len(data)
    assert_same(found, expected)


def counting(work: Callable[..., Any], calls: list[int]) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return work(*arguments)

    return counted


@given(st.sets(st.integers(0, 5000)), st.sets(st.integers(0, 5000)))
def test_line_set_behaves_as_a_set(one: set[int], other: set[int]) -> None:
    left, right = LineSet(one), LineSet(other)
    assert list(left) == sorted(one)
    assert set(left & right) == one & other
    assert set(left | right) == one | other
    assert set(left.without(right)) == one - other
    assert (len(left), len(left & right)) == (len(one), len(one & other))
    assert left.ends() == ((min(one), max(one)) if one else (None, None))
    assert all((number in left) == (number in one) for number in range(0, 5100, 7))


def test_read_large_table_beside_a_log_is_told() -> None:
    log = "".join(f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 900))
    found = in_segments(log + "step,loss\n" + "".join(f"{n},0.{n}\n" for n in range(1, 6)))
    assert [len(run.steps) for run in found.runs] == [899]
    assert found.doubtful == tuple(range(900, 906))
    assert [note.code for note in found.notes] == ["block_not_understood"]
