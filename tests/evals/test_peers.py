"""The count of cells that other tools return; the tools themselves are run by hand only."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

import pytest

from evals import peers
from evals.parsing import Cell, Event, Reference


def reference(*cells: Cell) -> Reference:
    return Reference(events=[Event("x", cell.first, cell.last, (cell,)) for cell in cells])


def test_match_value_at_its_step_counts_once() -> None:
    held = reference(Cell("a", 0.5, 1, 1, 7), Cell("b", 0.5, 2, 2, 8))
    assert peers.match(held, [[7.0, 0.5], [7.0, 0.5], [9.0, 0.5]]) == 1


def test_match_row_number_and_epoch_may_stand_for_the_step() -> None:
    event = Event("x", 1, 1, (Cell("a", 0.5, 1, 1, 7), Cell("epoch", 0.125, 1, 1, 7)))
    held = Reference(events=[event])
    assert peers.match(held, [[0, 0.5]]) == 1
    assert peers.match(held, [[0.125, 0.5]]) == 1
    assert peers.match(held, [[1, 0.5]]) == 0


def test_match_without_a_step_the_value_counts_and_nan_is_a_value() -> None:
    held = reference(Cell("a", 0.5, 1, 1), Cell("b", float("nan"), 2, 2, 3))
    assert peers.match(held, [[99, 0.5], [3, "nonfinite"]]) == 2


def test_match_summary_and_optional_cells_are_left_out() -> None:
    held = Reference(events=[Event("x", 1, 1, (Cell("a", 0.5, 1, 1),), summary=True)])
    held.events.append(Event("x", 2, 2, (Cell("a", 0.5, 2, 2, optional=True),)))
    assert peers.match(held, [[0, 0.5], [1, 0.5]]) == 0


def test_best_loader_is_taken() -> None:
    entries = [
        {"tool": "t", "call": "one", "cells": [[1, 2.0]]},
        {"tool": "t", "call": "two", "cells": [[7, 0.5]]},
        {"tool": "other", "call": "three", "cells": [[7, 0.5]]},
    ]
    assert peers.best(reference(Cell("a", 0.5, 1, 1, 7)), entries, "t") == peers.Score(1, 1, "two")
    assert peers.best(reference(), entries, "none") == peers.Score()


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ("ERROR: (from versions: none)\nERROR: No matching distribution found for x==1", "cannot be reached"),
        ("ERROR: (from versions: 2)\nERROR: No matching distribution found for x==1", "does not have that version"),
        ("ERROR: disk is full", "disk is full"),
    ],
)
def test_main_peers_that_cannot_be_installed_are_told(
    errors: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", errors)

    monkeypatch.setattr(venv, "create", lambda *_, **__: None)
    monkeypatch.setattr(subprocess, "run", failing)
    assert peers.main(["--cache", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
