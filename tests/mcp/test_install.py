"""``mcp install``: the clients' real files written, read back as the clients read them, and undone to the byte."""

from __future__ import annotations

import base64
import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from assistant.cli.main import main
from assistant.cli.mcp_install import CLIENTS
from assistant.mcp.install.clients import (
    NAME,
    Client,
    clients,
    cursor_link,
    cursor_web_link,
    own_command,
    vscode_link,
    vscode_web_link,
)
from assistant.mcp.install.jsonc import parse
from assistant.mcp.install.writing import install, snippet, undo
from assistant.model import InputError
from tests.mcp.support import ROOT

SERVER = {"command": "/x/metric-assistant", "args": ["mcp"]}
#: Files as the clients keep them, each with what must stay.
EXISTING: dict[str, str] = {
    "cursor": '{\n  "mcpServers": {\n    "github": {\n      "url": "https://api.example.com/mcp/"\n    }\n  }\n}\n',
    "vscode": '{\n\t// my servers\n\t"inputs": [\n\t\t{"type": "promptString", "id": "key", "password": true},\n\t],\n'
    '\t"servers": {\n\t\t"playwright": {"command": "npx", "args": ["-y", "@playwright/mcp"]}, // browser\n\t},\n}\n',
    "claude": '{"numStartups": 7, "projects": {"/work": {"mcpServers": {}, "history": [{"display": "hi {}"}]}}, '
    '"mcpServers": {"a": {"type": "http", "url": "https://x"}}}',
    "claude-desktop": '{\r\n  "globalShortcut": "",\r\n  "mcpServers": {}\r\n}\r\n',
    "windsurf": "{}",
    "codex": 'model = "o5"\n\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\n\n[tui]\nx = true\n',
    "gemini": '{\n  "theme": "Dracula", // dark\n  "selectedAuthType": "key"\n}\n',
    "zed": "// Zed settings\n//\n// For information on how to configure Zed, see the documentation\n{\n"
    '  "theme": "One Dark",\n  "context_servers": {\n    "pg": {"command": "pg", "args": [], "env": {}},\n  },\n}\n',
}  # fmt: skip


def values(client: Client, text: str) -> Any:
    """What the client reads."""
    return tomllib.loads(text) if client.format == "toml" else parse(text).value


def server_of(client: Client, text: str) -> Any:
    found = values(client, text)
    for key in client.path:
        found = found[key]
    return found


def cli(*arguments: str, status: int = 0) -> None:
    assert main(["mcp", "install", *arguments]) == status


def test_clients_of_the_command_are_those_of_the_table() -> None:
    assert tuple(clients()) == CLIENTS == tuple(EXISTING)
    assert all(client.source.startswith("https://") for client in clients().values())


@pytest.mark.parametrize("name", CLIENTS)
def test_install_without_a_file_makes_one_and_undo_takes_it_away(name: str, tmp_path: Path) -> None:
    client, file = clients()[name], tmp_path / "new" / "file"
    assert install(client, file, SERVER).done == "written"
    assert server_of(client, file.read_text(encoding="utf-8")) == SERVER
    assert install(client, file, SERVER).done == "unchanged"
    assert undo(client, file).done == "deleted"
    assert not file.exists()
    assert undo(client, file).done == "absent"


@pytest.mark.parametrize("name", CLIENTS)
def test_install_into_a_file_keeps_the_rest_and_undo_gives_back_its_bytes(name: str, tmp_path: Path) -> None:
    client, file = clients()[name], tmp_path / "file"
    before = EXISTING[name].encode()
    file.write_bytes(before)
    file.chmod(0o600)
    change = install(client, file, SERVER)
    assert change.backup is not None
    assert change.backup.read_bytes() == before
    text = file.read_bytes().decode()
    assert server_of(client, text) == SERVER
    rest = values(client, text)
    del rest[client.at[0]][NAME]
    kept = values(client, EXISTING[name])
    assert {**kept, client.at[0]: kept.get(client.at[0], {})} == rest
    assert all(line.strip() in text for line in EXISTING[name].splitlines() if "// " in line)  # comments
    assert file.stat().st_mode & 0o777 == change.backup.stat().st_mode & 0o777 == 0o600
    assert undo(client, file).done == "restored"
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", CLIENTS)
def test_undo_after_other_changes_takes_out_our_entry_alone(name: str, tmp_path: Path) -> None:
    client, file = clients()[name], tmp_path / "file"
    file.write_text(EXISTING[name], encoding="utf-8")
    install(client, file, SERVER)
    install(client, file, {**SERVER, "args": ["mcp", "--root", "/logs"]})  # renewed
    text = file.read_bytes().decode()
    later = text + "\n[later]\nx = 1\n" if client.format == "toml" else text.replace("{", '{"later": 1, ', 1)
    file.write_bytes(later.encode())
    assert undo(client, file).done == "removed"
    found = values(client, file.read_text(encoding="utf-8"))
    assert found.pop("later")
    kept = values(client, EXISTING[name])
    assert {**kept, client.at[0]: kept.get(client.at[0], {})} == {client.at[0]: {}, **found}
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", CLIENTS)
def test_install_twice_without_a_file_is_undone_whole(name: str, tmp_path: Path) -> None:
    client, file = clients()[name], tmp_path / "file"
    install(client, file, SERVER)
    install(client, file, {**SERVER, "args": ["mcp", "--root", "/logs"]})
    assert undo(client, file).done == "deleted"
    assert list(tmp_path.iterdir()) == []


def test_undo_gives_back_an_entry_of_the_same_name_that_was_somebody_elses(tmp_path: Path) -> None:
    client, file = clients()["cursor"], tmp_path / "file"
    theirs = {"mcpServers": {NAME: {"url": "https://example.com"}}}
    file.write_text(json.dumps(theirs), encoding="utf-8")
    install(client, file, SERVER)
    file.write_text(file.read_text(encoding="utf-8").replace("{", '{"x": 1, ', 1), encoding="utf-8")
    undo(client, file)
    assert json.loads(file.read_text(encoding="utf-8")) == {"x": 1, **theirs}


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("text", ["{", "[mcp_servers", '{"mcpServers": 3, "servers": 3, "context_servers": 3}', "\xff"])
def test_install_into_what_is_not_understood_changes_nothing(name: str, text: str, tmp_path: Path) -> None:
    client, file = clients()[name], tmp_path / "file"
    data = text.encode("latin-1")
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"not changed|Cannot read"):
        install(client, file, SERVER)
    assert file.read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_install_follows_a_symbolic_link_and_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.json").write_text("{}", encoding="utf-8")
    (tmp_path / "mcp.json").symlink_to(tmp_path / "dotfiles.json")
    install(clients()["cursor"], tmp_path / "mcp.json", SERVER)
    assert (tmp_path / "mcp.json").is_symlink()
    assert NAME in (tmp_path / "dotfiles.json").read_text(encoding="utf-8")


def test_install_where_nothing_can_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="Cannot"):
        install(clients()["cursor"], tmp_path / "file" / "mcp.json", SERVER)


@pytest.mark.parametrize("name", CLIENTS)
def test_snippet_is_what_the_client_reads(name: str) -> None:
    client = clients()[name]
    assert server_of(client, snippet(client, SERVER)) == SERVER


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("name", CLIENTS)
def test_client_has_a_file_on_each_platform(name: str, platform: str, tmp_path: Path) -> None:
    file = clients()[name].file("user", tmp_path, platform)
    assert file.is_absolute()
    assert not any(mark in str(file) for mark in "~%")


def test_cli_install_writes_prints_and_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cli("--client", "cursor", "--scope", "project", "--root", ".", "--rule", "--skill", "--lang", "en")
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"][NAME]
    assert entry["args"][-3:] == ["mcp", "--root", str(tmp_path)]
    assert Path(entry["command"]).is_absolute()
    rule = (tmp_path / ".cursor" / "rules" / "metric-assistant.mdc").read_text(encoding="utf-8")
    skill = (tmp_path / ".cursor" / "skills" / NAME / "SKILL.md").read_text(encoding="utf-8")
    assert (rule, skill) == tuple(
        (ROOT / "skills" / NAME / name).read_text(encoding="utf-8") for name in ("metric-assistant.mdc", "SKILL.md")
    )
    assert capsys.readouterr().out.count(": written") == 3
    cli("--client", "cursor", "--scope", "project", "--print")
    assert json.loads(capsys.readouterr().out)["mcpServers"][NAME]["args"] == ["mcp"]
    cli("--client", "cursor", "--scope", "project", "--undo", "--lang", "zh")
    assert capsys.readouterr().out.count("已删除") == 3
    assert not list(tmp_path.rglob("*.md*")) + list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--client", "windsurf", "--scope", "project"], ["--client", "windsurf", "--skill"],
        ["--client", "zed", "--link"], ["--client", "cursor", "--rule"],
        ["--client", "cursor", "--root", "/no/such/folder"],
    ],
)  # fmt: skip
def test_cli_install_that_is_not_possible_says_so_and_writes_nothing(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    cli(*arguments, status=2)
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(Path.home().rglob("mcp*"))


def test_own_command_starts_this_installation() -> None:
    import subprocess

    done = subprocess.run([*own_command(), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("metric-assistant ")


def test_links_hold_the_configuration_that_their_editors_decode() -> None:
    cursor = urlsplit(cursor_link(SERVER))
    assert (cursor.scheme, cursor.netloc, cursor.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    for link in (cursor_link(SERVER), cursor_web_link(SERVER)):
        query = parse_qs(urlsplit(link).query, strict_parsing=True)
        assert query["name"] == [NAME]
        assert json.loads(base64.b64decode(query["config"][0], validate=True)) == SERVER
    query = parse_qs(urlsplit(vscode_web_link(SERVER)).query, strict_parsing=True)
    assert (query["name"], json.loads(query["config"][0])) == ([NAME], SERVER)
    for insiders, scheme in ((False, "vscode"), (True, "vscode-insiders")):
        kind, _, rest = vscode_link(SERVER, insiders=insiders).partition(":")
        assert kind == scheme
        assert rest.startswith("mcp/install?")
        assert json.loads(unquote(rest.partition("?")[2])) == {"name": NAME, **SERVER}


def test_skill_and_rule_name_tools_that_exist() -> None:
    from assistant.mcp.catalogue import by_name

    skill = (ROOT / "skills" / NAME / "SKILL.md").read_text(encoding="utf-8")
    front = yaml.safe_load(skill.split("---")[1])
    assert front["name"] == NAME
    assert 50 < len(front["description"]) <= 1024
    assert all(f"`{name}`" in skill for name in by_name())
    rule = (ROOT / "skills" / NAME / "metric-assistant.mdc").read_text(encoding="utf-8")
    assert set(yaml.safe_load(rule.split("---")[1])) == {"description", "globs", "alwaysApply"}
