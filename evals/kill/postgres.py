"""A PostgreSQL server of one's own: made in a temporary folder, reached by a socket in it, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

#: Seconds that a server may take to start or stop; a loaded machine is slow.
PATIENCE = 60.0
#: The user it runs as where the caller is root, whom the server refuses.
USER = "postgres"


def programs() -> Path | None:
    """The folder of ``initdb`` and ``postgres``; ``None`` where they are not installed."""
    found = shutil.which("initdb")
    if found is not None and (Path(found).resolve().parent / "postgres").exists():
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


class Postgres:
    """A server that can be stopped, killed and started again.

    Args:
        durable: whether it waits for the disk; a test that never cuts the power need not.
    """

    def __init__(self, *, durable: bool = False) -> None:
        folder = programs()
        if folder is None:
            raise FileNotFoundError("PostgreSQL is not installed: apt install postgresql")
        self.programs = folder
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
        self.data = self.folder / "data"
        self.durable = durable
        self.process: subprocess.Popen[bytes] | None = None
        self.log = self.folder / "log"
        self.name = USER if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(self.folder, USER)
        command = [str(folder / "initdb"), "-D", str(self.data), "-A", "trust", "-E", "UTF8", "--locale=C"]
        done = subprocess.run(
            [*command, "-U", self.name, *([] if durable else ["--no-sync"])],
            capture_output=True, text=True, check=False, cwd=self.folder, **self._as_user(),
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr}")

    def _as_user(self) -> dict[str, str]:
        return {"user": USER, "group": USER} if os.getuid() == 0 else {}

    def url(self, database: str) -> str:
        """The address of a database, as ``ASSISTANT_DATABASE_URL`` takes it."""
        return f"postgresql://{self.name}@/{database}?host={self.folder}"

    def start(self) -> None:
        """Starts it and waits until it answers."""
        durable = "on" if self.durable else "off"
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "fsync": durable,
                   "synchronous_commit": "on", "full_page_writes": durable, "max_connections": "100",
                   "shared_buffers": "32MB"}  # fmt: skip
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.programs / "postgres"), "-D", str(self.data), *settings],
                stdout=log, stderr=log, cwd=self.folder, **self._as_user(),
            )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stops it: SIGINT ends every connection at once, SIGQUIT is like a crash."""
        if self.process is not None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(PATIENCE)
            self.process = None

    def create(self, database: str) -> str:
        """A new database; its address."""
        import psycopg

        with contextlib.closing(psycopg.connect(self.url("postgres"), autocommit=True)) as connection:
            connection.execute(f'CREATE DATABASE "{database}"')  # type: ignore[call-overload]
        return self.url(database)

    def drop(self, database: str) -> None:
        """Removes a database, whoever is connected."""
        import psycopg

        with contextlib.closing(psycopg.connect(self.url("postgres"), autocommit=True)) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')  # type: ignore[call-overload]

    def remove(self) -> None:
        """Stops it and removes its folder."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
