"""The nearest tools on the same files: `python -m evals.peers FOLDER…`.

rldoctor and runmedic also read training logs. They are installed from the package index, at the versions named here,
into an environment of their own in the user's cache, and every loader that they offer is tried on every file. Counted
are the reference's cells (see `evals.parsing`) that a tool returns: a value at its step, under whatever name. A tool
that counts the rows, or the epochs, because it does not know the step's name may do so; where the text names no step,
the value alone counts. That is generous, as a value under a wrong name counts, and the same for all, this project
included. Averages over a whole run, which are no step's, are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.parsing import parse_bytes
from evals.parsing import Reference, read_reference
from evals.parsing.compare import label
from evals.parsing.main import ROOT, as_markdown, as_text, find_files

PEERS: Final = {"rldoctor": "0.2.0", "runmedic": "0.1.1"}
"""Distribution and version."""
_BESIDE: Final = ("numpy==2.4.6", "tensorboard==2.21.0")
"""What rldoctor needs, and what it reads event files with."""
_LOADERS: Final = Path(__file__).with_name("peers_loaders.py")
_RETRIES: Final = ("--retries", "1", "--timeout", "20")
_NAN: Final = "nonfinite"
Value = float | str


class CannotInstall(Exception):
    """The environment of the peers could not be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a tool returned for a file.

    Attributes:
        found: cells of the reference among it.
        returned: cells in all.
        call: the loader that did best, empty where none returned a cell.
    """

    found: int = 0
    returned: int = 0
    call: str = ""


def environment(cache: Path) -> Path:
    """The Python that has the peers; they are installed on the first call.

    Raises:
        CannotInstall: the index cannot be reached, or has no such version.
    """
    name = "-".join(f"{peer}-{version}" for peer, version in PEERS.items())
    folder = cache / f"{name}-py{sys.version_info[0]}{sys.version_info[1]}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    mark = folder / "installed"
    if mark.exists() and python.exists():
        return python
    print(f"installing {', '.join(f'{p} {v}' for p, v in PEERS.items())} into {folder}", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    pins = [f"{peer}=={version}" for peer, version in PEERS.items()]
    command = [
        str(python),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "install",
        *_RETRIES,
        *pins,
        *_BESIDE,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInstall(_why(done.stderr))
    mark.touch()
    return python


def _why(errors: str) -> str:
    missing = [line for line in errors.splitlines() if "No matching distribution" in line]
    last = ([line for line in errors.splitlines() if line.startswith("ERROR")] or errors.splitlines() or [""])[-1]
    if missing and "from versions: none" not in errors:
        return f"the package index does not have that version any more: {missing[0]}; change PEERS in evals/peers.py"
    if missing:
        return f"the package index cannot be reached, or has no such package: {missing[0]}; check `pip config list`"
    return f"pip failed: {last}"


def match(reference: Reference, returned: Iterable[Sequence[Any]]) -> int:
    """How many cells of the reference are among ``[step, value]`` pairs; each pair counts once."""
    theirs = Counter((float(step), value) for step, value in returned)
    later: list[tuple[float | None, tuple[float, ...], Value]] = []
    found = 0
    for index, event in enumerate(reference.events):
        others = (float(index), *(float(cell.value) for cell in event.cells if cell.key == "epoch"))
        for cell in [] if event.summary else event.cells:
            value: Value = float(cell.value) if math.isfinite(cell.value) else _NAN
            place = None if cell.step is None else (float(cell.step), value)
            if cell.optional:
                continue
            if place is not None and theirs[place] > 0:
                theirs[place] -= 1
                found += 1
            else:
                later.append((cell.step, others, value))
    rest: Counter[Value] = Counter()
    for step, others, value in later:
        other = next((other for other in others if theirs[other, value] > 0), None)
        if other is not None:
            theirs[other, value] -= 1
            found += 1
        elif step is None:
            rest[value] += 1
    left: Counter[Value] = Counter()
    for (_, value), count in theirs.items():
        left[value] += count
    return found + (left & rest).total()


def own_cells(path: Path) -> tuple[str, list[tuple[int, Value]]]:
    """What a file is, and the cells that this project reads from it."""
    runs = parse_bytes(path.read_bytes(), name=path.name).runs
    read = [cell for run in runs for key in run.metrics for cell in run.cells(key)]
    return label(runs), [(c.step, float(c.value) if math.isfinite(c.value) else _NAN) for c in read]


def best(reference: Reference, entries: Iterable[dict[str, Any]], tool: str) -> Score:
    """The score of the loader that does best."""
    scores = [
        Score(match(reference, entry["cells"]), len(entry["cells"]), entry["call"])
        for entry in entries
        if entry["tool"] == tool and entry["cells"]
    ]
    return max(scores, key=lambda score: (score.found, -score.returned), default=Score())


def main(argv: list[str] | None = None) -> int:
    """Prints the table; 2 if the peers cannot be installed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "metric-assistant" / "peers"
    parser = argparse.ArgumentParser(prog="python -m evals.peers", description=__doc__)
    parser.add_argument("folder", nargs="*", default=[str(ROOT / "examples")], help="a folder of logs, or a log")
    parser.add_argument("--cache", type=Path, default=cache, help="where the peers are installed (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="a table to publish, without file names")
    options = parser.parse_args(argv)
    files = find_files(options.folder)
    try:
        python = environment(options.cache)
    except (CannotInstall, OSError, subprocess.CalledProcessError) as error:
        print(f"the peers cannot be installed: {error}", file=sys.stderr)
        return 2
    command = [str(python), str(_LOADERS), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=options.cache)
    if done.returncode:
        print(f"the peers could not be run: {done.stderr[-500:]}", file=sys.stderr)
        return 2
    returned = json.loads(done.stdout.splitlines()[-1])
    rows: list[list[str]] = []
    sums: Counter[str] = Counter()
    calls: Counter[tuple[str, str]] = Counter()
    for path in files:
        reference = read_reference(path.read_bytes(), path.name)
        count = sum(not cell.optional for event in reference.events if not event.summary for cell in event.cells)
        if not count:
            continue
        name, own = own_cells(path)
        ours = match(reference, own)
        row = [name if options.markdown else path.name, f"{count:,}", f"{ours:,}", f"{len(own):,}"]
        sums.update({"reference": count, "ours": ours, "ours returned": len(own)})
        for tool in PEERS:
            score = best(reference, returned[str(path)], tool)
            row += [f"{score.found:,}", f"{score.returned:,}"]
            calls[tool, score.call or "none returned a cell"] += 1
            sums.update({tool: score.found, f"{tool} returned": score.returned})
        rows.append(row)
    if not rows:
        print("no log found")
        return 1
    whole = [f"{sums['reference']:,}", f"{sums['ours']:,}", f"{sums['ours returned']:,}"]
    for tool in PEERS:
        whole += [f"{sums[tool]:,}", f"{sums[f'{tool} returned']:,}"]
    head = ["reference", "metric-assistant", "returned"]
    head += [name for tool, version in PEERS.items() for name in (f"{tool} {version}", "returned")]
    show = as_markdown if options.markdown else as_text
    print(
        show("log" if options.markdown else "file", head, [*rows, ["**all**" if options.markdown else "all", *whole]])
    )
    print("\nThe loader that did best, and for how many logs:\n")
    print("\n".join(f"- {tool}: {call} ({count})" for (tool, call), count in sorted(calls.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
