"""Answers to "what is it": a metric's definition, and what this log holds of it."""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.analysis.trend import MIN_POINTS
from assistant.ask.answer_lookup import lookup
from assistant.ask.answer_pairs import equality
from assistant.ask.answer_trend import trend
from assistant.ask.context import Context, key
from assistant.ask.extremes import card_for
from assistant.ask.naming import central, named_keys, unknown, which
from assistant.knowledge import Card, difference
from assistant.model import Verdict
from assistant.write.document import unmark

#: Words that ask for this log's value rather than for the definition alone.
_HERE = re.compile(r"(?i)\bhere\b|(?:in|of|for) (?:this|my|our) (?:run|log)|这里|这个(?:run|日志|训练)|这份日志|我的")


#: Two things of which a question asks which one a metric is.
_EITHER = (
    re.compile(r"是?([\u3400-\u9fff]{2,8}?)的?还是([\u3400-\u9fff]{2,8}?)的?(?:数|值)?\s*[?？。]?$"),
    re.compile(r"(?i)\b(before|pre|after|post)[- ]or[- ](before|pre|after|post)[- ](\w+)"),
)


#: "Is entropy in the log?", "entropy 多少": a question for what a log holds, and not for a meaning.
_OF_A_LOG = re.compile(
    r"(?i)(?:日志|log|文件)\s*(?:里|中|内)?[^,，。?]{0,6}(?:有没有|有|记录?了?|打印)|^\W*(?:有没有|有无)[^,，。?]{1,30}$"
    r"|(?:是|有|为)?多少(?![才算以])|第 ?\d+ ?步|step ?\d|最后|最近一|现在|目前"
    r"|\b(?:does|did|do) (?:it|the log|this) (?:log|have|hold|print|report|contain)\b|\bat step \d"
    r"|\b(?:last|final|latest|current) (?:value|step)\b"
    r"|\b(?:which|what) (?:step|iteration|epoch)\b|\bwhen did\b|哪一?个?步|第几步"
)
_OF_MEANING = re.compile(
    r"(?i)意思|是(?:个)?(?:什么|啥)|含义|定义|怎么|如何|为什么|为啥|正常|合适|范围|算(?:高|低|大|小)|应该|区别"
    r"|\b(?:mean\w*|defin\w*|what (?:is|are|does)|should|how|why|normal|healthy|range|typical|good|bad|difference)\b"
)


def of_a_log(text: str) -> bool:
    """Whether a question asks for what a log holds, which without one cannot be told."""
    return _OF_A_LOG.search(text) is not None and _OF_MEANING.search(text) is None


def _either(context: Context, card: Card) -> str:
    """Which of the two a question offers the card's words say ("before or after clipping"); empty where none or both.

    It is a word of the card's line or text, so that it can be quoted.
    """
    text = context.query.said.strip()
    said = f"{card.short(context.language)} {card.section(context.language, 'is')}".replace("**", "")
    found = _EITHER[0].search(text)
    if found:
        offered = [word for word in (found[1], found[2]) if word in card.short(context.language)]
        return offered[0] if len(offered) == 1 else ""
    found = _EITHER[1].search(text)
    if found:
        stem = found[3].lower()[:4]
        words = re.findall(rf"(?i)\b(?:before|pre|after|post)[- ](?:\w+ )?{re.escape(stem)}\w*", said)
        sides = {word[:2].lower().replace("pr", "be").replace("po", "af") for word in words}
        return words[0] if len(sides) == 1 else ""
    return ""


#: "Why is the explained variance negative": takes a value in this log for granted.
_WHY_IT_IS = re.compile(
    r"(?i)(?:为什么|为啥|为何|怎么(?!看|算|读|理解|定义|调|设)).{0,40}"
    r"(?:是负|为负|负的|[高低大小](?!于)|零|(?<![\d.])0(?![.\d])|[涨升降掉跌]|不变|不动)"
    r"|\bwhy (?:is|are|was|were|does|did|do|has|have)\b.{0,60}"
    r"\b(?:negative|positive|zero|high|low|large|small|so|too|ris\w+|fall\w*"
    r"|drop\w*|increas\w+|decreas\w+|going|stuck|flat|constant|nan)\b"
)


def define(context: Context) -> Verdict:
    """Definition of each metric named, with its values in the log."""
    from assistant.ask import answer_difference

    if not context.runs and (told := answer_difference.attempt(context)) is not None:
        return told
    cards: list[tuple[Card, str]] = []
    for mention in context.query.mentions:
        card = context.card(mention.key) if mention.key is not None else mention.card
        if card is not None and all(card is not known for known, _ in cards):
            cards.append((card, mention.key or mention.text))
    if not cards and named_keys(context):  # a key of the log that no card explains: its values, and that said
        context.doc.paragraph(context.say("define.no_card", names=context.join(map(key, named_keys(context)[:3]))))
        enough = any(len(context.run.series(name)[0]) >= MIN_POINTS for name in named_keys(context))
        several = enough and context.query.steps.kind in {"none", "all", "range", "last_n"}
        return replace(trend(context) if several else lookup(context), code="answered")
    if not cards:
        nameless = next((m.text for m in context.query.mentions), None)
        if nameless is not None:
            return unknown(context, nameless)
        return which(context)
    if any(
        card.category != "concept" for card, _ in cards
    ):  # "is it policy clipping?": the concept is no metric asked for
        cards.sort(key=lambda pair: pair[0].category == "concept")
        if _either(context, cards[0][0]):  # "before or after clipping": a property of the metric, no concept of its own
            cards = [pair for pair in cards if pair[0].category != "concept"]
    supposed = _WHY_IT_IS.search(context.query.said) is not None
    here = supposed or _HERE.search(context.query.said) is not None
    absent = bool(context.runs) and not central(named_keys(context)) and here
    first_summary = ""
    word = cards[0][1] if absent else ""
    if word and (supposed or not re.search(r"[/_@]", word)):  # its value is asked for: that there is none comes first
        first_summary = context.say("define.not_logged", word=word)
        context.doc.paragraph(f"**{first_summary}**")
    for card, named in cards[:3]:
        summary = define_card(context, card, named)
        first_summary = first_summary or summary
    keys = central(named_keys(context))
    if len(keys) == 2 and len(cards) == 2:
        context.doc.paragraph(equality(context, keys[0], keys[1]))
    _sign_of(context, cards)
    return Verdict("no_data" if absent else "answered", unmark(first_summary))


def define_card(context: Context, card: Card, named: str = "") -> str:
    """One card: what it is, how to read it, what it does not mean, the log's values, formula, source.

    ``named`` is the key that the question spells or stands for, where it is one of the log's.
    """
    doc, say, language = context.doc, context.say, context.language
    held = [m for m in context.run.metrics if context.card(m) is card] if context.runs else []
    if named in held:
        held = [named]
    shown = held[0] if len(held) == 1 else card.keys[0]
    title, source = card.title(language), card.source
    short = doc.quote(card.id, title, source, card.short(language).rstrip("。."))
    summary = say("define.summary", key=shown, short=short)
    either = _either(context, card)
    if either:
        gap = "" if language == "zh" else " "
        summary = say("define.either", word=doc.quote(card.id, title, source, either)) + gap + summary
    doc.paragraph(f"**{summary}**")
    framework = context.run.framework if context.runs else None
    logged = framework is not None and framework in card.present_when(language)  # the card names the log's framework
    if framework is not None and not logged and not card.own and card.framework not in {framework, "concept"}:
        doc.paragraph(say("define.foreign", framework=card.framework, own=framework))
    _says(context, card)
    if context.query.depth != "brief" and card.section(language, "read"):
        doc.heading("section.means")
        doc.paragraph(context.quote(card, "read"))
    _here(context, central(held), card)
    if context.runs and not held and card.category not in {"concept", "failure"} and not card.own:
        doc.paragraph(f"**{say('define.not_here', key=shown)}**")
    if card.section(language, "not"):
        doc.heading("section.not")
        doc.paragraph(context.quote(card, "not"))
    if context.query.depth != "brief" and card.section(language, "next"):
        doc.heading("section.next")
        doc.paragraph(context.quote(card, "next"))
    lines = []
    if card.own:
        lines += _stated(context, card)
    elif card.category != "concept":
        quoted = doc.quote(card.id, title, source, card.formula)
        lines.append(say("define.formula", formula=quoted, unit=doc.quote(card.id, title, source, card.unit)))
        present = doc.quote(card.id, title, source, card.present_when(language).rstrip("。."))
        lines.append(say("define.present", text=present))
    others = _also(context, card)
    if others:
        lines.append(say("define.also", items=others))
    lines.append(say("define.source", source=doc.quote(card.id, title, source, source), ref=context.cite(card)))
    doc.bullets(lines)
    if held or card.category != "concept" or not context.metrics:
        context.metrics.extend(central(held) or [card.keys[0]])
    return summary


def _sign_of(context: Context, cards: list[tuple[Card, str]]) -> None:
    """What the metric may be a sign of on the side that the question speaks of ("熵太低会怎样"), as its card has it."""
    for card, named in cards[:2]:
        name = card_for(context.query.said, (named, *card.keys, card.id))
        failure = None if name is None else context.resolver.library.get(name)
        if failure is not None:
            context.doc.heading("define.section_sign")
            context.doc.paragraph(f"{context.short(failure)} {context.cite(failure)}")
            for section in ("is", "next"):
                context.doc.paragraph(context.quote(failure, section))
            return


def _says(context: Context, card: Card) -> None:
    """What it is, in the card's words; a team's own document is shown as the quotation it is."""
    if not card.own:
        context.doc.paragraph(_beyond(context, card))
        return
    title, source = card.title(context.language), card.source
    lines = [line.strip() for line in card.section(context.language, "is").split("\n") if line.strip()]
    quoted = [f"> {context.doc.quote(card.id, title, source, line)}" for line in lines]
    context.doc.blocks.append("\n".join([*quoted[:-1], f"{quoted[-1]} {context.cite(card)}"]))


_SENTENCE = re.compile(r"(?<=[。！])|(?<=[.!])\s+(?=[A-Z`])")
_WORD = re.compile(r"[a-z]{3,}|(?=([\u3400-\u9fff]{2}))")
_SAID = 0.7
"""Of its words, as many stand in the line above where a sentence says nothing new."""


def _beyond(context: Context, card: Card) -> str:
    """What the card says it is, cited, without a first sentence that repeats the line above it."""
    text, short = card.section(context.language, "is"), card.short(context.language)
    first, *rest = _SENTENCE.split(text.split("\n\n")[0])
    words = [match[1] or match[0] for match in _WORD.finditer(first.lower())]
    known = {match[1] or match[0] for match in _WORD.finditer(short.lower())}
    if not rest or not words or sum(word in known for word in words) < _SAID * len(words):
        return context.quote(card, "is")
    left = text[len(first) :].lstrip()
    parts = [context.doc.quote(card.id, card.title(context.language), card.source, part) for part in left.split("\n\n")]
    return "\n\n".join(parts) + f" {context.cite(card)}"


def _stated(context: Context, card: Card) -> list[str]:
    """Formula and unit, where a team's document states them, and what the shipped card of the key says."""
    doc, say, language = context.doc, context.say, context.language
    title, source, lines = card.title(language), card.source, []
    if card.formula:
        lines.append(say("define.own_formula", formula=doc.quote(card.id, title, source, card.formula)))
    if card.unit:
        lines.append(say("define.own_unit", unit=doc.quote(card.id, title, source, card.unit)))
    found = context.resolver.shipped_key(card.keys[0], context.run.framework if context.runs else None)
    if found is not None:
        other = found.card
        short = context.short(other).rstrip("。.")
        lines.append(say("define.shipped", framework=other.framework, short=short, ref=context.cite(other)))
        theirs = other.meta.get("healthy")
        if theirs and difference(card, other) is not None:
            mine = doc.quote(card.id, title, source, card.meta["healthy"][language])
            words = doc.quote(other.id, other.title(language), other.source, theirs[language])
            lines.append(say("define.differs", own=mine, other=words))
    return lines


def _also(context: Context, card: Card) -> str:
    parts = []
    for other in card.meta.get("also", ()):
        names = ", ".join(key(name) for name in other["keys"])
        text = f"{other['framework']} {names}"
        if "differs" in other:
            difference = other["differs"][context.language].rstrip("。.")
            text += f"（{difference}）" if context.language == "zh" else f" ({difference})"
        parts.append(context.doc.quote(card.id, card.title(context.language), card.source, text))
    return ("；" if context.language == "zh" else "; ").join(parts)


def _here(context: Context, keys: list[str], card: Card) -> None:
    if not keys:
        return
    wanted = context.query.steps.values if context.query.steps.kind in {"single", "pair"} else ()
    items = []
    for metric in keys[:3]:
        steps, _ = context.run.series(metric)
        chosen = [s for s in steps if s in wanted] if wanted else (steps if len(steps) <= 4 else [steps[0], steps[-1]])
        facts = [f for s in chosen if (f := context.value(metric, s)) is not None]
        if facts:
            name = f"{key(metric)} " if len(keys) > 1 else ""
            joined = context.join(context.say("define.here_item", v=fact) for fact in facts)
            items.append(name + joined)
    if not items:
        return
    context.doc.paragraph(context.say("define.here", values=("；" if context.language == "zh" else "; ").join(items)))


# -- lookup -------------------------------------------------------------------------------------
