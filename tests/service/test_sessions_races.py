"""Several processes at one database: started at once, posting at once; nothing lost, nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from assistant.service.sessions.conversing import Messages
from assistant.service.sessions.database import Database, database_url
from assistant.service.sessions.keeping import Sessions
from assistant.service.sessions.migrate import HEAD, alembic_config, migrate
from assistant.service.sessions.tables import metadata
from tests.service.postgres import postgres_url, url

__all__ = ["postgres_url", "url"]

ROOT = Path(__file__).resolve().parents[2]
START = """
    import sys
    from pathlib import Path
    from assistant.service.sessions.conversing import Messages
    from assistant.service.sessions.database import Database, database_url
    from assistant.service.sessions.keeping import Sessions
    from assistant.service.sessions.records import Asked, Outcome
    database = Database(database_url(sys.argv[1], Path()))
    print("ready", flush=True)
    sys.stdin.readline()  # all begin together
"""
POST = """
    messages = Messages(database, sys.argv[2])
    for n in range(15):
        messages.post("me", sys.argv[3], f"{sys.argv[2]} {n}", Asked("q"))
        # The same request, as from two tabs or from a client that tries again at another replica.
        posted = messages.post("me", sys.argv[3], f"both {n}", Asked("q"), key=f"k{n}", fingerprint="f")
        messages.finish(posted.reply.id, Outcome("done", sys.argv[2]))
    database.close()
    print("done", flush=True)
"""
OPEN = """
    database.check()
    database.close()
    print("done", flush=True)
"""


def together(code: str, arguments: Sequence[Sequence[str]]) -> None:
    """Runs a program in several processes that begin at the same moment; each must end well."""
    program = textwrap.dedent(START) + textwrap.dedent(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, *one], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        )
        for one in arguments
    ]  # fmt: skip
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            out, err = process.communicate(timeout=240)
            assert (out, err, process.returncode) == ("done\n", "", 0)
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_start_of_several_processes_at_once_migrates_once(url: str) -> None:
    together(OPEN, [[url]] * 3)
    database = Database(database_url(url, Path()))
    query = sa.text("SELECT version_num FROM alembic_version_sessions")
    assert database.read(lambda connection: connection.execute(query).scalars().all()) == [HEAD]
    database.close()


def test_post_of_two_processes_in_one_session_loses_and_doubles_nothing(url: str) -> None:
    database = Database(database_url(url, Path()))
    session = Sessions(database).create("me").id
    together(POST, [[url, name, session] for name in ("a", "b")])
    found = Messages(database, "me").list("me", session)
    database.close()
    assert [m.seq for m in found] == list(range(90))
    assert Counter(m.content for m in found if m.role == "user") == {
        f"{name} {n}": 1 for name in ("a", "b", "both") for n in range(15)
    }
    assert [m.reply_to for m in found[1::2]] == [m.id for m in found[::2]]
    by_id = {m.id: m for m in found}
    finished = [m for m in found if m.status == "done" and m.role == "assistant"]
    assert all(by_id[m.reply_to or ""].content.startswith("both") for m in finished)


# --- migrations ------------------------------------------------------------------------------------------


def test_migrations_give_the_tables_that_the_code_knows(url: str) -> None:
    database = Database(database_url(url, Path()))
    database.check()
    options = {"version_table": "alembic_version_sessions", "compare_type": True, "compare_server_default": True}

    def differences(connection: sa.Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    assert database.read(differences) == []
    database.close()


def test_migrations_head_is_the_one_stated() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [HEAD]


def test_migrations_down_and_up_again_leave_empty_tables(url: str) -> None:
    database = Database(database_url(url, Path()))
    Sessions(database).create("me")
    database.close()
    address = database_url(url, Path())
    engine = sa.create_engine(address)
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert set(sa.inspect(engine).get_table_names()) == {"alembic_version_sessions"}
    migrate(engine)
    assert metadata.tables.keys() <= set(sa.inspect(engine).get_table_names())
    engine.dispose()
    assert Sessions(database).list("me") == []
    database.close()


def test_migrations_of_a_newer_version_are_left_alone(url: str) -> None:
    database = Database(database_url(url, Path()))
    database.check()
    newer = sa.text("UPDATE alembic_version_sessions SET version_num = '9999'")
    database.write(lambda connection: connection.execute(newer))
    database.close()
    again = Database(database_url(url, Path()))
    session = Sessions(again).create("me", "still usable")
    assert Sessions(again).get("me", session.id).title == "still usable"
    again.close()
