"""Terminal output: Markdown with tables that fit, colour only on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LABELS = {
    "zh": {"formula": "公式", "unit": "单位", "keys": "键名", "present": "何时出现", "source": "来源",
           "also": "其它框架", "more": "同名或相近的其它定义", "healthy": "参考范围",
           "own": "团队文档里的定义"},
    "en": {"formula": "Formula", "unit": "Unit", "keys": "Keys", "present": "Logged when", "source": "Source",
           "also": "In other frameworks", "more": "Other definitions by this name", "healthy": "Reference range",
           "own": "Defined in the team's documents"},
}  # fmt: skip


def print_answer(answer: Any) -> None:
    """An answer on a terminal."""
    from assistant.cli.main import markdown

    print_markdown(markdown(answer))


def print_markdown(text: str) -> None:
    """Markdown on a terminal: wrapped to its width, tables boxed."""
    from assistant.cli.rendering import print_markdown as show

    show(text)


def card_markdown(
    cards: Sequence[Any], language: str, others: Sequence[tuple[Any, tuple[str, str] | None]] = ()
) -> str:
    """A definition as Markdown, with the other definitions that go by the same name.

    Args:
        cards: the definition, then those by the same name.
        language: ``zh`` or ``en``.
        others: who else defines the same keys, where a team's own document does, and how the normal values differ.
    """
    card, label = cards[0], _LABELS[language]
    if card.own:
        from assistant.cli.index import own_markdown

        return own_markdown(card, others, language)
    parts = [
        f"# {card.title(language)}",
        f"`{'`, `'.join(card.keys[:8])}` · {card.framework}",
        f"**{card.short(language)}**",
    ]
    for title, body in card.sections(language):
        parts.append(f"## {title}\n\n{body}")
    facts = [f"- **{label['formula']}**: `{card.formula}`", f"- **{label['unit']}**: {card.unit}"]
    if card.meta.get("healthy"):
        facts.append(f"- **{label['healthy']}**: {card.meta['healthy'][language]} ({card.meta['healthy']['source']})")
    facts.append(f"- **{label['present']}**: {card.present_when(language)}")
    for other in card.meta.get("also", ()):
        names = ", ".join(f"`{name}`" for name in other["keys"])
        differs = f" — {other['differs'][language]}" if "differs" in other else ""
        facts.append(f"- **{label['also']}**: {other['framework']} {names}{differs}")
    facts.append(f"- **{label['source']}**: {card.source}")
    parts.append("\n".join(facts))
    if others:
        listed = ", ".join(f"`{other.id}` ({other.source})" for other, _ in others[:5])
        parts.append(f"**{label['own']}**: {listed}")
    if len(cards) > 1:
        parts.append(f"**{label['more']}**: " + ", ".join(f"`{c.id}`" for c in cards[1:6]))
    return "\n\n".join(parts)
