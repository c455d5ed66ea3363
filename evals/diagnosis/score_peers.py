"""The nearest tools on the same runs: what rldoctor and runmedic report of them.

Each run is given to each tool twice: as the log that was written, and as a table (one JSON object a row, exact cells)
that this project's parser made of it, as neither tool reads the console lines of verl and ROLL. Their checks are not
our modes: ``MEANS`` says which modes a check can be taken for, generously, so that a check that fits several counts for
each. Reported is what they call warning or critical.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from assistant.model import Run
from evals.diagnosis.score_cases import Labelled, cache_folder, text_of
from evals.diagnosis.score_measure import REPORTED
from evals.diagnosis.score_tables import percent, table
from evals.peers import PEERS, CannotInstall, environment

SCRIPT: Final = Path(__file__).with_name("score_peers_run.py")
MEANS: Final[dict[str, dict[str, str]]] = {
    "rldoctor": {
        "entropy_collapse": "01 02 08 29 35",
        "reward_hacking": "05 08 16 19 35",
        "length_pathology": "02 06 07 08 21 29",
        "clip_saturation": "11 12 25 39",
        "kl_drift": "12 16 18 19 38 40",
        "gradient_pathology": "02 03 09 10 11 12 13 14 15 20 26 38",
        "advantage_collapse": "03 04 13 14 20",
        "reward_composition": "16 17",
        "plateau": "03 05 13 14 16 17 18 20 28 35",
    },
    "runmedic": {
        "non_finite": "15",
        "divergence": "02 09 12 15 19 39 40",
        "loss_spikes": "09 12 26 40",
        "no_learning": "03 13 14 18 20",
        "overfitting": "35",
        "grad_spikes": "02 09 11 12 26 38",
        "input_bound": "27 30 31 32 33",
        "slow_steps": "04 27 30 31 32 33",
        "slowdown": "04 06 07 27 29 30 31 32 33",
        "memory_growth": "34",
    },
}


def means(tool: str, check: str) -> set[str]:
    """Modes that a tool's check can be taken for; none for a check that is not listed."""
    return {f"FM-{number}" for number in MEANS[tool].get(check, "").split()}


def as_table(run: Run) -> str:
    """A run as JSON lines, one a row."""
    lines = []
    for step, _, values in run.rows():
        finite = {key: value for key, value in values.items() if math.isfinite(value)}
        odd = {key: float(value) for key, value in values.items() if not math.isfinite(value)}
        lines.append(json.dumps({"step": step, **finite, **odd}))
    return "\n".join(lines) + "\n"


def reported(cases: Sequence[Labelled], cache: Path | None = None) -> dict[str, dict[str, dict[str, Any]]]:
    """Case → tool → way → reports.

    Raises:
        CannotInstall: the package index cannot be reached, or a tool failed.
    """
    python = environment((cache or cache_folder()).parent / "peers")
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number, case in enumerate(cases):
            log, rows = Path(folder, f"{number}.log"), Path(folder, f"{number}.jsonl")
            log.write_text(text_of(case, cache), encoding="utf-8")
            rows.write_text("".join(as_table(run) for run in case.runs), encoding="utf-8")
            lines.append(f"{number}\t{log}\t{rows}")
        listed = Path(folder, "list")
        listed.write_text("\n".join(lines), encoding="utf-8")
        command = [str(python), str(SCRIPT), str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInstall(f"the peers could not be run: {done.stderr[-500:]}")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(cases: Sequence[Labelled], found: dict[str, dict[str, dict[str, Any]]]) -> list[list[str]]:
    """Tool and way, runs read, ill runs with any report and with one that can mean the mode, healthy runs accused."""
    ill = [number for number, case in enumerate(cases) if not case.healthy]
    well = [number for number, case in enumerate(cases) if case.healthy]
    made = []
    for tool, version in PEERS.items():
        for way in ("text", "table"):
            reports = [
                [pair for pair in found[str(number)][tool].get(way, []) if pair[1] in REPORTED]
                for number in range(len(cases))
            ]
            read = sum(way in found[str(number)][tool] for number in range(len(cases)))
            own = sum(any(cases[n].label in means(tool, check) for check, _ in reports[n]) for n in ill)
            critical = sum(any(severity == "critical" for _, severity in reports[n]) for n in well)
            made.append([
                f"{tool} {version}, {way}", f"{read} of {len(cases)}",
                percent(sum(bool(reports[n]) for n in ill) / len(ill) if ill else None),
                percent(own / len(ill) if ill else None),
                percent(critical / len(well) if well else None),
                percent(sum(bool(reports[n]) for n in well) / len(well) if well else None),
            ])  # fmt: skip
    return made


HEAD: Final = (
    "tool, and what it was given",
    "runs read",
    "ill: any report",
    "ill: one that can mean the mode",
    "healthy: a `critical`",
    "healthy: any report",
)


class PeersMissing(Exception):
    """The peers could not be installed or run; the message says why."""


def compare(cases: Sequence[Labelled], own: Sequence[str], cache: Path | None = None) -> str:
    """The table below ``own``, this project's row.

    Raises:
        PeersMissing: they cannot be installed, or one of them failed.
    """
    try:
        found = reported(cases, cache)
    except (CannotInstall, OSError, subprocess.CalledProcessError) as error:
        raise PeersMissing(f"the peers cannot be compared: {error}") from error
    return f"\n\n### The nearest tools on the same runs\n\n{table(HEAD, [list(own), *rows(cases, found)])}\n"
