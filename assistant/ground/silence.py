"""Sentences that say nothing of the log: plans, requests, rules of thumb, definitions, other work, settings.

What marks them is data (``silence.yaml``). A sentence that names a step of the run, points at the run ("this run",
日志里) or tells a change from one value to another is never one of these, whatever else it holds.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ground.binding import Frame

RULES: Final = Path(__file__).with_name("silence.yaml")
_FIELDS: Final = {"id", "text", "needs", "except", "examples", "claims", "steps", "always"}
#: Words that point at the run, so that what is said with them is said of the log.
_OF_THIS_LOG: Final = re.compile(
    r"(?i)\b(?:this|the current|our|your) (?:run|log|training|job|experiment|model|policy)\b|\bin (?:this|the|your) log\b|\bhere\b|\bso far\b|\bthroughout\b|"
    r"\b(?:ended|peaked|started|reached|rose|fell|averaged)\b|日志(?:里|中|显示|记录)|(?:这|本)(?:次|个|份|轮)(?:训练|实验|run|日志)|目前|迄今|全程|末步|最后(?:一步)?(?:是|为|到)"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One mark of such a sentence.

    Attributes:
        id: its name.
        text: what is searched in the sentence.
        needs: what the sentence must hold besides.
        but: what it must not hold.
        steps: whether it may name steps (a plan's).
        always: whether it may point at the run.
        examples, claims: sentences that it must, and must not, match.
    """

    id: str
    text: re.Pattern[str]
    needs: re.Pattern[str] | None = None
    but: re.Pattern[str] | None = None
    steps: bool = False
    always: bool = False
    examples: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()

    def matches(self, text: str) -> bool:
        """Whether a sentence bears the mark."""
        if not self.text.search(text) or (self.needs is not None and not self.needs.search(text)):
            return False
        return self.but is None or not self.but.search(text)


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The shipped rules.

    Raises:
        ValueError: naming the rule and what is wrong with it.
    """
    table: dict[str, Any] = resources.yaml_table(RULES)
    return tuple(_rule(entry) for entry in table["rules"])


def _rule(entry: dict[str, Any]) -> Rule:
    name = str(entry.get("id", entry))
    if unknown := set(entry) - _FIELDS:
        raise ValueError(f"{RULES.name}: {name}: unknown field {', '.join(sorted(unknown))}")
    if not entry.get("text") or not entry.get("examples"):
        raise ValueError(f"{RULES.name}: {name}: needs text and examples")
    try:
        text, needs, but = (
            re.compile(entry[field], re.IGNORECASE) if entry.get(field) else None
            for field in ("text", "needs", "except")
        )
    except re.error as error:
        raise ValueError(f"{RULES.name}: {name}: no pattern: {error}") from error
    assert text is not None
    return Rule(
        name, text, needs, but, bool(entry.get("steps")), bool(entry.get("always")),
        tuple(entry["examples"]), tuple(entry.get("claims", ())),
    )  # fmt: skip


def silent(frame: Frame) -> bool:
    """Whether a sentence says nothing of the log."""
    told = bool(_OF_THIS_LOG.search(frame.text)) or any(group.form == "chain" for group in frame.groups)
    return any(
        (rule.steps or not frame.places) and (rule.always or not told) and rule.matches(frame.text) for rule in rules()
    )
