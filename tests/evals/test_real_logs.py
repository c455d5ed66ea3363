"""The check of real logs: what is not there is left out, what is met and missed is told apart."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evals.diagnosis.real_logs import main


def write(path: Path, *, collapses: bool) -> None:
    """A log of 60 steps as verl prints them, in which answers shrink from step 20 on, or do not."""
    dice = random.Random(2)
    lines = []
    for step in range(1, 61):
        length = 900 * (1 + 0.03 * dice.gauss(0, 1)) * (0.01 ** max(0.0, (step - 20) / 15) if collapses else 1)
        values = {
            "actor/entropy": 0.4 + 0.01 * dice.gauss(0, 1),
            "actor/grad_norm": 0.3 * (1 + 0.1 * dice.gauss(0, 1)) * (8 if collapses and step > 28 else 1),
            "critic/score/mean": 0.5 + 0.02 * dice.gauss(0, 1),
            "response_length/mean": max(9.0, length),
        }
        lines.append(f"step:{step} - " + " - ".join(f"{key}:{value:.6f}" for key, value in values.items()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_main_folder_without_the_logs_leaves_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "left out" in printed
    assert "MISSED" not in printed


@pytest.mark.parametrize(("collapses", "status"), [(True, 0), (False, 1)])
def test_main_log_that_must_be_critical_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], collapses: bool, status: int
) -> None:
    write(tmp_path / "31_made.log", collapses=collapses)
    assert main([str(tmp_path)]) == status
    assert ("MISSED" in capsys.readouterr().out) is not collapses


@pytest.mark.parametrize(("collapses", "status"), [(True, 1), (False, 0)])
def test_main_log_that_must_be_healthy_decides(tmp_path: Path, collapses: bool, status: int) -> None:
    write(tmp_path / "33_made.log", collapses=collapses)
    assert main([str(tmp_path)]) == status
