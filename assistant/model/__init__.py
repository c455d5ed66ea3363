"""Plain, frozen, typed values that every other layer speaks. No input or output here."""

from assistant.model.answer import (
    Answer,
    Chart,
    Citation,
    Grounding,
    Mention,
    Series,
    Slots,
    StepSlot,
    Usage,
    Verdict,
)
from assistant.model.errors import (
    AssistantError,
    BinaryInput,
    EmptyInput,
    GroundingError,
    InputError,
    KnowledgeError,
    SourceIsFolder,
    SourceNotFound,
    UnknownMetric,
)
from assistant.model.fact import Fact, Finding
from assistant.model.run import Cell, Column, LineCounts, Missing, Note, Number, Run, json_number

__all__ = [
    "Answer",
    "AssistantError",
    "BinaryInput",
    "Cell",
    "Chart",
    "Citation",
    "Column",
    "EmptyInput",
    "Fact",
    "Finding",
    "Grounding",
    "GroundingError",
    "InputError",
    "KnowledgeError",
    "LineCounts",
    "Mention",
    "Missing",
    "Note",
    "Number",
    "Run",
    "Series",
    "Slots",
    "SourceIsFolder",
    "SourceNotFound",
    "StepSlot",
    "UnknownMetric",
    "Usage",
    "Verdict",
    "json_number",
]
