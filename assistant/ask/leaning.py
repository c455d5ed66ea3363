"""A follow-up that leans on what was told before, put so that it stands alone: "这三步的 reward", "比上一步呢"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.query import State
from assistant.ask.steps import NUMBER_WORDS, chinese_number
from assistant.model import Run

#: Longer follow-ups say themselves what they mean.
_LONGEST: Final = 60
#: So many steps at most are kept of an answer.
MOST_TOLD: Final = 8
_THESE: Final = re.compile(
    r"(?i)(?:这|那|上面(?:的)?(?:这|那)?)(?P<zh>\d{1,2}|[两二三四五六七八])\s*(?:个)?\s*(?:步|steps?)(?!以|之|后|前)"
    r"|\b(?:at |on |in |for )?(?:those|these|the same)(?: (?P<en>\d{1,2}|two|three|four|five|six|seven|eight))? steps\b"
)
_NEIGHBOUR: Final = re.compile(
    r"(?i)^\W*(?:那|那么|它)?\s*(?:跟|和|与|同|比起?|较|相比于?|相对于?)\s*(?:它|其|这|那)?(?:一步)?的?\s*(?:前|上)(?:面)?的?(?:那)?一?"
    r"(?:个)?\s*(?:步|step|次)"
    r"|^\W*(?:and |so )?(?:vs\.?|versus|than|against|compared? (?:to|with)|relative to)\s+(?:the )?"
    r"(?:(?:step|one) (?:right |just )?before(?: (?:it|that))?|previous (?:step|one))\W*$"
)
_WINDOW: Final = re.compile(
    r"(?i)^\W*(?:那|那么)?\s*(?:比|跟|和|与|较|相对于?|相比于?)\s*(?:最?前|头|开头|最初|最开始)(?:的)?\s*\d{1,6}\s*(?:个)?\s*步"
    r"|^\W*(?:and |so )?(?:than|vs\.?|versus|against|compared? (?:to|with))\s+(?:over |in )?"
    r"the (?:first|initial) \d{1,6}(?: steps)?\W*$"
)
#: "Why is it going up?", "为什么降": of the metric that was asked about.
_WHY_MOVED: Final = re.compile(
    r"(?i)^\W*(?:那|那么|它|所以|but |and |so )?\s*(?:(?:为什么|为啥|为何|怎么)(?:会|就|一直|突然|它|还|越来越)*"
    r"(?:在)?(?:往?[上下])?[涨升降跌掉变飙崩][\u3400-\u9fff]{0,4}"
    r"|why (?:is|was|does|did|do|has) (?P<it>it|that|this) (?:\w+ ){0,2}"
    r"(?:going|go|rising|rise|falling|fall|dropping|drop"
    r"|increas\w+|decreas\w+|gone|moving|up|down|growing|grow|shrinking|climbing|so (?:high|low))[a-z ]{0,16})\W*$"
)
#: "And the max there?": over what was asked about, rather than at the one step that was told.
_STATISTIC_THERE: Final = re.compile(
    r"(?i)^\W*(?:and |what about |how about |then )?(?:the |its )?"
    r"(?P<what>max(?:imum)?|min(?:imum)?|mean|average|median|highest|lowest)"
    r"(?: value)?(?P<there> (?:there|in there|in that (?:range|part|stretch)|over that|over there))\W*$"
)
#: "主机的呢", "and the host?": the same of the other memory.
_OF_HOST: Final = re.compile(
    r"(?i)^\W*(?:那|那么|and|what about|how about)?\s*(?:the |on the )?"
    r"(?:(?P<host>主机|宿主机|host|cpu|系统内存|内存)|(?P<card>显卡|显存|gpu|卡上?))\s*(?:的|上的|memory)?\s*(?:呢|是?多少|用了多少)?\W*$"
)
_MEMORY: Final = re.compile(r"(?i)mem(?:ory)?(?:$|[_/])|vram|rss")
_ON_HOST: Final = re.compile(r"(?i)cpu|host|rss|ram(?:$|[_/])(?<!vram)")


def stands_alone(text: str, state: State, run: Run) -> str:
    """A follow-up as a question of its own, where what it leans on is plain; the text itself where it is not.

    Args:
        text: the follow-up, normalised.
        state: what the conversation carries.
        run: the log.
    """
    before = state.query
    if before is None or not before.mentions or len(text) > _LONGEST:
        return text
    keys = [m.key for m in before.mentions if m.key is not None]
    match = _THESE.search(text)
    if match is not None and 2 <= len(state.told) <= MOST_TOLD:
        said = match["zh"] or match["en"]
        count = None if said is None else NUMBER_WORDS.get(said.lower()) or _count(said)
        if count is None or count == len(state.told):
            listed = ("、" if match["zh"] else ", ").join(str(step) for step in sorted(state.told))
            named = f"step {listed}" if match["zh"] else f"at steps {listed}"
            return f"{text[: match.start()]} {named} {text[match.end() :]}".strip()
    if len(keys) != 1:
        return text
    chinese = re.search(r"[\u3400-\u9fff]", text) is not None
    if (why := _WHY_MOVED.search(text)) is not None:
        return f"{keys[0]} {text}" if chinese else f"{text[: why.start('it')]}{keys[0]}{text[why.end('it') :]}"
    if (there := _STATISTIC_THERE.search(text)) is not None:
        return text[: there.start("there")] + text[there.end("there") :]
    if (memory := _OF_HOST.search(text)) is not None and _MEMORY.search(keys[0]):
        host = memory["host"] is not None
        other = next(
            (m for m in run.metrics if _MEMORY.search(m) and (_ON_HOST.search(m) is not None) == host and m != keys[0]),
            None,
        )
        if other is not None and (_ON_HOST.search(keys[0]) is not None) != host:
            return f"{other} 呢" if chinese else f"and {other}?"
    at = _step_told(state)
    if at is not None and _NEIGHBOUR.search(text):
        held = [step for step in run.series(keys[0])[0] if step < at] if keys[0] in run.columns else []
        if held:
            return f"{keys[0]} step {held[-1]} {'和' if chinese else 'vs'} step {at}{' 比' if chinese else ''}"
    if before.steps.kind == "last_n" and _WINDOW.search(text):
        n = before.steps.values[0]
        return (
            f"{keys[0]} 最后 {n} 步的平均值{text}" if chinese else f"mean of {keys[0]} over the last {n} steps {text}"
        )
    return text


def _count(said: str) -> int:
    return int(said) if said.isdigit() else chinese_number(said)


def _step_told(state: State) -> int | None:
    """The one step that the last answer was about."""
    if state.step is not None:
        return state.step
    return state.steps.values[0] if state.steps.kind == "single" else None


def told_steps(steps: Sequence[int | None]) -> tuple[int, ...]:
    """The steps that an answer tells, where they are few enough to be pointed to; else none."""
    held = tuple(dict.fromkeys(step for step in steps if step is not None))
    return held if 2 <= len(held) <= MOST_TOLD else ()
