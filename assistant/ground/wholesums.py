"""Sentences read as a whole: arithmetic that is spelt out, ``8192 / 16 = 512``, ``677 tokens/s multiplied by 8 GPUs gives 5,419``.

Each operand must be what the log holds of a metric that the sentence names, at its steps, or follow from the log; then
the result must be what comes out.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.ground.quantities import Quantity
from assistant.ground.verdicts import plain
from assistant.ground.wholeranks import RankReader
from assistant.ground.wholereader import Whole

#: Between two operands, the steps and names between them left out.
_OPERATORS: Final[tuple[tuple[str, str], ...]] = (
    ("+", r"[+＋]|plus|加上?"),
    ("-", r"[−–-]|minus|减去?"),
    ("*", r"[×x*·]|(?:,?\s*(?:and )?(?:when )?multiplied by|times)|,?\s*(?:再)?乘以?"),
    ("/", r"[/÷]|,?\s*(?:when )?divided by|(?:spread |split |shared )?(?:over|across|among)|on|,?\s*(?:再)?除以|分到|分给|(?:平均)?(?:分摊|平摊|摊)(?:到|给)"),
)  # fmt: skip
_OPERATOR: Final = re.compile("(?i)" + "|".join(rf"(?P<o{at}>{words})" for at, (_, words) in enumerate(_OPERATORS)))
_EQUALS: Final = re.compile(
    r"(?i)(?:[,，;；]|[=≈≃≅~]|\b(?:that|which|this|it|and|so|is|are|i\.?e\.?|or|gives?|giving|makes?|making|means?|meaning|yields?|yielding|equals?|equalling|amounts? to|comes to|works out (?:at|to|as)|about|roughly|around|approximately|some|only|just)\b|约为?|大约|即|也就是|就是|合计|相当于|等于|得到?|是|为|每?[张块]?\s?(?:显?卡|GPU)|每[张块]|平均|[张块\s`*（(])*"
)
_SIGNED_EQUALS: Final = re.compile(
    r"(?i)[=≈≃≅]|\b(?:is|are|gives?|giving|makes?|making|means?|meaning|yields?|yielding|equals?|amounts? to|comes to|i\.e|or|works out)\b|约|即|就是|合计|相当于|等于|得|是|为|每张?[卡块]"
)
_SPARE: Final = re.compile(
    r"(?i)\b(?:at|in|for|of|the|a|all|its|these|those|per gpu)\b(?=\s*(?:[,;，；×x*÷/+−-]|$))|[`*]{1,3}|的"
)
_BRACKETS: Final = re.compile(r"[()（）\[\]]")
#: Numbers that stand for no value: hours of a day, hundreds of a percentage.
_CONSTANTS: Final = frozenset({1.0, 2.0, 60.0, 100.0, 1000.0, 1024.0, 3600.0, 1e6})
_COUNTS: Final = ("n_gpus", "group_size", "prompts_per_step", "trajectories_per_step")
#: What a number with such a unit may count.
_COUNTED: Final = {
    "gpus": ("n_gpus",), "prompts": ("prompts_per_step",), "samples": ("group_size", "trajectories_per_step")
}  # fmt: skip
#: Between a result and the brackets that tell how it comes about.
_OPENED: Final = re.compile(r"(?i)[`*\s]*[（(]\s*(?:i\.?e\.?,? |= ?|that is |即|也就是|单卡|每卡)?\s*[`*]*")
_ENDS: Final = re.compile(r"(?i)\b(?:first|initial|start\w*|original|last|final|end\w*)\b|[初首末]|开始|起点|最后|最终")
_MOST: Final = 12
#: "2.45% of 8,192".
_PART_OF: Final = re.compile(r"(?i)[`*\s]*of (?:the |all |these |its )*[`*]*")
#: Digits from which a number is a metric's that the sentence does not name.
_SURE: Final = 3


@dataclass(frozen=True, slots=True)
class _Term:
    """An operand, exact where the log tells it, and the least and most that it may be."""

    low: float
    high: float


class SumReader(RankReader):
    """Claims that spell out how a number comes about."""

    def computed(self) -> Iterator[Whole]:
        """``a ∘ b = c``: the operands against the log, the result against them."""
        numbers = self.frame.numbers
        if not 3 <= len(numbers) <= _MOST or len(self.text) > 400:
            return
        at = 0
        while at < len(numbers) - 2:
            joined = self._formula(at)
            if joined is None:
                at += 1
                continue
            last, text = joined
            result = numbers[last]
            terms = [self._grounded(q) for q in numbers[at:last]]
            if any(term is None for term in terms) or self._turned(numbers[at:last], text):
                at += 1
                continue
            value = _evaluated(text, [term for term in terms if term is not None])
            if value is not None:
                yield self._against(numbers[at], result, value)
            at = last

    def spelt_behind(self) -> Iterator[Whole]:
        """``5,405 tokens/s (676 per GPU × 8)``: the number in front against what its brackets multiply."""
        numbers = self.frame.numbers
        if not 3 <= len(numbers) <= _MOST or len(self.text) > 400:
            return
        for at in range(1, len(numbers) - 1):
            result, first = numbers[at - 1], numbers[at]
            opened = _OPENED.fullmatch(self.text, result.end, first.start)
            if opened is None or result.bound:
                continue
            here, formula = self._operands(at)
            closed = re.match(r"[^()（）\d]{0,24}[)）]", self.text[numbers[here].end :])
            if here == at or closed is None or len({*formula} & {*"+-*/"}) != 1:
                continue
            terms = [self._grounded(q) for q in numbers[at : here + 1]]
            value = (
                None
                if any(t is None for t in terms)
                else _evaluated(formula.lstrip("("), [t for t in terms if t is not None])
            )
            if value is None or self._turned(numbers[at : here + 1], formula.lstrip("(")):
                continue
            whole = self._against(result, result, value)
            end = numbers[here].end + closed.end()
            yield replace(whole, covers=((result.start, end),))

    def _against(self, first: Quantity, result: Quantity, value: _Term) -> Whole:
        scale = 100.0 if result.unit == "%" else 1.0
        low, high = (
            v * scale / (result.factor if result.unit not in {"%", "pp"} else 1.0) for v in (value.low, value.high)
        )
        slack = max(result.half, 1e-9 * abs(result.number))
        fine = low - slack <= result.number <= high + slack
        if result.unit in {"pp", "points"}:
            fine = fine or low * 100 - slack <= result.number <= high * 100 + slack
        fine = fine and self._of_its_kind(result)
        note = self.judge.say("count", true=plain((low + high) / 2), shown=result.text)
        start = max(self.text.rfind("\n", 0, first.start) + 1, first.start)
        return self.say(result.start, result.end, fine, note, covers=[(start, result.end)])

    def _of_its_kind(self, result: Quantity) -> bool:
        """Whether a result that is told to be so many prompts, or GPUs, is how many there are of them."""
        behind = next((n.derived for n in self.frame.names if n.derived and 0 <= n.start - result.end <= 2), ())
        wanted = tuple(name for name in behind if name in _COUNTS) or _COUNTED.get(result.unit, ())
        if not wanted or (result.unit == "samples" and not behind):
            return True
        facts = [f for name in wanted for f in self.table.derivable(name, self.table.steps[:8])]
        sizes = [float(f.value) for f in facts if isinstance(f.value, (int, float))]
        return not sizes or any(abs(result.number - size) <= max(result.half, 0.5) for size in sizes)

    def _turned(self, operands: Sequence[Quantity], formula: str) -> bool:
        """``16 × 512``: samples of each told before the prompts, which bare numbers are not."""
        if formula != "\0*\0" or any(q.unit for q in operands):
            return False
        steps = self.table.steps[:8]
        sizes = {
            name: {
                round(float(f.value)) for f in self.table.derivable(name, steps) if isinstance(f.value, (int, float))
            }
            for name in ("prompts_per_step", "group_size")
        }
        first, second = (round(q.number) for q in operands)
        return first in sizes["group_size"] - sizes["prompts_per_step"] and second in sizes["prompts_per_step"]

    def _formula(self, at: int) -> tuple[int, str] | None:
        """From a number on: the place of the result, and the formula with ``\\0`` for each operand; or nothing."""
        numbers = self.frame.numbers
        here, formula = self._operands(at)
        if here == at or here + 1 >= len(numbers):
            return None
        gap = self._gap(numbers[here], numbers[here + 1])
        rest = gap.lstrip(" )）]")
        formula += ")" * len(re.findall(r"[)）\]]", gap[: len(gap) - len(rest)]))
        if not _SIGNED_EQUALS.search(gap) or not _EQUALS.fullmatch(rest):
            return None
        while formula.startswith("(") and formula.count("(") > formula.count(")"):
            formula = formula[1:]
        return (here + 1, formula) if formula.count("(") == formula.count(")") else None

    def _operands(self, at: int) -> tuple[int, str]:
        """From a number on: the place of the last operand that operators join to it, and the formula so far."""
        numbers = self.frame.numbers
        opened = re.search(r"[(（\[]\s*[`*]*$", self.text[: numbers[at].start])
        formula, here = "(" * bool(opened) + "\0", at
        while here + 1 < len(numbers):
            gap = self._gap(numbers[here], numbers[here + 1])
            bare = _BRACKETS.sub("", gap).strip()
            sign = numbers[here + 1].sign
            if sign in {"+", "-"} and not bare:
                operator: str | None = sign
            else:
                match = _OPERATOR.fullmatch(bare)
                operator = None if match is None else _OPERATORS[int(str(match.lastgroup)[1:])][0]
            if numbers[here].unit == "%" and _PART_OF.fullmatch(self.text, numbers[here].end, numbers[here + 1].start):
                operator, bare = "*", ""
            if operator is None or (sign == "-" and bare):
                break
            if re.fullmatch(r"(?i)on", bare) and numbers[here + 1].unit not in {"gpus"}:
                break
            closing, _, opening = (
                (gap[: gap.index(bare)], bare, gap[gap.index(bare) + len(bare) :]) if bare else (gap, "", "")
            )
            formula += ")" * len(re.findall(r"[)）\]]", closing)) + operator
            formula += "(" * len(re.findall(r"[(（\[]", opening + (closing if not bare else ""))) + "\0"
            here += 1
        return here, formula

    def _gap(self, one: Quantity, two: Quantity) -> str:
        """What stands between two numbers, without steps and names."""
        text = list(self.text[one.end : two.start])
        spans = [(p.start, p.end) for p in self.frame.places] + [(n.start, n.end) for n in self.frame.names]
        for start, end in spans:
            for spot in range(max(start, one.end), min(end, two.start)):
                text[spot - one.end] = " "
        joined = re.sub(r"\s+", " ", "".join(text))
        joined = _SPARE.sub("", joined)
        return re.sub(r"\s+", " ", re.sub(r"\s*[;；,，]\s*(?=[;；,，])", "", joined)).strip()

    def _grounded(self, q: Quantity) -> _Term | None:
        """An operand as the log has it."""
        if q.unit in {"ratio", "factor"}:
            return None
        if q.number == round(q.number) and not q.decimals and q.unit in {"", "gpus", "samples", "prompts", "points"}:
            steps = [s for p in self.frame.places for s in p.steps][:8] or self.table.steps[:8]
            for name in _COUNTED.get(q.unit, _COUNTS):
                for fact in self.table.derivable(name, steps):
                    if isinstance(fact.value, (int, float)) and round(float(fact.value)) == abs(q.number):
                        return _Term(abs(q.number), abs(q.number))
        keys = self._keys()
        lone = len({n.keys[0] for n in self.frame.names if n.keys}) < 2 and q.digits >= _SURE
        others = [key for key in self.table.run.columns if key not in keys] if lone else []
        for key in (*keys, *others):  # "training and eval reward": a name may stand for two
            for step in self._steps(key):
                value = self.table.value(key, step)
                if value is None:
                    continue
                unsigned = replace(q, number=abs(q.number), sign="") if q.number < 0 <= value else q
                if self.judge.cell(unsigned, key, step).status == "supported":
                    return _spread(unsigned)
        if abs(q.number) in _CONSTANTS and not q.unit:
            return _Term(abs(q.number), abs(q.number))
        return None

    def _keys(self) -> list[str]:
        named = [key for n in self.frame.names for key in n.keys[:4]]
        total = self.table.total_time()
        named = named or [key for n in self.frame.carried.names for key in n.keys[:4]]
        return list(dict.fromkeys([*named, *([total] if total else [])]))

    def _steps(self, key: str) -> Sequence[int]:
        told = [s for p in self.frame.places for s in p.steps] or list(self.frame.carried.steps)
        held = self.table.held(key)
        if held and (not told or _ENDS.search(self.text)):
            told += [held[0], held[-1]]
        return list(dict.fromkeys(told))


def _spread(q: Quantity) -> _Term:
    """From the least to the most that a number may be, in base units."""
    factor = q.factor if q.unit not in {"%", "pp"} else 0.01
    return _Term((abs(q.number) - q.half) * factor, (abs(q.number) + q.half) * factor)


def _evaluated(formula: str, terms: Sequence[_Term]) -> _Term | None:
    """A formula of operators, brackets and ``\\0`` for each term; ``None`` where it is none."""
    tokens = list(formula)
    left = list(terms)[::-1]

    def factor() -> _Term | None:
        token = tokens.pop(0) if tokens else ""
        if token == "\0":
            return left.pop()
        if token != "(":
            return None
        inner = total()
        return inner if tokens and tokens.pop(0) == ")" else None

    def product() -> _Term | None:
        value = factor()
        while value is not None and tokens and tokens[0] in "*/":
            operator, other = tokens.pop(0), factor()
            if other is None or (operator == "/" and other.low <= 0 <= other.high):
                return None
            ends = [
                x * y if operator == "*" else x / y for x in (value.low, value.high) for y in (other.low, other.high)
            ]
            value = _Term(min(ends), max(ends))
        return value

    def total() -> _Term | None:
        value = product()
        while value is not None and tokens and tokens[0] in "+-":
            operator, other = tokens.pop(0), product()
            if other is None:
                return None
            value = (
                _Term(value.low + other.low, value.high + other.high)
                if operator == "+"
                else _Term(value.low - other.high, value.high - other.low)
            )
        return value

    found = total()
    return found if not tokens else None
