"""``metric-assistant trend``: one metric over steps, in a sentence and a picture."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

from assistant.cli.common import message_language, read_sources, write_json

if TYPE_CHECKING:
    from assistant.service.trends import TrendReport

#: Width of a picture in a pipe, and the widest on a terminal.
PIPE_WIDTH, WIDEST = 80, 110
_RANGE = re.compile(r"(-?\d*)\s*:\s*(-?\d*)")


def add_trend_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    trend = commands.add_parser(
        "trend", help="one metric over steps, with a picture / 一个指标的走势与图",
        description="Direction, slope with its interval, change points and a picture of one metric. "
        "一个指标的方向、斜率（含区间）、变化点和图。",
    )  # fmt: skip
    trend.add_argument("source", metavar="SOURCE", help="a log file, or - for standard input")
    trend.add_argument(
        "metric",
        metavar="METRIC",
        nargs="+",
        help="keys, or one short name or plain words / 一个或多个键名，或一个简称、说法",
    )
    trend.add_argument("--run", metavar="ID", dest="which", help="which run, where the source holds several (r0, r1 …)")
    window = trend.add_mutually_exclusive_group()
    window.add_argument("--steps", metavar="A:B", type=_steps, help="from step A to step B, either may be left out")
    window.add_argument("--last", metavar="N", type=_count, help="the last N points")
    scale = trend.add_mutually_exclusive_group()
    scale.add_argument(
        "--log", action="store_const", const="log", dest="scale",
        help="growth by factors, on a logarithmic axis (usual for KL and learning rates) / 对数刻度",
    )  # fmt: skip
    scale.add_argument("--linear", action="store_const", const="linear", dest="scale", help="differences / 线性刻度")
    trend.add_argument("--at", metavar="STEP", type=int, help="what it will be at a future step / 预测某个 step 的值")
    trend.add_argument("--until", metavar="VALUE", type=float, help="when it will reach a value / 何时达到某个值")
    trend.add_argument("--format", choices=["md", "json"], default="md")
    trend.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    trend.set_defaults(run=trend_command)


def trend_command(arguments: argparse.Namespace) -> int:
    """``trend``: the sentence and the picture, or the facts and the chart as JSON."""
    from assistant.cli.progress import Bar
    from assistant.service import service
    from assistant.service.trends import trend

    words = list(arguments.metric)
    name = " ".join(words)
    sources = read_sources([arguments.source], "", arguments)
    engine = service()
    with Bar(sources, sys.stderr) as bar:
        material = engine.read(sources, progress=bar.show)
    chinese = any("\u3400" <= char <= "\u9fff" for char in name)
    language = message_language(name if chinese else "", arguments)
    if arguments.lang == "auto" and material.language and not chinese:
        language = material.language
    held = {key for run in material.runs for key in run.columns}
    # Words that are keys are metrics, each to be told; words that are not are one name in plain words.
    names = words if len(words) > 1 and held.intersection(words) else [name]
    reports = [
        trend(
            material, each, resolver=engine.resolver, run=arguments.which, steps=arguments.steps, last=arguments.last,
            scale=arguments.scale, at=arguments.at, target=arguments.until, language=language,
        )
        for each in names
    ]  # fmt: skip
    if arguments.format == "json":
        told = [report.to_json() for report in reports]
        write_json(told[0] if len(told) == 1 else told, sys.stdout)
        return 0
    for place, report in enumerate(reports):
        if place:
            print()
        notes: list[str] = []
        if report is reports[-1]:
            notes = [*report.answer.warnings, *(note.text(language) for note in material.notes)]
        _print(report, report.answer.answer + "".join(f"\n\n> {note}" for note in notes))
    return 0


def _print(report: TrendReport, text: str) -> None:
    """The words and the picture of one metric."""
    if sys.stdout.isatty():
        from assistant.cli.terminal import print_markdown

        print_markdown(text)
    else:
        print(text)
    drawn = picture_of(report, sys.stdout.isatty(), sys.stdout.encoding or "ascii")
    if drawn:
        print("\n" + drawn)


def picture_of(report: TrendReport, terminal: bool, encoding: str) -> str:
    """The report's picture; its fitted line or levels over it, an upright line at each change."""
    from assistant.cli.plot import picture

    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else PIPE_WIDTH
    title = report.metric if len(report.metric) <= width else f"…{report.metric[1 - width :]}"
    return picture(
        report.steps, report.values, title=title, axis=report.run.step_axis, width=width,
        levels=report.lines(), marks=[change.step for change in report.changes], log=report.scale == "log",
        colours=terminal, unicode="utf" in encoding.lower(),
        label=report.label,
    )  # fmt: skip


def _steps(text: str) -> tuple[int | None, int | None]:
    match = _RANGE.fullmatch(text.strip())
    if match is None or not (match[1] or match[2]) or "-" in (match[1], match[2]):
        raise argparse.ArgumentTypeError(f"“{text}” is not a range of steps such as 10:50, 10: or :50")
    low, high = (int(part) if part else None for part in match.groups())
    if low is not None and high is not None and low > high:
        raise argparse.ArgumentTypeError(f"the range {text} ends before it begins")
    return low, high


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of points")
    return int(text)
