"""A quantity asked for by a name that no key of the log answers to: said, rather than another one in its place.

"The reward entropy at step 3" is neither the reward nor the entropy, "the KL on validation" is not that of training.
Read from the frame of the question: what stands in it as the name of one quantity must be told in full by the metric
that was taken for it, or by that metric's card.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.ask import run_questions
from assistant.ask.context import Context, is_validation, key
from assistant.ask.wording import FULL_WIDTH, normalised
from assistant.knowledge import Card, Mentioned
from assistant.model import Verdict
from assistant.write.document import unmark

_LONGEST: Final = 120
#: Cards that are no metric.
_NO_METRIC: Final = {"concept", "failure"}
_ASKED: Final = {
    "lookup",
    "trend",
    "health",
    "explain",
    "validation",
    "compare",
    "derive",
    "bottleneck",
    "out_of_scope",
}
#: Intents of a question whose name is known by no metric at all.
_NAMELESS: Final = {"lookup", "trend", "explain", "health", "out_of_scope"}
#: What may narrow a name down behind it: "the loss of expert 5", "reward per second".
_NARROWED: Final = re.compile(r"(?i)\s*(?:of|per|in|for) (?!epoch|step|eval|val)[a-z]")
#: Words for the model that a key belongs to.
_OWNERS: Final = (
    (re.compile(r"(?i)critic|vf_|value|vpred"), "价值网络价值函数价值模型 critic value function network model head"),
    (re.compile(r"(?i)actor|policy"), "策略网络 actor policy network"),
)
_WORD: Final = re.compile(r"[a-z][a-z0-9'@_.-]*|\d+(?:st|nd|rd|th)\b|[\u3400-\u9fff]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_OF_VALIDATION: Final = re.compile(r"(?i)验证|评测|测试|\b(?:val|valid|validation|eval|evaluation|test|held-?out)\b")
#: Most words of a name.
_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class _Words:
    frames: tuple[re.Pattern[str], ...]
    loose: tuple[re.Pattern[str], ...]
    latin: re.Pattern[str]
    han: re.Pattern[str]
    generic: re.Pattern[str]
    more: re.Pattern[str]


@lru_cache(maxsize=1)
def words() -> _Words:
    """The frames and words of ``not_held.yaml``."""
    table = resources.yaml_table(Path(__file__).with_suffix(".yaml"))
    compiled = {name: re.compile(rf"(?i){table[name]}") for name in ("modifiers_zh", "generic", "more")}
    return _Words(
        tuple(re.compile(f"(?i){frame}") for frame in table["frames"]),
        tuple(re.compile(f"(?i){frame}") for frame in table["loose"]),
        re.compile(rf"(?i)(?<![\w-]){table['modifiers_en']}(?![\w-])"),
        compiled["modifiers_zh"],
        compiled["generic"],
        compiled["more"],
    )


def attempt(context: Context) -> Verdict | None:
    """That the log holds no such quantity; ``None`` (nothing written) where one of its metrics is what is named."""
    query = context.query
    text = normalised(query.wording or query.text)
    if not context.runs or len(text) > _LONGEST or query.intent not in _ASKED or query.follows:
        return None
    name = _name(text, words().frames)
    loosely = name is None
    name = _name(text, words().loose) if name is None else name
    if name is None or not _typed(name, query.text):
        return None  # what a wording was put as is no name that anybody gave
    start = text.find(name)
    inside = [m for m in query.mentions if m.end > m.start and start <= m.start and m.end <= start + len(name)]
    described = [m for m in query.mentions if m not in inside and m.text == m.key]
    if len(inside) + len(described) < len(query.mentions) and any(
        m.key is not None and not _is_step(m) for m in query.mentions if m not in inside and m not in described
    ):
        return None  # a metric outside the frame's name: not read as one name
    keyed = [m for m in inside if m.key is not None]
    if any(re.search(r"[/_]", m.text) for m in keyed) or (loosely and run_questions.kind_of(query) is not None):
        return None  # a key spelt out is what is named
    compound = len({m.key or m.start for m in inside}) > 1 and _adjoining(text, inside)
    if len({(m.start, m.end) for m in inside}) > 1 and not compound:
        return None
    at = {m.text: name.find(m.text) for m in inside}
    front = name[: min(at.values())] if at else name
    behind = name[max(place + len(said) for said, place in at.items()) :] if at else ""
    if words().latin.sub("", words().han.sub("", behind)).strip() and not _NARROWED.match(behind):
        return None  # what is said of it, and no longer name
    rest = f"{front} {behind}"
    unkeyed = [m for m in inside if m.key is None]
    if unkeyed and not compound:
        if keyed or query.topics or run_questions.kind_of(query) is not None:
            return None
        concept = all(m.card is not None and m.card.category in _NO_METRIC for m in unkeyed)
        fuller = _left(rest, [m.card for m in unkeyed], [], described=False)
        return _told(context, name, []) if concept or fuller else None
    if described and not keyed and re.search(r"[的 ].", name) is not None and _HAN.search(name):
        return None  # a description in Chinese, and no name
    if not keyed and (loosely or query.topics or query.intent not in _NAMELESS or words().generic.fullmatch(name)):
        return None
    near = keyed or described
    left = _left(rest, [m.card for m in near], [str(m.key) for m in near], described=not keyed)
    if left is None:
        return None
    return _told(context, name, near) if left or compound or not near else None


def _typed(name: str, question: str) -> bool:
    """Whether a name stands in the question as it was typed, blanks and case aside."""
    return re.sub(r"\s", "", name).lower() in re.sub(r"\s", "", question.translate(FULL_WIDTH)).lower()


def _is_step(mention: Mentioned) -> bool:
    return re.fullmatch(r"(?i)步|steps?", mention.text) is not None


def _name(text: str, frames: tuple[re.Pattern[str], ...]) -> str | None:
    """What stands in the question's frame as the name of one quantity."""
    for frame in frames:
        match = frame.match(text)
        if match is not None:
            name = match["x"].strip(" `'\"的")
            return name if name and "@" not in name and len(name.split()) <= _MOST else None
    return None


def _left(rest: str, cards: list[Card | None], keys: list[str], *, described: bool) -> list[str] | None:
    """The words of a name that neither the metric nor its card tells; ``None`` where it is more than a name."""
    if words().more.search(rest):
        return None
    rest = words().latin.sub(" ", rest.lower())
    known = set[str]()
    for card in cards:
        known |= _vocabulary(card, described=described) if card is not None else set()
    for one in keys:
        known |= {_stem(word) for word in re.findall(r"[a-z0-9]+", one.lower())}
        for owner, said in _OWNERS:
            known |= {_stem(word) for word in said.split()} if owner.search(one) else set()
    han = "".join(sorted(known)) if _HAN.search(rest) else ""
    if han:  # Chinese is not told apart into words: the lines of the cards, and what people ask of them
        asks = [str(one) for card in cards if card is not None for one in (card.meta.get("asks") or {}).get("zh", ())]
        han += "".join([*(card.short("zh") for card in cards if card is not None), *asks])
    left = []
    for word in _WORD.findall(rest):
        if _HAN.match(word):
            more = words().han.sub("", word)
            pairs = [more[at : at + 2] for at in range(max(1, len(more) - 1))] if more else []
            left += [more] if any(pair not in han for pair in pairs) else []
        elif not all(_stem(part) in known or len(part) == 1 for part in re.findall(r"[a-z0-9]+", word)):
            left.append(word)
    return left


@lru_cache(maxsize=512)
def _told_by(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_stem(word) for text in texts for word in re.findall(r"[a-z0-9]+|[\u3400-\u9fff]+", text.lower()))


def _vocabulary(card: Card, *, described: bool) -> frozenset[str]:
    """The words that a card goes by, and, where the question names it, those of its line."""
    named = [str(word) for words_ in (card.meta.get("words") or {}).values() for word in words_]
    texts = (*card.keys, *map(str, card.meta.get("names", ())), *named)
    told = (card.title("zh"), card.title("en"), *(() if described else (card.short("zh"), card.short("en"))))
    return _told_by((*texts, *told))


def _stem(word: str) -> str:
    for end in ("ing", "ies", "es", "ed", "s"):
        if len(word) - len(end) >= 3 and word.endswith(end):
            return word[: -len(end)]
    return word


def _adjoining(text: str, mentions: list[Mentioned]) -> bool:
    """Whether two names make one: nothing but a blank, "of" or 的 between them."""
    ordered = sorted(mentions, key=lambda m: m.start)
    return any(
        a.end <= b.start and re.fullmatch(r"\s*(?:的|of the|of)?\s*", text[a.end : b.start]) is not None
        for a, b in pairwise(ordered)
    )


def _told(context: Context, name: str, near: list[Mentioned]) -> Verdict:
    say = context.say
    gap = "" if context.language == "zh" else " "
    context.names.add(name)
    count = context.ledger.count("metrics of the log", len(context.run.metrics))
    text = say("absent.metric_many", name=key(name), n=count)
    context.doc.paragraph(f"**{text}**")
    metrics = list(dict.fromkeys(str(m.key) for m in near))[:2]
    lines = []
    glosses = [line for metric in metrics if (line := context.gloss(metric))]
    if metrics:
        training = _OF_VALIDATION.search(name) is not None and not any(is_validation(metric) for metric in metrics)
        names = context.join(map(key, metrics))
        lines.append(say("absent.of_training" if training else "absent.other_quantity", names=names))
    lines.append(say("absent.would_show"))
    context.doc.paragraph(gap.join(lines))
    context.doc.bullets(glosses)
    context.query = replace(
        context.query, intent="lookup", topics=(), mentions=(), alternatives=(), op=None, asked_op=None, threshold=None
    )
    context.settled, context.kind = True, "not_held"
    return Verdict("no_data", unmark(text))
