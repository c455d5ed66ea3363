"""The page on security names tests that exist, and every point of the list it goes by."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_security_page_every_test_it_names_exists() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)::(test_\w+)`", TEXT))
    assert len(named) > 40
    missing = [
        f"{path}::{name}"
        for path, name in sorted(named)
        if not re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M)
    ]
    assert missing == []


def test_security_page_goes_through_the_whole_list_each_point_with_a_test() -> None:
    points = re.split(r"^### ", TEXT, flags=re.M)[1:]
    assert [point[:5] for point in points] == [f"LLM{number:02}" for number in range(1, 11)]
    assert all("::test_" in point for point in points)
