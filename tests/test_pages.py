"""The pages made from the cards: one each, links that resolve, and the table in the docs current."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from assistant.knowledge import library

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def pages() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "pages.py"))


def test_pages_each_card_has_one_of_its_own(pages: dict[str, Any]) -> None:
    slugs = [pages["slug"](card.id) for card in library()]
    assert len(set(slugs)) == len(slugs)


def test_pages_every_link_resolves(pages: dict[str, Any]) -> None:
    cards = library()
    there = {pages["slug"](card.id) for card in cards}
    for card in cards:
        here = Path(pages["slug"](card.id)).parent
        for target in re.findall(r"\]\(([^)]+)\)", pages["page"](card, cards)):
            if not target.startswith("http"):
                parts: list[str] = []
                for part in (here / target).parts:
                    parts = parts[:-1] if part == ".." else [*parts, part]
                assert "/".join(parts) in there, f"{card.id} links to {target}"


def test_pages_table_in_the_docs_is_current(pages: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == pages["table"](library()), "run: make docs"
