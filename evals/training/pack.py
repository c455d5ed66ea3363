"""Packs the runs that the list marks with ``packed``, so that they can be scored where nothing can be trained."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Final

from evals.training.runs import read_list
from evals.training.score import PACKED

LARGEST: Final = 300_000
"""Bytes that the packed set may have."""


class TooLarge(Exception):
    """The packed set would exceed :data:`LARGEST`; the message says by how much."""


def pack(folder: Path, older: Path | None = None, target: Path = PACKED) -> str:
    """Packs, reproducibly: same files, same bytes.

    Args:
        folder: of the runs.
        older: of those that are marked ``older`` as well; they are left out without it.
        target: what is written.

    Raises:
        TooLarge: nothing is written then.
        FileNotFoundError: a run that is marked has not been made.
    """
    files: list[Path] = []
    for spec in read_list():
        place = older if spec.older else folder
        if spec.packed and place is not None:
            found = sorted(place.glob(f"{spec.name}.*"))
            if not found:
                raise FileNotFoundError(f"{place}: {spec.name} is marked `packed` and has not been made")
            # the trainer's state repeats its records: kept for a few runs only
            files += [p for p in found if not p.name.endswith("state.json") or spec.state]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz", preset=9) as archive:
        # neighbours in the archive should be alike: all consoles, then all records
        for path in sorted(files, key=lambda path: (path.name.split(".", 1)[1], path.name)):
            data = path.read_bytes()
            member = tarfile.TarInfo(path.name)
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    if buffer.tell() > LARGEST:
        raise TooLarge(f"{buffer.tell():,} bytes, {LARGEST:,} are allowed: mark fewer runs `packed` in runs.yaml")
    target.write_bytes(buffer.getvalue())
    return f"{len(files)} files, {buffer.tell():,} bytes: {target}"
