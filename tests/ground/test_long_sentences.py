"""Sentences too long for prose: a pasted log line is read in pieces."""

from __future__ import annotations

from assistant.ground.sentences import LONGEST, units


def test_units_sentence_that_is_a_pasted_log_line_is_cut_between_its_cells() -> None:
    text = "step:1 - " + " - ".join(f"a/b{at}:{at}.5" for at in range(400))
    found = units(text)
    assert len(found) > 5
    assert all(unit.end - unit.start <= LONGEST for unit in found)
    assert all(text[unit.start : unit.end].startswith(("step:1", "a/b")) for unit in found)
    assert sum(text[unit.start : unit.end].count("a/b") for unit in found) == 400


def test_units_sentence_without_any_seam_is_cut_all_the_same() -> None:
    assert [unit.end - unit.start for unit in units("x" * (2 * LONGEST + 7))] == [LONGEST, LONGEST, 7]
