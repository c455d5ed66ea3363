"""Regular expressions as compiled before: for patterns what bytecode files are for modules.

A question is held against some 2,500 patterns, and compiling them is half of what a short command would wait for. Their
compiled form (a list of integers) is therefore kept in the cache folder, and a later command takes it from there.

Only what ships with the package is written: patterns that stand in a module, and those of the tables of words. Patterns
made of a question or of a log's names never are. Python compiles as usual where anything is not as expected: another
Python, a damaged file, a folder that cannot be written.
"""

from __future__ import annotations

import array
import atexit
import marshal
import os
import re
import sys
import zlib
from pathlib import Path
from types import FrameType
from typing import Any, Final

LEAST_NEW: Final = 24
"""Fewer new patterns than these are not worth writing the file again (some 6 ms of compiling)."""
MOST: Final = 12_000
"""Patterns that a file holds; one that would hold more is begun anew, since it is mostly of versions gone by."""
TABLES: Final = frozenset(
    f"assistant.{name}"
    for name in (
        *("ask.patterns", "ask.worded", "ask.lexicon", "ask.plainly", "ask.concepts", "ask.computed", "ask.learnt"),
        *("ask.causes", "ask.conditions", "ask.limits", "ask.metrics_named", "ask.pinyin", "parsing.versions"),
    )
)
"""Modules that compile what shipped tables hold, and nothing else."""

#: What a pattern and its flags compile to: the flags with those that the pattern sets itself, the code, the number of
#: groups and the groups' names.
_Entry = tuple[int, bytes, int, dict[str, int]]


class Kept:
    """The patterns of one file; those that are new are added when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.new: dict[tuple[str, int], _Entry] = {}
        self.entries = _read(path)
        self._code: list[int] = []
        compiler: Any = re._compiler  # type: ignore[attr-defined]
        self._compile, self._translate, self._build = compiler.compile, compiler._code, compiler._sre.compile

    def translate(self, parsed: Any, flags: int) -> list[int]:
        """A parsed pattern's code; it is remembered for :meth:`compile`."""
        self._code = self._translate(parsed, flags)
        return self._code

    def compile(self, pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        """As ``re._compiler.compile``."""
        entry = self.entries.get((pattern, int(flags))) if isinstance(pattern, str) else None
        if entry is not None:
            return self._built(pattern, entry)
        compiled: re.Pattern[Any] = self._compile(pattern, flags)
        if isinstance(pattern, str) and _shipped(pattern, sys._getframe(1)):
            code = array.array("I", self._code).tobytes()
            self.new[pattern, int(flags)] = (compiled.flags, code, compiled.groups, dict(compiled.groupindex))
        return compiled

    def _built(self, pattern: str, entry: _Entry) -> re.Pattern[Any]:
        flags, code, groups, index = entry
        names: list[str | None] = [None] * (groups + 1)
        for name, number in index.items():
            names[number] = name
        built: re.Pattern[Any] = self._build(
            pattern, flags, array.array("I", code).tolist(), groups, index, tuple(names)
        )
        return built

    def write(self) -> None:
        """Adds what is new to the file, whole or not at all."""
        if len(self.new) < LEAST_NEW:
            return
        entries = self.entries | self.new if len(self.entries) + len(self.new) <= MOST else self.new
        content = marshal.dumps(entries)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            beside.write_bytes(zlib.crc32(content).to_bytes(4, "big") + content)
            beside.replace(self.path)
        except OSError:
            return


def keep(folder: Path) -> Kept | None:
    """Takes the process's patterns from ``folder``, and adds to it at exit; ``None`` where this Python cannot.

    For a process of our own: it changes how the whole process compiles patterns.
    """
    compiler: Any = getattr(re, "_compiler", None)
    if sys.implementation.name != "cpython" or not all(
        hasattr(compiler, name) for name in ("compile", "_code", "_sre")
    ):
        return None
    if array.array("I").itemsize != compiler._sre.CODESIZE:
        return None
    python = f"{sys.implementation.cache_tag}-{compiler._sre.MAGIC}-{sys.byteorder}"
    kept = Kept(folder / f"patterns-{python}.bin")
    compiler.compile, compiler._code = kept.compile, kept.translate
    atexit.register(kept.write)
    return kept


def _read(path: Path) -> dict[tuple[str, int], _Entry]:
    try:
        content = path.read_bytes()
        if zlib.crc32(content[4:]).to_bytes(4, "big") != content[:4]:
            return {}
        entries = marshal.loads(content[4:])
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _shipped(pattern: str, frame: FrameType | None) -> bool:
    """Whether a pattern is part of the code or of the shipped tables: what asked `re` for it, past `re` itself."""
    while frame is not None and frame.f_globals.get("__name__") in {"re", __name__}:
        frame = frame.f_back
    if frame is None:
        return False
    code = frame.f_code
    return code.co_name == "<module>" or pattern in code.co_consts or frame.f_globals.get("__name__") in TABLES
