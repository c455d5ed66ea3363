"""How long things take on this machine: `make bench`. Medians; nothing is asserted.

make bench ARGS="--runs 15 --steps 5000"
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import platform
import random
import re
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from assistant.cli.main import main as command_line
from assistant.model import Column, Run
from assistant.parsing import parse_file
from assistant.service import service
from assistant.service.checking import check_runs

ROOT = Path(__file__).resolve().parent.parent
LOG = "examples/verl-retool-steps-0-3.log"
ASK = ["explain", LOG, "-q", "跟 step 0 相比，模型有改进吗"]
TARGET_COLD_S = 1.0
WORDS = "the of and so quick brown fox jumps over lazy dog answer is we compute that 42 x = 3/4 frac{1}{2}"


def seconds(work: Callable[[], object]) -> float:
    """The wall-clock time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(work: Callable[[], object], runs: int) -> float:
    """The median wall-clock time of `runs` calls, in seconds."""
    return statistics.median(seconds(work) for _ in range(runs))


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor time of one call: another load on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(works: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """The median processor times of several works that take turns, so that what slows one down hits all."""
    times = [[processor_seconds(work) for work in works] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def in_subprocess(*command: str | Path) -> Callable[[], subprocess.CompletedProcess[str]]:
    """A call that runs a command to its end and stops the benchmark when it fails."""

    def work() -> subprocess.CompletedProcess[str]:
        line = [str(word) for word in command]
        result = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{' '.join(line)} ended with {result.returncode}:\n{result.stderr}")
        return result

    return work


def in_process(arguments: list[str]) -> Callable[[], None]:
    """A call of the command line in this process, its output thrown away."""

    def work() -> None:
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")):
            status = command_line(arguments)
        if status:
            sys.exit(f"{arguments} ended with {status}")

    return work


def import_seconds(runs: int) -> float:
    """The median time that a cold answer spends in importing modules, by Python's own account."""
    cold = in_subprocess(sys.executable, "-X", "importtime", "-m", "assistant.cli.main", *ASK)
    sums = []
    for _ in range(runs):
        selves = re.findall(r"^import time: +(\d+) \|", cold().stderr, flags=re.MULTILINE)
        sums.append(sum(map(int, selves)) / 1e6)
    return statistics.median(sums)


def write_long_log(path: Path, steps: int) -> int:
    """Writes a verl log with the example's training metrics at `steps` steps; returns its size in bytes."""
    example: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "make_example.py"))
    figures = example["read_figures"]()
    training = figures["tables"][1]
    rows = {key: [row[0], *(row[1 + step % 3] for step in range(steps))] for key, row in training["rows"].items()}
    columns = ["type", *(str(step) for step in range(1, steps + 1))]
    text = example["write_log"](figures | {"tables": [{"columns": columns, "rows": rows}]})
    return path.write_bytes(text.encode())


def console_lines(steps: int, *, wrapped: bool) -> list[str]:
    """Lines of verl's console log with 76 metrics each, every other value as numpy prints it if wanted."""
    rng = random.Random(7)
    groups = ("actor", "critic", "timing_s", "perf", "response_length")
    names = ("score", "rewards", "advantages", "returns", "values")
    keys = [f"{group}/{name}/{kind}" for group in groups for name in names for kind in ("mean", "max", "min")]
    lines = []
    for step in range(1, steps + 1):
        cells = [f"{key}:{rng.gauss(0, 1)!r}" for key in keys]
        if wrapped:
            cells[1::2] = [cell.replace(":", ":np.float64(") + ")" for cell in cells[1::2]]
        lines.append(" - ".join([f"step:{step}", *cells, f"training/global_step:{step}"]))
    return lines


def ray_lines(steps: int) -> list[str]:
    """Lines with the example's metrics as a Ray worker prints them, the figures of each step drawn anew."""
    rng = random.Random(9)
    example = max((ROOT / LOG).read_text(encoding="utf-8").splitlines(), key=lambda line: "actor/" in line)
    head, _, body = example.partition("step:")
    cells = re.findall(r" - ([^:]+):(np\.\w+\()?([-+.\w]+)", body)

    def drawn(text: str) -> str:
        scale = rng.uniform(0.5, 1.5)
        return repr(float(text) * scale) if set(text) & set(".en") else repr(int(int(text) * scale))

    return [
        " - ".join([f"{head}step:{step}", *(f"{key}:{np}{drawn(text)}{')' if np else ''}" for key, np, text in cells)])
        for step in range(1, steps + 1)
    ]


def noise_lines(count: int) -> list[str]:
    """What workers and rollouts print."""
    rng = random.Random(8)
    words = WORDS.split()
    return [f"(WorkerDict pid={rng.randrange(9999)}) " + " ".join(rng.choices(words, k=30)) for _ in range(count)]


def lean_script(path: Path) -> list[dict[str, float]]:
    """The least that reads such a log: a dict a line."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if "step:" in line:
            pairs = re.findall(r"([\w/@.()-]+):(?:np\.\w+\()?(-?[\d.]+(?:e-?\d+)?|nan|inf)", line)
            rows.append({key: float(value) for key, value in pairs})
    return rows


def script(path: Path) -> pd.DataFrame:
    """What people write to read such a log."""
    return pd.DataFrame(lean_script(path))


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """A JSONL file, line by line, its dicts kept."""
    with path.open("rb") as handle:
        return [orjson.loads(line) for line in handle]


def long_script(path: Path) -> pd.DataFrame:
    """The other common way: every pair a row of a long table, pivoted in the end."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.search(r"step:(\d+) - ", line)
        if found:
            for key, text in re.findall(r"([\w/@.()-]+):(\S+)", line):
                number = re.sub(r"np\.\w+\((.*)\)", r"\1", text)
                rows.append((int(found[1]), key, float(number)))
    return pd.DataFrame(rows, columns=["step", "metric", "value"]).pivot_table(
        index="step", columns="metric", values="value"
    )


def parsing_rows(folder: Path, megabytes: int, runs: int) -> list[tuple[str, str, str]]:
    """Megabytes a second (of processor time) of the parser and of what it is compared with, on generated logs."""
    rows = []
    kinds: dict[str, Callable[[int], list[str]]] = {
        "np.float64(…)": lambda steps: console_lines(steps, wrapped=True),
        "plain numbers": lambda steps: console_lines(steps, wrapped=False),
        "from a Ray worker": ray_lines,
    }
    for kind, write in kinds.items():
        lines = write(200)
        steps = megabytes * 1_000_000 // (sum(map(len, lines)) // len(lines))
        lines = write(steps)
        path = folder / "console.log"
        size = path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        run = parse_file(path).runs[0]
        jsonl = path.with_suffix(".jsonl")
        jsonl.write_bytes(b"".join(orjson.dumps({"step": step, **row}) + b"\n" for step, _, row in run.rows()))
        ours, bare = medians([partial(parse_file, path), partial(read_jsonl, jsonl)], runs)
        again, lean, theirs = medians(
            [partial(parse_file, path), partial(lean_script, path), partial(script, path)], max(runs // 2, 1)
        )
        pivoted = processor_seconds(partial(long_script, path))
        rows += [
            (
                f"verl log to columns, {kind}",
                f"{size / 1e6 / ours:.0f} MB/s",
                f"{size / 1e6:.0f} MB, {steps} steps, {len(run.columns)} metrics",
            ),
            (
                "  re.findall, a dict a line",
                f"{size / 1e6 / lean:.0f} MB/s",
                f"{lean / again:.1f} times as long",
            ),
            ("  re.findall and a data frame", f"{size / 1e6 / theirs:.0f} MB/s", f"{theirs / again:.1f} times as long"),
            ("  re.findall, long, pivoted", f"{size / 1e6 / pivoted:.0f} MB/s", f"{pivoted / ours:.1f} times as long"),
            (
                "  orjson.loads, the same as a JSONL file",
                f"{size / 1e6 / bare:.0f} MB/s",
                f"{bare / ours:.0%} of our time, in MB of the log; read line by line, dicts kept",
            ),
        ]
    first, last = console_lines(2, wrapped=True)
    paths, sizes = [], []
    for count in (0, megabytes):
        block = "\n".join(noise_lines(6000)) + "\n"
        text = first + "\n" + block * (1 + count * 1_000_000 // len(block)) + last + "\n"
        paths.append(folder / f"noise-{count}.log")
        sizes.append(paths[-1].write_text(text, encoding="utf-8"))
    short, long = medians([partial(parse_file, path) for path in paths], runs)
    small, large = sizes
    rows.append(
        ("  noise skipped, a file of it", f"{large / 1e6 / long:.0f} MB/s", f"{large / 1e6:.0f} MB, two steps in it")
    )
    rows.append(
        ("  noise skipped, each further MB", f"{(large - small) / 1e6 / (long - short):.0f} MB/s", "without the start")
    )
    return rows


def long_run(steps: int, metrics: int) -> Run:
    """A run of noise under verl's keys, as long and as wide as asked."""
    rng = random.Random(6)
    known = ["actor/entropy", "actor/grad_norm", "actor/ppo_kl", "actor/pg_clipfrac", "critic/score/mean",
             "response_length/mean", "response_length/clip_ratio", "timing_s/step", "timing_s/gen"]  # fmt: skip
    keys = [*known, *(f"other/metric_{number}" for number in range(metrics - len(known)))]
    columns = {
        key: Column(range(steps), [abs(rng.gauss(0.5, 0.05)) for _ in range(steps)], range(1, steps + 1))
        for key in keys
    }
    axis = tuple(range(1, steps + 1))
    return Run("r0", "long", "verl", "verl", "step", axis, axis, columns)


def check_seconds(steps: int, metrics: int, runs: int) -> float:
    """The median time of every rule over a long run that nothing is known of yet."""
    resolver, run = service().resolver, long_run(steps, metrics)
    check_runs([run.renamed()], resolver)
    return median(lambda: check_runs([run.renamed()], resolver), runs)


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description="How long things take on this machine.")
    parser.add_argument("--runs", type=int, default=9, help="calls a median is taken over, 7 or more")
    parser.add_argument("--steps", type=int, default=1000, help="steps of the generated log")
    parser.add_argument("--megabytes", type=int, default=25, help="size of the logs for the parser alone")
    options = parser.parse_args()
    runs = max(options.runs, 7)
    os.chdir(ROOT)
    os.environ["PYTHONIOENCODING"] = "utf-8"

    program = Path(sys.executable).with_name("metric-assistant")
    cold = median(in_subprocess(program, *ASK), runs)
    bare = median(in_subprocess(sys.executable, "-c", "pass"), runs)
    imports = import_seconds(runs)
    warm_call = in_process(ASK)
    warm_call()
    warm = median(warm_call, runs)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "long.log"
        size = write_long_log(log, options.steps)
        parse = median(in_process(["parse", str(log), "-o", str(Path(folder) / "run.json")]), runs)
        checked = check_seconds(10_000, 100, runs)
        parsing = parsing_rows(Path(folder), options.megabytes, runs)

    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}, Python {platform.python_version()}, {platform.system()}; medians of {runs} runs")
    print("(wall-clock time; from 'verl log to columns' on: processor time)\n")
    rows = [
        ("answer, cold (the whole command)", f"{cold:.3f} s", f"target at most {TARGET_COLD_S:.1f} s"),
        ("  of it: Python itself", f"{bare:.3f} s", f"{bare / cold:.0%}"),
        ("  of it: imports (by -X importtime)", f"{imports:.3f} s", f"{imports / cold:.0%}"),
        (
            "answer, warm (in one process)",
            f"{warm * 1000:.1f} ms",
            f"{len(Path(LOG).read_text(encoding='utf-8').splitlines())} steps",
        ),
        (
            "parse to JSON",
            f"{size / 1e6 / parse:.1f} MB/s",
            f"{options.steps} steps, {size / 1e6:.1f} MB in {parse:.2f} s",
        ),
        ("check, all rules", f"{checked:.2f} s", "10,000 steps of 100 metrics; target below 1 s"),
        *parsing,
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, figure, note in rows:
        print(f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
