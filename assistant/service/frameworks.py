"""Frameworks by name, as the cards spell them."""

from __future__ import annotations

from assistant.knowledge import Resolver
from assistant.model import InputError


def known_framework(resolver: Resolver, name: str | None) -> str | None:
    """A framework as the cards spell it, ``None`` where none is named.

    Raises:
        InputError: no card is about it; the message lists those that are known.
    """
    if not name:
        return None
    known: dict[str, str] = {card.framework.lower(): card.framework for card in resolver.library}
    if name.lower() in known:
        return known[name.lower()]
    names = ", ".join(sorted(known.values(), key=str.lower))
    raise InputError(
        zh=f"没有名为“{name[:80]}”的框架。已知的有：{names}。",
        en=f"No framework is called “{name[:80]}”. Known: {names}.",
    )
