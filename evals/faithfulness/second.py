"""The second half: sentences about real public logs, each true one beside a twin with one falsehood, written out.

The sentences are by a hand that had read no code; their numbers were taken from the logs, which are no part of the
project: the folder that holds them is given (``--logs FOLDER``), and without it the half cannot be run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from evals.faithfulness.cases import Case
from evals.faithfulness.templates import KINDS, held

SECOND: Final = "second"
TEXTS: Final = Path(__file__).with_name("second.yaml")
RUNS: Final = Path(__file__).with_name("second_runs.yaml")
PARTS: Final = {"second-a": False, "second-b": True}
"""By the hash that splits the templates: the first is worked on, of the second only scores are read."""


@cache
def files() -> dict[str, str]:
    """Name of each log's file, by the name that the sentences know it by."""
    read: dict[str, str] = yaml.safe_load(RUNS.read_text(encoding="utf-8"))
    return read


@cache
def second() -> tuple[Case, ...]:
    """All cases, the true one before its twin.

    Raises:
        ValueError: naming the entry and what is wrong with it.
    """
    found = tuple(case for entry in yaml.safe_load(TEXTS.read_text(encoding="utf-8")) for case in _cases(entry))
    ids = [case.id for case in found]
    for double in sorted({one for one in ids if ids.count(one) > 1}):
        raise ValueError(f"{TEXTS.name}: {double}: two entries have this id")
    return found


def _cases(entry: dict[str, Any]) -> Iterator[Case]:
    name, kind = str(entry["id"]), str(entry["kind"])
    if kind not in KINDS:
        raise ValueError(f"{TEXTS.name}: {name}: kind {kind!r} is none of {', '.join(sorted(KINDS))}")
    if name[:2] not in {"en", "zh"}:
        raise ValueError(f"{TEXTS.name}: {name}: the id begins with the language, en or zh")
    if unknown := set(entry["runs"]) - set(files()):
        raise ValueError(f"{TEXTS.name}: {name}: {', '.join(sorted(unknown))} is not in {RUNS.name}")
    runs = tuple((files()[run], run) for run in entry["runs"])
    yield Case(name, SECOND, name[:2], runs, kind, "true", None, entry["text"])
    for falsehood, text in entry["lies"].items():
        yield Case(f"{name}~{falsehood}", SECOND, name[:2], runs, kind, "false", falsehood, text)


def part(which: str) -> list[Case]:
    """All cases (``second``), or those of one of its :data:`PARTS`."""
    return [case for case in second() if which == SECOND or held(case.id.partition("~")[0]) == PARTS[which]]


def log_of(run: str, folder: Path) -> str:
    """A log's text.

    Raises:
        FileNotFoundError: where the folder does not hold it.
    """
    return folder.joinpath(files()[run]).read_text(encoding="utf-8", errors="replace")
