"""The tables of sessions, the same in SQLite and PostgreSQL.

Times are microseconds since 1970 in UTC, by the database's own clock (:class:`clock`), so that replicas whose clocks
differ agree on when a lease ends. What may hold any byte (logs, tables, answers) is binary: PostgreSQL's text knows no
NUL. Every change of these tables is a migration in ``migrations/versions``; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class clock(FunctionElement[int]):  # noqa: N801 - reads as the SQL function it stands for
    """Now, in microseconds since 1970, by the database's clock; within a transaction it goes on."""

    type = BigInteger()
    inherit_cache = True


@compiles(clock, "sqlite")
def _clock_sqlite(*_: Any, **__: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


@compiles(clock, "postgresql")
def _clock_postgresql(*_: Any, **__: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"


def _session() -> ForeignKey:
    return ForeignKey("sessions.id", ondelete="CASCADE")


sessions = Table(
    "sessions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("title", Text, nullable=False),
    Column("lang", String(8), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("next_seq", Integer, nullable=False),
    Column("next_run", Integer, nullable=False),
    Index(None, "owner", "updated", "id"),
)
"""``next_seq`` and ``next_run`` number messages and runs: taken by an update, which locks the session's row."""

sources = Table(
    "sources",
    metadata,
    Column("session_id", String(32), _session(), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("n_lines", BigInteger, nullable=False),
    Column("kept", Boolean, nullable=False),
    Column("remarks", LargeBinary, nullable=False),
    Column("created", BigInteger, nullable=False),
)
"""One text that was attached; ``remarks`` is JSON (notes, lines not understood, language), packed with zlib."""

chunks = Table(
    "source_chunks",
    metadata,
    Column("session_id", String(32), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("first_line", BigInteger, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    ForeignKeyConstraint(["session_id", "place"], [sources.c.session_id, sources.c.place], ondelete="CASCADE"),
)
"""The text of a source in pieces of whole lines, each packed with zlib; none where texts are not kept."""

runs = Table(
    "runs",
    metadata,
    Column("session_id", String(32), _session(), primary_key=True),
    Column("rid", String(16), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("source", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("summary", LargeBinary, nullable=False),
    Column("packed", LargeBinary, nullable=False),
    Column("created", BigInteger, nullable=False),
    ForeignKeyConstraint(["session_id", "source"], [sources.c.session_id, sources.c.place], ondelete="CASCADE"),
    UniqueConstraint("session_id", "number"),
)
"""One run; ``packed`` is :func:`~assistant.service.sessions.packing.pack_run`, ``summary`` JSON in both languages."""

messages = Table(
    "messages",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("session_id", String(32), _session(), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("reply_to", String(32), ForeignKey("messages.id", ondelete="CASCADE"), nullable=True),
    Column("asked", Text, nullable=True),
    Column("answer", LargeBinary, nullable=True),
    Column("state", Text, nullable=True),
    Column("error", Text, nullable=True),
    Column("superseded", Boolean, nullable=False),
    Column("lease_owner", String(200), nullable=True),
    Column("lease_until", BigInteger, nullable=True),
    Column("attempts", Integer, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    UniqueConstraint("session_id", "seq"),
    UniqueConstraint("reply_to"),
    Index(None, "status", "lease_until"),
    CheckConstraint("status IN ('done', 'pending', 'stopped', 'failed')", name="status"),
    CheckConstraint("role IN ('user', 'assistant')", name="role"),
)
"""One message. ``asked`` is JSON of how it was asked (question, language, engine, runs), ``answer`` the answer's JSON
packed with zlib, ``state`` what the conversation carries after it. A pending answer belongs to the process
``lease_owner`` until ``lease_until``; after that any process may take it."""

events = Table(
    "stream_events",
    metadata,
    Column("message_id", String(32), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""What a pending answer has shown so far, in batches (JSON, packed with zlib); gone once the answer is stored."""

keys = Table(
    "idempotency_keys",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("scope", String(100), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("session_id", String(32), _session(), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("result", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Index(None, "created"),
)
"""Requests that were carried out, by the key that their sender gave; ``result`` is JSON of what they made."""
