"""Which intent and which operation a question has, from the evidence of its words, metrics, steps and limits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from assistant.ask.learnt import Table, features
from assistant.ask.patterns import patterns
from assistant.ask.query import Query
from assistant.ask.rates import turned
from assistant.ask.stated import claim_in
from assistant.ask.weighing import TIMED, VALIDATED, weigh
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
_SMALL_IS_GOOD = re.compile(
    r"loss|timing_s|time|kl|clip|grad_norm|perplexity|zero_std|truncat|aborted|incorrect|error"
    r"|(?<![a-z])(?:ppl|nll|mse|rmse|mae|wer|cer|fid|bp[bcd])(?![a-z])",
    re.IGNORECASE,
)
_HOW_OFTEN = re.compile(r"(?i)几次|多少次|次数|how many|how often")
_CUT = re.compile(r"(?i)(?:被)?(?:truncat\w*|cut(?: off| short)?|截断\S{0,2}|clipped)\s*")
_STEPS_TO_COME = re.compile(
    r"(?i)(?:几|多少)\s*个?步\s*(?:之|以)?后|再(?:过|跑|训|练)?\s*(?:几|多少)\s*个?步|how many more steps"
    r"|how many (?:further )?(?:steps|iterations) (?:until|till|before|to (?:reach|hit|get to))"
    r"|还(?:要|得|需)[^,，。?]{0,4}(?:几|多少)\s*个?步"
)
_YET_TO_COME = re.compile(
    r"(?:什么时候|啥时候|何时|几时)(?:才)?(?:到|达到|上|破)(?!过|了)[^?。]{0,12}(?<!的)\s*[?。]*$"
)
_REASON_OF = re.compile(r"(?i)^\W*(?:why|how come)\b|^\W*(?:为什么|为何|为啥)")
_IN_TIME = re.compile(
    r"(?i)(?:什么时候|啥时候|何时|几时|哪一?步|第几步|多久)[^,，。?]{0,4}(?:能|会|可以|才能)"
    r"|(?:什么时候|啥时候|何时|几时|哪一?步|第几步)[^?。]{0,4}(?:能|会)\S{0,2}(?:到|达|上|破|过|超)"
    r"|\b(?:when|at which step|which step) (?:will|would|can|could)\b"
)
_ABOUT = re.compile(
    r"(?i)外推|推[到算]|大概|大约|估计|预计|应该|会|能|[照按依](?:这|此|现在|目前|当前)|这样下去|趋势|势头"
    r"|\b(?:about|roughly|expect\w*|estimat\w*|predict\w*|would|will|might)\b"
)
_WHICH_RUN = re.compile(r"(?i)谁|哪(?:个|边|一个|份|次)|\bwhich\b|\bwhose\b|\bwho\b")
_ASKS_HEALTH = re.compile(
    r"(?i)正常|健康|异常|问题|毛病|不对|奇怪|要紧|严重|危险|行不行|可以吗|吗\s*[?。]*$|过拟合|hack|作弊|normal|healthy|wrong|\bok\b|okay|fine"
    r"|\bbad\b|concern|worr|odd|weird|strange|issue|problem|overfit|stable|low|high|good"
)
#: What a metric does over a window: "is mean reward still rising over the last 20 steps" asks for no mean.
_COURSE = re.compile(
    r"(?i)不再|不动|趋势|走势|稳定|收敛|饱和|平台|(?:在|还|一直|有没有|是不是|有)[^,，。?]{0,4}[涨升降跌变]"
    r"|[涨升降跌]了?(?:吗|么|没)|\btrend|\bplateau|\bstable\b|\bflat\b|\bconverg|\bstall"
    r"|\bstill (?:ris|fall|improv|increas|decreas|go|climb|drop)"
)
_IN_A_WINDOW = re.compile(r"(?i)平均|均值|\bmean\b|average|\bavg\b")
_AND_MEAN = re.compile(r"(?i)(?:和|与|、|,|及)\s*(?:平均|均值)|(?:平均|均值)\s*(?:和|与|、|,|及)|\bmean\b|\baverage\b")
_SET_AGAINST = re.compile(r"(?i)\b(?:than|vs|versus|compared|against|relative to)\b|[比较](?![例重值])|相对")
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
_RUNS_OUT = re.compile(r"(?i)\boom\w*\b|out of memory|爆(?:了)?(?:显存|内存)|(?:显存|内存)(?:爆|溢出)")
"""That memory runs out: of memory, whatever the words around it are alike to."""
_YIELDED_TO = {"forecast", "advice", "define", "compare", "explain"}


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
    if threshold is not None and has("count_beyond", keyless) and not _STEPS_TO_COME.search(text):
        return "count"
    if has("count", keyless) and (threshold is not None or not mentions or has("countable", text)):
        return "count"
    if threshold is not None and has("first", text) and not has("future", text):
        return "first_crossing"
    if steps.kind in {"single", "pair"} and _both_statistics(mentions):
        return None  # "its mean and max at step 20 and 40": two metrics
    window = steps.kind in {"range", "last_n", "all", "none"}
    high, low = has("high", _kept(keyless, mentions)), has("low", _kept(keyless, mentions))
    if has("best", keyless) and not (high or low):
        named = [m for m in mentions if m.key is not None] or list(mentions)
        down = bool(named) and all(_SMALL_IS_GOOD.search(m.key or m.text) for m in named)
        high, low = (not down, down) if not has("worst", keyless) else (down, not down)
    if high != low and mentions and all(turned(text, m.key or "") for m in mentions):
        high, low = low, high  # the fastest step has the largest throughput
    if not window and steps.kind != "pair":
        return None
    if high or low:
        value = has("value", keyless)
        if has("where", text) and not value:
            return "argmax" if high else "argmin"
        return "max" if high else "min"
    if steps.kind == "pair" and _SET_AGAINST.search(bare):
        return None  # "how much longer is the average response at step 3 than at step 1": no mean over the two
    in_name = steps.kind in {"range", "last_n", "all"} and _IN_A_WINDOW.search(keyless)
    if has("mean", bare) or (in_name and not _COURSE.search(bare)):
        return "mean"
    return None


def _both_statistics(mentions: Sequence[Mentioned]) -> bool:
    """Whether a metric's mean and its maximum or minimum are both named, each by its own key."""
    keys = {m.key for m in mentions if m.key is not None}
    return any(f"{key[:-4]}{other}" in keys for key in keys if key.endswith("/mean") for other in ("max", "min"))


def further_operations(keyless: str, mentions: Sequence[Mentioned], op: Op | None) -> tuple[Op, ...]:
    """Operations asked for beside the first one: "max and min", "最大、最小和平均"."""
    if op not in {"max", "min", "argmax", "argmin", "mean"}:
        return ()
    words, text = patterns().operations, _kept(keyless, mentions)
    plain = "".join(" " if any(m.start <= at < m.end for m in mentions) else one for at, one in enumerate(text))
    asked: list[Op] = []
    for name, one in (("high", "max"), ("low", "min"), ("mean", "mean")):
        said = plain if name == "mean" else text  # "平均奖励最高": the mean is a part of the name
        if words[name].search(said) or (name == "mean" and _AND_MEAN.search(said)):
            asked.append(cast("Op", one))
    said = {"argmax": "max", "argmin": "min"}.get(op, op)
    return tuple(one for one in asked if one != said) if len(asked) > 1 else ()


_OF_THE_BEST = re.compile(r"(?i)\b(?:best|peak|highest|lowest|worst)\b|still there|最(?:好|高|低|差)")
_EACH = re.compile(
    r"(?i)\b(?:each|every)(?: one)?(?: of)?(?: (?:the|these|those))?(?: \w+){0,2} (?:steps?|iterations?|evals?|rows?)\b"
    r"|\b(?:per|by) (?:step|iteration|eval)\b|step by step|每(?:一|个)?(?:步|次|个 ?step)|各步|逐步"
)


def _kept(keyless: str, mentions: Sequence[Mentioned]) -> str:
    """The text in which "max" or "longest" within a name that already means the ``/max`` key counts no more."""
    chars = list(keyless)
    each = _EACH.search(keyless) is not None
    for mention in mentions:
        key = mention.key or ""
        if each and key.endswith(("/max", "/min")):  # "the longest prompt of each step": one value a step
            chars[mention.start : mention.end] = " " * (mention.end - mention.start)
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
    if _REASON_OF.search(text) and "remaining" not in query.topics:
        scores["forecast"] = 0.0  # "why will the reward be 0 in the end?" is asked of what happened
    elif run is not None and query.op == "first_crossing" and _reached(query, run):
        scores["forecast"] = 0.0  # "when did it pass 60?" of a log in which it did
    elif run is not None and query.op == "first_crossing" and query.mentions and _YET_TO_COME.search(text):
        scores["forecast"] += 6.0  # "啥时候到 0.9", of a log in which it has not
    if run is not None and query.threshold is not None and _IN_TIME.search(text) and not _reached(query, run):
        scores["forecast"] += 6.0 if query.mentions else 0.0  # "哪一步能突破 0.9", of a log in which it has not
    if run is not None and query.steps.kind == "single" and query.steps.values[0] > run.distinct_steps[-1]:
        scores["forecast"] += 8.0 if _ABOUT.search(text) else 0.0  # "about how much at step 100", of a log of 66
    weigh(query, text, scores, n_runs, with_log=run is not None)
    best = max(order, key=lambda name: (scores[name], -order.index(name)))
    strength = scores[best]
    if shares is not None:
        best, strength = _with_learnt(scores, shares, order)
    guessed = strength <= 0
    if guessed:
        best = "explain"
    if best == "health" and query.mentions and all(VALIDATED.match(m.key or "") for m in query.mentions):
        best = best if _ASKS_HEALTH.search(text) else "validation"  # "eval 怎么样": what it shows
    if (
        best == "bottleneck"
        and query.mentions
        and query.steps.kind == "pair"
        and scores["compare"]
        and not held.operations["why"].search(text)
    ):
        best = "compare"  # "time breakdown 20 vs 40"
    if topic is not None:
        best, strength, guessed = TOPIC_INTENTS[topic], 5.0, False
    if run is not None and best in {"explain", "trend", "compare", "bottleneck"} and _missing_there(query, run):
        best, query = "lookup", replace(query, topics=())  # whatever is asked of it: the log does not hold it
    if (
        run is None
        and query.steps.kind == "none"
        and best in {"explain", "lookup", "trend", "compare", "health", "validation"}
    ):
        best = "define" if any(m.card is not None for m in query.mentions) else best  # no log: what the name means
    return _slots_settled(replace(query, intent=cast("Intent", best), guessed=guessed)), strength


#: Training that was stopped and went on from a checkpoint.
_RESTARTED: Final = re.compile(r"(?i)断点续训|续训|重启|\bresum(?:e|ed|ing)\b|\brestart(?:ed|s|ing)?\b")


def _topics_kept(query: Query, text: str, scores: dict[str, float], n_runs: int) -> Query:
    """Topics that the rest of the question allows."""
    named = [m for m in query.mentions if m.key is not None or m.card is not None]
    kept = []
    for topic in query.topics:
        if topic == "claim" and (claim_in(text) is None or scores["advice"]):
            continue
        if topic in {"sign", "good"} and not named:
            continue
        if topic == "gaps" and named and all(_CUT.fullmatch(m.text) for m in named):
            query = replace(query, mentions=())  # "is the log truncated": no share of truncated answers
            named = []
        if topic in {"learning", "got_worse", "got_better", "gaps", "onset"} and named:
            continue
        if topic == "gaps" and "restarts" in query.topics and _RESTARTED.search(text):
            continue  # "断点续训丢了几步": what was done twice
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
        if topic == "slowdown" and (_tool_named(named) or (n_runs > 1 and _WHICH_RUN.search(text))):
            continue
        if topic == "same" and (len(named) == 1 or n_runs > 1):
            continue
        if topic == "remaining" and named and (query.threshold is not None or _OF_THE_BEST.search(text)):
            continue
        if topic in {"best", "worst"} and (query.threshold is not None or n_runs > 1 or query.steps.kind == "pair"):
            continue
        if topic in {"tokens", "tools"} and query.steps.kind in {"single", "last", "first", "pair"}:
            continue
        if topic == "tools" and _HOW_OFTEN.search(text) and [m.key for m in named] == ["tool_call_counts/mean"]:
            continue
        beyond = query.threshold is not None or query.op in {"max", "min", "argmax", "argmin"}
        if topic == "tools" and named and (beyond or query.steps.kind in {"range", "last_n"}):
            continue  # a part of the run: the values there
        if (
            topic in TOPIC_INTENTS
            and topic not in {"remaining", "memory", "best", "worst"}
            and scores["advice"] >= (6 if topic == "nan" else 5)
        ):
            continue
        if topic == "memory" and (scores["advice"] >= 9 or (query.threshold and scores["forecast"] >= 9)):
            continue  # "怎么避免 OOM" asks what to do, "when does it reach 500 GB" what is to come
        if topic == "nan" and query.op == "count" and named:
            continue
        kept.append(topic)
    return replace(query, topics=tuple(kept))


def _reached(query: Query, run: Run) -> bool:
    """Whether the metric of a question with a limit is on that side of it anywhere in the log."""
    key = next((m.key for m in query.mentions if m.key in run.columns), None)
    if query.threshold is None or key is None:
        return False
    side, limit = query.threshold
    values = [float(value) for value in run.series(key)[1]]
    return any(value >= limit if side == "above" else value <= limit for value in values)


def _missing_there(query: Query, run: Run) -> bool:
    """Whether a question is about one step of one metric, and the log lost the value there."""
    keys = [m.key for m in query.mentions if m.key in run.columns]
    if query.steps.kind != "single" or len(keys) != 1 or len(query.mentions) != 1:
        return False
    return run.missing_at(keys[0] or "", query.steps.values[0]) is not None


def is_stage(metric: str) -> bool:
    """Whether a key holds the time of a part of a step."""
    name = metric.lower()
    whole = ("/step", "step_total", "time_per_step", "total_step_time", "total step time")
    counted = ("/fps", "/iterations", "/total_timesteps", "/time_elapsed")  # Stable-Baselines3: no seconds of a stage
    if "num_preempted" in name or name.endswith(("prompt_length", "response_length", "topk_ratio")):
        return False  # counts and lengths that verl logs under its prefix of times
    return name.startswith(TIMED) and not name.endswith((*whole, *counted))


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
    if _RUNS_OUT.search(text) and not query.mentions and best in {"forecast", "explain", "compare"}:
        yields = yields - {"memory"}
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


def _slots_settled(query: Query) -> Query:
    """Slots in the terms of the intent."""
    if query.intent == "trend" and query.steps.kind == "pair":
        query = replace(query, intent="compare")  # two points are compared; a trend takes more
    if query.intent == "trend" and query.steps.kind in {"last", "first"}:
        query = replace(query, steps=StepSlot())  # "what is it now, and does it still rise"
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
