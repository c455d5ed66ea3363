"""``metric-assistant triage``: many runs at once, one verdict each, worst first."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from assistant.cli.common import message_language, write_json
from assistant.model import InputError
from assistant.model.jsontext import json_bytes

FINDINGS = 1


def add_triage_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    triage = commands.add_parser(
        "triage", help="many runs at once, worst first / 批量检查多个运行，最差的排前",
        description="Checks many logs: files, folders, patterns such as 'runs/**/train.log'. One verdict a run, worst "
        "first. 批量检查：文件、文件夹或通配符，每个 run 一个结论，最差的排前。",
    )  # fmt: skip
    triage.add_argument("source", nargs="+", metavar="SOURCE", help="files, folders, or patterns in quotes")
    triage.add_argument("--threshold", "-t", action="append", default=[], metavar="CONDITION")
    triage.add_argument(
        "--jobs", "-j", type=_count, default=None, metavar="N", help="processes (one for each core by default)"
    )
    triage.add_argument("--ray", metavar="ADDRESS", help='a Ray cluster, such as "auto" or ray://head:10001')
    triage.add_argument(
        "--results", metavar="FILE", help="keep each log's result there (JSON lines) and go on from there / 断点续跑"
    )
    triage.add_argument("--top", type=_count, metavar="N", help="show the worst N only / 只显示最差的 N 个")
    triage.add_argument("--fail-on", choices=["warning", "critical"], help="exit status 1 if a run reaches that level")
    triage.add_argument(
        "--format", choices=["md", "json", "jsonl"], default="md", help="jsonl writes each run as soon as it is done"
    )
    triage.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    triage.set_defaults(run=triage_command)


def triage_command(arguments: argparse.Namespace) -> int:
    """``triage``: results as they come, then the table."""
    from assistant.service import triage
    from assistant.service.terminal_words import say
    from assistant.service.watching import refuse_unreadable

    language = message_language("", arguments)
    refuse_unreadable(arguments.threshold)
    jobs = triage.sources_of(arguments.source)
    before = triage.done_before(Path(arguments.results)) if arguments.results else {}
    rows: list[dict[str, Any]] = []
    left = []
    for job in jobs:
        known = before.get((job.path, job.size, job.changed))
        if known is None:
            left.append(job)
        else:
            rows += known
            _stream(known, arguments)
    if len(left) < len(jobs):
        print(say("triage.kept", language, n=len(jobs) - len(left), path=arguments.results), file=sys.stderr)
    count = arguments.jobs or min(os.cpu_count() or 1, max(len(left), 1))
    with ExitStack() as stack:
        kept = _opened(arguments.results, stack) if arguments.results else None
        if arguments.ray:
            results = triage.on_ray(left, arguments.ray, arguments.threshold, language)
        else:
            results = triage.in_processes(left, count, arguments.threshold, language)
        bar = sys.stderr.isatty() and arguments.format != "jsonl"
        for done, (job, found) in enumerate(results, len(jobs) - len(left) + 1):
            rows += found
            if kept is not None:
                kept.write(triage.line_of(job, found))
                kept.flush()
            _stream(found, arguments)
            if bar:
                sys.stderr.write("\r\x1b[K" + say("triage.progress", language, done=done, all=len(jobs)))
                sys.stderr.flush()
        if bar:
            sys.stderr.write("\r\x1b[K")
    rows.sort(key=triage.rank)
    shown = rows[: arguments.top] if arguments.top else rows
    counts = Counter(row["verdict"] for row in rows)
    if arguments.format == "json":
        runs = sum(row["verdict"] not in triage.NO_RUN for row in rows)
        write_json({"runs": shown, "counts": dict(counts), "n_runs": runs, "n_sources": len(jobs)}, sys.stdout)
    elif arguments.format == "md":
        _show(shown, rows, len(jobs), language)
    order = triage.ORDER
    worst = [level for level in ("critical", "warning") if counts[level]]
    reached = arguments.fail_on and any(order.index(level) <= order.index(arguments.fail_on) for level in worst)
    return FINDINGS if reached else 0


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    """The results' file, to append to; half a line at its end is closed."""
    try:
        handle = stack.enter_context(Path(name).open("ab+"))  # noqa: SIM115 - the stack closes it
    except OSError as error:
        raise InputError(
            zh=f"写不了 {name}：{error.strerror}。", en=f"Cannot write {name}: {error.strerror}."
        ) from None
    size = handle.seek(0, os.SEEK_END)
    if size:
        handle.seek(size - 1)
        if handle.read(1) != b"\n":
            handle.write(b"\n")
    return handle


def _stream(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    if arguments.format != "jsonl":
        return
    for row in rows:
        sys.stdout.write(json_bytes(row).decode() + "\n")
    sys.stdout.flush()


def _show(rows: list[dict[str, Any]], every: list[dict[str, Any]], sources: int, language: str) -> None:
    """The table, worst first, and what it comes to."""
    from assistant.service.terminal_words import say
    from assistant.service.triage import NO_RUN, ORDER, verdict_word

    names = _names(rows)
    lines = ["| " + " | ".join(say(f"triage.{key}", language) for key in ("verdict", "run", "steps", "why")) + " |"]
    lines.append("| --- | --- | --- | --- |")
    for row, name in zip(rows, names, strict=True):
        steps = f"{row['steps'][0]:,}–{row['steps'][1]:,}" if row["steps"] else "–"
        verdict = verdict_word(row, language)
        cells = [verdict, name.replace("|", "\\|"), steps, _why(row, language)]
        lines.append("| " + " | ".join(cells) + " |")
    held = sorted((row for row in every if row["verdict"] not in NO_RUN), key=lambda row: ORDER.index(row["verdict"]))
    without = len(every) - len(held)
    counts = Counter(verdict_word(row, language) for row in held)
    told = ("、" if language == "zh" else ", ").join(f"{number} {word}" for word, number in counts.items())
    total = say("triage.total", language, runs=len(every) - without, sources=sources - without, counts=told)
    if without:
        total += say("triage.without", language, n=without)
    text = f"**{total}**\n\n" + "\n".join(lines)
    if sys.stdout.isatty():
        from assistant.cli.triage_table import print_table

        print_table(total, rows, names, [_why(row, language) for row in rows], language)
    else:
        print(text)


def _why(row: dict[str, Any], language: str) -> str:
    """The gravest finding and since when; of a log without a verdict, why."""
    from assistant.service.terminal_words import say

    if not row["findings"]:
        return row["summary"] if row["verdict"] in {"no_metrics", "unreadable"} else ""
    first = row["findings"][0]
    text: str = first["title"]
    if first["step"] is not None:
        at = "triage.at" if first.get("onset") is not None else "triage.at_first"
        text = say(at, language, rule=text, axis=row["step_axis"], step=f"{first['step']:,}")
    more = len(row["findings"]) - 1
    return text + (say("triage.more", language, n=more) if more else "")


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """Paths without what all have in common; with the run where a log holds several."""
    paths = [row["source"] for row in rows]
    whole = [Path(path).absolute() for path in paths]
    common = os.path.commonpath([path.parent for path in whole]) if len(set(whole)) > 1 else ""
    several = Counter(paths)
    found = []
    for row in rows:
        path = os.path.relpath(row["source"], common) if common else row["source"]
        run = row["run"]
        found.append(f"{path} {run[run.rfind('#') :]}" if several[row["source"]] > 1 and "#" in run else path)
    return found


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is not a positive number")
    return int(text)
