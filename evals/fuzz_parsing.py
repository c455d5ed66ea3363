"""Coverage-guided fuzzing of the parsers: `python -m evals.fuzz_parsing [--seconds 600] [--corpus FOLDER]`.

Needs atheris (`pip install atheris`), which is no dependency of the project. What must hold for any bytes: only the
errors meant for users are raised, the parts of the line counts add up, every cell stands on a line of the text, a text
takes no more than a few seconds of the processor, and a verl log gives the same cells whether it is read from its bytes
or as a text. The first inputs come from the generators of the tests.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assistant.model import InputError, Run

SLOW_S = 5.0


def seeds() -> Iterator[bytes]:
    """Small logs of many kinds."""
    from tests.parsing import generators
    from tests.parsing.generators import verl_log

    for seed in range(6):
        log = verl_log.random_log(seed, 3, val_every=2, old=seed % 2 == 0)
        yield "\n".join(log.lines).encode()
        yield "\n".join(verl_log.ray(line, colour=True) for line in log.lines).encode()
        yield "\n".join(piece for line in log.lines for piece in verl_log.wrap(line, 120)).encode()
        yield verl_log.validation_dict(verl_log.random_row(random.Random(seed), 0, validate=True)).encode()
    for module in pkgutil.iter_modules(generators.__path__):
        source = Path(str(importlib.import_module(f"tests.parsing.generators.{module.name}").__file__))
        yield source.read_bytes()[:4096]
    yield b"step:1 - a/b:nan - c:inf - d:-inf - e:np.float64(1e-05)\n"
    yield b"{'loss': 0.5, 'grad_norm': 1.0, 'epoch': 0.1}\n{'loss': 0.4, 'grad_norm': 1.0, 'epoch': 0.2}\n"
    yield b'{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n'
    yield b"step,loss,reward\n1,0.5,0.1\n2,0.25,0.2\n"
    yield b"| step | loss |\n|---|---|\n| 1 | 0.5 |\n| 2 | 0.25 |\n"
    yield b" iteration 1/ 10 | consumed samples: 8 | lm loss: 7.07E-01 | grad norm: 0.741 |\n"
    yield b"iter 10: loss 4.68, time 52.57ms, mfu 7.09%\n"
    yield b"actor/kl: 0.1\nactor/lr: 1e-6\n"


def flat(runs: tuple[Run, ...]) -> list[Any]:
    """All that two readings must agree on."""
    return [
        (
            run.steps,
            run.row_lines,
            [(key, list(c.rows), list(map(repr, c.values)), list(c.lines)) for key, c in run.columns.items()],
            run.missing,
            [note.code for note in run.warnings],
        )
        for run in runs
    ]


def check(data: bytes) -> None:
    """Raises if one of the promises is broken.

    Raises:
        AssertionError: naming the promise.
    """
    from assistant.parsing import parse_bytes
    from assistant.parsing.feed import slices
    from assistant.parsing.repair import prepare
    from assistant.parsing.splitting import split_runs
    from assistant.parsing.verl import VerlConsole
    from assistant.parsing.verlbytes import read_bytes
    from assistant.parsing.verlends import NeedsCare

    begin = time.process_time()
    try:
        parsed = parse_bytes(data, name="fuzz")
    except InputError:
        return
    seconds = time.process_time() - begin
    assert seconds < SLOW_S, f"{seconds:.1f} s for {len(data)} bytes"
    for run in parsed.runs:
        counts = run.lines
        if run.format != "tfevents":
            assert counts.taken + counts.ignored + counts.not_understood == parsed.text_lines, "line counts"
            for column in run.columns.values():
                assert all(1 <= line <= parsed.text_lines for line in column.lines), "line of a cell"
        for column in run.columns.values():
            assert len(column.rows) == len(column.values) == len(column.lines), "length of a column"
            assert all(type(value) in {int, float} for value in column.values), "type of a value"
    if b"step:" not in data:
        return
    try:
        fast = read_bytes(slices(data, 64), "fuzz")
    except NeedsCare:
        return
    careful = VerlConsole().read(prepare("fuzz", data.decode()))
    assert flat(fast.runs) == flat(split_runs(careful.runs)), "both ways"


def main() -> int:
    """Fuzzes for a while; the status of libFuzzer."""
    try:
        import atheris
    except ImportError:
        print("This needs atheris: pip install atheris", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, help="folder that keeps the inputs found")
    options = parser.parse_args()

    with atheris.instrument_imports(include=["assistant.parsing"]):
        for known in [*sys.modules]:
            if known.startswith("assistant.parsing"):
                del sys.modules[known]
        for module in pkgutil.iter_modules(importlib.import_module("assistant.parsing").__path__):
            importlib.import_module(f"assistant.parsing.{module.name}")
    importlib.import_module("assistant.parsing.verlforms").WORTH = 3  # so that short logs have known forms too
    with tempfile.TemporaryDirectory() as folder:
        corpus = options.corpus or Path(folder)
        corpus.mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(seeds()):
            (corpus / f"seed-{index:03}").write_bytes(data)
        arguments = [sys.argv[0], f"-max_total_time={options.seconds}", "-max_len=8192", "-timeout=120", str(corpus)]
        atheris.Setup(
            [*arguments, f"-artifact_prefix={folder}/" if not options.corpus else f"-artifact_prefix={corpus.parent}/"],
            check,
        )
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
