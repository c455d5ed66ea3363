"""Which of several runs a question names: A/B, first/second, run 2, file names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from assistant.ask.wording import seamed
from assistant.model import Run

_LETTER = re.compile(
    r"(?<![A-Za-z0-9_/])(?:(?:run|log|exp(?:eriment)?|实验|日志|文件)\s*)?([A-F])(?![A-Za-z0-9_/@])(?:\s*(?:run|log|实验|组))?"
)
_NUMBER = re.compile(
    r"(?i)(?<![A-Za-z])(?:run|log|r|实验|日志)\s?#?([0-9])(?![\d.])"
    r"|第\s*([1-9一二三四五六])\s*(?:个|份|次|段)\s*(?:run|log|实验|日志|文件|训练)"
    r"|\b(first|second|third)\s+(?:run|log|experiment|file)\b"
    r"|\b(first|second|third)(?=(?:\s+one)?\s+(?:or|and|vs\.?|versus|against)\s+(?:the\s+)?(?:first|second|third)"
    r"\s+(?:run|log|experiment|file)\b)"
)
_CONTEXT = re.compile(
    r"(?i)\bruns?\b|\blogs?\b|实验|日志|\bvs\b|compare|对比|比较|哪个|which|和|与|跟|呢|^\s*[A-F]\b"
    r"|\b(?:in|of|for|from|than|on) [A-F]\b|(?<![A-Za-z0-9_/])[A-F]\s*(?:的|在|里|中|最|step)"
    r"|\b(?:and|about|now|then|with|or|against|is|was|does|did|has|to|but) (?-i:[B-F])\b(?!-)"
    r"|(?<![A-Za-z0-9_/])(?-i:[A-F])(?:['’]s\b|\s*(?![卡盘类级股款型面柱])[\u3400-\u9fff])"
    r"|[\u3400-\u9fff]\s*(?-i:[A-F])\s*[?。!,]*\s*$"
)
_WORDS = {"first": 1, "second": 2, "third": 3}
_NUMERALS = "一二三四五六"
_PLACE = re.compile(r" #([0-9]{1,6})$")


def runs_named(text: str, runs: Sequence[Run]) -> tuple[str, tuple[int, ...]]:
    """The text without file names (their parts are no metrics), and the places of the runs it names.

    A letter or number counts only where there are several runs, so that "A" in a sentence about one run is a word.
    """
    if len(runs) < 2:
        return text, ()
    found: list[tuple[int, int]] = []
    text = re.sub(r"(?<![A-Za-z/])([A-F])\s*/\s*([A-F])(?![A-Za-z/])", r"\1 和 \2", text)
    for name, places in _names(runs).items():
        match = re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?:\.\w{{1,5}})?(?![A-Za-z0-9_])", text)
        if match is not None:
            found.extend((match.start(), place) for place in places)
            text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    by_file = bool(found)
    if _CONTEXT.search(text):
        for match in _LETTER.finditer(text):
            place = ord(match[1]) - ord("A")
            if place < len(runs):
                found.append((match.start(), place))
    for match in _NUMBER.finditer(text):
        number = int(match[1]) if match[1] else _count(match[2]) if match[2] else _WORDS[(match[3] or match[4]).lower()]
        place = number if match[1] and match.group().lower().startswith("r") and len(match.group()) == 2 else number - 1
        if 0 <= place < len(runs):
            found.append((match.start(), place))
    if not by_file:  # the answer calls them A and B as the question does, whichever it names first
        return text, tuple(sorted({place for _, place in found}))
    return text, tuple(dict.fromkeys(place for _, place in sorted(found)))


def _count(text: str) -> int:
    return _NUMERALS.index(text) + 1 if text in _NUMERALS else int(text)


def _names(runs: Sequence[Run]) -> dict[str, list[int]]:
    """What runs are called, longest first: their names and ids, and those of files, which mean all runs in them."""
    found: dict[str, list[int]] = {}
    for place, run in enumerate(runs):
        file = _PLACE.sub("", run.name)
        files = {file, PurePath(file).name, PurePath(file).stem}
        names = {run.name, run.id, *files}
        if file != run.name:
            mark = run.name[len(file) + 1 :]
            names |= {mark, *(f"{each}{blank}{mark}" for each in files for blank in ("", " "))}
        names |= {seamed(name) for name in names}
        for name in names:
            if len(name) > 1:
                found.setdefault(name, []).append(place)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))
