"""Two windows of steps that a question sets against each other: two ranges, the first and the last so many, halves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.ask.scope import scope_in, shares_in
from assistant.ask.sparse import since_last
from assistant.ask.steps import chinese_number, first_steps
from assistant.model import Run

Window = tuple[int, int]

_RANGE = re.compile(
    r"(?<![\d.])(\d{1,7})\s*(?:步)?\s*(?:-|–|—|~|～|到|至|to|through)\s*(?:step\s*|第)?(\d{1,7})(?![\d.%])"
)
_OF_STEPS = re.compile(r"(?i)step|步|iteration|第")
#: Two ranges that are set against each other are ranges of steps, whatever they are called: "length 20-30 vs 60-70".
_AGAINST = re.compile(r"(?i)\bvs\.?\b|\bversus\b|\bagainst\b|\bthan\b|\bcompared?\b|\brelative to\b|比|对|相较|较之")
_COUNT = r"(\d{1,5}|[一二两三四五六七八九十]{1,3}|two|three|four|five|six|seven|eight|nine|ten|twenty)"
_FIRST_N = re.compile(rf"(?i)(?:前|头|最初|开头|最早|first|initial|earliest|opening|starting)\s*(?:的)?\s*{_COUNT}")
_LAST_N = re.compile(rf"(?i)(?:后|末|最后|最近|last|final|latest|closing|ending)\s*(?:的)?\s*{_COUNT}")
#: "the last 5 steps against the 5 before": as many steps right before them.
_PRECEDING = re.compile(
    rf"(?i)(?:之前|以前|前面|再之?前|再往前)(?:的)?(?:那)?\s*{_COUNT}|\bthe\s+{_COUNT}\s+(?:steps?\s+"
    rf"|evals?\s+)?(?:right |just )?before\b"
    rf"|(?:previous|preceding|prior)\s+{_COUNT}"
)
#: "the last 10 steps against the earlier ones": all that lies before them.
_EARLIER = re.compile(
    r"(?i)(?:比|跟|和|与|同|较|相对)(?:于|着)?\s*(?:之前|以前|此前|先前|早先|前面|前边|前头|其余|其他|其它|剩下|早期)"
    r"(?:的)?(?:那些|所有)?(?:步|steps?)?(?!\s*的?\s*[\d一二两三四五六七八九十]+)"
    r"|\b(?:vs\.?|versus|than|against|with|to|from)\s+(?:all |what (?:was|came) |it was )?(?:the )?"
    r"(?:earlier|before|rest|previous|preceding|prior)\b(?! \d| (?:evals?\b|validations?\b|one\b|step\b))"
)
#: What lies before a step against what lies from it on: "before vs after step 40", "前 40 步跟 40 步以后比".
_AROUND = re.compile(
    r"(?i)\bbefore\b.{0,24}\bafter\s+(?:the\s+)?(?:step\s*)?(\d{1,7})|\bafter\b.{0,24}\bbefore\s+(?:the\s+)?(?:step\s*)?(\d{1,7})"
    r"|\b(?:after|before)\s+(?:the\s+)?(?:step\s*)?(\d{1,7})\b.{0,12}\bthan\s+(?:it was\s+)?(?:before|after)\b"
    r"|(?:前\s*\d+\s*步?|之?前|以前).{0,8}(?:跟|和|与|比|vs)\s*(?:第\s*)?(\d{1,7})\s*步\s*(?:往后|以后|之后|后)"
    r"|(\d{1,7})\s*步?\s*(?:的)?前后.{0,12}(?:比|差|哪|变|一样|不同|慢|快|高|低)"
    r"|(\d{1,7})\s*步?\s*(?:之|以)前.{0,24}(?:之|以)后"
)
_HALVES = re.compile(
    r"(?i)(?:前|后)半(?:程|段|部分|截)?.{0,16}(?:前|后)半|first half.{0,30}(?:second|last|latter) half|(?:second"
    r"|latter) half.{0,30}first half"
    r"|(?:前|后)半(?:程|段)|(?:前|早)期.{0,16}(?:后|晚)期|(?:后|晚)期.{0,16}(?:前|早)期"
    r"|\bearly\b.{0,24}\b(?:vs\.?|versus|against|compared)\b.{0,16}\blate\b"
    r"|\b(?:higher|lower|larger|smaller|bigger|better|worse|longer|shorter|slower|faster|more|less|noisier|steadier)\b"
    r".{0,30}\b(?:in|during|over|for|through)\s+the\s+(?:second|latter|last|first)\s+half\b"
)
_VALIDATIONS = re.compile(r"(?i)验证|评测|测评|次|\bval(?!ue)|\beval|evaluation")
_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twenty": 20,
}


def windows_in(
    text: str, run: Run, validations: Sequence[int], training: Sequence[int]
) -> tuple[Window, Window] | None:
    """Two windows that do not overlap, the earlier first; ``None`` where a question names no two.

    Args:
        text: the question.
        run: whose steps they are.
        validations: steps with a validation, counted where the question counts validations.
        training: steps of training, counted otherwise.
    """
    ranges = [sorted((int(m[1]), int(m[2]))) for m in _RANGE.finditer(text)]
    if not (_OF_STEPS.search(text) or (len(ranges) == 2 and _AGAINST.search(text))):
        ranges = []
    if len(ranges) == 2:
        return _ordered((ranges[0][0], ranges[0][1]), (ranges[1][0], ranges[1][1]), run)
    first, last = _FIRST_N.search(text), _LAST_N.search(text)
    if len(ranges) == 1 and (first is None) != (last is None):  # "steps 1-20 with the last 20"
        held, count = list(training or run.distinct_steps), _number((first or last)[1])  # type: ignore[index]
        if 0 < count <= len(held):
            other = (held[0], held[count - 1]) if first is not None else (held[-count], held[-1])
            return _ordered((ranges[0][0], ranges[0][1]), other, run)
    if (shares := shares_in(text, list(training or run.distinct_steps))) is not None and not _HALVES.search(text):
        return shares
    steps = list(validations if _VALIDATIONS.search(text) and len(validations) > 1 else training or run.distinct_steps)
    if last is not None and (before := _PRECEDING.search(text)) is not None:
        n, m = _number(next(group for group in before.groups() if group)), _number(last[1])
        if n and m and n + m <= len(steps):
            return _ordered((steps[-m - n], steps[-m - 1]), (steps[-m], steps[-1]), run)
    if last is not None and first is None and _EARLIER.search(text) and 0 < (m := _number(last[1])) < len(steps):
        return _ordered((steps[0], steps[-m - 1]), (steps[-m], steps[-1]), run)
    if first is not None and last is not None:
        n, m = _number(first[1]), _number(last[1])
        if n and m and n + m <= len(steps):
            return _ordered((steps[0], steps[n - 1]), (steps[-m], steps[-1]), run)
        since = since_last(steps, m)
        early = first_steps(steps, n)
        if early and since is not None and early[-1] < since:  # of a log that prints every nth
            return _ordered((steps[0], early[-1]), (since, steps[-1]), run)
        return None
    if (match := _AROUND.search(text)) and (at := int(next(group for group in match.groups() if group))) in steps[1:]:
        place = steps.index(at)
        return (steps[0], steps[place - 1]), (at, steps[-1])
    scope = scope_in(text, list(training or run.distinct_steps))
    if scope.first is not None and scope.last is not None and scope.last < scope.first:
        return _ordered((steps[0], scope.last), (scope.first, steps[-1]), run)  # "up to step 17 against 18 onwards"
    if _HALVES.search(text) and len(steps) > 3:
        middle = len(steps) // 2
        return (steps[0], steps[middle - 1]), (steps[middle], steps[-1])
    return None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _WORDS.get(text.lower()) or chinese_number(text)


def _ordered(a: Window, b: Window, run: Run) -> tuple[Window, Window] | None:
    early, late = sorted((a, b))
    held = run.distinct_steps
    there = all(any(first <= step <= last for step in held) for first, last in (early, late))
    return (early, late) if there and early[1] < late[0] else None
