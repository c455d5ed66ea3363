"""Asks three questions, in Chinese and English, about the bundled example log: `make demo`.

Each is one call of the installed `metric-assistant`, printed as one would type it. `--plain` leaves out
colours, for a page that shows the output.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = "examples/verl-retool-steps-0-3.log"
QUESTIONS = [
    "跟 step 0 相比，模型有改进吗？",
    "用了多少张卡，batch 多大？",
    "How should I read actor/ppo_kl at step 1?",
]


def main() -> int:
    """Asks the questions; returns the first exit status that is not 0, else 0."""
    parser = argparse.ArgumentParser(description="Three questions about the bundled example log.")
    parser.add_argument("--plain", action="store_true", help="no colours")
    plain = parser.parse_args().plain or not sys.stdout.isatty()

    program = Path(sys.executable).with_name("metric-assistant")
    if not program.exists():
        print(f"{program} is missing; `make demo` installs it first", file=sys.stderr)
        return 2

    for number, question in enumerate(QUESTIONS):
        prompt = f"$ metric-assistant explain {LOG} -q {shlex.quote(question)}"
        print(("\n" if number else "") + (prompt if plain else f"\033[1m{prompt}\033[0m") + "\n", flush=True)
        command = [str(program), "explain", LOG, "-q", question]
        environment = os.environ | ({"NO_COLOR": "1"} if plain else {})
        if plain:
            shown = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
            sys.stdout.buffer.write(shown.stdout)  # through a pipe, so that nothing is drawn for a terminal
            sys.stdout.flush()
        else:
            shown = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if shown.returncode != 0:
            return shown.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
