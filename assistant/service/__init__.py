"""The one façade that every surface calls."""

from assistant.ask import State
from assistant.knowledge import Outcome, Store, Stored
from assistant.service.facade import Explained, Material, Service, Source, service
from assistant.service.sources import read_source

__all__ = [
    "Explained", "Material", "Outcome", "Service", "Source", "State", "Store", "Stored", "read_source", "service",
]  # fmt: skip
