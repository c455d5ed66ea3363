"""Places in a run that a question names by epochs, by validations, or, where the log prints no steps, by rows."""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.ask.steplists import Mark
from assistant.model import Run

EPOCH_KEYS: Final = ("training/epoch", "epoch", "train/epoch")
_N: Final = r"(\d+(?:\.\d+)?)"
_AND: Final = r"\s*(?:,|and|vs\.?|&|与|和|跟|到|to|-|~)\s*"
_IS: Final = (
    r"(?:number\s*|no\.?\s*|counter\s*|count\s*)?(?:[#:=]|等于|为|是|到|走到"
    r"|(?:was|is|were|equals?|equalled|reached|hit|reads?)(?: at)?)"
)
_HALF: Final = r"\bhalf (?:an|of an|(?:of )?the(?: first)?) epoch"
_EPOCH: Final = re.compile(
    rf"(?i)\bepochs?\s*(?:{_IS})?\s*{_N}(?:{_AND}(?:epoch\s*)?{_N}(?!\s*(?:步|steps?)))?"
    rf"|第\s*{_N}\s*(?:个)?\s*(?:epoch|轮次)(?:{_AND}第\s*{_N}\s*(?:个)?\s*(?:epoch|轮次))?"
    rf"|(?:(?:跑|训|练|走|过|到|在)(?:完|了|到)?(?:第)?\s*|\b(?:at|after|around|by|near|with)\s+){_N}\s*(?:个)?\s*epochs?\b(?!\s*(?:more|later))"
    rf"|(?<![\d.]){_N}\s*epochs?\s+(?:in|into|deep|done|of training)\b"
)
AN_EPOCH: Final = re.compile(
    rf"(?i)epochs?\s*(?:{_IS})?\s*\d|{_HALF}\b|\band a half epochs?\b"
    rf"|第\s*\d+\s*个?\s*(?:epoch|轮次)|{_N}\s*个?\s*epochs?\b"
    r"|(?:哪|第几)(?:一)?(?:个)?\s*epoch|epochs?\s*(?:是)?几|\b(?:which|what) epoch"
)
"""Words that name an epoch, or ask for one, as a place: it is not the metric asked for."""
_NUMERAL: Final = r"(\d+(?:\.\d+)?|[一二两三四五六七八九十])"
_ROUND: Final = re.compile(
    rf"(?:第\s*)?{_NUMERAL}\s*个?\s*(?P<before>半)?\s*(?:轮|epochs?\b)(?!对话|工具|数|次)\s*(?P<after>半)?"
    r"|(?P<half>半)\s*个?\s*(?:轮|epoch\b)"
    rf"|(?:\b(\d{{1,3}}|an?|one|two|three|four) and )?(?P<an>a half epochs?|{_HALF}(?: 1)?)\b"
)
"""Rounds over the data, where nothing else is counted in rounds: "训完一轮半", "半轮", "第一轮跑完"."""
_ROW: Final = re.compile(
    r"(?i)(?:第\s*|(?<![\d前后近头最末过共有每隔])(?<![前后近头最末过共有每隔]\s))(\d{1,7})\s*(?:行|条(?:记录|数据|日志)|个?记录)"
    r"|第\s*(\d{1,7})\s*条|\b(?:row|record|entry)\s*(?:number|no\.?|#)?\s*(\d{1,7})\b"
)
_NTH: Final = (
    r"(?:([2-9]|\d{2,3})(?:nd|rd|th)?|(二|三|四|五|六|七|八|九|十)"
    r"|(second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth))"
)
_EVALUATION: Final = r"(?:验证|评测|评估|测试|val(?:idation)?s?\b|eval(?:uation)?s?\b|test\b)"
_NTH_VALIDATION: Final = re.compile(
    rf"(?i)(?P<back>倒数)?第\s*{_NTH}\s*(?:次|个|轮)\s*(?:的)?\s*{_EVALUATION}"
    rf"|\b(?:the\s+)?{_NTH}(?P<end>[- ](?:to|from)[- ](?:the )?last)?\s+{_EVALUATION}"
)
_NUMERALS: Final = {word: at for at, word in enumerate("一二三四五六七八九十", 1)} | {
    word: at
    for at, word in enumerate(("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), 2)
}
_ONES: Final = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0}
_VALIDATED: Final = re.compile(r"(?:val|eval|test)[-_/]")
_NEAR_ENOUGH: Final = 0.5
"""No epoch is meant that lies so far beyond the last one logged."""


def epochs(text: str, run: Run) -> list[Mark]:
    """Steps that stand for the epochs a question names: the row nearest an epoch's end, the last of equals.

    Args:
        text: the question, numerals in figures.
        run: the log; one without a key that counts epochs has none.
    """
    held = next((key for key in EPOCH_KEYS if key in run.columns), None)
    if held is None:
        return []
    match, numbers = _EPOCH.search(text), list[float]()
    if (rounds := _rounds(text, run)) is not None:
        match, numbers = rounds
    else:  # "after epoch 2 … after epoch 3"
        numbers = [float(group) for one in _EPOCH.finditer(text) for group in one.groups() if group]
    if match is None:
        return []
    steps, values = run.series(held)
    rows = [(step, float(value)) for step, value in zip(steps, values, strict=True) if math.isfinite(float(value))]
    found: list[Mark] = []
    for number in numbers:
        if rows and number <= max(value for _, value in rows) + _NEAR_ENOUGH:
            step, _ = min(rows, key=lambda row: (abs(row[1] - number), -row[0]))
            found.append((match.start(), step))
    return found


def _rounds(text: str, run: Run) -> tuple[re.Match[str], list[float]] | None:
    """A number of epochs told as rounds or with a half; a plain round only where the log prints no steps."""
    match = _ROUND.search(text)
    if match is None:
        return None
    if match["an"]:
        whole = (match[5] or "0").lower()
        return match, [0.5 + (float(whole) if whole.isdigit() else _ONES.get(whole, 0.0))]
    halved = match["half"] or match["before"] or match["after"]
    if not halved and (run.step_axis != "index" or "轮" not in match.group()):
        return None
    whole = match[1] or "0"
    number = float(whole) if whole[0].isdigit() else float(2 if whole == "两" else _NUMERALS[whole])
    return match, [number + (0.5 if halved else 0.0)]


def rows(text: str, run: Run) -> list[Mark]:
    """Rows that a question names by number ("第 10 行", "record 12"), where the log counts rows and no steps."""
    if run.step_axis != "index":
        return []
    held = set(run.distinct_steps)
    found = [(match.start(), int(match[1] or match[2] or match[3])) for match in _ROW.finditer(text)]
    last = max(held, default=0)
    return [(at, row) for at, row in found if row in held or row > last]


def validations(text: str, run: Run) -> list[Mark]:
    """The step of a validation that a question names by number: "第 4 次验证", "the third eval", "倒数第二次 val"."""
    match = _NTH_VALIDATION.search(text)
    if match is None:
        return _numbered_evals(text, run)
    said = next(group for group in match.groups() if group and group != match["back"])
    number = int(said) if said.isdigit() else _NUMERALS[said.lower()]
    held = sorted({step for key in run.metrics if _VALIDATED.match(key) for step in run.series(key)[0]})
    if not number <= len(held):
        return []
    return [(match.start(), held[-number] if match["back"] or match["end"] else held[number - 1])]


_EVAL_NUMBER = re.compile(
    r"(?i)\b(?:evals?|evaluations?|validations?)\s*(?:no\.?|number|#)?\s*(\d{1,4})\b(?!\s*(?:steps?|[%.]))"
)


def _numbered_evals(text: str, run: Run) -> list[Mark]:
    """The steps of "eval 10" and "eval 20", unless there is a validation at each step of these numbers."""
    named = [(match.start(), int(match[1])) for match in _EVAL_NUMBER.finditer(text)]
    held = sorted({step for key in run.metrics if _VALIDATED.match(key) for step in run.series(key)[0]})
    if not named or all(number in held for _, number in named) or any(not 1 <= n <= len(held) for _, n in named):
        return []
    return [(at, held[number - 1]) for at, number in named]
