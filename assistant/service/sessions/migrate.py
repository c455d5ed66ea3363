"""Brings the tables to the version of this package; safe where several processes start at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER: Final = Path(__file__).parent / "migrations"
#: Of the advisory lock in PostgreSQL; any number that nobody else takes.
LOCK: Final = 7_241_988_301
#: The last migration; stated here, so that a start that finds nothing to do need not load Alembic. A test compares.
HEAD: Final = "0001"


def migrate(engine: sa.Engine, revision: str = "head") -> None:
    """Applies the migrations that are missing, all in one transaction.

    One process does so at a time: in SQLite the transaction begins with the write lock, in PostgreSQL with an advisory
    lock that ends with it. The others then find nothing to do. Tables of a newer package are left alone.

    Args:
        engine: the database.
        revision: where to go to.
    """
    if revision == "head" and _is_current(engine):
        return
    from alembic import command
    from alembic.util import CommandError

    config = alembic_config()
    with engine.connect() as plain:
        connection = plain.execution_options(begin_immediately=True) if engine.dialect.name == "sqlite" else plain
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:name)"), {"name": LOCK})
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, revision)
            except CommandError as error:
                if "locate revision" not in str(error):
                    raise


def alembic_config() -> Config:
    """Alembic's settings; the connection is put into its ``attributes``."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _is_current(engine: sa.Engine) -> bool:
    """Whether nothing is missing, without a lock: the usual start."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version_sessions"):
            return False
        version = connection.execute(sa.text("SELECT version_num FROM alembic_version_sessions")).scalar()
    return bool(version == HEAD)
