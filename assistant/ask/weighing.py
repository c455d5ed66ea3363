"""How a question's metrics, steps, operation and runs change the scores that its words give each intent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.ask.patterns import patterns
from assistant.ask.query import Query
from assistant.knowledge import Mentioned

VALIDATED = re.compile(r"(?:val|eval|test)[-_/]")
TIMED = ("timing_s/", "time/", "timing/", "perf/time_")
_POINTS = {"single", "last", "first", "pair", "last_n"}
_WHOLE = {"none", "all"}
_MOVED_BY = re.compile(r"(?:涨|升|降|跌|掉|提高|提升|下降|上升|变化|增加|减少)了(?:多少|几)")
_IS_THERE = re.compile(
    r"(?i) ?(?:(?:日志里?|log|里|这个|run|is there|do we have|does it have|an?|any|有没有|有无|有|记没记|记了|记录|打印"
    r"|指标|metric|吗|么|没有|没|in (?:the|this) log) ?)*+"
)
_COUNTED_NOUN = re.compile(r"(?i)responses?|completions?|prompts?|samples?|rollouts?|回答|回复|样本|轨迹|题目?|问题")
_ABSENT = re.compile(r"(?i)没有|没|缺|不见|空|\bno\b|missing|absent|isn't|not there")
_TELL = re.compile(r"(?i)\btell me\b|\bgive me\b|\bshow me\b|告诉我|给我(?:看|说)")
_BROKE = re.compile(
    r"(?:是不是|是否|有没有|难道).{0,8}(?:崩|塌|爆|炸|飞|挂|坏|发散|explod|collaps|diverg|blow|nan)|(?:崩|塌|爆|炸|飞|挂|坏|发散)了(?:吗|么|没|吧)"
)
_HOW_TO_READ = re.compile(
    r"(?i)what (?:should|can|do|could|am i supposed to|does one) (?:i |we |one |you )?(?:read|learn|infer|take"
    r"|make|conclude|see|get) (?:from|of|out of|into)\b"
    r"|how (?:should|do|can|would|to|am i supposed to) ?(?:i|we|one|you)? ?(?:read|interpret|understand)\b"
    r"|怎么理解|如何理解|怎样理解|怎么解读"
)
_RESULTS = re.compile(r"(?i)结果|成绩|分数|\b(?:results?|scores?|numbers?)\b")
_TOLD_BY = re.compile(r"(?i)\bwhat (?:does|do|is|did)\b.{0,40}\b(?:mean|say|tell|show|about)\b")
_WHAT_IS = re.compile(r"(?i)\bwhat('s| is| was| were| are)\b|\bwhat (?:do|does|did)\b.{1,60}\blooks? like\b")
#: "std@30 是 error bar 吗": what the statistic is, and not how sure a validation is.
_ERROR_BAR = re.compile(r"(?i)error ?bars?|误差|置信|standard error")


def _without(text: str, mentions: Sequence[Mentioned]) -> str:
    chars = list(text)
    for mention in mentions:
        chars[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(chars)


def weigh(query: Query, text: str, scores: dict[str, float], n_runs: int, *, with_log: bool) -> None:
    """Changes the scores by what metrics, steps, operation and runs say."""
    mentions, steps = query.mentions, query.steps
    named = any(m.key is not None or m.card is not None for m in mentions)
    if len(query.all_steps) >= 2 and not scores["derive"] and steps.kind != "range":
        scores["compare" if scores["compare"] or not mentions else "lookup"] += 2.0
    rest = re.sub(r"[\W_]|呢|吧|啊|呀|pls|please", "", _without(text, mentions))
    if named and not rest and steps.kind in _WHOLE and with_log:
        scores["trend"] += 1  # nothing but a name: what it does in this log
    elif mentions and not any(scores.values()):
        pointed = steps.kind not in {"none", "all"}
        asks = re.match(r"(?i)\s*(is|are|was|were|does|do|did|has|have)\b", text) or re.search(
            r"[吗么没]\s*\??$|有没有|是不是|是否", text
        )
        past = re.search(r"(?i)\b(?:was|were|did|had)\b", text) is not None
        held = with_log and any(m.key is not None or m.card is None for m in mentions)
        scores["health" if asks and not pointed else "lookup" if pointed or past or held else "define"] += 1
    if query.op and mentions and scores["advice"] < 5:
        scores["lookup"] += 6
    if query.threshold and mentions and not scores["forecast"] and not scores["advice"]:
        scores["lookup"] += 3
    if (
        len(mentions) > 1
        and steps.kind == "none"
        and re.search(r"区别|差在哪|差别|不一样|不同|difference between|differ", text)
        and n_runs < 2
    ):
        scores["define"] += 5
    elif mentions and steps.kind in _WHOLE and scores["compare"] and scores["trend"] and n_runs < 2:
        scores["trend"] += scores["compare"]
    elif len(query.all_steps) > 1 and re.search(
        r"差多少|差了多少|[高低多少大小长短快慢][了出]?多少", text.replace("方差", "")
    ):
        scores["compare"] += 5
    if not mentions:
        scores["define"] -= 3
        scores["lookup"] -= 1.5
        scores["trend"] -= 1
    elif scores["define"] and steps.kind == "none":
        scores["define"] += 1
    if mentions and steps.kind in _POINTS:
        if scores["lookup"]:
            scores["lookup"] += 2
        if scores["define"] and _WHAT_IS.search(text):
            scores["lookup"] += scores["define"] + 1
        if steps.kind in {"single", "last", "first"} and max(scores.values()) <= 1:
            scores["lookup"] += 1
    pointed_at = mentions[0].key or "" if mentions and steps.kind in {"single", "last", "first"} else ""
    if "kl" in pointed_at and "kl_reward" in query.topics:
        scores["derive"] = 0  # the penalty's value at a step, rather than whether there is one
    if named and all(m.key is not None and not VALIDATED.match(m.key) for m in mentions) and steps.kind in _POINTS:
        scores["lookup"] += scores["validation"] if not any(scores[i] for i in scores if i != "validation") else 0
        scores["validation"] = 0  # "accuracy reward at step 20" of the training's own metrics
    if named and scores["lookup"] and scores["validation"]:
        scores["lookup"] += 2
    if mentions and scores["trend"] and scores["compare"]:
        scores["trend"] += 1
    if scores["explain"] and scores["validation"]:
        scores["validation"] += 1
    if named and with_log and _IS_THERE.fullmatch(re.sub(r"[\W_]+", " ", _without(text, mentions))):
        scores["lookup"] += 6  # "有没有 kl_coef": whether it is logged
    if named and _BROKE.search(text):
        scores["health"] += 4  # "是不是爆了" asks whether, not what
    if mentions and steps.kind in _WHOLE and _MOVED_BY.search(text):
        scores["compare"] += 7
    if named and scores["explain"] and patterns().operations["why"].search(text) and not _ABSENT.search(text):
        scores["lookup"] = min(scores["lookup"], scores["explain"] - 1)  # why it is so, rather than how much it is
    if named and scores["explain"] >= 14 and _TOLD_BY.search(text):
        scores["define"] += (
            scores["explain"] + 1
        )  # "num_preempted, what does it tell me": of the metric, not of the log
    if named and steps.kind in {"single", "last", "first"} and _TELL.search(text):
        scores["lookup"] += 4
    part = any(m.key is not None and not m.key.startswith((*TIMED, "step_time")) for m in mentions)
    if (
        part
        and scores["bottleneck"]
        and re.search(r"占|share|fraction|percent", text)
        and "slowdown" not in query.topics
    ):
        scores["lookup"] += scores["bottleneck"] + 1  # a ratio of its own, and no part of a step's time
    if named and re.match(r"(?i)\s*how many\b|.{0,14}(多少|几)(个|条|次)", text) and not scores["derive"]:
        scores["lookup"] += 4
    if "advantage" in query.topics and re.search(r"(?<![@\w])\d", text):
        scores["derive"] += 4  # "why is the largest advantage 3.75": the bound of a group's size
    if named and steps.kind in _POINTS and not query.topics:
        scores["derive"] = 0
    if (
        scores["derive"]
        and query.topics == ("batch",)
        and any(m.key and not _COUNTED_NOUN.fullmatch(m.text) for m in mentions)
    ):
        scores["lookup"] += scores["derive"] + 1  # "how many trajectories hit the limit": a metric's count
        scores["derive"] = 0
    if scores["derive"]:
        scores["lookup"] -= 3
    if n_runs > 1 and len(query.runs) != 1 and (scores["compare"] or scores["trend"] >= scores["lookup"]):
        scores["compare"] += 3 if scores["compare"] else 0
    if scores["advice"] >= 5 and scores["health"]:
        scores["advice"] = max(scores["advice"], scores["health"] + 1)
    if n_runs > 1 and re.search(
        r"(?i)(哪(个|边|一个|一边|份|次)|谁).{0,24}[大小高低长短快慢好差稳强弱]|排(名|序|一下|个)|\brank"
        r"|\b(which|who|whose)\b.{0,40}(er|more|less|better|worse|best|worst|est)\b|\bsort\b",
        text,
    ):
        scores["compare"] += 8
    if named and scores["explain"] and scores["validation"] and any("@" in m.text for m in mentions):
        scores["define"] += 0 if re.search(r"(?i)结果|results?", text) else 10
    if any("std@" in m.text.lower() for m in mentions) and _ERROR_BAR.search(text):
        scores["define"] += scores["validation"] + 1
    if re.search(r"(?i)趋势|走势|曲线|\btrend|over time", text):
        scores["trend"] += 4
    validated = named and all(VALIDATED.match(m.key or "") for m in mentions)
    if validated and _HOW_TO_READ.search(text) and _RESULTS.search(text):
        scores["validation"] += 6  # what the results say, and not what such a metric is
    elif named and _HOW_TO_READ.search(text):
        scores["define"] += 6  # whatever step stands beside
        scores["advice"] = 0
    if scores["forecast"] >= 5:
        scores["forecast"] += 4
        scores["lookup"] -= 0 if query.op else 3
    if scores["advice"] >= 5:
        scores["derive"] = min(scores["derive"], 2)
    timed = any(
        m.key is not None and m.key.startswith(("timing_s/", "time/", "step_time", "perf/time_")) for m in mentions
    )
    if (
        scores["bottleneck"]
        and timed
        and not re.search(
            r"(?i)占|阶段|拆|[花去耗](?:在|到|了)*哪|stage|phase|break ?down|split|分布|share|fraction|percent"
            r"|bottleneck|瓶颈|变慢|为|why",
            text,
        )
    ):
        scores["lookup"] += scores["bottleneck"] + 3
