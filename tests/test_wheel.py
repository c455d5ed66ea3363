"""The wheel that people install: built, put into an empty environment, used away from the checkout.

And the locks it is installed with. These tests need the package index: without it they skip.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from examples.make_example import read_figures, write_log

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][A-Za-z0-9.!]*)")
UNREACHABLE = ("(from versions: none)", "Retrying (Retry(")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel and what the wheel declares, nothing else."""

    bin: Path
    environment: dict[str, str]
    folder: Path

    def run(self, program: str, *arguments: str) -> str:
        result = subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout


def run(*command: str | Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    line = [str(word) for word in command]
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def read_pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(pins), f"{name} has a line that is not name==version"
    return {pin.group(1).lower(): pin.group(2) for pin in pins if pin}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, outer_environment: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    result = run(*build, environment=outer_environment)
    assert result.returncode == 0, result.stdout + result.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory, outer_environment: dict[str, str]) -> Installed:
    folder = tmp_path_factory.mktemp("elsewhere")
    result = run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", environment=outer_environment)
    assert result.returncode == 0, result.stderr
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "venv",
        "--disable-pip-version-check",
        "--retries=1",
    ]
    result = run(
        *pip,
        "install",
        "--quiet",
        "--constraint",
        ROOT / "requirements.lock",
        wheel,
        environment=outer_environment,
    )
    if result.returncode != 0 and any(sign in result.stdout + result.stderr for sign in UNREACHABLE):
        pytest.skip("pip could not reach the package index")
    assert result.returncode == 0, result.stderr
    home = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return Installed(folder / "venv" / "bin", home, folder)


def test_locks_agree_and_hold_only_versions() -> None:
    run_lock, everything = read_pins("requirements-run.lock"), read_pins("requirements.lock")
    assert len(run_lock) > 5
    assert run_lock.items() <= everything.items()


def test_wheel_holds_data_folders(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "assistant/_data/knowledge/verl/actor-ppo_kl.md" in names
    assert "assistant/_data/examples/verl-retool-steps-0-3.log" in names
    assert any(name.startswith("assistant/_data/prompts/") for name in names)
    assert not [name for name in names if not name.startswith(("assistant/", "metric_assistant-"))]


def test_installed_wheel_comes_from_site_packages(installed: Installed) -> None:
    names = ["knowledge", "prompts", "examples"]
    code = f"from assistant.resources import data_folder as find; print(*map(find, {names}))"
    folders = installed.run("python", "-c", code).split()
    assert [Path(folder).name for folder in folders] == names
    assert all(str(installed.bin.parent.resolve()) in folder for folder in folders)


def test_installed_metric_defines_ppo_kl(installed: Installed) -> None:
    text = installed.run("metric-assistant", "metric", "ppo_kl", "--lang", "en")
    assert "actor/ppo_kl" in text
    assert "KL" in text


def test_installed_explain_derives_the_gpus(installed: Installed) -> None:
    log = installed.folder / "run.log"
    log.write_text(write_log(read_figures() | {"process": "TaskRunner pid=4711"}), encoding="utf-8")
    arguments = ["explain", str(log), "-q", "用了多少张卡", "--format", "json"]
    answer = json.loads(installed.run("metric-assistant", *arguments))
    gpus = [fact for fact in answer["facts"] if fact["kind"] == "derived" and fact["name"] == "n_gpus"]
    assert gpus
    assert gpus[0]["value"] == pytest.approx(8, abs=0.01)
    assert "8" in answer["answer"]
