"""One table of a TOML file."""

from __future__ import annotations

import pytest

from assistant.mcp.install.toml import BadToml, parse, with_table, without_table

PATH = ("mcp_servers", "metric-assistant")
OURS = {"command": "/opt/metric assistant/bin/x", "args": ["mcp", "--root", 'a"b\\c']}
KEPT = """\
model = "o5"  # mine

[mcp_servers.other]
command = "x"
args = []

[mcp_servers.other.env]
KEY = "v"

[profiles.a]
b = [
  1,
  2,
]
"""


@pytest.mark.parametrize("text", ["", "a = 1", KEPT, KEPT.replace("\n", "\r\n"), "[mcp_servers]\n", "\n\n"])
def test_with_table_adds_it_and_without_table_takes_it_out(text: str) -> None:
    before = parse(text)
    new = with_table(text, PATH, OURS)
    servers = {**before.get("mcp_servers", {}), "metric-assistant": OURS}
    assert parse(new) == {**before, "mcp_servers": servers}
    assert new.startswith(text)
    assert without_table(new, PATH).strip() == text.strip()


@pytest.mark.parametrize(
    "header", ["mcp_servers.metric-assistant", 'mcp_servers."metric-assistant"', " mcp_servers . 'metric-assistant' "]
)
def test_with_table_replaces_one_that_is_there_with_its_sub_tables(header: str) -> None:
    text = f'a = 1\n\n[{header}]\ncommand = "old"\n\n[mcp_servers.metric-assistant.env]\nX = "1"\n\n[z]\nq = 2\n'
    if "env" in text and header.strip() != "mcp_servers.metric-assistant":
        text = text.replace('[mcp_servers.metric-assistant.env]\nX = "1"\n\n', "")
    new = with_table(text, PATH, OURS)
    assert parse(new) == {"a": 1, "mcp_servers": {"metric-assistant": OURS}, "z": {"q": 2}}
    assert parse(without_table(new, PATH)) == {"a": 1, "z": {"q": 2}}


@pytest.mark.parametrize(
    "text",
    [
        "a = ", "[a\n", 'mcp_servers = {metric-assistant = {command = "x"}}',
        '[mcp_servers]\nmetric-assistant.command = "x"',
    ],
)  # fmt: skip
def test_with_table_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(BadToml):
        with_table(text, PATH, OURS)


def test_without_table_that_is_not_there_changes_nothing() -> None:
    assert without_table(KEPT, PATH) == KEPT
