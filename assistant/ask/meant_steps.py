"""Numbers in a question that name no training step: the stages of DeepSpeed-Chat, and rounds counted from one.

"My step3 RLHF training" is a stage's name, and "from the first round to the second" of a log whose rows are 0 and 1
means these two. Told as steps, they would be steps that the log does not hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.epochs import EPOCH_KEYS
from assistant.ask.steps import chinese_number
from assistant.ask.story import without_story
from assistant.model import Run

_STAGE: Final = re.compile(r"(?i)\b(step)[ _-]?([123])\b(?!\s*(?:[/\d.]|and\b|to\b))")
_ROUND: Final = re.compile(r"第\s?([一二两三四五六七八九十]|\d{1,4})\s?(?:轮|次(?!数))")
_ROUND_EN: Final = re.compile(r"(?i)\b(?:the )?(first|second|third|fourth|fifth) (?:round|iteration|rollout|update)\b")
_BESIDE_EPOCH: Final = re.compile(
    r"(?i)(?:第\s?)?(?:epoch\s?(?P<zh>\d{1,4}(?:\.\d{1,4})?)|(?P<zh2>\d{1,4}(?:\.\d{1,4})?)\s?个?\s?epoch)\s?(?P<side>之后|以后|之前|以前)"
    r"|\b(?P<word>after|before|since|until|past)\s(?:the end of\s)?epoch\s(?P<en>\d{1,4}(?:\.\d{1,4})?)"
)
_FIRST_ROW: Final = re.compile(r"第\s?[一1]\s?(行|条)")
_FIRST_ROW_EN: Final = re.compile(
    r"(?i)\b(?:the )?first (row|record)\b(?! (?:with|where|whose|having|when|(?:at|in) which)\b)"
)
#: The first step of a log that counts from zero; not what is to be done first.
_VERY_FIRST: Final = re.compile(
    r"(?i)(?<![0-9%％]的)(?<![0-9%％] 的)第一个?\s?(?:步|step\b|iter(?:ation)?\b|迭代)"
    r"(?!\s?(?:应该|该|要|得|需要|可以|你|我|先|怎么(?:办|做|查|改)|做|排查|检查|查|看|改|调|干))"
)
_AROUND: Final = re.compile(
    r"(?:step\s?|第\s?)(?P<at>\d{1,7})\s?(?:步)?\s?(?:的)?前后\s?(?:各)?\s?(?P<many>\d{1,5})\s?步"
)
_SET_BESIDE: Final = re.compile(
    r"(?i)平均|均值|比|差|变|[涨升降跌掉高低]|不同|一样|区别|(?<!/)\b(?:mean|average|avg|compar\w*|differ\w*|higher|lower|chang\w*|more|less|vs)\b"
)
_AROUND_EN: Final = re.compile(
    r"(?i)\b(?:the )?(?P<many>\d{1,5}) steps (?:right |just )?before and (?:the (?:\d{1,5} )?(?:steps )?)?"
    r"after step (?P<at>\d{1,7})\b"
)
_HELD_OUT: Final = re.compile(r"(?i)val[-_/ ]|eval|test|timing/testing|training/global_step")
#: A whole epoch, and what is asked of all its values.
_EPOCH_OF: Final = re.compile(
    r"(?i)第\s?(?P<zh>[一二两三四五六七八九十]|\d{1,4})\s?个?\s?epochs?(?![\w.])(?!\s?(?:结束|末|之?[前后]|以[前后]|时|的时候))"
    r"|(?P<zh_last>最后一?个?\s?epochs?)(?![\w.])(?!\s?(?:结束|末|之?[前后]|以[前后]|时|的时候))"
    r"|\b(?:the |in the )?(?P<en>first|second|third|fourth|fifth) epoch\b|\bthe (?P<en_last>last|final) epoch\b"
)
_SUMMED_UP: Final = re.compile(
    r"(?i)平均|均值|中位|标准差|波动|最[高低大小长短多少]|(?<!/)\b(?:mean|average|avg|median|max\w*|min\w*|highest|lowest|std)\b"
)
_NTH: Final = r"(?:first|second|third|fourth|fifth|last|final|\d{1,3}(?:st|nd|rd|th))"
#: Rounds over the data as parts of a run: "in epoch 2", "over the third epoch", "第 2 个 epoch 里".
_IN_EPOCH: Final = re.compile(
    r"(?i)\b(?:in|during|over|within|throughout|of|for) (?:the )?"
    rf"(?:epoch (?P<n>\d{{1,4}})(?![.\d])|(?P<nth>{_NTH}) epoch\b)"
    r"|第\s?(?P<zh>\d{1,4}|[一二两三四五六七八九十])\s?个?\s?epoch\s?(?:里面?|内|中|期间|的)"
)
#: "… than in the first": the epoch is said once.
_THAN_NTH: Final = re.compile(
    rf"(?i)\b(?P<joint>(?:than|vs\.?|versus|compared (?:to|with)|and|to|against) )(?:(?:in|during|over|that of) )?"
    rf"(?:epoch (?P<n>\d{{1,4}})|(?:the )?(?P<nth>{_NTH})(?: one| epoch)?)(?=\s*[?.!]*$)"
)
#: What is asked of a part of a run rather than of one step.
_OF_A_PART: Final = re.compile(
    r"(?i)平均|均值|最[大高低小长短多少快慢好差]|中位|标准差|波动"
    r"|(?<!/)\b(?:mean|average|avg|median|std|standard deviation|range|sum|how many|highest"
    r"|lowest|max\w*|min\w*|largest|smallest|best|worst)\b"
)
_COMPARED: Final = re.compile(r"(?i)\b(?:than|vs\.?|versus|compared)\b|比")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth")


def as_meant(question: str, runs: Sequence[Run]) -> str:
    """The question, stages without their numbers and rounds as the steps that they are."""
    if len(runs) != 1 or not question:
        return question
    run = runs[0]
    question = without_story(question)
    if run.distinct_steps[:1] == (0,) and _trains_at_zero(run):
        question = _VERY_FIRST.sub(" step 0 ", question)
    if run.framework == "DeepSpeed-Chat":
        question = _STAGE.sub(lambda m: m[0] if int(m[2]) in run.distinct_steps else "training stage", question)
    if run.step_axis == "index" and 0 in run.distinct_steps:  # rows are counted from zero, and the first one is 0
        question = _FIRST_ROW.sub(r"第 0 \1", _FIRST_ROW_EN.sub(r"\1 0", question))
    if _SET_BESIDE.search(question):  # else the values themselves are asked for
        question = _AROUND_EN.sub(_around, _AROUND.sub(_around, question))
    question = _whole_epochs(_in_epochs(question, run), run)
    return _rounds(_beside_epochs(question, run), list(run.distinct_steps))


def _trains_at_zero(run: Run) -> bool:
    """Whether step 0 holds more than a validation."""
    at = run.steps.index(0)
    return any(at in column.rows for key, column in run.columns.items() if not _HELD_OUT.match(key))


def _around(match: re.Match[str]) -> str:
    """ "20 steps before and after step 100" as two ranges."""
    at, many = int(match["at"]), int(match["many"])
    if not 1 <= many <= at:
        return match.group()
    parts = (f"step {at - many}", f"{at - 1}"), (f"step {at}", f"{at + many - 1}")
    to, between = (" 到 ", " 和 ") if "前后" in match.group() else (" to ", " and ")
    return " " + between.join(to.join(part) for part in parts) + " "


def _beside_epochs(question: str, run: Run) -> str:
    """ "After epoch 2" as "after step 230": the last step of that epoch, or the first one past its start."""
    held = next((key for key in EPOCH_KEYS if key in run.columns), None)
    if held is None:
        return question
    rows = [(step, float(value)) for step, value in zip(*run.series(held), strict=True)]

    def step(match: re.Match[str]) -> str:
        epoch = float(match["zh"] or match["zh2"] or match["en"])
        before = (match["side"] or match["word"]).lower() in {"之前", "以前", "前", "before", "until"}
        inside = [s for s, value in rows if value >= epoch] if before else [s for s, value in rows if value <= epoch]
        if not inside or not rows or epoch > rows[-1][1]:
            return match.group()
        at = inside[0] if before else inside[-1]
        return f"step {at} {match['side']}" if match["side"] else f"{match['word']} step {at}"

    return _BESIDE_EPOCH.sub(step, question)


def _whole_epochs(question: str, run: Run) -> str:
    """An epoch of which a statistic is asked as the steps that it holds: "第 2 个 epoch 的平均"."""
    held = next((key for key in EPOCH_KEYS if key in run.columns), None)
    if held is None or not _SUMMED_UP.search(question):
        return question
    rows = [(step, float(value)) for step, value in zip(*run.series(held), strict=True)]
    if all(value == int(value) for _, value in rows):
        return question  # a counter: what it counts from differs

    def steps(match: re.Match[str]) -> str:
        word = next(group for group in (match["zh"], match["en"], "last") if group)
        number = math.ceil(rows[-1][1]) if word == "last" else _number(word)
        inside = [step for step, value in rows if number - 1 < value <= number]
        if len(inside) < 2:
            return match.group()
        return (
            f" step {inside[0]} 到 {inside[-1]} "
            if match["zh"] or match["zh_last"]
            else (f"steps {inside[0]} to {inside[-1]}")
        )

    return _EPOCH_OF.sub(steps, question)


def _in_epochs(question: str, run: Run) -> str:
    """ "The mean loss in epoch 2" as that over the steps of this epoch; two epochs set against each other likewise."""
    key = next((key for key in EPOCH_KEYS if key in run.columns), None)
    named = list(_IN_EPOCH.finditer(question))
    against = _THAN_NTH.search(question) if named else None
    two = len(named) + (against is not None) > 1 and _COMPARED.search(question) is not None
    if key is None or not named or not (_OF_A_PART.search(question) or two):
        return question
    rows = [(step, float(value)) for step, value in zip(*run.series(key), strict=True) if math.isfinite(float(value))]

    def part(match: re.Match[str]) -> str:
        groups = match.groupdict()
        steps = _of_epoch(rows, groups.get("n") or groups.get("zh"), groups.get("nth"))
        if not steps:
            return match.group()
        if groups.get("zh"):
            return f"step {steps[0]} 到 {steps[-1]} "
        return f"{groups.get('joint') or ''}over steps {steps[0]} to {steps[-1]}"

    question = _THAN_NTH.sub(part, question) if against is not None else question
    question = _IN_EPOCH.sub(part, question)
    mean = two and not _OF_A_PART.search(question)  # which is lower: their means are compared
    return re.sub(r"(?i)\b(how much \w+ (?:is|was|are|were) (?:the )?)", r"\1mean ", question) if mean else question


def _of_epoch(rows: Sequence[tuple[int, float]], number: str | None, nth: str | None) -> list[int]:
    """The steps of an epoch: those counted as it where whole epochs are counted, else those up to its end."""
    counted = sorted({value for _, value in rows})
    if not counted:
        return []
    whole = all(value.is_integer() for value in counted)
    last = len(counted) if whole else math.ceil(counted[-1])
    if number is not None and whole:
        return [step for step, value in rows if value == _number(number)]
    ends = nth is not None and nth.lower() in {"last", "final"}
    at = last if ends else _number(number or re.sub(r"\D+$", "", nth or "0") or nth or "0")
    if whole:  # a log that begins with a later one has no second epoch to tell by its place
        return [step for step, value in rows if 0 < at <= last and counted[0] <= 1 and value == counted[at - 1]]
    return [step for step, value in rows if at - 1 < value <= at]


def _rounds(question: str, steps: list[int]) -> str:
    """Rounds as steps, where steps are counted from zero and the highest round is one more than the last step."""
    named = [_number(m[1]) for pattern in (_ROUND, _ROUND_EN) for m in pattern.finditer(question)]
    if not named or steps != list(range(len(steps))) or max(named) != len(steps) or min(named) < 1:
        return question
    for pattern in (_ROUND, _ROUND_EN):
        question = pattern.sub(lambda m: f"step {_number(m[1]) - 1}", question)
    return question


def _number(word: str) -> int:
    lowered = word.lower()
    if lowered in _ORDINALS:
        return _ORDINALS.index(lowered) + 1
    return int(word) if word.isdecimal() else int(chinese_number(word))
