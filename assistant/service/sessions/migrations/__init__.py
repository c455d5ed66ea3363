"""Alembic's folder: the versions of the tables, applied by :mod:`assistant.service.sessions.migrate`."""
