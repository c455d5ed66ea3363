"""The audit of any text about a log: sentence by sentence supported, contradicted, unsupported, or no claim at all.

Each number, step, unit, metric name and direction word is tied to what the log holds or implies
(:mod:`assistant.analysis`). Hypotheses, advice, questions and code blocks are no claims; a table's cells are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.across import chosen, named_in, runs_named
from assistant.ground.audited import AuditedRun, audited
from assistant.ground.binding import Carried, Frame
from assistant.ground.captions import captioned
from assistant.ground.citing import audit_of
from assistant.ground.claims import claims_of
from assistant.ground.courses import Courses
from assistant.ground.framing import carry, context_of, frame_of, subject_of
from assistant.ground.judging import Judge
from assistant.ground.listed import listed
from assistant.ground.places import places
from assistant.ground.rows import RowReader
from assistant.ground.sentences import Unit, units
from assistant.ground.verdicts import Audit, Claim, Sentence, worst
from assistant.knowledge import Resolver
from assistant.model import Fact, Run

__all__ = ["Audit", "Auditor", "Claim", "Sentence"]
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
#: Text before a sentence that is read for what it carries over, in characters.
_BEFORE: Final = 6000


_IN_THIS_LOG: Final = re.compile(
    r"(?i)^[*_\s]*(?:in this (?:log|run)|在?(?:这|本)(?:份|个|次)?(?:日志|训练|运行)(?:里|中)?)[*_\s]*[:：]"
)


class Auditor:
    """Audits texts about some runs; build once, then each sentence costs about a millisecond.

    Args:
        runs: what the texts are about; a claim that holds for one of them is supported, unless its run is named.
        resolver: from names to cards.
        facts: further facts that a text may state, such as those of the answer that it belongs to.
        language: of the reasons, ``zh`` or ``en``; that of the text by default.
        quotes: texts of cards; a sentence that stands in one of them word by word is no claim about the log.
    """

    def __init__(
        self, runs: Sequence[Run], resolver: Resolver, *, facts: Iterable[Fact] = (), language: str | None = None,
        quotes: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.readers = [audited(run, resolver) for run in runs]
        self.extra = tuple(facts)
        self.language = language
        self.quotes = [re.sub(r"\s+", " ", text) for text in (quotes or {}).values()]

    def audit(self, text: str) -> Audit:
        """A whole text."""
        language = self.language or ("zh" if len(_CHINESE.findall(text)) > 0.05 * len(text) else "en")
        all_units = captioned(text, units(text))
        judged = [self._units(reader, text, all_units, language) for reader in self.readers]
        if judged:
            order: list[int] = []
            picked = []
            for unit, options in zip(all_units, zip(*judged, strict=True), strict=True):
                picked.append(chosen(options, self.readers, language, unit, order))
                order = runs_named(options[0].text, self.readers) or ([] if unit.fresh else order)
            sentences = tuple(picked)
        else:
            sentences = tuple(Sentence(text[u.start : u.end], u.start, u.end, "no_claim") for u in all_units)
        return audit_of(sentences, [reader.ledger for reader in self.readers])

    def sentence(self, text: str, before: str = "") -> Sentence:
        """One sentence after the text already shown: steps and metrics carry over from ``before``.

        Where ``text`` holds several sentences, they are judged in turn and told as one.
        """
        before = before[-_BEFORE:]
        if before and not before.endswith(("\n", " ")) and not _CHINESE.match(text):
            before += " "
        whole = before + text
        language = self.language or ("zh" if _CHINESE.search(text) else "en")
        all_units = units(whole)
        judged = [self._units(reader, whole, all_units, language, start=len(before)) for reader in self.readers]
        options = [chosen(pair, self.readers, language) for pair in zip(*judged, strict=True)] if judged else []
        claims = tuple(
            replace(claim, start=claim.start - len(before), end=claim.end - len(before))
            for part in options for claim in part.claims
        )  # fmt: skip
        return Sentence(text, 0, len(text), worst(claims), claims)

    def subjects(self, sentences: Iterable[str]) -> tuple[list[str], list[int]]:
        """The metrics and the steps that some sentences name, those named first first."""
        keys: dict[str, None] = {}
        steps: dict[int, None] = {}
        for text in sentences:
            for reader in self.readers:
                held = set(reader.table.steps)
                keys.update((name.keys[0], None) for name in reader.lexicon.named(text) if name.keys)
                found = [step for place in places(text, reader.table.steps) for step in place.steps]
                steps.update((step, None) for step in found if step in held)
        return list(keys), list(steps)

    # -- one run ---------------------------------------------------------------------------------
    def _units(
        self, reader: AuditedRun, text: str, all_units: Sequence[Unit], language: str, start: int = 0
    ) -> list[Sentence]:
        """The sentences from ``start`` on; those before are only read for what carries over."""
        with reader.lock:
            return self._judged(reader, text, all_units, language, start)

    def _judged(
        self, reader: AuditedRun, text: str, all_units: Sequence[Unit], language: str, start: int
    ) -> list[Sentence]:
        judge = Judge(reader.table, language)
        courses = Courses(judge)
        rows, lists = (RowReader(reader.lexicon, judge, self.extra) for _ in range(2))
        told_rows = listed(text, all_units, rows.is_title, rows.is_label)
        from_rows: dict[int, list[Claim]] = {}
        told_cells: dict[int, tuple[tuple[int, int], ...]] = {}
        labels: set[int] = set()  # of rows that are borne out
        prefix = f"{next(n for n, r in enumerate(self.readers) if r is reader)}:"
        carried = Carried()
        result = []
        subject = subject_of(reader, text, all_units)

        def sentence(words: str, at: int, context: Carried) -> list[Claim]:
            frame = frame_of(reader, words, context, ())
            judge.begin()
            return claims_of(frame, judge, courses, Unit(at, at + len(words), "prose"), self.extra)

        rows.prose = lists.prose = sentence
        for number, unit in enumerate(all_units):
            part = text[unit.start : unit.end]
            context = context_of(reader, unit, carried)
            if (row := told_rows.get(number)) is not None and row.row.end > start:
                if row.first:
                    lists.begin()
                told = lists.claims(text, row.row, context_of(reader, unit, Carried()))
                if told and len(row.units) > 1 and all(claim.status == "supported" for claim in told):
                    labels.add(number)
                told_cells.update(dict.fromkeys(row.units, row.row.cells))
                for at in row.units:
                    from_rows[at] = [c for c in told if all_units[at].start <= c.start < all_units[at].end]
            if subject is not None and _IN_THIS_LOG.match(part):
                context = replace(context, names=(subject,))
            if unit.end <= start:
                if unit.kind not in {"code", "row", "header"}:
                    frame = frame_of(reader, part, context, named_in(part, self.readers))
                    carried = carry(frame, carried, judge)
                continue
            if unit.kind in {"code", "header"} or any(
                re.sub(r"\s+", " ", part.strip()) in quote for quote in self.quotes if len(part) > 12
            ):
                if unit.kind == "header":
                    rows.begin()
                result.append(Sentence(part, unit.start, unit.end, "no_claim"))
                continue
            if unit.kind == "row":
                claims = rows.claims(text, unit, context)
            else:
                frame = frame_of(reader, part, context, named_in(part, self.readers))
                judge.begin()

                def reframe(words: str, context: Carried = context) -> Frame:
                    return frame_of(reader, words, context, named_in(words, self.readers))

                claims = claims_of(frame, judge, courses, unit, self.extra, reframe)
                claims = (
                    []
                    if number in labels
                    else lists.settled(text, unit, claims, from_rows.get(number, []), told_cells.get(number, ()))
                )
                carried = carry(frame, carried, judge)
                claims = [replace(c, text=text[c.start : c.end]) for c in claims]  # rounds as they were written
            claims = [replace(c, fact=None if c.fact is None else prefix + c.fact) for c in claims]
            result.append(Sentence(part, unit.start, unit.end, worst(tuple(claims)), tuple(claims)))
        return result
