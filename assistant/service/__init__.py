"""The one façade that every surface calls."""

from assistant.service.facade import Explained, Material, Service, Source, service
from assistant.service.sources import read_source

__all__ = ["Explained", "Material", "Service", "Source", "read_source", "service"]
