"""One form of English: "what value did it end up with" and "what is the final value" ask the same.

So that each wording need not be written for every way in which it is put, the frame around a question, numbers in words
and words of one field are set into those that the patterns know. The wordings stand in ``plainly.yaml``; texts that
hold Chinese characters have tables of their own (``mixed.yaml``, ``spoken.yaml``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.model import KnowledgeError

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LONGEST: Final = 2000
"""Longer texts are no question, and stay as they are."""
_UNITS: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_ROUND: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTHS: Final = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
_ONES: Final = {name: value for value, name in enumerate(_UNITS.split())}
_TENS: Final = dict(zip(_ROUND.split(), range(20, 100, 10), strict=True))
_ORDINAL_ONES: Final = {name: value for value, name in enumerate(_NTHS.split(), start=1)}
_ORDINAL_TENS: Final = {f"{name[:-1]}ieth": value for name, value in _TENS.items()}


def _any(words: object) -> str:
    return "|".join(sorted(map(str, words), key=len, reverse=True))  # type: ignore[call-overload]


_DIGIT: Final = _any(list(_ONES)[1:10])
_HUNDREDS: Final = rf"(?P<of>a|{_DIGIT}) hundred(?: (?:and )?(?={_any((*_ONES, *_TENS))}))?"
_BELOW: Final = rf"(?P<tens>{_any(_TENS)})(?:[- ](?P<ones>{_DIGIT}))?|(?P<few>{_any(_ONES)})"
_NUMBER: Final = re.compile(rf"(?i)(?<![\w/@.-])(?:{_HUNDREDS})?(?:{_BELOW}|(?(of)(?<=hundred)|(?!)))(?![\w/@]|-\w)")
#: A number below eleven is a word like others ("the two runs") but behind these.
_STEP_BEFORE: Final = re.compile(r"(?i)\b(?:steps?|iterations?|epochs?|rows?|updates?)\s+(?:(?:number|no\.?)\s+)?$")
_UNIT_BEHIND: Final = re.compile(
    r"(?i)\s*(?:seconds?|secs?|minutes?|mins?|hours?|days?|gi?b|percent|per ?cent|tokens?|gpus?|cards?|epochs?)\b"
)
_LEAST_BY_ITSELF: Final = 11
_ORDINAL: Final = re.compile(
    rf"(?i)(?<![\w/@.-])(?:(?P<tens>{_any(_TENS)})[- ](?P<ones>{_any(list(_ORDINAL_ONES)[:9])})"
    rf"|(?P<round>{_any(_ORDINAL_TENS)})|(?P<few>{_any(list(_ORDINAL_ONES)[10:])})|(?P<hundred>(?:one )?hundredth))"
    r"\s+(?P<noun>steps?|iteration|epoch|row|update)\b(?!\s*(?:from|to))"
)


@dataclass(frozen=True, slots=True)
class _Words:
    verb: re.Pattern[str] | None
    known: dict[str, str]
    words: tuple[tuple[re.Pattern[str], str], ...]


@lru_cache(maxsize=1)
def _words() -> _Words:
    """The wordings of ``plainly.yaml``, compiled.

    Raises:
        KnowledgeError: a part is missing or unknown, or an entry has other fields.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    if set(raw) != {"verbs", "words"}:
        raise _malformed(path, raw)
    known: dict[str, str] = {}
    for entry in raw["verbs"]:
        if set(entry) != {"to", "from"} or entry["to"].count("/") != 3:
            raise _malformed(path, entry)
        for verb in entry["from"].split():
            known |= dict(zip(_forms(verb), entry["to"].split("/"), strict=True))
    known.pop("-", None)
    for entry in raw["words"]:
        if set(entry) != {"re", "to"}:
            raise _malformed(path, entry)
    verb = re.compile(rf"(?i)(?<![\w/@.-])(?:{_any(known)})(?![\w/@]|-\w)") if known else None
    return _Words(
        verb, known, tuple((re.compile(entry["re"], re.IGNORECASE), str(entry["to"])) for entry in raw["words"])
    )


def _malformed(path: Path, entry: Any) -> KnowledgeError:
    return KnowledgeError(zh=f"{path.name}：字段不对：{entry}。", en=f"{path.name}: malformed: {entry}.")


def _forms(verb: str) -> tuple[str, ...]:
    """Base, third person, past and -ing of a regular verb, or the four given ("-": not that one)."""
    if "/" in verb:
        return tuple(verb.split("/"))
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"
    stem = verb.removesuffix("e")
    return verb, third, f"{stem}ed", f"{stem}ing"


@lru_cache(maxsize=512)
def plain(text: str) -> str:
    """An English text in the words that the patterns know; a text that holds Chinese is as it was.

    Args:
        text: half-width signs.
    """
    if len(text) > _LONGEST or _HAN.search(text):
        return text
    held = _words()
    if held.verb is not None:
        text = held.verb.sub(lambda match: held.known[match[0].lower()], text)
    for pattern, words in held.words:
        text = pattern.sub(words, text)
    return _ORDINAL.sub(_ordinal, _NUMBER.sub(lambda match: _cardinal(match, text), text))


def _cardinal(match: re.Match[str], text: str) -> str:
    """A number in words in figures: from eleven on, and behind the word for a step any."""
    of, tens, ones, few = ((match[name] or "").lower() for name in ("of", "tens", "ones", "few"))
    number = _TENS.get(tens, 0) + _ONES.get(ones or few, 0) + (100 * _ONES.get(of, 1) if of else 0)
    told = _STEP_BEFORE.search(text[max(0, match.start() - 24) : match.start()]) or (
        number > 1 and _UNIT_BEHIND.match(text, match.end())
    )
    return str(number) if number >= _LEAST_BY_ITSELF or told else match[0]


def _ordinal(match: re.Match[str]) -> str:
    """ "The twelfth step" as "the step 12"."""
    small = {name: (word or "").lower() for name, word in match.groupdict().items()}
    number = _TENS.get(small["tens"], 0) + _ORDINAL_ONES.get(small["ones"] or small["few"], 0)
    number += _ORDINAL_TENS.get(small["round"], 0) + (100 if small["hundred"] else 0)
    return f"{match['noun']} {number}"
