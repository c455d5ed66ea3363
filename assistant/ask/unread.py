"""What of a question was not understood: a metric that the log lacks, and what nothing here computes.

An answer beside the point is worse than none: where a named metric is not in the log, that is the answer; where an
operation is unknown, it is said in front of the nearest reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.ask import worded
from assistant.ask.context import Context, is_validation, key
from assistant.ask.naming import named_keys
from assistant.ask.telling import trend_sentence
from assistant.ask.wording import normalised
from assistant.knowledge import Card, Mentioned
from assistant.model import Verdict
from assistant.write.document import unmark

#: Intents that ask something of values, so that a metric without any settles the answer.
_OF_VALUES: Final = {"lookup", "trend", "health", "explain", "validation"}
#: Cards that are no metric.
_NO_METRIC: Final = {"concept", "failure"}
#: Topics that are answered from other keys than the one named.
_OTHERWISE: Final = {
    "tokens",
    "cap",
    "memory",
    "total_time",
    "remaining",
    "tools",
    "nan",
    "interval",
    "slowdown",
    "gaps",
    "best",
    "worst",
}
#: Words that name no metric by themselves: in another log they mean another key.
_TOO_GENERAL: Final = {"长度", "分数", "得分", "时间", "成绩", "length", "score", "scores", "time"}
#: "How is the gradient norm?" asks for what the log holds, not for what the words mean.
_HOW_IS: Final = re.compile(
    r"(?i)\bhow(?:'s| is| are| was| were| has| did| does)\b(?!.{0,40}(?:defin|comput|calculat))|咋样|怎么样|[正异]常"
)
_KIN: Final = 2
#: Longer questions are not searched for lists.
_LONG: Final = 400
#: So many metrics of a log are listed.
MOST_LISTED: Final = 16


@dataclass(frozen=True, slots=True)
class _Unread:
    words: re.Pattern[str]
    unless: re.Pattern[str] | None


@lru_cache(maxsize=1)
def operations() -> tuple[_Unread, ...]:
    """The operations of ``unread.yaml``.

    Raises:
        KnowledgeError: an entry has other fields, or holds no regular expression.
    """
    path = Path(__file__).with_suffix(".yaml")
    found = []
    for name, entry in resources.yaml_table(path).items():
        worded.checked(path, name, entry, {"re"}, {"re", "unless"})
        found.append(_Unread(*worded.patterns(path, name, entry)))
    return tuple(found)


def not_computed(context: Context) -> None:
    """Says in front of the answer which operation of the question was not computed; nothing where there is none."""
    text = normalised(context.query.wording or context.query.text)
    if context.query.intent in {"define", "out_of_scope"} or context.kind == "unlogged":
        return
    for one in operations():
        match = one.words.search(text)
        if match is None or (one.unless is not None and one.unless.search(text)):
            continue
        if any(m.start < match.end() and match.start() < m.end for m in context.query.mentions if m.key is not None):
            continue
        word = match.group().strip()
        context.names.add(word)
        context.doc.blocks.insert(0, context.say("unread.lead", word=word))
        return


def requalified(context: Context) -> tuple[str, bool]:
    """Takes "format reward" for the log's key with that word in its name, rather than for its reward.

    Returns:
        The sentence that says so, or that no key holds the word, and whether none does; empty where nothing of the
        kind is named.
    """
    if len(context.runs) != 1:
        return "", False
    text = normalised(context.query.wording or context.query.text)
    for place, mention in enumerate(context.query.mentions):
        if mention.key is None or mention.text.lower() not in _HEADS:
            continue
        at = text.find(mention.text)
        match = _QUALIFIER.search(text[:at]) if at > 0 else None
        word = "" if match is None else _CHINESE.get(match[1], match[1]).lower()
        if match is None or word in _told_by(context, mention):
            continue
        name = text[match.start(1) : at + len(mention.text)]
        context.names.add(name)
        holding = [m for m in context.run.metrics if word in re.split(r"[^a-z0-9]+", m.lower())]
        if not holding:
            return context.say("absent.qualified", name=key(name), metric=mention.key), True
        resolution = context.resolver.key(holding[0], context.run.framework)
        card = None if resolution is None else resolution.card
        meant = replace(mention, key=holding[0], card=card)
        mentions = (*context.query.mentions[:place], meant, *context.query.mentions[place + 1 :])
        context.query = replace(context.query, mentions=mentions)
        return context.say("absent.nearest", name=key(name), part=word, metric=holding[0]), False
    return "", False


def told_first(context: Context, verdict: Verdict, narrowed: str, lacking: bool) -> Verdict:
    """The verdict with what :func:`requalified` says in front: no data where a value is asked of what no key holds."""
    if not narrowed:
        return verdict
    context.doc.blocks.insert(0, narrowed)
    if lacking and context.query.intent == "lookup" and verdict.code == "answered":
        return replace(verdict, code="no_data", summary=unmark(narrowed))
    return verdict


def _told_by(context: Context, mention: Mentioned) -> set[str]:
    """Words that a metric's key and card name it by."""
    told = [str(mention.key), *([] if mention.card is None else _names(mention.card))]
    return set(re.split(r"[^a-z0-9]+", " ".join(told).lower()))


def _names(card: Card) -> list[str]:
    """Keys, names, titles and words that a card goes by."""
    words = [str(word) for words in (card.meta.get("words") or {}).values() for word in words]
    return [*card.keys, *map(str, card.meta.get("names", ())), card.title("zh"), card.title("en"), *words]


#: Names that stand for a family, which a word in front of them narrows down.
_HEADS: Final = {
    "reward",
    "rewards",
    "score",
    "scores",
    "loss",
    "acc",
    "accuracy",
    "奖励",
    "得分",
    "损失",
    "准确率",
    "分数",
}
#: Words that narrow such a name down to a metric of its own.
_CHINESE: Final = {
    "格式": "format",
    "工具": "tool",
    "长度": "length",
    "重复": "repetition",
    "语言": "language",
    "蒸馏": "distill",
}
_QUALIFIER: Final = re.compile(
    r"(?i)(?<![a-z/_])(format|tool|length|style|language|code|safety|helpfulness|repetition|cosine|process|outcome"
    r"|thinking|reasoning|intrinsic|exploration|auxiliary|aux|router|distill|mtp|contrastive|correctness|grounded|step"
    r"|格式|工具|长度|重复|语言|蒸馏)[ -]?(?:的)?$"
)


def absent_metric(context: Context) -> Verdict | None:
    """That a metric which the question names is not in the log, with what the log has of its kind.

    Returns:
        The verdict; ``None`` (nothing written) where the log holds a metric that is named, or none is.
    """
    query = context.query
    if len(context.runs) != 1:
        return None
    lost = [m for m in query.mentions if m.key is None and _absent(context, m)]
    spelt = [m for m in lost if re.search(r"[A-Za-z][_/]", m.text)]
    about_meaning = query.intent == "define" or "sign" in query.topics
    if spelt and about_meaning and any(m.key is not None for m in query.mentions):
        return _meant(context, spelt)
    defined = query.intent == "define" and _HOW_IS.search(query.said) is not None
    of_values = query.intent in {*_OF_VALUES, "compare"} or defined
    if not lost or named_keys(context) or not of_values or set(query.topics) & _OTHERWISE:
        return None
    if all(m.text in _TOO_GENERAL for m in lost):
        return None
    if query.intent in {"explain", "health"} and query.steps.kind not in {"none", "all"}:
        return None
    from assistant.ask.answer_lookup import lookup

    context.query = replace(query, intent="lookup", topics=(), mentions=tuple(lost))
    card = lost[0].card
    assert card is not None  # of an absent mention
    few = len(context.run.metrics) <= MOST_LISTED and not context.run.missing
    own = card.framework == context.run.framework and not few
    verdict = lookup(context) if own else _not_logged(context, lost[0].text)
    if verdict.code == "no_data":
        context.doc.paragraph(_kin(context, card))
    return verdict


#: What stands between two names of one list: "loss、kl 和 reward".
_JOINED: Final = re.compile(
    r"(?i)(?:的|at step \d+)?[\s`,、/&和与跟及,，]*(?:and|or|plus|as well as|以及|还有)?[\s`]*"
    r"(?:(?:the|its|my|our|also)\s+){0,2}`?"
)
_NAME_PARTS: Final = re.compile(r"[\s_/-]+")


def beside(context: Context, problem: str | None) -> None:
    """Says that a metric which stands in a list with others is not in the log, where the answer tells only these.

    Args:
        context: of the answer.
        problem: why there is no answer, if so.
    """
    query = context.query
    text = query.wording or query.text
    if problem is not None or len(context.runs) != 1 or not context.doc.blocks or len(text) > _LONG:
        return
    named = [m for m in query.mentions if m.end > m.start]
    spans = {(m.start, m.end) for m in named if m.key is not None}
    lost = [m for m in named if (m.start, m.end) not in spans and m.key is None and _absent(context, m)]
    told = "\n".join(context.doc.blocks).lower()
    names = []
    for _ in lost:  # the last of a list stands beside the log's own, the first beside the second
        spans |= {(m.start, m.end) for m in lost if _beside(text, m, spans)}
    for mention in lost:
        near = (mention.start, mention.end) in spans
        said = any(f"`{name.lower()}`" in told for name in (mention.text, *(mention.card.keys if mention.card else ())))
        if near and mention.text not in _TOO_GENERAL and not said and _is_name(mention):
            names.append(mention.text)
    if names:
        context.names.update(names)
        context.doc.blocks.insert(1, context.say("absent.beside", names=context.join(list(map(key, names)))))


def _beside(text: str, mention: Mentioned, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether nothing but a comma or an "and" stands between a mention and one of the spans."""
    return any(_JOINED.fullmatch(text[min(mention.end, b) : max(mention.start, a)]) for a, b in spans)


def _is_name(mention: Mentioned) -> bool:
    """Whether a mention is its card's name, rather than words that describe it."""
    card = mention.card
    if card is None or card.category == "validation":
        return False
    names = [*_names(card), *(name.rsplit("/", 1)[-1] for name in card.keys)]
    return _plain(mention.text) in {_plain(name) for name in names}


def _plain(name: str) -> str:
    return _NAME_PARTS.sub("", name.lower())


def _not_logged(context: Context, name: str) -> Verdict:
    """That the log holds no metric of a name, with the metrics that it has where they are few."""
    context.names.add(name)
    keys = [m for m in context.run.metrics if not is_validation(m)] or list(context.run.metrics)
    if len(keys) <= MOST_LISTED:
        text = context.say("absent.metric", name=key(name), listed=context.join(map(key, keys)))
    else:
        count = context.ledger.count("metrics of the log", len(context.run.metrics))
        text = context.say("absent.metric_many", name=key(name), n=count)
    context.doc.paragraph(f"**{text}**")
    return Verdict("no_data", unmark(text))


def _absent(context: Context, mention: Mentioned) -> bool:
    card = mention.card
    if card is None or card.category in _NO_METRIC or not mention.text:
        return False
    if any(key in context.run.columns for key in card.keys):
        return False
    return all(context.card(metric) is not card for metric in context.run.metrics)


def _meant(context: Context, spelt: list[Mentioned]) -> Verdict:
    """What a metric that the log lacks means, that it lacks it, and what it has of its kind."""
    from assistant.ask.answer_define import define

    context.query = replace(context.query, intent="define", topics=(), mentions=tuple(spelt))
    verdict = define(context)
    if (card := spelt[0].card) is not None:
        context.doc.paragraph(_kin(context, card))
    return verdict


def _kin(context: Context, card: Card) -> str:
    """How metrics that a card names as related moved in this log; empty where it holds none of them."""
    related = {str(name) for name in card.meta.get("related", ())}
    keys = [m for m in context.run.metrics if (own := context.card(m)) is not None and own.id in related]
    keys = [m for m in keys if (own := context.card(m)) is not None and own.category == card.category]
    texts = [
        trend_sentence(context, metric, trend) for metric in keys[:_KIN]
        if (trend := context.ledger.trend(metric)) is not None and (trend.n or 0) > 1
    ]  # fmt: skip
    gap = "" if context.language == "zh" else " "
    return context.say("absent.with_kin", trend=gap.join(texts)) if texts else ""
