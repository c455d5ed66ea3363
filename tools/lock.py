"""Writes `requirements-run.lock` and `requirements.lock`; uv resolves.

    make lock PYTHON=python3.11
    make lock ARGS=--upgrade

uv, in an environment of its own, resolves what `pyproject.toml` asks for: first what the program runs on, then,
held to those versions, every extra and the dev group, so that the two files never disagree. Versions that the locks
hold stay unless they no longer fit, or `--upgrade` is said. Lines are `name==version` and nothing else: no address,
so the lock serves behind a mirror as well. uv's and pip's own settings (further indexes, folders of wheels) are left
out while resolving, since a version that only this machine has would lock everybody else out; a mirror is named with
UV_DEFAULT_INDEX. (pip alone gave up on the page's, the agent's and the protocol's packages together.)

The oldest Python that the project supports resolves: what it gets works on the later ones, and packages that only
it needs are in the lock.
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

    upgrade = ["--upgrade"] if "--upgrade" in sys.argv[1:] else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", folder / "uv"], check=True)
        subprocess.run([folder / "uv" / "bin" / "python", "-m", "pip", "--quiet", "install", "uv"], check=True)
        pins = resolve(folder, run, ROOT / "requirements-run.lock", oldest, upgrade)
        write(ROOT / "requirements-run.lock", RUN_HEADER, pins)
        held = ["--constraint", str(ROOT / "requirements-run.lock")]
        pins = resolve(folder, [*run, *dev], ROOT / "requirements.lock", oldest, [*upgrade, *held])
        write(ROOT / "requirements.lock", DEV_HEADER, pins)
    return 0


def resolve(folder: Path, wanted: list[str], lock: Path, python: str, options: list[str]) -> list[str]:
    """The pins for what is wanted, near those that the lock holds; stops at a line that is not `name==version`."""
    (folder / "wanted.in").write_text("\n".join(wanted), encoding="utf-8")
    found = folder / lock.name
    found.write_bytes(lock.read_bytes())
    command = [str(folder / "uv" / "bin" / "uv"), "pip", "compile", "--no-config", "--quiet", "--no-annotate"]
    command += ["--no-header", "--python-version", python, "--output-file", str(found), *options]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_FIND", "UV_EXTRA", "UV_INDEX"))}
    subprocess.run([*command, str(folder / "wanted.in")], env=environment, check=True, stdout=subprocess.DEVNULL)
    pins = [line for line in found.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
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
