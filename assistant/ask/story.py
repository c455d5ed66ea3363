"""A question behind a story: "我昨天把上限改小了，跑的就是这个。现在截断率多少？" asks what its last sentence asks."""

from __future__ import annotations

import re
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[。！!;；\n])\s*|(?<=[a-z)])\.\s+(?=[A-Z])")
#: Told of what somebody did, and when.
_TOLD: Final = re.compile(
    r"(?i)(?:我|我们|咱们?|同事|老板|组里|他们?|她)[^,，。?]{0,16}?(?:把|用|换|改|加|调|跑|试|训|设|关|开|接|拉|挂|起|说|讲|问|反馈|发现|提)"
    r"|昨[天晚]|今[天早]|前[天两]|上(?:周|个?月|午)|刚(?:才|刚)|周[一二三四五六日末]|半夜"
    r"|\b(?:i|we|my (?:boss|colleague|teammate)|someone|they)\b[^.?]{0,24}"
    r"\b(?:chang|switch|start|launch|ran|run|us|set|add|turn|lower|rais|tri|kick|left)\w*"
    r"|\b(?:yesterday|this morning|last (?:night|week)|overnight|earlier today)\b"
)
_ASKS: Final = re.compile(
    r"(?i)[?？]|多少|几|哪|什么|啥|吗|么\b|呢|怎么|如何|为何|是否|有没有|能不能|要不要|该不该|还是"
    r"|\b(?:what|which|how|when|where|why|who|is|are|was|were|does|did|do|should|can|could)\b"
)
#: A quantity named: a key, or a word for what logs hold.
_NAMES: Final = re.compile(
    r"(?i)\b[a-z]+(?:[_/][a-z0-9@]+)+|\b(?:loss|reward|entropy|kl|score|grad|norm|accuracy|acc|mfu|throughput|length|clip|memory|val\w*"
    r"|eval\w*|lr)\b|熵|奖励|得分|分数|损失|梯度|准确率|验证|评测|长度|回答|截断|被切|显存|内存|吞吐|耗时|学习率|价值|优势|工具|轮数"
)
#: The question leans on what was told before it.
_LEANS: Final = re.compile(
    r"(?i)这样|这么|那样|为什么|为啥|原因|正常|合理|对吗|要紧|(?:跟|和|与)(?:这|那|它|改|之前)|影响|有关|\bit\b|\bthat\b|\bthis\b|\bwhy\b|because"
)
#: Most characters of a text that is looked at.
_LONGEST: Final = 600


def without_story(text: str) -> str:
    """The text from its first sentence that asks on, where what comes before only tells what somebody did.

    Args:
        text: a question as typed; returned as it is where a sentence before names a limit or a step, or the question
            names nothing of its own or leans on what was told.
    """
    if not 0 < len(text) <= _LONGEST:
        return text
    pieces = [piece for piece in _SENTENCE.split(text) if piece and piece.strip()]
    for place, piece in enumerate(pieces):
        if _ASKS.search(piece) or not (place or _TOLD.search(piece)):
            break
    else:
        return text
    rest = " ".join(pieces[place:])
    if not place or not any(_TOLD.search(piece) for piece in pieces[:place]):
        return text
    return text if not _NAMES.search(rest) or _LEANS.search(rest) else rest
