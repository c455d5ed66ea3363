"""The command line: a thin surface over the service."""
