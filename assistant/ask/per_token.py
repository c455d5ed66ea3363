"""The time of a stage per token: "gen 每 token 几毫秒", "generation time per token" are keys of their own in verl."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.lexicon import words
from assistant.ask.logged import as_mention
from assistant.ask.stage_words import NAMES, leaf
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

_KEYS: Final = "timing_per_token_ms/"
_OTHER: Final = re.compile(r"(?<![a-z_/])(?:values?)\b|价值前向", re.IGNORECASE)


def per_token(mentions: tuple[Mentioned, ...], text: str, run: Run | None, resolver: Resolver) -> tuple[Mentioned, ...]:
    """The metrics named, those of a stage's time as that per token where the question asks for it so.

    Args:
        mentions: the metrics named.
        text: the question, normalised.
        run: the log.
        resolver: from names to cards.
    """
    held = [] if run is None else [key for key in run.metrics if key.startswith(_KEYS)]
    match = words("tokens")["per_token"].search(text) if held else None
    if run is None or match is None or any(m.key is not None and "/" in m.text for m in mentions):
        return mentions
    stages = words("stages")
    found = [
        key
        for name in NAMES
        if stages[name].search(text) or (name == "actor" and words("tokens")["update"].search(text))
        for key in held
        if stages[f"{name}_keys"].match(leaf(key))
    ]
    found += [key for key in held if leaf(key) == "values" and _OTHER.search(text)]
    spelled = [key for key in held if re.search(rf"(?<![\w/]){re.escape(leaf(key))}(?![\w/])", text)]
    chosen = list(dict.fromkeys(spelled or found))
    if not chosen:
        return mentions
    return tuple(as_mention(run, resolver, key, match.start(), match.end(), match[0]) for key in chosen)


__all__ = ["per_token"]
