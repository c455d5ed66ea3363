"""Steps named without "step" or 第 before them: ``12 步时``, ``s25→s67``, ``after 31 updates``, ``倒数第二步``, ``"step": 27``.

A bare ``12 步`` may count steps as well; it names one where the log holds it and the words beside it leave no count.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from assistant.ground.quantities import chinese_number

Found = tuple[int, int, tuple[int, ...], Literal["steps", "range", "pair", "ends"]]
_WORD: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip
_COUNT: Final = rf"(?:\d{{1,6}}|{'|'.join(_WORD)})"
_NUMERAL: Final = r"(?:\d{1,6}|[一二两三四五六七八九十百]{1,4})"

#: ``12 步``, ``12 步到 40 步``, ``1、2、3 三步``.
_STEPS: Final = re.compile(
    r"(?<![\d.第%a-zA-Z])(?<!第\s)(?P<all>\d{1,7}(?:\s*步)?(?:\s*(?:、|，|,|和|与|跟|及|到|至|对比|[-–—~～]|→|->)\s*\d{1,7}(?:\s*步)?)*)(?:\s*这?[两三四五六七八九十]\s*步|(?<=步))"
)
_LEFT: Final = re.compile(
    r"(?:^|[，,。；;：:、（(\[「“\s`*|>]|[在到从自至于与和跟比拿而且截按离是对为后先]|截至|直到|截止|到了|论)\s*$"
)
_COUNTING: Final = re.compile(
    r"(?:步[里中]|共|只?有|只|仅|仅在|只在|前|后|了|每|近|约|连续|超过|不到|至少|另外|其余|隔|过|等|剩|多|跑|训|练|走|满|最后|最近|头|末|第|历时|长达|需要?|还要|再)\s*$"
)
#: What follows a step; after a word such as 到 or 在 anything that counts no steps does.
_RIGHT: Final = re.compile(
    r"\s*(?:时(?!间|长)|的(?!次数|间隔|平均|滑动|移动|窗口|均值)|那|上(?!升|涨)|处|往后|之后|以后|之前|以前|起(?!伏)|开始|为止|到|至|→|->|[-–—~～]|对比|相比|比|跟|与|和|没(?!有一)|总共|一共|里(?!有|只有|共|面有|\s*[，,\d])|[：:）)]|低于|高于|大于|小于|冲|探|见|触|升|降|涨|跌|达|掉|回|攀|滑|飙|走(?!完|了)|报|录|读|最[高低大小长短快慢久]|[花用耗](?:费)?的|\s*[`*≈~约]*[-−]?\d+\.\d|是|为(?![正负])|测|评|这|末|即|$)"
)
_COUNTS_AFTER: Final = re.compile(
    r"\s*(?:(?:里|中|里面|当中|之内|以内|内)(?:有|只有|共|[，,])|(?:都|均|全)?(?:超过|为负|为正)|左右|以上|以下|之多|有余|滑动|平均)"
)
#: ``11 步的一半``, ``50 步九成的时间``: a share of a step, or of its value.
_PART_OF: Final = re.compile(
    r"\s*的\s*(?:约|大约|近)?\s*(?:一半|两倍|[二三四五六七八九十]分之[一二三四五六七八九]|[\d.]+\s*(?:%|％|倍))|\s*(?:[一二三四五六七八九]成|[\d.]+\s*[%％])[^，。；]{0,6}的?(?:时间|耗时|时长)"
)
#: ``在 12 步内``, ``在 5 步上都 …``: so many steps.
_WITHIN: Final = re.compile(
    r"\s*(?:之?内|以内|里|中|之间|间|上|左右|以上|以下|之多|多|有|都|均|全|总|一共|不|没|才|就|后|前|滑动|平均|的(?:时间|窗口|间隔|平均|滑动|范围|移动|均值|次数)|[，,]?\s*(?:共|合计))"
)
_COMPARED: Final = re.compile(r"\s*(?:低于|高于|大于|小于|比|对比|和|与|跟)\s*\d{1,7}\s*步")

#: ``s25→s67``, ``on s61``.
_SHORT: Final = re.compile(
    r"(?<![A-Za-z0-9_.])s(?:\s?=\s?)?(?P<one>\d{1,6})(?:\s*(?P<by>→|->|–|-|~|～|到|至|to|vs\.?)\s*s?(?P<two>\d{1,6}))?(?![A-Za-z0-9_]|\.\d)"
)
_JSON: Final = re.compile(r"""["'](?:global_)?step["']\s*:\s*(\d{1,7})""")
_UPDATES: Final = re.compile(
    r"(?i)\b(?:after|by|following|upon)\s+(?:the\s+)?(\d{1,7})\s+(?:training |optimi[sz]er |gradient |policy |full )?(?:updates|iterations|steps)\b(?! (?:more|later|of|in a row))"
    r"|\bwith (\d{1,7}) (?:training |optimi[sz]er )?(?:updates|iterations|steps) (?:done|behind (?:us|it)|completed|finished|in)\b"
    r"|(?:更新|迭代|训练)\s*(?:了|到|过|满)?\s*(?:第\s*)?(\d{1,7})\s*(?:次|步|轮)\s*(?:之后|以后|后|时)"
    r"|第\s*(\d{1,7})\s*(?:轮|次)\s*(?:迭代|更新|训练)"
)
_BETWEEN: Final = re.compile(
    r"(?i)(?:^\W*|[:;]\s*)(?:between|from) (?P<one>\d{1,7}) (?:and|to) (?P<two>\d{1,7})(?=\s*[:,])"
)
_FOLLOWING: Final = re.compile(
    rf"(?i)\b(?:over|in|within|during|for|across)\s+(?:the\s+)?(?P<n>{_COUNT})\s+(?:steps|iterations|updates)\s+(?:that\s+(?:followed|follow)|(?:right\s+|just\s+)?(?:after|following))\s+(?:step|iteration)?\s*(?P<at>\d{{1,7}})"
    rf"|(?:第\s*)?(?P<zat>\d{{1,7}})\s*步\s*(?:之后|以后|后)的?\s*(?P<zn>{_NUMERAL})\s*步(?:里|内|中|间|之内)?"
)
#: "In the 8 steps from 43 to 51", "Δ entropy from 14 to 35 = -0.02".
_FROM_TO: Final = re.compile(
    rf"(?i)\b(?:over|in|within|during|for|across)\s+(?:the|those|these)\s+(?P<n>{_COUNT})\s+(?:steps|iterations|updates)\s+(?:from|between)\s+(?P<one>\d{{1,7}})\s+(?:to|and)\s+(?P<two>\d{{1,7}})(?!\d*\.\d)"
    r"|(?:Δ|\bdelta\b)[^.;=:\d]{0,48}?\b(?P<from>from\s+(?P<a>\d{1,7})\s+to\s+(?P<b>\d{1,7}))(?=\s*(?:[=:]|is\b|was\b))"
)
_BEFORE_END: Final = re.compile(
    rf"(?i)(?:离|距离?)(?:末步|最后一步|结束|终点)(?:还有|还差|还剩|差)?\s*(?P<zn>{_NUMERAL})\s*步|\b(?P<n>{_COUNT}) (?:steps|updates|iterations) (?:before|from|short of|ahead of) the (?:end|finish|last(?: (?:logged )?(?:step|one))?)\b"
)
_FROM_LAST: Final = re.compile(
    rf"(?i)倒数第\s*(?P<zn>{_NUMERAL})\s*(?:个\s*)?(?:步|step)|\b(?P<pen>penultimate|second[- ](?:to|from)[- ](?:the[- ])?last|next[- ]to[- ]last|last but one)\s+(?:logged\s+|training\s+)?(?:step|iteration|update)\b|\b(?P<third>third)[- ](?:to|from)[- ](?:the[- ])?last\s+(?:step|iteration|update)\b"
)


def bare_places(text: str, steps: Sequence[int]) -> Iterator[Found]:
    """Steps named so, each as ``(start, end, steps, kind)``; those that the log does not hold are left alone.

    Args:
        text: a sentence.
        steps: the run's steps, ascending.
    """
    held = set(steps)
    for match in _FOLLOWING.finditer(text):
        at = int(match["at"] or match["zat"])
        if {at, at + (count := _number(match["n"] or match["zn"]))} <= held:
            yield match.start(), match.end(), (at, at + count), "pair"
    for match in _FROM_TO.finditer(text):
        one, two = int(match["one"] or match["a"]), int(match["two"] or match["b"])
        counted = match["n"] is None or _number(match["n"]) in {two - one, two - one + 1}
        if one < two and {one, two} <= held and counted:
            yield match.start("from") if match["from"] else match.start(), match.end(), (one, two), "pair"
    for match in _FROM_LAST.finditer(text):
        back = _number(match["zn"]) if match["zn"] else 3 if match["third"] else 2
        if 0 < back <= len(steps):
            yield match.start(), match.end(), (steps[-back],), "steps"
    for match in _BEFORE_END.finditer(text):
        if steps and (target := steps[-1] - _number(match["n"] or match["zn"])) in held:
            yield match.start(), match.end(), (target,), "steps"
    for pattern in (_JSON, _UPDATES):
        for match in pattern.finditer(text):
            if (step := int(next(found for found in match.groups() if found))) in held:
                yield match.start(), match.end(), (step,), "steps"
    for match in _BETWEEN.finditer(text):
        if int(match["one"]) < int(match["two"]) and {int(match["one"]), int(match["two"])} <= held:
            yield match.start("one"), match.end(), (int(match["one"]), int(match["two"])), "range"
    for match in _SHORT.finditer(text):
        named = tuple(int(step) for step in (match["one"], match["two"]) if step)
        if set(named) <= held:
            kind: Literal["steps", "pair", "range"] = "steps" if len(named) == 1 else "pair" if match["by"] in {"→", "->", "vs", "vs."} else "range"  # fmt: skip
            yield match.start(), match.end(), named, kind
    for match in _STEPS.finditer(text):
        named = tuple(int(word) for word in re.findall(r"\d+", match["all"]))
        if set(named) <= held and _names(text, match, named, len(steps)):
            rest = re.sub(r"[\d\s步]", "", match["all"])
            if rest in {"对比", "比"}:  # against the second
                yield match.start(), match.end(), named[::-1], "pair"
                continue
            span = len(named) == 2 and named[0] < named[1] and rest in {"到", "至", "-", "–", "—", "~", "～"}
            arrow = len(named) == 2 and rest in {"→", "->", "到", "至"}
            yield match.start(), match.end(), named, "range" if span else "pair" if arrow else "steps"


def _names(text: str, match: re.Match[str], named: tuple[int, ...], count: int) -> bool:
    """Whether ``12 步`` names a step rather than counts steps."""
    left, right = text[max(0, match.start() - 8) : match.start()], text[match.end() : match.end() + 24]
    if re.search(
        r"第\s*\d+\s*步?\s*(?:、|，|,|和|与|跟|及|到|至|[-–—~～]|→|->)\s*$",
        text[max(0, match.start() - 16) : match.start()],
    ):
        return False  # "第 3、25、44 步": named from its first number on
    if len(named) > 1:
        return not _COUNTING.search(left) or bool(re.search(r"第\s*$|只在\s*$", left))
    if re.search(r"(?:落|出现|发生|位于|处|达到|见于)[在于]\s*$", left) or _PART_OF.match(right):
        return True
    if re.search(r"最[高低大小长短快慢][^，。；\d]{0,3}[是为]\s*$", left):
        return True
    if re.search(r"[在于]\s*$", left) and not re.search(r"[仅只正位存现]在\s*$", left) and not _WITHIN.match(right):
        return True
    if re.search(r"在\s*$", left) and re.match(r"\s*[里内](?!，)", right):
        return False  # "在 87 步里顶到 8096": so many
    if _COUNTING.search(left) or _COUNTS_AFTER.match(right) or not _LEFT.search(left):
        return False
    if _COMPARED.match(right) or re.search(r"[到从自至于与和跟比拿]\s*$|截至\s*$|直到\s*$", left):
        return True
    return bool(_RIGHT.match(right)) and not (named[0] == count and re.match(r"\s*(?:总共|一共)", right))


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORD.get(word.lower()) or chinese_number(word)
