"""Pure functions from a run to facts: values, changes, trends, derived quantities, checks."""

from assistant.analysis.identities import DERIVATIONS, derive, derive_all
from assistant.analysis.ledger import Ledger
from assistant.analysis.timing import TOP_LEVEL, time_shares
from assistant.analysis.validation import ValidationSet, validation_sets, validation_steps

__all__ = [
    "DERIVATIONS",
    "TOP_LEVEL",
    "Ledger",
    "ValidationSet",
    "derive",
    "derive_all",
    "time_shares",
    "validation_sets",
    "validation_steps",
]
