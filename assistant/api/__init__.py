"""The REST API and, for now, a plain page: a thin surface over the service."""
