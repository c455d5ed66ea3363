"""``metric-assistant verify``: which sentences of somebody's text about a log are so."""

from __future__ import annotations

import argparse
import sys
import textwrap
import unicodedata
from pathlib import Path
from typing import Any, Final

from assistant.cli.common import message_language, read_sources, write_json
from assistant.model import EmptyInput, InputError

MARKS: Final = {"supported": "✓", "contradicted": "✗", "unsupported": "?", "no_claim": "·"}
WIDTH: Final = 80


def add_verify_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    verify = commands.add_parser(
        "verify", help="audit a text about a log / 核对一段关于日志的文字",
        description="Audits somebody's text about a log, sentence by sentence: ✓ supported, ✗ contradicted (and what "
        "is so), ? unsupported, · no claim. 逐句核对一段关于日志的文字。",
    )  # fmt: skip
    verify.add_argument("source", metavar="SOURCE", help="the log, or - for standard input / 日志文件，- 为标准输入")
    verify.add_argument(
        "--text", default="-", metavar="FILE",
        help="the text to audit; - (the default) for standard input / 要核对的文本，默认读标准输入",
    )  # fmt: skip
    verify.add_argument("--format", choices=["md", "json"], default="md")
    verify.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    verify.set_defaults(run=verify_command)


def verify_command(arguments: argparse.Namespace) -> int:
    """``verify``: exit status 0 whatever the verdicts are; only bad input is an error."""
    from assistant.cli.progress import Bar
    from assistant.service import service
    from assistant.service.verifying import verify

    if arguments.source == "-" and arguments.text == "-":
        raise InputError(
            zh="日志和要核对的文本不能都来自标准输入。请用 --text FILE 给出文本，例如 --text answer.md",
            en="The log and the text cannot both come from standard input. Name the text, as in --text answer.md.",
        )
    if arguments.text == "-" and (sys.stdin is None or sys.stdin.isatty()):
        raise EmptyInput(
            zh="没有要核对的文本。请用 --text FILE 给出，或从标准输入传入。",
            en="There is no text to audit. Name it with --text FILE, or pipe it in.",
        )
    sources = read_sources([arguments.source], "", arguments)
    text = read_text(arguments.text)
    with Bar(sources, sys.stderr) as bar:
        material = service().read(sources, progress=bar.show)
    language = arguments.lang if arguments.lang in {"zh", "en"} else None
    audit = verify(material, text, language, resolver=service().resolver)
    if arguments.format == "json":
        write_json(audit.to_json(), sys.stdout)
    else:
        shown = language or message_language(text[:400] if _chinese(text) else "", arguments)
        print(report(audit, "zh" if language is None and _chinese(text) else shown))
    return 0


def read_text(name: str) -> str:
    """The text to audit.

    Raises:
        InputError: there is no such file, or it is not UTF-8 text.
    """
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InputError(
            zh=f"读不了要核对的文本 {name}：{error.strerror}。", en=f"Cannot read the text {name}: {error.strerror}."
        ) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(zh=f"要核对的文本 {name} 不是 UTF-8 文本。", en=f"The text {name} is not UTF-8.") from None


def report(audit: Any, language: str) -> str:
    """The audit as Markdown: a summary, then each sentence with its mark; beneath what is not so, what is."""
    from assistant.service.verifying import summary_line

    lines = [f"**{summary_line(audit, language)}**", ""]
    for sentence in audit.sentences:
        text = " ".join(sentence.text.split())
        if sentence.text.lstrip().startswith(("```", "~~~")):
            text = "``` …" if language == "en" else "```（代码块）"
        lines += wrapped(text, f"{MARKS[sentence.status]} ", "  ")
        said = set()
        for claim in sentence.claims:
            note = f"{claim.text.strip()}: {claim.reason}" if claim.reason else ""
            if claim.status in {"contradicted", "unsupported"} and note and note not in said:
                said.add(note)
                lines += wrapped(note, f"    {MARKS[claim.status]} ", "      ")
    return "\n".join(lines)


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Text in lines of at most 80 columns, wide characters counted as two."""
    if text.isascii():
        return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [
            first
        ]
    lines, line, used = [], first, columns(first)
    for word in _pieces(text):
        size = columns(word)
        if used + size > WIDTH and line.strip() and used > columns(rest):
            lines.append(line.rstrip())
            line, used = rest, columns(rest)
            size = columns(word.lstrip())
        line += word.lstrip() if line == rest else word
        used += size
    return [*lines, line.rstrip()]


def columns(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1 for char in text
    )


def _pieces(text: str) -> list[str]:
    """Where a line may break: after any wide character, between words."""
    pieces: list[str] = []
    word = ""
    for char in text:
        if unicodedata.east_asian_width(char) in "WF":
            if char in "，。、；：！？）”’》】" and (word or pieces):  # never at the beginning of a line
                if word:
                    word += char
                else:
                    pieces[-1] += char
                continue
            if word:
                pieces.append(word)
            pieces.append(char)
            word = ""
        elif char == " ":
            pieces.append(word + " ")
            word = ""
        else:
            word += char
    return [*pieces, word] if word else pieces


def _chinese(text: str) -> bool:
    return sum("\u3400" <= char <= "\u9fff" for char in text) > 0.05 * len(text)
