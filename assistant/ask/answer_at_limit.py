"""Whether the longest response reached the length limit, at a step or ever: yes or no, and by what that is told."""

from __future__ import annotations

from assistant.ask.answer_setup import finite, longest_and_cut
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import unmark


def reached(context: Context) -> Verdict | None:
    """Answers "did the longest response hit the limit?".

    The limit is told by the log where responses were cut at the largest length, or where several steps share it.

    Returns:
        The verdict; ``None`` (nothing written) where the log lost it at the step asked for.
    """
    pair = longest_and_cut(context.run)
    held = finite(context, pair[0]) if pair is not None else []
    if pair is None or not held:
        text = context.say("cap.none")
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    longest, clipped = pair
    at = _at(context, held)
    if at is None:
        return None
    top = max(held, key=number)
    there = [fact for fact in held if fact.value == top.value]
    cut = [value for fact in there if (value := context.value(clipped, fact.step or 0)) is not None]
    known = any(number(value) > 0 for value in cut) or (len(there) > 1 and not cut)
    values = {
        "metric": longest, "v": top, "n": context.ledger.count("steps at the largest length", len(there)),
        "of": context.ledger.count("values", len(held), metric=longest),
    }  # fmt: skip
    context.metrics.append(longest)
    share: Fact | None = None
    if not known:
        said = context.say("limit.uncut" if cut else "limit.unknown", **values)
    elif at:
        share = context.value(clipped, at[0].step or 0)
        name = "limit.at" if at[0].value == top.value else "limit.not_at"
        said = context.say(name, **(values | {"v": at[0], "top": top}))
    else:
        share = max((one for one in cut if number(one) > 0), key=number, default=None)
        said = context.say("limit.ever", **values)
    context.doc.paragraph(f"**{said}**")
    if share is not None:
        context.doc.bullets([context.say("cap.clipped", metric=clipped, v=share)])
    context.cite(context.card(longest))
    return Verdict("answered", unmark(said), "high" if share is not None else "medium")


def _at(context: Context, held: list[Fact]) -> list[Fact] | None:
    """The value at the one step that is asked for, none for the whole run; ``None``: it is lost."""
    slot = context.query.steps
    if slot.kind in {"none", "all"}:
        return []
    if slot.kind in {"last", "first"}:
        return held[-1:] if slot.kind == "last" else held[:1]
    if slot.kind != "single":
        return None
    return [fact for fact in held if fact.step in slot.values] or None
