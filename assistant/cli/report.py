"""``metric-assistant report``, and ``explain --format html``: one page that stands alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assistant.cli.common import read_sources
from assistant.model import Answer, EmptyInput, InputError, Run


def add_report_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    report = commands.add_parser(
        "report", help="one self-contained HTML page / 一页自包含的 HTML 报告",
        description="Writes what matters about logs, with interactive plots, the findings and the ledger behind each "
        "number, as one HTML file that opens from disk without a network. 生成一个离线可看的 HTML 报告。",
    )  # fmt: skip
    report.add_argument("source", nargs="*", metavar="SOURCE", help="log files, or - for standard input")
    report.add_argument("-o", "--output", required=True, metavar="FILE", help="the page to write / 写到哪个文件")
    report.add_argument(
        "-q", "--question", action="append", default=None, help="questions that it answers beside the overview"
    )
    report.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    report.set_defaults(run=report_command)


def report_command(arguments: argparse.Namespace) -> int:
    """``report``: the overview of the runs, then each question."""
    from assistant.cli.progress import Bar
    from assistant.service import service

    sources = read_sources(arguments.source, "", arguments)
    if not sources:
        raise EmptyInput(
            zh="没有输入。请给出日志文件：metric-assistant report train.log -o report.html",
            en="There is no input. Name a log file: metric-assistant report train.log -o report.html",
        )
    engine = service()
    with Bar(sources, sys.stderr) as bar:
        material = engine.read(sources, progress=bar.show)
    if not material.runs:
        raise InputError(
            zh="文本里没有任何指标，没有可写的报告。", en="The text holds no metric: there is nothing to report."
        )
    asked: list[str] = arguments.question or ([material.question] if material.question else [])
    language = arguments.lang
    if language == "auto" and asked:
        language = engine.language(asked[0], "auto")
    answers: list[Answer] = []
    state = None
    for question in ["", *asked]:
        explained = engine.explain(material, question, language=language, state=state, own_question=False)
        state = explained.state
        answers.append(explained.answer)
    write_page(answers, material.runs, arguments.output)
    return 0


def write_page(answers: Sequence[Answer], runs: Sequence[Run], output: str | None) -> None:
    """The page into a file, or to standard output.

    Raises:
        InputError: the file cannot be written.
    """
    from assistant.service.reports import page as page_of

    page = page_of(answers, runs)
    if output is None:
        sys.stdout.write(page)
        return
    try:
        Path(output).write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(
            zh=f"写不了 {output}：{error.strerror}。", en=f"Cannot write {output}: {error.strerror}."
        ) from None
