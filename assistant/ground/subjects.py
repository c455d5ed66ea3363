"""Which metrics a number may be of beyond the key that is usually meant by a name: siblings, heads, what a unit implies."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import OF_ONE_SAMPLE
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table

_STATISTIC: Final = {
    "max": re.compile(
        r"(?i)\b(?:max(?:imum)?|longest|largest|highest|slowest|peak|at most)\b|最[大长高慢多]|上限|触顶|写到|ran to|\bno (?:trajectory|response|sample|answer|prompt|sequence)\b"
    ),
    "min": re.compile(r"(?i)\b(?:min(?:imum)?|shortest|smallest|lowest|fastest|at least)\b|最[小短低快少]|下限"),
    "mean": re.compile(r"(?i)\b(?:mean|average[sd]?|averaging|avg)\b|平均|均值"),
}
_OF_STEPS: Final = re.compile(
    r"(?i)\bsteps?\b|\biterations?\b|\btook\b|\btakes?\b|\bslow|\bfast|步|迭代|耗时|总共|合计|用时|花|[快慢]"
)
_LASTS: Final = re.compile(r"(?i)耗时|用时|每步时间|单步|\btakes?\b|\btook\b|\bslower\b|\bfaster\b|\blasts?\b|[快慢]了")
#: Keys that a unit alone may speak of, by the words that must stand beside it.
_BY_UNIT: Final = (
    ("s", re.compile(r"(?i)\bgenerat|\brollout|生成|采样"), re.compile(r"(?i)^timing(?:_s)?/gen$|^time/step_generate$")),
    ("s", re.compile(r"(?i)\bref(?:erence)?\b|参考"), re.compile(r"(?i)^timing(?:_s)?/ref(?:_log_prob)?$")),
    ("s", re.compile(r"(?i)\b(?:policy|actor)?\s?update|更新"), re.compile(r"(?i)update_actor$|^time/step_train$")),
    ("s", re.compile(r"(?i)验证|评测|评估|validat|evaluat|\btest"), re.compile(r"(?i)^timing(?:_s)?/testing$|eval.*runtime")),
    ("ms", re.compile(r"(?i)耗时|用时|\btook\b|\btakes?\b|\btime"), re.compile(r"(?i)^(?:time|iter_time|step_time|dt)(?:_ms)?$|_ms$")),
    ("gib", re.compile(r"(?i)reserved|预留|保留"), re.compile(r"(?i)memory_reserved")),
    ("gib", re.compile(r"(?i)allocated|已?分配"), re.compile(r"(?i)memory_allocated")),
    ("gib", re.compile(r"(?i)\bcpu\b|\bhost\b|\bram\b|主机|内存"), re.compile(r"(?i)cpu_memory")),
    ("tokens", re.compile(r"(?i)\bsteps?\b|\biteration|\bbatch|步|迭代|处理|process"), re.compile(r"(?i)^perf/total_num_tokens$|^num_tokens")),
    ("tokens", re.compile(r"(?i)respon|answer|complet|generat|average|mean|写|回答|回复|响应|生成|平均|最长"), re.compile(r"(?i)^response_length/(?:mean|max|min)$|completion(?:s/mean)?_length$")),
    ("turns", re.compile(r""), re.compile(r"(?i)num_turns/mean$")),
    ("rate", re.compile(r"(?i)\b(?:per|each|a|every)[ -](?:gpu|card|worker|device|rank)\b|/\s?(?:gpu|worker|card)|每张?(?:卡|gpu)|单卡|每块卡"), re.compile(r"(?i)^perf/throughput$|tps_gpu$")),
)  # fmt: skip

_HEADS: Final = ("actor", "critic")
_HEAD: Final = re.compile(r"(?i)(?<![\w/])(?P<head>actor|critic)(?![\w/])")
_FORMER: Final = re.compile(r"(?i)前者|\bthe former\b|(?P<latter>后者|\bthe latter\b)")


#: "49 % of the time goes to generation", "3 % 花在 actor 更新上": of what a share is told before it.
_SPENT_ON: Final = re.compile(
    r"(?i)\s*(?P<verb>(?:of (?:the |its |step \d+(?:'s|’s)? |each )?(?:total )?(?:step(?:'s|’s)? )?(?:time|step)?\s*)?(?:goes?|went|going|is spent|are spent|was spent|spent|is taken|was taken|is)?)\s*(?P<to>\bto|\binto|\bon|\bin|\bby|\bfor)?\s*(?:the )?[`*]*$"
    r"|\s*的?\s*(?:时间|耗时|用时)?(?:都|是|则|被)?(?P<zverb>[花用耗]费?在(?:了)?|被|归|属于?)\s*[`*]*$"
)


def spent_on(frame: Frame, q: Quantity) -> Named | None:
    """The part of a step that a share told before it is of: ``49 % of the time goes to generation and 39 % to the update``."""
    if q.unit != "%":
        return None
    shares = [n for n in frame.numbers if n.unit == "%"]
    following = next((n for n in shares if n.start >= q.end), None)
    stop = following.start if following is not None else len(frame.text)
    named = [n for n in frame.names if n.keys and q.end <= n.start < stop]
    if not named:
        return None
    match = _SPENT_ON.fullmatch(frame.text, q.end, named[0].start)
    if match is None or not (match["zverb"] or match["to"]):
        return None
    if match["zverb"] or re.search(r"(?i)go|went|spent|taken", match["verb"] or ""):
        return named[0]
    earlier = shares.index(q)  # "…, 39 % to the update": after one that says so
    return named[0] if earlier and spent_on(frame, shares[earlier - 1]) is not None else None


def _head(text: str, q: Quantity) -> str:
    """``the critic's gradient norm (950) … the actor's (8.1)``: whose metric a number is of."""
    found = [m["head"].lower() for m in _HEAD.finditer(text, 0, q.start)]
    order = list(dict.fromkeys(found))
    former = list(_FORMER.finditer(text, 0, q.start))
    if former and len(order) == 2:
        return order[1 if former[-1]["latter"] else 0]
    return found[-1] if found else ""


def variants(name: Named, text: str, q: Quantity, table: Table) -> list[str]:
    """The keys that a name may mean in a sentence: its own, siblings that a statistic's word asks for, other heads.

    Args:
        name: the name.
        text: the sentence.
        q: the number.
        table: the run.
    """
    columns = table.run.columns
    found = list(name.keys[:6])
    for key in name.keys[:3]:
        head, _, tail = key.rpartition("/")
        if name.exact or tail not in {"mean", "max", "min"}:
            continue
        wanted = [end for end, pattern in _STATISTIC.items() if end != tail and pattern.search(text)]
        found += [f"{head}/{end}" for end in wanted if f"{head}/{end}" in columns]
    if not name.exact and (head := _head(text, q)):
        for key in name.keys[:2]:
            first, _, rest = key.partition("/")
            if first in _HEADS:
                found = [f"{head}/{rest}"] if f"{head}/{rest}" in columns else []
                break
    return list(dict.fromkeys(found))


def headed(names: Sequence[Named], text: str, table: Table) -> list[tuple[str, int]]:
    """The keys that names mean and where, with those of ``the critic's gradient norm … the actor's`` told apart."""
    found = [(name.keys[0], name.start) for name in names]
    heads = list({m["head"].lower(): m.start() for m in reversed(list(_HEAD.finditer(text)))}.items())
    if len(heads) < 2 or len({name.keys[0] for name in names if not name.exact}) != 1:
        return found
    rest = next(name for name in names if not name.exact).keys[0].partition("/")[2]
    own = sorted((at, f"{head}/{rest}") for head, at in heads if f"{head}/{rest}" in table.run.columns)
    return [(key, at) for at, key in own] if len(own) == len(heads) else found


_STOP: Final = frozenset(["mean", "max", "min", "std", "the", "and", "for", "step", "steps", "train", "eval", "val", "test", "actor", "critic", "rewards", "reward", "loss", "time", "timing", "rate", "ratio", "total", "value", "token", "tokens", "num", "perf", "num", "size", "all", "per"])  # fmt: skip
_CHINESE: Final = {"格式": "format", "正确": "correct", "跳过": "skip", "答案": "answer", "边际": "margin", "间隔": "margin", "学习率": "lr", "样本": "sample", "分组": "group", "准确": "accura"}  # fmt: skip


@lru_cache(maxsize=4096)
def _stems(text: str) -> tuple[str, ...]:
    words = [word.lower() for word in re.findall(r"[A-Za-z]{3,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text))]
    words += [stem for chinese, stem in _CHINESE.items() if chinese in text]
    return tuple(re.sub(r"(?:ing|ed|es|s|ly|ions?|imate|acy)$", "", word) for word in words if word not in _STOP)


def resembling(q: Quantity, frame: Frame, table: Table) -> list[tuple[str, int]]:
    """Keys that share telling words with those beside a number ("2.6 for the exact format"), and where those stand.

    A word tells where few keys hold it; of the keys that share most such words, only those are meant.
    """
    start, end = frame.clause_span(q.start)
    around = [
        (frame.text[max([start, *(n.end for n in frame.numbers if n.end <= q.start)]) : q.start], -1),
        (frame.text[q.end : min([end, *(n.start for n in frame.numbers if n.start >= q.end)])], 1),
    ]
    stems = {key: set(_stems(key)) for key in table.run.columns}
    scores: dict[str, float] = {}
    for text, _ in around:
        for stem in set(_stems(text)):
            holders = [key for key, own in stems.items() if any(len(o) > 2 and (o.startswith(stem) or stem.startswith(o)) for o in own)]  # fmt: skip
            families = {re.sub(r"/(?:mean|max|min|std)$", "", key) for key in holders}
            if holders and len(families) <= 3:
                for key in holders:
                    scores[key] = scores.get(key, 0.0) + 1.0 / len(families)
    best = max(scores.values(), default=0.0)
    return [(key, q.start) for key, score in scores.items() if score == best and best > 0.3][:4]


def implied(q: Quantity, frame: Frame, table: Table, beside_it: str = "") -> list[str]:
    """The metrics that a number's unit, with the words around it, may speak of where none is named beside it.

    Args:
        q: the number.
        frame: its sentence.
        table: the run.
        beside_it: a name right beside it that measures something else ("57 s of validation"): only this may be meant.
    """
    found: list[str] = []
    total = table.total_time()
    if q.unit == "s" and total is not None and not beside_it and _OF_STEPS.search(frame.text):
        found.append(total)
    if q.unit in {"%", "ratio", "factor"} and not beside_it:
        clause = frame.clause_text(q.start)
        if total is not None and _LASTS.search(clause):
            found.append(total)
        if re.search(r"(?i)\btokens?\b", clause):
            found += [key for key in ("perf/total_num_tokens", "num_tokens") if key in table.run.columns]
    for unit, beside, keys in _BY_UNIT:
        if (
            unit == q.unit
            and beside.search(beside_it or (frame.clause_text(q.start) if q.unit == "s" else frame.text))
            and (not beside_it or beside.pattern)
        ):
            found += [key for key in table.run.columns if keys.search(key)]
    if q.unit == "tokens" and OF_ONE_SAMPLE.match(frame.text[q.end :]):
        found = [key for key in found if "length" in key]
    return list(dict.fromkeys(found))[:4]
