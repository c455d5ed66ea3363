"""The rules by which logs are judged, as a list for readers."""

from __future__ import annotations

from typing import Any

from assistant.analysis.diagnosis.rules import rules
from assistant.knowledge import Resolver
from assistant.service.thresholds import shipped


def rule_list(resolver: Resolver, language: str) -> dict[str, Any]:
    """Failure modes and thresholds.

    Args:
        resolver: for the titles of the failure modes' cards.
        language: ``zh`` or ``en``.

    Returns:
        ``{"diagnosis": [{"rule", "mode", "title", "short", "card", "severities", "steps"}], "thresholds": [{"id",
        "condition", "severity", "frameworks", "source"}]}``; ``steps`` is the least number of steps a rule needs.
    """
    diagnosis = []
    for rule in rules():
        card = resolver.library.get(rule.card)
        grades = {"critical": rule.critical, "warning": rule.warning, "info": rule.info}
        diagnosis.append(
            {
                "rule": rule.rule, "mode": rule.mode, "title": card.title(language) if card else rule.rule,
                "short": card.short(language) if card else "", "card": rule.card,
                "severities": [name for name, grade in grades.items() if grade is not None], "steps": rule.steps,
            }
        )  # fmt: skip
    limits = [
        {
            "id": limit.id, "condition": limit.text, "severity": limit.severity,
            "frameworks": list(limit.frameworks), "source": limit.source,
        }
        for limit in shipped()
    ]  # fmt: skip
    return {"diagnosis": diagnosis, "thresholds": limits}
