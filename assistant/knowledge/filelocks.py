"""Locks between processes, on files: one changes a folder while others wait, and what is in use is not swept away.

The system gives a lock back when its process ends, however it ends. Where there are no such locks (Windows, some
network file systems) nobody waits and nothing counts as in use: callers rename what they write into place, whole.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """One thread of one process at a time; others wait.

    Args:
        path: the lock's file; made, with its folder, if need be.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        _lock(handle.fileno())
        yield


def hold(owner: object, path: Path) -> Callable[[], object]:
    """Marks a file as in use, until the returned function is called or its owner is gone.

    Args:
        owner: who uses it.
        path: a file that exists.

    Raises:
        OSError: the file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY)
    release = weakref.finalize(owner, os.close, descriptor)
    _lock(descriptor, shared=True)
    return release


def held(path: Path) -> bool:
    """Whether anybody, in this process or another, holds a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> bool:
    """Locks an open file until it is closed; ``False`` if another holds it and there is no waiting."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
