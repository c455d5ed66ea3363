"""Everything about sessions in one place: made once a process, opened with the server, closed with it."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from assistant.model import AssistantError
from assistant.service.sessions.answering import Analyse, Answering, in_thread
from assistant.service.sessions.attaching import Runs
from assistant.service.sessions.conversing import Messages
from assistant.service.sessions.database import Database, database_url
from assistant.service.sessions.errors import DatabaseUnavailable
from assistant.service.sessions.holders import drop_name, new_name
from assistant.service.sessions.keeping import Sessions
from assistant.service.sessions.library import Library
from assistant.settings import Settings

log = logging.getLogger("assistant.sessions")

#: Seconds between looks for answers whose process died, and for sessions that are too old.
TEND: Final = 2.0
SWEEP: Final = 3600.0
THREADS: Final = 8


class SessionService:
    """The sessions of one database, and the answers that this process makes.

    Nothing is opened before it is used, and a database that is away at the start is no failure: it is asked again.

    Args:
        chosen: which database, what is kept, how much memory.
        analyse: makes the offline engine's answers.

    Raises:
        DatabaseMisconfigured: the address cannot be used.
    """

    def __init__(self, chosen: Settings, analyse: Analyse = in_thread) -> None:
        self.storing = chosen.storing
        self.me = new_name()
        self.database = Database(database_url(self.storing.database_url, chosen.data_dir))
        self.sessions = Sessions(self.database)
        self.runs = Runs(self.database)
        self.messages = Messages(self.database, self.me)
        self.library = Library(self.runs, self.storing.cache_bytes)
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="database")
        self.answering = Answering(self.messages, self.runs, self.library, self.pool, analyse)
        self._tending: asyncio.Task[None] | None = None
        self._closed = False

    def state(self) -> tuple[str, str]:
        """For readiness: ``ok`` or ``missing``, and why."""
        try:
            self.database.check()
        except DatabaseUnavailable as error:
            return "missing", error.reason.partition(":")[0] or error.code
        except AssistantError as error:
            return "missing", error.en
        except Exception as error:
            return "missing", type(error).__name__
        return "ok", "sqlite" if self.database.sqlite else "postgresql"

    def start(self) -> None:
        """Begins to look after answers of dead processes and old sessions; call it in the server's event loop."""
        if self._tending is None:
            self._tending = asyncio.create_task(self._tend(), name="tend sessions")

    async def close(self, grace: float = 0.0) -> None:
        """Finishes what is under way within a time, hands back the rest, and closes the database."""
        if self._closed:
            return
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)
            self._tending = None
        await self.answering.close(grace)
        self.shut()

    def shut(self) -> None:
        """Closes threads and database; for callers without an event loop."""
        self._closed = True
        self.pool.shutdown(wait=True)
        self.database.close()
        drop_name(self.me)

    async def _tend(self) -> None:
        swept = 0.0
        away = False
        while True:
            try:
                await self.answering.take_over()
                if time.monotonic() - swept > SWEEP or not swept:
                    forgotten = await self.answering.call(self.sessions.forget, self.storing.retention_days)
                    swept = time.monotonic()
                    if forgotten:
                        log.info("%d old sessions were deleted", forgotten)
                away = False
            except DatabaseUnavailable as error:
                if not away:
                    log.warning("the sessions' database cannot be reached; it is asked again (%s)", error.reason)
                away = True
            except Exception:
                log.exception("looking after the sessions failed")
            await asyncio.sleep(TEND)
