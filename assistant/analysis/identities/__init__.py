"""Identities between metrics: what a log implies without saying it, and where it contradicts itself.

The table is ``data/*.yaml``; ``docs/identities.md`` shows it. :func:`derive` gives a quantity at a step,
:func:`derive_run` what holds for a whole run, :func:`verify` the identities that a log breaks.
"""

from typing import TYPE_CHECKING, Any

from assistant.analysis.identities.deriving import DERIVATIONS, derive, derive_all
from assistant.analysis.identities.steps import largest_advantage

__all__ = [
    "DERIVATIONS", "Identity", "Violation", "check_formula", "derive", "derive_all", "derive_run", "identities",
    "identity_of", "largest_advantage", "verify",
]  # fmt: skip
_HOMES = {
    "verify": "verifying", "Violation": "verifying", "derive_run": "runs", "check_formula": "documents",
    "Identity": "registry", "identities": "registry", "identity_of": "registry",
}  # fmt: skip


if TYPE_CHECKING:
    from assistant.analysis.identities.documents import check_formula
    from assistant.analysis.identities.registry import Identity, identities, identity_of
    from assistant.analysis.identities.runs import derive_run
    from assistant.analysis.identities.verifying import Violation, verify


def __getattr__(name: str) -> Any:
    """What needs numpy or the table is loaded when it is asked for, so that the start stays fast."""
    from importlib import import_module

    if name == "IDENTITIES":
        return import_module(f"{__name__}.registry").identities()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
