"""The page of results: one table each between two marks."""

from __future__ import annotations

from evals.kill.server import ROOT

PAGE = ROOT / "docs" / "service-results.md"


def write(part: str, table: str) -> None:
    """Puts a table between the marks of its part."""
    begin, end = f"<!-- {part}:begin -->", f"<!-- {part}:end -->"
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    if not rest or not after:
        raise ValueError(f"{PAGE} has no marks {begin} … {end}")
    PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
