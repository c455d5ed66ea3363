"""A break that a question puts at a step, and where the log shows it: "工具第 20 步就挂了" of one that began at 42."""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis.checks import Check
from assistant.ask.context import Context
from assistant.ask.departures import all_checks, began
from assistant.ask.naming import named_keys
from assistant.ask.wording import normalised

_BROKE: Final = (
    "(?:挂|崩|坏|炸|垮|塌|废|失效|罢工|宕机?|出(?:了)?(?:问题|毛病|故障|异常|状况|岔子)|不(?:对劲|正常)|失灵|失控|跑飞)"
)
_AT: Final = re.compile(
    rf"(?i)(?:第\s*|step\s*)(?P<zh>\d{{1,7}})\s*步?\s*(?:左右|上下|附近|那会儿?|的时候)?"
    rf"\s*(?:就|才|时|开始|便|已经?)*\s*{_BROKE}"
    r"|\b(?:broke(?: down)?|died|failed|crashed|collapsed|went (?:down|wrong|bad)|fell over|started failing)\s+"
    r"(?:at|from|around|by|since)\s+(?:about\s+)?step\s+(?P<en>\d{1,7})"
)
_ASKED_WHEN: Final = re.compile(
    r"(?i)[哪几](?:一)?步|什么时候|何时|\bwhen\b|\bwhich step\b|如果|要是|假如|\bif\b|没有?(?:挂|崩|坏)"
)
_TOOLS: Final = re.compile(r"(?i)工具|沙箱|\btools?\b|sandbox")
#: So many steps, or this share of the run, a claimed onset may be off.
_NEAR_STEPS: Final = 3
_NEAR_SHARE: Final = 0.06


def denied(context: Context) -> str:
    """That what was said to break at a step had not broken there, and what the log shows later; empty otherwise."""
    text = normalised(context.query.wording or context.query.text)
    match = _AT.search(text)
    if match is None or len(context.runs) != 1 or _ASKED_WHEN.search(text):
        return ""
    step = int(match["zh"] or match["en"])
    if step not in context.run.distinct_steps:
        return ""
    found = [(at, check) for check in _about(context, text) if (at := began(context, check)) is not None]
    if not found:
        return ""
    at, check = min(found, key=lambda pair: pair[0])
    near = max(_NEAR_STEPS, _NEAR_SHARE * len(context.run.distinct_steps))
    if at - step <= near:
        return ""
    return context.say("put.not_yet", step=step, first=context.finding(check))


def _about(context: Context, text: str) -> list[Check]:
    """The grave findings about what the question names: tools, a metric, or the run as a whole."""
    grave = [check for check in all_checks(context) if check.severity in {"critical", "warning"}]
    if _TOOLS.search(text):
        return [check for check in grave if any("tool" in metric for metric in check.metrics)]
    keys = {key for key in named_keys(context) if key in context.run.columns}
    return [check for check in grave if keys & set(check.metrics)] if keys else grave
