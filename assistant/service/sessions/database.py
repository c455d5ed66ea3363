"""The database behind sessions: SQLite in the data folder, or PostgreSQL by address; opened, guarded, migrated.

The engine is synchronous and is called from threads. SQLite has nothing asynchronous to offer (an asynchronous driver
is a thread that calls the same library), a commit that waits for the disk must not stand in the event loop's way, and
one code path serves both databases, the command line and the tests.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc

from assistant.service.sessions.errors import DatabaseMisconfigured, DatabaseUnavailable
from assistant.service.sessions.migrate import migrate

T = TypeVar("T")

FILE: Final = "sessions.db"
#: Seconds that a statement waits for a lock, and a connection for its server.
LOCK_WAIT: Final = 15
CONNECT_WAIT: Final = 5
STATEMENT_WAIT: Final = 60
#: A transaction that another one was faster than is made again this often.
ATTEMPTS: Final = 6
_SCHEME: Final = re.compile(r"(postgres(?:ql)?(?:\+\w+)?|sqlite)://", re.IGNORECASE)


def database_url(given: str, data_dir: Path) -> sa.URL:
    """The address as SQLAlchemy takes it: ``postgres://`` and ``postgresql://`` mean psycopg 3, nothing means SQLite.

    Raises:
        DatabaseMisconfigured: an address of another kind; it is not repeated, since it may hold a password.
    """
    if not given:
        return sa.URL.create("sqlite", database=str(data_dir / FILE))
    match = _SCHEME.match(given)
    if match is None:
        raise DatabaseMisconfigured(
            zh="ASSISTANT_DATABASE_URL 应形如 postgresql://用户:密码@主机/库 或 sqlite:////路径/文件.db。",
            en="ASSISTANT_DATABASE_URL should look like postgresql://user:password@host/database or "
            "sqlite:////path/file.db.",
        )
    try:
        url = sa.make_url(given)
    except (exc.ArgumentError, ValueError) as error:
        raise DatabaseMisconfigured(
            zh="ASSISTANT_DATABASE_URL 无法解析：特殊字符要写成 %xx。",
            en="ASSISTANT_DATABASE_URL cannot be read: special characters are written as %xx.",
        ) from error
    if match[1].lower().startswith("postgres"):
        url = url.set(drivername="postgresql+psycopg")
    return url


class Database:
    """A pool of connections; opened and migrated at the first use, and again after a failure.

    Args:
        url: from :func:`database_url`.
    """

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        self.sqlite = url.get_backend_name() == "sqlite"
        self._engine: sa.Engine | None = None
        self._lock = threading.Lock()
        # SQLite has one writer: threads of this process take turns here, since its own waiting is by the clock.
        self._turn: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if self.sqlite else contextlib.nullcontext()
        )
        self._ready = False

    # -- using it --------------------------------------------------------------------------------------------------
    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What ``work`` finds, in one transaction that sees one state.

        Raises:
            DatabaseUnavailable: it cannot be reached.
        """
        return self._attempt(work, write=False)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """What ``work`` did, committed: when this returns, it is on the disk.

        ``work`` may be called again where another transaction came first; it must do nothing but talk to the database.

        Raises:
            DatabaseUnavailable: it cannot be reached; whether the work was stored is then unknown.
        """
        return self._attempt(work, write=True)

    def check(self) -> None:
        """One round trip.

        Raises:
            DatabaseUnavailable: it cannot be reached.
        """
        self.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar_one())

    def shrink(self) -> None:
        """Gives the room of deleted rows back to the disk; PostgreSQL sees to that itself."""
        if not self.sqlite:
            return
        raw = self._opened().raw_connection()
        try:
            with contextlib.suppress(self._opened().dialect.loaded_dbapi.OperationalError):  # busy: another time
                # A plain execute takes one step, which is one page.
                raw.executescript("PRAGMA incremental_vacuum")
        finally:
            raw.close()

    def close(self) -> None:
        """Closes every connection."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine, self._ready = None, False

    def _attempt(self, work: Callable[[sa.Connection], T], *, write: bool) -> T:
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                engine = self._opened()
                # SQLite has one writer: threads of this process take turns here, its own waiting goes by the clock.
                turn = self._turn if write and self.sqlite else contextlib.nullcontext()
                with turn, _transaction(engine, write=write) as connection:
                    return work(connection)
            except exc.IntegrityError:
                if last:
                    raise
            except exc.DBAPIError as error:
                if not _lost_a_race(error):
                    raise unavailable(error) from error
                if last:
                    raise DatabaseUnavailable("busy") from error
            except (exc.TimeoutError, OSError) as error:
                raise unavailable(error) from error
            time.sleep(0.01 * 2**attempt)
        raise AssertionError  # the last attempt has returned or raised

    # -- opening it ------------------------------------------------------------------------------------------------
    def _opened(self) -> sa.Engine:
        if self._ready and self._engine is not None:
            return self._engine
        with self._lock:
            if self._engine is None:
                self._engine = self._made()
            if not self._ready:
                if self.sqlite:
                    _prepare_file(self._engine, Path(self.url.database or ""))
                migrate(self._engine)
                self._ready = True
            return self._engine

    def _made(self) -> sa.Engine:
        if self.sqlite:
            if not self.url.database or self.url.database == ":memory:":
                raise DatabaseMisconfigured(
                    zh="会话需要一个文件：sqlite:////路径/文件.db。",
                    en="Sessions need a file: sqlite:////path/file.db.",
                )
            engine = sa.create_engine(
                self.url, connect_args={"timeout": LOCK_WAIT}, pool_size=8, max_overflow=8, pool_timeout=LOCK_WAIT
            )
            event.listen(engine, "connect", _sqlite_connect)
            event.listen(engine, "begin", _sqlite_begin)
            return engine
        try:
            options = {"connect_timeout": CONNECT_WAIT, "application_name": "metric-assistant"}
            return sa.create_engine(
                self.url, connect_args={
                    **{name: value for name, value in options.items() if name not in self.url.query},
                    "options": f"-c statement_timeout={STATEMENT_WAIT}s -c lock_timeout={LOCK_WAIT}s "
                    f"-c idle_in_transaction_session_timeout={STATEMENT_WAIT}s",
                },
                pool_pre_ping=True, pool_recycle=1800, pool_size=8, max_overflow=8, pool_timeout=CONNECT_WAIT,
            )  # fmt: skip
        except ModuleNotFoundError as error:
            raise DatabaseMisconfigured(
                zh="连接 PostgreSQL 需要 psycopg：pip install 'metric-assistant[postgres]'。",
                en="PostgreSQL needs psycopg: pip install 'metric-assistant[postgres]'.",
            ) from error


@contextmanager
def _transaction(engine: sa.Engine, *, write: bool) -> Iterator[sa.Connection]:
    with engine.connect() as plain:
        connection = plain.execution_options(begin_immediately=True) if write and _is_sqlite(engine) else plain
        with connection.begin():
            yield connection


def _is_sqlite(engine: sa.Engine) -> bool:
    return engine.dialect.name == "sqlite"


def _sqlite_connect(raw: Any, _: Any) -> None:
    """Settings of one connection; the driver's own transactions are off, since it begins them too late."""
    raw.isolation_level = None
    cursor = raw.cursor()
    try:
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA synchronous = FULL")  # with the write-ahead log: a commit is on the disk
    finally:
        cursor.close()


def _sqlite_begin(connection: sa.Connection) -> None:
    """A writer takes the lock at once: one that began as a reader could only fail where another wrote meanwhile."""
    immediately = connection.get_execution_options().get("begin_immediately", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediately else "BEGIN")


def _prepare_file(engine: sa.Engine, path: Path) -> None:
    """Makes the file, for its owner's eyes alone, with a write-ahead log; several processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    deadline = time.monotonic() + LOCK_WAIT
    while True:
        raw = engine.raw_connection()
        try:
            cursor = raw.cursor()
            if not cursor.execute("PRAGMA page_count").fetchone()[0]:
                cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")  # deleted sessions give their room back
            mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            cursor.close()
            if mode == "wal":
                return
            problem: Exception = OSError(f"{path} cannot have a write-ahead log (is it on a network drive?)")
        except engine.dialect.loaded_dbapi.OperationalError as error:
            problem = error  # another process is just making it
            if "locked" not in str(error):
                raise unavailable(error) from error
        finally:
            raw.close()
        if time.monotonic() > deadline:
            raise unavailable(problem)
        time.sleep(0.02)


def unavailable(error: Exception) -> DatabaseUnavailable:
    """The error to raise, with the driver's first line for the log (never the address, which may hold a password)."""
    origin = getattr(error, "orig", None) or error
    lines = str(origin).strip().splitlines() or [""]
    reason = f"{type(origin).__name__}: {lines[0][:200]}"
    return DatabaseUnavailable(type(origin).__name__ if "password" in reason.lower() else reason)


def _lost_a_race(error: exc.DBAPIError) -> bool:
    """Whether the transaction only came too late: a deadlock, a serialization failure, a busy file."""
    state = getattr(error.orig, "sqlstate", None)
    return state in {"40001", "40P01", "55P03"} or "database is locked" in str(error.orig)
