"""Steps, counts and limits that a question names, in figures and in Chinese numerals."""

from __future__ import annotations

import re
from typing import Any, cast

from assistant.model import Run, StepSlot

#: A step and where in the question it stands.
Mark = tuple[int, int]

SLOWEST_STEP = re.compile(
    r"(?i)哪(?:一|几)?(?:个)?\s?(?:步|step).{0,4}(?:最慢|最耗时|最快)"
    r"|which step (?:was|is|took).{0,12}(?:slowest|fastest|longest)"
    r"|比.{0,14}(?:慢|快)|变(?:慢|快)了?|\b(?:slower|faster)\b"
)
_DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_CHINESE_STEP = re.compile(
    r"(倒数第|第|前|最近|最后|头)([零一二两三四五六七八九十百]{1,5})(\s*(?:个\s*)?(?:步|step|轮))"
)
_NEXT_STEP = re.compile(r"\s*(?:,\s*and|,|、|和|与|跟|and|&|vs\.?|/)\s*(\d+)(?![\d.%])(?!\s*(?:steps?|张|个))")
_WORDS = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty"""
_ENGLISH = {word: number for number, word in enumerate(_WORDS.split(), 1)}
_ENGLISH_COUNT = re.compile(rf"(?i)\b(last|first|recent|final)\s+({'|'.join(reversed(_ENGLISH))})\s+(steps?)\b")
_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3}


def step_marks(text: str, rules: dict[str, Any], run: Run | None) -> tuple[StepSlot, tuple[Mark, ...]]:
    """The steps that a question names, as a slot, and where each stands.

    Args:
        text: the question, Chinese numerals already in figures (:func:`western_numbers`).
        rules: compiled patterns (``steps`` of ``patterns.yaml``).
        run: resolves "the first 5 steps" and "the second to last step".
    """
    for pattern in rules["range"]:
        if match := pattern.search(text):
            first, last = sorted((int(match[1]), int(match[2])))
            return StepSlot("range", (first, last)), ((match.start(1), first), (match.start(2), last))
    if (match := rules["from_end"].search(text)) and run:
        back = int(match[1]) if match[1] else _ORDINALS[match[2].lower()]
        if 0 < back <= len(run.distinct_steps):
            step = run.distinct_steps[-back]
            return StepSlot("single", (step,)), ((match.start(), step),)
    if match := rules["last_n"].search(text):
        return StepSlot("last_n", (int(match[1] or match[2]),)), ()
    if match := rules["first_n"].search(text):
        picked = (run.distinct_steps if run else ())[: int(match[1] or match[2])]
        return (StepSlot("range", (picked[0], picked[-1])) if picked else StepSlot("none")), ()
    found = _single_steps(text, rules["single"])
    numbers = tuple(dict.fromkeys(number for _, number in found))
    if not numbers and run and rules["last"].search(text) and rules["first"].search(text):
        ends = (run.distinct_steps[0], run.distinct_steps[-1])
        return StepSlot("pair", ends), tuple((at, step) for at, step in enumerate(ends))
    if len(numbers) == 1 and run and rules["last"].search(text) and numbers[0] != run.distinct_steps[-1]:
        return StepSlot("pair", (numbers[0], run.distinct_steps[-1])), (*found, (len(text), run.distinct_steps[-1]))
    if numbers:
        return StepSlot("single" if len(numbers) == 1 else "pair", tuple(sorted(numbers))), tuple(found)
    for kind in ("last", "first", "all"):
        if rules[kind].search(text):
            return StepSlot(cast("Any", kind)), ()
    return StepSlot("none"), ()


def _single_steps(text: str, patterns: list[re.Pattern[str]]) -> list[Mark]:
    found: list[Mark] = []
    spans: list[tuple[int, int]] = []
    for pattern in patterns:
        for match in pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in spans):
                continue
            spans.append(match.span())
            found.append((match.start(), int(match[1])))
            at = match.end()
            while extra := _NEXT_STEP.match(text, at):
                found.append((extra.start(), int(extra[1])))
                at = extra.end()
    return sorted(found)


def western_numbers(text: str) -> str:
    """``第三步`` → ``第3步``, ``last ten steps`` → ``last 10 steps``, so that one set of patterns serves."""
    text = _ENGLISH_COUNT.sub(lambda match: f"{match[1]} {_ENGLISH[match[2].lower()]} {match[3]}", text)

    def convert(match: re.Match[str]) -> str:
        if match[1] == "最后" and match[2] == "一":  # "the last step", not "the last 1 steps"
            return match.group()
        return f"{match[1]}{chinese_number(match[2])}{match[3]}"

    return _CHINESE_STEP.sub(convert, text)


def chinese_number(text: str) -> int:
    """A Chinese numeral below 1000 (``三`` → 3, ``十二`` → 12, ``一百零五`` → 105)."""
    total, digit = 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        else:
            total += (digit or 1) * {"十": 10, "百": 100}[char]
            digit = 0
    return total + digit


def threshold_in(text: str) -> tuple[str, float] | None:
    """A limit that a question names: ``("above", 0.05)`` for "超过 0.05", percentages as fractions."""
    match = re.search(
        r"(?i)(超过|高于|大于|突破|above|over|exceed(?:s|ed)?|greater than|more than|>=?)"
        r"\s*(-?\d[\d.]*(?:e-?\d+)?)\s*(%)?"
        r"|(低于|小于|不到|跌破|跌到|below|under|less than|<=?)\s*(-?\d[\d.]*(?:e-?\d+)?)\s*(%)?",
        text,
    )
    if match is None:
        return None
    number = float((match[2] or match[5]).rstrip("."))
    percent = match[3] or match[6]
    return ("above" if match[1] else "below", number / 100 if percent else number)
