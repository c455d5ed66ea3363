"""The REST API: a thin surface over the service."""
