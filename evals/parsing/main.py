"""The table of all files of some folders."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from evals.parsing.compare import Result, evaluate

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_HEAD: Final = ("rows", "cells", "reference", "agreeing", "wrong", "phantom", "missing", "lines not understood", "MB/s")
_MOST: Final = 40


def find_files(folders: Iterable[str]) -> list[Path]:
    """The files of some folders (or the files named), in order.

    Raises:
        SystemExit: one of them does not exist.
    """
    files: list[Path] = []
    for name in folders:
        path = Path(name)
        if not path.exists():
            raise SystemExit(f"there is no {path}: name a folder of logs, or a log")
        files += sorted(held for held in path.iterdir() if held.is_file()) if path.is_dir() else [path]
    return files


def figures(result: Result) -> list[str]:
    """The numbers of a file, as in the head of the table."""
    compared = bool(result.kinds)
    shown = [result.rows, result.cells, result.reference, result.agreeing, len(result.wrong), len(result.phantom)]
    cells = [f"{n:,}" if compared or at < 2 else "—" for at, n in enumerate(shown)]
    rate = f"{result.size / 1e6 / result.seconds:.0f}"
    return [*cells, f"{result.missing:,}", f"{result.not_understood:,}", rate]


def total(results: Sequence[Result]) -> list[str]:
    """Sums over all files."""
    sums = [
        sum(r.rows for r in results),
        sum(r.cells for r in results),
        sum(r.reference for r in results),
        sum(r.agreeing for r in results),
        sum(len(r.wrong) for r in results),
        sum(len(r.phantom) for r in results),
        sum(r.missing for r in results),
        sum(r.not_understood for r in results),
    ]
    rate = sum(r.size for r in results) / 1e6 / max(sum(r.seconds for r in results), 1e-9)
    return [*(f"{n:,}" for n in sums), f"{rate:.0f}"]


def as_text(first: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a head, in columns; the first is 52 wide."""
    widths = [max(len(name), *(len(row[at + 1]) for row in rows)) + 2 for at, name in enumerate(head)]
    table = [[first, *head], *rows]
    return "\n".join(
        f"{row[0][:51]:<52}" + "".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True))
        for row in table
    )


def as_markdown(first: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as a Markdown table."""
    lines = [f"| {' | '.join([first, *head])} |", f"| --- |{' ---: |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def main(argv: list[str] | None = None) -> int:
    """Prints the table and what disagrees; 1 if a cell is wrong or phantom, or no file is a log."""
    parser = argparse.ArgumentParser(prog="python -m evals.parsing", description=__doc__)
    parser.add_argument("folder", nargs="*", default=[str(ROOT / "examples")], help="a folder of logs, or a log")
    parser.add_argument("--markdown", action="store_true", help="a table to publish, without file names and values")
    parser.add_argument("--all", action="store_true", help=f"list every disagreement, not the first {_MOST}")
    options = parser.parse_args(argv)
    results = [result for path in find_files(options.folder or [str(ROOT / "examples")]) if (result := evaluate(path))]
    if not results:
        print("no log found")
        return 1
    wrong = [line for result in results for line in (*result.wrong, *result.phantom)]
    if options.markdown:
        rows = [[result.label, *figures(result)] for result in results]
        print(as_markdown("log", _HEAD, [*rows, ["**all**", *total(results)]]))
        return 1 if wrong else 0
    rows = [[result.name, *figures(result)] for result in results]
    print(as_text("file", _HEAD, [*rows, ["all", *total(results)]]))
    for line in wrong if options.all else wrong[:_MOST]:
        print(line)
    if len(wrong) > _MOST and not options.all:
        print(f"… and {len(wrong) - _MOST} more")
    return 1 if wrong else 0
