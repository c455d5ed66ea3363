"""Words that point to a step told before, as that step's number: "afterwards" → "after step 40"."""

from __future__ import annotations

import re
from typing import Final

AFTERWARDS: Final = re.compile(
    r"(?i)\bafter(?:wards?| that| it)\b|\bsince(?: then)?(?=\s*$)|(?:在)?(?:[那这此])?之后|后来"
    r"|[那此]以后|随后|(?<=[此那])后|最后(?=(?:又|还|却)?[掉跌降回]\S?了?(?:多少|几))"
)
BEFOREHAND: Final = re.compile(
    r"(?i)\bbefore(?:hand| that| it| then)\b(?!\s*\d)|\bbefore(?=\W*$)"
    r"|(?:在)?(?:[那这此])?之前|[那此]以前|(?<=[此那])前"
)
THERE: Final = re.compile(
    r"(?i)\b(?:in|at) (?:it|that one|that (?:step|point|time)"
    r"|(?:the|that|this) (?:very )?same (?:step|time|point|row))\b"
    r"|\bthat (?:very |same )?(?:step|row)\b|\bthere\b"
    r"|\bthen\s*$|\bby then\b"
    r"|[那该此这当](?:一)?(?:个)? ?(?:步|step|时候)(?:的时候)?|那时|当时|此时|同一步"
)
#: A question that says which step it means.
NUMBERED: Final = re.compile(r"\d|第\s*[一二三四五六七八九十]")
_NUMBERED_STEP: Final = re.compile(
    r"(?i)\b(?:steps?|epochs?|iter\w*)\s*#?\d|第\s*[\d一二三四五六七八九十]|\d\s*(?:步|steps?\b|个)"
)
#: What is asked of a part of the run rather than of one step.
_SUMMED_UP: Final = re.compile(
    r"(?i)平均|均值|中位|最[大高小低长短多少快慢好差]|趋势|走势|怎么变|怎么走|如何变|\b(?:mean|average|avg|max\w*|min\w*|median|highest"
    r"|lowest|trend|best|worst|do|behave|evolve|develop|go|move|change)\b|\bhow much\b|[涨升降跌掉变增减]了?(?:多少|几)"
)


#: How long it took to get to what was told before.
_TOOK: Final = re.compile(
    r"(?i)(?:一共|总共|大概|大约)?(?:跑|花|用|训|练|耗|过)了?"
    r"(?P<zh>多(?:久|长时间|少时间)|几个?(?:小时|分钟)|多少个?(?:小时|分钟|秒))"
    r"才?(?:到|达到|做到|降到|升到|涨到|走到)(?:的|那里|那儿|这里|这儿|这个?值)?(?=\s*[?。]*$)"
    r"|\b(?P<en>how (?:long|much time|many (?:hours|minutes|seconds))) did (?:that|it|this) take"
    r"(?: (?:to get (?:there|to it)|until then))?"
    r"(?=\s*[?.]*$)"
)


def pointed(clause: str, step: int | None) -> str:
    """A clause with "there", "afterwards" and "before that" told by the step's number.

    Args:
        clause: the text, normalised.
        step: the step that was told before; ``None`` leaves the text as it is.
    """
    side = AFTERWARDS.search(clause) or BEFOREHAND.search(clause)
    numbered = _NUMBERED_STEP if side else NUMBERED  # "and was it 2 afterwards": a value
    if step is None or numbered.search(clause):
        return clause
    if (took := _TOOK.search(clause)) is not None:
        said = f"到 step {step} 花了{took['zh']}" if took["zh"] else f"{took['en']} did it take to get to step {step}"
        return f"{clause[: took.start()]}{said}{clause[took.end() :]}"
    chinese = re.search(r"[\u3400-\u9fff]", clause) is not None
    for words, zh, en in (
        (THERE, f"step {step} ", f" at step {step} "),
        (AFTERWARDS, f"step {step} 之后", f"after step {step}"),
        (BEFOREHAND, f"step {step} 之前", f"before step {step}"),
    ):
        if words.search(clause):
            return words.sub(zh if chinese else en, clause, count=1)
    return clause


#: A short question for a quantity of "it", and a question before that asked for a step.
_OF_IT: Final = re.compile(
    r"(?i)^\W*(?:(?:and|so|then|ok(?:ay)?)\b[\s,]*)?(?:(?:what(?:'s| is| was)?|how about|what about)\s+)?its\s+"
    r"([a-z][\w/ -]{1,40}?)\s*\?*\s*$"
    r"|^(?:那么?|而|以及|还有)?(?:它|其)的?+\s*+(?!(?:再)?(?:前|后|上|下|之|以|往|邻|旁)|怎|为|还|也|就|又|在|会|比|跟|和"
    r"|与)([^,，。?？]{1,24}?)\s*(?:是|有|为)?(?:多少|多长|多高|多大|几|呢)?\s*[?？]*$"
)
_A_STEP_ASKED: Final = re.compile(
    r"(?i)\b(?:which|what|slowest|fastest|longest|shortest|best|worst) (?:training )?"
    r"(?:steps?|iterations?|rows?|evals?)\b"
    r"|(?:哪一?个?|第几个?|最[大小高低长短快慢好差]的?(?:那|这)?一?个?)\s*(?:步|step)"
)


def owned(text: str, before: str, step: int | None) -> str:
    """ "And its score?" after "which step is the slowest" as the score at that step; another text as it is."""
    match = _OF_IT.match(text) if step is not None and _A_STEP_ASKED.search(before) else None
    if match is None:
        return text
    return f"what is the {match[1]} at step {step}" if match[1] else f"step {step} 的 {match[2]} 是多少"


#: One side of the step told before.
_SIDE_OF_IT: Final = re.compile(r"[那该此这](?:一)?(?:个)? ?(?:步|step|时候)(?:的)?(?:之|以)[前后]")


def pointed_span(text: str, step: int | None) -> str:
    """A follow-up that asks for a mean, an extreme or a trend "before that" or "since then", with the step's number."""
    of_a_span = AFTERWARDS.search(text) or BEFOREHAND.search(text)
    if _SIDE_OF_IT.search(text) and _SUMMED_UP.search(text):  # "那步之后平均得分呢"
        return pointed(text, step)
    if THERE.search(text) or not of_a_span or not _SUMMED_UP.search(text):
        return text
    return pointed(text, step)
