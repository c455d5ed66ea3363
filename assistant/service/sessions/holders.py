"""Who holds a lease: names of processes, and whether one is certainly gone."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from pathlib import Path
from typing import Final

#: Names that live in this process: usually one.
_LIVING: Final[set[str]] = set()


def new_name() -> str:
    """A name that no other holder of leases has: machine, process number, and a random mark."""
    name = f"{_machine()}|{os.getpid()}|{secrets.token_hex(6)}"
    _LIVING.add(name)
    return name


def drop_name(name: str) -> None:
    """Says that the holder of that name is no more."""
    _LIVING.discard(name)


def is_dead(holder: str) -> bool:
    """Whether the holder is certainly gone: of this machine, and its process is no more."""
    if not holder:
        return True
    machine, _, rest = holder.partition("|")
    number, _, _ = rest.partition("|")
    if machine != _machine() or not number.isdigit():
        return False
    if int(number) == os.getpid():
        return holder not in _LIVING
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    """This machine since its start, and this namespace of process numbers (a container has its own)."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:13])
        parts.append(Path("/proc/self/ns/pid").readlink().name.strip("pid:[]"))
    return " ".join(parts)
