"""Parsed cells against a slow, independent reading of the same files: `python -m evals.parsing [FOLDER…]`.

The reference (`evals.parsing.reference`) shares no code with the parsers and never guesses: what it does not read for
certain it calls open, and nothing is compared there.
"""

from __future__ import annotations

from evals.parsing.compare import Result, evaluate
from evals.parsing.main import main
from evals.parsing.model import Cell, Event, Reference
from evals.parsing.reference import read_reference

__all__ = ["Cell", "Event", "Reference", "Result", "evaluate", "main", "read_reference"]
