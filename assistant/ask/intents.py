"""Which intent and which operation a question has, from the evidence of its words, metrics, steps and limits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from assistant.ask.learnt import Table, features
from assistant.ask.patterns import patterns
from assistant.ask.query import Query
from assistant.ask.stated import claim_in
from assistant.knowledge import Mentioned
from assistant.model import Run, StepSlot
from assistant.model.answer import Intent, Op

#: Topics that settle the intent, in the order in which they are looked for; the answer's writers follow the same order.
TOPIC_INTENTS: dict[str, Intent] = {
    "gaps": "lookup", "restarts": "lookup", "claim": "compare", "share": "bottleneck", "same": "lookup",
    "interval": "validation", "onpolicy": "derive", "cap": "derive", "framework": "derive", "val_train": "compare",
    "slowdown": "bottleneck", "remaining": "forecast", "total_time": "lookup", "onset": "health", "nan": "health",
    "memory": "health", "tools": "lookup", "tokens": "derive", "got_worse": "compare", "got_better": "compare",
    "best": "lookup", "worst": "lookup", "learning": "health", "sign": "define", "good": "define", "premise": "explain",
}  # fmt: skip
_POINTS = {"single", "last", "first", "pair", "last_n"}
_WHOLE = {"none", "all"}
_SMALL_IS_GOOD = re.compile(
    r"loss|timing_s|time|kl|clip|grad_norm|perplexity|ppl|zero_std|truncat|aborted|incorrect", re.IGNORECASE
)
_MOVED_BY = re.compile(r"(?:涨|升|降|跌|掉|提高|提升|下降|上升|变化|增加|减少)了(?:多少|几)")
_ABSENT = re.compile(r"(?i)没有|没|缺|不见|空|\bno\b|missing|absent|isn't|not there")
_TELL = re.compile(r"(?i)\btell me\b|\bgive me\b|\bshow me\b|告诉我|给我(?:看|说)")
_BROKE = re.compile(
    r"(?:是不是|是否|有没有|难道).{0,8}(?:崩|塌|爆|炸|飞|挂|坏|发散|explod|collaps|diverg|blow|nan)|(?:崩|塌|爆|炸|飞|挂|坏|发散)了(?:吗|么|没|吧)"
)
_VALIDATED = re.compile(r"(?:val|eval|test)[-_/]")
_ASKS_HEALTH = re.compile(
    r"(?i)正常|健康|异常|问题|毛病|不对|奇怪|要紧|严重|危险|行不行|可以吗|吗\s*[?。]*$|过拟合|hack|作弊|normal|healthy|wrong|\bok\b|okay|fine"
    r"|\bbad\b|concern|worr|odd|weird|strange|issue|problem|overfit|stable|low|high|good"
)
_TIMED = ("timing_s/", "time/", "timing/", "perf/time_")
_IN_A_WINDOW = re.compile(r"(?i)平均|均值|\bmean\b|average|\bavg\b")
_AND_MEAN = re.compile(r"(?i)(?:和|与|、|,|及)\s*(?:平均|均值)|(?:平均|均值)\s*(?:和|与|、|,|及)|\bmean\b|\baverage\b")
_LEARNT = 1.5
"""What a question's learnt log-odds count beside the patterns' weights; chosen on folds, as are the others here."""
_MOST = 6.0
_SURE = 0.6
_TOLD_BY_WORDS = 1.0
_ELSEWHERE = 0.2
_SURELY_ELSEWHERE = 0.7
_YIELDING = {"memory", "same", "learning"}
_YIELDS = 0.75
_PLAINLY_SAME = re.compile(r"(?i)\b(?:the same|identical|equal)\s*\?*$|(?:一样|相同|相等|一致)(?:吗|么|不)?\s*\?*$")
"""Asks of the values, whatever its words are alike to."""
_YIELDED_TO = {"forecast", "advice", "define", "compare", "explain"}
_HOW_TO_READ = re.compile(
    r"(?i)how (?:should|do|can|would|to|am i supposed to) ?(?:i|we|one|you)? ?(?:read|interpret|understand)\b"
    r"|怎么理解|如何理解|怎样理解|怎么解读"
)
_WHAT_IS = re.compile(r"(?i)\bwhat('s| is| was| were| are)\b")


def operation(
    text: str, bare: str, keyless: str, *, mentions: Sequence[Mentioned], steps: StepSlot,
    threshold: tuple[str, float] | None,
) -> Op | None:  # fmt: skip
    """The operation that a question asks for.

    Args:
        text: the question, normalised.
        bare: without the metrics named.
        keyless: without keys spelt out; names in plain words still stand.
        mentions: the metrics named.
        steps: the steps named.
        threshold: the limit named.
    """
    words = patterns().operations

    def has(name: str, where: str = bare) -> bool:
        return words[name].search(where) is not None

    if words["why"].search(text):
        return None
    if threshold is not None and has("count_beyond", keyless):
        return "count"
    if has("count", keyless) and (threshold is not None or not mentions or has("countable", text)):
        return "count"
    if threshold is not None and has("first", text) and not has("future", text):
        return "first_crossing"
    window = steps.kind in {"range", "last_n", "all", "none"}
    high, low = has("high", _kept(keyless, mentions)), has("low", _kept(keyless, mentions))
    if has("best", keyless) and not (high or low):
        down = bool(mentions) and all(m.key is not None and _SMALL_IS_GOOD.search(m.key) for m in mentions)
        high, low = (not down, down) if not has("worst", keyless) else (down, not down)
    if not window and steps.kind != "pair":
        return None
    if high or low:
        value = has("value", keyless)
        if has("where", text) and not value:
            return "argmax" if high else "argmin"
        return "max" if high else "min"
    if has("mean", bare) or (steps.kind in {"range", "last_n", "all"} and _IN_A_WINDOW.search(keyless)):
        return "mean"
    return None


def further_operations(keyless: str, mentions: Sequence[Mentioned], op: Op | None) -> tuple[Op, ...]:
    """Operations asked for beside the first one: "max and min", "最大、最小和平均"."""
    if op not in {"max", "min", "argmax", "argmin", "mean"}:
        return ()
    words, text = patterns().operations, _kept(keyless, mentions)
    asked: list[Op] = []
    for name, one in (("high", "max"), ("low", "min"), ("mean", "mean")):
        if words[name].search(text) or (name == "mean" and _AND_MEAN.search(text)):
            asked.append(cast("Op", one))
    said = {"argmax": "max", "argmin": "min"}.get(op, op)
    return tuple(one for one in asked if one != said) if len(asked) > 1 else ()


def _kept(keyless: str, mentions: Sequence[Mentioned]) -> str:
    """The text in which "max" or "longest" within a name that already means the ``/max`` key counts no more."""
    chars = list(keyless)
    for mention in mentions:
        key = mention.key or ""
        of_length = re.search(r"(?i)len|长度", mention.text) and re.search(r"(?i)max|最大", mention.text)
        if of_length and "ratio" in key:
            chars[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(chars)


def decided(
    query: Query, text: str, scores: dict[str, float], *, run: Run | None, n_runs: int, table: Table | None = None
) -> tuple[Query, float]:
    """The query with its intent, and how strongly that was told.

    Args:
        query: its slots.
        text: the question, normalised.
        scores: of the patterns, by intent.
        run: the run asked about.
        n_runs: how many runs there are.
        table: what was learnt of intents; ``None``: the patterns alone decide.
    """
    held = patterns()
    shares = None if table is None else table.shares(features(query, text, n_runs))
    query = _topics_kept(query, text, scores, n_runs)
    if _out_of_scope(query, text, scores, run, shares):
        plain = held.single["out_of_domain"].search(text) is not None
        return replace(query, intent="out_of_scope", topics=(), op=None), 5.0 if plain else 0.0
    query = _topics_yielded(query, text, shares)
    topic = next((name for name in TOPIC_INTENTS if name in query.topics), None)
    order = [name for name, _ in held.intents]
    _weigh(query, text, scores, n_runs, with_log=run is not None)
    best = max(order, key=lambda name: (scores[name], -order.index(name)))
    strength = scores[best]
    if shares is not None:
        best, strength = _with_learnt(scores, shares, order)
    guessed = strength <= 0
    if guessed:
        best = "explain"
    if best == "health" and query.mentions and all(_VALIDATED.match(m.key or "") for m in query.mentions):
        best = best if _ASKS_HEALTH.search(text) else "validation"  # "eval 怎么样": what it shows
    if topic is not None:
        best, strength, guessed = TOPIC_INTENTS[topic], 5.0, False
    if (
        run is None
        and query.steps.kind == "none"
        and best in {"explain", "lookup", "trend", "compare", "health", "validation"}
    ):
        best = "define" if any(m.card is not None for m in query.mentions) else best  # no log: what the name means
    return _slots_settled(replace(query, intent=cast("Intent", best), guessed=guessed)), strength


def _topics_kept(query: Query, text: str, scores: dict[str, float], n_runs: int) -> Query:
    """Topics that the rest of the question allows."""
    named = [m for m in query.mentions if m.key is not None or m.card is not None]
    kept = []
    for topic in query.topics:
        if topic == "claim" and (claim_in(text) is None or scores["advice"]):
            continue
        if topic in {"sign", "good"} and not named:
            continue
        if topic in {"learning", "got_worse", "got_better", "gaps", "onset"} and named:
            continue
        if topic == "restarts" and named and not re.search(r"(?i)重启|续训|恢复|\brestart|\bresum", text):
            continue
        if topic == "onset" and query.threshold is not None:
            continue
        if topic == "total_time" and (_timed_otherwise(named) or "remaining" in query.topics):
            continue
        if topic == "share" and not any(m.key is not None and is_stage(m.key) for m in named):
            continue
        if topic == "onset" and "nan" in query.topics:
            continue
        if topic == "slowdown" and _tool_named(named):
            continue
        if topic == "same" and (len(named) == 1 or n_runs > 1):
            continue
        if topic in {"remaining"} and (query.threshold is not None and named):
            continue
        if topic in {"best", "worst"} and (query.threshold is not None or n_runs > 1 or query.steps.kind == "pair"):
            continue
        if topic in {"tokens", "tools"} and query.steps.kind in {"single", "last", "first", "pair"}:
            continue
        if topic == "tools" and named and query.op in {"max", "min", "argmax", "argmin"}:
            continue
        if (
            topic in TOPIC_INTENTS
            and topic not in {"remaining", "memory", "best", "worst"}
            and scores["advice"] >= (6 if topic == "nan" else 5)
        ):
            continue
        if topic == "nan" and query.op == "count":
            continue
        kept.append(topic)
    return replace(query, topics=tuple(kept))


def is_stage(metric: str) -> bool:
    """Whether a key holds the time of a part of a step."""
    name = metric.lower()
    whole = ("/step", "step_total", "time_per_step", "total_step_time", "total step time")
    return name.startswith(_TIMED) and not name.endswith(whole)


def _tool_named(named: Sequence[Mentioned]) -> bool:
    """Whether a question about slowness names what a trajectory waits for, which is no stage of the step."""
    return any(m.key is not None and "tool" in m.key for m in named)


def _timed_otherwise(named: Sequence[Mentioned]) -> bool:
    """Whether a question about time names something else than the step's."""
    return any(m.key is not None and not m.key.endswith(("/step", "step_time", "time_per_step")) for m in named)


def _topics_yielded(query: Query, text: str, shares: dict[str, float] | None) -> Query:
    """The topics without those that name a matter rather than what is asked of it, where another intent is sure."""
    if shares is None or not _YIELDING & set(query.topics):
        return query
    best = max(shares, key=lambda name: shares[name])
    yields = _YIELDING if best in _YIELDED_TO and shares[best] >= _YIELDS else set()
    if _PLAINLY_SAME.search(text):
        yields = yields - {"same"}
    return replace(query, topics=tuple(topic for topic in query.topics if topic not in yields))


def _with_learnt(scores: dict[str, float], shares: dict[str, float], order: Sequence[str]) -> tuple[str, float]:
    """The intent by patterns and what was learnt, and how strongly it is told: sure words move weak patterns."""
    best = max(order, key=lambda name: (scores[name], -order.index(name)))
    learnt = max(order, key=lambda name: shares[name])
    if learnt == best or shares[learnt] < _SURE:
        return best, scores[best]
    if scores[best] <= 0:
        return learnt, _TOLD_BY_WORDS
    evidence = min(_MOST, _LEARNT * math.log(shares[learnt] / (shares[best] + 1e-9)))
    if scores[learnt] + evidence > scores[best]:
        return learnt, max(scores[learnt], _TOLD_BY_WORDS)
    return best, scores[best]


def _out_of_scope(
    query: Query, text: str, scores: dict[str, float], run: Run | None, shares: dict[str, float] | None
) -> bool:
    """Whether a question is about something else, by its words and by what was learnt where these do not tell."""
    ruled = _ruled_out(query, text, scores, run)
    if shares is None or patterns().single["out_of_domain"].search(text):
        return ruled
    if ruled:
        return shares["out_of_scope"] >= _ELSEWHERE or max(shares, key=lambda name: shares[name]) == "out_of_scope"
    known = bool(query.mentions) or query.steps.kind != "none" or bool(query.topics) or max(scores.values()) >= 5
    return not known and shares["out_of_scope"] >= _SURELY_ELSEWHERE


def _ruled_out(query: Query, text: str, scores: dict[str, float], run: Run | None) -> bool:
    single = patterns().single
    named = any(m.key is not None or m.card is not None for m in query.mentions)
    if single["out_of_domain"].search(text):
        return not (named and (query.op is not None or query.steps.kind != "none"))
    known = bool(query.mentions) or query.steps.kind != "none" or bool(query.topics)
    if known or single["domain"].search(text):
        return False
    leading = max(scores, key=lambda name: scores[name])
    if not scores[leading]:
        words = len(re.findall(r"[A-Za-z]+", text))
        return run is None or not (words <= 2 and len(re.findall(r"[\u3400-\u9fff]", text)) <= 6)
    return leading in {"forecast", "define", "lookup", "compare"}


def _without(text: str, mentions: Sequence[Mentioned]) -> str:
    chars = list(text)
    for mention in mentions:
        chars[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(chars)


def _weigh(query: Query, text: str, scores: dict[str, float], n_runs: int, *, with_log: bool) -> None:
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
        held = with_log and any(m.key is not None for m in mentions)
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
    if named and all(m.key is not None and not _VALIDATED.match(m.key) for m in mentions) and steps.kind in _POINTS:
        scores["lookup"] += scores["validation"] if not any(scores[i] for i in scores if i != "validation") else 0
        scores["validation"] = 0  # "accuracy reward at step 20" of the training's own metrics
    if named and scores["lookup"] and scores["validation"]:
        scores["lookup"] += 2
    if mentions and scores["trend"] and scores["compare"]:
        scores["trend"] += 1
    if scores["explain"] and scores["validation"]:
        scores["validation"] += 1
    if named and _BROKE.search(text):
        scores["health"] += 4  # "是不是爆了" asks whether, not what
    if mentions and steps.kind in _WHOLE and _MOVED_BY.search(text):
        scores["compare"] += 5
    if named and scores["explain"] and patterns().operations["why"].search(text) and not _ABSENT.search(text):
        scores["lookup"] = min(scores["lookup"], scores["explain"] - 1)  # why it is so, rather than how much it is
    if named and scores["explain"] >= 14:
        scores["define"] += (
            scores["explain"] + 1
        )  # "num_preempted, what does it tell me": of the metric, not of the log
    if named and steps.kind in {"single", "last", "first"} and _TELL.search(text):
        scores["lookup"] += 4
    part = any(m.key is not None and not m.key.startswith((*_TIMED, "step_time")) for m in mentions)
    if (
        part
        and scores["bottleneck"]
        and re.search(r"占|share|fraction|percent", text)
        and "slowdown" not in query.topics
    ):
        scores["lookup"] += scores["bottleneck"] + 1  # a ratio of its own, and no part of a step's time
    if named and re.match(r"(?i)\s*how many\b|.{0,14}(多少|几)(个|条|次)", text) and not scores["derive"]:
        scores["lookup"] += 4
    if scores["derive"] and query.topics == ("batch",) and any(m.key for m in mentions):
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
        r"|\bwhich\b.{0,40}(er|more|less|better|worse|best|worst|est)\b|\bsort\b",
        text,
    ):
        scores["compare"] += 8
    if named and scores["explain"] and scores["validation"] and any("@" in m.text for m in mentions):
        scores["define"] += 0 if re.search(r"(?i)结果|results?", text) else 10
    if re.search(r"(?i)趋势|走势|曲线|\btrend|over time", text):
        scores["trend"] += 4
    if named and _HOW_TO_READ.search(text):
        scores["define"] += 6  # whatever step stands beside
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
            r"(?i)占|阶段|拆|stage|phase|break ?down|share|fraction|percent|bottleneck|瓶颈|变慢|为|why", text
        )
    ):
        scores["lookup"] += scores["bottleneck"] + 3


def _slots_settled(query: Query) -> Query:
    """Slots in the terms of the intent."""
    if query.intent == "trend" and query.steps.kind == "pair":
        query = replace(query, intent="compare")  # two points are compared; a trend takes more
    if query.intent == "compare" and query.steps.kind == "range":
        query = replace(query, steps=StepSlot("pair", query.steps.values))
    if query.intent not in {"lookup", "validation", "compare"} and not query.topics:
        query = replace(query, op=None, asked_op=None if query.mentions else query.asked_op)
    if query.asked_op is None and query.intent == "lookup" and {"best", "worst"} & set(query.topics):
        query = replace(query, asked_op="argmax" if "best" in query.topics else "argmin")
    whole = query.op in {"max", "min", "argmax", "argmin", "first_crossing", "count", "mean"} and query.mentions
    if whole and query.intent == "lookup" and query.steps.kind == "none":
        query = replace(query, steps=StepSlot("all"))
    return replace(query, asked_op=query.op or query.asked_op)
