"""Answers with scripted models.

python -m evals.agent                        faults, lies, attacks and overhead
python -m evals.agent faults lies            some of them
python -m evals.agent --write                and the tables into docs/models.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from evals.agent import attacks, faults, lies, overhead

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- tables:begin -->", "<!-- tables:end -->"


def _faults() -> tuple[str, bool]:
    outcomes = faults.run()
    return faults.table(outcomes), any(one.problems for one in outcomes)


def _lies() -> tuple[str, bool]:
    outcomes = lies.run()
    return lies.table(outcomes), any(one.leaked for one in outcomes if not one.judgement)


def _attacks() -> tuple[str, bool]:
    outcomes = attacks.run()
    return attacks.table(outcomes), any((o.succeeded and o.reached) or not o.same_verdict for o in outcomes)


def _overhead() -> tuple[str, bool]:
    return overhead.table(overhead.run()), False


PARTS: dict[str, tuple[str, Callable[[], tuple[str, bool]]]] = {
    "faults": ("Faults", _faults),
    "lies": ("Lies", _lies),
    "attacks": ("Injections, with a model that obeys them", _attacks),
    "overhead": ("Time added up to the first checked sentence", _overhead),
}


def main(arguments: list[str]) -> int:
    """Runs the parts named; 1 if something got through."""
    parser = argparse.ArgumentParser(prog="python -m evals.agent", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="the tables into docs/models.md")
    given = parser.parse_args(arguments)
    wanted = given.parts or list(PARTS)
    told, status = [], False
    for name in wanted:
        title, part = PARTS[name]
        table, bad = part()
        told.append(f"### {title}\n\n{table}")
        status |= bad
        print(told[-1] + "\n", flush=True)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n\n".join(told) + f"\n{END}{after}", encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
