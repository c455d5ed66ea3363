"""What stands behind a diagnosis: the signs seen together, and the other explanations that were considered."""

from __future__ import annotations

from assistant.analysis.checks import Check
from assistant.analysis.diagnosis import LookAlike
from assistant.ask.context import Context, key
from assistant.model import Fact

MOST_SIGNS = 6
#: Ends of the names of a sign's facts that are levels of before and of after; the first that is there is taken.
_BEFORE, _AFTER = ("before", "start", "first", "best"), ("end", "after", "late")


def signs(context: Context, check: Check) -> str:
    """The signs as "metric before → after", in one line; empty where fewer than two are pairs of levels."""
    found = check.diagnosis
    if found is None:
        return ""
    shown: dict[str, str] = {}
    for sign in found.signs:
        pair = _pair(context, {name: fact for name, fact in sign.facts if name.endswith(("_before", "_end", "_after"))})
        if pair is not None:
            shown.setdefault(*pair)
    if len(shown) < 2:
        return ""
    listed = _semicolon(context).join(list(shown.values())[:MOST_SIGNS])
    return context.say("check.signs", signs=listed)


def _semicolon(context: Context) -> str:
    return "；" if context.language == "zh" else "; "


def _named(facts: dict[str, Fact], *ends: str) -> Fact | None:
    return next((fact for end in ends for name, fact in facts.items() if name.endswith(f"_{end}")), None)


def _pair(context: Context, facts: dict[str, Fact]) -> tuple[str, str] | None:
    """A metric and its levels before and after, where facts hold both."""
    before, after = _named(facts, *_BEFORE), _named(facts, *_AFTER)
    if before is None or after is None or before.metric is None:
        return None
    kind = context.kind_of(before.metric)
    shown = f"{context.doc.show(before, None, kind)} → {context.doc.show(after, None, kind)}"
    return before.metric, f"{key(before.metric)} {shown}"


def others(context: Context, check: Check) -> str:
    """Which other explanations the log rules out, which it does not, and on which it is silent.

    What the log shows stands in brackets. An explanation that is ruled out without anything to show for it is left out.
    """
    found = check.diagnosis
    if found is None or not found.lookalikes:
        return ""
    groups: dict[str, list[str]] = {"out": [], "open": [], "unknown": []}
    for other in found.lookalikes:
        group = {True: "out", False: "open", None: "unknown"}[other.ruled_out]
        name = context.say(f"lookalike.{other.id}")
        why = _why(context, other, group)
        if why or group != "out":
            groups[group].append(context.say("check.because", name=name, why=why) if why else name)
    parts = [
        context.say(f"check.others_{group}", names=_semicolon(context).join(names))
        for group, names in groups.items()
        if names
    ]
    return ("" if context.language == "zh" else " ").join(parts)


def _why(context: Context, other: LookAlike, group: str) -> str:
    """What the log shows of an explanation: a metric's levels, else a phrase; empty where there is neither."""
    if group == "unknown":
        return ""
    pair = _pair(context, dict(other.facts))
    phrase = f"lookalike.{other.id}_{group}"
    return pair[1] if pair is not None else context.say(phrase) if phrase in context.doc.phrases else ""
