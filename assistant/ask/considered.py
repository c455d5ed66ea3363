"""What stands behind a diagnosis: the signs seen together, and the other explanations that were considered."""

from __future__ import annotations

from assistant.analysis.checks import Check
from assistant.ask.context import Context, key
from assistant.model import Fact

MOST_SIGNS = 6


def signs(context: Context, check: Check) -> str:
    """The signs as "metric before → after", in one line; empty where fewer than two are pairs of levels."""
    found = check.diagnosis
    if found is None:
        return ""
    shown: dict[str, str] = {}
    for sign in found.signs:
        facts = dict(sign.facts)
        before, after = _named(facts, "before"), _named(facts, "end") or _named(facts, "after")
        if before is None or after is None or before.metric is None or before.metric in shown:
            continue
        kind = context.kind_of(before.metric)
        pair = f"{context.doc.show(before, None, kind)} → {context.doc.show(after, None, kind)}"
        shown[before.metric] = f"{key(before.metric)} {pair}"
    if len(shown) < 2:
        return ""
    listed = _semicolon(context).join(list(shown.values())[:MOST_SIGNS])
    return context.say("check.signs", signs=listed)


def _semicolon(context: Context) -> str:
    return "；" if context.language == "zh" else "; "


def _named(facts: dict[str, Fact], end: str) -> Fact | None:
    return next((fact for name, fact in facts.items() if name.endswith(f"_{end}")), None)


def others(context: Context, check: Check) -> str:
    """Which other explanations the log rules out, which it does not, and on which it is silent."""
    found = check.diagnosis
    if found is None or not found.lookalikes:
        return ""
    groups: dict[str, list[str]] = {"out": [], "open": [], "unknown": []}
    for other in found.lookalikes:
        group = {True: "out", False: "open", None: "unknown"}[other.ruled_out]
        groups[group].append(context.say(f"lookalike.{other.id}"))
    parts = [
        context.say(f"check.others_{group}", names=_semicolon(context).join(names))
        for group, names in groups.items()
        if names
    ]
    return ("" if context.language == "zh" else " ").join(parts)
