"""What every command of the terminal needs: sources, the language of messages, JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, TextIO


def message_language(question: str, arguments: argparse.Namespace) -> Any:
    """Language of an error message, found without loading the cards."""
    from assistant.settings import settings

    wish = getattr(arguments, "lang", "auto")
    if wish in {"zh", "en"}:
        return wish
    if any("\u3400" <= char <= "\u9fff" for char in question):
        return "zh"
    return "en" if question.strip() else settings().lang


def read_sources(names: Sequence[str], question: str, arguments: argparse.Namespace) -> list[Any]:
    """The sources that a command names; standard input where it names none and something is piped in."""
    from assistant.service import Source, read_source

    if not names:
        if sys.stdin is None or sys.stdin.isatty():
            return []
        names = ["-"]
    sources = []
    for name in names:
        label, content = read_source(name)
        if (
            isinstance(content, bytes)
            and not content.strip()
            and label == "stdin"
            and not arguments.source
            and question
        ):
            return []
        sources.append(Source(label, content))
    return sources


def write_json(document: Any, stream: TextIO) -> None:
    """JSON with two blanks of indentation, on a line of its own."""
    import orjson

    stream.write(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    stream.write("\n")
