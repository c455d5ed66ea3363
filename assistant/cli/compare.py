"""``metric-assistant compare``: two steps, two windows of steps, or two runs."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.cli.common import message_language, read_sources, write_json

if TYPE_CHECKING:
    from assistant.service.comparisons import Compared

#: Width of a picture in a pipe, and the widest on a terminal.
PIPE_WIDTH, WIDEST = 80, 110


def add_compare_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    compare = commands.add_parser(
        "compare", help="two steps, windows or runs / 比较两步、两段或两个 run",
        description="Compares two sides: log@10 log@20 (steps), log@first10 log@last10 or log@1:10 log@90:100 "
        "(windows), a.log b.log (runs), log#1 log#2 (runs of one file), @best (the best validation). The second side "
        "may be @20 alone. 比较两步、两段或两个 run，并说明差别是否超出噪声。",
    )  # fmt: skip
    compare.add_argument("first", metavar="SOURCE[@STEP]", help="before, or the first run / 之前的，或第一个 run")
    compare.add_argument("second", metavar="SOURCE[@STEP]", help="after, or the second run / 之后的，或第二个 run")
    compare.add_argument(
        "--metric", "-m", action="append", default=[], metavar="NAME",
        help="only this metric, in any spelling; may be given again / 只比这个指标，可给多次",
    )  # fmt: skip
    compare.add_argument(
        "--align", choices=["step", "tokens", "time"], default="step",
        help="axis on which two runs are aligned / 两个 run 按什么对齐",
    )  # fmt: skip
    compare.add_argument("--format", choices=["md", "json"], default="md")
    compare.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    compare.set_defaults(run=compare_command)


def compare_command(arguments: argparse.Namespace) -> int:
    """``compare``: the verdict, the table and the reasons, or all of it as JSON."""
    from assistant.cli.progress import Bar
    from assistant.service import service
    from assistant.service.comparisons import compare, side_finder
    from assistant.service.selection import choose, read_wish

    wishes = [read_wish(arguments.first)]
    wishes.append(read_wish(arguments.second, wishes[0].source))
    if wishes[1].run is None and arguments.second.startswith("@") and wishes[1].source == wishes[0].source:
        wishes[1] = replace(wishes[1], run=wishes[0].run)  # "@last5" alone is of the run named on the left
    names = list(dict.fromkeys(wish.source for wish in wishes))
    arguments.source = names
    sources = [source for name in names for source in read_sources([name], "", arguments)]
    engine = service()
    language = message_language(" ".join(arguments.metric), arguments)
    runs: dict[str, list[Any]] = {}
    notes: list[Any] = []
    with Bar(sources, sys.stderr) as bar:
        for name, source in zip(names, sources, strict=True):
            material = engine.read([source], progress=bar.show)
            # Ids count over both sources, as in an answer about several.
            before = sum(len(held) for held in runs.values())
            runs[name] = [run.renamed(id=f"r{before + place}") for place, run in enumerate(material.runs)]
            notes += material.notes
    if arguments.lang == "auto" and material.language and not arguments.metric:
        language = material.language
    best = side_finder(engine.resolver, arguments.metric)
    sides = [choose(wish, runs[wish.source], best) for wish in wishes]
    found = compare(
        sides[0], sides[1], engine.resolver, metrics=arguments.metric, align=arguments.align, language=language
    )
    if arguments.format == "json":
        write_json(found.to_json(), sys.stdout)
        return 0
    text = found.answer.answer
    text += "".join(f"\n\n> {warning}" for warning in found.answer.warnings)
    text += "".join(f"\n\n> {note.text(language)}" for note in notes)
    if sys.stdout.isatty():
        from assistant.cli.terminal import print_markdown

        print_markdown(text)
    else:
        print(text)
    drawn = picture_of(found, sys.stdout.isatty(), sys.stdout.encoding or "ascii")
    if drawn:
        print("\n" + drawn)
    return 0


def picture_of(found: Compared, terminal: bool, encoding: str) -> str:
    """Both runs' curves of the metric that decides; empty unless two runs are compared."""
    import math

    from assistant.cli.plot import picture

    for chart in found.answer.charts:
        if len(chart.series) != 2:
            continue
        curves = []
        for line in chart.series:
            points = [(s, float(v)) for s, v in zip(line.steps, line.values, strict=True) if math.isfinite(v)]
            curves.append(([s for s, _ in points], [v for _, v in points]))
        if min(len(steps) for steps, _ in curves) < 2:
            continue
        width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else PIPE_WIDTH
        wide = "utf" in encoding.lower()
        marks = ("⠒", "·") if wide else ("*", "-")
        title = f"{chart.title}: A {marks[0]}, B {marks[1]}"
        return picture(
            curves[0][0], curves[0][1], title=title[:width], width=width, levels=[curves[1]], colours=terminal,
            unicode=wide,
        )  # fmt: skip
    return ""
