"""Which reference readings a file gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from evals.parsing import dicts, events, files, other_lines, verl_lines
from evals.parsing.dicts import DICTIONARY
from evals.parsing.model import Number, Reference
from evals.parsing.text import decode, split_lines
from evals.parsing.verl_lines import CONSOLE, VALIDATION

_COPIED: Final = frozenset({VALIDATION, DICTIONARY})
_TRAINER: Final = frozenset({DICTIONARY, files.TRAINER_STATE})


def read_reference(data: bytes, name: str) -> Reference:
    """The reference reading of a file; without events where it is of no kind that is read here."""
    reference = Reference()
    if events.read_events(data, reference):
        return reference
    text = decode(data)
    structured = (
        files.read_trainer_state(text, reference)
        or files.read_table(text, name, reference)
        or files.read_json_lines(text, reference)
    )
    if not structured:
        lines = split_lines(text)
        verl_lines.read_verl(lines, reference)
        dicts.read_dicts(lines, reference)
        other_lines.read_lines(lines, reference)
        reference.events.sort(key=lambda event: event.first)
    _settle_copies(reference)
    return reference


def _settle_copies(reference: Reference) -> None:
    """Makes optional what is printed twice, because a reader may count it once.

    That is an event that repeats an earlier one of its kind exactly, a value of a validation dictionary that a console
    line prints too, and the epoch of an evaluation that the event before it has.
    """
    on_lines = {(cell.key, cell.value) for event in reference.events if event.kind == CONSOLE for cell in event.cells}
    on_lines |= reference.doubtful
    seen: set[tuple[object, ...]] = set()
    epoch: Number | None = None
    for at, event in enumerate(reference.events):
        print_of = (event.kind, *((cell.key, cell.step, str(cell.value)) for cell in event.cells))
        copied = print_of in seen and (event.kind in _COPIED or all(cell.step is not None for cell in event.cells))
        seen.add(print_of)
        evaluates = event.kind in _TRAINER and any(cell.key.startswith("eval_") for cell in event.cells)
        validates = event.kind == VALIDATION
        cells = tuple(
            replace(cell, optional=True)
            if copied
            or (validates and (cell.key, cell.value) in on_lines)
            or (evaluates and cell.key == "epoch" and cell.value == epoch)
            else cell
            for cell in event.cells
        )
        epoch = next((cell.value for cell in cells if cell.key == "epoch"), epoch)
        reference.events[at] = replace(event, cells=cells)
