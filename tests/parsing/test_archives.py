import gzip
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.model.errors import BinaryInput, InputError
from assistant.parsing import parse_bytes, parse_file
from assistant.parsing.archives import expand, limit_text
from assistant.parsing.feed import slices
from tests.parsing.generators import verl_log as gen

LINE = b"step:1 - actor/kl:0.5\nstep:2 - actor/kl:0.25\n"


def large_log() -> str:
    log = gen.random_log(11, 400, val_every=5)
    return "\n".join(line + "\nsome other output" for line in log.lines) + "\n"


@pytest.mark.parametrize("members", [1, 3])
def test_parse_bytes_gzip_is_the_log_inside(members: int) -> None:
    lines = [*LINE.splitlines(keepends=True), b"step:3 - actor/kl:1.0\n"]
    packed = b"".join(map(gzip.compress, lines)) if members == 3 else gzip.compress(b"".join(lines))
    (run,) = parse_bytes(packed + b"\x00" * 20, name="a.log.gz").runs
    assert run.series("actor/kl") == ([1, 2, 3], [0.5, 0.25, 1.0])


def test_parse_file_large_gzip_reads_as_the_text_does(tmp_path: Path) -> None:
    text = large_log().encode()
    plain, packed = tmp_path / "a.log", tmp_path / "a.log.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text, 1))
    told: list[int] = []
    one = parse_file(plain, progress=told.append)
    other = parse_file(packed, name="a.log")
    assert told[-1] == len(text)
    assert [repr(list(c.values)) for c in one.runs[0].columns.values()] == [
        repr(list(c.values)) for c in other.runs[0].columns.values()
    ]
    assert one.text_lines == 800


def test_parse_file_of_another_format_is_read_as_a_whole(tmp_path: Path) -> None:
    rows = [f"{{'loss': {n / 7!r}, 'grad_norm': 1.5, 'epoch': {n / 100!r}}}\n" for n in range(8000)]
    path = tmp_path / "train.log"
    path.write_text("".join(rows))
    (run,) = parse_file(path).runs
    assert len(run.columns["loss"].values) == 8000


def test_parse_file_two_formats_in_a_large_file_are_both_read(tmp_path: Path) -> None:
    trainer = "".join(
        f"{{'loss': 0.{n}, 'grad_norm': 1.5, 'learning_rate': 1e-06, 'epoch': 0.{n}}}\n" for n in range(10, 60)
    )
    path = tmp_path / "both.log"
    path.write_text(trainer + large_log())
    assert [len(run.steps) for run in parse_file(path).runs] == [50, 400]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_parse_bytes_gzip_that_stops_early_is_refused(cut: int) -> None:
    with pytest.raises(BinaryInput, match="damaged or incomplete gzip"):
        parse_bytes(gzip.compress(LINE)[:-cut], name="a.gz")


def test_parse_bytes_gzip_with_flipped_bytes_never_raises_anything_else() -> None:
    rng = random.Random(1)
    packed = bytearray(gzip.compress(LINE * 50))
    for _ in range(300):
        broken = bytearray(packed)
        broken[rng.randrange(2, len(broken))] ^= 1 << rng.randrange(8)
        try:
            parse_bytes(bytes(broken), name="a.gz")
        except InputError:
            continue


def test_expand_bomb_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(b"\x00" * (1 << 24))
    seen: list[int] = []
    with pytest.raises(InputError, match="expands to more than"):
        seen.extend(map(len, expand(slices(bomb), "bomb.gz", limit=1 << 21)))
    assert sum(seen) <= 1 << 21


def test_limit_text_names_the_size() -> None:
    limit_text(10, "a")
    with pytest.raises(InputError, match="4 GiB"):
        limit_text((4 << 30) + 1, "a")


def test_parse_bytes_zstd_is_the_log_inside() -> None:
    import zstandard

    packed = zstandard.compress(LINE)
    (run,) = parse_bytes(packed + zstandard.compress(b"step:3 - actor/kl:1.0\n"), name="a.zst").runs
    assert run.steps == (1, 2, 3)
    for broken in (packed[:-3], packed[:10] + b"\xff" * 10, packed + b"rest"):
        with pytest.raises(BinaryInput):
            parse_bytes(broken, name="a.zst")


def test_parse_bytes_zstd_without_its_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(BinaryInput, match=r"metric-assistant\[zstd\]"):
        parse_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 50, name="a.zst")


def test_expand_takes_a_mark_split_over_chunks() -> None:
    packed = gzip.compress(LINE)

    def single() -> Iterator[bytes]:
        for byte in packed:
            yield bytes([byte])

    assert b"".join(expand(single(), "a.gz")) == LINE
