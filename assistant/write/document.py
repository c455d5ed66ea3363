"""An answer under construction: blocks of Markdown in which every number carries its fact's id.

While text is built, a number is wrapped in control characters that no log or card holds:
``\\x02`` id ``\\x03`` text ``\\x04``. :meth:`Document.render` takes them out and returns where each stood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assistant.model import Citation, Fact, Mention, Number
from assistant.write.numbers import beside, format_number, percent, plain, signed
from assistant.write.phrases import FIELD, PLURAL, Phrases, phrases

KindOf = Callable[[str], str]

_MARK = re.compile("\x02([^\x03]*)\x03([^\x02\x03\x04]*)\x04")
_LOOSE = re.compile("(?<=[\u3400-\u9fff）])(\x04?) (?=[\u3400-\u9fff])")
#: A step in a phrase: the word before a field.
_STEP = re.compile(r"\b[Ss]teps? (?=\{)|^[Ss]tep$")
#: A count of training steps, which of a log that does not print every step is one of rows (``total``: as configured).
_COUNTED = {
    "en": re.compile(r"(\{(?!total)(\w+):integer\}) training (?:\{\2\|step\|steps\}|steps\b)"),
    "zh": re.compile(r"(\{(?!total)(\w+):integer\}) 个训练步"),
}
_ROWS = {"en": r"\1 logged {\2|row|rows}{logged_rows}", "zh": r"{logged_rows}\1 条训练记录"}
Value = Fact | str | int | float | Sequence[int]


_PER_GPU = re.compile(r"^perf/throughput$|tps_gpu$|per_gpu(?:_s)?$")
"""Rates of one GPU, whose unit says so."""


def per_gpu(metric: str) -> str:
    """The end of a rate's unit where the metric is a rate of each GPU; empty for any other."""
    return "/GPU" if _PER_GPU.search(metric) else ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Finished Markdown and the characters of it that state facts."""

    text: str
    mentions: tuple[Mention, ...]


class Document:
    """Collects blocks in one language.

    Args:
        language: ``zh`` or ``en``.
        kind_of: metric key → number kind (from its card).
    """

    def __init__(self, language: str, kind_of: KindOf, table: Phrases | None = None) -> None:
        self.language = language
        self.kind_of = kind_of
        self.phrases = table or phrases()
        self.blocks: list[str] = []
        self.citations: dict[str, Citation] = {}
        self.limits: set[float] = set()
        """Numbers that values are set against: those next to one are shown with as many digits as tell them apart."""
        self.rows = False
        """Whether the log prints no steps: what is called a step elsewhere is then the place of a row."""
        self.logged: tuple[int, int] | None = None
        """First and last training step of a log that does not print every one: its rows are no count of steps."""

    # -- text with facts -------------------------------------------------------------------------
    def say(self, phrase: str, /, **values: Value) -> str:
        """A phrase with its fields filled; numbers stay tied to their facts."""

        def fill(match: re.Match[str]) -> str:
            name, part, style = match.groups()
            if name not in values:
                raise KeyError(f"phrase {phrase} needs {name}")
            return self.show(values[name], part, style)

        def inflect(match: re.Match[str]) -> str:
            value = values[match[1]]
            number = value.value if isinstance(value, Fact) else value
            return match[2] if number == 1 else match[3]

        text = self.phrases.get(phrase, self.language)
        if self.rows or self.logged is not None:
            text = _COUNTED[self.language].sub(_ROWS[self.language], text)
            values["logged_rows"] = "" if self.rows else self._span()
        if self.rows:
            text = _STEP.sub("记录 " if self.language == "zh" else "row ", text)
            text = text.replace("per step", "per row").replace("每步", "每条记录")
        return FIELD.sub(fill, PLURAL.sub(inflect, text))

    def show(self, value: Value, part: str | None = None, style: str | None = None) -> str:
        """A fact (or part of one) as text."""
        if isinstance(value, str):
            return value
        if isinstance(value, Fact):
            return self._fact(value, part, style)
        if isinstance(value, (int, float)):
            return self.step(int(value)) if style is None else format_number(value, style, language=self.language)
        return ("、" if self.language == "zh" else ", ").join(self.step(v) for v in value)

    def _span(self) -> str:
        """From which step to which the rows of the log reach, as it stands beside their number."""
        first, last = (self.step(step) for step in self.logged or (0, 0))
        return f"step {first} 到 {last} 的 " if self.language == "zh" else f" (steps {first} to {last})"

    def step(self, step: int) -> str:
        """A step's number, marked as such so that the check can look it up."""
        return mark(f"step:{step}", str(step))

    def _fact(self, fact: Fact, part: str | None, style: str | None) -> str:
        kind = style or self._kind(fact)
        language = self.language
        each = per_gpu(fact.metric or "") if style is None and kind == "rate" else ""
        number: Number | None
        if part in {"delta", "slope"}:
            number = fact.delta if part == "delta" else fact.slope_per_step
            return mark(fact.id, signed(number or 0, kind, language=language) + each)
        if part in {"low", "high"} and fact.kind == "trend":  # of the slope
            return mark(fact.id, signed(getattr(fact, part) or 0, kind, language=language))
        if part in {"growth", "growth_low", "growth_high"}:
            share = getattr(fact, "growth_per_step" if part == "growth" else part) or 0
            return mark(fact.id, f"{'+' if share > 0 else ''}{percent(share * 100)}%")
        if part == "rel":
            return mark(fact.id, self._relative(fact))
        if part == "ratio":
            return mark(fact.id, f"{plain(fact.ratio or 0)}×")
        if part == "noise":
            unsigned = signed(fact.noise or 0, kind, language=language).lstrip("+±")
            return mark(fact.id, unsigned)
        if part == "p":
            small = (fact.p_value or 0) < 0.001
            return ("< " if small else "= ") + mark(fact.id, "0.001" if small else plain(fact.p_value or 0, 2))
        if part == "n":
            return mark(fact.id, str(fact.n))
        if part == "limit":
            return mark(fact.id, str(fact.limit))
        if part == "line":
            return mark(fact.id, str(fact.line))
        if part == "metric":
            return str(fact.metric)
        if part in {"step", "from_step", "to_step", "first_step", "last_step"}:
            return self.step(getattr(fact, part))
        number = {  # type: ignore[assignment]
            "from": fact.from_value, "to": fact.to_value, None: fact.value, "value": fact.value,
            "low": fact.low, "high": fact.high,
        }[part]  # fmt: skip
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            return str(number)
        if kind == "points":
            return mark(fact.id, signed(number, "fraction", language=language).lstrip("+±"))
        return mark(fact.id, beside(number, self.limits, kind, language=language) + each)

    def _relative(self, fact: Fact) -> str:
        if fact.ratio is None or fact.from_value is None or fact.from_value == 0:
            return "—"
        if fact.from_value < 0 or fact.ratio < 0:
            return "—"
        change = (fact.ratio - 1) * 100
        if abs(change) >= 1000:
            return f"{plain(fact.ratio)}×"
        decimals = 0 if abs(change) >= 10 else 1 if abs(change) >= 0.1 else 2
        text = f"{change:+.{decimals}f}%"
        return "±0%" if float(text[:-1]) == 0 else text

    def _kind(self, fact: Fact) -> str:
        if fact.kind == "share" or fact.unit == "fraction":
            return "fraction"
        if fact.unit == "s":
            return "seconds"
        if fact.unit == "tokens/s":
            return "rate"
        if fact.metric is not None and fact.kind in {"value", "change", "trend"}:
            return self.kind_of(fact.metric)
        return "number"

    # -- blocks ----------------------------------------------------------------------------------
    def heading(self, phrase: str, /, **values: Value) -> None:
        """A third-level heading."""
        self.blocks.append("### " + self.say(phrase, **values))

    def paragraph(self, *texts: str) -> None:
        """Sentences joined into one paragraph; empty ones are left out."""
        kept = [text for text in texts if text]
        if kept:
            self.blocks.append(("" if self.language == "zh" else " ").join(kept))

    def bullets(self, texts: Sequence[str]) -> None:
        """A list; nothing if it is empty."""
        kept = [text for text in texts if text]
        if kept:
            self.blocks.append("\n".join(f"- {text}" for text in kept))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A Markdown table; nothing without rows."""
        if not rows:
            return
        lines = [_row(header), _row(["---"] * len(header))]
        lines += [_row(row) for row in rows]
        self.blocks.append("\n".join(lines))

    def cite(self, card: str, title: str, source: str) -> str:
        """Registers a card and returns its reference, such as ``[K1]``."""
        if card not in self.citations:
            self.citations[card] = Citation(f"K{len(self.citations) + 1}", card, title, source)
        return f"[{self.citations[card].id}]"

    def quote(self, card: str, title: str, source: str, text: str) -> str:
        """A passage of a card, verbatim, marked so that the check compares it with the card."""
        self.cite(card, title, source)
        return mark(self.citations[card].id, text)

    # -- finishing -------------------------------------------------------------------------------
    def markup(self) -> str:
        """The text so far, marks included; in Chinese, no blank between a unit and the character after it."""
        text = "\n\n".join(
            block
            for block, after in zip(self.blocks, [*self.blocks[1:], ""], strict=True)
            if not block.startswith("### ") or (after and not after.startswith("### "))
        )
        return _LOOSE.sub(r"\1", text) if self.language == "zh" else text


def mark(fact_id: str, text: str) -> str:
    """Text that states a fact."""
    return f"\x02{fact_id}\x03{text}\x04"


def unmark(markup: str) -> str:
    """Marked text as plain text."""
    return _MARK.sub(lambda m: m[2], markup)


def marked_ids(markup: str) -> list[str]:
    """Ids in marked text, in order, repeats included."""
    return [match[1] for match in _MARK.finditer(markup)]


def render(markup: str, names: Mapping[str, str] | None = None) -> Rendered:
    """Plain text and mentions of marked text; ``names`` maps old fact ids to final ones."""
    pieces, mentions, length, last = [], [], 0, 0
    for match in _MARK.finditer(markup):
        before = markup[last : match.start()]
        pieces.append(before)
        length += len(before)
        name = (names or {}).get(match[1], match[1])
        mentions.append(Mention(length, length + len(match[2]), name))
        pieces.append(match[2])
        length += len(match[2])
        last = match.end()
    pieces.append(markup[last:])
    return Rendered("".join(pieces), tuple(mentions))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
