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
from itertools import pairwise, zip_longest
from typing import Final

from assistant.ask.engine import Answerer, card_text
from assistant.ground.audit import Audit, Auditor
from assistant.ground.lexicon import words
from assistant.ground.sentences import Unit, units
from assistant.ground.verdicts import Claim, Sentence
from assistant.model import Answer, Fact, Mention, Run
from assistant.write.phrases import phrases

#: Questions put for one text, and metrics and steps of it that they are about.
MOST_QUESTIONS, MOST_METRICS, MOST_STEPS = 32, 4, 3
_SHORTEST_QUOTE: Final = {"zh": 10, "en": 24}
#: Fewest characters of a phrase of ours, fields aside, by which a sentence is taken to be one of ours.
_SHORTEST_PHRASE: Final = {"zh": 7, "en": 18}
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
        left = {at: keys[at] for at in bad if at not in quoted and self._ours(keys[at], all_units[at], language)}
        found: dict[int, Stated] = {}

        def look() -> None:
            for at in [at for at, key in left.items() if key in self._said]:
                found[at] = self._said[left.pop(at)]

        with self._lock:
            look()
            count = 0
            for question in self._questions(auditor, [audit.sentences[at].text for at in left], language):
                if not left or count >= MOST_QUESTIONS:
                    break
                if (question, language) in self._asked:
                    continue
                count += 1
                self._ask(question, language)
                look()
        return _with(audit, found, quoted) if found or quoted else audit

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

    def _questions(self, auditor: Auditor, sentences: Sequence[str], language: str) -> Iterator[str]:
        """What may be asked so that the engine says such sentences, the likeliest first."""
        if not sentences:
            return
        shipped = words()["questions"][language]
        yield from shipped["always"]
        keys, steps = auditor.subjects(sentences)
        keys, pairs = keys[:MOST_METRICS], list(pairwise(steps))
        about = [template.format(metric=key) for template in shipped["metric"] for key in keys]
        stepped = [t.format(step=step) for t in shipped["step"] for step in steps[:MOST_STEPS]]
        stepped += [t.format(first=a, second=b) for t in shipped["pair"] for a, b in pairs[:MOST_STEPS]]
        for pair in zip_longest(about, stepped):
            yield from (question for question in pair if question)

    def _ask(self, question: str, language: str) -> None:
        self._asked.add((question, language))
        answer, _ = self.answerer.ask(question, self.runs, language=language)
        for key, stated in _sentences(answer):
            self._said.setdefault(key, stated)


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


def _spoken_head(title: str, language: str) -> bool:
    return not title or title in _heads(language)


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
