"""From the check's verdicts on the cases to tables: what was caught, what was wrongly refused, what was understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evals.faithfulness.cases import Case

BAD: Final = frozenset({"contradicted", "unsupported"})
STATUSES: Final = BAD | {"supported", "no_claim"}
LANGUAGES: Final = ("zh", "en")
HIDDEN: Final = frozenset({"held"})
"""Halves of which only scores are shown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the check said of a case.

    Attributes:
        case: the case.
        statuses: of its sentences.
        reasons: for display: sentence, status, reasons of its claims.
        error: what failed, if the check did.
    """

    case: Case
    statuses: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    error: str = ""

    @property
    def flagged(self) -> bool:
        """Whether a sentence would be withheld: contradicted or unsupported. A check that fails is wrong either way."""
        if self.error:
            return self.case.truth != "false"
        return any(status in BAD for status in self.statuses)

    @property
    def contradicted(self) -> bool:
        """Whether a sentence is contradicted by the log."""
        return "contradicted" in self.statuses

    @property
    def supported(self) -> bool:
        """Whether a sentence is tied to the log and none is withheld."""
        return not self.flagged and "supported" in self.statuses

    @property
    def missed(self) -> bool:
        """Whether the check was wrong: a falsehood let through, or anything else withheld."""
        return self.flagged != (self.case.truth == "false")


def outcome(case: Case, answer: Mapping[str, Any]) -> Outcome:
    """Reads the answer of ``POST /verify``.

    Raises:
        ValueError: if the answer has no sentences, or a status that the contract does not name.
    """
    sentences = answer.get("sentences")
    if not isinstance(sentences, list | tuple):
        raise ValueError("the answer has no list of sentences")  # noqa: TRY004
    for sentence in sentences:
        if sentence["status"] not in STATUSES:
            raise ValueError(f"status {sentence['status']!r} is none of {', '.join(sorted(STATUSES))}")
    reasons = tuple(
        f"{sentence['status']}: {sentence['text']}"
        + "".join(f"\n        {claim['status']}: {claim['text']} — {claim['reason']}" for claim in sentence["claims"])
        for sentence in sentences
    )
    return Outcome(case, tuple(sentence["status"] for sentence in sentences), reasons)


def share(outcomes: Sequence[Outcome], test: Callable[[Outcome], bool]) -> str:
    """``12/40 (30%)``; a dash where there is nothing to count."""
    if not outcomes:
        return "—"
    count = sum(map(test, outcomes))
    return f"{count}/{len(outcomes)} ({100 * count / len(outcomes):.1f}%)"


def tables(outcomes: Sequence[Outcome]) -> str:
    """All tables of one half, as Markdown."""
    failed = sum(bool(one.error) for one in outcomes)
    remark = [f"The check itself failed on {failed} of {len(outcomes)} texts; each counts as wrong."] if failed else []
    return "\n\n".join([*remark, _by_language(outcomes), _by_falsehood(outcomes), _by_kind(outcomes)])


def _by_language(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for name in (*LANGUAGES, "all"):
        own = [one for one in outcomes if name in {one.case.language, "all"}]
        true, false, silent = (_of(own, truth) for truth in ("true", "false", "no_claim"))
        rows.append(
            [
                *(name, share(false, lambda one: one.flagged), share(false, lambda one: one.contradicted)),
                *(share(true, lambda one: one.flagged), share(true, lambda one: one.supported)),
                share(silent, lambda one: one.flagged),
            ]
        )
    head = ["language", "false: caught", "false: contradicted", "true: refused", "true: supported", "no claim: refused"]
    return _table(head, rows)


def _by_falsehood(outcomes: Sequence[Outcome]) -> str:
    false = _of(outcomes, "false")
    rows = []
    for kind in sorted({str(one.case.falsehood) for one in false}):
        own = [one for one in false if one.case.falsehood == kind]
        by_language = [[one for one in own if one.case.language == language] for language in LANGUAGES]
        caught = [share(some, lambda one: one.flagged) for some in (*by_language, own)]
        rows.append([kind, *caught, share(own, lambda one: one.contradicted)])
    return _table(["falsehood", "caught: zh", "en", "all", "contradicted"], rows)


def _by_kind(outcomes: Sequence[Outcome]) -> str:
    true = [one for one in outcomes if one.case.truth != "false"]
    rows = []
    for kind in sorted({one.case.kind for one in true}):
        own = [one for one in true if one.case.kind == kind]
        by_language = [[one for one in own if one.case.language == language] for language in LANGUAGES]
        refused = [share(some, lambda one: one.flagged) for some in (*by_language, own)]
        rows.append([kind, *refused, share(own, lambda one: one.supported)])
    return _table(["true sentence", "refused: zh", "en", "all", "supported"], rows)


def _of(outcomes: Iterable[Outcome], truth: str) -> list[Outcome]:
    return [one for one in outcomes if one.case.truth == truth]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def misses(outcomes: Iterable[Outcome]) -> str:
    """What the check got wrong; nothing of the sets whose sentences are not shown."""
    lines = []
    for one in outcomes:
        if one.missed and one.case.half not in HIDDEN:
            about = ", ".join(run for _, run in one.case.runs)
            what = f"false ({one.case.falsehood})" if one.case.truth == "false" else one.case.truth
            lines.append(f"{one.case.id} [{about}] {what}: {one.case.text}")
            lines += [f"    {reason}" for reason in one.reasons] or [f"    {one.error}"]
    return "\n".join(lines)
