"""What runs in a worker process: one job after another, within a limit of memory; no keys, no network of its own.

Workers are forked from a process that imported this module (:func:`warm`), so that a new one is ready in a few
milliseconds and shares the cards with the others.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

#: Names of the environment that a worker has no use for: it reads texts of strangers.
SECRET = ("_API_KEY", "_API_KEYS", "_SECRET", "_TOKEN", "_PASSWORD", "DATABASE_URL", "WEBHOOK_URL")

#: Bytes in and out of a job after which memory is given back at once, and jobs after which it is in any case.
LARGE, OFTEN = 1 << 20, 64

OK, OURS, MEMORY, FAULT = "ok", "ours", "memory", "fault"


def is_secret(name: str) -> bool:
    """Whether a name of the environment holds something that no log, error or worker may see."""
    return name.endswith(SECRET)


def warm() -> None:
    """Loads what every answer needs, once, in the process that workers are forked from."""
    from assistant.api import jobs
    from assistant.resources import data_folder

    log = next(iter(sorted(data_folder("examples").glob("*.log")))).read_bytes()
    jobs.warm(log)
    gc.collect()
    gc.freeze()  # a collection in a worker would write into every page that it shares with the others


def main(connection: Connection, environment: Mapping[str, str], memory: int, niceness: int) -> None:
    """Works on the jobs of a connection until it is closed.

    Args:
        connection: takes ``(function, args, keywords)``, gives ``(outcome, value)``, both pickled.
        environment: settings of the parent, without secrets.
        memory: bytes that the jobs may take beyond what the process has already; 0 for no limit.
        niceness: how much it stands back behind other processes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C goes to the whole group; the parent ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for name in [name for name in os.environ if is_secret(name) or name.startswith("ASSISTANT_")]:
        del os.environ[name]
    os.environ.update(environment)
    if niceness:
        with suppress(OSError):
            os.nice(niceness)
    if memory:
        _limit(memory)
    done = 0
    while True:
        try:
            data = connection.recv_bytes()
        except (EOFError, OSError):
            return
        reply = _done(data)
        done += 1
        large = len(data) + len(reply) > LARGE
        del data
        try:
            connection.send_bytes(reply)
        except (BrokenPipeError, OSError):
            return
        del reply
        if large or done % OFTEN == 0:
            give_back()


def give_back() -> None:
    """Returns what the C library holds free to the system, where it can: glibc keeps the pages of a large job."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def _done(data: bytes) -> bytes:
    """The pickled outcome of a pickled job."""
    function: Callable[..., Any]
    try:
        function, args, keywords = pickle.loads(data)
        return pickle.dumps((OK, function(*args, **keywords)), protocol=5)
    except MemoryError:
        return pickle.dumps((MEMORY, None))
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> bytes:
    from assistant.api.problems import ApiError
    from assistant.model import AssistantError

    if isinstance(error, ApiError):
        return pickle.dumps((OURS, error))
    if isinstance(error, AssistantError):  # remade from its messages: its arguments have names
        return pickle.dumps((OURS, (type(error), error.zh, error.en)))
    place = traceback.extract_tb(error.__traceback__)
    # Its message may quote what the caller sent; the places are enough to find the mistake.
    return pickle.dumps((FAULT, f"{type(error).__name__} at " + " < ".join(f"{f.filename}:{f.lineno}" for f in place)))


def _limit(memory: int) -> None:
    """Bounds what the process may allocate from now on; systems without such a limit have none."""
    try:
        import resource
        from pathlib import Path

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        data = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")) * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = data + memory
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, StopIteration, ValueError):
        return


if os.environ.get("ASSISTANT_PRELOAD") == "1":  # set by running.py around the start of the fork server
    with suppress(Exception):
        warm()
