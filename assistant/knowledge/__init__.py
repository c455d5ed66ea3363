"""Metric cards, and the way from any wording to the card."""

from assistant.knowledge.cards import Card, Library, library
from assistant.knowledge.resolver import Mentioned, Resolution, Resolver

__all__ = ["Card", "Library", "Mentioned", "Resolution", "Resolver", "library"]
