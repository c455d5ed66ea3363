"""The table of identities in ``docs/identities.md``, made from the program's own data: ``python tools/identities.py``.

A test holds the table current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from assistant.analysis.identities import Identity, identities

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "identities.md"
TOLERANCES = {"exact": "float64", "fp32": "float32", "approx": "≈"}
HEAD = """# 指标之间的恒等式 · Identities between metrics

日志里的数彼此有关系：有的关系能推出日志没有写的量（GPU 数、组大小、β），
有的关系必须成立，不成立就说明日志被截断、改过或拼接过。
表由 `assistant/analysis/identities/data/*.yaml` 生成（`python tools/identities.py`）。

Numbers in a log are tied to each other: some ties tell what the log does not say (GPUs, group size, β), some must
hold, and where they do not, the log was cut, edited or joined. The table is made from
`assistant/analysis/identities/data/*.yaml` (`python tools/identities.py`). “Derives” names the facts of
`derive` and `derive_run`, “checks” how many relations `verify` tests; tolerance is that of the numbers' origin, printed
digits are allowed for in addition.
"""


def cell(text: str) -> str:
    """A text in a table."""
    return text.replace("|", "\\|").replace("\n", " ").strip()


def row(identity: Identity) -> str:
    """One identity's line."""
    derives = ", ".join(f"`{name}`" for name in identity.derives)
    checks = str(len(identity.verifies) or "")
    return (
        f"| {identity.id} | `{cell(identity.formula)}` | {cell(identity.zh)}<br>{cell(identity.en)} | {derives} "
        f"| {checks} | {TOLERANCES[identity.tolerance]} | {cell(identity.unless['zh'])}"
        f"<br>{cell(identity.unless['en'])} "
        f"| {cell(identity.source)} |"
    )


def table() -> str:
    """The page."""
    groups: dict[str, list[Identity]] = {}
    for identity in identities().values():
        groups.setdefault(", ".join(identity.frameworks), []).append(identity)
    parts = [HEAD, f"{len(identities())} identities.", ""]
    for name, members in groups.items():
        parts += [f"## {name}", ""]
        parts += ["| id | formula | 说明 · statement | derives | checks | tolerance | 不适用 · unless | source |"]
        parts += ["|---|---|---|---|---|---|---|---|", *map(row, members), ""]
    return "\n".join(parts)


def main() -> int:
    """Writes the page."""
    TABLE.write_text(table(), encoding="utf-8")
    print(TABLE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
