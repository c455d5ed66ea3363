"""What the offline engine itself says of a log: its sentences are true as they stand, and its facts may be stated.

A text under audit is often an answer of this very program, or quotes one. Where the audit cannot bear out one of its
sentences, the engine is asked the questions that such a sentence answers; a sentence that it says of this log word by
word is supported by the facts that it states there.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, product, zip_longest
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ask.engine import Answerer, card_text
from assistant.ground.audit import Audit, Auditor
from assistant.ground.sentences import Unit, units
from assistant.ground.verdicts import Claim, Sentence
from assistant.model import Answer, Fact, Mention, Run
from assistant.write.phrases import phrases

#: Questions put for one text, and metrics and steps of it that they are about.
MOST_QUESTIONS, MOST_METRICS, MOST_STEPS = 48, 4, 3
#: Sentences of a text by which it is told whether it is one of our answers.
_READ: Final = 120
#: Characters at a text's beginning that say what it is about.
_OPENING: Final = 600
_SHORTEST_QUOTE: Final = {"zh": 10, "en": 24}
#: Fewest characters of a phrase of ours, fields aside, by which a sentence is taken to be one of ours.
_SHORTEST_PHRASE: Final = {"zh": 7, "en": 14}
#: Logs whose sentences are kept.
KEPT: Final = 8
_BAD: Final = frozenset({"contradicted", "unsupported"})
_EMPHASIS: Final = re.compile(r"\*\*|^[\s>*_-]+|[\s*_`]+$")
_POINTS_BACK: Final = re.compile(
    r"(?i)\W*(?:it|its|this|that|these|those|they|their|both|over the run|the median"
    r"|其中?|它们?|该|这|那|此|全程|前三分之一)(?![A-Za-z])"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence of the engine: which characters of it state which fact, and the facts by id."""

    text: str
    mentions: tuple[Mention, ...]
    facts: Mapping[str, Fact]


@dataclass
class Known:
    """The sentences that the engine said of some runs so far.

    Attributes:
        runs: what it was asked about.
        answerer: the engine.
    """

    runs: tuple[Run, ...]
    answerer: Answerer
    _asked: set[tuple[str, str]] = field(default_factory=set)
    _said: dict[tuple[str, ...], Stated] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def mended(self, audit: Audit, auditor: Auditor, text: str, language: str) -> Audit:
        """The audit with what the engine says word by word supported; asks only while something is left.

        Args:
            audit: of the text, as the auditor gave it.
            auditor: which made it.
            text: that was audited.
            language: in which the engine is asked.
        """
        all_units = units(text)
        keys = _keys(text, all_units)
        bad = [at for at in range(len(keys)) if audit.sentences[at].status in _BAD]
        quoted = {at for at in bad if all_units[at].kind != "row" and self._in_a_card(keys[at][0], language)}
        left = {at: keys[at] for at in bad if at not in quoted}
        ours = set(left)
        if left and not self._answer_of_ours(keys, all_units, language):
            ours = {at for at, key in left.items() if self._ours(key, all_units[at], language)}
        found: dict[int, Stated] = {}

        def look() -> None:
            for at in [at for at, key in left.items() if key in self._said]:
                found[at] = self._said[left.pop(at)]

        with self._lock:
            look()
            count = 0
            told = [(audit.sentences[at].text, " ".join(keys[at][1:]), at in ours) for at in left]
            for question in self._questions(auditor, told, text[:_OPENING], language):
                if not left or count >= MOST_QUESTIONS:
                    break
                if (question, language) in self._asked:
                    continue
                count += 1
                self._ask(question, language)
                look()
        return _with(audit, found, quoted) if found or quoted else audit

    def _answer_of_ours(self, keys: Sequence[tuple[str, ...]], all_units: Sequence[Unit], language: str) -> bool:
        """Whether so much of a text is in our wording that the whole of it may be an answer of the engine."""
        read = list(zip(keys, all_units, strict=True))[:_READ]
        ours = sum(self._ours(key, unit, language) or self._in_a_card(key[0], language) for key, unit in read)
        return ours >= max(1, len(read) / 8)

    @staticmethod
    def _ours(key: tuple[str, ...], unit: Unit, language: str) -> bool:
        """Whether the engine may have said this: a row whose table it heads as well, or a sentence in its wording."""
        if len(key) > 1 and unit.kind != "row" and len(key[0]) < 40:
            return _spoken_by_us(key[0], language) or _spoken_by_us(key[1], language)
        if unit.kind == "row":
            return all(_spoken_head(title, language) for title in key[1:])
        return _spoken_by_us(key[0], language)

    def _in_a_card(self, sentence: str, language: str) -> bool:
        """Whether a sentence stands word by word in a definition: then it says nothing of this log."""
        return len(sentence) >= _SHORTEST_QUOTE[language] and sentence in _definitions(self.answerer, language)

    @staticmethod
    def _questions(
        auditor: Auditor, sentences: Sequence[tuple[str, str, bool]], opening: str, language: str
    ) -> Iterator[str]:  # fmt: skip
        """What may be asked so that the engine says such sentences, the likeliest first.

        Args:
            auditor: names the metrics and steps of a text.
            sentences: each with the one before it, or with the head of its table, and whether it may be ours by its
                wording; of others only what asks for a number that they tell is asked.
            opening: of the text: what it speaks of where a sentence names nothing itself.
            language: of the questions.
        """
        if not sentences:
            return
        shipped = _asked()[language]
        if any(own for _, _, own in sentences):
            yield ""  # everything that matters: the answer that is pasted most
        first_keys, first_steps = auditor.subjects([opening])
        for entry in shipped["told"]:
            for sentence, before, own in sentences:
                if not own and "?P<" not in entry["where"]:
                    continue
                if (match := re.search(entry["where"], f"{before} {sentence}")) is None:
                    continue
                keys, steps = auditor.subjects([sentence])
                near_keys, near_steps = auditor.subjects([before]) if not (keys and steps) else ([], [])
                keys, steps = keys or near_keys or first_keys, steps or near_steps or first_steps
                number = next((found for found in match.groupdict().values() if found), "")
                for template in entry["ask"]:
                    yield from _filled(template, keys[:2], steps[: MOST_STEPS + 1], number)
        if not any(own for _, _, own in sentences):
            return
        yield from shipped["always"]
        keys, steps = auditor.subjects([sentence for sentence, _, own in sentences if own])
        keys = list(dict.fromkeys([*keys[:MOST_METRICS], *first_keys[:2]]))
        near = steps[: MOST_STEPS + 1]
        stepped = [template for kind in ("step", "pair") for template in shipped[kind]]
        yield from _interleaved(
            [question for template in shipped["metric"] for question in _filled(template, keys, [], "")],
            [question for template in stepped for question in _filled(template, [], near, "")],
        )

    def _ask(self, question: str, language: str) -> None:
        self._asked.add((question, language))
        answer, _ = self.answerer.ask(question, self.runs, language=language)
        for key, stated in _sentences(answer):
            self._said.setdefault(key, stated)


@lru_cache(maxsize=1)
def _asked() -> dict[str, Any]:
    """The questions that are put (``known.yaml``)."""
    table: dict[str, Any] = resources.yaml_table(Path(__file__).with_name("known.yaml"))
    return table


def _filled(template: str, keys: Sequence[str], steps: Sequence[int], number: str) -> Iterator[str]:
    """A template with its fields filled in, once for each metric and step or pair of steps that there is."""
    metrics: Sequence[str] = keys if "{metric}" in template else ("",)
    places: Sequence[tuple[int, ...]] = [()]
    if "{step}" in template:
        places = [(step,) for step in steps[:MOST_STEPS]]
    elif "{first}" in template:
        places = list(pairwise(steps))[:MOST_STEPS]
    if "{number}" in template and not number:
        return
    for metric, place in product(metrics, places):
        one, two = (place[0], place[-1]) if place else (0, 0)
        yield template.format(metric=metric, step=one, first=one, second=two, number=number)


def _interleaved(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    """Both, one of each in turn."""
    for pair in zip_longest(first, second):
        yield from (question for question in pair if question)


_CACHE: OrderedDict[tuple[int, ...], Known] = OrderedDict()
_LOCK = threading.Lock()


def known(runs: Sequence[Run], answerer: Answerer) -> Known:
    """What the engine said of some runs so far; kept for the logs asked about last."""
    own = tuple(map(id, runs))
    with _LOCK:
        held = _CACHE.get(own)
        if (
            held is None
            or held.answerer is not answerer
            or any(a is not b for a, b in zip(held.runs, runs, strict=True))
        ):
            held = Known(tuple(runs), answerer)
        _CACHE[own] = held
        _CACHE.move_to_end(own)
        while len(_CACHE) > KEPT:
            _CACHE.popitem(last=False)
    return held


@lru_cache(maxsize=4)
def _definitions(answerer: Answerer, language: str) -> str:
    """The text of all cards, a blank for each run of blanks."""
    texts = (card_text(card, language) for card in answerer.resolver.library)
    return "\n".join(re.sub(r"\s+", " ", text.replace("**", "")) for text in texts)


@lru_cache(maxsize=2)
def _phrases(language: str) -> tuple[tuple[str, ...], ...]:
    """The sentences of the engine's phrases, each as the stretches between its fields."""
    found = set()
    for entry in phrases().table.values():
        for sentence in re.split(r"[。；\n]|\.\s|;\s", entry[language]):
            parts = tuple(part for part in map(_plain, re.split(r"\{[^{}]*\}|[`*]+", sentence)) if part)
            if sum(map(len, parts)) >= _SHORTEST_PHRASE[language]:
                found.add(parts)
    return tuple(sorted(found))


def _spoken_by_us(sentence: str, language: str) -> bool:
    """Whether a sentence has the wording of one of the engine's own phrases, so that it may be one of its sentences."""
    for parts in _phrases(language):
        at = 0
        for part in parts:
            at = sentence.find(part, at)
            if at < 0:
                break
            at += len(part)
        else:
            return True
    return False


@lru_cache(maxsize=2)
def _heads(language: str) -> frozenset[str]:
    """The titles of the columns of the engine's tables."""
    lines = [line for entry in phrases().table.values() for line in entry[language].split("\n")]
    cells = [cell for line in lines for cell in (line.split("|") if "|" in line else [line])]
    return frozenset(_plain(cell) for cell in cells)


#: Titles of columns that are a step, a stretch of steps or a run.
_PLACED: Final = re.compile(
    r"(?i)(?:(?:steps?|rows?|step|记录) )?\d+(?:[–-]\d+)?|[A-Z]|`?[\w.-]+\.(?:log|jsonl|csv|txt|json)`?"
)


def _spoken_head(title: str, language: str) -> bool:
    return not title or title in _heads(language) or bool(_PLACED.fullmatch(title))


def _plain(text: str) -> str:
    """A sentence without what does not change its meaning: emphasis, quotation marks of Markdown, blanks."""
    before = ""
    while before != text:
        before, text = text, _EMPHASIS.sub("", text).strip()
    return re.sub(r"\s+", " ", text)


def _keys(text: str, all_units: Sequence[Unit]) -> list[tuple[str, ...]]:
    """Under what each unit is looked up: a row with its header, a sentence without a subject with the one before."""
    found: list[tuple[str, ...]] = []
    last = ""
    for unit in all_units:
        plain = _plain(text[unit.start : unit.end])
        if unit.kind == "row":
            found.append((plain, *map(_plain, unit.header)))
            continue
        alone = "`" in plain and not _POINTS_BACK.match(plain)
        found.append((plain,) if alone or not last else (plain, last))
        last = plain
    return found


def _sentences(answer: Answer) -> Iterator[tuple[tuple[str, ...], Stated]]:
    text = answer.answer
    facts = {fact.id: fact for fact in answer.facts}
    parts = units(text)
    for unit, key in zip(parts, _keys(text, parts), strict=True):
        inside = tuple(
            replace(m, start=m.start - unit.start, end=m.end - unit.start)
            for m in answer.mentions
            if unit.start <= m.start and m.end <= unit.end
        )
        yield key, Stated(text[unit.start : unit.end], inside, facts)


def _with(audit: Audit, found: Mapping[int, Stated], quoted: Collection[int]) -> Audit:
    """An audit in which some sentences are supported by facts of the engine, numbered after its own; others quoted."""
    facts = list(audit.facts)
    names: dict[int, str] = {}

    def name(fact: Fact, among: Mapping[str, Fact]) -> str:
        if id(fact) not in names:
            parents = tuple(name(among[p], among) for p in (fact.inputs or ())[:50] if p in among and p != fact.id)
            names[id(fact)] = f"E{len(facts) + 1}"
            facts.append(replace(fact, id=names[id(fact)], inputs=None if fact.inputs is None else parents))
        return names[id(fact)]

    sentences = list(audit.sentences)
    for at in quoted:
        sentences[at] = Sentence(sentences[at].text, sentences[at].start, sentences[at].end, "no_claim")
    for at, stated in found.items():
        sentence, claims, position = sentences[at], list[Claim](), 0
        for mention in stated.mentions:
            fact = stated.facts.get(mention.fact)
            shown = stated.text[mention.start : mention.end]
            start = sentence.text.find(shown, position)
            if fact is None or start < 0:
                continue
            position = start + len(shown)
            place = sentence.start + start
            claims.append(Claim(shown, place, place + len(shown), "supported", "", name(fact, stated.facts)))
        if not claims:
            claims.append(Claim(sentence.text, sentence.start, sentence.end, "supported"))
        sentences[at] = Sentence(sentence.text, sentence.start, sentence.end, "supported", tuple(claims))
    summary = {status: sum(s.status == status for s in sentences) for status in audit.summary}
    return Audit(tuple(sentences), tuple(facts), summary)
