"""``metric-assistant check``: every rule and threshold over logs; the exit status is for scripts and CI."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from assistant.cli.common import add_clipboard_option, message_language, read_apart, read_sources, write_json
from assistant.model import EmptyInput, InputError

FINDINGS = 1
#: Formats for other programs, which tell each finding with its file and line.
LOCATED = ("github", "sarif", "junit", "line")


def add_check_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    check = commands.add_parser(
        "check", help="all rules and thresholds over a log / 用全部规则与阈值检查日志",
        description="Checks a log against every rule. Exit status: 0 nothing at the level of --fail-on, 1 findings at "
        "or over it, 2 bad input. 用全部规则检查日志；退出码：0 没有达到 --fail-on 级别的问题，1 有，2 输入有误。",
    )  # fmt: skip
    check.add_argument("source", nargs="*", metavar="SOURCE", help="log files, or - for standard input")
    check.add_argument(
        "--threshold", "-t", action="append", default=[], metavar="CONDITION",
        help='what should hold, such as "actor/ppo_kl<0.05"; may be given again / 应当满足的条件，可给多次',
    )  # fmt: skip
    check.add_argument(
        "--thresholds", action="append", default=[], metavar="FILE",
        help="a file of conditions, one a line, # for remarks / 条件文件，每行一条",
    )  # fmt: skip
    check.add_argument("--fail-on", choices=["warning", "critical"], default="warning")
    check.add_argument(
        "--format", choices=["md", "json", *LOCATED], default="md",
        help="md and json are for reading; github annotations, SARIF 2.1.0, JUnit XML and file:line: lines for CI and "
        "editors / github、sarif、junit、line 供 CI 与编辑器使用",
    )  # fmt: skip
    add_clipboard_option(check)
    from assistant.cli.notify import add_notify_options

    add_notify_options(check)
    check.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    check.set_defaults(run=check_command)


def check_command(arguments: argparse.Namespace) -> int:
    """``check``: the report, and whether something reaches the level of ``--fail-on``."""
    from assistant.cli.progress import Bar
    from assistant.service import service
    from assistant.service.checking import check_runs

    sources = read_sources(arguments.source, "", arguments)
    if not sources:
        raise EmptyInput(
            zh="没有输入。请给出日志文件：metric-assistant check train.log",
            en="There is no input. Name a log file: metric-assistant check train.log",
        )
    thresholds = [*arguments.threshold, *(line for name in arguments.thresholds for line in _conditions(name))]
    from assistant.cli.notify import Notifier

    notifier = Notifier(arguments, message_language("", arguments))
    engine = service()
    paths: dict[str, str] = {}
    with Bar(sources, sys.stderr) as bar:
        if arguments.format in LOCATED or arguments.notify:
            material, paths = read_apart(engine, sources, _names(arguments), bar.show)
        else:
            material = engine.read(sources, progress=bar.show)
    language = message_language("", arguments)
    if arguments.lang == "auto" and material.language:
        language = material.language
    report = check_runs(material.runs, engine.resolver, thresholds=thresholds, language=language)
    if arguments.format == "json":
        write_json(report.to_json(), sys.stdout)
    elif arguments.format in LOCATED:
        _write_located(report, material.runs, paths, arguments)
    else:
        remarks = [*report.warnings, *(note.text(language) for note in material.notes)]
        text = report.text + "".join(f"\n\n> {remark}" for remark in remarks if remark not in report.text)
        if sys.stdout.isatty():
            from assistant.cli.terminal import print_markdown

            print_markdown(text)
        else:
            print(text)
    failed = _notify(report, material.runs, paths, notifier) if arguments.notify else 0
    return FINDINGS if report.reaches(arguments.fail_on) else failed


def _notify(report: Any, runs: Any, paths: dict[str, str], notifier: Any) -> int:
    """Sends what is loud; the exit status if a message that had to arrive did not."""
    from assistant.service.alerts import alerts_of
    from assistant.service.formats import located

    notifier.send(alerts_of(located(report, runs, paths)), language=report.language)
    status: int = notifier.finish()
    return status


def _names(arguments: argparse.Namespace) -> list[str]:
    """How the user named the sources, in the order in which they are read: paths as they were typed."""
    pasted = ["clipboard"] if arguments.clipboard else []
    return [*pasted, *("stdin" if name == "-" else name for name in arguments.source or ([] if pasted else ["-"]))]


def _write_located(report: Any, runs: Any, paths: dict[str, str], arguments: argparse.Namespace) -> None:
    """The findings as other programs read them."""
    from assistant import __version__
    from assistant.service import formats

    found = formats.located(report, runs, paths)
    if arguments.format == "sarif":
        write_json(formats.sarif(found, report, __version__), sys.stdout)
        return
    if arguments.format == "junit":
        text = formats.junit(found, runs, report, arguments.fail_on)
    else:
        text = formats.github(found) if arguments.format == "github" else formats.compiler(found)
    if text:
        print(text)


def _conditions(name: str) -> list[str]:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(
            zh=f"读不了阈值文件 {name}：{reason}。", en=f"Cannot read the thresholds in {name}: {reason}."
        ) from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
