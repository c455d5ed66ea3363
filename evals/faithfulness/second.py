"""The halves about real public logs: sentences written out, each true one beside a twin with one falsehood.

Each is by a hand that had read no code; the numbers were taken from the logs, which are no part of the project: the
folder that holds them is given (``--logs FOLDER``), and without it these halves cannot be run. The sentences of the
second are read, in two parts one after the other; of the third only scores are. The fifth has several twins to a
sentence, and speaks of runs made by recipe (``fifth_runs.yaml``) beside the real ones.
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
THIRD: Final = "third"
FIFTH: Final = "fifth"
PARTS: Final = {"second-a": False, "second-b": True}
"""By the hash that splits the templates: the first was worked on from the start, the other kept back for a while."""
WRITTEN: Final = (SECOND, *PARTS, THIRD, FIFTH)


def _table(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def files() -> dict[str, str]:
    """Name of each log's file, by the name that the sentences know it by; a made run's is its own."""
    read: dict[str, str] = {**_table("second_runs.yaml"), **_table("third_runs.yaml")}
    return read | {name: name for name in recipes()}


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """The made runs: label, seed, framework and strength of each, by the name that the sentences know it by."""
    read: dict[str, dict[str, Any]] = _table("fifth_runs.yaml")
    return read


@cache
def written(half: str) -> tuple[Case, ...]:
    """All cases of the second, the third or the fifth half, the true one before its twins.

    Raises:
        ValueError: naming the entry and what is wrong with it.
    """
    found = tuple(case for entry in _table(f"{half}.yaml") for case in _cases(half, entry))
    ids = [case.id for case in found]
    for double in sorted({one for one in ids if ids.count(one) > 1}):
        raise ValueError(f"{half}.yaml: {double}: two entries have this id")
    return found


def _cases(half: str, entry: dict[str, Any]) -> Iterator[Case]:
    name, kind = str(entry["id"]), str(entry["kind"])
    if kind not in KINDS:
        raise ValueError(f"{half}.yaml: {name}: kind {kind!r} is none of {', '.join(sorted(KINDS))}")
    if name[:2] not in {"en", "zh"}:
        raise ValueError(f"{half}.yaml: {name}: the id begins with the language, en or zh")
    if unknown := set(entry["runs"]) - set(files()):
        raise ValueError(f"{half}.yaml: {name}: no log is named {', '.join(sorted(unknown))}")
    runs = tuple((files()[run], run) for run in entry["runs"])
    yield Case(name, half, name[:2], runs, kind, "true", None, entry["text"])
    for falsehood, text in entry["lies"].items():
        yield Case(f"{name}~{falsehood}", half, name[:2], runs, kind, "false", falsehood, text)


def part(which: str) -> list[Case]:
    """All cases (``second``, ``third``, ``fifth``), or those of one of :data:`PARTS`."""
    if which in {THIRD, FIFTH}:
        return list(written(which))
    return [c for c in written(SECOND) if which == SECOND or held(c.id.partition("~")[0]) == PARTS[which]]


def log_of(run: str, folder: Path) -> str:
    """A log's text: of the folder, or made by its recipe.

    Raises:
        FileNotFoundError: where the folder does not hold it.
    """
    if (recipe := recipes().get(run)) is not None:
        from evals.diagnosis.cases import make

        made: str = make(recipe["label"], recipe["seed"], recipe["framework"], recipe.get("strength")).text
        return made
    return folder.joinpath(files()[run]).read_text(encoding="utf-8", errors="replace")
