"""What was decided of one number or word."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.ground.verdicts import Status


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of a number: status, reason, the deciding fact, and the metric and step it was tied to.

    ``final`` where the sentence's words leave no other reading open.
    """

    status: Status
    reason: str = ""
    fact: str | None = None
    key: str | None = None
    step: int | None = None
    final: bool = False
