"""The error tree; each message says what was wrong, where, and what to do, in both languages."""

from __future__ import annotations

from typing import Literal

Language = Literal["zh", "en"]


class AssistantError(Exception):
    """Base of all errors.

    Args:
        zh: the message in Chinese.
        en: the message in English.
    """

    code = "error"

    def __init__(self, *, zh: str, en: str) -> None:
        super().__init__(en)
        self.zh = zh
        self.en = en

    def message(self, language: Language) -> str:
        """The message in one language."""
        return self.zh if language == "zh" else self.en


class InputError(AssistantError):
    """Something the user gave and can mend (exit status 2, HTTP 422)."""

    code = "bad_input"


class EmptyInput(InputError):
    code = "empty_input"


class BinaryInput(InputError):
    code = "binary_input"


class SourceNotFound(InputError):
    code = "source_not_found"


class SourceIsFolder(InputError):
    code = "source_is_folder"


class UnknownMetric(InputError):
    code = "unknown_metric"


class GroundingError(AssistantError):
    """A finished text holds a claim that no fact supports: a fault of ours, fatal in development."""

    code = "grounding"


class KnowledgeError(AssistantError):
    """A card, phrase or pattern file breaks its schema."""

    code = "knowledge"
