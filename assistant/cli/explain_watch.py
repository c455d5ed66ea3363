"""``explain --watch``: the answer anew whenever the log has grown."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from assistant.cli.common import write_json
from assistant.model import InputError
from assistant.model.answer import Answer

#: Looks without growth after which an unfinished last line counts as a line.
SETTLED = 2


def explain_watched(arguments: argparse.Namespace, questions: Sequence[str]) -> int:
    """Answers again and again; an answer that has not changed is not repeated. Ctrl+C ends, exit status 0.

    Raises:
        InputError: not one file (or standard input), or more than one question.
    """
    from assistant.cli.watch import open_live
    from assistant.service import Material, service

    if len(arguments.source) != 1 or arguments.clipboard or len(questions) > 1 or arguments.format == "html":
        raise InputError(
            zh="--watch 需要一个日志文件（或 -）和至多一个问题，格式为 md 或 json。",
            en="--watch takes one log file (or -) and at most one question, as md or json.",
        )
    engine = service()
    log = open_live(arguments.source[0], once=False)
    shown, still = "", 0
    try:
        while True:
            change = log.poll()
            still = 0 if change.grew else still + 1
            if change.ended or still == SETTLED:
                change = type(change)(grew=log.finish() or change.grew, ended=change.ended)
            if (change.grew or change.ended) and not change.more:
                material = Material(log.runs, "", log.notes)
                explained = engine.explain(
                    material, questions[0], language=arguments.lang, engine=arguments.engine,
                    anonymize=arguments.anonymize,
                )  # fmt: skip
                if explained.answer.answer != shown:
                    shown = explained.answer.answer
                    _show(explained.answer, arguments.format)
            if change.ended:
                return 0
            if not change.more:
                time.sleep(max(arguments.every, 0.0))
    except KeyboardInterrupt:
        return 0
    finally:
        log.close()


def _show(answer: Answer, form: str) -> None:
    """On a terminal in place of the answer before; elsewhere behind it."""
    from assistant.cli.main import markdown

    if form == "json":
        write_json(answer.to_json(), sys.stdout)
    elif sys.stdout.isatty():
        from assistant.cli.terminal import print_answer

        sys.stdout.write("\x1b[2J\x1b[H")
        sys.stdout.flush()
        print_answer(answer)
    else:
        print(markdown(answer), end="\n\n---\n\n")
    sys.stdout.flush()
