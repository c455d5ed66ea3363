"""Runs inside the peers' own environment: what each of them reports of each run, as JSON.

`python score_peers_run.py LIST` reads a file of lines ``name TAB path TAB path …`` and prints
``{name: {tool: {"text" or "table": [[check, severity], …]}}}``; a way in which a tool reads nothing is left out. A
path that ends in .jsonl is the table of a run, any other is its log. This file imports nothing of this project.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any


def rldoctor(path: Path) -> list[list[str]] | None:
    """Checks and severities of rl_doctor; None where it reads no metric that it knows."""
    package = importlib.import_module("rl_doctor")
    run = package.load_run(str(path))
    if not run.n_steps or not run.available_fields:
        return None
    return [[finding.detector, finding.severity.name.lower()] for finding in package.diagnose(run).problems]


def runmedic(path: Path) -> list[list[str]] | None:
    """Checks and severities of runmedic; None where it reads no series."""
    loaders = importlib.import_module("runmedic.loaders")
    roles = importlib.import_module("runmedic.roles")
    checks = importlib.import_module("runmedic.checks")
    runs = [run for run in loaders.load(str(path)) if run.series]
    if not runs:
        return None
    return [[f.check, f.severity] for run in runs for f in checks.run_checks(run, roles.detect(run, {}))]


def main() -> None:
    """Prints the JSON."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        name, *paths = line.split("\t")
        found[name] = {"rldoctor": {}, "runmedic": {}}
        for path in map(Path, paths):
            way = "table" if path.suffix == ".jsonl" else "text"
            for tool in (rldoctor, runmedic):
                try:
                    reports = tool(path)
                except (Exception, SystemExit):  # whatever a tool raises on a file that it does not read
                    reports = None
                if reports is not None:
                    found[name][tool.__name__][way] = reports
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
