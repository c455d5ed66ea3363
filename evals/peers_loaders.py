"""Runs inside the peers' own environment: prints, as JSON, the cells that each of them reads from each file.

`python peers_loaders.py FILE…` prints ``{file: {tool: {"call": …, "cells": [[step, value], …]}}}``. Every loader that a
tool offers for files is tried, each under the file name that it asks for; what each returns is kept, and the
comparison takes the one that does best. This file imports nothing of this project.
"""

from __future__ import annotations

import importlib
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Cells = list[list[float | str]]


def rldoctor_cells(run: Any) -> Cells:
    """Steps and values of a rl_doctor ``Run``: its series, its reward components, and what was not finite."""
    cells: Cells = []
    for values in [*run.series.values(), *run.reward_components.values()]:
        cells += [[float(s), float(v)] for s, v in zip(run.steps, values, strict=True) if math.isfinite(v)]
    for steps in run.nonfinite_steps.values():
        cells += [[float(step), "nonfinite"] for step in steps]
    return cells


def runmedic_cells(runs: Any) -> Cells:
    """Steps and values of runmedic's runs."""
    cells: Cells = []
    for run in runs if isinstance(runs, list) else [runs]:
        for series in run.series.values() if run is not None else ():
            pairs = zip(series.steps, series.values, strict=True)
            cells += [[float(s), float(v) if math.isfinite(v) else "nonfinite"] for s, v in pairs]
    return cells


def calls(path: Path, folder: Path) -> list[tuple[str, str, Callable[[], Cells]]]:
    """Tool, call and what to do, for every loader of every tool."""
    ingest = importlib.import_module("rl_doctor.ingest")
    loaders = importlib.import_module("runmedic.loaders")
    tabular = importlib.import_module("runmedic.loaders.tabular")
    textlog = importlib.import_module("runmedic.loaders.textlog")
    events = folder / "events.out.tfevents.1.copy"
    if b"brain.Event" in path.read_bytes()[:64]:
        shutil.copyfile(path, events)
        return [
            ("rldoctor", "load_run(folder)", lambda: rldoctor_cells(ingest.load_run(str(folder)))),
            ("runmedic", "loaders.load(folder)", lambda: runmedic_cells(loaders.load(str(folder)))),
        ]
    return [
        ("rldoctor", "load_run", lambda: rldoctor_cells(ingest.load_run(str(path)))),
        ("rldoctor", "ingest.load_jsonl", lambda: rldoctor_cells(ingest.load_jsonl(str(path)))),
        ("rldoctor", "ingest.load_csv", lambda: rldoctor_cells(ingest.load_csv(str(path)))),
        ("rldoctor", "ingest.load_json", lambda: rldoctor_cells(ingest.load_json(str(path)))),
        ("runmedic", "loaders.load", lambda: runmedic_cells(loaders.load(str(path)))),
        ("runmedic", "loaders.textlog.load", lambda: runmedic_cells(textlog.load(path))),
        ("runmedic", "loaders.tabular.load_csv", lambda: runmedic_cells(tabular.load_csv(path))),
        ("runmedic", "loaders.tabular.load_jsonl", lambda: runmedic_cells(tabular.load_jsonl(path))),
    ]


def main() -> None:
    """Prints the JSON."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            for tool, call, read in calls(Path(name), Path(folder)):
                entry: dict[str, Any] = {"tool": tool, "call": call, "cells": [], "error": ""}
                try:
                    entry["cells"] = read()
                except Exception as error:  # whatever a tool raises on a file that it does not read
                    entry["error"] = f"{type(error).__name__}: {error}"[:200]
                found.setdefault(name, []).append(entry)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
