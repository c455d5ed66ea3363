"""What somebody states to be wrong rather than asks: "reward does not increase", "训练越来越慢", "OOM after step 54".

A complaint is a state (``complaints.yaml``) said of metrics of the log, or of a matter for which none need be named:
the time, the memory, what the training achieves, the run as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from assistant.ask.context import Context
from assistant.ask.intents import is_stage
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.schedules import is_schedule
from assistant.ask.wording import seamed
from assistant.knowledge import Mentioned

State = Literal[
    "not_finite", "not_rising", "not_falling", "turning", "zero", "garbled", "memory", "standstill", "slower",
    "slow", "spike", "falling", "rising", "still", "unstable", "low", "high", "negative",
]  # fmt: skip
Matter = Literal["", "time", "memory", "effect", "run"]
#: In the order in which they are looked for.
STATES: Final[tuple[State, ...]] = (
    "not_finite", "turning", "not_rising", "not_falling", "negative", "garbled", "memory", "zero", "standstill",
    "slower", "slow", "spike", "unstable", "falling", "rising", "still", "low", "high",
)  # fmt: skip
#: States that say of a metric no more than that it is not as it should be.
VAGUE: Final[frozenset[State]] = frozenset({"high", "low"})
#: What a state says where no metric is named; others then say nothing that a log could be held against.
_ALONE: Final[dict[State, Matter]] = {
    "not_finite": "run", "garbled": "run", "memory": "memory", "standstill": "time", "slower": "time", "slow": "time",
}  # fmt: skip
_OF_EFFECT: Final = frozenset({"not_rising", "not_falling", "falling", "still", "zero", "unstable", "turning"})
#: Longest text that is read, sentences looked at, and complaints taken.
LONGEST: Final = 2000
MOST_SENTENCES: Final = 24
MOST: Final = 3
MOST_MENTIONS: Final = 40
_SENTENCE: Final = re.compile(r"[^.?!。？！；;\n]{1,600}(?:\.(?=\S)[^.?!。？！；;\n]{0,600}){0,20}[.?!。？！；;]{0,8}")
_TIMED: Final = re.compile(
    r"(?i)tim(?:e|ing)|latency|throughput|tflop|mfu|tokens?[/_ ]?(?:per|/)|tps|samples? per|duration|speed"
)
#: Counters, which nobody complains of: "GRPO iter".
_COUNTER: Final = re.compile(r"(?i)(?:^|[ _/])(?:iter|iteration|step|epoch|episode)s?$")
#: Cards of ideas, which name no metric.
_IDEAS: Final = ("concept/", "failure/")
_CONVERGES: Final = re.compile(r"(?i)converg|收敛")
_SUCCESS: Final = re.compile(r"(?i)reward|score|return|success|(?:^|[/_ ])acc(?:uracy)?(?:$|[/_ ])")
_CLOCK: Final = re.compile(r"(?i)tim(?:e|ing)|latency")
#: Two halves of one course: "先下降，之后持续增大".
_FIRST_THEN: Final = re.compile(r"(先[^,，。;；]{1,12})[,，]\s?(?:但|而)?(?:之后|然后|随后|后来|后面|接着|再|又|后)")
_GOES_THEN: Final = re.compile(
    r"(?i)(\b(?:increas|ris|rose|gr[oe]w|climb|improv|decreas|drop|fall|fell|declin|went|go(?=e?s? ))\w*(?: up| down)?"
    r"(?: at first| first| initially)?),? (?:and |but )?then (?=\w)"
)
_FALL: Final = re.compile(r"(?i)下降|降|收敛|decreas|drop|fall|converg|going down|down")


#: Words of keys that name no quantity alone.
_GENERAL: Final = frozenset(
    {
        "los",
        "rate",
        "ratio",
        "mean",
        "avg",
        "max",
        "min",
        "std",
        "train",
        "eval",
        "val",
        "actor",
        "critic",
        "step",
        "time",
        "value",
    }
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A state that somebody says something to be in.

    Attributes:
        state: which, by its name in ``complaints.yaml``.
        metrics: keys of the log that it is said of.
        matter: what it is said of where no metric is; empty where one is.
        since: from which step on.
    """

    state: State
    metrics: tuple[str, ...]
    matter: Matter = ""
    since: int | None = None


def sentences(text: str) -> list[str]:
    """A text's sentences, a template's headings left out."""
    found = (one.strip() for one in _SENTENCE.findall(text[:LONGEST]))
    heading = words("complaints")["template"]
    return [one for one in found if len(one) > 1 and not heading.search(one)][:MOST_SENTENCES]


def asks_for_help(sentence: str) -> bool:
    """Whether a sentence asks for no more than help: "how to fix?", "请问是什么原因？"."""
    return words("complaints")["help"].search(sentence) is not None


def asks_more(text: str, *, choices: bool = True) -> bool:
    """Whether a text asks for something of its own, beside help with what it states.

    Args:
        text: of one person.
        choices: whether "should I lower the rate?" counts as such.
    """
    held = words("complaints")
    rest = [one for one in sentences(text) if not asks_for_help(one)]
    return any(held["asks"].search(seamed(one)) for one in rest if choices or not held["choices"].search(one))


def merely_complains(text: str) -> bool:
    """Whether a text states something and asks for no more than help with it."""
    if asks_more(text):
        return False
    return any(state_in(clause) is not None for one in sentences(text) for clause in clauses_of(one))


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence; "先降，后升" is one."""
    whole = _FIRST_THEN.sub(lambda found: f"{found[1]}后", sentence)
    whole = _GOES_THEN.sub(lambda found: f"{found[1]} afterwards ", whole)
    return [clause.strip() for clause in words("complaints")["seam"].split(whole) if clause and clause.strip()]


def state_in(clause: str) -> State | None:
    """The state that a clause says something to be in."""
    held = words("complaints")
    if held["settled"].search(clause):
        return "still"
    return next((state for state in STATES if held[state].search(clause)), None)


def complaints_in(context: Context, text: str) -> list[Complaint]:
    """What a text complains of, in its order, each metric or matter once; the context's query is of that text."""
    found: list[Complaint] = []
    for complaint in _all(context, seamed(text)):
        known = {key for one in found for key in one.metrics} if complaint.metrics else {one.matter for one in found}
        loose = [at for at, one in enumerate(found) if one.state in VAGUE and one.metrics == complaint.metrics]
        if loose and complaint.metrics and complaint.state not in VAGUE:  # "low, and does not improve"
            found[loose[0]] = complaint
            continue
        fresh = tuple(key for key in complaint.metrics if key not in known)
        if fresh or not (complaint.metrics or complaint.matter in known):
            found.append(replace(complaint, metrics=fresh))
    return found[:MOST]


_CLOCK_SAID: Final = re.compile(r"(?i)\btimes?\b|耗时|时间|用时")


def _all(context: Context, text: str) -> Iterator[Complaint]:
    distinct = {(mention.text.lower(), mention.key): mention for mention in context.query.mentions[:MOST_MENTIONS]}
    described = [mention for mention in distinct.values() if not _said(mention, text)]
    for sentence in sentences(text):
        of_sentence = [mention for mention in distinct.values() if _said(mention, sentence)]
        stated = [(clause, state) for clause in clauses_of(sentence) if (state := state_in(clause)) is not None]
        definite = [clause for clause, state in stated if state not in VAGUE]
        own = {mention.key for mention in of_sentence if any(_said(mention, clause) for clause in definite)}
        borrowed = [mention for mention in of_sentence if mention.key not in own]  # said in no clause of its own
        loosely = [one for one in borrowed if any(_said(one, clause) for clause, state in stated if state in VAGUE)]
        for clause, state in stated:
            metrics = _metrics(context, [mention for mention in of_sentence if _said(mention, clause)])
            if state in {"slow", "slower"} and metrics and all(is_timed(key) for key in metrics):
                metrics = tuple(key for key in _metrics(context, of_sentence) if is_timed(key))
            matter = "" if metrics else _matter(state, clause)
            if not metrics and not matter:
                metrics = _metrics(context, loosely or borrowed)
            if not metrics and state == "slow":  # "the old policy's logprobs": named by no word of its own
                metrics = tuple(key for key in _metrics(context, described) if is_timed(key))
            aimless = state == "not_falling" and metrics and _CONVERGES.search(clause) and _SUCCESS.search(metrics[0])
            complaint = _fitting("not_rising" if aimless else state, metrics, matter, clause)
            if complaint is not None:
                yield replace(complaint, since=_since(sentence))


def is_timed(key: str) -> bool:
    """Whether a key holds a time or a rate."""
    return is_stage(key) or _TIMED.search(key) is not None


def _said(mention: Mentioned, text: str) -> bool:
    return mention.text.lower() in text.lower()


def _metrics(context: Context, mentions: list[Mentioned]) -> tuple[str, ...]:
    """The log's keys that are named."""
    whole, found = context.query, list[str]()
    for mention in mentions:
        context.query = replace(whole, mentions=(mention,))
        held = [key for key in central(named_keys(context)) if key in context.run.columns][:MOST]
        found += held or _near(context, mention)
    context.query = whole
    return tuple(key for key in dict.fromkeys(found) if not _COUNTER.search(key))


def _near(context: Context, mention: Mentioned) -> list[str]:
    """The log's key that a name which it does not have stands for: ``kl_loss`` where it is called ``kl``, "score" where
    that is one of its words.
    """
    told = mention.card is not None and not mention.card.id.startswith(_IDEAS)
    if not context.runs or not (told or re.search(r"[/_]", mention.text)):
        return []
    said = _words_of(mention.text)
    held = [key for key in context.run.metrics if not is_schedule(key)]
    within = [key for key in held if (own := _words_of(key)) and own <= said and not own <= _GENERAL]
    beyond = [key for key in held if said and not said <= _GENERAL and said <= _words_of(key)]
    return sorted(within or beyond, key=lambda key: len(_words_of(key) - said))[:1]


def _words_of(name: str) -> set[str]:
    """The words of a key or a name, in the singular."""
    return {word.removesuffix("s") or word for word in re.findall(r"[a-z]+", name.lower())}


def _matter(state: State, clause: str) -> Matter:
    held = words("complaints")
    if state in _ALONE:
        return _ALONE[state]
    if state in {"falling", "low"} and held["time"].search(clause):
        return "time"
    if state in _OF_EFFECT and held["effect"].search(clause):
        return "effect"
    return ""


def _fitting(state: State, metrics: tuple[str, ...], matter: Matter, clause: str) -> Complaint | None:
    """A complaint whose state can be said of what it is said of."""
    if state in {"memory", "garbled"}:
        return Complaint(state, (), "memory" if state == "memory" else "run")
    if state in {"high", "low"} and metrics and all(_CLOCK.search(key) for key in metrics):
        return Complaint("slow", metrics)
    if state in {"slow", "slower", "standstill"}:
        timed = tuple(key for key in metrics if is_timed(key))
        if timed or not metrics or _CLOCK_SAID.search(clause):  # "…, so the step time got longer"
            return Complaint(state, timed, "" if timed else "time")
        if state == "standstill":
            return Complaint("still", metrics)
        return Complaint("not_falling" if _FALL.search(clause) else "not_rising", metrics)
    if not metrics and not matter:
        return None
    return Complaint(state, metrics, matter)


def _since(sentence: str) -> int | None:
    found = words("complaints")["since"].search(sentence)
    return None if found is None else int(found["n"] or found["m"])


__all__ = ["Complaint", "asks_for_help", "asks_more", "complaints_in", "merely_complains", "sentences", "state_in"]
