"""What is asked for and no training metric ever holds: said, with the setting or the place that would show it."""

from __future__ import annotations

import re

from assistant.analysis.validation import validation_sets
from assistant.ask.context import Context, key
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
        "data",
        re.compile(
            r"(?i)(?:什么|啥|哪(?:个|份|些|套|种)).{0,2}数据集|数据集(?:是|叫|用)|(?:用|训)的?(?:是)?(?:什么|哪(?:个|份|些)|啥)数据"
            r"|(?:which|what)(?:'s| is)? (?:the )?(?:training )?data ?set\b(?! (?:is|was) better)"
            r"|(?:name|source) of the (?:training )?data ?set"
        ),
    ),
    (
        "model",
        re.compile(
            r"(?i)(?:什么|哪个|多大的?)(?:基座|底座)?模型|模型(?:是|叫)什么|(?:用|训)的?(?:是)?(?:什么|哪个|啥).{0,4}模型"
            r"|底模|多少 ?b ?的"
            r"|\d+ ?b ?(?:还是|or) ?\d+ ?b|多大的模型|模型.{0,4}(?:多大|几b|参数量)"
            r"|\b\d+(?:\.\d+)? ?b\b.{0,4}(?:吗|么|的?模型|model)"
            r"|(?:which|what)(?:'s| is)? (?:the )?(?:base |training )?model\b(?! (?:is|was) better)"
            r"|model (?:name|size)"
            r"|how (?:big|large) is the model"
        ),
    ),
    (
        "setting",
        re.compile(
            r"(?i)采样?温度|温度(?:是|设|多少)|随机种子|种子是|top[-_]?[pk]\b|\btemperature\b|\bseed\b|rollout\.n\b|优化器|optimi[sz]er"
            r"|tokenizer|weight decay|权重衰减|超参|hyper-?param|(?:什么|哪种|啥).{0,4}(?:显卡|gpu|卡)"
            r"|(?:用|是)的?.{0,6}(?<![a-z0-9])(?:[ahblv]\d{2,3}|[34]090)s?(?![a-z0-9])|(?:are|is"
            r"|on) .{0,16}\b[ahblv]\d{2,3}s?\b|(?:which"
            r"|what) (?:kind of )?gpu"
            r"|单机|多机|几台|几个?节点|how many (?:nodes|machines|servers|hosts)|train_batch_size|mini-?batch|warm-?up"
        ),
    ),
)


_COUNTED = re.compile(r"(?:几|多少)(?:个|条)|采|how many")


def thing_in(text: str) -> str | None:
    """Which of the things a question asks for, by name; how many answers a problem gets is no such thing."""
    if _COUNTED.search(text) and THINGS[0][1].search(text):
        return None
    return next((name for name, words in THINGS if words.search(text)), None)


def _validated_on(context: Context) -> list[str]:
    """Names of the sets that the log's validations were taken on, as its keys spell them."""
    steps = context.validation_steps[:1]
    return list(dict.fromkeys(table.source for step in steps for table in validation_sets(context.run, step)))


def unlogged(context: Context) -> Verdict:
    """That the log does not hold it, and what does."""
    name = thing_in(context.query.said) or "setting"
    text = context.say("absent.lead", what=context.say(f"absent.what_{name}"))
    sources = _validated_on(context) if name == "data" else []
    if sources:
        text += ("" if context.language == "zh" else " ") + context.say(
            "absent.validated_on", names=context.join(key(source) for source in sources)
        )
        context.names.update(sources)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say(f"absent.{name}"))
    return Verdict("no_data", unmark(text))
