"""What of a reply fits into so many tokens: for readers who pay by the token.

Every field stays; lists lose their last items, a Markdown text its last lines, and what was left out is counted. Whole
lines and whole items only, so that no number is ever cut in two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assistant.agent.budget import cut_to, estimate

#: Longest text of one field, in characters, where a reply has to be shortened.
LONGEST = 600
_LONGEST_WORD = 80
#: Tokens kept for the count of what was left out.
RESERVE = 60


def dumped(document: Any) -> str:
    """JSON without blanks, as it is sent."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def tokens(value: Any) -> int:
    """Tokens of a value as JSON: estimated, high rather than low."""
    return estimate(dumped(value))


def clipped(text: str, longest: int = LONGEST) -> str:
    """A text of at most so many characters, cut at a blank where there is one, the cut marked."""
    if len(text) <= longest:
        return text
    head = text[:longest]
    place = max(head.rfind(mark) for mark in " \n，。；、")
    whole = place > 0 and (len(head) - place <= _LONGEST_WORD or place > longest // 2)
    return (head[: place + 1] if whole else head).rstrip() + " …"


def shortened(value: Any, longest: int = LONGEST) -> Any:
    """A value with each of its texts clipped."""
    if isinstance(value, str):
        return clipped(value, longest)
    if isinstance(value, Mapping):
        return {clipped(key, longest): shortened(item, longest) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [shortened(item, longest) for item in value]
    return value


def first_that_fit(items: Iterable[Any], budget: int) -> tuple[list[Any], int]:
    """Items from the first on, as long as they fit, and their tokens."""
    kept: list[Any] = []
    spent = 0
    for item in items:
        cost = tokens(item) + 1
        if spent + cost > budget:
            break
        kept.append(item)
        spent += cost
    return kept, spent


def fitted(
    document: Mapping[str, Any], budget: int, shares: Mapping[str, float], *, text: str | None = None,
    ranked: Callable[[str, Sequence[Any], Mapping[str, Any]], Sequence[Any]] | None = None,
) -> tuple[dict[str, Any], dict[str, int]]:  # fmt: skip
    """A document of at most ``budget`` tokens, and how much of which field was left out.

    Args:
        document: a JSON object whose size lies in its lists, and in one text.
        budget: tokens of the whole.
        shares: which lists (and the text) may be shortened, in the order in which they are given room, each with the
            share of what is then left.
        text: name of the field that holds Markdown, shortened by lines.
        ranked: puts a list's items in the order of their worth, given what was kept before.

    Returns:
        The shortened document (the same one if it fits), and field → number of items (of the text: characters) left
        out.
    """
    if tokens(document) <= budget:
        return dict(document), {}
    kept: dict[str, Any] = {
        key: "" if key == text else [] if key in shares and isinstance(value, list) else shortened(value)
        for key, value in document.items()
    }
    left = budget - tokens(kept) - RESERVE
    waiting: dict[str, list[Any]] = {}
    for key, share in shares.items():
        whole = document.get(key)
        if not whole:
            continue
        if key == text:
            kept[key] = lines_of(whole, int(left * share))
            left -= tokens(kept[key])
            continue
        order = [_slim(key, item) for item in (ranked(key, whole, kept) if ranked is not None else whole)]
        kept[key], spent = first_that_fit(order, int(left * share))
        left -= spent
        waiting[key] = order[len(kept[key]) :]
    for key, items in waiting.items():  # what the shares left over
        more, spent = first_that_fit(items, left)
        kept[key] += more
        left -= spent
    left_out = {key: len(document[key]) - len(kept[key]) for key in shares if document.get(key)}
    return kept, {key: count for key, count in left_out.items() if count > 0}


def lines_of(text: str, budget: int) -> str:
    """The first lines of a Markdown text, without a heading or a table's head that nothing follows; never empty."""
    kept = cut_to(text, budget, tokens)
    if len(kept) == len(text):
        return kept
    lines = kept.split("\n")
    while lines and (not lines[-1].strip() or lines[-1].startswith("#") or _head_of_table(lines)):
        lines.pop()
    return "\n".join(lines) or clipped(text.split("\n", 1)[0], max(2 * budget, 40))


def _head_of_table(lines: Sequence[str]) -> bool:
    """Whether the last line is a table's head or the rule under it."""
    last, before = lines[-1].strip(), lines[-2].strip() if len(lines) > 1 else ""
    return last.startswith("|") and (not last.strip("|-: ") or not before.startswith("|"))


def _slim(key: str, item: Any) -> Any:
    """An item with its texts clipped; a run without the keys that date its framework."""
    item = shortened(item)
    if key == "runs" and item.get("framework_version"):
        item["framework_version"] = item["framework_version"] | {"evidence": []}
    return item


def by_mention(key: str, items: Sequence[Any], kept: Mapping[str, Any]) -> Sequence[Any]:
    """Facts that the kept text and findings refer to come first; mentions are those of the kept text."""
    shown = len(kept.get("answer", ""))
    if key == "mentions":
        return [mention for mention in items if mention["end"] <= shown]
    if key != "facts":
        return items
    named: dict[str, None] = {}
    for finding in kept.get("findings", ()):
        named.update(dict.fromkeys(finding["evidence"]))
    for row in kept.get("rows", ()):
        named.update(dict.fromkeys(filter(None, [row.get("fact")])))
    rank = {name: place for place, name in enumerate(named)}
    return sorted(items, key=lambda fact: rank.get(fact["id"], len(rank)))  # stable: as they were first told
