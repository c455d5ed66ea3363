"""``metric-assistant doctor``: what is configured, reachable, missing, and how to mend it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from assistant.cli.common import message_language, write_json
from assistant.cli.verify import columns, wrapped

UNREACHABLE = 3
MARKS = {"ok": "✓", "note": "·", "missing": "✗"}


def add_doctor_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    doctor = commands.add_parser(
        "doctor", help="what is configured, reachable, missing / 检查安装与配置",
        description="Looks at packages, cards, folders, search, Chroma, the database, the model's server and more, and "
        "says how to mend what does not work. Exit status 3 if something does not. 检查安装与配置，并说明如何修复。",
    )  # fmt: skip
    doctor.add_argument("--format", choices=["md", "json"], default="md")
    doctor.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    doctor.set_defaults(run=doctor_command)


def doctor_command(arguments: argparse.Namespace) -> int:
    """``doctor``: exit status 0 if everything that is asked for works, else 3."""
    from assistant.service.doctor import PARTS, examine
    from assistant.service.terminal_words import say

    language = message_language("", arguments)
    found = examine(language, lambda: _clipboard(language))
    if arguments.format == "json":
        parts = list(found)
        broken = [part for part in parts if part.state == "missing"]
        document = {
            "ok": not broken,
            "parts": [{"name": part.name, "state": part.state, "text": part.text} for part in parts],
        }
        write_json(document, sys.stdout)
        return UNREACHABLE if broken else 0
    names = {name: say(f"doctor.name_{name}", language) for name in PARTS}
    width = max(columns(name) for name in names.values())
    parts = []
    for part in found:
        parts.append(part)
        name = names[part.name]
        head = f"{MARKS[part.state]} {name}{' ' * (width - columns(name))}  "
        print("\n".join(wrapped(part.text, head, " " * (width + 4))), flush=True)
    print()
    broken = [part for part in parts if part.state == "missing"]
    if broken:
        print(say("doctor.broken", language, n=len(broken)))
    else:
        print(say("doctor.all_well" if all(part.state == "ok" for part in parts) else "doctor.usable", language))
    return UNREACHABLE if broken else 0


def _clipboard(language: str) -> tuple[str, str]:
    """The program that reads the clipboard, or what to do to have one."""
    from assistant.cli.clipboard import clipboard_command, missing_program

    command = clipboard_command()
    return ("", missing_program().message("zh" if language == "zh" else "en")) if command is None else (command[0], "")
