"""Parsed logs of recent sessions in memory: a follow-up reads and parses nothing again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from assistant.model import Run
from assistant.service.facade import Doubtful, Material
from assistant.service.sessions.attaching import Runs
from assistant.service.sessions.packing import size_of
from assistant.service.sessions.reading import Remarks
from assistant.service.sessions.records import StoredRun

T = TypeVar("T")


class Library:
    """The runs last used, within a bound of memory; safe in several threads.

    What is kept of a run never changes (its name is put on when it is given out), so that replicas need not tell each
    other anything: which runs a session has is asked of the database every time.

    Args:
        runs: where they are stored.
        most: bytes of tables in memory, at most; what exceeds it alone is read each time.
    """

    def __init__(self, runs: Runs, most: int) -> None:
        self.runs = runs
        self.most = most
        self.held = 0
        self.hits = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[Run, int, dict[Any, Any]]] = OrderedDict()
        self._remarks: OrderedDict[tuple[str, int], Remarks] = OrderedDict()

    def run(self, session: str, stored: StoredRun) -> Run:
        """A run of a session under its present name.

        Raises:
            RunNotFound: it was deleted meanwhile.
        """
        name = (session, stored.rid)
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
                self.hits += 1
        if found is None:
            self.misses += 1
            run = self.runs.table(session, stored.rid)
            self._keep(name, run)
        else:
            run = found[0]
        if run.name != stored.name:
            run = run.renamed(name=stored.name)
            self._keep(name, run)
        return run

    def derived(self, session: str, stored: StoredRun, what: Any, make: Callable[[Run], T]) -> T:
        """What is computed of a run (an overview in a language), kept as long as the run is."""
        run = self.run(session, stored)
        with self._lock:
            found = self._kept.get((session, stored.rid))
            if found is not None and found[0] is run and what in found[2]:
                kept: T = found[2][what]
                return kept
        made = make(run)
        with self._lock:
            found = self._kept.get((session, stored.rid))
            if found is not None and found[0] is run:
                found[2][what] = made
        return made

    def material(self, session: str, chosen: Sequence[StoredRun]) -> Material:
        """What is asked about: runs, and what was noted of their texts."""
        runs = tuple(self.run(session, stored) for stored in chosen)
        remarks = self._remarks_of(session, sorted({stored.source for stored in chosen}))
        notes = tuple(note for one in remarks for note in one.notes)
        doubtful: tuple[Doubtful, ...] = tuple(lost for one in remarks for lost in one.doubtful)
        language = next((one.language for one in remarks if one.language), None)
        return Material(runs, "", notes, doubtful, language)

    def put(self, session: str, rid: str, run: Run) -> None:
        """Keeps a run that was just read, so that the first question finds it."""
        self._keep((session, rid), run)

    def forget(self, session: str, rid: str | None = None) -> None:
        """Forgets a run, or all of a session."""
        with self._lock:
            for name in [name for name in self._kept if name[0] == session and rid in {None, name[1]}]:
                self.held -= self._kept.pop(name)[1]

    def _remarks_of(self, session: str, places: Sequence[int]) -> list[Remarks]:
        with self._lock:
            known = [self._remarks.get((session, place)) for place in places]
        held = [one for one in known if one is not None]
        if len(held) == len(places):
            return held
        read = self.runs.remarks(session, places)
        if len(read) == len(places):
            with self._lock:
                for place, one in zip(places, read, strict=True):
                    self._remarks[session, place] = one
                while len(self._remarks) > 1000:
                    self._remarks.popitem(last=False)
        return read

    def _keep(self, name: tuple[str, str], run: Run) -> None:
        size = size_of(run)
        with self._lock:
            before = self._kept.pop(name, None)
            if before is not None:
                self.held -= before[1]
            if size > self.most:
                return
            self._kept[name] = (run, size, {})
            self.held += size
            while self.held > self.most:
                _, (_, freed, _) = self._kept.popitem(last=False)
                self.held -= freed
