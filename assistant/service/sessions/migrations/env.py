"""What Alembic runs a migration in: the connection and the transaction of its caller, who holds the lock."""

from __future__ import annotations

from alembic import context

from assistant.service.sessions.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite cannot alter a table in place
    version_table="alembic_version_sessions",
)
context.run_migrations()
