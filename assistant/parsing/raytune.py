"""Results that Ray Tune and RLlib print: ``Result for PPO_CartPole…:`` and nested ``key: value`` lines below it.

ray-project/ray, ``python/ray/tune/progress_reporter.py``; older versions print the lines without a heading.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Run
from assistant.parsing.columns import is_metric
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_RESULT: Final = re.compile(r"\s{0,4}Result for (?P<name>[^\s:]{1,200}):\s*$")
_LINE: Final = re.compile(
    r"(?P<indent> {0,60})(?P<key>[A-Za-z_][\w./@+ -]{0,120}?):(?: {1,4}(?P<text>\S.{0,400}))?\s*$"
)
_SKIPPED: Final = frozenset(
    {"pid", "timestamp", "date", "done", "hostname", "node_ip", "trial_id", "experiment_id", "experiment_tag"}
)
_STEP: Final = "training_iteration"
_LONGEST: Final = 2000
_MOST_RUNS: Final = 20


class RayTune:
    """Reads blocks of ``key: value`` lines that name a ``training_iteration``."""

    name: Final = "ray-tune"
    strength: Final = 53

    def read(self, document: Document) -> Reading:
        """One run a trial, one row a result."""
        books: dict[str, Book] = {}
        lines: list[tuple[str, int]] = []
        trial = ""
        for raw, number in [*zip(document.lines, document.numbers, strict=False), ("", 0)]:
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _RESULT.match(line) if "Result for " in line[:16] else None
            if head is not None or not line.strip() or len(line) > _LONGEST:
                _add(books, trial, lines)
                lines = []
                if head is not None:
                    trial = head["name"]
                continue
            if len(books) < _MOST_RUNS or trial in books:
                lines.append((line, number))
        runs: list[Run] = []
        taken: set[int] = set()
        for name, book in books.items():
            run = book.run(document, format=self.name, framework="RLlib" if _is_rl(book) else None, axis=_STEP)
            runs.append(_named(run, name, len(runs), several=len(books) > 1))
            taken |= book.taken
        return Reading(tuple(runs), frozenset(taken))


def _named(run: Run, trial: str, index: int, *, several: bool) -> Run:
    from dataclasses import replace

    return replace(run, id=f"r{index}", name=f"{run.name} ({trial})" if several and trial else run.name)


def _is_rl(book: Book) -> bool:
    keys = {key for row in book.rows for key in row.values}
    return any(key.startswith(("episode_reward", "episode_return", "env_runners/")) for key in keys)


def _add(books: dict[str, Book], trial: str, lines: list[tuple[str, int]]) -> None:
    """Reads a block of lines, if it is a result."""
    if not any(_STEP in line for line, _ in lines):
        return
    cells: list[tuple[Cell, int]] = []
    path: list[tuple[int, str]] = []
    step: int | None = None
    for line, number in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        indent, key, text = len(found["indent"]), found["key"], found["text"]
        while path and path[-1][0] >= indent:
            path.pop()
        if text is None:
            path.append((indent, key))
            continue
        value = read_number(text.strip())
        if value is None or any(name in {"config", "hyperparams"} for _, name in path):
            continue
        if key == _STEP and not path:
            step = int(value) if isinstance(value, int) else None
        elif path or key not in _SKIPPED:
            cells.append((Cell("/".join([*(name for _, name in path), key]), value, ""), number))
    if step is None or not any(is_metric(cell.key) for cell, _ in cells):
        return
    numbers = [number for _, number in cells]
    books.setdefault(trial, Book()).add(step, [cell for cell, _ in cells], min(numbers), numbers)
