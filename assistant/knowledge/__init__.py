"""Metric cards, a team's own documents, and the way from any wording to the card."""

from assistant.knowledge.cards import Card, Library, library
from assistant.knowledge.finder import Finder
from assistant.knowledge.finder_found import Found
from assistant.knowledge.own import Outcome, Store, Stored
from assistant.knowledge.owncards import Knowledge, difference, knowledge
from assistant.knowledge.passages import FoundPassage, Passage, excerpt, find_passages
from assistant.knowledge.resolver import Mentioned, Resolution, Resolver

__all__ = [
    "Card",
    "Finder",
    "Found",
    "FoundPassage",
    "Knowledge",
    "Library",
    "Mentioned",
    "Outcome",
    "Passage",
    "Resolution",
    "Resolver",
    "Store",
    "Stored",
    "difference",
    "excerpt",
    "find_passages",
    "knowledge",
    "library",
]
