"""What is asked for and no training metric ever holds: said, with the setting or the place that would show it."""

from __future__ import annotations

import re

from assistant.ask.context import Context
from assistant.model import Verdict
from assistant.write.document import unmark

#: Things by the words that ask for them; each is answered by the phrase ``absent.<name>``.
THINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "per_problem",
        re.compile(
            r"(?i)每(?:一)?(?:道|个)题|逐题|哪(?:些|几|道).{0,2}题"
            r"|per[- ](?:problem|question|prompt) (?:result|score|accurac)|which (?:problems|questions)"
        ),
    ),
    (
        "samples",
        re.compile(
            r"(?i)(?:看|贴|给|展示).{0,6}(?:样本|样例|回答内容|生成的?文本|输出的?文本)|(?:样本|样例)(?:内容|长什么样)"
            r"|(?:show|see|print).{0,14}(?:samples?|generations?|outputs?|completions?)\b"
            r"|what do the (?:samples|outputs) look"
        ),
    ),
    (
        "model",
        re.compile(
            r"(?i)(?:什么|哪个|多大的?)(?:基座|底座)?模型|模型(?:是|叫)什么|(?:什么|哪个)数据集"
            r"|(?:which|what) (?:base )?(?:model|data ?set)\b(?! (?:is|was) better)|model (?:name|size)"
        ),
    ),
    (
        "setting",
        re.compile(r"(?i)采样?温度|温度(?:是|设)|随机种子|种子是|top[-_]?p\b|\btemperature\b|\bseed\b|rollout\.n\b"),
    ),
)


def thing_in(text: str) -> str | None:
    """Which of the things a question asks for, by name."""
    return next((name for name, words in THINGS if words.search(text)), None)


def unlogged(context: Context) -> Verdict:
    """That the log does not hold it, and what does."""
    name = thing_in(context.query.text) or "setting"
    text = context.say("absent.lead", what=context.say(f"absent.what_{name}"))
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say(f"absent.{name}"))
    return Verdict("no_data", unmark(text))
