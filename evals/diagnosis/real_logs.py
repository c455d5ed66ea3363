"""What the diagnosis says of real logs: `python -m evals.diagnosis.real_logs FOLDER…`.

Logs are known by the number that their names begin with; a folder without one of them is no failure, its expectation
is left out and said so. What each run went through is public knowledge, not read from the diagnosis.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from assistant.analysis import Ledger
from assistant.analysis.diagnosis import Diagnosis, diagnose
from assistant.model import Run
from assistant.parsing import parse_file

Expectation = Callable[[Run], str]
"""Empty where it is met, else what was found instead."""


def _found(run: Run, last: int | None = None) -> list[Diagnosis]:
    steps = None if last is None else [step for step in run.distinct_steps if step <= last]
    return diagnose(Ledger([run]), run, steps=steps)


def _told(found: Sequence[Diagnosis]) -> str:
    return ", ".join(f"{one.severity} {one.rule} from {one.onset}" for one in found) or "nothing"


def critical_by(mode: str, step: int) -> Expectation:
    """A mode is critical when the log ends at a step."""

    def check(run: Run) -> str:
        found = _found(run, step)
        return "" if any(one.mode == mode and one.severity == "critical" for one in found) else _told(found)

    return check


def reported(mode: str) -> Expectation:
    """A mode is reported at warning or above."""

    def check(run: Run) -> str:
        found = _found(run)
        return (
            "" if any(one.mode == mode and one.severity in {"warning", "critical"} for one in found) else _told(found)
        )

    return check


def no_critical(run: Run) -> str:
    """Nothing critical."""
    found = [one for one in _found(run) if one.severity == "critical"]
    return _told(found) if found else ""


def healthy(run: Run) -> str:
    """Neither warning nor critical."""
    found = [one for one in _found(run) if one.severity in {"warning", "critical"}]
    return _told(found) if found else ""


def not_falling(metric: str) -> Expectation:
    """No clear decline of a metric, and no failure mode."""

    def check(run: Run) -> str:
        trend = Ledger([run]).trend(metric, None, run)
        falling = trend is not None and trend.direction == "falling"
        return f"{metric} is said to fall" if falling else healthy(run)

    return check


EXPECTED: Final[dict[str, tuple[str, Expectation]]] = {
    "07": ("fifty losses of one epoch: no clear decline", not_falling("loss")),
    "10": ("PPO on GSM8K that learns: nothing critical", no_critical),
    "14": ("KL to the reference of several nats a token is reported", reported("FM-19")),
    "15": ("killed from outside: its metrics are healthy", healthy),
    "31": ("length collapse is critical by step 40", critical_by("FM-08", 40)),
    "33": ("healthy distillation: nothing critical", no_critical),
    "47": ("healthy pretraining: nothing critical", no_critical),
}
"""First characters of a log's name → what is expected of it."""


def main(folders: Sequence[str]) -> int:
    """Prints a line per expectation; 1 if one is not met."""
    files = {path.name[:2]: path for folder in folders for path in sorted(Path(folder).glob("*")) if path.is_file()}
    missed = 0
    for number, (what, check) in EXPECTED.items():
        path = files.get(number)
        if path is None:
            print(f"  left out (no such log)  {number} {what}")
            continue
        wrong = "; ".join(text for run in parse_file(path).runs if (text := check(run)))
        missed += bool(wrong)
        print(f"  {'MISSED' if wrong else 'met':22}  {number} {what}" + (f" — {wrong}" if wrong else ""))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
