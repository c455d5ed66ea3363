"""The clipboard's text, by the program that each desktop has for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from assistant.model import EmptyInput, InputError

#: Seconds for a clipboard's owner to hand its text over; one that hangs would hang us.
PATIENCE_S: Final = 10.0

_POWERSHELL: Final = (
    "-NoProfile", "-NonInteractive", "-Command",
    "[Console]::OutputEncoding=[Text.Encoding]::UTF8; Get-Clipboard -Raw",
)  # fmt: skip


def commands(platform: str, environment: Mapping[str, str]) -> list[list[str]]:
    """Commands that print the clipboard here, best first, whether installed or not.

    Args:
        platform: as ``sys.platform``.
        environment: tells the desktop (``WAYLAND_DISPLAY``, ``DISPLAY``) and Windows beneath (``WSL_DISTRO_NAME``).
    """
    if platform == "darwin":
        return [["pbpaste"]]
    if platform in {"win32", "cygwin"}:
        return [["powershell", *_POWERSHELL], ["pwsh", *_POWERSHELL]]
    wayland = [["wl-paste", "--no-newline"]]
    x11 = [["xclip", "-selection", "clipboard", "-out"], ["xsel", "--clipboard", "--output"]]
    found: list[list[str]] = []
    if environment.get("WAYLAND_DISPLAY"):
        found += wayland
    if environment.get("DISPLAY"):
        found += x11
    if environment.get("WSL_DISTRO_NAME") or environment.get("WSL_INTEROP"):
        found.append(["powershell.exe", *_POWERSHELL])
    return found


def clipboard_command() -> list[str] | None:
    """The command that prints the clipboard here; ``None`` if none is installed or there is no desktop."""
    return next((one for one in commands(sys.platform, os.environ) if shutil.which(one[0])), None)


def read_clipboard() -> bytes:
    """The clipboard's text.

    Raises:
        InputError: there is no desktop, no program that reads its clipboard, or that program fails.
        EmptyInput: nothing is on it.
    """
    command = clipboard_command()
    if command is None:
        raise missing_program()
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(
            zh=f"{command[0]} 在 {PATIENCE_S:.0f} 秒内没有给出剪贴板内容。请把日志传到标准输入（用 -）。",
            en=f"{command[0]} gave no clipboard within {PATIENCE_S:.0f} s. Pipe the log to standard input (use -).",
        ) from None
    except OSError as error:
        raise InputError(
            zh=f"运行不了 {command[0]}：{error.strerror}。", en=f"Cannot run {command[0]}: {error.strerror}."
        ) from None
    if done.returncode and not done.stdout:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        if any(word in told.lower() for word in ("no selection", "nothing is copied", "target string")):
            raise _empty()
        raise InputError(
            zh=f"{command[0]} 读不到剪贴板：{told or f'退出码 {done.returncode}'}",
            en=f"{command[0]} could not read the clipboard: {told or f'exit status {done.returncode}'}",
        )
    if not done.stdout.strip():
        raise _empty()
    return done.stdout


def _empty() -> EmptyInput:
    return EmptyInput(
        zh="剪贴板里没有文本。请先复制日志。", en="There is no text on the clipboard. Copy the log first."
    )


def missing_program() -> InputError:
    """What to install, or what to do where there is no desktop."""
    if sys.platform in {"darwin", "win32", "cygwin"}:
        name = commands(sys.platform, os.environ)[0][0]
        return InputError(zh=f"找不到 {name}，读不了剪贴板。", en=f"There is no {name} to read the clipboard with.")
    if os.environ.get("WAYLAND_DISPLAY"):
        return InputError(
            zh="读剪贴板需要 wl-paste。请安装：sudo apt install wl-clipboard（或 dnf、pacman 同名包）。",
            en="Reading the clipboard needs wl-paste: sudo apt install wl-clipboard (dnf and pacman name it so too).",
        )
    if os.environ.get("DISPLAY"):
        return InputError(
            zh="读剪贴板需要 xclip 或 xsel。请安装：sudo apt install xclip",
            en="Reading the clipboard needs xclip or xsel: sudo apt install xclip",
        )
    return InputError(
        zh="这里没有桌面（WAYLAND_DISPLAY 与 DISPLAY 都未设置），也就没有剪贴板。请改用标准输入："
        "在本机执行 pbpaste | ssh 主机 metric-assistant explain -",
        en="There is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set), so no clipboard. Use standard "
        "input: pbpaste | ssh HOST metric-assistant explain -",
    )
