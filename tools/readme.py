"""Puts the output of `make demo` into the README, or with --check says whether it is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- demo:begin -->", "<!-- demo:end -->"


def current() -> str:
    """What the demo prints now."""
    shown = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "demo.py"), "--plain"], capture_output=True, text=True, check=True
    )
    return shown.stdout


def block(output: str) -> str:
    """The README's part: commands as code, answers as they are, each question folded open."""
    parts = []
    for piece in output.split("$ metric-assistant ")[1:]:
        command, _, answer = piece.partition("\n")
        quoted = "\n".join(f"> {line}".rstrip() for line in answer.strip().splitlines())
        parts.append(f"```console\n$ metric-assistant {command}\n```\n\n{quoted}")
    return "\n\n".join(parts)


def with_demo(readme: str, output: str) -> str:
    """The README's text with the demo's output between its marks."""
    before, rest = readme.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{block(output)}\n{END}{after}"


def main() -> int:
    """Writes the README; with ``--check`` only compares, exit status 1 if it is out of date."""
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    new = with_demo(old, current())
    if "--check" in sys.argv:
        if old != new:
            print("README.md is out of date: run `make readme`", file=sys.stderr)
        return int(old != new)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
