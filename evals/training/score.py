"""How the parsers and the diagnosis do on a folder of training runs.

- A **report** is a failure mode named at ``warning`` or ``critical``.
- A run is **troubled** if one of its labels (`label.py`) is described by a failure mode; **found** if a mode of one of
  its labels is reported; otherwise it is healthy.
- A report is **false** if no label of the run has its mode, or allows it beside.
"""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from assistant.analysis.diagnosis import Diagnosis, diagnose
from assistant.analysis.ledger import Ledger
from assistant.parsing import parse_bytes
from evals.training.cells import Match, compare, style_of
from evals.training.label import Row, label, read_records
from evals.training.meanings import LABELS, NEUTRAL
from evals.training.runs import Spec, read_list

PACKED: Final = Path(__file__).with_name("logs.tar.xz")
_HISTORY: Final = ".history.jsonl"
_RANK: Final = {"critical": 0, "warning": 1}


@dataclass(frozen=True, slots=True)
class Material:
    """What there is of one run: its specification, the trainer's records, and the texts by file name."""

    spec: Spec
    rows: Sequence[Row]
    texts: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Report:
    """A mode that was named, gravest first."""

    mode: str
    severity: str
    rule: str
    onset: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, what it shows, and what was said of it.

    Attributes:
        labels: each with what shows it.
        reports: each mode once.
        matches: comparison of the cells, by file name.
    """

    name: str
    trainer: str
    expect: str
    held: bool
    labels: Mapping[str, str]
    reports: tuple[Report, ...] = ()
    matches: Mapping[str, Match] = field(default_factory=dict)

    @property
    def troubled(self) -> bool:
        """Whether a failure mode describes what it shows."""
        return any(LABELS[name].modes for name in self.labels)

    @property
    def healthy(self) -> bool:
        """Whether it shows nothing but what is no trouble."""
        return not set(self.labels) - NEUTRAL

    @property
    def found(self) -> bool:
        """Whether a mode of one of its labels is reported."""
        return any(self.names(name) for name in self.labels)

    def names(self, name: str) -> bool:
        """Whether a mode of that label is reported."""
        return any(report.mode in LABELS[name].modes for report in self.reports)

    @property
    def false(self) -> tuple[Report, ...]:
        """Reports that no label accounts for."""
        fine = {mode for name in self.labels for mode in (*LABELS[name].modes, *LABELS[name].also)}
        return tuple(report for report in self.reports if report.mode not in fine)


def read_folder(folder: Path) -> Iterator[Material]:
    """The runs of the list that a folder holds."""
    for spec in read_list():
        records = folder / f"{spec.name}{_HISTORY}"
        if records.exists():
            names = [path for path in sorted(folder.glob(f"{spec.name}.*")) if path != records]
            yield Material(spec, read_records(records.read_bytes()), {path.name: path.read_bytes() for path in names})


def read_packed(path: Path = PACKED) -> Iterator[Material]:
    """The runs of the packed set."""
    with tarfile.open(path, "r:xz") as archive:
        held = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    for spec in read_list():
        if spec.name + _HISTORY in held:
            texts = {
                name: data for name, data in held.items() if name.startswith(f"{spec.name}.") and _HISTORY not in name
            }
            yield Material(spec, read_records(held[spec.name + _HISTORY]), texts)


def judge(material: Material) -> Outcome:
    """Reads every text of a run, compares its cells, and diagnoses the console log."""
    spec, matches = material.spec, {}
    reports: tuple[Report, ...] = ()
    for name, data in material.texts.items():
        runs = parse_bytes(data, name=name).runs
        rows = _survivors(material.rows) if name.endswith("state.json") else material.rows
        matches[name] = compare(rows, runs, style=style_of(name, data))
        if name.endswith(".log"):
            reports = gravest(one for run in runs for one in diagnose(Ledger([run]), run))
    return Outcome(spec.name, spec.trainer, spec.expect, spec.held, label(material.rows), reports, matches)


def _survivors(rows: Sequence[Row]) -> list[Row]:
    """What a resumed training keeps: the steps that were made again take the place of the lost ones."""
    last = {(row["step"], frozenset(row)): number for number, row in enumerate(rows)}
    return [row for number, row in enumerate(rows) if last[row["step"], frozenset(row)] == number]


def gravest(diagnoses: Iterable[Diagnosis]) -> tuple[Report, ...]:
    """Each mode's gravest report."""
    best: dict[str, Report] = {}
    for one in diagnoses:
        report = Report(one.mode, one.severity, one.rule, one.onset)
        known = best.get(report.mode)
        if report.severity in _RANK and (known is None or _RANK[report.severity] < _RANK[known.severity]):
            best[report.mode] = report
    return tuple(sorted(best.values(), key=lambda report: (_RANK[report.severity], report.mode)))


class BadArchive(Exception):
    """The packed set cannot be read; the message says why."""


def material(folder: Path | None) -> list[Material]:
    """The runs of a folder, or of the packed set.

    Raises:
        BadArchive: it is damaged, or a folder holds no run of the list.
    """
    try:
        found = list(read_packed() if folder is None else read_folder(folder))
    except (tarfile.TarError, lzma.LZMAError) as error:
        raise BadArchive(f"{PACKED}: {error}") from None
    if not found:
        raise BadArchive(
            f"no run of runs.yaml is in {folder or PACKED}; make them with `python -m evals.training train`"
        )
    return found
