"""The clients whose configuration is known: ``clients.json``, and what is written for each."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from assistant.model import InputError

#: The name under which the server stands in every configuration.
NAME = "metric-assistant"
Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Client:
    """A client's configuration.

    Attributes:
        name: as given to ``--client``.
        title: as people call it.
        format: ``json``, ``jsonc`` (comments and trailing commas) or ``toml``.
        at: keys that lead to the servers.
        entry: fields of every server of this client, beside command and args.
        places: scope → path, or platform → path; ``~`` and ``%APPDATA%`` stand for folders.
        skill: scope → where an agent skill is looked for.
        rule: scope → where a rule of the editor is looked for.
        source: where the format is documented.
    """

    name: str
    title: str
    format: Literal["json", "jsonc", "toml"]
    at: tuple[str, ...]
    entry: Mapping[str, Any]
    places: Mapping[str, Any]
    skill: Mapping[str, str]
    rule: Mapping[str, str]
    source: str

    @property
    def path(self) -> tuple[str, ...]:
        """Keys that lead to our server."""
        return (*self.at, NAME)

    def server(self, command: Sequence[str], roots: Sequence[str] = ()) -> dict[str, Any]:
        """What stands under our name."""
        arguments = [*command[1:], "mcp", *(part for root in roots for part in ("--root", root))]
        return {**self.entry, "command": command[0], "args": arguments}

    def file(self, scope: Scope, folder: Path, platform: str = sys.platform) -> Path:
        """The configuration file.

        Args:
            scope: the user's, or the project's.
            folder: of the project.
            platform: as in ``sys.platform``.

        Raises:
            InputError: the client has none of that scope, or none on this platform.
        """
        found = self.places.get(scope)
        if isinstance(found, Mapping):
            found = found.get(platform)
        if found is None:
            raise InputError(
                zh=f"{self.title} 没有 {scope} 级的配置文件（本系统：{platform}）。",
                en=f"{self.title} has no configuration of scope {scope} (on {platform}).",
            )
        return resolved(found, folder)


def resolved(text: str, folder: Path) -> Path:
    """A path of the table: ``~`` is the home folder, ``%APPDATA%`` Windows', anything else lies in ``folder``."""
    if text.startswith("~"):
        return Path(text).expanduser()
    if text.startswith("%APPDATA%"):
        base = os.environ.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
        return Path(base + text.removeprefix("%APPDATA%"))
    return folder / text


@lru_cache(maxsize=1)
def clients() -> dict[str, Client]:
    """Name → client."""
    table = json.loads(Path(__file__).with_name("clients.json").read_text(encoding="utf-8"))
    return {
        name: Client(
            name, one["title"], one["format"], tuple(one["at"]), one["entry"],
            {scope: one[scope] for scope in ("user", "project") if scope in one},
            one.get("skill", {}), one.get("rule", {}), one["source"],
        )
        for name, one in table.items()
    }  # fmt: skip


def own_command() -> list[str]:
    """How this installation is started from anywhere: editors do not know its virtual environment."""
    beside = Path(sys.executable).with_name("metric-assistant.exe" if os.name == "nt" else "metric-assistant")
    if beside.exists():
        return [str(beside)]
    found = shutil.which("metric-assistant")
    return [str(Path(found).resolve())] if found else [sys.executable, "-m", "assistant.cli.main"]


def cursor_link(server: Mapping[str, Any]) -> str:
    """Cursor's one-click link (https://cursor.com/docs/context/mcp/install-links)."""
    config = base64.b64encode(_compact(server).encode()).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(NAME, safe='')}&config={quote(config, safe='')}"


def cursor_web_link(server: Mapping[str, Any]) -> str:
    """The same over https, for pages that do not show links of other kinds."""
    return cursor_link(server).replace(
        "cursor://anysphere.cursor-deeplink/mcp/install", "https://cursor.com/en/install-mcp"
    )


def vscode_link(server: Mapping[str, Any], *, insiders: bool = False) -> str:
    """VS Code's (https://code.visualstudio.com/api/extension-guides/ai/mcp, URL handler)."""
    kind = "vscode-insiders" if insiders else "vscode"
    return f"{kind}:mcp/install?{quote(_compact({'name': NAME, **server}), safe='')}"


def vscode_web_link(server: Mapping[str, Any]) -> str:
    """The same over https, for pages that do not show links of other kinds."""
    config = quote(_compact(server), safe="")
    return f"https://insiders.vscode.dev/redirect/mcp/install?name={quote(NAME, safe='')}&config={config}"


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
