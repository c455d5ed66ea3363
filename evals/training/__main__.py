"""`python -m evals.training train | score | labels | pack`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

from evals.training.runs import BadList, read_list

HOW = """training needs an environment of its own (about 1 GB, torch built for CPUs; made with these versions):

  python3.11 -m venv trl-env
  trl-env/bin/pip install torch==2.13.0
  trl-env/bin/pip install trl==1.16.0 transformers==5.23.0 stable-baselines3==2.9.2 datasets accelerate pyyaml
  trl-env/bin/python -m evals.training train FOLDER

Those marked `older` were made with trl==0.24.0 transformers==4.57.3 instead, whose console prints all digits.

Scoring needs nothing but this project."""


def main(argv: list[str] | None = None) -> int:
    """Runs a command; 2 if something is missing that the user can mend, 1 if a run or a cell failed."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir()) / "metric-assistant-training"
    parser = argparse.ArgumentParser(
        prog="python -m evals.training",
        description="Small training runs on one CPU core, and how they are read. " + HOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    train = commands.add_parser("train", help="make the runs (all, or those whose name begins so)")
    train.add_argument("folder", nargs="?", type=Path, default=folder, help="where the logs go (%(default)s)")
    train.add_argument("--only", nargs="+", default=[], metavar="NAME", help="numbers or names, or their beginnings")
    score = commands.add_parser("score", help="parse and diagnose the runs of a folder, or the packed ones")
    score.add_argument("folder", nargs="?", type=Path, help="a folder that `train` filled")
    score.add_argument("--misses", action="store_true", help="the open runs that were missed or falsely accused")
    score.add_argument("--peers", action="store_true", help="also the nearest tools, on the same runs")
    score.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the marks of a page")
    labels = commands.add_parser("labels", help="what the runs of a folder show")
    labels.add_argument("folder", nargs="?", type=Path)
    pack = commands.add_parser("pack", help="pack the runs of a folder that are marked so")
    pack.add_argument("folder", type=Path)
    pack.add_argument("--older", type=Path, help="the folder of those that are marked `older` as well")
    given = parser.parse_args(argv)
    if given.command is None:
        parser.print_help()
        return 0
    try:
        return {"train": _train, "score": _score, "labels": _labels, "pack": _pack}[given.command](given)
    except BadList as error:
        print(error, file=sys.stderr)
        return 2


def _train(given: argparse.Namespace) -> int:
    missing = [name for name in ("torch", "trl", "stable_baselines3") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} cannot be imported: {HOW}", file=sys.stderr)
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported
    from evals.training.train import run_all

    specs = [spec for spec in read_list() if not given.only or spec.name.startswith(tuple(given.only))]
    failed = run_all(specs, given.folder)
    if failed:
        print(f"ended with an error: {', '.join(failed)}; see their logs", file=sys.stderr)
    return int(bool(failed))


def _score(given: argparse.Namespace) -> int:
    from evals.training import score, tables

    try:
        found = score.material(given.folder)
    except score.BadArchive as error:
        print(error, file=sys.stderr)
        return 2
    outcomes = [score.judge(material) for material in found]
    if given.misses:
        print(tables.misses(outcomes))
        return 0
    page = tables.page(outcomes, runs=given.write is None)
    if given.peers:
        from evals.training import peers

        try:
            page += "\n\n" + peers.table(found, outcomes)
        except peers.NotRun as error:
            print(error, file=sys.stderr)
            return 2
    if given.write is None:
        print(page)
    else:
        given.write.write_text(tables.into(given.write.read_text(encoding="utf-8"), page), encoding="utf-8")
    return int(any(match.missing or match.phantom for one in outcomes for match in one.matches.values()))


def _labels(given: argparse.Namespace) -> int:
    from evals.training import score
    from evals.training.label import label

    try:
        for material in score.material(given.folder):
            shown = label(material.rows)
            print(f"{material.spec.name} (made to show {material.spec.expect})")
            print("\n".join(f"  {name}: {text}" for name, text in shown.items()) or "  healthy")
    except score.BadArchive as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _pack(given: argparse.Namespace) -> int:
    from evals.training.pack import TooLarge, pack

    try:
        print(pack(given.folder, given.older))
    except (TooLarge, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
