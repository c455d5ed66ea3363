"""Sessions, their logs, runs and messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("lang", sa.String(8), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("next_seq", sa.Integer, nullable=False),
        sa.Column("next_run", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_owner_updated_id", "sessions", ["owner", "updated", "id"])
    op.create_table(
        "sources",
        sa.Column("session_id", sa.String(32), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("n_lines", sa.BigInteger, nullable=False),
        sa.Column("kept", sa.Boolean, nullable=False),
        sa.Column("remarks", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "place", name="pk_sources"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_sources_session_id", ondelete="CASCADE"
        ),
    )  # fmt: skip
    op.create_table(
        "source_chunks",
        sa.Column("session_id", sa.String(32), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("first_line", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "place", "first_line", name="pk_source_chunks"),
        sa.ForeignKeyConstraint(
            ["session_id", "place"], ["sources.session_id", "sources.place"],
            name="fk_source_chunks_session_id_place", ondelete="CASCADE",
        ),
    )  # fmt: skip
    op.create_table(
        "runs",
        sa.Column("session_id", sa.String(32), nullable=False),
        sa.Column("rid", sa.String(16), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("source", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("summary", sa.LargeBinary, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "rid", name="pk_runs"),
        sa.UniqueConstraint("session_id", "number", name="uq_runs_session_id_number"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_runs_session_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["session_id", "source"], ["sources.session_id", "sources.place"],
            name="fk_runs_session_id_source", ondelete="CASCADE",
        ),
    )  # fmt: skip
    op.create_table(
        "messages",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("session_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("reply_to", sa.String(32), nullable=True),
        sa.Column("asked", sa.Text, nullable=True),
        sa.Column("answer", sa.LargeBinary, nullable=True),
        sa.Column("state", sa.Text, nullable=True),
        sa.Column("error", sa.Text, nullable=True),
        sa.Column("superseded", sa.Boolean, nullable=False),
        sa.Column("lease_owner", sa.String(200), nullable=True),
        sa.Column("lease_until", sa.BigInteger, nullable=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        sa.UniqueConstraint("session_id", "seq", name="uq_messages_session_id_seq"),
        sa.UniqueConstraint("reply_to", name="uq_messages_reply_to"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_messages_session_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["reply_to"], ["messages.id"], name="fk_messages_reply_to", ondelete="CASCADE"),
        sa.CheckConstraint("status IN ('done', 'pending', 'stopped', 'failed')", name="ck_messages_status"),
        sa.CheckConstraint("role IN ('user', 'assistant')", name="ck_messages_role"),
    )
    op.create_index("ix_messages_status_lease_until", "messages", ["status", "lease_until"])
    op.create_table(
        "stream_events",
        sa.Column("message_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("message_id", "number", name="pk_stream_events"),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.id"], name="fk_stream_events_message_id", ondelete="CASCADE"
        ),
    )  # fmt: skip
    op.create_table(
        "idempotency_keys",
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("scope", sa.String(100), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("session_id", sa.String(32), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("owner", "scope", "key", name="pk_idempotency_keys"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_idempotency_keys_session_id", ondelete="CASCADE"
        ),
    )  # fmt: skip
    op.create_index("ix_idempotency_keys_created", "idempotency_keys", ["created"])


def downgrade() -> None:
    """Drops them, and what is in them."""
    for name in ("idempotency_keys", "stream_events", "messages", "runs", "source_chunks", "sources", "sessions"):
        op.drop_table(name)
