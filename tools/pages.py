"""A page for each card, and an index of them: `make docs`.

Pages go to `site/`, which is not kept in the repository; `docs/metrics.md`, the table of all cards, is kept, and a
test holds it current.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from assistant.knowledge import Card, Library, library
from assistant.knowledge.cards import SECTION_NAMES, SECTIONS

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "metrics.md"
LABELS = {
    "zh": ("指标", "单位", "方向", "可能的取值", "参考区间", "公式", "何时出现", "相关", "来源", "其他框架中", "无"),
    "en": ("Keys", "Unit", "Direction", "Possible range", "Reference range", "Formula", "Present", "Related", "Sources",
           "In other frameworks", "none"),
}  # fmt: skip
DIRECTIONS = {
    "higher_better": ("越高越好", "higher is better"),
    "lower_better": ("越低越好", "lower is better"),
    "target_range": ("适中为好", "a range is best"),
    "neutral": ("无好坏", "neither good nor bad"),
    "context": ("视情况而定", "depends on the context"),
}


def slug(card_id: str) -> str:
    """A card's page, relative to the folder of pages."""
    return re.sub(r"[^a-z0-9/._-]+", "-", card_id.lower()) + ".md"


def bound(value: float | None, infinite: str) -> str:
    """One end of a range."""
    return infinite if value is None else f"{value:g}"


def page(card: Card, cards: Library) -> str:
    """A card's page: Chinese, then English."""
    up = "../" * slug(card.id).count("/")
    parts = [f"# {card.title('zh')} · {card.title('en')}", "", f"`{card.id}` · {card.framework}", ""]
    for at, language in enumerate(("zh", "en")):
        keys, unit, direction, possible, healthy, formula, present, related, sources, elsewhere, none = LABELS[language]
        meta = card.meta
        low, high = meta.get("range") or (None, None)
        reference = meta.get("healthy")
        facts = {
            keys: ", ".join(f"`{key}`" for key in card.keys),
            unit: card.unit,
            direction: DIRECTIONS[card.direction][at],
            possible: f"[{bound(low, '−∞')}, {bound(high, '∞')}]" if "range" in meta else "",
            healthy: f"{reference[language]} ({reference['source']})" if reference else none,
            formula: f"`{meta['formula']}`",
            present: meta["present_when"][language],
        }
        parts += [f"## {'中文' if language == 'zh' else 'English'}", "", card.short(language), ""]
        parts += [f"- **{name}**: {text}" for name, text in facts.items() if text]
        also = [
            f"{entry['framework']} {', '.join(f'`{key}`' for key in entry['keys'])}"
            + (f" ({entry['differs'][language]})" if "differs" in entry else "")
            for entry in meta.get("also", ())
        ]
        if also:
            parts.append(f"- **{elsewhere}**: {'; '.join(also)}")
        for name, title in zip(SECTION_NAMES, SECTIONS[language], strict=True):
            if card.section(language, name):
                parts += ["", f"### {title}", "", card.section(language, name)]
        links = [f"[{other.title(language)}]({up}{slug(other.id)})" for other in related_cards(card, cards)]
        if links:
            parts += ["", f"{related}: " + ", ".join(links)]
        parts += ["", f"{sources}: {card.source}", ""]
    return "\n".join(parts)


def related_cards(card: Card, cards: Library) -> Iterator[Card]:
    """The cards that a card names as related."""
    for name in card.meta.get("related", ()):
        found = cards.get(name)
        if found is not None:
            yield found


def table(cards: Library) -> str:
    """The table of all cards, by framework."""
    by_framework: dict[str, list[Card]] = {}
    for card in sorted(cards, key=lambda card: card.id):
        by_framework.setdefault(card.framework, []).append(card)
    order = sorted(by_framework, key=lambda name: (name in {"concept", "failure"}, name.lower()))
    lines = [
        "# 指标卡片 · Metric cards",
        "",
        f"{len(cards)} cards; `make docs` writes a page for each, `metric-assistant metric NAME` prints one.",
    ]
    for framework in order:
        lines += ["", f"## {framework}", "", "| key | 中文 | English |", "|---|---|---|"]
        for card in by_framework[framework]:
            keys = "<br>".join(f"`{key}`" for key in card.keys[:4]).replace("|", "\\|")
            more = f" (+{len(card.keys) - 4})" if len(card.keys) > 4 else ""
            lines.append(f"| {keys}{more} | {cell(card.short('zh'))} | {cell(card.short('en'))} |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Writes the table and the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="folder for the pages")
    options = parser.parse_args()
    cards = library()
    TABLE.write_text(table(cards), encoding="utf-8")
    for card in cards:
        path = options.site / "metrics" / slug(card.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(card, cards), encoding="utf-8")
    print(f"{TABLE.relative_to(ROOT)}, and {len(cards)} pages in {options.site / 'metrics'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
