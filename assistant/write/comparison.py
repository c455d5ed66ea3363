"""A comparison as text: verdict, table, reasons, and what it does not mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assistant.model import Fact, Run, Verdict
from assistant.model.answer import Confidence
from assistant.write.document import Document, mark, unmark

#: Bases that bound the noise from above instead of estimating it; they are shown with ≤.
BOUNDS = frozenset({"bound", "fraction_bound", "share_bound"})
#: Reasons that limit what a verdict means, in the order in which they are said; the others say why.
LIMITS = (
    "best_of_many", "one_of_many", "same_problems", "reward_is_training", "no_direction", "one_run_each", "corrected",
)  # fmt: skip
_REFERENCE = re.compile(r" ?\[K\d+\]")
#: Shares below this are written as plain numbers.
TINY_SHARE = 1e-6
#: Remarks under the table: what ± rests on.
NOTES = "basis_"
#: Most lines of metrics that were not compared.
MOST_LEFT_OUT = 6


class Side(Protocol):
    """As :class:`assistant.analysis.compare_model.Side`: what is written knows its shape only."""

    @property
    def run(self) -> Run: ...  # noqa: D102
    @property
    def first(self) -> int: ...  # noqa: D102
    @property
    def last(self) -> int: ...  # noqa: D102
    @property
    def single(self) -> bool: ...  # noqa: D102


class Reason(Protocol):
    """As :class:`assistant.analysis.compare_model.Reason`."""

    @property
    def code(self) -> str: ...  # noqa: D102
    @property
    def values(self) -> Mapping[str, Fact | str | int]: ...  # noqa: D102


class Row(Protocol):
    """As :class:`assistant.analysis.compare_model.Row`."""

    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def other(self) -> str: ...  # noqa: D102
    @property
    def change(self) -> Fact: ...  # noqa: D102
    @property
    def half(self) -> Fact | None: ...  # noqa: D102
    @property
    def wide(self) -> bool: ...  # noqa: D102
    @property
    def code(self) -> str: ...  # noqa: D102
    @property
    def p_corrected(self) -> Fact | None: ...  # noqa: D102


class Comparison(Protocol):
    """As :class:`assistant.analysis.compare_model.Comparison`."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def a(self) -> Side: ...  # noqa: D102
    @property
    def b(self) -> Side: ...  # noqa: D102
    @property
    def verdict(self) -> str: ...  # noqa: D102
    @property
    def confidence(self) -> Confidence: ...  # noqa: D102
    @property
    def rows(self) -> Sequence[Row]: ...  # noqa: D102
    @property
    def decisive(self) -> Sequence[Row]: ...  # noqa: D102
    @property
    def reasons(self) -> Sequence[Reason]: ...  # noqa: D102
    @property
    def not_comparable(self) -> Sequence[Reason]: ...  # noqa: D102


class Ledger(Protocol):
    """Where the facts of the text itself are entered."""

    def derived(self, name: str, value: Any, *, formula: str, inputs: Any, unit: str | None = None) -> Fact:
        """A named quantity."""

    def count(self, name: str, value: int) -> Fact:
        """A count."""


def write_comparison(
    doc: Document, ledger: Ledger, comparison: Comparison, *, grave: Sequence[tuple[str, str]] = (),
    further: Sequence[tuple[str, str]] = (),
) -> Verdict:  # fmt: skip
    """Writes a comparison into a document; returns the verdict with its sentence.

    Every number is a field of a fact of the ledger.

    Args:
        doc: the document.
        ledger: its facts.
        comparison: what was found.
        grave: critical diagnoses that one side alone has, as (``a`` or ``b``, sentence); they are told first.
        further: other diagnoses of one side alone, told among the reasons.
    """
    writer = _Writer(doc, ledger, comparison, grave, further)
    return writer.write()


class _Writer:
    def __init__(
        self, doc: Document, ledger: Ledger, comparison: Comparison, grave: Sequence[tuple[str, str]],
        further: Sequence[tuple[str, str]],
    ) -> None:  # fmt: skip
        self.doc, self.ledger, self.comparison = doc, ledger, comparison
        self.grave, self.further = grave, further
        level = ledger.derived("confidence_level", 0.95, formula="1 − 0.05", inputs=[], unit="fraction")
        self.level = mark(level.id, "95%")

    def write(self) -> Verdict:
        doc, given = self.doc, self.comparison
        reasons = [reason for reason in given.reasons if reason.code != "noise_unknown"]
        first = self.reason(reasons[0]) if reasons else ""
        lead = "" if self.doc.language == "zh" else " "
        # The references stand with the same diagnosis among the findings; a headline goes without.
        told = [_REFERENCE.sub("", self.lone(*one)) for one in self.grave[:1]]
        first = lead.join(told + [first] * bool(first))
        summary = doc.say(f"comparison.verdict_{self.verdict()}", first=first)
        doc.paragraph(f"**{summary}**")
        phrase = "comparison.sides" if given.rows else "comparison.sides_only"
        doc.paragraph(doc.say(phrase, a=self.side(given.a), b=self.side(given.b)))
        self.table()
        notes = [reason for reason in given.reasons if reason.code.startswith(NOTES) or reason.code == "noise_unknown"]
        doc.paragraph(*(self.reason(reason) for reason in notes))
        limits = sorted((r for r in reasons if r.code in LIMITS), key=lambda r: LIMITS.index(r.code))
        why = [r for r in reasons[1:] if r.code not in LIMITS and r not in notes]
        lone = [self.lone(*one) for one in (*self.grave[1:], *self.further)]
        if why or lone:
            doc.heading("comparison.section_reasons")
            doc.bullets([*lone, *(self.reason(reason) for reason in why)])
        if limits and given.verdict != "not_comparable":
            doc.heading("comparison.section_limits")
            doc.bullets([self.reason(reason) for reason in limits])
        self.left_out()
        return Verdict(given.verdict, unmark(summary), given.confidence)

    def verdict(self) -> str:
        """The verdict's phrase: what changed without better or worse, and what a diagnosis alone makes mixed, have
        phrases of their own."""
        given = self.comparison
        first = given.reasons[0].code if given.reasons else ""
        if given.verdict == "inconclusive" and first in {"row_changed", "row_constant", "row_other_scale"}:
            return "changed"
        both = {"improved", "regressed"} <= {row.code for row in given.decisive}
        return "mixed_grave" if given.verdict == "mixed" and self.grave and not both else given.verdict

    def lone(self, side: str, sentence: str) -> str:
        """A diagnosis of one side; of two parts of one run each is read with all that went before it."""
        a, b = self.comparison.a, self.comparison.b
        if a.run is not b.run:
            return self.doc.say(f"comparison.only_{side}", finding=sentence)
        here, there = (a, b) if side == "a" else (b, a)
        return self.doc.say("comparison.only_up_to", here=here.last, there=there.last, finding=sentence)

    def side(self, side: Side) -> str:
        """A side as text, with the run's name where there are two."""
        say = self.doc.say
        text = (
            say("comparison.step", first=side.first) if side.single
            else say("comparison.window", first=side.first, last=side.last)
        )  # fmt: skip
        return say("comparison.in_run", name=side.run.name, side=text) if self.comparison.kind == "runs" else text

    def reason(self, reason: Reason) -> str:
        """A reason as a sentence; halves and bands are shown in the unit of the change beside them."""
        values = dict(reason.values)
        change, level = values.get("c"), self.level
        if isinstance(change, Fact):
            half = values.get("half")
            if isinstance(half, Fact) and half.at_least:
                level = self.doc.say("comparison.at_least", level=level)
            for name in ("half", "band"):
                fact = values.get(name)
                if isinstance(fact, Fact):
                    values[name] = self.width(fact, change)
        return self.doc.say(f"comparison.{reason.code}", **values, level=level)

    def width(self, fact: Fact, change: Fact) -> str:
        """Half of an interval."""
        kind = self.kind(change)
        return self.doc.show(fact, None, "points" if kind == "fraction" else kind)

    def kind(self, change: Fact) -> str:
        """The kind of a change's numbers; shares too small for per cent are plain, all in one unit."""
        kind = self.doc.kind_of(str(change.metric))
        sizes = [abs(value) for value in (change.from_value, change.to_value) if value]
        return "number" if kind == "fraction" and sizes and max(sizes) < TINY_SHARE else kind

    def table(self) -> None:
        """One line a metric; empty without rows."""
        say = self.doc.say
        columns = [say(f"comparison.head_{name}") for name in ("change", "half", "p", "mark")]
        self.doc.table([say("head.metric"), "A", "B", *columns], [self.line(row) for row in self.comparison.rows])

    def line(self, row: Row) -> list[str]:
        doc, change = self.doc, row.change
        kind = self.kind(change)
        half = "—"
        if row.half is not None and not row.wide:
            shown = self.width(row.half, change)
            half = doc.say("noise.at_most", noise=shown) if change.noise_basis in BOUNDS else shown
        name = f"`{row.metric}`" if row.metric == row.other else f"`{row.metric}` / `{row.other}`"
        return [
            name, *(doc.show(change, part, kind) for part in ("from", "to", "delta")), half,
            "—" if row.p_corrected is None else doc.show(row.p_corrected, "p").removeprefix("= "),
            doc.say(f"comparison.mark_{self.mark(row)}"),
        ]  # fmt: skip

    @staticmethod
    def mark(row: Row) -> str:
        """The row's mark; what is exactly zero on one side alone is told as that."""
        ends = row.change.from_value, row.change.to_value
        if row.code != "changed" or (ends[0] == 0) == (ends[1] == 0):
            return row.code
        return "zero_b" if ends[1] == 0 else "zero_a"

    def left_out(self) -> None:
        """Metrics that were not compared, and why."""
        left = [reason for reason in self.comparison.not_comparable if reason not in self.comparison.reasons]
        if not left:
            return
        self.doc.heading("comparison.section_left_out")
        lines = [self.reason(reason) for reason in left[:MOST_LEFT_OUT]]
        if len(left) > MOST_LEFT_OUT:
            more = self.ledger.count("metrics_left_out", len(left) - MOST_LEFT_OUT)
            lines.append(self.doc.say("comparison.more_left_out", n=more))
        self.doc.bullets(lines)
