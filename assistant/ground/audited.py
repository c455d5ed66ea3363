"""A run made ready for audits: its names, its table and its ledger, built once."""

from __future__ import annotations

import threading
from functools import lru_cache

from assistant.analysis import Ledger
from assistant.ground.lexicon import Lexicon
from assistant.ground.table import Table
from assistant.knowledge import Resolver
from assistant.model import Run


class AuditedRun:
    """Everything about one run that is built once."""

    def __init__(self, run: Run, resolver: Resolver) -> None:
        self.run = run
        self.lexicon = Lexicon(run, resolver)
        self.ledger = Ledger([run])
        self.table = Table(run, resolver, self.ledger)
        self.lock = threading.RLock()  # the ledger numbers its facts


@lru_cache(maxsize=8)
def audited(run: Run, resolver: Resolver) -> AuditedRun:
    """A run made ready; that of the last few runs is kept."""
    return AuditedRun(run, resolver)
