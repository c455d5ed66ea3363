"""Writes `requirements-run.lock` and `requirements.lock`, with pip alone.

    make lock PYTHON=python3.11

An empty virtual environment resolves what `pyproject.toml` asks for, and `pip freeze` says what came
of it: first what the program runs on, then, over the same environment, every extra and the dev
group, so that the two files never disagree. Lines are `name==version` and nothing else: no address, so
the lock serves behind a mirror as well. pip's own settings (further indexes, folders of wheels) are
left out while resolving, since a version that only this machine has would lock everybody else out; a
mirror is named with PIP_INDEX_URL.

The oldest Python that the project supports resolves: what it gets works on the later ones, and packages
that only it needs are in the lock.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!]*")

RUN_HEADER = """\
# What the program runs on, and the builder that installs it editable. `make run` needs no more: half the
# packages of requirements.lock and a fraction of the wait, without test tools. Written by `make lock`.
"""
DEV_HEADER = """\
# Everything: requirements-run.lock with the extras and the dev group of pyproject.toml added, versions the
# same. For `make test` and the other targets. Written by `make lock`.
"""


def main() -> int:
    """Writes both locks; returns the exit status."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = project["project"]["requires-python"].removeprefix(">=")
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running != oldest:
        print(
            f"The lock is resolved by Python {oldest}, the oldest supported; this is {running}. "
            f"Say: make lock PYTHON=python{oldest}",
            file=sys.stderr,
        )
        return 2

    run = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    extras = project["project"].get("optional-dependencies", {}).values()
    dev = [requirement for extra in extras for requirement in extra] + project["dependency-groups"]["dev"]

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        pip(python, "install", "--upgrade", "pip")
        pip(python, "install", *run)
        write(ROOT / "requirements-run.lock", RUN_HEADER, freeze(python))
        pip(python, "install", "--constraint", str(ROOT / "requirements-run.lock"), *run, *dev)
        write(ROOT / "requirements.lock", DEV_HEADER, freeze(python))
    return 0


def pip(python: Path, *arguments: str) -> str:
    """What pip prints, run without the machine's settings of where packages come from."""
    environment = {k: v for k, v in os.environ.items() if k not in {"PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"}}
    environment["PIP_CONFIG_FILE"] = os.devnull
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def freeze(python: Path) -> list[str]:
    """The pins of the environment; stops at a line that is not `name==version`."""
    pins = pip(python, "freeze").splitlines()
    strange = [pin for pin in pins if not PIN.fullmatch(pin)]
    if strange:
        sys.exit(f"not a plain name==version, so nobody else could install it: {', '.join(strange)}")
    return pins


def write(path: Path, header: str, pins: list[str]) -> None:
    """Writes one lock and says so."""
    path.write_text(header + "".join(f"{pin}\n" for pin in pins), encoding="utf-8")
    print(f"{path.name}: {len(pins)} packages")


if __name__ == "__main__":
    sys.exit(main())
