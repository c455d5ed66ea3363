"""Steps, counts and limits that a question names, in figures and in Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from assistant.ask.epochs import epochs, rows, validations
from assistant.ask.sparse import since_last
from assistant.ask.steplists import Mark, both_ends, listed, loose, other_side, set_against, span
from assistant.model import Run, StepSlot

SLOWEST_STEP = re.compile(
    r"(?i)哪(?:一|几|\s?\d{1,3}\s?)?(?:个)?\s?(?:步|step).{0,4}(?:最慢|最耗时|最快)"
    r"|最(?:慢|快|耗时)的?\s*(?:\d+|[一二两三四五六七八九十])?\s*(?:个)?\s*(?:步|step)"
    r"|最(?:慢|快|耗时|久)的?\s*(?:是|在|出现在)?\s*(?:哪|第几)(?:一)?(?:个)?\s*(?:步|step)"
    r"|which step (?:was|is|took).{0,12}(?:slowest|fastest|longest)"
    r"|比.{0,14}(?:慢|快)|变(?:慢|快)了?|(?:慢|快)了(?:多少|几|百分)|\b(?:slower|faster)\b"
)
_DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_NUMERAL = r"[零一二两三四五六七八九十百千]{1,7}"
_CHINESE_STEP = re.compile(
    rf"(倒数第|第|倒数|前|最近|过去|近|最后|打头|最?开头|[最刚一]?开始|头|最初|末尾|结尾|收尾|末|后|接下来|再训练?|再跑)(?:的)?({_NUMERAL})(\s*(?:个\s*)?(?:步|step|轮|epoch|行|条(?:记录|数据|日志)))"
)
_CHINESE_AFTER = re.compile(
    rf"(?<![第前后近末头零一二两三四五六七八九十百])({_NUMERAL})(\s*步\s*(?:以后|之后|以来|往后|之前|以前))"
    r"|(?<![零一二两三四五六七八九十百第])([一二两三四五六七八九]?[十百][零一二三四五六七八九十]{0,3})(\s*步)"
)
_CHINESE_SECONDS = re.compile(rf"({_NUMERAL})(?=\s*(?:多)?(?:秒|分钟|小时))")
#: A limit in words: "超过一千二", "低于三百".
_CHINESE_LIMIT = re.compile(
    r"((?:[超高长多大]过|(?<![不经通错走来去])过(?=[百千万])|超|[高低大小少多短]于|[突跌冲打]?破|不到|不足|达到?)\s*)([一二两三四五六七八九]?[十百千万][零一二三四五六七八九十百千万]{0,7})"
    r"(?![个成\d])"
)
#: So many of the largest or smallest: "最高的前三步", "最慢的五个"; the steps of the run's start are "前三步里最高的".
_CHINESE_TOP = re.compile(
    r"(最[高大低小长短多少快慢好差])(?:的)?(?:前(?:面)?(?:的)?\s*([二两三四五六七八九十]|\d{1,3})|那?([二两三四五六七八九十]))(\s*(?:个|步|次|名|位))"
)
#: "前一个 10 步", "上一段 50 步": the steps right before those just named.
_CHINESE_PRIOR = re.compile(r"(?:再?前|上)(?:面)?(?:的)?(?:那)?一(?:个|段)\s*(\d{1,5})\s*(?=步)")
#: Figures and a power of ten in words: "2 万", "1.5 千".
_TIMES_TEN = re.compile(r"(?<![\d.])(\d{1,6}(?:\.\d{1,4})?)\s?([百千万])(?![分\d百千万亿一二两三四五六七八九])")
_FIGURE_SHARE = re.compile(r"百分之\s?(\d{1,6}(?:\.\d{1,6})?)(?!\s?[%％])")
_POWERS = {"百": 100, "千": 1000, "万": 10000}
_CHINESE_SHARE = re.compile(rf"(百|千|万)分之({_NUMERAL})(?:点([零一二三四五六七八九]{{1,6}}))?")
_PERCENT_OF = {"百": 1.0, "千": 0.1, "万": 0.01}
#: "从后往前数第五步": counted from the end.
_FROM_BEHIND = re.compile(
    r"从?(?:最?后|末尾|结尾|尾巴|尾|末)(?:面|头|端)?(?:开始)?(?:往|向|朝)(?:前|回|上)(?:倒?数)?(?:的|到)?\s*第?"
    r"(?=\s*[\d一二两三四五六七八九十])"
)
#: "二步 mfu" is the second, while "两步" and "三步" may be so many.
_SECOND = re.compile(r"(?<![第前后近末头零一二两三四五六七八九十百千\d到至~-])二(?=\s*步(?!走|骤|到位))")
_CHINESE_TENTHS = re.compile(
    r"([一二两三四五六七八九])成(?:([一二三四五六七八九])(?![零一二三四五六七八九十]))?(?![功为本员立长分了绩果套])"
)
_CHINESE_POINT = re.compile(r"零点([零一二三四五六七八九]+)")
#: "14 步里的平均值": over so many steps, not at that one.
_CHINESE_WITHIN = re.compile(
    r"(?<![第前后近末头\d到至~-])(?<![第前后近末头到至]\s)(\d{1,7})\s*(?:个)?步(?=(?:之|以)?[里内中](?!间)"
    r"(?!\s*,(?![^?]{0,40}(?:平均|均值|中位|最|哪|总|一共|几步|几次|多少步|多少次|\b(?:max|min|mean|avg)\b))))"
)
_CHINESE_RANGE = re.compile(rf"(第?)({_NUMERAL})(\s*步?\s*[到至~-]\s*第?)({_NUMERAL})(\s*步)")
_NEXT_STEP = re.compile(r"\s*(?:,\s*and|,|、|和|与|跟|到|and|&|vs\.?|/)\s*(\d+)(?![\d.%])(?!\s*(?:steps?|张|个|次|秒))")
_WORDS = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"""
_VALUES = [*range(1, 21), *range(30, 101, 10)]
_ENGLISH = dict(zip(_WORDS.split(), _VALUES, strict=True)) | {"dozen": 12, "couple of": 2}
NUMBER_WORDS = _ENGLISH
"""English number words, lower case."""
_ENGLISH_WORD = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_ENGLISH_COUNT = re.compile(
    rf"(?i)\b(last|first|recent|final|past|next|latest|initial|previous|opening|closing|trailing|ending"
    rf"|starting)\s+({_ENGLISH_WORD})\s+"
    r"((?:training |logged |val\w* |eval\w* |test )?(?:steps?|iterations?|updates?|timings?|readings?|scores|values?"
    r"|rows?|points?|evals?|evaluations?|validations?|results|numbers|losses|accuracies|rewards))\b"
)
_ENGLISH_FEW = re.compile(
    rf"(?i)\b(last|past|latest|first|final|initial)\s+({_ENGLISH_WORD})\b"
    r"(?=\s*(?:[,.?!]|$|\b(?:on|in|of|for|by|vs|against|versus|and|to)\b))"
)
_ENGLISH_BEFORE_END = re.compile(
    rf"(?i)\b({_ENGLISH_WORD}) ((?:steps?|iterations?) (?:ago|back\b|(?:before|from) the (?:very )?(?:end|last)"
    r"|before (?:the |this |my |our )?(?:run|training|log|job|it|things) (?:end|stop|finish|break|broke|die)))"
)
_ENGLISH_STEP = re.compile(rf"(?i)\b(step|iteration|epoch)\s+({_ENGLISH_WORD})\b")
_ZERO = re.compile(r"(?i)\b(to|hits?|reach(?:es|ed)?|touch(?:es|ed)?) zero\b")
#: "over a quarter" of what is itself a share: a limit of 25%.
_FRACTIONS = {
    "half": 1 / 2, "quarter": 1 / 4, "third": 1 / 3, "fifth": 1 / 5, "tenth": 1 / 10, "two thirds": 2 / 3,
    "three quarters": 3 / 4, "一半": 1 / 2, "半数": 1 / 2, "三分之一": 1 / 3, "三分之二": 2 / 3, "四分之一": 1 / 4,
    "四分之三": 3 / 4, "五分之一": 1 / 5, "十分之一": 1 / 10,
}  # fmt: skip
_FRACTION_LIMIT = re.compile(
    r"(?i)\b((?:over|above|under|below|than|past|hit|hits|reach(?:es|ed)?|exceed(?:s|ed)?|pass(?:es|ed)?"
    r"|cross(?:es|ed)?|at least|at most|top(?:s|ped)?))"
    r"\s+(?:an? |one )?(half|quarter|third|fifth|tenth|two[- ]thirds"
    r"|three[- ]quarters)\b(?!\s*(?:of (?!(?:the |all )?(?:answers|responses|completions|samples|trajectories"
    r"|rollouts|prompts|groups|tokens))|its\b|the\b|what\b|an? |as\b|hour|minute|million|time))"
)
#: "over one in ten answers": the same, said by counting.
_ONE_IN = re.compile(
    r"(?i)\b((?:over|above|under|below|than|past|hit|hits|reach(?:es|ed)?|exceed(?:s|ed)?|pass(?:es|ed)?|at least"
    r"|at most))\s+(?:about )?(one|two|three|1|2|3) (?:in|out of)(?: every)? "
    r"(two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|\d{1,3})\b"
)
_COUNTS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twenty": 20, "fifty": 50, "hundred": 100,
}  # fmt: skip
_CHINESE_FRACTION_LIMIT = re.compile(
    r"(超过|高于|大于|多于|低于|小于|少于|不到|不足|跌破|突破|达到|涨到|升到|降到|跌到|掉到|(?<!超)过)了?\s*(一半|半数|[三四五十]分之[一二三])(?!的?(?:步|时间|step))"
)
#: "降到一半": of what it began with, and no half of a share.
_CHINESE_FALL_TO = re.compile(
    r"((?:降|跌|掉|减|缩|缩短|衰减|下降)到了?(?:只有|只剩)?)\s*(一半|[三四五十]分之[一二三])(?!以下|以上|的?步|时间)"
)
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
    "sixth": 6, "6th": 6, "seventh": 7, "7th": 7, "eighth": 8, "8th": 8, "ninth": 9, "9th": 9, "tenth": 10, "10th": 10,
}  # fmt: skip
_ENGLISH_ORDINAL = re.compile(
    r"(?i)\b(second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|2nd|3rd|[4-9]th|10th|\d{2,}(?:th|st|nd"
    r"|rd))\s+"
    r"(step|iteration|epoch)\b(?!\s*(?:from|to))"
)
_HUNDRED = re.compile(r"(?i)\b(?:a|one) hundred\b(?=\s+(?:steps?|iterations?))")
_FIRST_EPOCH = re.compile(r"(?i)\bfirst epoch\b")
_A_MINUTE = re.compile(r"(?i)\b(over|above|than|under|below|past|exceed\w*)\s+(?:an?|one)\s+(minute|hour)\b")
#: "than at the start": the start is what the end is compared with.
_AGAINST_FIRST = re.compile(
    r"(?i)(?:比|跟|和|与|同|较|相对).{0,6}(?:开始|最初|初始|起初|一开始|起点|step ?0|训练前|第一)"
    r"|\bthan (?:at |in )?(?:the )?"
    r"(?:start|beginning|first|initial|before)|(?:compared|relative) (?:to|with) (?:the )?(?:start"
    r"|beginning|first|initial)"
    r"|since (?:the )?(?:start|beginning)"
)
#: "after step 40": from there to the end.
_FROM_ON = re.compile(
    r"(?i)(?:第\s*)?(\d{1,7})\s*(?:步|steps?)\s*(?:以后|之后|以来|往后|后面)(?!.{0,4}(?:会|能))"
    r"|\bsteps?\s*(\d{1,7})\s*(?:以后|之后|以来|往后)(?!.{0,4}(?:会|能))"
    r"|\b(?:happen\w*|chang\w*|wrong|occurr?\w*|going on)\b.{0,8}\b(?:after|since"
    r"|from) (?:step (\d{1,7})\b(?! (?:to|until|through))|(\d{1,7}) on(?:wards?)?\b)"
    r"|\b(?:after|since|from) step (\d{1,7})\b(?: on(?:wards?)?)?"
    r"(?!\s*(?:to|until|through|-|~|到))(?=.{0,40}(?:trend|move|change|stable|flat|mean|average|max|min|rise|fall"
    r"|drop))"
)
#: "before step 40", of a mean or an extreme: from the start to the step before.
_UP_TO = re.compile(
    r"(?i)(?:第\s*)?(\d{1,7})\s*(?:步|steps?)\s*(?:之前|以前|前(?![一二两三四五六七八九十\d后面半头]))(?=.{0,12}(?:平均|均值|最|max|min|mean|avg|average|峰|趋势|走))"
    r"|\b(?:before|prior to|until|up to) step (\d{1,7})\b"
)
#: Where the log's step 0 holds what was measured before training.
_UNTRAINED = re.compile(
    r"(?i)\b(?:before|prior to) (?:any |the |all )?(?:rl |actual )?training\b|\buntrained\b|\bbefore (?:it|we"
    r"|the model) (?:was )?(?:start|train|learn)\w*"
    r"|(?:训练|开训|训)(?:开始)?(?:之)?前|还?没(?:有)?(?:开始)?(?:训|训练)(?:过)?(?:的)?(?:时|之前|前|模型|那)"
)
_SUMMED_UP = re.compile(
    r"(?i)平均|均值|最[大高小低长短多少快慢好差]|峰|趋势|走势|\b(?:mean|average|avg|max\w*|min\w*|peak|highest|lowest|trend|best|worst)\b"
)

_SO_FAR = re.compile(r"(?i)目前|到现在|到目前|至今|迄今|截[至止](?:目前|现在)?|\bso far\b|up to now|until now")
_TOTAL = re.compile(r"(?i)总共|一共|总计|共计|累计|合计|\b(?:in total|altogether|overall|total)\b")
_EXTREME = re.compile(
    r"(?i)最[大高低小长短多少快慢好差佳优久]|峰|\b(?:best|worst|highest|lowest|longest|shortest|slowest|fastest|max|min|peak)\b"
)

#: A few of the last or the first, in Chinese numerals: "最近三次", "前两个值".
_FEW = re.compile(
    r"(?:(?<=最近)|(?<=最后)|(?<=过去)|(?<=末尾)|(?<=开头)|(?<=最初))(?:的)?[二两三四五六七八九十]{1,3}(?=\s*(?:次|个|条|步|点))"
)


def step_marks(text: str, rules: dict[str, Any], run: Run | None) -> tuple[StepSlot, tuple[Mark, ...]]:
    """The steps that a question names, as a slot, and where each stands.

    Args:
        text: the question, Chinese numerals already in figures (:func:`western_numbers`).
        rules: compiled patterns (``steps`` of ``patterns.yaml``).
        run: resolves "the first 5 steps", "the second to last step" and epochs.
    """
    if run and run.distinct_steps and (match := _FROM_ON.search(text)):
        first, last = int(next(group for group in match.groups() if group)), run.distinct_steps[-1]
        if first < last:
            return StepSlot("range", (first, last)), ((match.start(), first), (match.end(), last))
    if run and (match := _UP_TO.search(text)) and _SUMMED_UP.search(text):
        held = [step for step in training_steps(run) if step < int(match[1] or match[2])]
        if held:
            return StepSlot("range", (held[0], held[-1])), ((match.start(), held[0]), (match.end(), held[-1]))
    if run and (match := _AGO.search(text)) and run.distinct_steps:
        step = run.distinct_steps[-1] - int(match[1] or match[2])
        return StepSlot("single", (step,)), ((match.start(), step),)
    if run and (match := _WAY.search(text)) and (trained := training_steps(run)):
        step = trained[round(_share_of_way(match) * (len(trained) - 1))]
        return StepSlot("single", (step,)), ((match.start(), step),)
    if run and (match := _NEIGHBOUR.search(text)) and (beside := _beside(match, run)) is not None:
        return StepSlot("single", (beside,)), ((match.start(), beside),)
    for pattern in rules["range"]:
        if match := pattern.search(text):
            first, last = sorted((int(match[1]), int(match[2])))
            return StepSlot("range", (first, last)), ((match.start(1), first), (match.start(2), last))
    if (ends := span(text, run)) is not None:
        first, last = sorted(step for _, step in ends)
        return StepSlot("range", (first, last)), ends
    if (match := rules["from_end"].search(text)) and run:
        back = _back(match)
        if 0 < back <= len(run.distinct_steps):
            step = run.distinct_steps[-back]
            return StepSlot("single", (step,)), ((match.start(), step),)
    if (match := rules["ahead"].search(text)) and run and run.distinct_steps:
        step = run.distinct_steps[-1] + int(next(group for group in match.groups() if group))
        return StepSlot("single", (step,)), ((match.start(), step),)
    text = _FEW.sub(lambda found: str(chinese_number(found[0].lstrip("的"))), text)
    if match := rules["last_n"].search(text):
        count = int(next(group for group in match.groups() if group))
        since = since_last(training_steps(run), count) if run else None
        part = StepSlot("last_n", (count,)) if run is None or since is None else _since(since, run)
        return part, ()
    if match := rules["first_n"].search(text):
        count = int(next(group for group in match.groups() if group))
        picked = first_steps(training_steps(run) if run else (), count)
        return (StepSlot("range", (picked[0], picked[-1])) if picked else StepSlot("none")), ()
    if run is not None and (found := epochs(text, run) or rows(text, run) or validations(text, run)):
        return _numbered(found)  # "at the end of epoch 2": no step stands beside the epoch
    text = _first_step(text, run)
    found = set_against(text, run) or _united(listed(text, run), _single_steps(text, rules["single"]))
    found = found or _bare(text, run)
    if not found and run is not None:
        found = loose(text, run)
    found = sorted([*found, *other_side(text, run, found)])
    return _singles(text, rules, run, found)


#: "at the start, the middle and the end".
_THREE = re.compile(
    r"(?i)\b(?:start|beginning|first)\b.{0,12}\bmiddle\b.{0,12}\b(?:end|last)\b|(?:开头|开始|首).{0,3}中.{0,4}(?:结尾|最后|末|尾)"
)
#: "the step after 20", "20 步的下一步".
_NEIGHBOUR = re.compile(
    r"(?i)\b(?:the|one) (?:step|iteration)(?: right| just| immediately)? (?:(?P<after>after)"
    r"|before) (?:step )?(?P<at>\d{1,7})\b(?![.%])"
    r"|(?<![变为成是归])(?<![变为成是归] )(?:step\s*|第\s*)?(?P<zh>\d{1,7})\s*步?的?"
    r"(?:(?P<next>下一步|后一步)|上一步|前一步)"
)


#: "100 steps ago", and "two thirds of the way through".
_AGO = re.compile(r"(?i)(?<![\d.])(\d{1,6}) (?:steps?|iterations?) (?:ago|back)\b|(?<![\d.])(\d{1,6}) 步以前的?那一?步")
_WAY = re.compile(
    r"(?i)\b(?:an? |one )?(third|quarter|fifth|tenth|two[- ]thirds"
    r"|three[- ]quarters)(?: of the)? way (?:through|in|into)\b"
    r"|\b(?:at|around) (?:the |about )?(?:an? )?(quarter|third|two[- ]thirds|three[- ]quarters?) (?:mark|point)\b"
    r"|(?:跑|训|走)(?:了|到|完)?(?:大概|约)?(三分之[一二]|四分之[一三])(?:的?时候|处|时)?|(三分之[一二]|四分之[一三])(?:处|的地方|进度)"
)


def _share_of_way(match: re.Match[str]) -> float:
    words = next(group for group in match.groups() if group).lower().replace("-", " ")
    return _FRACTIONS["three quarters" if words == "three quarter" else words]


def _beside(match: re.Match[str], run: Run) -> int | None:
    """The step of the log next to the one named."""
    at = int(match["at"] or match["zh"])
    later = match["after"] or match["next"]
    beside = [s for s in run.distinct_steps if (s > at if later else s < at)]
    return (beside[0] if later else beside[-1]) if beside else None


def _singles(text: str, rules: dict[str, Any], run: Run | None, found: list[Mark]) -> tuple[StepSlot, tuple[Mark, ...]]:
    numbers = tuple(dict.fromkeys(number for _, number in found))
    last, first = rules["last"].search(text), rules["first"].search(text)
    if both_ends(text):
        first = last = re.search("", text)
    against = first and _AGAINST_FIRST.search(text)
    if not numbers and run and _THREE.search(text) and len(trained := training_steps(run)) > 2:
        return _numbered([(0, trained[0]), (1, trained[(len(trained) - 1) // 2]), (2, trained[-1])])
    if not numbers and run and first and (last or against):
        trained = training_steps(run)
        ends = (trained[0], trained[-1])
        return StepSlot("pair", ends), tuple((at, step) for at, step in enumerate(ends))
    if len(numbers) == 1 and run and last and numbers[0] != run.distinct_steps[-1]:
        end = run.distinct_steps[-1]
        return StepSlot("pair", tuple(sorted((numbers[0], end)))), (*found, (last.start(), end))
    if numbers:
        return _numbered(found)
    before = _UNTRAINED.search(text) if run and run.distinct_steps[:1] == (0,) else None
    if before is not None and not _AGAINST_FIRST.search(text):
        return _numbered([(before.start(), 0)])
    if run and rules["halfway"].search(text) and (trained := training_steps(run)):
        middle = trained[(len(trained) - 1) // 2]
        return StepSlot("single", (middle,)), ((0, middle),)
    for kind in ("last", "first", "all"):
        if kind == "last" and _SO_FAR.search(text) and (_EXTREME.search(text) or _TOTAL.search(text)):
            continue  # "the slowest step so far", "so far in total": of all there are
        if rules[kind].search(text):
            return StepSlot(cast("Any", kind)), ()
    return StepSlot("none"), ()


def _since(step: int, run: Run) -> StepSlot:
    return StepSlot("range", (step, run.distinct_steps[-1]))


def first_steps(training: Sequence[int], count: int) -> Sequence[int]:
    """The first so many steps; of a log that prints every nth, those up to that number where it holds fewer rows."""
    if count <= len(training):
        return training[:count]
    return [step for step in training if step <= count]


def _numbered(found: list[Mark]) -> tuple[StepSlot, tuple[Mark, ...]]:
    numbers = tuple(dict.fromkeys(number for _, number in found))
    return StepSlot("single" if len(numbers) == 1 else "pair", tuple(sorted(numbers))), tuple(found)


def _united(one: list[Mark], other: list[Mark]) -> list[Mark]:
    """The marks of both, each step once, in the order in which they stand."""
    known = {step for _, step in one}
    return sorted([*one, *(mark for mark in other if mark[1] not in known)])


#: "the last but two": so many steps from the end, the last one counted.
_BUT = {"one": 2, "two": 3, "three": 4}


def _back(match: re.Match[str]) -> int:
    word = next((group for group in match.groups() if group), "2")
    if word.lower() in _BUT:
        return _BUT[word.lower()]
    if "before" in match.group() or "from the end" in match.group():
        return int(word) + 1  # "10 steps before the end"
    return int(word) if word.isdigit() else _ORDINALS.get(word.lower(), 2)


def training_steps(run: Run) -> tuple[int, ...]:
    """Steps with more than a validation's metrics: a validation before training is no step of training."""
    steps = run.distinct_steps
    if len(steps) < 2 or steps[0] != 0:
        return steps
    held = [metric for metric in run.metrics if run.value(metric, 0) is not None]
    only = all(metric.startswith(("val", "eval", "test", "timing_s/testing", "training/")) for metric in held)
    return steps[1:] if only else steps


_BARE = (
    re.compile(
        r"(?i)(?<![\d.@/_-])(\d{1,7})\s*(?:versus|vs\.?|against|compared (?:to|with)|跟|和|与|对比"
        r"|对)\s*(\d{1,7})(?![\d.%])(?!\s*[a-z])"
    ),
    re.compile(
        r"(?i)(?:\b(?:at|by)\s+(?:rollout|episode|timestep|iter|update|batch|row)\s+"
        r"|\b(?:at|by|batch|row|update)\s+|(?<![\w/])@\s*)(\d{1,7})(?![\d.%@/])(?!\s*(?:[a-z]+/|gb|gib|%|percent|points?|tokens?"
        r"|seconds?|minutes?))"
        r"(?:.{0,16}?(?:versus|vs\.?|against|compared (?:to|with)|\band\b|to)\s*(?:at\s+)?(\d{1,7})(?![\d.%@/]))?"
    ),
)


#: "kl at 60 … the kl at 30".
_EACH_AT = re.compile(r"(?i)(?:\bat|@)\s+(\d{1,7})(?![\d.%@/])(?!\s*(?:gb|gib|%|percent|tokens?|seconds?|minutes?))")


_FIRST_ONE = re.compile(r"第\s*1\s*步")


def _first_step(text: str, run: Run | None) -> str:
    """A text with "the first step" as the log's first, where its steps do not begin with 0 or 1: one row in twenty."""
    if run is None or not run.distinct_steps or run.distinct_steps[0] < 2:
        return text
    return _FIRST_ONE.sub(f"第{run.distinct_steps[0]}步", text)


def _bare(text: str, run: Run | None) -> list[Mark]:
    """Steps given as numbers alone ("entropy at 50", "30 versus 60"), where the log holds each of them."""
    if run is None:
        return []
    held = set(run.distinct_steps)
    for pattern in _BARE:
        match = pattern.search(text)
        if match is None:
            continue
        numbers = [(match.start(place), int(group)) for place, group in enumerate(match.groups(), 1) if group]
        if numbers and all(number in held for _, number in numbers):
            every = [(match.start(1), int(match[1])) for match in _EACH_AT.finditer(text)]
            return every if len(every) > len(numbers) and all(step in held for _, step in every) else numbers
    return []


def _single_steps(text: str, patterns: list[re.Pattern[str]]) -> list[Mark]:
    found: list[Mark] = []
    spans: list[tuple[int, int]] = []
    for pattern in patterns:
        for match in pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in spans):
                continue
            spans.append(match.span())
            found.append((match.start(), int(match[1])))
            at = match.end()
            while extra := _NEXT_STEP.match(text, at):
                found.append((extra.start(), int(extra[1])))
                at = extra.end()
    return sorted(found)


def western_numbers(text: str) -> str:
    """``第三步`` → ``第3步``, ``last ten steps`` → ``last 10 steps``, so that one set of patterns serves."""
    text = _ONE_IN.sub(_one_in, text)
    text = _ENGLISH_COUNT.sub(lambda match: f"{match[1]} {_ENGLISH[match[2].lower()]} {match[3]}", text)
    text = _ENGLISH_FEW.sub(_few, text)
    text = _ENGLISH_STEP.sub(lambda match: f"{match[1]} {_ENGLISH[match[2].lower()]}", text)
    text = _ENGLISH_BEFORE_END.sub(lambda match: f"{_ENGLISH[match[1].lower()]} {match[2]}", text)
    text = _ENGLISH_ORDINAL.sub(_ordinal, text)
    text = _HUNDRED.sub("100", text)
    text = _FIRST_EPOCH.sub("epoch 1", text)
    text = _A_MINUTE.sub(r"\1 1 \2", text)
    text = _ZERO.sub(r"\1 0", text)
    text = _FRACTION_LIMIT.sub(lambda match: f"{match[1]} {_percent(match[2])}", text)
    text = _CHINESE_FALL_TO.sub(r"\1初始值的\2", text)
    text = _CHINESE_FRACTION_LIMIT.sub(lambda match: f"{match[1]} {_percent(match[2])}", text)
    text = _CHINESE_RANGE.sub(
        lambda match: f"{match[1]}{chinese_number(match[2])}{match[3]}{chinese_number(match[4])}{match[5]}", text
    )

    text = _SECOND.sub("第2", _FROM_BEHIND.sub("倒数第", text))
    text = _CHINESE_TOP.sub(lambda match: f"{match[1]}的{_figure(match[2] or match[3])}{match[4]}", text)
    text = _CHINESE_PRIOR.sub(r"之前的 \1 ", text)
    text = _CHINESE_AFTER.sub(lambda match: f"{chinese_number(match[1] or match[3])}{match[2] or match[4]}", text)
    text = _CHINESE_SHARE.sub(_share, text)
    text = _FIGURE_SHARE.sub(r"\1%", text)
    text = _TIMES_TEN.sub(lambda match: f"{float(match[1]) * _POWERS[match[2]]:.10g}", text)
    text = _CHINESE_LIMIT.sub(lambda match: f"{match[1]}{chinese_number(match[2])}", text)
    text = _CHINESE_TENTHS.sub(lambda match: f"{_DIGITS[match[1]]}{_DIGITS[match[2] or '零']}%", text)
    text = _CHINESE_WITHIN.sub(r"前\1步", text)
    text = _CHINESE_POINT.sub(lambda match: "0." + "".join(str(_DIGITS[char]) for char in match[1]), text)
    text = _CHINESE_SECONDS.sub(lambda match: str(chinese_number(match[1])), text)

    def convert(match: re.Match[str]) -> str:
        if match[1] in {"头", "开头"} and match[2] == "一":
            return f"第1{match[3]}"
        if match[1] not in {"倒数第", "第"} and match[2] == "一":  # "the last step", not "the last 1 steps"
            return match.group()
        return f"{match[1]}{chinese_number(match[2])}{match[3]}"

    return _CHINESE_STEP.sub(convert, text)


def _figure(numeral: str) -> int:
    return int(numeral) if numeral.isdecimal() else chinese_number(numeral)


def _few(match: re.Match[str]) -> str:
    """ "last ten" as "last 10"; "the last one" is the last, and no number of steps."""
    return match.group() if match[2].lower() == "one" else f"{match[1]} {_ENGLISH[match[2].lower()]}"


def _one_in(match: re.Match[str]) -> str:
    """ "over one in ten" as "over 10%"."""
    share, whole = (_COUNTS.get(word.lower()) or int(word) for word in (match[2], match[3]))
    return f"{match[1]} {100 * share / whole:.4g}%" if whole else match.group()


def _share(match: re.Match[str]) -> str:
    """ "百分之五" as "5%", "千分之三" as "0.3%"."""
    tenths = "".join(str(_DIGITS[char]) for char in match[3] or "零")
    return f"{float(f'{chinese_number(match[2])}.{tenths}') * _PERCENT_OF[match[1]]:.6g}%"


def _percent(words: str) -> str:
    """A fraction in words as per cent, to four digits."""
    return f"{100 * _FRACTIONS[words.lower().replace('-', ' ')]:.4g}%"


def _ordinal(match: re.Match[str]) -> str:
    word = match[1].lower()
    number = _ORDINALS.get(word) or int(re.sub(r"\D", "", word))
    return f"{match[2]} {number}"


def chinese_number(text: str) -> int:
    """A Chinese numeral (``三`` → 3, ``一百零五`` → 105, ``两千`` → 2000); ``一千五`` is 1500, as it is said."""
    total, below, digit, unit = 0, 0, 0, 1
    for char in text:
        if char == "零":
            digit, unit = 0, 1
        elif char in _DIGITS:
            digit = _DIGITS[char]
        elif char == "万":
            total, below, digit, unit = (below + digit or 1) * 10_000, 0, 0, 10_000
        else:
            unit = {"十": 10, "百": 100, "千": 1000}[char]
            below += (digit or 1) * unit
            digit = 0
    return total + below + digit * (unit // 10 if unit >= 100 else 1)
