"""The language of thresholds: ``actor/ppo_kl < 0.05``, ``|a - b| <= 10``, ``entropy >= 0.3 * baseline(entropy)``.

A condition says what should hold. Metric keys are written as the log spells them (in backquotes where they hold blanks
or signs); ``-`` and ``/`` between blanks are operators, otherwise part of a key. Comparisons may be chained and joined
by ``and``, ``or``, ``not``. Functions: ``abs(x)`` or ``|x|``; ``mean(m, 10)``, ``median``, ``min``, ``max`` of the last
ten points up to the step; ``baseline(m, 5)``, the median of the first five points; ``delta(m)``, the change from the
point before; ``growth(m)``, the value over that of the point before. A window may follow: ``@ last 10``, ``@ first 5``,
``@ last``, ``@ 20:``, ``@ 3:9``; a severity too: ``=> critical``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from assistant.model import InputError
from assistant.model.fact import Severity

LONGEST: Final = 1000
DEEPEST: Final = 40

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?(?![\w/@]))
    | `(?P<quoted>[^`]+)`
    | (?P<name>[^\W\d][\w./@{}%:\[\]-]*(?<![-:]))
    | (?P<op><=|>=|==|!=|≤|≥|≠|=>|&&|\|\||[-+*/(),<>=|@:!×÷−])
    )""",
    re.VERBOSE,
)
_SAME: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "=": "==", "×": "*", "÷": "/", "−": "-", "&&": "and"}
OVER_TIME: Final = {"mean", "median", "min", "max", "baseline", "delta", "growth"}
_COMPARISONS: Final = ("<", "<=", ">", ">=", "==", "!=")
_WORDS: Final = {"and", "or", "not", "in"}


@dataclass(frozen=True, slots=True)
class Window:
    """Which steps a condition is about: ``last``/``first`` so many of those at hand, or from ``low`` to ``high``."""

    kind: str = "all"
    count: int = 0
    low: int | None = None
    high: int | None = None

    def choose(self, steps: Sequence[int]) -> list[int]:
        """The steps of an ascending list that lie in the window."""
        if self.kind == "last":
            return list(steps[-self.count :])
        if self.kind == "first":
            return list(steps[: self.count])
        low, high = self.low, self.high
        return [s for s in steps if (low is None or s >= low) and (high is None or s <= high)]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a condition: ``op`` and its parts; ``value`` of a number, ``name`` of a metric."""

    op: str
    parts: tuple[Node, ...] = ()
    value: float = 0.0
    name: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Keys that occur, each once, in order."""
        own = (self.name,) if self.op == "metric" else ()
        return tuple(dict.fromkeys([*own, *(m for part in self.parts for m in part.metrics)]))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Numbers that occur, in order."""
        own = (self.value,) if self.op == "number" else ()
        return (*own, *(n for part in self.parts for n in part.numbers))


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition.

    Attributes:
        text: as written, without window and severity.
        tree: its structure.
        window: the steps it is about.
        severity: of a breach, where the text names one.
    """

    text: str
    tree: Node
    window: Window = field(default_factory=Window)
    severity: Severity | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Keys that it needs."""
        return self.tree.metrics


def parse_condition(text: str) -> Condition:
    """Reads a condition.

    Raises:
        InputError: it is none; the message shows where and what would be right.
    """
    return _Reader(text).condition()


def parse_measure(text: str) -> Node:
    """Reads an expression that yields a number, such as ``|a - b|``.

    Raises:
        InputError: it is none.
    """
    reader = _Reader(text)
    node = reader.sum()
    reader.end()
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self.depth = 0
        position = 0
        if len(text) > LONGEST:
            raise self.error(LONGEST)
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.error(position)
            kind = str(match.lastgroup)
            word = match[kind]
            if kind == "name" and word.lower() in _WORDS:
                kind, word = "op", word.lower()
            self.tokens.append((kind, _SAME.get(word, word) if kind == "op" else word, match.start(kind)))
            position = match.end()

    def error(self, position: int) -> InputError:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "…"
        where = self.text[position : position + 12].strip()
        zh_at, en_at = (f"“{where}”处", f"at “{where}”") if where else ("结尾", "at its end")
        return InputError(
            zh=f"看不懂阈值“{shown}”（{zh_at}）。写法例如：actor/ppo_kl < 0.05，0.5 <= mean_ratio <= 2，|a - b| < 10。",
            en=f"The threshold “{shown}” cannot be read ({en_at}). Write it like actor/ppo_kl < 0.05, "
            "0.5 <= mean_ratio <= 2 or |a - b| < 10.",
        )

    # -- tokens ----------------------------------------------------------------------------------
    def peek(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            return "", ""
        kind, word, _ = self.tokens[self.at]
        return kind, word

    def here(self) -> InputError:
        return self.error(self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text))

    def take(self, *words: str) -> str | None:
        kind, word = self.peek()
        if kind == "op" and word in words:
            self.at += 1
            return word
        return None

    def need(self, word: str) -> None:
        if self.take(word) is None:
            raise self.here()

    def number(self) -> float:
        kind, word = self.peek()
        if kind != "number":
            raise self.here()
        self.at += 1
        return float(word[:-1]) / 100 if word.endswith("%") else float(word)

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self.here()

    # -- grammar ---------------------------------------------------------------------------------
    def condition(self) -> Condition:
        tree = self.either()
        stop = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        window = self.window() if self.take("@") else Window()
        severity: Severity | None = None
        if self.take("=>"):
            _, word = self.peek()
            if word not in {"info", "warning", "critical"}:
                raise self.here()
            severity = word  # type: ignore[assignment]
            self.at += 1
        self.end()
        if not tree.metrics:
            raise self.error(0)
        return Condition(self.text[:stop].strip(), tree, window, severity)

    def window(self) -> Window:
        kind, word = self.peek()
        if kind == "name" and word.lower() in {"last", "first"}:
            self.at += 1
            count = int(self.number()) if self.peek()[0] == "number" else 1
            if count < 1:
                raise self.here()
            return Window(word.lower(), count)
        low = int(self.number()) if kind == "number" else None
        if not self.take(":"):
            if low is None:
                raise self.here()
            return Window("range", low=low, high=low)
        high = int(self.number()) if self.peek()[0] == "number" else None
        return Window("range", low=low, high=high)

    def either(self) -> Node:
        parts = [self.both()]
        while self.take("or", "||"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Node("or", tuple(parts))

    def both(self) -> Node:
        parts = [self.truth()]
        while self.take("and"):
            parts.append(self.truth())
        return parts[0] if len(parts) == 1 else Node("and", tuple(parts))

    def truth(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.here()
        try:
            if self.take("not", "!"):
                return Node("not", (self.truth(),))
            back = self.at
            if self.take("("):
                try:
                    inner = self.either()
                    self.need(")")
                except InputError:
                    inner = None
                if inner is not None and self.peek()[1] not in {*_COMPARISONS, "+", "-", "*", "/", "in"}:
                    return inner
                self.at = back
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Node:
        terms, operators = [self.sum()], list[str]()
        if self.take("in"):
            self.need("(")
            low = self.sum()
            self.need(",")
            high = self.sum()
            self.need(")")
            return Node("and", (Node("<=", (low, terms[0])), Node("<=", (terms[0], high))))
        while (operator := self.take(*_COMPARISONS)) is not None:
            operators.append(operator)
            terms.append(self.sum())
        if not operators:
            raise self.here()
        links = [Node(op, (terms[i], terms[i + 1])) for i, op in enumerate(operators)]
        return links[0] if len(links) == 1 else Node("and", tuple(links))

    def sum(self) -> Node:
        node = self.product()
        while (operator := self.take("+", "-")) is not None:
            node = Node(operator, (node, self.product()))
        return node

    def product(self) -> Node:
        node = self.factor()
        while (operator := self.take("*", "/")) is not None:
            node = Node(operator, (node, self.factor()))
        return node

    def factor(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.here()
        try:
            return self._factor()
        finally:
            self.depth -= 1

    def _factor(self) -> Node:
        if self.take("-"):
            return Node("negative", (self.factor(),))
        if self.take("|"):
            inner = self.sum()
            self.need("|")
            return Node("abs", (inner,))
        if self.take("("):
            inner = self.sum()
            self.need(")")
            return inner
        kind, word = self.peek()
        if kind == "number":
            return Node("number", value=self.number())
        if kind not in {"name", "quoted"}:
            raise self.here()
        self.at += 1
        if kind == "name" and word.lower() in {*OVER_TIME, "abs"} and self.take("("):
            return self.function(word.lower())
        if kind == "name" and word.lower() == "inf":
            return Node("number", value=math.inf)
        return Node("metric", name=word)

    def function(self, name: str) -> Node:
        inner = self.sum()
        if name == "abs":
            self.need(")")
            return Node("abs", (inner,))
        if inner.op != "metric":
            raise self.here()
        count = 0.0
        if self.take(","):
            count = self.number()
            if count < 1 or count != int(count):
                raise self.here()
        self.need(")")
        return Node(name, (inner,), value=count)


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The same expression over other keys."""
    parts = tuple(renamed(part, names) for part in node.parts)
    return replace(node, parts=parts, name=names.get(node.name, node.name))


def never_holds(tree: Node) -> bool:
    """Whether joined bounds on one metric exclude each other, as ``0.5 <= x <= 0.1`` does."""
    if tree.op != "and":
        return False
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for part in tree.parts:
        ops = tuple(side.op for side in part.parts)
        if part.op not in {"<", "<=", ">", ">="} or ops not in {("metric", "number"), ("number", "metric")}:
            continue
        first, second = part.parts
        below = (part.op in {"<", "<="}) == (first.op == "metric")
        name, bound = (first.name, second.value) if first.op == "metric" else (second.name, first.value)
        if below:
            high[name] = min(bound, high.get(name, bound))
        else:
            low[name] = max(bound, low.get(name, bound))
    return any(low[name] > high[name] for name in low.keys() & high.keys())
