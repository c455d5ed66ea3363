"""A line on a terminal that tells how far the reading of large files has come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TextIO

_WIDTH: Final = 30
_AFTER_S: Final = 1.0
_EVERY_S: Final = 0.1


class Bar:
    """Shows itself a second after the start, and only on a terminal; leaves no trace.

    Args:
        sources: what is read; only the sizes of large files count.
        stream: where to draw.
    """

    def __init__(self, sources: Sequence[Any], stream: TextIO) -> None:
        self._total = sum(source.content.stat().st_size for source in sources if isinstance(source.content, Path))
        self._stream = stream
        self._active = self._total > 0 and stream.isatty()
        self._next = time.monotonic() + _AFTER_S
        self._drawn = False
        self._before = self._last = 0

    def __enter__(self) -> Bar:
        return self

    def show(self, read: int) -> None:
        """Draws the bar if it is time to."""
        if not self._active:
            return
        if read < self._last:
            self._before += self._last
        self._last = read
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY_S
        self._drawn = True
        share = min((self._before + read) / self._total, 1.0)
        full = round(_WIDTH * share)
        bar = "█" * full + "░" * (_WIDTH - full)
        self._stream.write(f"\r{bar} {share:4.0%}  {read / 1e6:.0f} / {self._total / 1e6:.0f} MB")
        self._stream.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
