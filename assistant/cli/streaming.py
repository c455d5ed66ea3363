"""Answers on the terminal while a model writes them: each block of Markdown as soon as it is whole."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assistant.settings import settings


def streams(engine: str) -> bool:
    """Whether answers come from a model, piece by piece."""
    return engine != "offline" and bool(settings().models)


def show_streamed(assistant: Any, material: Any, question: str, show: Callable[[str], None], /, **options: Any) -> Any:
    """Shows an answer as it comes; returns what :meth:`Service.explain` would have.

    Args:
        assistant: the service.
        material: what was read.
        question: as typed.
        show: takes whole blocks of Markdown.
        **options: as of ``Service.stream``.
    """
    import asyncio

    from assistant.cli.main import markdown

    async def follow() -> Any:
        waiting, explained = "", None
        events = assistant.stream(material, question, **options)
        try:
            async for event in events:
                if event.kind == "delta":
                    waiting += event.data
                    blocks, gap, waiting = waiting.rpartition("\n\n")
                    if gap and blocks.strip():
                        show(blocks.strip("\n"))
                elif event.kind == "answer":
                    explained = event.data
        finally:
            await events.aclose()
        if waiting.strip():
            show(waiting.strip("\n"))
        return explained

    explained = asyncio.run(follow())
    footer = markdown(replace(explained.answer, answer="")).strip("\n")
    if footer:
        show(footer)
    return explained


def show_block(text: str) -> None:
    """A block on standard output: rendered on a terminal, else as it is."""
    if sys.stdout.isatty():
        from assistant.cli.terminal import print_markdown

        print_markdown(text)
        print(flush=True)
    else:
        print(text, end="\n\n", flush=True)
