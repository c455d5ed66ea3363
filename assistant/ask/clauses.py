"""The clauses of one text that ask something each, where they do not stand alone: none is dropped without a word.

"Between which steps did the length jump the most, and is the gradient calmer afterwards?" asks twice. What the answer
does not hold is answered after it; what was not understood is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from assistant.ask import run_questions
from assistant.ask.answers import TOPICS
from assistant.ask.computed import words as computed_words
from assistant.ask.context import Context
from assistant.ask.happenings import at_that_one
from assistant.ask.naming import named_keys
from assistant.ask.pointing import AFTERWARDS, BEFOREHAND, NUMBERED, THERE, pointed
from assistant.ask.query import Query
from assistant.ask.wording import normalised
from assistant.knowledge import Mentioned
from assistant.model import Fact, Verdict
from assistant.write.document import marked_ids, unmark

_BETWEEN: Final = re.compile(
    r"(?i)[,，;；。?？!！\n]+|(?:,\s*)?\b(?:and|but)\b(?=\s+(?:then\s+|also\s+)?(?:how|what|which|when|where|why"
    r"|who|is|are|was|were|did|does|do|has"
    r"|have|had|can|should|any)\b)|(?<=[吗没么])\s+(?=[\u3400-\u9fff])|(?<=[的步])\s+(?=最|哪|多[少大]|几|第几|啥|什么)|而且|并且"
    r"|同时(?!的)|还有(?![没多几])|以及|另外|顺便"
)
_ASKS: Final = re.compile(
    r"(?i)多少|几(?!乎)|多[久长大高快慢]|什么|啥|哪|怎么|咋|如何|吗|么\s*$|呢\s*$|没\s*$|是不是|有没有|是否|会不会|能不能|够不够|对不对"
    r"|(?:^|[:：])\s*(?:(?:so|then|also|and|but|ok|by|in|at|on|from|since|to|for|between|over) )*"
    r"(?:how|what|what's|which|when|where|why|who|is|are|was|were|did|does|do|has|have|can|should|any)\b"
    r"|\b(?:when|where|why|how much|how many|which one)\s*$"
    r"|[\u3400-\u9fff] ?(?:是|在|从)?\s*(?:(?:since|from|at|in|by|until) )?(?:which|what) (?:step|row|line|eval|epoch"
    r"|value)s?\b"
    r"|^and (?:before|after|since|until|over|between|from|at|in) .{1,30}$|^and (?:before|after|since|until)\s*$"
)
#: A clause that tells when, rather than one that asks for it.
_SUBORDINATE: Final = re.compile(
    r"(?i)(?:when(?:ever)?|where|while|once|at (?:the|its|their)) "
    r"(?!(?:is|are|was|were|did|does|do|has|have|had|will|can|should|exactly|else)\b)[^,]{1,60}$"
)
#: By how much, of what the clause before it asks which is larger.
_AMOUNT: Final = re.compile(
    r"(?i)(?:那|又|具体|大概|大约|and )?\s*(?:比(?:全程|整体)?的?(?:平均|均值|中位数|平时)(?:值|水平)?)?"
    r"\s*(?:(?:相差|差|[高低大小多少长短快慢])(?:了|出)?(?:多少|几(?:个百分点|倍)?)"
    r"|(?:and )?by how much|how much (?:higher|lower|larger|smaller|longer|shorter|more|less))\s*(?:呢)?"
)
_WHICH: Final = re.compile(r"(?i)哪|谁|\bwhich\b|\bwho\b|比")
_WHICH_STEP: Final = re.compile(
    r"(?i)最|峰|谷|哪(?:一)?(?:个)? ?(?:步|step)|第几步|什么时候|何时"
    r"|slowest|fastest|highest|lowest|largest|smallest|biggest"
    r"|longest|shortest"
    r"|\bpeak|\bmost\b|\bbest\b|\bworst\b|\bwhich step|\bwhen\b|\bfirst\b"
)
#: Intents of a clause that lean on the whole rather than ask for more.
_LEANING: Final = {"explain", "health", "define", "out_of_scope", "advice", "forecast", "compare"}
#: Operations that ask for a number of their own.
_OWN_OPS: Final = {"max", "min", "argmax", "argmin", "mean"}
MOST: Final = 3
_FEW_WORDS: Final = 240
TWO_PARTS: Final = "two_parts"
"""The kind of an answer about two parts of a run: a clause each, both told."""

Understand = Callable[[str], Query]
Write = Callable[[Context], tuple[Verdict, str | None]]


#: The first and the last of what the clause before counts.
_BOTH_ENDS: Final = re.compile(
    r"(?:以及)?\s*(?:第一次|首次)\s*(?:和|跟|与|、|及|以及)\s*最[后近]一次\s*(?:分别|各)?\s*(?:是)?在?(?:哪|第几|什么)"
)


def asking(text: str) -> list[str]:
    """The clauses of a text that ask, in order; none where only one does."""
    pieces = [one for piece in _BETWEEN.split(text) if piece and piece.strip() for one in _listed(piece.strip())]
    found = [piece for piece in pieces if _ASKS.search(piece)]
    while len(found) > 1 and _SUBORDINATE.match(found[0]):  # "when the KL was highest, what was the reward?" is one
        found[:2] = [f"{found[0]}, {found[1]}"]
    for place in range(len(found) - 1, 0, -1):  # "which is higher, and by how much?" is one
        if _BOTH_ENDS.match(found[place]) or (_AMOUNT.fullmatch(found[place]) and _WHICH.search(found[place - 1])):
            found[place - 1 : place + 1] = [f"{found[place - 1]}，{found[place]}"]
    return found if len(found) > 1 else []


def _listed(piece: str) -> list[str]:
    """The items of a list of which each asks something: "跑了几步、一步几秒、内存多少"."""
    items = [item.strip() for item in piece.split("、")]
    return items if len(items) > 1 and all(_ASKS.search(item) for item in items) else [piece]


#: A clause that counts the steps of some kind, and one that asks when the first or the last of them was.
_COUNTED: Final = re.compile(
    r"(?i)^\W*(?:(?:and|on|in|at|for|so|over) )*how many (?:of the )?(?:\w+ ){0,2}?"
    r"(?P<what>steps?|iterations?|rows?|evals?|evaluations?|validations?|points|entries|lines|epochs)\s+"
    r"(?P<rest>(?:had|have|has|were|was|are|is|with|where|ran|run|show\w*|took|take|saw|see|go|went|exceed\w*)\b.+)$"
)
_WHEN_OF_THEM: Final = re.compile(
    r"(?i)^(?:and )?(?:at |in |on )?(?:when|where|which step|what step|which (?:one|iteration|row)) "
    r"(?:(?:was|is|were|did|does)\s+)?(?:(?:the |it |they |that |this )?"
    r"(?:(?P<last>(?:very )?(?:last|latest|most recent|final)|end|stop)"
    r"|(?P<first>(?:very )?(?:first|earliest)|begin|began|start|started))"
    r"(?: (?:one|of (?:them|these|those)|time|such step|step|iteration|row|happen\w*|occur\w*))?)\s*$"
)


def of_counted(found: list[str]) -> list[str]:
    """The clauses of a text, "and when was the last one?" after a count told by what was counted."""
    match = _COUNTED.match(found[0]) if len(found) > 1 else None
    if match is None:
        return found
    told = [found[0]]
    for piece in found[1:]:
        asks = _WHEN_OF_THEM.match(piece)
        which = "" if asks is None else "last" if asks["last"] else "first"
        told.append(f"when was the {which} step that {match['rest']}" if which else piece)
    return told


def leaning(text: str) -> list[str]:
    """The clauses of a text of which a later one leans on the step that the first asks for ("…, and the KL there?");
    none where there is no such clause."""
    found = asking(text)
    if not found or _WHICH_STEP.search(found[0]) is None or len(found) > MOST:
        return []
    leans = any(words.search(piece) for piece in found[1:] for words in (THERE, AFTERWARDS, BEFOREHAND))
    return found if leans and not any(NUMBERED.search(piece) for piece in found[1:]) else []


#: "Did it blow up": a judgement of one metric, which the numbers asked for after it do not answer.
_JUDGED: Final = re.compile(
    r"(?P<broke>爆|崩|炸|塌|坍|挂|垮|飞|发散|跑偏)(?:炸|溃|掉|缩|塌|飞)?(?:了|过)?(?:吗|么|没(?:有)?)\s*$"
    r"|(?:正常|健康|合理|有问题|对劲|稳定?|没事)(?:吗|么|不|没)\s*$|有没有(?:问题|异常|毛病|崩|爆|炸)\S?\s*$"
)
_ONSET: Final = re.compile(
    r"(?i)^(?:那|是|又)?(?:从|在)?(?:(?:第|哪一?)?几?个?(?:步|step)|什么时候|啥时候|何时|几时|哪儿?)(?:就)?(?:开始|起|出现)(?:的|了)?\s*$"
)
AT_WHICH: Final = re.compile(
    r"(?i)(?:是)?在?(?:哪一?个?|第几个?)\s*(?:步|step|次)(?:的|呢)?|(?:and )?where(?: (?:is|was) (?:it|that))?"
    r"|(?:and )?(?:(?:at|on|in) )?which (?:step|iteration|row|update|timestep)"
)
#: A clause that asks for the value of what the clause before looks for: "…, at which step, and how many seconds?".
HOW_MUCH: Final = re.compile(
    r"(?i)(?:那|又|分别|各)?(?:值|数值)?(?:是|有|到|到了|花了|用了|要)?\s*(?:多少|几|多[大高低长久快慢])"
    r"\s*(?:个)?\s*(?:毫?秒|分钟|小时|个点|tokens?|GB?|GiB|MB|sec(?:ond)?s?|min(?:ute)?s?|ms|s|%|percent)?\s*(?:呢|啊|呀|的)?"
)
_WHY: Final = re.compile(r"(?i)为什么|为啥|为何|咋办|怎么办|\bwhy\b")


def judged(text: str, mentions: Sequence[Mentioned]) -> list[str]:
    """The clauses of a text of which the first asks whether something broke or is normal, and the others for numbers.

    A bare "since which step" takes the verb of the first, and each clause its metric; "at which step" alone stays with
    the clause before. None where it is another kind of text.
    """
    found = asking(text)
    if not 2 <= len(found) <= MOST + 1 or any(_WHY.search(piece) for piece in found):
        return []
    match = _JUDGED.search(found[0])
    names = list(dict.fromkeys(m.text for m in mentions if m.text))
    if match is None or any(_JUDGED.search(piece) for piece in found[1:]) or len(names) > 1:
        return []
    name, verb = (f"{names[0]} " if names else ""), match["broke"] or "不正常"
    pieces = [found[0]]
    for piece in found[1:]:
        if _ONSET.search(piece):
            pieces.append(f"{name}从哪步开始{verb}的")
        elif AT_WHICH.fullmatch(piece) and len(pieces) > 1:
            pieces[-1] += f"，{piece}"
        else:
            pieces.append(piece if not name or names[0] in piece else name + piece)
    return pieces


def in_front(context: Context, starts: list[int]) -> None:
    """Puts the first paragraph of each clause's answer before the rest of the first's; a line or two stays where it is.

    Args:
        context: of the answer, all clauses written.
        starts: where in the document the answer of each further clause begins.
    """
    blocks = context.doc.blocks
    between = blocks[1 : min(starts, default=len(blocks))]
    if sum(len(block) for block in between) <= _FEW_WORDS and not any("\n" in block for block in between):
        return  # "from step 79 on it stays there" is of the sentence before it
    leads = [blocks[at] for at in starts if at < len(blocks)]
    rest = [block for at, block in enumerate(blocks) if at and at not in starts]
    context.doc.blocks = list(dict.fromkeys([*blocks[:1], *leads, *rest]))


def further(context: Context, understand: Understand, write: Write) -> None:
    """Answers the clauses that the answer so far does not hold, and says which were not understood.

    Args:
        context: of the answer, its text written; its query and its list of metrics are kept.
        understand: what a clause says by itself.
        write: writes the answer to the context's query.
    """
    first = context.query
    clauses = asking(normalised(first.wording or first.text))[: MOST + 1]
    if not clauses or len(context.runs) != 1 or context.kind == TWO_PARTS:
        return
    at = pointed_step(context)
    lost = []
    for clause in clauses:
        if HOW_MUCH.fullmatch(clause) and first.mentions and first.op in _OWN_OPS:
            continue  # the extreme is told with its value
        if context.kind and (run_questions.holds(context.kind, clause) or covered(context.kind, clause)):
            continue
        clause = clause if clause == clauses[0] else at_that_one(context, clause)  # noqa: PLW2901
        query = meant(understand(pointed(clause, at)), first)
        if not _is_new(context, query, first):
            if context.kind and _unread(query):
                lost.append(clause)
            continue
        added(context, query, write)
    context.query = first
    for clause in lost:
        context.doc.paragraph(unread(context, clause))


#: What an answer of a kind holds beside what its words ask for.
_HELD: Final = {
    "slowest_trajectory": re.compile(r"(?i)token|长|\blong\b|多久|时间|\btime\b"),
    "any_cut": re.compile(r"(?i)how many|多少|几"),
    **dict.fromkeys(("relapsed", "first_times"), re.compile(r"(?<![\w.])-?\d")),
}


def covered(kind: str, clause: str) -> bool:
    """Whether an answer of a kind holds what a clause asks for besides."""
    words = _HELD.get(kind)
    return words is not None and words.search(clause) is not None


#: A clause that sets what the one before told against something: "…? how many times slower than step 20?".
_AGAINST: Final = re.compile(
    r"(?i)^(?:那|又|和|跟|与)?(?:它)?比\s*(?=step|第|\d)|\bthan (?:at |in |on )?(?:step|iteration)\b"
)


def against(clause: str, first: Query) -> str:
    """A clause that sets the value told before against another step's, with that value's metric and step named."""
    keys = list(dict.fromkeys(m.key for m in first.mentions if m.key is not None))
    if len(keys) != 1 or first.steps.kind != "single" or _AGAINST.search(clause) is None:
        return clause
    step = first.steps.values[0]
    if first.language == "zh":
        return f"step {step} 的 {keys[0]} {clause}"
    return f"{clause.rstrip(' ?.')} is {keys[0]} at step {step}?"


def unread(context: Context, clause: str) -> str:
    """That a clause was not answered, in a sentence."""
    context.names.add(clause)
    return context.say("clause.unread", clause=clause)


#: Asks for the number of steps of the log.
_STEPS_COUNTED = re.compile(
    r"(?i)\bhow many (?:training )?(?:steps|iterations|iters|rows|updates|rollouts) (?:are|were|is|does|did|do|has|have"
    r"|in)\b(?! .{0,30}(?:above|below|over|under|with|where))|\bnumber of (?:training )?(?:steps|iterations)\b\s*$"
    r"|(?:一共|总共|共)(?:有|跑了?|训了?)?(?:多少|几)\s*(?:个)?\s*(?:步|steps?)\s*$"
    r"|(?:跑|训练?|练|走)(?:到了?|了)(?:第)?(?:几|多少)\s*个?\s*(?:步|steps?)了?\s*$"
)


def meant(query: Query, first: Query) -> Query:
    """A clause that names no metric is about the one of the whole question; a few words describe none of their own."""
    if _STEPS_COUNTED.search(query.wording):
        return replace(query, mentions=())
    query = replace(query, mentions=tuple(m for m in query.mentions if m.end > m.start))
    shared = tuple(m for m in first.mentions if m.text and m.text in query.wording)
    query = replace(query, mentions=shared) if shared else query
    named = any(m.key is not None or m.card is not None for m in query.mentions)
    keys = {m.key for m in first.mentions if m.key is not None}
    held = {m.key for m in query.mentions if m.key is not None}
    if len(held) == 1 and len(keys) == 2 and held < keys and computed_words()["correlation"].search(query.wording):
        return replace(query, mentions=first.mentions, topics=())  # "… and does it fall with the length?"
    if named or len(keys) != 1 or query.topics:
        return query
    query = replace(query, mentions=tuple(m for m in first.mentions if m.key is not None))
    if query.intent == "out_of_scope" and query.asked_op in _OWN_OPS:  # "and what's the max"
        return replace(query, intent="lookup", op=query.asked_op)
    return query


def _is_new(context: Context, query: Query, first: Query) -> bool:
    """Whether a clause asks for something that the answer does not hold."""
    kind = run_questions.kind_of(query)
    if kind is not None:
        return kind != context.kind
    if set(query.topics) & set(TOPICS) - set(first.topics):
        return query.intent not in {"define", "advice"}
    if _STEPS_COUNTED.search(query.wording):
        return _STEPS_COUNTED.search(first.wording) is None or bool(first.mentions)
    if query.intent in _LEANING:
        return False
    held, context.query = context.query, query
    keys = set(named_keys(context)) if query.mentions else set()
    context.query = held
    asks = query.intent == "lookup" and _STATISTIC.search(query.wording) is not None
    if keys and asks and _STATISTIC.search(_answered(context)) is None:
        return True
    if first.intent in {"derive", "bottleneck"} and query.mentions and query.mentions != first.mentions:
        return True  # what a derivation was made of is not told by it
    told = {first.op, first.asked_op, *first.more_ops}
    if query.intent == "lookup" and query.op in _OWN_OPS and query.op not in told and keys:
        return not {query.op.removeprefix("arg"), f"arg{query.op}"} & told
    return (bool(keys) and not keys & _told(context)) or query.intent == "derive" != first.intent


_STATISTIC: Final = re.compile(r"(?i)中位数|标准差|方差|分位|\bmedian\b|\bstd\b|standard deviation|percentile")


def _answered(context: Context) -> str:
    return context.doc.blocks[0] if context.doc.blocks else ""


def _unread(query: Query) -> bool:
    """Whether nothing at all was understood of a clause."""
    return query.intent == "out_of_scope" and not query.topics and not any(m.key or m.card for m in query.mentions)


def _told(context: Context) -> set[str]:
    """The metrics of which something stands in the answer."""
    facts = (context.ledger.get(fact_id) for fact_id in marked_ids(context.doc.markup()))
    return {str(fact.metric) for fact in facts if fact is not None and fact.metric}


def told_facts(context: Context, start: int = 0) -> list[Fact]:
    """The facts of an answer so far, in the order in which they are told, from a block on."""
    found = (context.ledger.get(name) for block in context.doc.blocks[start:] for name in marked_ids(block))
    return [fact for fact in found if fact is not None]


def added(context: Context, query: Query, write: Write) -> bool:
    """Writes one more answer; takes it back where it says nothing that is not there yet.

    Returns:
        Whether it was kept.
    """
    doc, before = context.doc, len(context.doc.blocks)
    kept = (list(context.metrics), list(context.charts), context.kind)
    said = set(marked_ids(doc.markup()))
    context.query = query
    verdict, problem = write(context)
    fresh = [name for block in doc.blocks[before:] for name in marked_ids(block) if name not in said]
    held = {unmark(block).strip("*") for block in doc.blocks[:before]}
    again = len(doc.blocks) > before and unmark(doc.blocks[before]).strip("*") in held
    underivable = query.intent == "derive" and verdict.code == "no_data"  # an answer too
    told = bool(fresh) or underivable
    kept_out = problem is not None or verdict.code in {"unknown_metric", "out_of_scope"} or not told or again
    if kept_out:
        del doc.blocks[before:]
        context.metrics[:], context.charts[:] = kept[0], kept[1]
    elif len(context.charts) > len(kept[1]):
        drawn = {series.metric for chart in kept[1] for series in chart.series}
        context.charts[len(kept[1]) :] = [
            chart for chart in context.charts[len(kept[1]) :] if {series.metric for series in chart.series} - drawn
        ]
    context.kind = kept[2]
    return not kept_out


def pointed_step(context: Context) -> int | None:
    """The step that "there" and "afterwards" mean: of the extreme, the change or the first crossing told first."""
    for fact_id in marked_ids(context.doc.markup()):
        fact = context.ledger.get(fact_id)
        if fact is None:
            continue
        if fact.to_step is not None and fact.from_step is not None:
            return fact.to_step
        picked = context.query.op is not None or {"best", "worst"} & set(context.query.topics)
        if fact.kind == "value" and fact.step is not None and picked:
            return fact.step
    return None


#: A part of the run that stands before what is asked of it.
_FRAME = re.compile(
    r"(?i)(?:at|by|in) the (?:very )?(?:end|start|beginning)|最后|一开始"
    r"|(?:between|from|in|within|over|during|after|before|since|until|up to)\b(?=[^?]*\d)"
    r"(?!.*\b(?:which|what|how|when|is|was|were|did|does)\b)[^?？,，]{0,48}|"
    r"在?第? ?\d+ ?步?(?:到|至|[-~～])第? ?\d+ ?步?(?:之间|里|内|中|期间)?|第 ?\d+ ?步(?:之|以)?[前后]"
)


def framed(pieces: list[str], text: str) -> list[str]:
    """The clauses of a question with the part of the run that stands before the first: "between 2 and 9, which …"."""
    at = text.find(pieces[0]) if pieces else -1
    head = text[:at].strip(" ,，") if at > 0 else ""
    return [f"{head}, {pieces[0]}", *pieces[1:]] if head and _FRAME.fullmatch(head) else pieces
