"""The one façade that every surface calls."""

from typing import TYPE_CHECKING, Any

from assistant.knowledge import Outcome, Store, Stored
from assistant.service.facade import Explained, Material, Service, Source, service
from assistant.service.sources import read_source

if TYPE_CHECKING:
    from assistant.ask import State

__all__ = [
    "Explained", "Material", "Outcome", "Service", "Source", "State", "Store", "Stored", "read_source", "service",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """``State``, when it is asked for: what answers questions takes long to load."""
    if name == "State":
        from assistant.ask import State

        return State
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
