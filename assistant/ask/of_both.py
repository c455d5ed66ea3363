"""Follow-ups about what the last turns told one after the other: two metrics, two steps, the highest and the lowest.

"两个 correlate 吗", "哪个先掉的", "ratio?" and "占整步多少" name neither the metrics nor the steps that they are about.
Each is put as a question of its own (:mod:`assistant.ask.restated`).
"""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis.timing import layout_of, stage_keys
from assistant.ask.differing import one_step
from assistant.ask.logged import STEP_TIME, TIMED
from assistant.ask.metrics_named import metrics_named
from assistant.ask.query import Query, State
from assistant.knowledge import Resolver
from assistant.model import Run

#: Longer follow-ups say themselves what they mean.
_LONGEST: Final = 40
_LEAD: Final = r"^\W*(?:(?:那么?|所以|so|and|then|but)\W*)*"
_TWO: Final = (
    r"(?:(?:are|do|is|did|does) )?(?:(?:the|these|those) two(?: of them)?|they|them|both|it)?\s*"
    r"(?:(?:这|那|它们|他们|它)?(?:两|俩)?(?:个|者|条|个?指标)?(?:之间)?)?\s*"
)
_CORRELATED: Final = re.compile(
    rf"{_LEAD}{_TWO}(?:是不是|是否|有没有|有|会不会)?\s*(?:正|负|强)?(?:相关(?:性|关系)?|关联|联系|同步|同涨同跌|反着走"
    r"|一起(?:动|走|变)|correlat\w*|related|mov(?:e|ing) together|go(?:ing)? together|track each other)"
    r"\s*(?:吗|么|不|没有?|高吗|强吗|有多强|of them|with each other)?\W*$",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    rf"{_LEAD}(?:是)?(?:哪一?个|谁|哪边|which(?: one)?|who)\s*(?:是|开始|最)?\s*"
    r"(?:先(?:开始)?(?P<zh>[掉降跌崩塌坏垮]|[涨升炸爆飙]|[动变])[了坏掉]?(?:的|呢|啊)?"
    r"|(?P<en>dropp?ed|drops|fell|falls|collapsed|crashed|broke|went down|rose|rises|jumped|spiked|moved|changed)"
    r" (?:first|earlier))\W*$",
    re.IGNORECASE,
)
_MOVES: Final = {"掉降跌崩塌坏垮": "跌", "涨升炸爆飙": "涨"}
_RATIO: Final = re.compile(
    rf"{_LEAD}(?:what(?:'s| is| was) )?(?:the )?(?:ratio|factor)"
    r"(?: (?:of (?:the two|them|both)|between (?:them|the two)))?"
    r"\s*(?:是?多少|呢)?\W*$"
    rf"|{_LEAD}(?:这|那|它们)?(?:两|俩)?(?:个|者|步)?(?:之|的)?(?:比值?|比例|倍数)(?:是)?(?:多少|几)?(?:呢)?\W*$"
    rf"|{_LEAD}(?:这|那|它们)?(?:两|俩)?(?:个|者|步)?(?:之间)?(?:相?差|是)(?:了)?(?:几|多少)倍\W*$"
    rf"|{_LEAD}(?:by )?(?:what|which) factor(?: apart)?(?: (?:are they|is (?:it|that)))?\W*$",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    rf"{_LEAD}(?:这|它)?\s*(?:这?大概|大约)?占(?:了)?\s*"
    r"(?:整?个?\s*(?:步|step)|一步|总时?长?|total|step[_ ]?(?:time|total)|全部)?"
    r"(?:的)?(?:时间|耗时|总?时长|time)?\s*(?:里|的)?\s*(?:(?:是)?(?:多少|几成|百分之?(?:几|多少)|比例|占比|几个?点|percent\w*)"
    r"|(?:的)?(?:percent\w*|share))\W*$"
    rf"|{_LEAD}(?:what |which |how much )?(?:share|fraction|percent(?:age)?|part|proportion|much)? ?of (?:the |that )?"
    r"(?:whole )?step(?: time)?(?: (?:is|was) (?:that|it|this))?\W*$",
    re.IGNORECASE,
)
_AGAINST_STEP: Final = re.compile(
    rf"{_LEAD}(?:vs\.?|versus|against|compared? (?:to|with)|than)\s*(?:step\s*|第\s*)?(?P<en>\d{{1,7}})\s*步?"
    r"\s*(?:呢|的)*\W*$"
    rf"|{_LEAD}(?:和|跟|与|同|比起?|对比)\s*(?:step\s*|第\s*)?(?P<zh>\d{{1,7}})\s*步?(?:的)?\s*(?:相?比|对比|比较)"
    r"(?:一下)?(?:呢|如何|怎么?样)?\W*$",
    re.IGNORECASE,
)
_SIGNIFICANT: Final = re.compile(
    rf"{_LEAD}(?:这|它)?(?:变化|差别|差距|涨幅|降幅|is (?:that|it|this)|this|that)?\s*(?:算|是|算不算|是不是)?\s*"
    r"(?:显著|significant|超出噪声|beyond noise|(?:a )?real(?: change)?|噪声|noise|just noise|进步|improvement"
    r"|变好|变差|提升|退步)"
    r"\s*(?:吗|么|不|吧|了吗|还是噪声)?\W*$",
    re.IGNORECASE,
)
_EXTREMES: Final = frozenset({"max", "min", "argmax", "argmin"})


def of_what_was_told(text: str, state: State, run: Run, resolver: Resolver, *, zh: bool) -> str | None:
    """A few words about what the turns before told, as a question of its own; ``None`` where they are none of these.

    Args:
        text: the follow-up, normalised.
        state: what the conversation carries.
        run: the log.
        resolver: from names to cards.
        zh: whether the question is to be in Chinese.
    """
    before = state.query
    if before is None or len(text) > _LONGEST or before.runs:
        return None
    now = _keys(before.mentions, run)
    both = list(dict.fromkeys([*_keys(before.beside, run), *now]))
    if len(both) == 2 and (said := _of_two_metrics(text, *both, zh=zh)) is not None:
        return said
    if len(now) != 1 or (_RATIO.match(text) is None and _others(text, now[0], run, resolver)):
        return None  # "ratio?" names no metric, whatever ratios the log holds
    return _of_one(text, before, state, now[0], run, zh=zh)


def _keys(mentions: tuple[object, ...], run: Run) -> list[str]:
    return list(dict.fromkeys(m.key for m in mentions if m.key in run.columns))  # type: ignore[attr-defined]


def _others(text: str, key: str, run: Run, resolver: Resolver) -> bool:
    """Whether a text names another metric than the one talked of, the step's own time left aside."""
    named = {m.key for m in metrics_named(text, resolver, run)} - {None, key, *STEP_TIME}
    return any("step_total" not in str(name) for name in named)


def _of_two_metrics(text: str, one: str, other: str, *, zh: bool) -> str | None:
    """How two metrics that were told one after the other go together, or which moved first."""
    if _CORRELATED.match(text):
        return f"{one} 和 {other} 相关吗" if zh else f"are {one} and {other} correlated"
    if (first := _FIRST.match(text)) is not None:
        if first["en"]:
            return f"which {first['en']} first, {one} or {other}"
        move = next((word for signs, word in _MOVES.items() if first["zh"] in signs), "")
        return f"{one} 和 {other} 哪个先{move or '变'}"
    return None


_BARE_STAGE: Final = re.compile(
    rf"{_LEAD}(?:what about|how about|the)?\s*"
    r"(?P<stage>gen|old_log_prob|update_actor|update_weights|rollout)\s*(?:的)?(?:呢)?\W*$",
    re.IGNORECASE,
)


def _of_one(text: str, before: Query, state: State, key: str, run: Run, *, zh: bool) -> str | None:
    """What is asked of the steps or the extremes of one metric."""
    here = state.step if state.step is not None else one_step(before, run)
    if _RATIO.match(text) and before.threshold is None:
        if before.op in _EXTREMES:
            return f"{key} 的最大值是最小值的几倍" if zh else f"ratio of the max of {key} to its min"
        ends = _ends(before)
        if ends is not None:
            a, b = ends
            said = f"{key} 从 step {a} 到 step {b} 变化了几倍"
            return said if zh else f"by what factor did {key} change from step {a} to step {b}"
    bare = _BARE_STAGE.match(text) if here is not None and before.op is None else None
    if bare is not None and not _timed(run):  # the times of the log are cut off
        return f"step {here} 的 {bare['stage']} 时间" if zh else f"{bare['stage']} time at step {here}"
    timed = key.startswith(TIMED) and key not in STEP_TIME
    if timed and here is not None and before.op is None and _SHARE.match(text):
        return f"step {here} 的 {key} 占一步的百分之多少" if zh else f"what share of step {here} is {key}"
    told = before.op is None and before.threshold is None and here is not None
    if told and (against := _AGAINST_STEP.match(text)) is not None:
        step = int(against["en"] or against["zh"])
        if step != here and step in run.series(key)[0]:
            a, b = sorted((int(here or 0), step))
            return f"{key} step {a} 和 step {b} 比" if zh else f"compare {key} at step {a} and step {b}"
    if before.threshold is None and before.op is None and _SIGNIFICANT.match(text):
        ends = _ends(before)
        if ends is not None:
            a, b = ends
            return (
                f"{key} 从 step {a} 到 step {b} 的变化显著吗"
                if zh
                else (f"is the change of {key} from step {a} to step {b} significant")
            )
    return None


def _timed(run: Run) -> bool:
    """Whether the log tells the time of any stage."""
    layout = layout_of(run)
    return layout is not None and bool(stage_keys(run, layout))


def _ends(before: Query) -> tuple[int, int] | None:
    """The two steps that the turns before told, the earlier one first."""
    if before.steps.kind in {"pair", "range"} and len(before.steps.values) == 2:
        a, b = before.steps.values
    elif len(before.line) > 1 and before.steps.kind in {"single", "first", "last"}:
        a, b = before.line[-2:]
    else:
        return None
    return (min(a, b), max(a, b)) if a != b else None


__all__ = ["of_what_was_told"]
