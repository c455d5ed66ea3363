"""Follow-ups that ask another thing of the limit, the share or the two steps of the question before."""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.ask.query import Query
from assistant.model import StepSlot

_COUNTED = re.compile(r"(?i)\bhow (?:often|many (?:times|steps))\b|(?:多少|几)\s*(?:次|步|回)|一共几|次数")
_WHEN_LAST = re.compile(r"(?i)\b(?:last|latest|most recent) (?:time|one)\b|最后一次|最近一次")
_WHEN_FIRST = re.compile(r"(?i)\b(?:first|earliest) (?:time|one)\b|第一次|第1次|首次|最早")
_THAT_MANY = re.compile(
    r"(?i)how many (?:answers|responses|trajectories|samples|completions|rollouts) (?:is|are|was|were"
    r"|would) (?:that|it|those|this)"
    r"|(?:那|这)?(?:就)?(?:是|等于|相当于|合)(?:多少|几)(?:条|个)(?:回答|轨迹|样本|response)?"
)
_WHICH_STAGE = re.compile(
    r"(?i)\b(?:which|what) (?:stage|phase|part)\b|哪(?:个|些|一)?(?:阶段|环节|部分)"
    r"|多(?:出来?|了|花|用)的?(?:这|那)?(?:些|部分)?(?:时间|几?十?\d*秒)?"
    r"(?:都|是|全)*(?:花|耗|用|去|出|在)(?:在|到|费)?了?(?:哪|什么|啥)"
    r"|\bwhere (?:did|does|do) (?:the |all |that |this )*"
    r"(?:extra|additional|more|other) (?:time|seconds) go\b"
)


_TIMES = re.compile(
    r"(?i)^\W*(?:那|所以)?(?:是|差|翻了?|涨了?|变成?了?|相当于|等于)?(?:原来的?)?(?:几|多少)[倍番]"
    r"|\b(?:by what factor|how many times)\b"
)


def asked_again(own: Query, before: Query, text: str) -> Query | None:
    """A follow-up that asks another thing of the same limit, the same share or the same two steps; else ``None``."""
    if own.mentions or own.threshold is not None or not before.mentions:
        return None
    asked = replace(
        before, text=own.text, wording=own.wording or own.text, language=own.language, follows="slots", guessed=False
    )
    whole = replace(asked, steps=StepSlot(), all_steps=(), step_marks=(), intent="lookup", topics=())
    if before.threshold is not None:
        if _COUNTED.search(text):
            return replace(whole, op="count", asked_op="count")
        if _WHEN_LAST.search(text):
            return replace(whole, op=None, asked_op=None)
        if _WHEN_FIRST.search(text):
            return replace(whole, op="first_crossing", asked_op="first_crossing")
    if _THAT_MANY.search(text) and any("clip" in (m.key or "") for m in before.mentions):
        return replace(asked, wording=before.wording or before.text)
    if _TIMES.search(text) and before.earlier is not None and before.steps.kind == "single":
        pair = (before.earlier, before.steps.values[0])
        return replace(
            asked, steps=StepSlot("pair", tuple(sorted(pair))), all_steps=pair, step_marks=((0, pair[0]), (1, pair[1]))
        )
    if _TIMES.search(text) and len(before.runs) == 1 and before.earlier is None:  # of one run after the other
        return replace(asked, runs=(), intent="compare", op=None, asked_op=None)
    if _WHICH_STAGE.search(text) and before.earlier is not None and before.steps.kind == "single":
        pair = (before.earlier, before.steps.values[0])
        return replace(
            own, steps=StepSlot("pair", tuple(sorted(pair))), all_steps=pair, step_marks=((0, pair[0]), (1, pair[1])),
            intent="bottleneck", follows="slots", topics=("slowdown",),
        )  # fmt: skip
    return None
