"""The README shows what the product says today."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme_tool", ROOT / "tools" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_demo_output_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "readme.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_with_demo_old_output_replaced() -> None:
    tool = load_tool()
    old = f"head\n{tool.BEGIN}\nold\n{tool.END}\ntail"
    new = tool.with_demo(old, "$ metric-assistant explain a.log -q b\n\n**answer** 8\n")
    assert "old" not in new
    assert "> **answer** 8" in new
    assert new.startswith("head\n")
    assert new.endswith("\ntail")
    assert tool.with_demo(new, "$ metric-assistant explain a.log -q b\n\n**answer** 8\n") == new


@pytest.mark.parametrize("setting", ["ASSISTANT_LANG", "ASSISTANT_MAX_BODY_MB", "ASSISTANT_STRICT_GROUNDING"])
def test_readme_setting_documented(setting: str) -> None:
    assert f"`{setting}`" in (ROOT / "README.md").read_text(encoding="utf-8")
