"""Clauses of one text that are answered as turns of a conversation: "how high did it get, and when was that?".

Each clause leans on the one before as a follow-up does, so that what follow-ups understand serves here as well. Texts
whose clauses only make sense together are left to the reading of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from assistant.ask import run_questions
from assistant.ask.clauses import AT_WHICH, HOW_MUCH, MOST, asking, covered, of_counted
from assistant.ask.follow import asks_by_itself
from assistant.ask.patterns import patterns
from assistant.ask.pointing import owned
from assistant.ask.query import Query, State
from assistant.model import StepSlot

#: Verdicts of a first clause after which the whole is read in another way.
UNANSWERED: Final = frozenset({"no_data", "unknown_metric", "out_of_scope", "no_metrics", "insufficient_data"})

Understand = Callable[[str, State | None], Query]

LONGEST: Final = 200
#: What may stand between clauses and around them.
_JOINTS: Final = re.compile(
    r"(?i)[\s,，;；。.?？!！:：、…~～]+|\b(?:and|but|also|then|so|ok|hi|hello|hey|please|pls|thanks|plus)\b"
    r"|而且|并且|同时|还有|以及|另外|顺便|然后|那么?|请问|问下|麻烦|谢谢|帮我?看?一?下|看一?下"
)
#: A text that weighs its parts against each other is one question.
_TOGETHER: Final = re.compile(
    r"(?i)相关|一起|同步|同时|分别|各自?(?:是|多|占)|\brespectively\b|\bcorrelat|\btogether\b|\beach\b"
)
#: A clause that sets what was told against something else belongs to it.
_AGAINST: Final = re.compile(
    r"(?i)^(?:那|又|和|跟|与|还)?(?:它)?(?:比(?!例|率|重)|相比)|^[和跟与].{1,24}(?<![占])比|\bthan\b|\bcompared\b"
)
#: A part of the run on one side of a step; two of them are compared.
_SIDE: Final = re.compile(r"(?i)(?:之|以)?[前后](?!\s*\d)|\bbefore\b|\bafter\b|\bsince\b(?! (?:which|what|when)\b)")
_CROSSED: Final = "reached"
_BEST: Final = re.compile(r"(?i)\b(?:best|worst)\b|最[好佳优差]")
_OWN: Final = frozenset({"lookup", "trend", "compare", "derive", "bottleneck", "validation", "forecast"})


def turns(text: str, pieces: Sequence[str], whole: Query, understand: Understand, state: State | None) -> list[str]:
    """The clauses of a text that can be answered one after the other; none where it is one question.

    Args:
        text: the question, normalised.
        pieces: the questions that stand by themselves in it, where there are several.
        whole: what the whole says.
        understand: what a text says, in the light of what was asked before.
        state: of the conversation before.
    """
    found = [one for piece in pieces for one in asking(piece) or [piece]] if len(pieces) > 1 else asking(text)
    if not 2 <= len(found) <= MOST or len(text) > LONGEST or _TOGETHER.search(text):
        return []
    rest = text
    for piece in found:
        rest = rest.replace(piece, " ", 1)
    if _JOINTS.sub("", rest):
        return []
    spelt = of_counted(found)
    leans, found = spelt != found, spelt
    for place in range(len(found) - 1, 0, -1):  # "how high, and at which step?" is one
        if AT_WHICH.fullmatch(found[place]) or HOW_MUCH.fullmatch(found[place]):
            found[place - 1 : place + 1] = [f"{found[place - 1]}，{found[place]}"]
    if len(found) < 2 or any(_AGAINST.search(piece) for piece in found[1:]):
        return []
    if state is not None and state.query is not None and not asks_by_itself(found[0]):
        return []
    sides = [re.findall(r"\d+", piece) for piece in found if _SIDE.search(piece) is not None]
    if len(sides) > 1 and not (all(sides) and len({tuple(side) for side in sides}) == len(sides)):
        return []  # the two sides of one step; of two steps they are no sides of each other
    first = understand(found[0], None)
    named = first.mentions or first.topics or first.intent == "trend"
    if first.intent not in _OWN or first.guessed or not named or len(first.runs) > 1:
        return []
    if not keys(first) <= keys(whole) and not _describes(
        first, whole, [understand(piece, None) for piece in found[1:]]
    ):
        return []
    if whole.intent == "derive" and {understand(piece, None).intent for piece in found} == {"derive"}:
        return []  # what the log implies of its setup is told as one
    kind, kinds = None if leans else run_questions.kind_of(whole), {run_questions.kind_of(first)}
    if kind == _CROSSED and kinds == {kind} and _limits(first, [understand(piece, None) for piece in found[1:]]):
        return found  # "when did it reach 0.5, when 0.7?"
    for piece in found[1:]:
        alone = understand(piece, None)
        if _BEST.search(found[0]) and not _BEST.search(piece) and keys(alone) - keys(first):
            return []  # "which is best by accuracy, and which by loss?"
        own = run_questions.kind_of(alone)
        if not (_says_something(alone) or own or patterns().single["why"].fullmatch(piece)):
            return []
        apart = own == kind and not run_questions.holds(kind or "", found[0]) and bool(keys(first))
        if kind is not None and not apart and (run_questions.holds(kind, piece) or covered(kind, piece)):
            return []
        kinds.add(own)
    return [] if kind is not None and kind not in kinds else found


def _limits(first: Query, later: Sequence[Query]) -> bool:
    """Whether each clause has a limit of its own, and the later ones no metric."""
    limits = [query.threshold for query in (first, *later)]
    return None not in limits and len(set(limits)) == len(limits) and not any(keys(query) for query in later)


def _describes(first: Query, whole: Query, later: Sequence[Query]) -> bool:
    """Whether the first clause describes a metric that the whole text hides, as a later clause names its own."""
    told = first.op is None and any(mention.end > mention.start for mention in first.mentions)
    return told and not keys(first) & keys(whole) and keys(whole) <= {key for query in later for key in keys(query)}


def _says_something(query: Query) -> bool:
    """Whether a clause by itself names what it asks, rather than a few words that may lean in any direction."""
    said = query.mentions or query.topics or query.threshold or query.asked_op or query.steps.kind != "none"
    return (
        bool(said)
        or re.search(r"\d", query.wording) is not None
        or query.intent in {"trend", "forecast", "advice", "health", "compare"}
    )


def turn(piece: str, told: str, understand: Understand, held: State) -> Query:
    """A later clause: as it says by itself where it names its metric, else as a follow-up of the one before.

    Args:
        piece: the clause.
        told: the clause with the step that it points to named.
        understand: what a text says, in the light of what was asked before.
        held: what the clauses before left behind.
    """
    told = _why_there(piece, held) or told
    if held.query is not None and (of_it := owned(piece, held.query.wording or held.query.text, held.step)) != piece:
        return understand(of_it, None)
    alone = understand(told, None)
    own = alone.intent in _OWN and not alone.guessed
    if (there := _mean_there(piece, alone, held)) is not None:
        return there
    at = _same_step(alone, held)
    if at is not None and told == piece:  # "how long did step 16 take, and generation?"
        return understand(f"第 {at} 步 {piece}" if alone.language == "zh" else f"at step {at}, {piece}", None)
    if run_questions.holds("lasting", piece):  # "and it never came back?": of the limit, and no part of the run
        told = piece
    return alone if keys(alone) and (own or told != piece) else understand(told, held)


_PLAIN: Final = re.compile(
    r"(?i)最|平均|均值|一共|总|趋势|走势|变化|涨|跌|升|降|\b(?:max|min|mean|avg|average|total|trend)\w*"
)


def _same_step(alone: Query, held: State) -> int | None:
    """The one step of the clause before, where this one asks for no more than a metric's value."""
    before = held.query.steps if held.query is not None else None
    if before is None or before.kind != "single" or alone.steps.kind != "none" or not keys(alone):
        return None
    plain = alone.intent == "lookup" and alone.op is None and not alone.topics and alone.threshold is None
    return before.values[0] if plain and _PLAIN.search(alone.wording) is None else None


def _mean_there(piece: str, alone: Query, held: State) -> Query | None:
    """A mean asked for in a clause behind a value at one step is the mean of that step: "…、等工具平均几秒"."""
    before = held.query.steps if held.query is not None else None
    if before is None or before.kind != "single" or alone.op != "mean" or _WHOLE.search(piece):
        return None
    if alone.steps.kind != "all" or any(m.key is None or not m.key.endswith("mean") for m in alone.mentions):
        return None
    return replace(alone, steps=before, all_steps=before.values, op=None, asked_op=None, topics=(), intent="lookup")


_WHOLE: Final = re.compile(
    r"(?i)全程|整个|一路|所有|前|后|最近|各|每|以来|到现在|\b(?:overall|over|whole|entire|run|all|every|each|last|first|since)\b"
)


def _why_there(piece: str, held: State) -> str:
    """A bare "why?" after an extreme asks for the step at which that stands."""
    before = held.query
    if before is None or held.step is None or patterns().single["why"].fullmatch(piece) is None:
        return ""
    op, named = before.op or "", [m.key for m in before.mentions if m.key is not None]
    if op.removeprefix("arg") not in {"max", "min"} or len(named) != 1:
        return ""
    low = op.endswith("min")
    if before.language == "zh":
        return f"为什么 step {held.step} 的 {named[0]} 这么{'低' if low else '高'}"
    return f"why is {named[0]} so {'low' if low else 'high'} at step {held.step}"


def steps_of(asked: Sequence[Query]) -> StepSlot:
    """The steps of clauses that ask the same of one step each: all of them; else those of the first clause."""
    named = {query.steps.values for query in asked if query.steps.kind == "single"}
    same = len({frozenset(keys(query)) for query in asked}) == 1
    if len(named) < len(asked) or not same:
        return asked[0].steps
    return StepSlot("pair", tuple(sorted(step for values in named for step in values)))


def keys(query: Query) -> set[str]:
    """The keys of the log that a question names in so many words."""
    return {m.key for m in query.mentions if m.key is not None and m.end > m.start}
