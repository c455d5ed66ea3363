"""Answers as a page of HTML, for surfaces that may not reach for the writer themselves."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.model import Answer, Run


def page(answers: Sequence[Answer], runs: Sequence[Run]) -> str:
    """One self-contained page: the answers, their charts, findings and ledgers, and every metric of the runs."""
    from assistant.write.report import report

    return report(answers, runs)
