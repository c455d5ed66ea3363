"""Questions in Chinese and English → intent and slots → facts → answer, offline."""

from assistant.ask.engine import Answerer
from assistant.ask.understand import Query, State, language_of, understand

__all__ = ["Answerer", "Query", "State", "language_of", "understand"]
