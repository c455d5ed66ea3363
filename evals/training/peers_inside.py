"""Runs inside the peers' own environment: prints, as JSON, what each of them says of each run.

`python peers_inside.py FOLDER` prints ``{run: {tool: {"read": points, "file": …, "findings": [[name, severity], …]}}}``
for a folder with a folder for each run. A tool is given every file of a run, and the one counts from which it reads
most points. This file imports nothing of this project.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def rldoctor(path: Path) -> tuple[int, list[list[str]]]:
    """Points read, and findings at warning or above."""
    ingest, diagnosis = importlib.import_module("rl_doctor.ingest"), importlib.import_module("rl_doctor.diagnosis")
    run = ingest.load_run(str(path))
    read = sum(len(values) for values in run.series.values())
    found = [[finding.detector, finding.severity.name.lower()] for finding in diagnosis.diagnose(run).problems]
    return read, found


def runmedic(path: Path) -> tuple[int, list[list[str]]]:
    """The same of runmedic."""
    loaders, roles = importlib.import_module("runmedic.loaders"), importlib.import_module("runmedic.roles")
    checks = importlib.import_module("runmedic.checks")
    read, found = 0, []
    for run in loaders.load(str(path)):
        read += sum(len(series) for series in run.series.values())
        found += [[finding.check, finding.severity] for finding in checks.run_checks(run, roles.detect(run))]
    return read, found


def main() -> None:
    """Prints the JSON."""
    said: dict[str, dict[str, Any]] = {}
    for folder in sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir()):
        for tool in (rldoctor, runmedic):
            best: dict[str, Any] = {"read": 0, "file": "", "findings": []}
            for path in sorted(folder.iterdir()):
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        read, found = tool(path)
                except (Exception, SystemExit):  # whatever a tool raises on a file that it does not read
                    continue
                if read > best["read"]:
                    best = {"read": read, "file": path.name, "findings": found}
            said.setdefault(folder.name, {})[tool.__name__] = best
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
