"""The offline engine's own answers put to the audit: every claim in them is true, so none may be refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from assistant.service.facade import Material, Source, service
from evals.faithfulness.score import BAD
from evals.questions import logs
from evals.questions.expected import questions

_SEED: Final = 5
LANGUAGES: Final = ("zh", "en")


@dataclass
class Own:
    """How the sentences of the answers were judged.

    Attributes:
        counts: (language, status) → sentences.
        refused: question, status, sentence, first reason.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: list[tuple[str, str, str, str]] = field(default_factory=list)

    def table(self) -> str:
        """The counts, as Markdown."""
        lines = ["| language | sentences with a claim | refused | supported |", "| --- | ---: | ---: | ---: |"]
        for name in (*LANGUAGES, "all"):
            held = {s: sum(n for (lang, status), n in self.counts.items() if status == s and name in {lang, "all"})
                    for s in (*BAD, "supported")}  # fmt: skip
            whole, bad = sum(held.values()), sum(held[s] for s in BAD)
            part = f"{bad} ({100 * bad / whole:.1f}%)" if whole else "—"
            lines.append(f"| {name} | {whole} | {part} | {held['supported']} |")
        return "\n".join(lines)

    def misses(self) -> str:
        """What was refused, a line each."""
        return "\n".join(f"{name} {status}: {text}\n    {reason}" for name, status, text, reason in self.refused)


def own(most: int | None = None) -> Own:
    """The answers to the open questions, audited against the logs that they are about.

    Args:
        most: so many questions, drawn the same way each time; all by default.
    """
    from assistant.service.verifying import verify

    chosen = list(questions("open"))
    random.Random(_SEED).shuffle(chosen)
    read: dict[tuple[str, ...], Material] = {}
    found = Own()
    for question in chosen[:most]:
        if question.runs not in read:
            read[question.runs] = service().read([Source(f"{run}.log", logs.text(run)) for run in question.runs])
        state, explained = None, None
        for turn in question.turns:
            explained = service().explain(read[question.runs], turn, state=state, engine="offline")
            state = explained.state
        if explained is None or not explained.answer.runs:
            continue
        answer = explained.answer
        for sentence in verify(read[question.runs], answer.answer).sentences:
            found.counts[answer.language, sentence.status] += 1
            if sentence.status in BAD:
                reason = next((c.reason for c in sentence.claims if c.status in BAD), "")
                found.refused.append((question.id, sentence.status, sentence.text, reason))
    return found
