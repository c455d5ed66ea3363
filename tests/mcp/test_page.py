"""``docs/editors.md``: its tables and links are those that the code makes."""

from __future__ import annotations

import re

from assistant.mcp.catalogue import by_name
from evals.mcp.__main__ import CALLS, MOST, PAGE, client_table, counts, filled, link_table

TEXT = PAGE.read_text(encoding="utf-8")


def test_page_links_and_clients_are_current() -> None:
    assert filled(TEXT, {"links": link_table(), "clients": client_table()}) == TEXT, "run: python -m evals.mcp --write"


def test_page_names_every_tool() -> None:
    assert all(f"| `{name}` |" in TEXT for name in by_name())


def test_page_token_counts_are_current_within_a_little_and_defaults_below_the_limit() -> None:
    """But for the search, whose index takes long to build."""
    published = [line for line in _part("tokens").splitlines() if line.startswith("| `")]
    assert len(published) == len(CALLS)
    rows = counts(one for one in CALLS if one[0] != "search_docs")
    for line, (name, _, sizes) in zip(published, rows, strict=False):
        told = [int(cell.replace(",", "")) for cell in re.findall(r"(?<=\| )[\d,]+(?= \|)", line)]
        assert line.startswith(f"| `{name}` |")
        assert all(abs(one - now) <= 25 + 0.1 * now for one, now in zip(told, sizes, strict=True)), (line, sizes)
        assert sizes[0] < MOST


def _part(name: str) -> str:
    return TEXT.split(f"<!-- {name}:begin -->")[1].split(f"<!-- {name}:end -->")[0]
