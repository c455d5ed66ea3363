"""One training whose log keeps two tables (train steps and rollouts): which of them a question is about.

Where the log tells which train steps belong to which rollout, they were joined before (`assistant.analysis.together`).
"""

from __future__ import annotations

from collections.abc import Sequence

from assistant.analysis import Ledger
from assistant.analysis.together import is_one_training
from assistant.ask import naming
from assistant.ask.context import Context
from assistant.ask.understand import State, understand
from assistant.knowledge import Resolver
from assistant.model import Run


def which(question: str, runs: Sequence[Run], resolver: Resolver, language: str, state: State | None) -> Sequence[Run]:
    """The table that holds more of the metrics that a question names; both where neither does."""
    if len(runs) != 2 or not is_one_training(runs[0], runs[1]):
        return runs
    named = []
    for run in runs:
        query = understand(question, resolver, (run,), language=language, state=state)
        held = naming.named_keys(Context(query, (run,), resolver, Ledger((run,))))
        named.append(len([key for key in held if key in run.columns]))
    return runs if named[0] == named[1] else (runs[0],) if named[0] > named[1] else (runs[1],)
