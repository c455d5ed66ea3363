"""Names in a question that belong together ("chosen 和 rejected 的 logps"), and what is no name in it."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.logged import as_mention
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run

_NUMBER: Final = re.compile(r"[-\d.,%]+")
_WHICH_STEP: Final = re.compile(
    r"(?i)第几个?\s*(?:步|轮|次|steps?)|哪一?个?\s*(?:步|轮|次|steps?)|which step|what step"
)
#: What is counted, and how its count is told, beside the metric that it is said of: "大于 0.5 的步数占比".
_COUNTED: Final = re.compile(
    r"(?i)(?:占)?(?:总|全部)?(?:的)?(?:步数|次数|个数)(?:的)?(?:占比|比例|比重)?|占比|比例|比重|百分比|占(?:了)?多大比例"
    r"|(?:total )?(?:number|share|fraction|percentage|proportion) of (?:all |the )?steps|(?:the )?(?:total )?steps"
)
#: "Loss scale" is the scaler's, and no loss.
_SCALE: Final = re.compile(r"(?i)[ _-]?scal(?:e|er|ing)\b")
_PLAIN: Final = re.compile(r"(?i)scores?|rewards?|loss|entropy|kl|lr|accuracy|acc")
_OF: Final = re.compile(r"\s*(?:的|这项|那项|这个|那个|'s)?\s*")
_LONGEST_OF: Final = 16
_PAID: Final = re.compile(r"(?i)reward|score|loss")
_GENERIC: Final = re.compile(r"(?i)奖励|得分|分数|损失|rewards?|scores?|loss")
_TOKEN: Final = re.compile(r"(?<![\w/@.-])[A-Za-z][A-Za-z0-9_]*(?![\w/@])")
_PLACE: Final = frozenset({"step", "epoch"})
"""Words that tell where in the run, whatever key ends so."""
#: Fewest keys of one head that two names of a question make: "chosen and rejected logps".
LEAST: Final = 2


def joined(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """The mentions of a question, those that only say what kind of thing another is left out."""
    found = [m for m in found if m.key is not None or not _NUMBER.fullmatch(m.text)]  # a limit is no name
    if any(m.key is not None for m in found):
        found = [m for m in found if not _WHICH_STEP.fullmatch(m.text)]
    found = [m for m in found if not (_SCALE.match(text, m.end) and "scal" not in (m.key or "scal").lower())]
    if any(m.key is not None and not _COUNTED.fullmatch(m.text) for m in found):
        found = [m for m in found if not _COUNTED.fullmatch(m.text)]
    return _headed(
        text, _of_both(text, _owned(text, [_logged(m, run, resolver) for m in found]), run, resolver), run, resolver
    )


_OTHER_OWNER: Final = re.compile(
    r"(?i)(?:\s*(?:比|和|跟|与|同|以及|、|/|\bthan\b|\bvs\.?|\bversus\b|\band\b|[a-z]* than)\s*(?:the\s+)?)"
    r"(?P<who>[a-z]{3,12})\b(?:'s|\s*(?:的|那个|这边)?)"
)

#: "Actor 和 critic 的 grad_norm": the first owner stands before the second, which is part of the name.
_OWNER_BEFORE: Final = re.compile(
    r"(?i)(?<![\w/])(?P<who>[a-z]{3,12})\s*(?:和|跟|与|同|、|/|以及|还有|\band\b|\bor\b|&|\bvs\.?|\bversus\b)\s*(?:the\s+)?$"
)


def _of_both(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Of "critic 的 grad norm 比 actor 的大多少": the actor's too, where the log holds the same key of both."""
    keyed = [m for m in found if m.key is not None]
    if len(keyed) != 1 or "/" not in str(keyed[0].key):
        return found
    mention = keyed[0]
    head, _, tail = str(mention.key).partition("/")
    own = rf"(?i)\b{re.escape(head)}\s*(?:各自|分别)?(?:的|'s)?\s*$"
    before = re.sub(own, "", text[: mention.start])
    match = _OTHER_OWNER.match(text, mention.end) or _OWNER_BEFORE.search(before)
    if match is None or match["who"].lower() == head or f"{match['who'].lower()}/{tail}" not in run.columns:
        return found
    start, end = match.span("who")
    found = [m for m in found if m.end <= start or end <= m.start]
    return [*found, as_mention(run, resolver, f"{match['who'].lower()}/{tail}", start, end, match["who"])]


def _logged(mention: Mentioned, run: Run, resolver: Resolver) -> Mentioned:
    """For a plain word that another framework's key is known by, the one key of the log that holds it as a word."""
    if mention.key is not None or mention.card is None or not _PLAIN.fullmatch(mention.text):
        return mention
    if mention.card.framework in {run.framework, "concept", "failure"} or _keys_of(mention, run):
        return mention
    word = mention.text.lower()
    held = [key for key in run.metrics if word in re.split(r"[^a-z]+", key.lower())]
    return mention if len(held) != 1 else as_mention(run, resolver, held[0], mention.start, mention.end, mention.text)


def _keys_of(mention: Mentioned, run: Run) -> bool:
    return mention.card is not None and any(key in run.columns for key in mention.card.keys)


def _owned(text: str, found: list[Mentioned]) -> list[Mentioned]:
    """ "check_answer 的奖励" is one reward's key, and not the whole reward besides."""
    owners = [m for m in found if m.key is not None and _PAID.search(m.key)]
    kept = []
    for mention in found:
        generic = _GENERIC.fullmatch(mention.text) is not None
        near = (m for m in owners if m is not mention and 0 <= mention.start - m.end <= _LONGEST_OF) if generic else ()
        if not any(_OF.fullmatch(text[m.end : mention.start]) for m in near):
            kept.append(mention)
    return kept


def _headed(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Members of one group named apart from it: of "chosen and rejected logps" the keys ``logps/…``."""
    places = {match.group().lower(): match.span() for match in _TOKEN.finditer(text)}
    heads: dict[str, list[str]] = {}
    for key in run.metrics:
        head, _, tail = key.lower().partition("/")
        if tail in places and tail not in _PLACE and (head in places or (head.endswith("s") and head[:-1] in places)):
            heads.setdefault(head, []).append(key)
    group = next((keys for keys in heads.values() if len(keys) >= LEAST), None)
    if group is None:
        return found
    named = [places[key.lower().partition("/")[2]] for key in group]
    head = group[0].lower().partition("/")[0]
    named.append(places.get(head) or places[head[:-1]])
    kept = [m for m in found if all(m.end <= start or end <= m.start for start, end in named)]
    for key in group:
        start, end = places[key.lower().partition("/")[2]]
        kept.append(as_mention(run, resolver, key, start, end, text[start:end]))
    return kept
