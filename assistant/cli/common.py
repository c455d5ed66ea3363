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
    """The sources that a command names; standard input where it names none and something is piped in.

    With ``--clipboard`` the clipboard's text comes first, and standard input only where it is named.
    """
    from assistant.service import Source, read_source

    pasted = []
    if getattr(arguments, "clipboard", False):
        from assistant.cli.clipboard import read_clipboard

        pasted = [Source("clipboard", read_clipboard())]
    if not names and not pasted:
        if sys.stdin is None or sys.stdin.isatty():
            return []
        names = ["-"]
    sources = pasted
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


def add_clipboard_option(parser: argparse.ArgumentParser) -> None:
    """``--clipboard``, for commands that read what is pasted."""
    parser.add_argument("--clipboard", action="store_true", help="read the clipboard's text / 读取剪贴板里的文本")


def read_apart(engine: Any, sources: Sequence[Any], names: Sequence[str], progress: Any) -> tuple[Any, dict[str, str]]:
    """As ``engine.read``, and which source each run stands in.

    Args:
        engine: the service.
        sources: what to read.
        names: how the user named them, as many.
        progress: is told how many bytes of a large file have been read.

    Returns:
        What was read, and run id → name.
    """
    from dataclasses import replace

    paths: dict[str, str] = {}
    material = engine.read([], progress=progress)
    for source, name in zip(sources, names, strict=True):
        read = engine.read([source], progress=progress)
        runs = [replace(run, id=f"r{len(material.runs) + place}") for place, run in enumerate(read.runs)]
        paths |= {run.id: name for run in runs}
        material = replace(
            material,
            runs=(*material.runs, *runs),
            question=material.question or read.question,
            notes=(*material.notes, *read.notes),
            doubtful=(*material.doubtful, *read.doubtful),
            language=material.language or read.language,
        )
    return material, paths


def write_json(document: Any, stream: TextIO) -> None:
    """JSON with two blanks of indentation, on a line of its own."""
    from assistant.model.jsontext import json_bytes

    stream.write(json_bytes(document, indent=True).decode())
    stream.write("\n")
