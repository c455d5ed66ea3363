"""Words of a follow-up that point to the step told before: "当时的得分", "at that step", "再过十步"."""

from __future__ import annotations

import re
from typing import Final

_THAT_STEP: Final = re.compile(
    r"(?i)(?:那|这|该|当|此)(?:同?一)?(?:个)?\s*(?:步|step|时候|次|行|时间点|时刻|位置|刻)|当时(?!的?设)|那个点(?![数击])|(?<!当)[那此彼其]时(?!间)|那会儿?"
    r"|届时|同期|同时刻|\b(?:that|this|the same|at that|that (?:very|same))"
    r" (?:step|row|line|eval\w*|validation|epoch)\b"
    r"|(?:与之|跟它|它)?(?:相)?对应的|相应的|\bcorresponding\b|\bat (?:that (?:point|time)|the time)\b|\bback then\b"
    r"|\bthere\b"
    r"|\bsame step\b|同一(?:个)?\s*(?:步|step|行|次|时刻|时间)"
    r"|\b(?:in|at|on|of|for|during) (?:it|that(?: one)?|this one)\b(?=\s*[?.!,]*\s*$)"
)
#: "最差那次", "the worst one": which one it is the words before say.
_CHOSEN: Final = re.compile(r"(?i)(?:最\S{1,2}|倒数第\S{1,2}|第\S{1,3})的?(?:那|这)一?(?:个)?(?:次|步|行|点|回)")
RELATIVE: Final = re.compile(
    r"(?i)(?P<next>(?:下|(?<!最)后)一?(?:个)?\s*(?:步|step)|(?:下|(?<!最)后)一个\s*(?:val\w*|eval\w*|验证|评测|评估|点|值|记录|行)|(?:下|(?<!最)后)一?次|(?:之后|后面)的?(?:那一?|一)(?:个)?(?:步|次)"
    r"|\b(?:next|following) (?:step|one|eval\w*|val\w*)\b"
    r"|\b(?:the )?(?:step |one )?after (?:that|it)\b|\bthe (?:step |one )?(?:right |just )?after\b|the after)"
    r"|(?P<back>(?:上|前)一(?:个)?\s*(?:步|step)|(?:上|前)一个\s*(?:val\w*|eval\w*|验证|评测|评估|点|值|记录|行)|(?:上|前)一次|再(?:往)?前一?(?:步|次)"
    r"|(?:之前|前面)的?(?:那一?|一)(?:个)?(?:步|次)"
    r"|\bprevious (?:step|one|eval\w*|val\w*)\b"
    r"|\b(?:the )?(?:step|one) (?:right |just )?before\b|\bthe (?:step|one) prior\b)"
)
#: "ten later", "再往后十步": so many steps from the one asked about before.
SHIFTED: Final = re.compile(
    r"(?i)^\s*(?:那|那么)?\s*(?:过了?|再)?\s*(?P<then>\d{1,4})\s*(?:个)?步(?:之后|以后|过后|后)(?:的)?(?:那个|那步)?(?:值|数)?(?:呢|是多少|[?。\s])*$"
    r"|(?:(?<!最)(?:再?往?后)|再过|后面)(?:的)?\s*(?P<on>\d{1,5})\s*(?:个)?\s*步|(?:再?往?前|倒回|退回?)(?:的)?\s*(?P<off>\d{1,5})\s*(?:个)?\s*步"
    r"|(?<!the )\b(?P<later>\d{1,5})\s*(?:steps? )?(?:later|after(?: that)?|further on)\b"
    r"|(?<!the )\b(?P<before>\d{1,5})\s*(?:steps? )?(?:earlier|before(?: that)?|prior)\b"
)
#: One of the runs is asked for.
WHICH_OF_RUNS: Final = re.compile(
    r"(?i)^\W*(?:那么?|所以)?\s*(?:哪(?:一)?(?:个|边|份)|谁)\s*(?:的)?(?:更|比较)?[高低大小好差长短快慢多少]"
    r"|^\W*(?:so |and )?which (?:one |run )?(?:is|was|has)\b"
)
#: A step is named to be left out.
LEFT_OUT: Final = re.compile(
    r"(?i)除了|除去|去掉|不算|不看|抛开|\b(?:except|excluding|without|apart from|leaving out)\b"
)
#: What a step is asked for, rather than a value there.
HAPPENED: Final = re.compile(
    r"(?i)发生了?(?:什么|啥)|怎么(?:了|回事)|咋(?:了|回事)|出了?(?:什么|啥)事|\bwhat (?:happened|went (?:on|wrong))\b"
)


def that_step(text: str) -> bool:
    """Whether a text points to the step told before."""
    return _THAT_STEP.search(_CHOSEN.sub(" ", text)) is not None
