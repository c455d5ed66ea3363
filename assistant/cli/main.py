"""``metric-assistant``: explain, parse, metric, check, index, serve.

Exit status: 0 done, 1 findings (only ``check``), 2 input or usage the user can mend (one line on standard error), 3 a
needed service is unreachable.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assistant import kept_patterns, resources
from assistant.cli.common import add_clipboard_option, message_language, read_sources, write_json
from assistant.model import AssistantError, EmptyInput, InputError

OK, BAD_INPUT, UNREACHABLE = 0, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads only wait for one another
    if argv is None:  # a process of our own
        kept_patterns.keep(resources.cache_folder())
    parser = build_parser()
    arguments = parser.parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except AssistantError as error:
        asked = " ".join([*(getattr(arguments, "question", None) or []), *(getattr(arguments, "name", None) or [])])
        print(error.message(message_language(asked, arguments)), file=sys.stderr)
        return BAD_INPUT if isinstance(error, InputError) else UNREACHABLE if error.code == "unreachable" else 1
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except KeyboardInterrupt:
        return 130
    return status


def build_parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    parser = argparse.ArgumentParser(
        prog="metric-assistant",
        description="Paste a training log, ask in Chinese or English, get an answer whose every number is traced. "
        "粘贴训练日志，用中文或英文提问，回答里的每个数字都能追溯到日志。",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    explain = commands.add_parser("explain", help="answer a question about a log / 回答关于日志的问题")
    explain.add_argument("source", nargs="*", metavar="SOURCE", help="a log file, or - for standard input")
    explain.add_argument(
        "-q", "--question", action="append", default=None,
        help="the question; give it again for a follow-up (none: explain what matters)",
    )  # fmt: skip
    explain.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    explain.add_argument("--engine", choices=["auto", "offline", "llm"], default="auto")
    explain.add_argument(
        "--anonymize",
        action="store_true",
        default=None,
        help="mask hosts, paths, users, custom metric names before a model is called / 调用模型前隐去主机、路径等",
    )
    explain.add_argument("--format", choices=["md", "json", "html"], default="md")
    add_clipboard_option(explain)
    explain.add_argument(
        "--watch", action="store_true", help="answer anew whenever the log has grown, until Ctrl+C / 日志增长时重新回答"
    )
    explain.add_argument("--every", type=float, default=5.0, metavar="SECONDS", help="with --watch: how often to look")
    explain.set_defaults(run=explain_command)

    parse = commands.add_parser("parse", help="the log as a table / 把日志变成表格")
    parse.add_argument("source", metavar="SOURCE", nargs="?", help="a log file, or - for standard input")
    add_clipboard_option(parse)
    parse.add_argument("--to", choices=["json", "csv", "parquet"], default="json")
    parse.add_argument("-o", "--output", metavar="FILE", help="write there instead of standard output")
    parse.add_argument(
        "--strict",
        action="store_true",
        help="fail where a line looks like metrics and was not understood / 有未识别的指标行即报错",
    )
    parse.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    parse.set_defaults(run=parse_command, usage=parse.error)

    metric = commands.add_parser("metric", help="the definition of a metric / 指标的定义")
    metric.add_argument("name", metavar="NAME", nargs="+", help="key, short name or plain words / 键名、简称或中文说法")
    metric.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    metric.add_argument("--format", choices=["md", "json"], default="md")
    metric.set_defaults(run=metric_command)

    from assistant.cli.chat import add_chat_parser
    from assistant.cli.check import add_check_parser
    from assistant.cli.compare import add_compare_parser
    from assistant.cli.completion import add_completion_parser
    from assistant.cli.dev_model import add_dev_model_parser
    from assistant.cli.doctor import add_doctor_parser
    from assistant.cli.index import add_index_parser
    from assistant.cli.keys import add_keys_parser
    from assistant.cli.mcp import add_mcp_parser
    from assistant.cli.report import add_report_parser
    from assistant.cli.trend import add_trend_parser
    from assistant.cli.triage import add_triage_parser
    from assistant.cli.verify import add_verify_parser
    from assistant.cli.watch import add_watch_parser

    add_chat_parser(commands)
    add_check_parser(commands)
    add_report_parser(commands)
    add_compare_parser(commands)
    add_index_parser(commands)
    add_trend_parser(commands)
    add_verify_parser(commands)
    add_watch_parser(commands)
    add_triage_parser(commands)
    add_doctor_parser(commands)
    add_completion_parser(commands)
    add_dev_model_parser(commands)
    add_keys_parser(commands)
    add_mcp_parser(commands)

    serve = commands.add_parser("serve", help="the chat page and the REST API / 网页与 REST API")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    serve.set_defaults(run=serve_command)
    return parser


class _Version(argparse.Action):
    """``--version``, looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: Any) -> None:
        from assistant import __version__

        print(f"metric-assistant {__version__}")
        parser.exit()


def explain_command(arguments: argparse.Namespace) -> int:
    """``explain``: one answer a question; follow-ups share the conversation's state."""
    from assistant.service import service

    questions: list[str] = arguments.question or [""]
    if arguments.watch:
        from assistant.cli.explain_watch import explain_watched

        return explain_watched(arguments, questions)
    sources = read_sources(arguments.source, questions[0], arguments)
    if not sources and not any(questions):
        raise EmptyInput(
            zh="没有输入。请给出日志文件，或把日志传到标准输入：metric-assistant explain train.log -q 问题",
            en="There is no input. Name a log file or pipe one in: metric-assistant explain train.log -q QUESTION",
        )
    engine = service()
    from assistant.cli.progress import Bar

    with Bar(sources, sys.stderr) as bar:
        material = engine.read(sources, progress=bar.show)
    from assistant.cli.streaming import show_block, show_streamed, streams

    state, answers = None, []
    options = {"language": arguments.lang, "engine": arguments.engine, "anonymize": arguments.anonymize}
    live = arguments.format == "md" and streams(arguments.engine)
    for question in questions:
        if live:
            explained = show_streamed(engine, material, question, show_block, state=state, **options)
        else:
            explained = engine.explain(material, question, state=state, **options)
        state = explained.state
        answers.append(explained.answer)
    if arguments.format == "json":
        objects = [answer.to_json() for answer in answers]
        write_json(objects[0] if len(objects) == 1 else objects, sys.stdout)
    elif arguments.format == "html":
        from assistant.cli.report import write_page

        write_page(answers, material.runs, None)
    elif not live:
        for answer in answers:
            if sys.stdout.isatty():
                from assistant.cli.terminal import print_answer

                print_answer(answer)
            else:
                print(markdown(answer))
    problems = [answer.problem for answer in answers if answer.problem]
    if not (sys.stdout.isatty() and sys.stderr.isatty()):  # a person has just read it
        for problem in problems:
            print(problem.replace("`", ""), file=sys.stderr)
    return BAD_INPUT if problems else OK


def markdown(answer: Any) -> str:
    """An answer as Markdown with its warnings and what the check found."""
    text: str = answer.answer
    for warning in answer.warnings:
        text += f"\n\n> {warning}"
    if answer.grounding.numbers:
        g = answer.grounding
        text += (
            f"\n\n*{g.supported} / {g.numbers} 个数字可追溯*" if answer.language == "zh"
            else f"\n\n*{g.supported} of {g.numbers} numbers traced*"
        )  # fmt: skip
    return text


def parse_command(arguments: argparse.Namespace) -> int:
    """``parse``: JSON as in the contract, or a table."""
    from assistant.cli.progress import Bar
    from assistant.service import service

    if arguments.source is None and not arguments.clipboard:
        arguments.usage("the following arguments are required: SOURCE")
    sources = read_sources([arguments.source] if arguments.source else [], "", arguments)
    with Bar(sources, sys.stderr) as bar:
        material = service().read(sources, thorough=arguments.strict, progress=bar.show, apart=True)
    language = message_language("", arguments)
    if arguments.strict and material.doubtful:
        raise _not_understood(material.doubtful[0])
    if not material.runs:
        if material.doubtful:
            raise _not_understood(material.doubtful[0])
        raise InputError(
            zh=f"{arguments.source or sources[0].name} 里没有任何指标。请确认这是训练日志。",
            en=f"{arguments.source or sources[0].name} holds no metric. Check that it is a training log.",
        )
    if arguments.to == "json":
        document = {"runs": [run.to_json(language) for run in material.runs]}
        if arguments.output:
            with Path(arguments.output).open("w", encoding="utf-8") as handle:
                write_json(document, handle)
        else:
            write_json(document, sys.stdout)
        return OK
    import pandas as pd

    frames = []
    for run in material.runs:
        frame = run.to_pandas()
        frame.insert(0, "line", run.row_lines)
        if len(material.runs) > 1:
            frame.insert(0, "run", run.id)
        frames.append(frame)
    table = pd.concat(frames)
    table = table.reset_index(names=_step_column([run.step_axis for run in material.runs], set(table.columns)))
    if arguments.to == "csv":
        table.to_csv(arguments.output or sys.stdout, index=False)
        return OK
    if not arguments.output:
        raise InputError(
            zh="Parquet 是二进制格式，请用 -o FILE 指定输出文件。",
            en="Parquet is binary: name a file with -o FILE.",
        )
    try:
        table.to_parquet(arguments.output, index=False)
    except ImportError:
        raise InputError(
            zh='写 Parquet 需要 pyarrow：pip install "metric-assistant[parquet]"',
            en='Parquet needs pyarrow: pip install "metric-assistant[parquet]"',
        ) from None
    return OK


def _step_column(axes: list[str], taken: set[str]) -> str:
    """The heading of the column of steps: what counts them in all runs, unless a metric has that name too."""
    name = axes[0] if len(set(axes)) == 1 else "step"
    if name in taken:
        name = "step"
    while name in taken:
        name = f"_{name}"
    return name


def _not_understood(doubtful: Any) -> InputError:
    """The error of ``--strict``, and where nothing was read: how many lines, which, and the text of three."""
    lines = doubtful.lines
    shown = ", ".join(map(str, lines[:10])) + (" …" if len(lines) > 10 else "")
    samples = "".join(f"\n  {line}: {text}" for line, text in zip(lines, doubtful.samples, strict=False))
    return InputError(
        zh=f"{doubtful.name} 有 {len(lines)} 行看起来是指标但没有识别（第 {shown} 行）：{samples}",
        en=f"{doubtful.name}: {len(lines)} lines look like metrics and were not understood (lines {shown}):{samples}",
    )


def metric_command(arguments: argparse.Namespace) -> int:
    """``metric``: definitions of a name, best first."""
    from assistant.service import service

    name = " ".join(arguments.name)
    engine = service()
    chinese = any("\u3400" <= char <= "\u9fff" for char in name)
    language = message_language(name if chinese else "", arguments)
    cards = engine.metric(name)
    for trouble in engine.problems:
        print(trouble.message(language), file=sys.stderr)
    for notice in engine.notices:
        print(notice.text(language), file=sys.stderr)
    if arguments.format == "json":
        document = engine.metric_json(cards[0])
        document["others"] = [card.id for card in cards[1:]]
        write_json(document, sys.stdout)
        return OK
    from assistant.cli.terminal import card_markdown, print_markdown

    text = card_markdown(cards, language, engine.others(cards[0]))
    if sys.stdout.isatty():
        print_markdown(text)
    else:
        print(text)
    return OK


def serve_command(arguments: argparse.Namespace) -> int:
    """``serve``: the HTTP server; without access keys on loopback only."""
    import gc

    gc.disable()  # until it listens: what a start loads stays, and looking through it again and again takes long
    from assistant.api.server import refuse_open_door, run_server
    from assistant.serving import application

    refuse_open_door(arguments.host)
    return run_server(application(), arguments.host, arguments.port)


if __name__ == "__main__":
    sys.exit(main())
