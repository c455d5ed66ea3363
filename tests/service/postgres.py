"""Databases for tests: a SQLite file, and a database of a real PostgreSQL server that the tests start once."""

from __future__ import annotations

import atexit
import secrets
from collections.abc import Generator
from functools import lru_cache
from pathlib import Path

import pytest

from evals.kill.postgres import Postgres, programs

BOTH = ("sqlite", "postgres")


@lru_cache(maxsize=1)
def server() -> Postgres:
    """The server of this process, stopped at its end."""
    made = Postgres()
    atexit.register(made.remove)
    made.start()
    return made


def needs_postgres() -> None:
    """Skips the running test where PostgreSQL is not installed."""
    if programs() is None:
        pytest.skip("needs PostgreSQL, which is not installed here")


@pytest.fixture
def postgres_url() -> Generator[str]:
    """The address of an empty database."""
    needs_postgres()
    name = f"t{secrets.token_hex(8)}"
    yield server().create(name)
    server().drop(name)


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either kind."""
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres_url")
        return found
    return f"sqlite:///{tmp_path / 'sessions.db'}"
