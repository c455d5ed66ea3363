"""The nearest tools on the same runs, with a generous reading of what they say.

rldoctor and runmedic (at the versions of `evals.peers`) are given every file of a run, the trainer's unrounded records
among them, and the one counts from which they read most. A run is found where one of their findings, at warning or
above, may stand for one of its labels; on a healthy run any such finding is a false report.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evals.peers import PEERS, CannotInstall, environment
from evals.training.score import Material, Outcome

_INSIDE: Final = Path(__file__).with_name("peers_inside.py")
_REPORTED: Final = frozenset({"warning", "critical"})
STANDS_FOR: Final[dict[str, frozenset[str]]] = {
    name: frozenset(labels.split())
    for name, labels in {
        # rldoctor
        "advantage_collapse": "zero_signal reward_constant no_update reward_missing",
        "clip_saturation": "step_too_large collapse kl_blowup",
        "entropy_collapse": "entropy_collapse entropy_explosion",
        "gradient_pathology": "not_finite collapse step_too_large no_update reward_constant reward_missing",
        "kl_drift": "kl_blowup collapse step_too_large",
        "length_pathology": "length_growth length_collapse truncated",
        "plateau": "no_update reward_constant collapse zero_signal",
        "reward_composition": "reward_constant reward_jump collapse",
        "reward_hacking": "reward_jump collapse length_growth length_collapse",
        # runmedic
        "non_finite": "not_finite reward_missing",
        "divergence": "collapse kl_blowup step_too_large",
        "loss_spikes": "collapse kl_blowup step_too_large not_finite reward_jump",
        "no_learning": "no_update reward_constant collapse zero_signal",
        "overfitting": "overfit",
        "grad_spikes": "collapse kl_blowup step_too_large not_finite reward_jump",
        "slow_steps": "slow_down",
        "slowdown": "slow_down",
        "input_bound": "slow_down",
    }.items()
}
"""What a tool's finding may stand for."""

_BESIDE: Final = {
    "solved": "zero_signal entropy_collapse reward_constant no_update",
    "no_progress": "no_update",
}
"""What may rightly be said of a run that is healthy all the same, as `meanings.Meaning.also` allows it to failure
modes."""


class NotRun(Exception):
    """The tools cannot be installed, or stopped with an error; the message says why."""


def table(materials: Sequence[Material], outcomes: Sequence[Outcome], cache: Path | None = None) -> str:
    """The comparison, as Markdown.

    Raises:
        NotRun: the tools cannot be installed or run.
    """
    folder = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "metric-assistant" / "peers"
    try:
        python = environment(folder)
    except (CannotInstall, OSError, subprocess.CalledProcessError) as error:
        raise NotRun(f"the peers cannot be installed: {error}") from None
    with tempfile.TemporaryDirectory() as place:
        for material in materials:
            into = Path(place) / material.spec.name
            into.mkdir()
            (into / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in material.rows))
            for name, data in material.texts.items():
                (into / name).write_bytes(data)
        done = subprocess.run(
            [str(python), str(_INSIDE), place], capture_output=True, text=True, check=False, cwd=folder
        )
    if done.returncode:
        raise NotRun(f"the peers could not be run: {done.stderr[-500:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    ill, well = [one for one in outcomes if one.troubled], [one for one in outcomes if one.healthy]
    lines = ["### Beside other tools", ""]
    lines.append("| tool | runs read | troubled runs found | healthy runs with a critical report | with any report |")
    lines.append("| --- | --- | --- | --- | --- |")
    ours = [sum(one.found for one in ill), sum(any(r.severity == "critical" for r in one.false) for one in well)]
    counts = [len(outcomes), len(ill), len(well), len(well)]
    lines.append(_row("metric-assistant", [len(outcomes), *ours, sum(bool(one.false) for one in well)], counts))
    for tool, version in PEERS.items():
        findings = {
            one.name: [(name, level) for name, level in said[one.name][tool]["findings"] if level in _REPORTED]
            for one in outcomes
        }
        found = sum(
            any(STANDS_FOR.get(name, frozenset()) & set(one.labels) for name, _ in findings[one.name]) for one in ill
        )
        false = {one.name: [level for name, level in findings[one.name] if not _fits(name, one)] for one in well}
        critical = sum("critical" in levels for levels in false.values())
        either = sum(bool(levels) for levels in false.values())
        read = sum(said[one.name][tool]["read"] > 0 for one in outcomes)
        lines.append(_row(f"{tool} {version}", [read, found, critical, either], counts))
    return "\n".join(lines)


def _fits(finding: str, one: Outcome) -> bool:
    """Whether a healthy run shows something that a finding may rightly speak of."""
    allowed = {name for label in one.labels for name in _BESIDE.get(label, "").split()}
    return bool(STANDS_FOR.get(finding, frozenset()) & allowed)


def _row(name: str, parts: Sequence[int], wholes: Sequence[int]) -> str:
    return "| " + " | ".join([name, *(f"{a} of {b}" for a, b in zip(parts, wholes, strict=True))]) + " |"
